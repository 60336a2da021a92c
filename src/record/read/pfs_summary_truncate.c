/*
 * pfs_summary_truncate.c
 *	  Truncation of a level: what threads have is left to them, what is above is
 *	  moved here.
 *
 * A truncation raises the generation.  Each thread compares it inside every
 * write section, behind the odd word of its lock; so behind pfs_fence_everywhere()
 * a thread either sees the new generation, or its word is odd and it is waited
 * for.  From then on counters older than the truncation do not grow, and can be
 * counted: those that are still in their threads here, those that threads have
 * moved meanwhile by the threads themselves (applied[]).
 *
 * A thread that stays inside a write section for longer than the truncator's
 * patience adds what it is about to add to its old counters, and then leaves those
 * out itself: it is as if its event had ended before.  Only the count of events that
 * is returned may then be short of it.
 *
 * Cells above threads are emptied by truncators, one at a time, and by evictions,
 * which are forbidden meanwhile.  What threads add to them is taken, or stays.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_account_read.h"
#include "pfs_fence.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"
#include "pfs_thread.h"
#include "pfs_thread_copy.h"

/*
 * Waits until every thread that was inside a write section has left it, or ended.
 * Behind the fence, a thread that still goes by the old generation shows an odd
 * word.
 */
static void
wait_for_writers(PfsFamily family, PfsPatience *patience)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);
		const PfsSeqlock *lock = (const PfsSeqlock *) ((const char *) t + pfs_summary_kinds[family]->lock_offset);
		uint64		seq = pfs_seqlock_read_begin(lock);

		pfs_patience_next(patience);
		while ((seq & 1) != 0 && pfs_load_acquire(&lock->word) == seq &&
			   pfs_pages_word(pfs_threads, at.index) == at.word && pfs_patience_more(patience))
			;
	}
}

/*
 * Takes the counters of a block's cells, of which the first is cell `base`, and adds
 * them to those of `to`; returns the events.
 */
static uint64
take_block(PfsFamily family, const PfsSharedBlock *block, uint32 base, const PfsDestination *to)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	uint64		events = 0;

	for (uint32 i = pfs_shared_block_next(block, 0); i < block->ncells; i = pfs_shared_block_next(block, i + 1))
	{
		PfsAnyTotals totals = {0};

		pfs_kind_read(kind, pfs_shared_block_cell(block, i), &totals, true);
		events += pfs_kind_count(kind, &totals);
		pfs_summary_merge(family, to, base + i, &totals);
	}
	return events;
}

/* The same for all cells of an account, user or host. */
static uint64
take_record(PfsFamily family, PfsAccount *account, const PfsDestination *to)
{
	PfsSparse	cells = pfs_account_cells(account, family);
	PfsSharedBlock chunk;
	uint64		events = 0;

	for (uint32 n = 0; n < pfs_sparse_chunks(&cells); n++)
	{
		if (pfs_sparse_chunk(&cells, n, &chunk))
			events += take_block(family, &chunk, n * cells.per_chunk, to);
	}
	return events;
}

/*
 * Returns where the counters of an account or a host go when this level is
 * truncated: to the cells above it that are not truncated.  Counters of a user, or of the account
 * of all others, go nowhere, as hosts or the server have them, too.
 */
static PfsDestination
destination_of_record(PfsAccountKind kind, uint32 index, PfsLevel truncated)
{
	const bool *empties = pfs_level_empties[truncated];
	const PfsAccount *account = pfs_account_at(kind, index);
	PfsDestination to = PFS_NOWHERE;

	if (pfs_account_is_beside(kind, index))
		return to;
	for (PfsAccountKind above = 0; above < PFS_NUM_ACCOUNT_KINDS; above++)
	{
		if (!empties[pfs_level_of_kind[above]])
			to.records[above] = account->parents[above];
	}
	to.server = !empties[PFS_LEVEL_GLOBAL];
	return to;
}

/*
 * Empties everything above the threads that the truncation is about; returns how
 * many events the level's own table lost by that.
 */
static uint64
truncate_above(PfsFamily family, PfsLevel level)
{
	const PfsDestination nowhere = PFS_NOWHERE;
	uint64		left = 0;

	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		if (!pfs_level_empties[level][pfs_level_of_kind[kind]])
			continue;
		for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_accounts[kind].pages, &at);)
		{
			PfsDestination to = destination_of_record(kind, at.index, level);
			uint64		events = take_record(family, pfs_account_at(kind, at.index), &to);

			if (pfs_summary_record_above(kind, at.index, level) != PFS_NO_RECORD)
				left += events;
		}
	}
	if (level == PFS_LEVEL_GLOBAL)
		left += take_block(family, &pfs_summary[family].cells, 0, &nowhere);
	return left;
}

/* Empties the server's histograms of a family; returns how many events were in them. */
static uint64
truncate_histograms(PfsFamily family)
{
	const PfsSharedSummary *shared = &pfs_summary[family];
	uint64		left = 0;
	size_t		n = (size_t) Min(pfs_instruments->count, shared->nhistograms) * PFS_HISTOGRAM_BUCKETS;

	for (size_t i = 0; i < n; i++)
	{
		if (pfs_load_relaxed(&shared->buckets[i]) != 0)
			left += pfs_exchange(&shared->buckets[i], 0);
	}
	return left;
}

/*
 * Counts the events of a thread's copy that the truncation takes from the table.
 * What stays with the thread does not count.
 */
static uint64
count_of_copy(const PfsThreadCopies *copies, const PfsThreadCopy *copy, PfsLevel level)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[copies->family];
	uint64		n = 0;

	if (level == PFS_LEVEL_HISTOGRAM)
	{
		for (uint32 b = 0; b < copy->n; b++)
			n += pfs_copied_bucket(copy, b)->n;
		return n;
	}
	for (uint32 c = 0; c < copy->n; c++)
	{
		PfsAnyTotals totals = {0};

		pfs_kind_add(kind, &totals, pfs_copied_cell(copies, copy, c)->words, PFS_SHARE_GOES);
		n += pfs_kind_count(kind, &totals);
	}
	return n;
}

/*
 * Counts what the table loses of the threads: their old counters do not change any
 * more, until their owners move them and say so in applied[].
 */
static uint64
truncate_threads(PfsFamily family, PfsLevel level, PfsPatience *patience)
{
	const PfsSharedSummary *shared = &pfs_summary[family];
	uint64		generation = pfs_words->truncations[family];
	PfsThreadCopies copies = {.family = family, .of_histograms = level == PFS_LEVEL_HISTOGRAM, .end = shared->ncells, .patience = *patience};
	uint64		left;

	pfs_thread_copies_make(&copies, 0);
	do
	{
		left = pfs_load_acquire(&shared->applied[generation & 1][level]);
	} while (!pfs_thread_copies_hold(&copies));
	for (uint32 i = 0; i < copies.n; i++)
	{
		const PfsThreadCopy *copy = &copies.threads[i];

		if (copy->is_there && copy->generation < generation &&
			copy->generation >= shared->before[level] && pfs_summary_record_of(&copy->refs, level) != PFS_NO_RECORD)
			left += count_of_copy(&copies, copy, level);
	}
	*patience = copies.patience;
	pfs_thread_copies_free(&copies);
	return left;
}

/*
 * Truncates one level of one family; returns how many events its table lost.  In a turn alone: the
 * caller is the only truncator, there is no reader, and no account, user or host is evicted.
 */
static uint64
truncate_level(PfsFamily family, PfsLevel level, PfsPatience *patience)
{
	PfsSharedSummary *shared = &pfs_summary[family];
	uint64		generation = pfs_words->truncations[family] + 1;
	uint64		left;

	for (int l = 0; l < PFS_NUM_LEVELS; l++)
	{
		pfs_store_relaxed(&shared->before[l], shared->truncated[l]);
		if (pfs_level_empties[level][l])
			pfs_store_release(&shared->truncated[l], generation);	/* behind `before`, for
																	 * was_truncated() */
		pfs_store_relaxed(&shared->applied[generation & 1][l], 0);
	}
	if (level == PFS_LEVEL_GLOBAL && pfs_summary_kinds[family]->free_keys != NULL)
		pfs_summary_kinds[family]->free_keys();
	pfs_store_release(&pfs_words->truncations[family], generation);
	pfs_words_changed();
	if (pfs_summary_kinds[family]->look_again != NULL)
		pfs_summary_kinds[family]->look_again();

	/*
	 * From here on no thread adds to counters that are older than this
	 * truncation.
	 */
	pfs_fence_everywhere();
	wait_for_writers(family, patience);

	left = truncate_threads(family, level, patience);
	if (level == PFS_LEVEL_HISTOGRAM)
		return left + truncate_histograms(family);
	if (level == PFS_LEVEL_GLOBAL)
		(void) truncate_histograms(family);
	return left + truncate_above(family, level);
}

static void
note_reset(PfsFamily family, PfsLevel level)
{
	for (int l = 0; l < PFS_NUM_LEVELS; l++)
	{
		if (pfs_level_empties[level][l] && pfs_summary_kinds[family]->tables[l] != NULL)
			pfs_reset_time_note(pfs_summary_kinds[family]->tables[l]);
	}
}

/*
 * Waits, first thing in the turn, for every thread inside a write section of this family's lock, as long as nothing has
 * changed and the command can still be cancelled; behind it interrupts wait for the end of the turn.
 */
static void
begin_truncation(PfsFamily family, PfsPatience *patience)
{
	wait_for_writers(family, patience);
	CHECK_FOR_INTERRUPTS();
	HOLD_INTERRUPTS();
}

/* What is truncated, and how many events or rows left by it. */
typedef struct Truncation
{
	PfsFamily	family;
	PfsLevel	level;
	PfsAccountKind kind;
	int64		left;
} Truncation;

static void
truncate_cb(PfsPatience *patience, void *arg)
{
	Truncation *truncation = arg;

	begin_truncation(truncation->family, patience);
	truncation->left = (int64) truncate_level(truncation->family, truncation->level, patience);
	RESUME_INTERRUPTS();
}

int64
pfs_summary_truncate(PfsFamily family, PfsLevel level)
{
	Truncation	truncation = {.family = family, .level = level};

	pfs_blocking_work(PFS_TURN_SUMMARIES, true, truncate_cb, &truncation);
	note_reset(family, level);
	return truncation.left;
}

/* Moves what a record that is removed has counted to the levels above it. */
static void
push_up(PfsAccountKind kind, PfsAccount *account)
{
	uint32		index = pfs_pages_index(pfs_accounts[kind].pages, account);
	PfsDestination to = destination_of_record(kind, index, pfs_level_of_kind[kind]);

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		(void) take_record(family, account, &to);
}

/*
 * Records are removed first: each one's groups of counters are free for what the next
 * one moves into the levels above.  The second step frees none.
 */
static void
truncate_accounts_cb(PfsPatience *patience, void *arg)
{
	Truncation *truncation = arg;

	begin_truncation(PFS_FAMILY_WAITS, patience);
	truncation->left = pfs_accounts_purge(truncation->kind, push_up);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		(void) truncate_level(family, pfs_level_of_kind[truncation->kind], patience);
	RESUME_INTERRUPTS();
}

/*
 * Truncates accounts, users or hosts: removes the records without a connection and
 * empties their level in all families; returns how many rows left the table.
 */
int64
pfs_summary_truncate_accounts(PfsAccountKind kind)
{
	Truncation	truncation = {.kind = kind};

	pfs_blocking_work(PFS_TURN_SUMMARIES, true, truncate_accounts_cb, &truncation);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		note_reset(family, pfs_level_of_kind[kind]);
	return truncation.left;
}
