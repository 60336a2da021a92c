/*
 * pfs_lock_time.h
 *	  Time in waits for locks: how much of a statement's time it is, and what the last
 *	  wait for a lock on a relation is counted for.
 *
 * lock_time of a statement is the difference between two readings of
 * pfs_local.lock_ticks, by the rooms of statements.
 */
#ifndef PFS_LOCK_TIME_H
#define PFS_LOCK_TIME_H

#include "pfs_local.h"

/* A wait for a lock on a relation that has ended, until it is counted for that. */
typedef struct PfsEndedLock
{
	Oid			relation;		/* InvalidOid: none */
	Oid			database;
	int			mode;
	bool		timed;
	uint64		ticks;			/* of the default timer */
} PfsEndedLock;

/* See pfs_rel_lock_look(), of the room above that counts it. */
extern PFS_HIDDEN PfsEndedLock pfs_ended_lock;

/* A wait for a heavyweight lock ends; ticks by its own timer. */
extern void pfs_heavy_lock_ended(const PfsWait *e, uint64 ticks);

/* Adds a wait for a lock to what a statement's lock_time is made of; timed ones only. */
static pg_attribute_always_inline void
pfs_lock_wait_ended(uint32 flags, uint64 ticks)
{
	if (flags & PFS_FLAG_TIMED)
		pfs_local.lock_ticks += pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks);
}

#endif							/* PFS_LOCK_TIME_H */
