/*
 * pfs_memory_cell.h
 *	  Counts of memory: of one thread and one instrument, above threads, and
 *	  private sums; and how the water marks of one become those of all.
 *
 * HIGH and LOW of a level are the sums of what is below it, as if all were at
 * their water marks at once.  What a thread's water mark is above (below) its
 * present use is headroom for more (less) that moves no water mark.  A thread
 * that ends leaves its headroom to its account, and a thread that reaches a new
 * water mark uses up headroom that is left there before the account's own water
 * mark moves.  So no water mark of any level ever comes nearer to the present
 * use by anything but a reset; and as none is ever on the wrong side of it, none
 * is on the wrong side of what was really used.
 */
#ifndef PFS_MEMORY_CELL_H
#define PFS_MEMORY_CELL_H

#include "pfs_cell.h"

/*
 * A thread's.  In use now: high - headroom; allocated so far: that, and what was
 * freed; LOW: high - range.  An allocation below the high-water mark stores two
 * words, a free four, which are fewer.
 */
typedef struct PfsMemoryCell
{
	uint64_t	count_free;
	uint64_t	bytes_free;
	uint64_t	headroom_count; /* high-water mark less what is in use */
	uint64_t	headroom_bytes;
	uint64_t	high_count;
	uint64_t	high_bytes;
	uint64_t	range_count;	/* high-water mark less low-water mark;
								 * headroom is never more */
	uint64_t	range_bytes;
} PfsMemoryCell;

_Static_assert(sizeof(PfsMemoryCell) == PFS_CACHE_LINE, "a cell is a cache line");

/*
 * Of many writers, by atomic adds; all zero is empty.  Only what was allocated
 * and freed again comes here, and headroom that threads left.
 */
typedef struct PfsSharedMemoryCell
{
	uint64_t	count;			/* allocations, and as many frees */
	uint64_t	bytes_low;		/* their bytes; adders carry into bytes_high */
	uint64_t	bytes_high;
	uint64_t	headroom_count; /* the level's HIGH is so much above its sum */
	uint64_t	headroom_bytes;
	uint64_t	depth_count;	/* and its LOW so much below */
	uint64_t	depth_bytes;
} PfsSharedMemoryCell;

/* A private sum.  Water marks are added up in modular arithmetic. */
typedef struct PfsMemoryTotals
{
	uint64_t	count_alloc;
	uint64_t	count_free;
	PfsTicks	bytes_alloc;
	PfsTicks	bytes_free;
	uint64_t	low_count;
	uint64_t	high_count;
	uint64_t	low_bytes;
	uint64_t	high_bytes;
} PfsMemoryTotals;

/* Owner, inside a write section: use up what is left of some headroom; returns the rest. */
static inline uint64_t
pfs_memory_use_up(uint64_t *headroom, uint64_t n)
{
	uint64_t	left = pfs_load_relaxed(headroom);

	while (left > 0 && n > 0)
	{
		uint64_t	used = left < n ? left : n;

		if (pfs_cas(headroom, &left, left - used))
			return n - used;
	}
	return n;
}

#endif							/* PFS_MEMORY_CELL_H */
