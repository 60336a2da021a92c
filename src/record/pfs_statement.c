/*
 * pfs_statement.c
 *	  When statements begin and end, and which one a call of a hook belongs to.
 *
 * Top level, in a session with a client: one statement at a time, `pfs_sql.top`.  It
 * begins when a message arrives (the end of an idle wait), or where the one
 * before it ended, if the session has not been idle in between.  It ends when
 * the session becomes idle, or at its stamp, the end of its last call, when
 * the next one shows itself.
 *
 * Nested statements, and all of processes without a client: begun by the first
 * call of planner, executor start or utility inside another call, ended by the
 * executor's or the utility's end.  They are a list, not a stack, because a
 * cursor stays open while others come and go.  One whose outer statement has
 * ended goes on without a slot and is recorded at its end.
 *
 * Errors jump over the ends.  What a subtransaction began is known by its level
 * and ended when that is rolled back; where the hooks' own nesting stood is
 * remembered at the begin of each subtransaction, as whoever catches an error does
 * so with one.  The next arrival clears everything.
 */
#include "postgres.h"

#include <time.h>

#include "access/xact.h"
#include "libpq/libpq-be.h"
#include "miscadmin.h"

#include "pfs_compat.h"
#include "pfs_setup.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* Statement numbers that a process takes at a time. */
#define STATEMENT_IDS_AT_ONCE 64

PfsSql		pfs_sql;

/* ---- small things ---- */

static uint64
cpu_now(void)
{
	struct timespec ts;
	int			save_errno = errno;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	errno = save_errno;
	return (uint64) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static uint64
next_statement_id(void)
{
	if (pfs_sql.next_id == pfs_sql.last_id)
	{
		pfs_sql.next_id = pfs_add_relaxed(&pfs_shared_threads->last_statement_id, STATEMENT_IDS_AT_ONCE);
		pfs_sql.last_id = pfs_sql.next_id + STATEMENT_IDS_AT_ONCE;
	}
	return ++pfs_sql.next_id;
}

PfsParent
pfs_statement_parent(void)
{
	PfsParent	parent = {0, PFS_NESTING_NONE};
	const PfsStatement *s = pfs_sql.current;

	while (s != NULL && s->event_id == 0)
		s = s->outer;
	if (s == NULL && pfs_sql.top_open && pfs_sql.top.event_id != 0)
		s = &pfs_sql.top;
	if (s != NULL)
	{
		parent.event_id = s->event_id;
		parent.type = PFS_NESTING_STATEMENT;
	}
	return parent;
}

/* What waits are nested in from now on: stage, else statement, else transaction. */
void
pfs_set_parent(void)
{
	PfsParent	parent = {pfs_stage_event_id(), PFS_NESTING_STAGE};

	if (parent.event_id == 0)
		parent = pfs_statement_parent();
	if (parent.event_id == 0)
	{
		parent.event_id = pfs_transaction_event_id();
		parent.type = parent.event_id != 0 ? PFS_NESTING_TRANSACTION : PFS_NESTING_NONE;
	}
	pfs_local.parent = parent;
}

/* ---- begin and end of one statement, inside a change ---- */

/* Everything but what it is nested in. */
static void
start_statement(PfsThread *t, PfsStatement *s, uint32 flags, PfsMoment now)
{
	memset(s, 0, offsetof(PfsStatement, n));
	for (int i = 0; i < PFS_NUM_NUMBERS; i += 2)
		*(PfsPair *) &s->n[i] = (PfsPair)
	{
		0, 0
	};
	s->flags = flags;
	s->start = pfs_moment_of(flags, now);
	s->nest = pfs_sql.nest;
	s->xact_level = GetCurrentTransactionNestLevel();
	s->database = MyDatabaseId;
	s->user = OidIsValid(MyDatabaseId) ? GetUserId() : InvalidOid;
	s->lock_ticks = pfs_local.lock_ticks;
	s->cpu_counted = pfs_consumer_is_on(PFS_CONSUMER_STATEMENTS_CPU);
	if (unlikely(s->cpu_counted))
		s->cpu = cpu_now();
	s->statement_id = next_statement_id();
}

/*
 * Now that its name is known: is it wanted?  The timer stays what it was at the
 * begin.
 */
void
pfs_statement_name(PfsThread *t, PfsStatement *s, PfsInstrumentId instrument,
				   const PfsStatementSource *source)
{
	uint32		flags = instrument == PFS_NO_INSTRUMENT ? 0 : pfs_wait_flags(t, instrument);
	PfsStatementEvent *e = s->event;

	s->instrument = instrument;
	if (s == &pfs_sql.top)
		pfs_local.slow &= ~PFS_SLOW_UNNAMED;
	if ((flags & PFS_FLAG_ENABLED) == 0)
	{
		if (e != NULL)
			pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) e);
		s->event = NULL;
		s->flags = 0;
		s->event_id = 0;
		pfs_set_parent();
		return;
	}
	s->flags = (flags & ~PFS_FLAG_TIMER_MASK) | (s->flags & PFS_FLAG_TIMER_MASK);
	if (source != NULL)
		s->query_id = source->query_id;
	if (e == NULL)
		return;
	e->instrument = instrument;
	e->flags = s->flags;
	e->query_id = s->query_id;
	if (source != NULL)
		pfs_statement_put_text(e, source->str, source->location, source->len);
}

/*
 * The end: into the histories and the summaries.  A statement that is only
 * recorded now has no slot yet; its text is the source's.
 */
static void
end_statement(PfsThread *t, PfsStatement *s, PfsMoment now, bool failed,
			  const PfsStatementSource *source)
{
	PfsStatementEvent *e = s->event;
	uint64		end;

	if (s->flags == 0)
		return;
	end = Max(pfs_moment_of(s->flags, now), s->start);
	if (s->cpu_counted)
		s->n[PFS_N_CPU_TIME] = cpu_now() - s->cpu;
	if (failed)
	{
		s->sqlstate = pfs_sql.sqlstate;
		s->n[PFS_N_ERRORS] = Max(s->n[PFS_N_ERRORS], 1);
	}
	if (e == NULL && s->event_id != 0)
	{
		uint32		flags = s->flags;

		s->flags &= ~PFS_FLAG_CURRENT;	/* it has its number */
		e = pfs_statement_make_event(t, s);
		s->flags = flags;
		if (e != NULL)
		{
			e->event_id = s->event_id;
			if (source != NULL)
				pfs_statement_put_text(e, source->str, source->location, source->len);
		}
	}
	if (e != NULL)
	{
		e->flags = s->flags;
		e->instrument = s->instrument;
		e->sqlstate = s->sqlstate;
		for (int i = 0; i < PFS_NUM_NUMBERS; i += 2)
			*(PfsPair *) &e->n[i] = *(const PfsPair *) &s->n[i];
		if (failed)
			pfs_statement_put_message(e, pfs_sql.message, pfs_sql.message_len);
		if (s->event != NULL)
			pfs_event_end(t, PFS_STATEMENTS, (PfsEvent *) e, end);
		else
		{
			e->end_event_id = t->last_event_id;
			pfs_event_record(t, PFS_STATEMENTS, (PfsEvent *) e, end);
		}
	}
	pfs_count_statement(t, s->instrument, s->flags, end - s->start, s->n);
	s->event = NULL;
}

/* ---- nested statements, inside a change ---- */

/* NULL: no memory. */
PfsStatement *
pfs_nested_begin(PfsThread *t, PfsMoment now, const PfsStatementSource *source)
{
	PfsStatement *s = pfs_sql.unused;
	PfsStatement *outer = pfs_sql.current;
	uint32		flags = pfs_tag_instrument[source->tag] == PFS_NO_INSTRUMENT ? 0
	: pfs_wait_flags(t, pfs_tag_instrument[source->tag]);

	if (s != NULL)
		pfs_sql.unused = s->next;
	else if ((s = malloc(sizeof(PfsStatement))) == NULL)
		return NULL;
	if (outer == NULL && pfs_sql.top_open && pfs_sql.top.met != PFS_MET_NOTHING)
		outer = &pfs_sql.top;
	start_statement(t, s, flags & PFS_FLAG_ENABLED ? flags : 0, now);
	s->outer = outer;
	s->level = outer != NULL ? outer->level + 1 : 0;
	s->instrument = pfs_tag_instrument[source->tag];
	s->query_id = source->query_id;
	s->parent = pfs_statement_parent();
	if (s->parent.event_id == 0 && pfs_transaction_event_id() != 0)
	{
		s->parent.event_id = pfs_transaction_event_id();
		s->parent.type = PFS_NESTING_TRANSACTION;
	}
	s->next = pfs_sql.open;
	pfs_sql.open = s;
	if (s->flags == 0)
		return s;
	s->event = pfs_statement_make_event(t, s);
	if (s->event != NULL)
	{
		pfs_statement_put_text(s->event, source->str, source->location, source->len);
		s->event_id = s->event->event_id;
		pfs_event_show(t, PFS_STATEMENTS);
	}
	return s;
}

/* Take it off the list; it is not to be touched afterwards. */
static void
forget_nested(PfsStatement *s)
{
	PfsStatement **link = &pfs_sql.open;

	for (PfsStatement *inner = pfs_sql.open; inner != NULL; inner = inner->next)
	{
		if (inner->outer == s)
			inner->outer = s->outer;
	}
	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	if (s->met == PFS_MET_PLAN && s->query == NULL)
		pfs_sql.nplanned--;
	if (pfs_sql.current == s)
		pfs_sql.current = s->outer;
	s->next = pfs_sql.unused;
	pfs_sql.unused = s;
}

void
pfs_nested_end(PfsThread *t, PfsStatement *s, PfsMoment now, bool failed,
			   const PfsStatementSource *source)
{
	pfs_stage_record(t, &s->planned, s->event_id);
	end_statement(t, s, now, failed, source);
	forget_nested(s);
}

/* Planned, and not executed by now: it was no statement. */
void
pfs_nested_drop_planned(PfsThread *t, int nest)
{
	PfsStatement *next;

	for (PfsStatement *s = pfs_sql.open; s != NULL && pfs_sql.nplanned > 0; s = next)
	{
		next = s->next;
		if (s->met != PFS_MET_PLAN || s->query != NULL || s->nest < nest)
			continue;
		if (s->event != NULL)
			pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) s->event);
		pfs_stage_record(t, &s->planned, s->parent.type == PFS_NESTING_STATEMENT ? s->parent.event_id : 0);
		forget_nested(s);
	}
}

/* ---- top level, inside a change ---- */

static void
begin_top(PfsThread *t, PfsMoment now)
{
	PfsStatement *s = &pfs_sql.top;
	uint32		flags = pfs_class_flags(t, PFS_CLASS_STATEMENT);
	PfsStatementEvent *e;

	pfs_sql.raised = pfs_sql.failed = pfs_sql.usage_open = false;
	pfs_sql.sqlstate = 0;
	pfs_sql.message_len = 0;
	start_statement(t, s, flags, now);
	s->instrument = pfs_other_statement[PFS_STATEMENT_PARSE];
	pfs_sql.top_open = true;
	if (flags & PFS_FLAG_ENABLED)
	{
		s->parent.event_id = pfs_transaction_event_id();
		s->parent.type = s->parent.event_id != 0 ? PFS_NESTING_TRANSACTION : PFS_NESTING_NONE;
		e = pfs_statement_make_event(t, s);
		if (e != NULL)
		{
			/* Until something is known of it, nobody needs to see it. */
			e->flags &= ~PFS_FLAG_CURRENT;
			s->event = e;
			s->event_id = e->event_id;
			pfs_event_show(t, PFS_STATEMENTS);
		}
		pfs_local.slow |= PFS_SLOW_UNNAMED;
	}
	pfs_stage_first(t, now, PFS_STAGE_PARSE_ANALYZE, s->event_id);
	pfs_set_parent();
}

void
pfs_top_drop(PfsThread *t)
{
	pfs_stage_drop(t, 0);
	if (pfs_sql.top.event != NULL)
		pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) pfs_sql.top.event);
	pfs_sql.top_open = false;
	pfs_local.slow &= ~PFS_SLOW_UNNAMED;
	pfs_set_parent();
}

/* What is left of nested statements: cursors go on without a slot. */
static void
leave_nested(PfsThread *t, PfsMoment now)
{
	PfsStatement *next;

	pfs_nested_drop_planned(t, 0);
	for (PfsStatement *s = pfs_sql.open; s != NULL; s = next)
	{
		next = s->next;
		s->outer = NULL;
		if (s->query == NULL)
			pfs_nested_end(t, s, now, pfs_sql.raised, NULL);
		else if (s->event != NULL)
		{
			pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) s->event);
			s->event = NULL;
		}
	}
}

void
pfs_top_end(PfsThread *t, PfsMoment now)
{
	PfsStatement *s = &pfs_sql.top;
	bool		failed = pfs_sql.raised || pfs_sql.failed;

	if (pfs_sql.open != NULL)
		leave_nested(t, now);
	if (s->met == PFS_MET_NOTHING && !failed)
	{
		pfs_top_drop(t);
		return;
	}
	if (s->met == PFS_MET_NOTHING)
		pfs_statement_name(t, s, pfs_other_statement[PFS_STATEMENT_ERROR], NULL);
	else if (s->met != PFS_MET_EXECUTION && !failed)
		pfs_statement_name(t, s, pfs_other_statement[s->met == PFS_MET_PARSE ? PFS_STATEMENT_PARSE
													 : PFS_STATEMENT_BIND], NULL);
	pfs_stage_pop(t, 0, now);
	s->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - s->lock_ticks;
	end_statement(t, s, now, failed, NULL);
	pfs_sql.top_open = false;
	pfs_local.slow &= ~(PFS_SLOW_UNNAMED | PFS_SLOW_PROGRESS);
	pfs_set_parent();
}

/* The next statement of a string or pipeline: it begins where this one ended. */
void
pfs_top_next(PfsThread *t, PfsMoment now)
{
	PfsMoment	stamp = pfs_sql.top_open && pfs_sql.top.done ? pfs_sql.top.stamp : now;

	if (pfs_sql.top_open)
		pfs_top_end(t, stamp);
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	begin_top(t, stamp);
}

void
pfs_statement_arrived(PfsThread *t)
{
	bool		over = pfs_sql.top_open && (pfs_sql.top.done || pfs_sql.raised || pfs_sql.failed);
	PfsMoment	now;

	/* A part of a message, or the next of those that a statement consists of. */
	if ((pfs_sql.top_open && !over) || pfs_is_changing(t))
		return;
	if (!over && ((pfs_class_flags(t, PFS_CLASS_STATEMENT) | pfs_class_flags(t, PFS_CLASS_STAGE)) & PFS_FLAG_ENABLED) == 0)
		return;
	pfs_change_begin(t);
	now = pfs_moment();
	if (over)
		pfs_top_end(t, now);
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	begin_top(t, now);
	pfs_change_end(t);
}

void
pfs_statement_idle(PfsThread *t)
{
	if (!pfs_sql.top_open || pfs_is_changing(t))
		return;
	pfs_change_begin(t);
	/* AND CHAIN begins one behind all hooks. */
	pfs_transaction_look(t);
	pfs_top_end(t, pfs_moment());
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	pfs_change_end(t);
}

void
pfs_statement_detach(PfsThread *t)
{
	if (pfs_is_changing(t))
		return;
	pfs_transaction_end(t, PFS_TRANSACTION_ROLLED_BACK);
	pfs_change_begin(t);
	if (pfs_sql.top_open)
		pfs_top_end(t, pfs_moment());
	pfs_stage_pop(t, 0, pfs_moment());
	pfs_change_end(t);
}

/* Inside a change, at an instrument point: nothing but a look. */
void
pfs_statement_look(PfsThread *t, const char *str)
{
	PfsStatementSource source = {.str = str, .location = -1};
	PfsInstrumentId replication = PFS_NO_INSTRUMENT;

	if (!pfs_sql.top_open || pfs_sql.top.met != PFS_MET_NOTHING || str == NULL)
		return;
	if (MyBackendType == B_WAL_SENDER)
		replication = pfs_replication_statement(str);
	pfs_statement_name(t, &pfs_sql.top, replication != PFS_NO_INSTRUMENT ? replication
					   : pfs_other_statement[PFS_STATEMENT_PARSE], &source);
	if (replication != PFS_NO_INSTRUMENT)
	{
		pfs_sql.top.met = PFS_MET_EXECUTION;
		pfs_local.slow |= PFS_SLOW_PROGRESS;
	}
}
