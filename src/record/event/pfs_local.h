/*
 * pfs_local.h
 *	  What a process knows besides its thread record and nearly every event needs; the
 *	  write section of that record; whether an event is wanted, and its clock.
 *
 * What only some events need has a struct of its own in the header of these: open waits in
 * pfs_event_open.h, locks in pfs_lock_time.h, tables in pfs_rel_run.h.
 */
#ifndef PFS_LOCAL_H
#define PFS_LOCAL_H

#include "pfs_instrument.h"
#include "pfs_thread.h"

/* Reasons for an instrument point to take its slow path. */
#define PFS_SLOW_OPEN		0x01	/* an event may have ended unnoticed */
#define PFS_SLOW_IDENTITY	0x02	/* role, status entry or leader not known
									 * yet */
#define PFS_SLOW_UNNAMED	0x04	/* a message that no hook has seen yet */
#define PFS_SLOW_WATCH		0x08	/* a process without hooks: look for
									 * transactions */
#define PFS_SLOW_PROGRESS	0x10	/* in a command that may report progress */
#define PFS_SLOW_LWLOCK		0x20	/* an acquisition has been shown */
#define PFS_SLOW_REPAIR		0x40	/* an event has passed by: a word may be
									 * left odd, see pfs_process.c */
#define PFS_SLOW_OVER		0x80	/* the statement at top level has run: the
									 * next one may have begun */

/*
 * An event whose flags of these are pfs_local.usual takes the fast path at its end: its
 * thread is instrumented, it is timed by the default timer, and the switches of memory
 * are as the process knows them.
 */
#define PFS_FLAGS_USUAL (PFS_FLAG_THREAD | PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK | PFS_FLAG_MEMORY)

/*
 * A wait whose flags of these are pfs_local.instant is besides numbered and goes to the
 * thread's history: what one needs to be counted by a cached lookup (../object/pfs_wait_lookup.h).
 */
#define PFS_FLAGS_INSTANT (PFS_FLAGS_USUAL | PFS_FLAG_ENABLED | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY)

/* What an event is nested in; type NONE: nothing. */
typedef struct PfsParent
{
	uint64		event_id;
	uint64		type;			/* PfsNesting */
} PfsParent;

/*
 * One cache line.  The last four are those of other headers, and lie here since each message looks
 * whether an idle wait is open, each wait whether its time is charged, and each statement how much of its own
 * was waits for locks: in structs of their own they would be on lines of their own.
 */
typedef struct PfsLocal
{
	union
	{
		struct
		{
			volatile uint8 slow;	/* PFS_SLOW_* */
			volatile uint8 beginning;	/* from pfs_wait_begin() to _start(),
										 * of an instant to its end */
		};
		volatile uint16 not_usual;	/* either, in one load */
	};
	uint32		usual;			/* flags of an event whose time needs no
								 * conversion: cells are in the unit of the
								 * default timer; see PFS_FLAGS_USUAL */
	uint32		instant;		/* flags of an event that can be counted by a
								 * cached lookup, see PFS_FLAGS_INSTANT */
	uint32		reentered;		/* events of signal handlers that were lost */
	PfsParent	parent;			/* of a wait that is in no other */

	/*
	 * pfs_event_open.h: of no call, the wait for the client's next message
	 * that goes on, in its slot or where it stays; NULL: none.
	 */
	PfsWait    *idle;

	/* pfs_charge.h */
	PfsDigestWait *waits;		/* of the thread's record; NULL: nobody's */
	uint64		waits_used;		/* those that have counted something */

	/* pfs_lock_time.h */
	uint64		lock_ticks;		/* of the default timer, in waits for locks */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsLocal;

StaticAssertDecl(sizeof(PfsLocal) == PFS_CACHE_LINE, "what each event needs is on one line");

extern PFS_HIDDEN PfsLocal pfs_local;

/*
 * Sets the flags that events have to have for the fast path from now on: at attach, and
 * when the switches of memory have changed.
 */
extern void pfs_local_set_usual(uint32 flags);

/*
 * Begin and end a write section of the thread's record: the owner writes what readers
 * can see between these two (edges A and B of pfs_seqlock.h).  A slot that is being
 * filled is not yet among it: readers come to it by its depth, which is stored behind it
 * (C, pairs with the acquire in copy_running_event), and a slot is filled again only
 * after a write section, the end of its event.
 */
static pg_attribute_always_inline void
pfs_write_begin(PfsThread *t)
{
	pfs_seqlock_write_begin(&t->seq);
}

static pg_attribute_always_inline void
pfs_write_end(PfsThread *t)
{
	pfs_seqlock_write_end(&t->seq);
}

/* Begins a write section, unless the process is inside one; returns whether the caller has to end it. */
static inline bool
pfs_write_enter(PfsThread *t)
{
	if ((pfs_load_relaxed(&t->seq.word) & 1) != 0)
		return false;
	pfs_write_begin(t);
	return true;
}

/*
 * Is the process inside a write section, or filling in an event?  Then this is a signal
 * handler, or an error has left it so.
 */
static pg_attribute_always_inline bool
pfs_is_writing(const PfsThread *t)
{
	return (pfs_load_relaxed(&t->seq.word) & 1) != 0 || pfs_local.beginning != 0;
}

/*
 * Is this event to be collected?  The one load and one branch that a disabled
 * instrument costs, behind finding out which instrument it is.
 */
static pg_attribute_always_inline uint32
pfs_wait_flags(const PfsThread *t, PfsInstrumentId instrument)
{
	return pfs_instrument_flags(instrument) & pfs_load_relaxed(&t->mask);
}

/*
 * The clock of an event's class: the cycle counter, nearly always, or the
 * system; 0 without TIMED.
 */
static pg_attribute_always_inline uint64
pfs_wait_clock(uint32 flags)
{
	if (likely((flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) == PFS_FLAG_TIMED))
		return pfs_read_cycles();
	return (flags & PFS_FLAG_TIMED) ? pfs_timer_read_system(PFS_FLAGS_TIMER(flags)) : 0;
}

#endif							/* PFS_LOCAL_H */
