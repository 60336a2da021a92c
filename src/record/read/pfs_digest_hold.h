/*
 * pfs_digest_hold.h
 *	  Keeping the counters of digests where they are, for readers and truncators; both
 *	  are SQL commands of a backend.
 */
#ifndef PFS_DIGEST_HOLD_H
#define PFS_DIGEST_HOLD_H

#include "pfs_digest_pending.h"
#include "pfs_digest_rows.h"
#include "pfs_patience.h"

/*
 * From hold to release no process moves counters; alone: of a truncator, which excludes
 * readers.  False: but for one that is stopped in the middle of it.  In between nothing may
 * be allocated and no error raised, as nothing would take `held` back.
 */
extern bool pfs_digests_hold(bool alone, PfsPatience *patience);
extern void pfs_digests_release(bool alone, const PfsPatience *patience);

/* In between: calls `each` for a copy of all that is pending. */
typedef void (*PfsPendingDigestsEach) (const PfsPendingDigest *p, void *arg);
extern void pfs_pending_digests_each(PfsPendingDigestsEach each, void *arg, PfsPatience *patience);

/* A copy of what a digest, or all others (key 0), has counted of an instrument, a table or an index. */
typedef struct PfsDigestCopy
{
	PfsDigestKey key;
	uint64		what;			/* the instrument; of the others the record,
								 * PfsDigestRowsCell.stat */
	uint32		kind;			/* of the others: PfsRelStatKind */
	PfsTotals	totals;
	uint64		counts[PFS_NUM_ROW_COUNTS]; /* of the others */
} PfsDigestCopy;

typedef struct PfsDigestCopies
{
	PfsDigestCopy *items;		/* the reader's, with space for all */
	uint32		n;
	uint32		links;			/* of chains, that were followed */
	uint32		next;			/* to be added up */
} PfsDigestCopies;

/* Appends a copy that has nothing yet; key NULL: of all others. */
static inline PfsDigestCopy *
pfs_digest_copies_add(PfsDigestCopies *copies, const PfsDigestKey *key, uint64 what)
{
	PfsDigestCopy *copy = &copies->items[copies->n++];

	memset(copy, 0, sizeof(*copy));
	if (key != NULL)
		copy->key = *key;
	copy->what = what;
	return copy;
}

/*
 * Behind release: the sum of the next copies that are of the same, by digest; false: there are
 * no more.
 */
extern bool pfs_digest_copies_next(PfsDigestCopies *copies, PfsDigestCopy *sum);

#endif							/* PFS_DIGEST_HOLD_H */
