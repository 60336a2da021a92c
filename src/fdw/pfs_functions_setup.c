/*
 * pfs_functions_setup.c
 *	  SQL functions that do what UPDATE and TRUNCATE of the tables do, where
 *	  those are not allowed (read-only transactions, standbys) or lock too much,
 *	  and that look things up.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "pfs_fdw.h"
#include "pfs_quote.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_thread.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_set_instruments);
PFS_FUNCTION(pfs_set_consumers);
PFS_FUNCTION(pfs_set_timer);
PFS_FUNCTION(pfs_set_thread);
PFS_FUNCTION(pfs_set_threads);
PFS_FUNCTION(pfs_reset);
PFS_FUNCTION(pfs_reset_time_sql);
PFS_FUNCTION(pfs_thread_id);
PFS_FUNCTION(pfs_setup_sql_text);

/* A text argument that must be given. */
char *
pfs_required_text(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be NULL", name)));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* A pattern that is longer than every name would be cut when remembered. */
static char *
required_pattern(FunctionCallInfo fcinfo, int n)
{
	char	   *pattern = pfs_required_text(fcinfo, n, "pattern");

	if (strlen(pattern) >= PFS_NAME_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the pattern is longer than %d bytes", PFS_NAME_SIZE - 1)));
	return pattern;
}

/* YES or NO; -1 for NULL, which leaves a switch as it is. */
int
pfs_switch_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	char	   *value;
	int			on;

	if (PG_ARGISNULL(n))
		return -1;
	value = text_to_cstring(PG_GETARG_TEXT_PP(n));
	on = pfs_parse_switch(value);
	if (on < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for argument \"%s\": \"%s\"", name, pfs_quote(value)),
				 errdetail(PFS_SWITCH_VALUES)));
	return on;
}

/* SQL function: switches instruments that match a pattern, and remembers it for later ones. */
Datum
pfs_set_instruments(PG_FUNCTION_ARGS)
{
	char	   *pattern;
	int			enabled;
	int			timed;
	int64		matched;

	pfs_require_active();
	pattern = required_pattern(fcinfo, 0);
	enabled = pfs_switch_argument(fcinfo, 1, "enabled");
	timed = pfs_switch_argument(fcinfo, 2, "timed");
	matched = pfs_setup_set_instruments(pattern, enabled, timed);
	if (matched == 0)
		ereport(NOTICE,
				(errmsg("no instrument matches \"%s\" now", pattern),
				 enabled < 0 && timed < 0
				 ? errdetail("Nothing was to be changed.")
				 : errdetail("The pattern is remembered for instruments that register later.")));
	PG_RETURN_INT64(matched);
}

/* SQL function: switches consumers that match a pattern. */
Datum
pfs_set_consumers(PG_FUNCTION_ARGS)
{
	char	   *pattern;
	int			enabled;
	int64		matched;

	pfs_require_active();
	pattern = required_pattern(fcinfo, 0);
	(void) pfs_required_text(fcinfo, 1, "enabled");
	enabled = pfs_switch_argument(fcinfo, 1, "enabled");
	matched = pfs_setup_set_consumers(pattern, enabled);
	if (matched == 0)
		ereport(NOTICE,
				(errmsg("no consumer matches \"%s\"", pattern),
				 errhint("SELECT name FROM pfs.setup_consumers lists them.")));
	PG_RETURN_INT64(matched);
}

/* SQL function: chooses the timer of a class of events. */
Datum
pfs_set_timer(PG_FUNCTION_ARGS)
{
	char	   *name;
	int			class;
	PfsTimer	timer;

	pfs_require_active();
	name = pfs_required_text(fcinfo, 0, "name");
	class = pfs_class_by_name(name);
	timer = pfs_require_timer(PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1)));
	if (class < 0)
	{
		ereport(NOTICE,
				(errmsg("there is no class of events \"%s\"", pfs_quote(name)),
				 errhint("The classes are those of pfs.setup_timers: idle, wait, stage, statement, transaction.")));
		PG_RETURN_INT64(0);
	}
	pfs_setup_set_timer(class, timer);
	PG_RETURN_INT64(1);
}

typedef struct SwitchThread
{
	int			instrumented;
	int			history;
	int64		n;
} SwitchThread;

static void
switch_thread_cb(const PfsThread *copy, uint64 word, void *arg)
{
	SwitchThread *change = arg;

	if (pfs_thread_set(copy->index, word, change->instrumented, change->history))
		change->n++;
}

/* SQL function: switches instrumentation and history of one thread. */
Datum
pfs_set_thread(PG_FUNCTION_ARGS)
{
	SwitchThread change = {0};

	pfs_require_active();
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be NULL", "thread_id")));
	change.instrumented = pfs_switch_argument(fcinfo, 1, "instrumented");
	change.history = pfs_switch_argument(fcinfo, 2, "history");
	if (PG_GETARG_INT64(0) > 0)
		pfs_threads_each(PG_GETARG_INT64(0), switch_thread_cb, &change);
	if (change.n == 0)
		ereport(NOTICE,
				(errmsg("there is no thread %lld", (long long) PG_GETARG_INT64(0)),
				 errhint("SELECT pfs.thread_id(pid) gives the thread of a process.")));
	PG_RETURN_INT64(change.n);
}

/* SQL function: switches the kinds of background processes that match a pattern. */
Datum
pfs_set_threads(PG_FUNCTION_ARGS)
{
	char	   *pattern;
	int			enabled;
	int			history;
	int64		matched = 0;

	pfs_require_active();
	pattern = required_pattern(fcinfo, 0);
	enabled = pfs_switch_argument(fcinfo, 1, "enabled");
	history = pfs_switch_argument(fcinfo, 2, "history");
	for (int kind = 0; kind < PFS_NUM_BACKEND_TYPES; kind++)
	{
		const PfsThreadKind *thread = &pfs_thread_kinds[kind];

		if (thread->background && pfs_pattern_match(pattern, thread->name))
		{
			pfs_setup_set_thread_kind(kind, enabled, history);
			matched++;
		}
	}
	if (matched == 0)
		ereport(NOTICE,
				(errmsg("no kind of background process matches \"%s\"", pattern),
				 errhint("SELECT name FROM pfs.setup_threads lists them.")));
	PG_RETURN_INT64(matched);
}

/* The table that a user names with or without the schema; 42P01 if there is none. */
const PfsTable *
pfs_require_table(const char *name)
{
	const PfsTable *table;

	if (strncmp(name, "pfs.", 4) == 0)
		name += 4;
	table = pfs_table_by_name(name);
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("pfs has no table \"%s\"", pfs_quote(name)),
				 errhint("SELECT table_name FROM pfs.tables lists them.")));
	return table;
}

/* SQL function: truncates one table, or all; returns how many rows or events left. */
Datum
pfs_reset(PG_FUNCTION_ARGS)
{
	int64		rows = 0;

	pfs_require_active();
	if (!PG_ARGISNULL(0))
	{
		const PfsTable *table = pfs_require_table(text_to_cstring(PG_GETARG_TEXT_PP(0)));

		pfs_require_truncatable(table);
		PG_RETURN_NUMERIC(int64_to_numeric(pfs_truncate(table)));
	}
	for (int i = 0; i < pfs_num_tables; i++)
	{
		if (pfs_tables[i]->in_reset_all)
			pfs_require_truncatable(pfs_tables[i]);
	}
	for (int i = 0; i < pfs_num_tables; i++)
	{
		if (pfs_tables[i]->in_reset_all)
			rows += pfs_truncate(pfs_tables[i]);
	}
	PG_RETURN_NUMERIC(int64_to_numeric(rows));
}

Datum
pfs_reset_time_sql(PG_FUNCTION_ARGS)
{
	pfs_require_active();
	PG_RETURN_TIMESTAMPTZ(pfs_reset_time(pfs_require_table(text_to_cstring(PG_GETARG_TEXT_PP(0)))->name));
}

Datum
pfs_thread_id(PG_FUNCTION_ARGS)
{
	uint64		thread_id;

	pfs_require_active();
	thread_id = pfs_thread_id_of_pid(PG_GETARG_INT32(0));
	if (thread_id == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) thread_id);
}

Datum
pfs_setup_sql_text(PG_FUNCTION_ARGS)
{
	pfs_require_active();
	PG_RETURN_DATUM(pfs_text_datum(pfs_setup_sql()));
}
