/*
 * pfs_test_plugin.c
 *	  Another plugin of PL/pgSQL, as profilers and debuggers are, with as little of it as
 *	  shows who calls whom.
 *
 * Preloaded before or behind pfs, or loaded by a session.  PFS_TEST_PLUGIN says what it does
 * when it is loaded; a session's setting pfs_test_plugin.mode goes before that:
 *
 *	chain		sets the plugin and calls the one that was there
 *	overwrite	sets the plugin, and calls nobody, as old debuggers do
 *	late		preloaded: chain, but when shared memory is made, as pfs sets its own
 *	none		nothing
 *
 * pfs_test_plugin_calls() says what it has seen since it was asked last.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "plpgsql.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_plugin_calls);

PGDLLEXPORT Datum pfs_test_plugin_calls(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static PLpgSQL_plugin **variable;
static PLpgSQL_plugin *previous = NULL;
static PLpgSQL_plugin plugin;
static int	setups;
static int	begins;
static int	ends;
static int	statements;
static int	evaluations;

/* A plugin that is called gets PL/pgSQL's functions, too; here it gives them on. */
static void
func_setup_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	setups++;
	if (plugin.eval_datum != NULL && plugin.assign_expr != NULL && plugin.assign_value != NULL &&
		plugin.cast_value != NULL && plugin.error_callback != NULL)
		evaluations++;
	if (previous == NULL)
		return;
	previous->error_callback = plugin.error_callback;
	previous->assign_expr = plugin.assign_expr;
	previous->assign_value = plugin.assign_value;
	previous->eval_datum = plugin.eval_datum;
	previous->cast_value = plugin.cast_value;
	if (previous->func_setup)
		previous->func_setup(estate, func);
}

static void
func_beg_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	begins++;
	/* The only place that a plugin has for what is its own. */
	estate->plugin_info = &plugin;
	if (previous && previous->func_beg)
		previous->func_beg(estate, func);
}

static void
func_end_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	if (estate->plugin_info == &plugin)
		ends++;
	if (previous && previous->func_end)
		previous->func_end(estate, func);
}

static void
stmt_beg_cb(PLpgSQL_execstate *estate, PLpgSQL_stmt *stmt)
{
	statements++;
	if (previous && previous->stmt_beg)
		previous->stmt_beg(estate, stmt);
}

static void
stmt_end_cb(PLpgSQL_execstate *estate, PLpgSQL_stmt *stmt)
{
	statements++;
	if (previous && previous->stmt_end)
		previous->stmt_end(estate, stmt);
}

static void
set_plugin(bool chain)
{
	variable = (PLpgSQL_plugin **) find_rendezvous_variable("PLpgSQL_plugin");
	previous = chain ? *variable : NULL;
	plugin.func_setup = func_setup_cb;
	plugin.func_beg = func_beg_cb;
	plugin.func_end = func_end_cb;
	plugin.stmt_beg = stmt_beg_cb;
	plugin.stmt_end = stmt_end_cb;
	*variable = &plugin;
}

static void
startup_cb(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	set_plugin(true);
}

void
_PG_init(void)
{
	const char *mode = GetConfigOption("pfs_test_plugin.mode", true, false);

	if (mode == NULL)
		mode = getenv("PFS_TEST_PLUGIN");
	if (mode == NULL || strcmp(mode, "none") == 0)
		return;
	if (strcmp(mode, "late") != 0)
		set_plugin(strcmp(mode, "chain") == 0);
	else if (process_shared_preload_libraries_in_progress)
	{
		prev_shmem_startup_hook = shmem_startup_hook;
		shmem_startup_hook = startup_cb;
	}
}

/* pfs_test_plugin_calls(): setups, those with all functions, begins, ends, statements. */
Datum
pfs_test_plugin_calls(PG_FUNCTION_ARGS)
{
	char	   *result = psprintf("%d %d %d %d %d", setups, evaluations, begins, ends, statements);

	setups = evaluations = begins = ends = statements = 0;
	PG_RETURN_TEXT_P(cstring_to_text(result));
}
