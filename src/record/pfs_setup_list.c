/*
 * pfs_setup_list.c
 *	  Patterns, the texts of the start-up settings, and the text that makes the
 *	  present set-up the next start's.
 *
 * The texts are read in place, again for each instrument that registers: that
 * happens at instrument points, where nothing can be allocated.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

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
		(*text) ++;
		(*length)--;
	}
	while (*length > 0 && is_blank((*text)[*length - 1]))
		(*length)--;
}

/* The entry at *list, which is moved behind it; false at the end. */
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
		if (entry->value != NULL)
			trim(&entry->value, &entry->value_length);
		return true;
	}
	return false;
}

static PfsListValue
parse_value(const PfsListEntry *entry)
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

	for (int i = 0; entry->value != NULL && i < lengthof(words); i++)
	{
		if (strlen(words[i].word) == entry->value_length &&
			pg_strncasecmp(words[i].word, entry->value, entry->value_length) == 0)
			return words[i].value;
	}
	return PFS_LIST_NONE;
}

/* pattern of length bytes; iterative, remembers the last % only. */
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

char *
pfs_setup_check_list(const char *list, bool consumers)
{
	PfsListEntry entry;

	while (next_entry(&list, &entry))
	{
		int			length = (int) entry.pattern_length;

		if (length == 0)
			return psprintf("An entry has no pattern before \"=\".");
		if (length >= PFS_NAME_SIZE)
			return psprintf("Pattern \"%.*s\" is longer than %d bytes.", length, entry.pattern, PFS_NAME_SIZE - 1);
		if (entry.value == NULL)
			return psprintf("Entry \"%.*s\" has no value; write \"%.*s=ON\".",
							length, entry.pattern, length, entry.pattern);
		if (parse_value(&entry) == PFS_LIST_NONE ||
			(consumers && parse_value(&entry) == PFS_LIST_COUNTED))
			return psprintf("Value \"%.*s\" of \"%.*s\" is none of %s.",
							(int) entry.value_length, entry.value, length, entry.pattern,
							consumers ? "ON and OFF" : "ON, OFF and COUNTED");
		if (consumers && !names_a_consumer(&entry))
			return psprintf("No consumer matches \"%.*s\".", length, entry.pattern);
	}
	return NULL;
}

static const char *
instrument_state(const PfsInstrument *ins)
{
	return !ins->enabled ? "OFF" : ins->timed ? "ON" : "COUNTED";
}

static void
append_entry(StringInfo list, const char *pattern, size_t length, const char *suffix, const char *value)
{
	appendStringInfo(list, "%s%.*s%s=%s", list->len > 0 ? ", " : "",
					 (int) length, pattern, suffix, value);
}

/* Bytes of a name up to its last slash, which is its family. */
static size_t
family_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 - name : 0;
}

/* The state that all instruments of a family share, or NULL. */
static const char *
family_state(const char *name, size_t length)
{
	const char *state = NULL;
	uint32		n = pfs_instrument_count();

	for (uint32 i = 0; i < n; i++)
	{
		PfsInstrument *ins = pfs_instrument_at(i);

		/* The pattern of the family takes in what lies deeper, too. */
		if (ins == NULL || strncmp(pfs_instrument_name(ins), name, length) != 0)
			continue;
		if (state != NULL && strcmp(state, instrument_state(ins)) != 0)
			return NULL;
		state = instrument_state(ins);
	}
	return state;
}

/* What the list so far makes of an instrument at the next start. */
static const char *
listed_state(const char *list, const char *name)
{
	switch (pfs_list_value(list, name))
	{
		case PFS_LIST_OFF:
			return "OFF";
		case PFS_LIST_COUNTED:
			return "COUNTED";
		default:
			return "ON";
	}
}

/*
 * First the rules for instruments to come, then families of one state, then
 * single instruments: a full name is the longest pattern, or the last of the
 * longest, so each step only needs to add what the list so far gets wrong.
 */
static void
append_instruments(StringInfo list)
{
	uint32		n = pfs_instrument_count();

	for (uint32 i = 0; i < pfs_setup->nrules; i++)
	{
		const PfsRule *rule = &pfs_setup->rules[i];

		if (rule->enabled >= 0)
			append_entry(list, rule->pattern, strlen(rule->pattern), "",
						 !rule->enabled ? "OFF" : rule->timed == 0 ? "COUNTED" : "ON");
	}
	for (int pass = 0; pass < 2; pass++)
	{
		for (uint32 i = 0; i < n; i++)
		{
			PfsInstrument *ins = pfs_instrument_at(i);
			const char *name = ins ? pfs_instrument_name(ins) : NULL;
			size_t		length = ins ? family_length(name) : 0;

			if (ins == NULL || strcmp(listed_state(list->data, name), instrument_state(ins)) == 0)
				continue;
			if (pass == 1)
				append_entry(list, name, strlen(name), "", instrument_state(ins));
			else if (length > 0 && family_state(name, length) != NULL)
				append_entry(list, name, length, "%", instrument_state(ins));
		}
	}
}

char *
pfs_setup_sql(void)
{
	StringInfoData list;
	StringInfoData sql;

	initStringInfo(&sql);
	initStringInfo(&list);
	append_instruments(&list);
	appendStringInfo(&sql, "ALTER SYSTEM SET pfs.instruments = %s;\n", quote_literal_cstr(list.data));

	resetStringInfo(&list);
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
	{
		if (!pfs_setup->consumer[c])
			append_entry(&list, pfs_consumer_name(c), strlen(pfs_consumer_name(c)), "", "OFF");
	}
	appendStringInfo(&sql, "ALTER SYSTEM SET pfs.consumers = %s;", quote_literal_cstr(list.data));
	return sql.data;
}
