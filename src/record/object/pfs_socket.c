/*
 * pfs_socket.c
 *	  Socket records: making and freeing them, and counting calls of the less
 *	  usual kinds.
 *
 * Separate from pfs_socket_read.c, which has readers and truncation, as everything here
 * runs at instrument points: no lock, no allocation, no error.
 *
 * Only its owner adds to the cells of a record, and only while it has the record: what is
 * left in its places then counts by name alone.  So a session that ends moves nothing, and a
 * record is free at once.
 */
#include "postgres.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "libpq/libpq-be.h"
#include "miscadmin.h"

#include "pfs_compat.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_socket.h"
#include "pfs_wait_class.h"

PFS_FIXED PfsPages *pfs_sockets = NULL;
PFS_HOT_FIRST PfsSocketLocal pfs_socket_local;
PFS_HOT_STRUCT PfsWaitLookup pfs_client_lookups[PFS_NUM_CLIENT_WAITS];

/* Records of one page. */
#define SOCKETS_PER_PAGE 128

PfsChained *pfs_socket_totals = NULL;

/* Takes the container and the totals. */
static void
lay_out(PfsSegment *seg)
{
	pfs_sockets = pfs_pages_create(seg, "socket_instances", sizeof(PfsSocket), pfs_sizes.sockets, SOCKETS_PER_PAGE);
	pfs_socket_totals = pfs_segment_take(seg, pfs_calls_totals_size(), PFS_CACHE_LINE);
}

/* ---- the sums ---- */

/*
 * Returns the record's cell of a key, which takes the next free cell if it has none.  NULL: all are
 * taken by other keys.
 */
static PfsChained *
cell_of(PfsSocket *s, uint32 key)
{
	uint32		n = s->ncells;

	for (uint32 i = 0; i < n; i++)
	{
		if (s->cells[i].key == key)
			return &s->cells[i];
	}
	if (n == PFS_SOCKET_CELLS)
		return NULL;
	s->cells[n].key = key;
	pfs_store_release(&s->ncells, n + 1);
	return &s->cells[n];
}

static bool
make_cb(void *socket, uint32 key)
{
	return cell_of(socket, key & ~PFS_CALLS_UNTIMED) != NULL;
}

/*
 * Adds to the sums of a socket, or of none (NULL), and to the totals.  In this order, as who truncates both begins
 * with the totals: no socket has a call that the totals do not have.
 */
static void
add_cb(void *socket, const PfsPending *place)
{
	uint32		key = place->key & ~PFS_CALLS_UNTIMED;
	PfsTotals	calls = pfs_pending_calls_totals(place);
	uint64		bytes = pfs_pending_calls_bytes(place);
	PfsChained *cell = socket != NULL ? cell_of(socket, key) : NULL;

	if (cell != NULL)
		pfs_calls_add(cell, &calls, bytes);
	pfs_calls_add(pfs_calls_total(pfs_socket_totals, PFS_CALLS_INSTRUMENT(key), PFS_CALLS_PART(key)), &calls, bytes);
}

const PfsCountedKind pfs_counted_sockets = {
	.shape = &pfs_pending_socket_shape,
	.objects = &pfs_sockets,
	.make = make_cb,
	.add = add_cb,
	.events = pfs_pending_calls_events,
};

/* ---- counting, inside a write section ---- */

/* The key of calls on the client's socket. */
static uint32
client_key(PfsCallsPart part)
{
	return PFS_CALLS_KEY(pfs_fixed_instrument[part == PFS_CALLS_READ ? PFS_INS_CLIENT_READ : PFS_INS_CLIENT_WRITE], part);
}

/*
 * Takes a place for calls on a socket.  It can be one that the lookups go by, so these hold no more.
 */
static pg_noinline PfsPendingCalls *
take_place(PfsThread *t, uint64 socket, uint32 key)
{
	for (int i = 0; i < PFS_NUM_CLIENT_WAITS; i++)
		pfs_client_lookups[i].generation = 0;
	return pfs_pending_calls_get(t, PFS_COUNTED_SOCKETS, socket, key);
}

/* Where calls on a socket are counted, until it is put. */
static PfsPendingCalls *
get_place(PfsThread *t, const PfsSocket *s, uint32 key)
{
	/* A socket without a record counts for its name only. */
	uint64		socket = s != NULL ? pfs_socket_local.counted : 0;
	PfsPendingCalls *p = (PfsPendingCalls *) pfs_pending_find(PFS_COUNTED_SOCKETS, &pfs_pending_socket_shape, socket, key);

	if (unlikely(p == NULL))
		p = take_place(t, socket, key);
	for (PfsCallsPart part = PFS_CALLS_READ; part <= PFS_CALLS_WRITE; part++)
	{
		if (socket != 0 && key == client_key(part))
			pfs_socket_local.places[part] = p;
	}
	return p;
}

bool
pfs_socket_has_place(PfsCallsPart part)
{
	const PfsPendingCalls *p = pfs_socket_local.places[part];

	return p != NULL && pfs_pending_holds(PFS_COUNTED_SOCKETS, &p->place, pfs_socket_local.counted, client_key(part));
}

/*
 * Counts a call on a socket where that is not done in place: it is not as a lookup has it, or the
 * socket has no record (s is NULL).
 */
static void
count(PfsThread *t, PfsSocket *s, const PfsWait *e, uint64 end)
{
	PfsPendingCalls *p = get_place(t, s, pfs_calls_key(e));

	pfs_pending_calls_count(p, e, end);
	pfs_pending_put(t, PFS_COUNTED_SOCKETS, &p->place);
}

void
pfs_socket_count_bytes(PfsThread *t, uint64 bytes)
{
	PfsPendingCalls *p = get_place(t, pfs_socket_local.mine, client_key(PFS_CALLS_READ));

	p->bytes += bytes;
	pfs_pending_put(t, PFS_COUNTED_SOCKETS, &p->place);
}

void
pfs_socket_instant(PfsThread *t, PfsWait *e, PfsSocket *s, uint64 start, uint64 end)
{
	e->timer_start = start;
	e->object.address = (uintptr_t) s;
	pfs_write_begin(t);
	count(t, s, e, end);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth, end);
	pfs_write_end(t);
	pfs_local.beginning = 0;
}

/*
 * A session waits on its client's socket, but for a publisher or primary that
 * libpq talks to; of these only the WAL receiver's has a record.
 */
PfsSocket *
pfs_socket_of_wait(PfsInstrumentId instrument)
{
	PfsSocket  *s = pfs_socket_local.mine;
	bool		peer = instrument == pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_RECEIVE) ||
	instrument == pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_CONNECT);

	return s != NULL && s->peer == peer ? s : NULL;
}

/*
 * Ends a wait for a socket, instead of pfs_wait_end(), and counts it for the
 * socket (NULL: one without a record).  It is a write section of its own.
 */
void
pfs_socket_wait_end(PfsThread *t, PfsWait *e, PfsSocket *s)
{
	uint64		end = pfs_wait_read_end(t, e->flags);

	pfs_write_begin(t);
	count(t, s, e, end);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
	pfs_write_end(t);
}

/* Copies the client's address and port as numbers: no host name is looked up. */
static void
fill_address(PfsSocket *s, const struct sockaddr_storage *from)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *) from;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) from;

	if (from->ss_family == AF_INET)
	{
		s->family = AF_INET;
		memcpy(s->address, &in->sin_addr, sizeof(in->sin_addr));
		s->port = ntohs(in->sin_port);
	}
	else if (from->ss_family == AF_INET6)
	{
		s->family = AF_INET6;
		memcpy(s->address, &in6->sin6_addr, sizeof(in6->sin6_addr));
		s->port = ntohs(in6->sin6_port);
	}
}

/*
 * Fills in the record of this process's socket before it is published: the client's, or
 * with `peer` that of a WAL receiver's sender.  The client's first two cells are there from
 * the start, so that it has its rows.
 */
static void
fill_record(PfsSocket *s, const PfsThread *t, bool peer)
{
	memset(s, 0, sizeof(*s));
	s->thread_id = t->thread_id;
	s->thread = t->index;
	s->pid = t->pid;
	s->peer = peer;
	s->descriptor = -1;
	s->port = -1;
	if (peer)
		s->instrument = pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_RECEIVE);
	else
	{
		s->instrument = pfs_fixed_instrument[PFS_INS_CLIENT_READ];
		s->descriptor = MyProcPort->sock;
		fill_address(s, &MyProcPort->raddr.addr);
		for (PfsCallsPart part = PFS_CALLS_READ; part <= PFS_CALLS_WRITE; part++)
			(void) cell_of(s, client_key(part));
	}
}

/*
 * Makes the socket record of a process that has a client or is the WAL receiver, when
 * it attaches.  Without room it has none, and its calls go to the totals.
 */
static void
attach(PfsThread *t)
{
	static uint32 hint = 0;
	bool		client = MyProcPort != NULL && MyProcPort->sock != PGINVALID_SOCKET;
	bool		peer = MyBackendType == B_WAL_RECEIVER;
	uint32		index;
	PfsSocket  *s;

	if (!client && !peer)
		return;
	index = pfs_pages_allocate(pfs_sockets, &hint);
	if (index == PFS_NO_RECORD)
		return;					/* counted there; calls go to the totals */
	s = pfs_pages_record(pfs_sockets, index);
	fill_record(s, t, peer);
	pfs_socket_local.counted = PFS_COUNTED_OBJECT(index, pfs_pages_publish(pfs_sockets, index));
	pfs_socket_local.mine = s;
}

/* Gives the process's socket record back, inside detach's write section. */
static void
detach(PfsThread *t)
{
	if (pfs_socket_local.mine != NULL)
		pfs_pages_discard(pfs_sockets, pfs_socket_local.mine);
	pfs_socket_local = (PfsSocketLocal)
	{
		0
	};
}

const PfsPart pfs_part_sockets = {
	.name = "sockets",
	.lay_out = lay_out,
	.attach = attach,
	.detach = detach,
	.forget = (void **) &pfs_socket_local.mine,
	.pages = &pfs_sockets,
	.beside = pfs_calls_totals_size,
	.sets = &pfs_pending_sets[PFS_COUNTED_SOCKETS],
};
