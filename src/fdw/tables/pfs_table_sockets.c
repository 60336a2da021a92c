/*
 * pfs_table_sockets.c
 *	  socket_instances, socket_summary_by_event_name, socket_summary_by_instance:
 *	  who is connected, and what goes through the connections.
 */
#include "postgres.h"

#include <arpa/inet.h>

#include "replication/walreceiver.h"
#include "storage/spin.h"
#include "utils/builtins.h"

#include "pfs_backend_status.h"
#include "pfs_instrument.h"
#include "pfs_shared.h"
#include "pfs_socket.h"
#include "pfs_thread.h"
#include "pfs_by_instance.h"
#include "pfs_tables.h"
#include "pfs_tw.h"
#include "pfs_value.h"

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

enum
{
	INSTANCES_EVENT_NAME,
	INSTANCES_OBJECT_INSTANCE_BEGIN,
	INSTANCES_THREAD_ID,
	INSTANCES_SOCKET_ID,
	INSTANCES_IP,
	INSTANCES_PORT,
	INSTANCES_STATE,
};

static const PfsColumn instances_columns[] = {
	[INSTANCES_EVENT_NAME] = {"event_name", TEXTOID, .width = 25, .key = PFS_KEY_EVENT_NAME},
	[INSTANCES_OBJECT_INSTANCE_BEGIN] = {"object_instance_begin", INT8OID},
	[INSTANCES_THREAD_ID] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID},
	[INSTANCES_SOCKET_ID] = {"socket_id", INT4OID},
	[INSTANCES_IP] = {"ip", INETOID, .hidden = true},
	[INSTANCES_PORT] = {"port", INT4OID, .hidden = true},
	[INSTANCES_STATE] = {"state", TEXTOID, .width = 6},
};

/*
 * Where a WAL receiver is connected to, as the server says it: an address, a
 * name or a folder.
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

static void
add_instance_cb(const PfsSocket *socket, uint32 index, void *arg)
{
	PfsScan    *scan = arg;
	SocketRow  *row;

	if (scan->thread_id != 0 && socket->thread_id != scan->thread_id)
		return;
	if (scan->instrument != PFS_NO_INSTRUMENT && socket->instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->thread_id = socket->thread_id;
	row->address = pfs_socket_address(index);
	row->role = pfs_socket_role(socket);
	row->descriptor = socket->descriptor;
	row->port = socket->port;
	row->instrument = socket->instrument;
	if (socket->peer)
		read_peer(row, socket->pid);
	else if (socket->family != 0)
		inet_ntop(socket->family, socket->address, row->ip, sizeof(row->ip));
}

/* Where the row of the last thread was found. */
typedef struct StateCopy
{
	PfsScan    *scan;
	Size		last;
} StateCopy;

/*
 * The state of a session's socket, of which it has one.  Threads and sockets are
 * mostly in the same order.
 */
static void
add_state_cb(const PfsThread *thread, uint64 word, void *arg)
{
	StateCopy  *copy = arg;
	SocketRow  *rows = (SocketRow *) copy->scan->rows;

	for (Size i = 0; i < copy->scan->nrows; i++)
	{
		Size		at = (copy->last + i) % copy->scan->nrows;

		if (rows[at].thread_id != thread->thread_id)
			continue;
		rows[at].is_idle = pfs_backend_status_is_idle(thread->status, thread->pid, thread->procno);
		copy->last = at;
		return;
	}
}

static void
instances_copy(PfsScan *scan)
{
	StateCopy	copy = {.scan = scan};

	pfs_sockets_each(add_instance_cb, scan);
	if (scan->needed[INSTANCES_STATE] && scan->nrows > 0)
		pfs_threads_each(scan->thread_id, add_state_cb, &copy);
}

static Datum
instances_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const SocketRow *socket = row;

	switch (column)
	{
		case INSTANCES_EVENT_NAME:
			return pfs_event_name_datum(socket->instrument, isnull);
		case INSTANCES_OBJECT_INSTANCE_BEGIN:
			return Int64GetDatum((int64) socket->address);
		case INSTANCES_THREAD_ID:
			return Int64GetDatum((int64) socket->thread_id);
		case INSTANCES_SOCKET_ID:
			return socket->descriptor < 0 ? pfs_null(isnull) : Int32GetDatum(socket->descriptor);
		case INSTANCES_IP:
			return socket->ip[0] == '\0' ? pfs_null(isnull)
				: DirectFunctionCall1(inet_in, CStringGetDatum(socket->ip));
		case INSTANCES_PORT:
			return socket->port < 0 ? pfs_null(isnull) : Int32GetDatum(socket->port);
		case INSTANCES_STATE:
			return CStringGetTextDatum(socket->is_idle ? "IDLE" : "ACTIVE");
	}
	return pfs_null(isnull);
}

static Oid
instances_role(const void *row)
{
	return ((const SocketRow *) row)->role;
}

const PfsTable pfs_table_socket_instances = {
	.name = "socket_instances",
	.row_is = "one connection of a client, or of the WAL receiver",
	.truncate_effect = "refused",
	.columns = instances_columns,
	.ncolumns = lengthof(instances_columns),
	.row_size = sizeof(SocketRow),
	.estimate = pfs_sockets_estimate,
	.copy = instances_copy,
	.get = instances_get,
	.role = instances_role,
};

/*
 * The summaries: one row type.
 */
typedef struct SummaryRow
{
	PfsInstrumentId instrument;
	uint64		address;
	PfsSocketTotals totals;
} SummaryRow;

/* The parts are those of pfs_tw.h. */
StaticAssertDecl((int) PFS_SOCKET_READ == PFS_CALLS_READ && (int) PFS_SOCKET_WRITE == PFS_CALLS_WRITE &&
				 (int) PFS_SOCKET_MISC == PFS_CALLS_MISC, "parts in another order");

static void
add_summary_cb(PfsInstrumentId instrument, uint64 address, const PfsSocketTotals *totals, void *arg)
{
	PfsScan    *scan = arg;
	SummaryRow *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->instrument = instrument;
	row->address = address;
	row->totals = *totals;
}

static Datum
summary_value(const SummaryRow *row, int column)
{
	return pfs_calls_get(row->totals.part, row->totals.bytes, column);
}

/*
 * socket_summary_by_event_name
 */
enum
{
	BY_EVENT_EVENT_NAME,
	BY_EVENT_TOTALS,
};

static const PfsColumn by_event_columns[] = {
	[BY_EVENT_EVENT_NAME] = {"event_name", TEXTOID, .width = 25, .key = PFS_KEY_EVENT_NAME},
	PFS_CALLS_COLUMNS(BY_EVENT_TOTALS)
};

/* A guess: reading, writing, opening, others. */
#define USUAL_SOCKET_EVENTS 4

static double
by_event_estimate(void)
{
	return USUAL_SOCKET_EVENTS;
}

static void
by_event_copy(PfsScan *scan)
{
	pfs_sockets_by_event(add_summary_cb, scan);
}

static Datum
by_event_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	return column == BY_EVENT_EVENT_NAME
		? pfs_event_name_datum(((const SummaryRow *) row)->instrument, isnull)
		: summary_value(row, column - BY_EVENT_TOTALS);
}

/* The other table is emptied, too. */
static int64
by_event_truncate(void)
{
	int64		events = pfs_sockets_truncate(true);

	if (pfs_is_active())
	{
		pfs_reset_time_note("socket_summary_by_instance");
		pfs_reset_time_note("events_waits_summary_by_instance");
	}
	return events;
}

const PfsTable pfs_table_socket_summary_by_event_name = {
	.name = "socket_summary_by_event_name",
	.row_is = "the calls on sockets under one event name",
	.truncate_effect = "zeroes it, and socket_summary_by_instance",
	.columns = by_event_columns,
	.ncolumns = lengthof(by_event_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_event_estimate,
	.copy = by_event_copy,
	.get = by_event_get,
	.truncate = by_event_truncate,
	.in_reset_all = true,
};

/*
 * socket_summary_by_instance
 */
enum
{
	BY_INSTANCE_EVENT_NAME,
	BY_INSTANCE_OBJECT_INSTANCE_BEGIN,
	BY_INSTANCE_TOTALS,
};

static const PfsColumn by_instance_columns[] = {
	[BY_INSTANCE_EVENT_NAME] = {"event_name", TEXTOID, .width = 25, .key = PFS_KEY_EVENT_NAME},
	[BY_INSTANCE_OBJECT_INSTANCE_BEGIN] = {"object_instance_begin", INT8OID},
	PFS_CALLS_COLUMNS(BY_INSTANCE_TOTALS)
};

static double
by_instance_estimate(void)
{
	return pfs_sockets_estimate() * 2;
}

static void
by_instance_copy(PfsScan *scan)
{
	pfs_sockets_by_instance(add_summary_cb, scan);
}

static Datum
by_instance_get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const SummaryRow *summary = row;

	switch (column)
	{
		case BY_INSTANCE_EVENT_NAME:
			return pfs_event_name_datum(summary->instrument, isnull);
		case BY_INSTANCE_OBJECT_INSTANCE_BEGIN:
			return Int64GetDatum((int64) summary->address);
		default:
			return summary_value(summary, column - BY_INSTANCE_TOTALS);
	}
}

static int64
by_instance_truncate(void)
{
	return pfs_instances_push(PFS_INSTANCE_SOCKET);
}

const PfsTable pfs_table_socket_summary_by_instance = {
	.name = "socket_summary_by_instance",
	.row_is = "the calls on one connection under one event name",
	.truncate_effect = "adds its numbers to the event names and sets them to zero, in all tables by instance",
	.columns = by_instance_columns,
	.ncolumns = lengthof(by_instance_columns),
	.row_size = sizeof(SummaryRow),
	.estimate = by_instance_estimate,
	.copy = by_instance_copy,
	.get = by_instance_get,
	.truncate = by_instance_truncate,
	.in_reset_all = true,
};
