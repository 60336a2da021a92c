/*
 * pfs_plain_state.h
 *	  What the process knows of a plain statement: see pfs_plain.h.
 *
 * Separate from that, as the waits of a statement ask for it, which its end adds to its digest.
 */
#ifndef PFS_PLAIN_STATE_H
#define PFS_PLAIN_STATE_H

#include "executor/execdesc.h"

#include "pfs_statement.h"

typedef enum PfsPlainState
{
	PFS_PLAIN_NONE,				/* there is none, or it is pfs_sql.top */
	PFS_PLAIN_ARRIVED,
	PFS_PLAIN_NAMED,
	PFS_PLAIN_PLANNING,
	PFS_PLAIN_STARTING,
	PFS_PLAIN_STARTED,
	PFS_PLAIN_RUNS,
	PFS_PLAIN_ENDING,
	PFS_PLAIN_RAN,
} PfsPlainState;

/* What is collected beside the statement and its transaction. */
#define PFS_PLAIN_STAGES	0x01	/* its stages, all of them */
#define PFS_PLAIN_MEMORY	0x02	/* the peak of the session's memory */

/*
 * What a statement is counted for besides its digest.  The fast path and the general code copy it as a whole; only
 * pfs_credit_...() in pfs_statement_open.h know what is in it.
 */
typedef struct PfsCredit
{
	struct PfsPreparedEntry *prepared;	/* what it executes, or NULL; of a
										 * plain one as far as it is known,
										 * and from the run on for certain */
	struct PfsProgramEntry *program;	/* of a nested one: that it began in,
										 * or NULL */
} PfsCredit;

/* One plain statement. */
typedef struct PfsPlainStatement
{
	uint64		start;			/* by the default timer, as all readings here */
	uint64		event_id;
	uint64		statement_id;
	uint64		lock_ticks;		/* of the process at the start */
	uint64		parent;			/* event_id of what is around it: of one at
								 * top level the transaction, or 0 */

	/*
	 * From its name on: where it stays, which is shown; NULL: it lies in its
	 * slot, as another one is nested in it, or was.
	 */
	PfsStoredStatement *event;

	/* From the start of the executor, or of the utility, on. */
	const QueryDesc *query;		/* NULL: the executor has ended, or there is
								 * none */
	const void *portal;			/* of a nested one NULL, as the next one */
	int64		portal_time;
	uint64		stamp;			/* the end of what was executed last */
	TimestampTz message;		/* from the end of the run on */

	/* From here on of a nested one, but for the first member. */
	PfsCredit	credit;
	struct PfsStatement *spare; /* what the general code would keep it in */
} PfsPlainStatement;

/* Plain statements can be nested in so many. */
#define PFS_PLAIN_DEPTH 4

typedef struct PfsPlain
{
	uint32		state;			/* PfsPlainState, of the innermost one */
	bool		passes;			/* in a call of the executor for a query whose
								 * statement has ended */
	bool		is_planned;		/* NAMED: it has been planned, too */
	bool		is_utility;		/* from its start on: there is no query */
	bool		hooks_off;		/* nothing is collected that begins or ends in
								 * a hook, and nothing is open: until the next
								 * message that comes behind a switch */
	bool		all_off;		/* and no wait and no error is either */
	uint8		more;			/* PFS_PLAIN_..., of pfs_plain_look() */
	uint8		depth;			/* statements around the innermost one */

	/* What pfs_plain_look() has found. */
	bool		is_uniform;		/* all instruments of statements have these
								 * flags */
	uint64		generation;		/* of pfs_words, while there can be plain
								 * statements; else 0 */
	uint32		flags;			/* of statements */
	uint32		transaction_flags;

	PfsPlainStatement open;		/* the innermost one */
	PfsPlainStatement around[PFS_PLAIN_DEPTH];	/* those around it, outermost
												 * first: each RUNS */
	uint64		executed;		/* of an EXECUTE: see PfsStatement */
	uint64		looked;			/* generation at which pfs_plain_look() has
								 * looked last */
} PfsPlain;

StaticAssertDecl(offsetof(PfsPlain, open.credit) + sizeof(void *) <= 2 * PFS_CACHE_LINE, "a statement at top level needs two lines");

extern PFS_HIDDEN PfsPlain pfs_plain;

/* Texts that the process has parsed so far. */
extern PFS_HIDDEN uint32 pfs_texts_parsed;

/* Has a hook of statements to do nothing but pass on? */
static pg_attribute_always_inline bool
pfs_are_hooks_off(void)
{
	return unlikely(pfs_plain.hooks_off);
}

/* Does nothing have to be done for statements and their waits? */
static pg_attribute_always_inline bool
pfs_is_all_off(void)
{
	return unlikely(pfs_plain.all_off);
}

#endif							/* PFS_PLAIN_STATE_H */
