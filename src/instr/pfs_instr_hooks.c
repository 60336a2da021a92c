/*
 * pfs_instr_hooks.c
 *	  The server's hooks for statements: parse analysis, planner, executor,
 *	  utilities.
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
#include "pfs_instr_call.h"
#include "pfs_instr_drop.h"
#include "pfs_instr_prepared.h"
#include "pfs_instr_program.h"
#include "pfs_instr_twophase.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_rows.h"
#include "pfs_instr_table.h"
#include "pfs_rel_io.h"

/* Who was called before: another library, or the server's own function. */
static post_parse_analyze_hook_type prev_post_parse_analyze = NULL;
static planner_hook_type prev_planner;
static PFS_FIXED ExecutorStart_hook_type prev_executor_start = NULL;
static PFS_FIXED ExecutorRun_hook_type prev_executor_run = NULL;
static PFS_FIXED ExecutorFinish_hook_type prev_executor_finish = NULL;
static PFS_FIXED ExecutorEnd_hook_type prev_executor_end = NULL;
static ProcessUtility_hook_type prev_process_utility;

/* Fills in what the analysed query says of its statement. */
static inline void
describe(PfsStatementSource *source, const char *str, const Query *query)
{
	source->str = str;
	source->location = query->stmt_location;
	source->len = query->stmt_len;
	source->query_id = query->queryId;
	source->tag = CreateCommandTag((Node *) query);
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

	pfs_hook_called(PFS_HOOK_PARSE_ANALYZE);
	/* Also in a parallel worker, whose statements are its leader's. */
	pfs_tables_watch(pfs_my_thread);
	pfs_prepared_parses++;
	if (t != NULL && pfs_statement_is_wanted(t))
	{
		PfsStatementSource source = {0};

		describe(&source, pstate->p_sourcetext, query);
		pfs_call_parsed(t, &source);
		pfs_digest_text_parsed(t, &source, jumble);
	}
	if (prev_post_parse_analyze)
		prev_post_parse_analyze(pstate, query, jumble);
}

/*
 * Passes a call of the planner on, for the statement at top level or a nested one.
 */
static PlannedStmt *
planner_cb(PFS_PLANNER_PARAMS)
{
	PlannedStmt *result;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_PLANNER);
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

/* Workers that the plan's Gather nodes started last; a walker of plan states. */
static bool
count_workers(PlanState *state, void *arg)
{
	if (IsA(state, GatherState))
		*(uint64 *) arg += ((GatherState *) state)->nworkers_launched;
	else if (IsA(state, GatherMergeState))
		*(uint64 *) arg += ((GatherMergeState *) state)->nworkers_launched;
	return planstate_tree_walker(state, count_workers, arg);
}

/* Workers of a query that has just run for the first time: later runs launch none. */
static inline uint64
parallel_workers(const QueryDesc *desc)
{
	uint64		n = 0;

	if (unlikely(desc->plannedstmt->parallelModeNeeded) && desc->planstate != NULL)
		count_workers(desc->planstate, &n);
	return n;
}

/* ---- the executor's hooks ---- */

/*
 * Passes the start of the executor on.  Flushes errors before: one that was caught in the
 * meantime has been handled when another statement begins.
 */
static void
executor_start_cb(QueryDesc *desc, int eflags)
{
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_START);
	pfs_tables_watch(pfs_my_thread);
	if (likely(pfs_my_thread != NULL))
		pfs_error_flush(pfs_my_thread);
	if (pfs_call_begin(&call))
		pfs_call_executor_start_begin(&call, desc);
	prev_executor_start(desc, eflags);
	if (pfs_call_end(&call))
		pfs_call_executor_start_end(&call);
}

/*
 * Workers have to know for which digest they work, and rows of WITH have to be
 * watched while the query runs.
 */
static void
executor_run_cb(PFS_EXECUTOR_RUN_PARAMS)
{
	bool		parallel = desc->plannedstmt->parallelModeNeeded;
	PfsDigestKey outer = {0, 0};
	uint64		outer_writes = pfs_rel_writes_begin();
	bool		first = !desc->already_executed;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_RUN);
	pfs_tables_begin_query(desc->estate);
	if (pfs_call_begin(&call))
	{
		pfs_call_run_begin(&call, desc);
		/* What a portal returns in parts is one execution. */
		if (first)
			pfs_prepared_note(call.thread);
		if (unlikely(desc->plannedstmt->hasModifyingCTE))
			pfs_rows_watch_with(desc);
		if (unlikely(parallel))
			outer = pfs_digest_publish(call.thread);
	}
	prev_executor_run(PFS_EXECUTOR_RUN_ARGS);
	pfs_rel_writes_end(outer_writes);
	if (unlikely(parallel) && call.thread != NULL)
		pfs_digest_publish_again(call.thread, &outer);
	if (pfs_call_end(&call))
	{
		uint64		affected = rows_affected(desc);

		pfs_call_run_end(&call, rows_sent(desc), affected, first ? parallel_workers(desc) : 0);
		count_for_execute(&call, affected);
	}
}

/*
 * Passes the finish of the executor on, where triggers run and the parts of WITH are
 * completed.
 */
static void
executor_finish_cb(QueryDesc *desc)
{
	bool		passes = !pfs_finish_counts(desc) && pfs_call_passes(desc, PFS_STAGE_FINISH);
	bool		writes = desc->plannedstmt->hasModifyingCTE;
	uint64		outer_writes = 0;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_FINISH);
	if (unlikely(writes))
	{
		pfs_tables_begin_query(desc->estate);
		outer_writes = pfs_rel_writes_begin();
	}
	if (passes)
		pfs_call_pass_begin();
	else if (pfs_call_begin(&call))
		pfs_call_finish_begin(&call, desc);
	prev_executor_finish(desc);
	if (unlikely(writes))
		pfs_rel_writes_end(outer_writes);
	if (passes)
		pfs_call_pass_end();
	else if (pfs_call_end(&call))
	{
		uint64		affected = unlikely(writes) ? pfs_rows_of_with(desc) : 0;

		pfs_call_finish_end(&call, desc, affected);
		count_for_execute(&call, affected);
	}
}

/* Passes the end of the executor on. */
static void
executor_end_cb(QueryDesc *desc)
{
	bool		passes = pfs_call_passes(desc, PFS_STAGE_EXECUTOR_END);
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_EXECUTOR_END);
	if (passes)
		pfs_call_pass_begin();
	else if (pfs_call_begin(&call))
		pfs_call_executor_end_begin(&call, desc);
	prev_executor_end(desc);
	if (passes)
	{
		pfs_call_pass_end();
		pfs_sql.top.stamp = pfs_timestamp_now();
		pfs_sql.top.query = NULL;
	}
	else if (pfs_call_end(&call))
		pfs_call_executor_end_end(&call, desc);
}

/* ---- utilities ---- */

/* What is needed of a transaction command when its tree may be gone. */
typedef struct TransactionCommand
{
	int			kind;			/* TransactionStmtKind, or
								 * PFS_NO_TRANSACTION_COMMAND */
	bool		chain;
	uint64		trx_id;			/* of the prepared transaction that is
								 * finished */
	char		gid[PFS_GID_SIZE];
} TransactionCommand;

/* Reads what a utility does to transactions, if it does anything to them. */
static void
read_transaction_command(TransactionCommand *c, const Node *utility)
{
	const TransactionStmt *stmt = (const TransactionStmt *) utility;

	c->kind = PFS_NO_TRANSACTION_COMMAND;
	c->chain = false;
	c->trx_id = 0;
	if (!IsA(utility, TransactionStmt))
		return;
	c->kind = stmt->kind;
	c->chain = stmt->chain;
	if (stmt->gid != NULL)
		strlcpy(c->gid, stmt->gid, sizeof(c->gid));
}

/*
 * Finds out how many rows a utility returned and how many it wrote.  *sent: what its
 * receiver counted, if it has one that counts; executed: what the query of EXECUTE wrote.
 */
static void
count_rows(NodeTag utility, const QueryCompletion *qc, uint64 executed, uint64 *sent, uint64 *affected)
{
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

/*
 * Passes a utility on and records it, with what it does besides: utilities make and
 * execute prepared statements, return rows, and end transactions.
 */
static void
process_utility_cb(PlannedStmt *stmt, const char *str, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc)
{
	/* What a utility does by calling itself is no statement. */
	PfsThread  *t = context == PROCESS_UTILITY_SUBCOMMAND ? NULL : pfs_call_thread();
	NodeTag		utility = nodeTag(stmt->utilityStmt);
	TransactionCommand command;
	PfsDigestKey outer;
	PfsPreparedCommand prepared;
	PfsProgramCommand program;
	uint64		outer_writes = pfs_rel_writes_begin();
	bool		watches_drops = false;
	PfsRowCounter counter;
	PfsCall		call;

	pfs_hook_called(PFS_HOOK_PROCESS_UTILITY);
	pfs_tables_watch(pfs_my_thread);
	if (t != NULL)
	{
		PfsStatementSource source = {0};

		pfs_error_flush(t);
		source.str = str;
		source.location = stmt->stmt_location;
		source.len = stmt->stmt_len;
		source.query_id = stmt->queryId;
		source.tag = CreateCommandTag(stmt->utilityStmt);
		source.command = CMD_UTILITY;
		pfs_call_set_portal(&source);
		read_transaction_command(&command, stmt->utilityStmt);
		if (pfs_call_begin(&call))
			pfs_call_utility_begin(&call, &source);
		/* Behind the command nobody knows it any more. */
		if ((command.kind == TRANS_STMT_COMMIT_PREPARED || command.kind == TRANS_STMT_ROLLBACK_PREPARED) &&
			pfs_transaction.event != NULL)
			command.trx_id = pfs_prepared_trx_id(command.gid);
		outer = pfs_digest_publish(t);
		pfs_prepared_command(t, &prepared, stmt->utilityStmt, call.statement);
		pfs_program_command(t, &program, stmt->utilityStmt);
		watches_drops = pfs_drop_command(stmt->utilityStmt);
		dest = pfs_rows_receiver(&counter, utility, dest);
	}
	prev_process_utility(stmt, str, read_only_tree, context, params, environment, dest, qc);
	pfs_rel_writes_end(outer_writes);
	if (t != NULL)
	{
		pfs_program_command_end(&program);
		if (watches_drops)
			pfs_drop_unwatch();
		pfs_digest_publish_again(t, &outer);
		if (pfs_call_end(&call))
		{
			uint64		sent = counter.rows;
			uint64		affected;

			count_rows(utility, qc, call.statement != NULL ? call.statement->executed : 0, &sent, &affected);
			pfs_call_utility_end(&call, sent, affected);
		}
		pfs_prepared_command_end(t, &prepared);
		pfs_transaction_command(t, command.kind, command.chain, command.gid, command.trx_id);
		if (command.kind == TRANS_STMT_ROLLBACK)
			pfs_statement_stage(t, PFS_STAGE_ROLLBACK);
		/* Deferred triggers come before the server's own notice of it. */
		pfs_sql.committing |= (command.kind == TRANS_STMT_COMMIT || command.kind == TRANS_STMT_PREPARE) &&
			pfs_sql.nest == 0;
	}
}

#define SET_HOOK(number, hook, prev, standard, cb) \
	do { \
		prev = hook != NULL ? hook : standard; \
		hook = cb; \
		pfs_hook_report(number, #hook, &hook, &prev); \
	} while (0)

void
pfs_instr_hooks_start(void)
{
	SET_HOOK(PFS_HOOK_PARSE_ANALYZE, post_parse_analyze_hook, prev_post_parse_analyze, NULL, parse_analyze_cb);
	SET_HOOK(PFS_HOOK_PLANNER, planner_hook, prev_planner, standard_planner, planner_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_START, ExecutorStart_hook, prev_executor_start, standard_ExecutorStart, executor_start_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_RUN, ExecutorRun_hook, prev_executor_run, standard_ExecutorRun, executor_run_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_FINISH, ExecutorFinish_hook, prev_executor_finish, standard_ExecutorFinish,
			 executor_finish_cb);
	SET_HOOK(PFS_HOOK_EXECUTOR_END, ExecutorEnd_hook, prev_executor_end, standard_ExecutorEnd, executor_end_cb);
	SET_HOOK(PFS_HOOK_PROCESS_UTILITY, ProcessUtility_hook, prev_process_utility, standard_ProcessUtility,
			 process_utility_cb);
}
