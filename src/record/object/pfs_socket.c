/*
 * pfs_socket.c
 *	  Socket records: making and freeing them, and counting calls of the less
 *	  usual kinds.
 *
 * Separate from pfs_socket_read.c, which has readers and truncation, as everything here
 * runs at instrument points: no lock, no allocation, no error.
 *
 * Truncation and owners.  Both do "store, then look": the owner makes its
 * sequence word odd and loads `truncations`; the truncator raises `truncations`
 * and, behind a fence on all processors (pfs_fence.h), looks at the words.  So an
 * owner that still adds to counters of the old generation is seen to be in a write
 * section, and is waited for; any other, and that one from its next write section on,
 * sees the new value.  Then counters of the old generation stay as they are until someone
 * raises the record's `collected` over their generation: the truncator, when
 * it comes to the record, or the owner, which has an event or ends.  One of them
 * succeeds, and takes them to the totals; the owner starts from zero either way.
 *
 * Truncators and readers take turns (pfs_patience.h).  An owner that stays in a write
 * section for longer than the truncator's patience loses the event that it is adding,
 * and no other.  What owners move meanwhile, counters on their way from a record to
 * the totals, lies between moves_begun and moves_done: a reader that sees one of them
 * change reads again, and a truncator waits for the last.
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
PFS_FIXED PfsSharedSockets *pfs_shared_sockets = NULL;
PFS_HOT PfsSocket *pfs_my_socket = NULL;
PFS_HOT_STRUCT PfsWaitLookup pfs_client_lookups[PFS_NUM_CLIENT_WAITS];

/* This process has begun a move. */
static bool is_moving = false;

/* Records of one page. */
#define SOCKETS_PER_PAGE 128

PfsChained *pfs_socket_totals = NULL;

/* ---- the totals ---- */

/* Takes the container and the totals. */
void
pfs_sockets_lay_out(PfsSegment *seg)
{
	pfs_sockets = pfs_pages_create(seg, "socket_instances", sizeof(PfsSocket), pfs_sizes.sockets, SOCKETS_PER_PAGE);
	pfs_socket_totals = pfs_segment_take(seg, pfs_calls_totals_size(), PFS_CACHE_LINE);
}

void
pfs_sockets_start(void)
{
	/* Not 0, which a record's page reads as when it has been given back. */
	pfs_words->socket_truncations = 1;
}

/* Adds calls and bytes to the totals of an instrument and part, by atomic adds. */
static void
add_to_totals(PfsInstrumentId instrument, PfsCallsPart part, const PfsTotals *calls, uint64 bytes)
{
	pfs_calls_add(pfs_calls_total(pfs_socket_totals, instrument, part), calls, bytes);
}

/*
 * Adds a record's cells to the totals, and returns how many events they are: for an
 * owner that gives its counters up, and for a truncator, which has a copy of them.  The
 * caller has raised the record's `collected`, so that nobody else does the same; the
 * cells are left as they are.
 */
uint64
pfs_socket_push_cells(const PfsSocketCell *cells)
{
	uint64		events = 0;

	for (int i = 0; i < PFS_SOCKET_CELLS; i++)
	{
		PfsTotals	calls = {0};

		if (cells[i].instrument == PFS_NO_INSTRUMENT)
			break;
		pfs_totals_add_cell(&calls, &cells[i].calls);
		if (pfs_totals_count(&calls) == 0 && cells[i].bytes == 0)
			continue;
		add_to_totals(cells[i].instrument, cells[i].part, &calls, cells[i].bytes);
		events += pfs_totals_count(&calls);
	}
	return events;
}

/* ---- the owner ---- */

static void
zero_cell(PfsSocketCell *c)
{
	pfs_cell_clear(&c->calls);
	pfs_store_relaxed(&c->bytes, 0);
}

/*
 * Begins to move counters from a record to the totals.  Between this and end_move(),
 * readers of both may see the counters twice or not at all, and know it: what is stored
 * in between cannot be seen by one who does not see moves_begun behind it (A, pairs
 * with the fence of pfs_sockets_by_event), and is seen by one who sees moves_done (B).
 */
static void
begin_move(void)
{
	is_moving = true;
	pfs_add_seqcst(&pfs_shared_sockets->moves_begun, 1);
	pfs_fence_release();		/* A */
}

static void
end_move(void)
{
	pfs_add_seqcst(&pfs_shared_sockets->moves_done, 1); /* B */
	is_moving = false;
}

bool
pfs_socket_repair(void)
{
	bool		was_moving = is_moving;

	if (was_moving)
		end_move();
	return was_moving;
}

/*
 * Takes the counters of a record to the totals, unless a truncator has.  to: the
 * generation that the record is collected up to from now on; truncated: these are
 * counters of before a TRUNCATE, which returns how many they were.  Inside a write
 * section, and a move.
 */
static void
give_up_cells(PfsSocket *s, uint64 to, bool truncated)
{
	uint64		collected = pfs_load_relaxed(&s->collected);

	if (collected <= s->generation && pfs_cas(&s->collected, &collected, to))
	{
		uint64		events = pfs_socket_push_cells(s->cells);

		if (truncated)
			pfs_add_relaxed(&pfs_shared_sockets->left, events);
	}
}

/*
 * Makes the counters of a record those of the present generation, when its owner finds
 * that a TRUNCATE has come: the old ones go to the totals, if no truncator has taken
 * them there, and all cells are zero.  Inside a write section.
 */
static void
begin_generation(PfsSocket *s)
{
	uint64		now = pfs_load_relaxed(&pfs_words->socket_truncations);

	begin_move();
	give_up_cells(s, now, true);
	end_move();
	for (int i = 0; i < PFS_SOCKET_CELLS; i++)
		zero_cell(&s->cells[i]);
	pfs_store_relaxed(&s->generation, now);
}

/*
 * Returns the record's cell of a kind of call, which takes the first free cell if it
 * has none.  NULL: all are taken by other kinds.
 */
static PfsSocketCell *
find_cell(PfsSocket *s, PfsInstrumentId instrument, PfsCallsPart part)
{
	for (int i = 0; i < PFS_SOCKET_CELLS; i++)
	{
		PfsSocketCell *c = &s->cells[i];

		if (c->instrument == PFS_NO_INSTRUMENT)
		{
			pfs_store_relaxed(&c->part, part);
			pfs_store_relaxed(&c->instrument, instrument);
		}
		if (c->instrument == instrument && c->part == part)
			return c;
	}
	return NULL;
}

/*
 * Counts a call on a socket where that is not done in place: a truncation
 * has come, the call is untimed or by another timer, it is of another kind than reading
 * from the client and writing to it, or the socket has no record (s is NULL).  Calls
 * that have no cell in a record go to the totals of their instrument.  Inside the
 * owner's write section.
 */
void
pfs_socket_count(PfsSocket *s, PfsCallsPart part, const PfsWait *e, uint64 end, uint64 bytes)
{
	bool		timed = (e->flags & PFS_FLAG_TIMED) != 0;
	uint64		ticks = timed && end > e->timer_start
	? pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), end - e->timer_start) : 0;
	PfsTotals	call = {.count_timed = timed, .count_untimed = !timed, .sum = ticks, .min = ticks, .max = ticks};
	PfsSocketCell *c = NULL;

	if (s != NULL && !pfs_socket_is_current(s))
		begin_generation(s);
	if (s != NULL)
		c = find_cell(s, e->instrument, part);
	if (c == NULL)
	{
		add_to_totals(e->instrument, part, &call, bytes);
		return;
	}
	if (timed)
		pfs_cell_add(&c->calls, ticks);
	else
		pfs_bump(&c->calls.count_untimed, 1);
	pfs_bump(&c->bytes, bytes);
}

void
pfs_socket_instant(PfsThread *t, PfsWait *e, PfsSocket *s, PfsCallsPart part, uint64 start, uint64 end, uint64 bytes)
{
	e->timer_start = start;
	e->object.address = (uintptr_t) s;
	pfs_write_begin(t);
	pfs_socket_count(s, part, e, end, bytes);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth, end);
	pfs_write_end(t);
	pfs_local.beginning = 0;
}

/*
 * Adds bytes of a read that is no event, where pfs_socket_bytes() does not: the socket
 * has no record (s is NULL), or a truncation has come.
 */
void
pfs_socket_count_bytes(PfsSocket *s, uint64 bytes)
{
	PfsTotals	none = {0};

	if (s == NULL)
	{
		add_to_totals(pfs_fixed_instrument[PFS_INS_CLIENT_READ], PFS_CALLS_READ, &none, bytes);
		return;
	}
	begin_generation(s);
	pfs_bump(&s->cells[PFS_CALLS_READ].bytes, bytes);
}

/*
 * A session waits on its client's socket, but for a publisher or primary that
 * libpq talks to; of these only the WAL receiver's has a record.
 */
PfsSocket *
pfs_socket_of_wait(PfsInstrumentId instrument)
{
	PfsSocket  *s = pfs_my_socket;
	bool		peer = instrument == pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_RECEIVE) ||
	instrument == pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_CONNECT);

	return s != NULL && s->peer == peer ? s : NULL;
}

/*
 * Ends a wait for a socket, instead of pfs_wait_end(), and counts it in the record of
 * the socket (NULL: in the totals).  It is a write section of its own.
 */
void
pfs_socket_wait_end(PfsThread *t, PfsWait *e, PfsSocket *s)
{
	uint64		end = pfs_wait_read_end(t, e->flags);

	pfs_write_begin(t);
	pfs_socket_count(s, PFS_CALLS_MISC, e, end, 0);
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
 * with `peer` that of a WAL receiver's sender.  The client's first two cells have their
 * kinds from the start, so that reading from it and writing to it need not look for
 * theirs.
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
	s->generation = pfs_load_relaxed(&pfs_words->socket_truncations);
	s->collected = s->generation;
	for (int i = 0; i < PFS_SOCKET_CELLS; i++)
	{
		s->cells[i].instrument = PFS_NO_INSTRUMENT;
		zero_cell(&s->cells[i]);
	}
	if (peer)
		s->instrument = pfs_wait_info_instrument(WAIT_EVENT_LIBPQWALRECEIVER_RECEIVE);
	else
	{
		s->instrument = pfs_fixed_instrument[PFS_INS_CLIENT_READ];
		s->descriptor = MyProcPort->sock;
		fill_address(s, &MyProcPort->raddr.addr);
		(void) find_cell(s, s->instrument, PFS_CALLS_READ);
		(void) find_cell(s, pfs_fixed_instrument[PFS_INS_CLIENT_WRITE], PFS_CALLS_WRITE);
	}
}

/*
 * Makes the socket record of a process that has a client or is the WAL receiver, when
 * it attaches.  Without room it has none, and its calls go to the totals.
 */
void
pfs_socket_attach(PfsThread *t)
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
	pfs_pages_publish(pfs_sockets, index);
	pfs_my_socket = s;
}

/* The generation that comes after all others. */
#define ENDED PG_UINT64_MAX

/*
 * Gives the process's socket record back, with its counters added to the totals, inside
 * detach's write section.  Both are one move, as a reader of the totals must not find
 * the record gone and its counters not there yet.
 */
void
pfs_socket_detach(PfsThread *t)
{
	PfsSocket  *s = pfs_my_socket;

	if (s == NULL)
		return;
	pfs_my_socket = NULL;
	begin_move();
	give_up_cells(s, ENDED, !pfs_socket_is_current(s));
	pfs_pages_give(pfs_sockets, s);
	end_move();
}
