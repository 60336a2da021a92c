/*
 * pfs_statement_fast.h
 *	  The short way of a hook's call: for the query of the statement at top
 *	  level, when its executor has been started.
 */
#ifndef PFS_STATEMENT_FAST_H
#define PFS_STATEMENT_FAST_H

#include "pfs_statement_open.h"

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

/* The hook calls on between each pair; start is what the first one gives. */
extern PfsMoment pfs_top_call(PfsThread *t, PfsStageKind stage);
extern PfsMoment pfs_top_run(PfsThread *t);
extern void pfs_top_run_end(PfsThread *t, PfsMoment start, uint64 rows_sent, uint64 rows_affected,
							uint64 workers);

/* counts: more than nothing can happen in it. */
extern PfsMoment pfs_top_finish(PfsThread *t, bool counts);
extern void pfs_top_finish_end(PfsThread *t, PfsMoment start, bool counts);
extern void pfs_top_executor_end_end(PfsThread *t);

#endif							/* PFS_STATEMENT_FAST_H */
