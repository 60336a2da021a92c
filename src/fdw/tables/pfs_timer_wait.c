/*
 * pfs_timer_wait.c
 *	  The values of the columns that every summary has.  The columns themselves
 *	  stand in pfs_timer_wait.h, as tables of all families put them into their
 *	  lists.
 */
#include "postgres.h"

#include "pfs_timer_wait.h"
#include "pfs_value.h"

/*
 * pfs_timer_wait_get returns one value of a sum, for the list of columns in
 * pfs_timer_wait.h.
 */
PfsPicoseconds
pfs_timer_wait_get(const PfsTotals *totals, PfsTimerWait what)
{
	switch (what)
	{
		case PFS_TIMER_WAIT_COUNT_STAR:
			return pfs_totals_count(totals);
		case PFS_TIMER_WAIT_COUNT_TIMED:
			return totals->count_timed;
		case PFS_TIMER_WAIT_SUM:
			return pfs_ticks_as_ps(totals->sum);
		case PFS_TIMER_WAIT_MIN:
			return totals->count_timed > 0 ? pfs_ticks_as_ps(totals->min) : 0;
		case PFS_TIMER_WAIT_MAX:
			return totals->count_timed > 0 ? pfs_ticks_as_ps(totals->max) : 0;
		case PFS_TIMER_WAIT_AVG:
			break;
	}
	/* The average of the picoseconds, as they are shown. */
	return totals->count_timed > 0 ? pfs_ticks_as_ps(totals->sum) / totals->count_timed : 0;
}

/* Leaves out event names that have counted nothing, and those that a condition leaves out. */
void
pfs_calls_add_rows(PfsScan *scan, const PfsCalls *calls)
{
	for (uint32 i = 0; i < pfs_instruments->max; i++)
	{
		PfsTotals	all = pfs_calls_all(&calls[i]);
		PfsCallsRow *row;

		/* Bytes can be without a call, as on sockets. */
		if ((pfs_totals_count(&all) == 0 && calls[i].bytes[PFS_CALLS_READ] == 0) ||
			(scan->instrument != PFS_NO_INSTRUMENT && i != scan->instrument))
			continue;
		row = pfs_scan_add(scan);
		row->instrument = i;
		row->calls = calls[i];
	}
}
