/*
 * screen_locks.c
 *	  The screen of locks: who blocks whom, as a tree.
 *
 * It is a file of its own, as its rows are not those of its query: that has pairs.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

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
	{"blocked_by_gid", COLUMN_TEXT, -1, ROLE_LABEL},
	{"gid", COLUMN_TEXT, -1, ROLE_LABEL},
	{"terminate_command", COLUMN_TEXT, -1, ROLE_LABEL},
	{NULL}
};

/*
 * What the query has of each pair of a waiter and a blocker.  A prepared transaction has a gid, and 0
 * for its pid.
 */
enum
{
	EDGE_PID, EDGE_THREAD, EDGE_USER, EDGE_APPLICATION, EDGE_TIME, EDGE_MODE, EDGE_OBJECT, EDGE_STATEMENT,
	EDGE_BLOCKER, EDGE_BLOCKER_THREAD, EDGE_BLOCKER_USER, EDGE_BLOCKER_APPLICATION, EDGE_BLOCKER_STATE,
	EDGE_BLOCKER_TIME, EDGE_BLOCKER_STATEMENT, EDGE_BLOCKER_GID, EDGE_COMMAND, EDGE_BLOCKER_COMMAND, NUM_EDGE_VALUES
};

/* A session or a prepared transaction of the tree. */
typedef struct LockNode
{
	const char *pid;
	const char *gid;			/* NULL: a session */
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

/* Compares two nodes by their pid and, of prepared transactions, their gid. */
static int
compare_nodes(const void *left, const void *right)
{
	const LockNode *a = left;
	const LockNode *b = right;
	int			result = strcmp(a->pid, b->pid);

	return result != 0 ? result : strcmp(a->gid ? a->gid : "", b->gid ? b->gid : "");
}

/* Finds the node of a session or prepared transaction, or makes it: the next one is in the tree already if it was not there. */
static int
find_node(LockNodes *nodes, const char *pid, const char *gid)
{
	LockNode   *next = &nodes->items[nodes->n];
	LockNode   *node;

	*next = (LockNode)
	{
		pid, gid, -1, -1, -1, -1, NULL
	};
	node = *(LockNode **) check_memory(tsearch(next, &nodes->by_pid, compare_nodes));
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
	bool		prepared = strcmp(n->pid, "0") == 0;
	int			i = 0;

	row[i++] = reading_keep(reading, format_string("%*s%s%s", depth > 5 ? 5 : depth, "", depth > 0 ? "\\" : "", prepared ? "prepared" : n->pid));
	row[i++] = n->pid;
	row[i++] = edge[waits ? EDGE_THREAD : EDGE_BLOCKER_THREAD];
	row[i++] = n->parent >= 0 ? nodes->items[n->parent].pid : NULL;
	row[i++] = edge[waits ? EDGE_USER : EDGE_BLOCKER_USER];
	row[i++] = edge[waits ? EDGE_APPLICATION : EDGE_BLOCKER_APPLICATION];
	row[i++] = waits ? "waits" : prepared ? "prepared" : edge[EDGE_BLOCKER_STATE];
	row[i++] = edge[waits ? EDGE_TIME : EDGE_BLOCKER_TIME];
	row[i++] = waits ? edge[EDGE_MODE] : NULL;
	row[i++] = waits ? edge[EDGE_OBJECT] : NULL;
	row[i++] = n->statement;
	row[i++] = n->parent >= 0 ? nodes->items[n->parent].gid : NULL;
	row[i++] = n->gid;
	row[i++] = edge[waits ? EDGE_COMMAND : EDGE_BLOCKER_COMMAND];
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
arrange_locks(Server *server, Reading *reading)
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

		from[i] = find_node(&nodes, edge[EDGE_PID] ? edge[EDGE_PID] : "?", NULL);
		to[i] = find_node(&nodes, edge[EDGE_BLOCKER] ? edge[EDGE_BLOCKER] : "?", edge[EDGE_BLOCKER_GID]);
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

static const ScreenNeed lock_needs[] = {
	{"thread_instrumentation", "nobody is seen to wait"},
	{"events_waits_current", "nobody is seen to wait"},
	{"wait/lock/%", "who waits for these locks is not seen"},
	{NULL}
};

const Screen screen_locks = {
	.name = "locks",
	.title = "who blocks whom: each waits for the one above it that is further left",

	/*
	 * In a queue of N there are N * N / 2 pairs: texts are there once for
	 * each session.
	 */
	.query = "WITH e AS MATERIALIZED (SELECT waiting_pid, waiting_thread_id, waiting_user, wait_time, lock_mode, object_type, object_schema, object_name,"
	"  blocking_pid, blocking_thread_id, blocking_user, blocking_gid, terminate_command, count(*) OVER w AS place, row_number() OVER w AS pair,"
	"  row_number() OVER (PARTITION BY blocking_pid, blocking_thread_id, blocking_gid) AS blocked"
	"  FROM pfs.blocking_tree WINDOW w AS (PARTITION BY waiting_thread_id))"
	" SELECT e.waiting_pid, e.waiting_thread_id, e.waiting_user, w.application_name, e.wait_time, e.lock_mode,"
	"  concat_ws(' ', lower(e.object_type), nullif(concat_ws('.', e.object_schema, e.object_name), '')), CASE WHEN e.pair = 1 THEN w.processlist_info END,"
	"  e.blocking_pid, e.blocking_thread_id, e.blocking_user, h.application_name,"
	"  CASE h.processlist_command WHEN 'Sleep in transaction' THEN 'idle in t' ELSE lower(h.processlist_command) END,"
	"  coalesce(pfs.timer_now('transaction') - x.timer_start, trunc(extract(epoch FROM clock_timestamp() - p.prepared) * 1000000000000)),"
	"  CASE WHEN e.blocked > 1 THEN NULL WHEN e.blocking_gid IS NOT NULL THEN 'PREPARE TRANSACTION ' || quote_literal(e.blocking_gid) ELSE coalesce(h.processlist_info, (SELECT s.sql_text FROM pfs.events_statements_history s"
	"   WHERE s.thread_id = e.blocking_thread_id AND s.nesting_event_level = 0 ORDER BY s.event_id DESC LIMIT 1)) END,"
	"  e.blocking_gid, 'SELECT pg_terminate_backend(' || e.waiting_pid || ');', e.terminate_command"
	" FROM e LEFT JOIN pfs.threads w ON w.thread_id = e.waiting_thread_id"
	" LEFT JOIN pfs.threads h ON h.thread_id = e.blocking_thread_id"
	" LEFT JOIN (SELECT thread_id, min(timer_start) AS timer_start FROM pfs.events_transactions_current GROUP BY 1) x ON x.thread_id = e.blocking_thread_id"
	" LEFT JOIN pg_prepared_xacts p ON p.gid = e.blocking_gid"
	" ORDER BY e.place, e.wait_time DESC",
	.columns = lock_columns,
	.arrange = arrange_locks,
	.extension = 101,
	.needs = lock_needs,
	.detail = &screen_session_detail,
	.pid = "pid",
	.empty = "Nobody waits for a lock that somebody holds.",
};
