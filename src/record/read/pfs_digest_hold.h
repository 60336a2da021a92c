/*
 * pfs_digest_hold.h
 *	  Keeping the counters of digests where they are, for readers and truncators; both
 *	  are SQL commands of a backend.
 */
#ifndef PFS_DIGEST_HOLD_H
#define PFS_DIGEST_HOLD_H

#include "pfs_digest_pending.h"
#include "pfs_patience.h"

/*
 * From hold to release no process moves counters; alone: of a truncator, which excludes
 * readers.  False: but for one that is stopped in the middle of it.  In between nothing may
 * be allocated and no error raised, as nothing would take `held` back.
 */
extern bool pfs_digests_hold(bool alone, PfsPatience *patience);
extern void pfs_digests_release(bool alone, const PfsPatience *patience);

/* In between: calls `each` for a copy of all that is pending. */
typedef void (*PfsPendingDigestsEach) (const PfsPendingDigest *p, uint64 generation, void *arg);
extern void pfs_pending_digests_each(PfsPendingDigestsEach each, void *arg, PfsPatience *patience);

/* Do numbers of this generation still count for a part, behind its last truncation? */
extern bool pfs_pending_digests_are_current(uint64 generation, PfsDigestPart part);

#endif							/* PFS_DIGEST_HOLD_H */
