/*
 * pfs_event_instant.c
 *	  The slow path of waits that are recorded when they are over: nested, untimed, of
 *	  another timer, the first of a cell.
 */
#include "postgres.h"

#include "pfs_event_instant.h"

/*
 * Records a wait that is over, of any kind, with whatever is in the way: for an LWLock
 * wait that cannot take the fast path of pfs_lwlock_event.h.  It has a running event's
 * slot for the length of one write section, so that it is counted and goes to the
 * histories like any other.  A signal handler in the middle of another write section
 * passes by.
 */
void
pfs_wait_instant_any(PfsThread *t, uint64 kind, uint32 flags, uint64 object_instance,
					 uint32 source, uint64 start, uint64 end)
{
	uint32		level = t->events[PFS_WAITS].depth;
	uint64		id = 0;
	PfsWait    *e;

	if (unlikely(pfs_local.not_usual != 0 || (pfs_load_relaxed(&t->seq.word) & 1) != 0 ||
				 level >= PFS_WAIT_DEPTH))
	{
		if (!pfs_wait_prepare(t))
			return;
		flags &= pfs_load_relaxed(&t->mask);
		level = t->events[PFS_WAITS].depth;
	}
	pfs_write_begin(t);
	if (flags & PFS_FLAG_CURRENT)
		t->last_event_id = id = t->last_event_id + 1;
	e = &t->waits[level];
	e->timer_start = start;
	e->object.address = object_instance;
	e->source = source;
	e->spins = 0;
	e->flags = flags;
	pfs_wait_identify(e, id, pfs_event_kind(0, 0, 0) | kind, pfs_wait_parent(t, level));
	pfs_wait_finish(t, e, level, end);
	pfs_write_end(t);
}
