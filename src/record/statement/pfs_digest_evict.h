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
#include "pfs_pending.h"

/* The parts of a place that are truncated each by itself; all that go with the digests go by PFS_PENDING_ALL. */
typedef enum PfsDigestPart
{
	PFS_DIGEST_ALL = PFS_PENDING_ALL,
	PFS_DIGEST_PART_BUCKETS,
	PFS_DIGEST_PART_WAITS,
	PFS_DIGEST_PART_ROWS,
	PFS_DIGEST_PART_PLANS,		/* that they are a plan's, buckets included */
} PfsDigestPart;

#define PFS_NUM_DIGEST_PARTS (PFS_DIGEST_PART_PLANS + 1)

StaticAssertDecl(PFS_NUM_DIGEST_PARTS <= PFS_PENDING_PARTS, "each has a generation");

/* By which records are found. */
typedef struct PfsPlanKey
{
	PfsDigestKey digest;
	uint64		plan_id;
} PfsPlanKey;

static inline uint64
pfs_plan_hash(const PfsPlanKey *key)
{
	return pfs_hash_bytes(key, sizeof(*key));
}

/*
 * Postmaster, at the start: finds or makes the record of a digest, or of a plan, and caches nothing.
 * PFS_NO_RECORD: there is no room, which counts as a loss.
 */
extern uint32 pfs_plan_make(const PfsDigestKey *key, uint64 plan_id);

/* All others' time span includes these readings, each with its offset. */
extern void pfs_digest_note_others(PfsDigestSet *set, uint64 first, int64 first_offset, uint64 last,
								   const PfsDigestOffset *last_offset);

/* Evicts one record of the set, whose place is where the next allocation looks first. */
extern bool pfs_digest_evict(PfsDigestSet *set);

#endif							/* PFS_DIGEST_EVICT_H */
