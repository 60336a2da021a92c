/*
 * pfs_statement_fast.h
 *	  The short way of a hook's call: for the query of the statement at top
 *	  level.  Hooks ask first whether it leads there, and call on between each pair.
 */
#ifndef PFS_STATEMENT_FAST_H
#define PFS_STATEMENT_FAST_H

#include "utils/fmgrprotos.h"

#include "pfs_statement_open.h"

/*
 * Does a query at top level start its executor?  Deferred triggers run at the
 * commit, outside of all hooks, but not by themselves.
 */
static inline bool
pfs_top_may_start(const PfsThread *t)
{
	return likely(pfs_sql.nest == 0 && pfs_sql.top_open && pfs_sql.open == NULL && !pfs_sql.top.done &&
				  pfs_sql.top.met < PFS_MET_EXECUTION && pfs_statement_has_client() && !pfs_is_changing(t)) &&
		(pfs_sql.top.met != PFS_MET_NOTHING || DatumGetInt32(pg_trigger_depth(NULL)) == 0);
}

/* Is it the query of the statement at top level, and nothing else is open? */
static inline bool
pfs_top_is(const PfsThread *t, const void *query)
{
	return likely(pfs_sql.top.query == query && pfs_sql.nest == 0 && pfs_sql.open == NULL &&
				  pfs_sql.top_open && !pfs_is_changing(t));
}

/* The same, and this is its first run. */
static inline bool
pfs_top_is_first_run(const PfsThread *t, const void *query)
{
	return pfs_top_is(t, query) && likely(pfs_sql.top.met == PFS_MET_PLAN);
}

/* start: what the first one of the pair gives. */
extern void pfs_top_start(PfsThread *t, const PfsStatementSource *source);
extern void pfs_top_start_end(PfsThread *t);
extern uint64 pfs_top_run(PfsThread *t);
extern void pfs_top_run_end(PfsThread *t, uint64 start, uint64 rows_sent, uint64 rows_affected,
							uint64 workers);

/* counts: more than nothing can happen in it. */
extern uint64 pfs_top_finish(PfsThread *t, bool counts);
extern void pfs_top_finish_end(PfsThread *t, uint64 start, bool counts);
extern void pfs_top_executor_end(PfsThread *t);
extern void pfs_top_executor_end_end(PfsThread *t);

#endif							/* PFS_STATEMENT_FAST_H */
