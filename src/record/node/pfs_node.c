/*
 * pfs_node.c
 *	  The containers of plans' nodes and of their waits: making, adding, moving to all others.
 *
 * A chain is filled in before its head is published by compare-and-swap, and nothing is linked or unlinked behind that, so
 * whoever has the plan walks along it without a look at who else does.  Sums are added to word by word: a reader, or a
 * truncator, that comes between has one word of an execution and not yet the next.  What a truncator takes, and what
 * comes behind it, is each number once.
 */
#include "postgres.h"

#include "pfs_node.h"
#include "pfs_shared.h"

/* Records of one page: 32 kB, or so. */
#define NODES_PER_PAGE		256
#define WAITS_PER_PAGE		512

/* Kinds of waits that a node has, on average, within reason. */
#define WAITS_PER_NODE		1

/* In words. */
#define NODE_SUMS			(sizeof(PfsNodeSums) / sizeof(uint64))

PFS_FIXED PfsPages *pfs_nodes = NULL;
PFS_FIXED PfsPages *pfs_node_waits = NULL;
PfsNode    *pfs_other_nodes = NULL;
PfsSharedBlock pfs_node_other_waits;

static uint32 hint;
static uint32 wait_hint;

static inline uint32
other_cells(void)
{
	return pfs_sizes.plan_nodes == 0 ? 0 : pfs_sizes.cells[PFS_FAMILY_WAITS];
}

size_t
pfs_node_other_waits_size(void)
{
	return pfs_shared_block_size(other_cells(), sizeof(PfsSharedCell));
}

/* Takes both containers, and the waits of all others. */
void
pfs_nodes_lay_out(PfsSegment *seg)
{
	pfs_nodes = pfs_pages_create(seg, "plan_nodes", sizeof(PfsNode), pfs_sizes.plan_nodes, NODES_PER_PAGE);
	pfs_node_waits = pfs_pages_create(seg, "plan_node_waits", sizeof(PfsChained), pfs_sizes.plan_nodes * WAITS_PER_NODE,
									  WAITS_PER_PAGE);
	pfs_node_other_waits = (PfsSharedBlock)
	{
		pfs_segment_take(seg, pfs_node_other_waits_size(), PFS_CACHE_LINE), other_cells(), sizeof(PfsSharedCell)
	};
}

#define TYPE_NAME(number, tag, name) [number] = name,

const char *
pfs_node_type_name(PfsNodeType type)
{
	static const char *const names[PFS_NUM_NODE_TYPES] = {
		[PFS_NODE_UNKNOWN] = "Unknown",
		[PFS_NODE_OUTPUT] = "Output",
		PFS_NODE_TYPES(TYPE_NAME)
	};

	return type < PFS_NUM_NODE_TYPES ? names[type] : names[PFS_NODE_UNKNOWN];
}

/* Gives the records of a chain back. */
static void
discard(uint32 link)
{
	while (link != 0)
	{
		PfsNode    *node = pfs_node_at(link);

		link = node->next;
		pfs_pages_discard(pfs_nodes, node);
	}
}

/* The last node is made first, so that the first one is at the head. */
bool
pfs_nodes_make(uint32 *head, const PfsNodeFacts *facts, uint32 n)
{
	uint32		link = 0;
	uint32		none = 0;

	if (pfs_load_acquire(head) != 0)
		return true;
	while (n-- > 0)
	{
		PfsNode    *node = pfs_pages_make(pfs_nodes, &hint);

		if (node == NULL)
		{
			discard(link);
			return false;
		}
		node->facts = facts[n];
		node->next = link;
		link = pfs_pages_index(pfs_nodes, node) + 1;
	}
	if (!pfs_cas(head, &none, link))
		discard(link);
	return true;
}

void
pfs_node_add(PfsNode *node, const PfsNodeSums *sums)
{
	pfs_add_relaxed(&node->sums.executions, sums->executions);
	pfs_add_relaxed(&node->sums.loops, sums->loops);
	pfs_add_relaxed(&node->sums.rows, sums->rows);
	pfs_add_relaxed(&node->sums.calls, sums->calls);
	pfs_add_seqcst(&node->sums.timed, sums->timed); /* behind calls: pairs
													 * with pfs_node_sums() */
	pfs_add_relaxed(&node->sums.total, sums->total);
	pfs_add_relaxed(&node->sums.self, sums->self);
	pfs_raise_to(&node->sums.max_total, sums->max_total);
}

static void
add_to_others(PfsInstrumentId instrument, const PfsTotals *waits)
{
	if (instrument < pfs_node_other_waits.ncells)
		pfs_shared_cell_merge(pfs_shared_block_touch(&pfs_node_other_waits, instrument), waits);
}

/* No more calls are timed than there are: these are read behind the timed ones. */
PfsNodeSums
pfs_node_sums(const PfsNode *node)
{
	PfsNodeSums sums;

	sums.timed = pfs_load_acquire(&node->sums.timed);
	sums.executions = pfs_load_relaxed(&node->sums.executions);
	sums.loops = pfs_load_relaxed(&node->sums.loops);
	sums.rows = pfs_load_relaxed(&node->sums.rows);
	sums.calls = pfs_load_relaxed(&node->sums.calls);
	sums.total = pfs_load_relaxed(&node->sums.total);
	sums.self = pfs_load_relaxed(&node->sums.self);
	sums.max_total = pfs_load_relaxed(&node->sums.max_total);
	return sums;
}

/* All others have a cell for each instrument, so nothing is lost. */
void
pfs_node_add_waits(uint32 head, uint32 number, PfsInstrumentId instrument, const PfsTotals *waits)
{
	PfsNode    *node = pfs_node_at(head);
	PfsChained *cell = NULL;

	while (node != NULL && node->facts.number != number)
		node = pfs_node_next(node);
	if (node != NULL)
		cell = pfs_chain_get(pfs_node_waits, &node->waits, instrument, &wait_hint);
	if (cell != NULL)
		pfs_shared_cell_merge(&cell->cell, waits);
	else
		add_to_others(instrument, waits);
}

/* ---- a plan goes ---- */

static bool (*move_is_wanted) (void);

/* Adds one wait to those of all others. */
static void
move_wait_cb(PfsChained *cell, void *arg)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_read(&cell->cell, &totals);
	if (pfs_totals_count(&totals) > 0 && move_is_wanted())
		add_to_others(cell->key, &totals);
}

void
pfs_nodes_free(uint32 *head, bool (*is_wanted) (void))
{
	uint32		link = pfs_exchange(head, 0);

	move_is_wanted = is_wanted;
	for (PfsNode *node = pfs_node_at(link); node != NULL; node = pfs_node_next(node))
	{
		pfs_chain_free(pfs_node_waits, &node->waits, is_wanted != NULL ? move_wait_cb : NULL, NULL);
		if (is_wanted != NULL && is_wanted())
			pfs_node_add(pfs_other_nodes, &node->sums);
	}
	discard(link);
}

/* ---- truncation ---- */

/* Whoever adds meanwhile adds to what is there behind it. */
uint64
pfs_nodes_take(PfsNode *first)
{
	uint64		taken = 0;

	for (PfsNode *node = first; node != NULL; node = pfs_node_next(node))
	{
		uint64	   *sums = (uint64 *) &node->sums;

		taken += pfs_load_relaxed(&node->sums.executions);
		for (int i = 0; i < NODE_SUMS; i++)
			(void) pfs_exchange(&sums[i], 0);
	}
	return taken;
}

/* The waits of all others. */
static uint64
take_other_waits(void)
{
	uint64		taken = 0;

	for (uint32 i = pfs_shared_block_next(&pfs_node_other_waits, 0); i < pfs_node_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_node_other_waits, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_take(pfs_shared_block_cell(&pfs_node_other_waits, i), &totals);
		taken += pfs_totals_count(&totals);
	}
	return taken;
}

/* The cells stay with their nodes. */
uint64
pfs_node_waits_take(PfsNode *first)
{
	uint64		taken = first == pfs_other_nodes ? take_other_waits() : 0;

	for (PfsNode *node = first; node != NULL; node = pfs_node_next(node))
	{
		for (uint32 link = pfs_load_acquire(&node->waits); link != 0; link = pfs_chain_at(pfs_node_waits, link)->next)
		{
			PfsTotals	totals = {0};

			pfs_shared_cell_take(&pfs_chain_at(pfs_node_waits, link)->cell, &totals);
			taken += pfs_totals_count(&totals);
		}
	}
	return taken;
}
