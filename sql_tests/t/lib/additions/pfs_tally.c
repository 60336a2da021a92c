/*
 * pfs_tally.c
 *	  Tallies: their instruments, their cells, and how sums are made of these.
 */
#include "postgres.h"

#include "pfs_event_cell.h"
#include "pfs_tally.h"

static PfsInstrumentId instruments[PFS_TALLY_COLOURS];

static void
tally_start(void)
{
	static const char *const names[PFS_TALLY_COLOURS] = {"tally/red", "tally/blue"};

	for (int i = 0; i < PFS_TALLY_COLOURS; i++)
	{
		PfsInstrument proto = {.class = PFS_CLASS_TALLY, .documentation = "What was tallied of this colour."};

		strlcpy(proto.name, names[i], sizeof(proto.name));
		instruments[i] = pfs_instrument_register(&proto);
	}
}

/*
 * Adds to the thread's own cell, inside a write section; for the server alone where
 * nothing is counted by thread.
 */
void
pfs_tally(PfsThread *t, int colour, uint64 amount)
{
	uint32		flags = pfs_wait_flags(t, instruments[colour]);
	PfsBlock   *block = &t->cells[PFS_FAMILY_TALLIES];
	uint32		i = pfs_cell_of_instrument(PFS_FAMILY_TALLIES, instruments[colour]);
	PfsTallyCell *cell;

	if ((flags & PFS_FLAG_ENABLED) == 0 || i >= block->ncells || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	if (flags & PFS_FLAG_THREAD)
	{
		pfs_summary_look(t, PFS_FAMILY_TALLIES);
		pfs_block_touch(block, i);
		cell = pfs_block_cell(block, i);
		pfs_store_relaxed(&cell->count, cell->count + 1);
		pfs_store_relaxed(&cell->amount, cell->amount + amount);
	}
	else
	{
		PfsTallyCell one = {1, amount};

		pfs_kind_merge(&pfs_tally_kind, pfs_shared_block_touch(&pfs_summary[PFS_FAMILY_TALLIES].cells, i), &one);
	}
	pfs_write_end(t);
}

/* ---- as a family of summaries ---- */

static uint32
tally_cells(void)
{
	return PFS_TALLY_COLOURS;
}

static uint64
tally_count(const void *totals)
{
	return ((const PfsTallyCell *) totals)->count;
}

static void
tally_add(void *totals, const void *cell, PfsShare share)
{
	if ((share & PFS_SHARE_GOES) == 0)
		return;
	((PfsTallyCell *) totals)->count += ((const PfsTallyCell *) cell)->count;
	((PfsTallyCell *) totals)->amount += ((const PfsTallyCell *) cell)->amount;
}

static void
tally_clear_going(void *cell)
{
	pfs_store_relaxed(&((PfsTallyCell *) cell)->count, 0);
	pfs_store_relaxed(&((PfsTallyCell *) cell)->amount, 0);
}

static void
tally_merge(void *shared, const void *totals)
{
	pfs_add_relaxed(&((PfsTallyCell *) shared)->count, ((const PfsTallyCell *) totals)->count);
	pfs_add_relaxed(&((PfsTallyCell *) shared)->amount, ((const PfsTallyCell *) totals)->amount);
}

static void
tally_read(void *shared, void *totals, bool take)
{
	((PfsTallyCell *) totals)->count += pfs_load_or_take(&((PfsTallyCell *) shared)->count, take);
	((PfsTallyCell *) totals)->amount += pfs_load_or_take(&((PfsTallyCell *) shared)->amount, take);
}

const PfsSummaryKind pfs_tally_kind = {
	.tables = {
		[PFS_LEVEL_THREAD] = "tallies_summary_by_thread",
		[PFS_LEVEL_ACCOUNT] = "tallies_summary_by_account",
		[PFS_LEVEL_USER] = "tallies_summary_by_user",
		[PFS_LEVEL_HOST] = "tallies_summary_by_host",
		[PFS_LEVEL_GLOBAL] = "tallies_summary_global",
	},
	.start = tally_start,
	.cell_size = sizeof(PfsTallyCell),
	.read_size = sizeof(PfsTallyCell),
	.shared_size = sizeof(PfsTallyCell),
	.totals_size = sizeof(PfsTallyCell),
	.cells = tally_cells,
	.lock_offset = offsetof(PfsThread, seq),
	.add = tally_add,
	.clear_going = tally_clear_going,
	.merge = tally_merge,
	.read = tally_read,
	.count = tally_count,
	.container = "tallies_summary_global",
};
