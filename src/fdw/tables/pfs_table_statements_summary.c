/*
 * pfs_table_statements_summary.c
 *	  events_statements_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name,
 *	  and events_statements_histogram_global, which TRUNCATE of the global one
 *	  empties, too.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_event_cell.h"
#include "pfs_event_levels.h"
#include "pfs_statement_counters.h"
#include "pfs_value.h"

typedef struct StatementRow
{
	PfsLevelKeys keys;
	PfsStatementTotals totals;
} StatementRow;

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals.time, "Statements counted.") \
	PFS_STATEMENT_SUM_COLUMNS(X, t, &row->totals)

/* A guess: a session executes a few kinds of commands. */
#define ROWS_PER_KEY 5

PFS_EVENT_LEVEL_TABLES(statements, "statement", STATEMENTS, StatementRow, PfsStatementTotals, COLUMNS, ROWS_PER_KEY,
					   "zeroes all levels, and the histogram");

/* ---- histogram ---- */

#define HISTOGRAM_COLUMNS(X, t) \
	PFS_BUCKET_COLUMNS(X, t, row, "Statements that took so long", "timed statements")

PFS_COLUMNS(histogram, PfsBucketRow, HISTOGRAM_COLUMNS)

static void
histogram_copy(PfsScan *scan)
{
	uint64	  **histograms = pfs_summary_read_histograms(PFS_FAMILY_STATEMENTS);

	if (histograms != NULL && histograms[0] != NULL)
		pfs_buckets_add(scan, PFS_NO_INSTRUMENT, histograms[0]);
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
	PFS_TABLE("events_statements_histogram_global", histogram, "MySQL",
			  "one range of lengths of statements",
			  "empties it",
			  "How many statements of the whole server were how long. TRUNCATE empties it."),
	.row_size = sizeof(PfsBucketRow),
	.estimate = histogram_estimate,
	.copy = histogram_copy,
	.truncate = histogram_truncate,
	.in_reset_all = true,
};
