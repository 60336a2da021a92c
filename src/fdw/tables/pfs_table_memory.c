/*
 * pfs_table_memory.c
 *	  memory_summary_global_by_event_name, ..._by_thread_by_event_name,
 *	  ..._by_account_by_event_name, ..._by_user_by_event_name,
 *	  ..._by_host_by_event_name.
 *
 * The global table also shows what is always counted: the memory of pfs itself, by
 * container, and the areas of the server's shared memory.
 */
#include "postgres.h"

#include "pfs_levels.h"
#include "pfs_memory_cell.h"
#include "pfs_shared_areas.h"
#include "pfs_status.h"
#include "pfs_tables.h"

PFS_LEVEL_ROW(MemoryRow, PfsMemoryTotals);

/* A guess: a session uses some thirty kinds of contexts. */
#define ROWS_PER_KEY 30

/*
 * Threads and what is above them are read one after the other, and a high-water or
 * low-water mark can move in between.  So low() and high() make sure that no row shows a
 * mark on the wrong side of what is in use.
 */
static int64
low(uint64 mark, int64 current)
{
	return Max(Min((int64) mark, current), 0);
}

static int64
high(uint64 mark, int64 current)
{
	return Max((int64) mark, current);
}

static int64
count_used(const MemoryRow *row)
{
	return row->totals.count_alloc - row->totals.count_free;
}

static int64
bytes_used(const MemoryRow *row)
{
	return (int64) (row->totals.bytes_alloc - row->totals.bytes_free);
}

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	X(t, count_alloc, bigint, count, row->totals.count_alloc, "Chunks that were allocated.") \
	X(t, count_free, bigint, count, row->totals.count_free, \
	  "Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their " \
	  "context.") \
	X(t, sum_number_of_bytes_alloc, numeric, bytes, row->totals.bytes_alloc, \
	  "Bytes of the chunks that were allocated: their space without the header.", .width = 10) \
	X(t, sum_number_of_bytes_free, numeric, bytes, row->totals.bytes_free, \
	  "Bytes of the chunks that were freed.", .width = 10) \
	X(t, low_count_used, bigint, count, low(row->totals.low_count, count_used(row)), \
	  "Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.") \
	X(t, current_count_used, bigint, count, count_used(row), \
	  "Chunks in use now: count_alloc less count_free.") \
	X(t, high_count_used, bigint, count, high(row->totals.high_count, count_used(row)), \
	  "Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks " \
	  "at once.") \
	X(t, low_number_of_bytes_used, bigint, bytes, low(row->totals.low_bytes, bytes_used(row)), \
	  "Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.") \
	X(t, current_number_of_bytes_used, bigint, bytes, bytes_used(row), "Bytes in use now.") \
	X(t, high_number_of_bytes_used, bigint, bytes, high(row->totals.high_bytes, bytes_used(row)), \
	  "Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at " \
	  "once.")

/* ---- what is always counted ---- */

static void
add_built_in(PfsScan *scan, PfsInstrumentId instrument, const PfsMemoryTotals *totals)
{
	MemoryRow  *row;

	if (instrument == PFS_NO_INSTRUMENT || (scan->instrument != PFS_NO_INSTRUMENT && scan->instrument != instrument))
		return;
	row = pfs_scan_add(scan);
	row->keys.instrument = instrument;
	row->totals = *totals;
}

static void
add_area_cb(PfsInstrumentId instrument, uint64 count, uint64 bytes, void *arg)
{
	PfsMemoryTotals totals = {.count_alloc = count, .bytes_alloc = bytes,
		.low_count = count, .high_count = count, .low_bytes = bytes, .high_bytes = bytes,
	};

	add_built_in(arg, instrument, &totals);
}

/* Copies the counters of memory contexts, then those of containers and of shared areas. */
static void
global_copy(PfsScan *scan)
{
	PfsContainerRow container;

	pfs_level_copy(scan);
	for (int i = 0; pfs_container_row(i, false, &container); i++)
	{
		PfsMemoryTotals totals;

		pfs_container_memory(&container, &totals);
		add_built_in(scan, pfs_container_instrument(i), &totals);
	}
	pfs_shared_areas_each(add_area_cb, scan);
}

PFS_COLUMNS(global, MemoryRow, COLUMNS)

const PfsTable pfs_table_memory_global = {
	PFS_TABLE("memory_summary_global_by_event_name", global, "MySQL",
			  "one kind of memory of the whole server",
			  "makes what is in use the new baseline at all levels",
			  "Memory of the whole server, sessions that have ended included. One row per instrument that was used "
			  "since the last reset or holds something now. TRUNCATE makes what is in use the new baseline, at all "
			  "levels."),
	.family = PFS_FAMILY_MEMORY,
	.part = PFS_LEVEL_GLOBAL,
	.usual_rows = 4 * ROWS_PER_KEY,
	.copy = global_copy,
	.truncate_part = pfs_level_truncate,
	.in_reset_all = true,
};

PFS_LEVEL_TABLE(memory_by_thread, MEMORY, THREAD, MemoryRow, COLUMNS, ROWS_PER_KEY, "memory_summary_by_thread_by_event_name", "MySQL",
				"one kind of memory of one living thread",
				"makes what is in use the new baseline, pushes what was freed into their accounts",
				"Memory by living thread. One row per thread and instrument that was used since the last reset or "
				"holds something now. TRUNCATE makes what is in use the new baseline and pushes what was freed "
				"into the accounts.");
PFS_LEVEL_TABLE(memory_by_account, MEMORY, ACCOUNT, MemoryRow, COLUMNS, ROWS_PER_KEY, "memory_summary_by_account_by_event_name", "MySQL",
				"one kind of memory of one account",
				"makes what is in use the new baseline of threads and accounts, pushes what was freed into their "
				"users and hosts",
				"Memory by account, sessions that have ended included. One row per account and instrument. "
				"TRUNCATE makes what is in use the new baseline of threads and accounts and pushes what was freed "
				"into users and hosts.");
PFS_LEVEL_TABLE(memory_by_user, MEMORY, USER, MemoryRow, COLUMNS, ROWS_PER_KEY, "memory_summary_by_user_by_event_name", "MySQL",
				"one kind of memory of one user",
				"makes what is in use the new baseline of threads, accounts and users",
				"Memory by user, sessions that have ended included. One row per user and instrument. TRUNCATE "
				"makes what is in use the new baseline of threads, accounts and users.");
PFS_LEVEL_TABLE(memory_by_host, MEMORY, HOST, MemoryRow, COLUMNS, ROWS_PER_KEY, "memory_summary_by_host_by_event_name", "MySQL",
				"one kind of memory of one client address",
				"makes what is in use the new baseline of threads, accounts and hosts, pushes what was freed into "
				"the global table",
				"Memory by client address, sessions that have ended included. One row per address and instrument. "
				"TRUNCATE makes what is in use the new baseline of threads, accounts and hosts and pushes what was "
				"freed into the global table.");
