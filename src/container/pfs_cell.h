/*
 * pfs_cell.h
 *	  Aggregate cells: timed and untimed count, sum, minimum and maximum of one
 *	  thread and one instrument, written only by their owner; and those of what
 *	  many threads share, further down.
 */
#ifndef PFS_CELL_H
#define PFS_CELL_H

#include "pfs_block.h"

typedef struct PfsCell
{
	uint64_t	count_timed;	/* events with a time */
	uint64_t	count_untimed;	/* events without */
	uint64_t	sum;			/* ticks of the timed ones */
	uint64_t	min;			/* ticks; meaningless while count_timed is 0 */
	uint64_t	max;			/* ticks */

	/*
	 * Of all that, what the owner's statements have passed on to others; see
	 * pfs_departed.h.  No sum of cells looks at it.
	 */
	uint64_t	handed_count;
	uint64_t	handed_sum;
	uint64_t	unused;
} PfsCell;

/* One event of a cell touches one line. */
_Static_assert(sizeof(PfsCell) == PFS_CACHE_LINE, "a cell is a cache line");

/* Owner, holding its lock: no events. */
extern void pfs_cell_clear(PfsCell *c);

/* Owner: the cell's first event of a kind. */
extern void pfs_cells_touch(PfsBlock *b, uint32_t i, uint64_t ticks);

/*
 * Owner, holding its lock: an event of a cell that was touched.  All are single
 * stores or additions of whole words, as readers look on.
 */
static inline void
pfs_cell_add(PfsCell *c, uint64_t ticks)
{
	pfs_bump(&c->count_timed, 1);
	pfs_bump(&c->sum, ticks);
	if (ticks < c->min)
		pfs_store_relaxed(&c->min, ticks);
	if (ticks > c->max)
		pfs_store_relaxed(&c->max, ticks);
}

/* The same for any cell. */
static inline void
pfs_cells_add(PfsBlock *b, uint32_t i, uint64_t ticks)
{
	PfsCell    *c = &((PfsCell *) b->cells)[i];

	if (__builtin_expect(c->count_timed == 0, 0))
		pfs_cells_touch(b, i, ticks);
	pfs_cell_add(c, ticks);
}

/* ---- sums over many cells ---- */

/*
 * 10,000 sessions need more than 64 bits within ten years.  Aligned as palloc
 * and the segment do it.
 */
typedef unsigned __int128 PfsTicks __attribute__((aligned(8)));

/* A private sum.  min and max are meaningless while count_timed is 0. */
typedef struct PfsTotals
{
	uint64_t	count_timed;
	uint64_t	count_untimed;
	PfsTicks	sum;
	uint64_t	min;
	uint64_t	max;
} PfsTotals;

extern void pfs_totals_add(PfsTotals *to, const PfsTotals *from);
extern void pfs_totals_add_cell(PfsTotals *to, const PfsCell *from);

/* All of n sums. */
extern PfsTotals pfs_totals_of(const PfsTotals *sums, uint32_t n);

static inline uint64_t
pfs_totals_count(const PfsTotals *t)
{
	return t->count_timed + t->count_untimed;
}

/*
 * A cell of many writers, by atomic adds; all zero is empty.  The words of one
 * event arrive one by one: a reader may see some of them, later all.  Nothing is
 * lost or counted twice, also while another process takes the cell; but time, min and max
 * of an event whose count arrives behind that are among what was taken.
 */
typedef struct PfsSharedCell
{
	uint64_t	count_timed;
	uint64_t	count_untimed;
	uint64_t	sum_low;		/* adders carry into sum_high */
	uint64_t	sum_high;
	uint64_t	max;			/* ticks */
	uint64_t	inverted_min;	/* UINT64_MAX - min: raised like max, so that
								 * 0 is empty */
} PfsSharedCell;

/* Any process: adds to a sum of two words.  Whoever sees the lower one wrap around carries. */
static inline void
pfs_shared_sum_add(uint64_t *sum_low, uint64_t *sum_high, PfsTicks n)
{
	uint64_t	low = (uint64_t) n;
	uint64_t	high = (uint64_t) (n >> 64);

	if (low != 0 && pfs_add_relaxed(sum_low, low) + low < low)
		high++;
	if (high != 0)
		pfs_add_relaxed(sum_high, high);
}

/* Events that one process has counted for itself, until it adds them to a cell of many writers. */
typedef struct PfsCounts
{
	uint64_t	untimed;		/* events that are not in the sum */
	uint64_t	timed;			/* events that are */
	uint64_t	sum;			/* ticks */
	uint64_t	min;			/* UINT64_MAX while there is none */
	uint64_t	max;
} PfsCounts;

static inline void
pfs_counts_clear(PfsCounts *c)
{
	*c = (PfsCounts)
	{
		.min = UINT64_MAX
	};
}

/* A timed event. */
static inline void
pfs_counts_add_event(PfsCounts *c, uint64_t ticks)
{
	c->timed++;
	c->sum += ticks;
	if (ticks < c->min)
		c->min = ticks;
	if (ticks > c->max)
		c->max = ticks;
}

static inline void
pfs_counts_add(PfsCounts *to, const PfsCounts *from)
{
	to->untimed += from->untimed;
	to->timed += from->timed;
	to->sum += from->sum;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
}

static inline PfsTotals
pfs_counts_totals(const PfsCounts *c)
{
	return (PfsTotals)
	{
		.count_timed = c->timed, .count_untimed = c->untimed, .sum = c->sum, .min = c->min, .max = c->max
	};
}

/* Any process: one event; ticks only count if it is timed. */
extern void pfs_shared_cell_add(PfsSharedCell *c, bool timed, uint64_t ticks);

/* Any process: all that a sum holds. */
extern void pfs_shared_cell_merge(PfsSharedCell *c, const PfsTotals *from);

static inline void
pfs_shared_cell_add_counts(PfsSharedCell *c, const PfsCounts *from)
{
	PfsTotals	totals = pfs_counts_totals(from);

	pfs_shared_cell_merge(c, &totals);
}

/* Any process: add what is there now to a private sum; take: and leave it empty. */
extern void pfs_shared_cell_get(PfsSharedCell *c, PfsTotals *to, bool take);

static inline void
pfs_shared_cell_read(const PfsSharedCell *c, PfsTotals *to)
{
	pfs_shared_cell_get((PfsSharedCell *) c, to, false);
}

static inline void
pfs_shared_cell_take(PfsSharedCell *c, PfsTotals *to)
{
	pfs_shared_cell_get(c, to, true);
}

#endif							/* PFS_CELL_H */
