/*
 * pfs_test_rules.c
 *	  What the rules of setup_objects say, asked as instrument points ask.
 *
 * As a library that is preloaded it resolves the rules where statements begin, as the
 * hooks of pfs do.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "pfs_test_symbol.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_rule);
PG_FUNCTION_INFO_V1(pfs_test_rule_of);
PG_FUNCTION_INFO_V1(pfs_test_copies);
PGDLLEXPORT Datum pfs_test_rule(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_rule_of(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_copies(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

typedef uint32 (*FlagsFunction) (int type, Oid schema, const char *object_name);
typedef int (*ByNameFunction) (const char *name);
typedef void (*ResolveFunction) (void);

static FlagsFunction flags_function = NULL;
static ByNameFunction by_name_function = NULL;
static ResolveFunction resolve_function = NULL;
static const uint64 *copies = NULL;

static ExecutorStart_hook_type prev_executor_start = NULL;

/* Finds all of them at the first use: pfs.so is there by then, whichever was loaded first. */
static void
find_symbols(void)
{
	if (copies != NULL)
		return;
	flags_function = symbol("pfs_object_rules_flags");
	by_name_function = symbol("pfs_rule_object_by_name");
	resolve_function = symbol("pfs_object_rules_resolve");
	copies = symbol("pfs_object_rules_copies");
}

/*
 * YES or NO for enabled and timed.  In a critical section, as an instrument point may be:
 * there an error, or with assertions an allocation, takes the server down.
 */
static Datum
answer(const char *type, Oid schema, const char *name)
{
	int			number;
	uint32		flags;

	find_symbols();
	number = by_name_function(type);
	START_CRIT_SECTION();
	flags = flags_function(number, schema, name);
	END_CRIT_SECTION();
	PG_RETURN_TEXT_P(cstring_to_text(flags == 0 ? "NO NO" : flags == 1 ? "YES NO" : flags == 3 ? "YES YES" : "?"));
}

/* pfs_test_rule(type text, schema oid, name text) returns text */
Datum
pfs_test_rule(PG_FUNCTION_ARGS)
{
	return answer(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1), text_to_cstring(PG_GETARG_TEXT_PP(2)));
}

/* pfs_test_rule_of(type text, schema text, name text) returns text: the schema by its name */
Datum
pfs_test_rule_of(PG_FUNCTION_ARGS)
{
	Oid			schema = get_namespace_oid(text_to_cstring(PG_GETARG_TEXT_PP(1)), false);

	return answer(text_to_cstring(PG_GETARG_TEXT_PP(0)), schema, text_to_cstring(PG_GETARG_TEXT_PP(2)));
}

/* pfs_test_copies() returns bigint: how many copies of the rules this process has made */
Datum
pfs_test_copies(PG_FUNCTION_ARGS)
{
	find_symbols();
	PG_RETURN_INT64(*copies);
}

static void
executor_start_cb(QueryDesc *query, int eflags)
{
	find_symbols();
	resolve_function();
	if (prev_executor_start != NULL)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start_cb;
}
