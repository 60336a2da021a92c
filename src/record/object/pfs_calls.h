/*
 * pfs_calls.h
 *	  Calls on files and sockets: counted by instrument and part, each with its bytes.
 *
 * Separate from files and sockets, which count their calls in ways of their own and sum them
 * up in the same one: an array of totals by instrument and part, for which a PfsChained
 * that is in no chain is the cell.
 */
#ifndef PFS_CALLS_H
#define PFS_CALLS_H

#include "pfs.h"
#include "pfs_chain.h"

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

/* A private sum of one instrument's calls. */
typedef struct PfsCalls
{
	PfsTotals	parts[PFS_CALLS_PARTS];
	uint64		bytes[PFS_CALLS_PARTS];
} PfsCalls;

/* Adds all parts to *all, which is zero, and returns it. */
extern const PfsTotals *pfs_calls_all(const PfsCalls *calls, PfsTotals *all);

/* Any process: adds calls and their bytes to a cell. */
extern void pfs_calls_add(PfsChained *to, const PfsTotals *calls, uint64 bytes);

/* Any process: adds what a cell has to a private sum; take: and leaves the cell empty. */
extern void pfs_calls_read(const PfsChained *from, PfsCalls *to, PfsCallsPart part);
extern void pfs_calls_take(PfsChained *from, PfsTotals *calls, uint64 *bytes);

/* Bytes of an array of totals: one cell for each instrument and part, in this order. */
extern size_t pfs_calls_totals_size(void);

static inline PfsChained *
pfs_calls_total(PfsChained *totals, PfsInstrumentId instrument, PfsCallsPart part)
{
	return &totals[instrument * PFS_CALLS_PARTS + part];
}

/*
 * Readers: adds all totals to those of their instruments.  Truncators: empties them; how many calls.
 * bytes_alone: bytes can be without a call, as on sockets.
 */
extern void pfs_calls_totals_read(const PfsChained *totals, PfsCalls *by_instrument);
extern uint64 pfs_calls_totals_clear(PfsChained *totals, bool bytes_alone);

#endif							/* PFS_CALLS_H */
