/*
 * pfs_table_plan_nodes.c
 *	  plan_nodes_summary_by_plan, events_waits_summary_by_plan_node, plan_nodes_current: what nodes of plans
 *	  counted and waited for, and where statements are that run now.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_digest_columns.h"
#include "pfs_node_read.h"
#include "pfs_object_name.h"
#include "pfs_recorder.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

/* ---- what a node is ---- */

#define PLAN_COLUMN(X, t, of) \
	X(t, plan_id, bigint, none, PFS_NULL_IF_0(of), "Which plan, as in plans_summary_by_digest. " PFS_RIGHTS_OF_USER, .hidden = true)

#define NODE_ID "0 is Output, the others count from 1; equal ones of partitions are one."

#define PFS_OF_TABLE(facts, name) (OidIsValid((facts)->relation) ? (name) : NULL)

/* facts: a const PfsNodeFacts *; is_known: are they? */
#define FACTS_COLUMNS(X, t, facts, is_known, database) \
	X(t, parent_node_id, bigint, none, PFS_NULL_IF(!(is_known) || (facts)->type == PFS_NODE_OUTPUT, (facts)->parent), \
	  "The node above it; of the plan's first one, and of a data-modifying WITH, Output.") \
	X(t, node_type, text, none, (is_known) ? pfs_node_type_name((facts)->type) : NULL, \
	  "As EXPLAIN (FORMAT JSON) says. Output is what the executor's run does outside of nodes: it sends rows, starts and " \
	  "waits for workers, runs triggers.", .width = 16) \
	X(t, object_schema, text, none, PFS_OF_TABLE(facts, pfs_rel_schema(database, (facts)->relation)), \
	  "Schema of the table that it reads or changes; NULL also if it is of another database. " PFS_RIGHTS_OF_USER, .width = 12, .hidden = true) \
	X(t, object_name, text, none, PFS_OF_TABLE(facts, pfs_rel_name(database, (facts)->relation)), \
	  "Name of that table, of a partition that at the root; its OID if it is of another database. " PFS_RIGHTS_OF_USER, .width = 16, .hidden = true) \
	X(t, index_name, text, none, pfs_rel_index(database, (facts)->index), \
	  "Name of the index that it reads; its OID if it is of another database. " PFS_RIGHTS_OF_USER, .width = 16, .hidden = true)

/* Of all others nothing is known. */
#define IS_OTHERS(row) ((row)->key.plan_id == 0)

#define SIGNED_TICKS(ticks) ((int64) (ticks) > 0 ? pfs_ticks_as_ps(ticks) : pfs_ticks_as_ps(0))

/* ---- plan_nodes_summary_by_plan ---- */

#define NODES_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key.digest) \
	PLAN_COLUMN(X, t, row->key.plan_id) \
	X(t, node_id, bigint, none, PFS_NULL_IF(IS_OTHERS(row), row->key.number), NODE_ID) \
	FACTS_COLUMNS(X, t, &row->facts, !IS_OTHERS(row), PFS_DIGEST_DATABASE(row->key.digest.db_user)) \
	X(t, count_executions, bigint, count, row->plan_executions, "Executions of the plan.") \
	X(t, count_measured, bigint, count, row->sums.executions, \
	  "Those of them in which this node was measured, failed ones too: the numbers that follow are theirs.") \
	X(t, count_loops, bigint, count, row->sums.loops, "How often it was begun or begun anew, by each process.") \
	X(t, sum_rows, bigint, count, row->sums.rows, "Rows that it returned.") \
	X(t, estimated_rows, float8, none, PFS_NULL_IF(IS_OTHERS(row), row->facts.rows), \
	  "The planner's estimate of the rows of one loop, where it was measured first.", .width = 10) \
	X(t, sum_timer_total, numeric, picoseconds, pfs_ticks_as_ps(row->sums.total), \
	  "Time in it and in the nodes that it called, in picoseconds; see count_timed.", .width = 14) \
	X(t, sum_timer_self, numeric, picoseconds, SIGNED_TICKS(row->sums.self), \
	  "Time in it alone, in picoseconds; see count_timed. Of all nodes these add up to the executor's runs.", .width = 14) \
	X(t, sum_timer_wait, numeric, picoseconds, pfs_ticks_as_ps(row->waited), \
	  "That part of its own time in which it waited, in picoseconds: the sum of events_waits_summary_by_plan_node.", .width = 14) \
	X(t, max_timer_total, numeric, picoseconds, pfs_ticks_as_ps(row->sums.max_total), \
	  "The most that it took in one execution in one process, in picoseconds.", .width = 14) \
	X(t, count_calls, bigint, count, row->sums.calls, "How often it was called; of a node that is not called for each row its loops.") \
	X(t, count_timed, bigint, count, row->sums.timed, \
	  "Calls of which the time was taken. Where that is less than count_calls, times are estimates from as many calls.")

PFS_COLUMNS(nodes, PfsNodeRow, NODES_COLUMNS)

static void
add_node_cb(const PfsNodeRow *row, void *arg)
{
	/* After a TRUNCATE of all plans nobody has executed it. */
	if (row->plan_executions > 0)
		*(PfsNodeRow *) pfs_scan_add(arg) = *row;
}

static void
nodes_copy(PfsScan *scan)
{
	pfs_nodes_read(add_node_cb, scan);
}

const PfsTable pfs_table_nodes_by_plan = {
	PFS_TABLE("plan_nodes_summary_by_plan", nodes, "own",
			  "one node of one plan",
			  "zeroes it",
			  "Loops, rows and times of each node of plans, added up over the executions that were measured (pfs.plan_nodes), "
			  "parallel workers included; one row for all others. TRUNCATE zeroes it."),
	.containers = {&pfs_nodes},
	.copy = nodes_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_nodes_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- events_waits_summary_by_plan_node ---- */

#define WAITS_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key.digest) \
	PLAN_COLUMN(X, t, row->key.plan_id) \
	X(t, node_id, bigint, none, PFS_NULL_IF(IS_OTHERS(row), row->key.number), \
	  "Which node, as in plan_nodes_summary_by_plan: the innermost one when the wait began.") \
	X(t, event_name, text, none, pfs_event_name(row->instrument), \
	  "Name of the instrument, as in setup_instruments.", .width = 30, .key = PFS_KEY_EVENT_NAME) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Number of waits, in executions that were measured.")

PFS_COLUMNS(waits, PfsNodeWaitRow, WAITS_COLUMNS)

static void
add_wait_cb(const PfsNodeWaitRow *row, void *arg)
{
	*(PfsNodeWaitRow *) pfs_scan_add(arg) = *row;
}

static void
waits_copy(PfsScan *scan)
{
	pfs_node_waits_read(scan->instrument, add_wait_cb, scan);
}

const PfsTable pfs_table_waits_by_plan_node = {
	PFS_TABLE("events_waits_summary_by_plan_node", waits, "own",
			  "one kind of wait of one node of one plan",
			  "zeroes it",
			  "What each node of plans waited for, in the executions that were measured. They are waits of the statement, which "
			  "events_waits_summary_by_digest has, too; those of nested statements are these's. TRUNCATE zeroes it."),
	.containers = {&pfs_node_waits},
	.copy = waits_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_node_waits_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- plan_nodes_current ---- */

#define CURRENT_COLUMNS(X, t) \
	X(t, thread_id, bigint, none, row->thread_id, "Thread that executes it: of a parallel worker its own.") \
	X(t, event_id, bigint, none, PFS_NULL_IF_0(row->event_id), \
	  "Its statement, as in events_statements_current. NULL in a parallel worker.") \
	X(t, query_id, bigint, none, PFS_NULL_IF_0(row->digest.query_id), \
	  "The server's query identifier. NULL without the rights of its user or pg_read_all_stats.", .hidden = true) \
	X(t, plan_id, bigint, none, PFS_NULL_IF_0(row->plan_id), \
	  "Which plan, as in plans_summary_by_digest. NULL without the rights of its user or pg_read_all_stats.", .hidden = true) \
	X(t, node_id, bigint, none, row->facts.number, NODE_ID) \
	FACTS_COLUMNS(X, t, &row->facts, row->has_facts, PFS_DIGEST_DATABASE(row->digest.db_user)) \
	X(t, is_running, text, none, row->is_running ? "YES" : "NO", \
	  "YES: a call of it goes on whose time is being taken; of a node that is called often not all are.", .width = 3) \
	X(t, loops, bigint, count, PFS_NULL_IF(row->is_dropped, row->loops), \
	  "How often it was begun by now. NULL, as rows and times: it is not counted any more, as that would cost too much.") \
	X(t, rows, bigint, count, PFS_NULL_IF(row->is_dropped, row->rows), "Rows that it has returned by now.") \
	X(t, estimated_rows, float8, none, PFS_NULL_IF(!row->has_facts, row->facts.rows), \
	  "The planner's estimate of the rows of one loop.", .width = 10) \
	X(t, timer_total, numeric, picoseconds, PFS_NULL_IF(row->is_dropped, pfs_ticks_as_ps(row->total)), \
	  "Time in it and in the nodes that it has called, with that of the call that goes on, in picoseconds.", .width = 14) \
	X(t, timer_self, numeric, picoseconds, PFS_NULL_IF(row->is_dropped, pfs_ticks_as_ps(row->self)), \
	  "Time in it alone, in picoseconds.", .width = 14) \
	X(t, timer_wait, numeric, picoseconds, pfs_ticks_as_ps(row->waited), \
	  "Time in waits that it has ended, in picoseconds.", .width = 14) \
	X(t, measured_since, timestamptz, none, row->since, "When the statement's plan began to run.")

PFS_COLUMNS(current, PfsNodeNow, CURRENT_COLUMNS)

static void
add_now_cb(const PfsNodeNow *row, void *arg)
{
	*(PfsNodeNow *) pfs_scan_add(arg) = *row;
}

static void
current_copy(PfsScan *scan)
{
	pfs_nodes_now_read(add_now_cb, scan);
}

const PfsTable pfs_table_plan_nodes_current = {
	PFS_TABLE("plan_nodes_current", current, "own",
			  "one node of the plan of a statement that runs now",
			  "refused",
			  "Where statements are, and how far: rows and times by node of plans that are executed and measured now."),
	.containers = {&pfs_nodes},
	.copy = current_copy,
	.role = pfs_digest_row_role,
};
