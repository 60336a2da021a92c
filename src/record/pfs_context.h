/*
 * pfs_context.h
 *	  The process's memory contexts, and the set of chunks that are exceptions in
 *	  theirs.
 *
 * A free is counted if and only if its allocation was.  In most contexts all
 * chunks are counted, or none, and a free needs no question.  Where a switch
 * has flipped in a context's life, or the context is older than the counting,
 * the fewer ones are listed by address: the counted chunks of a context whose
 * first ones were not, or those not counted where the first ones were.
 *
 * A context leads to its entry by its methods: they are the entry's first member.
 *
 * Private memory from mmap(): nothing here can come from the allocators that are
 * watched.  Owner only, at allocations and frees.
 */
#ifndef PFS_CONTEXT_H
#define PFS_CONTEXT_H

#include "pfs.h"
#include "pfs_memory_cell.h"
#include "nodes/memnodes.h"

/* Which of a context's chunks are counted? */
typedef enum PfsCounted
{
	PFS_COUNTED_ALL,			/* also: it has no chunk */
	PFS_COUNTED_NONE,
	PFS_COUNTED_LISTED,			/* those in the set */
	PFS_COUNTED_UNLISTED,		/* those not in the set */
} PfsCounted;

/* One context.  Stays where it is until it is removed. */
typedef struct PfsContext
{
	MemoryContextMethods methods;	/* what the context's own pointer leads to */
	MemoryContext context;		/* NULL: a free entry */
	uint64		count;			/* chunks that are counted and live */
	uint64		bytes;			/* theirs */
	PfsMemoryCell *cell;		/* of its instrument; NULL: not looked up yet */
	uint64		epoch;			/* at which `on` was found out */
	uint32		listed;			/* chunks in the set */
	PfsInstrumentId instrument;
	uint8		counted;		/* PfsCounted */
	bool		on;				/* allocations are to be counted */
	uint8		kind;			/* the caller's: which allocator */
	uint8		way;			/* the caller's: which methods it has */
	struct PfsContext *next_free;
} __attribute__((aligned(PFS_CACHE_LINE))) PfsContext;

/* Map the memory; false: the system gives none.  Unmap it. */
extern bool pfs_contexts_start(void);
extern void pfs_contexts_stop(void);

/*
 * A new entry, without chunks; its methods are the caller's.  NULL: no room, and from then on a
 * context without an entry may have chunks (pfs_contexts_incomplete).
 */
extern PfsContext *pfs_context_add(MemoryContext context);
extern bool pfs_contexts_incomplete(void);

/* The context goes; its chunks have been forgotten. */
extern void pfs_context_remove(PfsContext *c);

/*
 * The entry that a context's methods lead to; NULL: they are not ours, but the
 * kind's table, or another library's.
 */
typedef struct PfsContextRange
{
	uintptr_t	start;
	uintptr_t	size;
} PfsContextRange;

extern PFS_HIDDEN PfsContextRange pfs_context_range;

static pg_attribute_always_inline PfsContext *
pfs_context_of(MemoryContext context)
{
	if (unlikely((uintptr_t) context->methods - pfs_context_range.start >= pfs_context_range.size))
		return NULL;
	return (PfsContext *) context->methods;
}

/* All of them, one after the other; NULL: the first, then NULL: no more. */
extern PfsContext *pfs_context_next(PfsContext *c);

/* Its listed chunks, if any, go: to be called while they are still there. */
extern void pfs_context_unlist_all(PfsContext *c);

/* The set; places hold chunks, NULL is a free one. */
typedef struct PfsChunkSet
{
	const void **places;
	uint32		shift;			/* 64 less the bits of the number of places */
	uint32		mask;			/* the number of places less one */
	uint32		used;
} PfsChunkSet;

extern PFS_HIDDEN PfsChunkSet pfs_chunks;

/* Make it bigger if that can be; false: no room. */
extern bool pfs_chunks_make_room(void);

static pg_attribute_always_inline uint32
pfs_chunk_home(const void *chunk)
{
	return ((uint64) (uintptr_t) chunk * UINT64CONST(0x9E3779B97F4A7C15)) >> pfs_chunks.shift;
}

/* The place of a chunk, or the free one where it would be. */
static pg_attribute_always_inline uint32
pfs_chunk_find(const void *chunk)
{
	const void **places = pfs_chunks.places;
	uint32		place = pfs_chunk_home(chunk);

	while (unlikely(places[place] != chunk && places[place] != NULL))
		place = (place + 1) & pfs_chunks.mask;
	return place;
}

/* Free a place behind which others may lie for want of it. */
extern void pfs_chunk_close_up(uint32 hole);

/*
 * The two steps of a context whose counted chunks are listed; list: false, the set
 * has no room; unlist: it was not there.
 */
static pg_attribute_always_inline bool
pfs_chunk_list(PfsContext *c, const void *chunk)
{
	if (unlikely(pfs_chunks.used > pfs_chunks.mask / 4) && !pfs_chunks_make_room())
		return false;
	pfs_chunks.places[pfs_chunk_find(chunk)] = chunk;
	pfs_chunks.used++;
	c->listed++;
	return true;
}

static pg_attribute_always_inline bool
pfs_chunk_unlist(PfsContext *c, const void *chunk)
{
	uint32		place = pfs_chunk_find(chunk);

	if (unlikely(pfs_chunks.places[place] == NULL))
		return false;
	pfs_chunks.used--;
	c->listed--;
	if (likely(pfs_chunks.places[(place + 1) & pfs_chunks.mask] == NULL))
		pfs_chunks.places[place] = NULL;
	else
		pfs_chunk_close_up(place);
	return true;
}

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
