/*
 * pfs_memory_told.h
 *	  Whether this process is told of its allocations, and what makes it compare that
 *	  with the switches.  Apart from pfs_memory.h, as what happens at the end of events
 *	  of any family is a chance to compare.
 */
#ifndef PFS_MEMORY_TOLD_H
#define PFS_MEMORY_TOLD_H

#include "pfs_instrument.h"
#include "pfs_thread.h"

/* Switches have changed, or a truncation has begun: this thread looks again. */
static inline void
pfs_memory_make_stale(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.stale, true);
}

/*
 * Called in each process that has to begin, or may stop, being told of its
 * allocations; set by the instrument layer.  Gives whether it is told.
 */
extern bool (*pfs_memory_switch) (PfsThread *t, bool wanted);

/* What this process does now. */
extern PFS_HIDDEN bool pfs_memory_is_told;

/* Compare it with what is wanted; at instrument points. */
extern void pfs_memory_sync(PfsThread *t);

static pg_attribute_always_inline bool
pfs_memory_is_stale(void)
{
	return pfs_load_relaxed(&pfs_words->memory_wanted) != pfs_memory_is_told;
}

#endif							/* PFS_MEMORY_TOLD_H */
