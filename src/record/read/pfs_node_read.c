/*
 * pfs_node_read.c
 *	  Readers and truncators of plans' nodes.
 *
 * Sums and waits are copied while no plan goes (pfs_blocking_work()), as of digests, and handed on behind that.  What runs is
 * copied from its process's area, while that measures the same queries.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest.h"
#include "pfs_node_area.h"
#include "pfs_node_read.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* How often an area is copied that its process changes meanwhile. */
#define READ_TRIES 100

/* ---- chains ---- */

/* Is called for each node of a plan, or of all others (key of zeroes). */
typedef void (*EachNode) (PfsNode *node, const PfsNodeKey *key, void *arg);

/*
 * A chain is as long as a plan can have nodes, and a node has its place in it; one that is being freed by a process
 * that was not waited for can lead anywhere.
 */
static void
each_of_plan(const PfsDigest *plan, EachNode each, void *arg)
{
	PfsNodeKey	key = {plan->key, plan->plan_id, 0};
	PfsNode    *node = pfs_node_at(pfs_load_acquire(&plan->nodes));

	for (; node != NULL && key.number < PFS_NODES_MAX && node->facts.number == key.number; node = pfs_node_next(node))
	{
		each(node, &key, arg);
		key.number++;
	}
}

static void
each_node(EachNode each, void *arg)
{
	PfsNodeKey	others = {{0, 0}, 0, 0};

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_plans.pages, &at);)
		each_of_plan(pfs_pages_record(pfs_plans.pages, at.index), each, arg);
	each(pfs_other_nodes, &others, arg);
}

/* The time of the waits of all others. */
static uint64
sum_of_other_waits(void)
{
	uint64		sum = 0;

	for (uint32 i = pfs_shared_block_next(&pfs_node_other_waits, 0); i < pfs_node_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_node_other_waits, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_read(pfs_shared_block_cell(&pfs_node_other_waits, i), &totals);
		sum += totals.sum;
	}
	return sum;
}

/* The time of a node's waits, or of those of all others. */
static uint64
sum_of_waits(const PfsNode *node)
{
	uint64		sum = node == pfs_other_nodes ? sum_of_other_waits() : 0;
	uint32		n = 0;

	for (uint32 link = pfs_load_acquire(&node->waits); link != 0 && link <= pfs_node_waits->records_max && n++ < pfs_node_waits->records_max;
		 link = pfs_chain_at(pfs_node_waits, link)->next)
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_read(&pfs_chain_at(pfs_node_waits, link)->cell, &totals);
		sum += totals.sum;
	}
	return sum;
}

/* ---- sums ---- */

typedef struct Rows
{
	PfsNodeRow *items;
	uint32		n;
	uint32		max;
} Rows;

/* Copies one node's sums. */
static void
copy_node_cb(PfsNode *node, const PfsNodeKey *key, void *arg)
{
	Rows	   *rows = arg;

	if (rows->n == rows->max)
		return;
	rows->items[rows->n++] = (PfsNodeRow)
	{
		.key = *key,
			.facts = node->facts,
			.sums = pfs_node_sums(node),
			.waited = sum_of_waits(node)
	};
}

static void
copy_nodes(PfsPatience *patience, void *arg)
{
	each_node(copy_node_cb, arg);
}

/* Plans, by key, as plan nodes are. */
static int
compare_keys(const void *a, const void *b)
{
	const PfsNodeKey *x = a;
	const PfsNodeKey *y = b;

	if (x->digest.query_id != y->digest.query_id)
		return x->digest.query_id < y->digest.query_id ? -1 : 1;
	if (x->digest.db_user != y->digest.db_user)
		return x->digest.db_user < y->digest.db_user ? -1 : 1;
	if (x->plan_id != y->plan_id)
		return x->plan_id < y->plan_id ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Counts a plan's executions in the rows of its nodes. */
static void
count_executions_cb(const PfsDigestRow *plan, void *arg)
{
	const Rows *rows = arg;
	PfsNodeKey	key = {plan->key, plan->plan_id, 0};
	PfsNodeRow *row = plan->plan_id == 0 ? NULL : bsearch(&key, rows->items, rows->n, sizeof(PfsNodeRow), compare_keys);

	for (; row != NULL && row < rows->items + rows->n && row->key.plan_id == plan->plan_id &&
		 pfs_digest_same_key(&row->key.digest, &plan->key); row++)
		row->plan_executions = pfs_totals_count(&plan->totals.time);
}

/*
 * Each execution of a node that was measured is one of its plan, though its statement may not have ended yet, and so not be
 * counted.
 */
void
pfs_nodes_read(PfsNodeEmit emit, void *arg)
{
	Rows		rows = {0};

	if (pfs_sizes.plan_nodes == 0 || pfs_sizes.plans == 0)
		return;
	rows.max = pfs_sizes.plan_nodes + 1;
	/* Memory that is not used costs nothing. */
	rows.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(PfsNodeRow) * (Size) rows.max);
	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_nodes, &rows);
	qsort(rows.items, rows.n, sizeof(PfsNodeRow), compare_keys);
	pfs_digests_read(&pfs_plans, 0, count_executions_cb, &rows);
	for (uint32 i = 0; i < rows.n; i++)
	{
		PfsNodeRow *row = &rows.items[i];

		CHECK_FOR_INTERRUPTS();
		row->plan_executions = Max(row->plan_executions, row->sums.executions);
		if (row->key.plan_id != 0 || row->sums.executions > 0 || row->waited > 0)
			emit(row, arg);
	}
	pfree(rows.items);
}

/* ---- waits ---- */

typedef struct WaitRows
{
	PfsInstrumentId instrument; /* PFS_NO_INSTRUMENT: all */
	PfsNodeWaitRow *items;
	uint32		n;
	uint32		max;
} WaitRows;

static void
add_wait(WaitRows *rows, const PfsNodeWaitRow *row)
{
	if (pfs_totals_count(&row->totals) > 0 && rows->n < rows->max &&
		(rows->instrument == PFS_NO_INSTRUMENT || rows->instrument == row->instrument))
		rows->items[rows->n++] = *row;
}

/* Copies one node's waits. */
static void
copy_waits_cb(PfsNode *node, const PfsNodeKey *key, void *arg)
{
	WaitRows   *rows = arg;
	uint32		n = 0;

	for (uint32 link = pfs_load_acquire(&node->waits); link != 0 && link <= pfs_node_waits->records_max && n++ < pfs_node_waits->records_max;
		 link = pfs_chain_at(pfs_node_waits, link)->next)
	{
		const PfsChained *cell = pfs_chain_at(pfs_node_waits, link);
		PfsNodeWaitRow row = {.key = *key, .instrument = cell->key};

		pfs_shared_cell_read(&cell->cell, &row.totals);
		add_wait(rows, &row);
	}
}

/* Those of all others, too. */
static void
copy_waits(PfsPatience *patience, void *arg)
{
	WaitRows   *rows = arg;

	each_node(copy_waits_cb, arg);
	for (uint32 i = pfs_shared_block_next(&pfs_node_other_waits, 0); i < pfs_node_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_node_other_waits, i + 1))
	{
		PfsNodeWaitRow row = {.instrument = i};

		pfs_shared_cell_read(pfs_shared_block_cell(&pfs_node_other_waits, i), &row.totals);
		add_wait(rows, &row);
	}
}

/* Copies the waits of all nodes, then hands them on. */
void
pfs_node_waits_read(PfsInstrumentId instrument, PfsNodeWaitEmit emit, void *arg)
{
	WaitRows	rows = {.instrument = instrument};

	if (pfs_sizes.plan_nodes == 0 || pfs_sizes.plans == 0)
		return;
	/* No cell is of two nodes.  Memory that is not used costs nothing. */
	rows.max = pfs_node_waits->records_max + pfs_node_other_waits.ncells;
	rows.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(PfsNodeWaitRow) * (Size) rows.max);
	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_waits, &rows);
	for (uint32 i = 0; i < rows.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		emit(&rows.items[i], arg);
	}
	pfree(rows.items);
}

/* ---- now ---- */

/* Copies of a count's total and of the begin of its open call that belong to each other. */
static void
copy_open_call(const PfsNodeCount *from, PfsNodeCount *to)
{
	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64		entered = pfs_load_acquire(&from->entered);

		to->total = pfs_load_relaxed(&from->total);
		pfs_fence_acquire();
		to->entered = pfs_load_relaxed(&from->entered);
		if (to->entered == entered && entered != PFS_NODE_ENDING)
			return;
	}
	to->entered = 0;
}

/* Copies what a process is measuring, as of now, with its waits so far that are in no count; false: it changes that. */
static bool
copy_area(const PfsThread *t, const PfsNodeArea *area, PfsNodeArea *copy, uint64 *now)
{
	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64		word = pfs_seqlock_read_begin(&area->lock);

		/* Before the copy: a call that is open in it was open by then. */
		*now = pfs_timer_read(pfs_timer_default());
		pfs_racy_copy(copy, area, sizeof(*copy));
		for (int c = 0; c < PFS_NODES_MAX; c++)
			copy_open_call(&area->counts[c], &copy->counts[c]);
		if (!pfs_seqlock_read_valid(&area->lock, word))
		{
			pfs_pause();
			continue;
		}
		for (int w = 0; w < PFS_DIGEST_WAITS; w++)
		{
			uint32		key = pfs_load_relaxed(&t->digest_waits[w].key);

			if (PFS_DIGEST_WAIT_NODE(key) > 0 && PFS_DIGEST_WAIT_NODE(key) <= PFS_NODES_MAX)
				copy->counts[PFS_DIGEST_WAIT_NODE(key) - 1].waited += pfs_load_relaxed(&t->digest_waits[w].counts.sum);
		}
		return true;
	}
	return false;
}

/* What the planner said of the nodes of a plan, by number; false: it has none by now. */
static bool
copy_facts(const PfsMeasured *query, PfsNodeFacts *facts)
{
	uint64		word;
	uint32		index = pfs_plan_find(&query->key, query->plan_id, &word);
	const PfsNode *node;
	uint32		n = 0;

	if (index == PFS_NO_RECORD)
		return false;
	node = pfs_node_at(pfs_load_acquire(&((PfsDigest *) pfs_pages_record(pfs_plans.pages, index))->nodes));
	for (; node != NULL && n < query->n && node->facts.number == n; node = pfs_node_next(node))
		facts[n++] = node->facts;
	pfs_fence_acquire();
	return n == query->n && pfs_pages_word(pfs_plans.pages, index) == word;
}

/* Which node has called one whose call goes on?  That whose call was begun last before it. */
static PfsNodeCount *
caller_of_open(PfsNodeCount *counts, uint32 n, uint64 entered)
{
	PfsNodeCount *caller = counts;

	for (uint32 i = 1; i < n; i++)
	{
		if (counts[i].entered < entered && counts[i].entered > caller->entered)
			caller = &counts[i];
	}
	return caller;
}

/* Adds the calls that go on to their nodes, and below the ones that have called them. */
static void
add_open_calls(PfsNodeCount *counts, uint32 n, uint64 now)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint64		entered = counts[i].entered;

		if (entered == 0 || entered == PFS_NODE_DROPPED || entered > now)
			continue;
		counts[i].total += now - entered;
		if (i > 0)
			caller_of_open(counts, n, entered)->below += now - entered;
	}
}

/* Hands on the nodes of one query of a copy. */
static void
emit_query(uint64 thread_id, PfsNodeArea *area, const PfsMeasured *query, uint64 now, PfsNodeNowEmit emit, void *arg)
{
	PfsNodeFacts facts[PFS_NODES_MAX] = {0};
	PfsNodeCount *counts = &area->counts[query->first];
	bool		has_facts;
	TimestampTz since = pfs_clock_timestamp(query->since, pfs_clock_offset(now));

	if (query->since == 0 || query->first + query->n > PFS_NODES_MAX)
		return;
	has_facts = copy_facts(query, facts);
	add_open_calls(counts, query->n, now);
	for (uint32 i = 0; i < query->n; i++)
	{
		PfsNodeNow	row = {
			.digest = query->key,
			.thread_id = thread_id,
			.event_id = query->event_id,
			.plan_id = query->plan_id,
			.facts = facts[i],
			.has_facts = has_facts,
			.is_dropped = counts[i].entered == PFS_NODE_DROPPED,
			.is_running = counts[i].entered != 0 && counts[i].entered != PFS_NODE_DROPPED,
			.loops = counts[i].loops,
			.rows = counts[i].rows,
			.total = counts[i].total,
			.self = counts[i].total > counts[i].below ? counts[i].total - counts[i].below : 0,
			.waited = counts[i].waited,
			.since = since
		};

		row.facts.number = i;
		emit(&row, arg);
	}
}

/* A process that measures what begins and ends all the time may be left out. */
void
pfs_nodes_now_read(PfsNodeNowEmit emit, void *arg)
{
	char	   *room;
	PfsNodeArea *copy;

	if (pfs_sizes.plan_nodes == 0 || pfs_sizes.plans == 0)
		return;
	room = palloc(sizeof(PfsNodeArea) + PFS_CACHE_LINE);
	copy = (PfsNodeArea *) TYPEALIGN(PFS_CACHE_LINE, room);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);
		const PfsNodeArea *area = pfs_thread_sets_get(&pfs_node_areas, at.index);
		uint64		thread_id = pfs_load_relaxed(&t->thread_id);
		uint64		now;

		CHECK_FOR_INTERRUPTS();
		if (area == NULL || !copy_area(t, area, copy, &now) || pfs_pages_word(pfs_threads, at.index) != at.word)
			continue;
		for (int i = 0; i < PFS_MEASURED_MAX; i++)
			emit_query(thread_id, copy, &copy->queries[i], now, emit, arg);
	}
	pfree(room);
}

/* ---- truncation ---- */

typedef struct Truncation
{
	bool		of_waits;
	uint64		taken;
} Truncation;

static void
take_nodes(PfsPatience *patience, void *arg)
{
	Truncation *t = arg;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_plans.pages, &at);)
	{
		const PfsDigest *plan = pfs_pages_record(pfs_plans.pages, at.index);
		PfsNode    *first = pfs_node_at(pfs_load_acquire(&plan->nodes));

		t->taken += t->of_waits ? pfs_node_waits_take(first) : pfs_nodes_take(first);
	}
	t->taken += t->of_waits ? pfs_node_waits_take(pfs_other_nodes) : pfs_nodes_take(pfs_other_nodes);
}

static int64
truncate_nodes(bool of_waits)
{
	Truncation	t = {.of_waits = of_waits};

	if (pfs_sizes.plan_nodes > 0 && pfs_sizes.plans > 0)
		pfs_blocking_work(PFS_COUNTED_DIGESTS, true, take_nodes, &t);
	return (int64) t.taken;
}

int64
pfs_nodes_truncate(void)
{
	return truncate_nodes(false);
}

int64
pfs_node_waits_truncate(void)
{
	return truncate_nodes(true);
}
