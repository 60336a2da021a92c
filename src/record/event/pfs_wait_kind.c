/*
 * pfs_wait_kind.c
 *	  Waits as a family of summaries: all that a thread has counted of them goes up, and
 *	  nothing stays with it.  Each of its cells has a histogram.
 */
#include "postgres.h"

#include "pfs_departed.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"
#include "pfs_thread.h"

/* Cells have the numbers of their instruments. */
static uint32
wait_cells(void)
{
	return pfs_sizes.instruments;
}

static void
wait_leaves(uint32 i, const void *cell)
{
	const PfsCell *c = cell;

	pfs_departed_add(i, c->count_timed + c->count_untimed, c->sum, c->handed_count, c->handed_sum);
}

/* By readers, too: the first touched cell at or after *i. */
static uint32 *
wait_next_buckets(const PfsThread *t, uint32 *i)
{
	const PfsBlock *block = &t->cells[PFS_FAMILY_WAITS];

	/* NULL and 0 while the memory changes hands. */
	PfsWaitCell *const *cells = pfs_load_relaxed((PfsWaitCell *const *const *) &block->chunks);
	uint32		ncells = cells == NULL ? 0 : pfs_load_relaxed(&block->ncells);

	for (*i = pfs_block_next(block, *i); *i < ncells; *i = pfs_block_next(block, *i + 1))
	{
		PfsWaitCell *cell = pfs_load_acquire(&cells[*i]);	/* R */

		if (cell != NULL)
			return cell->buckets;
	}
	return NULL;
}

PfsWaitCell *
pfs_summary_touch(PfsThread *t, PfsInstrumentId instrument, uint64 ticks)
{
	PfsWaitCell *cell = pfs_summary_cell(t, PFS_FAMILY_WAITS, instrument);

	if (cell != NULL && cell->time.count_timed == 0)
		pfs_store_relaxed(&cell->time.min, ticks);
	return cell;
}

void
pfs_summary_count_global(PfsInstrumentId instrument, bool timed, uint64 ticks)
{
	pfs_shared_cell_add(pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_WAITS].cells, instrument), timed, ticks);
	pfs_departed_count(instrument, 1, ticks, 0, 0);
	if (timed)
		pfs_summary_add_to_server(PFS_FAMILY_WAITS, instrument, pfs_histogram_bucket(ticks), 1);
}

/* The cells of waits are their instruments. */
static uint32
wait_used(void)
{
	return Min(pfs_instruments->count, pfs_summary[PFS_FAMILY_WAITS].ncells);
}

const PfsSummaryKind pfs_wait_kind = {
	.tables = PFS_SUMMARY_TABLES("events_waits_summary", "event_name", "events_waits_histogram_global"),
	.cell_size = sizeof(PfsWaitCell),
	.read_size = sizeof(PfsCell),
	.chunks = &pfs_thread_waits,
	.per_chunk = 1,
	.shared_size = sizeof(PfsSharedCell),
	.totals_size = sizeof(PfsTotals),
	.cells = wait_cells,
	.lock_offset = offsetof(PfsThread, seq),
	.ntimes = 1,
	.leaves = wait_leaves,
	.container = "events_waits_summary_global",
	.used = wait_used,
	.next_buckets = wait_next_buckets,
};
