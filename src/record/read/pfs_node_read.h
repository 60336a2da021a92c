/*
 * pfs_node_read.h
 *	  Readers and truncators of plans' nodes: their sums, their waits, and those of queries that run now.
 *
 * SQL commands of a backend.
 */
#ifndef PFS_NODE_READ_H
#define PFS_NODE_READ_H

#include "pfs_node.h"

/* Which node of which plan; all others: query_id 0. */
typedef struct PfsNodeKey
{
	PfsDigestKey digest;
	uint64		plan_id;
	uint64		number;
} PfsNodeKey;

/* One node of a plan; all others' have a key of zeroes, and no facts. */
typedef struct PfsNodeRow
{
	PfsNodeKey	key;
	PfsNodeFacts facts;
	PfsNodeSums sums;
	uint64		plan_executions;	/* of its plan, measured or not */
	uint64		waited;			/* ticks, sum over its waits */
} PfsNodeRow;

typedef struct PfsNodeWaitRow
{
	PfsNodeKey	key;
	PfsInstrumentId instrument;
	PfsTotals	totals;
} PfsNodeWaitRow;

/* A node of a query that is being measured now. */
typedef struct PfsNodeNow
{
	PfsDigestKey digest;
	uint64		thread_id;
	uint64		event_id;		/* of its statement; 0: it is a worker's */
	uint64		plan_id;
	PfsNodeFacts facts;
	bool		has_facts;		/* else its plan has gone */
	bool		is_dropped;		/* it is not counted any more */
	bool		is_running;		/* a call of it that is timed goes on */
	uint64		loops;
	uint64		rows;
	uint64		total;			/* with that of the call that goes on */
	uint64		self;
	uint64		waited;
	TimestampTz since;
} PfsNodeNow;

/* What emit is given lives until it returns. */
typedef void (*PfsNodeEmit) (const PfsNodeRow *row, void *arg);
typedef void (*PfsNodeWaitEmit) (const PfsNodeWaitRow *row, void *arg);
typedef void (*PfsNodeNowEmit) (const PfsNodeNow *row, void *arg);

/* All nodes of each plan that was ever measured, in their order, whether they have counted something or not. */
extern void pfs_nodes_read(PfsNodeEmit emit, void *arg);
extern void pfs_node_waits_read(PfsInstrumentId instrument, PfsNodeWaitEmit emit, void *arg);
extern void pfs_nodes_now_read(PfsNodeNowEmit emit, void *arg);

/* Return how many executions of nodes, or waits, have left. */
extern int64 pfs_nodes_truncate(void);
extern int64 pfs_node_waits_truncate(void);

#endif							/* PFS_NODE_READ_H */
