/*
 * pfs_digest_pending.h
 *	  What a process has counted for its digests, and for its thread's totals, and not added to
 *	  them yet.
 *
 * A digest is a record that all sessions share, and adding to it at the end of each
 * statement would make them fight over its cache lines.  So each process has numbers of
 * its own for the digests that it had lately, and readers add those of all processes to
 * what the records have.  They lie in shared memory beside the thread records
 * (pfs_thread_sets.h).
 *
 * The owner alone writes them, between two steps of `seq`.  They are added to the digest's
 * record (a flush) when the place is needed for another digest, or a number does not fit
 * any more, or the record has gone, or the process ends; never while a reader or truncator of digests forbids it
 * (pfs_digest_evict.c), as a flush is a move: then the statement is counted in its digest's
 * record at once.
 *
 * A place counts a statement once, for its digest and for its thread: to the totals of the thread readers add
 * what its places have (PfsSummaryPending), until the owner collects it in the thread's cell of the statements'
 * instrument.  It does before the place is emptied, when the process ends, and when the thread's totals are truncated,
 * and nothing forbids that: from there on the place is its digest's alone, and the digest's next statement gets another
 * one.  So each side is truncated without a look at the other one.
 *
 * TRUNCATE of digests raises pfs_words->digest_truncations and writes nobody's numbers.  A place belongs to the
 * generation in which it was taken, and behind a truncation its digest's next statement gets another one.  What a
 * place has counts for those parts of digests that were truncated last before it was taken, or in its generation.
 *
 * Separate from pfs_digest.h: a digest is everybody's, these numbers are one process's.
 */
#ifndef PFS_DIGEST_PENDING_H
#define PFS_DIGEST_PENDING_H

#include "pfs_digest_rows.h"
#include "pfs_thread_sets.h"

/* Places for digests. */
#define PFS_PENDING_DIGESTS 16

/* What they are looked for by first. */
#define PFS_PENDING_LATELY 64

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
	uint64		generation;		/* of truncations, when the place was taken */

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

	/*
	 * Statements that take less are counted and nothing else: they are no
	 * sample.  0: while there is no text, or nothing was timed.
	 */
	uint64		usual_ticks;
	uint32		nwaits;
	uint32		nrows;
	PfsPlanCounts plans;
	bool		lacks_text;		/* its digest did, at the last statement */

	/*
	 * Its statements', of which the thread's cell has none yet;
	 * PFS_NO_INSTRUMENT: it has all of them, or they are not the thread's.
	 */
	PfsInstrumentId instrument;
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

	/*
	 * In which place a digest was found last, by its query identifier; that
	 * may be another digest's by now.  The owner's.
	 */
	uint8		lately[PFS_PENDING_LATELY] __attribute__((aligned(PFS_CACHE_LINE)));
	PfsPendingDigest items[PFS_PENDING_DIGESTS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingDigests;

StaticAssertDecl(offsetof(PfsPendingDigests, lately) == PFS_CACHE_LINE && offsetof(PfsPendingDigests, items) == 2 * PFS_CACHE_LINE,
				 "tags are on the line of seq");

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

/* Of this process; NULL: it has none yet. */
extern PFS_HIDDEN PfsPendingDigests *pfs_my_digests;

static inline uint8
pfs_pending_digest_tag(uint64 query_id)
{
	return query_id >> 56 | 1;
}

/* Looks for a place by tags. */
extern PfsPendingDigest *pfs_pending_digest_look(const PfsDigestKey *key, PfsInstrumentId instrument, uint64 generation);

/*
 * The place of a digest's statements that are counted for the thread as this instrument, in this generation of
 * truncations; NULL: there is none.  The process has places.
 */
static inline PfsPendingDigest *
pfs_pending_digest_of(const PfsDigestKey *key, PfsInstrumentId instrument, uint64 generation)
{
	PfsPendingDigests *set = pfs_my_digests;
	uint8		last = set->lately[key->query_id % PFS_PENDING_LATELY];
	PfsPendingDigest *found = &set->items[last];

	if (likely(set->tags[last] == pfs_pending_digest_tag(key->query_id) && pfs_digest_same_key(&found->key, key) &&
			   found->instrument == instrument && found->generation == generation))
		return found;
	return pfs_pending_digest_look(key, instrument, generation);
}

/* Do the numbers of a place count for this part of digests, behind its last truncation? */
static inline bool
pfs_pending_digest_counts(const PfsPendingDigest *p, PfsDigestPart part)
{
	return p->generation >= pfs_load_relaxed(&pfs_shared_digests->truncated[PFS_DIGEST_ALL]) &&
		p->generation >= pfs_load_relaxed(&pfs_shared_digests->truncated[part]);
}

/* Has the digest's record gone? */
static inline bool
pfs_pending_digest_is_gone(const PfsPendingDigest *p)
{
	return unlikely(pfs_load_relaxed(p->state) != p->word);
}

/*
 * Begins to count a statement, in this bucket: behind it `seq` is odd, so that a reader gets all of the statement or
 * nothing, until pfs_pending_digest_end(), which is called all the same for NULL: there is no place at this
 * moment.  With an instrument it counts for the thread, too.
 */
extern PfsPendingDigest *pfs_pending_digest_begin(const PfsDigestEnd *end, uint32 bucket);

static inline void
pfs_pending_digest_end(void)
{
	if (likely(pfs_my_digests != NULL))
		pfs_seqlock_write_end(&pfs_my_digests->seq);
}

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
extern void pfs_pending_digests_pass(uint64 statements, uint64 ticks);

/* The process adds its numbers to their digests, as far as it may, and leaves the places of its thread record. */
extern void pfs_pending_digests_detach(PfsThread *t);

/* What the thread's totals of statements miss: of PFS_FAMILY_STATEMENTS. */
extern const PfsSummaryPending pfs_statement_pending;

/* True if an error had left `seq` odd. */
extern bool pfs_pending_digests_repair(void);

#endif							/* PFS_DIGEST_PENDING_H */
