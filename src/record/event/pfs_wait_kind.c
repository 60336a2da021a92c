/*
 * pfs_wait_kind.c
 *	  Waits as a family of numbers: nothing of a wait stays behind.
 */
#include "postgres.h"

#include "pfs_summary.h"
#include "pfs_thread.h"

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
wait_let_go(void *cell)
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
	.lock_offset = offsetof(PfsThread, seq),
	.is_empty = wait_is_empty,
	.add = wait_add,
	.add_going = wait_add,
	.let_go = wait_let_go,
	.merge = wait_merge,
	.read = wait_read,
	.take = wait_take,
	.count = wait_count,
	.is_shown = wait_is_shown,
	.container = "events_waits_summary_global",
	.used = wait_used,
};
