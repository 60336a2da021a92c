/*
 * pfs_context.h
 *	  The process's table of memory contexts, and the set of chunks that are
 *	  exceptions in theirs.
 *
 * A free is counted if and only if its allocation was.  In most contexts all
 * chunks are counted, or none, and a free needs no question.  Where a switch
 * has flipped in a context's life, or the context is older than the counting,
 * the fewer ones are listed by address: the counted chunks of a context whose
 * first ones were not, or those not counted where the first ones were.
 *
 * Private memory from mmap(): nothing here can come from the allocators that are
 * watched.  Owner only, at allocations and frees.
 */
#ifndef PFS_CONTEXT_H
#define PFS_CONTEXT_H

#include "pfs.h"
#include "nodes/memnodes.h"

/* Which of a context's chunks are counted? */
typedef enum PfsCounted
{
	PFS_COUNTED_ALL,			/* also: it has no chunk */
	PFS_COUNTED_NONE,
	PFS_COUNTED_LISTED,			/* those in the set */
	PFS_COUNTED_UNLISTED,		/* those not in the set */
} PfsCounted;

typedef struct PfsContext
{
	MemoryContext context;		/* NULL: a free place */
	uint64		count;			/* chunks that are counted and live */
	uint64		bytes;			/* theirs */
	uint64		serial;			/* what its chunks bear in the set */
	uint64		epoch;			/* at which `on` was found out */
	uint32		listed;			/* chunks in the set */
	uint16		cell;			/* of its instrument; PFS_NO_CELL: not looked
								 * up yet */
	PfsInstrumentId instrument;
	uint8		counted;		/* PfsCounted */
	bool		on;				/* allocations are to be counted */
	uint8		unused[6];
} PfsContext;

#define PFS_NO_CELL UINT16_MAX

/* Map both tables; false: the system gives no memory.  Unmap them. */
extern bool pfs_contexts_start(void);
extern void pfs_contexts_stop(void);

extern PfsContext *pfs_context_find(MemoryContext context);

/*
 * A new entry, without chunks.  Others move.  NULL: no room, and from then on a
 * context without an entry may have chunks (pfs_contexts_incomplete).
 */
extern PfsContext *pfs_context_add(MemoryContext context);
extern bool pfs_contexts_incomplete(void);

/* The context goes.  Other entries move. */
extern void pfs_context_remove(PfsContext *c);

/* All its chunks have gone. */
extern void pfs_context_empty(PfsContext *c);

/*
 * A chunk has come: is it counted?  `on` says what is wanted; *lost: the set has
 * no room, so it is not as wanted.  A chunk goes: was it counted?  The entry's
 * numbers are the caller's.
 */
extern bool pfs_context_put(PfsContext *c, const void *chunk, bool *lost);
extern bool pfs_context_take(PfsContext *c, const void *chunk);

/* Behind a take, with the numbers as they are now. */
extern void pfs_context_taken(PfsContext *c);

#endif							/* PFS_CONTEXT_H */
