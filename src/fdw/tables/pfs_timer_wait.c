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
Datum
pfs_timer_wait_get(const PfsTotals *totals, PfsTimerWait what)
{
	bool		timed = totals->count_timed > 0;

	switch (what)
	{
		case PFS_TIMER_WAIT_COUNT_STAR:
			return Int64GetDatum((int64) pfs_totals_count(totals));
		case PFS_TIMER_WAIT_COUNT_TIMED:
			return Int64GetDatum((int64) totals->count_timed);
		case PFS_TIMER_WAIT_SUM:
			return pfs_ticks_datum(totals->sum);
		case PFS_TIMER_WAIT_MIN:
			return pfs_ticks_datum(timed ? totals->min : 0);
		case PFS_TIMER_WAIT_MAX:
			return pfs_ticks_datum(timed ? totals->max : 0);
		case PFS_TIMER_WAIT_AVG:
			break;
	}
	/* The average of the picoseconds, as they are shown. */
	return pfs_sum_datum(timed ? pfs_ticks_to_ps(pfs_timer_default(), totals->sum) /
						 totals->count_timed : 0);
}
