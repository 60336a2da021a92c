/*
 * pfs_rule_table.c
 *	  What the tables of rules share: reading, inserting, changing and removing rules.
 *
 * Separate from the tables, which say what a rule's columns are.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/datum.h"

#include "pfs_quote.h"
#include "pfs_rule_table.h"

/* Room for a rule of any list. */
typedef union AnyRule
{
	char		bytes[PFS_RULE_SIZE_MAX];
	uint64		align;
} AnyRule;

/* Rules now, for the planner. */
double
pfs_rule_table_estimate(const PfsTable *table)
{
	return pfs_pages_used(table->rules->list->pages);
}

/* Copies the rules one by one; one that is removed meanwhile is left out. */
void
pfs_rule_table_copy(PfsScan *scan)
{
	const PfsRuleList *list = scan->table->rules->list;
	PfsPages   *pages = list->pages;
	Size		size = pfs_rules_size(list);
	uint32		pos = 0;
	PfsRuleRef	ref;

	if (pages == NULL)
		return;
	while ((ref.index = pfs_pages_next(pages, &pos, &ref.word)) != PFS_NO_RECORD)
	{
		AnyRule		rule;
		PfsRuleRef *row;

		/* It was removed since pfs_pages_next() found it. */
		if (!pfs_pages_copy(pages, ref.index, 0, &rule, size, &ref.word))
			continue;
		row = pfs_scan_add(scan);
		*row = ref;
		memcpy(row + 1, &rule, size);
	}
}

/* A rule is its record, with the version that the record had when it was read. */
PfsRowId
pfs_rule_table_identity(const void *row)
{
	const PfsRuleRef *ref = row;
	PfsRowId	id = {ref->index, pfs_row_version(ref->word / PFS_VERSION_INC)};

	return id;
}

/* Finds the rule that a row stood for; false if it has been removed. */
static bool
find_ref(const PfsRuleTable *table, PfsRowId row, PfsRuleRef *ref)
{
	PfsPages   *pages = table->list->pages;

	if (pages == NULL || row.slot >= pages->records_max)
		return false;
	ref->index = row.slot;
	ref->word = pfs_pages_word(pages, row.slot);
	return (ref->word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED &&
		pfs_row_version(ref->word / PFS_VERSION_INC) == row.version;
}

/* Collects the switches that a row writes: which of them, and those that become YES. */
static void
new_switches(const PfsRuleTable *table, const PfsNewRow *values, uint64 *bits, uint64 *switches)
{
	*bits = 0;
	*switches = 0;
	for (int i = 0; i < PFS_RULE_SWITCHES; i++)
	{
		int			on = pfs_new_switch(values, table->switches[i]);

		if (on >= 0)
			*bits |= UINT64CONST(1) << i;
		if (on == 1)
			*switches |= UINT64CONST(1) << i;
	}
}

/* Writes the switches that an UPDATE sets; a rule that has gone is passed over. */
void
pfs_rule_table_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values)
{
	const PfsRuleTable *rules = table->rules;
	PfsRuleRef	ref;
	uint64		bits;
	uint64		switches;

	new_switches(rules, values, &bits, &switches);
	if (find_ref(rules, row, &ref))
		pfs_rules_update(rules->list, ref, bits, switches);
}

/* Makes a rule from the values of a new row, which were checked. */
static void
make_rule(const PfsRuleTable *table, const PfsNewRow *row, void *rule)
{
	uint64		bits;

	memset(rule, 0, pfs_rules_size(table->list));
	table->make_key(row, rule);
	new_switches(table, row, &bits, (uint64 *) ((char *) rule + table->list->key_size));
}

/* Raises the error that belongs to what came of a change of a list. */
static void
report(const PfsRuleTable *table, PfsRuleResult result, const void *rule)
{
	switch (result)
	{
		case PFS_RULES_DONE:
			break;
		case PFS_RULES_DUPLICATE:
			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("%s can have only one rule for %s", table->list->name, table->key_words(rule)),
					 errhint("UPDATE the one that is there, or use %s, which inserts or updates.", table->setter)));
			break;
		case PFS_RULES_FULL:
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("%s has room for %u rules only", table->list->name, table->list->pages->records_max),
					 errhint("Delete a rule, or raise pfs.%s_size and restart the server.", table->list->name)));
			break;
	}
}

/*
 * The text of a value of a key, of so many bytes.  A name that is longer than any that could match is an error and not
 * cut: the rule would do something else than it says.
 */
char *
pfs_rule_text(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull, int max)
{
	char	   *name;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of table \"%s\" cannot be NULL", column->name, table->name),
				 strcmp(column->by_default, PFS_RULE_ANY) != 0 ? 0 : errhint("\"%s\" stands for any.", PFS_RULE_ANY)));
	name = TextDatumGetCString(value);
	if (strlen(name) > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is longer than %d bytes: \"%s\"", column->name, max, pfs_quote(name))));
	return name;
}

/* Inserts the rule of a row, or gives the one with its key these switches. */
int64
pfs_rule_table_set(const PfsTable *table, const PfsNewRow *row)
{
	AnyRule		rule;

	make_rule(table->rules, row, &rule);
	report(table->rules, pfs_rules_set(table->rules->list, &rule), &rule);
	return 1;
}

/* Removes the rule with the key of a row; returns how many there were, 0 or 1. */
int64
pfs_rule_table_drop(const PfsTable *table, const PfsNewRow *row)
{
	AnyRule		rule;

	make_rule(table->rules, row, &rule);
	return pfs_rules_remove_key(table->rules->list, &rule);
}

/* Compares keys, texts that the columns' checks made: neither compressed nor toasted. */
static bool
same_key(const PfsRuleTable *table, const PfsNewRow *a, const PfsNewRow *b)
{
	for (int i = 0; i < table->nkeys; i++)
	{
		if (!datumIsEqual(a->values[table->keys[i]], b->values[table->keys[i]], false, -1))
			return false;
	}
	return true;
}

/*
 * Raises the error if the last of the new rows is a duplicate of another one or of a
 * rule, or does not fit.
 */
void
pfs_rule_table_check_insert(const PfsTable *table, const PfsNewRow *rows, int nrows)
{
	const PfsRuleTable *rules = table->rules;
	AnyRule		rule;

	make_rule(rules, &rows[nrows - 1], &rule);
	for (int i = 0; i < nrows - 1; i++)
	{
		if (same_key(rules, &rows[i], &rows[nrows - 1]))
			report(rules, PFS_RULES_DUPLICATE, &rule);
	}
	report(rules, pfs_rules_check(rules->list, &rule, nrows - 1), &rule);
}

/*
 * Inserts all rules or none; another session may have inserted one since
 * pfs_rule_table_check_insert().
 */
void
pfs_rule_table_insert(const PfsTable *table, const PfsNewRow *rows, int nrows)
{
	PfsRuleList *list = table->rules->list;
	Size		size = pfs_rules_size(list);
	char	   *rules = palloc(size * nrows);
	PfsRuleResult result;
	int			which;

	for (int i = 0; i < nrows; i++)
		make_rule(table->rules, &rows[i], rules + size * i);
	result = pfs_rules_insert(list, rules, nrows, &which);
	report(table->rules, result, rules + size * Min(which, nrows - 1));
}

/* Removes the rules of a DELETE, in one write section; those that have gone are passed over. */
void
pfs_rule_table_remove(const PfsTable *table, const PfsRowId *rows, int nrows)
{
	PfsRuleRef *refs = palloc(sizeof(PfsRuleRef) * nrows);
	int			n = 0;

	for (int i = 0; i < nrows; i++)
		n += find_ref(table->rules, rows[i], &refs[n]);
	pfs_rules_remove(table->rules->list, refs, n);
}

/* Removes all rules; returns how many there were. */
int64
pfs_rule_table_truncate(const PfsTable *table)
{
	return pfs_rules_remove_key(table->rules->list, NULL);
}
