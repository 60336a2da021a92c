/*
 * pfs_memory_total.h
 *	  All memory of a thread that is counted: what is in use, and the most of it
 *	  that was in use since the water mark began.
 *
 * `headroom` is what is left below the water mark, and shifted down by 2^63: it is
 * below zero as long as the water mark is above what is in use.  So an allocation
 * only subtracts, and may take it beyond: then what is in use is more than the
 * water mark, and the most that ever was.  A free adds, and learns from that
 * addition whether it was so before; if so, it moves the water mark.  The water
 * mark is shifted, too: their difference is what is in use.
 */
#ifndef PFS_MEMORY_TOTAL_H
#define PFS_MEMORY_TOTAL_H

#include "pfs_patience.h"
#include "pfs_thread.h"

#define PFS_NO_HEADROOM (UINT64_C(1) << 63)

/* A thread begins: nothing is in use. */
static inline void
pfs_memory_total_begin(PfsThread *t)
{
	t->memory.headroom = t->memory.high_water = PFS_NO_HEADROOM;
}

/* ---- owner, inside a write section of t->memory.seq ---- */

static pg_attribute_always_inline void
pfs_memory_total_more(PfsThread *t, uint64 bytes)
{
	(void) pfs_drop(&t->memory.headroom, bytes);
}

static pg_attribute_always_inline void
pfs_memory_total_less(PfsThread *t, uint64 bytes)
{
	if (unlikely(pfs_lift(&t->memory.headroom, bytes)))
	{
		/* They were freed from what had no water mark above it. */
		pfs_store_relaxed(&t->memory.high_water, t->memory.high_water - t->memory.headroom + bytes + PFS_NO_HEADROOM);
		pfs_store_relaxed(&t->memory.headroom, bytes + PFS_NO_HEADROOM);
	}
}

/* ---- anybody, of a copy ---- */

static inline uint64
pfs_memory_total_in_use(uint64 headroom, uint64 high_water)
{
	return high_water - headroom;
}

/* The most that was in use since the water mark began. */
static inline uint64
pfs_memory_total_peak(uint64 headroom, uint64 high_water)
{
	return (headroom & PFS_NO_HEADROOM) != 0 ? high_water - PFS_NO_HEADROOM : high_water - headroom;
}

/* ---- owner ---- */

/* The most that was in use since the last call; the water mark begins anew. */
static inline uint64
pfs_memory_total_next(PfsThread *t)
{
	uint64		in_use = pfs_memory_total_in_use(t->memory.headroom, t->memory.high_water);
	uint64		peak = pfs_memory_total_peak(t->memory.headroom, t->memory.high_water);
	bool		busy = (t->memory.seq.word & 1) != 0;	/* the process exits in
														 * a write section */

	if (!busy)
		pfs_seqlock_write_begin(&t->memory.seq);
	if (peak > t->memory.high)
		pfs_store_relaxed(&t->memory.high, peak);
	pfs_store_relaxed(&t->memory.high_water, in_use + PFS_NO_HEADROOM);
	pfs_store_relaxed(&t->memory.headroom, PFS_NO_HEADROOM);
	if (!busy)
		pfs_seqlock_write_end(&t->memory.seq);
	return peak;
}

/* ---- readers ---- */

/*
 * Bytes of a thread that are in use, and the most that ever were; what a copy of its
 * record with this state word has is for a thread that has gone since.
 */
extern void pfs_memory_total_read(const PfsThread *copy, uint64 word, uint64 *in_use, uint64 *high, PfsPatience *patience);

#endif							/* PFS_MEMORY_TOTAL_H */
