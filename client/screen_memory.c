/*
 * screen_memory.c
 *	  The screen of memory: what each process has, by itself and in contexts that are counted.
 *
 * Contexts tell what memory is for, and count from when somebody asks.  How much a process has at
 * all is known to the system alone: /proc of the machine that the server runs on, which is this one
 * where the connection is a Unix socket of a postmaster in the same namespace of processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "reading.h"

/*
 * Reads a process's parent, and its own resident memory in bytes: what it shares with others, as the shared buffers, is
 * not in it.  False: there is no such process, or it has ended.
 */
static bool
read_process(int pid, int *parent, long long *own)
{
	char		path[64];
	char		line[256];
	FILE	   *file;
	long long	kilobytes;
	bool		found = false;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file))
	{
		sscanf(line, "PPid: %d", parent);
		if (sscanf(line, "RssAnon: %lld kB", &kilobytes) == 1)
		{
			*own = kilobytes * 1024;
			found = true;
		}
	}
	fclose(file);
	return found;
}

/*
 * Returns the postmaster's process id if this program sees the server's processes, else 0: the parent of the
 * session's process has to be whoever listens at the socket, as the kernel knows it.
 */
static int
local_postmaster(Server *server)
{
	struct ucred peer = {0};
	socklen_t	size = sizeof(peer);
	int			parent = 0;
	long long	own;

	if (getsockopt(PQsocket(server->conn), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
		return 0;
	return read_process(PQbackendPID(server->conn), &parent, &own) && parent == peer.pid ? parent : 0;
}

/* Fills in the own memory of each process, where it can be read. */
static void
fill_own_memory(Server *server, Reading *reading)
{
	int			postmaster = local_postmaster(server);
	int			pid_column = screen_column(reading->screen, "pid");
	int			own_column = screen_column(reading->screen, "own_memory");

	for (int row = 0; postmaster > 0 && row < reading->num_rows; row++)
	{
		const char **values = reading->values + row * reading->num_values;
		int			parent = 0;
		long long	own;

		/*
		 * A process that has ended may have given its number to another
		 * program.
		 */
		if (values[pid_column] && read_process(atoi(values[pid_column]), &parent, &own) && parent == postmaster)
			values[own_column] = reading_keep(reading, format_string("%lld", own));
	}
}

static const ScreenColumn memory_columns[] = {
	{"thread_id", COLUMN_NUMBER, -1, ROLE_KEY},
	{"pid", COLUMN_NUMBER, 7, ROLE_LABEL},
	{"own_memory", COLUMN_BYTES, 10, ROLE_NOW},
	{"memory", COLUMN_BYTES, 9, ROLE_NOW},
	{"most", COLUMN_BYTES, 9, ROLE_NOW, .wide = true},
	{"name", COLUMN_TEXT, 14, ROLE_LABEL},
	{"user", COLUMN_TEXT, 9, ROLE_LABEL},
	{"database", COLUMN_TEXT, 9, ROLE_LABEL, .wide = true},
	{"application", COLUMN_TEXT, 9, ROLE_LABEL},
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

static const ScreenNeed memory_needs[] = {
	{"thread_instrumentation", "no context is counted"},
	{"memory/context/%", "no such context is counted"},
	{NULL}
};

const Screen screen_memory = {
	.name = "memory",
	.title = "own memory of each process, and that of contexts that are counted; Enter: by context",
	.query = "SELECT thread_id, thread_os_id, NULL, current_memory, high_memory, regexp_replace(name, '^thread/(worker/)?', ''),"
	"  processlist_user, processlist_db, application_name, processlist_info"
	" FROM pfs.threads WHERE thread_os_id <> pg_backend_pid() ORDER BY current_memory DESC NULLS LAST, thread_id",
	.columns = memory_columns,
	.arrange = fill_own_memory,
	.sort = "own_memory",
	.needs = memory_needs,
	.unknown = "SELECT 'Memory of contexts is counted since ' || to_char(t, CASE WHEN t > now() - interval '12 hours' THEN 'HH24:MI' ELSE 'YYYY-MM-DD HH24:MI' END)"
	"  || ': what was allocated before is in own_memory alone.'"
	" FROM (SELECT nullif(max(variable_value) FILTER (WHERE variable_name = 'pfs_memory_since'), '')::timestamptz AS t,"
	"  max(variable_value) FILTER (WHERE variable_name = 'pfs_start_time')::timestamptz AS start FROM pfs.status) s WHERE t > start",
	.detail = &memory_detail,
	.instrument = "memory/context/%",
	.pid = "pid",
	.empty = "No memory is counted.",
};
