/*
 * pfs_table_timers.c
 *	  performance_timers: what this machine's timers are like, measured anew at
 *	  each SELECT.
 */
#include "postgres.h"

#include "pfs_clock.h"
#include "pfs_tables.h"

typedef struct TimerRow
{
	PfsTimer	timer;
	bool		offered;
	PfsTimerFacts facts;
} TimerRow;

/* What was measured of a timer; NULL where this machine does not offer it. */
#define FACT(fact) PFS_NULL_IF(!row->offered || row->facts.frequency == 0, row->facts.fact)

#define COLUMNS(X, t) \
	X(t, timer_name, text, none, pfs_timer_names[row->timer], \
	  "CYCLE: the processor's counter. NANOSECOND to TICK: CLOCK_MONOTONIC in these units.", .width = 11) \
	X(t, timer_frequency, bigint, hertz, FACT(frequency), "Units per second.") \
	X(t, timer_resolution, bigint, ticks, FACT(resolution), "Smallest step seen, in units of the timer.") \
	X(t, timer_overhead, bigint, cycles, FACT(overhead), \
	  "Cost of one reading in processor cycles, the smallest of 20. A timed event has it twice inside its " \
	  "timer_wait.")

PFS_COLUMNS(timers, TimerRow, COLUMNS)

/* Adds all timers, and measures those that this machine offers. */
static void
copy(PfsScan *scan)
{
	/* To measure the slow timers takes a while, so it is done only if needed. */
	bool		measure = scan->needed[PFS_COLUMN(timers, timer_frequency)] ||
	scan->needed[PFS_COLUMN(timers, timer_resolution)] || scan->needed[PFS_COLUMN(timers, timer_overhead)];

	for (int timer = 0; timer < PFS_NUM_TIMERS; timer++)
	{
		TimerRow   *row = pfs_scan_add(scan);

		row->timer = timer;
		row->offered = pfs_timer_offered(timer);
		if (row->offered && measure)
			pfs_timer_measure(timer, &row->facts);
	}
}

const PfsTable pfs_table_performance_timers = {
	PFS_TABLE("performance_timers", timers, "MySQL",
			  "one timer, measured while it is read",
			  "refused",
			  "The five timers, measured anew at each SELECT. NULLs where this machine does not offer one."),
	.usual_rows = PFS_NUM_TIMERS,
	.copy = copy,
};
