/*
 * pfs_summary.c
 *	  Totals by instrument: what lies in shared memory, and how much of it.
 *	  pfs_summary_move.c has how counters get there.
 */
#include "postgres.h"

#include "pfs_shared.h"
#include "pfs_summary.h"

PFS_HOT PfsSharedSummary *pfs_summary = NULL;
PFS_HOT PfsPages *pfs_thread_histograms = NULL;

/* Guesses: some 64 kB are a page. */
#define HISTOGRAMS_PER_PAGE 100
/*
 * Instruments that a thread has timed waits of; further ones count into the server's
 * buckets at once.
 */
#define HISTOGRAMS_PER_THREAD 32

/* What pfs_summary has pointers to, until it is started. */
static void *global_cells[PFS_NUM_FAMILIES];
static uint64 *global_buckets = NULL;

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

/* Takes the buckets of threads, and the global level: cells of each family, and the buckets of waits. */
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

/* Writes into the shared struct where the global level lies. */
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
pfs_families_reset_lost(void)
{
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		if (pfs_summary_kinds[family]->reset_lost != NULL)
			pfs_summary_kinds[family]->reset_lost();
	}
}
