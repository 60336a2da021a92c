/*
 * pfs_lock_time.c
 *	  Time in waits for heavyweight locks.
 */
#include "postgres.h"

#include "storage/lock.h"

#include "pfs_lock_time.h"

PfsEndedLock pfs_ended_lock;

/*
 * Adds a wait for a lock to the process's lock time, and leaves it to be counted for its
 * relation, which is the business of another room.
 */
void
pfs_heavy_lock_ended(const PfsWait *e, uint64 ticks)
{
	const LOCKTAG *tag = &e->object.locktag;

	pfs_lock_wait_ended(e->flags, ticks);
	if (e->object_type != PFS_OBJECT_LOCK || tag->locktag_type != LOCKTAG_RELATION)
		return;
	pfs_ended_lock = (PfsEndedLock)
	{
		.relation = tag->locktag_field2, .database = tag->locktag_field1,
			.mode = e->operation - PFS_OP_LOCK,
			.timed = (e->flags & PFS_FLAG_TIMED) != 0,
			.ticks = pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), ticks)
	};
}
