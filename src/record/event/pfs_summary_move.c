/*
 * pfs_summary_move.c
 *	  Totals by instrument, the owner's side: moving a thread's counters up when
 *	  it ends, or when they are older than a truncation.
 *
 * README.md, "Summaries", has the rules; pfs_thread_copy.c says how readers keep
 * up, pfs_summary_truncate.c how TRUNCATE does.
 */
#include "postgres.h"

#include "pfs_departed.h"
#include "pfs_summary_level.h"
#include "pfs_summary_own.h"

const PfsAccountKind pfs_kind_of_level[] = {
	[PFS_LEVEL_ACCOUNT] = PFS_ACCOUNTS,[PFS_LEVEL_USER] = PFS_USERS,[PFS_LEVEL_HOST] = PFS_HOSTS,
};

const PfsLevel pfs_level_of_kind[] = {
	[PFS_ACCOUNTS] = PFS_LEVEL_ACCOUNT,[PFS_USERS] = PFS_LEVEL_USER,[PFS_HOSTS] = PFS_LEVEL_HOST,
};

const bool	pfs_level_empties[PFS_NUM_LEVELS][PFS_NUM_LEVELS] = {
	[PFS_LEVEL_THREAD] = {[PFS_LEVEL_THREAD] = true},
	[PFS_LEVEL_ACCOUNT] = {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_ACCOUNT] = true},
	[PFS_LEVEL_USER] = {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_ACCOUNT] = true,[PFS_LEVEL_USER] = true},
	[PFS_LEVEL_HOST] = {[PFS_LEVEL_THREAD] = true,[PFS_LEVEL_ACCOUNT] = true,[PFS_LEVEL_HOST] = true},
	[PFS_LEVEL_GLOBAL] = {true, true, true, true, true, true},
	[PFS_LEVEL_HISTOGRAM] = {[PFS_LEVEL_HISTOGRAM] = true},
};

/* Adds a sum to a cell of a destination's account, user or host; false: it is not there, or has no room. */
static bool
merge_into(PfsFamily family, PfsAccountKind kind, const PfsDestination *destination, uint32 cell,
		   const PfsAnyTotals *totals)
{
	static uint32 hint;
	uint32		index = destination->records[kind];
	PfsSparse	cells;
	void	   *to;

	if (index == PFS_NO_RECORD)
		return false;
	cells = pfs_account_cells(pfs_account_at(kind, index), family);
	to = pfs_sparse_touch(&cells, cell, &hint);
	if (to == NULL)
		return false;
	pfs_kind_merge(pfs_summary_kinds[family], to, totals);
	return true;
}

/*
 * Adds a sum to the lowest cells of a destination that can be had.  Counters that may
 * stay at a level may as well be at those above it.  Accounts, users and hosts take their
 * chunks from the same container, so what finds none for its account often ends with
 * the server alone: whose tables have everything, while those of the levels that had no
 * chunk miss it.
 */
void
pfs_summary_merge(PfsFamily family, const PfsDestination *to, uint32 cell, const PfsAnyTotals *totals)
{
	static const PfsAnyTotals nothing;

	if (memcmp(totals, &nothing, pfs_summary_kinds[family]->totals_size) == 0)
		return;
	if (merge_into(family, PFS_ACCOUNTS, to, cell, totals) &&
		!pfs_account_is_beside(PFS_ACCOUNTS, to->records[PFS_ACCOUNTS]))
		return;
	(void) merge_into(family, PFS_USERS, to, cell, totals);
	if (!merge_into(family, PFS_HOSTS, to, cell, totals) && to->server)
		pfs_kind_merge(pfs_summary_kinds[family], pfs_shared_block_touch(&pfs_summary[family].cells, cell), totals);
}

/*
 * Was a level truncated behind one generation, and not behind another one?  A truncation that
 * begins says so in `truncated` before it raises the generation, so there can be one that is newer
 * than what the caller has read; then `before` has the last one that is not.
 */
static bool
was_truncated(PfsFamily family, PfsLevel level, uint64 behind, uint64 until)
{
	uint64		last = pfs_load_acquire(&pfs_summary[family].truncated[level]);

	if (last > until)
		last = pfs_load_relaxed(&pfs_summary[family].before[level]);
	return last > behind;
}

/*
 * Returns where counters of a generation go, by the truncations until another one: to the lowest
 * level that was not truncated since they began.  Truncating a level counts for all below it,
 * too.  The account of a session that logs in is not known yet: what is moved then goes to the
 * server alone.
 */
static PfsDestination
destination_of(const PfsThread *t, PfsFamily family, uint64 generation, uint64 until)
{
	PfsDestination to = PFS_NOWHERE;

	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		if (!was_truncated(family, pfs_level_of_kind[kind], generation, until))
			to.records[kind] = t->refs.records[kind];
	}
	to.server = !was_truncated(family, PFS_LEVEL_GLOBAL, generation, until);
	return to;
}

/*
 * Returns which record a level shows the counters of a thread with these references
 * under: none of an account, user or host that the thread does not have (not yet known, or
 * its container has the size 0).
 */
uint32
pfs_summary_record_of(const PfsAccountRefs *refs, PfsLevel level)
{
	if (level < PFS_LEVEL_ACCOUNT || level > PFS_LEVEL_HOST)
		return 0;
	return refs->records[pfs_kind_of_level[level]];
}

/*
 * Returns which record a level shows the counters under that an account, user or host has
 * itself: its own, or the user or host of an account.
 */
uint32
pfs_summary_record_above(PfsAccountKind kind, uint32 index, PfsLevel level)
{
	const PfsAccount *account = pfs_account_at(kind, index);

	if (level == pfs_level_of_kind[kind])
		return index;
	/* What these have, hosts or the server have, too. */
	if (pfs_account_is_beside(kind, index))
		return PFS_NO_RECORD;
	if (level == PFS_LEVEL_GLOBAL)
		return 0;
	return account->parents[pfs_kind_of_level[level]];
}

/*
 * Adds what is moved because of a truncation to what that truncation has taken off its
 * table.  If the truncator has done its work by now, nobody looks: the next one uses
 * the other half of applied[], and waits for us before it looks at its own.
 */
static void
tell_truncator(const PfsThread *t, PfsFamily family, uint64 generation, uint64 events, uint64 in_histogram)
{
	const uint64 *before = pfs_summary[family].before;
	uint64	   *applied = pfs_summary[family].applied[generation & 1];
	uint64		ours = t->generation[family];

	for (int level = 0; level < PFS_LEVEL_HISTOGRAM; level++)
	{
		if (pfs_load_relaxed(&before[level]) <= ours && pfs_summary_record_of(&t->refs, level) != PFS_NO_RECORD)
			pfs_add_relaxed(&applied[level], events);
	}
	if (pfs_load_relaxed(&before[PFS_LEVEL_HISTOGRAM]) <= ours)
		pfs_add_relaxed(&applied[PFS_LEVEL_HISTOGRAM], in_histogram);
}

/*
 * Moves what goes up of all cells and returns how many events that was.  The cells stay
 * marked as touched.  An end that was cut off, and comes here
 * a second time, may have given chunks back whose cells are still marked.
 */
static uint64
move_cells(PfsThread *t, PfsFamily family, const PfsDestination *to)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	PfsBlock   *block = &t->cells[family];
	uint64		events = 0;

	if (kind->leaves != NULL)
		pfs_bump(&t->left, 1);
	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		void	   *cell = pfs_block_cell(block, i);
		PfsAnyTotals totals = {0};

		if (cell == NULL)
			continue;
		pfs_kind_add(kind, &totals, cell, PFS_SHARE_GOES);
		events += pfs_kind_count(kind, &totals);
		pfs_summary_merge(family, to, i, &totals);
		if (kind->leaves != NULL)
			kind->leaves(i, cell);
		pfs_kind_clear_going(kind, cell);
	}
	return events;
}

static uint64 *
server_buckets(PfsFamily family, uint32 i)
{
	return &pfs_summary[family].buckets[(size_t) i * PFS_HISTOGRAM_BUCKETS];
}

void
pfs_summary_add_to_server(PfsFamily family, uint32 i, uint32 bucket, uint64 n)
{
	pfs_add_relaxed(&server_buckets(family, i)[bucket], n);
}

/*
 * Empties the buckets of a thread and returns how many events were in them; add: adds
 * them to the server's.
 *
 * A page of the server's is read before it is written.  A short session comes here once:
 * the kernel maps all resident pages around one that is read, as writable ones, but of
 * those that are written only themselves.
 */
static uint64
move_buckets(PfsThread *t, PfsFamily family, bool add)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	uint64		events = 0;
	uint32	   *buckets;

	if (kind->next_buckets == NULL)
		return 0;
	for (uint32 i = 0; (buckets = kind->next_buckets(t, &i)) != NULL; i++)
	{
		uint32		b = pfs_histogram_next(buckets, sizeof(*buckets), 0);

		if (add && b < PFS_HISTOGRAM_BUCKETS)
			(void) *(volatile uint64 *) server_buckets(family, i);
		for (; b < PFS_HISTOGRAM_BUCKETS; b = pfs_histogram_next(buckets, sizeof(*buckets), b + 1))
		{
			events += buckets[b];
			if (add)
				pfs_summary_add_to_server(family, i, b, buckets[b]);
			pfs_store_relaxed(&buckets[b], 0);
		}
	}
	return events;
}

/* Moves what is in other places to the thread's cells. */
static inline void
collect(PfsThread *t, PfsFamily family)
{
	if (pfs_summary_pending[family] != NULL)
		pfs_summary_pending[family]->collect(t);
}

/*
 * Applies the truncations of a family that have happened since this thread last looked:
 * moves its counters, if they are older, to where destination_of() says, drops its
 * buckets if the histogram was truncated, and takes the new generation.  By the owner,
 * inside a write section of the family's lock; `moves` is odd meanwhile, so that
 * readers copy the thread again.
 */
void
pfs_summary_apply_resets(PfsThread *t, PfsFamily family)
{
	uint64	   *ours = &t->generation[family];

	/* Pairs with the release in truncate_level(). */
	uint64		generation = pfs_load_acquire(&pfs_words->truncations[family]);
	bool		cells_old = was_truncated(family, PFS_LEVEL_THREAD, *ours, generation);
	bool		buckets_old = was_truncated(family, PFS_LEVEL_HISTOGRAM, *ours, generation);
	uint64		events = 0;
	uint64		in_histogram = 0;

	if (generation == *ours)
		return;
	collect(t, family);
	pfs_seqlock_write_begin(&t->moves);
	if (pfs_summary_kinds[family]->leaves != NULL)
		pfs_departed_begin();
	if (cells_old)
	{
		PfsDestination to = destination_of(t, family, *ours, generation);

		events = move_cells(t, family, &to);
	}
	if (buckets_old)
		in_histogram = move_buckets(t, family, false);
	tell_truncator(t, family, generation, events, in_histogram);
	pfs_store_relaxed(ours, generation);
	if (pfs_summary_kinds[family]->leaves != NULL)
		pfs_departed_end();
	pfs_seqlock_write_end(&t->moves);
}

void *
pfs_summary_cell(PfsThread *t, PfsFamily family, uint32 cell)
{
	static uint32 hints[PFS_NUM_FAMILIES];
	PfsPages  **chunks = pfs_summary_kinds[family]->chunks;

	return pfs_block_make(&t->cells[family], chunks != NULL ? *chunks : NULL, cell, &hints[family]);
}

/*
 * Moves everything that a thread has counted up, when it ends, and gives its references
 * back.  What it still has when it has applied all truncations is newer than those that
 * it knows of: it goes to the lowest level that there is.  A truncation that begins
 * meanwhile waits for this thread's write section, and takes it from there.
 */
void
pfs_summary_end(PfsThread *t)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		const PfsSummaryKind *kind = pfs_summary_kinds[family];
		PfsDestination to;

		pfs_summary_apply_resets(t, family);
		to = destination_of(t, family, UINT64_MAX, UINT64_MAX);
		pfs_seqlock_write_begin(&t->moves);
		if (kind->leaves != NULL)
			pfs_departed_begin();
		(void) move_cells(t, family, &to);
		(void) move_buckets(t, family, true);
		if (kind->chunks != NULL)
			pfs_block_free_chunks(&t->cells[family], *kind->chunks);
		pfs_block_clear(&t->cells[family]);
		if (kind->leaves != NULL)
			pfs_departed_end();
		pfs_seqlock_write_end(&t->moves);
	}
	pfs_account_leave(&t->refs);
}

/* Puts the thread's cells, all untouched, behind the rest of its record; they count from now on. */
void
pfs_summary_begin(PfsThread *t)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		const PfsSummaryKind *kind = pfs_summary_kinds[family];
		char	   *mem = (char *) t + pfs_thread_cells_at[family];

		t->generation[family] = pfs_load_acquire(&pfs_words->truncations[family]);
		pfs_block_init(&t->cells[family], mem, pfs_summary[family].ncells, kind->cell_size, kind->per_chunk);
	}
}
