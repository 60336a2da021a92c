/*
 * pfs_object_change.h
 *	  What this transaction has dropped, and which functions it has made: at its end the records
 *	  of what is not there any more are removed.
 *
 * Separate from those records, which know no transactions.  Called by the hooks of
 * commands, and by callbacks of transactions; outside of write sections.
 */
#ifndef PFS_OBJECT_CHANGE_H
#define PFS_OBJECT_CHANGE_H

#include "pfs.h"

typedef struct PfsObjectChange
{
	struct PfsObjectChange *older;
	Oid			class;			/* the catalog that it is in */
	Oid			object;			/* of this database, or a database */
	int			level;			/* of subtransactions */
	bool		made;			/* else dropped */
	uint64		pool;			/* of a free one: see pfs_private.h */
} PfsObjectChange;

/* Is there anything to do when the transaction or a subtransaction ends? */
extern PFS_HIDDEN bool pfs_object_has_changes;

/* A function was made, or one that has no record was replaced; or an object is about to be dropped. */
extern void pfs_object_change_note(Oid class, Oid object, bool made);

/* Has this transaction dropped it, and not taken that back? */
extern bool pfs_object_is_dropped_here(Oid class, Oid object);

/*
 * Takes the newest change off the list, if it is of this level of subtransactions or a deeper one;
 * false: there is none.
 */
extern bool pfs_object_change_take(int level, PfsObjectChange *change);

/* A subtransaction of this level has been committed: what it has done becomes its parent's. */
extern void pfs_object_changes_promote(int level);

#endif							/* PFS_OBJECT_CHANGE_H */
