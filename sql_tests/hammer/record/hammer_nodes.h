/*
 * hammer_nodes.h
 *	  What the test of digests counts of plans' nodes.
 */
#ifndef HAMMER_NODES_H
#define HAMMER_NODES_H

#include "hammer_server.h"
#include "pfs_digest.h"
#include "pfs_node.h"

/* An execution of a plan of one node, which waits once, is measured. */
static inline void
count_node(const PfsDigestKey *key, uint64 plan, PfsInstrumentId instrument, uint64 ticks)
{
	static const PfsNodeFacts facts[1] = {{.type = PFS_NODE_OUTPUT}};
	static const PfsNodeSums sums = {.executions = 1};
	PfsTotals	waits = {.count_timed = 1, .sum = ticks};
	PfsPinnedDigest *pinned = pfs_plan_enter(key, plan, true);
	bool		has_nodes = pinned != NULL && pfs_nodes_make(&pinned->digest->nodes, facts, 1);

	hammer_linger(50000);
	pfs_node_add(has_nodes ? pfs_node_at(pfs_load_acquire(&pinned->digest->nodes)) : pfs_other_nodes, &sums);
	pfs_digest_leave(pinned);
	pfs_plan_add_waits(key, plan, 0, instrument, &waits);
}

#endif							/* HAMMER_NODES_H */
