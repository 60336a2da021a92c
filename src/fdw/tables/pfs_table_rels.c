/*
 * pfs_table_rels.c
 *	  table_io_waits_summary_by_table, table_io_waits_summary_by_index_usage,
 *	  table_lock_waits_summary_by_table: rows of tables and indexes, what was done with
 *	  them, and waits for locks on tables.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest_rows_read.h"
#include "pfs_rebuild.h"
#include "pfs_recorder.h"
#include "pfs_object_name.h"
#include "pfs_rel_read.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"
#include "pfs_cell_views.h"

/* ---- accesses to rows ---- */

typedef struct IoRow
{
	Oid			database;
	Oid			relation;
	Oid			index;
	PfsTotals	parts[PFS_NUM_REL_PARTS];
} IoRow;

/* Sums of several parts, each given by its bit. */
#define PART(part) (1 << PFS_REL_##part)
#define READS (PART(FETCH) | PART(LOCK))
#define WRITES (PART(INSERT) | PART(UPDATE) | PART(DELETE))

static PfsTotals
sum_of(const PfsTotals *totals, int parts)
{
	PfsTotals	sum = {0};

	for (int part = 0; part < PFS_NUM_REL_PARTS; part++)
	{
		if (parts & (1 << part))
			pfs_totals_add(&sum, &totals[part]);
	}
	return sum;
}

#define SUM_OF(which) ((const PfsTotals[]) {sum_of(row->parts, which)})

#define KEY_COLUMNS(X, t) \
	X(t, object_type, text, none, "TABLE", "TABLE.", .width = 5) \
	X(t, database_name, text, none, pfs_rel_database(row->database), \
	  "Database of the table; NULL: all databases share it.", .width = 12) \
	X(t, object_schema, text, none, pfs_rel_schema(row->database, row->relation), \
	  "Schema of the table; NULL: it is of another database.", .width = 12) \
	X(t, object_name, text, none, pfs_rel_name(row->database, row->relation), \
	  "Name of the table; its OID if it is of another database.", .width = 16)

#define IO_COLUMNS(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, SUM_OF(READS | WRITES), "Number of rows of all operations.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, read, SUM_OF(READS), "Number of rows that were fetched or locked.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, write, SUM_OF(WRITES), "Number of rows that were inserted, updated or deleted.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, fetch, SUM_OF(PART(FETCH)), FETCHED) \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, insert, SUM_OF(PART(INSERT)), INSERTED) \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, update, SUM_OF(PART(UPDATE)), "Number of rows that were updated.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, delete, SUM_OF(PART(DELETE)), "Number of rows that were deleted.")

#define FETCHED "Number of rows that were fetched: as pg_stat_all_tables.seq_tup_read + idx_tup_fetch."
#define INSERTED "Number of rows that were inserted: as pg_stat_all_tables.n_tup_ins."
#define TABLE_COLUMNS(X, t) KEY_COLUMNS(X, t) IO_COLUMNS(X, t)

PFS_COLUMNS(by_table, IoRow, TABLE_COLUMNS)

#undef FETCHED
#undef INSERTED
#define FETCHED \
	"Number of rows that the index found: as pg_stat_all_indexes.idx_tup_read; without an index those of " \
	"sequential scans."
#define INSERTED "Number of entries that were made in the index; without an index rows of the table."
#define INDEX_COLUMNS(X, t) \
	KEY_COLUMNS(X, t) \
	X(t, index_name, text, none, pfs_rel_index(row->database, row->index), \
	  "Name of the index, its OID if it is of another database; NULL: by no index.", .width = 16) \
	IO_COLUMNS(X, t)

PFS_COLUMNS(by_index, IoRow, INDEX_COLUMNS)

/* Is it to be shown?  A table that was only locked is not. */
static bool
is_shown(const PfsRelStatCopy *copy)
{
	PfsTotals	all = pfs_totals_of(copy->parts, PFS_NUM_REL_PARTS);

	return pfs_totals_count(&all) > 0 || !copy->has_locks;
}

static bool
io_row_exists(const void *p)
{
	const IoRow *row = p;

	return pfs_rel_and_index_exist(row->database, row->relation, row->index);
}

/*
 * What is shown of an index.  Its fetches are the rows that it found, by a bitmap or one by
 * one, with all the time that they took in the index and in the table.
 */
static void
add_index_cb(const PfsRelStatCopy *copy, void *arg)
{
	IoRow	   *row;
	uint64		rows;

	if (!is_shown(copy))
		return;
	row = pfs_scan_add(arg);
	row->database = copy->database;
	row->relation = copy->relation;
	row->index = copy->index;
	memcpy(row->parts, copy->parts, sizeof(row->parts));
	if (copy->kind == PFS_TABLE_STATS)
		return;
	rows = pfs_totals_count(&copy->parts[PFS_INDEX_READ]);
	memset(&row->parts[PFS_INDEX_READ], 0, sizeof(PfsTotals));
	pfs_rel_add_times(&row->parts[PFS_REL_FETCH], &copy->parts[PFS_INDEX_READ], rows);
}

static void
add_parts(void *to, const void *p)
{
	IoRow	   *sum = to;
	const IoRow *row = p;

	for (int part = 0; part < PFS_NUM_REL_PARTS; part++)
		pfs_totals_add(&sum->parts[part], &row->parts[part]);
}

/* An index that was rebuilt can have several records. */
static void
by_index_copy(PfsScan *scan)
{
	pfs_rel_stats_each(PFS_VIEW_OF_KIND, add_index_cb, scan);
	if (pfs_rebuilds_were())
		pfs_scan_unite(scan, offsetof(IoRow, parts), add_parts);
	pfs_scan_keep(scan, io_row_exists);
}

static void
add_table_cb(const PfsRelStatCopy *copy, void *arg)
{
	IoRow	   *row;

	if (copy->kind != PFS_TABLE_STATS || !is_shown(copy))
		return;
	row = pfs_scan_add(arg);
	row->database = copy->database;
	row->relation = copy->relation;
	pfs_rel_parts_of_table(copy, row->parts);
}

static void
by_table_copy(PfsScan *scan)
{
	pfs_rel_stats_each(PFS_VIEW_OF_KIND, add_table_cb, scan);
	pfs_scan_keep(scan, io_row_exists);
}

const PfsTable pfs_table_io_by_table = {
	PFS_TABLE("table_io_waits_summary_by_table", by_table, "MySQL",
			  "one table whose rows were accessed",
			  "zeroes it, and the other tables table_io_waits_summary_...",
			  "Rows that were fetched, inserted, updated, deleted and locked, by table, and the times of these accesses. "
			  "A row is counted when its scan or command has ended. A time covers what the access method of the table or "
			  "the index does for the row, waits included; rows of a page that is at hand are counted and not timed. "
			  "A table that is dropped loses its row."),
	.containers = {&pfs_rel_stats[PFS_TABLE_STATS].pages},
	.copy = by_table_copy,
	.check_truncate = pfs_cell_views_require_thread,
	.truncate = pfs_rel_io_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

const PfsTable pfs_table_io_by_index_usage = {
	PFS_TABLE("table_io_waits_summary_by_index_usage", by_index, "MySQL",
			  "one index by which rows were accessed, or the accesses to one table by none",
			  "zeroes it, and the other tables table_io_waits_summary_...",
			  "Rows that were accessed by each index, or by none, and the times of these accesses. An index without a row "
			  "was not used since the last reset. One that REINDEX CONCURRENTLY builds anew keeps its row."),
	.containers = {&pfs_rel_stats[PFS_TABLE_STATS].pages, &pfs_rel_stats[PFS_INDEX_STATS].pages},
	.copy = by_index_copy,
	.check_truncate = pfs_cell_views_require_thread,
	.truncate = pfs_rel_io_truncate,
	.truncated = pfs_recorder_ask_to_save,
};

/* ---- waits for locks ---- */

typedef struct LockRow
{
	Oid			database;
	Oid			relation;
	PfsTotals	modes[PFS_REL_LOCK_MODES];
} LockRow;

#define MODE_COLUMNS(X, t, part, mode) \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, part, &row->modes[(mode) - 1], "Number of waits for a lock in this mode.")

#define LOCK_COLUMNS(X, t) \
	KEY_COLUMNS(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, ((const PfsTotals[]) {pfs_totals_of(row->modes, PFS_REL_LOCK_MODES)}), "Number of waits for locks on the table.") \
	MODE_COLUMNS(X, t, access_share, AccessShareLock) \
	MODE_COLUMNS(X, t, row_share, RowShareLock) \
	MODE_COLUMNS(X, t, row_exclusive, RowExclusiveLock) \
	MODE_COLUMNS(X, t, share_update_exclusive, ShareUpdateExclusiveLock) \
	MODE_COLUMNS(X, t, share, ShareLock) \
	MODE_COLUMNS(X, t, share_row_exclusive, ShareRowExclusiveLock) \
	MODE_COLUMNS(X, t, exclusive, ExclusiveLock) \
	MODE_COLUMNS(X, t, access_exclusive, AccessExclusiveLock)

PFS_COLUMNS(locks, LockRow, LOCK_COLUMNS)

/* Adds the row of a table, or another relation, that was waited for. */
static void
add_locks_cb(Oid database, Oid relation, const PfsTotals *modes, void *arg)
{
	PfsTotals	all = pfs_totals_of(modes, PFS_REL_LOCK_MODES);
	LockRow    *row;

	if (pfs_totals_count(&all) == 0)
		return;
	row = pfs_scan_add(arg);
	row->database = database;
	row->relation = relation;
	memcpy(row->modes, modes, sizeof(row->modes));
}

static bool
lock_row_is_of_table(const void *p)
{
	const LockRow *row = p;

	return pfs_rel_is_table(row->database, row->relation);
}

static void
locks_copy(PfsScan *scan)
{
	pfs_rel_locks_each(add_locks_cb, scan);
	pfs_scan_keep(scan, lock_row_is_of_table);
}

static int64
truncate_locks(void)
{
	return pfs_rel_locks_clear(PFS_VIEW_OF_KIND);
}

const PfsTable pfs_table_lock_waits_by_table = {
	PFS_TABLE("table_lock_waits_summary_by_table", locks, "MySQL",
			  "one table for which a lock was waited for",
			  "zeroes it",
			  "Waits for heavyweight locks on tables, by lock mode. A table that is dropped loses its row."),
	.containers = {&pfs_rel_stats[PFS_TABLE_STATS].pages},
	.copy = locks_copy,
	.truncate = truncate_locks,
	.in_reset_all = true,
};
