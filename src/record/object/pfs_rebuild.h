/*
 * pfs_rebuild.h
 *	  Indexes that REINDEX CONCURRENTLY builds anew: which two OIDs are one index.
 *
 * The command makes a second index, in which all sessions make entries from some moment on, lets both exchange
 * their names when it is ready, and drops the old one.  Name and role, and with them all that was counted, are the
 * new one's then.  So both OIDs are found in the same record from the moment on at which the second index can be
 * seen, and what is counted by either is the index's: nothing has to be moved from one record to another.  In the
 * end the record gets the new OID for a key, see pfs_rel_stat_hand_over().
 *
 * Separate from pfs_rel_stat.h, whose records know nothing of each other.
 */
#ifndef PFS_REBUILD_H
#define PFS_REBUILD_H

#include "pfs.h"
#include "pfs_segment.h"

typedef enum PfsRebuildState
{
	PFS_REBUILD_NONE,
	PFS_REBUILD_FILLED_IN,		/* its place is taken, by the process that
								 * will show it */
	PFS_REBUILD_GOES_ON,		/* name and role are the old index's */
	PFS_REBUILD_SWAPPED,		/* they are the new index's; the old one is
								 * not dropped yet */
	PFS_REBUILD_ENDED			/* they are the new index's, and sums have its
								 * OID */
} PfsRebuildState;

typedef struct PfsRebuild
{
	PfsRebuildState state;
	Oid			database;
	Oid			before;			/* the old index */
	Oid			after;			/* the new one */
} PfsRebuild;

/* Postmaster. */
extern void pfs_rebuilds_lay_out(PfsSegment *seg);

/* ---- the process that rebuilds ---- */

/* How many rebuilds of this process go on. */
extern PFS_HIDDEN uint32 pfs_rebuilds_here;

/*
 * A new index has been made that nobody else sees yet.  There are places for so many at a time; beyond them the
 * new index begins with nothing.
 */
extern void pfs_rebuild_begin(Oid database, Oid before, Oid after);

/* The new index of one of them; what the transaction that is about to be committed has found; it is committed. */
extern Oid	pfs_rebuild_new_index(uint32 i);
extern void pfs_rebuild_note_swap(uint32 i, bool swaps);
extern void pfs_rebuilds_committed(void);

/* The index is dropped, and nobody uses it any more: if it is the old one of a rebuild, that ends. */
extern void pfs_rebuild_dropped(Oid index);

/* All that go on end: the command has failed, or is over. */
extern void pfs_rebuilds_end(void);

/* ---- any process ---- */

/* The other one of two indexes that are one; InvalidOid: it is not rebuilt. */
extern Oid	pfs_rebuild_other(Oid database, Oid index);

/* Has there been any? */
extern bool pfs_rebuilds_were(void);

/* Copies the rebuild that goes on of one of its indexes; or the last one that has ended and had this old index. */
extern bool pfs_rebuild_find(Oid database, Oid index, PfsRebuild *copy);
extern bool pfs_rebuild_find_ended(Oid database, Oid before, PfsRebuild *copy);

/* The index that has the role, as far as the process that rebuilds has said so. */
extern Oid	pfs_rebuild_owner(Oid database, Oid index);

#endif							/* PFS_REBUILD_H */
