/*
 * pfs_digest_evict.c
 *	  Evicting digests: which one, and how its counters get to all others.
 *
 * Separate from pfs_digest.c, which pins digests and adds to them: nothing here runs
 * while there is room, and all of it keeps to what readers and truncators may see.
 *
 * A clock sweep lowers the usage of each digest that it passes; the first
 * that has none is evicted.  Executions raise it, each by one, up to PFS_DIGEST_USAGE_MAX, when their process
 * looks at the digest: so the sweep's steps are paid for by executions.  It looks at LOOKS digests at most: then it
 * evicts the least used of these.  (The usage of pg_stat_statements, decayed for and
 * sorted by all entries under an exclusive lock, picks better victims; but it makes every
 * process wait for a pass over all records.)  The sweep's position is one atomic counter,
 * so two processes never stand at the same digest.  One that is pinned is passed over.
 *
 * Only what is in the record moves.  What sessions have pending for it, sleeping ones too, stays in their places,
 * which pin nothing (../ledger/README.md, "Digests").
 *
 * Evictions move counters, and so they and readers keep to the ledger's protocol, as flushes do
 * (../ledger/README.md).  Statements for which there is no room meanwhile are counted for all others:
 * nobody waits, nothing is lost.  The losses of the container count the digests that had to be evicted,
 * or found no room.
 *
 * A process that is stopped in the middle of it is waited for for a while.  Then who truncates all digests goes
 * on: whoever moves compares the generation of the last such truncation with what it was at the move's begin, and
 * drops what it has, which is older.
 */
#include "postgres.h"

#include "pfs_digest.h"
#include "pfs_digest_evict.h"
#include "pfs_digest_rows.h"
#include "pfs_node.h"
#include "pfs_shared.h"

/* How many digests the sweep passes at most. */
#define LOOKS				64

/* The set of which this process evicts, and the last truncation of all of it when that began. */
static const PfsDigestSet *evicting;
static uint64 evicting_since;

/* That of plans takes nothing of a digest: where it comes meanwhile, the digest's part of a move is as it was. */
static uint64
last_truncation(const PfsDigestSet *set)
{
	const uint64 *truncated = pfs_shared_pending[PFS_COUNTED_DIGESTS].truncated;
	uint64		all = pfs_load_relaxed(&truncated[PFS_DIGEST_ALL]);

	return set == &pfs_plans ? Max(all, pfs_load_relaxed(&truncated[PFS_DIGEST_PART_PLANS])) : all;
}

static bool
is_wanted(void)
{
	return last_truncation(evicting) == evicting_since;
}

/* Adds one wait to those of all others, for move_cb(). */
static void
move_wait_cb(PfsChained *cell, void *arg)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_read(&cell->cell, &totals);
	if (pfs_totals_count(&totals) > 0 && is_wanted())
		pfs_shared_cell_merge(pfs_shared_block_touch(&pfs_digest_other_waits, cell->key), &totals);
}

/*
 * Moves all that digest d has counted to all others, for pfs_digest_evict().  Nobody has it
 * pinned, so its counters stand still.  Nothing is added once a truncator has stopped
 * waiting.
 */
static void
move_cb(PfsDigest *d, void *arg)
{
	PfsDigest  *others = &((PfsDigestSet *) arg)->shared->others;
	PfsStatementTotals totals = {0};

	pfs_kind_read(&pfs_statement_kind, &d->counters, &totals, false);
	if (pfs_totals_count(&totals.time) > 0 && is_wanted())
	{
		pfs_kind_merge(&pfs_statement_kind, &others->counters, &totals);
		pfs_digest_note_others(arg, d->first_seen, d->first_offset, d->last_seen, &d->last_offset);
	}
	for (uint32 b = pfs_histogram_next(d->buckets, sizeof(uint64), 0); b < PFS_HISTOGRAM_BUCKETS && is_wanted();
		 b = pfs_histogram_next(d->buckets, sizeof(uint64), b + 1))
		pfs_add_relaxed(&others->buckets[b], d->buckets[b]);
	pfs_chain_free(pfs_digest_waits, &d->waits, move_wait_cb, NULL);
	if (unlikely(d->rows != 0))
		pfs_digest_rows_move(d, is_wanted);
	pfs_nodes_free(&d->nodes, is_wanted);
}

/*
 * Removes the digest in this slot and returns true, if its state word is still `word`
 * and nobody has it pinned.  `take` moves its counters away and frees its waits.
 */
bool
pfs_digest_remove(PfsDigestSet *set, uint32 index, uint64 word, void (*take) (PfsDigest *digest, void *arg), void *arg)
{
	PfsDigest  *d = pfs_pages_record(set->pages, index);
	PfsPlanKey	key = {d->key, d->plan_id};

	if (!pfs_ref_mark_found_dead(&set->ref_slots[index].ref, &set->pages->state[index], word))
		return false;
	take(d, arg);
	(void) pfs_hash_remove(set->index, pfs_plan_hash(&key), index, word);
	pfs_pages_free(set->pages, index);
	return true;
}

/*
 * Evicts one digest by the clock sweep.  False: a reader forbids it at this moment, or all that the sweep has passed are pinned.
 */
bool
pfs_digest_evict(PfsDigestSet *set)
{
	uint32		best = PFS_NO_RECORD;
	uint64		best_word = 0;
	uint32		best_usage = PG_UINT32_MAX;
	uint32		at = 0;
	bool		done = false;

	Assert((pfs_my_thread->seq.word & 1) != 0);
	evicting = set;
	evicting_since = last_truncation(set);
	if (!pfs_may_move(PFS_COUNTED_DIGESTS))
		return false;
	for (int i = 0; i < LOOKS && !done && !pfs_is_blocked(PFS_COUNTED_DIGESTS); i++)
	{
		uint64		word;
		PfsDigestRefSlot *ref_slot;
		uint32		usage;

		at = pfs_add_relaxed(&set->shared->next_victim, 1) % set->pages->records_max;
		word = pfs_pages_word(set->pages, at);
		ref_slot = &set->ref_slots[at];
		usage = pfs_load_relaxed(&ref_slot->usage);
		if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED || pfs_load_relaxed(&ref_slot->ref) != 0)
			continue;
		if (usage < best_usage)
		{
			best = at;
			best_word = word;
			best_usage = usage;
		}
		if (usage > 0)
			pfs_store_relaxed(&ref_slot->usage, usage - 1);
		else
			done = pfs_digest_remove(set, at, word, move_cb, set);
	}
	if (!done && best != PFS_NO_RECORD && !pfs_is_blocked(PFS_COUNTED_DIGESTS))
	{
		at = best;
		done = pfs_digest_remove(set, best, best_word, move_cb, set);
	}
	if (done)
		set->hint = at + 1;
	return done;
}
