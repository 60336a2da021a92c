/*
 * pfs_digest.h
 *	  Digests: what was counted of all statements of one shape, by database, user
 *	  and query identifier; and plans: what was counted of those of a digest that
 *	  had one plan.
 *
 * A digest is a record that all processes add to.  When there is no room for
 * another one, one that is used little is evicted: its counters go to "all
 * others", which is always there and also takes what finds no room.
 * pfs_digest.c has the protocol.
 *
 * A plan is a digest whose key has the plan's identifier, too.  Such records are a set of their own, with all
 * others of their own; what follows is true of both, but that waits, rows and samples are the digest's alone, and nodes
 * the plan's.
 *
 * Separate from pfs_statement.h: a digest is everybody's and outlives its statements.
 */
#ifndef PFS_DIGEST_H
#define PFS_DIGEST_H

#include "pfs_chain.h"
#include "pfs_event_cell.h"
#include "pfs_hash.h"
#include "pfs_histogram.h"
#include "pfs_ref.h"
#include "pfs_seqlock.h"

static inline PfsDigestKey
pfs_digest_key(Oid database, Oid user, uint64 query_id)
{
	PfsDigestKey key = {(uint64) database << 32 | user, query_id};

	return key;
}

static inline bool
pfs_digest_same_key(const PfsDigestKey *a, const PfsDigestKey *b)
{
	return a->query_id == b->query_id && a->db_user == b->db_user;
}

/*
 * The key of statements without a query identifier, where a process counts them: no digest has it, so
 * they are added to all others.
 */
static const PfsDigestKey pfs_digest_key_of_others = {0, 1};

/* What a statement that has ended counts for. */
static inline PfsDigestKey
pfs_digest_key_of_end(Oid database, Oid user, uint64 query_id)
{
	return likely(query_id != 0) ? pfs_digest_key(database, user, query_id) : pfs_digest_key_of_others;
}

/* Is this the key of a digest? */
static inline bool
pfs_digest_is_key(const PfsDigestKey *key)
{
	return key->query_id != 0 && key->db_user != 0;
}

#define PFS_DIGEST_DATABASE(db_user) ((Oid) ((db_user) >> 32))
#define PFS_DIGEST_USER(db_user) ((Oid) (db_user))

/*
 * Has a digest its text?  A state is never left for a lower one, and READY never, so
 * the text is written twice at most, and the state says by itself whether a copy of
 * the text is whole: it was PROVISIONAL or READY before, and is the same behind.
 */
typedef enum PfsDigestTextState
{
	PFS_TEXT_NONE,
	PFS_TEXT_COMING,			/* one process writes it */
	PFS_TEXT_PROVISIONAL,		/* not how a client would write the statement */
	PFS_TEXT_REPLACED,			/* one process writes a better one */
	PFS_TEXT_READY,
} PfsDigestTextState;

/*
 * The offset of last_seen.  It is taken anew by a statement that ends long after the
 * last time, and so only where last_seen changes, too.
 */
typedef struct PfsDigestOffset
{
	uint64		taken;			/* raw */
	int64		value;			/* see pfs_clock_offset() */
} PfsDigestOffset;

/*
 * Any process: of one that others store, too.  A value is stored before the reading that it was taken
 * with, and loaded behind it (A), so that an old one never stands beside a new reading.
 */
static inline void
pfs_digest_offset_store(PfsDigestOffset *to, uint64 taken, int64 value)
{
	pfs_store_relaxed(&to->value, value);
	pfs_store_release(&to->taken, taken);	/* A */
}

static inline PfsDigestOffset
pfs_digest_offset_load(const PfsDigestOffset *from)
{
	PfsDigestOffset offset;

	offset.taken = pfs_load_acquire(&from->taken);	/* A */
	offset.value = pfs_load_relaxed(&from->value);
	return offset;
}

/* What is known of a plan beside its text: of the one for which that was made. */
typedef struct PfsPlanFacts
{
	double		cost;			/* the planner's estimates: total cost, rows */
	double		rows;
	uint64		server_plan_id; /* PlannedStmt.planId; 0: none */
	uint32		nodes;
} PfsPlanFacts;

/*
 * In shared memory.  The key is written before the record can be found and stays
 * until it is freed; all else by whoever has it pinned (pfs_ref.h).  Counts
 * in buckets have 64 bits: halves would save a sixth of the record, and wrap
 * within ten years for a shape that is executed 14 times a second.  Raw times are
 * those of the default timer.
 */
typedef struct PfsDigest
{
	PfsDigestKey key;
	uint64		plan_id;		/* with the key; 0: of all plans */
	uint64		first_seen;		/* raw; with the key */
	uint64		last_seen;		/* raw; relaxed store, a late one may win */
	int64		first_offset;	/* see pfs_clock_offset(); with the key */
	PfsDigestOffset last_offset;
	PfsSharedStatementCell counters;
	uint32		waits;			/* chain of its waits, by instrument */
	uint32		rows;			/* chain of its rows, by table or index:
								 * pfs_digest_rows.h */
	uint32		nodes;			/* of a plan: chain of its nodes, pfs_node.h */

	/*
	 * Ticks, signed, that make of the sum of its statements' times its share
	 * of the server's load: less the statements nested in them, and more
	 * their parallel workers and what was parsed or bound and not executed.
	 * Atomic adds; for the recorder of the load history alone.
	 */
	int64		extra;

	/*
	 * Digest's text: compare-and-swap to COMING or REPLACED, by whoever
	 * writes it; release-stored PROVISIONAL or READY behind it.
	 */
	uint32		text_state;
	uint32		text_len;
	PfsPlanFacts plan;			/* with the text; of a plan */

	/* The slowest statement; who makes the word odd, by compare-and-swap. */
	uint32		sample_len;
	PfsSeqlock	sample;
	uint64		sample_seen;	/* raw: its end; 0: there is none */
	uint64		sample_ticks;	/* its length */
	int64		sample_offset;	/* of sample_seen */
	uint64		buckets[PFS_HISTOGRAM_BUCKETS]; /* atomic adds */
	char		texts[FLEXIBLE_ARRAY_MEMBER];	/* the digest's, the sample's */
} PfsDigest;

/* Beside each record, outside of its memory: a line of its own. */
typedef struct PfsDigestRefSlot
{
	uint64		ref;			/* pfs_ref.h */
	uint32		usage;			/* raised by use, lowered by the clock sweep;
								 * races cost a turn */
	uint32		changed;		/* somebody has added to it; the recorder of
								 * the load history takes that back */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsDigestRefSlot;

/* Chains of all others' rows, by a hash of the table. */
#define PFS_OTHER_ROWS_CHAINS 256

/* What the records of a set have in common. */
typedef struct PfsSharedDigestSet
{
	uint32		next_victim __attribute__((aligned(PFS_CACHE_LINE)));	/* pfs_digest_evict.c */

	/*
	 * All that could not be kept apart: counters, buckets and dates alone,
	 * without key, texts and chains.
	 */
	PfsDigest	others __attribute__((aligned(PFS_CACHE_LINE)));
} PfsSharedDigestSet;

/* The records of one kind, as each process has them from the postmaster. */
typedef struct PfsDigestSet
{
	PfsPages   *pages;			/* NULL: pfs is off */
	PfsHash    *index;			/* by key */
	PfsDigestRefSlot *ref_slots;	/* one for each record */
	PfsSharedDigestSet *shared;
	uint32		text;			/* bytes of a text */
	uint32		hint;			/* where this process looks first for room */
} PfsDigestSet;

extern PFS_HIDDEN PfsDigestSet pfs_digests;
extern PFS_HIDDEN PfsDigestSet pfs_plans;

/* The set of records with keys of this kind. */
static inline PfsDigestSet *
pfs_digest_set(uint64 plan_id)
{
	return likely(plan_id == 0) ? &pfs_digests : &pfs_plans;
}

/* Everything else that is shared of digests. */
typedef struct PfsSharedDigests
{
	/* All others' rows: pfs_digest_rows.c. */
	uint64		rows_ref __attribute__((aligned(PFS_CACHE_LINE)));	/* processes that are at
																	 * them; atomic */
	uint32		rows[PFS_OTHER_ROWS_CHAINS];
} PfsSharedDigests;

/* Container digest_waits; NULL: pfs is off.  Inherited. */
extern PFS_HIDDEN PfsPages *pfs_digest_waits;
extern PFS_HIDDEN PfsSharedDigests *pfs_shared_digests;
extern PFS_HIDDEN PfsSharedBlock pfs_digest_other_waits;	/* PfsSharedCell, by
															 * instrument */

/* Takes the containers, what is beside their records, and the waits of all others. */
extern void pfs_digests_lay_out(PfsSegment *seg);

/* Bytes of reference count slots and "all others". */
extern size_t pfs_digests_extra_size(void);

/* Setting pfs.max_digest_sample_age, for pfs_digest_assign_sample_age(). */
extern void pfs_digest_set_sample_age(int seconds);

/* ---- instrument points, inside a write section: no lock, no allocation, no error ---- */

/* A digest that this process has pinned, and the state word of its record, which stays meanwhile. */
typedef struct PfsPinnedDigest
{
	PfsDigestSet *set;
	uint64		word;
	const uint64 *state;
	PfsDigest  *digest;
	PfsDigestRefSlot *ref_slot;
} PfsPinnedDigest;

/*
 * The digest of this key, or one of its plans, pinned until pfs_digest_leave(); made if there is none and
 * `make` says so.  NULL: the counters belong to all others.  Valid until the next call.
 */
extern PfsPinnedDigest *pfs_plan_enter(const PfsDigestKey *key, uint64 plan_id, bool make);

static inline PfsPinnedDigest *
pfs_digest_enter(const PfsDigestKey *key, bool make)
{
	return pfs_plan_enter(key, 0, make);
}

/* Adds waits to a node of a plan, by its number; of one that has gone, to all others'. */
extern void pfs_plan_add_waits(const PfsDigestKey *key, uint64 plan_id, uint32 node, PfsInstrumentId instrument,
							   const PfsTotals *waits);

/* NULL: it was not entered. */
static inline void
pfs_digest_leave(PfsPinnedDigest *pinned)
{
	if (pinned == NULL)
		return;
	pfs_store_release(&pinned->ref_slot->changed, 1);
	pfs_ref_unpin(&pinned->ref_slot->ref);
}

/* A statement has ended. */
typedef struct PfsDigestEnd
{
	PfsDigestKey key;
	uint64		plan_id;		/* 0: it had none, or plans are not counted */
	const uint64 *n;			/* [PFS_NUM_COUNTERS] */
	uint64		memory;
	PfsInstrumentId instrument; /* as which the thread's totals take it from
								 * where it is counted for its digest;
								 * PFS_NO_INSTRUMENT: they do not */
	uint8		plan_origin;	/* PfsPlanOrigin */
	bool		timed;
	bool		is_fetch;		/* no execution: only what it took is added */
	const PfsStatementEvent *sample;	/* its slot, if it can be the sample:
										 * it has a time, and a text; or NULL */
	uint64		now;			/* its end and its length, by the default
								 * timer */
	uint64		ticks;
} PfsDigestEnd;

/* ---- the same, for who counts ---- */

/*
 * When a process that looks at a digest now has to look again, at its usage and offset, and whether it has been evicted: a
 * second later, or when the sample that has ended then is too old.
 */
extern uint64 pfs_digest_next_look(uint64 sample_seen, uint64 now);

/*
 * Stores the offset of now, unless one that was taken lately still holds.  If two processes do so at a time, either is
 * good.
 */
extern void pfs_digest_look_at_offset(PfsDigestOffset *offset, uint64 now);

/* Of usage. */
#define PFS_DIGEST_USAGE_MAX 8

/* A digest was used so many times. */
static inline void
pfs_digest_raise_usage(PfsDigestRefSlot *ref_slot, uint64 times)
{
	uint32		usage = pfs_load_relaxed(&ref_slot->usage);

	if (usage < PFS_DIGEST_USAGE_MAX && times > 0)
		pfs_store_relaxed(&ref_slot->usage, Min(usage + times, PFS_DIGEST_USAGE_MAX));
}

/*
 * Would any statement that ends now become the sample, where the present one ended then?  Would this one?  Store it; the
 * same, having looked.  offset: of now.
 */
extern bool pfs_digest_is_sample_old(uint64 sample_seen, uint64 now);
extern bool pfs_digest_wants_sample(uint64 sample_ticks, uint64 sample_seen, const PfsDigestEnd *end);
extern void pfs_digest_put_sample(PfsDigest *d, const PfsDigestEnd *end, int64 offset);
extern void pfs_digest_take_sample(const PfsDigestEnd *end, int64 offset, uint64 *sample_seen, uint64 *sample_ticks);

/*
 * Which text of this shape would be taken now: none (READY), only one that is not
 * provisional (PROVISIONAL), or any (NONE)?  Then it is given, or not.
 */
extern PfsDigestTextState pfs_digest_has_text(const PfsThread *t, const PfsDigestKey *key);
extern void pfs_digest_put_text(const PfsDigestKey *key, const char *str, uint32 len, bool provisional);

/*
 * Would the text of this plan be taken now?  at_once: also if it has no record yet.  Then it is given, with what else is
 * known of the plan, whose texts are never provisional.
 */
extern bool pfs_plan_lacks_text(const PfsDigestKey *key, uint64 plan_id, bool at_once);
extern void pfs_plan_put_text(const PfsDigestKey *key, uint64 plan_id, const PfsPlanFacts *facts, const char *str, uint32 len);

/* This process makes a text: an error that is raised meanwhile is caught there, and none of the statement. */
extern PFS_HIDDEN bool pfs_text_is_made;

/*
 * A bit for each 64th of all shapes, by the last bits of their query identifiers: a statement of
 * such a shape has ended in this process whose digest has no text.  For others it is set in vain.
 */
extern PFS_HIDDEN uint64 pfs_digests_without_text;

static inline bool
pfs_digest_may_lack_text(uint64 query_id)
{
	return (pfs_digests_without_text >> query_id % 64 & 1) != 0;
}

/* Sets the bit, if the digest at this place of the container has no text; else returns false. */
extern bool pfs_digest_note_text(uint32 index, uint64 query_id);

/*
 * Removes a digest that no process has pinned, if its slot still has this state word;
 * `take` moves its counters away.
 */
extern bool pfs_digest_remove(PfsDigestSet *set, uint32 index, uint64 word, void (*take) (PfsDigest *digest, void *arg), void *arg);

/* ---- readers and truncators: backends only, may palloc, may wait ---- */

/* What a reader wants beside keys and counters. */
#define PFS_DIGEST_BUCKETS	0x1
#define PFS_DIGEST_TEXT		0x2
#define PFS_DIGEST_SAMPLE	0x4

/* A private copy, in which may be missing what was not asked for. */
typedef struct PfsDigestRow
{
	PfsDigestKey key;			/* all others: 0 */
	uint64		plan_id;		/* of a digest 0 */
	PfsPlanFacts plan;			/* of a plan with its text */
	PfsStatementTotals totals;
	TimestampTz first_seen;
	TimestampTz last_seen;
	const uint64 *buckets;
	PfsText		text;
	PfsText		sample;
	TimestampTz sample_seen;
	uint64		sample_ticks;
} PfsDigestRow;

typedef struct PfsDigestWaitRow
{
	PfsDigestKey key;
	PfsInstrumentId instrument;
	PfsTotals	totals;
} PfsDigestWaitRow;

typedef void (*PfsDigestEmit) (const PfsDigestRow *row, void *arg);
typedef void (*PfsDigestWaitEmit) (const PfsDigestWaitRow *row, void *arg);

/*
 * Rows that counted something, each statement, or wait, in exactly one of them.  What they point to lives as long as the
 * memory context.  Waits of one digest and instrument can come in several rows, as those that are pending in processes.
 */
extern void pfs_digests_read(const PfsDigestSet *set, int parts, PfsDigestEmit emit, void *arg);
extern void pfs_digest_waits_read(PfsInstrumentId instrument, PfsDigestWaitEmit emit, void *arg);

/* The record of a digest, or of a plan, and its state word; PFS_NO_RECORD: there is none. */
extern uint32 pfs_plan_find(const PfsDigestKey *key, uint64 plan_id, uint64 *word);

static inline uint32
pfs_digest_find(const PfsDigestKey *key, uint64 *word)
{
	return pfs_plan_find(key, 0, word);
}

/* The text of a shape; NULL if there is none. palloc'd, *len bytes. */
extern char *pfs_digest_text_of(const PfsDigestKey *key, uint32 *len);

/* Return the events that left: of statements, statements, waits, rows, statements. */
extern int64 pfs_digests_truncate(void);
extern int64 pfs_digest_buckets_truncate(void);
extern int64 pfs_digest_waits_truncate(void);
extern int64 pfs_digest_rows_truncate(void);
extern int64 pfs_plans_truncate(void);

#endif							/* PFS_DIGEST_H */
