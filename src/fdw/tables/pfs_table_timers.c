/*
 * pfs_table_timers.c
 *	  performance_timers: what this machine's timers are like, measured anew at
 *	  each SELECT.
 */
#include "postgres.h"

#include "pfs_clock.h"
#include "pfs_tables.h"
#include "pfs_value.h"

typedef struct TimerRow
{
	PfsTimer	timer;
	bool		offered;
	PfsTimerFacts facts;
} TimerRow;

enum
{
	TIMER_NAME,
	TIMER_FREQUENCY,
	TIMER_RESOLUTION,
	TIMER_OVERHEAD,
};

static const PfsColumn columns[] = {
	[TIMER_NAME] = {"timer_name", TEXTOID, .width = 11},
	[TIMER_FREQUENCY] = {"timer_frequency", INT8OID},
	[TIMER_RESOLUTION] = {"timer_resolution", INT8OID},
	[TIMER_OVERHEAD] = {"timer_overhead", INT8OID},
};

static double
estimate(void)
{
	return PFS_NUM_TIMERS;
}

static void
copy(PfsScan *scan)
{
	/* Measuring the slow timers takes a while: only if someone looks. */
	bool		measure = scan->needed[TIMER_FREQUENCY] || scan->needed[TIMER_RESOLUTION] ||
	scan->needed[TIMER_OVERHEAD];

	for (int timer = 0; timer < PFS_NUM_TIMERS; timer++)
	{
		TimerRow   *row = pfs_scan_add(scan);

		row->timer = timer;
		row->offered = pfs_timer_offered(timer);
		if (row->offered && measure)
			pfs_timer_measure(timer, &row->facts);
	}
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const TimerRow *timer = row;

	if (column == TIMER_NAME)
		return CStringGetTextDatum(pfs_timer_name(timer->timer));
	if (!timer->offered || timer->facts.frequency == 0)
		return pfs_null(isnull);
	switch (column)
	{
		case TIMER_FREQUENCY:
			return Int64GetDatum((int64) timer->facts.frequency);
		case TIMER_RESOLUTION:
			return Int64GetDatum((int64) timer->facts.resolution);
		case TIMER_OVERHEAD:
			return Int64GetDatum((int64) timer->facts.overhead);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_performance_timers = {
	.name = "performance_timers",
	.row_is = "one timer, measured while it is read",
	.truncate_effect = "refused",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(TimerRow),
	.estimate = estimate,
	.copy = copy,
	.get = get,
};
