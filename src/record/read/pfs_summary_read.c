/*
 * pfs_summary_read.c
 *	  Readers of totals by level, and of the histograms: one pass over the threads,
 *	  one over what is above them.
 *
 * How a thread is copied is in pfs_thread_copy.c, which truncation needs as well;
 * here copies become rows.
 */
#include "postgres.h"

#include "pfs_account_read.h"
#include "pfs_summary_level.h"
#include "pfs_thread_copy.h"

/* All totals of one account, user, host, or of the server. */
typedef struct Group
{
	PfsAccount	account;
	char	   *totals;			/* [ncells], of the family's size */
} Group;

typedef struct Groups
{
	PfsFamily	family;
	PfsLevel	level;
	uint32		n;				/* places: record numbers of its kind, or 1 */
	Group	  **groups;			/* [n], NULL: none */
	uint32		first;			/* cells that are wanted */
	uint32		end;
} Groups;

static size_t
totals_bytes(const Groups *groups)
{
	return (size_t) pfs_summary[groups->family].ncells * pfs_summary_kinds[groups->family]->totals_size;
}

static void *
totals_at(const Groups *groups, const Group *group, uint32 cell)
{
	return group->totals + (size_t) cell * pfs_summary_kinds[groups->family]->totals_size;
}

/*
 * Returns the group that counters of this account, user, host or of the server are
 * added to, and makes it when there is none yet; NULL for PFS_NO_RECORD.
 */
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
		(*group)->totals = palloc0(totals_bytes(groups));
		if (groups->level != PFS_LEVEL_GLOBAL)
			(*group)->account = *pfs_account_at(pfs_kind_of_level[groups->level], index);
	}
	return *group;
}

/* Adds those of a block's cells that are wanted to a group; the block begins with cell `base`. */
static void
add_block(Groups *groups, uint32 group, const PfsSharedBlock *block, uint32 base)
{
	Group	   *to = group_at(groups, group);
	uint32		first = groups->first > base ? groups->first - base : 0;

	for (uint32 i = pfs_shared_block_next(block, first); i < block->ncells && base + i < groups->end;
		 i = pfs_shared_block_next(block, i + 1))
		pfs_kind_read(pfs_summary_kinds[groups->family], pfs_shared_block_cell(block, i), totals_at(groups, to, base + i),
					  false);
}

/* Adds the cells of an account, user or host to the group that they belong to, if to any. */
static void
add_record(Groups *groups, uint32 group, PfsAccount *account)
{
	PfsSparse	cells = pfs_account_cells(account, groups->family);
	PfsSharedBlock chunk;

	if (group == PFS_NO_RECORD)
		return;
	for (uint32 n = groups->first / cells.per_chunk; n * cells.per_chunk < groups->end; n++)
	{
		if (pfs_sparse_chunk(&cells, n, &chunk))
			add_block(groups, group, &chunk, n * cells.per_chunk);
	}
}

/*
 * Reads the cells above the threads anew: of accounts, users and hosts, and of the
 * server.  No record goes while it is our turn.
 */
static void
read_above(Groups *groups)
{
	for (uint32 i = 0; i < groups->n; i++)
	{
		if (groups->groups[i] != NULL)
			memset(groups->groups[i]->totals, 0, totals_bytes(groups));
	}
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_accounts[kind].pages, &at);)
			add_record(groups, pfs_summary_record_above(kind, at.index, groups->level), pfs_account_at(kind, at.index));
	}
	if (groups->level == PFS_LEVEL_GLOBAL)
		add_block(groups, 0, &pfs_summary[groups->family].cells, 0);
}

/*
 * Which of a thread's counters a level shows: all, if the level was not truncated since
 * they began, else those that stay with the thread.
 */
static PfsShare
share_of(uint64 truncated, const PfsThreadCopy *copy)
{
	if (!copy->is_there)
		return PFS_SHARE_NONE;
	return truncated <= copy->generation ? PFS_SHARE_ALL : PFS_SHARE_STAYS;
}

/* Adds the copied cells of all threads to their groups. */
static void
add_threads(Groups *groups, const PfsThreadCopies *copies, uint64 truncated)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const PfsThreadCopy *copy = &copies->threads[i];
		PfsShare	share = share_of(truncated, copy);
		Group	   *group;

		if (share == PFS_SHARE_NONE)
			continue;
		group = group_at(groups, pfs_summary_record_of(&copy->refs, groups->level));
		if (group == NULL)
			continue;
		for (uint32 c = 0; c < copy->n; c++)
		{
			const PfsCellCopy *cell = pfs_copied_cell(copies, copy, c);

			pfs_kind_add(pfs_summary_kinds[groups->family], totals_at(groups, group, cell->index), cell->words, share);
		}
	}
}

static void
emit_row(PfsFamily family, PfsSummaryRow *row, uint32 cell, PfsSummaryEmit emit, void *arg)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];

	row->cell = cell;
	row->instrument = kind->cells_are_no_instruments ? PFS_NO_INSTRUMENT : pfs_instrument_of_cell(family, cell);
	if (row->instrument == PFS_NO_INSTRUMENT && !kind->cells_are_no_instruments)
		return;
	if (kind->is_shown != NULL ? kind->is_shown(row->totals) : pfs_kind_count(kind, row->totals) > 0)
		emit(row, arg);
}

/* Copies what the copied cells stand for, in the same turn; NULL if cells never change. */
static const void *
copy_keys(PfsFamily family)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];
	void	   *keys;

	if (kind->copy_keys == NULL)
		return NULL;
	keys = palloc(kind->keys_size);
	kind->copy_keys(keys);
	return keys;
}

/*
 * Hands each copied cell on as a row of its thread, for the tables by thread.
 * `truncated` is the generation of the table's last truncation, read in the same
 * turn as the copies.
 */
static void
emit_threads(const PfsThreadCopies *copies, uint64 truncated, const void *keys, PfsSummaryEmit emit, void *arg)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const PfsThreadCopy *copy = &copies->threads[i];
		PfsShare	share = share_of(truncated, copy);

		for (uint32 c = 0; share != PFS_SHARE_NONE && c < copy->n; c++)
		{
			const PfsCellCopy *cell = pfs_copied_cell(copies, copy, c);
			PfsAnyTotals totals = {0};
			PfsSummaryRow row = {.thread_id = copy->thread_id, .keys = keys, .totals = &totals};

			pfs_kind_add(pfs_summary_kinds[copies->family], &totals, cell->words, share);
			emit_row(copies->family, &row, cell->index, emit, arg);
		}
	}
}

/* Hands each group's totals on as rows, one for each cell that is wanted. */
static void
emit_groups(const Groups *groups, const void *keys, PfsSummaryEmit emit, void *arg)
{
	for (uint32 g = 0; g < groups->n; g++)
	{
		const Group *group = groups->groups[g];

		for (uint32 i = groups->first; group != NULL && i < groups->end; i++)
		{
			PfsSummaryRow row = {.account = &group->account, .keys = keys, .totals = totals_at(groups, group, i)};

			emit_row(groups->family, &row, i, emit, arg);
		}
	}
}

/* What pfs_summary_read() is asked for and makes of it in its turn. */
typedef struct Reading
{
	uint64		thread_id;
	PfsThreadCopies copies;
	Groups		groups;
	uint64		truncated;		/* generation of the level's last truncation */
	const void *keys;
} Reading;

/*
 * Copies threads, then reads what is above them, again and again until no thread has moved
 * counters in between: so each event is in one row.
 */
static void
read_level(PfsPatience *patience, void *arg)
{
	Reading    *reading = arg;
	PfsThreadCopies *copies = &reading->copies;
	Groups	   *groups = &reading->groups;

	reading->truncated = pfs_summary[groups->family].truncated[groups->level];
	copies->patience = *patience;
	pfs_thread_copies_make(copies, reading->thread_id);
	if (groups->level != PFS_LEVEL_THREAD)
	{
		do
		{
			read_above(groups);
		} while (!pfs_thread_copies_hold(copies));
		add_threads(groups, copies, reading->truncated);
	}
	reading->keys = copy_keys(groups->family);
	*patience = copies->patience;
}

/*
 * Hands the rows of one level of a family to emit.  They are read in one turn, and emitted behind
 * it, so emit may raise and allocate.
 */
void
pfs_summary_read(PfsFamily family, PfsLevel level, uint64 thread_id, PfsInstrumentId instrument,
				 PfsSummaryEmit emit, void *arg)
{
	Reading		reading = {.thread_id = thread_id,.copies.family = family, .groups = {.family = family, .level = level}};
	Groups	   *groups = &reading.groups;

	pfs_instrument_name_late();
	groups->end = pfs_summary[family].ncells;
	if (instrument != PFS_NO_INSTRUMENT)
	{
		groups->first = pfs_cell_of_instrument(family, instrument);
		if (groups->first >= groups->end)
			return;
		groups->end = groups->first + 1;
	}
	reading.copies.first = groups->first;
	reading.copies.end = groups->end;
	if (level != PFS_LEVEL_THREAD)
	{
		groups->n = level == PFS_LEVEL_GLOBAL ? 1 : pfs_accounts[pfs_kind_of_level[level]].pages->records_max;
		groups->groups = palloc0(Max(groups->n, 1) * sizeof(Group *));
	}

	pfs_blocking_work(PFS_TURN_SUMMARIES, false, read_level, &reading);

	if (level == PFS_LEVEL_THREAD)
		emit_threads(&reading.copies, reading.truncated, reading.keys, emit, arg);
	else
		emit_groups(groups, reading.keys, emit, arg);
	pfs_thread_copies_free(&reading.copies);
}

static uint64 *
buckets_at(uint64 **histograms, uint32 i)
{
	if (histograms[i] == NULL)
		histograms[i] = palloc0(PFS_HISTOGRAM_BUCKETS * sizeof(uint64));
	return histograms[i];
}

/*
 * Reads the server's histograms of a family anew.  Those whose buckets are all empty get
 * no array, and those of instruments that do not exist are not looked at.
 */
static void
read_server_buckets(PfsFamily family, uint64 **histograms)
{
	const PfsSharedSummary *shared = &pfs_summary[family];

	for (uint32 i = 0; i < Min(pfs_instruments->count, shared->nhistograms); i++)
	{
		const uint64 *buckets = &shared->buckets[(size_t) i * PFS_HISTOGRAM_BUCKETS];

		for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		{
			uint64		n = pfs_load_relaxed(&buckets[b]);

			if (n != 0 || histograms[i] != NULL)
				buckets_at(histograms, i)[b] = n;
		}
	}
}

/*
 * Reads the histograms of a family, with what threads have not moved to the server yet.
 * Returns an array that the caller frees with its memory context.
 */
uint64	  **
pfs_summary_read_histograms(PfsFamily family)
{
	PfsThreadCopies copies = {.family = family, .of_histograms = true};
	const PfsSharedSummary *shared = &pfs_summary[family];
	uint64	  **histograms = palloc0(shared->nhistograms * sizeof(uint64 *));

	pfs_turn_begin(PFS_TURN_SUMMARIES, false);
	pfs_thread_copies_make(&copies, 0);
	do
	{
		read_server_buckets(family, histograms);
	} while (!pfs_thread_copies_hold(&copies));
	for (uint32 i = 0; i < copies.n; i++)
	{
		const PfsThreadCopy *copy = &copies.threads[i];

		if (!copy->is_there || shared->truncated[PFS_LEVEL_HISTOGRAM] > copy->generation)
			continue;
		for (uint32 b = 0; b < copy->n; b++)
		{
			const PfsBucketCopy *bucket = pfs_copied_bucket(copy, b);

			buckets_at(histograms, bucket->histogram)[bucket->bucket] += bucket->n;
		}
	}
	pfs_turn_end(PFS_TURN_SUMMARIES, false);
	pfs_patience_end(&copies.patience);
	pfs_thread_copies_free(&copies);
	return histograms;
}
