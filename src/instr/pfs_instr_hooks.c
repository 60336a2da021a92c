/*
 * pfs_instr_hooks.c
 *	  The server's hooks for statements: parse analysis, planner, executor.
 *
 * Here is what depends on a hook's arguments: what the server says of the statement,
 * and how many rows it returned and changed.  pfs_instr_call.c finds out which
 * statement a call belongs to.  Each function passes the call on exactly once, and
 * touches nothing of its arguments that the callee may have freed.  They are set when
 * the server starts, behind the _PG_init of all libraries, so that they are the
 * outermost ones whatever the order of loading: pg_stat_statements takes query numbers
 * away.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "pfs_compat_hooks.h"
#include "pfs_digest_wait.h"
#include "pfs_instr_digest.h"
#include "pfs_error.h"
#include "pfs_instr_call.h"
#include "pfs_plan.h"
#include "pfs_plan_node.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_rows.h"
#include "pfs_instr_table.h"
#include "pfs_query_id.h"
#include "pfs_rel_io.h"

/* Who was called before: another library, or the server's own function. */
static post_parse_analyze_hook_type prev_post_parse_analyze = NULL;
static planner_hook_type prev_planner;
static PFS_FIXED_FIRST ExecutorStart_hook_type prev_executor_start = NULL;
static PFS_FIXED_FIRST ExecutorRun_hook_type prev_executor_run = NULL;
static PFS_FIXED ExecutorFinish_hook_type prev_executor_finish = NULL;
static PFS_FIXED_FIRST ExecutorEnd_hook_type prev_executor_end = NULL;

/* Who is called with the finish of a plain statement at which nothing is counted. */
static PFS_FIXED_FIRST ExecutorFinish_hook_type finish_plain = NULL;

/* Fills in what the analysed query says of its statement. */
static inline void
describe(PfsStatementSource *source, const char *str, const Query *query)
{
	source->str = str;
	source->location = query->stmt_location;
	source->len = query->stmt_len;
	source->tag = CreateCommandTag((Node *) query);
	source->query_id = pfs_query_id(source->tag, query->queryId);
	source->command = query->commandType;
}

/*
 * Gives a client's statement its name, and its digest a text, when it is analysed.  The
 * server calls this hook when the analysis is over, so it is no call that can be active.
 */
static void
parse_analyze_cb(ParseState *pstate, Query *query, PfsJumbleState *jumble)
{
	PfsThread  *t = pfs_call_thread();
	bool		is_plain = pfs_plain.state == PFS_PLAIN_ARRIVED && pfs_plain_is_named(t, query, pstate->p_sourcetext);
	PfsStatementSource source = {0};

	if (!is_plain)
		pfs_plain_leave(t);
	pfs_hook_called(PFS_HOOK_PARSE_ANALYZE);
	/* Also in a parallel worker, whose statements are its leader's. */
	pfs_tables_watch(pfs_my_thread);
	pfs_texts_parsed++;
	if (t != NULL && (is_plain || pfs_statement_is_wanted(t)))
	{
		describe(&source, pstate->p_sourcetext, query);
		if (!is_plain)
			pfs_call_parsed(t, &source);
		pfs_digest_text_parsed(t, &source, jumble);
	}
	if (prev_post_parse_analyze == NULL)
		return;
	prev_post_parse_analyze(pstate, query, jumble);
	if (unlikely(query->queryId == 0) && source.query_id != 0)
		pfs_query_id_taken(&source);
}

/* Is it a plain statement that is planned now?  What has been prepared gets its name here. */
static inline bool
plain_is_planned(const Query *query, const char *str)
{
	if (pfs_plain.state == PFS_PLAIN_ARRIVED && !pfs_digest_may_lack_text(query->queryId))
		(void) pfs_plain_is_named(pfs_my_thread, query, str);
	return pfs_plain.state == PFS_PLAIN_NAMED && pfs_plain.open.event->query_id == query->queryId && query->queryId != 0 &&
		!pfs_is_writing(pfs_my_thread);
}

/*
 * Passes a call of the planner on, for the statement at top level or a nested one.
 */
static PlannedStmt *
planner_cb(PFS_PLANNER_PARAMS)
{
	PlannedStmt *result;
	PfsCall		call;

	pfs_plan_forget(query->queryId);
	if (pfs_are_hooks_off())
		return prev_planner(PFS_PLANNER_ARGS);
	pfs_hook_called(PFS_HOOK_PLANNER);
	pfs_plain_follows(pfs_my_thread);
	if (likely(plain_is_planned(query, str)) && (!pfs_plain_has_stages() || pfs_plain_comes_to(PFS_STAGE_PLAN)))
	{
		uint64		start = pfs_plain_now();
		uint64		now;

		pfs_plain.state = PFS_PLAIN_PLANNING;
		result = prev_planner(PFS_PLANNER_ARGS);
		now = pfs_plain_now();
		if (likely(pfs_plain.state == PFS_PLAIN_PLANNING))
		{
			if (likely(now > start))
				pfs_plain.open.event->n[PFS_N_PLAN_TIME] += now - start;
			pfs_plain.is_planned = true;
			pfs_plain.state = PFS_PLAIN_NAMED;
			return result;
		}
		pfs_call_plain_left(&call, NULL, start);
		if (pfs_call_end(&call))
			pfs_call_plan_end(&call);
		return result;
	}
	pfs_tables_watch(pfs_my_thread);
	if (pfs_call_begin(&call))
	{
		PfsStatementSource source = {0};

		describe(&source, str, query);
		pfs_call_set_portal(&source);
		pfs_call_plan_begin(&call, &source);
	}
	result = prev_planner(PFS_PLANNER_ARGS);
	if (pfs_call_end(&call))
		pfs_call_plan_end(&call);
	return result;
}

/* ---- rows of the executor ---- */

static inline uint64
rows_sent(const QueryDesc *desc)
{
	return desc->operation == CMD_SELECT || desc->plannedstmt->hasReturning ? desc->estate->es_processed : 0;
}

/* After a run: those of WITH, too, that it has come to. */
static inline uint64
rows_affected(const QueryDesc *desc)
{
	uint64		rows = desc->operation == CMD_SELECT ? 0 : desc->estate->es_processed;

	return unlikely(desc->plannedstmt->hasModifyingCTE) ? rows + pfs_rows_of_with(desc) : rows;
}

/* Counts what a call has written for the EXECUTE around it, too, if it was one of its plan. */
static inline void
count_for_execute(const PfsCall *call, uint64 affected)
{
	PfsStatement *outer = call->outer;

	if (unlikely(outer != NULL && outer->is_execute) && ActivePortal != outer->portal)
		outer->executed += affected;
}

/* ---- the executor's hooks ---- */

/* Ends a start in which the general code has taken the plain statement over. */
static pg_noinline void
start_left(const QueryDesc *desc)
{
	PfsCall		call;

	pfs_call_plain_left(&call, desc, 0);
	if (pfs_call_end(&call))
		pfs_call_executor_start_end(&call);
}

/* The start of a plain statement, which pfs_plain_starts() or pfs_plain_nests() has noted. */
static void
plain_start(QueryDesc *desc, int eflags)
{
	PfsStoredStatement *e = pfs_plain.open.event;

	pfs_store_relaxed(&e->plan_id, pfs_plan_id(desc->plannedstmt, e->user));
	prev_executor_start(desc, eflags);
	if (likely(pfs_plain.state == PFS_PLAIN_STARTING))
		pfs_plain.state = PFS_PLAIN_STARTED;
	else
		start_left(desc);
}

/*
 * Any other start of the executor.  Flushes errors before: one that was caught in the meantime has been
 * handled when another statement begins.
 */
static pg_noinline void
general_start(QueryDesc *desc, int eflags)
{
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_START);
	pfs_tables_watch(pfs_my_thread);
	if (likely(pfs_my_thread != NULL))
		pfs_error_flush(pfs_my_thread);
	/* Its plan is a part of the leader's, which says whether it is measured. */
	if (unlikely(IsParallelWorker()))
		pfs_plan_to_measure = desc->plannedstmt;
	if (pfs_call_begin(&call))
		pfs_call_executor_start_begin(&call, desc, eflags);
	prev_executor_start(desc, eflags);
	if (pfs_call_end(&call))
		pfs_call_executor_start_end(&call);
}

/* The start where something is on: of a plain statement, or of any other. */
static pg_noinline void
any_start(QueryDesc *desc, int eflags)
{
	const PlannedStmt *stmt = desc->plannedstmt;

	pfs_plain_follows(pfs_my_thread);
	if (likely(pfs_plain.state == PFS_PLAIN_ARRIVED || pfs_plain.state == PFS_PLAIN_NAMED) &&
		likely(pfs_plain_starts(pfs_my_thread, stmt, stmt->queryId, desc->sourceText, desc)) &&
		(!pfs_plain_has_stages() || pfs_plain_starts_stage()))
		plain_start(desc, eflags);
	else if (pfs_plain.state == PFS_PLAIN_RUNS && pfs_plain_nests(pfs_my_thread, desc))
		plain_start(desc, eflags);
	else
		general_start(desc, eflags);
	pfs_plan_started(desc);
}

/*
 * Passes a start on.  This function and those of the other hooks of the executor only choose, so that
 * where nothing is on they cost a comparison or two.
 */
static void
executor_start_cb(QueryDesc *desc, int eflags)
{
	if (pfs_are_hooks_off() && likely(pfs_open_error.sqlstate == 0))
		prev_executor_start(desc, eflags);
	else
		any_start(desc, eflags);
}

/* The run itself; of a plan that is measured with its nodes. */
static pg_attribute_always_inline void
call_run(PFS_EXECUTOR_RUN_PARAMS)
{
	if (unlikely(pfs_node_queries != NULL))
		pfs_nodes_run(prev_executor_run, PFS_EXECUTOR_RUN_ARGS);
	else
		prev_executor_run(PFS_EXECUTOR_RUN_ARGS);
}

/* Ends a run, which began so, in which the general code has taken the plain statement over. */
static pg_noinline void
run_left(const QueryDesc *desc, PfsUsage usage, uint64 start)
{
	PfsCall		call;

	call.usage = usage;
	pfs_call_plain_left(&call, desc, start);
	if (pfs_call_end(&call))
	{
		pfs_call_run_end(&call, rows_sent(desc), rows_affected(desc), 0);
		count_for_execute(&call, rows_affected(desc));
	}
}

/*
 * Any other run.  Workers have to know for which digest they work, and rows of WITH have to be
 * watched while the query runs.
 */
static pg_noinline void
general_run(PFS_EXECUTOR_RUN_PARAMS)
{
	bool		parallel = desc->plannedstmt->parallelModeNeeded;
	uint64		outer_writes = pfs_rel_writes_begin();
	bool		first = !desc->already_executed;
	PfsLead		lead;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_RUN);
	pfs_tables_begin_query(desc->estate);
	if (pfs_call_begin(&call))
	{
		pfs_call_run_begin(&call, desc, PFS_EXECUTOR_RUN_IN_PARTS);
		if (unlikely(desc->plannedstmt->hasModifyingCTE))
			pfs_rows_watch_with(desc);
		if (unlikely(parallel))
			pfs_workers_lead(call.thread, &lead, desc);
	}
	call_run(PFS_EXECUTOR_RUN_ARGS);
	pfs_rel_writes_end(outer_writes);
	if (unlikely(parallel) && call.thread != NULL)
		pfs_lead_end(call.thread, &lead);
	if (pfs_call_end(&call))
	{
		uint64		affected = rows_affected(desc);

		pfs_call_run_end(&call, rows_sent(desc), affected, first ? pfs_workers_launched(desc) : 0);
		count_for_execute(&call, affected);
	}
}

/* The first run of a plain statement, without workers, and without WITH that writes. */
static pg_noinline void
plain_run(PFS_EXECUTOR_RUN_PARAMS)
{
	PfsUsage	usage;
	uint64		start;

	if (pfs_plain_has_stages() && unlikely(!pfs_plain_comes_to(PFS_STAGE_EXECUTE)))
	{
		general_run(PFS_EXECUTOR_RUN_ARGS);
		return;
	}
	start = pfs_plain_runs(&usage);
	call_run(PFS_EXECUTOR_RUN_ARGS);
	if (likely(pfs_plain_has_run(desc, &usage, start)))
	{
		uint64		rows = desc->estate->es_processed;

		if (likely(desc->operation == CMD_SELECT || desc->plannedstmt->hasReturning))
			pfs_plain.open.event->n[PFS_N_ROWS_SENT] = rows;
		if (desc->operation != CMD_SELECT)
		{
			pfs_plain_rare()[PFS_N_ROWS_AFFECTED - PFS_N_RARE] = rows;
			if (pfs_plain.depth == 1 && pfs_plain.is_utility && ActivePortal != pfs_plain.around[0].portal)
				pfs_plain.executed += rows;
		}
	}
	else
	{
		/* What is handed over itself would be kept in memory from the begin. */
		PfsUsage	then = usage;

		run_left(desc, then, start);
	}
}

/* Passes a run on. */
static void
executor_run_cb(PFS_EXECUTOR_RUN_PARAMS)
{
	if (likely(pfs_plain_is(PFS_PLAIN_STARTED, desc)) &&
		likely(!desc->plannedstmt->parallelModeNeeded && !desc->plannedstmt->hasModifyingCTE) &&
		(likely(pfs_plain.depth == 0) || !PFS_EXECUTOR_RUN_IN_PARTS))
		plain_run(PFS_EXECUTOR_RUN_ARGS);
	else if (pfs_are_hooks_off())
		call_run(PFS_EXECUTOR_RUN_ARGS);
	else
		general_run(PFS_EXECUTOR_RUN_ARGS);
}

/* The same of a finish. */
static pg_attribute_always_inline void
call_finish(QueryDesc *desc)
{
	if (unlikely(pfs_node_queries != NULL))
		pfs_nodes_finish(prev_executor_finish, desc);
	else
		prev_executor_finish(desc);
}

/*
 * Looks at the portal when a command with RETURNING, or with WITH that writes, has had its finish: then
 * all its rows are there, and none is sent yet.
 */
static inline void
note_portal(const QueryDesc *desc)
{
	if (pfs_plain.depth == 0 && unlikely(desc->plannedstmt->hasReturning || desc->plannedstmt->hasModifyingCTE))
		pfs_portal_executed();
}

/* The finish of a plain statement that may have triggers: they run. */
static pg_noinline void
plain_finish(QueryDesc *desc)
{
	TimestampTz message = pfs_plain.open.message;
	PfsCall		call;
	uint64		start;

	pfs_plain.state = PFS_PLAIN_RUNS;
	pfs_usage_begin(&call.usage);
	start = pfs_plain_now();
	call_finish(desc);
	if (likely(pfs_plain_has_run(desc, &call.usage, start)))
	{
		note_portal(desc);
		return;
	}
	pfs_call_plain_left(&call, desc, start);
	call.statement->done = true;
	call.statement->message = message;
	if (pfs_call_end(&call))
	{
		pfs_call_finish_end(&call, desc, 0);
		if (call.statement == &pfs_sql.top)
			note_portal(desc);
	}
}

/* Any other finish of the executor, where triggers run and the parts of WITH are completed. */
static pg_noinline void
general_finish(QueryDesc *desc)
{
	bool		writes = desc->plannedstmt->hasModifyingCTE;
	uint64		outer_writes = 0;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_FINISH);
	if (unlikely(writes))
	{
		pfs_tables_begin_query(desc->estate);
		outer_writes = pfs_rel_writes_begin();
	}
	if (pfs_call_begin(&call))
	{
		pfs_call_behind_run_begin(&call, desc, PFS_STAGE_FINISH);
		if (pfs_finish_counts(desc))
			pfs_usage_begin(&call.usage);
	}
	call_finish(desc);
	if (unlikely(writes))
		pfs_rel_writes_end(outer_writes);
	if (pfs_call_end(&call))
	{
		uint64		affected = unlikely(writes) ? pfs_rows_of_with(desc) : 0;

		pfs_call_finish_end(&call, desc, affected);
		count_for_execute(&call, affected);
		if (call.statement == &pfs_sql.top)
			note_portal(desc);
	}
}

/*
 * Ends a finish or an end in which the general code has taken the plain statement over.  is_nobodys: the query's statement
 * had ended before.
 */
static pg_noinline void
end_left(QueryDesc *desc, bool is_nobodys, bool is_end)
{
	PfsCall		call;

	pfs_call_plain_left(&call, desc, 0);
	if (is_nobodys)
		call.statement = NULL;
	if (!pfs_call_end(&call))
		return;
	if (is_end)
	{
		pfs_call_executor_end_end(&call, desc);
		return;
	}
	pfs_call_finish_end(&call, desc, 0);
	if (call.statement == &pfs_sql.top)
		note_portal(desc);
}

/*
 * The finish of a plain statement without triggers, where another library may execute something, or where the
 * portal is to be looked at.
 */
static void
marked_finish(QueryDesc *desc)
{
	pfs_plain.state = PFS_PLAIN_ENDING;
	prev_executor_finish(desc);
	if (likely(pfs_plain.state == PFS_PLAIN_ENDING))
	{
		pfs_plain.state = PFS_PLAIN_RAN;
		note_portal(desc);
	}
	else
		end_left(desc, false, false);
}

/* A nested statement ends with its query. */
static pg_noinline void
nested_end(QueryDesc *desc)
{
	if (likely(pfs_plain_nested_ends(pfs_my_thread)))
		return;
	pfs_plain_leave(pfs_my_thread);
	end_left(desc, false, true);
}

/*
 * The end of a plain statement's query.  What is executed in it, as by a foreign table, is nested in the statement.  Its
 * time is counted nowhere, so the clock is not read.
 */
static inline void
plain_end(QueryDesc *desc)
{
	pfs_plain.state = PFS_PLAIN_ENDING;
	prev_executor_end(desc);
	if (unlikely(pfs_plain.state != PFS_PLAIN_ENDING))
	{
		end_left(desc, false, true);
		return;
	}
	pfs_plain.state = PFS_PLAIN_RAN;
	if (likely(pfs_plain.depth == 0))
		pfs_plain.open.query = NULL;
	else
		nested_end(desc);
}

static pg_attribute_always_inline void
call_previous(QueryDesc *desc, bool is_end)
{
	if (is_end)
		prev_executor_end(desc);
	else
		prev_executor_finish(desc);
}

/*
 * Is this a call for a query whose statement has ended, as a plain one goes on?  The server closes a
 * portal of the extended protocol when the next one takes its name.
 */
static inline bool
is_of_ended(const QueryDesc *desc)
{
	return pfs_plain.state != PFS_PLAIN_NONE && pfs_plain.depth == 0 && pfs_sql.open == NULL && pfs_plain.open.query != desc;
}

/* Passes it on: what it executes is in no statement. */
static pg_noinline void
pass_ended(QueryDesc *desc, bool is_end)
{
	pfs_plain.passes = true;
	call_previous(desc, is_end);
	pfs_plain.passes = false;
	if (unlikely(pfs_plain.state == PFS_PLAIN_NONE))
		end_left(desc, true, is_end);
}

/* The finish of a plain statement, whose stage has begun. */
static pg_attribute_always_inline void
begun_finish(QueryDesc *desc)
{
	if (pfs_finish_counts(desc))
		plain_finish(desc);
	else if (unlikely(desc->plannedstmt->hasReturning))
		marked_finish(desc);
	else
		finish_plain(desc);
}

/* The same of one whose stages are collected. */
static pg_noinline void
staged_finish(QueryDesc *desc)
{
	if (likely(pfs_plain_comes_to(PFS_STAGE_FINISH)))
		begun_finish(desc);
	else
		general_finish(desc);
}

/* The finish of any plain statement. */
static pg_attribute_always_inline void
any_plain_finish(QueryDesc *desc)
{
	if (pfs_plain_has_stages())
		staged_finish(desc);
	else
		begun_finish(desc);
}

/* Passes the finish on.  A plain statement that has switched something in its run is for the general code from here on. */
static void
executor_finish_cb(QueryDesc *desc)
{
	if (likely(pfs_plain_is(PFS_PLAIN_RAN, desc)) && likely(pfs_plain_is_on()))
		any_plain_finish(desc);
	else if (pfs_are_hooks_off())
		prev_executor_finish(desc);
	else if (is_of_ended(desc) && !pfs_finish_counts(desc))
		pass_ended(desc, false);
	else
		general_finish(desc);
}

/* Any other end of the executor. */
static pg_noinline void
general_end(QueryDesc *desc)
{
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_END);
	if (pfs_call_begin(&call))
		pfs_call_behind_run_begin(&call, desc, PFS_STAGE_EXECUTOR_END);
	prev_executor_end(desc);
	if (pfs_call_end(&call))
		pfs_call_executor_end_end(&call, desc);
}

/*
 * The end of any plain statement's query.  Where stages are collected, the statement, and this one with it, may end behind the
 * call, in a pipeline.
 */
static pg_noinline void
any_plain_end(QueryDesc *desc)
{
	if (pfs_plain_has_stages() && unlikely(!pfs_plain_comes_to(PFS_STAGE_EXECUTOR_END)))
	{
		general_end(desc);
		return;
	}
	plain_end(desc);
	if (pfs_plain_has_stages())
		pfs_plain.open.stamp = pfs_plain_now();
}

/* Passes the end on. */
static void
executor_end_cb(QueryDesc *desc)
{
	if (likely(pfs_plain_is(PFS_PLAIN_RAN, desc)))
		any_plain_end(desc);
	else if (pfs_are_hooks_off())
		prev_executor_end(desc);
	else if (is_of_ended(desc))
		pass_ended(desc, true);
	else
		general_end(desc);
}

#define SET_HOOK(number, hook, prev, standard, cb) \
	do { \
		prev = hook != NULL ? hook : standard; \
		hook = cb; \
		pfs_hook_report(number, #hook, &hook, &prev); \
	} while (0)

/* Sets the hooks, in front of whoever has them. */
void
pfs_instr_hooks_start(void)
{
	SET_HOOK(PFS_HOOK_PARSE_ANALYZE, post_parse_analyze_hook, prev_post_parse_analyze, NULL, parse_analyze_cb);
	SET_HOOK(PFS_HOOK_PLANNER, planner_hook, prev_planner, standard_planner, planner_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_START, ExecutorStart_hook, prev_executor_start, standard_ExecutorStart, executor_start_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_RUN, ExecutorRun_hook, prev_executor_run, standard_ExecutorRun, executor_run_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_FINISH, ExecutorFinish_hook, prev_executor_finish, standard_ExecutorFinish,
			 executor_finish_cb);

	/*
	 * The server's own does nothing then: it runs nothing, and raises no
	 * error.
	 */
	finish_plain = prev_executor_finish == standard_ExecutorFinish ? standard_ExecutorFinish : marked_finish;
	SET_HOOK(PFS_HOOK_EXECUTOR_END, ExecutorEnd_hook, prev_executor_end, standard_ExecutorEnd, executor_end_cb);
}
