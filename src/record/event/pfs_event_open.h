/*
 * pfs_event_open.h
 *	  Waits that outlive the call that began them: the process's stack of those that are
 *	  open.
 *
 * A call that returns before its wait is over leaves the wait open (pfs_wait_keep_open());
 * the next call of the same wait finds it (pfs_open_top()) and ends it, or the next
 * begin of any event finds that it is over (PFS_SLOW_OPEN).
 */
#ifndef PFS_EVENT_OPEN_H
#define PFS_EVENT_OPEN_H

#include "pfs_event_write.h"
#include "pfs_lock_time.h"

/* When does an event that outlives its call end? */
typedef enum PfsOpenKind
{
	PFS_OPEN_LWLOCK,			/* until the process is off the lock's queue */
	PFS_OPEN_LOCK,				/* until the lock manager stops waiting */
	PFS_OPEN_GROUP,				/* until the group's leader has served us */
} PfsOpenKind;

typedef struct PfsOpenWait
{
	PfsWait    *event;
	PfsOpenKind kind;
	uint64		which;			/* tells it from the process's next wait of
								 * the kind */
	uint64		end;			/* end of the last call under it; 0: not known
								 * yet */
} PfsOpenWait;

/* This process's: the first n, the innermost last.  Nearly always one at most. */
typedef struct PfsOpenWaits
{
	uint32		n;
	PfsOpenWait items[PFS_WAIT_DEPTH];
} PfsOpenWaits;

extern PFS_HIDDEN PfsOpenWaits pfs_open_waits;

/*
 * Adds a wait for an LWLock to what a statement's lock_time is made of.  It may lie in one for a heavyweight lock, as
 * where the process looks for deadlocks: then that has its time.
 */
static pg_attribute_always_inline void
pfs_lwlock_wait_ended(uint32 flags, uint64 ticks)
{
	for (int i = 0; i < pfs_open_waits.n; i++)
	{
		if (pfs_open_waits.items[i].kind == PFS_OPEN_LOCK)
			return;
	}
	pfs_lock_wait_ended(flags, ticks);
}

/* Is this process still in a wait of this kind? */
extern bool pfs_wait_goes_on(PfsOpenKind kind);

/* What the present wait of this kind has and the next one will not; or 0. */
extern uint64 pfs_wait_identity(PfsOpenKind kind);

/* End an event that a call has continued at the given raw reading, 0: now, if it is still the innermost open one. */
extern void pfs_open_finish_this(PfsThread *t, const PfsOpenWait *open, uint64 end);

/* Inside a write section: end the open events that nobody waits in any more. */
extern void pfs_open_end_stale(PfsThread *t);

/* Does that in a write section of its own, where the next event is not wanted. */
extern void pfs_open_end_stale_now(PfsThread *t);
extern void pfs_open_finish_all(PfsThread *t);

/*
 * Inside a write section: a wait that runs where it stays (PFS_EVENT_IN_PLACE) goes on in the slot of the
 * outermost one, as another event comes to the thread's block, or it is not as usual.
 */
extern void pfs_wait_leave_place(PfsThread *t);

/* The innermost open event if it is of this kind, else NULL. */
static pg_attribute_always_inline PfsOpenWait *
pfs_open_top(PfsOpenKind kind)
{
	PfsOpenWait *open;

	/* Not by PFS_SLOW_OPEN, which a handler may find half changed. */
	if (likely(pfs_open_waits.n == 0))
		return NULL;
	open = &pfs_open_waits.items[pfs_open_waits.n - 1];
	return open->kind == kind ? open : NULL;
}

/* Leaves the innermost wait open, as it goes on although its call has returned. */
static pg_attribute_always_inline void
pfs_wait_keep_open(PfsThread *t, PfsWait *e, PfsOpenKind kind)
{
	PfsOpenWait *open = &pfs_open_waits.items[pfs_open_waits.n];

	open->event = e;
	open->kind = kind;
	open->which = pfs_wait_identity(kind);
	open->end = pfs_wait_read_end(t, e->flags);
	pfs_open_waits.n++;
	pfs_local.slow |= PFS_SLOW_OPEN;
}

/*
 * Inside a write section: the session begins to wait for its client's next message, at a
 * reading of the timer in flags, ENABLED among them; such a wait is in no other one, and in no
 * statement.  It goes on over all calls that wait for the client, until one of them brings bytes.
 */
static pg_attribute_always_inline void
pfs_idle_begin(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 start, uint32 source)
{
	PfsEvents  *waits = &t->events[PFS_WAITS];
	PfsParent	none = {0, PFS_NESTING_NONE};
	PfsWait    *e = &t->waits[0];

	/*
	 * An event that an error has cut off is still there: the repair takes it
	 * away.
	 */
	if (unlikely(waits->depth != 0))
		return;
	pfs_wait_identify(e, likely(flags & PFS_FLAG_CURRENT) ? ++t->last_event_id : 0,
					  pfs_event_kind(instrument, PFS_OP_NONE, PFS_OBJECT_NONE), none);
	e->timer_start = start;
	e->flags = flags;
	e->source = source;
	e->bytes = PFS_WAIT_NO_BYTES;
	pfs_local.idle = e;
	pfs_store_release(&waits->depth, 1);	/* C */
}

/* Inside a write section: that wait is over. */
static pg_attribute_always_inline void
pfs_idle_end(PfsThread *t, uint64 end)
{
	PfsWait    *e = pfs_local.idle;

	pfs_local.idle = NULL;
	pfs_wait_finish(t, e, 0, end);
}

#endif							/* PFS_EVENT_OPEN_H */
