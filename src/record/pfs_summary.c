/*
 * pfs_summary.c
 *	  Totals by instrument: moving them up, reading them, truncating them.
 *
 * README.md, "Summaries", has the rules; here is how they are kept.
 *
 * A thread's numbers leave it in two cases only: it ends, or it finds that they
 * are older than a truncation.  Both happen inside its own change, between two
 * steps of its `folds` word (A and B of pfs_seqlock.h): the word is odd while its
 * cells and those above it change.  A reader copies each thread, then reads what
 * is above, then looks whether any thread's word has changed since its copy
 * (D, behind all of it).  If none has, no number moved between the copies and
 * the reading, so each is in exactly one of them; else the threads that changed
 * are copied again, and what is above is read again.
 *
 * Cells above threads have many writers, who add.  They are emptied by
 * truncators only, which hold the lock exclusively; readers hold it shared.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_event_write.h"
#include "pfs_fence.h"
#include "pfs_shared.h"
#include "pfs_summary.h"

/*
 * A thread in the middle of a change is waited for: some 30 cycles, or until it
 * gets a processor again.
 */
#define CHANGE_SPINS	1000
#define CHANGE_SLEEPS	2000	/* of 1 ms */

/* Copies of one thread, while it moves its numbers again and again. */
#define COPY_TRIES		1000

PfsSharedSummary *pfs_summary = NULL;
PfsPages   *pfs_thread_histograms = NULL;

size_t
pfs_summary_cells_size(uint32 instruments)
{
	return pfs_shared_cells_size(instruments);
}

size_t
pfs_summary_buckets_size(uint32 instruments)
{
	return (size_t) instruments * PFS_HISTOGRAM_BUCKETS * sizeof(uint64);
}

/* ---- the owner's side ---- */

static void
merge(void *cells, PfsInstrumentId instrument, const PfsTotals *from)
{
	pfs_shared_cells_merge(cells, pfs_summary->ncells, instrument, from);
}

static void *
cells_of(PfsAccountKind kind, uint32 index)
{
	return pfs_account_cells(pfs_account_at(kind, index));
}

/* Where numbers of a thread go: up to two places. */
typedef struct Destination
{
	void	   *cells[2];
	int			n;
} Destination;

/*
 * The lowest level that was not truncated since these numbers began: truncating
 * a level counts for all below it, too.
 */
static Destination
destination_of(const PfsThread *t, uint64 generation)
{
	const uint64 *truncated = pfs_summary->truncated;
	uint32		user = pfs_account_user(&t->refs);
	uint32		host = pfs_account_host(&t->refs);
	Destination to = {{NULL, NULL}, 0};

	if (t->refs.account != PFS_NO_RECORD &&
		pfs_load_relaxed(&truncated[PFS_LEVEL_ACCOUNT]) <= generation)
	{
		to.cells[to.n++] = cells_of(PFS_ACCOUNTS, t->refs.account);
		return to;
	}
	if (user != PFS_NO_RECORD && pfs_load_relaxed(&truncated[PFS_LEVEL_USER]) <= generation)
		to.cells[to.n++] = cells_of(PFS_USERS, user);
	if (host != PFS_NO_RECORD && pfs_load_relaxed(&truncated[PFS_LEVEL_HOST]) <= generation)
		to.cells[to.n++] = cells_of(PFS_HOSTS, host);
	else if (pfs_load_relaxed(&truncated[PFS_LEVEL_GLOBAL]) <= generation)
		to.cells[to.n++] = pfs_summary->cells;
	return to;
}

/* Does a thread's account, user or host, or the server, show its numbers? */
static bool
belongs(const PfsAccountRefs *refs, PfsLevel level)
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
tell_truncator(const PfsThread *t, uint64 generation, uint64 events, uint64 in_histogram)
{
	uint64	   *settled = pfs_summary->settled[generation & 1];

	for (int level = 0; level < PFS_LEVEL_HISTOGRAM; level++)
	{
		if (pfs_load_relaxed(&pfs_summary->before[level]) <= t->generation &&
			belongs(&t->refs, level))
			pfs_add_relaxed(&settled[level], events);
	}
	if (pfs_load_relaxed(&pfs_summary->before[PFS_LEVEL_HISTOGRAM]) <= t->generation)
		pfs_add_relaxed(&settled[PFS_LEVEL_HISTOGRAM], in_histogram);
}

/* Move all counts of the thread; the cells stay marked, with their buckets. */
static uint64
move_cells(PfsThread *t, const Destination *to)
{
	uint64		events = 0;

	for (uint32 i = pfs_cells_next(&t->cells, 0); i < t->cells.ncells; i = pfs_cells_next(&t->cells, i + 1))
	{
		PfsCell    *cell = &t->cells.cells[i];
		PfsTotals	totals = {0};

		pfs_totals_add_cell(&totals, cell);
		events += pfs_totals_count(&totals);
		for (int n = 0; n < to->n; n++)
			merge(to->cells[n], i, &totals);
		pfs_cell_clear(cell);
	}
	return events;
}

/* Empty the buckets; add: into the server's. */
static uint64
move_buckets(PfsThread *t, bool add)
{
	uint64		events = 0;

	for (uint32 i = pfs_cells_next(&t->cells, 0); i < t->cells.ncells; i = pfs_cells_next(&t->cells, i + 1))
	{
		uint32	   *buckets = t->cells.cells[i].buckets;

		if (buckets == NULL)
			continue;
		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		{
			if (buckets[b] == 0)
				continue;
			events += buckets[b];
			if (add)
				pfs_summary_add_to_server(i, b, buckets[b]);
			pfs_store_relaxed(&buckets[b], 0);
		}
	}
	return events;
}

void
pfs_summary_settle(PfsThread *t)
{
	/* Pairs with the release in pfs_summary_truncate. */
	uint64		generation = pfs_load_acquire(&pfs_summary->generation);
	bool		cells_old = pfs_load_relaxed(&pfs_summary->truncated[PFS_LEVEL_THREAD]) > t->generation;
	bool		buckets_old = pfs_load_relaxed(&pfs_summary->truncated[PFS_LEVEL_HISTOGRAM]) > t->generation;
	uint64		events = 0;
	uint64		in_histogram = 0;

	if (generation == t->generation)
		return;
	pfs_seqlock_write_begin(&t->folds);
	if (cells_old)
	{
		Destination to = destination_of(t, t->generation);

		events = move_cells(t, &to);
	}
	if (buckets_old)
		in_histogram = move_buckets(t, false);
	tell_truncator(t, generation, events, in_histogram);
	pfs_store_relaxed(&t->generation, generation);
	pfs_seqlock_write_end(&t->folds);
}

/* Buckets from their container; without any the cell counts into the server's. */
void
pfs_summary_touch(PfsThread *t, PfsInstrumentId instrument)
{
	static uint32 hint;
	PfsCell    *cell = &t->cells.cells[instrument];
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
	pfs_add_relaxed(&pfs_summary->buckets[(size_t) instrument * PFS_HISTOGRAM_BUCKETS + bucket], n);
}

void
pfs_summary_count_global(PfsInstrumentId instrument, bool timed, uint64 ticks)
{
	PfsTotals	one = {timed ? 1 : 0, timed ? 0 : 1, ticks, ticks, ticks};

	merge(pfs_summary->cells, instrument, &one);
	if (timed)
		pfs_summary_add_to_server(instrument, pfs_histogram_bucket(ticks), 1);
}

static void
free_buckets(PfsThread *t)
{
	for (uint32 i = pfs_cells_next(&t->cells, 0); i < t->cells.ncells; i = pfs_cells_next(&t->cells, i + 1))
	{
		PfsCell    *cell = &t->cells.cells[i];
		uint32		index = cell->buckets_record;

		if (cell->buckets == NULL)
			continue;
		pfs_store_relaxed(&cell->buckets, NULL);
		if (pfs_pages_claim(pfs_thread_histograms, index, pfs_pages_word(pfs_thread_histograms, index)))
			pfs_pages_free(pfs_thread_histograms, index);
	}
}

void
pfs_summary_end(PfsThread *t)
{
	Destination to;

	pfs_summary_settle(t);
	to = destination_of(t, t->generation);
	pfs_seqlock_write_begin(&t->folds);
	(void) move_cells(t, &to);
	(void) move_buckets(t, true);
	free_buckets(t);
	pfs_cells_clear(&t->cells);
	pfs_seqlock_write_end(&t->folds);
	pfs_account_leave(&t->refs);
}

/* ---- copies of all threads ---- */

typedef struct CellCopy
{
	uint32		instrument;
	PfsCell		cell;
} CellCopy;

typedef struct BucketCopy
{
	uint16		instrument;
	uint16		bucket;
	uint32		n;
} BucketCopy;

typedef struct ThreadCopy
{
	uint32		index;
	uint64		word;			/* of the record; another one: it has gone */
	uint64		folds;
	uint64		generation;
	uint64		thread_id;
	PfsAccountRefs refs;
	bool		gone;
	uint32		ncells;
	uint32		max_cells;
	CellCopy   *cells;
	uint32		nbuckets;
	uint32		max_buckets;
	BucketCopy *buckets;
} ThreadCopy;

typedef struct Copies
{
	ThreadCopy *threads;
	uint32		n;
	bool		with_buckets;
	PfsInstrumentId instrument; /* only this one */
} Copies;

static bool
is_same(const ThreadCopy *copy, const PfsThread *t)
{
	return pfs_seqlock_read_valid(&t->folds, copy->folds) &&
		pfs_pages_word(pfs_threads, copy->index) == copy->word;
}

/*
 * One cell.  Its owner can lose its processor in the middle of a change; then
 * it is waited for, and in the end its words are taken as they are.  False if
 * the thread has moved its numbers, or gone.
 */
static bool
copy_cell(const ThreadCopy *copy, const PfsThread *t, uint32 i, PfsCell *cell)
{
	for (int tries = 0; tries < CHANGE_SLEEPS; tries++)
	{
		if (pfs_cells_read(&t->cells, &t->seq, i, cell))
			return true;
		if (!is_same(copy, t))
			return false;
		if (tries > 10)
			pg_usleep(1000);
	}
	memcpy(cell, &t->cells.cells[i], sizeof(*cell));
	return true;
}

static void
copy_buckets(ThreadCopy *copy, uint32 instrument, const uint32 *buckets)
{
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		uint32		n = pfs_load_relaxed(&buckets[b]);

		if (n == 0)
			continue;
		if (copy->nbuckets == copy->max_buckets)
		{
			copy->max_buckets = Max(2 * copy->max_buckets, 256);
			copy->buckets = copy->buckets == NULL ? palloc(copy->max_buckets * sizeof(BucketCopy))
				: repalloc(copy->buckets, copy->max_buckets * sizeof(BucketCopy));
		}
		copy->buckets[copy->nbuckets++] = (BucketCopy)
		{
			instrument, b, n
		};
	}
}

static void
copy_cells(ThreadCopy *copy, const PfsThread *t, const Copies *copies)
{
	uint32		first = copies->instrument == PFS_NO_INSTRUMENT ? 0 : copies->instrument;
	uint32		end = copies->instrument == PFS_NO_INSTRUMENT ? pfs_summary->ncells : first + 1;

	/* 0 while the memory changes hands */
	end = Min(end, pfs_load_relaxed(&t->cells.ncells));
	copy->ncells = 0;
	copy->nbuckets = 0;
	for (uint32 i = pfs_cells_next(&t->cells, first); i < end; i = pfs_cells_next(&t->cells, i + 1))
	{
		PfsCell		cell;

		if (!copy_cell(copy, t, i, &cell))
			return;
		if (copies->with_buckets && cell.buckets != NULL)
			copy_buckets(copy, i, cell.buckets);
		if (cell.count_timed + cell.count_untimed == 0)
			continue;
		if (copy->ncells == copy->max_cells)
		{
			copy->max_cells = Max(2 * copy->max_cells, 32);
			copy->cells = copy->cells == NULL ? palloc(copy->max_cells * sizeof(CellCopy))
				: repalloc(copy->cells, copy->max_cells * sizeof(CellCopy));
		}
		copy->cells[copy->ncells].instrument = i;
		copy->cells[copy->ncells++].cell = cell;
	}
}

/* A copy between two moves of the thread; gone: it has none any more. */
static void
copy_thread(ThreadCopy *copy, const Copies *copies)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);

	for (int tries = 0; tries < COPY_TRIES; tries++)
	{
		copy->word = pfs_pages_word(pfs_threads, copy->index);
		copy->gone = (copy->word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED;
		copy->ncells = 0;
		copy->nbuckets = 0;
		copy->folds = pfs_seqlock_read_begin(&t->folds);
		if (copy->gone)
			return;
		if ((copy->folds & 1) == 0)
		{
			copy->thread_id = pfs_load_relaxed(&t->thread_id);
			copy->generation = pfs_load_relaxed(&t->generation);
			copy->refs = t->refs;
			copy_cells(copy, t, copies);
			if (is_same(copy, t))
				return;
		}
		if (tries > 100)
			pg_usleep(1000);
		pfs_pause();
	}
}

static void
copy_threads(Copies *copies)
{
	uint32		max = 64;
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	copies->threads = palloc0(max * sizeof(ThreadCopy));
	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		if (copies->n == max)
		{
			copies->threads = repalloc(copies->threads, 2 * max * sizeof(ThreadCopy));
			memset(copies->threads + max, 0, max * sizeof(ThreadCopy));
			max *= 2;
		}
		copies->threads[copies->n].index = index;
		copy_thread(&copies->threads[copies->n++], copies);
	}
}

/*
 * Behind what was read since: has any thread moved numbers meanwhile?  Those
 * that have are copied again.
 */
static bool
copies_hold(Copies *copies)
{
	bool		hold = true;

	pfs_fence_acquire();		/* D */
	for (uint32 i = 0; i < copies->n; i++)
	{
		ThreadCopy *copy = &copies->threads[i];
		const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);

		if (copy->gone || is_same(copy, t))
			continue;
		hold = false;
		copy_thread(copy, copies);
	}
	return hold;
}

static void
free_copies(Copies *copies)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		if (copies->threads[i].cells != NULL)
			pfree(copies->threads[i].cells);
		if (copies->threads[i].buckets != NULL)
			pfree(copies->threads[i].buckets);
	}
	pfree(copies->threads);
}

/* ---- reading ---- */

/* All totals of one account, user, host, or of the server. */
typedef struct Group
{
	PfsAccount	account;
	PfsTotals  *totals;			/* [ncells] */
} Group;

typedef struct Groups
{
	PfsLevel	level;
	PfsAccountKind kind;
	uint32		n;				/* places: record numbers of the kind, or 1 */
	Group	  **groups;			/* [n], NULL: none */
	PfsInstrumentId instrument;
} Groups;

static const PfsAccountKind kind_of_level[] = {
	[PFS_LEVEL_ACCOUNT] = PFS_ACCOUNTS,[PFS_LEVEL_USER] = PFS_USERS,[PFS_LEVEL_HOST] = PFS_HOSTS,
};

static const PfsLevel level_of_kind[] = {
	[PFS_ACCOUNTS] = PFS_LEVEL_ACCOUNT,[PFS_USERS] = PFS_LEVEL_USER,[PFS_HOSTS] = PFS_LEVEL_HOST,
};

static Group *
group_at(Groups *groups, uint32 index)
{
	Group	  **group;

	if (index == PFS_NO_RECORD)
		return NULL;
	group = &groups->groups[groups->level == PFS_LEVEL_GLOBAL ? 0 : index];
	if (*group == NULL)
	{
		*group = palloc0(sizeof(Group));
		(*group)->totals = palloc0(pfs_summary->ncells * sizeof(PfsTotals));
		if (groups->level != PFS_LEVEL_GLOBAL)
			(*group)->account = *pfs_account_at(groups->kind, index);
	}
	return *group;
}

static void
add_shared(Groups *groups, uint32 group, const void *cells)
{
	uint32		ncells = pfs_summary->ncells;
	uint32		first = groups->instrument == PFS_NO_INSTRUMENT ? 0 : groups->instrument;
	uint32		end = groups->instrument == PFS_NO_INSTRUMENT ? ncells : first + 1;
	Group	   *to = group_at(groups, group);

	if (to == NULL)
		return;
	for (uint32 i = pfs_shared_cells_next(cells, ncells, first); i < end;
		 i = pfs_shared_cells_next(cells, ncells, i + 1))
		pfs_shared_cell_read(pfs_shared_cells_at((void *) cells, ncells, i), &to->totals[i]);
}

/* Which group of the level an account, user or host belongs to. */
static uint32
group_of_record(const Groups *groups, PfsAccountKind kind, uint32 index)
{
	const PfsAccount *account = pfs_account_at(kind, index);

	switch (groups->level)
	{
		case PFS_LEVEL_GLOBAL:

			/*
			 * Users stand beside: what they have, hosts or the server have,
			 * too.
			 */
			return kind == PFS_USERS ? PFS_NO_RECORD : 0;
		case PFS_LEVEL_USER:
			return kind == PFS_USERS ? index : kind == PFS_ACCOUNTS ? account->user : PFS_NO_RECORD;
		case PFS_LEVEL_HOST:
			return kind == PFS_HOSTS ? index : kind == PFS_ACCOUNTS ? account->host : PFS_NO_RECORD;
		default:
			return kind == PFS_ACCOUNTS ? index : PFS_NO_RECORD;
	}
}

static uint32
group_of_thread(const Groups *groups, const PfsAccountRefs *refs)
{
	switch (groups->level)
	{
		case PFS_LEVEL_GLOBAL:
			return 0;
		case PFS_LEVEL_USER:
			return pfs_account_user(refs);
		case PFS_LEVEL_HOST:
			return pfs_account_host(refs);
		default:
			return refs->account;
	}
}

/* What is above the threads: records live as long as the lock is held. */
static void
read_above(Groups *groups)
{
	for (uint32 i = 0; i < groups->n; i++)
	{
		if (groups->groups[i] != NULL)
			memset(groups->groups[i]->totals, 0, pfs_summary->ncells * sizeof(PfsTotals));
	}
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint32		pos = 0;
		uint32		index;
		uint64		word;

		while ((index = pfs_pages_next(pfs_accounts[kind].pages, &pos, &word)) != PFS_NO_RECORD)
			add_shared(groups, group_of_record(groups, kind, index), cells_of(kind, index));
	}
	if (groups->level == PFS_LEVEL_GLOBAL)
		add_shared(groups, 0, pfs_summary->cells);
}

/* A thread's numbers count for the levels that were not truncated since. */
static void
add_threads(Groups *groups, const Copies *copies)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const ThreadCopy *copy = &copies->threads[i];
		Group	   *group;

		if (copy->gone || pfs_summary->truncated[groups->level] > copy->generation)
			continue;
		group = group_at(groups, group_of_thread(groups, &copy->refs));
		if (group == NULL)
			continue;
		for (uint32 c = 0; c < copy->ncells; c++)
			pfs_totals_add_cell(&group->totals[copy->cells[c].instrument], &copy->cells[c].cell);
	}
}

static void
emit_threads(const Copies *copies, uint64 truncated, PfsSummaryEmit emit, void *arg)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const ThreadCopy *copy = &copies->threads[i];

		if (copy->gone || truncated > copy->generation)
			continue;
		for (uint32 c = 0; c < copy->ncells; c++)
		{
			PfsSummaryRow row = {copy->thread_id, NULL, copy->cells[c].instrument, {0}};

			pfs_totals_add_cell(&row.totals, &copy->cells[c].cell);
			emit(&row, arg);
		}
	}
}

static void
emit_groups(const Groups *groups, PfsSummaryEmit emit, void *arg)
{
	for (uint32 g = 0; g < groups->n; g++)
	{
		const Group *group = groups->groups[g];

		for (uint32 i = 0; group != NULL && i < pfs_summary->ncells; i++)
		{
			PfsSummaryRow row = {0, &group->account, i, group->totals[i]};

			if (pfs_totals_count(&row.totals) > 0)
				emit(&row, arg);
		}
	}
}

static void
read_threads(uint64 thread_id, PfsInstrumentId instrument, PfsSummaryEmit emit, void *arg)
{
	Copies		copies = {.instrument = instrument};
	uint64		truncated;
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	truncated = pfs_summary->truncated[PFS_LEVEL_THREAD];
	if (thread_id == 0)
		copy_threads(&copies);
	else
	{
		copies.threads = palloc0(sizeof(ThreadCopy));
		while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD && copies.n == 0)
		{
			const PfsThread *t = pfs_pages_record(pfs_threads, index);

			if (pfs_load_relaxed(&t->thread_id) != thread_id)
				continue;
			copies.threads[0].index = index;
			copy_thread(&copies.threads[0], &copies);
			copies.n = copies.threads[0].thread_id == thread_id ? 1 : 0;
		}
	}
	LWLockRelease(pfs_summary->lock);
	emit_threads(&copies, truncated, emit, arg);
	free_copies(&copies);
}

void
pfs_summary_read(PfsLevel level, uint64 thread_id, PfsInstrumentId instrument,
				 PfsSummaryEmit emit, void *arg)
{
	Copies		copies = {.instrument = instrument};
	Groups		groups = {.level = level, .instrument = instrument};

	if (pfs_summary == NULL)
		return;
	pfs_instrument_name_late();
	if (level == PFS_LEVEL_THREAD)
	{
		read_threads(thread_id, instrument, emit, arg);
		return;
	}
	groups.n = 1;
	if (level != PFS_LEVEL_GLOBAL)
	{
		groups.kind = kind_of_level[level];
		groups.n = pfs_accounts[groups.kind].pages->records_max;
	}
	groups.groups = palloc0(Max(groups.n, 1) * sizeof(Group *));

	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	copy_threads(&copies);
	do
	{
		read_above(&groups);
	} while (!copies_hold(&copies));
	add_threads(&groups, &copies);
	LWLockRelease(pfs_summary->lock);

	emit_groups(&groups, emit, arg);
	free_copies(&copies);
}

static uint64 *
buckets_at(uint64 **histogram, uint32 instrument)
{
	if (histogram[instrument] == NULL)
		histogram[instrument] = palloc0(PFS_HISTOGRAM_BUCKETS * sizeof(uint64));
	return histogram[instrument];
}

/* The server's buckets, of instruments that any cell was touched of. */
static void
read_server_buckets(uint64 **histogram)
{
	for (uint32 i = 0; i < Min(pfs_instruments->count, pfs_summary->ncells); i++)
	{
		const uint64 *buckets = &pfs_summary->buckets[(size_t) i * PFS_HISTOGRAM_BUCKETS];

		if (histogram[i] != NULL)
			memset(histogram[i], 0, PFS_HISTOGRAM_BUCKETS * sizeof(uint64));
		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		{
			uint64		n = pfs_load_relaxed(&buckets[b]);

			if (n != 0)
				buckets_at(histogram, i)[b] = n;
		}
	}
}

uint64	  **
pfs_summary_read_histogram(void)
{
	Copies		copies = {.with_buckets = true, .instrument = PFS_NO_INSTRUMENT};
	uint64	  **histogram;

	if (pfs_summary == NULL)
		return NULL;
	histogram = palloc0(pfs_summary->ncells * sizeof(uint64 *));
	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	copy_threads(&copies);
	do
	{
		read_server_buckets(histogram);
	} while (!copies_hold(&copies));
	for (uint32 i = 0; i < copies.n; i++)
	{
		const ThreadCopy *copy = &copies.threads[i];

		if (copy->gone || pfs_summary->truncated[PFS_LEVEL_HISTOGRAM] > copy->generation)
			continue;
		for (uint32 b = 0; b < copy->nbuckets; b++)
			buckets_at(histogram, copy->buckets[b].instrument)[copy->buckets[b].bucket] += copy->buckets[b].n;
	}
	LWLockRelease(pfs_summary->lock);
	free_copies(&copies);
	return histogram;
}

/* ---- truncating ---- */

/* The levels that lose their numbers when one is truncated: those below, too. */
static bool
is_emptied(PfsLevel level, PfsLevel truncated)
{
	switch (truncated)
	{
		case PFS_LEVEL_GLOBAL:
			return true;
		case PFS_LEVEL_USER:
		case PFS_LEVEL_HOST:
			return level == truncated || level == PFS_LEVEL_ACCOUNT || level == PFS_LEVEL_THREAD;
		case PFS_LEVEL_ACCOUNT:
			return level == truncated || level == PFS_LEVEL_THREAD;
		default:
			return level == truncated;
	}
}

/*
 * Wait until every thread that was inside a change has left it.  Behind the
 * fence, a thread that still goes by the old generation shows an odd word.
 */
static void
wait_for_changes(void)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	while ((index = pfs_pages_next(pfs_threads, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, index);
		uint64		seq = pfs_seqlock_read_begin(&t->seq);

		for (int i = 0; (seq & 1) != 0 && i < CHANGE_SPINS + CHANGE_SLEEPS; i++)
		{
			if (pfs_load_acquire(&t->seq.word) != seq)
				break;
			if (i > CHANGE_SPINS)
				pg_usleep(1000);
			pfs_pause();
		}
	}
}

/* Take a record's cells and add them to others; returns the events. */
static uint64
take_cells(void *cells, const Destination *to)
{
	uint32		ncells = pfs_summary->ncells;
	uint64		events = 0;

	for (uint32 i = pfs_shared_cells_next(cells, ncells, 0); i < ncells; i = pfs_shared_cells_next(cells, ncells, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_take(pfs_shared_cells_at(cells, ncells, i), &totals);
		events += pfs_totals_count(&totals);
		for (int n = 0; n < to->n; n++)
			merge(to->cells[n], i, &totals);
	}
	return events;
}

/* Where an account's or a host's numbers go when this level is truncated. */
static Destination
destination_of_record(PfsAccountKind kind, const PfsAccount *account, PfsLevel truncated)
{
	Destination to = {{NULL, NULL}, 0};

	if (truncated == PFS_LEVEL_GLOBAL || kind == PFS_USERS)
		return to;
	if (kind == PFS_ACCOUNTS && truncated != PFS_LEVEL_USER && account->user != PFS_NO_RECORD)
		to.cells[to.n++] = cells_of(PFS_USERS, account->user);
	if (kind == PFS_ACCOUNTS && truncated != PFS_LEVEL_HOST && account->host != PFS_NO_RECORD)
		to.cells[to.n++] = cells_of(PFS_HOSTS, account->host);
	else
		to.cells[to.n++] = pfs_summary->cells;
	return to;
}

/* Does the table of this level show what such a record has? */
static bool
is_shown(PfsAccountKind kind, const PfsAccount *account, PfsLevel level)
{
	switch (level)
	{
		case PFS_LEVEL_GLOBAL:
			return kind != PFS_USERS;
		case PFS_LEVEL_USER:
			return kind == PFS_USERS || (kind == PFS_ACCOUNTS && account->user != PFS_NO_RECORD);
		case PFS_LEVEL_HOST:
			return kind == PFS_HOSTS || (kind == PFS_ACCOUNTS && account->host != PFS_NO_RECORD);
		case PFS_LEVEL_ACCOUNT:
			return kind == PFS_ACCOUNTS;
		default:
			return false;
	}
}

/* Empty everything above the threads that the truncation is about. */
static uint64
truncate_above(PfsLevel level)
{
	const Destination nowhere = {{NULL, NULL}, 0};
	uint64		left = 0;

	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint32		pos = 0;
		uint32		index;
		uint64		word;

		if (!is_emptied(level_of_kind[kind], level))
			continue;
		while ((index = pfs_pages_next(pfs_accounts[kind].pages, &pos, &word)) != PFS_NO_RECORD)
		{
			PfsAccount *account = pfs_account_at(kind, index);
			Destination to = destination_of_record(kind, account, level);
			uint64		events = take_cells(pfs_account_cells(account), &to);

			left += is_shown(kind, account, level) ? events : 0;
		}
	}
	if (level == PFS_LEVEL_GLOBAL)
		left += take_cells(pfs_summary->cells, &nowhere);
	return left;
}

static uint64
truncate_server_buckets(void)
{
	uint64		left = 0;
	size_t		n = (size_t) Min(pfs_instruments->count, pfs_summary->ncells) * PFS_HISTOGRAM_BUCKETS;

	for (size_t i = 0; i < n; i++)
	{
		if (pfs_load_relaxed(&pfs_summary->buckets[i]) != 0)
			left += pfs_exchange(&pfs_summary->buckets[i], 0);
	}
	return left;
}

static uint64
count_of_copy(const ThreadCopy *copy, PfsLevel level)
{
	uint64		n = 0;

	if (level == PFS_LEVEL_HISTOGRAM)
	{
		for (uint32 b = 0; b < copy->nbuckets; b++)
			n += copy->buckets[b].n;
		return n;
	}
	for (uint32 c = 0; c < copy->ncells; c++)
		n += copy->cells[c].cell.count_timed + copy->cells[c].cell.count_untimed;
	return n;
}

/*
 * What the table loses of the threads: their old numbers do not change any
 * more, until their owners move them and say so in settled[].
 */
static uint64
truncate_threads(PfsLevel level)
{
	Copies		copies = {.with_buckets = level == PFS_LEVEL_HISTOGRAM, .instrument = PFS_NO_INSTRUMENT};
	uint64		left;

	copy_threads(&copies);
	do
	{
		left = pfs_load_acquire(&pfs_summary->settled[pfs_summary->generation & 1][level]);
	} while (!copies_hold(&copies));
	for (uint32 i = 0; i < copies.n; i++)
	{
		const ThreadCopy *copy = &copies.threads[i];

		if (!copy->gone && copy->generation < pfs_summary->generation &&
			copy->generation >= pfs_summary->before[level] && belongs(&copy->refs, level))
			left += count_of_copy(copy, level);
	}
	free_copies(&copies);
	return left;
}

/* Holding the lock exclusively. */
static uint64
truncate_level(PfsLevel level)
{
	uint64		generation = pfs_summary->generation + 1;
	uint64		left;

	for (int l = 0; l < PFS_NUM_LEVELS; l++)
	{
		pfs_store_relaxed(&pfs_summary->before[l], pfs_summary->truncated[l]);
		if (is_emptied(l, level))
			pfs_store_relaxed(&pfs_summary->truncated[l], generation);
		pfs_store_relaxed(&pfs_summary->settled[generation & 1][l], 0);
	}
	pfs_store_release(&pfs_summary->generation, generation);

	/*
	 * From here on no thread adds to numbers that are older than this
	 * truncation.
	 */
	pfs_fence_everywhere();
	wait_for_changes();

	left = truncate_threads(level);
	if (level == PFS_LEVEL_HISTOGRAM || level == PFS_LEVEL_GLOBAL)
	{
		uint64		in_histogram = truncate_server_buckets();

		left += level == PFS_LEVEL_HISTOGRAM ? in_histogram : 0;
	}
	if (level != PFS_LEVEL_HISTOGRAM)
		left += truncate_above(level);
	return left;
}

static const char *const level_tables[PFS_NUM_LEVELS] = {
	[PFS_LEVEL_THREAD] = "events_waits_summary_by_thread_by_event_name",
	[PFS_LEVEL_ACCOUNT] = "events_waits_summary_by_account_by_event_name",
	[PFS_LEVEL_USER] = "events_waits_summary_by_user_by_event_name",
	[PFS_LEVEL_HOST] = "events_waits_summary_by_host_by_event_name",
	[PFS_LEVEL_GLOBAL] = "events_waits_summary_global_by_event_name",
	[PFS_LEVEL_HISTOGRAM] = "events_waits_histogram_global",
};

static void
note_reset(PfsLevel level)
{
	for (int l = 0; l < PFS_NUM_LEVELS; l++)
	{
		if (is_emptied(l, level))
			pfs_reset_time_note(level_tables[l]);
	}
}

int64
pfs_summary_truncate(PfsLevel level)
{
	uint64		left;

	if (pfs_summary == NULL)
		return 0;
	LWLockAcquire(pfs_summary->lock, LW_EXCLUSIVE);
	left = truncate_level(level);
	LWLockRelease(pfs_summary->lock);
	note_reset(level);
	return (int64) left;
}

/* What arrived in a record between the truncation and its removal. */
static void
push_rest(PfsAccountKind kind, PfsAccount *account)
{
	Destination to = destination_of_record(kind, account, level_of_kind[kind]);

	(void) take_cells(pfs_account_cells(account), &to);
}

static void
count_cb(const PfsAccount *copy, void *arg)
{
	(*(int64 *) arg)++;
}

int64
pfs_summary_truncate_accounts(PfsAccountKind kind)
{
	static const char *const tables[] = {"accounts", "users", "hosts"};
	int64		before = 0;
	int64		after = 0;

	if (pfs_summary == NULL)
		return 0;
	LWLockAcquire(pfs_summary->lock, LW_EXCLUSIVE);
	pfs_accounts_each(kind, count_cb, &before);
	(void) truncate_level(level_of_kind[kind]);
	pfs_accounts_purge(kind, push_rest);
	pfs_accounts_each(kind, count_cb, &after);
	LWLockRelease(pfs_summary->lock);
	note_reset(level_of_kind[kind]);
	pfs_reset_time_note(tables[kind]);
	return Max(before - after, 0);
}
