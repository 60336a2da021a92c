/*
 * pfs_summary.h
 *	  Totals by instrument: of threads, accounts, users, hosts and the server,
 *	  and how often each time was seen.
 *
 * A thread's cells are written by its process only.  When it ends they are added to
 * its account (or what takes its place).  TRUNCATE of a level moves nothing of a
 * thread: it raises a counter, and the thread moves its old counters at its next
 * event; until then every reader counts them where they belong.  README.md has
 * the argument.
 */
#ifndef PFS_SUMMARY_H
#define PFS_SUMMARY_H

#include "pfs_account.h"
#include "pfs_cell.h"
#include "pfs_histogram.h"
#include "pfs_instrument.h"
#include "pfs_summary_kind.h"

/*
 * What a thread has counted of one instrument of waits: a record of the container
 * thread_waits.  Readers of times copy no buckets.
 */
typedef struct PfsWaitCell
{
	PfsCell		time;
	uint32		buckets[PFS_HISTOGRAM_BUCKETS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsWaitCell;

typedef struct PfsSharedSummary
{
	/*
	 * Every event compares how many truncations there were by now, the
	 * family's generation: pfs_words->truncations, changed under the lock.
	 */
	uint64		truncated[PFS_NUM_LEVELS];	/* generation that a level's last
											 * truncation made */
	uint64		before[PFS_NUM_LEVELS]; /* generation that the one before it
										 * made */

	/*
	 * By the last bit of a truncation's generation: how many events, by the
	 * level whose table showed them, threads have moved because of it.
	 * Atomic.
	 */
	uint64		applied[2][PFS_NUM_LEVELS] __attribute__((aligned(PFS_CACHE_LINE)));
	PfsSharedBlock cells;		/* of the global level */
	uint32		ncells;			/* of every block of the family */
	uint32		nhistograms;	/* one for each cell, one or none */
	uint64	   *buckets;		/* [nhistograms][PFS_HISTOGRAM_BUCKETS],
								 * atomic; NULL: none */
} PfsSharedSummary;

extern const PfsSummaryKind pfs_wait_kind;

/* [PFS_NUM_FAMILIES]; NULL: pfs is off.  Inherited. */
extern PFS_HIDDEN PfsSharedSummary *pfs_summary;

/* The cells of threads' waits, one to a record. */
extern PfsPages *pfs_thread_waits;

/* The cells of threads in other families that have them in chunks, by chunks. */
extern PfsPages *pfs_thread_counters;

/* Bytes of a thread's block of cells, and of all that the server's own level has. */
extern size_t pfs_summary_block_size(PfsFamily family);
extern size_t pfs_summary_server_size(PfsFamily family);

/* Postmaster: takes all of them. */
extern void pfs_summary_lay_out(PfsSegment *seg);

/* TRUNCATE of containers. */
extern void pfs_families_reset_lost(void);

/* ---- owner of a thread, inside a write section ---- */

struct PfsThread;

/* Truncations have happened: move what is older than them. */
extern void pfs_summary_apply_resets(struct PfsThread *t, PfsFamily family);

/*
 * The thread's cell, marked as touched, of a family of any kind; NULL: no memory is left
 * for it, which is counted.  Then the event counts for the server alone.
 */
extern void *pfs_summary_cell(struct PfsThread *t, PfsFamily family, uint32 cell);

/*
 * Inside a write section, out of line: the thread's cell for its first timed or first untimed
 * wait of an instrument; NULL: as above.
 */
extern PfsWaitCell *pfs_summary_touch(struct PfsThread *t, PfsInstrumentId instrument, uint64 ticks);

/* Counts n events in a bucket of the server's i-th histogram: one of 32 bits is full, or the thread has none. */
extern void pfs_summary_add_to_server(PfsFamily family, uint32 i, uint32 bucket, uint64 n);

/* The thread begins: its counters count from now on. */
extern void pfs_summary_begin(struct PfsThread *t);

/* The thread ends: everything goes to its account, or what takes its place. */
extern void pfs_summary_end(struct PfsThread *t);

/* Counts a wait for the server alone: thread_instrumentation is off. */
extern void pfs_summary_count_global(PfsInstrumentId instrument, bool timed, uint64 ticks);

/* ---- readers and truncators: backends only, may palloc, may wait ---- */

typedef struct PfsSummaryRow
{
	uint64		thread_id;		/* by thread */
	const PfsAccount *account;	/* by account, user, host: its names */
	PfsInstrumentId instrument; /* none where cells are no instruments */
	uint32		cell;
	const void *keys;			/* see PfsSummaryKind */
	const void *totals;			/* as the family has it */
} PfsSummaryRow;

typedef void (*PfsSummaryEmit) (const PfsSummaryRow *row, void *arg);

/*
 * The rows of a level that counted something, each event in exactly one of them.
 * thread_id 0: all threads, as at all levels above that of threads; instrument
 * PFS_NO_INSTRUMENT: all, another family's: none.
 */
extern void pfs_summary_read(PfsFamily family, PfsLevel level, uint64 thread_id, PfsInstrumentId instrument,
							 PfsSummaryEmit emit, void *arg);

/*
 * The histograms of the server: [nhistograms] arrays of PFS_HISTOGRAM_BUCKETS words, NULL
 * where nothing was counted.  palloc'd.
 */
extern uint64 **pfs_summary_read_histograms(PfsFamily family);

/*
 * Empty a level's table: push it up, or discard it (user, global, histogram).
 * Returns how many events left the table, exactly: what came later is in it.
 */
extern int64 pfs_summary_truncate(PfsFamily family, PfsLevel level);

/* TRUNCATE of accounts, users, hosts, for all families; returns the rows that left. */
extern int64 pfs_summary_truncate_accounts(PfsAccountKind kind);

#endif							/* PFS_SUMMARY_H */
