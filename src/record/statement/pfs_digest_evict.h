/*
 * pfs_digest_evict.h
 *	  What the two files of the container of digests share: the index, all others'
 *	  time span, and eviction.  Apart from pfs_digest.h, which statements include.
 */
#ifndef PFS_DIGEST_EVICT_H
#define PFS_DIGEST_EVICT_H

#include "pfs_digest.h"
#include "pfs_hash.h"

/* By key. */
extern PFS_HIDDEN PfsHash *pfs_digest_index;

/* All others' time span includes these readings; d: the digest that they are of, or NULL. */
extern void pfs_digest_note_others(uint64 first, uint64 last, const PfsDigest *d);

/* Evicts one digest; *hint: where the next allocation looks first. */
extern bool pfs_digest_evict(uint32 *hint);

#endif							/* PFS_DIGEST_EVICT_H */
