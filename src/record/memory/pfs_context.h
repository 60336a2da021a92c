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
#include "nodes/memnodes.h"

/* Which of a context's chunks are counted? */
typedef enum PfsCounted
{
	PFS_COUNTED_ALL,			/* also: it has no chunk */
	PFS_COUNTED_NONE,
	PFS_COUNTED_TRACKED,		/* those in the set */
	PFS_COUNTED_UNTRACKED,		/* those not in the set */
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
	uint32		tracked;		/* chunks in the set */
	uint32		mask;			/* the number of places less one; 0: it has
								 * none */
	PfsInstrumentId instrument;
	uint8		counted;		/* PfsCounted */
	bool		on;				/* allocations are to be counted */
	uint8		kind;			/* the caller's: which allocator */
	uint8		way;			/* the caller's: which methods it has */
	uint8		shift;			/* 64 less the bits of the number of places */
	const void **places;		/* of the set; NULL: it has none.  A place
								 * holds a chunk, or NULL.  The pool of
								 * entries links free ones here */
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

/* The context goes; its chunks have been forgotten. */
extern void pfs_context_remove(PfsContext *c);

/*
 * The entry that a context's methods lead to; NULL: they are not ours, but the
 * kind's table, or another library's.  All methods of ours ask this, as a library can
 * copy them into a table of its own, and can call them when nothing is counted any
 * more.
 */
#define PFS_CONTEXTS_SIZE (PFS_CONTEXTS_MAX * sizeof(PfsContext))

/* Address of the first entry; while there are none, one that no methods can lie behind. */
extern PFS_HIDDEN uintptr_t pfs_contexts_at;

static pg_attribute_always_inline PfsContext *
pfs_context_of(MemoryContext context)
{
	if (unlikely((uintptr_t) context->methods - pfs_contexts_at >= PFS_CONTEXTS_SIZE))
		return NULL;
	/* So that callers, all of which compare, do it once. */
	if (context->methods == NULL)
		__builtin_unreachable();
	return (PfsContext *) context->methods;
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

/* Make its set bigger if that can be; false: it is full. */
extern bool pfs_chunks_grow(PfsContext *c);

static pg_attribute_always_inline uint32
pfs_chunk_home(const PfsContext *c, const void *chunk)
{
	return ((uint64) (uintptr_t) chunk * UINT64CONST(0x9E3779B97F4A7C15)) >> c->shift;
}

/* The place of a chunk, or the free one where it would be; the context has a set. */
static pg_attribute_always_inline uint32
pfs_chunk_find(const PfsContext *c, const void *chunk)
{
	const void **places = c->places;
	uint32		place = pfs_chunk_home(c, chunk);

	while (unlikely(places[place] != chunk && places[place] != NULL))
		place = (place + 1) & c->mask;
	return place;
}

/* Free a place behind which others may lie for want of it. */
extern void pfs_chunk_close_up(PfsContext *c, uint32 hole);

/*
 * Put a chunk into the context's set, or take it out.  track returns false if the set
 * is full; untrack, where some are tracked, if it was not there.
 */
static pg_attribute_always_inline bool
pfs_chunk_track(PfsContext *c, const void *chunk)
{
	if (unlikely(c->tracked >= c->mask / 4) && !pfs_chunks_grow(c))
		return false;
	c->places[pfs_chunk_find(c, chunk)] = chunk;
	c->tracked++;
	return true;
}

static pg_attribute_always_inline bool
pfs_chunk_untrack(PfsContext *c, const void *chunk)
{
	uint32		place = pfs_chunk_find(c, chunk);

	if (unlikely(c->places[place] == NULL))
		return false;
	c->tracked--;
	if (likely(c->places[(place + 1) & c->mask] == NULL))
		c->places[place] = NULL;
	else
		pfs_chunk_close_up(c, place);
	return true;
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
