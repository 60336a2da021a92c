/*
 * pfs_table_statements_summary.c
 *	  events_statements_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name,
 *	  and events_statements_histogram_global.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_event_cell.h"
#include "pfs_event_levels.h"
#include "pfs_statement_numbers.h"
#include "pfs_value.h"

typedef struct StatementRow
{
	PfsLevelKeys keys;
	PfsStatementTotals totals;
} StatementRow;

static Datum
value_get(const StatementRow *row, int column, bool *isnull)
{
	if (column < PFS_TW_NCOLUMNS)
		return pfs_tw_get(&row->totals.time, column);
	return pfs_statement_sum_get(&row->totals, column - PFS_TW_NCOLUMNS, isnull);
}

#define COLUMNS(first) PFS_TW_COLUMNS(first), PFS_STATEMENT_SUM_COLUMNS((first) + PFS_TW_NCOLUMNS)

/* A session has a handful of commands. */
#define ROWS_PER_KEY 5

PFS_EVENT_LEVEL_TABLES(statements, "statement", STATEMENTS, StatementRow, PfsStatementTotals, COLUMNS, value_get,
					   ROWS_PER_KEY, "zeroes all levels, and the histogram");

/* ---- histogram ---- */

static const PfsColumn histogram_columns[] = {
	PFS_BUCKET_COLUMNS(0),
};

static void
histogram_copy(PfsScan *scan)
{
	const uint64 *buckets = pfs_summary_read_statements();

	if (buckets != NULL)
		pfs_buckets_add(scan, PFS_NO_INSTRUMENT, buckets);
}

static Datum
histogram_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	return pfs_bucket_get(copied, column, isnull);
}

static double
histogram_estimate(void)
{
	return pfs_summary == NULL ? 0 : PFS_HISTOGRAM_BUCKETS / 3;
}

static int64
histogram_truncate(void)
{
	return pfs_summary_truncate(PFS_FAMILY_STATEMENTS, PFS_LEVEL_HISTOGRAM);
}

const PfsTable pfs_table_statements_histogram = {
	.name = "events_statements_histogram_global",
	.row_is = "one range of lengths of statements",
	.truncate_effect = "empties it",
	.columns = histogram_columns,
	.ncolumns = lengthof(histogram_columns),
	.row_size = sizeof(PfsBucketRow),
	.estimate = histogram_estimate,
	.copy = histogram_copy,
	.get = histogram_get,
	.truncate = histogram_truncate,
	.in_reset_all = true,
};
