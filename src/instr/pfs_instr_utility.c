/*
 * pfs_instr_utility.c
 *	  The server's hook for utilities.
 *
 * Separate from pfs_instr_hooks.c, which has the other hooks of statements and says how all of them
 * pass calls on: a utility may be nearly anything that the server does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "tcop/utility.h"

#include "pfs_instr_answer.h"
#include "pfs_instr_call.h"
#include "pfs_instr_digest.h"
#include "pfs_instr_drop.h"
#include "pfs_instr_prepared.h"
#include "pfs_instr_program.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_rows.h"
#include "pfs_instr_table.h"
#include "pfs_instr_twophase.h"
#include "pfs_plan_id.h"
#include "pfs_rel_io.h"

/* Who was called before: another library, or the server's own function. */
static ProcessUtility_hook_type prev_process_utility;

/* ---- commands that make, execute or close prepared statements ---- */

/* A command that makes or closes them, or executes one. */
typedef struct PreparedCommand
{
	NodeTag		tag;			/* the command's; DISCARD ALL has that of
								 * DEALLOCATE */
	char		name[NAMEDATALEN];	/* "": of all; of the first two only */
} PreparedCommand;

/* Reads what a utility does to prepared statements. */
static void
read_prepared_command(PreparedCommand *c, const Node *utility)
{
	const char *name = NULL;

	c->tag = nodeTag(utility);
	switch (c->tag)
	{
		case T_PrepareStmt:
			name = ((const PrepareStmt *) utility)->name;
			break;
		case T_DeallocateStmt:
			name = ((const DeallocateStmt *) utility)->name;
			break;
		case T_DiscardStmt:
			if (((const DiscardStmt *) utility)->target == DISCARD_ALL)
				c->tag = T_DeallocateStmt;
			break;
		default:
			return;
	}
	strlcpy(c->name, name != NULL ? name : "", sizeof(c->name));
}

/* What an EXECUTE executes.  The portal of a string that the client sends has no name for others. */
static inline PfsPreparedEntry *
executed_by_sql(PfsThread *t, const Node *utility, bool is_top)
{
	return pfs_prepared_executed_by_sql(t, ((const ExecuteStmt *) utility)->name,
										is_top && ActivePortal != NULL && !ActivePortal->visible, !is_top);
}

/* Before the command, when its call has begun; s: its statement, or NULL. */
static void
prepared_command(PfsThread *t, PreparedCommand *c, const Node *utility, PfsStatement *s)
{
	/* The client can have prepared the command itself. */
	pfs_prepared_note(t);
	read_prepared_command(c, utility);
	if (c->tag == T_ExecuteStmt && s != NULL)
		pfs_prepared_execute(s, executed_by_sql(t, utility, s == &pfs_sql.top));
}

/* When it is over. */
static void
prepared_command_end(PfsThread *t, const PreparedCommand *c)
{
	if (c->tag == T_PrepareStmt)
		pfs_prepared_made(t, c->name);
	else if (c->tag == T_DeallocateStmt)
		pfs_prepared_closed(t, c->name[0] != '\0' ? c->name : NULL);
}

/* ---- transaction commands ---- */

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

/* Notes what a utility has done to transactions, when its call is over. */
static inline void
note_transaction_command(PfsThread *t, int kind, bool chain, const char *gid, uint64 trx_id)
{
	pfs_transaction_command(t, kind, chain, gid, trx_id);
	if (kind == TRANS_STMT_ROLLBACK)
		pfs_statement_stage(t, PFS_STAGE_ROLLBACK);
}

/* ---- the hook ---- */

/*
 * Does a command itself report no progress and start no workers?  What those that execute others cause is done
 * in calls of its own.
 */
static bool
is_small(NodeTag utility)
{
	switch (utility)
	{
		case T_CallStmt:
		case T_ClosePortalStmt:
		case T_DeallocateStmt:
		case T_DeclareCursorStmt:
		case T_DoStmt:
		case T_ExecuteStmt:
		case T_FetchStmt:
		case T_PrepareStmt:
		case T_TransactionStmt:
		case T_VariableSetStmt:
		case T_VariableShowStmt:
			return true;
		default:
			return false;
	}
}

/* Parameters of the hook of utilities, and how to pass them on. */
#define UTILITY_PARAMS \
	PlannedStmt *stmt, const char *str, bool read_only_tree, ProcessUtilityContext context, \
	ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc
#define UTILITY_ARGS stmt, str, read_only_tree, context, params, environment, dest, qc

/* Returns the query identifier of a utility, or what is remembered of one that was taken out of the plan. */
static pg_noinline uint64
remembered_id(const PlannedStmt *stmt, const char *str)
{
	PfsStatementSource source = {
		.str = str, .location = stmt->stmt_location, .len = stmt->stmt_len, .query_id = stmt->queryId
	};

	return pfs_plan_id(stmt, &source);
}

/* Is the plan its portal's own, as that of a text that a client has sent to be executed once? */
static inline bool
is_of_portal(const PlannedStmt *stmt)
{
	return ActivePortal != NULL && ActivePortal->cplan == NULL && list_length(ActivePortal->stmts) == 1 &&
		linitial(ActivePortal->stmts) == stmt;
}

/*
 * Where no library behind this one could take it out of the plan, or that is executed once, nothing has to be remembered
 * of it.
 */
static inline uint64
utility_id(const PlannedStmt *stmt, const char *str)
{
	if (IsA(stmt->utilityStmt, ExecuteStmt))
		return 0;
	if (likely(stmt->queryId != 0 && (prev_process_utility == standard_ProcessUtility || is_of_portal(stmt))))
		return stmt->queryId;
	return remembered_id(stmt, str);
}

/*
 * Ends a utility, which began so, in which the general code has taken the plain statement over.  rows: that it has
 * returned.
 */
static pg_noinline void
utility_left(PfsUsage usage, uint64 start, uint64 rows)
{
	PfsCall		call;

	call.usage = usage;
	pfs_call_plain_left(&call, NULL, start);
	if (pfs_call_end(&call))
		pfs_call_utility_end(&call, rows, pfs_sql.top.executed);
}

/* The EXECUTE, SET or SHOW of a plain statement, which pfs_plain_starts() has noted. */
static pg_noinline void
plain_command(UTILITY_PARAMS)
{
	const NodeTag tag = nodeTag(stmt->utilityStmt);
	PfsUsage	usage;
	uint64		start = pfs_plain_runs(&usage);
	PfsRowCounter counter;

	if (tag == T_ExecuteStmt)
	{
		PfsPreparedEntry *prepared = executed_by_sql(pfs_my_thread, stmt->utilityStmt, true);

		/* As far as it has an entry: else the client's own one counts. */
		if (likely(prepared != NULL))
			pfs_plain.open.prepared = prepared;
	}
	pfs_plain.executed = 0;
	dest = pfs_rows_receiver(&counter, tag, dest);
	prev_process_utility(UTILITY_ARGS);
	if (likely(pfs_plain_has_run(NULL, &usage, start)))
	{
		pfs_plain.open.event->n[PFS_N_ROWS_SENT] = counter.rows;
		if (pfs_plain.executed != 0)
			pfs_plain_rare()[PFS_N_ROWS_AFFECTED - PFS_N_RARE] = pfs_plain.executed;
	}
	else
	{
		/* As in plain_run(). */
		PfsUsage	then = usage;

		utility_left(then, start, counter.rows);
	}
	pfs_portal_executed();
	if (tag == T_VariableSetStmt)
		note_transaction_command(pfs_my_thread, PFS_NO_TRANSACTION_COMMAND, false, NULL, 0);
}

/* The transaction command of a plain statement, which pfs_plain_starts() has noted. */
static pg_attribute_always_inline void
plain_transaction(UTILITY_PARAMS)
{
	const int	kind = ((const TransactionStmt *) stmt->utilityStmt)->kind;
	PfsUsage	usage;
	uint64		start = pfs_plain_runs(&usage);

	prev_process_utility(UTILITY_ARGS);
	if (unlikely(!pfs_plain_has_run(NULL, &usage, start)))
	{
		/* As in plain_run(). */
		PfsUsage	then = usage;

		utility_left(then, start, 0);
		note_transaction_command(pfs_my_thread, kind, false, NULL, 0);
	}
	/* An end sees for itself how the transaction is. */
	else if (kind == TRANS_STMT_BEGIN || kind == TRANS_STMT_START)
		note_transaction_command(pfs_my_thread, kind, false, NULL, 0);
	else if (kind == TRANS_STMT_ROLLBACK && pfs_plain_has_stages() && unlikely(!pfs_plain_comes_to(PFS_STAGE_ROLLBACK)))
		pfs_statement_stage(pfs_my_thread, PFS_STAGE_ROLLBACK);
}

/*
 * Any other utility.  Records it, with what it does besides: utilities make and execute prepared statements,
 * return rows, and end transactions.
 */
static pg_noinline void
general_utility(UTILITY_PARAMS)
{
	/* What a utility does by calling itself is no statement. */
	PfsThread  *t = context == PROCESS_UTILITY_SUBCOMMAND ? NULL : pfs_call_thread();
	NodeTag		utility = nodeTag(stmt->utilityStmt);
	TransactionCommand command;
	PreparedCommand prepared;
	PfsProgramCommand program;
	uint64		outer_writes = pfs_rel_writes_begin();
	bool		small = is_small(utility);
	bool		leads = !small && utility != T_CopyStmt;	/* that of a query does
															 * in calls of its own */
	bool		watches_drops = false;
	PfsRowCounter counter;
	PfsLead		lead;
	PfsCall		call;

	pfs_tables_watch(pfs_my_thread);
	if (t != NULL)
	{
		PfsStatementSource source = {0};

		pfs_error_flush(t);
		source.str = str;
		source.location = stmt->stmt_location;
		source.len = stmt->stmt_len;
		source.query_id = utility_id(stmt, str);
		source.tag = CreateCommandTag(stmt->utilityStmt);
		source.command = CMD_UTILITY;
		pfs_call_set_portal(&source);
		read_transaction_command(&command, stmt->utilityStmt);
		if (pfs_call_begin(&call))
			pfs_call_utility_begin(&call, &source, !small);
		/* Behind the command nobody knows it any more. */
		if ((command.kind == TRANS_STMT_COMMIT_PREPARED || command.kind == TRANS_STMT_ROLLBACK_PREPARED) &&
			pfs_transaction.event != NULL)
			command.trx_id = pfs_prepared_trx_id(command.gid);
		if (leads)
			pfs_workers_lead(t, &lead, NULL);
		prepared_command(t, &prepared, stmt->utilityStmt, call.statement);
		pfs_program_command(t, &program, stmt->utilityStmt);
		watches_drops = pfs_drop_command(stmt->utilityStmt);
		dest = pfs_rows_receiver(&counter, utility, dest);
	}
	prev_process_utility(UTILITY_ARGS);
	pfs_rel_writes_end(outer_writes);
	if (t != NULL)
	{
		pfs_program_command_end(&program);
		if (watches_drops)
			pfs_drop_unwatch();
		if (leads)
			pfs_lead_end(t, &lead);
		if (pfs_call_end(&call))
		{
			uint64		sent = counter.rows;
			uint64		affected;

			pfs_rows_of_utility(utility, qc, call.statement != NULL ? call.statement->executed : 0, &sent, &affected);
			pfs_call_utility_end(&call, sent, affected);
			if (call.statement == &pfs_sql.top)
				pfs_portal_executed();
		}
		prepared_command_end(t, &prepared);
		note_transaction_command(t, command.kind, command.chain, command.gid, command.trx_id);
		if (context == PROCESS_UTILITY_TOPLEVEL)
			(void) pfs_plain_comes_back(t, PFS_PLAIN_RAN, NULL);
	}
}

/* Passes a utility on, where nothing is to be recorded of it.  What it drops has been counted before. */
static pg_noinline void
pass_utility(UTILITY_PARAMS)
{
	bool		watches_drops = context != PROCESS_UTILITY_SUBCOMMAND && pfs_drop_command(stmt->utilityStmt);

	prev_process_utility(UTILITY_ARGS);
	if (watches_drops)
		pfs_drop_unwatch();
}

/* Can this be the utility of a plain statement? */
static inline bool
may_be_plain(const PlannedStmt *stmt, ProcessUtilityContext context)
{
	return (pfs_plain.state == PFS_PLAIN_ARRIVED || pfs_plain.state == PFS_PLAIN_NAMED) &&
		context == PROCESS_UTILITY_TOPLEVEL && pfs_plain_may_be_utility(stmt->utilityStmt);
}

/* Passes a utility on. */
static void
process_utility_cb(UTILITY_PARAMS)
{
	pfs_hook_called(PFS_HOOK_PROCESS_UTILITY);
	if (context == PROCESS_UTILITY_TOPLEVEL)
		pfs_plain_follows(pfs_my_thread);
	if (may_be_plain(stmt, context) && likely(pfs_plain_starts(pfs_my_thread, stmt, utility_id(stmt, str), str, NULL)) &&
		(!pfs_plain_has_stages() || pfs_plain_starts_stage()))
	{
		if (IsA(stmt->utilityStmt, TransactionStmt))
			plain_transaction(UTILITY_ARGS);
		else
			plain_command(UTILITY_ARGS);
	}
	else if (pfs_are_hooks_off() && likely(pfs_open_error.sqlstate == 0))
		pass_utility(UTILITY_ARGS);
	else
		general_utility(UTILITY_ARGS);
}

void
pfs_instr_utility_start(void)
{
	prev_process_utility = ProcessUtility_hook != NULL ? ProcessUtility_hook : standard_ProcessUtility;
	ProcessUtility_hook = process_utility_cb;
	pfs_hook_report(PFS_HOOK_PROCESS_UTILITY, "ProcessUtility_hook", &ProcessUtility_hook, &prev_process_utility);
}
