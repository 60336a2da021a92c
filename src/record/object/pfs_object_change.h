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

/* What the end of the transaction has to see to, in one word: nearly always nothing. */
typedef union PfsObjectWork
{
	struct
	{
		bool		watches;	/* object_access_hook is set: pfs_instr_drop.c */
		bool		has_changes;	/* there is a change */
		uint32		made;		/* records of tables that the transaction has
								 * made: pfs_rel_stat.c */
	};
	uint64		any;
} PfsObjectWork;

extern PFS_HIDDEN PfsObjectWork pfs_object_work;

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
