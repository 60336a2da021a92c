/*
 * pfs_plan_node.c
 *	  Measuring plans' nodes: what their calls count.
 *
 * When a query runs first, each of its PlanStates gets exec_first() in the place of its own function in ExecProcNodeReal,
 * which is where all ways of the server to a node end; ExecProcNode is left alone until the first call.  Not when the
 * executor starts: in a parallel worker the state that is shared with the leader is set up behind that, and would undo
 * it, or count on statistics that the leader does not have.
 *
 * A call's time is added to the node's total, and to what the node below which it was called has below: its own
 * time is the difference.  So the own times of all nodes add up to the run's, whatever calls whom; an error needs no more
 * repair than that the calls are closed which it has left (pfs_nodes_fail()).
 *
 * Some nodes are entered by another way, which has no function pointer: Hash, bitmaps, asynchronous scans.  The server
 * starts and stops a timer around them, if the node has one; so they get one, and what it has taken is added where a node
 * returns that may have called them.  The same struct of the server's tells of rescans: ExecReScan() takes back `running`.
 *
 * Loops, rows and the innermost node, for waits, are exact.  How calls are timed, and what measuring may cost, is
 * pfs_plan_pace.h's business; which queries are measured, and when, that of pfs_plan_measure.c.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/tuptable.h"
#include "nodes/nodeFuncs.h"

#include "pfs_charge.h"
#include "pfs_compat_instrument.h"
#include "pfs_plan_measure.h"
#include "pfs_plan_node.h"

PfsNodeQuery *pfs_node_queries = NULL;
PfsNodeQuery *pfs_node_running = NULL;

static TupleTableSlot *exec_first(PlanState *state);

/* ---- calls of nodes ---- */

/* Few are open at a time. */
PfsNodeQuery *
pfs_node_query_of(const EState *estate)
{
	PfsNodeQuery *query = pfs_node_queries;

	while (query != NULL && query->estate != estate)
		query = query->next;
	return query;
}

/* A query that is not the running one, as that of a cursor whose node another one calls. */
static pg_noinline PfsNodeQuery *
find_query(const EState *estate)
{
	PfsNodeQuery *query = pfs_node_query_of(estate);

	if (query == NULL)
		elog(ERROR, "pfs: a plan's node is not of a query that is measured");
	return query;
}

static inline PfsNodeQuery *
query_of(const PlanState *state)
{
	return likely(pfs_node_running != NULL && pfs_node_running->estate == state->state) ? pfs_node_running : find_query(state->state);
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

/* A call begins: is it the first one of a loop?  ExecReScan() takes back `running`. */
static pg_attribute_always_inline void
begin_call(const NodeSlot *s)
{
	if (unlikely(s->may_rescan) && !s->state->instrument->running)
		s->count->loops++;
	pfs_charge_node = s->charge;
}

/* Not before the call: a scan by run-time keys rescans itself in its first one. */
static pg_attribute_always_inline void
end_call(const NodeSlot *s, uint32 caller, const TupleTableSlot *result)
{
	pfs_charge_node = caller;
	if (unlikely(s->own_instrument))
		s->state->instrument->running = true;
	if (!TupIsNull(result))
		s->count->rows++;
}

/*
 * Adds what the server's timers have taken since the last look: to those nodes, and below the one that has called them.
 * Returns how many ticks that are.
 */
static pg_noinline uint64
add_timed_children(const PfsNodeQuery *query, NodeSlot *s)
{
	PfsTimer	timer = pfs_timer_default();
	uint64		frequency = pfs_clock->frequency[timer];
	uint64		known = 0;

	for (int id = s->timed_child; id >= 0; id = query->slots[id].next_timed)
	{
		NodeSlot   *child = &query->slots[id];
		const PfsInstrumentation *in = child->state->instrument;
		uint64		taken = in == NULL ? 0 : pfs_compat_instrument_ticks(in, timer == PFS_TIMER_CYCLE, frequency);

		if (taken <= child->seen)
			continue;
		if (child->timed_child >= 0)
			(void) add_timed_children(query, child);
		child->count->total += taken - child->seen;
		s->count->below += taken - child->seen;
		known += taken - child->seen;
		child->seen = taken;
		child->seen_rows = in->tuplecount;
		child->seen_loops = in->nloops;
	}
	return known;
}

/* Has the server timed a child since the last look?  Asked at each call; without rows it is found at the next that has some. */
static inline bool
has_timed(const PfsNodeQuery *query, const NodeSlot *s)
{
	for (int id = s->timed_child; id >= 0; id = query->slots[id].next_timed)
	{
		const NodeSlot *child = &query->slots[id];
		const PfsInstrumentation *in = child->state->instrument;

		if (in != NULL && (in->tuplecount != child->seen_rows || in->nloops != child->seen_loops))
			return true;
	}
	return false;
}

/* Lets the server call the node's own function again: it is not counted any more. */
static void
stop_counting(NodeSlot *s)
{
	if (s->state->ExecProcNode == s->state->ExecProcNodeReal)
		s->state->ExecProcNode = s->real;
	s->state->ExecProcNodeReal = s->real;
	pfs_store_relaxed(&s->count->entered, PFS_NODE_DROPPED);
}

/* Behind a timed call of a node that is called often: which one is timed next?  One on which others rely is not let go. */
static pg_noinline void
look_at_pace(PfsNodeQuery *query, NodeSlot *s, uint32 calls, uint64 now, bool may_go)
{
	uint64		elapsed = query->output->total + now - query->output->entered;

	if (!pfs_pace_next(&s->pace, s->count->calls, calls, elapsed, &query->cost) && may_go)
		stop_counting(s);
}

/*
 * Calls a node's own function with the clock, and adds the time to the node, and below the one that has called it.
 * is_plain: it has no children that the server times, and is below none.
 */
static pg_noinline TupleTableSlot *
call_timed(PfsNodeQuery *query, NodeSlot *s, PfsNodeCount *caller, bool is_plain)
{
	PfsNodeCount *count = s->count;
	uint32		calls = pfs_pace_calls(&s->pace) + 1;
	uint64		start = pfs_node_clock();
	TupleTableSlot *result;
	uint64		end;
	uint64		known = 0;
	uint64		ticks;

	pfs_store_relaxed(&count->entered, start);
	result = s->real(s->state);
	if (s->timed_child >= 0)
		known = add_timed_children(query, s);
	end = pfs_node_clock();
	ticks = pfs_pace_ticks(&s->pace, end - start, known);
	pfs_node_end_call(count, ticks);
	s->pace.gap = 0;
	count->calls += calls;
	caller->below += ticks;
	if (unlikely(count->calls > query->exact_calls))
		look_at_pace(query, s, calls, end, is_plain);
	return result;
}

/* Calls it without, as it is not this call's turn. */
static inline TupleTableSlot *
call_untimed(NodeSlot *s)
{
	s->pace.untimed--;
	return s->real(s->state);
}

/* The same where it has children that the server times: their time is known, and so it has taken that. */
static TupleTableSlot *
call_above_timed(PfsNodeQuery *query, NodeSlot *s, PfsNodeCount *caller)
{
	TupleTableSlot *result;
	uint64		ticks;

	if (s->pace.untimed == 0)
		return call_timed(query, s, caller, false);
	result = call_untimed(s);
	if (!has_timed(query, s))
		return result;
	ticks = add_timed_children(query, s);
	s->count->total += ticks;
	caller->below += ticks;
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
	if (likely(s->pace.untimed > 0))
		result = call_untimed(s);
	else
		result = call_timed(query, s, caller_count(caller, query), true);
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
	result = call_above_timed(query, s, caller_count(caller, query));
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
	result = call_above_timed(query, s, hash->count);
	end_call(s, TupIsNull(result) && join != NULL ? join->charge : hash->charge, result);
	return result;
}

/* A parallel Hash Join right below a Gather, whose first call has gone past us. */
static TupleTableSlot *
exec_below_gather(PlanState *state)
{
	PfsNodeQuery *query = query_of(state);
	NodeSlot   *s = slot_in(query, state);
	TupleTableSlot *result;

	pfs_charge_node = s->charge;
	result = s->real(state);
	pfs_charge_node = parent_slot(query, s)->charge;
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
	pfs_charge_node = s->charge;
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

/* Gives a node our functions, and those below it. */
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
	s->charge = pfs_node_charge(s->count);
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
	below.parent = state->plan->plan_node_id;
	below.may_rescan = wrap->may_rescan || rescans_children(state);
	return planstate_tree_walker(state, wrap_node, &below);
}

void
pfs_nodes_wrap(PfsNodeQuery *query, PlanState *top, const uint16 *number_of, bool may_rescan)
{
	Wrap		wrap = {query, number_of, -1, may_rescan};

	(void) wrap_node(top, &wrap);
}

/* ---- behind runs ---- */

/*
 * The count below which an open call's time is: that of the call that was begun last before it, as calls are open one inside
 * another; of a node below a Hash, the Hash's.
 */
static PfsNodeCount *
caller_of_open(const PfsNodeQuery *query, const NodeSlot *s)
{
	const NodeSlot *parent = parent_slot(query, s);
	PfsNodeCount *caller = query->output;

	if (parent != NULL && parent->is_timed && !parent->is_first_timed)
		return parent->count;
	for (uint32 i = 1; i < query->measured->n; i++)
	{
		PfsNodeCount *count = &query->output[i];

		if (count->entered < s->count->entered && count->entered > caller->entered)
			caller = count;
	}
	return caller;
}

/* Ends the calls that were left, the innermost one last: those around it are looked for by their begins. */
static void
end_open_calls(PfsNodeQuery *query)
{
	uint64		at = pfs_node_clock();
	bool		is_ended[PFS_NODES_MAX] = {0};

	for (uint32 id = 0; id < query->nids; id++)
	{
		NodeSlot   *s = &query->slots[id];
		uint64		entered = s->state == NULL ? 0 : s->count->entered;

		/* Partitions share a count. */
		if (entered == 0 || entered == PFS_NODE_DROPPED || is_ended[s->count - query->output])
			continue;
		is_ended[s->count - query->output] = true;
		caller_of_open(query, s)->below += at - entered;
		s->count->total += at - entered;
		s->count->calls++;
		s->count->timed++;
	}
	for (uint32 i = 1; i < query->measured->n; i++)
	{
		if (query->output[i].entered != PFS_NODE_DROPPED)
			pfs_store_relaxed(&query->output[i].entered, 0);
	}
}

/* The server's own timers are stopped first: their time is below others'. */
void
pfs_nodes_fail(PfsNodeQuery *query)
{
	for (uint32 id = 0; id < query->nids; id++)
	{
		NodeSlot   *s = &query->slots[id];

		if (s->state != NULL && s->is_timed && s->state->instrument != NULL && pfs_compat_instrument_runs(s->state->instrument))
			InstrStopNode(s->state->instrument, 0);
	}
	for (uint32 id = 0; id < query->nids; id++)
	{
		if (query->slots[id].state != NULL && query->slots[id].timed_child >= 0)
			(void) add_timed_children(query, &query->slots[id]);
	}
	end_open_calls(query);
}

/* EXPLAIN without ANALYZE, as auto_explain calls it, would print what a Hash has because of its timer. */
void
pfs_nodes_forget_hashes(const PfsNodeQuery *query)
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

void
pfs_nodes_take_counts(PfsNodeQuery *query)
{
	for (uint32 id = 0; id < query->nids; id++)
	{
		NodeSlot   *s = &query->slots[id];

		if (s->state == NULL)
			continue;
		if (s->is_timed)
			take_server_counts(s);
		s->count->calls += pfs_pace_calls(&s->pace);
	}
}
