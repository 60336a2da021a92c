/*
 * pfs_table_prepared.c
 *	  prepared_statements_instances.
 */
#include "postgres.h"

#include "pfs_owned.h"
#include "pfs_prepared.h"
#include "pfs_tables.h"
#include "pfs_tw.h"
#include "pfs_value.h"

enum
{
	THREAD_ID,
	STATEMENT_NAME,
	SQL_TEXT,
	COUNT_EXECUTE,
	TOTALS,
};

static const PfsColumn columns[] = {
	[THREAD_ID] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID},
	[STATEMENT_NAME] = {"statement_name", TEXTOID, .width = 12, .hidden = true},
	[SQL_TEXT] = {"sql_text", TEXTOID, .width = 100, .hidden = true},
	[COUNT_EXECUTE] = {"count_execute", INT8OID},
	PFS_TW_COLUMNS(TOTALS),
};

static void
add_cb(const PfsPrepared *copy, void *arg)
{
	memcpy(pfs_scan_add(arg), copy, pfs_prepared_record_size());
}

static void
copy_rows(PfsScan *scan)
{
	pfs_prepared_each(scan->thread_id, add_cb, scan);
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsPrepared *p = row;
	PfsTotals	totals = {0};

	switch (column)
	{
		case THREAD_ID:
			return Int64GetDatum((int64) p->thread_id);
		case STATEMENT_NAME:
			return pfs_text_datum(pfs_text_convert(p->name, strlen(p->name), pfs_database_encoding(p->database)));
		case SQL_TEXT:
			if (p->text_len == 0)
				return pfs_null(isnull);
			return pfs_text_datum(pfs_text_of_statement(p->text, p->text_len, pfs_database_encoding(p->database)));
		default:
			pfs_totals_add_cell(&totals, &p->executions);
			return pfs_tw_get(&totals, column == COUNT_EXECUTE ? PFS_TW_COUNT_STAR : column - TOTALS);
	}
}

static Oid
role(const void *row)
{
	const PfsPrepared *p = row;

	return pfs_owned_role(p->thread, p->thread_id);
}

static Oid
nested_role(const void *row)
{
	return ((const PfsPrepared *) row)->user;
}

const PfsTable pfs_table_prepared_statements_instances = {
	.name = "prepared_statements_instances",
	.row_is = "one prepared statement of a living session",
	.truncate_effect = "sets the counts to zero",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(PfsPrepared),
	.size_of_row = pfs_prepared_record_size,
	.estimate = pfs_prepared_estimate,
	.copy = copy_rows,
	.get = get,
	.role = role,
	.also_role = nested_role,
	.truncate = pfs_prepared_truncate,
	.in_reset_all = true,
};
