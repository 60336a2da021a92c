/*
 * hammer_shared.c
 *	  Cells that many processes add to while one takes what is there: nothing is lost or counted twice, and no
 *	  time is shown that no event had.
 */
#include "hammer.h"
#include "pfs_cell.h"

#define LEAST		1000
#define LONGEST		1007

typedef struct SharedContext
{
	PfsSharedCell cell;
	uint64_t	count;			/* events that were added, and their times */
	uint64_t	sum;
	PfsTotals	taken;
	uint64_t	takes;
} SharedContext;

/* One event, or several at once, as who moves the sums of others does. */
static void
add(SharedContext *x, HammerRng *rng)
{
	uint64_t	ticks = LEAST + hammer_random(rng, LONGEST - LEAST + 1);
	uint64_t	n = 1 + hammer_random(rng, 3);
	PfsTotals	totals = {.count_timed = n, .sum = n * ticks, .min = ticks, .max = ticks};

	if (n == 1)
		pfs_shared_cell_add(&x->cell, true, ticks);
	else
		pfs_shared_cell_merge(&x->cell, &totals);
	pfs_add_relaxed(&x->count, n);
	pfs_add_relaxed(&x->sum, n * ticks);
}

static void
take(SharedContext *x)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(&x->cell, &totals);
	/* Both times of a count that comes behind can have been taken before. */
	HAMMER_CHECK(totals.count_timed == 0 || totals.max == 0 ||
				 (totals.min >= LEAST && totals.min <= totals.max && totals.max <= LONGEST),
				 "%lu events took from %lu to %lu", totals.count_timed, totals.min, totals.max);
	x->taken.count_timed += totals.count_timed;
	x->taken.sum += totals.sum;
	pfs_add_relaxed(&x->takes, 1);
}

static void
shared_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	SharedContext *x = context;

	while (hammer_going())
	{
		if (place != 0)
			add(x, rng);
		else
			take(x);
		if (hammer_random(rng, 10000) == 0)
			hammer_pause(rng);
	}
}

void
hammer_shared(void)
{
	SharedContext *x;

	/* A victim leaves an event half added. */
	if (hammer_options.kill)
	{
		hammer_done("shared", "not with kills");
		return;
	}
	x = hammer_share(sizeof(*x));
	hammer_run(shared_worker, x);
	if (!hammer_failed())
	{
		take(x);
		if (x->taken.count_timed != x->count || (uint64_t) x->taken.sum != x->sum)
			hammer_fail("%lu events of %lu were taken, and %lu of their time of %lu", x->taken.count_timed, x->count,
						(uint64_t) x->taken.sum, x->sum);
	}
	hammer_done("shared", "%lu events, %lu takes", x->count, x->takes);
	hammer_unshare(x, sizeof(*x));
}
