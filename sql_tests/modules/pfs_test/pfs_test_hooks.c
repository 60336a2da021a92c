/*
 * pfs_test_hooks.c
 *	  A library that has all hooks on the way of a statement, counts their calls, and raises
 *	  an error in one of them if it is asked to.
 *
 * Preloaded before or behind pfs, or loaded by a session at any time: it sets its hooks at once.  A statement is
 * marked if its text contains "marked", as is a table or function by its name and a message by its text: only calls
 * for these are noted.  pfs_test_hooks.raise names a hook and a side, as in 'run before': each marked call of it
 * fails there, before or behind the call of the previous hook.
 *
 * pfs_test_hook_calls() returns the calls since it was asked last, in order.  One that has raised has a "!".
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_proc_d.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "../../../src/compat/pfs_compat_hooks.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_hook_calls);

PGDLLEXPORT Datum pfs_test_hook_calls(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

static post_parse_analyze_hook_type prev_parse = NULL;
static planner_hook_type prev_planner = NULL;
static ExecutorStart_hook_type prev_start = NULL;
static ExecutorRun_hook_type prev_run = NULL;
static ExecutorFinish_hook_type prev_finish = NULL;
static ExecutorEnd_hook_type prev_end = NULL;
static ExecutorCheckPerms_hook_type prev_perms = NULL;
static ProcessUtility_hook_type prev_utility = NULL;
static object_access_hook_type prev_object_access = NULL;
static emit_log_hook_type prev_emit_log = NULL;
static needs_fmgr_hook_type prev_needs_fmgr = NULL;
static fmgr_hook_type prev_fmgr = NULL;

static char *wanted = NULL;
static char calls[8192];

static bool
is_marked(const char *text)
{
	return text != NULL && strstr(text, "marked") != NULL;
}

/* Fails if that is wanted on this side of this hook. */
static void
raise_here(const char *hook, const char *side)
{
	char		here[64];

	snprintf(here, sizeof(here), "%s %s", hook, side);
	if (strcmp(wanted, here) != 0)
		return;
	strlcat(calls, "!", sizeof(calls));
	ereport(ERROR, (errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION), errmsg("it was asked to fail: %s", here)));
}

/* Notes a marked call. */
static void
enter(bool marked, const char *hook)
{
	if (!marked)
		return;
	if (calls[0] != '\0')
		strlcat(calls, " ", sizeof(calls));
	strlcat(calls, hook, sizeof(calls));
	raise_here(hook, "before");
}

static void
leave(bool marked, const char *hook)
{
	if (marked)
		raise_here(hook, "behind");
}

static void
parse_cb(ParseState *pstate, Query *query, PfsJumbleState *jumble)
{
	bool		marked = is_marked(pstate->p_sourcetext);

	enter(marked, "parse");
	if (prev_parse)
		prev_parse(pstate, query, jumble);
	leave(marked, "parse");
}

static PlannedStmt *
planner_cb(PFS_PLANNER_PARAMS)
{
	bool		marked = is_marked(str);
	PlannedStmt *result;

	enter(marked, "planner");
	result = prev_planner ? prev_planner(PFS_PLANNER_ARGS) : standard_planner(PFS_PLANNER_ARGS);
	leave(marked, "planner");
	return result;
}

static void
start_cb(QueryDesc *desc, int eflags)
{
	bool		marked = is_marked(desc->sourceText);

	enter(marked, "start");
	(prev_start ? prev_start : standard_ExecutorStart) (desc, eflags);
	leave(marked, "start");
}

static void
run_cb(PFS_EXECUTOR_RUN_PARAMS)
{
	bool		marked = is_marked(desc->sourceText);

	enter(marked, "run");
	(prev_run ? prev_run : standard_ExecutorRun) (PFS_EXECUTOR_RUN_ARGS);
	leave(marked, "run");
}

static void
finish_cb(QueryDesc *desc)
{
	bool		marked = is_marked(desc->sourceText);

	enter(marked, "finish");
	(prev_finish ? prev_finish : standard_ExecutorFinish) (desc);
	leave(marked, "finish");
}

static void
end_cb(QueryDesc *desc)
{
	bool		marked = is_marked(desc->sourceText);

	enter(marked, "end");
	(prev_end ? prev_end : standard_ExecutorEnd) (desc);
	leave(marked, "end");
}

/* Its arguments name no query: it goes by the tables. */
static bool
has_marked_table(List *range_table)
{
	ListCell   *cell;

	foreach(cell, range_table)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && is_marked(get_rel_name(entry->relid)))
			return true;
	}
	return false;
}

#if PG_VERSION_NUM >= 160000
#define PERMS_PARAMS List *range_table, List *infos, bool fails
#define PERMS_ARGS range_table, infos, fails
#else
#define PERMS_PARAMS List *range_table, bool fails
#define PERMS_ARGS range_table, fails
#endif

static bool
perms_cb(PERMS_PARAMS)
{
	bool		marked = has_marked_table(range_table);
	bool		allowed;

	enter(marked, "perms");
	allowed = prev_perms ? prev_perms(PERMS_ARGS) : true;
	leave(marked, "perms");
	return allowed;
}

static void
utility_cb(PlannedStmt *stmt, const char *str, bool read_only_tree, ProcessUtilityContext context, ParamListInfo params,
		   QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc)
{
	bool		marked = is_marked(str) && context != PROCESS_UTILITY_SUBCOMMAND;

	enter(marked, "utility");
	(prev_utility ? prev_utility : standard_ProcessUtility) (stmt, str, read_only_tree, context, params, environment,
															 dest, qc);
	leave(marked, "utility");
}

/* The server is about to drop a table or to execute a function. */
static void
object_access_cb(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	bool		marked = false;

	if (access == OAT_DROP && class == RelationRelationId && sub == 0)
		marked = is_marked(get_rel_name(object));
	else if (access == OAT_FUNCTION_EXECUTE && class == ProcedureRelationId)
		marked = is_marked(get_func_name(object));
	enter(marked, "object");
	if (prev_object_access)
		prev_object_access(access, class, object, sub, arg);
	leave(marked, "object");
}

static void
emit_log_cb(ErrorData *edata)
{
	bool		marked = is_marked(edata->message);
	const char *hook = edata->elevel < ERROR ? "log" : "report";

	enter(marked, hook);
	if (prev_emit_log)
		prev_emit_log(edata);
	leave(marked, hook);
}

static bool
needs_fmgr_cb(Oid function)
{
	return (prev_needs_fmgr && prev_needs_fmgr(function)) || is_marked(get_func_name(function));
}

/* Calls of a function, and their ends. */
static void
fmgr_cb(FmgrHookEventType event, FmgrInfo *info, Datum *arg)
{
	bool		marked = is_marked(get_func_name(info->fn_oid));

	if (event == FHET_START)
		enter(marked, "fmgr");
	if (prev_fmgr && (!prev_needs_fmgr || prev_needs_fmgr(info->fn_oid)))
		prev_fmgr(event, info, arg);
	if (event == FHET_END)
		leave(marked, "fmgr");
}

Datum
pfs_test_hook_calls(PG_FUNCTION_ARGS)
{
	text	   *result = cstring_to_text(calls);

	calls[0] = '\0';
	PG_RETURN_TEXT_P(result);
}

#define SET_HOOK(hook, prev, cb) \
	do { \
		prev = hook; \
		hook = cb; \
	} while (0)

void
_PG_init(void)
{
	DefineCustomStringVariable("pfs_test_hooks.raise", "Hook in which to raise an error, and before or behind what.", NULL,
							   &wanted, "", PGC_USERSET, 0, NULL, NULL, NULL);
	SET_HOOK(post_parse_analyze_hook, prev_parse, parse_cb);
	SET_HOOK(planner_hook, prev_planner, planner_cb);
	SET_HOOK(ExecutorStart_hook, prev_start, start_cb);
	SET_HOOK(ExecutorRun_hook, prev_run, run_cb);
	SET_HOOK(ExecutorFinish_hook, prev_finish, finish_cb);
	SET_HOOK(ExecutorEnd_hook, prev_end, end_cb);
	SET_HOOK(ExecutorCheckPerms_hook, prev_perms, perms_cb);
	SET_HOOK(ProcessUtility_hook, prev_utility, utility_cb);
	SET_HOOK(object_access_hook, prev_object_access, object_access_cb);
	SET_HOOK(emit_log_hook, prev_emit_log, emit_log_cb);
	SET_HOOK(needs_fmgr_hook, prev_needs_fmgr, needs_fmgr_cb);
	SET_HOOK(fmgr_hook, prev_fmgr, fmgr_cb);
}
