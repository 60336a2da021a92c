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
#include "nodes/pg_list.h"
#include "utils/builtins.h"

#include "pfs_setup.h"
#include "pfs_setup_list.h"

/* Goes through the instruments that can be switched. */
#define each_switchable(ins) \
	pfs_each_instrument(ins) \
		if ((ins->properties & PFS_PROPERTY_BUILT_IN) == 0)

static PfsListValue
instrument_state(const PfsInstrument *ins)
{
	return !ins->enabled ? PFS_LIST_OFF : ins->timed ? PFS_LIST_ON : PFS_LIST_COUNTED;
}

/* Returns the state that an instrument would get if it registered under this name now. */
static PfsListValue
future_state(const char *name)
{
	PfsInstrument ins = {0};

	strlcpy(ins.name, name, sizeof(ins.name));
	pfs_setup_defaults(&ins, &ins.enabled, &ins.timed);
	return instrument_state(&ins);
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
 * Adds a pattern to a list of them, behind those that are as long or shorter, as the longest
 * wins.  It gets one % in the place of several in a row, which match the same and only make the
 * pattern longer.
 */
static List *
add_pattern(List *patterns, const char *from)
{
	char	   *pattern;
	char	   *end;
	int			at = list_length(patterns);

	/* The empty one matches nothing; a name's instrument speaks for itself. */
	if (from[0] == '\0' || (strpbrk(from, "%?") == NULL && pfs_instrument_exists(from)))
		return patterns;
	pattern = end = palloc(strlen(from) + 1);
	for (; *from; from++)
	{
		if (from[0] != '%' || from[1] != '%')
			*end++ = *from;
	}
	*end = '\0';
	while (at > 0 && strlen(list_nth(patterns, at - 1)) > strlen(pattern))
		at--;
	return list_insert_nth(patterns, at, pattern);
}

/*
 * Returns the patterns of pfs.instruments and of the rules of run time, the shortest
 * first, and the newer one behind the older among equals.  Rules are copied, so that
 * nothing is allocated or compared under the lock.
 */
static List *
collect_patterns(void)
{
	List	   *patterns = NIL;
	PfsRules   *rules = palloc(sizeof(PfsRules));
	const char *list = pfs_start_instruments;
	char		text[PFS_NAME_SIZE];

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	*rules = *pfs_setup_rules();
	LWLockRelease(pfs_setup->lock);

	while (pfs_list_next_pattern(&list, text, sizeof(text)))
		patterns = add_pattern(patterns, text);
	for (uint32 i = 0; i < rules->n; i++)
		patterns = add_pattern(patterns, rules->items[i].pattern);
	pfree(rules);
	return patterns;
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

	each_switchable(ins)
	{
		const char *name = pfs_instrument_name(ins);

		if (strncmp(name, prefix, length) != 0)
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

/* Has an instrument before this one the same prefix?  Then that was looked at. */
static bool
is_repeated(const PfsInstrument *of, const char *prefix, size_t length)
{
	each_switchable(ins)
	{
		if (ins == of)
			break;
		if (strncmp(pfs_instrument_name(ins), prefix, length) == 0)
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
	bool		more = true;

	append_prefix(list, "", 0);
	for (int depth = 1; more; depth++)
	{
		more = false;
		each_switchable(ins)
		{
			const char *name = pfs_instrument_name(ins);
			const char *end = name;

			CHECK_FOR_INTERRUPTS();
			/* Behind the slash of as many steps. */
			for (int step = 0; step < depth && (end = strchr(end, '/')) != NULL; step++)
				end++;
			if (end == NULL)
				continue;
			more = true;
			if (!is_repeated(ins, name, end - name))
				append_prefix(list, name, end - name);
		}
	}
}

/*
 * Composes the list: the patterns, then prefixes, then the names of instruments whose state
 * is still wrong.  A pattern to which the list before it gives the right state is left out.
 * A full name wins over all entries that are shorter, or as long and before it.
 */
static void
compose(StringInfo list, const List *patterns)
{
	ListCell   *lc;

	resetStringInfo(list);
	foreach(lc, patterns)
	{
		const char *text = lfirst(lc);
		PfsListValue state = future_state(text);

		if (listed_state(list->data, text) != state)
			append_entry(list, text, strlen(text), "", state);
	}
	append_prefixes(list);
	each_switchable(ins)
	{
		const char *name = pfs_instrument_name(ins);

		CHECK_FOR_INTERRUPTS();
		if (listed_state(list->data, name) != instrument_state(ins))
			append_entry(list, name, strlen(name), "", instrument_state(ins));
	}
}

/*
 * Drops the longest pattern by which an instrument still has a wrong state: it is longer
 * than the full name (%a%b% for ab), so no entry can win over it.  False if the list is
 * right for all instruments.
 */
static bool
drop_pattern(const char *list, List **patterns)
{
	each_switchable(ins)
	{
		if (listed_state(list, pfs_instrument_name(ins)) == instrument_state(ins))
			continue;
		for (int i = list_length(*patterns) - 1; i >= 0; i--)
		{
			if (pfs_pattern_match(list_nth(*patterns, i), pfs_instrument_name(ins)))
			{
				*patterns = list_delete_nth_cell(*patterns, i);
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
	List	   *patterns;

	pfs_instrument_name_late();
	patterns = collect_patterns();
	initStringInfo(&sql);
	initStringInfo(&list);
	do
		compose(&list, patterns);
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
