/*
 * pfs_pending_read.h
 *	  Readers' and truncators' half of what processes have counted of shared objects and
 *	  not added to their sums yet (pfs_pending.h).
 *
 * SQL commands of a backend.  What they read and truncate of the sums themselves is the
 * business of each kind.
 */
#ifndef PFS_PENDING_READ_H
#define PFS_PENDING_READ_H

#include "pfs_pending.h"

/*
 * Takes a turn, or that of a kind (alone: of a truncator), forbids others to move what it is about, and
 * does the work, which may raise an error.
 */
typedef void (*PfsBlockingWork) (PfsPatience *patience, void *arg);
extern void pfs_blocking_work(PfsTurn turn, bool alone, PfsBlockingWork work, void *arg);
extern void pfs_pending_work(PfsCountedObjects kind, bool alone, PfsBlockingWork work, void *arg);

/* A copy of what only the owner of a thread record writes; as it was in the middle of a write section if it has to be. */
extern void pfs_section_copy(uint32 thread, void *to, const void *from, size_t size, PfsPatience *patience);

/* ---- while flushes are forbidden ---- */

/* Calls each() for a copy of every place whose numbers still count for their name. */
typedef void (*PfsPendingEach) (const PfsPending *p, void *arg);
extern void pfs_pending_each(PfsCountedObjects kind, PfsPendingEach each, void *arg, PfsPatience *patience);

/* Copies of the places whose numbers still count for a part, ordered by object. */
typedef struct PfsPendingCopies
{
	PfsCountedObjects kind;
	char	   *items;			/* palloc'd */
	uint32		n;
	uint32		max;
	uint32		next;			/* that nobody has been given */
} PfsPendingCopies;

extern void pfs_pending_copy_all(PfsCountedObjects kind, int part, PfsPendingCopies *copies, PfsPatience *patience);

/* The next copy of all up to this object; NULL: there are no more. */
extern const PfsPending *pfs_pending_copy_next(PfsPendingCopies *copies, uint64 object);

/* Calls each() for the copies of one object; objects are asked for in the order of their indexes. */
extern void pfs_pending_of_object(PfsPendingCopies *copies, uint64 object, PfsPendingEach each, void *arg);

/*
 * Truncators: from now on what is pending counts no more for a part, and each(), unless it is NULL, is called for a
 * copy of every place whose numbers did.
 */
extern void pfs_pending_truncate(PfsCountedObjects kind, int part, PfsPendingEach each, void *arg, PfsPatience *patience);

/*
 * A truncation of a kind's numbers (PFS_PENDING_ALL), or of what they are their objects' (PFS_PENDING_OBJECT): of what is
 * pending, then by `work` of the sums, which says how many events they lose.  Returns how many events leave the table.
 * It empties the tables by instance in any case: this one and that of waits.
 */
extern int64 pfs_pending_reset(PfsCountedObjects kind, int part, int64 (*work) (void), const char *by_instance);

#endif							/* PFS_PENDING_READ_H */
