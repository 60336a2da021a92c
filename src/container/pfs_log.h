/*
 * pfs_log.h
 *	  The log of many writers: the newest items of the whole server.
 *
 * Several lanes, so that writers on different processors share no cache line;
 * a lane is a ring of groups of PFS_LOG_GROUP slots.  A writer claims a run of
 * slots inside one group with a single compare-and-swap on the group's word,
 * fills them, and publishes each by its own sequence word.  Each lane can hold
 * all items that the log promises (capacity), so whatever lane they lie in the
 * newest capacity items are there.  README.md has the protocol.
 */
#ifndef PFS_LOG_H
#define PFS_LOG_H

#include "pfs_seqlock.h"
#include "pfs_segment.h"

#define PFS_LOG_GROUP 16

typedef struct PfsLog PfsLog;

typedef struct PfsLogClaim
{
	uint32_t	lane;
	uint32_t	first;			/* slot index in the lane */
	uint32_t	count;			/* 1 .. PFS_LOG_GROUP */
	uint64_t	done_word;		/* sequence word that publishes the first
								 * slot; the i-th gets 2 * i more */
	char	   *slots;			/* the first slot's memory */
	const char *next;			/* the following group's: probably the next
								 * claim's */
} PfsLogClaim;

/*
 * Lay out in seg; NULL in the sizing pass, or when capacity is 0.
 * capacity: items per lane, raised to whole groups; a few groups more are there
 * for items that are just being written.
 * item_size: bytes, multiple of 8, a PfsSeqlock first.
 */
extern PfsLog *pfs_log_create(PfsSegment *seg, uint32_t lanes, uint32_t capacity, uint32_t item_size);

/*
 * Claim up to want slots (1 .. PFS_LOG_GROUP) in the lane; claim->count tells
 * how many, at least 1.  False, and want losses are counted, if every group is
 * held by writers that have not finished (possible with tiny sizes only).
 */
extern bool pfs_log_claim(PfsLog *log, uint32_t lane, uint32_t want, PfsLogClaim *claim);

/*
 * Store one item (item_size bytes, its leading word ignored) into the i-th
 * claimed slot and publish it.  Every claimed slot must be stored.
 */
extern void pfs_log_store(PfsLog *log, const PfsLogClaim *claim, uint32_t i, const void *item);

/*
 * The same in three steps, for writers that know the item's size and how to
 * copy it best: everything behind the leading word is stored between begin and
 * end; so may be the leading word, if it is odd.
 */
static inline void *
pfs_log_slot(const PfsLogClaim *claim, uint32_t i, size_t item_size)
{
	return claim->slots + i * item_size;
}

static inline void
pfs_log_slot_begin(const PfsLogClaim *claim, uint32_t i, void *slot)
{
	pfs_store_relaxed(&((PfsSeqlock *) slot)->word, claim->done_word + 2 * (uint64_t) i - 1);
	pfs_fence_release();		/* as A in pfs_seqlock.h */
}

static inline void
pfs_log_slot_end(const PfsLogClaim *claim, uint32_t i, void *slot)
{
	/* L: pairs with K, and as B */
	pfs_store_release(&((PfsSeqlock *) slot)->word, claim->done_word + 2 * (uint64_t) i);
}

static inline void
pfs_log_store_sized(const PfsLogClaim *claim, uint32_t i, const void *item, size_t item_size)
{
	PfsSeqlock *slot = pfs_log_slot(claim, i, item_size);

	pfs_log_slot_begin(claim, i, slot);
	pfs_racy_copy(slot + 1, (const PfsSeqlock *) item + 1, item_size - sizeof(PfsSeqlock));
	pfs_log_slot_end(claim, i, slot);
}

/* The same where only the first `bytes` of an item mean something. */
static inline void
pfs_log_store_part(const PfsLogClaim *claim, uint32_t i, const void *item, size_t item_size,
				   size_t bytes)
{
	PfsSeqlock *slot = pfs_log_slot(claim, i, item_size);

	pfs_log_slot_begin(claim, i, slot);
	pfs_racy_copy(slot + 1, (const PfsSeqlock *) item + 1, bytes - sizeof(PfsSeqlock));
	pfs_log_slot_end(claim, i, slot);
}

extern uint32_t pfs_log_lanes(const PfsLog *log);
extern uint32_t pfs_log_slots(const PfsLog *log);	/* per lane */

/*
 * Slots at the begin of a lane outside of which no item was stored before this
 * call: readers leave the others alone, which would become resident.
 */
extern uint32_t pfs_log_used_slots(const PfsLog *log, uint32_t lane);

/* Items that pfs_log_read() would find now, without copying them. */
extern uint64_t pfs_log_count(const PfsLog *log);

/*
 * Copy slot i of lane into dst; its leading word tells the order within the
 * lane.  False if empty, truncated, or being overwritten (after some retries).
 */
extern bool pfs_log_read(const PfsLog *log, uint32_t lane, uint32_t slot, void *dst);

/* Hide everything stored so far.  Items being stored now may stay visible. */
extern void pfs_log_truncate(PfsLog *log);

extern uint64_t pfs_log_lost(const PfsLog *log);
extern void pfs_log_reset_lost(PfsLog *log);
extern size_t pfs_log_bytes(const PfsLog *log);

/* About: the pages of slots that were never stored to are not resident. */
extern size_t pfs_log_resident_bytes(const PfsLog *log);

#endif							/* PFS_LOG_H */
