/*
 * pfs_plan_node.h
 *	  Measuring plans' nodes: the numbers that they have, and which executions are measured.
 *
 * Hooks of the executor, outside of write sections.  What measures allocates memory of the query, and can raise errors before
 * the query has run.
 */
#ifndef PFS_PLAN_NODE_H
#define PFS_PLAN_NODE_H

#include "executor/executor.h"

#include "pfs_compat_hooks.h"
#include "pfs_node.h"

/* A plan's nodes by number: 0 is Output, the others count from 1 in the order of the shape. */
typedef struct PfsPlanNumbers
{
	uint16	   *of_id;			/* [nids] by plan_node_id; 0: there is no such
								 * node.  palloc'd, with room for more */
	uint32		nids;
	uint32		room;
	uint32		n;
	uint32	   *noted;			/* plan_node_ids in the order in which they
								 * were met */
	uint32		nnoted;
	bool		wants_facts;
	PfsNodeFacts facts[PFS_NODES_MAX];	/* by number */
} PfsPlanNumbers;

/* Finds the numbers of a plan's nodes, and what the planner says of them.  False: they are too many. */
extern bool pfs_plan_number_nodes(const PlannedStmt *stmt, bool wants_facts, PfsPlanNumbers *numbers);

/* Is an execution open that is measured? */
extern PFS_HIDDEN struct PfsNodeQuery *pfs_node_queries;

/* Pass a run, or a finish, of the executor on: measured, if the query is. */
extern void pfs_nodes_run(ExecutorRun_hook_type run, PFS_EXECUTOR_RUN_PARAMS);
extern void pfs_nodes_finish(ExecutorFinish_hook_type finish, QueryDesc *desc);

#endif							/* PFS_PLAN_NODE_H */
