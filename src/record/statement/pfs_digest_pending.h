/*
 * pfs_digest_pending.h
 *	  What a process has counted for its digests and not added to them yet.
 *
 * A digest is a record that all sessions share, and adding to it at the end of each
 * statement would make them fight over its cache lines.  So each process has numbers of
 * its own for the digests that it had lately, and readers add those of all processes to
 * what the records have.  They lie in shared memory beside the thread records
 * (pfs_thread_sets.h).
 *
 * The owner alone writes them, between two steps of `seq`.  They are added to the digest's
 * record (a flush) when the place is needed for another digest, or a number does not fit
 * any more, or the record has gone; never while a reader or truncator forbids it
 * (pfs_digest_evict.c), as a flush is a move: then the statement is counted in its digest's
 * record at once.
 *
 * TRUNCATE raises pfs_words->digest_truncations and writes nobody's numbers: those of an
 * older generation do not count any more, and their owner drops them.
 *
 * Separate from pfs_digest.h: a digest is everybody's, these numbers are one process's.
 */
#ifndef PFS_DIGEST_PENDING_H
#define PFS_DIGEST_PENDING_H

#include "pfs_digest_rows.h"
#include "pfs_thread_sets.h"

struct PfsStatement;

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

typedef struct PfsPendingDigest
{
	PfsDigestKey key;			/* query_id 0: nobody's place */

	/*
	 * The record, as it was found: it has gone if its state word is another
	 * one.
	 */
	const uint64 *state;
	uint64		word;
	PfsDigestRefSlot *ref_slot;

	uint64		last_seen;		/* as in PfsDigest */
	PfsDigestOffset last_offset;
	uint64		sample_seen;	/* what the record's sample was lately */
	uint64		sample_ticks;
	uint32		nwaits;
	uint32		nrows;
	PfsPlanCounts plans;
	bool		lacks_text;		/* its digest did, at the last statement */
	int64		extra;			/* as in PfsDigest */
	PfsStatementCell counters __attribute__((aligned(PFS_CACHE_LINE)));
	PfsPendingWait waits[PFS_PENDING_DIGEST_WAITS];
	uint8		buckets[TYPEALIGN(sizeof(uint64), PFS_HISTOGRAM_BUCKETS)];
	PfsDigestRows rows[PFS_PENDING_DIGEST_ROWS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingDigest;

/* The parts that are truncated each by itself; all that go with the digests go by the first. */
typedef enum PfsDigestPart
{
	PFS_DIGEST_ALL,
	PFS_DIGEST_PART_BUCKETS,
	PFS_DIGEST_PART_WAITS,
	PFS_DIGEST_PART_ROWS,
} PfsDigestPart;

#define PFS_NUM_DIGEST_PARTS (PFS_DIGEST_PART_ROWS + 1)

typedef struct PfsPendingDigests
{
	PfsSeqlock	seq;			/* odd while the owner changes anything */
	uint64		generation;		/* truncations that the owner has applied */
	uint32		next;			/* place whose turn it is to be replaced */

	/*
	 * Of each place a byte of its query identifier, never 0; 0: the place is
	 * free.  Places are taken from the first one on, so that a session with
	 * few digests needs few pages.  The owner's.
	 */
	uint8		tags[PFS_PENDING_DIGESTS];

	/*
	 * What statements have taken, and extra, that is in none of the items any
	 * more, or never was; it never gets less.
	 */
	uint64		passed_statements;
	uint64		passed_ticks;
	PfsPendingDigest items[PFS_PENDING_DIGESTS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingDigests;

StaticAssertDecl(offsetof(PfsPendingDigests, items) == PFS_CACHE_LINE, "tags are on the line of seq");

/* A PfsPendingDigests for each thread record. */
extern PFS_HIDDEN PfsThreadSets pfs_pending_digests;

/* Readers: what belongs to a thread record; NULL: it was never used. */
static inline const PfsPendingDigests *
pfs_pending_digests_get(uint32 thread)
{
	return pfs_thread_sets_get(&pfs_pending_digests, thread);
}

/* Postmaster. */
extern void pfs_pending_digests_lay_out(PfsSegment *seg);

/* ---- the owner, inside a write section of its thread ---- */

/*
 * Counts a statement that ends.  e: its slot, or NULL; at: by the timer in its flags; with_waits:
 * those of pfs_digest_wait.h are its own.
 */
extern void pfs_digest_count(const struct PfsStatement *s, const PfsStatementEvent *e, uint64 at, bool with_waits);

/*
 * The same of a plain statement (pfs_plain.h), with its waits, where no truncation is to be applied.
 * rare: pfs_counters_rare(); slot: one that no statement is in, which it may fill in; bucket: of its ticks.
 */
extern void pfs_digest_count_plain(const PfsStoredStatement *e, const uint64 *rare, PfsStatementEvent *slot, uint64 now,
								   uint64 ticks, uint32 bucket);

/* Has this process numbers, and are they younger than all truncations? */
extern bool pfs_pending_digests_are_mine(void);

/* The process leaves the numbers of its thread record. */
extern void pfs_pending_digests_detach(PfsThread *t);

/* True if an error had left `seq` odd. */
extern bool pfs_pending_digests_repair(void);

/* Adds to PfsDigest.extra, and counts statements that have no digest (query_id 0). */
extern void pfs_pending_digests_add_time(PfsDigestKey key, int64 ticks, uint64 statements);

#endif							/* PFS_DIGEST_PENDING_H */
