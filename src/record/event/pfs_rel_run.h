/*
 * pfs_rel_run.h
 *	  Runs: events of wait/io/table/handler, each what one scan or one command does with
 *	  one table, by one index or by none.
 *
 * Runs overlap, in a join all of its scans do, so they have no place in the stack of
 * running waits.  Each process has some of them beside its thread record; what is kept
 * where a scan is (PfsRelLink) leads to one.  When another run needs the place, or a
 * transaction is rolled back, whose scans nobody ends, the run ends and the link leads
 * nowhere: a scan that goes on begins another one.  So nothing is lost when there are
 * many scans; their events are only more and shorter.
 *
 * Rows are counted, and calls are timed that may take long:
 *
 *	  run = pfs_rel_run(t, &link, ...)	in the object room, pfs_rel_io.h
 *	  pfs_rel_row(run)					a row that was there already
 *	  pfs_rel_call_begin(t, run)			any other call
 *	  the call
 *	  pfs_rel_call_end(run, rows)
 *
 * A wait inside of such a call is nested in the run.  The first call shows it to readers.
 *
 * Instrument points: no lock, no allocation, no error.
 */
#ifndef PFS_REL_RUN_H
#define PFS_REL_RUN_H

#include "pfs_event_write.h"
#include "pfs_thread_sets.h"

/* Runs of a process at a time, a bit each of a word. */
#define PFS_REL_RUNS 64

/* What is done with rows, as the tables show it. */
typedef enum PfsRelPart
{
	PFS_REL_FETCH,
	PFS_REL_INSERT,
	PFS_REL_UPDATE,
	PFS_REL_DELETE,
	PFS_REL_LOCK,
	PFS_REL_BY_INDEX,			/* of tables: fetched by any index */
} PfsRelPart;

#define PFS_NUM_REL_PARTS (PFS_REL_BY_INDEX + 1)

/* The containers of what rows are counted for, in the object room: pfs_rel_stat.h. */
typedef enum PfsRelStatKind
{
	PFS_TABLE_STATS,			/* table_instances */
	PFS_INDEX_STATS,			/* index_stat */
} PfsRelStatKind;

#define PFS_NUM_REL_STAT_KINDS (PFS_INDEX_STATS + 1)

typedef struct PfsRelStats
{
	PfsPages   *pages;
	struct PfsHash *index;
} PfsRelStats;

extern PFS_HIDDEN PfsRelStats pfs_rel_stats[PFS_NUM_REL_STAT_KINDS];

/*
 * Is a table or an index still there?  stat: its record's number above the low half of the
 * state word; 0: none.
 */
static inline bool
pfs_rel_stat_is_there(PfsRelStatKind kind, uint64 stat)
{
	return stat != 0 && (uint32) pfs_pages_word(pfs_rel_stats[kind].pages, (uint32) (stat >> 32)) == (uint32) stat;
}

/* Rows, and the times of the calls that gave some of them, in ticks of the timer of the run. */
typedef PfsCounts PfsRowCount;

/*
 * A run.  wait: the event, whose object is the table; its rows and ticks are filled in when
 * it ends.  Readers of running events take them from what follows, single words.
 */
typedef struct PfsRelRun
{
	PfsWait		wait;

	uint64		serial;			/* what a link knows it by; 0: nobody's */
	PfsRowCount rows;			/* of the table */
	PfsRowCount index_rows;		/* of its index; the times are of those that
								 * led to no row of the table */
	uint64		held;			/* ticks of calls since the last row */
	uint64		call_start;
	const int64 *server_rows;	/* of a call that gives many rows: the
								 * server's own counter of them; NULL: it has
								 * none */
	int64		server_rows_before; /* what that was when the call began */
	uint64		examined;		/* rows that statements know of */
	PfsParent	outer;			/* of waits, until the call ends */
	uint64		table_stat;		/* where its rows are counted, see
								 * pfs_rel_stat.h */
	uint64		index_stat;
	PfsDigestCharged charged;	/* the statement that its rows are counted for */
	PfsRowCount given;			/* of one that rides: what digests have got of
								 * it; the counts and the sum */
	int32		subxact;		/* nesting level of the transaction */
	bool		is_timed;
	bool		is_shown;
	bool		is_write;
	bool		examines;		/* its rows are rows_examined of statements */
	bool		by_index;		/* an index led to its rows, which one is not
								 * known here */
	bool		in_call;
	bool		found;			/* the index gave a row, and the table was not
								 * asked for it yet */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsRelRun;

/* What leads to a scan's run; all zero: none yet. */
typedef struct PfsRelLink
{
	PfsRelRun  *run;
	uint64		serial;
} PfsRelLink;

typedef struct PfsRelRuns
{
	uint64		shown;			/* a bit for each that readers look at; owner,
								 * release-stored */
	PfsRelRun	items[PFS_REL_RUNS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsRelRuns;

/*
 * What a process has of its own for tables: one cache line.  The runs are bits of words, by their
 * places.
 */
typedef struct PfsRelLocal
{
	PfsRelRuns *runs;			/* this process's; NULL: it has none */
	uint64		open;			/* those that are in use */
	uint64		writing;		/* of these, those of writes */

	/*
	 * And those that ride: their own statement has no query identifier, as
	 * that of a cursor that SQL has declared, so their rows are counted for
	 * the statement around it, in which they are fetched.
	 */
	uint64		riding;

	uint64		last_serial;	/* that a run has got */
	uint64		writes_first;	/* runs of writes are the present command's
								 * from this serial on */

	/* Sums over all statements, which take differences: pfs_examined(). */
	uint64		rows_examined;	/* fetched from tables, or found by indexes
								 * alone */
	uint64		full_scans;		/* runs that fetched rows by no index */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsRelLocal;

StaticAssertDecl(sizeof(PfsRelLocal) == PFS_CACHE_LINE, "it is one line");

extern PFS_HIDDEN PfsRelLocal pfs_rel_local;

/* Counts what a run of nobody's counts, so that its callers need not ask. */
extern PFS_HIDDEN PfsRelRun pfs_rel_run_of_nobody;

/* Those of all processes, for readers. */
extern PfsThreadSets pfs_rel_run_sets;

/* Postmaster. */
extern void pfs_rel_runs_lay_out(PfsSegment *seg);

/* Takes this process's places, if it has none yet; false: there are none. */
extern bool pfs_rel_runs_claim(PfsThread *t);

/* Forgets all runs, without events, and leaves the places: the process ends. */
extern void pfs_rel_runs_detach(PfsThread *t);

/*
 * A place for a run that begins, with a serial of its own; NULL: all are in use, and
 * pfs_rel_run_victim() is the one to end first (NULL: each is in the middle of a call).
 */
extern PfsRelRun *pfs_rel_run_claim(void);
extern PfsRelRun *pfs_rel_run_victim(void);

/* Out of line: the first call of a run. */
extern void pfs_rel_run_show(PfsThread *t, PfsRelRun *run);

/*
 * Inside a write section: the event ends, and its place is free.  Its rows have been
 * counted.
 */
extern void pfs_rel_run_end(PfsThread *t, PfsRelRun *run);

/* Its place is free, and it is no event. */
extern void pfs_rel_run_drop(PfsRelRun *run);

/* The runs that are in the middle of a call, a bit each. */
extern uint64 pfs_rel_calls(void);

/* An error has left the call that the run is in; before that, those of all runs that it has left. */
extern void pfs_rel_call_broken(PfsRelRun *run);
extern void pfs_rel_calls_unwind(uint64 runs);

/*
 * Brings pfs_rel_local.rows_examined up to date, where a statement's call begins or ends: of all
 * open runs, or of one.
 */
extern void pfs_rel_runs_examine(void);
extern void pfs_rel_run_examine(PfsRelRun *run);

/*
 * Inside a write section: counts what a run has come to, and digests have not got yet, for the digest of
 * its statement; that of all runs that ride, before another statement is charged.
 */
extern void pfs_rel_run_flush(PfsRelRun *run);
extern void pfs_rel_runs_flush_riding(void);

/* Out of line: the times of rows, measured by another timer than the default one, in ticks of that. */
extern PfsRowCount pfs_rows_converted(const PfsRowCount *rows, uint32 flags);

/*
 * The rows with times in ticks of the default timer: they themselves, nearly always, or what is put into
 * *space.  flags: of the run.
 */
static pg_attribute_always_inline const PfsRowCount *
pfs_rows_by_default_timer(const PfsRowCount *rows, uint32 flags, PfsRowCount *space)
{
	if (likely((flags & PFS_FLAG_TIMER_MASK) == (pfs_local.usual & PFS_FLAG_TIMER_MASK)))
		return rows;
	*space = pfs_rows_converted(rows, flags);
	return space;
}

/* So many rows, with the times of these and of others. */
static inline PfsRowCount
pfs_rows_with_times(uint64 n, const PfsRowCount *rows, const PfsRowCount *others)
{
	PfsRowCount all = *rows;

	all.timed = Min(rows->timed + others->timed, n);
	all.untimed = n - all.timed;
	all.sum += others->sum;
	all.min = Min(all.min, others->min);
	all.max = Max(all.max, others->max);
	return all;
}

/* Where the rows of an operation are counted. */
static inline PfsRelPart
pfs_rel_part(PfsOperation operation)
{
	switch (operation)
	{
		case PFS_OP_INSERT:
			return PFS_REL_INSERT;
		case PFS_OP_UPDATE:
			return PFS_REL_UPDATE;
		case PFS_OP_DELETE:
			return PFS_REL_DELETE;
		case PFS_OP_ROW_LOCK:
			return PFS_REL_LOCK;
		default:
			return PFS_REL_FETCH;
	}
}

/* What a statement is charged with by the difference between two of them. */
typedef struct PfsExamined
{
	uint64		rows;
	uint64		full_scans;
} PfsExamined;

static pg_attribute_always_inline PfsExamined
pfs_examined(void)
{
	if (unlikely(pfs_rel_local.open != 0))
		pfs_rel_runs_examine();
	return (PfsExamined)
	{
		pfs_rel_local.rows_examined, pfs_rel_local.full_scans
	};
}

/* Its bit of the words that say which runs there are. */
static inline uint64
pfs_rel_run_bit(const PfsRelRun *run)
{
	return UINT64_C(1) << (run - pfs_rel_local.runs->items);
}

static inline uint64
pfs_row_count(const PfsRowCount *c)
{
	return c->untimed + c->timed;
}

/* The row that a call gave was there already, in the table or in its index. */
static pg_attribute_always_inline void
pfs_rel_row(PfsRelRun *run)
{
	pfs_bump(&run->rows.untimed, 1);
}

static pg_attribute_always_inline void
pfs_rel_index_row(PfsRelRun *run)
{
	pfs_bump(&run->index_rows.untimed, 1);
}

/* Rows that the run has come to: of an index those that it found. */
static inline uint64
pfs_rel_run_rows(const PfsRelRun *run)
{
	return Max(pfs_row_count(&run->rows), pfs_row_count(&run->index_rows));
}

/* Rows of a call that took so many ticks, with what was held since the last one. */
static inline void
pfs_row_count_add(PfsRowCount *c, uint64 rows, uint64 ticks)
{
	pfs_bump(&c->timed, rows);
	pfs_bump(&c->sum, ticks);
	if (ticks < c->min)
		c->min = ticks;
	if (ticks > c->max)
		c->max = ticks;
}

/* Before a call that may wait.  It need not return. */
static inline void
pfs_rel_call_begin(PfsThread *t, PfsRelRun *run)
{
	if (unlikely(!run->is_shown))
		pfs_rel_run_show(t, run);
	run->in_call = true;

	/*
	 * What is nobody's has no number, and calls of it may be inside of
	 * others.
	 */
	if (likely(run->wait.event_id != 0))
	{
		run->outer = pfs_local.parent;
		pfs_local.parent = (PfsParent)
		{
			run->wait.event_id, PFS_NESTING_WAIT
		};
	}
	if (likely(run->is_timed))
		run->call_start = pfs_wait_clock(run->wait.flags);
}

/* Behind it; returns its ticks, 0 if it is not timed. */
static inline uint64
pfs_rel_call_returned(PfsRelRun *run)
{
	uint64		end;

	run->in_call = false;
	if (likely(run->wait.event_id != 0))
		pfs_local.parent = run->outer;
	if (unlikely(!run->is_timed))
		return 0;
	end = pfs_wait_clock(run->wait.flags);
	run->wait.timer_end = end;
	return end > run->call_start ? end - run->call_start : 0;
}

/*
 * The server itself counts the rows of the call that goes on, here: so they are known also when an error leaves
 * it.  NULL: it has stopped to.
 */
static inline void
pfs_rel_call_counted_by(PfsRelRun *run, const int64 *server_rows)
{
	run->server_rows = server_rows;
	run->server_rows_before = server_rows != NULL ? *server_rows : 0;
}

/* The rows that the server has counted since then. */
static inline uint64
pfs_rel_call_rows(const PfsRelRun *run)
{
	return *run->server_rows > run->server_rows_before ? *run->server_rows - run->server_rows_before : 0;
}

/* A call on the table has given so many rows. */
static inline void
pfs_rel_call_end(PfsRelRun *run, uint64 rows)
{
	uint64		ticks = pfs_rel_call_returned(run);

	run->found = false;
	if (unlikely(!run->is_timed))
		pfs_bump(&run->rows.untimed, rows);
	else if (rows == 0)
		run->held += ticks;
	else
	{
		pfs_row_count_add(&run->rows, rows, run->held + ticks);
		run->held = 0;
	}
}

/* The row that the index gave last led to no call on the table: its time is the index's. */
static inline void
pfs_rel_index_alone(PfsRelRun *run)
{
	if (run->found && run->held != 0)
	{
		pfs_row_count_add(&run->index_rows, 1, run->held);
		run->index_rows.untimed--;
		run->held = 0;
	}
	run->found = false;
}

/* A call on the index has found so many rows, which may lead to rows of the table. */
static inline void
pfs_rel_index_call_end(PfsRelRun *run, uint64 rows)
{
	uint64		ticks = pfs_rel_call_returned(run);

	pfs_rel_index_alone(run);
	pfs_bump(&run->index_rows.untimed, rows);
	run->held += ticks;
	run->found = rows != 0;
}

#endif							/* PFS_REL_RUN_H */
