/*
 * pfs_instr_program.c
 *	  Calls of programs, as PL/pgSQL and CALL tell of them.
 *
 * PL/pgSQL looks at each call whether a plugin is there, by a variable that it finds by its name
 * (find_rendezvous_variable()) when it is loaded.  The variable is there before that, so the plugin is set
 * in the postmaster, behind the _PG_init of all libraries, and sessions inherit it.  Who was there before is called on;
 * who comes later, in a session, is asked to do the same: one that does not takes PL/pgSQL's calls away
 * from us, which is his right, and what pfs.probes says in that session.
 *
 * CALL names its procedure, of whatever language.
 *
 * Functions of other languages are not seen.  The server has a hook for all of them (fmgr_hook), which says
 * also when one is left by an error; but each function that it is set for is called through a wrapper, and
 * functions of SQL are not inlined into queries any more.  The executor's hooks see the statements of functions
 * of SQL, but not whose they are.
 *
 * pfs_instr_drop.c has functions that are made and dropped.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "plpgsql.h"
#include "utils/syscache.h"

#include "pfs_instr.h"
#include "pfs_instr_program.h"
#include "pfs_instr_prove.h"
#include "pfs_object_rules.h"
#include "pfs_plain_state.h"
#include "pfs_program_call.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* ---- calls ---- */

static const PfsRuleObject rule_objects[] = {
	[PFS_PROGRAM_FUNCTION] = PFS_RULE_FUNCTION,[PFS_PROGRAM_PROCEDURE] = PFS_RULE_PROCEDURE,
	[PFS_PROGRAM_TRIGGER] = PFS_RULE_TRIGGER,
};

/*
 * Decides what is collected of a program, by the rules of setup_objects: PFS_PROGRAM_* flags.  Asked once for
 * each program in a process, and again when the rules have changed; outside of write sections and inside a
 * transaction.
 */
static uint8
decide(PfsProgramType type, Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	uint32		flags = 0;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		flags = pfs_object_rules_flags(rule_objects[type], proc->pronamespace, NameStr(proc->proname));
		ReleaseSysCache(tuple);
	}
	return (flags & PFS_OBJECT_ENABLED ? PFS_PROGRAM_ENABLED : 0) | (flags & PFS_OBJECT_TIMED ? PFS_PROGRAM_TIMED : 0);
}

/*
 * Begins a call of a program, if somebody wants statements of this process.  One that is not collected
 * is open all the same: statements in it are not those of the program around it.
 */
static void
begin_call(PfsThread *t, PfsProgramType type, Oid function, const void *frame)
{
	PfsProgramEntry *program;

	if (t == NULL || pfs_are_hooks_off() || (pfs_class_flags(t, PFS_CLASS_STATEMENT) & PFS_FLAG_ENABLED) == 0 ||
		pfs_sizes.programs == 0)
		return;
	if (pfs_program_innermost == NULL && pfs_sql.open == NULL)
		pfs_program_forget_many();
	program = pfs_program_find(type, function);
	if (unlikely(program == NULL))
		return;
	pfs_object_rules_resolve();
	if (unlikely(program->rules != pfs_object_rules_resolved()))
	{
		program->flags = decide(type, function);
		program->rules = pfs_object_rules_resolved();
	}
	pfs_program_begin(program, frame);
}

/* ---- PL/pgSQL ---- */

/* The server's variable; what was in it; and what is there since.  Set in the postmaster, inherited. */
static PLpgSQL_plugin **variable;
static PLpgSQL_plugin *previous = NULL;
static PLpgSQL_plugin plugin;

/* In this process another library is in front of the plugin, and has called it. */
static bool is_called_behind = false;

/* PL/pgSQL has given its functions to the first plugin only. */
static void
func_setup_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	previous->error_callback = plugin.error_callback;
	previous->assign_expr = plugin.assign_expr;
	previous->assign_value = plugin.assign_value;
	previous->eval_datum = plugin.eval_datum;
	previous->cast_value = plugin.cast_value;
	if (previous->func_setup)
		previous->func_setup(estate, func);
}

static PfsProgramType
type_of(const PLpgSQL_function *func)
{
	if (func->fn_is_trigger != PLPGSQL_NOT_TRIGGER)
		return PFS_PROGRAM_TRIGGER;
	return func->fn_prokind == PROKIND_PROCEDURE ? PFS_PROGRAM_PROCEDURE : PFS_PROGRAM_FUNCTION;
}

/*
 * A function's body is about to run.  The execution state lies on the stack of whoever
 * runs it, so no other call that is open has its address.  The block of DO is no program.
 */
static void
func_beg_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	pfs_hook_called(PFS_HOOK_PLPGSQL);
	if (unlikely(*variable != &plugin))
		is_called_behind = true;
	if (previous && previous->func_beg)
		previous->func_beg(estate, func);
	if (OidIsValid(func->fn_oid))
		begin_call(pfs_thread_here(), type_of(func), func->fn_oid, estate);
}

/* It has run, and raised no error. */
static void
func_end_cb(PLpgSQL_execstate *estate, PLpgSQL_function *func)
{
	if (pfs_program_innermost != NULL)
		pfs_program_end(estate);
	if (previous && previous->func_end)
		previous->func_end(estate, func);
}

static void
stmt_beg_cb(PLpgSQL_execstate *estate, PLpgSQL_stmt *stmt)
{
	if (previous->stmt_beg)
		previous->stmt_beg(estate, stmt);
}

static void
stmt_end_cb(PLpgSQL_execstate *estate, PLpgSQL_stmt *stmt)
{
	if (previous->stmt_end)
		previous->stmt_end(estate, stmt);
}

/* Sets the plugin in front of whoever is there, once, in the postmaster. */
void
pfs_instr_programs_start(void)
{
	if (pfs_sizes.programs == 0)
		return;
	variable = (PLpgSQL_plugin **) find_rendezvous_variable("PLpgSQL_plugin");
	previous = *variable;
	plugin.func_beg = func_beg_cb;
	plugin.func_end = func_end_cb;
	/* Without anybody to call on, PL/pgSQL's statements cost nothing. */
	if (previous != NULL)
	{
		plugin.func_setup = func_setup_cb;
		plugin.stmt_beg = stmt_beg_cb;
		plugin.stmt_end = stmt_end_cb;
	}
	*variable = &plugin;
	pfs_hook_report(PFS_HOOK_PLPGSQL, "PLpgSQL_plugin", variable, &previous);
	pfs_hook_report_seen_here(PFS_HOOK_PLPGSQL, &is_called_behind);
}

/* ---- commands ---- */

/* Begins the call of a CALL.  *state says what pfs_program_command_end() has to undo. */
void
pfs_program_command_begin(PfsCommand *command, PfsProgramCommand *state)
{
	state->calls = command->tag == T_CallStmt && pfs_sizes.programs > 0;
	if (!state->calls)
		return;
	state->depth = pfs_program_depth();
	begin_call(command->thread, PFS_PROGRAM_PROCEDURE, ((const CallStmt *) command->utility)->funcexpr->funcid, NULL);
}

/* The call is over by now, if its language has told of it. */
void
pfs_program_command_end(PfsCommand *command, const PfsProgramCommand *state)
{
	if (state->calls)
		pfs_program_end_above(state->depth);
}
