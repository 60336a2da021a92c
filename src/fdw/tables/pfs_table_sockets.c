/*
 * pfs_table_sockets.c
 *	  socket_instances, socket_summary_by_event_name, socket_summary_by_instance:
 *	  the connections, their state, and the calls on them.
 */
#include "postgres.h"

#include <arpa/inet.h>

#include "replication/walreceiver.h"
#include "storage/spin.h"
#include "utils/builtins.h"

#include "pfs_backend_status.h"
#include "pfs_instrument.h"
#include "pfs_socket.h"
#include "pfs_thread.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

/*
 * socket_instances
 */
typedef struct SocketRow
{
	uint64		thread_id;
	uint64		address;
	Oid			role;
	int32		descriptor;		/* -1: NULL */
	int32		port;			/* -1: NULL */
	PfsInstrumentId instrument;
	bool		is_idle;
	char		ip[INET6_ADDRSTRLEN];	/* "": NULL */
} SocketRow;

/*
 * Fills in where a WAL receiver is connected to, as the server shows it: an address, a
 * host name or the directory of a Unix socket.
 */
static void
read_peer(SocketRow *row, int pid)
{
	char		host[NI_MAXHOST] = "";
	unsigned char address[sizeof(struct in6_addr)];

	SpinLockAcquire(&WalRcv->mutex);
	if (WalRcv->pid == pid && WalRcv->ready_to_display)
	{
		memcpy(host, WalRcv->sender_host, sizeof(host));
		row->port = WalRcv->sender_port;
	}
	SpinLockRelease(&WalRcv->mutex);

	/* A zone is no part of an inet. */
	host[strcspn(host, "%")] = '\0';
	if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
		strlcpy(row->ip, host, sizeof(row->ip));
	else if (host[0] == '/' || host[0] == '@')
		row->port = -1;
}

typedef struct InstancesCopy
{
	PfsScan    *scan;
	bool		with_state;
	PfsPatience patience;
} InstancesCopy;

/* Does the session of a socket, of which it has one, wait for its next command? */
static bool
is_idle(const PfsSocket *socket, PfsPatience *patience)
{
	PfsThread	thread;
	uint64		word;

	return pfs_pages_copy(pfs_threads, socket->thread, 0, &thread, sizeof(thread), &word) &&
		thread.thread_id == socket->thread_id &&
		pfs_backend_status_is_idle(thread.status, thread.pid, thread.procno, patience);
}

/* Adds a socket, unless a condition on thread_id or event_name leaves it out. */
static void
add_instance_cb(const PfsSocket *socket, uint32 index, uint64 word, void *arg)
{
	InstancesCopy *copy = arg;
	PfsScan    *scan = copy->scan;
	SocketRow  *row;

	if (scan->thread_id != 0 && socket->thread_id != scan->thread_id)
		return;
	if (scan->instrument != PFS_NO_INSTRUMENT && socket->instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->thread_id = socket->thread_id;
	row->address = (uintptr_t) pfs_pages_record(pfs_sockets, index);
	row->role = pfs_owned_role(socket->thread, socket->thread_id);
	row->descriptor = socket->descriptor;
	row->port = socket->port;
	row->instrument = socket->instrument;
	row->is_idle = copy->with_state && is_idle(socket, &copy->patience);
	if (socket->peer)
		read_peer(row, socket->pid);
	else if (socket->family != 0)
		inet_ntop(socket->family, socket->address, row->ip, sizeof(row->ip));
}

#define INSTANCES_COLUMNS(X, t) \
	X(t, event_name, text, none, pfs_event_name(row->instrument), \
	  "The instrument that receives from it: setup_instruments.name.", .width = 25, .key = PFS_KEY_EVENT_NAME) \
	X(t, object_instance_begin, bigint, none, row->address, \
	  "Identifies the socket among those of now; the same in events_waits_* and socket_summary_by_instance.") \
	X(t, thread_id, bigint, none, row->thread_id, \
	  "The thread that owns it: threads.thread_id.", .key = PFS_KEY_THREAD_ID) \
	X(t, socket_id, integer, none, PFS_NULL_IF(row->descriptor < 0, row->descriptor), \
	  "Descriptor in that process; NULL for the WAL receiver, whose socket belongs to libpq.") \
	X(t, ip, inet, none, \
	  PFS_NULL_IF(row->ip[0] == '\0', DirectFunctionCall1(inet_in, CStringGetDatum(row->ip))), \
	  "Address of the other side; NULL for a Unix socket, and where the WAL receiver was given no address." \
	  PFS_OWN_ROLE, .hidden = true) \
	X(t, port, integer, none, PFS_NULL_IF(row->port < 0, row->port), \
	  "Port of the other side; NULL for a Unix socket." PFS_OWN_ROLE, .hidden = true) \
	X(t, state, text, none, row->is_idle ? "IDLE" : "ACTIVE", \
	  "IDLE while the session waits for its next command, else ACTIVE.", .width = 6)

PFS_COLUMNS(instances, SocketRow, INSTANCES_COLUMNS)

static void
instances_copy(PfsScan *scan)
{
	InstancesCopy copy = {.scan = scan, .with_state = scan->needed[PFS_COLUMN(instances, state)]};

	pfs_sockets_each(add_instance_cb, &copy);
	pfs_patience_end(&copy.patience);
}

static Oid
instances_role(const void *row)
{
	return ((const SocketRow *) row)->role;
}

const PfsTable pfs_table_socket_instances = {
	PFS_TABLE("socket_instances", instances, "MySQL",
			  "one connection of a client, or of the WAL receiver",
			  "refused",
			  "The connections of clients, walsenders' among them, and the WAL receiver's to its primary; those of "
			  "processes that have had an event. TRUNCATE is refused."),
	.containers = {&pfs_sockets},
	.copy = instances_copy,
	.role = instances_role,
};

/* ---- the summaries ---- */

/* Adds the counters of a socket, unless a condition leaves them out. */
static void
add_summary_cb(PfsInstrumentId instrument, uint64 address, const PfsCalls *calls, void *arg)
{
	PfsScan    *scan = arg;
	PfsCallsRow *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->instrument = instrument;
	row->address = address;
	row->calls = *calls;
}

#define SUMMARY_COLUMNS(X, t) \
	PFS_CALLS_COLUMNS(X, t, &row->calls, \
					  "Calls that received bytes (operation recv). The call that brings the first bytes of the " \
					  "next message ends the idle wait and is none.", \
					  "Calls that sent bytes (operation send).", \
					  "Waits until the socket can be read or written, or is connected (operation wait).", \
					  "Bytes received, those of the call included that brings the first bytes of the next message: " \
					  "it ends the idle wait and counts as no call.", \
					  "Bytes sent.")

/*
 * socket_summary_by_event_name
 */
#define BY_EVENT_COLUMNS(X, t) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 25) \
	SUMMARY_COLUMNS(X, t)

PFS_COLUMNS(by_event, PfsCallsRow, BY_EVENT_COLUMNS)

/* A guess: reading, writing, opening, others. */
#define USUAL_SOCKET_EVENTS 4

static void
by_event_copy(PfsScan *scan)
{
	PfsCalls   *calls = palloc0(pfs_instruments->max * sizeof(PfsCalls));

	pfs_sockets_by_event(calls);
	pfs_calls_add_rows(scan, calls);
	pfree(calls);
}

const PfsTable pfs_table_socket_summary_by_event_name = {
	PFS_TABLE("socket_summary_by_event_name", by_event, "MySQL",
			  "the calls on sockets under one event name",
			  "zeroes it, and socket_summary_by_instance",
			  "Calls on sockets, those that have been closed included. Shows a row where something was counted "
			  "since the last reset. TRUNCATE zeroes it, and socket_summary_by_instance."),
	.usual_rows = USUAL_SOCKET_EVENTS,
	.copy = by_event_copy,
	.truncate = pfs_sockets_clear,
	.in_reset_all = true,
};

/*
 * socket_summary_by_instance
 */
#define BY_INSTANCE_COLUMNS(X, t) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 25) \
	X(t, object_instance_begin, bigint, none, row->address, \
	  "The socket: socket_instances.object_instance_begin, and the same of events_waits_*.") \
	SUMMARY_COLUMNS(X, t)

PFS_COLUMNS(by_instance, PfsCallsRow, BY_INSTANCE_COLUMNS)

static void
by_instance_copy(PfsScan *scan)
{
	pfs_sockets_by_instance(add_summary_cb, scan);
}

const PfsTable pfs_table_socket_summary_by_instance = {
	PFS_TABLE("socket_summary_by_instance", by_instance, "MySQL",
			  "the calls on one connection under one event name",
			  "adds its numbers to the event names and sets them to zero, in all tables by instance",
			  "Calls on each socket of socket_instances. TRUNCATE zeroes it; the numbers stay in "
			  "socket_summary_by_event_name."),
	.containers = {&pfs_sockets},
	.usual_rows = 2,
	.copy = by_instance_copy,
	.truncate_part = pfs_instances_push,
	.in_reset_all = true,
};
