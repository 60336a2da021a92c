/*
 * pfs_digest_hold.c
 *	  What readers and truncators of digests have in common: keeping processes from
 *	  moving counters, what processes have not added to their digests yet, and adding up
 *	  copies of waits and of rows.
 *
 * While they work, no process may move counters of digests, which evictions and flushes
 * do (pfs_digest_evict.c); and they take turns (pfs_patience.h).  Statements go on.
 *
 * A process that is in the middle of a move already is waited for.  If it is stopped
 * there, a reader finds the counters of one digest in the digest, in the row of all
 * others, or half of them in both; who truncates all of them tells the process by `abandoned` to
 * drop the counters that it is moving.  Behind a truncation of waits, rows or histograms alone it
 * goes on, and some of those are there again.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest_hold.h"
#include "pfs_shared.h"

/*
 * Announces a reader or truncator, and waits until no process is in the middle of a
 * move.  Returns false if one is and does not go on within the patience. unblock_moves()
 * takes the announcement back in both cases.
 */
static bool
block_moves(PfsPatience *patience)
{
	pfs_add_seqcst(&pfs_shared_digests->held, 1);
	pfs_fence_seqcst();			/* pairs with the one in
								 * pfs_digest_begin_move() */
	while (pfs_load_acquire(&pfs_shared_digests->moving) != 0)
	{
		if (!pfs_patience_more(patience))
			return false;
	}
	return true;
}

static void
unblock_moves(void)
{
	pfs_sub_seqcst(&pfs_shared_digests->held, 1);
}

/*
 * Takes the turn (alone: of a truncator) and keeps processes from moving counters of
 * digests.  False: one is in the middle of it, and does not go on.  Cancellation is
 * possible only in here: until pfs_digests_release() no interrupt is served.
 */
bool
pfs_digests_hold(bool alone, PfsPatience *patience)
{
	bool		held;

	pfs_turn_take(PFS_TURN_DIGESTS, alone);
	held = block_moves(patience);
	if (!held)
	{
		/*
		 * Perhaps because the command was cancelled.  The recorder is in no
		 * transaction that would give the turn back.
		 */
		unblock_moves();
		pfs_turn_give(PFS_TURN_DIGESTS, alone);
		CHECK_FOR_INTERRUPTS();
		pfs_turn_take(PFS_TURN_DIGESTS, alone);
		held = block_moves(patience);
	}
	HOLD_INTERRUPTS();
	return held;
}

void
pfs_digests_release(bool alone, const PfsPatience *patience)
{
	unblock_moves();
	RESUME_INTERRUPTS();
	pfs_turn_give(PFS_TURN_DIGESTS, alone);
	pfs_patience_end(patience);
}

/* ---- what processes have not added to their digests yet ---- */

/*
 * Calls `each` for a private copy of every set of numbers that is not empty, while moves
 * are held off: so what is copied here is in no record, and stays out of all.  A process
 * that is stopped between two steps of `seq` is waited for, within the patience; then what
 * is there is taken as it is.
 */
void
pfs_pending_digests_each(PfsPendingDigestsEach each, void *arg, PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const PfsPendingDigests *pending = pfs_pending_digests_get(i);

		if (pending == NULL)
			continue;
		for (int k = 0; k < PFS_PENDING_DIGESTS; k++)
		{
			const PfsPendingDigest *from = &pending->items[k];
			PfsPendingDigest copy;
			uint64		word;

			if (pfs_load_relaxed(&from->key.query_id) == 0)
				continue;
			pfs_patience_next(patience);
			do
			{
				word = pfs_seqlock_read_begin(&pending->seq);
				pfs_racy_copy(&copy, from, sizeof(copy));
			} while (!pfs_seqlock_read_valid(&pending->seq, word) && pfs_patience_more(patience));
			if (copy.key.query_id != 0)
				each(&copy, arg);
		}
	}
}

/* ---- copies ---- */

/* Orders copies by digest, then by what they are of. */
static int
compare_copies(const void *a, const void *b)
{
	const PfsDigestCopy *x = a;
	const PfsDigestCopy *y = b;

	if (x->key.query_id != y->key.query_id)
		return x->key.query_id < y->key.query_id ? -1 : 1;
	if (x->key.db_user != y->key.db_user)
		return x->key.db_user < y->key.db_user ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Sorts the copies at the first call. */
bool
pfs_digest_copies_next(PfsDigestCopies *copies, PfsDigestCopy *sum)
{
	const PfsDigestCopy *first = &copies->items[copies->next];

	if (copies->next == 0)
		qsort(copies->items, copies->n, sizeof(PfsDigestCopy), compare_copies);
	if (copies->next == copies->n)
		return false;
	CHECK_FOR_INTERRUPTS();
	memset(sum, 0, sizeof(*sum));
	sum->key = first->key;
	sum->what = first->what;
	sum->kind = first->kind;
	for (; copies->next < copies->n && compare_copies(first, &copies->items[copies->next]) == 0; copies->next++)
	{
		const PfsDigestCopy *copy = &copies->items[copies->next];

		pfs_totals_add(&sum->totals, &copy->totals);
		for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
			sum->counts[i] += copy->counts[i];
	}
	return true;
}
