/*
 * pfs_calls.h
 *	  Calls on files and sockets: counted by instrument and part, each with its bytes.
 *
 * Separate from files and sockets, whose calls are counted in the same places (pfs_pending.h)
 * and summed up in the same way: totals by instrument and part, for which a PfsChained that is
 * in no chain is the cell.
 */
#ifndef PFS_CALLS_H
#define PFS_CALLS_H

#include "pfs_chain.h"
#include "pfs_event_write.h"
#include "pfs_pending.h"

/* What a call does, and the columns that it is counted in. */
typedef enum PfsCallsPart
{
	PFS_CALLS_READ,				/* of sockets: recv */
	PFS_CALLS_WRITE,			/* copying into a file, too; send */
	PFS_CALLS_MISC,				/* all others; wait */
} PfsCallsPart;

#define PFS_CALLS_PARTS (PFS_CALLS_MISC + 1)

/* Instrument and part in one word, the key of a chain, and back.  What is above them is the caller's. */
#define PFS_CALLS_KEY(instrument, part) ((uint32) (instrument) | (uint32) (part) << 16)
#define PFS_CALLS_INSTRUMENT(key) ((PfsInstrumentId) (key))
#define PFS_CALLS_PART(key) ((PfsCallsPart) ((key) >> 16 & 3))
#define PFS_CALLS_KEY_BITS 18

/* In the key of a place, above that: its calls are not timed. */
#define PFS_CALLS_UNTIMED (UINT32_C(1) << PFS_CALLS_KEY_BITS)

static inline PfsCallsPart
pfs_calls_part(PfsOperation op)
{
	if (op == PFS_OP_READ || op == PFS_OP_RECV)
		return PFS_CALLS_READ;
	return op == PFS_OP_WRITE || op == PFS_OP_COPY || op == PFS_OP_SEND ? PFS_CALLS_WRITE : PFS_CALLS_MISC;
}

/* ---- places ---- */

/* A place of calls on an object that a process has not added to its sums yet: one cache line. */
typedef struct PfsPendingCalls
{
	PfsPending	place;			/* key: PFS_CALLS_KEY, with PFS_CALLS_UNTIMED */
	uint64		sum;			/* ticks of the default timer; 0 and the next
								 * two without a meaning if untimed */
	uint64		min;
	uint64		max;
	uint64		bytes;			/* read or written */
	uint64		count;
} PfsPendingCalls;

StaticAssertDecl(sizeof(PfsPendingCalls) == PFS_CACHE_LINE, "a call touches one line of pending numbers");

/* Ticks of the default timer that an event has taken; 0 if it is not timed. */
static pg_attribute_always_inline uint64
pfs_calls_ticks(const PfsWait *e, uint64 end)
{
	uint64		ticks = end > e->timer_start ? end - e->timer_start : 0;

	if (likely((e->flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) == (pfs_local.usual & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK))))
		return ticks;
	return (e->flags & PFS_FLAG_TIMED) ? pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), ticks) : 0;
}

/* Bytes that the call of an event, which is counted in this part, has moved. */
static pg_attribute_always_inline uint64
pfs_calls_bytes(const PfsWait *e, PfsCallsPart part)
{
	int64		bytes = part != PFS_CALLS_MISC ? pfs_wait_bytes(e) : 0;

	return Max(bytes, 0);
}

/* The key of an event's place. */
static pg_attribute_always_inline uint32
pfs_calls_key(const PfsWait *e)
{
	uint32		key = PFS_CALLS_KEY(e->instrument, pfs_calls_part(e->operation));

	return likely(e->flags & PFS_FLAG_TIMED) ? key : key | PFS_CALLS_UNTIMED;
}

/* Inside a write section: counts a timed call. */
static pg_attribute_always_inline void
pfs_pending_calls_add(PfsPendingCalls *p, uint64 ticks, uint64 bytes)
{
	p->bytes += bytes;
	p->count++;
	p->sum += ticks;
	if (ticks < p->min)
		p->min = ticks;
	if (ticks > p->max)
		p->max = ticks;
}

/* Inside a write section: pfs_pending_get(). */
extern PfsPendingCalls *pfs_pending_calls_get(PfsThread *t, PfsCountedObjects kind, uint64 object, uint32 key);

/* Inside a write section: counts the call of an event that ends, before the event leaves its slot. */
extern void pfs_pending_calls_count(PfsPendingCalls *p, const PfsWait *e, uint64 end);

/* The calls of a place as a private sum; how many they are, for PfsCountedKind. */
extern PfsTotals pfs_pending_calls_totals(const PfsPending *place);
extern uint64 pfs_pending_calls_events(const PfsPending *place);

static inline uint64
pfs_pending_calls_bytes(const PfsPending *place)
{
	return ((const PfsPendingCalls *) place)->bytes;
}

/* ---- sums ---- */

/* A private sum of one instrument's calls. */
typedef struct PfsCalls
{
	PfsTotals	parts[PFS_CALLS_PARTS];
	uint64		bytes[PFS_CALLS_PARTS];
} PfsCalls;

/* Calls of all parts. */
static inline PfsTotals
pfs_calls_all(const PfsCalls *calls)
{
	return pfs_totals_of(calls->parts, PFS_CALLS_PARTS);
}

/* Any process: adds calls and their bytes to a cell. */
extern void pfs_calls_add(PfsChained *to, const PfsTotals *calls, uint64 bytes);

/* Any process: adds what a cell, or a place, has to a private sum; take: and leaves the cell empty. */
extern void pfs_calls_read(const PfsChained *from, PfsCalls *to, PfsCallsPart part);
extern void pfs_calls_read_pending(const PfsPending *place, PfsCalls *to);
extern void pfs_calls_take(PfsChained *from, PfsTotals *calls, uint64 *bytes);

/* Bytes of an array of totals: one cell for each instrument and part, in this order. */
extern size_t pfs_calls_totals_size(void);

static inline PfsChained *
pfs_calls_total(PfsChained *totals, PfsInstrumentId instrument, PfsCallsPart part)
{
	return &totals[instrument * PFS_CALLS_PARTS + part];
}

/*
 * Readers: adds all totals to those of their instruments.  Truncators: empties them, or so many cells; how
 * many calls.  bytes_alone: bytes can be without a call, as on sockets.
 */
extern void pfs_calls_totals_read(const PfsChained *totals, PfsCalls *by_instrument);
extern uint64 pfs_calls_totals_clear(PfsChained *totals, bool bytes_alone);
extern uint64 pfs_calls_clear(PfsChained *cells, uint32 n, bool bytes_alone);

#endif							/* PFS_CALLS_H */
