/*
 * pfs_test_around.c
 *	  How long the planner and utilities took, from where pfs measures: around
 *	  pg_stat_statements, which measures around the server's own functions.  How long the
 *	  executor's finish of queries took that have no triggers: pfs passes it on without measuring it.
 *	  And which executions the executor never ended, with the rows that they had sent:
 *	  pg_stat_statements counts at that end.  And how often utilities were executed whose identifier
 *	  it had taken out of their plan before, with their rows: it does not count these.
 *
 * A witness for scripts/regress-core --compare.  Loaded behind pg_stat_statements, its hooks
 * are around those; the hooks of pfs are around all.  Each process adds up by database,
 * role and query identifier, and writes it into a file of its own when it ends, in the folder that
 * PFS_TEST_AROUND names.  Times of calls that fail are not in it.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"
#include "tcop/utility.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../../../src/compat/pfs_compat_hooks.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

typedef struct AroundKey
{
	uint64		query_id;
	Oid			user;
	Oid			database;
} AroundKey;

typedef struct Around
{
	AroundKey	key;
	double		plan_ms;
	double		utility_ms;
	double		finish_ms;
	int64		unended;		/* executions */
	int64		unended_rows;
	int64		taken;			/* executions */
	int64		taken_rows;
} Around;

/* The identifier of a utility's text, as it was before it was taken out of a plan. */
typedef struct TextId
{
	uint64		text;			/* its hash */
	uint64		query_id;
} TextId;

static planner_hook_type prev_planner = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;
static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorRun_hook_type prev_executor_run = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static ExecutorEnd_hook_type prev_executor_end = NULL;
static HTAB *table = NULL;
static HTAB *ids = NULL;

static void
write_all(int code, Datum arg)
{
	const char *folder = getenv("PFS_TEST_AROUND");
	char		path[MAXPGPATH];
	HASH_SEQ_STATUS status;
	Around	   *around;
	FILE	   *file;

	if (folder == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%d", folder, MyProcPid);
	if ((file = fopen(path, "a")) == NULL)
		return;
	hash_seq_init(&status, table);
	while ((around = hash_seq_search(&status)) != NULL)
		fprintf(file, "%u,%u," INT64_FORMAT ",%.6f,%.6f,%.6f," INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT "," INT64_FORMAT "\n",
				around->key.database, around->key.user, (int64) around->key.query_id, around->plan_ms,
				around->utility_ms, around->finish_ms, around->unended, around->unended_rows, around->taken,
				around->taken_rows);
	fclose(file);
}

static Around *
around_of(const AroundKey *key)
{
	bool		found;
	Around	   *around;

	if (table == NULL)
	{
		HASHCTL		info = {.keysize = sizeof(AroundKey), .entrysize = sizeof(Around), .hcxt = TopMemoryContext};

		table = hash_create("pfs_test_around", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		on_proc_exit(write_all, 0);
	}
	around = hash_search(table, key, HASH_ENTER, &found);
	if (!found)
	{
		around->plan_ms = around->utility_ms = around->finish_ms = 0;
		around->unended = around->unended_rows = around->taken = around->taken_rows = 0;
	}
	return around;
}

static AroundKey
key_of(uint64 query_id)
{
	AroundKey	key = {query_id, GetUserId(), MyDatabaseId};

	return key;
}

static double
since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_MILLISEC(now);
}

static PlannedStmt *
planner_cb(PFS_PLANNER_PARAMS)
{
	AroundKey	key = key_of(query->queryId);
	instr_time	start;
	PlannedStmt *result;
	double		ms;

	INSTR_TIME_SET_CURRENT(start);
	result = prev_planner ? prev_planner(PFS_PLANNER_ARGS) : standard_planner(PFS_PLANNER_ARGS);
	ms = since(start);
	if (key.query_id != 0 && !IsParallelWorker())
		around_of(&key)->plan_ms += ms;
	return result;
}

/* The identifier that a utility has, or had when its text was executed first; 0: none. */
static uint64
utility_id(const PlannedStmt *stmt, const char *str)
{
	const char *text = str + Max(stmt->stmt_location, 0);
	int			len = stmt->stmt_location >= 0 && stmt->stmt_len > 0 ? stmt->stmt_len : strlen(text);
	uint64		hash = hash_bytes_extended((const unsigned char *) text, len, 0);
	bool		found;
	TextId	   *id;

	if (ids == NULL)
	{
		HASHCTL		info = {.keysize = sizeof(uint64), .entrysize = sizeof(TextId), .hcxt = TopMemoryContext};

		ids = hash_create("pfs_test_around, texts", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	id = hash_search(ids, &hash, stmt->queryId != 0 ? HASH_ENTER : HASH_FIND, &found);
	if (stmt->queryId != 0)
		id->query_id = stmt->queryId;
	return id != NULL ? id->query_id : 0;
}

/* Rows that pg_stat_statements has of a utility. */
static int64
rows_of_utility(const QueryCompletion *qc)
{
	if (qc == NULL)
		return 0;
	switch (qc->commandTag)
	{
		case CMDTAG_COPY:
		case CMDTAG_FETCH:
		case CMDTAG_SELECT:
		case CMDTAG_REFRESH_MATERIALIZED_VIEW:
			return (int64) qc->nprocessed;
		default:
			return 0;
	}
}

static void
process_utility_cb(PlannedStmt *stmt, const char *str, bool read_only_tree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc)
{
	AroundKey	key = key_of(utility_id(stmt, str));
	bool		taken = stmt->queryId == 0;
	instr_time	start;
	double		ms;

	INSTR_TIME_SET_CURRENT(start);
	if (prev_process_utility)
		prev_process_utility(stmt, str, read_only_tree, context, params, environment, dest, qc);
	else
		standard_ProcessUtility(stmt, str, read_only_tree, context, params, environment, dest, qc);
	ms = since(start);
	if (key.query_id != 0 && context != PROCESS_UTILITY_SUBCOMMAND && !IsParallelWorker())
	{
		Around	   *around = around_of(&key);

		around->utility_ms += ms;
		if (taken)
		{
			around->taken++;
			around->taken_rows += rows_of_utility(qc);
		}
	}
}

/* Rows of all runs of a query, as pg_stat_statements counts them. */
static int64
rows_of(const EState *estate)
{
#if PG_VERSION_NUM >= 160000
	return (int64) estate->es_total_processed;
#else
	return (int64) estate->es_processed;
#endif
}

static bool
is_counted(const QueryDesc *query)
{
	return query->plannedstmt->queryId != 0 && !IsParallelWorker();
}

static void
executor_start_cb(QueryDesc *query, int flags)
{
	if (is_counted(query))
	{
		AroundKey	key = key_of(query->plannedstmt->queryId);

		around_of(&key)->unended++;
	}
	if (prev_executor_start)
		prev_executor_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
}

static void
executor_run_cb(PFS_EXECUTOR_RUN_PARAMS)
{
	if (prev_executor_run)
		prev_executor_run(PFS_EXECUTOR_RUN_ARGS);
	else
		standard_ExecutorRun(PFS_EXECUTOR_RUN_ARGS);
	if (is_counted(desc))
	{
		AroundKey	key = key_of(desc->plannedstmt->queryId);

		around_of(&key)->unended_rows += (int64) desc->estate->es_processed;
	}
}

/* Has any table that the query writes a trigger? */
static bool
has_triggers(const EState *estate)
{
	ListCell   *cell;

	foreach(cell, estate->es_opened_result_relations)
	{
		if (((const ResultRelInfo *) lfirst(cell))->ri_TrigDesc != NULL)
			return true;
	}
	return estate->es_tuple_routing_result_relations != NIL || estate->es_trig_target_relations != NIL;
}

static void
executor_finish_cb(QueryDesc *query)
{
	bool		is_passed = !query->plannedstmt->hasModifyingCTE && !has_triggers(query->estate);
	instr_time	start;
	double		ms;

	INSTR_TIME_SET_CURRENT(start);
	if (prev_executor_finish)
		prev_executor_finish(query);
	else
		standard_ExecutorFinish(query);
	ms = since(start);
	if (is_counted(query) && is_passed)
	{
		AroundKey	key = key_of(query->plannedstmt->queryId);

		around_of(&key)->finish_ms += ms;
	}
}

/* By the role that it has now, as pg_stat_statements does. */
static void
executor_end_cb(QueryDesc *query)
{
	if (is_counted(query))
	{
		AroundKey	key = key_of(query->plannedstmt->queryId);
		Around	   *around = around_of(&key);

		around->unended--;
		around->unended_rows -= rows_of(query->estate);
	}
	if (prev_executor_end)
		prev_executor_end(query);
	else
		standard_ExecutorEnd(query);
}

void
_PG_init(void)
{
	prev_planner = planner_hook;
	planner_hook = planner_cb;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility_cb;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start_cb;
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run_cb;
	prev_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish_cb;
	prev_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end_cb;
}
