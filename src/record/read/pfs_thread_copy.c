/*
 * pfs_thread_copy.c
 *	  Copies of all threads' counters as of one point in time.  Readers and truncation
 *	  of summaries both need them, so they have a file of their own.
 *
 * A thread's counters leave it in two cases only: it ends, or it finds that they
 * are older than a truncation.  Both happen between two steps of its `moves` word
 * (A and B of pfs_seqlock.h): the word is odd while its cells and those above it
 * change.  So a reader copies each thread, then reads what is above, then looks
 * whether any thread's word has changed since its copy (D, behind all of it).  If
 * none has, no counter moved between the copies and the reading; else the threads
 * that changed are copied again, and what is above is read again.  Only that last
 * part has to be free of moves, some 20 us: a storm of disconnects cannot keep a
 * reader busy for long.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_error.h"
#include "pfs_event_cell.h"
#include "pfs_memory_cell.h"
#include "pfs_shared.h"
#include "pfs_thread.h"
#include "pfs_thread_copy.h"

/*
 * How often one thread is copied while it moves its counters again and again, and how
 * often all that have moved theirs are.
 */
#define COPY_TRIES		1000
#define ROUNDS_MAX		300

static bool
is_same(const PfsThreadCopy *copy, const PfsThread *t)
{
	return pfs_seqlock_read_valid(&t->moves, copy->moves) &&
		pfs_pages_word(pfs_threads, copy->index) == copy->word;
}

/* The biggest cell of all families. */
typedef union AnyCell
{
	PfsCell		wait;
	PfsMemoryCell memory;
	PfsStatementCell statement;
	PfsTransactionCell transaction;
	PfsErrorCell error;
} AnyCell;

/*
 * Copies one cell.  Its owner can lose its processor in the middle of a write
 * section; then it is waited for, and in the end its words are taken as they are.
 * Returns false if there is nothing to copy: the thread has moved its counters, or
 * ended.
 */
static bool
copy_cell(const PfsThreadCopy *copy, const PfsThread *t, PfsThreadCopies *copies, uint32 i, AnyCell *cell)
{
	const PfsBlock *block = &t->cells[copies->family];
	const PfsSummaryKind *kind = pfs_summary_kinds[copies->family];
	const PfsSeqlock *lock = (const PfsSeqlock *) ((const char *) t + kind->lock_offset);

	do
	{
		if (pfs_block_read(block, lock, i, cell, kind->read_size))
			return true;
		if (!is_same(copy, t))
			return false;
	} while (pfs_patience_more(&copies->patience));
	return pfs_block_look(block, i, cell, kind->read_size);
}

/* Appends a bucket to a thread's copy, unless it is empty. */
static inline void
append_bucket(PfsThreadCopy *copy, uint32 histogram, int b, uint32 n)
{
	PfsBucketCopy bucket = {histogram, b, n};

	if (n == 0)
		return;
	appendBinaryStringInfo(&copy->items, (const char *) &bucket, sizeof(bucket));
	copy->n++;
}

static void
copy_histograms(PfsThreadCopy *copy, const PfsThread *t, PfsFamily family)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	const uint32 *buckets;

	for (uint32 i = 0; kind->next_buckets != NULL && (buckets = kind->next_buckets(t, &i)) != NULL; i++)
	{
		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
			append_bucket(copy, i, b, pfs_load_relaxed(&buckets[b]));
	}
}

/* Where the thread's copy has this cell; NULL: it has it not. */
static PfsCellCopy *
find_cell(const PfsThreadCopies *copies, PfsThreadCopy *copy, uint64 cell)
{
	for (uint32 i = 0; i < copy->n; i++)
	{
		const PfsCellCopy *c = pfs_copied_cell(copies, copy, i);

		if (c->index == cell)
			return unconstify(PfsCellCopy *, c);
	}
	return NULL;
}

static void
append_cell(const PfsThreadCopies *copies, PfsThreadCopy *copy, uint64 cell, const AnyCell *counters)
{
	appendBinaryStringInfo(&copy->items, (const char *) &cell, sizeof(cell));
	appendBinaryStringInfo(&copy->items, (const char *) counters, pfs_summary_kinds[copies->family]->read_size);
	copy->n++;
}

/*
 * Copies a thread's cells that are wanted and have been touched.
 * Stops when the thread moves its counters: copy_thread() then finds that and begins
 * anew.
 */
static void
copy_cells(PfsThreadCopy *copy, const PfsThread *t, PfsThreadCopies *copies)
{
	const PfsBlock *block = &t->cells[copies->family];

	/* 0 while the memory changes hands */
	uint32		end = Min(copies->end, pfs_load_relaxed(&block->ncells));

	for (uint64 i = pfs_block_next(block, copies->first); i < end; i = pfs_block_next(block, i + 1))
	{
		AnyCell		cell;

		if (!copy_cell(copy, t, copies, i, &cell))
			return;
		append_cell(copies, copy, i, &cell);
	}
}

/* A copy of what a place has for a thread that is not in its cells yet. */
typedef struct PlaceCopy
{
	uint32		cell;
	AnyCell		counters;
	uint8		buckets[PFS_HISTOGRAM_BUCKETS];
} PlaceCopy;

/* Copies the next place, from *i on; false: there is none, or nothing to copy, as copy_cell() says. */
static bool
copy_place(const PfsThreadCopy *copy, const PfsThread *t, PfsThreadCopies *copies, uint32 *i, PlaceCopy *to)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[copies->family];
	const PfsSeqlock *lock = (const PfsSeqlock *) ((const char *) t + kind->lock_offset);
	uint32		from = *i;
	PfsPendingCell pending;
	uint64		begin;

	do
	{
		begin = pfs_seqlock_read_begin(lock);
		*i = from;
		if (!pfs_summary_pending[copies->family]->next(copy->index, i, &pending))
			return false;
		to->cell = pending.cell;
		pfs_racy_copy(&to->counters, pending.counters, kind->read_size);
		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && copies->of_histograms; b++)
			to->buckets[b] = pfs_load_relaxed(&pending.buckets[b]);
		if (pfs_seqlock_read_valid(lock, begin))
			return true;
		if (!is_same(copy, t))
			return false;
	} while (pfs_patience_more(&copies->patience));
	return true;
}

/* Adds what the thread has not moved to its cells yet to the copy of these, or of its histogram. */
static void
copy_pending(PfsThreadCopy *copy, const PfsThread *t, PfsThreadCopies *copies)
{
	PlaceCopy	place;

	for (uint32 i = 0; copy_place(copy, t, copies, &i, &place); i++)
	{
		PfsCellCopy *to;

		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && copies->of_histograms; b++)
			append_bucket(copy, 0, b, place.buckets[b]);
		if (copies->of_histograms || place.cell < copies->first || place.cell >= copies->end)
			continue;
		to = find_cell(copies, copy, place.cell);
		if (to != NULL)
			pfs_summary_pending[copies->family]->join(to->words, &place.counters);
		else
			append_cell(copies, copy, place.cell, &place.counters);
	}
}

/*
 * Copies what a thread has counted.  False: some of it was moved from where it is pending to its cells
 * meanwhile, or is being moved.
 */
static bool
copy_counters(PfsThreadCopy *copy, const PfsThread *t, PfsThreadCopies *copies)
{
	const PfsSummaryPending *kind = pfs_summary_pending[copies->family];
	const PfsSeqlock *lock = kind != NULL ? kind->lock(copy->index) : NULL;
	uint64		begin = lock != NULL ? pfs_seqlock_read_begin(lock) : 0;

	if (copies->of_histograms)
		copy_histograms(copy, t, copies->family);
	else
		copy_cells(copy, t, copies);
	if (lock == NULL)
		return true;
	copy_pending(copy, t, copies);
	return pfs_seqlock_read_valid(lock, begin);
}

/*
 * Copies the thread of a record between two of its moves.  It is not there if it has ended,
 * and `stuck` if it stays in the middle of a move for longer than the patience.
 */
static void
copy_thread(PfsThreadCopies *copies, uint32 index)
{
	PfsThreadCopy *copy = &copies->threads[index];
	const PfsThread *t = pfs_pages_record(pfs_threads, index);

	copy->index = index;
	if (copy->items.data == NULL)
		initStringInfo(&copy->items);
	/* One that is stuck from this look on has no cells, and nobody's. */
	copy->refs = PFS_NO_ACCOUNT_REFS;
	pfs_patience_next(&copies->patience);

	/*
	 * While it is in the middle of a move nothing is copied: only the
	 * patience ends that.
	 */
	for (int tries = 0; tries < COPY_TRIES;)
	{
		bool		is_whole;

		copy->word = pfs_pages_word(pfs_threads, index);
		copy->is_there = (copy->word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED;
		copy->n = 0;
		resetStringInfo(&copy->items);
		copy->moves = pfs_seqlock_read_begin(&t->moves);
		if (!copy->is_there)
			return;
		if ((copy->moves & 1) == 0)
		{
			copy->thread_id = pfs_load_relaxed(&t->thread_id);
			copy->generation = pfs_load_relaxed(&t->generation[copies->family]);
			copy->refs = t->refs;
			is_whole = copy_counters(copy, t, copies);
			if (is_same(copy, t) && is_whole)
				return;
			tries++;
		}
		if (!pfs_patience_more(&copies->patience))
			break;
	}

	/*
	 * One that collects what places have again and again, or stays in the
	 * middle of that, is copied as it is.
	 */
	copy->stuck = (copy->moves & 1) != 0 || !is_same(copy, t);
}

/*
 * Copies all threads (0), or the one with this ID, unless its record is reused
 * meanwhile.
 */
void
pfs_thread_copies_make(PfsThreadCopies *copies, uint64 thread_id)
{
	copies->attached = pfs_load_acquire(&pfs_shared_threads->attached);
	copies->n = pfs_sizes.threads;
	copies->threads = palloc0(copies->n * sizeof(PfsThreadCopy));
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);

		if (thread_id != 0 && pfs_load_relaxed(&t->thread_id) != thread_id)
			continue;
		copy_thread(copies, at.index);
		if (thread_id != 0 && copies->threads[at.index].thread_id != thread_id)
			copies->threads[at.index].is_there = false;
	}
}

/*
 * Copies threads that have attached since the copies were made; returns whether
 * there was any.  It is needed only for families whose threads take away what others
 * have left above: a new one may have done so already.  It is counted in `attached`
 * when its record can be seen, and before anything else that it does.
 */
static bool
add_new_threads(PfsThreadCopies *copies)
{
	uint64		attached = pfs_load_acquire(&pfs_shared_threads->attached);
	bool		found = false;

	if (!pfs_summary_kinds[copies->family]->takes_from_above || attached == copies->attached)
		return false;
	copies->attached = attached;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThreadCopy *copy = &copies->threads[at.index];

		if (copy->is_there || copy->word == at.word)
			continue;
		copy_thread(copies, at.index);
		found = true;
	}
	return found;
}

/*
 * Tells, behind what was read since, whether no thread has moved counters since it
 * was copied.  Those that have are copied again, and the caller reads what is above
 * again.
 */
bool
pfs_thread_copies_hold(PfsThreadCopies *copies)
{
	bool		hold = true;

	CHECK_FOR_INTERRUPTS();
	pfs_fence_acquire();		/* D */
	for (uint32 i = 0; i < copies->n; i++)
	{
		const PfsThreadCopy *copy = &copies->threads[i];

		if (!copy->is_there || copy->stuck || is_same(copy, pfs_pages_record(pfs_threads, i)))
			continue;
		hold = false;
		copy_thread(copies, i);
	}
	if (add_new_threads(copies))
		hold = false;
	return hold || ++copies->rounds >= ROUNDS_MAX;
}

/* Frees all that the copies hold; the struct itself is the caller's. */
void
pfs_thread_copies_free(PfsThreadCopies *copies)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		if (copies->threads[i].items.data != NULL)
			pfree(copies->threads[i].items.data);
	}
	pfree(copies->threads);
}
