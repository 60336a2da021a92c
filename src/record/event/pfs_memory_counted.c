/*
 * pfs_memory_counted.c
 *	  Whether this process is told of its allocations: what both functions do is done
 *	  by callbacks, as the methods of memory contexts are in another layer.
 */
#include "postgres.h"

#include "pfs_local.h"
#include "pfs_memory_counted.h"

const PfsMemoryCallbacks *pfs_memory_callbacks = NULL;
PFS_HOT bool pfs_memory_is_counted = false;

/*
 * Starts or stops counting this process's allocations as the switches want it.  Where
 * memory cannot be counted (no callbacks) only what events compare with is set.
 */
void
pfs_memory_sync(PfsThread *t)
{
	bool		wanted = pfs_load_relaxed(&pfs_words->memory_wanted);

	if (pfs_memory_callbacks != NULL)
		pfs_memory_is_counted = pfs_memory_callbacks->switch_cb(t, wanted);
	/* Events of the usual kind say what is wanted: see PFS_FLAG_MEMORY. */
	pfs_local_set_usual(wanted ? pfs_local.usual | PFS_FLAG_MEMORY : pfs_local.usual & ~PFS_FLAG_MEMORY);
}

void
pfs_memory_leave(void)
{
	if (pfs_memory_is_counted)
		pfs_memory_callbacks->leave_cb();
	pfs_memory_is_counted = false;
}
