/*
 * pfs_statement_open.h
 *	  An open statement, as its process keeps it; what the files of the
 *	  statements share.
 *
 * Separate from pfs_statement.h, which readers include, too: everything here is
 * process-local, and changed by instrument points only.
 */
#ifndef PFS_STATEMENT_OPEN_H
#define PFS_STATEMENT_OPEN_H

#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/portal.h"

#include "pfs_error.h"
#include "pfs_plain_state.h"
#include "pfs_prepared.h"
#include "pfs_private.h"
#include "pfs_program.h"
#include "pfs_rel_run.h"
#include "pfs_setup.h"
#include "pfs_stage.h"

/* The phase that a statement has come to. */
typedef enum PfsStatementPhase
{
	PFS_PHASE_ARRIVED,			/* its message has arrived */
	PFS_PHASE_PARSE,			/* parse analysis */
	PFS_PHASE_PLAN,				/* planner, or start of the executor; a nested
								 * one is only planned so far */
	PFS_PHASE_EXECUTION,
} PfsStatementPhase;

/* The part of an open statement's peak of memory that is its own: pfs_statement_memory.c. */
typedef struct PfsMemorySpan
{
	struct PfsMemorySpan *older;
	struct PfsMemorySpan *newer;
	uint64		peak;
} PfsMemorySpan;

typedef struct PfsStatement
{
	/* All in front of `own` begins with zero. */
	struct PfsStatement *outer; /* enclosing one; NULL: none, or it has ended */
	PfsStatementEvent *event;	/* its slot among the running ones; NULL: too
								 * deep, not collected, or its outer one has
								 * ended */
	const void *query;			/* the executor's descriptor */
	const void *portal;			/* of the top level and of utilities: what ran
								 * it, and when that was made */
	int64		portal_time;
	PfsStatementPhase phase;
	bool		done;			/* top level: has run; `stamp` may be its end;
								 * nested: has been planned */
	bool		is_utility;
	bool		is_execute;		/* EXECUTE */
	bool		is_fetch;		/* top level: the next part of what a portal
								 * returns, which is no execution */
	bool		is_whole;		/* nested: whoever executes it does nothing
								 * else until it has ended, so that waits are
								 * its own also between its calls */
	uint8		counts;			/* PFS_COUNTS_... */
	uint32		flags;			/* 0: not collected */
	PfsInstrumentId instrument;
	uint8		plan_origin;	/* PfsPlanOrigin */
	int			level;
	int			nest;			/* hooks around it when it began */
	Oid			database;
	Oid			user;
	int32		sqlstate;
	uint64		event_id;
	uint64		statement_id;
	uint64		query_id;
	uint64		plan_id;		/* 0: none, or it is not counted */
	uint64		start;			/* by the timer in flags */
	PfsTimestamp stamp;
	TimestampTz message;		/* top level: when the message came in which
								 * it was done */
	uint64		lock_ticks;		/* of the process at the start */
	PfsExamined examined;		/* the same; of a nested one, at that of its
								 * present call */
	uint64		cpu;			/* of the process at the start */
	PfsParent	parent;
	PfsCredit	credit;
	int			text_at;		/* top level, in a string of several: where
								 * its text begins, until it has been
								 * analysed; 0: it is the first */
	int			next_at;		/* where that of the next one begins; 0: it is
								 * the last */
	uint64		executed;		/* rows that its plan has written so far, of
								 * EXECUTE */
	uint64	   *n;				/* its counters: in its slot, or `own` */
	uint64		memory;			/* its peak, set at its end; 0: it does not
								 * count memory */
	uint64		own[PFS_NUM_COUNTERS] __attribute__((aligned(16)));

	/* Of one that counts memory only: pfs_statement_memory.c. */
	PfsMemorySpan memory_span;

	/* Of a nested one only: pfs_nested.c. */
	struct PfsStatement *older_open;	/* list of all open ones */
	struct PfsStatement *newer_open;
	dlist_head	inner;			/* those that began inside it */
	dlist_node	in_outer;		/* in `inner` of a nested outer one */
	struct PfsStatement *planned_before;	/* list of those that are only
											 * planned */
	PfsIndexLink by_query;		/* if it has a query */
	int			call_nest;		/* hooks that are active while one is called
								 * for it; 0: none is */
	struct PfsStatement *called_before; /* list of those with a call */
	bool		left;			/* the statement at top level that it began in
								 * has ended */
	PfsStageEvent planned;		/* of one that is only planned: that stage,
								 * which is over and counted */
	uint64		plan_key;		/* tells a planned one from another */
} PfsStatement;

/* Everything process-local of the statements. */
typedef struct PfsSql
{
	bool		top_open;
	bool		raised;			/* an error, and no subtransaction was rolled
								 * back for it */
	bool		failed;			/* the top level failed with `sqlstate` */
	int			nest;			/* hooks that are active */
	PfsStatement *current;		/* whose hook is active */
	PfsStatement *open;			/* nested ones, newest first */
	PfsStatement *left;			/* of these, the newest one that is older than
								 * the top level */
	PfsStatement *planned;		/* those that are only planned, newest first */
	PfsStatement *called;		/* those with a call that has not ended,
								 * innermost first */
	uint64		next_id;		/* of statements; those below last_id are ours */
	uint64		last_id;
	PfsStatement top;
	int			sqlstate;		/* of the last error */
	uint32		message_len;
	char		message[PFS_MESSAGE_SIZE];
} PfsSql;

extern PFS_HIDDEN PfsSql pfs_sql;

/*
 * Has the statement at top level failed?  An error that somebody else than the
 * process's outermost handler caught, with or without a subtransaction, does not make
 * it fail.  While that handler is unknown, every error does.
 */
static inline bool
pfs_top_has_failed(void)
{
	return pfs_sql.failed || (pfs_sql.raised && pfs_open_error.outermost == NULL);
}

static inline uint32
pfs_class_flags(const PfsThread *t, PfsClass class)
{
	return pfs_load_relaxed(&pfs_words->class_flags[class]) & pfs_load_relaxed(&t->mask);
}

/* Add a duration to a sum in ticks of the default timer; readings of two timers give none. */
static inline void
pfs_add_time(uint64 *number, PfsTimestamp from, PfsTimestamp to)
{
	if (unlikely(from.timer != to.timer || to.at <= from.at))
		return;
	if (likely(to.timer == PFS_FLAGS_TIMER(pfs_local.usual)))
		*number += to.at - from.at;
	else
		*number += pfs_ticks_of_default(to.timer, to.at - from.at);
}

/* How many triggers the process is in, one inside the other. */
static inline int
pfs_trigger_depth(void)
{
	/*
	 * The function looks at no argument, and if it ever did it would find
	 * none.
	 */
	static FunctionCallInfoBaseData no_arguments;

	return DatumGetInt32(PFS_IMPORT(pg_trigger_depth) (&no_arguments));
}

/* Does anybody want statements or stages, or are some open? */
static inline bool
pfs_statement_is_wanted(const PfsThread *t)
{
	return !pfs_are_hooks_off() && (pfs_sql.top_open || pfs_sql.open != NULL ||
									((pfs_class_flags(t, PFS_CLASS_STATEMENT) | pfs_class_flags(t, PFS_CLASS_STAGE)) & PFS_FLAG_ENABLED) != 0);
}

/*
 * Does this portal begin its own query, where one that is nested starts?  That is a cursor: between its calls others are
 * executed.  A query without a portal is executed from its start to its end by one caller, but for one that wants its
 * rows one by one; so is that of an EXECUTE, whose portal nobody else sees.
 */
static inline bool
pfs_is_start_of_portal(const void *portal)
{
	return portal != NULL && ((const PortalData *) portal)->status == PORTAL_DEFINED && ((const PortalData *) portal)->visible;
}

/* ---- pfs_nested.c; inside a write section unless it says otherwise ---- */

/*
 * Outside of a write section: makes sure that pfs_nested_claim() is going to find a statement.
 * Without memory it does not; then the next statement is not seen, and counted as lost.
 */
extern void pfs_nested_grow(void);

/* Outside of a write section: gives the memory back, if no nested one is open any more. */
extern void pfs_nested_shrink(void);

/*
 * Takes one from the pool, of any content, or NULL, and gives it back; puts it into the lists; takes it out
 * of all of them, and gives it back to the pool.
 */
extern PfsStatement *pfs_nested_claim(void);
extern void pfs_nested_put(PfsStatement *s);
extern void pfs_nested_add(PfsStatement *s, PfsStatement *outer);
extern void pfs_nested_remove(PfsStatement *s);

/* Notes that a statement goes on after the end of the one at top level. */
extern void pfs_nested_leave_outer(PfsStatement *s);

/* It is planned; it is executed, by this descriptor. */
extern void pfs_nested_set_planned(PfsStatement *s, const PfsStatementSource *source);
extern void pfs_nested_set_query(PfsStatement *s, const void *query);

/* A call for it begins, with so many hooks active, its own included. */
extern void pfs_nested_call_begin(PfsStatement *s, int nest);

/*
 * The calls with so many hooks active or more, their own included, are over: one that ends, and those
 * inside it that an error has cut off.  So these numbers fall along the list.
 */
static inline void
pfs_nested_calls_end(int nest)
{
	PfsStatement *s;

	while ((s = pfs_sql.called) != NULL && s->call_nest >= nest)
	{
		pfs_sql.called = s->called_before;
		s->call_nest = 0;
	}
}

/* The newest one of this descriptor; the planned one of the present call.  Or NULL. */
extern PfsStatement *pfs_nested_find(const void *query);
extern PfsStatement *pfs_nested_find_planned(const PfsStatementSource *source);

/* Note that a statement has got a slot; that it has none any more. */
extern void pfs_nested_show(PfsStatement *s);
extern void pfs_nested_hide(PfsStatement *s);

/* Takes the slot of a cursor that is not being read; false: there is no such cursor. */
extern bool pfs_nested_free_slot(PfsThread *t);

/* A cursor without a slot is read: it gets one, if there is any. */
extern void pfs_nested_show_again(PfsThread *t, PfsStatement *s, const PfsStatementSource *source);

/* ---- pfs_statement_nest.c; inside a write section ---- */

extern void pfs_statement_start_counting(PfsThread *t, PfsStatement *s);
extern void pfs_statement_take_ids(void);

/* Fill in a statement that begins, but for what it is nested in, and its slot. */
static pg_attribute_always_inline void
pfs_statement_start(PfsThread *t, PfsStatement *s, uint32 flags, PfsTimestamp now)
{
	memset(s, 0, offsetof(PfsStatement, own));
	s->n = s->own;
	s->flags = flags;
	s->start = pfs_timestamp_of(flags, now);
	s->nest = pfs_sql.nest;
	s->database = MyDatabaseId;
	s->user = OidIsValid(MyDatabaseId) ? GetUserId() : InvalidOid;
	s->lock_ticks = pfs_local.lock_ticks;
	s->examined = pfs_examined();
	if (unlikely(pfs_load_relaxed(&pfs_words->statement_counts) != 0))
		pfs_statement_start_counting(t, s);
	if (unlikely(pfs_sql.next_id == pfs_sql.last_id))
		pfs_statement_take_ids();
	s->statement_id = ++pfs_sql.next_id;
}

/*
 * Make a slot for a statement, which has its counters from then on; NULL: all are in use.
 * A cursor that nobody reads gives its slot away first.
 */
static pg_attribute_always_inline PfsStatementEvent *
pfs_statement_make_event(PfsThread *t, PfsStatement *s, uint32 flags)
{
	PfsStatementEvent *e = (PfsStatementEvent *)
	pfs_event_begin(t, PFS_STATEMENTS, s->instrument, flags, s->start, s->parent);

	if (unlikely(e == NULL) && pfs_nested_free_slot(t))
		e = (PfsStatementEvent *) pfs_event_begin(t, PFS_STATEMENTS, s->instrument, flags, s->start, s->parent);
	if (unlikely(e == NULL))
	{
		/* One that has an event_id has had a slot, and counts on. */
		if (s->event_id == 0)
			memset(s->own, 0, sizeof(s->own));
		return NULL;
	}
	s->n = e->n;
	memset(e->n, 0, sizeof(e->n));
	e->level = s->level;
	e->statement_id = s->statement_id;
	e->query_id = s->query_id;
	e->database = s->database;
	e->user = s->user;
	e->sqlstate = 0;
	e->schema_len = e->message_len = 0;
	e->text_len = 0;
	e->counts = s->counts;
	if (s != &pfs_sql.top)
	{
		e->counts |= PFS_IS_NESTED;
		if (s->credit.program != NULL)
		{
			e->counts |= PFS_IN_PROGRAM;
			e->program = pfs_program_word(s->credit.program);
		}
	}
	if (PFS_HAVE_PLAN_ORIGIN)
		e->plan_origin = s->plan_origin;
	e->plan_id = s->plan_id;
	return e;
}

/*
 * Charges a statement with the rows that the process has examined since its begin, a nested one since
 * that of its present call.
 */
static pg_attribute_always_inline void
pfs_statement_examined(PfsStatement *s)
{
	const PfsExamined *since = &s->examined;
	PfsExamined now = pfs_examined();

	if (likely(now.rows == since->rows && now.full_scans == since->full_scans))
		return;
	s->n[PFS_N_ROWS_EXAMINED] += now.rows - since->rows;
	s->n[PFS_N_NO_INDEX_USED] |= now.full_scans != since->full_scans;
}

/* Write a statement's instrument and flags, also into its slot. */
static pg_attribute_always_inline void
pfs_statement_set_name(PfsStatement *s, PfsInstrumentId instrument, uint32 flags)
{
	s->instrument = instrument;

	/*
	 * One that began while its consumer was off has no number, and is no
	 * event.
	 */
	if (unlikely(s->event_id == 0))
		flags &= ~(PFS_FLAG_CURRENT | PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG);
	s->flags = flags = (flags & ~PFS_FLAG_TIMER_MASK) | (s->flags & PFS_FLAG_TIMER_MASK);
	if (likely(s->event != NULL))
	{
		s->event->instrument = instrument;
		s->event->flags = flags;
	}
}

/* The statement gives up its slot, and goes on: its counters are its own from then on. */
static inline void
pfs_statement_leave_event(PfsThread *t, PfsStatement *s)
{
	if (s->event == NULL)
		return;
	memcpy(s->own, s->n, sizeof(s->own));
	s->n = s->own;
	pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) s->event);
	s->event = NULL;
	if (s != &pfs_sql.top)
		pfs_nested_hide(s);
}

/*
 * Of one that wants a digest: pfs_digest_wait.c.  e: its slot, or NULL; end: by the
 * timer in its flags.  True: it is counted for its thread, too.
 */
extern bool pfs_digest_end_statement(const PfsStatement *s, const PfsStatementEvent *e, uint64 end);

/* pfs_statement_memory.c: raises the maximum of the cell that it has just been counted in. */
extern void pfs_statement_memory_count(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 memory);

/* Of one that was planned and is not executed; of one that goes on when the one around it ends. */
extern void pfs_digest_end_planned(const PfsStatement *s);
extern void pfs_digest_leave_outer(const PfsStatement *s, PfsTimestamp now);

/* ---- what a statement is counted for besides its digest ---- */

/* A plain statement at top level starts what this portal was made for. */
static pg_attribute_always_inline void
pfs_credit_plain_starts(PfsCredit *credit, const PortalData *portal, uint64 query_id)
{
	credit->prepared = portal->prepStmtName == NULL ? NULL
		: pfs_prepared_lately(portal->prepStmtName, query_id, portal->creation_time);
}

/*
 * Returns the length of the text of a statement that starts, if this part of the string is known to be as its event has
 * it: without blanks around it, and not too long.  0: unknown.
 */
static pg_attribute_always_inline uint32
pfs_credit_text_len(const PfsCredit *credit, const char *str, int location, int len)
{
	const PfsPrepared *p = credit->prepared != NULL ? credit->prepared->record : NULL;

	if (p == NULL || location > 0 || (len > 0 && location < 0) || !(len > 0 ? len == p->text_len : str[p->text_len] == '\0'))
		return 0;
	return p->text_len;
}

/* A plain statement runs.  A nested one has no portal. */
static pg_attribute_always_inline void
pfs_credit_plain_runs(PfsPlainStatement *plain)
{
	const PortalData *portal = plain->portal;

	if (likely(plain->credit.prepared != NULL))
		plain->credit.prepared->executed = true;
	else if (portal != NULL && portal->prepStmtName != NULL)
		plain->credit.prepared = pfs_prepared_executed(pfs_my_thread, portal->prepStmtName, plain->event->query_id,
													   plain->portal_time, false);
}

/* Inside a write section: a plain statement ends.  rare: see pfs_program_count_statement(). */
static pg_attribute_always_inline void
pfs_credit_plain_ends(const PfsCredit *credit, bool is_nested, const PfsStoredStatement *e, const uint64 *rare, uint64 ticks)
{
	if (is_nested && credit->program != NULL)
		pfs_program_count_statement(credit->program, e->flags, ticks, e->n, rare, 0);
	if (!is_nested && credit->prepared != NULL)
		pfs_prepared_add_usual(credit->prepared, ticks);
}

/* Outside of write sections: the statement at top level executes what this portal was made for, or fetches from it. */
static inline void
pfs_credit_top_executes(PfsThread *t, const PortalData *portal)
{
	if (unlikely(portal != NULL && portal->prepStmtName != NULL))
		pfs_prepared_top_executes(t, portal);
}

/* Inside a write section: a statement ends, after these ticks. */
static pg_attribute_always_inline void
pfs_credit_ends(const PfsCredit *credit, const PfsStatement *s, uint64 ticks)
{
	if (unlikely(credit->prepared != NULL))
		pfs_prepared_add(credit->prepared, s->flags, ticks, s->is_fetch);
	if (unlikely(credit->program != NULL))
		pfs_program_count_statement(credit->program, s->flags, ticks, s->n, pfs_counters_rare(s->n + PFS_N_RARE), s->memory);
}

/* A nested statement has ended, or was none. */
static inline void
pfs_credit_release(PfsCredit *credit)
{
	if (unlikely(credit->prepared != NULL))
		pfs_prepared_release(credit->prepared);
}

/* Counts it in the thread's own cell, with its peak of memory: so both are in the same one, whatever is truncated meanwhile. */
static inline void
pfs_statement_count(PfsThread *t, const PfsStatement *s, uint64 ticks)
{
	pfs_count_statement(t, s->instrument, s->flags, ticks, s->n);
	if (unlikely(s->memory != 0))
		pfs_statement_memory_count(t, s->instrument, s->flags, s->memory);
}

/* End a statement: into the summaries, its digest and, if it has a slot, the history. */
static pg_attribute_always_inline void
pfs_statement_finish(PfsThread *t, PfsStatement *s, uint64 end)
{
	PfsStatementEvent *e = s->event;
	uint64		ticks = end - s->start;

	if ((s->flags & PFS_FLAG_DIGEST) == 0 || !pfs_digest_end_statement(s, e, end))
		pfs_statement_count(t, s, ticks);
	pfs_credit_ends(&s->credit, s, ticks);
	if (e == NULL)
		return;
	e->flags = s->flags;
	e->sqlstate = s->sqlstate;
	pfs_event_end(t, PFS_STATEMENTS, (PfsEvent *) e, end);
	s->event = NULL;
	s->n = s->own;
}

/*
 * The event_id of the statement that the stages of a nested one are in: its own, or that of the
 * one around it; 0: none.
 */
static inline uint64
pfs_statement_around_stages(const PfsStatement *s)
{
	if (likely(s->event_id != 0))
		return s->event_id;
	return s->parent.type == PFS_NESTING_STATEMENT ? s->parent.event_id : 0;
}

extern void pfs_statement_end(PfsThread *t, PfsStatement *s, PfsTimestamp now, bool failed,
							  const PfsStatementSource *source);
extern void pfs_nested_leave(PfsThread *t, PfsTimestamp now);

/* Gives a statement its name; source NULL: the text stays as it is. */
extern void pfs_statement_name(PfsThread *t, PfsStatement *s, PfsInstrumentId instrument,
							   const PfsStatementSource *source);
extern PfsStatement *pfs_nested_begin(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source);
extern void pfs_nested_end(PfsThread *t, PfsStatement *s, PfsTimestamp now, bool failed,
						   const PfsStatementSource *source);

/* Those with at least so many hooks around them that were planned only. */
extern void pfs_nested_drop_planned(PfsThread *t, int nest);
extern void pfs_top_next(PfsThread *t, PfsTimestamp now);

/*
 * Has the next message of a pipeline come, of which no hook has seen anything yet, behind a
 * statement that has run?
 */
extern bool pfs_top_next_has_come(void);

/* The statement that is charged with what begins now: PfsChargeCallbacks.statement_cb. */
extern PfsDigestCharged pfs_statement_charged(bool *rides);

/*
 * Outside of write sections: the server has told the client that a statement is complete.  If others
 * follow in its string, the next one begins.
 */
extern void pfs_top_is_complete(PfsThread *t);

/* The client reads the next part of what a portal returns: an event of its own. */
extern PfsStatement *pfs_top_fetch(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source);
extern void pfs_top_end(PfsThread *t, PfsTimestamp now);
extern void pfs_top_drop(PfsThread *t);

/*
 * The statement at top level is over, at least as far as it can be seen, by what the present
 * message does.
 */
static inline void
pfs_top_is_done(PfsTimestamp stamp)
{
	pfs_sql.top.stamp = stamp;
	if (!pfs_sql.top.done)
		pfs_sql.top.message = GetCurrentStatementStartTimestamp();
	pfs_sql.top.done = true;
	pfs_local.slow |= PFS_SLOW_OVER;
}

/* ---- pfs_statement_memory.c; inside a write section, statements that count memory only ---- */

/* A statement begins; it counts if the process can be told of its allocations. */
extern void pfs_statement_memory_begin(PfsThread *t, PfsStatement *s);

/* The same where a plain one has begun it, which was the only statement that was open. */
extern void pfs_statement_memory_left(PfsStatement *s);

/* It ends, or is dropped: s->memory is its peak from now on. */
extern void pfs_statement_memory_end(PfsThread *t, PfsStatement *s);

/* ---- pfs_statement_event.c; inside a write section ---- */

/* Puts the schema into so many bytes as PFS_SCHEMA_SIZE; its length. */
extern uint32 pfs_statement_put_schema(char *to);

/* to: PFS_SCHEMA_SIZE bytes, and pfs_sizes.sql_text or as many as the string has. */
extern uint32 pfs_statement_copy_text(char *to, uint16 *schema_len, const char *str, int location, int len);
extern bool pfs_statement_has_text(const PfsStatementEvent *e, const PfsStatementSource *source);
extern void pfs_statement_put_text(PfsStatementEvent *e, const char *str, int location, int len);
extern void pfs_statement_put_message(PfsStatementEvent *e, const char *message, uint32 len);

#endif							/* PFS_STATEMENT_OPEN_H */
