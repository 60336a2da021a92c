/*
 * screens.c
 *	  The eight screens: their queries and columns.
 *
 * Queries are written for a session whose search_path is pg_catalog.  They read each
 * table of pfs once, as each scan copies it.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
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
	.empty = "No session was active in this time.",
};

#define CLASS_OF(event) \
	" CASE WHEN " event " IS NULL THEN 'CPU'" \
	" WHEN " event " LIKE 'wait/synch/lwlock/%' THEN 'LWLock' WHEN " event " LIKE 'wait/lock/%' THEN 'Lock'" \
	" WHEN " event " LIKE 'wait/io/file/%' THEN 'IO' WHEN " event " LIKE 'wait/io/socket/%' THEN 'Client'" \
	" WHEN " event " LIKE 'wait/synch/ipc/%' THEN 'IPC' WHEN " event " LIKE 'wait/synch/bufferpin/%' THEN 'BufferPin'" \
	" WHEN " event " LIKE 'wait/synch/buffer/%' THEN 'Buffer' WHEN " event " LIKE 'wait/synch/spinlock/%' THEN 'Spin'" \
	" WHEN " event " LIKE 'wait/timeout/%' THEN 'Timeout' WHEN " event " LIKE 'wait/activity/%' THEN 'Activity'" \
	" WHEN " event " LIKE 'wait/extension/%' THEN 'Extension' ELSE 'CPU' END"

/* What each session is in at this moment: the innermost wait that is none of a run on a table. */
#define CURRENT_WAITS \
	"(SELECT DISTINCT ON (thread_id) thread_id, event_name, timer_start, object_schema, object_name, operation" \
	" FROM pfs.events_waits_current WHERE event_name NOT LIKE 'wait/io/table/%' ORDER BY thread_id, event_id DESC)"

static const ScreenColumn load_now_columns[] = {
	{"class", COLUMN_TEXT, 10, ROLE_KEY},
	{"event", COLUMN_TEXT, 24, ROLE_KEY},
	{"active_sessions", COLUMN_REAL, 8, ROLE_NOW},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "active_sessions"},
	{"query_id", COLUMN_NUMBER, -1, ROLE_LABEL},
	{"mostly_in", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

const Screen screen_load_now = {
	.title = "active sessions by kind of wait",
	.query = "WITH h AS (SELECT " CLASS_OF("w.event_name") " AS class, coalesce(w.event_name, 'cpu') AS event, t.processlist_info AS text, count(*) AS n"
	" FROM pfs.threads t LEFT JOIN " CURRENT_WAITS " w USING (thread_id)"
	" WHERE t.type = 'FOREGROUND' AND t.processlist_command = 'Query' AND t.thread_os_id <> pg_backend_pid() GROUP BY 1, 2, 3)"
	" SELECT class, event, sum(n), NULL, (array_agg(text ORDER BY n DESC))[1] FROM h GROUP BY 1, 2",
	.columns = load_now_columns,
	.sort = "active_sessions",
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

static const Screen session_detail = {
	.title = "the last events of a session, the newest first; those without an end are running",
	.query = "SELECT event_id, 'statement', event_name, timer_wait, sql_text FROM pfs.events_statements_history WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'statement', event_name, NULL, sql_text FROM pfs.events_statements_current WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'wait', event_name, timer_wait, concat_ws(' ', operation, object_name) FROM pfs.events_waits_history WHERE thread_id = $1::bigint"
	" UNION ALL SELECT event_id, 'wait', event_name, NULL, concat_ws(' ', operation, object_name) FROM pfs.events_waits_current WHERE thread_id = $1::bigint"
	" ORDER BY 1 DESC",
	.columns = session_detail_columns,
	.empty = "The session has no events: its thread is not instrumented, or it is gone.",
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
	.detail = &session_detail,
	.pid = "pid",
	.empty = "There is no other session.",
};

/* ---- lock tree ---- */

static const ScreenColumn lock_columns[] = {
	{"tree", COLUMN_TEXT, 13, ROLE_LABEL},
	{"pid", COLUMN_NUMBER, -1, ROLE_LABEL},
	{"thread_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"blocked_by", COLUMN_NUMBER, -1, ROLE_LABEL},
	{"user", COLUMN_TEXT, 9, ROLE_LABEL, .wide = true},
	{"application", COLUMN_TEXT, 9, ROLE_LABEL},
	{"state", COLUMN_TEXT, 9, ROLE_LABEL},
	{"since", COLUMN_TIME, 9, ROLE_NOW},
	{"waits_for", COLUMN_TEXT, 20, ROLE_LABEL},
	{"object", COLUMN_TEXT, 20, ROLE_LABEL, .wide = true},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

/* What the query has of each pair of a waiter and a blocker. */
enum
{
	EDGE_PID, EDGE_THREAD, EDGE_USER, EDGE_APPLICATION, EDGE_TIME, EDGE_MODE, EDGE_OBJECT, EDGE_STATEMENT,
	EDGE_BLOCKER, EDGE_BLOCKER_THREAD, EDGE_BLOCKER_USER, EDGE_BLOCKER_APPLICATION, EDGE_BLOCKER_STATE,
	EDGE_BLOCKER_TIME, EDGE_BLOCKER_STATEMENT, NUM_EDGE_VALUES
};

/* A session of the tree. */
typedef struct LockNode
{
	const char *pid;
	int			edge;			/* by which it waits; -1: it does not */
	int			blocks;			/* an edge in which it is the blocker; -1:
								 * none */
	int			level;			/* below who does not wait; -1: not yet found */
	int			parent;
	const char *statement;
} LockNode;

typedef struct LockNodes
{
	LockNode   *items;			/* with place for one more than there can be */
	int			n;
	void	   *by_pid;			/* a tree of them */
} LockNodes;

static int
compare_pids(const void *a, const void *b)
{
	return strcmp(((const LockNode *) a)->pid, ((const LockNode *) b)->pid);
}

/* Finds the node of a pid, or makes it: the next one is in the tree already if it was not there. */
static int
find_node(LockNodes *nodes, const char *pid)
{
	LockNode   *next = &nodes->items[nodes->n];
	LockNode   *node;

	*next = (LockNode)
	{
		pid, -1, -1, -1, -1, NULL
	};
	node = *(LockNode **) check_memory(tsearch(next, &nodes->by_pid, compare_pids));
	nodes->n += node == next;
	return node - nodes->items;
}

/* The nodes of the tree are items of an array. */
static void
free_nothing(void *node)
{
}

/* Adds the row of a node, then those of whoever waits for it. */
static void
add_lock_rows(Reading *reading, const Reading *edges, const LockNodes *nodes, int node, int depth)
{
	const LockNode *n = &nodes->items[node];
	bool		waits = n->edge >= 0;
	const char **edge = edges->values + (waits ? n->edge : n->blocks) * NUM_EDGE_VALUES;
	const char **row = reading->values + reading->num_rows++ * reading->num_values;
	int			i = 0;

	row[i++] = reading_keep(reading, format_string("%*s%s%s", depth > 5 ? 5 : depth, "", depth > 0 ? "\\" : "", n->pid));
	row[i++] = n->pid;
	row[i++] = edge[waits ? EDGE_THREAD : EDGE_BLOCKER_THREAD];
	row[i++] = n->parent >= 0 ? nodes->items[n->parent].pid : NULL;
	row[i++] = edge[waits ? EDGE_USER : EDGE_BLOCKER_USER];
	row[i++] = edge[waits ? EDGE_APPLICATION : EDGE_BLOCKER_APPLICATION];
	row[i++] = waits ? "waits" : strcmp(n->pid, "0") == 0 ? "prepared" : edge[EDGE_BLOCKER_STATE];
	row[i++] = edge[waits ? EDGE_TIME : EDGE_BLOCKER_TIME];
	row[i++] = waits ? edge[EDGE_MODE] : NULL;
	row[i++] = waits ? edge[EDGE_OBJECT] : NULL;
	row[i++] = n->statement;
	for (int child = 0; child < nodes->n; child++)
	{
		if (nodes->items[child].parent == node)
			add_lock_rows(reading, edges, nodes, child, depth + 1);
	}
}

/*
 * Makes a tree of pairs, which are sorted by how many the waiter waits for: its place in a
 * queue.  Whoever waits stands once, below the blocker that is nearest to one
 * that does not wait: in a queue of N, where each waits for all before it, that is who
 * holds the lock.  In a deadlock nobody is first: one of it is taken.
 */
static void
arrange_locks(Reading *reading)
{
	Reading		edges = *reading;
	LockNodes	nodes = {0};
	int		   *from = allocate(sizeof(int) * (edges.num_rows + 1));
	int		   *to = allocate(sizeof(int) * (edges.num_rows + 1));
	int			left;

	nodes.items = allocate(sizeof(LockNode) * (edges.num_rows * 2 + 1));
	for (int i = 0; i < edges.num_rows; i++)
	{
		const char **edge = edges.values + i * NUM_EDGE_VALUES;

		from[i] = find_node(&nodes, edge[EDGE_PID] ? edge[EDGE_PID] : "?");
		to[i] = find_node(&nodes, edge[EDGE_BLOCKER] ? edge[EDGE_BLOCKER] : "?");
		nodes.items[from[i]].edge = i;
		nodes.items[to[i]].blocks = i;
		/* Each text stands in one of the edges. */
		if (edge[EDGE_STATEMENT])
			nodes.items[from[i]].statement = edge[EDGE_STATEMENT];
		if (edge[EDGE_BLOCKER_STATEMENT])
			nodes.items[to[i]].statement = edge[EDGE_BLOCKER_STATEMENT];
	}
	left = nodes.n;
	for (int i = 0; i < nodes.n; i++)
	{
		if (nodes.items[i].edge < 0)
		{
			nodes.items[i].level = 0;
			left--;
		}
	}
	for (int level = 0; left > 0; level++)
	{
		bool		found = false;

		for (int i = 0; i < edges.num_rows; i++)
		{
			LockNode   *waiter = &nodes.items[from[i]];

			if (waiter->level < 0 && nodes.items[to[i]].level == level)
			{
				waiter->level = level + 1;
				waiter->parent = to[i];
				waiter->edge = i;
				found = true;
				left--;
			}
		}
		for (int i = 0; !found && i < nodes.n; i++)
		{
			if (nodes.items[i].level < 0)
			{
				nodes.items[i].level = level + 1;
				found = true;
				left--;
			}
		}
	}
	reading->num_values = screen_width(reading->screen);
	reading->values = allocate(sizeof(char *) * reading->num_values * (nodes.n + 1));
	reading->num_rows = 0;
	for (int i = 0; i < nodes.n; i++)
	{
		if (nodes.items[i].parent < 0)
			add_lock_rows(reading, &edges, &nodes, i, 0);
	}
	free(edges.values);
	tdestroy(nodes.by_pid, free_nothing);
	free(nodes.items);
	free(from);
	free(to);
}

const Screen screen_locks = {
	.name = "locks",
	.title = "who blocks whom: each waits for the one above it that is further left",

	/*
	 * In a queue of N there are N * N / 2 pairs: texts are there once for
	 * each session.
	 */
	.query = "WITH e AS MATERIALIZED (SELECT waiting_pid, waiting_thread_id, waiting_user, wait_time, lock_mode, object_type, object_schema, object_name,"
	"  blocking_pid, blocking_thread_id, blocking_user, count(*) OVER w AS place, row_number() OVER w AS pair,"
	"  row_number() OVER (PARTITION BY blocking_pid, blocking_thread_id) AS blocked"
	"  FROM pfs.blocking_tree WINDOW w AS (PARTITION BY waiting_thread_id))"
	" SELECT e.waiting_pid, e.waiting_thread_id, e.waiting_user, w.application_name, e.wait_time, e.lock_mode,"
	"  concat_ws(' ', lower(e.object_type), nullif(concat_ws('.', e.object_schema, e.object_name), '')), CASE WHEN e.pair = 1 THEN w.processlist_info END,"
	"  e.blocking_pid, e.blocking_thread_id, e.blocking_user, h.application_name,"
	"  CASE h.processlist_command WHEN 'Sleep in transaction' THEN 'idle in t' ELSE lower(h.processlist_command) END,"
	"  pfs.timer_now('transaction') - x.timer_start,"
	"  CASE WHEN e.blocked = 1 THEN coalesce(h.processlist_info, (SELECT s.sql_text FROM pfs.events_statements_history s"
	"   WHERE s.thread_id = e.blocking_thread_id AND s.nesting_event_level = 0 ORDER BY s.event_id DESC LIMIT 1)) END"
	" FROM e LEFT JOIN pfs.threads w ON w.thread_id = e.waiting_thread_id"
	" LEFT JOIN pfs.threads h ON h.thread_id = e.blocking_thread_id"
	" LEFT JOIN (SELECT thread_id, min(timer_start) AS timer_start FROM pfs.events_transactions_current GROUP BY 1) x ON x.thread_id = e.blocking_thread_id"
	" ORDER BY e.place, e.wait_time DESC",
	.columns = lock_columns,
	.arrange = arrange_locks,
	.detail = &session_detail,
	.pid = "pid",
	.empty = "Nobody waits for a lock that somebody holds.",
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

const Screen screen_statements = {
	.name = "statements",
	.title = "statements by shape, the most time first, and what each waits for",
	.query = "SELECT database_name, user_name, query_id, sum(sum_timer_wait), sum(count_star), sum(count_timed),"
	"  CASE WHEN count(*) = 1 THEN min(quantile_95) END, sum(sum_rows_sent + sum_rows_affected),"
	"  sum(sum_shared_blks_read), sum(sum_errors),"
	"  coalesce(min(digest_text), CASE WHEN user_name IS NULL THEN '(all others)' ELSE '(' || count(*) || ' that this role may not see)' END)"
	" FROM pfs.events_statements_summary_by_digest WHERE count_star > 0 GROUP BY 1, 2, 3",
	.columns = statement_columns,
	.sort = "total",
	.has_sums = true,
	.since = "events_statements_summary_by_digest",
	.breakdown = "SELECT database_name, user_name, query_id, event_name, sum(sum_timer_wait) FROM pfs.events_waits_summary_by_digest"
	" WHERE sum_timer_wait > 0 AND event_name NOT LIKE 'wait/io/table/%' GROUP BY 1, 2, 3, 4",
	.detail = &statement_detail,
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
	.empty = "Nothing waited.",
};

/* ---- tables and indexes ---- */

static const ScreenColumn table_columns[] = {
	{"schema", COLUMN_TEXT, 8, ROLE_KEY},
	{"table", COLUMN_TEXT, 16, ROLE_KEY},
	{"index", COLUMN_TEXT, 18, ROLE_KEY},
	{"note", COLUMN_TEXT, 8, ROLE_LABEL},
	{"total", COLUMN_TIME, 9, ROLE_SUM},
	{"fetched", COLUMN_COUNT, 7, ROLE_SUM},
	{"inserted", COLUMN_COUNT, 8, ROLE_SUM, .wide = true},
	{"updated", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"deleted", COLUMN_COUNT, 7, ROLE_SUM, .wide = true},
	{"written", COLUMN_COUNT, 7, ROLE_SUM},
	{"share", COLUMN_PERCENT, 7, ROLE_SHARE, "total", .wide = true},
	{NULL}
};

const Screen screen_tables = {
	.name = "tables",
	.title = "rows of tables and indexes of this database; indexes that nobody used are marked",
	.query = "WITH u AS MATERIALIZED (SELECT object_schema, object_name, index_name, sum_timer_wait, count_fetch, count_insert, count_update, count_delete, count_write"
	"  FROM pfs.table_io_waits_summary_by_index_usage WHERE database_name = current_database()),"
	" i AS (SELECT n.nspname, c.relname, x.relname AS index_name, CASE WHEN p.indisunique THEN 'unused*' ELSE 'unused' END AS note"
	"  FROM (SELECT DISTINCT object_schema, object_name FROM u) t"
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
	.empty = "No file was read or written.",
};

/* ---- memory ---- */

static const ScreenColumn memory_columns[] = {
	{"thread_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"pid", COLUMN_NUMBER, 7, ROLE_LABEL},
	{"memory", COLUMN_BYTES, 10, ROLE_NOW},
	{"most", COLUMN_BYTES, 10, ROLE_NOW},
	{"name", COLUMN_TEXT, 16, ROLE_LABEL},
	{"user", COLUMN_TEXT, 10, ROLE_LABEL},
	{"database", COLUMN_TEXT, 10, ROLE_LABEL, .wide = true},
	{"application", COLUMN_TEXT, 10, ROLE_LABEL},
	{"statement", COLUMN_TEXT, 0, ROLE_LABEL},
	{NULL}
};

static const ScreenColumn memory_detail_columns[] = {
	{"context", COLUMN_TEXT, 40, ROLE_KEY},
	{"memory", COLUMN_BYTES, 10, ROLE_NOW},
	{"most", COLUMN_BYTES, 10, ROLE_NOW},
	{"pieces", COLUMN_COUNT, 8, ROLE_NOW},
	{NULL}
};

static const Screen memory_detail = {
	.title = "memory of one process by context",
	.query = "SELECT event_name, current_number_of_bytes_used, high_number_of_bytes_used, current_count_used"
	" FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = $1::bigint",
	.columns = memory_detail_columns,
	.sort = "memory",
	.empty = "Nothing of it is counted.",
};

const Screen screen_memory = {
	.name = "memory",
	.title = "memory of each process, in contexts that are counted; Enter: by context",
	.query = "SELECT thread_id, thread_os_id, current_memory, high_memory, regexp_replace(name, '^thread/(worker/)?', ''),"
	"  processlist_user, processlist_db, application_name, processlist_info"
	" FROM pfs.threads WHERE current_memory IS NOT NULL AND thread_os_id <> pg_backend_pid()",
	.columns = memory_columns,
	.sort = "memory",
	.detail = &memory_detail,
	.instrument = "memory/context/%",
	.pid = "pid",
	.empty = "No memory is counted.",
};

const Screen *const screens[NUM_SCREENS] = {
	&screen_load, &screen_sessions, &screen_locks, &screen_statements,
	&screen_waits, &screen_tables, &screen_files, &screen_memory,
};
