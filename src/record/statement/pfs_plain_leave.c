/*
 * pfs_plain_leave.c
 *	  A plain statement is handed over to the general code, and comes back.
 *
 * Whatever happens to a statement that a plain one does not meet is the business of the general code, which finds it in
 * pfs_sql as if it had always been there.  What is plain from then on comes back.
 *
 * Separate from pfs_plain.c, which is on the way of each statement.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest_rows.h"
#include "pfs_plain.h"
#include "pfs_rel_run.h"

/* ---- the general code takes over ---- */

/* Puts a stage of pfs_sql.top on the stack, if all of them are off: else it lies there. */
static inline void
set_stage(PfsStageKind kind)
{
	if (pfs_stages.n != 0)
		return;
	pfs_stages.items[0] = (PfsStage)
	{
		.instrument = pfs_stage_instrument[kind], .statement = pfs_plain.open.event_id
	};
	pfs_stages.n = 1;
}

/* The stage that pfs_sql.top would be in. */
static PfsStageKind
stage_of(PfsPlainState state)
{
	switch (state)
	{
		case PFS_PLAIN_NAMED:
			return pfs_plain.is_planned ? PFS_STAGE_PLAN : PFS_STAGE_PARSE_ANALYZE;
		case PFS_PLAIN_PLANNING:
			return PFS_STAGE_PLAN;
		case PFS_PLAIN_STARTING:
		case PFS_PLAIN_STARTED:
			return PFS_STAGE_EXECUTOR_START;
		default:
			return pfs_plain.is_utility ? PFS_STAGE_UTILITY : PFS_STAGE_EXECUTE;
	}
}

/* The phase that pfs_sql.top would have come to. */
static PfsStatementPhase
phase_of(PfsPlainState state)
{
	if (state == PFS_PLAIN_NAMED && !pfs_plain.is_planned)
		return PFS_PHASE_PARSE;
	return state < PFS_PLAIN_RUNS ? PFS_PHASE_PLAN : PFS_PHASE_EXECUTION;
}

/* Makes the slot of a statement that has no name yet, which readers do not show. */
static void
make_unnamed_event(PfsThread *t, PfsStatement *s)
{
	uint64		last = t->last_event_id;
	PfsStatementEvent *e = pfs_statement_make_event(t, s, s->flags);

	t->last_event_id = last;
	if (e == NULL)
		return;
	e->event_id = s->event_id;
	e->flags &= ~(PFS_FLAG_CURRENT | PFS_FLAG_DIGEST);
	s->event = e;
	pfs_event_show(t, PFS_STATEMENTS);
}

/*
 * The innermost statement's event goes on in the slot of its level, as another one's comes to where it lies, or as it is
 * not plain any more.
 */
void
pfs_plain_leave_place(PfsThread *t)
{
	PfsEvents  *events = &t->events[PFS_STATEMENTS];

	pfs_statement_event_unpack(pfs_plain.open.event, pfs_event_slot(events, pfs_plain.depth));
	pfs_plain.open.event = NULL;
	pfs_store_release(&events->depth, pfs_plain.depth + 1); /* C */
}

/* Fills in a statement as the general code would have left it, but for what its event has. */
static void
fill_in(PfsStatement *s, const PfsPlainStatement *from, PfsPlainState state)
{
	memset(s, 0, offsetof(PfsStatement, own));
	s->n = s->own;
	s->flags = pfs_plain.flags;
	s->start = from->start;
	s->event_id = from->event_id;
	s->statement_id = from->statement_id;
	s->lock_ticks = from->lock_ticks;
	s->examined = pfs_examined();
	/* What one at top level is going to execute may be known before it does. */
	if (state >= PFS_PLAIN_RUNS || from->spare != NULL)
		s->credit = from->credit;
	if (state >= PFS_PLAIN_STARTING)
	{
		s->query = from->query;
		s->portal = from->portal;
		s->portal_time = from->portal_time;
	}
	if (state >= PFS_PLAIN_ENDING)
	{
		s->done = true;
		s->stamp = (PfsTimestamp)
		{
			from->stamp, PFS_FLAGS_TIMER(pfs_local.usual)
		};
		s->message = from->message;
	}
}

/* What its event has, which lies in the slot of this level. */
static void
take_event(PfsThread *t, PfsStatement *s, int level)
{
	PfsStatementEvent *e = (PfsStatementEvent *) pfs_event_slot(&t->events[PFS_STATEMENTS], level);

	s->event = e;
	s->n = e->n;
	s->instrument = e->instrument;
	s->query_id = e->query_id;
	s->database = e->database;
	s->user = e->user;
	s->plan_origin = e->plan_origin;
	s->plan_id = e->plan_id;
}

/* The statement at top level.  A plain statement has met no error and no nested statement but plain ones so far. */
static void
leave_top(PfsThread *t, PfsPlainState state)
{
	PfsStatement *s = &pfs_sql.top;

	pfs_sql.raised = pfs_sql.failed = false;
	pfs_sql.sqlstate = 0;
	pfs_sql.message_len = 0;
	pfs_sql.top_open = true;
	fill_in(s, &pfs_plain.open, state);
	s->parent = pfs_parent_of_transaction(pfs_plain.open.parent);
	if (pfs_plain.more & PFS_PLAIN_MEMORY)
		pfs_statement_memory_left(s);
	if (state == PFS_PLAIN_ARRIVED)
	{
		s->instrument = pfs_other_statement[PFS_STATEMENT_PARSE];
		s->database = MyDatabaseId;
		s->user = OidIsValid(MyDatabaseId) ? GetOuterUserId() : InvalidOid;
		make_unnamed_event(t, s);
		set_stage(PFS_STAGE_PARSE_ANALYZE);
		return;
	}
	take_event(t, s, 0);
	s->event->counts = s->counts;
	s->phase = phase_of(state);
	s->is_execute = s->query_id == 0;
	if (state >= PFS_PLAIN_RUNS && s->is_execute)
		s->executed = pfs_plain.executed;
	set_stage(stage_of(state));
}

/* A nested one, which is the newest one.  A call that runs adds at its end what it waits for locks from here on. */
static void
leave_nested(PfsThread *t, const PfsPlainStatement *from, int level, PfsPlainState state, bool in_call)
{
	PfsStatement *s = from->spare;
	PfsStatement *outer = level == 1 ? &pfs_sql.top : pfs_sql.open;

	fill_in(s, from, state);
	s->parent.event_id = from->parent;
	s->parent.type = PFS_NESTING_STATEMENT;
	take_event(t, s, level);
	s->level = s->nest = level;
	s->is_whole = true;
	pfs_nested_add(s, outer);
	pfs_nested_set_query(s, from->query);
	pfs_nested_show(s);
	s->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - from->lock_ticks;
	s->lock_ticks = pfs_local.lock_ticks;
	if (in_call)
		pfs_nested_call_begin(s, level + 1);
}

/* Hands over the statement at top level and those inside of it, as if the general code had begun all of them. */
void
pfs_plain_leave_inside_now(PfsThread *t)
{
	PfsPlainState state = pfs_plain.state;
	PfsPlainStatement innermost = pfs_plain.open;
	bool		in_call = state == PFS_PLAIN_PLANNING || state == PFS_PLAIN_STARTING || state == PFS_PLAIN_RUNS ||
	state == PFS_PLAIN_ENDING;
	int			depth = pfs_plain.depth;

	if (state != PFS_PLAIN_ARRIVED && pfs_plain.open.event != NULL)
		pfs_plain_leave_place(t);
	pfs_plain.state = PFS_PLAIN_NONE;
	pfs_plain.depth = 0;
	if (depth > 0)
		pfs_plain.open = pfs_plain.around[0];
	leave_top(t, depth > 0 ? PFS_PLAIN_RUNS : state);
	for (int level = 1; level < depth; level++)
		leave_nested(t, &pfs_plain.around[level], level, PFS_PLAIN_RUNS, true);
	if (depth > 0)
		leave_nested(t, &innermost, depth, state, in_call);
	pfs_sql.nest = depth + (in_call || pfs_plain.passes ? 1 : 0);
	pfs_sql.current = NULL;
	if (in_call)
		pfs_sql.current = depth > 0 ? pfs_sql.open : &pfs_sql.top;
	else if (depth > 0)
		pfs_sql.current = pfs_sql.open->outer;
}

/* A signal handler that has come in the middle of a write section takes nothing over. */
void
pfs_plain_leave_now(PfsThread *t)
{
	if (t == NULL || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_plain_leave_inside_now(t);
	pfs_write_end(t);
}

/* ---- the general code gives it back ---- */

/*
 * Is pfs_sql.top the statement that was taken over last, and does it have nothing now that a plain one would not have?
 * nest: hooks that are active.
 */
static inline bool
may_come_back(const PfsThread *t, int nest)
{
	const PfsStatement *s = &pfs_sql.top;

	return pfs_sql.top_open && s->statement_id == pfs_plain.open.statement_id && pfs_digest_charged == s->statement_id &&
		pfs_sql.nest == nest && pfs_sql.open == NULL && !pfs_sql.raised && !pfs_sql.failed &&
		s->phase == PFS_PHASE_EXECUTION && !s->is_fetch && s->next_at == 0 && s->counts == 0 && (s->query_id != 0 || s->is_execute) &&
		s->flags == pfs_plain.flags && s->event != NULL && t->events[PFS_STATEMENTS].depth == 1 &&
		pfs_stages.n == 1 && pfs_stages.items[0].flags == 0 && pfs_plain.more == 0 &&
		pfs_plain_is_on() && (pfs_local.not_usual & ~PFS_SLOW_OVER) == 0 && pfs_open_error.sqlstate == 0 &&
		pfs_digest_rows_used == 0;
}

/* Makes pfs_sql.top a plain statement, whose event lies in its slot. */
static void
take_back(PfsPlainState state)
{
	PfsStatement *s = &pfs_sql.top;

	pfs_statement_examined(s);
	pfs_plain.open.event = NULL;
	pfs_plain.open.query = s->query;
	pfs_plain.open.portal = s->portal;
	pfs_plain.open.portal_time = s->portal_time;
	pfs_plain.open.credit = s->credit;
	pfs_plain.open.stamp = s->stamp.at;
	pfs_plain.open.message = s->message;
	pfs_plain.is_utility = s->query == NULL;
	pfs_plain.executed = s->executed;
	pfs_plain.passes = false;
	pfs_plain.state = state;
	s->event = NULL;
	s->n = s->own;
	pfs_sql.top_open = false;
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	pfs_stages.n = 0;
}

/* Its event goes back to where it is going to stay, which has room for all that it may get; false: there is no block. */
static bool
return_to_place(PfsThread *t)
{
	PfsEvents  *events = &t->events[PFS_STATEMENTS];
	PfsStatementEvent *e = (PfsStatementEvent *) pfs_event_slot(events, pfs_plain.depth);

	if (unlikely(pfs_history_room(t, PFS_STATEMENTS, pfs_statement_room(e->text_len)) == NULL))
		return false;
	pfs_plain.open.event = pfs_statement_event_pack(t, e);
	pfs_store_release(&events->depth, pfs_plain.depth | PFS_EVENT_IN_PLACE);	/* C */
	return true;
}

/*
 * Takes pfs_sql.top back, or brings the event of one that is plain, but lies in its slot, to where it stays.  What is not
 * plain, or has no block, is the general code's behind that.
 */
bool
pfs_plain_comes_back(PfsThread *t, PfsPlainState state, const QueryDesc *query)
{
	bool		comes;

	if (t == NULL || pfs_is_writing(t))
		return false;
	pfs_write_begin(t);
	if (pfs_plain.state == PFS_PLAIN_NONE && may_come_back(t, state == PFS_PLAIN_RUNS ? 1 : 0))
		take_back(state);
	comes = pfs_plain.state == state && pfs_plain.open.query == query && return_to_place(t);
	if (unlikely(!comes))
		pfs_plain_leave_inside(t);
	pfs_write_end(t);
	return comes;
}
