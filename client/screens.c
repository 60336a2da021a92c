/*
 * screens.c
 *	  The nine screens: their queries and columns, but for the lock tree (screen_locks.c) and
 *	  memory (screen_memory.c).
 *
 * Queries are written for a session whose search_path is pg_catalog.  They read each
 * table of pfs once, as each scan copies it.
 */
#include "reading.h"

/* ---- load ---- */

/*
 * Parameters of what is read from the load history: since, till, resolution.  Periods
 * that begin in this time count whole.
 */
#define HISTORY_TIME \
	" FROM pfs.load_history WHERE type = 'FOREGROUND' AND wait_event_type <> 'Idle in transaction'" \
	" AND resolution = $3::interval AND period_start >= $1::timestamptz AND period_start < $2::timestamptz"

/*
 * The statement of each row is the one with the largest part of it.
 */
static const ScreenColumn load_columns[] = {
	{"class", COLUMN_TEXT, 10, ROLE_KEY},
	{"event", COLUMN_TEXT, 24, ROLE_KEY},
	{"time", COLUMN_TIME, -1, ROLE_NOW},
	{"active_sessions", COLUMN_REAL, 8, ROLE_ACTIVE, "time"},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "time"},
	{"query_id", COLUMN_NUMBER, -1, ROLE_LABEL},
	{"mostly_in", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenNeed load_needs[] = {
	{"statements_digest", "no statement is in the load"},
	{"statement/%", "such statements are not in the load"},
	{"wait/%", "the time of such waits stands as CPU"},
	{NULL}
};

const Screen screen_load = {
	.name = "load",
	.title = "average active sessions by kind of wait, over time",
	.query = "WITH h AS MATERIALIZED (SELECT wait_event_type, event_name, query_id, digest_text, sum(sum_timer_wait) AS time"
	HISTORY_TIME " GROUP BY 1, 2, 3, 4),"
	" m AS (SELECT DISTINCT ON (wait_event_type, event_name) * FROM h ORDER BY wait_event_type, event_name, time DESC)"
	" SELECT wait_event_type, coalesce(s.event_name, '(others)'), s.time, m.query_id, m.digest_text"
	" FROM (SELECT wait_event_type, event_name, sum(time) AS time FROM h GROUP BY 1, 2) s"
	" JOIN m USING (wait_event_type)"
	" WHERE m.event_name IS NOT DISTINCT FROM s.event_name AND s.time > 0",
	.columns = load_columns,
	.sort = "active_sessions",
	.needs = load_needs,
	.empty = "No session was active in this time.",
};

/* What each session is in at this moment: the innermost wait that is none of a run on a table. */
#define CURRENT_WAITS \
	"(SELECT DISTINCT ON (thread_id) thread_id, event_name, timer_start, object_schema, object_name, operation" \
	" FROM pfs.events_waits_current WHERE event_name NOT LIKE 'wait/io/table/%' ORDER BY thread_id, event_id DESC)"

/* The kind of a wait w, whose instrument is i; before 1.2 there are PostgreSQL's words alone. */
#define WAIT_CLASS \
	"CASE WHEN w.event_name IS NULL THEN 'CPU' ELSE coalesce(to_jsonb(i) ->> 'wait_class', i.wait_event_type, 'Other') END"

static const ScreenColumn load_now_columns[] = {
	{"class", COLUMN_TEXT, 10, ROLE_KEY},
	{"event", COLUMN_TEXT, 24, ROLE_KEY},
	{"active_sessions", COLUMN_REAL, 8, ROLE_NOW},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "active_sessions"},
	{"query_id", COLUMN_NUMBER, -1, ROLE_LABEL},
	{"mostly_in", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenNeed load_now_needs[] = {
	{"thread_instrumentation", "what sessions wait for stands as CPU"},
	{"events_waits_current", "what sessions wait for stands as CPU"},
	{"wait/%", "such waits stand as CPU"},
	{NULL}
};

const Screen screen_load_now = {
	.title = "active sessions by kind of wait",
	.query = "WITH h AS (SELECT " WAIT_CLASS " AS class, coalesce(w.event_name, 'cpu') AS event, t.processlist_info AS text, count(*) AS n"
	" FROM pfs.threads t LEFT JOIN " CURRENT_WAITS " w USING (thread_id) LEFT JOIN pfs.setup_instruments i ON i.name = w.event_name"
	" WHERE t.type = 'FOREGROUND' AND t.processlist_command = 'Query' AND t.thread_os_id <> pg_backend_pid() GROUP BY 1, 2, 3)"
	" SELECT class, event, sum(n), NULL, (array_agg(text ORDER BY n DESC))[1] FROM h GROUP BY 1, 2",
	.columns = load_now_columns,
	.sort = "active_sessions",
	.needs = load_now_needs,
	.empty = "No session is active.",
};

static const ScreenColumn past_statement_columns[] = {
	{"database", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"user", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"query_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"total", COLUMN_TIME, 10, ROLE_NOW},
	{"active_sessions", COLUMN_REAL, 8, ROLE_ACTIVE, "total"},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"mostly", COLUMN_TEXT, 26, ROLE_LABEL},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

const Screen screen_past_statements = {
	.title = "statements of a past time",
	.query = "WITH h AS MATERIALIZED (SELECT database_name, user_name, query_id, digest_text,"
	"  CASE WHEN wait_event_type = 'CPU' THEN 'cpu' ELSE coalesce(regexp_replace(event_name, '^wait/(io|synch)?/?', ''), wait_event_type) END AS event,"
	"  sum(sum_timer_wait) AS time" HISTORY_TIME " GROUP BY 1, 2, 3, 4, 5)"
	" SELECT database_name, user_name, query_id, sum(time), (array_agg(event || ' ' || round(100 * time / nullif(whole, 0)) || ' %' ORDER BY time DESC))[1],"
	"  CASE WHEN query_id IS NULL THEN '(others)' ELSE max(digest_text) END"
	" FROM (SELECT h.*, sum(time) OVER (PARTITION BY database_name, user_name, query_id) AS whole FROM h) x"
	" GROUP BY 1, 2, 3 HAVING sum(time) > 0",
	.columns = past_statement_columns,
	.sort = "total",
	.needs = load_needs,
	.empty = "No statement ran in this time.",
};

static const ScreenColumn past_wait_columns[] = {
	{"event", COLUMN_TEXT, 34, ROLE_KEY},
	{"total", COLUMN_TIME, 10, ROLE_NOW},
	{"active_sessions", COLUMN_REAL, 8, ROLE_ACTIVE, "total"},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"ended", COLUMN_COUNT, 7, ROLE_NOW},
	{NULL}
};

const Screen screen_past_waits = {
	.title = "waits of a past time",
	.query = "SELECT coalesce(event_name, '(others: ' || wait_event_type || ')'), sum(sum_timer_wait), sum(count_star)" HISTORY_TIME
	" AND wait_event_type <> 'CPU' GROUP BY 1 HAVING sum(sum_timer_wait) > 0",
	.columns = past_wait_columns,
	.sort = "total",
	.needs = load_needs,
	.empty = "No wait was in this time.",
};

/* ---- sessions ---- */

static const ScreenColumn session_columns[] = {
	{"thread_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"pid", COLUMN_NUMBER, 7, ROLE_LABEL},
	{"user", COLUMN_TEXT, 9, ROLE_LABEL},
	{"database", COLUMN_TEXT, 9, ROLE_LABEL, .wide = true},
	{"application", COLUMN_TEXT, 9, ROLE_LABEL},
	{"client", COLUMN_TEXT, 15, ROLE_LABEL, .wide = true},
	{"state", COLUMN_TEXT, 20, ROLE_LABEL},
	{"in_state", COLUMN_TIME, 9, ROLE_NOW},
	{"statement_time", COLUMN_TIME, 9, ROLE_NOW, .wide = true},
	{"transaction", COLUMN_TIME, 9, ROLE_NOW},
	{"memory", COLUMN_BYTES, 9, ROLE_NOW, .wide = true},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenColumn session_detail_columns[] = {
	{"event_id", COLUMN_NUMBER, 7, ROLE_KEY},
	{"kind", COLUMN_TEXT, 10, ROLE_LABEL},
	{"event", COLUMN_TEXT, 30, ROLE_LABEL},
	{"took", COLUMN_TIME, 9, ROLE_NOW},
	{"what", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

const Screen screen_session_detail = {
	.title = "the last events of a session, the newest first; those without an end are running",
	.query = "SELECT event_id, 'statement', event_name, timer_wait, sql_text FROM pfs.events_statements_history WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'statement', event_name, NULL, sql_text FROM pfs.events_statements_current WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'wait', event_name, timer_wait, concat_ws(' ', operation, object_name) FROM pfs.events_waits_history WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'wait', event_name, NULL, concat_ws(' ', operation, object_name) FROM pfs.events_waits_current WHERE thread_id = $1::bigint"
	" ORDER BY 1 DESC",
	.columns = session_detail_columns,
	.empty = "The session has no events: its thread is not instrumented, or it is gone.",
};

static const ScreenNeed session_needs[] = {
	{"thread_instrumentation", "what sessions do is not known"},
	{"events_waits_current", "what a session waits for, and for how long, is not known"},
	{"events_statements_current", "how long a statement runs is not known"},
	{"events_transactions_current", "how old a transaction is, is not known"},
	{"transaction", "how old a transaction is, is not known"},
	{"statement/%", "how long such statements run is not known"},
	{"idle%", "how long a session is idle is not known"},
	{"wait/%", "such waits are not seen"},
	{NULL}
};

const Screen screen_sessions = {
	.name = "sessions",
	.title = "sessions, what each is in and for how long, the oldest transaction first",
	.query = "WITH w AS " CURRENT_WAITS ","
	" s AS (SELECT DISTINCT ON (thread_id) thread_id, timer_start FROM pfs.events_statements_current ORDER BY thread_id, event_id),"
	" x AS (SELECT DISTINCT ON (thread_id) thread_id, timer_start FROM pfs.events_transactions_current ORDER BY thread_id, event_id)"
	" SELECT t.thread_id, t.thread_os_id, t.processlist_user, t.processlist_db, t.application_name, t.processlist_host,"
	"  CASE WHEN w.event_name = 'idle/transaction' THEN 'idle in transaction' WHEN w.event_name = 'idle' THEN 'idle'"
	"   WHEN w.event_name IS NULL THEN CASE WHEN t.processlist_command = 'Query' THEN 'cpu' ELSE lower(t.processlist_command) END"
	"   ELSE regexp_replace(w.event_name, '^wait/(synch/|io/)?', '') END,"
	"  CASE WHEN w.timer_start IS NULL THEN pfs.timer_now('statement') - s.timer_start ELSE pfs.timer_now() - w.timer_start END,"
	"  pfs.timer_now('statement') - s.timer_start, pfs.timer_now('transaction') - x.timer_start, t.current_memory, t.processlist_info"
	" FROM pfs.threads t LEFT JOIN w USING (thread_id) LEFT JOIN s USING (thread_id) LEFT JOIN x USING (thread_id)"
	" WHERE t.type = 'FOREGROUND' AND t.thread_os_id <> pg_backend_pid()",
	.columns = session_columns,
	.sort = "transaction",
	.detail = &screen_session_detail,
	.needs = session_needs,
	.pid = "pid",
	.empty = "There is no other session.",
};

/* ---- statements ---- */

/*
 * A role that may not see another one's texts does not get the query_id either: these
 * statements are one row for each database and role.
 */
static const ScreenColumn statement_columns[] = {
	{"database", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"user", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"query_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"calls", COLUMN_COUNT, 6, ROLE_SUM},
	{"timed", COLUMN_COUNT, -1, ROLE_SUM},
	{"average", COLUMN_TIME, 9, ROLE_RATIO, "total", "timed"},
	{"quantile_95", COLUMN_TIME, 9, ROLE_NOW, .wide = true},
	{"rows", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"blocks_read", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"errors", COLUMN_COUNT, 6, ROLE_SUM, .wide = true},
	{"mostly", COLUMN_TEXT, 23, ROLE_MOSTLY, "total"},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenColumn statement_detail_columns[] = {
	{"event", COLUMN_TEXT, 36, ROLE_KEY},
	{"total", COLUMN_TIME, 10, ROLE_SUM},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"count", COLUMN_COUNT, 7, ROLE_SUM},
	{"timed", COLUMN_COUNT, -1, ROLE_SUM},
	{"average", COLUMN_TIME, 9, ROLE_RATIO, "total", "timed"},
	{NULL}
};

static const Screen statement_detail = {
	.title = "what a statement waited for; the rest of its time it was on a processor",
	.query = "SELECT event_name, sum(sum_timer_wait), sum(count_star), sum(count_timed) FROM pfs.events_waits_summary_by_digest"
	" WHERE database_name IS NOT DISTINCT FROM $1 AND user_name IS NOT DISTINCT FROM $2 AND query_id IS NOT DISTINCT FROM $3::bigint GROUP BY 1",
	.columns = statement_detail_columns,
	.sort = "total",
	.has_sums = true,
	.since = "events_waits_summary_by_digest",
	.empty = "The statement waited for nothing.",
};

static const ScreenNeed statement_needs[] = {
	{"statements_digest", "no statement is counted"},
	{"statement/%", "such statements are not counted"},
	{"wait/%", "the time of such waits is shown as cpu"},
	{NULL}
};

#define DIGESTS " FROM pfs.events_statements_summary_by_digest"

/* Of rows that a role may see: the others are one, and have no query_id. */
static const ScreenChanges statement_changes = {
	.query = "WITH d AS MATERIALIZED (SELECT database_name, user_name, query_id, sum_timer_wait, count_star, count_timed, quantile_95,"
	"  sum_rows_sent + sum_rows_affected AS rows, sum_shared_blks_read, sum_errors, last_seen" DIGESTS " WHERE count_star > 0)"
	" SELECT 'changed', database_name, user_name, query_id, sum_timer_wait, count_star, count_timed, quantile_95, rows, sum_shared_blks_read, sum_errors,"
	"  CASE WHEN user_name IS NULL THEN '(all others)' END"
	" FROM d WHERE last_seen >= now() - make_interval(secs => $1::float8) OR user_name IS NULL"
	" UNION ALL SELECT 'present', database_name, user_name, query_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
	" FROM d WHERE (SELECT count_star FROM d WHERE user_name IS NULL) IS DISTINCT FROM $2::bigint"
	" UNION ALL SELECT 'reset', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
	" WHERE greatest(pfs.reset_time('events_statements_summary_by_digest'), pfs.reset_time('events_waits_summary_by_digest'))"
	"  >= now() - make_interval(secs => $1::float8)",
	.texts = "SELECT database_name, user_name, query_id, coalesce(digest_text, '(text not known)')" DIGESTS " WHERE query_id = ANY ($1::bigint[])",
	.id = 2,
	.count = 4,
	.text = 10,
};

const Screen screen_statements = {
	.name = "statements",
	.title = "statements by shape, the most time first, and what each waits for",
	.query = "SELECT database_name, user_name, query_id, sum(sum_timer_wait), sum(count_star), sum(count_timed),"
	"  CASE WHEN count(*) = 1 THEN min(quantile_95) END, sum(sum_rows_sent + sum_rows_affected),"
	"  sum(sum_shared_blks_read), sum(sum_errors),"
	"  coalesce(min(digest_text), CASE WHEN user_name IS NULL THEN '(all others)' WHEN query_id IS NOT NULL THEN '(text not known)'"
	"   ELSE '(' || count(*) || ' that this role may not see)' END)"
	DIGESTS " WHERE count_star > 0 GROUP BY 1, 2, 3",
	.changes = &statement_changes,
	.columns = statement_columns,
	.sort = "total",
	.has_sums = true,
	.since = "events_statements_summary_by_digest",
	.breakdown = "SELECT database_name, user_name, query_id, event_name, sum(sum_timer_wait) FROM pfs.events_waits_summary_by_digest"
	" WHERE sum_timer_wait > 0 AND event_name NOT LIKE 'wait/io/table/%' AND ($1::bigint[] IS NULL OR query_id IS NULL OR query_id = ANY ($1))"
	" GROUP BY 1, 2, 3, 4",
	.detail = &statement_detail,
	.needs = statement_needs,
	.unknown = "SELECT 'The setting compute_query_id is off: statements have no query_id, so none has a row of its own.'"
	" WHERE current_setting('compute_query_id') = 'off'",
	.empty = "No statement ended.",
};

/* ---- waits ---- */

static const ScreenColumn wait_columns[] = {
	{"event", COLUMN_TEXT, 32, ROLE_KEY},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"active", COLUMN_REAL, 6, ROLE_ACTIVE, "total"},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"count", COLUMN_COUNT, 6, ROLE_SUM},
	{"timed", COLUMN_COUNT, -1, ROLE_SUM},
	{"per_second", COLUMN_REAL, 10, ROLE_PER_SECOND, "count", .wide = true},
	{"average", COLUMN_TIME, 9, ROLE_RATIO, "total", "timed"},
	{"quantile_95", COLUMN_TIME, 11, ROLE_NOW, .wide = true},
	{"quantile_99", COLUMN_TIME, 11, ROLE_NOW, .wide = true},
	{"longest", COLUMN_TIME, 9, ROLE_NOW, .wide = true},
	{NULL}
};

static const ScreenColumn histogram_columns[] = {
	{"bucket", COLUMN_NUMBER, -1, ROLE_KEY},
	{"from", COLUMN_TIME, 10, ROLE_LABEL},
	{"to", COLUMN_TIME, 10, ROLE_LABEL},
	{"count", COLUMN_COUNT, 8, ROLE_SUM},
	{"share", COLUMN_PERCENT, 8, ROLE_SHARE, "count"},
	{"bar", COLUMN_BAR, 0, ROLE_SHARE, "count"},
	{NULL}
};

static const Screen histogram = {
	.title = "how long one wait took, by powers of two",
	.query = "SELECT bucket_number / 4, min(bucket_timer_low), max(bucket_timer_high), sum(count_bucket)"
	" FROM pfs.events_waits_histogram_global WHERE event_name = $1 AND count_bucket > 0 GROUP BY 1 ORDER BY 1",
	.columns = histogram_columns,
	.has_sums = true,
	.since = "events_waits_histogram_global",
	.empty = "It has not been waited for, or it is not timed.",
};

static const ScreenNeed wait_needs[] = {
	{"wait/%", "such waits are not counted"},
	{NULL}
};

const Screen screen_waits = {
	.name = "waits",
	.title = "what the server waits for, background processes too; Enter: histogram",
	.query = "SELECT event_name, sum_timer_wait, count_star, count_timed, quantile_95, quantile_99, max_timer_wait"
	" FROM pfs.events_waits_summary_global_by_event_name WHERE count_star > 0"
	" AND event_name NOT IN (SELECT name FROM pfs.setup_instruments WHERE properties LIKE '%idle%' OR properties LIKE '%contains_waits%')",
	.columns = wait_columns,
	.sort = "total",
	.has_sums = true,
	.since = "events_waits_summary_global_by_event_name",
	.detail = &histogram,
	.needs = wait_needs,
	.empty = "Nothing waited.",
};

/* ---- tables and indexes ---- */

static const ScreenColumn table_columns[] = {
	{"schema", COLUMN_TEXT, 8, ROLE_KEY},
	{"table", COLUMN_TEXT, 15, ROLE_KEY},
	{"index", COLUMN_TEXT, 18, ROLE_KEY},
	{"note", COLUMN_TEXT, 9, ROLE_LABEL},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"fetched", COLUMN_COUNT, 7, ROLE_SUM},
	{"inserted", COLUMN_COUNT, 8, ROLE_SUM, .wide = true},
	{"updated", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"deleted", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"written", COLUMN_COUNT, 7, ROLE_SUM},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total", .wide = true},
	{NULL}
};

static const ScreenNeed table_needs[] = {
	{"wait/io/table/handler", "no row is counted"},
	{NULL}
};

/*
 * An index is marked where pfs_sys.schema_unused_indexes would have it, or only has not because it
 * is there for uniqueness or exclusion.
 */
const Screen screen_tables = {
	.name = "tables",
	.title = "rows of tables and indexes of this database; indexes that nobody used are marked",
	.query = "WITH u AS MATERIALIZED (SELECT object_schema, object_name, index_name, sum_timer_wait, count_fetch, count_insert, count_update, count_delete, count_write"
	"  FROM pfs.table_io_waits_summary_by_index_usage WHERE database_name = current_database()),"
	" i AS (SELECT n.nspname, c.relname, x.relname AS index_name,"
	"   CASE WHEN k.unknown IS NOT NULL THEN 'not known' WHEN p.indisunique OR p.indisexclusion THEN 'unused*' ELSE 'unused' END AS note"
	"  FROM (SELECT pfs.index_usage_unknown() AS unknown OFFSET 0) k CROSS JOIN (SELECT DISTINCT object_schema, object_name FROM u) t"
	"  JOIN pg_namespace n ON n.nspname = t.object_schema JOIN pg_class c ON c.relname = t.object_name AND c.relnamespace = n.oid"
	"  JOIN pg_index p ON p.indrelid = c.oid JOIN pg_class x ON x.oid = p.indexrelid"
	"  WHERE NOT EXISTS (SELECT FROM u WHERE u.object_schema = n.nspname AND u.object_name = c.relname AND u.index_name = x.relname AND u.count_fetch > 0))"
	" SELECT coalesce(object_schema, nspname), coalesce(object_name, relname), coalesce(u.index_name, i.index_name), note, coalesce(sum_timer_wait, 0),"
	"  coalesce(count_fetch, 0), coalesce(count_insert, 0), coalesce(count_update, 0), coalesce(count_delete, 0), coalesce(count_write, 0)"
	"  FROM u FULL JOIN i ON i.nspname = object_schema AND i.relname = object_name AND i.index_name = u.index_name",
	.columns = table_columns,
	.sort = "total",
	.has_sums = true,
	.extension = 101,
	.since = "table_io_waits_summary_by_index_usage",
	.instrument = "wait/io/table/handler",
	.needs = table_needs,
	.unknown = "SELECT 'It is not known which indexes nobody uses: ' || w || '.' FROM pfs.index_usage_unknown() w"
	" WHERE w IS NOT NULL AND (SELECT enabled FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler') = 'YES'",
	.always = "note",
	.empty = "No row of a table of this database was fetched or written.",
};

/* ---- files ---- */

static const ScreenColumn file_columns[] = {
	{"kind", COLUMN_TEXT, 9, ROLE_KEY},
	{"tablespace", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"schema", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"name", COLUMN_TEXT, 0, ROLE_KEY},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"reads", COLUMN_COUNT, 6, ROLE_SUM},
	{"read_time", COLUMN_TIME, 9, ROLE_SUM, .wide = true},
	{"read_average", COLUMN_TIME, 12, ROLE_RATIO, "read_time", "reads", .wide = true},
	{"read", COLUMN_BYTES, 9, ROLE_SUM},
	{"writes", COLUMN_COUNT, 6, ROLE_SUM},
	{"write_time", COLUMN_TIME, 10, ROLE_SUM, .wide = true},
	{"written", COLUMN_BYTES, 9, ROLE_SUM},
	{"other_time", COLUMN_TIME, 10, ROLE_SUM, .wide = true},
	{NULL}
};

static const ScreenNeed file_needs[] = {
	{"wait/io/file/%", "such calls are not counted"},
	{NULL}
};

const Screen screen_files = {
	.name = "files",
	.title = "calls on files, by relation or kind of file",
	.query = "SELECT kind, tablespace, object_schema, object_name, sum_timer_wait, count_read, sum_timer_read, sum_number_of_bytes_read,"
	"  count_write, sum_timer_write, sum_number_of_bytes_write, sum_timer_misc"
	" FROM pfs.file_summary_by_relation WHERE count_star > 0",
	.columns = file_columns,
	.sort = "total",
	.has_sums = true,
	.loses_parts = true,
	.since = "file_summary_by_instance",
	.needs = file_needs,
	.empty = "No file was read or written.",
};

/* ---- plans ---- */

static const ScreenColumn plan_columns[] = {
	{"database", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"user", COLUMN_TEXT, 10, ROLE_KEY, .wide = true},
	{"query_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"plan_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total"},
	{"calls", COLUMN_COUNT, 6, ROLE_SUM},
	{"timed", COLUMN_COUNT, -1, ROLE_SUM},
	{"average", COLUMN_TIME, 9, ROLE_RATIO, "total", "timed"},
	{"quantile_95", COLUMN_TIME, 11, ROLE_NOW, .wide = true},
	{"rows", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"estimate", COLUMN_COUNT, 8, ROLE_NOW, .wide = true},
	{"of", COLUMN_NUMBER, 3, ROLE_NOW},
	{"plan", COLUMN_TEXT, 24, ROLE_LABEL},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenColumn plan_detail_columns[] = {
	{"line", COLUMN_NUMBER, -1, ROLE_KEY},
	{"plan", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const Screen plan_detail = {
	.title = "a plan, as EXPLAIN (COSTS OFF) says it, without constants",
	.query = "SELECT line.number, line.text FROM pfs.plans_summary_by_digest, regexp_split_to_table(plan_text, '\\n') WITH ORDINALITY line (text, number)"
	" WHERE database_name IS NOT DISTINCT FROM $1 AND user_name IS NOT DISTINCT FROM $2 AND query_id IS NOT DISTINCT FROM $3::bigint"
	" AND plan_id IS NOT DISTINCT FROM $4::bigint ORDER BY 1",
	.columns = plan_detail_columns,
	.empty = "The text of the plan is not known: it is cheap, and was executed once; or this role may not see it.",
};

static const ScreenNeed plan_needs[] = {
	{"statements_digest", "no statement is counted"},
	{"plans", "no plan is counted"},
	{"statement/%", "such statements are not counted"},
	{NULL}
};

/* A plan's nodes in one line; "of": how many plans its statement has had. */
const Screen screen_plans = {
	.name = "plans",
	.title = "plans of statements, the most time first",
	.query = "SELECT database_name, user_name, query_id, plan_id, sum(p.sum_timer_wait), sum(p.count_star), sum(p.count_timed),"
	"  CASE WHEN count(*) = 1 THEN min(p.quantile_95) END, sum(p.sum_rows), min(p.estimated_rows)::bigint, min(p.n),"
	"  coalesce(regexp_replace(regexp_replace(min(p.plan_text), '\\n *[A-Z][^\\n>]*: [^\\n]*', '', 'g'), '\\s*\\n\\s*(->\\s*)?', ' > ', 'g'),"
	"   CASE WHEN user_name IS NULL THEN '(all others)' WHEN plan_id IS NOT NULL THEN '(text not known)'"
	"    ELSE '(' || count(*) || ' that this role may not see)' END),"
	"  min(d.digest_text)"
	" FROM (SELECT *, count(*) OVER (PARTITION BY database_name, user_name, query_id) AS n FROM pfs.plans_summary_by_digest WHERE count_star > 0) p"
	" LEFT JOIN (SELECT database_name, user_name, query_id, digest_text" DIGESTS " WHERE query_id IS NOT NULL) d USING (database_name, user_name, query_id)"
	" GROUP BY 1, 2, 3, 4",
	.columns = plan_columns,
	.sort = "total",
	.has_sums = true,
	.extension = 102,
	.since = "plans_summary_by_digest",
	.detail = &plan_detail,
	.needs = plan_needs,
	.unknown = "SELECT 'The setting compute_query_id is off: statements have no query_id, so their plans are not counted.'"
	" WHERE current_setting('compute_query_id') = 'off'",
	.empty = "No statement with a plan ended.",
};

const Screen *const screens[NUM_SCREENS] = {
	&screen_load, &screen_sessions, &screen_locks, &screen_statements,
	&screen_waits, &screen_tables, &screen_files, &screen_memory, &screen_plans,
};
