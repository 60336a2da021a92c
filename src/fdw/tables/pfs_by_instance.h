/*
 * pfs_by_instance.h
 *	  What the tables by instance share: TRUNCATE of one is TRUNCATE of all.
 */
#ifndef PFS_BY_INSTANCE_H
#define PFS_BY_INSTANCE_H

#include "pfs_table.h"

/* Kinds of objects, in the order of their rows. */
typedef enum PfsInstanceKind
{
	PFS_INSTANCE_FILE,
	PFS_INSTANCE_SOCKET,
	PFS_INSTANCE_LWLOCK,
} PfsInstanceKind;

#define PFS_NUM_INSTANCE_KINDS (PFS_INSTANCE_LWLOCK + 1)

/*
 * TRUNCATE of the table of one kind, its part, or PFS_NUM_INSTANCE_KINDS: of all.  Moves the
 * counters of all kinds to the event names; returns the events that the table lost.
 */
extern int64 pfs_instances_push(const PfsTable *table);

#endif							/* PFS_BY_INSTANCE_H */
