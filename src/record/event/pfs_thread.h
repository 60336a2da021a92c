/*
 * pfs_thread.h
 *	  Thread records: one per process that has had an event, from its first
 *	  event to its end.
 *
 * A record lives in a PfsPages container; behind the struct lie the thread's events
 * (running and finished) and its aggregate cells, by family.  Only the owner writes it, but
 * for the two switches and the mask derived from them, and what truncations leave behind:
 * how much of its histories is hidden, and that its memory has to be counted anew.
 */
#ifndef PFS_THREAD_H
#define PFS_THREAD_H

#include "pfs_account.h"
#include "pfs_event.h"
#include "pfs_memory_cell.h"
#include "pfs_histogram.h"
#include "pfs_pages.h"
#include "pfs_sizes.h"
#include "utils/backend_status.h"

#define PFS_SWITCH_ON	0x1
#define PFS_SWITCH_OPEN	0x2		/* until the process knows its role */

/*
 * Waits of the innermost statement that has a digest, by instrument, and by node while its plan's are measured: open
 * addressing.  See pfs_digest_wait.h.
 */
#define PFS_DIGEST_WAITS 64

typedef struct PfsDigestWait
{
	PfsCounts	counts;			/* ticks of the default timer */
	uint64		bit;			/* of waits_used */
	uint32		key;			/* PFS_DIGEST_WAIT_KEY; 0: nobody's place */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsDigestWait;

/*
 * node: pfs_charge_node, where the waits are.  Back from a key that may be nobody's: the instrument, PFS_NO_INSTRUMENT of
 * none, and the node.
 */
#define PFS_DIGEST_WAIT_KEY(instrument, node) ((uint32) (node) << 16 | ((uint32) (instrument) + 1))
#define PFS_DIGEST_WAIT_INSTRUMENT(key) ((PfsInstrumentId) ((key) - 1))
#define PFS_DIGEST_WAIT_NODE(key) ((key) >> 16)

typedef struct PfsDigestKey
{
	uint64		db_user;		/* database and user, pfs_digest_key() */
	uint64		query_id;		/* of a digest never 0; 0: of none */
} PfsDigestKey;

/* Calls of a process, inside one another, whose parallel workers are told apart; see pfs_leader.h. */
#define PFS_LEAD_LEVELS 4

/* What the workers of one of them have read for it.  Any worker adds; the owner takes. */
typedef struct PfsGiven
{
	uint64		rows;
	uint64		full_scans;
} PfsGiven;

/* Workers of a call around the innermost one, which may not have attached yet. */
typedef struct PfsLateWorkers
{
	PfsDigestKey key;
	uint32		segment;		/* handle of the memory that they share with
								 * the leader */
	uint32		level;
} PfsLateWorkers;

#define PFS_LATE_WORKERS 8

/*
 * What nearly every event needs of the fields that are no arrays is on the first two lines:
 * where many sessions share a processor, each line of a record is in no cache when its session
 * runs again.
 */
typedef struct PfsThread
{
	/*
	 * The owner's sequence lock: odd while running waits or cells change.  It
	 * is also what a signal handler sees that comes in between.
	 */
	PfsSeqlock	seq __attribute__((aligned(PFS_CACHE_LINE)));

	/* Owner only. */
	uint64		last_event_id;	/* events that took a number so far */
	uint64		last_reading;	/* last clock reading, sort key of untimed
								 * events */

	/*
	 * Whose the waits of its innermost statement are (digest_waits); query_id
	 * 0: those of the statement at top level, if there is one.  By the owner,
	 * inside write sections; read by the recorder of the load history, as
	 * works_since and digest_waits are.
	 */
	PfsDigestKey charged;

	/* Its backend status entry, or NULL.  The owner writes it later. */
	PgBackendStatus *status;

	/*
	 * Switches: YES or NO in PFS_SWITCH_ON.  The owner decides, once, those
	 * that are PFS_SWITCH_OPEN, by compare-and-swap; other processes store,
	 * under the setup lock.
	 */
	uint32		mask;			/* made of both; and-ed to an instrument's
								 * flags */
	uint8		instrumented;
	uint8		history;

	/* Written at attach, before the record is published. */
	bool		foreground;		/* client backend, walsender, parallel worker */
	int32		pid;
	uint32		index;			/* of this record */

	/*
	 * Truncations of each family that its counters have seen, see
	 * pfs_summary_move.c.
	 */
	uint64		generation[PFS_NUM_FAMILIES] __attribute__((aligned(PFS_CACHE_LINE)));

	/*
	 * Whose statement its parallel workers work for, see workers.  By the
	 * owner, inside a write section.
	 */
	PfsDigestKey leads;

	/* Written at attach, before the record is published. */
	uint64		thread_id;		/* never reused; from 1 */
	int32		kind;			/* index of pfs_thread_kinds */
	int32		procno;			/* index in the proc array */
	uint64		word;			/* its state word while it lives */
	char		name[PFS_NAME_SIZE];	/* thread/client_backend, ... */

	/* Owner writes later; single words, each valid by itself. */
	Oid			role;			/* authenticated role; InvalidOid before */
	uint64		parent_thread_id;	/* 0: none, or not yet known */

	/*
	 * Index + 1 of the object whose sums it is adding to; 0: none.  See
	 * ../ledger/README.md.
	 */
	uint32		object_in_use[PFS_NUM_COUNTED_OBJECTS];

	/*
	 * Of a parallel worker: its begin, by the default timer, raw.  0: it is
	 * none.
	 */
	uint64		works_since;

	PfsBlock	cells[PFS_NUM_FAMILIES];	/* its counters */
	uint32		statement_buckets[PFS_HISTOGRAM_BUCKETS];	/* of statements'
															 * timer_wait */
	PfsSeqlock	moves;			/* odd while counters leave the cells, or refs
								 * change */
	uint64		left;			/* how often its cells of waits have moved to
								 * pfs_departed */
	PfsAccountRefs refs;		/* whom it works for, once known */
	bool		has_refs;		/* stored behind refs: workers read them by it */

	/*
	 * Of the call that starts workers, as leads is: see pfs_leader.h.  given:
	 * by them, atomic.
	 */
	struct
	{
		uint32		level;
		uint32		nlate;		/* entries of late */
		PfsLateWorkers late[PFS_LATE_WORKERS];
		PfsGiven	given[PFS_LEAD_LEVELS];
	}			workers;

	/* Its memory, see pfs_memory.h: a line that no wait touches. */
	struct
	{
		PfsSeqlock	seq;		/* odd while cells of memory change */
		uint64		in_use;		/* bytes: see pfs_memory_total.h */
		uint64		peak;
		uint64		high;		/* most that was in use until the water mark
								 * began */
		uintptr_t	contexts_at;	/* address of the process's entries of
									 * contexts; PFS_NO_CONTEXTS: switches
									 * have changed, or a truncation has
									 * begun; anybody sets it to that */
		bool		is_counted; /* its allocations are looked at */
		bool		has_levels; /* owner only: the levels are known */
		PfsAccount *levels[PFS_NUM_ACCOUNT_KINDS];	/* owner only: whom its
													 * water marks concern;
													 * the references hold the
													 * records */
	}			memory __attribute__((aligned(PFS_CACHE_LINE)));

	PfsEvents	events[PFS_NUM_EVENT_FAMILIES] __attribute__((aligned(PFS_CACHE_LINE)));
	PfsWait		waits[PFS_WAIT_DEPTH] __attribute__((aligned(PFS_CACHE_LINE))); /* that run, by level */
	PfsDigestWait digest_waits[PFS_DIGEST_WAITS];
} PfsThread;

StaticAssertDecl(offsetof(PfsThread, generation) == PFS_CACHE_LINE, "the first line is full");

/* An address that nothing lies behind. */
#define PFS_NO_CONTEXTS ((uintptr_t) INTPTR_MIN)

/* Switches of memory have changed, or a truncation has begun: this thread looks again. */
static inline void
pfs_memory_make_stale(PfsThread *t)
{
	pfs_store_relaxed(&t->memory.contexts_at, PFS_NO_CONTEXTS);
}

/* The container; NULL when pfs is off.  Inherited from the postmaster. */
extern PfsPages *pfs_threads;

/* This process's record; NULL: not attached.  Read by every instrument point. */
extern PFS_HIDDEN PfsThread *pfs_my_thread;

/*
 * A private copy of the fixed part of each living thread; *word is the state
 * word, for pfs_thread_set.  thread_id 0: all.
 */
typedef void (*PfsThreadEmit) (const PfsThread *copy, uint64 word, void *arg);
extern void pfs_threads_each(uint64 thread_id, PfsThreadEmit emit, void *arg);

/* Owner and thread part of the shared state. */
typedef struct PfsSharedThreads
{
	uint64		last_thread_id; /* atomic */
	uint64		attached;		/* threads whose records could be seen so far,
								 * atomic */
	uint64		last_statement_id;	/* atomic */
	uint64		too_deep[PFS_NUM_EVENT_FAMILIES];	/* events nested too deep,
													 * atomic */
	uint64		reentered;		/* events of signal handlers that passed by,
								 * atomic */
} PfsSharedThreads;

extern PfsSharedThreads *pfs_shared_threads;

/* Takes the container. */
extern void pfs_threads_lay_out(PfsSegment *seg);

/* Where the cells of a family begin in a record; set at the start. */
extern size_t pfs_thread_cells_at[PFS_NUM_FAMILIES];

/*
 * ---- attach ----
 *
 * Fills in everything that belongs to no part; the rest is for the parts' begin.
 */
extern void pfs_thread_fill(PfsThread *t, uint32 index);

/*
 * Makes the mask of both switches, behind a change of one.  What the owner keeps of an older mask it drops when the
 * generation of the shared words changes, which who changes another thread's raises.
 */
extern void pfs_thread_publish_mask(PfsThread *t);

/* Sets those of its switches that nobody has set since its start. */
extern void pfs_thread_decide(PfsThread *t, bool instrumented, bool history);

/* Is this process a worker of parallel query? */
extern bool pfs_thread_is_parallel_worker(void);

/* Does it work for the process that started it, as these do? */
extern bool pfs_thread_has_leader(void);

/*
 * The record of a living process, or PFS_NO_RECORD; instrument points.  The caller
 * compares the word once more behind what it reads.
 */
extern uint32 pfs_thread_find(int pid, uint64 *word);

/* Change switches (-1: leave) of the thread in this slot if it is still the same; else false. */
extern bool pfs_thread_set(uint32 index, uint64 word, int instrumented, int history);

/* thread_id of a living process, or 0. */
extern uint64 pfs_thread_id_of_pid(int pid);

/* The role of what is a thread's, by its record and ID; InvalidOid: a background thread's, or that of one that has ended. */
extern Oid	pfs_owned_role(uint32 thread, uint64 thread_id);

#endif							/* PFS_THREAD_H */
