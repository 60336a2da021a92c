/*
 * pfs_instr_memory.h
 *	  What the two files about memory contexts share: the methods that stand in
 *	  for the server's, and who puts them into its tables.
 */
#ifndef PFS_INSTR_MEMORY_H
#define PFS_INSTR_MEMORY_H

#include "pfs_context.h"
#include "pfs_memory.h"
#include "pfs_methods.h"

/* Methods that a context can have; what is usual for it takes the short way. */
typedef enum PfsWay
{
	PFS_WAY_PLAIN,				/* all its chunks are counted, and its
								 * instrument is on */
	PFS_WAY_LISTED,				/* its counted chunks are listed, and its
								 * instrument is on */
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

/* This process; thread NULL: its allocations are not looked at. */
typedef struct PfsMemoryHere
{
	PfsThread  *thread;
	uint64		epoch;			/* of pfs_memory, as seen last */
} PfsMemoryHere;

extern PFS_HIDDEN PfsMemoryHere pfs_memory_here;

/*
 * Names of contexts that were met, by address, with what they lead to: constants
 * only.  Private memory.
 */
#define PFS_CONTEXT_NAMES 256

typedef struct PfsContextName
{
	const char *name;
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

/* Fill in table and ways; headers: sets have the headers that we know. */
extern void pfs_memory_methods_start(bool headers);

/* The entry of a context that the process has not met yet; empty: it has no chunk. */
extern PfsContext *pfs_memory_meet(PfsAllocator kind, MemoryContext context, bool empty);

/* Is the context's instrument on, for this thread, now? */
extern void pfs_memory_find_switch(PfsThread *t, PfsContext *c);

/* The context has its own methods again; the entry stays. */
extern void pfs_memory_leave(PfsContext *c);

/* A context that never had a chunk? */
extern bool pfs_memory_is_fresh(PfsAllocator kind, MemoryContext context);

/* Another session may have flipped switches, or truncated. */
extern void pfs_memory_look(PfsThread *t);

#endif							/* PFS_INSTR_MEMORY_H */
