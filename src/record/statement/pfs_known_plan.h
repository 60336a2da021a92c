/*
 * pfs_known_plan.h
 *	  Plans that this process has executed, by their queries: whose shape is known.
 *
 * Separate from what finds shapes (../../instr/pfs_instr_plan.c): what counts plans makes it look again.
 */
#ifndef PFS_KNOWN_PLAN_H
#define PFS_KNOWN_PLAN_H

#include "pfs.h"

/* The plan that was executed last for a query. */
typedef struct PfsKnownPlan
{
	const void *stmt;			/* its PlannedStmt; NULL: to be looked at */
	uint64		query_id;
	uint64		plan_id;
} PfsKnownPlan;

#define PFS_KNOWN_PLANS 256

/* Process-private; a page that is not used is not there. */
extern PFS_HIDDEN PfsKnownPlan pfs_known_plans[PFS_KNOWN_PLANS];

static inline PfsKnownPlan *
pfs_known_plan(uint64 query_id)
{
	return &pfs_known_plans[(query_id ^ query_id >> 32) % PFS_KNOWN_PLANS];
}

/*
 * The query's next plan is looked at again: the planner makes another one, which may come to lie where the one lay that is
 * known; or the record of the one that is known has no text.
 */
static inline void
pfs_plan_forget(uint64 query_id)
{
	pfs_known_plan(query_id)->stmt = NULL;
}

#endif							/* PFS_KNOWN_PLAN_H */
