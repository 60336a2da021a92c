/*
 * pfs_event_open.c
 *	  Events that outlive the call that began them.
 *
 * One wait can be several calls: the deadlock timer and every latch end an
 * epoll_wait() of a lock wait, an LWLock's semaphore can bring a wake-up that
 * was meant for another wait.  Such an event stays on the current stack; each call's end is kept as its
 * provisional end.  It is finished by the call after which it is over, or else
 * by the next instrument point, which finds that nobody waits any more.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_compat.h"
#include "pfs_event_open.h"
#include "pfs_lock_time.h"

PFS_HOT_STRUCT PfsOpenWaits pfs_open_waits;

/*
 * What the slot gets is shown by a depth that is stored behind it (C), and nobody looks at the place
 * any more: it is free for the next event, as a slot is behind a write section.
 */
void
pfs_wait_leave_place(PfsThread *t)
{
	PfsEvents  *waits = &t->events[PFS_WAITS];

	if (waits->depth != PFS_EVENT_IN_PLACE)
		return;
	pfs_racy_copy(&t->waits[0], waits->finished.next, PFS_WAIT_LINE);
	if (pfs_local.idle != NULL)
		pfs_local.idle = &t->waits[0];
	pfs_store_release(&waits->depth, 1);	/* C */
}

/*
 * Tells whether this process is still in a wait of the kind.  It asks the words of the
 * server, which other processes change, so each is read from memory (volatile).  For
 * the end of a semaphore's call, and for pfs_open_end_stale(); it writes nothing, and may
 * be asked anywhere.
 */
bool
pfs_wait_goes_on(PfsOpenKind kind)
{
	/* At the very end of a process. */
	if (MyProc == NULL)
		return false;
	switch (kind)
	{
		case PFS_OPEN_LWLOCK:
			return pfs_compat_lwlock_waiting(MyProc);
		case PFS_OPEN_LOCK:
			return *(volatile ProcWaitStatus *) &MyProc->waitStatus == PROC_WAIT_STATUS_WAITING;
		case PFS_OPEN_GROUP:
			return *(volatile bool *) &MyProc->procArrayGroupMember ||
				*(volatile bool *) &MyProc->clogGroupMember;
	}
	return false;
}

/*
 * Returns what tells the present wait of the kind from the next one.  A lock wait that
 * an error has ended can be followed by the next one without any event in between; the
 * lock manager notes when each began.
 */
uint64
pfs_wait_identity(PfsOpenKind kind)
{
	return kind == PFS_OPEN_LOCK && MyProc != NULL ? pg_atomic_read_u64(&MyProc->waitStart) : 0;
}

/* The innermost open event if it is the innermost of all, else NULL. */
static const PfsOpenWait *
innermost(const PfsThread *t)
{
	const PfsOpenWait *open = pfs_open_waits.n > 0 ? &pfs_open_waits.items[pfs_open_waits.n - 1] : NULL;

	return open != NULL && open->event == &t->waits[t->events[PFS_WAITS].depth - 1] ? open : NULL;
}

/*
 * Ends the innermost open event, which is the innermost of all, at the given reading,
 * or now if that is 0.  Inside a write section.
 */
static void
finish_top(PfsThread *t, uint64 end)
{
	PfsWait    *e = pfs_open_waits.items[--pfs_open_waits.n].event;
	PfsOpenKind kind = pfs_open_waits.items[pfs_open_waits.n].kind;

	if (pfs_open_waits.n == 0)
		pfs_local.slow &= ~PFS_SLOW_OPEN;
	if (end == 0)
		end = pfs_wait_read_end(t, e->flags);
	if (kind == PFS_OPEN_LOCK)
		pfs_heavy_lock_ended(e, end > e->timer_start ? end - e->timer_start : 0);
	else if (kind == PFS_OPEN_LWLOCK && end > e->timer_start)
		pfs_lwlock_wait_ended(e->flags, end - e->timer_start);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
}

/*
 * Ends an open event unless it has ended already: a signal handler's event during the
 * call may have found the wait to be over.
 */
void
pfs_open_finish_this(PfsThread *t, const PfsOpenWait *open, uint64 end)
{
	if (pfs_open_waits.n == 0 || open != &pfs_open_waits.items[pfs_open_waits.n - 1])
		return;
	pfs_write_begin(t);
	finish_top(t, end);
	pfs_write_end(t);
}

/*
 * Ends the innermost open events that nobody waits in any more, each at its provisional
 * end.
 */
void
pfs_open_end_stale(PfsThread *t)
{
	const PfsOpenWait *open;

	/* A call in progress above the open events is not theirs to judge. */
	while ((open = innermost(t)) != NULL &&
		   !(pfs_wait_goes_on(open->kind) && pfs_wait_identity(open->kind) == open->which))
		finish_top(t, open->end);
}

void
pfs_open_end_stale_now(PfsThread *t)
{
	if (pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_open_end_stale(t);
	pfs_write_end(t);
}

/*
 * Ends all open events of a process that exits, at their provisional ends, and drops
 * the running ones that have none.  Inside the write section of the detach.
 */
void
pfs_open_finish_all(PfsThread *t)
{
	PfsEvents  *waits = &t->events[PFS_WAITS];

	pfs_wait_leave_place(t);

	/*
	 * Calls that a FATAL in a signal handler has cut off lie above or between
	 * the open events; they have no end and go with the record.
	 */
	while (waits->depth > 0)
	{
		const PfsOpenWait *open = innermost(t);

		if (open != NULL)
			finish_top(t, open->end);
		else if (waits->depth == 1 && pfs_local.idle != NULL)
			pfs_idle_end(t, pfs_wait_read_end(t, pfs_local.idle->flags));
		else
			pfs_store_relaxed(&waits->depth, waits->depth - 1);
	}
	pfs_open_waits.n = 0;
	pfs_local.idle = NULL;
}
