/*
 * pfs_wait_kind.c
 *	  Waits as a family of summaries: all that a thread has counted of them goes up, and
 *	  nothing stays with it.  Each of its cells has a histogram.
 */
#include "postgres.h"

#include "pfs_shared.h"
#include "pfs_summary_level.h"
#include "pfs_thread.h"

/* Cells have the numbers of their instruments. */
static uint32
wait_cells(void)
{
	return pfs_sizes.instruments;
}

static bool
wait_is_empty(const void *cell)
{
	const PfsCell *c = cell;

	return c->count_timed + c->count_untimed == 0;
}

static void
wait_add(void *totals, const void *cell)
{
	pfs_totals_add_cell(totals, cell);
}

static void
wait_clear_going(void *cell)
{
	pfs_cell_clear(cell);
}

static void
wait_merge(void *shared, const void *totals)
{
	pfs_shared_cell_merge(shared, totals);
}

static void
wait_read(const void *shared, void *totals)
{
	pfs_shared_cell_read(shared, totals);
}

static void
wait_take(void *shared, void *totals)
{
	pfs_shared_cell_take(shared, totals);
}

static uint64
wait_count(const void *totals)
{
	return pfs_totals_count(totals);
}

static bool
wait_is_shown(const void *totals)
{
	return pfs_totals_count(totals) > 0;
}

/* ---- histograms: buckets of each cell ---- */

static PfsCell *
wait_cell(const PfsThread *t, uint32 i)
{
	return (PfsCell *) t->summary[PFS_FAMILY_WAITS].cells.cells + i;
}

/* A cell's buckets lie elsewhere, and come with its first timed event. */
static uint32 *
wait_next_buckets(const PfsThread *t, uint32 *i)
{
	const PfsBlock *block = &t->summary[PFS_FAMILY_WAITS].cells;

	/* NULL and 0 while the memory changes hands. */
	const PfsCell *cells = pfs_load_relaxed((PfsCell *const *) &block->cells);
	uint32		ncells = cells == NULL ? 0 : pfs_load_relaxed(&block->ncells);

	for (*i = pfs_block_next(block, *i); *i < ncells; *i = pfs_block_next(block, *i + 1))
	{
		uint32	   *buckets = pfs_load_acquire((uint32 *const *) &cells[*i].buckets);	/* R */

		if (buckets != NULL)
			return buckets;
	}
	return NULL;
}

/*
 * Gives the buckets of all cells back to their container, when the thread ends and they
 * have been moved.  A reader that comes later finds none.
 */
static void
free_buckets(PfsThread *t)
{
	const PfsBlock *block = &t->summary[PFS_FAMILY_WAITS].cells;

	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		PfsCell    *cell = wait_cell(t, i);
		uint32	   *buckets = cell->buckets;

		if (buckets == NULL)
			continue;
		pfs_store_relaxed(&cell->buckets, NULL);
		pfs_pages_give(pfs_thread_histograms, buckets);
	}
}

/*
 * Gives a cell its buckets, at its first timed wait.  Where the container has none left
 * the cell counts into the server's.
 */
void
pfs_summary_touch(PfsThread *t, PfsInstrumentId instrument)
{
	static uint32 hint;
	PfsCell    *cell = wait_cell(t, instrument);

	/*
	 * Readers come to the zeroes by this (Q, pairs with R in
	 * wait_next_buckets).
	 */
	if (cell->buckets == NULL)
		pfs_store_release(&cell->buckets, (uint32 *) pfs_pages_take(pfs_thread_histograms, &hint));
}

void
pfs_summary_count_global(PfsInstrumentId instrument, bool timed, uint64 ticks)
{
	PfsTotals	one = {timed ? 1 : 0, timed ? 0 : 1, ticks, ticks, ticks};

	pfs_shared_cell_merge(pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_WAITS].cells, instrument), &one);
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
	.tables = {
		[PFS_LEVEL_THREAD] = "events_waits_summary_by_thread_by_event_name",
		[PFS_LEVEL_ACCOUNT] = "events_waits_summary_by_account_by_event_name",
		[PFS_LEVEL_USER] = "events_waits_summary_by_user_by_event_name",
		[PFS_LEVEL_HOST] = "events_waits_summary_by_host_by_event_name",
		[PFS_LEVEL_GLOBAL] = "events_waits_summary_global_by_event_name",
		[PFS_LEVEL_HISTOGRAM] = "events_waits_histogram_global",
	},
	.cell_size = sizeof(PfsCell),
	.shared_size = sizeof(PfsSharedCell),
	.totals_size = sizeof(PfsTotals),
	.cells = wait_cells,
	.lock_offset = offsetof(PfsThread, seq),
	.is_empty = wait_is_empty,
	.add = wait_add,
	.add_going = wait_add,
	.clear_going = wait_clear_going,
	.merge = wait_merge,
	.read = wait_read,
	.take = wait_take,
	.count = wait_count,
	.is_shown = wait_is_shown,
	.container = "events_waits_summary_global",
	.used = wait_used,
	.next_buckets = wait_next_buckets,
	.free_buckets = free_buckets,
};
