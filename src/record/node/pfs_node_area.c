/*
 * pfs_node_area.c
 *	  The areas in which processes count while they execute: which query has which counts.
 *
 * Queries do not end in the order in which they began, as cursors are closed at any time: a query gets the first gap that
 * is wide enough, of counts and of numbers alike.
 */
#include "postgres.h"

#include "pfs_local.h"
#include "pfs_node_area.h"
#include "pfs_shared.h"

/* How often a worker tries to read what its leader is just writing. */
#define READ_TRIES 1000

PfsThreadSets pfs_node_areas;
PfsNodeArea *pfs_node_area = NULL;

void
pfs_node_areas_lay_out(PfsSegment *seg)
{
	pfs_nodes_lay_out(seg);
	pfs_thread_sets_lay_out(&pfs_node_areas, seg, pfs_sizes.plan_nodes == 0 ? 0 : sizeof(PfsNodeArea));
}

bool
pfs_node_area_claim(void)
{
	if (likely(pfs_node_area != NULL))
		return true;
	if (pfs_my_thread == NULL || pfs_sizes.plan_nodes == 0)
		return false;
	pfs_node_area = pfs_thread_sets_claim(&pfs_node_areas, pfs_my_thread);
	return pfs_node_area != NULL;
}

/* Queries of the record's process before, which did not come to their ends, are no more. */
static void
forget_queries(PfsNodeArea *area)
{
	pfs_seqlock_write_begin(&area->lock);
	for (int i = 0; i < PFS_MEASURED_MAX; i++)
		area->queries[i].since = 0;
	pfs_seqlock_write_end(&area->lock);
}

void
pfs_node_area_detach(PfsThread *t)
{
	if (pfs_node_area == NULL)
		return;
	(void) pfs_seqlock_repair(&pfs_node_area->lock);
	forget_queries(pfs_node_area);
	pfs_node_area = NULL;
}

/* A stretch of counts, or of numbers, that a query has. */
typedef struct Stretch
{
	uint32		first;
	uint32		n;
} Stretch;

static inline Stretch
stretch_of(const PfsMeasured *query, bool of_ids)
{
	return of_ids ? (Stretch)
	{
		query->first_id, query->nids
	} : (Stretch)
	{
		query->first, query->n
	};
}

/* Where n are free in a row: behind none of the queries, or behind one of them; `room`: nowhere. */
static uint32
find_gap(bool of_ids, uint32 n, uint32 room)
{
	uint32		best = room;

	for (int i = -1; i < PFS_MEASURED_MAX; i++)
	{
		Stretch		before = i < 0 ? (Stretch)
		{
			0, 0
		} : stretch_of(&pfs_node_area->queries[i], of_ids);
		uint32		at = before.first + before.n;
		bool		is_free = at + n <= room && (i < 0 || pfs_node_area->queries[i].since != 0);

		for (int j = 0; j < PFS_MEASURED_MAX && is_free; j++)
		{
			Stretch		other = stretch_of(&pfs_node_area->queries[j], of_ids);

			is_free = pfs_node_area->queries[j].since == 0 || at + n <= other.first || other.first + other.n <= at;
		}
		if (is_free && at < best)
			best = at;
	}
	return best;
}

/* Takes the entry, the counts and the numbers in one step for readers. */
PfsMeasured *
pfs_measured_begin(const PfsMeasured *as, uint64 since, const uint16 *number_of)
{
	PfsNodeArea *area = pfs_node_area;
	PfsMeasured *query = area->queries;
	uint32		first = find_gap(false, as->n, PFS_NODES_MAX);
	uint32		first_id = find_gap(true, as->nids, PFS_NODE_IDS_MAX);

	while (query < area->queries + PFS_MEASURED_MAX && query->since != 0)
		query++;
	if (query == area->queries + PFS_MEASURED_MAX || first == PFS_NODES_MAX || (first_id == PFS_NODE_IDS_MAX && as->nids > 0))
		return NULL;
	pfs_seqlock_write_begin(&area->lock);
	*query = *as;
	query->since = since;
	query->first = first;
	query->first_id = first_id;
	memset(&area->counts[first], 0, as->n * sizeof(PfsNodeCount));
	if (as->nids > 0)
		memcpy(&area->number_of[first_id], number_of, as->nids * sizeof(uint16));
	pfs_seqlock_write_end(&area->lock);
	return query;
}

void
pfs_measured_end(PfsMeasured *query)
{
	pfs_seqlock_write_begin(&pfs_node_area->lock);
	query->since = 0;
	pfs_seqlock_write_end(&pfs_node_area->lock);
}

/* A query that has ended since has no waits any more: its table was emptied before. */
const PfsMeasured *
pfs_node_waited(uint32 charge, uint64 statement_id, uint64 ticks, uint32 *node)
{
	uint32		at = charge - 1;

	for (int i = 0; charge != 0 && pfs_node_area != NULL && i < PFS_MEASURED_MAX; i++)
	{
		const PfsMeasured *query = &pfs_node_area->queries[i];

		if (query->since == 0 || at < query->first || at >= query->first + query->n)
			continue;
		if (query->statement_id != statement_id)
			return NULL;
		*node = at - query->first;
		pfs_node_area->counts[at].waited += ticks;
		return query;
	}
	return NULL;
}

/* If the leader changes its area all the time, the worker is not measured. */
bool
pfs_measured_of_leader(const PfsThread *leader, uint32 level, PfsMeasured *query, uint16 *number_of)
{
	const PfsNodeArea *area = pfs_thread_sets_get(&pfs_node_areas, leader->index);

	for (int i = 0; area != NULL && i < READ_TRIES; i++)
	{
		uint64		word = pfs_seqlock_read_begin(&area->lock);

		query->since = 0;
		for (int q = 0; q < PFS_MEASURED_MAX; q++)
		{
			const PfsMeasured *found = &area->queries[q];

			if (found->nids > 0 && found->level == level && found->since > query->since)
				*query = *found;
		}
		if (query->since != 0 && query->first_id + query->nids <= PFS_NODE_IDS_MAX)
			memcpy(number_of, &area->number_of[query->first_id], query->nids * sizeof(uint16));
		if (pfs_seqlock_read_valid(&area->lock, word))
			return query->since != 0;
		pfs_pause();
	}
	return false;
}
