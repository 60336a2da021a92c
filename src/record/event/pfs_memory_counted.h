/*
 * pfs_memory_counted.h
 *	  Whether this process is told of its allocations, and what makes it compare that
 *	  with the switches.  Apart from pfs_memory.h, as what happens at the end of events
 *	  of any family is a chance to compare.
 */
#ifndef PFS_MEMORY_COUNTED_H
#define PFS_MEMORY_COUNTED_H

#include "pfs_instrument.h"
#include "pfs_thread.h"

/*
 * What the owner of the memory contexts' methods does for these rooms, which do
 * not know it.  It hands these functions down once, in the postmaster, where memory
 * can be counted at all; children inherit them.
 */
typedef struct PfsMemoryCallbacks
{
	/*
	 * The process counts its allocations from now on, or is told that it need
	 * not any more.  Returns whether it counts.  At instrument points;
	 * private memory only.
	 */
	bool		(*switch_cb) (PfsThread *t, bool wanted);

	/*
	 * The process leaves its record, or gets none: from here on nothing may
	 * be counted, whatever is wanted.
	 */
	void		(*leave_cb) (void);
} PfsMemoryCallbacks;

/* NULL: memory cannot be counted. */
extern PFS_HIDDEN const PfsMemoryCallbacks *pfs_memory_callbacks;

/* What this process does now. */
extern PFS_HIDDEN bool pfs_memory_is_counted;

/* Compare it with what is wanted; at instrument points. */
extern void pfs_memory_sync(PfsThread *t);

/* The process leaves its record, or gets none. */
extern void pfs_memory_leave(void);

static pg_attribute_always_inline bool
pfs_memory_is_stale(void)
{
	return pfs_load_relaxed(&pfs_words->memory_wanted) != pfs_memory_is_counted;
}

#endif							/* PFS_MEMORY_COUNTED_H */
