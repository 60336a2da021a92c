/*
 * pfs_plan_pace.h
 *	  What measuring may cost: which executions, which calls of a node are timed, and when a node is let go.
 *
 * Two bounds, with pfs.plan_nodes = budget.  Of one execution measuring takes a tenth at most: a node's first calls are all timed, then
 * one of so many that the bound holds, at random, with that weight; a node whose calls cost too much even if none is timed
 * is let go.  Of all a process does it takes pfs.plan_nodes_budget percent: what executions have cost is spent, and
 * processor time earns.
 *
 * An estimated time is unbiased: each call is timed with a probability of one by its weight, whatever it takes.
 *
 * Separate from pfs_plan_node.c, which counts.  Owner only.
 */
#ifndef PFS_PLAN_PACE_H
#define PFS_PLAN_PACE_H

#include "pfs_clock.h"

/* Calls of a node in one execution that are all timed. */
#define PFS_PACE_EXACT 100

/* A node's, in one execution. */
typedef struct PfsPace
{
	uint32		untimed;		/* calls until the next one that is timed */
	uint32		gap;			/* how many these were at first */
	uint32		stride;			/* the weight of the one that is timed */
} PfsPace;

/* Ticks that a clock's two readings take; 0: not measured yet. */
extern PFS_HIDDEN uint64 pfs_pace_clock_ticks;

static inline void
pfs_pace_begin(PfsPace *pace)
{
	pace->stride = 1;
}

/* What a call that was timed counts; known: the part of it that is known otherwise, exactly. */
static inline uint64
pfs_pace_ticks(const PfsPace *pace, uint64 ticks, uint64 known)
{
	if (likely(pace->stride == 1))
		return ticks;
	ticks = ticks > known + pfs_pace_clock_ticks ? ticks - known - pfs_pace_clock_ticks : 0;
	return ticks * pace->stride + known;
}

/* Calls that have not been counted yet: those of the gap, so far. */
static inline uint32
pfs_pace_calls(const PfsPace *pace)
{
	return pace->gap - pace->untimed;
}

/*
 * Behind a timed call of a node that has had more than PFS_PACE_EXACT: decides which one is timed next.  all: its calls; calls: those
 * since the one that was timed before; elapsed: of the execution, in ticks; *cost: what measuring it has cost by now.  False: not even
 * counting its calls pays.
 */
extern bool pfs_pace_next(PfsPace *pace, uint64 all, uint32 calls, uint64 elapsed, uint64 *cost);

/* ---- the budget of the process ---- */

/* May an execution be measured now?  is_first: of a plan that this process has not measured yet. */
extern bool pfs_budget_has_room(bool is_first);

/* An execution has cost so much: calls, and those that were timed, of its nodes. */
extern void pfs_budget_spend(uint64 calls, uint64 timed, uint32 nodes);

#endif							/* PFS_PLAN_PACE_H */
