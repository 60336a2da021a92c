/*
 * pfs_rule_table.h
 *	  What the tables of rules share: setup_actors and setup_objects.  Their rows
 *	  come and go by SQL.
 */
#ifndef PFS_RULE_TABLE_H
#define PFS_RULE_TABLE_H

#include "pfs_rule_list.h"
#include "pfs_table.h"

/* A table of rules has two switches, the first bit of their word and the second one. */
#define PFS_RULE_SWITCHES 2
#define PFS_RULE_KEYS_MAX 4

typedef struct PfsRuleTable
{
	PfsRuleList *list;
	int			nkeys;
	int			keys[PFS_RULE_KEYS_MAX];	/* columns that make the key */
	int			switches[PFS_RULE_SWITCHES];	/* columns */

	/* Fills in the key, which is zero, from a new row that was checked. */
	void		(*make_key) (const PfsNewRow *row, void *rule);
	/* Raises the error that belongs to a result. */
	void		(*report) (PfsRuleResult result, const void *rule);
} PfsRuleTable;

/*
 * The callbacks of PfsTable with these names, for this table.  A copied row is a PfsRuleRef
 * and behind it the rule.
 */
extern double pfs_rule_table_estimate(const PfsRuleTable *table);
extern void pfs_rule_table_copy(const PfsRuleTable *table, PfsScan *scan);
extern PfsRowId pfs_rule_table_identity(const void *row);
extern void pfs_rule_table_update(const PfsRuleTable *table, PfsRowId row, const PfsNewRow *values);
extern void pfs_rule_table_check_insert(const PfsRuleTable *table, const PfsNewRow *rows, int nrows);
extern void pfs_rule_table_insert(const PfsRuleTable *table, const PfsNewRow *rows, int nrows);
extern void pfs_rule_table_remove(const PfsRuleTable *table, const PfsRowId *rows, int nrows);

/*
 * These callbacks for the PfsRuleTable of a file, and where its PfsTable names them; row_size
 * is the table's own affair.
 */
#define PFS_RULE_TABLE_FUNCTIONS(rule_table) \
static double \
estimate(void) \
{ \
	return pfs_rule_table_estimate(&rule_table); \
} \
static void \
copy(PfsScan *scan) \
{ \
	pfs_rule_table_copy(&rule_table, scan); \
} \
static void \
update(PfsRowId row, const PfsNewRow *values) \
{ \
	pfs_rule_table_update(&rule_table, row, values); \
} \
static void \
check_insert(const PfsNewRow *rows, int nrows) \
{ \
	pfs_rule_table_check_insert(&rule_table, rows, nrows); \
} \
static void \
insert(const PfsNewRow *rows, int nrows) \
{ \
	pfs_rule_table_insert(&rule_table, rows, nrows); \
} \
static void \
delete(const PfsRowId *rows, int nrows) \
{ \
	pfs_rule_table_remove(&rule_table, rows, nrows); \
} \
static int64 \
truncate_all(void) \
{ \
	return pfs_rules_remove_all(rule_table.list); \
}

#define PFS_RULE_TABLE_CALLBACKS \
	.estimate = estimate, \
	.copy = copy, \
	.identity = pfs_rule_table_identity, \
	.update = update, \
	.check_insert = check_insert, \
	.insert = insert, \
	.remove = delete, \
	.truncate = truncate_all

#endif							/* PFS_RULE_TABLE_H */
