/*
 * pfs_statement_fast.h
 *	  The short way of a hook's call: for the query of the statement at top
 *	  level.  Hooks ask first whether it leads there, and call on between each pair.
 */
#ifndef PFS_STATEMENT_FAST_H
#define PFS_STATEMENT_FAST_H

#include "pfs_statement_open.h"

/*
 * Does a query at top level start its executor?  t is NULL only where no statement is
 * open.  Deferred triggers run at the
 * commit, outside of all hooks, and of all portals.
 */
static inline bool
pfs_top_may_start(const PfsThread *t, const void *portal)
{
	return likely(pfs_sql.top_open && pfs_sql.nest == 0 && pfs_sql.open == NULL && !pfs_sql.top.done &&
				  pfs_sql.top.met < PFS_MET_EXECUTION && portal != NULL && pfs_statement_has_client() &&
				  !pfs_is_changing(t));
}

extern void pfs_top_switch_slowly(PfsThread *t, PfsStageKind stage, PfsMoment now);
extern void pfs_top_clear_up(PfsThread *t);

/*
 * Has this query gone the short way so far?  Then it has a slot, its stages are a run or off,
 * and all is timed by the cycle counter.  Whatever goes the long way for its statement puts an
 * end to that.
 */
static inline bool
pfs_top_is_fast(const void *query)
{
	return likely(pfs_sql.fast == query);
}

/* The same, and it has not run yet: another run at top level is another statement. */
static inline bool
pfs_top_is_first_run(const void *query)
{
	return pfs_top_is_fast(query) && likely(pfs_sql.top.met == PFS_MET_PLAN);
}

static pg_attribute_always_inline void
pfs_top_enter(PfsThread *t, PfsStageKind stage, uint64 now)
{
	if (unlikely(!pfs_stage_mark_run(t, stage, now)))
	{
		PfsMoment	moment = {now, PFS_TIMER_CYCLE};

		pfs_sql.fast = NULL;
		pfs_top_switch_slowly(t, stage, moment);
	}
	pfs_sql.nest = 1;
	pfs_sql.current = &pfs_sql.top;
}

static pg_attribute_always_inline void
pfs_top_leave(PfsThread *t)
{
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	if (unlikely(pfs_stages.n != 1 || pfs_sql.planned != NULL))
		pfs_top_clear_up(t);
}

/* ---- the hook calls on between each pair; start: what the first one gives ---- */

/*
 * The name, the transaction and the slot's text are changes, so that another
 * process never sees half of a text.
 */
static pg_attribute_always_inline void
pfs_top_start(PfsThread *t, const PfsStatementSource *source)
{
	PfsStatement *s = &pfs_sql.top;
	PfsMoment	now = pfs_top_moment();
	PfsInstrumentId instrument = pfs_tag_instrument[source->tag];
	uint32		flags = pfs_wait_flags(t, instrument);
	PfsParent	parent = {s->event_id, PFS_NESTING_STATEMENT};

	pfs_change_begin(t);
	s->portal = source->portal;
	s->portal_time = source->portal_time;
	s->query = source->query;
	if (unlikely(s->met == PFS_MET_PLAN))
		pfs_transaction_look_at(t, now);
	else if (likely(s->met == PFS_MET_NOTHING && s->event != NULL && (flags & PFS_FLAG_ENABLED)))
	{
		if (pfs_transaction_is_new())
			pfs_transaction_begin(t, now, parent);
		pfs_statement_set_name(s, instrument, flags);
		s->event->query_id = s->query_id = source->query_id;
		pfs_statement_put_text(s->event, source->str, source->location, source->len);
		pfs_local.slow &= ~PFS_SLOW_UNNAMED;
	}
	else
	{
		pfs_transaction_look_at(t, now);
		if (s->met == PFS_MET_NOTHING)
			pfs_statement_name(t, s, instrument, source);
	}
	s->met = PFS_MET_PLAN;
	pfs_sql.nest = 1;
	pfs_sql.current = s;

	/* If all is usual, nothing but the clock has to be asked from here on. */
	if (likely(s->event != NULL && pfs_is_usual(s->flags) && now.timer == PFS_TIMER_CYCLE &&
			   pfs_stage_mark(t, PFS_STAGE_EXECUTOR_START, now)))
		pfs_sql.fast = source->query;
	else
	{
		if (!pfs_stage_mark(t, PFS_STAGE_EXECUTOR_START, now))
			pfs_stage_switch_slowly(t, PFS_STAGE_EXECUTOR_START, now, s->event_id);
		pfs_sql.usage_ends = true;
	}
	pfs_change_end(t);
	pfs_usage_begin(&pfs_sql.usage);
}

/* On the short way the run goes on with the same usage. */
static pg_attribute_always_inline void
pfs_top_start_end(PfsThread *t)
{
	if (unlikely(pfs_sql.usage_ends))
	{
		pfs_usage_end(&pfs_sql.usage, pfs_sql.top.n);
		pfs_sql.usage_ends = false;
	}
	pfs_top_leave(t);
}

static pg_attribute_always_inline uint64
pfs_top_run(PfsThread *t)
{
	uint64		now = pfs_read_cycles();

	pfs_sql.top.met = PFS_MET_EXECUTION;
	pfs_top_enter(t, PFS_STAGE_EXECUTE, now);
	return now;
}

static pg_attribute_always_inline void
pfs_top_stamp(uint64 now)
{
	pfs_sql.top.stamp.at = now;
	pfs_sql.top.stamp.timer = PFS_TIMER_CYCLE;
}

static pg_attribute_always_inline void
pfs_top_count_time(uint64 start, uint64 now)
{
	if (likely(now > start))
		pfs_sql.top.n[PFS_N_EXEC_TIME] += now - start;
}

static pg_attribute_always_inline void
pfs_top_run_end(PfsThread *t, uint64 start, uint64 rows_sent, uint64 rows_affected, uint64 workers)
{
	uint64		now = pfs_read_cycles();
	uint64	   *n = pfs_sql.top.n;

	pfs_top_count_time(start, now);
	n[PFS_N_ROWS_SENT] += rows_sent;
	n[PFS_N_ROWS_AFFECTED] += rows_affected;
	n[PFS_N_PARALLEL_WORKERS] += workers;
	pfs_usage_end(&pfs_sql.usage, n);
	pfs_sql.top.done = true;
	pfs_top_stamp(now);
	pfs_top_leave(t);
}

/* counts: more than nothing can happen in it. */
static pg_attribute_always_inline uint64
pfs_top_finish(PfsThread *t, bool counts)
{
	uint64		now = pfs_read_cycles();

	if (counts)
		pfs_usage_begin(&pfs_sql.usage);
	pfs_top_enter(t, PFS_STAGE_FINISH, now);
	return now;
}

static pg_attribute_always_inline void
pfs_top_finish_end(PfsThread *t, uint64 start, bool counts)
{
	uint64		now = pfs_read_cycles();

	pfs_top_count_time(start, now);
	if (counts)
		pfs_usage_end(&pfs_sql.usage, pfs_sql.top.n);
	pfs_top_stamp(now);
	pfs_sql.finished = true;
	pfs_top_leave(t);
}

/* Nothing lies between the executor's finish and its end. */
static pg_attribute_always_inline void
pfs_top_executor_end(PfsThread *t)
{
	pfs_top_enter(t, PFS_STAGE_EXECUTOR_END, likely(pfs_sql.finished) ? pfs_sql.top.stamp.at : pfs_read_cycles());
}

static pg_attribute_always_inline void
pfs_top_executor_end_end(PfsThread *t)
{
	pfs_sql.top.query = NULL;
	pfs_sql.fast = NULL;
	pfs_sql.ended_fast = true;
	pfs_top_stamp(pfs_read_cycles());
	pfs_top_leave(t);
}

/* The transaction of a query that has gone the short way is about to be committed. */
static pg_attribute_always_inline void
pfs_statement_committing(PfsThread *t)
{
	if (likely(pfs_sql.ended_fast && pfs_sql.nest == 0 && pfs_stages.n == 1) &&
		likely(pfs_stage_mark_run(t, PFS_STAGE_COMMIT, pfs_read_cycles())))
		return;
	if (pfs_sql.top_open)
		pfs_statement_committing_slowly(t);
	else
		pfs_transaction_notice(t);
}

/* It is over. */
static pg_attribute_always_inline void
pfs_statement_transaction_ended(PfsThread *t, PfsTransactionState state)
{
	if (!pfs_sql.top_open && pfs_transaction.event == NULL)
		pfs_transaction.lxid = InvalidLocalTransactionId;
	else
		pfs_statement_transaction_ended_slowly(t, state);
}

/* ---- the client's next message has arrived ---- */

static inline void
pfs_statement_arrived(PfsThread *t)
{
	if (pfs_sql.top_open || pfs_statement_is_wanted(t))
		pfs_statement_begins(t);
}

#endif							/* PFS_STATEMENT_FAST_H */
