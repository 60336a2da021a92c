/*
 * pfs_table_objects_summary.c
 *	  objects_summary_global_by_type: tables, by accesses to their rows and waits for locks
 *	  on them, and programs, by their calls.
 *
 * What it shows is counted once, for this table and for those that show parts of it; see
 * PfsCellView for how each of them is truncated by itself.
 */
#include "postgres.h"

#include "pfs_object_name.h"
#include "pfs_rel_read.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"
#include "pfs_cell_views.h"

/* A table, or a program. */
typedef struct ObjectRow
{
	Oid			database;
	Oid			relation;		/* InvalidOid: a program */
	uint64		program;
	PfsTotals	totals;
} ObjectRow;

#define COLUMNS(X, t) \
	X(t, object_type, text, none, OidIsValid(row->relation) ? "TABLE" : pfs_program_type_name(row->program), \
	  "TABLE, FUNCTION, PROCEDURE, or TRIGGER for a function of triggers or event triggers.", .width = 8) \
	X(t, database_name, text, none, pfs_rel_database(row->database), \
	  "Database of the object; NULL: all databases share it.", .width = 12) \
	X(t, object_schema, text, none, \
	  OidIsValid(row->relation) ? pfs_rel_schema(row->database, row->relation) : pfs_program_schema(row->database, row->program), \
	  "Schema of the object; NULL: it is of another database.", .width = 12) \
	X(t, object_name, text, none, \
	  OidIsValid(row->relation) ? pfs_rel_name(row->database, row->relation) : pfs_program_name(row->database, row->program), \
	  "Name of the object; its OID if it is of another database.", .width = 16) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, \
	  "Of a table, rows that were accessed and waits for locks; of a program, calls.")

PFS_COLUMNS(objects, ObjectRow, COLUMNS)

/* Adds a row for what a table has, which what its indexes led to is in. */
static void
add_rows_cb(const PfsRelStatCopy *copy, void *arg)
{
	PfsTotals	parts[PFS_NUM_REL_PARTS] = {{0}};
	ObjectRow  *row;

	if (copy->kind != PFS_TABLE_STATS)
		return;
	pfs_rel_parts_of_table(copy, parts);
	row = pfs_scan_add(arg);
	row->database = copy->database;
	row->relation = copy->relation;
	for (int part = 0; part < PFS_NUM_REL_PARTS; part++)
		pfs_totals_add(&row->totals, &parts[part]);
}

static void
add_locks_cb(Oid database, Oid relation, const PfsTotals *modes, void *arg)
{
	ObjectRow  *row = pfs_scan_add(arg);

	row->database = database;
	row->relation = relation;
	row->totals = modes[PFS_REL_LOCK_ANY - 1];
}

static void
add_program_cb(const PfsProgramRow *program, void *arg)
{
	ObjectRow  *row = pfs_scan_add(arg);

	row->database = program->key.database;
	row->program = program->key.program;
	row->totals = program->calls;
}

static bool
object_exists(const void *p)
{
	const ObjectRow *row = p;

	return OidIsValid(row->relation) ? pfs_rel_is_table(row->database, row->relation)
		: pfs_program_exists(row->database, row->program);
}

static void
add_totals(void *to, const void *row)
{
	pfs_totals_add(&((ObjectRow *) to)->totals, &((const ObjectRow *) row)->totals);
}

/* Adds up what a table, its indexes and its locks have: one row for each object. */
static void
objects_copy(PfsScan *scan)
{
	pfs_rel_stats_each(PFS_VIEW_OF_OBJECTS, add_rows_cb, scan);
	pfs_rel_locks_each(add_locks_cb, scan);
	pfs_programs_read(PFS_VIEW_OF_OBJECTS, add_program_cb, scan);
	pfs_scan_unite(scan, offsetof(ObjectRow, totals), add_totals);
	pfs_scan_keep(scan, object_exists);
}

static int64
objects_truncate(void)
{
	return pfs_rel_stats_clear(PFS_VIEW_OF_OBJECTS) + pfs_rel_locks_clear(PFS_VIEW_OF_OBJECTS) +
		pfs_programs_truncate(PFS_VIEW_OF_OBJECTS);
}

const PfsTable pfs_table_objects_summary = {
	PFS_TABLE("objects_summary_global_by_type", objects, "MySQL",
			  "one table that was accessed or waited for, or one function, procedure or trigger function that was called",
			  "zeroes it",
			  "Accesses to rows and waits for locks by table, and calls by program: what table_io_waits_summary_by_table, "
			  "table_lock_waits_summary_by_table and events_statements_summary_by_program show by themselves. An object "
			  "that is dropped loses its row."),
	.containers = {&pfs_rel_stats[PFS_TABLE_STATS].pages, &pfs_programs},
	.copy = objects_copy,
	.check_truncate = pfs_cell_views_require_thread,
	.truncate = objects_truncate,
	.in_reset_all = true,
};
