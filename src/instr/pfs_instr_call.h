/*
 * pfs_instr_call.h
 *	  A call of one of the server's hooks for statements: which statement it
 *	  belongs to, and what it adds to that statement.
 *
 * The hooks' own functions are in pfs_instr_hooks.c.  Each of them does
 *
 *		if (pfs_call_begin(&call))
 *			pfs_call_..._begin(&call, ...);
 *		call the previous hook or the server
 *		if (pfs_call_end(&call))
 *			pfs_call_..._end(&call, ...);
 *
 * After an error there is no end.  Whoever catches the error restores what the
 * calls have left: see pfs_statement_unwind().
 */
#ifndef PFS_INSTR_CALL_H
#define PFS_INSTR_CALL_H

#include "access/parallel.h"
#include "executor/execdesc.h"
#include "nodes/parsenodes.h"

#include "pfs_instr.h"
#include "pfs_statement_open.h"

/* The server's own counters, as a call finds them when it begins. */
typedef struct PfsUsage
{
	BufferUsage buffers;
	WalUsage	wal;
} PfsUsage;

/* One call, on the stack of the hook's function. */
typedef struct PfsCall
{
	PfsThread  *thread;			/* NULL: nothing is collected */
	int			nest;			/* calls around this one */

	/* The rest is set only if there is a thread. */
	PfsStatement *statement;	/* NULL: the call belongs to none */
	PfsStatement *outer;		/* pfs_sql.current before the call */
	uint32		nstages;		/* stages on the stack before the call */
	bool		top;			/* it began at top level; it can be for a
								 * nested statement all the same */
	PfsTimestamp start;
	uint64		lock_ticks;
	PfsExamined examined;
	PfsUsage	usage;
} PfsCall;

/* The process's record; a parallel worker has no statement of its own. */
static inline PfsThread *
pfs_call_thread(void)
{
	return IsParallelWorker() ? NULL : pfs_thread_here();
}

/*
 * Count the call among those that are active.  False: nobody wants statements or
 * stages of this process, or a signal handler has come in the middle of a write
 * section; then there is nothing else to do.
 */
static pg_attribute_always_inline bool
pfs_call_begin(PfsCall *call)
{
	PfsThread  *t = pfs_call_thread();

	call->nest = pfs_sql.nest;
	call->thread = t;
	call->statement = NULL;
	if (t != NULL && pfs_statement_is_wanted(t) && !pfs_is_writing(t))
		return true;
	call->thread = NULL;
	pfs_sql.nest++;
	return false;
}

/* The call is over.  False: nothing of it was collected. */
static pg_attribute_always_inline bool
pfs_call_end(PfsCall *call)
{
	if (call->thread != NULL && !pfs_is_writing(call->thread))
		return true;
	pfs_sql.nest = call->nest;
	if (call->thread != NULL)
		pfs_sql.current = call->outer;
	return false;
}

/*
 * Is this a call behind the run of the statement at top level, of which nothing but its
 * stage would be recorded, and that is off?  Then it is passed on between
 * pfs_call_pass_begin() and pfs_call_pass_end().  Two of the four calls of nearly every
 * query are; without this branch a point lookup costs 160 instructions more.
 */
static pg_attribute_always_inline bool
pfs_call_passes(const QueryDesc *desc, PfsStageKind stage)
{
	return likely(pfs_sql.top.query == desc && pfs_sql.nest == 0 && pfs_sql.top_open && pfs_sql.open == NULL) &&
		likely(pfs_stage_stays_off(pfs_my_thread, stage) && !pfs_is_writing(pfs_my_thread));
}

static inline void
pfs_call_pass_begin(void)
{
	pfs_sql.nest = 1;
	pfs_sql.current = &pfs_sql.top;
}

static inline void
pfs_call_pass_end(void)
{
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
}

/*
 * Is there anything to count in the finish of this query?  It fires triggers and completes
 * WITH; that of a query that only reads does nothing.
 */
static inline bool
pfs_finish_counts(const QueryDesc *desc)
{
	return desc->operation != CMD_SELECT || desc->plannedstmt->hasModifyingCTE;
}

/* Parse analysis of a text.  It lies inside no other call that is counted. */
extern void pfs_call_parsed(PfsThread *t, const PfsStatementSource *source);

extern void pfs_call_plan_begin(PfsCall *call, const PfsStatementSource *source);
extern void pfs_call_plan_end(PfsCall *call);
extern void pfs_call_executor_start_begin(PfsCall *call, const QueryDesc *desc);
extern void pfs_call_executor_start_end(PfsCall *call);
extern void pfs_call_run_begin(PfsCall *call, const QueryDesc *desc);
extern void pfs_call_run_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected, uint64 parallel_workers);
extern void pfs_call_finish_begin(PfsCall *call, const QueryDesc *desc);
extern void pfs_call_finish_end(PfsCall *call, const QueryDesc *desc, uint64 rows_affected);
extern void pfs_call_executor_end_begin(PfsCall *call, const QueryDesc *desc);

/* The descriptor is freed only behind this, and its text lives longer. */
extern void pfs_call_executor_end_end(PfsCall *call, const QueryDesc *desc);
extern void pfs_call_utility_begin(PfsCall *call, const PfsStatementSource *source);
extern void pfs_call_utility_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected);

/* What runs the statement at top level: the portal, and when it was made. */
extern void pfs_call_set_portal(PfsStatementSource *source);

#endif							/* PFS_INSTR_CALL_H */
