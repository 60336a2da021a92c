/*
 * pfs_table_waits_summary.c
 *	  events_waits_summary_global_by_event_name, ..._by_thread_by_event_name,
 *	  ..._by_account_by_event_name, ..._by_user_by_event_name,
 *	  ..._by_host_by_event_name, and events_waits_histogram_global.
 *
 * The five summaries differ in what they are by; their rows are the same.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_levels.h"
#include "pfs_tables.h"
#include "pfs_tw.h"
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

static Datum
value_get(const SummaryRow *row, int column, bool *isnull)
{
	return pfs_tw_get(&row->totals, column);
}

/* A session meets some twenty kinds of waits. */
#define ROWS_PER_KEY 20

static const PfsColumn thread_columns[] = {
	PFS_THREAD_KEY_COLUMNS,
	PFS_TW_COLUMNS(PFS_THREAD_KEYS),
};

static const PfsColumn account_columns[] = {
	PFS_ACCOUNT_KEY_COLUMNS,
	PFS_TW_COLUMNS(PFS_ACCOUNT_KEYS),
};

static const PfsColumn user_columns[] = {
	PFS_USER_KEY_COLUMNS,
	PFS_TW_COLUMNS(PFS_USER_KEYS),
};

static const PfsColumn host_columns[] = {
	PFS_HOST_KEY_COLUMNS,
	PFS_TW_COLUMNS(PFS_HOST_KEYS),
};

PFS_LEVEL_FUNCTIONS(by_thread, WAITS, THREAD, SummaryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_account, WAITS, ACCOUNT, SummaryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_user, WAITS, USER, SummaryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_host, WAITS, HOST, SummaryRow, add_row_cb, value_get, ROWS_PER_KEY)

/* ---- global: event_name, TW, quantiles; every instrument has a row ---- */

enum
{
	GLOBAL_EVENT_NAME,
	GLOBAL_TW,
	GLOBAL_QUANTILE_95 = GLOBAL_TW + PFS_TW_NCOLUMNS,
	GLOBAL_QUANTILE_99,
	GLOBAL_QUANTILE_999,
};

static const PfsColumn global_columns[] = {
	[GLOBAL_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	PFS_TW_COLUMNS(GLOBAL_TW),
	[GLOBAL_QUANTILE_95] = {"quantile_95", NUMERICOID, .width = 10},
	[GLOBAL_QUANTILE_99] = {"quantile_99", NUMERICOID, .width = 10},
	[GLOBAL_QUANTILE_999] = {"quantile_999", NUMERICOID, .width = 10},
};

typedef struct GlobalRow
{
	PfsInstrumentId instrument;
	PfsTotals	totals;
	uint64		quantile[PFS_NUM_QUANTILES];	/* ticks */
} GlobalRow;

static void
add_totals_cb(const PfsSummaryRow *from, void *arg)
{
	((PfsTotals *) arg)[from->instrument] = *(const PfsTotals *) from->totals;
}

static void
global_copy(PfsScan *scan)
{
	bool		with_quantiles = scan->needed[GLOBAL_QUANTILE_95] || scan->needed[GLOBAL_QUANTILE_99] ||
	scan->needed[GLOBAL_QUANTILE_999];
	uint64	  **histogram = NULL;
	PfsTotals  *totals;

	if (pfs_summary == NULL)
		return;
	totals = palloc0(pfs_summary[PFS_FAMILY_WAITS].ncells * sizeof(PfsTotals));
	pfs_summary_read(PFS_FAMILY_WAITS, PFS_LEVEL_GLOBAL, 0, scan->instrument, add_totals_cb, totals);
	if (with_quantiles)
		histogram = pfs_summary_read_histogram();
	for (uint32 i = 0; i < Min(pfs_instrument_count(), pfs_summary[PFS_FAMILY_WAITS].ncells); i++)
	{
		const PfsInstrument *ins = pfs_instrument_at(i);
		GlobalRow  *row;

		if (ins == NULL || (ins->class != PFS_CLASS_WAIT && ins->class != PFS_CLASS_IDLE))
			continue;
		if (scan->instrument != PFS_NO_INSTRUMENT && i != scan->instrument)
			continue;
		row = pfs_scan_add(scan);
		row->instrument = i;
		row->totals = totals[i];
		if (histogram != NULL && histogram[i] != NULL)
			pfs_buckets_quantiles(histogram[i], row->totals.max, row->quantile);
	}
}

static Datum
global_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const GlobalRow *row = copied;

	if (column == GLOBAL_EVENT_NAME)
		return pfs_level_event_name(scan, row->instrument, isnull);
	if (column < GLOBAL_QUANTILE_95)
		return pfs_tw_get(&row->totals, column - GLOBAL_TW);
	return NumericGetDatum(pfs_ps_to_numeric(pfs_ticks_to_ps(pfs_timer_default(),
															 row->quantile[column - GLOBAL_QUANTILE_95])));
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

enum
{
	HISTOGRAM_EVENT_NAME,
	BUCKET_NUMBER,
};

static const PfsColumn histogram_columns[] = {
	[HISTOGRAM_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	PFS_BUCKET_COLUMNS(BUCKET_NUMBER),
};

static void
histogram_copy(PfsScan *scan)
{
	uint64	  **histogram = pfs_summary_read_histogram();

	for (uint32 i = 0; histogram != NULL && i < pfs_summary[PFS_FAMILY_WAITS].ncells; i++)
	{
		if (histogram[i] != NULL && (scan->instrument == PFS_NO_INSTRUMENT || scan->instrument == i))
			pfs_buckets_add(scan, i, histogram[i]);
	}
}

static Datum
histogram_get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const PfsBucketRow *row = copied;

	if (column == HISTOGRAM_EVENT_NAME)
		return pfs_level_event_name(scan, row->instrument, isnull);
	return pfs_bucket_get(row, column - BUCKET_NUMBER, isnull);
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

const PfsTable pfs_table_waits_by_thread = {
	.name = "events_waits_summary_by_thread_by_event_name",
	.row_is = "one kind of wait of one living thread",
	.truncate_effect = "pushes the numbers into their accounts",
	.columns = thread_columns,
	.ncolumns = lengthof(thread_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_thread_estimate,
	.copy = by_thread_copy,
	.get = by_thread_get,
	.truncate = by_thread_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_waits_by_account = {
	.name = "events_waits_summary_by_account_by_event_name",
	.row_is = "one kind of wait of one account",
	.truncate_effect = "pushes the numbers of threads and accounts into their users and hosts",
	.columns = account_columns,
	.ncolumns = lengthof(account_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_account_estimate,
	.copy = by_account_copy,
	.get = by_account_get,
	.truncate = by_account_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_waits_by_user = {
	.name = "events_waits_summary_by_user_by_event_name",
	.row_is = "one kind of wait of one user",
	.truncate_effect = "pushes the numbers of threads and accounts into their hosts, discards those of users",
	.columns = user_columns,
	.ncolumns = lengthof(user_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_user_estimate,
	.copy = by_user_copy,
	.get = by_user_get,
	.truncate = by_user_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_waits_by_host = {
	.name = "events_waits_summary_by_host_by_event_name",
	.row_is = "one kind of wait of one client address",
	.truncate_effect = "pushes the numbers of threads, accounts and hosts into the global ones",
	.columns = host_columns,
	.ncolumns = lengthof(host_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_host_estimate,
	.copy = by_host_copy,
	.get = by_host_get,
	.truncate = by_host_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_waits_global = {
	.name = "events_waits_summary_global_by_event_name",
	.row_is = "one kind of wait",
	.truncate_effect = "zeroes all levels, and the histogram",
	.columns = global_columns,
	.ncolumns = lengthof(global_columns),
	.row_size = sizeof(GlobalRow),
	.estimate = global_estimate,
	.copy = global_copy,
	.get = global_get,
	.truncate = global_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_waits_histogram = {
	.name = "events_waits_histogram_global",
	.row_is = "one range of times of one kind of wait, if any wait took so long",
	.truncate_effect = "empties it; quantiles become 0",
	.columns = histogram_columns,
	.ncolumns = lengthof(histogram_columns),
	.row_size = sizeof(PfsBucketRow),
	.estimate = histogram_estimate,
	.copy = histogram_copy,
	.get = histogram_get,
	.truncate = histogram_truncate,
	.in_reset_all = true,
};
