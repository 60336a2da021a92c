/*
 * pfs_memory_total.h
 *	  All memory of a thread that is counted: what is in use, and the most of it
 *	  that was in use since the water mark began.
 *
 * The water mark (`peak`) does not rise with what is in use: an allocation only adds.  A free
 * looks first whether what is in use is more; readers look at both.
 */
#ifndef PFS_MEMORY_TOTAL_H
#define PFS_MEMORY_TOTAL_H

#include "pfs_patience.h"
#include "pfs_thread.h"

/* A thread begins: nothing is in use. */
static inline void
pfs_memory_total_begin(PfsThread *t)
{
	t->memory.in_use = t->memory.peak = 0;
}

/* ---- owner, inside a write section of t->memory.seq ---- */

static pg_attribute_always_inline void
pfs_memory_total_more(PfsThread *t, uint64 bytes)
{
	pfs_bump(&t->memory.in_use, bytes);
}

static pg_attribute_always_inline void
pfs_memory_total_less(PfsThread *t, uint64 bytes)
{
	if (unlikely(t->memory.in_use > t->memory.peak))
		pfs_store_relaxed(&t->memory.peak, t->memory.in_use);
	(void) pfs_drop(&t->memory.in_use, bytes);
}

/* ---- owner ---- */

/* The most that was in use since the last call; the water mark begins anew. */
static inline uint64
pfs_memory_total_next(PfsThread *t)
{
	uint64		peak = Max(t->memory.in_use, t->memory.peak);

	if (peak > t->memory.high)
		pfs_store_relaxed(&t->memory.high, peak);

	/*
	 * A: pairs with the acquire in pfs_memory_total_read(), which sees the
	 * peak in one place or the other.
	 */
	pfs_store_release(&t->memory.peak, t->memory.in_use);
	return peak;
}

/* ---- readers ---- */

/*
 * Bytes of a thread that are in use, and the most that ever were; what a copy of its
 * record with this state word has is for a thread that has gone since.
 */
extern void pfs_memory_total_read(const PfsThread *copy, uint64 word, uint64 *in_use, uint64 *high, PfsPatience *patience);

#endif							/* PFS_MEMORY_TOTAL_H */
