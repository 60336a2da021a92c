/*
 * pfs_summary_read.c
 *	  Totals by level, and the histogram: one pass over the threads, one over
 *	  what is above them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_summary_level.h"
#include "pfs_thread_copy.h"

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
			add_shared(groups, group_of_record(groups, kind, index), pfs_summary_cells_of(kind, index));
	}
	if (groups->level == PFS_LEVEL_GLOBAL)
		add_shared(groups, 0, pfs_summary->cells);
}

/* A thread's numbers count for the levels that were not truncated since. */
static void
add_threads(Groups *groups, const PfsThreadCopies *copies)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const PfsThreadCopy *copy = &copies->threads[i];
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
emit_threads(const PfsThreadCopies *copies, uint64 truncated, PfsSummaryEmit emit, void *arg)
{
	for (uint32 i = 0; i < copies->n; i++)
	{
		const PfsThreadCopy *copy = &copies->threads[i];

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
	PfsThreadCopies copies = {.instrument = instrument};
	uint64		truncated;

	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	truncated = pfs_summary->truncated[PFS_LEVEL_THREAD];
	if (thread_id == 0)
		pfs_thread_copies_make(&copies);
	else
		(void) pfs_thread_copies_make_one(&copies, thread_id);
	LWLockRelease(pfs_summary->lock);
	emit_threads(&copies, truncated, emit, arg);
	pfs_thread_copies_free(&copies);
}

void
pfs_summary_read(PfsLevel level, uint64 thread_id, PfsInstrumentId instrument,
				 PfsSummaryEmit emit, void *arg)
{
	PfsThreadCopies copies = {.instrument = instrument};
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
		groups.kind = pfs_kind_of_level[level];
		groups.n = pfs_accounts[groups.kind].pages->records_max;
	}
	groups.groups = palloc0(Max(groups.n, 1) * sizeof(Group *));

	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	pfs_thread_copies_make(&copies);
	do
	{
		read_above(&groups);
	} while (!pfs_thread_copies_hold(&copies));
	add_threads(&groups, &copies);
	LWLockRelease(pfs_summary->lock);

	emit_groups(&groups, emit, arg);
	pfs_thread_copies_free(&copies);
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
	PfsThreadCopies copies = {.with_buckets = true, .instrument = PFS_NO_INSTRUMENT};
	uint64	  **histogram;

	if (pfs_summary == NULL)
		return NULL;
	histogram = palloc0(pfs_summary->ncells * sizeof(uint64 *));
	LWLockAcquire(pfs_summary->lock, LW_SHARED);
	pfs_thread_copies_make(&copies);
	do
	{
		read_server_buckets(histogram);
	} while (!pfs_thread_copies_hold(&copies));
	for (uint32 i = 0; i < copies.n; i++)
	{
		const PfsThreadCopy *copy = &copies.threads[i];

		if (copy->gone || pfs_summary->truncated[PFS_LEVEL_HISTOGRAM] > copy->generation)
			continue;
		for (uint32 b = 0; b < copy->nbuckets; b++)
			buckets_at(histogram, copy->buckets[b].instrument)[copy->buckets[b].bucket] += copy->buckets[b].n;
	}
	LWLockRelease(pfs_summary->lock);
	pfs_thread_copies_free(&copies);
	return histogram;
}
