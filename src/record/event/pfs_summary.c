/*
 * pfs_summary.c
 *	  Totals by instrument: what lies in shared memory, how much of it, and what is done with
 *	  a cell of any family.  pfs_summary_move.c has how counters get there.
 */
#include "postgres.h"

#include "pfs_shared.h"
#include "pfs_summary.h"

PFS_FIXED const PfsSummaryKind *pfs_summary_kinds[PFS_NUM_FAMILIES];
PFS_FIXED const PfsSummaryPending *pfs_summary_pending[PFS_NUM_FAMILIES];
PFS_FIXED PfsSharedSummary *pfs_summary = NULL;
PFS_FIXED PfsPages *pfs_thread_waits = NULL;
PfsPages   *pfs_thread_counters = NULL;

/* Guesses: some 64 kB are a page. */
#define WAITS_PER_PAGE		85
#define CHUNKS_PER_PAGE		256

size_t
pfs_summary_block_size(PfsFamily family)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];

	return TYPEALIGN(PFS_CACHE_LINE, pfs_block_size(pfs_sizes.cells[family], kind->cell_size, kind->per_chunk));
}

/* Bytes of the cells of the server's own level. */
static size_t
cells_size(PfsFamily family)
{
	return pfs_shared_block_size(pfs_sizes.cells[family], pfs_summary_kinds[family]->shared_size);
}

/* How many histograms a family has. */
static uint32
histograms_of(PfsFamily family)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];

	return kind->next_buckets == NULL ? 0 : kind->one_histogram ? 1 : pfs_sizes.cells[family];
}

static size_t
buckets_size(PfsFamily family)
{
	return (size_t) histograms_of(family) * PFS_HISTOGRAM_BUCKETS * sizeof(uint64);
}

size_t
pfs_summary_server_size(PfsFamily family)
{
	return cells_size(family) + buckets_size(family);
}

/*
 * Takes the chunks of threads, and the global level: each family's cells and histograms.
 * The struct is the part's own; it is not there while the bytes are only counted.
 */
void
pfs_summary_lay_out(PfsSegment *seg)
{
	pfs_thread_waits = pfs_pages_create(seg, "thread_waits", sizeof(PfsWaitCell), pfs_sizes.thread_waits,
										WAITS_PER_PAGE);
	pfs_thread_counters = pfs_pages_create(seg, "thread_counters", PFS_COUNTERS_CHUNK, pfs_sizes.thread_counters,
										   CHUNKS_PER_PAGE);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		uint32		ncells = pfs_sizes.cells[family];
		void	   *cells = pfs_segment_take(seg, cells_size(family), PFS_CACHE_LINE);
		uint64	   *buckets = NULL;

		if (histograms_of(family) > 0)
			buckets = pfs_segment_take(seg, buckets_size(family), PFS_CACHE_LINE);
		if (pfs_summary == NULL)
			continue;
		pfs_summary[family].ncells = ncells;
		pfs_summary[family].cells = (PfsSharedBlock)
		{
			cells, ncells, pfs_summary_kinds[family]->shared_size
		};
		pfs_summary[family].nhistograms = histograms_of(family);
		pfs_summary[family].buckets = buckets;
	}
}

/* ---- cells of any family ---- */

void
pfs_kind_add(const PfsSummaryKind *kind, void *totals, const void *cell, PfsShare share)
{
	for (uint32 i = 0; i < kind->ntimes && (share & PFS_SHARE_GOES); i++)
		pfs_totals_add_cell((PfsTotals *) totals + i, (const PfsCell *) cell + i);
	if (kind->add != NULL)
		kind->add(totals, cell, share);
}

void
pfs_kind_clear_going(const PfsSummaryKind *kind, void *cell)
{
	for (uint32 i = 0; i < kind->ntimes; i++)
		pfs_cell_clear((PfsCell *) cell + i);
	if (kind->clear_going != NULL)
		kind->clear_going(cell);
}

void
pfs_kind_merge(const PfsSummaryKind *kind, void *shared, const void *totals)
{
	for (uint32 i = 0; i < kind->ntimes; i++)
		pfs_shared_cell_merge((PfsSharedCell *) shared + i, (const PfsTotals *) totals + i);
	if (kind->merge != NULL)
		kind->merge(shared, totals);
}

void
pfs_kind_read(const PfsSummaryKind *kind, void *shared, void *totals, bool take)
{
	for (uint32 i = 0; i < kind->ntimes; i++)
		pfs_shared_cell_get((PfsSharedCell *) shared + i, (PfsTotals *) totals + i, take);
	if (kind->read != NULL)
		kind->read(shared, totals, take);
}

uint64
pfs_kind_count(const PfsSummaryKind *kind, const void *totals)
{
	PfsTotals	times = pfs_totals_of(totals, kind->ntimes);

	return pfs_totals_count(&times) + (kind->count != NULL ? kind->count(totals) : 0);
}

void
pfs_families_start(void)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		if (pfs_summary_kinds[family]->start != NULL)
			pfs_summary_kinds[family]->start();
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
