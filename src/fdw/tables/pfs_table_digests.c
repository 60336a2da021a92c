/*
 * pfs_table_digests.c
 *	  events_statements_summary_by_digest, events_statements_histogram_by_digest,
 *	  events_waits_summary_by_digest, table_io_waits_summary_by_digest, plans_summary_by_digest:
 *	  what statements of each digest counted.  All have their keys in common, and TRUNCATE of the first
 *	  empties all of them.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_buckets.h"
#include "pfs_digest_columns.h"
#include "pfs_digest_rows_read.h"
#include "pfs_recorder.h"
#include "pfs_object_name.h"
#include "pfs_rel_read.h"
#include "pfs_statement_counters.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"
#include "pfs_cell_views.h"

/* ---- events_statements_summary_by_digest ---- */

typedef struct SummaryRow
{
	PfsDigestKey key;
	PfsDigestRow digest;
	uint64		quantile[PFS_NUM_QUANTILES];	/* ticks */
} SummaryRow;

static void
add_summary_cb(const PfsDigestRow *digest, void *arg)
{
	SummaryRow *row = pfs_scan_add(arg);

	row->key = digest->key;
	row->digest = *digest;
	if (digest->buckets != NULL)
		pfs_buckets_quantiles(digest->buckets, digest->totals.time.max, row->quantile);
}

/* Converts another session's text to this database's encoding, without secrets. */
static char *
text_of(const SummaryRow *row, const PfsText *text)
{
	if (text->len == 0)
		return NULL;
	return pfs_text_of_statement(text->text, text->len, pfs_database_encoding(PFS_DIGEST_DATABASE(row->key.db_user)));
}

#define SUMMARY_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key) \
	X(t, digest_text, text, none, text_of(row, &row->digest.text), \
	  "Text with parameters for its constants, without secrets. NULL: not known, as it was parsed before this " \
	  "row was made and not executed again since; or without the rights of user_name or pg_read_all_stats.", .width = 100, .hidden = true) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->digest.totals.time, "Statements counted.") \
	PFS_STATEMENT_SUM_COLUMNS(X, t, &row->digest.totals) \
	X(t, first_seen, timestamptz, none, row->digest.first_seen, "When the row was made.") \
	X(t, last_seen, timestamptz, none, row->digest.last_seen, "End of the last statement.") \
	X(t, quantile_95, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[0]), \
	  "95 % of them were not longer, in picoseconds: the upper bound of the histogram's range, at most 19 % too " \
	  "high.", .width = 10) \
	X(t, quantile_99, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[1]), "The same of 99 %.", .width = 10) \
	X(t, quantile_999, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[2]), "The same of 99.9 %.", .width = 10) \
	X(t, query_sample_text, text, none, text_of(row, &row->digest.sample), \
	  "Text of the slowest statement of late, without secrets; see pfs.max_digest_sample_age. NULL without the " \
	  "rights of user_name or pg_read_all_stats.", .width = 100, .hidden = true) \
	X(t, query_sample_seen, timestamptz, none, PFS_NULL_IF(row->digest.sample.text == NULL, row->digest.sample_seen), "When that ended.") \
	X(t, query_sample_timer_wait, numeric, picoseconds, \
	  PFS_NULL_IF(row->digest.sample.text == NULL, pfs_ticks_as_ps(row->digest.sample_ticks)), \
	  "How long it was, in picoseconds.", .width = 10) \
	X(t, sum_generic_plans, bigint, count, PFS_NULL_IF(!PFS_HAVE_PLAN_ORIGIN, row->digest.totals.plans.generic), \
	  "Executions of a generic plan, as pg_stat_statements.generic_plan_calls. NULL before PostgreSQL 19.", \
	  .since = PFS_SINCE_1_1) \
	X(t, sum_custom_plans, bigint, count, PFS_NULL_IF(!PFS_HAVE_PLAN_ORIGIN, row->digest.totals.plans.custom), \
	  "Executions of a custom plan, as pg_stat_statements.custom_plan_calls. NULL before PostgreSQL 19.", \
	  .since = PFS_SINCE_1_1)

PFS_COLUMNS(summary, SummaryRow, SUMMARY_COLUMNS)

#define NEEDED(column) scan->needed[PFS_COLUMN(summary, column)]

/*
 * Copies the digests; what only serves columns that nobody asked for is not copied.
 */
static void
summary_copy(PfsScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);
	int			parts = 0;

	if (NEEDED(digest_text))
		parts |= PFS_DIGEST_TEXT;
	if (NEEDED(quantile_95) || NEEDED(quantile_99) || NEEDED(quantile_999))
		parts |= PFS_DIGEST_BUCKETS;
	if (NEEDED(query_sample_text) || NEEDED(query_sample_seen) || NEEDED(query_sample_timer_wait))
		parts |= PFS_DIGEST_SAMPLE;
	pfs_digests_read(&pfs_digests, parts, add_summary_cb, scan);
	MemoryContextSwitchTo(old);
}

const PfsTable pfs_table_statements_by_digest = {
	PFS_TABLE("events_statements_summary_by_digest", summary, "MySQL",
			  "one shape of statements of one user in one database, or all others",
			  "removes the rows, also of the histogram, the waits and the rows of tables by digest",
			  "Counts and times of statements by shape: database, user and query identifier; one row for all "
			  "others. TRUNCATE removes the rows, also those of events_statements_histogram_by_digest, "
			  "events_waits_summary_by_digest and table_io_waits_summary_by_digest."),
	.containers = {&pfs_digests.pages},
	.copy = summary_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_digests_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- events_statements_histogram_by_digest ---- */

typedef struct HistogramRow
{
	PfsDigestKey key;
	PfsBucketRow bucket;
} HistogramRow;

#define HISTOGRAM_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key) \
	PFS_BUCKET_COLUMNS(X, t, &row->bucket, "Statements that took so long", "timed statements of this shape")

PFS_COLUMNS(histogram, HistogramRow, HISTOGRAM_COLUMNS)

/* Adds the rows of one digest's histogram. */
static void
add_histogram_cb(const PfsDigestRow *digest, void *arg)
{
	PfsBucketRow buckets[PFS_HISTOGRAM_BUCKETS];
	int			n = pfs_buckets_rows(digest->buckets, buckets);

	for (int i = 0; i < n; i++)
	{
		HistogramRow *row = pfs_scan_add(arg);

		row->key = digest->key;
		row->bucket = buckets[i];
	}
}

static void
histogram_copy(PfsScan *scan)
{
	pfs_digests_read(&pfs_digests, PFS_DIGEST_BUCKETS, add_histogram_cb, scan);
}

/* A guess: statements of one digest take similar times. */
#define BUCKETS_PER_DIGEST 8

const PfsTable pfs_table_statements_histogram_by_digest = {
	PFS_TABLE("events_statements_histogram_by_digest", histogram, "MySQL",
			  "one range of lengths of one shape of statements",
			  "empties it; quantiles become 0",
			  "How many statements of each shape were how long. TRUNCATE empties it; quantiles become 0."),
	.containers = {&pfs_digests.pages},
	.usual_rows = BUCKETS_PER_DIGEST,
	.copy = histogram_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_digest_buckets_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- events_waits_summary_by_digest ---- */

#define WAITS_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key) \
	X(t, event_name, text, none, pfs_event_name(row->instrument), \
	  "Name of the instrument, as in setup_instruments.", .width = 30, .key = PFS_KEY_EVENT_NAME) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Number of waits.")

PFS_COLUMNS(waits, PfsDigestWaitRow, WAITS_COLUMNS)

static void
add_wait_cb(const PfsDigestWaitRow *row, void *arg)
{
	*(PfsDigestWaitRow *) pfs_scan_add(arg) = *row;
}

static void
add_waits(void *to, const void *row)
{
	pfs_totals_add(&((PfsDigestWaitRow *) to)->totals, &((const PfsDigestWaitRow *) row)->totals);
}

static void
waits_copy(PfsScan *scan)
{
	pfs_digest_waits_read(scan->instrument, add_wait_cb, scan);
	pfs_scan_unite(scan, offsetof(PfsDigestWaitRow, instrument) + sizeof(PfsInstrumentId), add_waits);
}

const PfsTable pfs_table_waits_by_digest = {
	PFS_TABLE("events_waits_summary_by_digest", waits, "own",
			  "one kind of wait of one shape of statements",
			  "zeroes it",
			  "What statements of each shape waited for; those of parallel workers are their leader's. TRUNCATE "
			  "zeroes it."),
	.containers = {&pfs_digest_waits},
	.copy = waits_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_digest_waits_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- table_io_waits_summary_by_digest ---- */

#define ROWS_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key) \
	X(t, object_type, text, none, "TABLE", "TABLE.", .width = 5) \
	X(t, object_schema, text, none, pfs_rel_schema(row->database, row->relation), \
	  "Schema of the table; NULL also if it is of another database. " PFS_RIGHTS_OF_USER, .width = 12, .hidden = true) \
	X(t, object_name, text, none, pfs_rel_name(row->database, row->relation), \
	  "Name of the table; its OID if it is of another database. " PFS_RIGHTS_OF_USER, .width = 16, .hidden = true) \
	X(t, index_name, text, none, pfs_rel_index(row->database, row->index), \
	  "Name of the index, its OID if it is of another database; NULL also if it is by no index. " PFS_RIGHTS_OF_USER, .width = 16, \
	  .hidden = true) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->all, "Number of rows of all operations, locks of rows among them.") \
	X(t, count_fetch, bigint, count, row->counts[PFS_REL_FETCH], \
	  "Number of rows that the index found; without an index those of sequential scans.") \
	X(t, count_insert, bigint, count, row->counts[PFS_REL_INSERT], \
	  "Number of entries that were made in the index; without an index rows of the table.") \
	X(t, count_update, bigint, count, row->counts[PFS_REL_UPDATE], "Number of rows that were updated.") \
	X(t, count_delete, bigint, count, row->counts[PFS_REL_DELETE], "Number of rows that were deleted.")

PFS_COLUMNS(rows, PfsDigestRowsRow, ROWS_COLUMNS)

static void
add_rows_cb(const PfsDigestRowsRow *row, void *arg)
{
	*(PfsDigestRowsRow *) pfs_scan_add(arg) = *row;
}

static bool
rows_exist(const void *p)
{
	const PfsDigestRowsRow *row = p;

	return pfs_rel_and_index_exist(row->database, row->relation, row->index);
}

static void
add_rows(void *to, const void *from)
{
	PfsDigestRowsRow *sum = to;
	const PfsDigestRowsRow *row = from;

	pfs_totals_add(&sum->all, &row->all);
	for (int i = 0; i < PFS_NUM_ROW_COUNTS; i++)
		sum->counts[i] += row->counts[i];
}

static void
rows_copy(PfsScan *scan)
{
	pfs_digest_rows_read(add_rows_cb, scan);
	pfs_scan_unite(scan, offsetof(PfsDigestRowsRow, index) + sizeof(Oid), add_rows);
	pfs_scan_keep(scan, rows_exist);
}

const PfsTable pfs_table_io_by_digest = {
	PFS_TABLE("table_io_waits_summary_by_digest", rows, "own",
			  "one table that statements of one shape have worked on, by one index or by none",
			  "zeroes it, and the other tables table_io_waits_summary_...",
			  "Rows that statements of each shape fetched, inserted, updated, deleted and locked, by table and index, as "
			  "in table_io_waits_summary_by_index_usage. A row is counted when its statement has ended, for the innermost "
			  "statement that has a query_id; those of parallel workers are their leader's. A table or an index that is "
			  "dropped loses its rows."),
	.containers = {&pfs_digest_rows},
	.copy = rows_copy,
	.role = pfs_digest_row_role,
	.check_truncate = pfs_cell_views_require_thread,
	.truncate = pfs_rel_io_truncate_digests,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};

/* ---- plans_summary_by_digest ---- */

/*
 * A plan returns rows, or changes some; where it does both, as with RETURNING, these are the same rows, but for those of
 * WITH.
 */
#define PLAN_ROWS(totals) \
	Max(PFS_STATEMENT_COUNTER(totals, ROWS_SENT), PFS_STATEMENT_COUNTER(totals, ROWS_AFFECTED))

/* What is known with the text alone. */
#define OF_TEXT(row, value) PFS_NULL_IF((row)->digest.text.text == NULL, value)

#define PLANS_COLUMNS(X, t) \
	PFS_DIGEST_KEY_COLUMNS(X, t, &row->key) \
	X(t, plan_id, bigint, none, PFS_NULL_IF_0(row->digest.plan_id), \
	  "A hash of the plan's shape: types of nodes and their order, relations, indexes, join types and strategies, columns " \
	  "of sorts and groups, workers planned; no constants, costs or estimates. Partitions count as their table.", .hidden = true) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->digest.totals.time, "Executions counted.") \
	X(t, quantile_95, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[0]), \
	  "95 % of them were not longer, in picoseconds: the upper bound of the histogram's range, at most 19 % too " \
	  "high.", .width = 10) \
	X(t, quantile_99, numeric, picoseconds, pfs_ticks_as_ps(row->quantile[1]), "The same of 99 %.", .width = 10) \
	PFS_STATEMENT_TIME_COLUMNS(X, t, sum_, &row->digest.totals) \
	X(t, sum_rows, bigint, count, PLAN_ROWS(&row->digest.totals), "Rows returned, inserted, updated, deleted or merged.") \
	X(t, sum_shared_blks_hit, bigint, pages, PFS_STATEMENT_COUNTER(&row->digest.totals, SHARED_BLKS_HIT), \
	  "Pages found in shared buffers, also by nested statements.") \
	X(t, sum_shared_blks_read, bigint, pages, PFS_STATEMENT_COUNTER(&row->digest.totals, SHARED_BLKS_READ), \
	  "Pages read into shared buffers.") \
	X(t, sum_temp_blks_written, bigint, pages, PFS_STATEMENT_COUNTER(&row->digest.totals, TEMP_BLKS_WRITTEN), \
	  "Pages of temporary files written.") \
	X(t, first_seen, timestamptz, none, row->digest.first_seen, "When the row was made.") \
	X(t, last_seen, timestamptz, none, row->digest.last_seen, "End of the last execution.") \
	X(t, estimated_cost, float8, none, OF_TEXT(row, row->digest.plan.cost), \
	  "The planner's estimate of the whole plan, in units of seq_page_cost, when plan_text was made.", .width = 10) \
	X(t, estimated_rows, float8, none, OF_TEXT(row, row->digest.plan.rows), \
	  "The planner's estimate of the rows that it returns, then.", .width = 10) \
	X(t, node_count, bigint, count, OF_TEXT(row, row->digest.plan.nodes), "Nodes; equal ones of partitions count once.") \
	X(t, server_plan_id, bigint, none, PFS_NULL_IF(row->digest.text.text == NULL || row->digest.plan.server_plan_id == 0, \
												   row->digest.plan.server_plan_id), \
	  "The identifier that the server or another library has given to it. NULL if none has, and before PostgreSQL 18.") \
	X(t, plan_text, text, none, text_of(row, &row->digest.text), \
	  "What EXPLAIN (COSTS OFF) says of it, with question marks for constants; at most pfs.max_plan_text_length bytes. " \
	  "It is made at the first execution, of a plan with a cost under 1,000 at the second. NULL without the rights of user_name or pg_read_all_stats.", \
	  .width = 200, .hidden = true)

PFS_COLUMNS(plans, SummaryRow, PLANS_COLUMNS)

static void
plans_copy(PfsScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);

	pfs_digests_read(&pfs_plans, PFS_DIGEST_BUCKETS | PFS_DIGEST_TEXT, add_summary_cb, scan);
	MemoryContextSwitchTo(old);
}

const PfsTable pfs_table_plans_by_digest = {
	PFS_TABLE("plans_summary_by_digest", plans, "own",
			  "one plan of one shape of statements",
			  "zeroes it, and the tables of its nodes",
			  "Counts and times of statements by shape and by plan; one row for all others. A statement counts for the plan "
			  "that it executes; what has none, as a utility, is in no row. TRUNCATE zeroes it, and its nodes; that of "
			  "events_statements_summary_by_digest removes the rows."),
	.containers = {&pfs_plans.pages},
	.copy = plans_copy,
	.role = pfs_digest_row_role,
	.truncate = pfs_plans_truncate,
	.truncated = pfs_recorder_ask_to_save,
	.in_reset_all = true,
};
