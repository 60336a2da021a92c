/*
 * pfs_setup_sql.c
 *	  The text that makes the present set-up the next start's.
 *
 * Two orders meet here.  At run time the newest rule of pfs.set_instruments wins,
 * then pfs.instruments; in the text the longest pattern wins, among equals the
 * last.  So a pattern is not written as it was given but with what holds now for
 * a name that is spelt like it, and the instruments that exist are compared with
 * what the text makes of them until there is no difference left.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "pfs_setup.h"
#include "pfs_setup_list.h"

/* A pattern for instruments to come, from pfs.instruments or a rule. */
typedef struct Pattern
{
	char text[	PFS_NAME_SIZE];
	bool		dropped;
} Pattern;

typedef struct Patterns
{
	Pattern    *items;
	int			n;
	int			max;
} Patterns;

/* The instrument if there is one and it can be switched. */
static const PfsInstrument *
switchable_at(uint32 id)
{
	const PfsInstrument *ins = pfs_instrument_at(id);

	return ins == NULL || (ins->properties & PFS_PROPERTY_BUILT_IN) ? NULL : ins;
}

static PfsListValue
state_of(bool enabled, bool timed)
{
	return !enabled ? PFS_LIST_OFF : timed ? PFS_LIST_ON : PFS_LIST_COUNTED;
}

static PfsListValue
instrument_state(const PfsInstrument *ins)
{
	return state_of(ins->enabled, ins->timed);
}

/* Returns the state that an instrument would get if it registered under this name now. */
static PfsListValue
future_state(const char *name)
{
	PfsInstrument ins = {0};
	uint8		enabled;
	uint8		timed;

	strlcpy(ins.name, name, sizeof(ins.name));
	pfs_setup_defaults(&ins, &enabled, &timed);
	return state_of(enabled, timed);
}

/* Returns the state that the list gives an instrument at the next start. */
static PfsListValue
listed_state(const char *list, const char *name)
{
	PfsListValue value = pfs_list_value(list, name);

	if (value == PFS_LIST_NONE)
		return pfs_setup_is_on_by_default(name) ? PFS_LIST_ON : PFS_LIST_OFF;
	return value;
}

/*
 * Appends an entry.  Characters of the pattern that mean something else in a list, or
 * that ALTER SYSTEM refuses, become `?`, the pattern for any one character.
 */
static void
append_entry(StringInfo list, const char *pattern, size_t length, const char *suffix,
			 PfsListValue value)
{
	static const char *const words[] = {
		[PFS_LIST_OFF] = "OFF",
		[PFS_LIST_ON] = "ON",
		[PFS_LIST_COUNTED] = "COUNTED",
	};

	if (list->len > 0)
		appendStringInfoString(list, ", ");
	for (size_t i = 0; i < length; i++)
	{
		bool		at_end = i == 0 || i == length - 1;

		if (strchr(",=\n\r\t", pattern[i]) || (at_end && pattern[i] == ' '))
			appendStringInfoChar(list, '?');
		else
			appendStringInfoChar(list, pattern[i]);
	}
	appendStringInfo(list, "%s=%s", suffix, words[value]);
}

/*
 * Adds a pattern, with one % in the place of several in a row, which match the same and
 * only make the pattern longer.
 */
static void
add_pattern(Patterns *patterns, const char *from)
{
	Pattern    *pattern;
	char	   *end;

	/* The empty one matches nothing; a name's instrument speaks for itself. */
	if (from[0] == '\0' || (strpbrk(from, "%?") == NULL && pfs_instrument_exists(from)))
		return;
	if (patterns->n == patterns->max)
	{
		patterns->max *= 2;
		patterns->items = repalloc(patterns->items, patterns->max * sizeof(Pattern));
	}
	pattern = &patterns->items[patterns->n++];
	pattern->dropped = false;
	for (end = pattern->text; *from; from++)
	{
		if (from[0] != '%' || from[1] != '%')
			*end++ = *from;
	}
	*end = '\0';
}

/* Sorts patterns by length, as the longest wins; the order among equals stays. */
static void
sort_patterns(Patterns *patterns)
{
	for (int i = 1; i < patterns->n; i++)
	{
		Pattern		pattern = patterns->items[i];
		int			at = i;

		for (; at > 0 && strlen(patterns->items[at - 1].text) > strlen(pattern.text); at--)
			patterns->items[at] = patterns->items[at - 1];
		patterns->items[at] = pattern;
	}
}

/*
 * Returns the patterns of pfs.instruments and of the rules of run time, the shortest
 * first, and the newer one behind the older among equals.  Rules are copied, so that
 * nothing is allocated or compared under the lock.
 */
static Patterns
collect_patterns(void)
{
	Patterns	patterns = {palloc(64 * sizeof(Pattern)), 0, 64};
	PfsRules   *rules = palloc(sizeof(PfsRules));
	const char *list = pfs_setup_start_list();
	char text[	PFS_NAME_SIZE];

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	*rules = *pfs_setup_rules();
	LWLockRelease(pfs_setup->lock);

	while (pfs_list_next_pattern(&list, text, sizeof(text)))
		add_pattern(&patterns, text);
	for (uint32 i = 0; i < rules->n; i++)
		add_pattern(&patterns, rules->items[i].pattern);
	pfree(rules);
	sort_patterns(&patterns);
	return patterns;
}

/* Does the name begin with these bytes? */
static bool
is_below(const char *name, const char *prefix, size_t length)
{
	return strncmp(name, prefix, length) == 0;
}

/* Returns how many bytes two names share, up to the last slash in these. */
static size_t
common_steps(const char *a, const char *b)
{
	size_t		length = 0;

	for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
	{
		if (a[i] == '/')
			length = i + 1;
	}
	return length;
}

/*
 * Appends one pattern for all instruments below a prefix, if that saves entries: with the
 * state that most of them have, so that only the others need entries of their own.  If
 * all instruments that the list gets wrong lie below one longer prefix, it appends
 * nothing: the pattern of that prefix saves at least as many.
 */
static void
append_prefix(StringInfo list, const char *prefix, size_t length)
{
	int			count[PFS_LIST_COUNTED + 1] = {0};
	int			total = 0;
	int			wrong = 0;
	const char *first_wrong = NULL;
	size_t		common = SIZE_MAX;
	PfsListValue most = PFS_LIST_OFF;
	uint32		n = pfs_instrument_count();

	for (uint32 i = 0; i < n; i++)
	{
		const PfsInstrument *ins = switchable_at(i);
		const char *name = ins ? pfs_instrument_name(ins) : NULL;

		if (ins == NULL || !is_below(name, prefix, length))
			continue;
		total++;
		count[instrument_state(ins)]++;
		if (listed_state(list->data, name) == instrument_state(ins))
			continue;
		if (wrong++ == 0)
			first_wrong = name;
		common = Min(common, common_steps(first_wrong, name));
	}
	if (wrong == 0 || common > length)
		return;
	for (PfsListValue value = PFS_LIST_OFF; value <= PFS_LIST_COUNTED; value++)
	{
		if (count[value] > count[most])
			most = value;
	}
	if (1 + total - count[most] < wrong)
		append_entry(list, prefix, length, "%", most);
}

/* Returns where the next step of a name ends, behind its slash, or 0. */
static size_t
next_step(const char *name, size_t from)
{
	const char *slash = strchr(name + from, '/');

	return slash ? slash + 1 - name : 0;
}

/* Has an instrument before this one the same prefix?  Then that was looked at. */
static bool
is_repeated(uint32 id, const char *prefix, size_t length)
{
	for (uint32 i = 0; i < id; i++)
	{
		const PfsInstrument *ins = switchable_at(i);

		if (ins != NULL && is_below(pfs_instrument_name(ins), prefix, length))
			return true;
	}
	return false;
}

/*
 * Appends patterns for prefixes, the shortest first: the longest pattern wins, so a later
 * one can correct an earlier one.
 */
static void
append_prefixes(StringInfo list)
{
	uint32		n = pfs_instrument_count();
	bool		more = true;

	append_prefix(list, "", 0);
	for (int depth = 1; more; depth++)
	{
		more = false;
		for (uint32 i = 0; i < n; i++)
		{
			const PfsInstrument *ins = switchable_at(i);
			const char *name = ins ? pfs_instrument_name(ins) : "";
			size_t		length = 0;

			CHECK_FOR_INTERRUPTS();
			for (int step = 0; step < depth; step++)
			{
				length = next_step(name, length);
				if (length == 0)
					break;
			}
			if (length == 0)
				continue;
			more = true;
			if (!is_repeated(i, name, length))
				append_prefix(list, name, length);
		}
	}
}

/*
 * Composes the list: the patterns that are not dropped, then prefixes, then the names of
 * instruments whose state is still wrong.  A pattern to which the list before it gives
 * the right state is left out.  A full name wins over all entries that are shorter, or as
 * long and before it.
 */
static void
compose(StringInfo list, const Patterns *patterns)
{
	uint32		n = pfs_instrument_count();

	resetStringInfo(list);
	for (int i = 0; i < patterns->n; i++)
	{
		const char *text = patterns->items[i].text;
		PfsListValue state = future_state(text);

		if (!patterns->items[i].dropped && listed_state(list->data, text) != state)
			append_entry(list, text, strlen(text), "", state);
	}
	append_prefixes(list);
	for (uint32 i = 0; i < n; i++)
	{
		const PfsInstrument *ins = switchable_at(i);
		const char *name = ins ? pfs_instrument_name(ins) : NULL;

		CHECK_FOR_INTERRUPTS();
		if (ins != NULL && listed_state(list->data, name) != instrument_state(ins))
			append_entry(list, name, strlen(name), "", instrument_state(ins));
	}
}

/*
 * Drops the longest pattern by which an instrument still has a wrong state: it is longer
 * than the full name (%a%b% for ab), so no entry can win over it.  False if the list is
 * right for all instruments.
 */
static bool
drop_pattern(const char *list, Patterns *patterns)
{
	uint32		n = pfs_instrument_count();

	for (uint32 id = 0; id < n; id++)
	{
		const PfsInstrument *ins = switchable_at(id);

		if (ins == NULL || listed_state(list, pfs_instrument_name(ins)) == instrument_state(ins))
			continue;
		for (int i = patterns->n - 1; i >= 0; i--)
		{
			Pattern    *pattern = &patterns->items[i];

			if (!pattern->dropped && pfs_pattern_match(pattern->text, pfs_instrument_name(ins)))
			{
				pattern->dropped = true;
				return true;
			}
		}
	}
	return false;
}

/*
 * Returns the two ALTER SYSTEM commands that make the present switches those of the next
 * start.  Composes the list again after each pattern that is dropped, until the list is
 * right; as patterns are only ever dropped, that ends.  Consumers are written with their
 * own values, and only those that differ from the default.
 */
char *
pfs_setup_sql(void)
{
	StringInfoData list;
	StringInfoData sql;
	Patterns	patterns = collect_patterns();

	initStringInfo(&sql);
	initStringInfo(&list);
	do
		compose(&list, &patterns);
	while (drop_pattern(list.data, &patterns));
	appendStringInfo(&sql, "ALTER SYSTEM SET pfs.instruments = %s;\n", quote_literal_cstr(list.data));

	resetStringInfo(&list);
	for (int c = 0; c < PFS_NUM_CONSUMERS; c++)
	{
		bool		on = pfs_setup->consumer[c];

		if (on != pfs_consumer_default(c))
			append_entry(&list, pfs_consumer_name(c), strlen(pfs_consumer_name(c)), "",
						 on ? PFS_LIST_ON : PFS_LIST_OFF);
	}
	appendStringInfo(&sql, "ALTER SYSTEM SET pfs.consumers = %s;", quote_literal_cstr(list.data));
	return sql.data;
}
