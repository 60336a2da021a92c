/*
 * pfs_compat_fdw.h
 *	  What differs between PostgreSQL 15 to 19 for the foreign data
 *	  wrapper.  Apart from pfs_compat.h, so that no lower layer sees planner
 *	  headers.
 */
#ifndef PFS_COMPAT_FDW_H
#define PFS_COMPAT_FDW_H

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"	/* 18 split explain.h in three */
#include "commands/explain_state.h"
#endif
#include "optimizer/pathnode.h"

/*
 * 17 added the list of restrictions that a join was pushed down with, 18 the
 * number of disabled nodes; a scan of one table has neither.  Can go when 18 is
 * the oldest version.
 */
static inline ForeignPath *
pfs_compat_create_foreignscan_path(PlannerInfo *root, RelOptInfo *rel, double rows,
								   Cost startup_cost, Cost total_cost,
								   Relids required_outer, List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, NULL, rows, 0, startup_cost, total_cost, NIL,
								   required_outer, NULL, NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost, total_cost, NIL,
								   required_outer, NULL, NIL, fdw_private);
#else
	return create_foreignscan_path(root, rel, NULL, rows, startup_cost, total_cost, NIL,
								   required_outer, NULL, fdw_private);
#endif
}

#endif							/* PFS_COMPAT_FDW_H */
