/*
 * pfs_socket.h
 *	  Socket instances: one record per client connection and one for a WAL
 *	  receiver's peer, with the counters of its calls; and the counters of
 *	  calls on sockets that have no record, or not any more.
 *
 * A record belongs to a thread, and its owner writes it inside write sections of the
 * thread's sequence lock, which its readers use as well.  TRUNCATE writes no record's
 * counters: it raises a generation, and who owns or reads a record finds its counters
 * to be of an older one.  pfs_socket.c has the protocol.
 *
 * Separate from pfs_file.h, as a descriptor of a connection has one owner and no name.
 */
#ifndef PFS_SOCKET_H
#define PFS_SOCKET_H

#include "pfs_calls.h"
#include "pfs_wait_lookup.h"

/*
 * Kinds of calls that one socket counts by itself; calls of more kinds are
 * counted in the totals of their instrument only.  The first two cells of a client's
 * socket have their kind from the start: ClientRead and ClientWrite are at the number
 * of their part.
 */
#define PFS_SOCKET_CELLS 8

typedef struct PfsSocketCell
{
	PfsCell		calls;			/* min is UINT64_MAX while nothing was timed */
	uint64		bytes;
	PfsInstrumentId instrument; /* PFS_NO_INSTRUMENT: not in use */
	uint16		part;			/* PfsCallsPart */
	uint32		unused;
} PfsSocketCell;

/* In shared memory.  Only the owner writes it, but for `collected`. */
typedef struct PfsSocket
{
	/* Written before the record is published. */
	uint64		thread_id;
	uint32		thread;			/* index of the thread's record */
	int32		pid;
	int32		descriptor;		/* -1: not known */
	int32		port;			/* -1: none */
	PfsInstrumentId instrument; /* what names it: receiving from it */
	bool		peer;			/* of a WAL receiver: its address is in the
								 * server's WalRcv */
	uint8		family;			/* AF_INET, AF_INET6, or 0: no address */
	uint8		unused[4];
	uint8		address[16];

	/* Written inside write sections. */
	uint64		generation;		/* value of `truncations` that the counters
								 * belong to */

	/*
	 * Counters of generations below this one are in the totals, or going
	 * there. Whoever raises it by compare-and-swap, owner or truncator, takes
	 * them there.
	 */
	uint64		collected;
	PfsSocketCell cells[PFS_SOCKET_CELLS];
} PfsSocket;

typedef struct PfsSharedSockets
{
	/* Atomic: moves of a record's counters to the totals. */
	uint64		moves_begun;
	uint64		moves_done;
	uint64		left;			/* events that owners moved because of a
								 * truncation */
} PfsSharedSockets;

extern PfsPages *pfs_sockets;	/* NULL when pfs is off */
extern PFS_HIDDEN PfsSharedSockets *pfs_shared_sockets;

/* This process's record, or NULL.  What instrument points ask for. */
extern PFS_HIDDEN PfsSocket *pfs_my_socket;

/*
 * What it has looked up of its waits on the client's socket: for the next message, in a transaction or not, and calls.
 * Of a call, bits say its operation.
 */
typedef enum PfsClientWait
{
	PFS_CLIENT_IDLE,
	PFS_CLIENT_IDLE_TRANSACTION,
	PFS_CLIENT_READS,
	PFS_CLIENT_WRITES,
} PfsClientWait;

#define PFS_NUM_CLIENT_WAITS (PFS_CLIENT_WRITES + 1)

extern PFS_HIDDEN PfsWaitLookup pfs_client_lookups[PFS_NUM_CLIENT_WAITS];

/* The totals, see pfs_calls.h. */
extern PfsChained *pfs_socket_totals;

/* Postmaster: takes container and totals; starts. */
extern void pfs_sockets_lay_out(PfsSegment *seg);
extern void pfs_sockets_start(void);

/* See pfs_process.c: true if there was something to repair. */
extern bool pfs_socket_repair(void);

/* At attach, before the process has events; inside detach's write section. */
extern void pfs_socket_attach(PfsThread *t);
extern void pfs_socket_detach(PfsThread *t);

/*
 * Inside a write section: count a call that is not of the usual kind.  s NULL:
 * a socket without a record.
 */
extern void pfs_socket_count(PfsSocket *s, PfsCallsPart part, const PfsWait *e, uint64 end,
							 uint64 bytes);

/* Inside a write section: bytes of a read that is no event. */
extern void pfs_socket_count_bytes(PfsSocket *s, uint64 bytes);

/* Adds these counters to the totals, of a copy or by the owner; how many events. */
extern uint64 pfs_socket_push_cells(const PfsSocketCell *cells);

/* The record of the socket that this wait of class Client is for, or NULL. */
extern PfsSocket *pfs_socket_of_wait(PfsInstrumentId instrument);

/* End of a wait for a socket, instead of pfs_wait_end(). */
extern void pfs_socket_wait_end(PfsThread *t, PfsWait *e, PfsSocket *s);

/*
 * Inside a write section: do the counters belong to now?  The load comes after
 * the odd word is stored; the other side is in truncate_sockets().
 */
static pg_attribute_always_inline bool
pfs_socket_is_current(const PfsSocket *s)
{
	pfs_fence_signal();
	return s->generation == pfs_load_relaxed(&pfs_words->socket_truncations);
}

/*
 * Instead of start and end: counts and records a call that could not block, and is over,
 * so that readers never see it running.  s: the record of the client's socket, or NULL.
 */
extern void pfs_socket_instant(PfsThread *t, PfsWait *e, PfsSocket *s, PfsCallsPart part, uint64 start,
							   uint64 end, uint64 bytes);

/* Inside a write section: a read that is no event by itself, as it ended an idle wait. */
static pg_attribute_always_inline void
pfs_socket_bytes(PfsSocket *s, uint64 bytes)
{
	if (likely(s != NULL && pfs_socket_is_current(s)))
		pfs_bump(&s->cells[PFS_CALLS_READ].bytes, bytes);
	else
		pfs_socket_count_bytes(s, bytes);
}

/* ---- readers; SQL commands ---- */

/* A consistent copy of each record; any backend. */
typedef void (*PfsSocketEmit) (const PfsSocket *copy, uint32 index, void *arg);
extern void pfs_sockets_each(PfsSocketEmit emit, void *arg);

/*
 * The sums since the last truncation, for each socket (by the address of its record) and
 * instrument, or for each instrument (address is 0).
 */
typedef void (*PfsSocketTotalsEmit) (PfsInstrumentId instrument, uint64 address, const PfsCalls *calls, void *arg);
extern void pfs_sockets_by_instance(PfsSocketTotalsEmit emit, void *arg);
extern void pfs_sockets_by_event(PfsSocketTotalsEmit emit, void *arg);

/*
 * TRUNCATE by instance moves what the records count to the totals; by event, it also
 * clears those.  Return exactly how many events left the table.
 */
extern int64 pfs_sockets_push(void);
extern int64 pfs_sockets_clear(void);

#endif							/* PFS_SOCKET_H */
