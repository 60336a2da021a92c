/*
 * pfs_statement_nest.c
 *	  Statements: what those at top level and nested ones have in common, and
 *	  the nested ones.
 *
 * pfs_statement_top.c has those at top level of a session with a client, one at a
 * time.
 *
 * Nested statements, and all of processes without a client: begun by the first
 * call of planner, executor start or utility inside another call, ended by the
 * executor's or the utility's end.  They are a list, not a stack, because a
 * cursor stays open while others come and go: pfs_nested.c.
 *
 * Errors jump over the ends.  What a subtransaction began is known by its number
 * and ended when that is rolled back, as is what was called inside it; where the hooks'
 * own nesting stood is remembered at the begin of each subtransaction, as whoever
 * catches an error does so with one.  The rollback of the transaction ends the rest.
 *
 * Separate from pfs_nested.c, which keeps the list and does not know when a statement ends.
 */
#include "postgres.h"

#include <time.h>

#include "access/xact.h"
#include "miscadmin.h"

#include "pfs_compat.h"
#include "pfs_digest_wait.h"
#include "pfs_program_call.h"
#include "pfs_shared.h"

/* Statement numbers that a process takes at a time. */
#define STATEMENT_IDS_AT_ONCE 64

/* ---- begin ---- */

/* Processor time of this process so far, in nanoseconds. */
static uint64
cpu_now(void)
{
	struct timespec ts;
	int			save_errno = errno;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	errno = save_errno;
	return (uint64) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Begins what is counted only if it is asked for: processor time, memory. */
void
pfs_statement_start_counting(PfsThread *t, PfsStatement *s)
{
	uint32		counts = pfs_load_relaxed(&pfs_words->statement_counts);

	if (counts & PFS_COUNTS_CPU)
	{
		s->counts |= PFS_COUNTS_CPU;
		s->cpu = cpu_now();
	}
	if (counts & PFS_COUNTS_MEMORY)
		pfs_statement_memory_begin(t, s);
}

void
pfs_statement_take_ids(void)
{
	pfs_sql.next_id = pfs_add_relaxed(&pfs_shared_threads->last_statement_id, STATEMENT_IDS_AT_ONCE);
	pfs_sql.last_id = pfs_sql.next_id + STATEMENT_IDS_AT_ONCE;
}

/*
 * What is around stages: the current statement, or the nearest around it that has an event_id;
 * else the one at top level; else the transaction.
 */
PfsParent
pfs_statement_parent(void)
{
	PfsParent	parent;
	const PfsStatement *s = pfs_sql.current;

	while (s != NULL && s->event_id == 0)
	{
		/*
		 * Found when it began: recursion is not to walk all of itself each
		 * time.
		 */
		if (s->outer != NULL && s->parent.type == PFS_NESTING_STATEMENT)
			return s->parent;
		s = s->outer;
	}
	if (s == NULL && pfs_sql.top_open && pfs_sql.top.event_id != 0)
		s = &pfs_sql.top;
	if (s == NULL)
		return pfs_transaction_parent();
	parent.event_id = s->event_id;
	parent.type = PFS_NESTING_STATEMENT;
	return parent;
}

/* The innermost stage, if it is of the current statement; else what is around stages. */
static pg_noinline PfsParent
find_parent(void)
{
	PfsParent	parent = pfs_statement_parent();
	uint64		stage = pfs_stage_event_id(parent.type == PFS_NESTING_STATEMENT ? parent.event_id : 0);

	if (stage != 0)
		parent = (PfsParent)
	{
		stage, PFS_NESTING_STAGE
	};
	return parent;
}

/*
 * What waits are nested in from now on: the stage of the innermost statement, else that
 * statement, else the transaction.
 */
void
pfs_set_parent(void)
{
	const PfsStatement *s = pfs_sql.current;

	if (likely(s != NULL && s->event_id != 0 && pfs_stages_are_off()))
	{
		pfs_local.parent.event_id = s->event_id;
		pfs_local.parent.type = PFS_NESTING_STATEMENT;
	}
	else
		pfs_local.parent = find_parent();
	pfs_digest_charge();
}

/* ---- name and end of one statement, inside a write section ---- */

/*
 * Gives a statement its name.  If its instrument is off, it gives up its slot and is not
 * collected.  The timer stays what it was at the begin.
 */
void
pfs_statement_name(PfsThread *t, PfsStatement *s, PfsInstrumentId instrument,
				   const PfsStatementSource *source)
{
	uint32		flags = instrument == PFS_NO_INSTRUMENT ? 0 : pfs_wait_flags(t, instrument);

	if (s == &pfs_sql.top)
		pfs_local.slow &= ~PFS_SLOW_UNNAMED;
	if (flags & PFS_FLAG_ENABLED)
	{
		pfs_statement_set_name(s, instrument, flags);
		if (source == NULL)
			return;
		s->query_id = source->query_id;
		if (s->event != NULL)
		{
			s->event->query_id = s->query_id;
			pfs_statement_put_text(s->event, source->str, source->location, source->len);
		}
		return;
	}
	if (s == &pfs_sql.top)
		pfs_digest_forget_top();
	pfs_statement_leave_event(t, s);
	s->instrument = instrument;
	s->flags = 0;
	s->event_id = 0;
	pfs_set_parent();
}

/*
 * Ends a statement that has its name: into the summaries, its digest and the history.
 * One without a slot gets one now, if there is any; its text is the source's.
 */
void
pfs_statement_end(PfsThread *t, PfsStatement *s, PfsTimestamp now, bool failed,
				  const PfsStatementSource *source)
{
	PfsStatementEvent *e = s->event;
	uint64		end;

	if (s->counts & PFS_COUNTS_MEMORY)
		pfs_statement_memory_end(t, s);
	if (s->flags == 0)
		return;
	end = Max(pfs_timestamp_of(s->flags, now), s->start);
	if (s->counts & PFS_COUNTS_CPU)
		s->n[PFS_N_CPU_TIME] = cpu_now() - s->cpu;
	if (failed)
	{
		s->sqlstate = pfs_sql.sqlstate;
		s->n[PFS_N_ERRORS] = Max(s->n[PFS_N_ERRORS], 1);
		if (e != NULL)
			pfs_statement_put_message(e, pfs_sql.message, pfs_sql.message_len);
	}
	if (e != NULL)
	{
		e->memory = s->memory;
		/* The history says in which one it began. */
		if (s->parent.type != PFS_NESTING_NONE)
			e->nesting_type = s->parent.type;
	}
	pfs_statement_finish(t, s, end);
	if (e != NULL)
		return;
	/* No event: nobody wanted one, or all slots were in use when it began. */
	if (s->event_id == 0)
	{
		if (s->flags & PFS_FLAG_CURRENT)
			pfs_event_too_deep(PFS_STATEMENTS);
		return;
	}
	/* The event keeps the event_id that it has. */
	e = pfs_statement_make_event(t, s, s->flags & ~PFS_FLAG_CURRENT);
	if (e == NULL)
	{
		pfs_event_too_deep(PFS_STATEMENTS);
		return;
	}
	e->flags = s->flags;
	e->event_id = s->event_id;
	e->end_event_id = t->last_event_id;
	e->sqlstate = s->sqlstate;
	e->memory = s->memory;
	memcpy(e->n, s->own, sizeof(s->own));
	if (source != NULL)
		pfs_statement_put_text(e, source->str, source->location, source->len);
	if (failed)
		pfs_statement_put_message(e, pfs_sql.message, pfs_sql.message_len);
	pfs_event_record(t, PFS_STATEMENTS, (PfsEvent *) e, end);
	s->n = s->own;
}

/* ---- nested statements, inside a write section ---- */

/*
 * Begins a nested statement.  NULL: there is no memory, and it is counted as lost.
 */
PfsStatement *
pfs_nested_begin(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source)
{
	PfsStatement *s = pfs_nested_claim();
	PfsStatement *outer = pfs_sql.current;
	uint32		flags = pfs_tag_instrument[source->tag] == PFS_NO_INSTRUMENT ? 0
	: pfs_wait_flags(t, pfs_tag_instrument[source->tag]);

	if (unlikely(s == NULL))
	{
		if (flags & PFS_FLAG_CURRENT)
			pfs_event_too_deep(PFS_STATEMENTS);
		return NULL;
	}
	if (outer == NULL && pfs_sql.top_open && pfs_sql.top.phase != PFS_PHASE_ARRIVED)
		outer = &pfs_sql.top;
	pfs_statement_start(t, s, flags & PFS_FLAG_ENABLED ? flags : 0, now);
	pfs_nested_add(s, outer);
	s->credit.program = pfs_program_entered();
	s->level = outer != NULL ? outer->level + 1 : 0;
	s->instrument = pfs_tag_instrument[source->tag];
	s->query_id = source->query_id;
	s->parent = pfs_statement_parent();
	if (s->flags == 0)
		return s;
	s->event = pfs_statement_make_event(t, s, s->flags);
	if (s->event != NULL)
	{
		pfs_statement_put_text(s->event, source->str, source->location, source->len);
		s->event_id = s->event->event_id;
		pfs_event_show(t, PFS_STATEMENTS);
		pfs_nested_show(s);
	}
	return s;
}

/* Removes a statement that was planned, and not executed by now: it was none. */
static void
drop_planned(PfsThread *t, PfsStatement *s)
{
	if (s->counts & PFS_COUNTS_MEMORY)
		pfs_statement_memory_end(t, s);
	pfs_digest_end_planned(s);
	if (s->event != NULL)
		pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) s->event);
	pfs_stage_record(t, &s->planned, s->parent.type == PFS_NESTING_STATEMENT ? s->parent.event_id : 0);
	pfs_nested_remove(s);
}

/* Ends a nested statement, and removes it. */
void
pfs_nested_end(PfsThread *t, PfsStatement *s, PfsTimestamp now, bool failed,
			   const PfsStatementSource *source)
{
	/* An error elsewhere, or in an expression, which no executor ever sees. */
	if (s->phase == PFS_PHASE_PLAN && s->done)
	{
		drop_planned(t, s);
		return;
	}
	/* What a call has read that an error has cut off, nobody has counted yet. */
	if (unlikely(s->call_nest != 0))
		pfs_statement_examined(s);
	pfs_stage_record(t, &s->planned, pfs_statement_around_stages(s));
	if (unlikely(pfs_local.slow & PFS_SLOW_PROGRESS) && s->event_id != 0)
		pfs_stage_end_phase(t, s->event_id, now);
	pfs_statement_end(t, s, now, failed, source);
	pfs_nested_remove(s);
}

/*
 * Removes the statements that were only planned, by a call with at least `nest` hooks
 * around it: nobody is going to execute them any more.
 */
void
pfs_nested_drop_planned(PfsThread *t, int nest)
{
	while (pfs_sql.planned != NULL && pfs_sql.planned->nest >= nest)
		drop_planned(t, pfs_sql.planned);
}

/*
 * Ends or leaves what is still open inside the statement at top level, which ends:
 * cursors go on, in the slots that they have, and are nested in nothing from now on.
 */
void
pfs_nested_leave(PfsThread *t, PfsTimestamp now)
{
	PfsStatement *older;

	pfs_nested_drop_planned(t, 0);
	for (PfsStatement *s = pfs_sql.open; s != pfs_sql.left; s = older)
	{
		older = s->older_open;
		pfs_digest_leave_outer(s, now);
		pfs_nested_leave_outer(s);
		if (s->query == NULL)
			pfs_nested_end(t, s, now, pfs_top_has_failed(), NULL);
	}
	pfs_sql.left = pfs_sql.open;
}
