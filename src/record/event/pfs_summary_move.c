/*
 * pfs_summary.c
 *	  Totals by instrument, the owner's side: moving a thread's numbers up when
 *	  it ends, or when they are older than a truncation.
 *
 * README.md, "Summaries", has the rules; pfs_thread_copy.c says how readers keep
 * up, pfs_summary_truncate.c how TRUNCATE does.
 */
#include "postgres.h"

#include "pfs_event_write.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"

PFS_NEAR PfsSharedSummary *pfs_summary = NULL;
PFS_NEAR PfsPages *pfs_thread_histograms = NULL;

/* Guesses: some 64 kB are a page. */
#define HISTOGRAMS_PER_PAGE 100
/* Instruments that a thread meets in its life; what is more counts together. */
#define HISTOGRAMS_PER_THREAD 32

/* What pfs_summary has pointers to, until it is started. */
static void *global_cells[PFS_NUM_FAMILIES];
static uint64 *global_buckets = NULL;

const PfsAccountKind pfs_kind_of_level[] = {
	[PFS_LEVEL_ACCOUNT] = PFS_ACCOUNTS,[PFS_LEVEL_USER] = PFS_USERS,[PFS_LEVEL_HOST] = PFS_HOSTS,
};

const PfsLevel pfs_level_of_kind[] = {
	[PFS_ACCOUNTS] = PFS_LEVEL_ACCOUNT,[PFS_USERS] = PFS_LEVEL_USER,[PFS_HOSTS] = PFS_LEVEL_HOST,
};

size_t
pfs_summary_cells_size(PfsFamily family, uint32 ncells)
{
	return pfs_shared_block_size(ncells, pfs_summary_kinds[family]->shared_size);
}

size_t
pfs_summary_buckets_size(uint32 ncells)
{
	return (size_t) ncells * PFS_HISTOGRAM_BUCKETS * sizeof(uint64);
}

void
pfs_summary_lay_out(PfsSegment *seg)
{
	PfsPagesSpec histograms = {"waits_histograms", PFS_HISTOGRAM_BUCKETS * sizeof(uint32),
	pfs_sizes.threads * HISTOGRAMS_PER_THREAD, HISTOGRAMS_PER_PAGE};

	pfs_thread_histograms = pfs_pages_create(seg, &histograms);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
		global_cells[family] = pfs_segment_take(seg, pfs_summary_cells_size(family, pfs_sizes.cells[family]),
												PFS_CACHE_LINE);
	global_buckets = pfs_segment_take(seg, pfs_summary_buckets_size(pfs_sizes.cells[PFS_FAMILY_WAITS]), PFS_CACHE_LINE);
}

void
pfs_summary_start(void)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		uint32		ncells = pfs_sizes.cells[family];

		pfs_summary[family].ncells = ncells;
		pfs_summary[family].cells = (PfsSharedBlock)
		{
			global_cells[family], ncells, pfs_summary_kinds[family]->shared_size
		};
	}
	pfs_summary[PFS_FAMILY_WAITS].buckets = global_buckets;
}

void
pfs_summary_merge(PfsFamily family, const PfsDestination *to, uint32 cell, const void *totals)
{
	for (int n = 0; n < to->n; n++)
		pfs_summary_kinds[family]->merge(pfs_shared_block_touch(&to->cells[n], cell), totals);
}

/*
 * The lowest level that was not truncated since these numbers began: truncating
 * a level counts for all below it, too.
 */
static PfsDestination
destination_of(const PfsThread *t, PfsFamily family, uint64 generation)
{
	const uint64 *truncated = pfs_summary[family].truncated;
	uint32		user = pfs_account_user(&t->refs);
	uint32		host = pfs_account_host(&t->refs);
	PfsDestination to = {.n = 0};

	if (t->refs.account != PFS_NO_RECORD &&
		pfs_load_relaxed(&truncated[PFS_LEVEL_ACCOUNT]) <= generation)
	{
		to.cells[to.n++] = pfs_summary_cells_of(family, PFS_ACCOUNTS, t->refs.account);
		return to;
	}
	if (user != PFS_NO_RECORD && pfs_load_relaxed(&truncated[PFS_LEVEL_USER]) <= generation)
		to.cells[to.n++] = pfs_summary_cells_of(family, PFS_USERS, user);
	if (host != PFS_NO_RECORD && pfs_load_relaxed(&truncated[PFS_LEVEL_HOST]) <= generation)
		to.cells[to.n++] = pfs_summary_cells_of(family, PFS_HOSTS, host);
	else if (pfs_load_relaxed(&truncated[PFS_LEVEL_GLOBAL]) <= generation)
		to.cells[to.n++] = pfs_summary[family].cells;
	return to;
}

bool
pfs_summary_belongs(const PfsAccountRefs *refs, PfsLevel level)
{
	switch (level)
	{
		case PFS_LEVEL_ACCOUNT:
			return refs->account != PFS_NO_RECORD;
		case PFS_LEVEL_USER:
			return pfs_account_user(refs) != PFS_NO_RECORD;
		case PFS_LEVEL_HOST:
			return pfs_account_host(refs) != PFS_NO_RECORD;
		default:
			return true;
	}
}

/*
 * For the truncator that made this generation: what its table loses by our
 * move.  If it has done its work by now, nobody looks: the next one uses the
 * other half of settled[], and waits for us before it looks at its own.
 */
static void
tell_truncator(const PfsThread *t, PfsFamily family, uint64 generation, uint64 events, uint64 in_histogram)
{
	const uint64 *before = pfs_summary[family].before;
	uint64	   *settled = pfs_summary[family].settled[generation & 1];
	uint64		ours = t->summary[family].generation;

	for (int level = 0; level < PFS_LEVEL_HISTOGRAM; level++)
	{
		if (pfs_load_relaxed(&before[level]) <= ours && pfs_summary_belongs(&t->refs, level))
			pfs_add_relaxed(&settled[level], events);
	}
	if (pfs_load_relaxed(&before[PFS_LEVEL_HISTOGRAM]) <= ours)
		pfs_add_relaxed(&settled[PFS_LEVEL_HISTOGRAM], in_histogram);
}

/* Move what goes of all cells; they stay marked, waits' with their buckets. */
static uint64
move_cells(PfsThread *t, PfsFamily family, const PfsDestination *to)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	PfsBlock   *block = &t->summary[family].cells;
	uint64		events = 0;

	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		PfsAnyTotals totals = {0};

		kind->add_going(&totals, pfs_block_cell(block, i));
		events += kind->count(&totals);
		pfs_summary_merge(family, to, i, &totals);
		kind->let_go(pfs_block_cell(block, i));
	}
	return events;
}

static PfsCell *
wait_cell(const PfsThread *t, uint32 i)
{
	return (PfsCell *) t->summary[PFS_FAMILY_WAITS].cells.cells + i;
}

/*
 * The next one at or after b that counted something; most are empty, so by four
 * where it can.
 */
static uint32
next_bucket(const uint32 *buckets, uint32 b)
{
	if (buckets == NULL)
		return PFS_HISTOGRAM_BUCKETS;
	while (b < PFS_HISTOGRAM_BUCKETS && buckets[b] == 0)
	{
		b++;
		while (b + 4 <= PFS_HISTOGRAM_BUCKETS &&
			   (buckets[b] | buckets[b + 1] | buckets[b + 2] | buckets[b + 3]) == 0)
			b += 4;
	}
	return b;
}

/*
 * A short session comes here once: the kernel maps all resident pages around one
 * that is read, as writable ones, but of those that are written only themselves.
 */
static void
look_at_server(uint32 cell)
{
	(void) *(volatile uint64 *) &pfs_summary[PFS_FAMILY_WAITS].buckets[(size_t) cell * PFS_HISTOGRAM_BUCKETS];
}

/* Empty the buckets; add: into the server's. */
static uint64
move_buckets(PfsThread *t, bool add)
{
	const PfsBlock *block = &t->summary[PFS_FAMILY_WAITS].cells;
	uint64		events = 0;

	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		uint32	   *buckets = wait_cell(t, i)->buckets;

		if (add && buckets != NULL)
			look_at_server(i);
		for (uint32 b = next_bucket(buckets, 0); b < PFS_HISTOGRAM_BUCKETS; b = next_bucket(buckets, b + 1))
		{
			events += buckets[b];
			if (add)
				pfs_summary_add_to_server(i, b, buckets[b]);
			pfs_store_relaxed(&buckets[b], 0);
		}
	}
	return events;
}

void
pfs_summary_add_statements(uint32 bucket, uint64 n)
{
	pfs_add_relaxed(&pfs_summary[PFS_FAMILY_STATEMENTS].all_buckets[bucket], n);
}

/* The same of statements: they have one histogram. */
static uint64
move_statements(PfsThread *t, bool add)
{
	uint32	   *buckets = t->statement_buckets;
	uint64		events = 0;

	for (uint32 b = next_bucket(buckets, 0); b < PFS_HISTOGRAM_BUCKETS; b = next_bucket(buckets, b + 1))
	{
		events += buckets[b];
		if (add)
			pfs_summary_add_statements(b, buckets[b]);
		pfs_store_relaxed(&buckets[b], 0);
	}
	return events;
}

void
pfs_summary_settle(PfsThread *t, PfsFamily family)
{
	PfsSharedSummary *shared = &pfs_summary[family];
	uint64	   *ours = &t->summary[family].generation;

	/* Pairs with the release in truncate_level(). */
	uint64		generation = pfs_load_acquire(&pfs_words->truncations[family]);
	bool		cells_old = pfs_load_relaxed(&shared->truncated[PFS_LEVEL_THREAD]) > *ours;
	bool		buckets_old = pfs_load_relaxed(&shared->truncated[PFS_LEVEL_HISTOGRAM]) > *ours;
	uint64		events = 0;
	uint64		in_histogram = 0;

	if (generation == *ours)
		return;
	pfs_seqlock_write_begin(&t->folds);
	if (cells_old)
	{
		PfsDestination to = destination_of(t, family, *ours);

		events = move_cells(t, family, &to);
	}
	if (buckets_old && family == PFS_FAMILY_WAITS)
		in_histogram = move_buckets(t, false);
	if (buckets_old && family == PFS_FAMILY_STATEMENTS)
		in_histogram = move_statements(t, false);
	tell_truncator(t, family, generation, events, in_histogram);
	pfs_store_relaxed(ours, generation);
	pfs_seqlock_write_end(&t->folds);
}

/* Buckets from their container; without any the cell counts into the server's. */
void
pfs_summary_touch(PfsThread *t, PfsInstrumentId instrument)
{
	static uint32 hint;
	PfsCell    *cell = wait_cell(t, instrument);
	uint32		index;

	if (cell->buckets != NULL)
		return;
	index = pfs_pages_allocate(pfs_thread_histograms, &hint);
	if (index == PFS_NO_RECORD)
		return;
	cell->buckets_record = index;
	memset(pfs_pages_record(pfs_thread_histograms, index), 0, PFS_HISTOGRAM_BUCKETS * sizeof(uint32));
	pfs_pages_publish(pfs_thread_histograms, index);
	/* Readers come to the zeroes by this (E, pairs with copy_buckets). */
	pfs_store_release(&cell->buckets, (uint32 *) pfs_pages_record(pfs_thread_histograms, index));
}

void
pfs_summary_add_to_server(PfsInstrumentId instrument, uint32 bucket, uint64 n)
{
	pfs_add_relaxed(&pfs_summary[PFS_FAMILY_WAITS].buckets[(size_t) instrument * PFS_HISTOGRAM_BUCKETS + bucket], n);
}

void
pfs_summary_count_global(PfsInstrumentId instrument, bool timed, uint64 ticks)
{
	PfsTotals	one = {timed ? 1 : 0, timed ? 0 : 1, ticks, ticks, ticks};

	pfs_shared_cell_merge(pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_WAITS].cells, instrument), &one);
	if (timed)
		pfs_summary_add_to_server(instrument, pfs_histogram_bucket(ticks), 1);
}

static void
free_buckets(PfsThread *t)
{
	const PfsBlock *block = &t->summary[PFS_FAMILY_WAITS].cells;

	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		PfsCell    *cell = wait_cell(t, i);
		uint32		index = cell->buckets_record;

		if (cell->buckets == NULL)
			continue;
		pfs_store_relaxed(&cell->buckets, NULL);
		if (pfs_pages_claim(pfs_thread_histograms, index, pfs_pages_word(pfs_thread_histograms, index)))
			pfs_pages_free(pfs_thread_histograms, index);
	}
}

/*
 * What a thread still has when it has settled is newer than all truncations that it
 * knows of: it goes to the lowest level that there is.  A truncation that begins
 * meanwhile waits for this thread's change, and takes it from there.
 */
void
pfs_summary_end(PfsThread *t)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		PfsDestination to;

		pfs_summary_settle(t, family);
		to = destination_of(t, family, UINT64_MAX);
		pfs_seqlock_write_begin(&t->folds);
		(void) move_cells(t, family, &to);
		if (family == PFS_FAMILY_WAITS)
		{
			(void) move_buckets(t, true);
			free_buckets(t);
		}
		if (family == PFS_FAMILY_STATEMENTS)
			(void) move_statements(t, true);
		pfs_block_clear(&t->summary[family].cells);
		pfs_seqlock_write_end(&t->folds);
	}
	pfs_account_leave(&t->refs);
}

void
pfs_summary_begin(PfsThread *t)
{
	char	   *mem = (char *) t + pfs_thread_cells_offset();

	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		uint32		ncells = pfs_summary[family].ncells;
		uint32		cell_size = pfs_summary_kinds[family]->cell_size;

		t->summary[family].generation = pfs_load_acquire(&pfs_words->truncations[family]);
		pfs_block_init(&t->summary[family].cells, mem, ncells, cell_size);
		mem += TYPEALIGN(PFS_CACHE_LINE, pfs_block_size(ncells, cell_size));
	}
}

void
pfs_families_reset_lost(void)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		if (pfs_summary_kinds[family]->reset_lost != NULL)
			pfs_summary_kinds[family]->reset_lost();
	}
}
