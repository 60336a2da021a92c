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
#include "pfs_value.h"

/* ---- summaries ---- */

typedef struct SummaryRow
{
	PfsLevelKeys keys;
	PfsTotals	totals;
} SummaryRow;

static void
add_row_cb(const PfsSummaryRow *from, void *arg)
{
	SummaryRow *row = pfs_scan_add(arg);

	pfs_level_keys_fill(&row->keys, from);
	row->totals = *(const PfsTotals *) from->totals;
}

#define LEVEL_COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Number of waits.")

/* A guess: a session has some twenty kinds of waits. */
#define ROWS_PER_KEY 20

PFS_LEVEL_TABLES(waits, "event_name", WAITS, SummaryRow, LEVEL_COLUMNS, add_row_cb, ROWS_PER_KEY, "one kind of wait",
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

PFS_COLUMNS(global, GlobalRow, GLOBAL_COLUMNS)

static void
add_totals_cb(const PfsSummaryRow *from, void *arg)
{
	((PfsTotals *) arg)[from->instrument] = *(const PfsTotals *) from->totals;
}

/*
 * Copies the totals of every instrument of waits, from which quantiles follow only
 * where they are asked for: the histograms are large.
 */
static void
global_copy(PfsScan *scan)
{
	bool		with_quantiles = scan->needed[PFS_COLUMN(global, quantile_95)] ||
	scan->needed[PFS_COLUMN(global, quantile_99)] || scan->needed[PFS_COLUMN(global, quantile_999)];
	uint64	  **histogram = NULL;
	PfsTotals  *totals;

	if (pfs_summary == NULL)
		return;
	totals = palloc0(pfs_summary[PFS_FAMILY_WAITS].ncells * sizeof(PfsTotals));
	pfs_summary_read(PFS_FAMILY_WAITS, PFS_LEVEL_GLOBAL, 0, scan->instrument, add_totals_cb, totals);
	if (with_quantiles)
		histogram = pfs_summary_read_histograms(PFS_FAMILY_WAITS);
	for (uint32 i = 0; i < Min(pfs_instrument_count(), pfs_summary[PFS_FAMILY_WAITS].ncells); i++)
	{
		const PfsInstrument *ins = pfs_instrument_at(i);
		GlobalRow  *row;

		if (ins == NULL || (ins->class != PFS_CLASS_WAIT && ins->class != PFS_CLASS_IDLE))
			continue;
		if (scan->instrument != PFS_NO_INSTRUMENT && i != scan->instrument)
			continue;
		row = pfs_scan_add(scan);
		row->keys.instrument = i;
		row->totals = totals[i];
		if (histogram != NULL && histogram[i] != NULL)
			pfs_buckets_quantiles(histogram[i], row->totals.max, row->quantile);
	}
}

static double
global_estimate(void)
{
	return pfs_summary == NULL ? 0 : pfs_instruments->count;
}

static int64
global_truncate(void)
{
	return pfs_summary_truncate(PFS_FAMILY_WAITS, PFS_LEVEL_GLOBAL);
}

/* ---- histogram ---- */

#define HISTOGRAM_COLUMNS(X, t) \
	X(t, event_name, text, none, pfs_event_name(row->instrument), \
	  "The instrument: setup_instruments.name.", .width = 30, .key = PFS_KEY_EVENT_NAME) \
	PFS_BUCKET_COLUMNS(X, t, row, "Waits that took so long", "timed waits of this instrument")

PFS_COLUMNS(histogram, PfsBucketRow, HISTOGRAM_COLUMNS)

static void
histogram_copy(PfsScan *scan)
{
	uint64	  **histogram = pfs_summary_read_histograms(PFS_FAMILY_WAITS);

	for (uint32 i = 0; histogram != NULL && i < pfs_summary[PFS_FAMILY_WAITS].ncells; i++)
	{
		if (histogram[i] != NULL && (scan->instrument == PFS_NO_INSTRUMENT || scan->instrument == i))
			pfs_buckets_add(scan, i, histogram[i]);
	}
}

static double
histogram_estimate(void)
{
	return pfs_summary == NULL ? 0 : 30 * ROWS_PER_KEY;
}

static int64
histogram_truncate(void)
{
	return pfs_summary_truncate(PFS_FAMILY_WAITS, PFS_LEVEL_HISTOGRAM);
}

PFS_LEVEL_TABLE(waits_global, global, GlobalRow, "events_waits_summary_global_by_event_name", "MySQL",
				"one kind of wait",
				"zeroes all levels, and the histogram",
				"Waits of the whole server since the last reset, with those of sessions that have ended. One row "
				"per instrument, also of those that nobody waited for. TRUNCATE zeroes all levels and the "
				"histogram.");
PFS_LEVEL_TABLE(waits_histogram, histogram, PfsBucketRow, "events_waits_histogram_global", "own",
				"one range of times of one kind of wait, if any wait took so long",
				"empties it; quantiles become 0",
				"How often waits took how long, since the last reset. One row per instrument and range of times "
				"that was met. TRUNCATE empties it; the quantiles become 0.");
