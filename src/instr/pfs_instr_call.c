/*
 * pfs_instr_call.c
 *	  Calls of the hooks for statements: which statement each belongs to, and
 *	  what it adds to that statement.
 *
 * Separate from pfs_instr_hooks.c, which knows the server's arguments and
 * counts rows: here a call becomes a change of the state that record keeps of
 * the open statements.  What a call counts is the difference of the server's own
 * counters; a statement's counters include those of the statements inside it, as
 * their calls lie inside its own.
 *
 * Where a statement begins or ends, or its stages are pushed and popped, that is done in
 * a write section, so that readers see all of it or nothing.  Counters of a running
 * statement are stored one by one.
 */
#include "postgres.h"

#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "pfs_compat_hooks.h"
#include "pfs_instr_call.h"
#include "pfs_plan.h"

/* ---- what a call is for ---- */

void
pfs_call_set_portal(PfsStatementSource *source)
{
	Portal		portal = ActivePortal;

	source->portal = portal;
	source->portal_time = portal != NULL ? portal->creation_time : 0;
}

/*
 * Is a call that lies in no other one at top level?  Deferred triggers run at the
 * commit, outside of all hooks, but their statements are the triggers' own.
 */
static inline bool
is_top_level_now(void)
{
	/* A process without a client has nested ones only. */
	if (MyProcPort == NULL)
		return false;
	return (pfs_sql.top_open && pfs_sql.top.phase != PFS_PHASE_ARRIVED && !pfs_sql.top.done) ||
		pfs_trigger_depth() == 0;
}

/* Notes that the statement has come to a phase; the first one gives it its name. */
void
pfs_call_reach(PfsThread *t, PfsStatement *s, PfsStatementPhase phase, const PfsStatementSource *source)
{
	if (s->phase == PFS_PHASE_ARRIVED)
		pfs_statement_name(t, s, pfs_tag_instrument[source->tag], source);
	if (s->phase < phase)
		s->phase = phase;
}

/*
 * Has another query than that of the call only been parsed, as a pipeline prepares several?  Where one has no identifier
 * its text tells, but not of what a rule has made of the query, whose place in the string is unknown.
 */
static inline bool
is_other_parsed(const PfsStatementSource *source)
{
	const PfsStatement *s = &pfs_sql.top;

	if (s->phase != PFS_PHASE_PARSE || (s->query_id == source->query_id && s->query_id != 0))
		return false;
	return (s->query_id != 0 && source->query_id != 0) ||
		(source->location >= 0 && s->event != NULL && !pfs_statement_has_text(s->event, source));
}

/*
 * The statement at top level that a call belongs to.  is_next: the call is not one of
 * the statement that has run, if one has.  A portal that was made for an earlier
 * statement can be the one that is executed now.
 */
PfsStatement *
pfs_call_top(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source, bool is_next)
{
	if (!pfs_sql.top_open || (pfs_sql.top.done && is_next) || is_other_parsed(source))
		pfs_top_next(t, now);
	pfs_transaction_look_at(t, now);
	pfs_sql.top.portal = source->portal;
	pfs_sql.top.portal_time = source->portal_time;
	return &pfs_sql.top;
}

/* ---- begin and end of any call ---- */

/*
 * Begins a write section for a call that pfs_call_begin() has found to be wanted, and
 * finds out whether it is at top level.  The caller finds the statement, and ends the
 * section by pfs_call_make_active().  desc: of a query that the executor has started before, else NULL.
 */
PfsTimestamp
pfs_call_enter(PfsCall *call, const QueryDesc *desc)
{
	PfsThread  *t = call->thread;

	call->outer = pfs_sql.current;
	call->nstages = pfs_stages.n;
	call->top = call->nest == 0 && is_top_level_now();
	if (call->top)
		pfs_write_begin(t);
	else
	{
		/* The write section can neither allocate nor wait. */
		pfs_nested_grow();
		if (unlikely(pfs_stages_need_room()))
			pfs_stages_grow(t);
		pfs_write_begin(t);
		/* A transaction is nested in the statement that began it. */
		pfs_transaction_look(t);

		/*
		 * So is a statement in the phase that its command is in; but the
		 * phase is in the statement that is open already, as is the query of
		 * COPY.
		 */
		if (pfs_local.slow & PFS_SLOW_PROGRESS)
		{
			PfsStatement *s = desc != NULL ? pfs_call_nested(desc) : NULL;

			if (s != NULL)
				pfs_sql.current = s;
			pfs_stage_look(t);
			call->nstages = pfs_stages.n;
		}
	}
	return pfs_timestamp_now();
}

/* Begins another stage of the statement at top level, outside of a write section. */
void
pfs_call_switch_stage(PfsThread *t, PfsStageKind stage, PfsTimestamp now)
{
	pfs_write_begin(t);
	pfs_stage_switch(t, stage, now, pfs_sql.top.event_id);
	pfs_write_end(t);
}

/* Drops these statements, and ends these stages.  Inside a write section. */
static inline void
end_left_behind(const PfsCall *call, uint32 nstages, PfsTimestamp now)
{
	if (likely(!pfs_call_has_left(nstages)))
		return;
	pfs_nested_drop_planned(call->thread, call->nest + 1);
	pfs_stage_pop(call->thread, nstages, now);
}

/*
 * Ends a call that belongs to a nested statement or to none, or inside of which calls have
 * left something open after an error that was caught.  From here on waits are those of the statement around.
 */
void
pfs_call_end_inside(PfsCall *call, PfsTimestamp now)
{
	pfs_write_begin(call->thread);
	end_left_behind(call, call->statement == &pfs_sql.top ? 1 : call->nstages, now);
	pfs_set_parent();
	pfs_write_end(call->thread);
	pfs_nested_calls_end(call->nest + 1);
}

/* Ends the last call of a nested statement, and that with it. */
void
pfs_call_end_nested(PfsCall *call, PfsTimestamp now, const PfsStatementSource *source)
{
	PfsThread  *t = call->thread;

	pfs_sql.nest = call->nest;
	pfs_sql.current = call->outer;
	pfs_nested_calls_end(call->nest + 1);
	pfs_write_begin(t);
	end_left_behind(call, call->nstages, now);
	pfs_nested_end(t, call->statement, now, false, source);
	pfs_set_parent();
	pfs_write_end(t);
	pfs_nested_shrink();
}

/* ---- parse analysis and planner ---- */

/* Names the statement at top level, as a text of the client's has been parsed. */
void
pfs_call_parsed(PfsThread *t, const PfsStatementSource *source)
{
	if (pfs_sql.nest != 0 || !is_top_level_now() || pfs_is_writing(t))
		return;
	pfs_write_begin(t);

	/*
	 * What has failed without a name was another message, if this one came
	 * with it.
	 */
	if (!pfs_sql.top_open || pfs_sql.top.phase != PFS_PHASE_ARRIVED || pfs_sql.top.done || pfs_top_has_failed())
		pfs_top_next(t, pfs_timestamp_now());
	pfs_transaction_look(t);
	pfs_call_reach(t, &pfs_sql.top, PFS_PHASE_PARSE, source);
	if (source->str == debug_query_string && source->str != NULL)
		pfs_sql.top.next_at = pfs_statement_next_at(source->str, source->location, source->len);
	pfs_write_end(t);
}

/*
 * Begins a call of the planner.  A nested statement that has to be planned begins here;
 * one that was planned before and never executed ends.
 */
void
pfs_call_plan_begin(PfsCall *call, const PfsStatementSource *source)
{
	PfsThread  *t = call->thread;
	PfsTimestamp now = pfs_call_enter(call, NULL);
	PfsStatement *s;

	if (call->top)
	{
		s = pfs_call_top(t, now, source, true);
		pfs_call_reach(t, s, PFS_PHASE_PLAN, source);
	}
	else
	{
		pfs_nested_drop_planned(t, call->nest);
		s = pfs_nested_begin(t, now, source);
		if (s != NULL)
			pfs_nested_set_planned(s, source);
	}
	pfs_call_make_active(call, s, now, PFS_STAGE_PLAN);
}

/*
 * Ends a call of the planner.  The stage of a nested one is kept until the executor
 * starts, as only then it is known which statement executes the plan.
 */
void
pfs_call_plan_end(PfsCall *call)
{
	PfsThread  *t = call->thread;
	PfsStatement *s = call->statement;
	PfsTimestamp now = pfs_timestamp_now();

	if (s != NULL)
	{
		pfs_add_time(&s->n[PFS_N_PLAN_TIME], call->start, now);
		if (s != &pfs_sql.top)
		{
			s->n[PFS_N_LOCK_TIME] += pfs_local.lock_ticks - call->lock_ticks;
			s->done = true;
			if (pfs_stages.n == call->nstages + 1)
			{
				pfs_write_begin(t);
				pfs_stage_hold(t, now, &s->planned);
				pfs_write_end(t);
			}
		}
	}
	pfs_call_is_over(call, now);
}

/* ---- executor ---- */

/* Fills in the source of a statement from the executor's descriptor. */
static inline void
describe(PfsStatementSource *source, const QueryDesc *desc)
{
	const PlannedStmt *stmt = desc->plannedstmt;

	source->str = desc->sourceText;
	source->location = stmt->stmt_location;
	source->len = stmt->stmt_len;
	source->query_id = stmt->queryId;
	source->command = stmt->commandType;

	/*
	 * Nearly always, and the server's function would cost more than the
	 * answer.
	 */
	source->tag = stmt->commandType == CMD_SELECT && stmt->rowMarks == NIL ? CMDTAG_SELECT
		: CreateCommandTag((Node *) stmt);
	source->query = desc;
	pfs_call_set_portal(source);
}

/*
 * Is the call for the query of the statement at top level, which its start has found?
 * Three of the four calls of a query are, where it is no plain statement's.  Then nothing is to be found out, and
 * all that readers may see of it is the next stage, which needs no write section.  Without
 * this branch a point lookup costs 700 instructions more (bench/instructions).
 */
static pg_attribute_always_inline bool
is_known(const PfsCall *call, const QueryDesc *desc)
{
	return likely(call->nest == 0 && pfs_sql.top.query == desc && pfs_sql.top_open && pfs_sql.open == NULL);
}

/* Does what pfs_call_enter() and pfs_call_make_active() do, for a call that is_known(). */
static pg_attribute_always_inline void
begin_known(PfsCall *call, PfsStageKind stage)
{
	PfsTimestamp now = pfs_timestamp_now();

	call->statement = &pfs_sql.top;
	call->outer = pfs_sql.current;
	call->start = now;
	pfs_sql.nest = 1;
	pfs_sql.current = &pfs_sql.top;
	if (unlikely(!pfs_stage_stays_off(call->thread, stage)))
		pfs_call_switch_stage(call->thread, stage, now);
}

/* Ends a call at which nothing is counted, and which is not the last of its statement. */
static pg_attribute_always_inline void
end_untimed(PfsCall *call)
{
	pfs_sql.nest = call->nest;
	pfs_sql.current = call->outer;
	if (pfs_call_ends_more(call))
		pfs_call_end_inside(call, pfs_timestamp_now());
}

/* Notes which plan a statement executes, and where that comes from.  What EXPLAIN only prints is not executed. */
static inline void
note_plan(PfsStatement *s, const QueryDesc *desc, int eflags)
{
	if (s == NULL)
		return;
	s->plan_id = (eflags & EXEC_FLAG_EXPLAIN_ONLY) ? 0 : pfs_plan_id(desc->plannedstmt, s->user);
	s->plan_origin = pfs_compat_plan_origin(desc->plannedstmt);
	if (s->event == NULL)
		return;
	pfs_store_relaxed(&s->event->plan_id, s->plan_id);
	s->event->plan_origin = s->plan_origin;
}

/*
 * Begins a call of the executor's start.  A nested statement begins here if it was not
 * planned just before, as with a cached plan.
 */
void
pfs_call_executor_start_begin(PfsCall *call, const QueryDesc *desc, int eflags)
{
	PfsThread  *t = call->thread;
	PfsTimestamp now = pfs_call_enter(call, NULL);
	PfsStatementSource source;
	PfsStatement *s;

	describe(&source, desc);
	if (call->top)
	{
		s = pfs_call_top(t, now, &source, pfs_call_is_other_portal(&source));
		pfs_call_reach(t, s, PFS_PHASE_PLAN, &source);
		s->query = desc;
	}
	else
	{
		s = likely(pfs_sql.planned == NULL) ? NULL : pfs_nested_find_planned(&source);
		if (s != NULL)
			pfs_stage_record(t, &s->planned, pfs_statement_around_stages(s));
		else
			s = pfs_nested_begin(t, now, &source);
		if (s != NULL)
		{
			pfs_nested_set_query(s, desc);
			s->is_whole = !pfs_is_start_of_portal(source.portal);
		}
	}
	note_plan(s, desc, eflags);
	pfs_call_make_active(call, s, now, PFS_STAGE_EXECUTOR_START);
	pfs_call_look_for_text(t, &source);
}

/* Ends a call of the executor's start. */
void
pfs_call_executor_start_end(PfsCall *call)
{
	PfsStatement *s = call->statement;

	if (s != NULL && s != &pfs_sql.top)
		s->n[PFS_N_LOCK_TIME] += pfs_local.lock_ticks - call->lock_ticks;
	end_untimed(call);
}

/* Makes what the end of a plain statement's call needs, as if pfs_call_enter() had begun it. */
void
pfs_call_plain_left(PfsCall *call, const QueryDesc *desc, uint64 start)
{
	PfsStatement *nested = desc != NULL ? pfs_call_nested(desc) : NULL;
	PfsStatement *s = nested != NULL ? nested : &pfs_sql.top;

	call->thread = pfs_my_thread;
	call->nest = nested != NULL ? s->nest : 0;
	call->statement = s;
	call->outer = nested != NULL ? s->outer : NULL;
	call->nstages = 1;
	call->top = nested == NULL;
	call->lock_ticks = s->lock_ticks;
	call->start = (PfsTimestamp)
	{
		start, PFS_FLAGS_TIMER(pfs_local.usual)
	};
}

/*
 * Begins a run whose statement is to be found: that whose start has seen the descriptor.
 * At top level a second run of it is the next Execute of its portal, which is no statement
 * but a fetch.
 */
static pg_noinline void
begin_run(PfsCall *call, const QueryDesc *desc, bool in_parts)
{
	PfsThread  *t = call->thread;
	PfsTimestamp now = pfs_call_enter(call, desc);
	PfsStatement *s = pfs_call_nested(desc);
	PfsStatementSource source;

	describe(&source, desc);
	if (s != NULL)
	{
		if (in_parts)
			s->is_whole = false;
		if (unlikely(s->event == NULL && s->event_id != 0))
			pfs_nested_show_again(t, s, &source);
	}
	else if (call->top && unlikely(desc->already_executed))
	{
		s = pfs_top_fetch(t, now, &source);
		s->query = desc;
		note_plan(s, desc, 0);
	}
	else if (call->top)
	{
		s = pfs_call_top(t, now, &source, pfs_sql.top.query != desc || pfs_sql.top.phase == PFS_PHASE_EXECUTION);
		pfs_call_reach(t, s, PFS_PHASE_EXECUTION, &source);
		s->query = desc;

		/*
		 * Bind, which started the executor, may have been a statement of its
		 * own.
		 */
		note_plan(s, desc, 0);
	}
	pfs_call_make_active(call, s, now, PFS_STAGE_EXECUTE);
}

/* The statement is executed from here on: notes by what, and what it has used so far. */
static inline void
begin_execution(PfsCall *call)
{
	if (call->nest == 0 && call->statement == &pfs_sql.top)
		pfs_credit_top_executes(call->thread, ActivePortal);
	pfs_usage_begin(&call->usage);
}

void
pfs_call_run_begin(PfsCall *call, const QueryDesc *desc, bool in_parts)
{
	if (is_known(call, desc) && likely(pfs_sql.top.phase == PFS_PHASE_PLAN))
	{
		pfs_sql.top.phase = PFS_PHASE_EXECUTION;
		begin_known(call, PFS_STAGE_EXECUTE);
	}
	else
		begin_run(call, desc, in_parts);
	begin_execution(call);
}

/* Counts the run, and what it returned and changed. */
void
pfs_call_run_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected, uint64 parallel_workers)
{
	PfsStatement *s = call->statement;
	PfsTimestamp now = pfs_timestamp_now();

	if (s != NULL)
	{
		pfs_call_count_execution(call, s, now, rows_sent, rows_affected);
		s->n[PFS_N_PARALLEL_WORKERS] += parallel_workers;
	}
	pfs_call_is_over(call, now);
}

/*
 * Begins a call of the executor's finish or end.  Nothing begins with a call for a descriptor that has run: it is one of
 * its statement's, or of none.
 */
void
pfs_call_behind_run_begin(PfsCall *call, const QueryDesc *desc, PfsStageKind stage)
{
	PfsTimestamp now;
	PfsStatement *s;

	if (is_known(call, desc))
	{
		begin_known(call, stage);
		return;
	}
	now = pfs_call_enter(call, desc);
	s = pfs_call_nested(desc);
	if (s == NULL && call->top && pfs_sql.top_open && pfs_sql.top.query == desc)
		s = &pfs_sql.top;
	pfs_call_make_active(call, s, now, stage);
}

/*
 * Ends a call of the executor's finish.  Where there is something to count, that is its
 * time, what it has used, and the rows that the parts of WITH have changed.
 */
void
pfs_call_finish_end(PfsCall *call, const QueryDesc *desc, uint64 rows_affected)
{
	PfsStatement *s = call->statement;
	PfsTimestamp now = pfs_timestamp_now();

	if (s != NULL && pfs_finish_counts(desc))
	{
		pfs_call_count_time(call, s, now);
		pfs_usage_end(&call->usage, s->n);
		pfs_usage_end_rare(&call->usage, s->n + PFS_N_RARE);
		s->n[PFS_N_ROWS_AFFECTED] += rows_affected;
	}
	pfs_call_is_over(call, now);
}

/*
 * Ends a call of the executor's end, and with it a nested statement.  The one at top
 * level goes on until the next one is seen.
 */
void
pfs_call_executor_end_end(PfsCall *call, const QueryDesc *desc)
{
	PfsStatement *s = call->statement;
	PfsTimestamp now = pfs_timestamp_now();
	PfsStatementSource source;

	if (s == NULL || s == &pfs_sql.top)
	{
		pfs_call_is_over(call, now);
		if (s != NULL)
			s->query = NULL;
	}
	else if (likely(s->event != NULL))
		pfs_call_end_nested(call, now, NULL);
	else
	{
		describe(&source, desc);
		pfs_call_end_nested(call, now, &source);
	}
}

/* ---- utilities ---- */

/*
 * Begins a call of a utility.  It is executed at once, so its statement gets its name and
 * its last phase here.  Inside another call it is a nested statement.
 */
void
pfs_call_utility_begin(PfsCall *call, const PfsStatementSource *source, bool progress)
{
	PfsThread  *t = call->thread;
	PfsTimestamp now = pfs_call_enter(call, NULL);
	PfsStatement *s;

	if (call->top)
	{
		s = pfs_call_top(t, now, source, pfs_call_is_other_portal(source));
		pfs_call_reach(t, s, PFS_PHASE_EXECUTION, source);
	}
	else
	{
		s = pfs_nested_begin(t, now, source);
		if (s != NULL)
		{
			s->phase = PFS_PHASE_EXECUTION;
			s->is_utility = true;
			s->portal = source->portal;
		}
	}
	if (s != NULL)
		s->is_execute = source->tag == CMDTAG_EXECUTE;
	if (progress)
	{
		/* Anew. */
		pfs_local.slow |= PFS_SLOW_PROGRESS;
		pfs_stages.over = PFS_NO_INSTRUMENT;
	}
	pfs_call_make_active(call, s, now, PFS_STAGE_UTILITY);
	pfs_call_look_for_text(t, source);
	begin_execution(call);
}

/* Ends a call of a utility, and with it a nested statement. */
void
pfs_call_utility_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected)
{
	PfsStatement *s = call->statement;
	PfsTimestamp now = pfs_timestamp_now();

	if (s != NULL)
		pfs_call_count_execution(call, s, now, rows_sent, rows_affected);
	if (s == NULL || s == &pfs_sql.top)
		pfs_call_is_over(call, now);
	else
		pfs_call_end_nested(call, now, NULL);
	if (pfs_sql.nest == 0)
		pfs_local.slow &= ~PFS_SLOW_PROGRESS;
}
