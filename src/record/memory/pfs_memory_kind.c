/*
 * pfs_memory_kind.c
 *	  Counts of memory as a family of summaries: what goes up from a thread, and
 *	  what stays with it.
 *
 * What is in use stays: no level but the thread's knows when it will be freed.
 * What was allocated and freed again goes, and so do the headroom below the high-water
 * mark and the distance of the low-water mark.  What went and what stayed add up to
 * what there was.
 */
#include "postgres.h"

#include "pfs_memory.h"
#include "pfs_memory_cell.h"
#include "pfs_shared.h"
#include "pfs_summary.h"
#include "pfs_thread.h"

/* PostgreSQL and its extensions have some 200 names of memory contexts. */
#define INSTRUMENTS_PER_CELL	4

static uint32
cells(void)
{
	return pfs_sizes.instruments / INSTRUMENTS_PER_CELL;
}

/*
 * Adds what stays with the thread when older counters go up: the chunks in use, as if
 * they had just been allocated, with both water marks at them.
 */
static void
add_staying(void *totals, const void *cell)
{
	PfsMemoryTotals *to = totals;
	const PfsMemoryCell *c = cell;
	uint64		count = c->high_count - c->headroom_count;
	uint64		bytes = c->high_bytes - c->headroom_bytes;

	to->count_alloc += count;
	to->bytes_alloc += bytes;
	to->low_count += count;
	to->high_count += count;
	to->low_bytes += bytes;
	to->high_bytes += bytes;
}

/*
 * Adds what goes up: chunks that were freed again, the headroom, and by how much the
 * low-water marks are below the present use.  That is a distance and no count of
 * chunks, so low_count and low_bytes go below zero, in modular arithmetic.
 */
static void
add_going(void *totals, const void *cell)
{
	PfsMemoryTotals *to = totals;
	const PfsMemoryCell *c = cell;

	to->count_alloc += c->count_free;
	to->count_free += c->count_free;
	to->bytes_alloc += c->bytes_free;
	to->bytes_free += c->bytes_free;
	to->high_count += c->headroom_count;
	to->low_count -= c->range_count - c->headroom_count;
	to->high_bytes += c->headroom_bytes;
	to->low_bytes -= c->range_bytes - c->headroom_bytes;
}

/*
 * Adds a share of a thread's cell to a private sum.  A cell has only what allocations and frees
 * store; allocations so far, and the low-water marks, are worked out.
 */
static void
add(void *totals, const void *cell, PfsShare share)
{
	if (share & PFS_SHARE_STAYS)
		add_staying(totals, cell);
	if (share & PFS_SHARE_GOES)
		add_going(totals, cell);
}

/*
 * Leaves in the owner's cell what add_staying() says, behind a move of what add_going()
 * says.
 */
static void
clear_going(void *cell)
{
	PfsMemoryCell *c = cell;
	uint64		count = c->high_count - c->headroom_count;
	uint64		bytes = c->high_bytes - c->headroom_bytes;

	pfs_store_relaxed(&c->count_free, 0);
	pfs_store_relaxed(&c->high_count, count);
	pfs_store_relaxed(&c->headroom_count, 0);
	pfs_store_relaxed(&c->range_count, 0);
	pfs_store_relaxed(&c->bytes_free, 0);
	pfs_store_relaxed(&c->high_bytes, bytes);
	pfs_store_relaxed(&c->headroom_bytes, 0);
	pfs_store_relaxed(&c->range_bytes, 0);
}

/*
 * Adds a sum to a cell above threads.  Sums that come here are of what went up: as much
 * was freed as allocated.
 */
static void
merge(void *shared, const void *totals)
{
	PfsSharedMemoryCell *c = shared;
	const PfsMemoryTotals *from = totals;

	pfs_shared_sum_add(&c->bytes_low, &c->bytes_high, from->bytes_free);
	pfs_add_relaxed(&c->headroom_count, from->high_count);
	pfs_add_relaxed(&c->headroom_bytes, from->high_bytes);
	pfs_add_relaxed(&c->depth_count, -from->low_count);
	pfs_add_relaxed(&c->depth_bytes, -from->low_bytes);
	pfs_add_relaxed(&c->count, from->count_free);
}

/*
 * Adds what a cell above threads holds to a private sum: chunks that came and went,
 * headroom above its sum, and depth below.  Its words are read one by one, and may
 * belong to different moments: readers look for moves of threads, and read again.  For a
 * truncation what threads add meanwhile is either taken or stays.
 */
static void
read_shared(void *shared, void *totals, bool take)
{
	PfsMemoryTotals *to = totals;
	uint64	   *words = shared;
	PfsSharedMemoryCell c;
	PfsTicks	bytes;

	for (int i = 0; i < sizeof(c) / sizeof(uint64); i++)
		((uint64 *) &c)[i] = pfs_load_or_take(&words[i], take);
	bytes = (PfsTicks) c.bytes_high << 64 | c.bytes_low;
	to->count_alloc += c.count;
	to->count_free += c.count;
	to->bytes_alloc += bytes;
	to->bytes_free += bytes;
	to->high_count += c.headroom_count;
	to->low_count -= c.depth_count;
	to->high_bytes += c.headroom_bytes;
	to->low_bytes -= c.depth_bytes;
}

/* Returns the events of a sum: allocations and frees are one each. */
static uint64
count(const void *totals)
{
	const PfsMemoryTotals *t = totals;

	return t->count_alloc + t->count_free;
}

/* Returns the allocations, and processes, that could not be kept account of. */
static uint64
lost(void)
{
	return pfs_load_relaxed(&pfs_memory->chunks_lost) + pfs_load_relaxed(&pfs_memory->processes_lost);
}

static void
reset_lost(void)
{
	pfs_store_relaxed(&pfs_memory->chunks_lost, 0);
	pfs_store_relaxed(&pfs_memory->processes_lost, 0);
}

const PfsSummaryKind pfs_memory_kind = {
	.tables = PFS_SUMMARY_TABLES("memory_summary", "event_name", NULL),
	.start = pfs_memory_start,
	.cell_size = sizeof(PfsMemoryCell),
	.read_size = sizeof(PfsMemoryCell),
	.shared_size = sizeof(PfsSharedMemoryCell),
	.totals_size = sizeof(PfsMemoryTotals),
	.cells = cells,
	.lock_offset = offsetof(PfsThread, memory.seq),
	.takes_from_above = true,
	.add = add,
	.clear_going = clear_going,
	.merge = merge,
	.read = read_shared,
	.count = count,
	.look_again = pfs_memory_look_again,
	.container = "memory_summary_global",
	.lost = lost,
	.reset_lost = reset_lost,
};
