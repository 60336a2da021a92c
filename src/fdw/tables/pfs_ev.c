/*
 * pfs_ev.c
 *	  The values of the columns that events of all families have, and the
 *	  callbacks that their tables share.
 */
#include "postgres.h"

#include "pfs_ev.h"
#include "pfs_instrument.h"
#include "pfs_shared.h"
#include "pfs_source.h"

/* Adds an event to the scan, unless a condition on event_id or event_name leaves it out. */
static void
add_cb(const PfsEvent *event, void *arg)
{
	PfsScan    *scan = arg;

	if (scan->event_id != 0 && event->event_id != scan->event_id)
		return;
	if (scan->instrument != PFS_NO_INSTRUMENT && event->instrument != scan->instrument)
		return;
	pfs_scan_add_copy(scan, event, pfs_event_bytes(scan->table->family, event));
}

void
pfs_ev_current_copy(PfsScan *scan)
{
	pfs_events_current(scan->table->family, scan->thread_id, add_cb, scan);
}

void
pfs_ev_history_copy(PfsScan *scan)
{
	pfs_events_history(scan->table->family, scan->thread_id, add_cb, scan);
}

void
pfs_ev_history_long_copy(PfsScan *scan)
{
	pfs_events_history_long(scan->table->family, scan->thread_id, add_cb, scan);
}

double
pfs_ev_history_estimate(const PfsTable *table)
{
	return pfs_pages_used(pfs_threads) * pfs_sizes.history[table->family];
}

double
pfs_ev_history_long_estimate(const PfsTable *table)
{
	return pfs_sizes.history_long[table->family];
}

/*
 * pfs_ev_timer returns one of an event's times.  timer_wait is the difference of the
 * other two as they are shown.
 */
PfsPicoseconds
pfs_ev_timer(const PfsEvent *event, PfsEvTime what, bool *isnull)
{
	PfsTimer	timer = PFS_FLAGS_TIMER(event->flags);
	PfsPicoseconds start;
	PfsPicoseconds end;

	*isnull = !(event->flags & PFS_FLAG_TIMED) || (what != PFS_EV_START && event->end_event_id == 0);
	if (*isnull)
		return 0;

	/*
	 * The time inside of calls, which is not all that passes between begin
	 * and end.
	 */
	if (what == PFS_EV_LENGTH && event->object_type == PFS_OBJECT_TABLE)
		return pfs_ticks_to_ps(timer, ((const PfsWaitEvent *) event)->ticks);
	start = pfs_timer_to_ps(timer, event->timer_start);
	if (what == PFS_EV_START)
		return start;
	end = Max(pfs_timer_to_ps(timer, event->timer_end), start);
	return what == PFS_EV_END ? end : end - start;
}

Oid
pfs_ev_role(const void *row)
{
	return ((const PfsEvent *) row)->role;
}

/* TRUNCATE of running events: it is accepted and does nothing, as they cannot be removed. */
int64
pfs_ev_current_truncate(const PfsTable *table)
{
	return 0;
}

int64
pfs_ev_history_truncate(const PfsTable *table)
{
	return pfs_events_history_truncate(table->family);
}

int64
pfs_ev_history_long_truncate(const PfsTable *table)
{
	return pfs_events_history_long_truncate(table->family);
}
