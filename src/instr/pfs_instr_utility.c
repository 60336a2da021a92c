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

#include "pfs_instr_features.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_table.h"
#include "pfs_query_id.h"
#include "pfs_rel_io.h"

/* Who was called before: another library, or the server's own function. */
static ProcessUtility_hook_type prev_process_utility;

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

	return pfs_query_id_of_plan(stmt, &source);
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

#define PLAIN(name) pfs_##name##_plain_command(stmt->utilityStmt);

/* The EXECUTE, SET or SHOW of a plain statement, which pfs_plain_starts() has noted. */
static pg_noinline void
plain_command(UTILITY_PARAMS)
{
	const NodeTag tag = nodeTag(stmt->utilityStmt);
	PfsUsage	usage;
	uint64		start = pfs_plain_runs(&usage);
	PfsRowCounter counter;

	PFS_PLAIN_COMMANDS(PLAIN);
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
		pfs_transaction_note(pfs_my_thread, PFS_NO_TRANSACTION_COMMAND, false, NULL, 0);
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
		pfs_transaction_note(pfs_my_thread, kind, false, NULL, 0);
	}
	/* An end sees for itself how the transaction is. */
	else if (kind == TRANS_STMT_BEGIN || kind == TRANS_STMT_START)
		pfs_transaction_note(pfs_my_thread, kind, false, NULL, 0);
	else if (kind == TRANS_STMT_ROLLBACK && pfs_plain_has_stages() && unlikely(!pfs_plain_comes_to(PFS_STAGE_ROLLBACK)))
		pfs_statement_stage(pfs_my_thread, PFS_STAGE_ROLLBACK);
}

#define STATE(name, type, ...) type name;
#define BEGIN(name, ...) pfs_##name##_command_begin(&command, &states.name);
#define END(name, ...) pfs_##name##_command_end(&command, &states.name);
#define END_IN_CALL(name, type, when) if (when == PFS_IN_CALL) END(name)
#define END_BEHIND_CALL(name, type, when) if (when == PFS_BEHIND_CALL) END(name)

/* What features know of a command while it is executed. */
typedef struct CommandStates
{
	PFS_COMMANDS(STATE)
	PFS_RECORDED_COMMANDS(STATE)
} CommandStates;

/* Begins the call that a command's statement is recorded by. */
static void
begin_call(PfsCall *call, PfsCommand *command, const PlannedStmt *stmt, const char *str)
{
	PfsStatementSource source = {
		.str = str, .location = stmt->stmt_location, .len = stmt->stmt_len, .query_id = utility_id(stmt, str),
		.tag = CreateCommandTag(stmt->utilityStmt), .command = CMD_UTILITY
	};

	pfs_call_set_portal(&source);
	if (pfs_call_begin(call))
		pfs_call_utility_begin(call, &source, !command->is_small);
	command->statement = call->statement;
}

/*
 * Any other utility, of which everything is recorded that features want to know of it.  What a utility does by calling
 * itself is no statement, and no command.
 */
static pg_noinline void
general_utility(UTILITY_PARAMS)
{
	bool		is_command = context != PROCESS_UTILITY_SUBCOMMAND;
	PfsThread  *t = is_command ? pfs_call_thread() : NULL;
	PfsCommand	command = {
		.thread = t, .utility = stmt->utilityStmt, .tag = nodeTag(stmt->utilityStmt),
		.is_small = is_small(nodeTag(stmt->utilityStmt)), .dest = dest, .completion = qc
	};
	CommandStates states;
	uint64		outer_writes = pfs_rel_writes_begin();
	PfsCall		call;

	pfs_tables_watch(pfs_my_thread);
	if (t != NULL)
	{
		pfs_error_flush(t);
		begin_call(&call, &command, stmt, str);
		PFS_RECORDED_COMMANDS(BEGIN);
	}
	if (is_command)
	{
		PFS_COMMANDS(BEGIN);
	}
	dest = command.dest;
	prev_process_utility(UTILITY_ARGS);
	pfs_rel_writes_end(outer_writes);
	if (is_command)
	{
		PFS_COMMANDS(END);
	}
	if (t == NULL)
		return;
	PFS_RECORDED_COMMANDS(END_IN_CALL);
	if (pfs_call_end(&call))
	{
		pfs_call_utility_end(&call, command.rows_sent, command.rows_affected);
		if (call.statement == &pfs_sql.top)
			pfs_portal_executed();
	}
	PFS_RECORDED_COMMANDS(END_BEHIND_CALL);
	if (context == PROCESS_UTILITY_TOPLEVEL)
		(void) pfs_plain_comes_back(t, PFS_PLAIN_RAN, NULL);
}

/* Passes a utility on, where nothing is to be recorded of it. */
static pg_noinline void
pass_utility(UTILITY_PARAMS)
{
	PfsCommand	command = {.utility = stmt->utilityStmt, .tag = nodeTag(stmt->utilityStmt)};
	CommandStates states;

	if (context == PROCESS_UTILITY_SUBCOMMAND)
	{
		prev_process_utility(UTILITY_ARGS);
		return;
	}
	PFS_COMMANDS(BEGIN);
	prev_process_utility(UTILITY_ARGS);
	PFS_COMMANDS(END);
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
