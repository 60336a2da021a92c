/*
 * pfs_socket_read.c
 *	  Readers and truncation of sockets and of the sums of their calls;
 *	  pfs_socket.c has who adds to them.
 *
 * What a socket has counted is the sum of its cells and of the places of its process, what all have
 * that of the totals and all places: both are read, and truncated, while flushes are forbidden
 * (pfs_pending_read.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_pending_read.h"
#include "pfs_shared.h"
#include "pfs_socket.h"

/* Of a socket that gets another cell meanwhile, the copy has it or not. */
void
pfs_sockets_each(PfsSocketEmit emit, void *arg)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_sockets, &at);)
	{
		const PfsSocket *s = pfs_pages_record(pfs_sockets, at.index);
		uint32		ncells = pfs_load_acquire(&s->ncells);	/* so many have their
															 * keys */
		PfsSocket	copy;

		CHECK_FOR_INTERRUPTS();
		if (!pfs_pages_copy(pfs_sockets, at.index, 0, &copy, sizeof(copy), &at.word))
			continue;
		copy.ncells = Min(copy.ncells, ncells);
		emit(&copy, at.index, at.word, arg);
	}
}

/* Whom a reader hands the sums of sockets to. */
typedef struct SocketsReader
{
	PfsSocketTotalsEmit emit;
	void	   *arg;
	PfsPendingCopies pending;

	/* Of the present socket: a sum for each instrument, at its first cell. */
	const PfsSocket *socket;
	PfsCalls	sums[PFS_SOCKET_CELLS];
} SocketsReader;

/* The first cell of an instrument: each place has one. */
static uint32
first_cell(const PfsSocket *socket, PfsInstrumentId instrument)
{
	uint32		i = 0;

	while (i < socket->ncells && PFS_CALLS_INSTRUMENT(socket->cells[i].key) != instrument)
		i++;
	return i;
}

static void
add_pending_cb(const PfsPending *p, void *arg)
{
	SocketsReader *reader = arg;
	uint32		i = first_cell(reader->socket, PFS_CALLS_INSTRUMENT(p->key));

	if (i < reader->socket->ncells)
		pfs_calls_read_pending(p, &reader->sums[i]);
}

/* Hands on one row for each instrument that a socket has cells of, in the order of its first cells. */
static void
read_instance_cb(const PfsSocket *copy, uint32 index, uint64 word, void *arg)
{
	SocketsReader *reader = arg;

	reader->socket = copy;
	memset(reader->sums, 0, sizeof(reader->sums));
	for (uint32 i = 0; i < copy->ncells; i++)
	{
		uint32		key = copy->cells[i].key;

		pfs_calls_read(&copy->cells[i], &reader->sums[first_cell(copy, PFS_CALLS_INSTRUMENT(key))], PFS_CALLS_PART(key));
	}
	pfs_pending_of_object(&reader->pending, PFS_COUNTED_OBJECT(index, word), add_pending_cb, reader);
	for (uint32 i = 0; i < copy->ncells; i++)
	{
		PfsInstrumentId instrument = PFS_CALLS_INSTRUMENT(copy->cells[i].key);

		if (first_cell(copy, instrument) == i)
			reader->emit(instrument, (uintptr_t) pfs_pages_record(pfs_sockets, index), &reader->sums[i], reader->arg);
	}
}

static void
read_instances(PfsPatience *patience, void *arg)
{
	SocketsReader *reader = arg;

	pfs_pending_copy_all(PFS_COUNTED_SOCKETS, PFS_PENDING_OBJECT, &reader->pending, patience);
	pfs_sockets_each(read_instance_cb, reader);
	pfree(reader->pending.items);
}

void
pfs_sockets_by_instance(PfsSocketTotalsEmit emit, void *arg)
{
	SocketsReader reader = {.emit = emit, .arg = arg};

	pfs_pending_work(PFS_COUNTED_SOCKETS, false, read_instances, &reader);
}

static void
count_for_name_cb(const PfsPending *p, void *arg)
{
	pfs_calls_read_pending(p, (PfsCalls *) arg + PFS_CALLS_INSTRUMENT(p->key));
}

static void
read_names(PfsPatience *patience, void *arg)
{
	pfs_calls_totals_read(pfs_socket_totals, arg);
	pfs_pending_each(PFS_COUNTED_SOCKETS, count_for_name_cb, arg, patience);
}

void
pfs_sockets_by_event(PfsCalls *calls)
{

	pfs_pending_work(PFS_COUNTED_SOCKETS, false, read_names, calls);
}

/* ---- truncation ---- */

/*
 * Empties the cells of all sockets; returns how many events they had.  A session that ends meanwhile may give its
 * record to another one, whose first events then go, too, as if they had been before the truncation.
 */
static int64
clear_cells(void)
{
	int64		events = 0;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_sockets, &at);)
		events += (int64) pfs_calls_clear(((PfsSocket *) pfs_pages_record(pfs_sockets, at.index))->cells, PFS_SOCKET_CELLS, true);
	return events;
}

/* Empties the totals, too, which have the events of all cells; returns how many they were. */
static int64
clear(void)
{
	int64		events = (int64) pfs_calls_totals_clear(pfs_socket_totals, true);

	(void) clear_cells();
	return events;
}

int64
pfs_sockets_push(void)
{
	return pfs_pending_reset(PFS_COUNTED_SOCKETS, PFS_PENDING_OBJECT, clear_cells, "socket_summary_by_instance");
}

int64
pfs_sockets_clear(void)
{
	return pfs_pending_reset(PFS_COUNTED_SOCKETS, PFS_PENDING_ALL, clear, "socket_summary_by_instance");
}
