/*
 * pfs_socket.h
 *	  Socket instances: one record per client connection and one for a WAL
 *	  receiver's peer, with the sums of its calls; and the totals of all calls on
 *	  sockets by instrument.
 *
 * Calls are counted in places of the process (pfs_pending.h), those on sockets that have no
 * record, too, and added to the sums from there: to the totals in any case, and to the
 * socket's cells while its record is there.
 *
 * Separate from pfs_file.h, as a descriptor of a connection has one owner and no name.
 */
#ifndef PFS_SOCKET_H
#define PFS_SOCKET_H

#include "pfs_calls.h"
#include "pfs_wait_lookup.h"

/*
 * Kinds of calls that one socket counts by itself; calls of more kinds are
 * counted in the totals of their instrument only.
 */
#define PFS_SOCKET_CELLS 8

/* In shared memory. */
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
	uint8		address[16];

	/*
	 * By its owner, inside write sections.  The first two of a client's are
	 * there from the start: receiving from it and sending to it.
	 */
	uint32		ncells;			/* raised when the next one has its key */
	PfsChained	cells[PFS_SOCKET_CELLS];	/* in no chain; key: PFS_CALLS_KEY */
} PfsSocket;

static const PfsPendingShape pfs_pending_socket_shape = {.sets = 4, .ways = PFS_PENDING_WAYS, .size = sizeof(PfsPendingCalls)};

extern PfsPages *pfs_sockets;	/* NULL when pfs is off */

/* What this process knows of its own socket. */
typedef struct PfsSocketLocal
{
	PfsSocket  *mine;			/* its record, or NULL */
	uint64		counted;		/* PFS_COUNTED_OBJECT of it */

	/*
	 * Where calls on the client's socket are counted that receive from it,
	 * and that send: if a lookup of the client's waits holds, as no lookup
	 * does any more when a place of sockets is taken, whatever for.
	 */
	PfsPendingCalls *places[2]; /* by PfsCallsPart */
} PfsSocketLocal;

extern PFS_HIDDEN PfsSocketLocal pfs_socket_local;

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

/* The record of the socket that this wait of class Client is for, or NULL. */
extern PfsSocket *pfs_socket_of_wait(PfsInstrumentId instrument);

/* Can calls on the client's socket of this kind be counted in places, as long as no truncation comes? */
extern bool pfs_socket_has_place(PfsCallsPart part);

/* End of a wait for a socket, instead of pfs_wait_end(). */
extern void pfs_socket_wait_end(PfsThread *t, PfsWait *e, PfsSocket *s);

/*
 * Instead of start and end: counts and records a call that could not block, and is over,
 * so that readers never see it running.  s: the record of the client's socket, or NULL.
 */
extern void pfs_socket_instant(PfsThread *t, PfsWait *e, PfsSocket *s, uint64 start, uint64 end);

/* Inside a write section: bytes of a read that is no event by itself, as it ended an idle wait. */
extern void pfs_socket_count_bytes(PfsThread *t, uint64 bytes);

/* ---- readers; SQL commands ---- */

/* A copy of each record; any backend. */
typedef void (*PfsSocketEmit) (const PfsSocket *copy, uint32 index, uint64 word, void *arg);
extern void pfs_sockets_each(PfsSocketEmit emit, void *arg);

/*
 * The sums since the last truncation, for each socket (by the address of its record) and
 * instrument, or by instrument, those of closed ones too: calls[pfs_instruments->max], zeroed.
 */
typedef void (*PfsSocketTotalsEmit) (PfsInstrumentId instrument, uint64 address, const PfsCalls *calls, void *arg);
extern void pfs_sockets_by_instance(PfsSocketTotalsEmit emit, void *arg);
extern void pfs_sockets_by_event(PfsCalls *calls);

/*
 * TRUNCATE by instance leaves the totals as they are; by event, it empties all.  Return exactly
 * how many events left the table.
 */
extern int64 pfs_sockets_push(void);
extern int64 pfs_sockets_clear(void);

#endif							/* PFS_SOCKET_H */
