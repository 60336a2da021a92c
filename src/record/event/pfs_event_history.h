/*
 * pfs_event_history.h
 *	  Finished events: the blocks into which their owner writes them.
 *
 * pfs_history_room() and pfs_history_done() are around the writing of one, inside a
 * write section of its thread.
 */
#ifndef PFS_EVENT_HISTORY_H
#define PFS_EVENT_HISTORY_H

#include "pfs_instrument.h"
#include "pfs_thread.h"

/* Postmaster: takes the blocks; how many lanes those of frequent events have. */
extern void pfs_histories_lay_out(PfsSegment *seg);
extern uint32 pfs_history_lanes(void);

/* TRUNCATE of containers. */
extern void pfs_histories_reset_lost(void);

/* The blocks of each family's finished events; NULL: it has no history. */
extern PFS_HIDDEN PfsBlocks *pfs_histories[PFS_NUM_EVENT_FAMILIES];

/* Bytes of what a thread has to know of its blocks of a family. */
extern size_t pfs_history_own_size(PfsEventFamily family);

/* Owner: the thread ends; its role has become known. */
extern void pfs_histories_leave(PfsThread *t);
extern void pfs_histories_set_role(PfsThread *t);

/* Slow path of pfs_history_room(). */
extern void *pfs_history_more_room(PfsThread *t, PfsEventFamily family, uint32 bytes);

/*
 * Returns the position below which events are hidden.  A TRUNCATE may store the position of
 * a thread that has ended meanwhile into its record, which a new thread has by then.  The new
 * thread's head is less than that position: so where the tail is greater than the head, no event
 * is hidden.
 */
static inline uint64
pfs_history_tail(uint64 tail, uint64 head)
{
	return tail > head ? 0 : tail;
}

/*
 * Inside a write section: where an event of so many bytes goes, in the thread's current
 * block; NULL: there is no block (counted).
 */
static pg_attribute_always_inline void *
pfs_history_room(PfsThread *t, PfsEventFamily family, uint32 bytes)
{
	PfsBlockWriter *to = &t->events[family].finished;

	if (unlikely(!pfs_block_has_room(to, bytes)))
		return pfs_history_more_room(t, family, bytes);
	return to->next;
}

/* Of which histories an event with these flags is an item: PFS_BLOCK_COUNTS. */
static pg_attribute_always_inline uint32
pfs_history_counts(uint32 flags)
{
	StaticAssertStmt(PFS_FLAG_HISTORY == PFS_FLAG_HISTORY_LONG << 16, "one mask tells both");
	return flags / PFS_FLAG_HISTORY_LONG & PFS_BLOCK_COUNTS(1, 1);
}

/* Inside a write section: the event there is complete, and with these flags in the histories. */
static pg_attribute_always_inline void
pfs_history_done(PfsThread *t, PfsEventFamily family, uint32 bytes, uint32 flags)
{
	pfs_block_done(&t->events[family].finished, bytes, pfs_history_counts(flags));
}

#endif							/* PFS_EVENT_HISTORY_H */
