/*
 * pfs_digest_copies.h
 *	  Copies of what digests have counted of waits and of rows, which a reader makes while
 *	  flushes are forbidden (pfs_blocking_work()) and adds up behind that.
 */
#ifndef PFS_DIGEST_COPIES_H
#define PFS_DIGEST_COPIES_H

#include "pfs_digest_pending.h"
#include "pfs_pending_read.h"

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
 * The sum of the next copies that are of the same, by digest; false: there are
 * no more.
 */
extern bool pfs_digest_copies_next(PfsDigestCopies *copies, PfsDigestCopy *sum);

#endif							/* PFS_DIGEST_COPIES_H */
