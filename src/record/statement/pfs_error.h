/*
 * pfs_error.h
 *	  Errors by SQLSTATE and severity: how often each was raised, and how often a
 *	  block caught it.
 *
 * They are a family of summaries like any other, but their cells are no
 * instruments.  Cell 0 is for those that came when all places were taken.
 *
 * Nothing of this costs anything until an error happens.
 *
 * Separate from pfs_statement.h, as errors are counted in processes without any statement, too.
 */
#ifndef PFS_ERROR_H
#define PFS_ERROR_H

#include "pfs_local.h"
#include "pfs_summary.h"

typedef enum PfsSeverity
{
	PFS_SEVERITY_WARNING,
	PFS_SEVERITY_ERROR,
	PFS_SEVERITY_FATAL,
	PFS_SEVERITY_PANIC,
} PfsSeverity;

/*
 * Cells.  Each state that PostgreSQL defines has one for each severity below
 * PANIC (which ends the server, and with it these counters): for ever,
 * whatever other states were raised.  All the others compete for the places of
 * the second part, which a reset of the global table empties.
 */
#define PFS_ERROR_CELL_OTHER 0
#define PFS_ERROR_PLACES 127
#define PFS_ERROR_SEVERITIES PFS_SEVERITY_PANIC
#define PFS_ERROR_CELL_FIRST_DEFINED (PFS_ERROR_CELL_OTHER + 1 + PFS_ERROR_PLACES)

/*
 * Counts of one cell: a thread's, above threads (atomic), and private sums.  Times
 * are TimestampTz, of raises; 0: none.
 */
typedef struct PfsErrorCell
{
	uint64		raised;
	uint64		handled;
	int64		first_seen;
	int64		last_seen;
} PfsErrorCell;

typedef struct PfsSharedErrors
{
	uint64		lost;			/* errors that had no cell of their own;
								 * atomic */
	uint64		keys[PFS_ERROR_PLACES]; /* state and severity of the places;
										 * 0: free.  Set by compare-and-swap,
										 * freed by pfs_errors_free_places() */
} PfsSharedErrors;

/* NULL: pfs is off.  Inherited. */
extern PFS_HIDDEN PfsSharedErrors *pfs_errors;

/* Truncators and readers of the summaries, see PfsSummaryKind. */
extern void pfs_errors_free_places(void);
extern void pfs_errors_copy_keys(void *to);

/* Of the family: makes the instrument. */
extern void pfs_errors_start(void);

/*
 * ---- the owner, outside of write sections ----
 *
 * No lock, no allocation, no error.  What comes while the record is being
 * changed passes by.
 *
 * handler: where the jump goes to (PG_exception_stack).
 */

/* An ERROR was raised; a handler throws one on. */
extern void pfs_error_raised(PfsThread *t, int sqlstate, const void *handler);
extern void pfs_error_thrown_on(const void *handler);

/* A message was logged.  raises_are_seen: an ERROR has been counted when it was raised. */
extern void pfs_error_logged(PfsThread *t, PfsSeverity severity, int sqlstate, bool raises_are_seen);

/* Are errors counted? */
extern bool pfs_error_is_wanted(void);

/* Is this the outermost handler?  Then whatever the process was doing has failed. */
extern bool pfs_error_has_failed(const void *handler);

/* The last error that was raised, until it is known what became of it. */
typedef struct PfsOpenError
{
	int			sqlstate;		/* 0: there is none */
	uint32		flags;
	const void *outermost;		/* handler of the process; NULL: not known */
} PfsOpenError;

extern PFS_HIDDEN PfsOpenError pfs_open_error;

/* It was caught. */
extern void pfs_error_handled(PfsThread *t);

/*
 * A statement begins, or the process ends: nobody is going to throw on what was
 * raised before.
 */
static inline void
pfs_error_flush(PfsThread *t)
{
	if (unlikely(pfs_open_error.sqlstate != 0))
		pfs_error_handled(t);
}

/* The session waits for its client: its handler is the outermost one. */
static inline void
pfs_error_idle(PfsThread *t)
{
	pfs_open_error.outermost = PG_exception_stack;
	pfs_error_flush(t);
}

/*
 * At waits of processes without a client, and where a message arrives before the
 * first idle wait.  The outermost handler is the highest one on the stack; some
 * wait comes outside of all others.
 */
static inline void
pfs_error_watch(void)
{
	if ((uintptr_t) PG_exception_stack > (uintptr_t) pfs_open_error.outermost)
		pfs_open_error.outermost = PG_exception_stack;
}

/* ---- readers ---- */

/*
 * What a cell is for; state: 6 bytes.  False: all others.  keys: a copy of the
 * places' keys that belongs to the counters.
 */
extern bool pfs_error_of_cell(uint32 cell, const uint64 *keys, char *state, PfsSeverity *severity);

/* As the manual says it, in lower case; NULL: an extension's. */
extern const char *pfs_error_name(const char *state);

/* States that have names, all of them PostgreSQL's; which one this is, or that many. */
extern uint32 pfs_error_names(void);
extern uint32 pfs_error_name_number(const char *state);
extern int	pfs_error_named_state(uint32 number);

/* Cells that there are, and those that are not free. */
extern uint32 pfs_error_cells(void);
extern uint32 pfs_errors_known(void);

#endif							/* PFS_ERROR_H */
