/*
 * pfs_table_waits_summary.c
 *	  events_waits_summary_global_by_event_name, ..._by_thread_by_event_name,
 *	  ..._by_account_by_event_name, ..._by_user_by_event_name,
 *	  ..._by_host_by_event_name, and events_waits_histogram_global.
 *
 * The five summaries differ in their keys; the columns behind the keys are the same.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

/* ---- summaries ---- */

PFS_LEVEL_ROW(SummaryRow, PfsTotals);

#define LEVEL_COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Number of waits.")

/* A guess: a session has some twenty kinds of waits. */
#define ROWS_PER_KEY 20

PFS_LEVEL_TABLES(waits, "event_name", WAITS, SummaryRow, LEVEL_COLUMNS, ROWS_PER_KEY, "one kind of wait",
				 "Counts and times of waits by event name");

/* ---- global: the same columns, and quantiles; every instrument has a row ---- */

typedef struct GlobalRow
{
	PfsLevelKeys keys;
	PfsTotals	totals;
	uint64		quantile[PFS_NUM_QUANTILES];	/* ticks */
} GlobalRow;

#define GLOBAL_COLUMNS(X, t) \
	LEVEL_COLUMNS(X, t) \
	X(t, quantile_95, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[0]), \
	  "95 % of the waits took at most so long, in picoseconds: upper bound of the range in " \
	  "events_waits_histogram_global, at most 19 % too much, and never above the longest.", .width = 10) \
	X(t, quantile_99, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[1]), "The same for 99 %.", .width = 10) \
	X(t, quantile_999, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[2]), "The same for 99.9 %.", .width = 10)

PFS_COLUMNS(waits_global, GlobalRow, GLOBAL_COLUMNS)

#define NEEDED(column) scan->needed[PFS_COLUMN(waits_global, column)]

/* Adds quantiles to the rows only where they are asked for: the histograms are large. */
static void
global_copy(PfsScan *scan)
{
	uint64	  **histogram;

	pfs_level_copy_all(scan);
	if (!NEEDED(quantile_95) && !NEEDED(quantile_99) && !NEEDED(quantile_999))
		return;
	histogram = pfs_summary_read_histograms(PFS_FAMILY_WAITS);
	for (Size i = 0; i < scan->nrows; i++)
	{
		GlobalRow  *row = (GlobalRow *) scan->rows + i;

		if (histogram[row->keys.instrument] != NULL)
			pfs_buckets_quantiles(histogram[row->keys.instrument], row->totals.max, row->quantile);
	}
}

PFS_ALL_EVENTS_TABLE(waits_global, WAITS, global_copy, "events_waits_summary_global_by_event_name",
					 "one kind of wait",
					 "zeroes all levels, and the histogram",
					 "Waits of the whole server since the last reset, with those of sessions that have ended. One row "
					 "per instrument, also of those that nobody waited for. TRUNCATE zeroes all levels and the "
					 "histogram.");

/* ---- histogram ---- */

#define HISTOGRAM_COLUMNS(X, t) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	PFS_BUCKET_COLUMNS(X, t, row, "Waits that took so long", "timed waits of this instrument")

PFS_COLUMNS(histogram, PfsBucketRow, HISTOGRAM_COLUMNS)

const PfsTable pfs_table_waits_histogram = {
	PFS_TABLE("events_waits_histogram_global", histogram, "own",
			  "one range of times of one kind of wait, if any wait took so long",
			  "empties it; quantiles become 0",
			  "How often waits took how long, since the last reset. One row per instrument and range of times "
			  "that was met. TRUNCATE empties it; the quantiles become 0."),
	.family = PFS_FAMILY_WAITS,
	.part = PFS_LEVEL_HISTOGRAM,
	.usual_rows = 30 * ROWS_PER_KEY,
	.copy = pfs_buckets_copy,
	.truncate_part = pfs_level_truncate,
	.in_reset_all = true,
};
