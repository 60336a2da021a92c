/*
 * pfs_plan_measure.h
 *	  An execution that is measured, and its nodes.
 *
 * For pfs_plan_measure.c, which says when, and pfs_plan_node.c, which counts.
 */
#ifndef PFS_PLAN_MEASURE_H
#define PFS_PLAN_MEASURE_H

#include "executor/executor.h"

#include "pfs_digest_pending.h"
#include "pfs_node_area.h"
#include "pfs_plan_pace.h"

/* A node of a query, by its plan_node_id. */
typedef struct NodeSlot
{
	PlanState  *state;			/* NULL: there is none */
	ExecProcNodeMtd real;
	PfsNodeCount *count;
	uint32		charge;			/* pfs_node_charge() of that */
	PfsPace		pace;
	uint64		seen;			/* ticks of the server's timer, added already;
								 * rows and loops then */
	double		seen_rows;
	double		seen_loops;
	int16		parent;			/* plan_node_id; -1: none */
	int16		timed_child;	/* the first one that the server times; -1:
								 * none */
	int16		next_timed;		/* the next one of the same parent */
	bool		is_timed;		/* the server times it */
	bool		is_first_timed; /* its first call goes past us */
	bool		may_rescan;		/* it can be begun anew */
	bool		own_instrument; /* the server's, which we have given it */
	bool		has_lost_child; /* one may have lost its function, or needs a
								 * timer */
} __attribute__((aligned(PFS_CACHE_LINE))) NodeSlot;

/* An execution that is measured; in the query's memory. */
typedef struct PfsNodeQuery
{
	EState	   *estate;
	struct PfsNodeQuery *next;	/* of pfs_node_queries */
	const PlannedStmt *stmt;
	Oid			user;
	uint64		plan_id;
	bool		is_worker;
	uint64		exact_calls;	/* of each node: behind so many not all are
								 * timed */
	uint64		cost;			/* ticks, of those */
	bool		is_ready;		/* it has run, or tried to */
	PfsMeasured *measured;		/* NULL: it is not measured after all */
	PfsNodeCount *output;
	NodeSlot   *slots;			/* [nids] */
	uint32		nids;
	MemoryContextCallback end;
} PfsNodeQuery;

/* The one whose run goes on; NULL: none. */
extern PFS_HIDDEN PfsNodeQuery *pfs_node_running;

/* The query that has this state; NULL: it is not measured. */
extern PfsNodeQuery *pfs_node_query_of(const EState *estate);

static inline uint64
pfs_node_clock(void)
{
	return pfs_timer_read(pfs_timer_default());
}

/*
 * Gives all nodes our functions.  number_of: [query->nids], by plan_node_id; may_rescan: the whole plan may be executed
 * anew.
 */
extern void pfs_nodes_wrap(PfsNodeQuery *query, PlanState *top, const uint16 *number_of, bool may_rescan);

/* An error leaves the run: the calls end that go on, those that the server times, too. */
extern void pfs_nodes_fail(PfsNodeQuery *query);

/* EXPLAIN without ANALYZE, as auto_explain calls it, would print what a Hash has because of its timer. */
extern void pfs_nodes_forget_hashes(const PfsNodeQuery *query);

/* Once, at the end: rows and loops of nodes that the server times, and the last calls of the others. */
extern void pfs_nodes_take_counts(PfsNodeQuery *query);

#endif							/* PFS_PLAN_MEASURE_H */
