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

/*
 * Reads a page of the server's buckets before it is written.  A short session comes
 * here once: the kernel maps all resident pages around one that is read, as writable
 * ones, but of those that are written only themselves.
 */
static void
look_at_server(uint32 cell)
{
	(void) *(volatile uint64 *) &pfs_summary[PFS_FAMILY_WAITS].buckets[(size_t) cell * PFS_HISTOGRAM_BUCKETS];
}

/*
 * Empties the buckets of all cells of a thread and returns how many events were in
 * them; add: adds them to the server's.
 */
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
		for (uint32 b = pfs_next_bucket(buckets, 0); b < PFS_HISTOGRAM_BUCKETS; b = pfs_next_bucket(buckets, b + 1))
		{
			events += buckets[b];
			if (add)
				pfs_summary_add_to_server(i, b, buckets[b]);
			pfs_store_relaxed(&buckets[b], 0);
		}
	}
	return events;
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
		uint32		index = cell->buckets_record;

		if (cell->buckets == NULL)
			continue;
		pfs_store_relaxed(&cell->buckets, NULL);
		if (pfs_pages_claim(pfs_thread_histograms, index, pfs_pages_word(pfs_thread_histograms, index)))
			pfs_pages_free(pfs_thread_histograms, index);
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
	.move_buckets = move_buckets,
	.free_buckets = free_buckets,
};
