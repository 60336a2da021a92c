/*
 * pfs_digest_truncate.c
 *	  TRUNCATE of the tables of digests: all digests, their histograms, their waits.
 *
 * Separate from pfs_digest_read.c: readers take nothing away.  A digest that is in use for
 * longer than the truncator's patience stays, with its counters reset: what its user is
 * about to add comes after the truncation.
 */
#include "postgres.h"

#include "pfs_digest_pending.h"
#include "pfs_node.h"
#include "pfs_pending_read.h"
#include "pfs_cell_views.h"
#include "pfs_shared.h"

/* What a truncation is about, and what it takes. */
typedef struct Truncation
{
	PfsDigestPart part;
	uint64		before[PFS_PENDING_PARTS];	/* the last ones of each part */
	uint64		taken[PFS_NUM_DIGEST_PARTS];	/* of PFS_DIGEST_ALL,
												 * statements */
} Truncation;

/* Counts what the truncation takes of the numbers of a process. */
static void
take_pending_cb(const PfsPending *place, void *arg)
{
	const PfsPendingDigest *p = (const PfsPendingDigest *) place;
	Truncation *t = arg;

	t->taken[PFS_DIGEST_ALL] += p->counters.time.count_timed + p->counters.time.count_untimed;
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && pfs_pending_counts(t->before, place, PFS_DIGEST_PART_BUCKETS); b++)
		t->taken[PFS_DIGEST_PART_BUCKETS] += p->buckets[b];
	for (uint32 i = 0; i < Min(p->nwaits, PFS_PENDING_DIGEST_WAITS) && pfs_pending_counts(t->before, place, PFS_DIGEST_PART_WAITS); i++)
		t->taken[PFS_DIGEST_PART_WAITS] += p->waits[i].counts.timed + p->waits[i].counts.untimed;
	for (uint32 i = 0; i < Min(p->nrows, PFS_PENDING_DIGEST_ROWS) && pfs_pending_counts(t->before, place, PFS_DIGEST_PART_ROWS); i++)
		t->taken[PFS_DIGEST_PART_ROWS] += pfs_row_count(&p->rows[i].rows);
	if (p->plan_id != 0 && pfs_pending_counts(t->before, place, PFS_DIGEST_PART_PLANS))
		t->taken[PFS_DIGEST_PART_PLANS] += p->counters.time.count_timed + p->counters.time.count_untimed;
}

static void
take_wait_cb(PfsChained *cell, void *arg)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(&cell->cell, &totals);
	((uint64 *) arg)[PFS_DIGEST_PART_WAITS] += pfs_totals_count(&totals);
}

/* Takes what a cell has of rows. */
static void
take_rows_of_cell(PfsDigestRowsCell *cell, uint64 *taken)
{
	PfsTotals	totals = pfs_cell_views_take(&cell->all);

	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		(void) pfs_exchange(&cell->counts[i], 0);
	taken[PFS_DIGEST_PART_ROWS] += pfs_totals_count(&totals);
}

/* Empties the cells of a chain, which stay in it. */
static void
take_rows(uint32 link, uint64 *taken)
{
	for (uint32 n = 0; link != 0 && link <= pfs_digest_rows->records_max && n < pfs_digest_rows->records_max; n++)
	{
		PfsDigestRowsCell *cell = pfs_digest_rows_at(link);

		take_rows_of_cell(cell, taken);
		link = pfs_load_relaxed(&cell->next);
	}
}

/* How often a truncation looks whether a process is still using cells of all others. */
#define OTHERS_TRIES 10000

/*
 * Waits until no process uses a cell of all others that it found before the chains were taken
 * off their heads; that takes as long as one addition.  Returns false if one does not go on.
 *
 * The fence pairs with the addition to rows_ref before a process reads a head: either it
 * finds the head empty, or it is seen here.
 */
static bool
wait_for_users_of_others(void)
{
	pfs_fence_seqcst();
	for (int i = 0; i < OTHERS_TRIES; i++)
	{
		if (pfs_load_acquire(&pfs_shared_digests->rows_ref) == 0)
			return true;
		pfs_pause();
	}
	return false;
}

/*
 * Takes the rows of all others, and gives their cells back, as they would fill the container
 * for good.  If a process that does not go on may hold one of them, they are put back empty.
 */
static void
remove_other_rows(uint64 *taken)
{
	uint32		heads[PFS_OTHER_ROWS_CHAINS];
	bool		is_unused;

	for (int i = 0; i < PFS_OTHER_ROWS_CHAINS; i++)
		heads[i] = pfs_exchange(&pfs_shared_digests->rows[i], 0);
	is_unused = wait_for_users_of_others();
	for (int i = 0; i < PFS_OTHER_ROWS_CHAINS; i++)
	{
		while (heads[i] != 0)
		{
			PfsDigestRowsCell *cell = pfs_digest_rows_at(heads[i]);

			heads[i] = pfs_load_relaxed(&cell->next);
			take_rows_of_cell(cell, taken);
			if (is_unused)
				pfs_pages_discard(pfs_digest_rows, cell);
			else
				pfs_digest_rows_link(&pfs_shared_digests->rows[i], cell);
		}
	}
}

static void
take_cb(PfsDigest *d, void *arg)
{
	PfsStatementTotals totals = {0};

	pfs_kind_read(&pfs_statement_kind, &d->counters, &totals, false);
	((uint64 *) arg)[PFS_DIGEST_ALL] += pfs_totals_count(&totals.time);
	pfs_chain_free(pfs_digest_waits, &d->waits, take_wait_cb, arg);
	pfs_digest_rows_move(d, NULL);
}

/* Empties a histogram; returns how many statements that were. */
static uint64
take_buckets(uint64 *buckets)
{
	uint64		taken = 0;

	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (pfs_load_relaxed(&buckets[b]) != 0)
			taken += pfs_exchange(&buckets[b], 0);
	}
	return taken;
}

/*
 * Empties the wait cells of a digest, which stay in its chain.  It is not called for
 * a digest that is marked dead: the process that marked it is about to free the
 * chain.
 */
static void
take_waits(PfsDigest *d, uint64 *taken)
{
	uint32		n = 0;

	for (uint32 link = pfs_load_acquire(&d->waits);
		 link != 0 && link <= pfs_digest_waits->records_max && n < pfs_digest_waits->records_max;
		 link = pfs_chain_at(pfs_digest_waits, link)->next, n++)
		take_wait_cb(pfs_chain_at(pfs_digest_waits, link), taken);
}

/* Is a truncation about this part? */
static bool
takes(PfsDigestPart truncated, PfsDigestPart part)
{
	return truncated == PFS_DIGEST_ALL || truncated == part;
}

/*
 * Takes the counters of a part of a digest, in place: it cannot be evicted meanwhile.  Its
 * record can hold a new digest by then, which has nothing that is older than the truncation.
 */
static void
empty_one(PfsDigestPart part, uint32 index, uint64 *taken)
{
	PfsDigest  *d = pfs_pages_record(pfs_digests.pages, index);
	PfsStatementTotals totals = {0};

	if (part == PFS_DIGEST_ALL)
		pfs_kind_read(&pfs_statement_kind, &d->counters, &totals, true);
	if (takes(part, PFS_DIGEST_PART_BUCKETS))
		taken[PFS_DIGEST_PART_BUCKETS] += take_buckets(d->buckets);
	if (pfs_ref_is_dead(&pfs_digests.ref_slots[index].ref))
		return;
	taken[PFS_DIGEST_ALL] += pfs_totals_count(&totals.time);
	if (takes(part, PFS_DIGEST_PART_WAITS))
		take_waits(d, taken);
	if (takes(part, PFS_DIGEST_PART_ROWS))
		take_rows(pfs_load_acquire(&d->rows), taken);
}

/*
 * Removes one digest and adds what it had counted to `taken`.  Waits, within the
 * patience, until nobody refers to it; if a process that does not go on does, the digest
 * stays where it is, and is only emptied.
 */
static void
remove_one(uint32 index, uint64 word, uint64 *taken, PfsPatience *patience)
{
	pfs_patience_next(patience);
	do
	{
		if (pfs_digest_remove(&pfs_digests, index, word, take_cb, taken) || pfs_pages_word(pfs_digests.pages, index) != word)
			return;
	} while (pfs_patience_more(patience));
	empty_one(PFS_DIGEST_ALL, index, taken);
}

/* Empties the wait cells of statements without a digest. */
static void
take_other_waits(uint64 *taken)
{
	for (uint32 i = pfs_shared_block_next(&pfs_digest_other_waits, 0); i < pfs_digest_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_digest_other_waits, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_take(pfs_shared_block_cell(&pfs_digest_other_waits, i), &totals);
		taken[PFS_DIGEST_PART_WAITS] += pfs_totals_count(&totals);
	}
}

/* Takes the counters of a part of the statements without a digest. */
static void
empty_others(PfsDigestPart part, uint64 *taken)
{
	PfsStatementTotals totals = {0};

	if (part == PFS_DIGEST_ALL)
		pfs_kind_read(&pfs_statement_kind, &pfs_digests.shared->others.counters, &totals, true);
	taken[PFS_DIGEST_ALL] += pfs_totals_count(&totals.time);
	if (takes(part, PFS_DIGEST_PART_BUCKETS))
		taken[PFS_DIGEST_PART_BUCKETS] += take_buckets(pfs_digests.shared->others.buckets);
	if (takes(part, PFS_DIGEST_PART_WAITS))
		take_other_waits(taken);
	if (part == PFS_DIGEST_PART_ROWS)
	{
		for (int i = 0; i < PFS_OTHER_ROWS_CHAINS; i++)
			take_rows(pfs_load_acquire(&pfs_shared_digests->rows[i]), taken);
	}
	if (part == PFS_DIGEST_ALL)
	{
		remove_other_rows(taken);
		pfs_store_relaxed(&pfs_digests.shared->others.first_seen, 0);
	}
}

/* Empties a plan's record, or that of all others; with the nodes, which stay. */
static void
take_plan_cb(PfsDigest *d, void *arg)
{
	PfsStatementTotals totals = {0};
	PfsNode    *nodes = d == &pfs_plans.shared->others ? pfs_other_nodes : pfs_node_at(pfs_load_acquire(&d->nodes));

	pfs_kind_read(&pfs_statement_kind, &d->counters, &totals, true);
	((uint64 *) arg)[PFS_DIGEST_PART_PLANS] += pfs_totals_count(&totals.time);
	(void) take_buckets(d->buckets);
	(void) pfs_nodes_take(nodes);
	(void) pfs_node_waits_take(nodes);
}

/* The plan goes, and its nodes with it. */
static void
remove_plan_cb(PfsDigest *d, void *arg)
{
	take_plan_cb(d, arg);
	pfs_nodes_free(&d->nodes, NULL);
}

/*
 * Removes all plans with their digests, or empties them: then they keep their texts.  One to which a process is giving its
 * text stays, too.
 */
static void
take_plans(PfsDigestPart part, uint64 *taken)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_plans.pages, &at);)
	{
		if (part == PFS_DIGEST_ALL && pfs_digest_remove(&pfs_plans, at.index, at.word, remove_plan_cb, taken))
			continue;
		if (!pfs_ref_is_dead(&pfs_plans.ref_slots[at.index].ref))
			take_plan_cb(pfs_pages_record(pfs_plans.pages, at.index), taken);
	}
	take_plan_cb(&pfs_plans.shared->others, taken);
	pfs_store_relaxed(&pfs_plans.shared->others.first_seen, 0);
}

/* What digests add to their records meanwhile is taken, or stays. */
static void
take_part(PfsPatience *patience, void *arg)
{
	Truncation *t = arg;

	memcpy(t->before, pfs_shared_pending[PFS_COUNTED_DIGESTS].truncated, sizeof(t->before));
	pfs_pending_truncate(PFS_COUNTED_DIGESTS, t->part, take_pending_cb, t, patience);
	if (takes(t->part, PFS_DIGEST_PART_PLANS))
		take_plans(t->part, t->taken);
	if (t->part == PFS_DIGEST_PART_PLANS)
		return;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests.pages, &at);)
	{
		if (t->part == PFS_DIGEST_ALL)
			remove_one(at.index, at.word, t->taken, patience);
		else
			empty_one(t->part, at.index, t->taken);
	}
	empty_others(t->part, t->taken);
}

/*
 * Truncates a part of every digest, or removes them all, then the same of the statements
 * without one; returns how many of the part that were.
 */
static int64
truncate_part(PfsDigestPart part)
{
	Truncation	t = {.part = part};

	if (pfs_sizes.digests == 0)
		return 0;
	pfs_blocking_work(PFS_COUNTED_DIGESTS, true, take_part, &t);
	if (takes(part, PFS_DIGEST_PART_PLANS))
	{
		pfs_reset_time_note("plan_nodes_summary_by_plan");
		pfs_reset_time_note("events_waits_summary_by_plan_node");
	}
	if (part == PFS_DIGEST_ALL)
	{
		pfs_reset_time_note("events_statements_histogram_by_digest");
		pfs_reset_time_note("events_waits_summary_by_digest");
		pfs_reset_time_note("table_io_waits_summary_by_digest");
		pfs_reset_time_note("plans_summary_by_digest");
	}
	return (int64) t.taken[part];
}

/*
 * Removes all digests, with their waits, rows and histograms; returns how many statements
 * that were.  TRUNCATE of events_statements_summary_by_digest.
 */
int64
pfs_digests_truncate(void)
{
	return truncate_part(PFS_DIGEST_ALL);
}

/*
 * Empties the histograms of all digests, and leaves the digests; returns how many
 * statements that were.
 */
int64
pfs_digest_buckets_truncate(void)
{
	return truncate_part(PFS_DIGEST_PART_BUCKETS);
}

/*
 * Empties the waits of all digests, and leaves the digests; returns how many waits that
 * were.  TRUNCATE of events_waits_summary_by_digest.
 */
int64
pfs_digest_waits_truncate(void)
{
	return truncate_part(PFS_DIGEST_PART_WAITS);
}

/* Empties the rows of all digests, likewise; returns how many rows of tables that were. */
int64
pfs_digest_rows_truncate(void)
{
	return truncate_part(PFS_DIGEST_PART_ROWS);
}

/* Empties all plans with their nodes, and leaves them; returns how many statements that were. */
int64
pfs_plans_truncate(void)
{
	return truncate_part(PFS_DIGEST_PART_PLANS);
}
