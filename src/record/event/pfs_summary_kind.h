/*
 * pfs_summary_kind.h
 *	  What families of summaries differ in: their cells, and how these are added,
 *	  moved and shown.  Apart from pfs_summary.h, as accounts need the sizes only.
 */
#ifndef PFS_SUMMARY_KIND_H
#define PFS_SUMMARY_KIND_H

#include "pfs.h"

struct PfsThread;

/*
 * Where counters are kept, from below to above: thread, account, host, global;
 * users stand beside, above accounts.  The histogram has no levels of its own.
 */
typedef enum PfsLevel
{
	PFS_LEVEL_THREAD,
	PFS_LEVEL_ACCOUNT,
	PFS_LEVEL_USER,
	PFS_LEVEL_HOST,
	PFS_LEVEL_GLOBAL,
	PFS_LEVEL_HISTOGRAM,
} PfsLevel;

#define PFS_NUM_LEVELS (PFS_LEVEL_HISTOGRAM + 1)

/*
 * Bytes of a record of thread_counters: no cell of a family that has its cells there is
 * larger.  That of a statement fits with room for six counters more.
 */
#define PFS_COUNTERS_CHUNK 320

/*
 * Counters that are older than a truncation go to a level above it, but for what stays with the
 * thread, as memory in use does.
 */
typedef enum PfsShare
{
	PFS_SHARE_NONE,
	PFS_SHARE_GOES,
	PFS_SHARE_STAYS,
	PFS_SHARE_ALL,
} PfsShare;

/*
 * What the cells of a family are: an owner's, those above threads, and private
 * sums, which all begin as zero bytes.  Functions that say "owner" run inside a
 * write section of the family's lock, the others in readers and truncators.
 */
typedef struct PfsSummaryKind
{
	const char *tables[PFS_NUM_LEVELS]; /* by level; NULL: none */
	uint32		cell_size;
	uint32		read_size;		/* of a cell, for readers: bytes from its
								 * begin */
	uint32		shared_size;
	uint32		totals_size;

	/*
	 * Postmaster: registers the instruments that the family has beside those
	 * of the server's lists.  NULL: none.
	 */
	void		(*start) (void);

	/*
	 * Cells of each block.  0: as the function says, which is asked before
	 * the segment is laid out, when other sizes are known.
	 */
	uint32		ncells;
	uint32		(*cells) (void);

	/*
	 * A thread takes memory for its cells when it needs it, so many at a
	 * time, from this container; they hold no addresses.  NULL: its record
	 * has them.
	 */
	PfsPages  **chunks;
	uint32		per_chunk;
	size_t		lock_offset;	/* of the PfsSeqlock in PfsThread that guards
								 * the owner's cells */

	bool		cells_are_no_instruments;	/* what they are the family knows */

	/*
	 * Of such a family, whose cells can become others': copies what they are,
	 * so many bytes, under the summaries' lock and behind the counters; all
	 * may become others', under the lock exclusively and before the
	 * generation of a truncation of the global level is raised.  NULL: they
	 * never do.
	 */
	size_t		keys_size;
	void		(*copy_keys) (void *to);
	void		(*free_keys) (void);
	bool		takes_from_above;	/* a thread changes what others left at
									 * the levels above it */

	/*
	 * Each cell begins with so many times: an owner's with a PfsCell for
	 * each, those above with a PfsSharedCell, sums with a PfsTotals.  What is
	 * behind them is the business of the functions below, each of which may
	 * be NULL; pfs_kind_add() and its like are for all of a cell.
	 */
	uint32		ntimes;

	/* A share of a cell to a private sum. */
	void		(*add) (void *totals, const void *cell, PfsShare share);

	/* Owner: leave what stays. */
	void		(*clear_going) (void *cell);

	/*
	 * Owner: the i-th cell is about to be cleared.  NULL: nobody wants to
	 * know.
	 */
	void		(*leaves) (uint32 i, const void *cell);

	/*
	 * The cells above: add a sum; add what is there to a sum, and leave
	 * nothing there (take).
	 */
	void		(*merge) (void *shared, const void *totals);
	void		(*read) (void *shared, void *totals, bool take);

	/*
	 * Of a family with histograms, one for each cell or one for all of them:
	 * returns a thread's buckets of the next one at or after *i, and which
	 * that is in *i; NULL: there are no more.  By the owner, and by readers,
	 * who check the thread's `moves` behind it.  NULL: no histograms.
	 */
	uint32	   *(*next_buckets) (const struct PfsThread *t, uint32 *i);
	bool		one_histogram;

	/*
	 * A truncation has begun: tell all threads, whose owners do not look at
	 * the generation at each event.  NULL: they do.
	 */
	void		(*look_again) (void);

	/*
	 * The row of containers of the global level: its name, how many cells are
	 * used, and what could not be counted where it belongs; NULL: nothing of
	 * that kind.
	 */
	const char *container;
	uint32		(*used) (void);
	uint64		(*lost) (void);
	void		(*reset_lost) (void);

	/*
	 * Events that are in no time; and whether a row is shown, NULL: if it has
	 * any event.
	 */
	uint64		(*count) (const void *totals);
	bool		(*is_shown) (const void *totals);
} PfsSummaryKind;

/* Readers: what a thread has counted in a place that is not in its cells yet. */
typedef struct PfsPendingCell
{
	uint32		cell;			/* which one it goes to */
	const void *counters;		/* as in a cell */
	const uint8 *buckets;		/* [PFS_HISTOGRAM_BUCKETS] */
} PfsPendingCell;

/*
 * Of a family with one histogram whose threads count events in places that are for something else, too, and move them to
 * their cells later, so that each event is counted once.
 */
typedef struct PfsSummaryPending
{
	/*
	 * Readers: what its owner makes odd while numbers go from a place to a
	 * cell; NULL: the thread in this place has none.
	 */
	const PfsSeqlock *(*lock) (uint32 thread);

	/* Readers: looks for the next one at or after *i; false: there is none. */
	bool		(*next) (uint32 thread, uint32 *i, PfsPendingCell *pending);

	/* Adds a copy of counters to another one. */
	void		(*join) (void *to, const void *from);

	/* Owner, inside a write section: moves all of it to the cells. */
	void		(*collect) (struct PfsThread *t);
} PfsSummaryPending;

/*
 * PfsSummaryKind.tables of a family: their names begin with `summary`, and end with what
 * each row is about, `by`.  histogram: that table's name, or NULL.
 */
#define PFS_SUMMARY_TABLES(summary, by, histogram) { \
		[PFS_LEVEL_THREAD] = summary "_by_thread_by_" by, \
		[PFS_LEVEL_ACCOUNT] = summary "_by_account_by_" by, \
		[PFS_LEVEL_USER] = summary "_by_user_by_" by, \
		[PFS_LEVEL_HOST] = summary "_by_host_by_" by, \
		[PFS_LEVEL_GLOBAL] = summary "_global_by_" by, \
		[PFS_LEVEL_HISTOGRAM] = histogram \
	}

/*
 * What every family does with its cells: see the functions of the kind.  count: the events of a sum.
 */
extern void pfs_kind_add(const PfsSummaryKind *kind, void *totals, const void *cell, PfsShare share);
extern void pfs_kind_clear_going(const PfsSummaryKind *kind, void *cell);
extern void pfs_kind_merge(const PfsSummaryKind *kind, void *shared, const void *totals);
extern void pfs_kind_read(const PfsSummaryKind *kind, void *shared, void *totals, bool take);
extern uint64 pfs_kind_count(const PfsSummaryKind *kind, const void *totals);

#define PFS_FAMILY_DECLARE(number, family) extern const PfsSummaryKind pfs_##family##_kind;

PFS_FAMILIES(PFS_FAMILY_DECLARE)

/*
 * The families, each by its number.  Set once, when the library is loaded
 * (../pfs_families.c).
 */
extern PFS_HIDDEN const PfsSummaryKind *pfs_summary_kinds[PFS_NUM_FAMILIES];

/* NULL: all that a thread has counted is in its cells. */
extern PFS_HIDDEN const PfsSummaryPending *pfs_summary_pending[PFS_NUM_FAMILIES];

/*
 * Bytes of the largest private sum, that of statements with room for six counters more; a family whose sum is larger does not
 * compile (pfs_families.c).
 */
#define PFS_TOTALS_SIZE_MAX 576

#endif							/* PFS_SUMMARY_KIND_H */
