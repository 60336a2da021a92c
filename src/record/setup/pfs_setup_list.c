/*
 * pfs_setup_list.c
 *	  Patterns, and the texts of the start-up settings.
 *
 * The texts are read in place, again for each instrument that registers: that
 * happens at instrument points, where nothing can be allocated.
 */
#include "postgres.h"

#include "pfs_quote.h"
#include "pfs_setup.h"
#include "pfs_setup_list.h"

/* One entry of a list; pattern and value are trimmed, not terminated. */
typedef struct PfsListEntry
{
	const char *pattern;
	size_t		pattern_length;
	const char *value;			/* NULL: there is no '=' */
	size_t		value_length;
} PfsListEntry;

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
trim(const char **text, size_t *length)
{
	while (*length > 0 && is_blank(**text))
	{
		(*text)++;
		(*length)--;
	}
	while (*length > 0 && is_blank((*text)[*length - 1]))
		(*length)--;
}

/*
 * Reads the entry at *list and moves that behind it; false at the end.  The entry points
 * into the text.  Whether it is a good one is left to the caller.
 */
static bool
next_entry(const char **list, PfsListEntry *entry)
{
	while (**list != '\0')
	{
		const char *start = *list;
		size_t		length = strcspn(start, ",");
		const char *equals;

		*list = start + length + (start[length] == ',' ? 1 : 0);
		trim(&start, &length);
		if (length == 0)
			continue;			/* empty entries are ignored */

		equals = memchr(start, '=', length);
		entry->pattern = start;
		entry->pattern_length = equals ? equals - start : length;
		entry->value = equals ? equals + 1 : NULL;
		entry->value_length = equals ? length - (equals + 1 - start) : 0;
		trim(&entry->pattern, &entry->pattern_length);
		trim(&entry->value, &entry->value_length);
		return true;
	}
	return false;
}

/* Looks the word up, in any letter case. */
PfsListValue
pfs_list_word(const char *word, size_t length)
{
	static const struct
	{
		const char *word;
		PfsListValue value;
	}			words[] =
	{
		{"on", PFS_LIST_ON}, {"yes", PFS_LIST_ON}, {"1", PFS_LIST_ON}, {"true", PFS_LIST_ON},
		{"off", PFS_LIST_OFF}, {"no", PFS_LIST_OFF}, {"0", PFS_LIST_OFF}, {"false", PFS_LIST_OFF},
		{"counted", PFS_LIST_COUNTED},
	};

	for (int i = 0; i < lengthof(words); i++)
	{
		if (strlen(words[i].word) == length && pg_strncasecmp(words[i].word, word, length) == 0)
			return words[i].value;
	}
	return PFS_LIST_NONE;
}

/* Returns the value of an entry; PFS_LIST_NONE if it has none or an unknown one. */
static PfsListValue
parse_value(const PfsListEntry *entry)
{
	return entry->value == NULL ? PFS_LIST_NONE : pfs_list_word(entry->value, entry->value_length);
}

/*
 * Does a name match a pattern of so many bytes?  When a character does not match, the
 * last % takes one more; going back to an earlier one could find nothing else, so no
 * recursion is needed.
 */
static bool
match(const char *pattern, size_t length, const char *name)
{
	const char *end = pattern + length;
	const char *after_percent = NULL;
	const char *retry = NULL;

	while (*name != '\0')
	{
		if (pattern < end && *pattern == '%')
		{
			after_percent = ++pattern;
			retry = name;
		}
		else if (pattern < end &&
				 (*pattern == '?' || pg_tolower((unsigned char) *pattern) == pg_tolower((unsigned char) *name)))
		{
			pattern++;
			name++;
		}
		else if (after_percent != NULL)
		{
			pattern = after_percent;
			name = ++retry;
		}
		else
			return false;
	}
	while (pattern < end && *pattern == '%')
		pattern++;
	return pattern == end;
}

bool
pfs_pattern_match(const char *pattern, const char *name)
{
	return match(pattern, strlen(pattern), name);
}

/*
 * Returns the value of the longest pattern that matches a name, the last one among equals.
 * Entries without a valid value are passed over; they were reported when the setting was
 * checked.
 */
PfsListValue
pfs_list_value(const char *list, const char *name)
{
	PfsListEntry entry;
	PfsListValue best = PFS_LIST_NONE;
	size_t		best_length = 0;

	while (next_entry(&list, &entry))
	{
		PfsListValue value = parse_value(&entry);

		if (value != PFS_LIST_NONE && entry.pattern_length >= best_length &&
			match(entry.pattern, entry.pattern_length, name))
		{
			best = value;
			best_length = entry.pattern_length;
		}
	}
	return best;
}

static bool
names_a_consumer(const PfsListEntry *entry)
{
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
	{
		if (match(entry->pattern, entry->pattern_length, pfs_consumer_name(c)))
			return true;
	}
	return false;
}

/* Returns what is wrong with an entry, as a palloc'd sentence; NULL: nothing. */
static char *
entry_problem(const PfsListEntry *entry, bool consumers)
{
	char	   *pattern = pfs_quote_length(entry->pattern, entry->pattern_length);
	char	   *value = entry->value == NULL ? NULL : pfs_quote_length(entry->value, entry->value_length);

	if (entry->pattern_length == 0)
		return psprintf("Entry \"=%s\" has no pattern.", value);
	if (entry->pattern_length >= PFS_NAME_SIZE)
		return psprintf("Pattern \"%s\" is longer than %d bytes.", pattern, PFS_NAME_SIZE - 1);
	if (value == NULL)
		return psprintf("Entry \"%s\" has no value; write \"%s=ON\".", pattern, pattern);
	if (parse_value(entry) == PFS_LIST_NONE ||
		(consumers && parse_value(entry) == PFS_LIST_COUNTED))
		return psprintf("Value \"%s\" of \"%s\" is none of %s.", value, pattern,
						consumers ? "ON and OFF" : "ON, OFF and COUNTED");
	if (consumers && !names_a_consumer(entry))
		return psprintf("No consumer matches \"%s\".", pattern);
	return NULL;
}

/* Looks for the next bad entry, from *list on. */
char *
pfs_setup_list_problem(const char **list, bool consumers)
{
	PfsListEntry entry;
	char	   *problem = NULL;

	while (problem == NULL && next_entry(list, &entry))
		problem = entry_problem(&entry, consumers);
	return problem;
}

/*
 * Removes the bad entries from the text of a setting, in place, as the postmaster starts
 * with the good ones.  These stay as they were written, up to their commas.  Reporting
 * what was wrong is left to the caller.
 */
void
pfs_setup_leave_out(char *list, bool consumers)
{
	const char *from = list;
	const char *begin = list;
	char	   *to = list;
	PfsListEntry entry;

	while (next_entry(&from, &entry))
	{
		char	   *problem = entry_problem(&entry, consumers);

		if (problem == NULL)
		{
			memmove(to, begin, from - begin);
			to += from - begin;
		}
		else
			pfree(problem);
		begin = from;
	}
	/* The comma in front of a last one that has gone. */
	if (*begin == '\0' && to > list && to[-1] == ',' && to < begin)
		to--;
	memmove(to, begin, strlen(begin) + 1);
	if (to < begin)
	{
		begin = list + strspn(list, " \t\n\r");
		memmove(list, begin, strlen(begin) + 1);
	}
}

bool
pfs_list_next_pattern(const char **list, char *pattern, size_t size)
{
	PfsListEntry entry;

	if (!next_entry(list, &entry))
		return false;
	strlcpy(pattern, entry.pattern, Min(size, entry.pattern_length + 1));
	return true;
}
