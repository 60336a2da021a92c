/*
 * pfs_context.h
 *	  The process's memory contexts, and of each the set of chunks that are
 *	  exceptions in it.
 *
 * A free is counted if and only if its allocation was.  In most contexts all
 * chunks are counted, or none, and a free needs no question.  Where a switch
 * has flipped in a context's life, or the context is older than the counting,
 * the fewer ones are tracked by address: the counted chunks of a context whose
 * first ones were not, or those not counted where the first ones were.  Each
 * context has a set of its own, so that its end costs what it has tracked.
 *
 * A set is a bit for each place where a chunk can begin, in regions that are found by their
 * address.  To untrack a chunk is to clear its bit: its region stays, as the next chunk is
 * likely to come there.  That of TopMemoryContext has a table of its newest chunks in front.
 *
 * A context leads to its entry by its methods: they are the entry's first member.
 * Where another library has put methods of its own into a context, the entry is
 * searched for (pfs_context_search).
 *
 * Private memory from mmap(): nothing here can come from the allocators that are
 * watched.  Owner only, at allocations and frees.
 */
#ifndef PFS_CONTEXT_H
#define PFS_CONTEXT_H

#include "pfs.h"
#include "pfs_memory_cell.h"
#include "pfs_thread.h"
#include "nodes/memnodes.h"

/* Which of a context's chunks are counted? */
typedef enum PfsCounted
{
	PFS_COUNTED_ALL,			/* also: it has no chunk */
	PFS_COUNTED_NONE,
	PFS_COUNTED_TRACKED,		/* those in the set */
	PFS_COUNTED_UNTRACKED,		/* those not in the set */
} PfsCounted;

typedef struct PfsChunkRegion PfsChunkRegion;

/* One context.  Stays where it is until it is removed. */
typedef struct PfsContext
{
	MemoryContextMethods methods;	/* what the context's own pointer leads to */
	MemoryContext context;		/* NULL: a free entry */
	uint64		count;			/* chunks that are counted and live */
	union
	{
		uint64		bytes;		/* theirs */
		struct PfsContext *next_spare;	/* the caller's, of a spare one */
	};
	PfsMemoryCell *cell;		/* of its instrument; NULL: not looked up yet */
	uint64		epoch;			/* at which `on` was found out */
	uint32		nregions;		/* in the set, also those without a chunk */
	uint32		mask;			/* the number of places less one; 0: it has no
								 * set */
	PfsInstrumentId instrument;
	uint8		counted;		/* PfsCounted */
	bool		on;				/* allocations are to be counted */
	uint8		kind;			/* the caller's: which allocator */
	uint8		way;			/* the caller's: which methods it has */
	uint8		shift;			/* 32 less the bits of the number of places */
	PfsChunkRegion *places;		/* of the set, or one that no region is in.
								 * The pool of entries links free ones here */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsContext;

/* Address space is reserved for so many. */
#define PFS_CONTEXTS_MAX (1 << 20)

/* Map the memory; false: the system gives none. */
extern bool pfs_contexts_start(void);

/*
 * Unmap it.  keep: not the entries, as another library may have the address of one: it
 * can put the methods there back into a context.
 */
extern void pfs_contexts_stop(bool keep);

/*
 * A new entry, without chunks; its methods are the caller's.  NULL: no memory for it,
 * and from then on a context without an entry may have chunks
 * (pfs_contexts_incomplete).
 */
extern PfsContext *pfs_context_add(MemoryContext context);
extern PFS_HIDDEN bool pfs_contexts_incomplete;

/* Is there memory for one more? */
extern bool pfs_contexts_have_room(void);

/* The context goes; its chunks have been forgotten. */
extern void pfs_context_remove(PfsContext *c);

/* Address of the first entry; PFS_NO_CONTEXTS: there are none. */
#define PFS_CONTEXTS_SIZE (PFS_CONTEXTS_MAX * sizeof(PfsContext))

extern PFS_HIDDEN uintptr_t pfs_contexts_at;

/*
 * The entry that a context's methods lead to; NULL: they are not ours, but the
 * kind's table, or another library's.  All methods of ours ask this, by their thread's copy of the address, as a
 * library can copy them into a table of its own, and can call them when nothing is counted any more.
 */
static inline PfsContext *
pfs_context_of(MemoryContext context)
{
	return (uintptr_t) context->methods - pfs_contexts_at < PFS_CONTEXTS_SIZE ? (PfsContext *) context->methods : NULL;
}

/*
 * The entry of a context whose methods are another library's; NULL: it has none.
 * This looks at all entries, unless it is the one that was found last.
 */
extern PfsContext *pfs_context_search(MemoryContext context);

/* All of them, one after the other; NULL: the first, then NULL: no more. */
extern PfsContext *pfs_context_next(PfsContext *c);

/* Its tracked chunks, if any, go, and with them its set. */
extern void pfs_context_untrack_all(PfsContext *c);

/*
 * The newest chunks in the set of TopMemoryContext: ten of a transaction come and go there.  Each has its place, by its
 * address; where that is another one's, this is the regions' business (pfs_context_put()).
 */
#define PFS_NEWEST_CHUNKS 512

extern PFS_HIDDEN const void *pfs_newest_chunks[PFS_NEWEST_CHUNKS];

static pg_attribute_always_inline const void **
pfs_newest_chunk(const void *chunk)
{
	return &pfs_newest_chunks[(uintptr_t) chunk / 16 % PFS_NEWEST_CHUNKS];
}

/*
 * A chunk has come: is it counted?  `on` says what is wanted; *lost: the set is full,
 * so it is not as wanted.  A chunk goes: was it counted?  The entry's counters are the
 * caller's.
 */
extern bool pfs_context_put(PfsContext *c, const void *chunk, bool *lost);
extern bool pfs_context_take(PfsContext *c, const void *chunk);

/* To be called behind a take, when the caller has lowered the entry's counters. */
extern void pfs_context_taken(PfsContext *c);

#endif							/* PFS_CONTEXT_H */
