/*
 * pfs_memory_total.h
 *	  All memory of a thread that is counted: what is in use, and the most of it
 *	  that was in use since some moment.
 *
 * `room` is what is left below the mark, and shifted down by 2^63: it is below
 * zero as long as the mark is above what is in use.  So an allocation only
 * subtracts, and may take it beyond: then what is in use is more than the mark, and
 * the most that ever was.  A free adds, and learns from the same addition whether
 * it was so before; if so, it moves the mark.  The mark is shifted, too: their
 * difference is what is in use.
 */
#ifndef PFS_MEMORY_TOTAL_H
#define PFS_MEMORY_TOTAL_H

#include "pfs_thread.h"

#define PFS_NO_ROOM (UINT64_C(1) << 63)

/* A new record: nothing is in use. */
static inline void
pfs_memory_total_begin(PfsThread *t)
{
	t->memory.room = t->memory.mark = PFS_NO_ROOM;
}

/* ---- owner, inside a change of t->memory.seq ---- */

static pg_attribute_always_inline void
pfs_memory_total_more(PfsThread *t, uint64 bytes)
{
	(void) pfs_drop(&t->memory.room, bytes);
}

/* So many bytes were freed from what had no mark above it. */
static inline void
pfs_memory_total_mark(PfsThread *t, uint64 freed)
{
	pfs_store_relaxed(&t->memory.mark, t->memory.mark - t->memory.room + freed + PFS_NO_ROOM);
	pfs_store_relaxed(&t->memory.room, freed + PFS_NO_ROOM);
}

static pg_attribute_always_inline void
pfs_memory_total_less(PfsThread *t, uint64 bytes)
{
	if (unlikely(pfs_lift(&t->memory.room, bytes)))
		pfs_memory_total_mark(t, bytes);
}

/* ---- anybody, of a copy ---- */

static inline uint64
pfs_memory_total_in_use(uint64 room, uint64 mark)
{
	return mark - room;
}

/* The most that was in use since the mark began. */
static inline uint64
pfs_memory_total_peak(uint64 room, uint64 mark)
{
	return (room & PFS_NO_ROOM) != 0 ? mark - PFS_NO_ROOM : mark - room;
}

/* ---- owner ---- */

/* The most that was in use since the last call; the mark begins anew. */
static inline uint64
pfs_memory_total_next(PfsThread *t)
{
	uint64		in_use = pfs_memory_total_in_use(t->memory.room, t->memory.mark);
	uint64		peak = pfs_memory_total_peak(t->memory.room, t->memory.mark);
	bool		busy = (t->memory.seq.word & 1) != 0;	/* the process exits in
														 * a change */

	if (!busy)
		pfs_seqlock_write_begin(&t->memory.seq);
	if (peak > t->memory.high)
		pfs_store_relaxed(&t->memory.high, peak);
	pfs_store_relaxed(&t->memory.mark, in_use + PFS_NO_ROOM);
	pfs_store_relaxed(&t->memory.room, PFS_NO_ROOM);
	if (!busy)
		pfs_seqlock_write_end(&t->memory.seq);
	return peak;
}

/* ---- readers ---- */

/*
 * Bytes of a thread that are in use, and the most that ever were; what a copy of its
 * record with this state word has is for a thread that has gone since.
 */
extern void pfs_memory_total_read(const PfsThread *copy, uint64 word, uint64 *in_use, uint64 *high);

#endif							/* PFS_MEMORY_TOTAL_H */
