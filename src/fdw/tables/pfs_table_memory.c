/*
 * pfs_table_memory.c
 *	  memory_summary_global_by_event_name, ..._by_thread_by_event_name,
 *	  ..._by_account_by_event_name, ..._by_user_by_event_name,
 *	  ..._by_host_by_event_name.
 *
 * The global table has also what is always counted: the memory of pfs itself, by
 * container, and the areas of the server's shared memory.
 */
#include "postgres.h"

#include "pfs_levels.h"
#include "pfs_memory_cell.h"
#include "pfs_shared_areas.h"
#include "pfs_status.h"
#include "pfs_tables.h"
#include "pfs_value.h"

typedef struct MemoryRow
{
	PfsLevelKeys keys;
	PfsMemoryTotals totals;
} MemoryRow;

enum
{
	COUNT_ALLOC,
	COUNT_FREE,
	BYTES_ALLOC,
	BYTES_FREE,
	LOW_COUNT,
	CURRENT_COUNT,
	HIGH_COUNT,
	LOW_BYTES,
	CURRENT_BYTES,
	HIGH_BYTES,
};

#define MEMORY_COLUMNS(first) \
	[(first) + COUNT_ALLOC] = {"count_alloc", INT8OID}, \
	[(first) + COUNT_FREE] = {"count_free", INT8OID}, \
	[(first) + BYTES_ALLOC] = {"sum_number_of_bytes_alloc", NUMERICOID, .width = 10}, \
	[(first) + BYTES_FREE] = {"sum_number_of_bytes_free", NUMERICOID, .width = 10}, \
	[(first) + LOW_COUNT] = {"low_count_used", INT8OID}, \
	[(first) + CURRENT_COUNT] = {"current_count_used", INT8OID}, \
	[(first) + HIGH_COUNT] = {"high_count_used", INT8OID}, \
	[(first) + LOW_BYTES] = {"low_number_of_bytes_used", INT8OID}, \
	[(first) + CURRENT_BYTES] = {"current_number_of_bytes_used", INT8OID}, \
	[(first) + HIGH_BYTES] = {"high_number_of_bytes_used", INT8OID}

/* A session meets some thirty kinds of contexts. */
#define ROWS_PER_KEY 30

static void
add_row_cb(const PfsSummaryRow *from, void *arg)
{
	MemoryRow  *row = pfs_scan_add(arg);

	pfs_level_keys_fill(&row->keys, from);
	row->totals = *(const PfsMemoryTotals *) from->totals;
}

/*
 * Threads and what is above them are read one after the other, and a mark can
 * move in between: no row shows one on the wrong side of what is in use.
 */
static Datum
value_get(const MemoryRow *row, int column, bool *isnull)
{
	const PfsMemoryTotals *t = &row->totals;
	int64		count = t->count_alloc - t->count_free;
	int64		bytes = (int64) (t->bytes_alloc - t->bytes_free);

	switch (column)
	{
		case COUNT_ALLOC:
			return Int64GetDatum((int64) t->count_alloc);
		case COUNT_FREE:
			return Int64GetDatum((int64) t->count_free);
		case BYTES_ALLOC:
			return NumericGetDatum(pfs_ps_to_numeric(t->bytes_alloc));
		case BYTES_FREE:
			return NumericGetDatum(pfs_ps_to_numeric(t->bytes_free));
		case LOW_COUNT:
			return Int64GetDatum(Max(Min((int64) t->low_count, count), 0));
		case CURRENT_COUNT:
			return Int64GetDatum(count);
		case HIGH_COUNT:
			return Int64GetDatum(Max((int64) t->high_count, count));
		case LOW_BYTES:
			return Int64GetDatum(Max(Min((int64) t->low_bytes, bytes), 0));
		case CURRENT_BYTES:
			return Int64GetDatum(bytes);
		default:
			return Int64GetDatum(Max((int64) t->high_bytes, bytes));
	}
}

static const PfsColumn thread_columns[] = {
	PFS_THREAD_KEY_COLUMNS,
	MEMORY_COLUMNS(PFS_THREAD_KEYS),
};

static const PfsColumn account_columns[] = {
	PFS_ACCOUNT_KEY_COLUMNS,
	MEMORY_COLUMNS(PFS_ACCOUNT_KEYS),
};

static const PfsColumn user_columns[] = {
	PFS_USER_KEY_COLUMNS,
	MEMORY_COLUMNS(PFS_USER_KEYS),
};

static const PfsColumn host_columns[] = {
	PFS_HOST_KEY_COLUMNS,
	MEMORY_COLUMNS(PFS_HOST_KEYS),
};

static const PfsColumn global_columns[] = {
	PFS_GLOBAL_KEY_COLUMNS,
	MEMORY_COLUMNS(PFS_GLOBAL_KEYS),
};

PFS_LEVEL_FUNCTIONS(by_thread, MEMORY, THREAD, MemoryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_account, MEMORY, ACCOUNT, MemoryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_user, MEMORY, USER, MemoryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(by_host, MEMORY, HOST, MemoryRow, add_row_cb, value_get, ROWS_PER_KEY)
PFS_LEVEL_FUNCTIONS(contexts, MEMORY, GLOBAL, MemoryRow, add_row_cb, value_get, 4 * ROWS_PER_KEY)

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

static void
global_copy(PfsScan *scan)
{
	PfsContainerRow container;

	contexts_copy(scan);
	for (int i = 0; pfs_container_row(i, &container); i++)
	{
		PfsMemoryTotals totals;

		pfs_container_memory(&container, &totals);
		add_built_in(scan, pfs_container_instrument(i), &totals);
	}
	pfs_shared_areas_each(add_area_cb, scan);
}

const PfsTable pfs_table_memory_global = {
	.name = "memory_summary_global_by_event_name",
	.row_is = "one kind of memory of the whole server",
	.truncate_effect = "makes what is in use the new baseline at all levels",
	.columns = global_columns,
	.ncolumns = lengthof(global_columns),
	.row_size = sizeof(MemoryRow),
	.estimate = contexts_estimate,
	.copy = global_copy,
	.get = contexts_get,
	.truncate = contexts_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_memory_by_thread = {
	.name = "memory_summary_by_thread_by_event_name",
	.row_is = "one kind of memory of one living thread",
	.truncate_effect = "makes what is in use the new baseline, pushes what was freed into their accounts",
	.columns = thread_columns,
	.ncolumns = lengthof(thread_columns),
	.row_size = sizeof(MemoryRow),
	.estimate = by_thread_estimate,
	.copy = by_thread_copy,
	.get = by_thread_get,
	.truncate = by_thread_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_memory_by_account = {
	.name = "memory_summary_by_account_by_event_name",
	.row_is = "one kind of memory of one account",
	.truncate_effect = "makes what is in use the new baseline of threads and accounts, pushes what was freed into their users and hosts",
	.columns = account_columns,
	.ncolumns = lengthof(account_columns),
	.row_size = sizeof(MemoryRow),
	.estimate = by_account_estimate,
	.copy = by_account_copy,
	.get = by_account_get,
	.truncate = by_account_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_memory_by_user = {
	.name = "memory_summary_by_user_by_event_name",
	.row_is = "one kind of memory of one user",
	.truncate_effect = "makes what is in use the new baseline of threads, accounts and users",
	.columns = user_columns,
	.ncolumns = lengthof(user_columns),
	.row_size = sizeof(MemoryRow),
	.estimate = by_user_estimate,
	.copy = by_user_copy,
	.get = by_user_get,
	.truncate = by_user_truncate,
	.in_reset_all = true,
};

const PfsTable pfs_table_memory_by_host = {
	.name = "memory_summary_by_host_by_event_name",
	.row_is = "one kind of memory of one client address",
	.truncate_effect = "makes what is in use the new baseline of threads, accounts and hosts, pushes what was freed into the global table",
	.columns = host_columns,
	.ncolumns = lengthof(host_columns),
	.row_size = sizeof(MemoryRow),
	.estimate = by_host_estimate,
	.copy = by_host_copy,
	.get = by_host_get,
	.truncate = by_host_truncate,
	.in_reset_all = true,
};
