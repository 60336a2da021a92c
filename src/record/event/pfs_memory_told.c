/*
 * pfs_memory_told.c
 *	  Whether this process is told of its allocations.
 */
#include "postgres.h"

#include "pfs_event_write.h"
#include "pfs_memory_told.h"

bool		(*pfs_memory_switch) (PfsThread *t, bool wanted) = NULL;
PFS_NEAR bool pfs_memory_is_told = false;

void
pfs_memory_sync(PfsThread *t)
{
	bool		wanted = pfs_load_relaxed(&pfs_words->memory_wanted);

	if (pfs_memory_switch != NULL)
		pfs_memory_is_told = pfs_memory_switch(t, wanted);
	/* Events of the usual kind say what is wanted: see PFS_FLAG_MEMORY. */
	pfs_local_set_usual(wanted ? pfs_local.usual | PFS_FLAG_MEMORY : pfs_local.usual & ~PFS_FLAG_MEMORY);
}
