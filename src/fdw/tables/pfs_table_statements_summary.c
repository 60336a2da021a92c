/*
 * pfs_table_statements_summary.c
 *	  events_statements_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name,
 *	  and events_statements_histogram_global, which TRUNCATE of the global one
 *	  empties, too.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_event_cell.h"
#include "pfs_levels.h"
#include "pfs_statement_counters.h"

PFS_LEVEL_ROW(StatementRow, PfsStatementTotals);

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals.time, "Statements counted.") \
	PFS_STATEMENT_SUM_COLUMNS(X, t, &row->totals)

/* A guess: a session executes a few kinds of commands. */
#define ROWS_PER_KEY 5

PFS_EVENT_LEVEL_TABLES(statements, "statement", STATEMENTS, StatementRow, COLUMNS, ROWS_PER_KEY,
					   "zeroes all levels, and the histogram");

/* ---- histogram ---- */

#define HISTOGRAM_COLUMNS(X, t) \
	PFS_BUCKET_COLUMNS(X, t, row, "Statements that took so long", "timed statements")

PFS_COLUMNS(histogram, PfsBucketRow, HISTOGRAM_COLUMNS)

const PfsTable pfs_table_statements_histogram = {
	PFS_TABLE("events_statements_histogram_global", histogram, "MySQL",
			  "one range of lengths of statements",
			  "empties it",
			  "How many statements of the whole server were how long. TRUNCATE empties it."),
	.family = PFS_FAMILY_STATEMENTS,
	.part = PFS_LEVEL_HISTOGRAM,
	.usual_rows = PFS_HISTOGRAM_BUCKETS / 3,
	.copy = pfs_buckets_copy,
	.truncate_part = pfs_level_truncate,
	.in_reset_all = true,
};
