/*
 * pfs_cell.c
 *	  Cells of times and their sums; an owner's adding is inline.
 */
#include "pfs_cell.h"

void
pfs_cell_clear(PfsCell *c)
{
	pfs_store_relaxed(&c->count_timed, 0);
	pfs_store_relaxed(&c->count_untimed, 0);
	pfs_store_relaxed(&c->sum, 0);
	pfs_store_relaxed(&c->min, UINT64_MAX); /* so that the next event is less */
	pfs_store_relaxed(&c->max, 0);
	pfs_store_relaxed(&c->handed_count, 0);
	pfs_store_relaxed(&c->handed_sum, 0);
}

void
pfs_cells_touch(PfsBlock *b, uint32_t i, uint64_t ticks)
{
	PfsCell    *c = pfs_block_cell(b, i);

	pfs_block_touch(b, i);
	if (c->count_timed == 0)
		pfs_store_relaxed(&c->min, ticks);
}

/* ---- sums over many cells ---- */

void
pfs_totals_add(PfsTotals *to, const PfsTotals *from)
{
	if (from->count_timed > 0)
	{
		if (to->count_timed == 0 || from->min < to->min)
			to->min = from->min;
		if (to->count_timed == 0 || from->max > to->max)
			to->max = from->max;
	}
	to->count_timed += from->count_timed;
	to->count_untimed += from->count_untimed;
	to->sum += from->sum;
}

PfsTotals
pfs_totals_of(const PfsTotals *sums, uint32_t n)
{
	PfsTotals	all = {0};

	for (uint32_t i = 0; i < n; i++)
		pfs_totals_add(&all, &sums[i]);
	return all;
}

void
pfs_totals_add_cell(PfsTotals *to, const PfsCell *from)
{
	PfsTotals	totals = {from->count_timed, from->count_untimed, from->sum, from->min, from->max};

	pfs_totals_add(to, &totals);
}

/* So many events with times, which are in the sum already. */
static inline void
add_timed(PfsSharedCell *c, uint64_t count, uint64_t min, uint64_t max)
{
	pfs_raise_to(&c->max, max);
	pfs_raise_to(&c->inverted_min, UINT64_MAX - min);
	pfs_add_relaxed(&c->count_timed, count);
}

void
pfs_shared_cell_add(PfsSharedCell *c, bool timed, uint64_t ticks)
{
	if (timed)
	{
		pfs_shared_sum_add(&c->sum_low, &c->sum_high, ticks);
		add_timed(c, 1, ticks, ticks);
	}
	else
		pfs_add_relaxed(&c->count_untimed, 1);
}

/* Adds a private sum to the cell; its words arrive one by one. */
void
pfs_shared_cell_merge(PfsSharedCell *c, const PfsTotals *from)
{
	/* There can be time without events: that of calls that found no row. */
	pfs_shared_sum_add(&c->sum_low, &c->sum_high, from->sum);
	if (from->count_timed > 0)
		add_timed(c, from->count_timed, from->min, from->max);
	if (from->count_untimed > 0)
		pfs_add_relaxed(&c->count_untimed, from->count_untimed);
}

/*
 * Any process may add meanwhile: what has not arrived is left for the next one.  A carry may be missing from the upper
 * word for a moment, in which the sum is too small.  Where one of the least and the longest time has been taken, and
 * counts of its events have come behind that, the other one is as good as any.
 */
void
pfs_shared_cell_get(PfsSharedCell *c, PfsTotals *to, bool take)
{
	PfsTotals	now;
	uint64_t	inverted_min;

	now.count_timed = pfs_load_or_take(&c->count_timed, take);
	now.count_untimed = pfs_load_or_take(&c->count_untimed, take);
	now.sum = (PfsTicks) pfs_load_or_take(&c->sum_high, take) << 64;
	now.sum += pfs_load_or_take(&c->sum_low, take);
	now.max = pfs_load_or_take(&c->max, take);
	inverted_min = pfs_load_or_take(&c->inverted_min, take);
	now.min = inverted_min == 0 ? now.max : UINT64_MAX - inverted_min;
	if (now.max < now.min)
		now.max = now.min;
	if (take && now.count_timed == 0)
	{
		/* Times whose count has not arrived yet stay for it. */
		pfs_shared_sum_add(&c->sum_low, &c->sum_high, now.sum);
		pfs_raise_to(&c->max, now.max);
		pfs_raise_to(&c->inverted_min, inverted_min);
		now.sum = 0;
	}
	pfs_totals_add(to, &now);
}
