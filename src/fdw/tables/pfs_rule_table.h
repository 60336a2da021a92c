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

/* What stands for any name. */
#define PFS_RULE_ANY "%"

typedef struct PfsRuleTable
{
	PfsRuleList *list;
	int			nkeys;
	int			keys[PFS_RULE_KEYS_MAX];	/* columns that make the key */
	int			switches[PFS_RULE_SWITCHES];	/* columns */

	/* Fills in the key, which is zero, from a new row that was checked. */
	void		(*make_key) (const PfsNewRow *row, void *rule);
	/* What a rule's key is, in words; the function that inserts or updates. */
	char	   *(*key_words) (const void *rule);
	const char *setter;
} PfsRuleTable;

/* What a table of rules has besides its columns.  A copied row is a PfsRuleRef and behind it the rule. */
#define PFS_RULE_TABLE(table) \
	.rules = &(table), \
	.estimate = pfs_rule_table_estimate, \
	.copy = pfs_rule_table_copy, \
	.identity = pfs_rule_table_identity, \
	.update = pfs_rule_table_update, \
	.check_insert = pfs_rule_table_check_insert, \
	.insert = pfs_rule_table_insert, \
	.remove = pfs_rule_table_remove, \
	.truncate_part = pfs_rule_table_truncate

/* These callbacks of PfsTable, for any table of rules. */
extern double pfs_rule_table_estimate(const PfsTable *table);
extern void pfs_rule_table_copy(PfsScan *scan);
extern PfsRowId pfs_rule_table_identity(const void *row);
extern void pfs_rule_table_update(const PfsTable *table, PfsRowId row, const PfsNewRow *values);
extern void pfs_rule_table_check_insert(const PfsTable *table, const PfsNewRow *rows, int nrows);
extern void pfs_rule_table_insert(const PfsTable *table, const PfsNewRow *rows, int nrows);
extern void pfs_rule_table_remove(const PfsTable *table, const PfsRowId *rows, int nrows);
extern int64 pfs_rule_table_truncate(const PfsTable *table);

/* What SQL functions do with a row whose values were checked. */
extern int64 pfs_rule_table_set(const PfsTable *table, const PfsNewRow *row);
extern int64 pfs_rule_table_drop(const PfsTable *table, const PfsNewRow *row);

/* For checks of columns: a value as a text; raises 22023 for a null, and beyond so many bytes. */
extern char *pfs_rule_text(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull, int max);

#endif							/* PFS_RULE_TABLE_H */
