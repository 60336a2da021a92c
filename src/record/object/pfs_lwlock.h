/*
 * pfs_lwlock.h
 *	  LWLocks by address: those that some process had to wait for, with the counters
 *	  of these waits, and which locks each process holds.
 *
 * Only with detours (pfs.lwlock_events is not `waits`).  An instance is made at the
 * first sleep for a lock and stays until the server restarts; all processes add
 * to it, after they have slept, by atomic adds.  What a process holds (with `all`)
 * is a list that it alone writes.
 *
 * Separate from pfs_lwlock_event.h, which records single acquisitions and needs no instance.
 */
#ifndef PFS_LWLOCK_H
#define PFS_LWLOCK_H

#include "storage/lwlock.h"

#include "pfs_event.h"
#include "pfs_cell.h"
#include "pfs_hash.h"
#include "pfs_instrument.h"
#include "pfs_thread.h"

/* What is in effect: the setting, or WAITS where the detours could not be set. */
extern PFS_HIDDEN PfsLwlockEvents pfs_lwlock_events_now;

/* In shared memory.  The first three never change. */
typedef struct PfsLwlock
{
	uint64		address;
	uint32		tranche;
	PfsInstrumentId instrument;
	uint16		unused;
	PfsSharedCell waits;		/* acquisitions that slept; ticks of the
								 * default timer */
} PfsLwlock;

extern PfsPages *pfs_lwlocks;	/* container lwlock_instances */

/* PostgreSQL lets a process hold this many (MAX_SIMUL_LWLOCKS). */
#define PFS_LWLOCKS_HELD 200

/*
 * An acquisition, see pfs_lwlock_event.h.  event_id 0: none, but whose those behind it
 * are: thread_id in timer_start, role in flags.
 */
typedef struct PfsLwlockEvent
{
	uint64		timer_start;	/* of the cycle counter */
	uint64		lock;			/* as in PfsLwlockHolder; the top 16 bits,
								 * which no address has, are the instrument */
	uint32		ticks;
	uint32		source;
	uint64		event_id;
	uint64		nesting_event_id;
	uint32		nesting_type;
	uint32		flags;			/* PFS_FLAG_*, PFS_EVENT_* */
} PfsLwlockEvent;

/*
 * What a process holds: addresses, with the lowest bit set for LW_SHARED; and what it
 * has acquired.  One for each place in the container of threads; written by the thread
 * that has the place.  An entry is made after its lock was taken and removed before the
 * lock is released, so a reader that sees one knows that the lock was held then.
 */
typedef struct PfsLwlockHolder
{
	uint64		n;				/* release-stored behind the entry */
	uint64		locks[PFS_LWLOCKS_HELD];

	/* The newest acquisitions, see pfs_lwlock_event.h. */
	PfsBlockWriter recorded;
	uint64		history_tail;	/* as in PfsEvents */
	PfsOwnBlocks own;			/* last, as its size is known at start-up */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsLwlockHolder;

StaticAssertDecl(offsetof(PfsLwlockHolder, locks) == sizeof(uint64), "entries lie right behind their number");

#define PFS_LWLOCK_SHARED UINT64_C(1)

/* By place of the thread; NULL without `all`.  And this process's, NULL: not attached. */
extern void *pfs_lwlock_holders;
extern PFS_HIDDEN PfsLwlockHolder *pfs_my_lwlocks;

/* How many threads there are lists for. */
extern uint32 pfs_lwlock_holders_max(void);

/* Bytes of one, with what it knows of its blocks (pfs_lwlock_event.c), and of all. */
extern size_t pfs_lwlock_holder_size(void);
extern size_t pfs_lwlock_holders_size(void);

static inline PfsLwlockHolder *
pfs_lwlock_holder(uint32 index)
{
	return (PfsLwlockHolder *) ((char *) pfs_lwlock_holders + index * pfs_lwlock_holder_size());
}

/* Takes the containers, the lists of holders and the blocks. */
extern void pfs_lwlocks_lay_out(PfsSegment *seg);

/* TRUNCATE of containers. */
extern void pfs_lwlocks_reset_lost(void);

/* At attach, before the record is published; inside detach's write section. */
extern void pfs_lwlock_attach(PfsThread *t);
extern void pfs_lwlock_detach(PfsThread *t);

/* ---- instrument points ---- */

/*
 * The instance of a lock that this process is about to sleep for, made if need be;
 * PFS_NO_RECORD: there is no room (counted), or the address means the lock in
 * this process only.
 */
extern uint32 pfs_lwlock_instance(const LWLock *lock, PfsInstrumentId instrument);

/* An acquisition that slept is over. */
extern void pfs_lwlock_count(uint32 instance, const PfsWait *e, uint64 end);

StaticAssertDecl(LW_EXCLUSIVE == 0 && LW_SHARED == PFS_LWLOCK_SHARED, "modes are other numbers");

/* This process has taken a lock; address and mode as in the list. */
static pg_attribute_always_inline void
pfs_lwlock_note_taken(PfsLwlockHolder *mine, uint64 held)
{
	uint64		n = mine->n;

	if (unlikely(n >= PFS_LWLOCKS_HELD))
		return;
	pfs_store_relaxed(&mine->locks[n], held);
	pfs_store_release(&mine->n, n + 1);
}

/* Out of line: one that was not taken last, or before this process attached. */
extern void pfs_lwlock_note_released_other(PfsLwlockHolder *mine, const LWLock *lock);

/*
 * This process is about to release a lock.  False: it is not the one taken last.
 * Below the first entry is the word of `n`, which is 0 then, and no lock.
 */
static pg_attribute_always_inline bool
pfs_lwlock_note_released_last(PfsLwlockHolder *mine, const LWLock *lock)
{
	uint64		n = mine->n;

	if (unlikely((((const uint64 *) mine)[n] & ~PFS_LWLOCK_SHARED) != (uintptr_t) lock))
		return false;
	pfs_store_release(&mine->n, n - 1);
	return true;
}

static pg_attribute_always_inline void
pfs_lwlock_note_released(PfsLwlockHolder *mine, const LWLock *lock)
{
	if (!pfs_lwlock_note_released_last(mine, lock))
		pfs_lwlock_note_released_other(mine, lock);
}

/* ---- readers; any backend ---- */

typedef void (*PfsLwlockEmit) (const PfsLwlock *lock, uint32 index, void *arg);
extern void pfs_lwlocks_each(PfsLwlockEmit emit, void *arg);

/* Every lock that a process holds now. */
typedef void (*PfsLwlockHolderEmit) (uint64 thread_id, uint64 address, bool shared, void *arg);
extern void pfs_lwlock_holders_each(PfsLwlockHolderEmit emit, void *arg);

/* The thread that works for the process at this place of the proc array, or 0. */
extern uint64 pfs_lwlock_thread_of_proc(int procno);

/* TRUNCATE of the counters by instance; returns the events that left. */
extern int64 pfs_lwlocks_truncate(void);

#endif							/* PFS_LWLOCK_H */
