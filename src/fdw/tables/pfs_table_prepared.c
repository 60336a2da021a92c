/*
 * pfs_table_prepared.c
 *	  prepared_statements_instances: what living sessions have prepared.
 */
#include "postgres.h"

#include "pfs_prepared.h"
#include "pfs_tables.h"
#include "pfs_thread.h"
#include "pfs_timer_wait.h"

#define EXECUTIONS ((const PfsTotals[]) {pfs_counts_totals(&row->counts[0].executions)})

#define COLUMNS(X, t) \
	X(t, thread_id, bigint, none, row->thread_id, \
	  "The session that has it: threads.thread_id.", .key = PFS_KEY_THREAD_ID) \
	X(t, statement_name, text, none, \
	  pfs_text_convert(row->name, strlen(row->name), pfs_database_encoding(row->database)), "Its name." PFS_OWN_ROLE, .width = 12, .hidden = true) \
	X(t, sql_text, text, none, \
	  row->text_len > 0 ? pfs_text_of_statement(row->text, row->text_len, pfs_database_encoding(row->database)) : NULL, \
	  "The statement that was prepared, cut at pfs.max_sql_text_length." PFS_OWN_ROLE, \
	  .width = 100, .hidden = true) \
	X(t, count_execute, bigint, count, pfs_timer_wait_get(EXECUTIONS, PFS_TIMER_WAIT_COUNT_STAR), "How often it was executed.") \
	PFS_TIMER_WAIT_COLUMNS(X, t, EXECUTIONS, "Executions counted.")

PFS_COLUMNS(prepared, PfsPrepared, COLUMNS)

static void
add_cb(const PfsPrepared *copy, void *arg)
{
	memcpy(pfs_scan_add(arg), copy, pfs_prepared_record_size());
}

static void
copy_rows(PfsScan *scan)
{
	pfs_prepared_each(scan->thread_id, add_cb, scan);
}

static Oid
role(const void *row)
{
	const PfsPrepared *p = row;

	return pfs_owned_role(p->thread, p->thread_id);
}

/* A statement that a SECURITY DEFINER function prepared is its owner's, too. */
static Oid
nested_role(const void *row)
{
	return ((const PfsPrepared *) row)->user;
}

const PfsTable pfs_table_prepared_statements_instances = {
	PFS_TABLE("prepared_statements_instances", prepared, "MySQL",
			  "one prepared statement of a living session",
			  "sets the counts to zero",
			  "Prepared statements of living sessions: by PREPARE, or from the first execution of one of the "
			  "protocol. One that was closed disappears soon, not at once. TRUNCATE sets the counts to zero."),
	.size_of_row = pfs_prepared_record_size,
	.containers = {&pfs_prepared},
	.copy = copy_rows,
	.role = role,
	.also_role = nested_role,
	.truncate = pfs_prepared_truncate,
	.in_reset_all = true,
};
