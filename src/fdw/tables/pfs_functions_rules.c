/*
 * pfs_functions_rules.c
 *	  SQL functions that do what INSERT, UPDATE and DELETE of the tables of rules do, where
 *	  those are not allowed (read-only transactions, standbys).
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "pfs_fdw.h"
#include "pfs_rule_table.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_set_actor);
PFS_FUNCTION(pfs_drop_actor);
PFS_FUNCTION(pfs_set_object);
PFS_FUNCTION(pfs_drop_object);

/* Columns of a table of rules, at most. */
#define COLUMNS_MAX (PFS_RULE_KEYS_MAX + PFS_RULE_SWITCHES)

typedef int64 (*RuleWork) (const PfsTable *table, const PfsNewRow *row);

/* Works with a row made of the arguments, which are the table's columns in their order; who drops a rule has no switches. */
static Datum
work_with_row(FunctionCallInfo fcinfo, const char *name, RuleWork work)
{
	Datum		values[COLUMNS_MAX];
	bool		set[COLUMNS_MAX] = {false};
	bool		isnull[COLUMNS_MAX] = {false};
	PfsNewRow	row = {set, values, isnull};
	const PfsTable *table;

	pfs_require_active();
	table = pfs_require_table(name);
	for (int i = 0; i < PG_NARGS(); i++)
	{
		const PfsColumn *column = &table->columns[i];
		char	   *text = pfs_required_text(fcinfo, i, column->name);

		set[i] = true;
		values[i] = column->check_new != NULL ? column->check_new(table, column, CStringGetTextDatum(text), false)
			: CStringGetTextDatum(pfs_yes_or_no(pfs_switch_argument(fcinfo, i, column->name) == 1));
	}
	PG_RETURN_INT64(work(table, &row));
}

/* Inserts or updates a rule for new sessions; deletes it, and returns how many there were. */
Datum
pfs_set_actor(PG_FUNCTION_ARGS)
{
	return work_with_row(fcinfo, "setup_actors", pfs_rule_table_set);
}

Datum
pfs_drop_actor(PG_FUNCTION_ARGS)
{
	return work_with_row(fcinfo, "setup_actors", pfs_rule_table_drop);
}

/* The same for tables, functions, procedures or triggers. */
Datum
pfs_set_object(PG_FUNCTION_ARGS)
{
	return work_with_row(fcinfo, "setup_objects", pfs_rule_table_set);
}

Datum
pfs_drop_object(PG_FUNCTION_ARGS)
{
	return work_with_row(fcinfo, "setup_objects", pfs_rule_table_drop);
}
