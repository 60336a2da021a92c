/*
 * pfs_node_area.h
 *	  What a process counts of the nodes of the plans that it executes and measures.
 *
 * Beside its thread record a process has an area: counts by node for the few executions that can be measured at a time.
 * It counts in there at each call of a node, so that others see how far it is, and adds the counts to the plan's nodes
 * (pfs_node.h) when the execution ends.
 *
 * The owner stores counts plainly, each a word that only grows while its execution goes on.  Which execution has which
 * counts changes inside sections of the area's lock: a reader whose copy spans none of them has counts of one execution,
 * each as it was at some moment of the copy.
 *
 * Instrument points: no lock, no allocation, no error.
 */
#ifndef PFS_NODE_AREA_H
#define PFS_NODE_AREA_H

#include "pfs_node.h"
#include "pfs_seqlock.h"
#include "pfs_thread_sets.h"

/* A node's, in one execution: one cache line.  Times in ticks of the default timer. */
typedef struct PfsNodeCount
{
	uint64		total;			/* of its calls that have returned */
	uint64		below;			/* of those that it has called */
	uint64		rows;
	uint64		loops;
	uint64		calls;
	uint64		timed;
	uint64		waited;			/* in waits while it was the innermost */
	uint64		entered;		/* when its call began that is going on and is
								 * timed; 0: none is */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsNodeCount;

/*
 * `entered` of a node that is not counted any more in this execution, as that would cost too much; and of one whose call
 * is being added to its total: a reader that finds the same other value before and behind it has a total to which that
 * belongs.
 */
#define PFS_NODE_DROPPED PG_UINT64_MAX
#define PFS_NODE_ENDING 1

/* The owner: a call that was timed is over. */
static inline void
pfs_node_end_call(PfsNodeCount *count, uint64 ticks)
{
	pfs_store_relaxed(&count->entered, PFS_NODE_ENDING);
	pfs_fence_release();
	pfs_store_relaxed(&count->total, count->total + ticks);
	pfs_store_release(&count->entered, 0);
	count->timed++;
}

#define PFS_MEASURED_MAX 8

/* plan_node_ids of a query with parallel workers, for all that are measured at a time. */
#define PFS_NODE_IDS_MAX 1024

/* A query that is measured. */
typedef struct PfsMeasured
{
	PfsDigestKey key;			/* of its plan, with plan_id */
	uint64		plan_id;
	uint64		statement_id;	/* whose waits are its nodes' */
	uint64		event_id;		/* of its statement */
	uint64		since;			/* raw time by the default timer; 0: the entry
								 * is free */
	uint32		first;			/* its counts: that of Output, and the others
								 * by number behind it */
	uint32		n;
	uint32		first_id;		/* numbers by plan_node_id; nids 0: it has no
								 * workers */
	uint32		nids;
	uint32		level;			/* of the call that starts these, pfs_leader.h */
} PfsMeasured;

typedef struct PfsNodeArea
{
	PfsSeqlock	lock;			/* odd while queries change */
	PfsMeasured queries[PFS_MEASURED_MAX];
	uint16		number_of[PFS_NODE_IDS_MAX];
	PfsNodeCount counts[PFS_NODES_MAX];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsNodeArea;

extern PFS_HIDDEN PfsThreadSets pfs_node_areas;

/* This process's; NULL: it has measured nothing yet. */
extern PFS_HIDDEN PfsNodeArea *pfs_node_area;

/* Postmaster: takes the areas. */
extern void pfs_node_areas_lay_out(PfsSegment *seg);

/* ---- the owner ---- */

/* Has it an area, from now on?  Outside of write sections, as what follows. */
extern bool pfs_node_area_claim(void);

/*
 * Begins to measure a query; as: all but since, first, first_id.  number_of: [as->nids], of a query with workers.  The
 * counts are zero.  NULL: there is no room.  Ends it.
 */
extern PfsMeasured *pfs_measured_begin(const PfsMeasured *as, uint64 since, const uint16 *number_of);
extern void pfs_measured_end(PfsMeasured *query);

/* The process leaves its thread record. */
extern void pfs_node_area_detach(PfsThread *t);

/* A count as pfs_charge_node names it. */
static inline uint32
pfs_node_charge(const PfsNodeCount *count)
{
	return count - pfs_node_area->counts + 1;
}

/*
 * Waits of a statement, with what pfs_charge_node was: its query, whose node's number is *node, and whose count gets their
 * time; NULL: they are not its nodes'.
 */
extern const PfsMeasured *pfs_node_waited(uint32 charge, uint64 statement_id, uint64 ticks, uint32 *node);

/* ---- a parallel worker ---- */

/*
 * Which query of the leader starts workers in its call of this level?  Copies it, and numbers of nodes by plan_node_id.
 * False: none that is measured.
 */
extern bool pfs_measured_of_leader(const PfsThread *leader, uint32 level, PfsMeasured *query, uint16 *number_of);

#endif							/* PFS_NODE_AREA_H */
