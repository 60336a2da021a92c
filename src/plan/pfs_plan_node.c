/*
 * pfs_plan_node.c
 *	  Measuring plans' nodes: rows, loops, calls, time and waits of each, in the executions that are measured.
 *
 * When a query runs first, each of its PlanStates gets exec_first() in the place of its own function in ExecProcNodeReal,
 * which is where all ways of the server to a node end; ExecProcNode is left alone until the first call.  Not when the
 * executor starts: in a parallel worker the state that is shared with the leader is set up behind that, and would undo
 * it, or count on statistics that the leader does not have.
 *
 * A call's time is added to the node's total, and to what the node below which it was called has below: its own
 * time is the difference.  So the own times of all nodes add up to the run's, whatever calls whom; an error needs no more
 * repair than that the calls are closed which it has left (settle_failed()).
 *
 * Some nodes are entered by another way, which has no function pointer: Hash, bitmaps, asynchronous scans.  The server
 * starts and stops a timer around them, if the node has one; so they get one, and what it has taken is added where a node
 * returns that may have called them.  The same struct of the server's tells of rescans: ExecReScan() takes back `running`.
 *
 * Loops, rows and the innermost node, for waits, are exact.  How calls are timed, and what measuring may cost, is
 * pfs_plan_pace.h's business.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "pfs_charge.h"
#include "pfs_clock.h"
#include "pfs_compat_instrument.h"
#include "pfs_digest.h"
#include "pfs_digest_wait.h"
#include "pfs_leader.h"
#include "pfs_node_area.h"
#include "pfs_plain.h"
#include "pfs_plan.h"
#include "pfs_plan_node.h"
#include "pfs_plan_pace.h"
#include "pfs_shared.h"

/* A node of a query, by its plan_node_id. */
typedef struct NodeSlot
{
	PlanState  *state;			/* NULL: there is none */
	ExecProcNodeMtd real;
	PfsNodeCount *count;
	PfsPace		pace;
	double		seen;			/* of the server's timer, added already */
	int16		parent;			/* plan_node_id; -1: none */
	int16		timed_child;	/* the first one that the server times; -1:
								 * none */
	int16		next_timed;		/* the next one of the same parent */
	bool		is_timed;		/* the server times it */
	bool		is_first_timed; /* its first call goes past us */
	bool		may_rescan;
	bool		own_instrument; /* the server's, which we have given it */
	bool		has_lost_child; /* one may have lost its function, or needs a
								 * timer */
} NodeSlot;

/* An execution that is measured; in the query's memory. */
typedef struct PfsNodeQuery
{
	EState	   *estate;
	struct PfsNodeQuery *next;	/* of pfs_node_queries */
	const PlannedStmt *stmt;
	PfsKnownPlan *known;		/* NULL: this is a worker's */
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
	uint16	   *parent_of;		/* [measured->n] by number */
	MemoryContextCallback end;
} PfsNodeQuery;

PfsNodeQuery *pfs_node_queries = NULL;

/* The one whose run goes on; NULL: none. */
static PfsNodeQuery *running = NULL;

static TupleTableSlot *exec_first(PlanState *state);

static inline uint64
ticks_now(void)
{
	return pfs_timer_read(pfs_timer_default());
}

/* ---- calls of nodes ---- */

/* A query that is not the running one, as that of a cursor whose node another one calls. */
static pg_noinline PfsNodeQuery *
find_query(const EState *estate)
{
	PfsNodeQuery *query = pfs_node_queries;

	while (query != NULL && query->estate != estate)
		query = query->next;
	if (query == NULL)
		elog(ERROR, "pfs: a plan's node is not of a query that is measured");
	return query;
}

static inline PfsNodeQuery *
query_of(const PlanState *state)
{
	return likely(running != NULL && running->estate == state->state) ? running : find_query(state->state);
}

static inline NodeSlot *
slot_in(const PfsNodeQuery *query, const PlanState *state)
{
	return &query->slots[state->plan->plan_node_id];
}

static inline NodeSlot *
parent_slot(const PfsNodeQuery *query, const NodeSlot *s)
{
	return s->parent >= 0 ? &query->slots[s->parent] : NULL;
}

/* The count of the node that calls, as pfs_charge_node has it. */
static inline PfsNodeCount *
caller_count(uint32 charge, const PfsNodeQuery *query)
{
	return likely(charge != 0) ? &pfs_node_area->counts[charge - 1] : query->output;
}

static inline void
begin_call(const NodeSlot *s)
{
	if (s->may_rescan && !s->state->instrument->running)
		s->count->loops++;
	s->count->calls++;
	pfs_charge_node = pfs_node_charge(s->count);
}

static inline void
end_call(const NodeSlot *s, uint32 caller, const TupleTableSlot *result)
{
	pfs_charge_node = caller;

	/*
	 * Not before: a scan by run-time keys rescans itself in its first call.
	 */
	if (s->own_instrument)
		s->state->instrument->running = true;
	s->count->rows += !TupIsNull(result);
}

/*
 * Adds what the server's timers have taken since the last look: to those nodes, and below the one that has called them.
 * Returns how many ticks that are.
 */
static pg_noinline uint64
settle_timed(const PfsNodeQuery *query, NodeSlot *s)
{
	uint64		settled = 0;

	for (int id = s->timed_child; id >= 0; id = query->slots[id].next_timed)
	{
		NodeSlot   *child = &query->slots[id];
		double		seconds = child->state->instrument == NULL ? 0 : pfs_compat_instrument_time(child->state->instrument);
		uint64		ticks;

		if (seconds <= child->seen)
			continue;
		if (child->timed_child >= 0)
			(void) settle_timed(query, child);
		ticks = (seconds - child->seen) * pfs_clock->frequency[pfs_timer_default()];
		child->seen = seconds;
		child->count->total += ticks;
		s->count->below += ticks;
		settled += ticks;
	}
	return settled;
}

/* Lets the server call the node's own function again: it is not counted any more. */
static void
let_go(NodeSlot *s)
{
	if (s->state->ExecProcNode == s->state->ExecProcNodeReal)
		s->state->ExecProcNode = s->real;
	s->state->ExecProcNodeReal = s->real;
	pfs_store_relaxed(&s->count->entered, PFS_NODE_LET_GO);
}

/* Behind a timed call of a node that is called often: which one is timed next?  One on which others rely is not let go. */
static pg_noinline void
look_at_pace(PfsNodeQuery *query, NodeSlot *s, bool may_go)
{
	uint64		elapsed = query->output->total + ticks_now() - query->output->entered;

	if (!pfs_pace_next(&s->pace, s->count->calls, elapsed, &query->cost) && may_go)
		let_go(s);
}

/*
 * Calls a node's own function, with the clock if it is this call's turn, and adds the time to the node, and below the one
 * that has called it.  is_plain: it has no children that the server times, and is below none.
 */
static pg_attribute_always_inline TupleTableSlot *
call_node(PfsNodeQuery *query, NodeSlot *s, PfsNodeCount *caller, bool is_plain)
{
	PfsNodeCount *count = s->count;
	TupleTableSlot *result;
	uint64		start;
	uint64		settled = 0;
	uint64		ticks;

	if (likely(s->pace.untimed > 0))
	{
		s->pace.untimed--;
		result = s->real(s->state);
		if (is_plain || s->timed_child < 0)
			return result;
		ticks = settle_timed(query, s);
		count->total += ticks;
		caller->below += ticks;
		return result;
	}
	start = ticks_now();
	pfs_store_relaxed(&count->entered, start);
	result = s->real(s->state);
	if (!is_plain && s->timed_child >= 0)
		settled = settle_timed(query, s);
	ticks = pfs_pace_ticks(&s->pace, ticks_now() - start, settled);
	pfs_store_relaxed(&count->entered, 0);
	count->timed++;
	count->total += ticks;
	caller->below += ticks;
	if (unlikely(count->calls > query->exact_calls))
		look_at_pace(query, s, is_plain);
	return result;
}

/* A node as nearly all are. */
static TupleTableSlot *
exec_node(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	uint32		caller = pfs_charge_node;
	TupleTableSlot *result;

	begin_call(s);
	result = call_node(query, s, caller_count(caller, query), true);
	end_call(s, caller, result);
	return result;
}

/* One that has children which the server times. */
static TupleTableSlot *
exec_above_timed(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	uint32		caller = pfs_charge_node;
	TupleTableSlot *result;

	begin_call(s);
	result = call_node(query, s, caller_count(caller, query), false);
	end_call(s, caller, result);
	return result;
}

/*
 * One below a Hash, which calls it, though that is not known from pfs_charge_node: the Hash's parent is the innermost one.  Behind
 * a row the Hash goes on, behind the last one its parent.
 */
static TupleTableSlot *
exec_below_hash(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	NodeSlot   *hash = parent_slot(query, s);
	NodeSlot   *join = parent_slot(query, hash);
	TupleTableSlot *result;

	begin_call(s);
	result = call_node(query, s, hash->count, false);
	end_call(s, pfs_node_charge(TupIsNull(result) && join != NULL ? join->count : hash->count), result);
	return result;
}

/* A parallel Hash Join right below a Gather, whose first call has gone past us. */
static TupleTableSlot *
exec_below_gather(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	TupleTableSlot *result;

	pfs_charge_node = pfs_node_charge(s->count);
	result = s->real(state);
	pfs_charge_node = pfs_node_charge(parent_slot(query, s)->count);
	return result;
}

static inline bool
is_ours(ExecProcNodeMtd function)
{
	return function == exec_first || function == exec_node || function == exec_above_timed || function == exec_below_hash ||
		function == exec_below_gather;
}

/* Gives a node the server's struct, if it has none, and a timer. */
static void
give_instrument(NodeSlot *s, bool with_timer)
{
	PlanState  *state = s->state;

	if (state->instrument == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(state->state->es_query_cxt);

		state->instrument = pfs_compat_instrument(with_timer, with_timer && state->async_capable);
		MemoryContextSwitchTo(old);
		s->own_instrument = true;
	}
	else if (with_timer)
		pfs_compat_instrument_timer(state->instrument);
}

/*
 * Before the first call of their parent, behind all that is set up for parallel workers: children that the server is to time get
 * a timer, and a parallel Hash Join, which has got its own function anew, loses it again.
 */
static bool
look_at_child(PlanState *child, void *arg)
{
	const PfsNodeQuery *query = arg;
	NodeSlot   *s;

	if (child == NULL)
		return false;
	s = slot_in(query, child);
	if (s->state != child)
		return false;
	if (IsA(child, HashJoinState) && child->plan->parallel_aware && !s->is_first_timed && !is_ours(child->ExecProcNodeReal))
	{
		s->real = child->ExecProcNodeReal;
		ExecSetExecProcNode(child, exec_first);
	}
	if (s->is_timed && !s->is_first_timed)
	{
		give_instrument(s, true);
		if (IsA(child, BitmapAndState) || IsA(child, BitmapOrState))
			planstate_tree_walker(child, look_at_child, arg);
	}
	return false;
}

/* A node whose first call has gone past us, and goes on: as if it had been entered by way of ours. */
static void
enter_first_timed(PfsNodeQuery *query, NodeSlot *s)
{
	s->real = s->state->ExecProcNodeReal;
	s->state->ExecProcNodeReal = exec_below_gather;
	planstate_tree_walker(s->state, look_at_child, query);
	pfs_charge_node = pfs_node_charge(s->count);
}

/* The first call of a node: which function is its from here on? */
static TupleTableSlot *
exec_first(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	NodeSlot   *parent = parent_slot(query, s);
	bool		below_hash = parent != NULL && IsA(parent->state, HashState);
	ExecProcNodeMtd function = below_hash ? exec_below_hash : s->timed_child >= 0 ? exec_above_timed : exec_node;

	if (s->has_lost_child)
		planstate_tree_walker(state, look_at_child, query);
	if (below_hash)
		parent = parent_slot(query, parent);
	if (parent != NULL && parent->is_first_timed && !is_ours(parent->state->ExecProcNodeReal))
		enter_first_timed(query, parent);
	if (s->may_rescan)
		give_instrument(s, false);
	else
		s->count->loops++;
	if (state->ExecProcNode == state->ExecProcNodeReal)
		state->ExecProcNode = function;
	state->ExecProcNodeReal = function;
	return function(state);
}

/* ---- the first run ---- */

/* What the walk over a query's nodes needs. */
typedef struct Wrap
{
	PfsNodeQuery *query;
	const uint16 *number_of;	/* [query->nids] */
	int			parent;			/* plan_node_id; -1: none */
	bool		may_rescan;		/* may those be rescanned that are met now? */
} Wrap;

/* Is it entered by a way that has no function pointer? */
static bool
is_timed_by_server(const PlanState *state)
{
	switch (nodeTag(state))
	{
		case T_HashState:
		case T_BitmapIndexScanState:
		case T_BitmapAndState:
		case T_BitmapOrState:
			return true;
		default:
			return state->async_capable;
	}
}

/* May the nodes below it be executed anew? */
static bool
rescans_children(const PlanState *state)
{
	switch (nodeTag(state))
	{
		case T_NestLoopState:
		case T_RecursiveUnionState:
		case T_MergeJoinState:
		case T_CustomScanState:
		case T_ForeignScanState:
			return true;
		default:
			return state->subPlan != NIL || state->initPlan != NIL;
	}
}

/* In the leader a Gather calls it without a node of ours between, when its function has been set anew. */
static bool
is_parallel_below_gather(const PlanState *state, const NodeSlot *parent)
{
	return IsA(state, HashJoinState) && state->plan->parallel_aware && parent != NULL &&
		(IsA(parent->state, GatherState) || IsA(parent->state, GatherMergeState));
}

/* Lets the server time a node; its parent asks the timer. */
static void
let_server_time(NodeSlot *s, NodeSlot *parent)
{
	s->is_timed = true;
	if (parent == NULL)
		return;
	s->next_timed = parent->timed_child;
	parent->timed_child = s->state->plan->plan_node_id;
}

static bool
wrap_node(PlanState *state, void *arg)
{
	const Wrap *wrap = arg;
	PfsNodeQuery *query = wrap->query;
	Wrap		below = *wrap;
	NodeSlot   *parent = wrap->parent >= 0 ? &query->slots[wrap->parent] : NULL;
	NodeSlot   *s;

	if (state == NULL || state->plan->plan_node_id >= query->nids || wrap->number_of[state->plan->plan_node_id] == 0)
		return false;
	s = slot_in(query, state);
	/* Some are met twice. */
	if (s->state != NULL)
		return false;
	s->state = state;
	s->parent = wrap->parent;
	s->timed_child = s->next_timed = -1;
	s->count = &query->output[wrap->number_of[state->plan->plan_node_id]];
	s->may_rescan = wrap->may_rescan;
	s->real = state->ExecProcNodeReal;
	pfs_pace_begin(&s->pace);
	if (is_timed_by_server(state))
		let_server_time(s, parent);
	else
	{
		state->ExecProcNodeReal = exec_first;
		if (is_parallel_below_gather(state, parent))
		{
			s->is_first_timed = true;
			give_instrument(s, true);
			let_server_time(s, parent);
		}
	}
	/* That of a parent whose first call goes past us is needed by then. */
	if (IsA(state, HashState) && parent != NULL && parent->is_first_timed)
		give_instrument(s, true);
	if (parent != NULL && (s->is_timed || (IsA(state, HashJoinState) && state->plan->parallel_aware)))
		parent->has_lost_child = true;
	if (parent != NULL)
		query->parent_of[wrap->number_of[state->plan->plan_node_id]] = wrap->number_of[wrap->parent];
	below.parent = state->plan->plan_node_id;
	below.may_rescan = wrap->may_rescan || rescans_children(state);
	return planstate_tree_walker(state, wrap_node, &below);
}

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

/* Parents of subplans, which the plan does not have beside it, are those of their PlanStates. */
static void
find_parents(PlanState *state, int parent, const PfsPlanNumbers *numbers, PfsNodeFacts *facts);

typedef struct ParentWalk
{
	const PfsPlanNumbers *numbers;
	PfsNodeFacts *facts;
	int			parent;
} ParentWalk;

static bool
find_parent(PlanState *state, void *arg)
{
	const ParentWalk *walk = arg;

	if (state != NULL)
		find_parents(state, walk->parent, walk->numbers, walk->facts);
	return false;
}

static void
find_parents(PlanState *state, int parent, const PfsPlanNumbers *numbers, PfsNodeFacts *facts)
{
	uint32		id = state->plan->plan_node_id;
	uint32		number = id < numbers->nids ? numbers->of_id[id] : 0;
	ParentWalk	walk = {numbers, facts, number};

	if (number == 0)
		return;
	if (facts[number].parent == 0 && parent != number)
		facts[number].parent = parent;
	planstate_tree_walker(state, find_parent, &walk);
}

/* What is to be measured, of the leader or by oneself; and the numbers of nodes.  False: it cannot be. */
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
		return false;
	if (numbers->wants_facts)
	{
		find_parents(desc->planstate, 0, numbers, numbers->facts);
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
	Wrap		wrap = {.query = query, .parent = -1};

	query->is_ready = true;
	if (pfs_node_area_claim() &&
		(query->is_worker ? describe_leaders(query, &as, &number_of) : describe_own(desc, query, &as, &number_of)))
		query->measured = pfs_measured_begin(&as, ticks_now(), number_of);
	if (query->measured == NULL)
		pfs_pages_count_lost(pfs_nodes);
	else
	{
		query->output = &pfs_node_area->counts[query->measured->first];
		query->slots = palloc0(query->nids * sizeof(NodeSlot));
		query->parent_of = palloc0(query->measured->n * sizeof(uint16));
		wrap.number_of = number_of;
		/* A worker's part is called anew by its leader, and a cursor's plan where it goes back. */
		wrap.may_rescan = query->is_worker || (desc->estate->es_top_eflags & EXEC_FLAG_REWIND) != 0;
		(void) wrap_node(desc->planstate, &wrap);
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

/* Waits so far are not the nodes', or are these nodes'; see pfs_charge_node. */
static void
empty_waits(void)
{
	if (pfs_local.waits != NULL)
		pfs_digest_waits_forget();
}

static Outer
begin_run(PfsNodeQuery *query)
{
	Outer		outer = {running, pfs_charge_node};

	empty_waits();
	query->measured->statement_id = pfs_digest_charged;
	running = query;
	pfs_charge_node = pfs_node_charge(query->output);
	query->output->loops = 1;
	query->output->calls++;
	pfs_store_relaxed(&query->output->entered, ticks_now());
	return outer;
}

static void
end_run(PfsNodeQuery *query, Outer outer)
{
	query->output->total += ticks_now() - query->output->entered;
	pfs_store_relaxed(&query->output->entered, 0);
	query->output->timed++;
	running = outer.running;
	pfs_charge_node = outer.charge;
	empty_waits();
}

/* An error leaves the run: the calls end that go on, those that the server times, too. */
static void
settle_failed(PfsNodeQuery *query)
{
	PfsNodeCount *counts = query->output;
	uint64		at = ticks_now();

	for (uint32 id = 0; id < query->nids; id++)
	{
		NodeSlot   *s = &query->slots[id];

		if (s->state != NULL && s->is_timed && s->state->instrument != NULL && pfs_compat_instrument_runs(s->state->instrument))
			InstrStopNode(s->state->instrument, 0);
	}
	for (uint32 id = 0; id < query->nids; id++)
	{
		if (query->slots[id].state != NULL && query->slots[id].timed_child >= 0)
			(void) settle_timed(query, &query->slots[id]);
	}
	for (uint32 i = 1; i < query->measured->n; i++)
	{
		uint64		entered = counts[i].entered;

		if (entered == 0 || entered == PFS_NODE_LET_GO)
			continue;
		counts[i].timed++;
		counts[i].total += at - entered;
		counts[query->parent_of[i]].below += at - entered;
		pfs_store_relaxed(&counts[i].entered, 0);
	}
}

static PfsNodeQuery *
find_open(const QueryDesc *desc)
{
	PfsNodeQuery *query = pfs_node_queries;

	while (query != NULL && query->estate != desc->estate)
		query = query->next;
	return query;
}

/* EXPLAIN without ANALYZE, as auto_explain calls it, would print what a Hash has because of its timer. */
static void
forget_hash_statistics(const PfsNodeQuery *query)
{
	for (uint32 id = 0; id < query->nids && query->estate->es_instrument == 0; id++)
	{
		PlanState  *state = query->slots[id].state;

		if (state == NULL || !IsA(state, HashState))
			continue;
		castNode(HashState, state)->hinstrument = NULL;
		castNode(HashState, state)->shared_info = NULL;
	}
}

void
pfs_nodes_run(ExecutorRun_hook_type run, PFS_EXECUTOR_RUN_PARAMS)
{
	PfsNodeQuery *query = find_open(desc);
	Outer		outer;

	if (query != NULL && !query->is_ready)
		make_ready(query, desc);
	if (query == NULL || query->measured == NULL)
	{
		run(PFS_EXECUTOR_RUN_ARGS);
		return;
	}
	outer = begin_run(query);
	PG_TRY();
	{
		run(PFS_EXECUTOR_RUN_ARGS);
	}
	PG_CATCH();
	{
		settle_failed(query);
		end_run(query, outer);
		PG_RE_THROW();
	}
	PG_END_TRY();
	query->output->rows += desc->estate->es_processed;
	end_run(query, outer);
	forget_hash_statistics(query);
}

/* The parts of WITH that are completed here are nodes, too. */
void
pfs_nodes_finish(ExecutorFinish_hook_type finish, QueryDesc *desc)
{
	PfsNodeQuery *query = find_open(desc);
	Outer		outer;

	if (query == NULL || query->measured == NULL)
	{
		finish(desc);
		return;
	}
	outer = begin_run(query);
	PG_TRY();
	{
		finish(desc);
	}
	PG_CATCH();
	{
		settle_failed(query);
		end_run(query, outer);
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_run(query, outer);
	forget_hash_statistics(query);
}

/* ---- the end ---- */

/* Rows and loops of a node that the server times; without those of workers, which EXPLAIN ANALYZE has added. */
static void
take_server_counts(NodeSlot *s)
{
	PlanState  *state = s->state;
	double		loops;
	double		rows;

	if (state->instrument == NULL)
		return;
	loops = state->instrument->nloops + (state->instrument->running ? 1 : 0);
	rows = state->instrument->ntuples + state->instrument->tuplecount;
	for (int i = 0; state->worker_instrument != NULL && i < state->worker_instrument->num_workers; i++)
	{
		loops -= state->worker_instrument->instrument[i].nloops;
		rows -= state->worker_instrument->instrument[i].ntuples;
	}
	s->count->loops += loops;
	s->count->rows += rows;
	s->count->calls += loops;
	s->count->timed += loops;
}

/* The sums of one execution; Output's rows are the query's. */
static PfsNodeSums
sums_of(const PfsNodeCount *count, bool is_worker)
{
	return (PfsNodeSums)
	{
		.executions = is_worker ? 0 : 1,
			.loops = count->loops,
			.rows = count->rows,
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
		PfsNodeSums sums = sums_of(&query->output[i], query->is_worker);

		if (query->output[i].entered != PFS_NODE_LET_GO)
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
	if (running == query)
		running = NULL;
	if (query->measured == NULL || pfs_node_area == NULL || pfs_my_thread == NULL)
		return;
	for (uint32 id = 0; id < query->nids; id++)
	{
		if (query->slots[id].state != NULL && query->slots[id].is_timed)
			take_server_counts(&query->slots[id]);
	}
	for (uint32 i = 0; i < query->measured->n; i++)
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

void
pfs_nodes_start(QueryDesc *desc)
{
	const PlannedStmt *stmt = pfs_plan_to_measure;
	PfsKnownPlan *known = pfs_known_plan(stmt->queryId);
	MemoryContext context;
	PfsNodeQuery *query;

	pfs_plan_to_measure = NULL;
	/* Where its start has failed, another plan may lie there by now. */
	if (desc->plannedstmt != stmt || desc->planstate == NULL || pfs_my_thread == NULL || pfs_text_is_made ||
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
