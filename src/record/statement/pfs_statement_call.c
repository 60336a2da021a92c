/*
 * pfs_statement_call.c
 *	  Calls of hooks: which statement each belongs to, and what it adds.
 *
 * A call's begin and end are one change each.  What is counted in between is the
 * difference of the server's own counters; a statement's numbers include those of
 * statements inside it, as their calls lie inside its own.
 */
#include "postgres.h"

#include "libpq/libpq-be.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

#include "pfs_setup.h"
#include "pfs_statement_fast.h"

/* The nested statement of an executor's descriptor; NULL: it is none. */
static inline PfsStatement *
find_nested(const void *query)
{
	return pfs_sql.open != NULL ? pfs_nested_find(query) : NULL;
}

/* Deferred triggers run at the commit, outside of all hooks, but not by themselves. */
static inline bool
is_top_level_now(void)
{
	/*
	 * The function looks at no argument, and if it ever did it would find
	 * none.
	 */
	static FunctionCallInfoBaseData no_arguments;

	if (!pfs_statement_has_client())
		return false;
	return (pfs_sql.top_open && pfs_sql.top.met != PFS_MET_NOTHING && !pfs_sql.top.done) ||
		DatumGetInt32(pg_trigger_depth(&no_arguments)) == 0;
}

static inline bool
is_top_level(void)
{
	return pfs_sql.nest == 0 && is_top_level_now();
}

static void
met(PfsThread *t, PfsStatement *s, PfsProgress progress, const PfsStatementSource *source)
{
	if (s->met == PFS_MET_NOTHING && source != NULL)
		pfs_statement_name(t, s, pfs_tag_instrument[source->tag], source);
	if (s->met < progress)
		s->met = progress;
}

/*
 * Which statement, and its begin if it is the first call for it.  Inside a
 * change.
 */
static void
begin_call(PfsThread *t, PfsCall *call, PfsStatement *s, PfsMoment now, PfsStageKind stage)
{
	call->statement = s;
	call->start = now;
	call->lock_ticks = pfs_local.lock_ticks;
	if (s == NULL)
		return;
	pfs_sql.current = s;
	if (call->top)
	{
		if (!pfs_stage_mark(t, stage, now))
			pfs_stage_switch_slowly(t, stage, now, s->event_id);
	}
	else
	{
		s->call_nest = pfs_sql.nest;
		pfs_stage_push(t, pfs_stage_instrument[stage], now, s->event_id);
		pfs_set_parent();
	}
}

/* False: nobody wants to know. */
static inline bool
enter(PfsThread *t, PfsCall *call)
{
	call->nest = pfs_sql.nest;
	call->outer = pfs_sql.current;
	call->nstages = pfs_stages.n;
	call->statement = NULL;
	call->entered = !pfs_is_changing(t) && pfs_statement_is_wanted(t);
	pfs_sql.nest++;
	if (call->entered)
	{
		if (call->nest == 0)
		{
			pfs_sql.fast = NULL;
			pfs_sql.ended_fast = false;
		}
		call->top = call->nest == 0 && is_top_level_now();
		/* The change can neither allocate nor wait. */
		if (unlikely(pfs_nested_needs_room()))
			pfs_nested_make_more_room();
		if (unlikely(pfs_stages_need_room()))
			pfs_stages_make_room(t);
		pfs_change_begin(t);
		/* A transaction is nested in the statement that began it. */
		if (!call->top)
		{
			pfs_transaction_look(t);
			/* So is a statement in the phase that its command is in. */
			if (pfs_local.slow & PFS_SLOW_PROGRESS)
			{
				pfs_stage_look(t);
				call->nstages = pfs_stages.n;
			}
		}
	}
	return call->entered;
}

static void
leave(PfsThread *t, PfsCall *call, PfsMoment now)
{
	pfs_sql.nest = call->nest;
	pfs_sql.current = call->outer;
	pfs_nested_drop_planned(t, call->nest + 1);
	if (call->top && call->statement != NULL && pfs_stages.n == 1)
		return;
	pfs_stage_pop(t, call->top && call->statement != NULL ? 1 : call->nstages, now);
	pfs_set_parent();
}

/*
 * The top-level statement that a call at top level belongs to.  A portal that was
 * made for an earlier statement can be the one that is executed now.
 */
static PfsStatement *
top_of_call(PfsThread *t, PfsMoment now, const PfsStatementSource *source, bool is_next)
{
	if (!pfs_sql.top_open || (pfs_sql.top.done && is_next))
	{
		int			nest = pfs_sql.nest;

		pfs_top_next(t, now);
		pfs_sql.nest = nest;
	}
	pfs_transaction_look(t);
	pfs_sql.top.portal = source->portal;
	pfs_sql.top.portal_time = source->portal_time;
	return &pfs_sql.top;
}

static inline bool
is_other_portal(const PfsStatementSource *source)
{
	return source->portal != pfs_sql.top.portal || source->portal_time != pfs_sql.top.portal_time;
}

void
pfs_statement_parsed(PfsThread *t, const PfsStatementSource *source)
{
	if (!is_top_level() || pfs_is_changing(t) || !pfs_statement_is_wanted(t))
		return;
	pfs_change_begin(t);
	if (!pfs_sql.top_open || pfs_sql.top.met != PFS_MET_NOTHING)
		pfs_top_next(t, pfs_moment());
	pfs_transaction_look(t);
	met(t, &pfs_sql.top, PFS_MET_PARSE, source);
	pfs_change_end(t);
}

void
pfs_call_plan(PfsThread *t, PfsCall *call, const PfsStatementSource *source)
{
	PfsMoment	now;
	PfsStatement *s;

	if (!enter(t, call))
		return;
	now = pfs_moment();
	if (call->top)
	{
		s = top_of_call(t, now, source, true);
		met(t, s, PFS_MET_PLAN, source);
	}
	else
	{
		pfs_sql.nest--;
		pfs_nested_drop_planned(t, pfs_sql.nest);
		s = pfs_nested_begin(t, now, source);
		pfs_sql.nest++;
		if (s != NULL)
			pfs_nested_set_planned(s);
	}
	begin_call(t, call, s, now, PFS_STAGE_PLAN);
	pfs_change_end(t);
}

void
pfs_call_executor_start(PfsThread *t, PfsCall *call, const PfsStatementSource *source)
{
	PfsMoment	now;
	PfsStatement *s;

	if (!enter(t, call))
		return;
	now = pfs_moment();
	if (call->top)
	{
		s = top_of_call(t, now, source, is_other_portal(source));
		met(t, s, PFS_MET_PLAN, source);
		s->query = source->query;
	}
	else
	{
		pfs_sql.nest--;
		s = pfs_nested_find_planned(source->query_id);
		if (s != NULL)
			pfs_stage_record(t, &s->planned, s->event_id);
		else
			s = pfs_nested_begin(t, now, source);
		pfs_sql.nest++;
		if (s != NULL)
			pfs_nested_set_query(s, source->query);
	}
	begin_call(t, call, s, now, PFS_STAGE_EXECUTOR_START);
	pfs_usage_begin(&call->usage);
	pfs_change_end(t);
}

void
pfs_call_run(PfsThread *t, PfsCall *call, const PfsStatementSource *source)
{
	PfsMoment	now;
	PfsStatement *s;

	if (!enter(t, call))
		return;
	now = pfs_moment();
	s = find_nested(source->query);
	if (s != NULL)
	{
		call->top = false;
		if (unlikely(s->event == NULL && s->event_id != 0))
			pfs_nested_show_again(t, s, source);
	}
	else if (call->top)
	{
		/* A portal's second run at top level is the next Execute. */
		s = top_of_call(t, now, source, pfs_sql.top.query != source->query ||
						pfs_sql.top.met == PFS_MET_EXECUTION);
		met(t, s, PFS_MET_EXECUTION, source);
		s->query = source->query;
	}
	begin_call(t, call, s, now, PFS_STAGE_EXECUTE);
	pfs_usage_begin(&call->usage);
	pfs_change_end(t);
}

/* Those of statements that are known already: nothing begins here. */
static void
call_of_query(PfsThread *t, PfsCall *call, const void *query, PfsStageKind stage)
{
	PfsStatement *s;

	if (!enter(t, call))
		return;
	s = find_nested(query);
	if (s != NULL)
		call->top = false;
	else if (call->top && pfs_sql.top_open && pfs_sql.top.query == query)
		s = &pfs_sql.top;
	begin_call(t, call, s, pfs_moment(), stage);
	pfs_usage_begin(&call->usage);
	pfs_change_end(t);
}

void
pfs_call_finish(PfsThread *t, PfsCall *call, const void *query)
{
	call_of_query(t, call, query, PFS_STAGE_FINISH);
}

void
pfs_call_executor_end(PfsThread *t, PfsCall *call, const void *query)
{
	call_of_query(t, call, query, PFS_STAGE_EXECUTOR_END);
}

void
pfs_call_utility(PfsThread *t, PfsCall *call, const PfsStatementSource *source)
{
	PfsMoment	now;
	PfsStatement *s;

	if (!enter(t, call))
		return;
	now = pfs_moment();
	if (call->top)
	{
		s = top_of_call(t, now, source, is_other_portal(source));
		met(t, s, PFS_MET_EXECUTION, source);
	}
	else
	{
		pfs_sql.nest--;
		s = pfs_nested_begin(t, now, source);
		pfs_sql.nest++;
		if (s != NULL)
		{
			s->met = PFS_MET_EXECUTION;
			s->is_utility = true;
		}
	}
	begin_call(t, call, s, now, PFS_STAGE_UTILITY);
	pfs_local.slow |= PFS_SLOW_PROGRESS;
	pfs_usage_begin(&call->usage);
	pfs_change_end(t);
}

/* The call's statement, if it is the same one still. */
static inline PfsStatement *
begin_end(PfsThread *t, PfsCall *call, PfsMoment *now)
{
	if (!call->entered || pfs_is_changing(t))
	{
		pfs_sql.nest = call->nest;
		pfs_sql.current = call->outer;
		return NULL;
	}
	*now = pfs_moment();
	pfs_change_begin(t);
	return call->statement;
}

static inline void
end_end(PfsThread *t, PfsCall *call, PfsStatement *s, PfsMoment now)
{
	if (!call->entered)
		return;
	leave(t, call, now);
	if (s == &pfs_sql.top)
		s->stamp = now;
	else if (s != NULL)
		s->call_nest = 0;
	pfs_change_end(t);
}

static void
count_execution(PfsCall *call, PfsStatement *s, PfsMoment now)
{
	pfs_add_time(&s->n[PFS_N_EXEC_TIME], call->start, now);
	if (s != &pfs_sql.top)
		s->n[PFS_N_LOCK_TIME] += pfs_local.lock_ticks - call->lock_ticks;
	pfs_usage_end(&call->usage, s->n);
}

void
pfs_call_plan_end(PfsThread *t, PfsCall *call)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	if (s != NULL)
	{
		pfs_add_time(&s->n[PFS_N_PLAN_TIME], call->start, now);
		if (s != &pfs_sql.top)
		{
			s->done = true;
			if (pfs_stages.n == call->nstages + 1)
				pfs_stage_hold(t, now, &s->planned);
		}
	}
	end_end(t, call, s, now);
}

void
pfs_call_executor_start_end(PfsThread *t, PfsCall *call)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	if (s != NULL)
		pfs_usage_end(&call->usage, s->n);
	end_end(t, call, s, now);
}

void
pfs_call_run_end(PfsThread *t, PfsCall *call, uint64 rows_sent, uint64 rows_affected,
				 uint64 parallel_workers)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	if (s != NULL)
	{
		count_execution(call, s, now);
		s->n[PFS_N_ROWS_SENT] += rows_sent;
		s->n[PFS_N_ROWS_AFFECTED] += rows_affected;
		s->n[PFS_N_PARALLEL_WORKERS] += parallel_workers;
		s->done = true;
	}
	end_end(t, call, s, now);
}

void
pfs_call_finish_end(PfsThread *t, PfsCall *call, uint64 rows_affected)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	if (s != NULL)
	{
		count_execution(call, s, now);
		s->n[PFS_N_ROWS_AFFECTED] += rows_affected;
	}
	end_end(t, call, s, now);
}

void
pfs_call_executor_end_end(PfsThread *t, PfsCall *call, const PfsStatementSource *source)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	end_end(t, call, s, now);
	if (s == NULL)
		return;
	if (s == &pfs_sql.top)
		s->query = NULL;
	else
	{
		pfs_change_begin(t);
		pfs_nested_end(t, s, now, false, source);
		pfs_set_parent();
		pfs_change_end(t);
		pfs_nested_shrink();
	}
}

void
pfs_call_utility_end(PfsThread *t, PfsCall *call, uint64 rows_sent, uint64 rows_affected)
{
	PfsMoment	now = {0, 0};
	PfsStatement *s = begin_end(t, call, &now);

	if (s != NULL)
	{
		count_execution(call, s, now);
		s->n[PFS_N_ROWS_SENT] += rows_sent;
		s->n[PFS_N_ROWS_AFFECTED] += rows_affected;
		s->done = true;
	}
	end_end(t, call, s, now);
	if (pfs_sql.nest == 0)
		pfs_local.slow &= ~PFS_SLOW_PROGRESS;
	if (s == NULL || s == &pfs_sql.top)
		return;
	pfs_change_begin(t);
	pfs_nested_end(t, s, now, false, NULL);
	pfs_set_parent();
	pfs_change_end(t);
}
