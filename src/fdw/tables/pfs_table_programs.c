/*
 * pfs_table_programs.c
 *	  events_statements_summary_by_program: calls of functions, procedures and trigger
 *	  functions, and the statements in them.
 */
#include "postgres.h"

#include "pfs_object_name.h"
#include "pfs_statement_counters.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"
#include "pfs_cell_views.h"

#define STATEMENTS_OF(what) pfs_timer_wait_get(&row->statements.time, PFS_TIMER_WAIT_##what)

#define COLUMNS(X, t) \
	X(t, object_type, text, none, pfs_program_type_name(row->key.program), \
	  "FUNCTION, PROCEDURE, or TRIGGER for a function of triggers or event triggers.", .width = 8) \
	X(t, database_name, text, none, pfs_database_name(row->key.database), \
	  "Database that it is in.", .width = 12) \
	X(t, object_schema, text, none, pfs_program_schema(row->key.database, row->key.program), \
	  "Schema that it is in; NULL for one of another database than the reader's.", .width = 8) \
	X(t, object_name, text, none, pfs_program_name(row->key.database, row->key.program), \
	  "Its name; the OID for one of another database.", .width = 12) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->calls, "Calls that are over, failed ones included.") \
	X(t, count_statements, bigint, count, STATEMENTS_OF(COUNT_STAR), \
	  "Statements in it; those of a program that it has called are that one's.") \
	X(t, sum_statements_wait, numeric, picoseconds, STATEMENTS_OF(SUM), "Sum of their times, in picoseconds.", .width = 14) \
	X(t, min_statements_wait, numeric, picoseconds, STATEMENTS_OF(MIN), \
	  "Shortest of their times, in picoseconds; 0 where nothing was timed.", .width = 10) \
	X(t, avg_statements_wait, numeric, picoseconds, STATEMENTS_OF(AVG), \
	  "Average of their times, in picoseconds; 0 where nothing was timed.", .width = 10) \
	X(t, max_statements_wait, numeric, picoseconds, STATEMENTS_OF(MAX), \
	  "Longest of their times, in picoseconds; 0 where nothing was timed.", .width = 12) \
	PFS_STATEMENT_SUM_COLUMNS(X, t, &row->statements)

PFS_COLUMNS(programs, PfsProgramRow, COLUMNS)

static void
add_cb(const PfsProgramRow *row, void *arg)
{
	*(PfsProgramRow *) pfs_scan_add(arg) = *row;
}

static bool
row_exists(const void *p)
{
	const PfsProgramRow *row = p;

	return pfs_program_exists(row->key.database, row->key.program);
}

static void
copy_rows(PfsScan *scan)
{
	pfs_programs_read(PFS_VIEW_OF_KIND, add_cb, scan);
	pfs_scan_keep(scan, row_exists);
}

static int64
programs_truncate(void)
{
	return pfs_programs_truncate(PFS_VIEW_OF_KIND);
}

const PfsTable pfs_table_statements_by_program = {
	PFS_TABLE("events_statements_summary_by_program", programs, "MySQL",
			  "one function, procedure or trigger function that was called",
			  "zeroes it",
			  "Calls of programs, and the statements that ran in them: functions, procedures and trigger functions of "
			  "PL/pgSQL, and procedures of any language that CALL has called. TRUNCATE zeroes it."),
	.containers = {&pfs_programs},
	.copy = copy_rows,
	.check_truncate = pfs_cell_views_require_thread,
	.truncate = programs_truncate,
	.in_reset_all = true,
};
