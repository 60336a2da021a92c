/*
 * pfs_compat_explain.h
 *	  EXPLAIN as a function, and what plans say of themselves.
 */
#ifndef PFS_COMPAT_EXPLAIN_H
#define PFS_COMPAT_EXPLAIN_H

#include "commands/explain.h"
#include "nodes/plannodes.h"

/* 18 split the header.  Can go when 18 is the oldest version. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* The identifier that the server or another library has given to a plan; 0: none.  Can go when 18 is the oldest version. */
static inline uint64
pfs_compat_server_plan_id(const PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 180000
	return (uint64) stmt->planId;
#else
	return 0;
#endif
}

#endif							/* PFS_COMPAT_EXPLAIN_H */
