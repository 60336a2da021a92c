/*
 * pfs_digest_evict.h
 *	  Eviction of digests: which one goes when a new one needs the place, and how its counters get to
 *	  all others; and what that shares with pfs_digest.c.
 *
 * Apart from pfs_digest.h, which statements include.
 */
#ifndef PFS_DIGEST_EVICT_H
#define PFS_DIGEST_EVICT_H

#include "pfs_digest.h"
#include "pfs_hash.h"

/* By key. */
extern PFS_HIDDEN PfsHash *pfs_digest_index;

/*
 * Postmaster, at the start: finds or makes the record of a digest, and caches nothing.
 * PFS_NO_RECORD: there is no room, which counts as a loss.  *next: where the next allocation
 * looks first.
 */
extern uint32 pfs_digest_make(const PfsDigestKey *key, uint32 *next);

/* All others' time span includes these readings, each with its offset. */
extern void pfs_digest_note_others(uint64 first, int64 first_offset, uint64 last, const PfsDigestOffset *last_offset);

/* Evicts one digest; *hint: where the next allocation looks first. */
extern bool pfs_digest_evict(uint32 *hint);

#endif							/* PFS_DIGEST_EVICT_H */
