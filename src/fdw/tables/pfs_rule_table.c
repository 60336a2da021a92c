/*
 * pfs_rule_table.c
 *	  What the tables of rules share: reading, inserting, changing and removing rules.
 *
 * Separate from the tables, which say what a rule's columns are.
 */
#include "postgres.h"

#include "utils/datum.h"

#include "pfs_rule_table.h"

/* Room for a rule of any list. */
typedef union AnyRule
{
	char		bytes[PFS_RULE_SIZE_MAX];
	uint64		align;
} AnyRule;

/* Rules now, for the planner. */
double
pfs_rule_table_estimate(const PfsRuleTable *table)
{
	return pfs_pages_used(table->list->pages);
}

/* Copies the rules one by one; one that is removed meanwhile is left out. */
void
pfs_rule_table_copy(const PfsRuleTable *table, PfsScan *scan)
{
	PfsPages   *pages = table->list->pages;
	Size		size = pfs_rules_size(table->list);
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
pfs_rule_table_update(const PfsRuleTable *table, PfsRowId row, const PfsNewRow *values)
{
	PfsRuleRef	ref;
	uint64		bits;
	uint64		switches;

	new_switches(table, values, &bits, &switches);
	if (find_ref(table, row, &ref))
		pfs_rules_update(table->list, ref, bits, switches);
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
pfs_rule_table_check_insert(const PfsRuleTable *table, const PfsNewRow *rows, int nrows)
{
	AnyRule		rule;

	make_rule(table, &rows[nrows - 1], &rule);
	for (int i = 0; i < nrows - 1; i++)
	{
		if (same_key(table, &rows[i], &rows[nrows - 1]))
			table->report(PFS_RULES_DUPLICATE, &rule);
	}
	table->report(pfs_rules_check(table->list, &rule, nrows - 1), &rule);
}

/*
 * Inserts all rules or none; another session may have inserted one since
 * pfs_rule_table_check_insert().
 */
void
pfs_rule_table_insert(const PfsRuleTable *table, const PfsNewRow *rows, int nrows)
{
	Size		size = pfs_rules_size(table->list);
	char	   *rules = palloc(size * nrows);
	PfsRuleResult result;
	int			which;

	for (int i = 0; i < nrows; i++)
		make_rule(table, &rows[i], rules + size * i);
	result = pfs_rules_insert(table->list, rules, nrows, &which);
	table->report(result, rules + size * Min(which, nrows - 1));
}

/* Removes the rules of a DELETE, in one write section; those that have gone are passed over. */
void
pfs_rule_table_remove(const PfsRuleTable *table, const PfsRowId *rows, int nrows)
{
	PfsRuleRef *refs = palloc(sizeof(PfsRuleRef) * nrows);
	int			n = 0;

	for (int i = 0; i < nrows; i++)
		n += find_ref(table, rows[i], &refs[n]);
	pfs_rules_remove(table->list, refs, n);
}
