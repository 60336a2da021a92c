/*
 * pfs_digest_pending.h
 *	  Digests as a kind of the ledger (pfs_pending.h): what a process has counted for its digests, and for
 *	  its thread's totals, and not added to them yet.
 *
 * A place's numbers are added to the digest's record when the place is needed for another digest, or a number
 * does not fit any more, or the process ends; where that is forbidden, or there is no room for a record, statements are
 * added to their digest's record, or to all others, at once.  When the record has gone, the next statement makes the
 * digest anew and gets another place; this one's numbers go where merge_cb() says.
 *
 * A place counts a statement once, for its digest and for its thread: to the totals of the thread readers add
 * what its places have (PfsSummaryPending), until the owner collects it in the thread's cell of the statements'
 * instrument.  It does before the place is emptied, when the process ends, and when the thread's totals are truncated,
 * and nothing forbids that: from there on the place is its digest's alone, and the digest's next statement gets another
 * one.  So each side is truncated without a look at the other one.
 *
 * Separate from pfs_digest.h: a digest is everybody's, these numbers are one process's.
 */
#ifndef PFS_DIGEST_PENDING_H
#define PFS_DIGEST_PENDING_H

#include "pfs_digest_evict.h"
#include "pfs_digest_rows.h"

/* Places for digests. */
#define PFS_PENDING_DIGESTS 16

/* Kinds of waits of one digest; those of more kinds go to its record at once. */
#define PFS_PENDING_DIGEST_WAITS	6

/* Tables and indexes of one digest, by kind of work; likewise. */
#define PFS_PENDING_DIGEST_ROWS		6

typedef struct PfsPendingWait
{
	PfsCounts	counts;			/* ticks of the default timer */
	uint64		instrument;
} PfsPendingWait;

/* A record, as it was found. */
typedef struct PfsDigestFound
{
	const uint64 *state;		/* of no record a word that stays as it is */
	PfsDigestRefSlot *ref_slot;
	uint32		word;			/* of that then, its lower half */
} PfsDigestFound;

typedef struct PfsPendingDigest
{
	/*
	 * object: the record, none of all others.  key: the instrument of its
	 * statements, of which the thread's cell has none yet; PFS_NO_INSTRUMENT:
	 * it has all of them, or they are not the thread's.  note: is 1 if its
	 * digest had no text at the last statement.
	 */
	PfsPending	place;
	PfsDigestKey digest;
	uint64		plan_id;		/* of its statements' plan; 0: of none */

	/*
	 * A statement that takes less, and ends before, is counted and nothing
	 * else: it is no sample, and nothing else has to be looked at.
	 * usual_ticks 0: while there is no text, or nothing was timed.
	 */
	uint64		usual_ticks;
	uint64		usual_until;

	/* What a look at the digest needs, and at the plan. */
	PfsDigestFound of;
	PfsDigestFound of_plan;
	uint64		counted;		/* statements until the last look */
	PfsDigestOffset last_offset;
	uint64		sample_seen;	/* what the record's sample was lately */
	uint64		sample_ticks;

	PfsPlanCounts plans;
	int64		extra;			/* as in PfsDigest */
	uint64		last_seen __attribute__((aligned(PFS_CACHE_LINE))); /* as in PfsDigest */
	PfsStatementCell counters;
	uint32		nwaits;
	uint32		nrows;
	PfsPendingWait waits[PFS_PENDING_DIGEST_WAITS];
	uint8		buckets[TYPEALIGN(sizeof(uint64), PFS_HISTOGRAM_BUCKETS)];
	PfsDigestRows rows[PFS_PENDING_DIGEST_ROWS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingDigest;

StaticAssertDecl(sizeof(PfsPendingDigest) <= PFS_PENDING_SIZE_MAX, "readers have room for a copy");
StaticAssertDecl(offsetof(PfsPendingDigest, of) == PFS_CACHE_LINE, "what each statement needs in front is on one line");

/* A process's places, with what is in front of them. */
typedef struct PfsPendingDigests
{
	PfsSeqlock	moves;			/* odd while numbers go from places to the
								 * thread's cells */

	/*
	 * What statements have taken, and extra, that is in none of the items any
	 * more, or never was.  With what the items have it never gets less.
	 */
	uint64		handed_statements;
	uint64		handed_ticks;

	/*
	 * The lower half of each place's query identifier, by which places are
	 * looked for; another one where the digest's record has gone.  The
	 * owner's.
	 */
	uint32		ids[PFS_PENDING_DIGESTS] __attribute__((aligned(PFS_CACHE_LINE)));
	PfsPendingDigest items[PFS_PENDING_DIGESTS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingDigests;

static const PfsPendingShape pfs_pending_digest_shape = {
	.head = offsetof(PfsPendingDigests, items), .sets = 1, .ways = PFS_PENDING_DIGESTS, .size = sizeof(PfsPendingDigest)
};

/* Readers: what belongs to a thread record; NULL: it was never used. */
static inline const PfsPendingDigests *
pfs_pending_digests_get(uint32 thread)
{
	return pfs_thread_sets_get(&pfs_pending_sets[PFS_COUNTED_DIGESTS], thread);
}

/* Do the numbers of a place count for this part of digests? */
static inline bool
pfs_pending_digest_counts(const PfsPending *p, PfsDigestPart part)
{
	return pfs_pending_counts(pfs_shared_pending[PFS_COUNTED_DIGESTS].truncated, p, part);
}

/* Readers: the key of the digest that a place's numbers count for; NULL: all others'. */
static inline const PfsDigestKey *
pfs_pending_digest_key(const PfsPendingDigest *p)
{
	uint64		word;

	return pfs_digest_find(&p->digest, &word) != PFS_NO_RECORD ? &p->digest : NULL;
}

/* ---- the owner, inside a write section of its thread ---- */

/* Of this process; NULL: it has none yet. */
static inline PfsPendingDigests *
pfs_my_digests(void)
{
	return (PfsPendingDigests *) pfs_my_pending[PFS_COUNTED_DIGESTS];
}

/* Has the digest's record gone, or the plan's? */
static inline bool
pfs_pending_digest_is_gone(const PfsPendingDigest *p)
{
	return unlikely((uint32) pfs_load_relaxed(p->of.state) != p->of.word ||
					(uint32) pfs_load_relaxed(p->of_plan.state) != p->of_plan.word);
}

/*
 * The generation of truncations of digests, as pfs_plain_look() has found it: right as long as that of all words is the
 * same.
 */
extern PFS_HIDDEN uint64 pfs_digests_generation;

/*
 * The place of a digest's statements with this plan that are counted for the thread as this instrument, in this generation
 * of truncations, 0: any place of the digest; NULL: there is none.  The record may have gone since the last look.
 */
static pg_attribute_always_inline PfsPendingDigest *
pfs_pending_digest_of(PfsPendingDigests *set, const PfsDigestKey *key, uint64 plan_id, PfsInstrumentId instrument,
					  uint64 generation)
{
	for (int i = 0; i < PFS_PENDING_DIGESTS; i++)
	{
		PfsPendingDigest *p = &set->items[i];

		if (set->ids[i] == (uint32) key->query_id && likely(pfs_digest_same_key(&p->digest, key)) &&
			(generation == 0 || likely(p->plan_id == plan_id && p->place.key == instrument && p->place.generation == generation)))
			return p;
	}
	return NULL;
}

/*
 * The place in which a statement is to be counted, in this bucket, and behind counting.  With an instrument it counts for
 * the thread, too, where the second function says that it was a place.
 */
extern PfsPendingDigest *pfs_pending_digest_get(PfsDigestEnd *end, uint32 bucket);
extern bool pfs_pending_digest_put(const PfsPendingDigest *p);

/* pfs.max_digest_sample_age; assign hook.  The next statement of each digest looks at its sample. */
extern void pfs_digest_assign_sample_age(int seconds, void *extra);

/*
 * Adds time to a digest that no statement of it has taken, or takes some away: where
 * statements are nested, were not executed, or have parallel workers; and counts statements that have no digest
 * (query_id 0).
 */
extern void pfs_pending_digests_add_time(PfsDigestKey key, int64 ticks, uint64 statements);

/*
 * Notes statements that were counted in no place of this process, so that what it has
 * counted altogether is still all of them.
 */
extern void pfs_pending_digests_hand_over(uint64 statements, int64 ticks);

/* ---- what the process knows of plans (../../plan) ---- */

/* The plan that was executed last for a query. */
typedef struct PfsKnownPlan
{
	const void *stmt;			/* its PlannedStmt; NULL: to be looked at */
	uint64		query_id;
	uint64		plan_id;
	float		cost;			/* the planner's estimate, in all */
	uint32		measured;		/* executions of it by this process */
} PfsKnownPlan;

#define PFS_KNOWN_PLANS 256

/* Process-private; a page that is not used is not there. */
extern PFS_HIDDEN PfsKnownPlan pfs_known_plans[PFS_KNOWN_PLANS];

static inline PfsKnownPlan *
pfs_known_plan(uint64 query_id)
{
	return &pfs_known_plans[(query_id ^ query_id >> 32) % PFS_KNOWN_PLANS];
}

/*
 * The query's next plan is looked at again: the planner makes another one, which may come to lie where the one lay that is
 * known; or the record of the one that is known has no text.
 */
static inline void
pfs_plan_forget(uint64 query_id)
{
	pfs_known_plan(query_id)->stmt = NULL;
}

/* What the thread's totals of statements miss: of PFS_FAMILY_STATEMENTS. */
extern const PfsSummaryPending pfs_statement_pending;

/* True if an error had left `moves` odd. */
extern bool pfs_pending_digests_repair(void);

#endif							/* PFS_DIGEST_PENDING_H */
