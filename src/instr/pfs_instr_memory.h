/*
 * pfs_instr_memory.h
 *	  What the three files about memory contexts share: the methods that stand in
 *	  for the server's (pfs_instr_memory.c), what they do where less is known of a
 *	  context or a chunk (pfs_instr_memory_chunk.c), and when the server's tables lead
 *	  to them (pfs_instr_memory_switch.c).
 */
#ifndef PFS_INSTR_MEMORY_H
#define PFS_INSTR_MEMORY_H

#include "pfs_context.h"
#include "pfs_memory.h"
#include "pfs_methods.h"

/*
 * What is known of a context decides which methods it has: so what a call would have to
 * ask each time is a constant in the method.
 */
typedef enum PfsWay
{
	PFS_WAY_PLAIN,				/* all its chunks are counted, and its
								 * instrument is on */
	PFS_WAY_EARLY,				/* the same, of early memory
								 * (pfs_memory_early.h) */
	PFS_WAY_TOP,				/* TopMemoryContext: its counted chunks are
								 * tracked, and its instrument is on */
	PFS_WAY_OTHER,
} PfsWay;

#define PFS_NUM_WAYS (PFS_WAY_OTHER + 1)

/* Set in the postmaster, inherited. */
typedef struct PfsMemoryProbe
{
	PfsMethods	kinds[PFS_NUM_ALLOCATORS];	/* the server's */
	MemoryContextMethods table[PFS_NUM_ALLOCATORS]; /* ours, of contexts
													 * without an entry */
	MemoryContextMethods ways[PFS_NUM_ALLOCATORS][PFS_NUM_WAYS];
} PfsMemoryProbe;

extern PFS_HIDDEN PfsMemoryProbe pfs_memory_probe;

/*
 * Where this process counts.  The thread is a private record before it is known for whom the process works
 * (pfs_memory_early.h), and while its allocations are not looked at.
 */
typedef struct PfsMemoryHere
{
	PfsThread  *thread;
	uint64		epoch;			/* of pfs_memory, as seen last */
} PfsMemoryHere;

extern PFS_HIDDEN PfsMemoryHere pfs_memory_here;

/*
 * Cached lookups of context names, by address, with what they lead to: constants
 * only; and entries of contexts of that name that are gone, for the next ones: all of
 * PFS_WAY_PLAIN, at the present epoch.  Process-local.
 */
#define PFS_CONTEXT_NAMES 256

typedef struct PfsContextName
{
	const char *name;
	PfsContext *spare;			/* the newest; NULL: there is none */
	PfsInstrumentId instrument;
	uint32		cell;			/* number */
} PfsContextName;

extern PFS_HIDDEN PfsContextName pfs_context_names[PFS_CONTEXT_NAMES];

static pg_attribute_always_inline PfsContextName *
pfs_context_name_place(const char *name)
{
	return &pfs_context_names[((uint64) (uintptr_t) name * UINT64CONST(0x9E3779B97F4A7C15)) >> 56];
}

static pg_attribute_always_inline bool
pfs_memory_is_on(const PfsThread *t, PfsInstrumentId instrument)
{
	return (pfs_instrument_flags(instrument) & pfs_load_relaxed(&t->mask) & PFS_FLAG_ENABLED) != 0;
}

/* The way of a context whose chunks are all counted, and whose instrument is on. */
static pg_attribute_always_inline PfsWay
pfs_memory_plain_way(const PfsThread *t)
{
	return likely(t->memory.has_levels) ? PFS_WAY_PLAIN : PFS_WAY_EARLY;
}

/*
 * Inside a write section, or of early memory: is this the entry of a context, and are there no news?  Whoever has news
 * takes the address of the entries out of the thread's record.
 */
static pg_attribute_always_inline bool
pfs_memory_is_known(const PfsThread *t, const PfsContext *c)
{
	return (uintptr_t) c - pfs_memory_contexts_at(t) < PFS_CONTEXTS_SIZE;
}

/* Bytes of a chunk as its allocator has it. */
static inline uint64
pfs_memory_space(PfsAllocator kind, MemoryContext context, void *pointer)
{
	return PFS_SPACE_OF_CHUNK(&pfs_memory_probe.kinds[kind].original, context, pointer) - pfs_memory_probe.kinds[kind].header;
}

static inline bool
pfs_memory_is_busy(const PfsThread *t)
{
	return (t->memory.seq.word & 1) != 0;
}

/* ---- pfs_instr_memory.c ---- */

/* Fill in table and ways; headers: sets have the headers that we know. */
extern void pfs_memory_methods_start(bool headers);

/* ---- pfs_instr_memory_chunk.c ---- */

/*
 * Methods, of contexts and chunks of any kind, whatever is known of them; came: the rest of an allocation, which returns the
 * chunk; bytes 0: not known yet.
 */
extern void *pfs_memory_alloc(PfsAllocator kind, PFS_ALLOC_PARAMS);
extern void *pfs_memory_came(PfsAllocator kind, MemoryContext context, uint64 bytes, void *pointer);
extern void pfs_memory_free(PfsAllocator kind, MemoryContext context, void *pointer);
extern void *pfs_memory_realloc(PfsAllocator kind, MemoryContext context, PFS_REALLOC_REST);
extern void pfs_memory_reset(PfsAllocator kind, MemoryContext context);
extern void pfs_memory_delete(PfsAllocator kind, MemoryContext context);

/* The entry's methods become those of its way. */
extern void pfs_memory_choose_methods(PfsContext *c);

/* Look whether another session has flipped switches, or truncated. */
extern void pfs_memory_look(PfsThread *t);

/* A chunk is there that could not be kept account of. */
extern void pfs_memory_lose_chunk(void);

/* The entry of a context with methods that are another library's; NULL: it has none. */
extern PfsContext *pfs_memory_search(MemoryContext context);

/* The entry of a context, whoever's methods it has; NULL: it has none. */
static pg_attribute_always_inline PfsContext *
pfs_memory_entry(PfsAllocator kind, MemoryContext context)
{
	PfsContext *c = pfs_context_of(context);

	if (likely(c != NULL) || context->methods == pfs_memory_probe.kinds[kind].table)
		return c;
	return pfs_memory_search(context);
}

/* ---- pfs_instr_memory_switch.c ---- */

/*
 * Make an entry for a context that has none; empty: the context has no chunk.  NULL:
 * there is no room for one.
 */
extern PfsContext *pfs_memory_add_context(PfsAllocator kind, MemoryContext context, bool empty);

/* Spare entries become free ones. */
extern void pfs_memory_drop_spares(void);

/* Is the context's instrument on, for this thread, now? */
extern void pfs_memory_find_switch(PfsThread *t, PfsContext *c);

/* A context that never had a chunk? */
extern bool pfs_memory_is_fresh(PfsAllocator kind, MemoryContext context);

/*
 * Another library has put methods of its own among the entry's: the context gets a
 * copy of them all, as if the library had made it, and the entry is searched for.
 */
extern void pfs_memory_set_apart(PfsContext *c);

/* Methods of another library were found; that is counted once in each process. */
extern void pfs_memory_note_others(void);

#endif							/* PFS_INSTR_MEMORY_H */
