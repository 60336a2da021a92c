/*
 * pfs_plan.h
 *	  Which plan a statement has: the identifier of its shape, and its text; and whether its execution is measured.
 *
 * Hooks of the planner and of the executor's start, outside of write sections.  What finds the shape of a plan for the
 * first time reads catalogs, and can raise an error, which is then the statement's own.
 */
#ifndef PFS_PLAN_H
#define PFS_PLAN_H

#include "executor/execdesc.h"

#include "pfs_digest_pending.h"
#include "pfs_guc.h"
#include "pfs_setup.h"

/*
 * Plans come by no other way than the planner's hook (pfs_plan_forget()), but from a library that is called before it and
 * keeps plans of its own: what such a one gives for a query has to lie elsewhere than the one before.
 */
extern uint64 pfs_plan_find_id(const PlannedStmt *stmt, Oid user);

/* What is going to be executed, and may be measured (pfs_plan_node.h); NULL: nothing. */
extern PFS_HIDDEN const PlannedStmt *pfs_plan_to_measure;
extern PFS_HIDDEN Oid pfs_plan_to_measure_user;

/* The identifier of a plan that is known, and is going to be executed. */
static inline uint64
pfs_plan_known_id(const PfsKnownPlan *known, Oid user)
{
	if (unlikely(known->cost >= pfs_plan_nodes_from))
	{
		pfs_plan_to_measure = known->stmt;
		pfs_plan_to_measure_user = user;
	}
	return known->plan_id;
}

/*
 * The identifier of the plan that is going to be executed by a statement of this user; 0: plans are not counted, or it has
 * no query identifier.
 */
static inline uint64
pfs_plan_id(const PlannedStmt *stmt, Oid user)
{
	const PfsKnownPlan *known = pfs_known_plan(stmt->queryId);

	if (unlikely((pfs_load_relaxed(&pfs_words->statement_counts) & PFS_COUNTS_PLANS) == 0))
		return 0;
	if (likely(known->stmt == stmt && known->query_id == stmt->queryId))
		return pfs_plan_known_id(known, user);
	return pfs_plan_find_id(stmt, user);
}

/* Whose text is to be made. */
typedef struct PfsPlanWithoutText
{
	const PlannedStmt *stmt;	/* NULL: no plan's */
	Oid			user;
	uint64		plan_id;
	uint32		nodes;
} PfsPlanWithoutText;

extern PFS_HIDDEN PfsPlanWithoutText pfs_plan_without_text;

extern void pfs_plan_make_text(QueryDesc *desc);

/* Measures the execution that has been started, from its first run on, if the budget has room for it. */
extern void pfs_nodes_start(QueryDesc *desc);

/* Behind the start of the executor: makes the text of the plan, if that lacks it, and decides whether it is measured. */
static inline void
pfs_plan_started(QueryDesc *desc)
{
	if (unlikely(pfs_plan_without_text.stmt != NULL))
		pfs_plan_make_text(desc);
	if (unlikely(pfs_plan_to_measure != NULL))
		pfs_nodes_start(desc);
}

/*
 * Replaces the constants in a plan's text, as EXPLAIN makes it, by question marks.  to: as much room as len;
 * returns the length.
 */
extern uint32 pfs_plan_without_constants(const char *text, uint32 len, char *to);

#endif							/* PFS_PLAN_H */
