/*
 * pfs_local.c
 *	  What a process knows besides its thread record.
 */
#include "postgres.h"

#include "pfs_local.h"

PFS_HOT_STRUCT PfsLocal pfs_local;

void
pfs_local_set_usual(uint32 flags)
{
	pfs_local.usual = flags;

	/*
	 * No instant takes the fast path where the clock is not the cycle
	 * counter.
	 */
	pfs_local.instant = (flags & PFS_FLAG_TIMER_MASK) != 0 ? ~PFS_FLAGS_INSTANT
		: flags | PFS_FLAG_ENABLED | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY;
}
