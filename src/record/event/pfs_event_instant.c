/*
 * pfs_event_instant.c
 *	  The slow path of waits that are recorded when they are over: nested, untimed, of
 *	  another timer, the first of a cell.
 */
#include "postgres.h"

#include "pfs_event_instant.h"

/*
 * Records an LWLock wait that is over, with whatever is in the way: one that cannot take
 * the fast path of pfs_lwlock_event.h.  It has a running event's slot, but is never shown
 * there, and so is counted and goes to the histories like any other.  A signal handler in
 * the middle of another write section passes by.
 */
void
pfs_wait_instant_any(PfsThread *t, uint32 kind, uint32 flags, uint64 object_instance,
					 uint32 source, uint64 start, uint64 end)
{
	PfsWait    *e = pfs_wait_begin(t, (PfsInstrumentId) kind, flags, (kind >> 16) & 0xFF, PFS_OBJECT_LWLOCK,
								   PFS_EVENT_NO_OFFSET, source);

	if (e == NULL)
		return;
	e->timer_start = start;
	e->object.address = object_instance;
	e->spins = 0;
	pfs_write_begin(t);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth, end);
	pfs_write_end(t);
	pfs_local.beginning = 0;
}
