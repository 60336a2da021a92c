/*
 * pfs_digest_count.h
 *	  Counting a statement for its digest.  Apart from pfs_digest.h, as it needs the
 *	  numbers that the process keeps to itself, which need the digests.
 *
 * Instrument points, inside a write section: no lock, no allocation, no error.
 */
#ifndef PFS_DIGEST_COUNT_H
#define PFS_DIGEST_COUNT_H

#include "pfs_digest.h"

extern void pfs_digest_count(const PfsDigestEnd *end);

/* Adds the planning of a statement that is not executed, and so is not counted. */
extern void pfs_digest_count_planning(const PfsDigestKey *key, uint64 ticks);

#endif							/* PFS_DIGEST_COUNT_H */
