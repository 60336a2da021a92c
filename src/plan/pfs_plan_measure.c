/*
 * pfs_plan_measure.c
 *	  Measuring plans' nodes: which executions, their runs, and where their counts go at the end.
 *
 * Whether an execution is measured is decided where it starts (pfs_nodes_start()); it begins to be with its first run, and
 * ends with its memory, wherever that goes: at the executor's end, or with the transaction that an error has ended.
 * Separate from pfs_plan_node.c, which counts at each call.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "pfs_charge.h"
#include "pfs_digest.h"
#include "pfs_digest_wait.h"
#include "pfs_leader.h"
#include "pfs_plain.h"
#include "pfs_plan.h"
#include "pfs_plan_measure.h"
#include "pfs_plan_node.h"
#include "pfs_shared.h"

/* ---- the first run ---- */

/* The statement in which it runs: its event. */
static uint64
statement_event(void)
{
	if (pfs_plain.state != PFS_PLAIN_NONE)
		return pfs_plain.open.event_id;
	if (pfs_sql.current != NULL)
		return pfs_sql.current->event_id;
	return pfs_sql.top_open ? pfs_sql.top.event_id : 0;
}

/* Makes the nodes of the plan, if it has none.  False: there is no room. */
static bool
make_nodes(const PfsMeasured *as, const PfsPlanNumbers *numbers)
{
	PfsPinnedDigest *pinned;
	bool		made = false;

	pfs_write_begin(pfs_my_thread);
	pinned = pfs_plan_enter(&as->key, as->plan_id, true);
	if (pinned != NULL)
		made = pfs_nodes_make(&pinned->digest->nodes, numbers->facts, numbers->n);
	else
		pfs_pages_count_lost(pfs_nodes);
	pfs_digest_leave(pinned);
	pfs_write_end(pfs_my_thread);
	return made;
}

/* Has the plan nodes by now? */
static bool
has_nodes(const PfsMeasured *as)
{
	uint64		word;
	uint32		index = pfs_plan_find(&as->key, as->plan_id, &word);

	return index != PFS_NO_RECORD && pfs_load_relaxed(&((PfsDigest *) pfs_pages_record(pfs_plans.pages, index))->nodes) != 0;
}

/* What the walk that finds parents needs. */
typedef struct ParentWalk
{
	const PfsPlanNumbers *numbers;
	PfsNodeFacts *facts;
	uint32		parent;			/* number of the node above */
} ParentWalk;

/* The plan does not have subplans below the node that calls them, but PlanStates do: their parents are those. */
static bool
find_parents(PlanState *state, void *arg)
{
	const ParentWalk *walk = arg;
	uint32		id = state == NULL ? 0 : state->plan->plan_node_id;
	uint32		number = state != NULL && id < walk->numbers->nids ? walk->numbers->of_id[id] : 0;
	ParentWalk	below = {walk->numbers, walk->facts, number};

	if (number == 0)
		return false;
	if (walk->facts[number].parent == 0 && walk->parent != number)
		walk->facts[number].parent = walk->parent;
	return planstate_tree_walker(state, find_parents, &below);
}

/* What is to be measured, and the numbers of its nodes.  False: it cannot be. */
static bool
describe_own(QueryDesc *desc, PfsNodeQuery *query, PfsMeasured *as, const uint16 **number_of)
{
	PfsPlanNumbers *numbers = palloc(sizeof(PfsPlanNumbers));

	*as = (PfsMeasured)
	{
		.key = pfs_digest_key(MyDatabaseId, query->user, query->stmt->queryId),
			.plan_id = query->plan_id,
			.event_id = statement_event()
	};
	if (!pfs_plan_number_nodes(query->stmt, !has_nodes(as), numbers))
	{
		pfs_pages_count_lost(pfs_nodes);
		return false;
	}
	if (numbers->wants_facts)
	{
		ParentWalk	walk = {numbers, numbers->facts, 0};

		(void) find_parents(desc->planstate, &walk);
		if (!make_nodes(as, numbers))
			return false;
	}
	as->n = numbers->n;
	as->nids = query->stmt->parallelModeNeeded ? numbers->nids : 0;
	as->level = pfs_leading != NULL ? pfs_leading->level : 0;
	query->nids = numbers->nids;
	*number_of = numbers->of_id;
	return true;
}

/* The same of a worker: its leader has described it. */
static bool
describe_leaders(PfsNodeQuery *query, PfsMeasured *as, const uint16 **number_of)
{
	uint16	   *numbers = palloc(PFS_NODE_IDS_MAX * sizeof(uint16));
	uint32		level;
	const PfsThread *leader = pfs_work_leader(&level);

	if (leader == NULL || !pfs_measured_of_leader(leader, level, as, numbers))
		return false;
	query->nids = as->nids;
	as->nids = 0;
	as->event_id = 0;
	*number_of = numbers;
	return true;
}

/* Begins to measure, where the query runs first. */
static void
make_ready(PfsNodeQuery *query, QueryDesc *desc)
{
	MemoryContext old = MemoryContextSwitchTo(desc->estate->es_query_cxt);
	PfsMeasured as;
	const uint16 *number_of = NULL;

	query->is_ready = true;
	if (pfs_node_area_claim() &&
		(query->is_worker ? describe_leaders(query, &as, &number_of) : describe_own(desc, query, &as, &number_of)))
	{
		query->slots = (NodeSlot *) TYPEALIGN(PFS_CACHE_LINE, palloc0(query->nids * sizeof(NodeSlot) + PFS_CACHE_LINE));
		query->measured = pfs_measured_begin(&as, pfs_node_clock(), number_of);
		if (query->measured == NULL)
			pfs_pages_count_lost(pfs_nodes);
	}
	if (query->measured != NULL)
	{
		query->output = &pfs_node_area->counts[query->measured->first];

		/*
		 * A worker's part is called anew by its leader, and a cursor's plan
		 * where it goes back.
		 */
		pfs_nodes_wrap(query, desc->planstate, number_of,
					   query->is_worker || (desc->estate->es_top_eflags & EXEC_FLAG_REWIND) != 0);
	}
	MemoryContextSwitchTo(old);
}

/* ---- runs ---- */

/* What was before a run. */
typedef struct Outer
{
	PfsNodeQuery *running;
	uint32		charge;
} Outer;

/* The innermost node is Output from here on, and what has waited so far are no nodes of this query. */
static Outer
begin_run(PfsNodeQuery *query)
{
	Outer		outer = {pfs_node_running, pfs_charge_node};

	pfs_digest_waits_flush();
	pfs_digest_waits_of_nodes();
	query->measured->statement_id = pfs_digest_charged;
	pfs_node_running = query;
	pfs_charge_node = pfs_node_charge(query->output);
	query->output->loops = 1;
	query->output->calls++;
	pfs_store_relaxed(&query->output->entered, pfs_node_clock());
	return outer;
}

static void
end_run(PfsNodeQuery *query, Outer outer)
{
	pfs_node_end_call(query->output, pfs_node_clock() - query->output->entered);
	pfs_node_running = outer.running;
	pfs_charge_node = outer.charge;
	pfs_digest_waits_flush();
}

/* Calls a run, or with run NULL a finish, of a query that is measured. */
static void
call_measured(PfsNodeQuery *query, ExecutorRun_hook_type run, ExecutorFinish_hook_type finish, PFS_EXECUTOR_RUN_PARAMS)
{
	Outer		outer = begin_run(query);

	PG_TRY();
	{
		if (run != NULL)
			run(PFS_EXECUTOR_RUN_ARGS);
		else
			finish(desc);
	}
	PG_CATCH();
	{
		pfs_nodes_fail(query);
		end_run(query, outer);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (run != NULL)
		query->output->rows += desc->estate->es_processed;
	end_run(query, outer);
	pfs_nodes_forget_hashes(query);
}

/* The query begins to be measured with its first run. */
void
pfs_nodes_run(ExecutorRun_hook_type run, PFS_EXECUTOR_RUN_PARAMS)
{
	PfsNodeQuery *query = pfs_node_query_of(desc->estate);

	if (query != NULL && !query->is_ready)
		make_ready(query, desc);
	if (query != NULL && query->measured != NULL)
		call_measured(query, run, NULL, PFS_EXECUTOR_RUN_ARGS);
	else
		run(PFS_EXECUTOR_RUN_ARGS);
}

/* The parts of WITH that are completed here are nodes, too. */
void
pfs_nodes_finish(ExecutorFinish_hook_type finish, QueryDesc *desc)
{
	PfsNodeQuery *query = pfs_node_query_of(desc->estate);

	if (query != NULL && query->measured != NULL)
		call_measured(query, NULL, finish, PFS_EXECUTOR_NO_RUN_ARGS);
	else
		finish(desc);
}

/* ---- the end ---- */

/* The sums of one execution; Output's rows are the query's. */
static PfsNodeSums
sums_of(const PfsNodeCount *count, bool is_output, bool is_worker)
{
	return (PfsNodeSums)
	{
		.executions = is_worker ? 0 : 1,
			.loops = count->loops,
			.rows = is_worker && is_output ? 0 : count->rows,
			.calls = count->calls,
			.timed = count->timed,
			.total = count->total,
			.self = count->total - count->below,
			.max_total = count->total
	};
}

/* Adds the counts to the plan's nodes; of a plan that has gone meanwhile, to all others. */
static void
add_counts(const PfsNodeQuery *query)
{
	const PfsMeasured *as = query->measured;
	PfsPinnedDigest *pinned;
	PfsNode    *node;

	pfs_write_begin(pfs_my_thread);
	pinned = pfs_plan_enter(&as->key, as->plan_id, false);
	node = pfs_node_at(pinned != NULL ? pfs_load_acquire(&pinned->digest->nodes) : 0);
	for (uint32 i = 0; i < as->n; i++)
	{
		PfsNodeSums sums = sums_of(&query->output[i], i == 0, query->is_worker);

		if (query->output[i].entered != PFS_NODE_DROPPED)
			pfs_node_add(node != NULL ? node : pfs_other_nodes, &sums);
		node = node != NULL ? pfs_node_next(node) : NULL;
	}
	pfs_digest_leave(pinned);
	pfs_write_end(pfs_my_thread);
}

/* The query's memory goes: at the executor's end, or with the transaction that an error has ended. */
static void
end_cb(void *arg)
{
	PfsNodeQuery *query = arg;
	PfsNodeQuery **at = &pfs_node_queries;

	while (*at != NULL && *at != query)
		at = &(*at)->next;
	if (*at != NULL)
		*at = query->next;
	if (pfs_node_running == query)
		pfs_node_running = NULL;
	if (query->measured == NULL || pfs_node_area == NULL || pfs_my_thread == NULL)
		return;
	pfs_nodes_take_counts(query);
	for (uint32 i = 0; i < query->measured->n && query->exact_calls == PFS_PACE_EXACT; i++)
		pfs_budget_spend(query->output[i].calls, query->output[i].timed, 1);
	if (!pfs_is_writing(pfs_my_thread))
		add_counts(query);
	pfs_measured_end(query->measured);
}

/* ---- which executions ---- */

/* Is a worker's leader measuring?  Else by the budget. */
static bool
is_wanted(const PfsKnownPlan *known)
{
	if (IsParallelWorker())
		return true;
	return pfs_plan_nodes == PFS_PLAN_NODES_ALL || pfs_budget_has_room(known->measured == 0);
}

/* Notes an execution that is to be measured; its memory's end is that of the measuring. */
void
pfs_nodes_start(QueryDesc *desc)
{
	const PlannedStmt *stmt = desc->plannedstmt;
	PfsKnownPlan *known = pfs_known_plan(stmt->queryId);
	bool		is_it = pfs_plan_to_measure == stmt;
	MemoryContext context;
	PfsNodeQuery *query;

	pfs_plan_to_measure = NULL;
	/* Where the start of the one that was meant has failed, it is gone. */
	if (!is_it || desc->planstate == NULL || pfs_my_thread == NULL || pfs_text_is_made ||
		(!IsParallelWorker() && (known->stmt != stmt || known->plan_id == 0)) || !is_wanted(known))
		return;
	context = desc->estate->es_query_cxt;
	query = MemoryContextAllocZero(context, sizeof(PfsNodeQuery));
	query->estate = desc->estate;
	query->stmt = stmt;
	query->is_worker = IsParallelWorker();
	query->exact_calls = pfs_plan_nodes == PFS_PLAN_NODES_ALL ? PG_UINT64_MAX : PFS_PACE_EXACT;
	query->user = pfs_plan_to_measure_user;
	if (!query->is_worker)
	{
		query->plan_id = known->plan_id;
		known->measured++;
	}
	query->end.func = end_cb;
	query->end.arg = query;
	MemoryContextRegisterResetCallback(context, &query->end);
	query->next = pfs_node_queries;
	pfs_node_queries = query;
}
