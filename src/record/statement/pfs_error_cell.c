/*
 * pfs_error_cell.c
 *	  Counts of errors as a family of summaries.
 *
 * Separate from pfs_error.c, as nothing here knows how errors are noticed.
 *
 * Above threads many processes add at a time, and a truncator takes.  Times and counts
 * are words of their own, so a truncator can come between them: then it takes the raise
 * with the time of the truncation, and the raise's own time stays behind as the first
 * of the next period, a little too early.  No count is lost or doubled.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_error.h"

/* Adds a cell, of a thread or a private sum, to private sums. */
static void
error_add(void *totals, const void *cell, PfsShare share)
{
	PfsErrorCell *to = totals;
	const PfsErrorCell *from = cell;

	if ((share & PFS_SHARE_GOES) == 0)
		return;
	to->raised += from->raised;
	to->handled += from->handled;
	if (from->first_seen != 0 && (to->first_seen == 0 || from->first_seen < to->first_seen))
		to->first_seen = from->first_seen;
	to->last_seen = Max(to->last_seen, from->last_seen);
}

static void
error_clear_going(void *cell)
{
	PfsErrorCell *c = cell;

	pfs_store_relaxed(&c->raised, 0);
	pfs_store_relaxed(&c->handled, 0);
	pfs_store_relaxed(&c->first_seen, 0);
	pfs_store_relaxed(&c->last_seen, 0);
}

/*
 * Adds private sums to a cell above threads, where several processes add at a time:
 * counts by atomic adds, times by compare-and-swap towards the earliest and the latest.
 */
static void
error_merge(void *shared, const void *totals)
{
	PfsErrorCell *to = shared;
	const PfsErrorCell *from = totals;
	int64		first = pfs_load_relaxed(&to->first_seen);
	int64		last = pfs_load_relaxed(&to->last_seen);

	if (from->raised != 0)
		pfs_add_relaxed(&to->raised, from->raised);
	if (from->handled != 0)
		pfs_add_relaxed(&to->handled, from->handled);
	while (from->first_seen != 0 && (first == 0 || from->first_seen < first) &&
		   !pfs_cas(&to->first_seen, &first, from->first_seen))
		;
	while (from->last_seen > last && !pfs_cas(&to->last_seen, &last, from->last_seen))
		;
}

/*
 * Adds what is in a shared cell.  One that has raises but no times is one to
 * which a process is adding at this moment; its times are then those of the reading.
 */
static void
error_read(void *shared, void *totals, bool take)
{
	PfsErrorCell *from = shared;
	PfsErrorCell now;

	now.last_seen = pfs_load_or_take(&from->last_seen, take);
	now.first_seen = pfs_load_or_take(&from->first_seen, take);
	now.handled = pfs_load_or_take(&from->handled, take);
	now.raised = pfs_load_or_take(&from->raised, take);
	if (now.raised > 0 && now.first_seen == 0)
		now.first_seen = now.last_seen = GetCurrentTimestamp();
	error_add(totals, &now, PFS_SHARE_ALL);
}

static uint64
error_count(const void *totals)
{
	return ((const PfsErrorCell *) totals)->raised;
}

static bool
error_is_shown(const void *totals)
{
	const PfsErrorCell *t = totals;

	return t->raised + t->handled > 0;
}

/* Errors that are counted in the row of all others. */
static uint64
errors_lost(void)
{
	return pfs_load_relaxed(&pfs_errors->lost);
}

static void
reset_errors_lost(void)
{
	pfs_store_relaxed(&pfs_errors->lost, 0);
}

const PfsSummaryKind pfs_error_kind = {
	.tables = PFS_SUMMARY_TABLES("events_errors_summary", "error", NULL),
	.start = pfs_errors_start,
	.cells_are_no_instruments = true,
	.keys_size = PFS_ERROR_PLACES * sizeof(uint64),
	.copy_keys = pfs_errors_copy_keys,
	.free_keys = pfs_errors_free_places,
	.cell_size = sizeof(PfsErrorCell),
	.read_size = sizeof(PfsErrorCell),
	.shared_size = sizeof(PfsErrorCell),
	.totals_size = sizeof(PfsErrorCell),
	.cells = pfs_error_cells,
	.chunks = &pfs_thread_counters,
	.per_chunk = PFS_COUNTERS_CHUNK / sizeof(PfsErrorCell),
	.lock_offset = offsetof(PfsThread, seq),
	.add = error_add,
	.clear_going = error_clear_going,
	.merge = error_merge,
	.read = error_read,
	.count = error_count,
	.is_shown = error_is_shown,
	.container = "events_errors_summary_global",
	.used = pfs_errors_known,
	.lost = errors_lost,
	.reset_lost = reset_errors_lost,
};
