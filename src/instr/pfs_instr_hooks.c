/*
 * pfs_instr_hooks.c
 *	  The server's hooks for statements: parse analysis, planner, executor,
 *	  utilities.
 *
 * A hook says what it is called for, and pfs_statement_call.c finds out which
 * statement that is.  Each calls on exactly once, and touches nothing of its
 * arguments that the callee may have freed.  They are set when the server starts,
 * behind the _PG_init of all libraries, so that they are the outermost ones
 * whatever the order of loading: pg_stat_statements takes query numbers away.
 *
 * Parallel workers have no statement of their own.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "pfs_compat_hooks.h"
#include "pfs_digest_wait.h"
#include "pfs_instr_digest.h"
#include "pfs_error.h"
#include "pfs_instr.h"
#include "pfs_instr_prepared.h"
#include "pfs_instr_twophase.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_rows.h"
#include "pfs_statement_fast.h"

static post_parse_analyze_hook_type prev_post_parse_analyze = NULL;
static planner_hook_type prev_planner = NULL;
static PFS_NEAR ExecutorStart_hook_type prev_executor_start = NULL;
static PFS_NEAR ExecutorRun_hook_type prev_executor_run = NULL;
static PFS_NEAR ExecutorFinish_hook_type prev_executor_finish = NULL;
static PFS_NEAR ExecutorEnd_hook_type prev_executor_end = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

static inline PfsThread *
any_thread(void)
{
	return IsParallelWorker() ? NULL : pfs_thread_here();
}

/* Is nothing wanted of any process, and nothing open?  thread() would say NULL. */
static inline bool
is_idle(void)
{
	return !pfs_sql.top_open && pfs_sql.open == NULL &&
		((pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STATEMENT]) |
		  pfs_load_relaxed(&pfs_words->class_flags[PFS_CLASS_STAGE])) & PFS_FLAG_ENABLED) == 0;
}

/* NULL: nobody wants to know.  How deep hooks are nested is known all the same. */
static inline PfsThread *
thread(void)
{
	PfsThread  *t = any_thread();

	return t != NULL && pfs_statement_is_wanted(t) ? t : NULL;
}

static inline void
set_portal(PfsStatementSource *source)
{
	Portal		portal = ActivePortal;

	source->portal = portal;
	source->portal_time = portal != NULL ? portal->creation_time : 0;
}

static CommandTag
tag_of_query(const Query *query)
{
	return query->commandType == CMD_UTILITY ? CreateCommandTag(query->utilityStmt)
		: CreateCommandTag((Node *) query);
}

static void
parse_analyze_cb(ParseState *pstate, Query *query, JumbleState *jumble)
{
	PfsThread  *t = thread();

	pfs_hook_called(PFS_HOOK_PARSE_ANALYZE);
	if (t != NULL)
	{
		PfsStatementSource source = {0};

		pfs_prepared_parses++;
		source.str = pstate->p_sourcetext;
		source.location = query->stmt_location;
		source.len = query->stmt_len;
		source.query_id = query->queryId;
		source.tag = tag_of_query(query);
		pfs_statement_parsed(t, &source);
		pfs_digest_text_parsed(t, source.str, source.location, source.len, query->commandType, source.query_id,
							   jumble);
	}
	if (prev_post_parse_analyze)
		prev_post_parse_analyze(pstate, query, jumble);
}

static PlannedStmt *
planner_cb(Query *query, const char *str, int options, ParamListInfo params)
{
	PfsThread  *t = thread();
	PlannedStmt *result;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_PLANNER);
	if (t == NULL)
		pfs_sql.nest++;
	else
	{
		PfsStatementSource source = {0};

		source.str = str;

		source.location = query->stmt_location;
		source.len = query->stmt_len;
		source.query_id = query->queryId;
		source.tag = tag_of_query(query);
		set_portal(&source);
		pfs_call_plan(t, &call, &source);
	}
	result = prev_planner ? prev_planner(query, str, options, params)
		: standard_planner(query, str, options, params);
	if (t == NULL)
		pfs_sql.nest--;
	else
		pfs_call_plan_end(t, &call);
	return result;
}

static inline void
describe(PfsStatementSource *source, const QueryDesc *desc)
{
	const PlannedStmt *stmt = desc->plannedstmt;

	source->str = desc->sourceText;
	source->location = stmt->stmt_location;
	source->len = stmt->stmt_len;
	source->query_id = stmt->queryId;
	/* Nearly always, and the call would cost more than the answer. */
	source->tag = stmt->commandType == CMD_SELECT && stmt->rowMarks == NIL ? CMDTAG_SELECT
		: CreateCommandTag((Node *) stmt);
	source->query = desc;
	set_portal(source);
}

static inline bool
is_select(const QueryDesc *desc)
{
	return desc->operation == CMD_SELECT;
}

static inline uint64
rows_sent(const QueryDesc *desc)
{
	return is_select(desc) || desc->plannedstmt->hasReturning ? desc->estate->es_processed : 0;
}

/* After a run: those of WITH, too, that it has come to. */
static inline uint64
rows_affected(const QueryDesc *desc)
{
	uint64		rows = is_select(desc) ? 0 : desc->estate->es_processed;

	return unlikely(desc->plannedstmt->hasModifyingCTE) ? rows + pfs_rows_of_with(desc) : rows;
}

/* The same after the executor's finish, which completes WITH. */
static inline uint64
rows_finished(const QueryDesc *desc)
{
	return unlikely(desc->plannedstmt->hasModifyingCTE) ? pfs_rows_of_with(desc) : 0;
}

/* Is it the plan of the EXECUTE that the process is in? */
static inline bool
is_of_execute(void)
{
	return unlikely(pfs_execute.nest != 0) && pfs_sql.nest == pfs_execute.nest && ActivePortal != pfs_execute.portal;
}

/*
 * Each hook of the executor has three ways, in functions of their own, so that
 * none pays for the registers that another one needs: the short way, the long way, and
 * the one of idleness, which counts the nesting only.
 */
static inline void
call_executor_start(QueryDesc *desc, int eflags)
{
	if (prev_executor_start)
		prev_executor_start(desc, eflags);
	else
		standard_ExecutorStart(desc, eflags);
}

static pg_noinline void
executor_start_long_way(QueryDesc *desc, int eflags)
{
	PfsThread  *t = thread();
	PfsStatementSource source;
	PfsCall		call;

	if (t == NULL)
	{
		pfs_sql.nest++;
		call_executor_start(desc, eflags);
		pfs_sql.nest--;
		return;
	}
	describe(&source, desc);
	pfs_call_executor_start(t, &call, &source);
	call_executor_start(desc, eflags);
	pfs_call_executor_start_end(t, &call);
}

static pg_noinline void
executor_start_short_way(QueryDesc *desc, int eflags)
{
	PfsThread  *t = pfs_my_thread;
	PfsStatementSource source;

	describe(&source, desc);
	pfs_top_start(t, &source);
	call_executor_start(desc, eflags);
	pfs_top_start_end(t);
}

static void
executor_start_cb(QueryDesc *desc, int eflags)
{
	PfsThread  *t = pfs_my_thread;

	pfs_hook_called(PFS_HOOK_EXECUTOR_START);
	if (likely(t != NULL))
		pfs_error_settle(t);
	if (pfs_top_may_start(t, ActivePortal))
		executor_start_short_way(desc, eflags);
	else if (is_idle())
	{
		pfs_sql.nest++;
		call_executor_start(desc, eflags);
		pfs_sql.nest--;
	}
	else
		executor_start_long_way(desc, eflags);
}

/* Workers that the plan's Gather nodes started last. */
static bool
count_workers(PlanState *state, void *arg)
{
	if (IsA(state, GatherState))
		*(uint64 *) arg += ((GatherState *) state)->nworkers_launched;
	else if (IsA(state, GatherMergeState))
		*(uint64 *) arg += ((GatherMergeState *) state)->nworkers_launched;
	return planstate_tree_walker(state, count_workers, arg);
}

static pg_noinline uint64
parallel_workers_of(PlanState *state)
{
	uint64		n = 0;

	if (state != NULL)
		count_workers(state, &n);
	return n;
}

static inline uint64
parallel_workers(const QueryDesc *desc)
{
	return unlikely(desc->plannedstmt->parallelModeNeeded) ? parallel_workers_of(desc->planstate) : 0;
}

static inline void
call_executor_run_only(PFS_EXECUTOR_RUN_PARAMS)
{
	if (prev_executor_run)
		prev_executor_run(PFS_EXECUTOR_RUN_ARGS);
	else
		standard_ExecutorRun(PFS_EXECUTOR_RUN_ARGS);
}

/* Workers have to know whom they work for; rows of WITH have to be watched. */
static pg_noinline void
call_executor_run_unusual(PFS_EXECUTOR_RUN_PARAMS)
{
	PfsThread  *t = desc->plannedstmt->parallelModeNeeded ? pfs_my_thread : NULL;
	PfsDigestKey outer = {0, 0};

	if (desc->plannedstmt->hasModifyingCTE)
		pfs_rows_watch_with(desc);
	if (t != NULL)
		outer = pfs_digest_publish(t);
	call_executor_run_only(PFS_EXECUTOR_RUN_ARGS);
	if (t != NULL)
		pfs_digest_publish_again(t, &outer);
}

static inline void
call_executor_run(PFS_EXECUTOR_RUN_PARAMS)
{
	if (unlikely(desc->plannedstmt->parallelModeNeeded | desc->plannedstmt->hasModifyingCTE))
		call_executor_run_unusual(PFS_EXECUTOR_RUN_ARGS);
	else
		call_executor_run_only(PFS_EXECUTOR_RUN_ARGS);
}

static pg_noinline void
executor_run_long_way(PFS_EXECUTOR_RUN_PARAMS)
{
	PfsThread  *t = thread();
	PfsStatementSource source;
	PfsCall		call;
	uint64		affected;

	if (t == NULL)
	{
		pfs_sql.nest++;
		call_executor_run(PFS_EXECUTOR_RUN_ARGS);
		pfs_sql.nest--;
		return;
	}
	describe(&source, desc);
	pfs_call_run(t, &call, &source);
	/* What a portal returns in parts is one execution. */
	if (!desc->already_executed)
		pfs_prepared_note(t);
	call_executor_run(PFS_EXECUTOR_RUN_ARGS);
	affected = rows_affected(desc);
	pfs_call_run_end(t, &call, rows_sent(desc), affected, parallel_workers(desc));
	if (is_of_execute())
		pfs_execute.affected += affected;
}

static pg_noinline void
executor_run_short_way(PFS_EXECUTOR_RUN_PARAMS)
{
	PfsThread  *t = pfs_my_thread;
	uint64		start = pfs_top_run(t);

	pfs_prepared_note(t);
	call_executor_run(PFS_EXECUTOR_RUN_ARGS);
	pfs_top_run_end(t, start, rows_sent(desc), rows_affected(desc), parallel_workers(desc));
}

static void
executor_run_cb(PFS_EXECUTOR_RUN_PARAMS)
{
	pfs_hook_called(PFS_HOOK_EXECUTOR_RUN);
	if (pfs_top_is_first_run(desc))
		executor_run_short_way(PFS_EXECUTOR_RUN_ARGS);
	else if (is_idle())
	{
		pfs_sql.nest++;
		call_executor_run_only(PFS_EXECUTOR_RUN_ARGS);
		pfs_sql.nest--;
	}
	else
		executor_run_long_way(PFS_EXECUTOR_RUN_ARGS);
}

static inline void
call_executor_finish(QueryDesc *desc)
{
	if (prev_executor_finish)
		prev_executor_finish(desc);
	else
		standard_ExecutorFinish(desc);
}

static pg_noinline void
executor_finish_long_way(QueryDesc *desc)
{
	PfsThread  *t = thread();
	PfsCall		call;
	uint64		affected;

	if (t == NULL)
	{
		pfs_sql.nest++;
		call_executor_finish(desc);
		pfs_sql.nest--;
		return;
	}
	pfs_call_finish(t, &call, desc);
	call_executor_finish(desc);
	affected = rows_finished(desc);
	pfs_call_finish_end(t, &call, affected);
	if (is_of_execute())
		pfs_execute.affected += affected;
}

static pg_noinline void
executor_finish_short_way(QueryDesc *desc)
{
	bool		counts = !is_select(desc) || desc->plannedstmt->hasModifyingCTE;
	PfsThread  *t = pfs_my_thread;
	uint64		start = pfs_top_finish(t, counts);

	call_executor_finish(desc);
	if (counts)
		pfs_sql.top.n[PFS_N_ROWS_AFFECTED] += rows_finished(desc);
	pfs_top_finish_end(t, start, counts);
}

static void
executor_finish_cb(QueryDesc *desc)
{
	pfs_hook_called(PFS_HOOK_EXECUTOR_FINISH);
	if (pfs_top_is_fast(desc))
		executor_finish_short_way(desc);
	else if (is_idle())
	{
		pfs_sql.nest++;
		call_executor_finish(desc);
		pfs_sql.nest--;
	}
	else
		executor_finish_long_way(desc);
}

static inline void
call_executor_end(QueryDesc *desc)
{
	if (prev_executor_end)
		prev_executor_end(desc);
	else
		standard_ExecutorEnd(desc);
}

/* The descriptor is freed only afterwards, and its text lives longer. */
static pg_noinline void
executor_end_long_way(QueryDesc *desc)
{
	PfsThread  *t = thread();
	PfsStatementSource source;
	PfsCall		call;

	if (t == NULL)
	{
		pfs_sql.nest++;
		call_executor_end(desc);
		pfs_sql.nest--;
		return;
	}
	pfs_call_executor_end(t, &call, desc);
	call_executor_end(desc);
	describe(&source, desc);
	pfs_call_executor_end_end(t, &call, &source);
}

static pg_noinline void
executor_end_short_way(QueryDesc *desc)
{
	PfsThread  *t = pfs_my_thread;

	pfs_top_executor_end(t);
	call_executor_end(desc);
	pfs_top_executor_end_end(t);
}

static void
executor_end_cb(QueryDesc *desc)
{
	pfs_hook_called(PFS_HOOK_EXECUTOR_END);
	if (pfs_top_is_fast(desc))
		executor_end_short_way(desc);
	else if (is_idle())
	{
		pfs_sql.nest++;
		call_executor_end(desc);
		pfs_sql.nest--;
	}
	else
		executor_end_long_way(desc);
}

/* What is needed of a transaction command when its tree may be gone. */
typedef struct TransactionCommand
{
	PfsTransactionCommand command;
	bool		rolls_back;
	bool		chain;
	uint64		trx_id;			/* of the prepared transaction that is
								 * finished */
	char		gid[PFS_GID_SIZE];
} TransactionCommand;

static void
read_transaction_command(TransactionCommand *c, const Node *utility)
{
	const TransactionStmt *stmt = (const TransactionStmt *) utility;

	c->command = PFS_COMMAND_OTHER;
	c->rolls_back = c->chain = false;
	c->trx_id = 0;
	if (!IsA(utility, TransactionStmt))
		return;
	switch (stmt->kind)
	{
		case TRANS_STMT_BEGIN:
		case TRANS_STMT_START:
			c->command = PFS_COMMAND_BEGIN;
			break;
		case TRANS_STMT_SAVEPOINT:
			c->command = PFS_COMMAND_SAVEPOINT;
			break;
		case TRANS_STMT_ROLLBACK_TO:
			c->command = PFS_COMMAND_ROLLBACK_TO;
			break;
		case TRANS_STMT_RELEASE:
			c->command = PFS_COMMAND_RELEASE;
			break;
		case TRANS_STMT_PREPARE:
			c->command = PFS_COMMAND_PREPARE;
			strlcpy(c->gid, stmt->gid, sizeof(c->gid));
			break;
		case TRANS_STMT_COMMIT_PREPARED:
		case TRANS_STMT_ROLLBACK_PREPARED:
			c->command = PFS_COMMAND_FINISH_PREPARED;
			strlcpy(c->gid, stmt->gid, sizeof(c->gid));
			break;
		case TRANS_STMT_ROLLBACK:
			c->rolls_back = true;
			c->chain = stmt->chain;
			break;
		case TRANS_STMT_COMMIT:
			c->chain = stmt->chain;
			break;
		default:
			break;
	}
}

/*
 * Rows that a utility handed to its caller, and those that it wrote.  sent: what its
 * receiver counted, if it has one that counts; executed: by the plan of EXECUTE.
 */
static void
count_rows(NodeTag utility, const QueryCompletion *qc, uint64 executed, uint64 *sent, uint64 *affected)
{
	*affected = 0;
	if (utility == T_ExecuteStmt)
		*affected = executed;
	if (qc == NULL)
		return;
	switch (utility)
	{
		case T_FetchStmt:
			/* MOVE returns none. */
			if (qc->commandTag == CMDTAG_FETCH)
				*sent = qc->nprocessed;
			break;
		case T_CopyStmt:
		case T_CreateTableAsStmt:
		case T_RefreshMatViewStmt:
			*affected = qc->nprocessed;
			break;
		default:
			break;
	}
}

static void
process_utility_cb(PlannedStmt *stmt, const char *str, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc)
{
	/* What a utility does by calling itself is no statement. */
	PfsThread  *t = context == PROCESS_UTILITY_SUBCOMMAND ? NULL : any_thread();
	NodeTag		utility = nodeTag(stmt->utilityStmt);
	TransactionCommand command;
	PfsDigestKey outer;
	PfsPreparedCommand prepared;
	PfsExecute	outer_execute = pfs_execute;
	PfsRowCounter counter;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_PROCESS_UTILITY);
	if (t != NULL)
	{
		PfsStatementSource source = {0};

		pfs_error_settle(t);
		source.str = str;

		source.location = stmt->stmt_location;
		source.len = stmt->stmt_len;
		source.query_id = stmt->queryId;
		source.tag = CreateCommandTag(stmt->utilityStmt);
		set_portal(&source);
		read_transaction_command(&command, stmt->utilityStmt);
		pfs_call_utility(t, &call, &source);
		/* Behind the command nobody knows it any more. */
		if (command.command == PFS_COMMAND_FINISH_PREPARED && pfs_transaction.event != NULL)
			command.trx_id = pfs_prepared_trx_id(command.gid);
		outer = pfs_digest_publish(t);
		pfs_prepared_command(t, &prepared, stmt->utilityStmt, call.statement);
		dest = pfs_rows_receiver(&counter, utility, dest);
		pfs_execute = (PfsExecute)
		{
			utility == T_ExecuteStmt ? pfs_sql.nest : 0, ActivePortal, 0
		};
	}
	if (prev_process_utility)
		prev_process_utility(stmt, str, read_only_tree, context, params, environment, dest, qc);
	else
		standard_ProcessUtility(stmt, str, read_only_tree, context, params, environment, dest, qc);
	if (t != NULL)
	{
		uint64		sent = counter.rows;
		uint64		affected;

		pfs_digest_publish_again(t, &outer);
		count_rows(utility, qc, pfs_execute.affected, &sent, &affected);
		pfs_execute = outer_execute;
		pfs_call_utility_end(t, &call, sent, affected);
		pfs_prepared_command_end(t, &prepared);
		pfs_transaction_command(t, command.command, command.gid, command.trx_id);
		if (command.chain)
			pfs_transaction_command(t, PFS_COMMAND_CHAIN, NULL, 0);
		if (command.rolls_back)
			pfs_statement_stage(t, PFS_STAGE_ROLLBACK);
	}
}

#define SET_HOOK(number, hook, prev, cb) \
	do { \
		prev = hook; \
		hook = cb; \
		pfs_hook_report(number, #hook, &hook, &prev); \
	} while (0)

void
pfs_instr_hooks_start(void)
{
	SET_HOOK(PFS_HOOK_PARSE_ANALYZE, post_parse_analyze_hook, prev_post_parse_analyze, parse_analyze_cb);
	SET_HOOK(PFS_HOOK_PLANNER, planner_hook, prev_planner, planner_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_START, ExecutorStart_hook, prev_executor_start, executor_start_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_RUN, ExecutorRun_hook, prev_executor_run, executor_run_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_FINISH, ExecutorFinish_hook, prev_executor_finish, executor_finish_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_END, ExecutorEnd_hook, prev_executor_end, executor_end_cb);
	SET_HOOK(PFS_HOOK_PROCESS_UTILITY, ProcessUtility_hook, prev_process_utility, process_utility_cb);
}
