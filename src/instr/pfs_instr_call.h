/*
 * pfs_instr_call.h
 *	  A call of one of the server's hooks for statements: which statement it
 *	  belongs to, and what it adds to that statement.
 *
 * The hooks' own functions are in pfs_instr_hooks.c and pfs_instr_utility.c.  Each of them does
 *
 *		if (pfs_call_begin(&call))
 *			pfs_call_..._begin(&call, ...);
 *		call the previous hook or the server
 *		if (pfs_call_end(&call))
 *			pfs_call_..._end(&call, ...);
 *
 * After an error there is no end.  Whoever catches the error restores what the
 * calls have left: see pfs_statement_unwind().
 */
#ifndef PFS_INSTR_CALL_H
#define PFS_INSTR_CALL_H

#include "access/parallel.h"
#include "executor/execdesc.h"
#include "nodes/parsenodes.h"

#include "pfs_digest_wait.h"
#include "pfs_instr.h"
#include "pfs_instr_digest.h"
#include "pfs_leader.h"
#include "pfs_plain.h"
#include "pfs_statement_open.h"

/* ---- the server's counters ---- */

/*
 * As a call finds them when it begins, in pairs as they lie in BufferUsage and in a statement.  No arrays, so that the
 * compiler has nothing to protect the stack for.
 */
typedef struct PfsUsage
{
	PfsPair		shared;			/* blocks that were hit, and read */
	PfsPair		shared_written; /* dirtied, and written */
	PfsPair		local;
	PfsPair		local_written;
	PfsPair		temp;			/* read, and written */
	uint64		wal_records;
	uint64		wal_fpi;
	uint64		wal_bytes;
} PfsUsage;

#define PFS_USAGE_PAIR(first) (*(const PfsLoosePair *) &PFS_IMPORT(pgBufferUsage).first)

StaticAssertDecl(offsetof(BufferUsage, temp_blks_written) ==
				 (PFS_N_TEMP_BLKS_WRITTEN - PFS_N_SHARED_BLKS_HIT) * sizeof(int64), "the counters of a statement");
StaticAssertDecl(PFS_N_SHARED_BLKS_HIT + 2 == PFS_N_RARE, "the first pair is of those that are not rare");

static pg_attribute_always_inline void
pfs_usage_begin(PfsUsage *usage)
{
	usage->shared = PFS_USAGE_PAIR(shared_blks_hit);
	usage->shared_written = PFS_USAGE_PAIR(shared_blks_dirtied);
	usage->local = PFS_USAGE_PAIR(local_blks_hit);
	usage->local_written = PFS_USAGE_PAIR(local_blks_dirtied);
	usage->temp = PFS_USAGE_PAIR(temp_blks_read);
	usage->wal_records = PFS_IMPORT(pgWalUsage).wal_records;
	usage->wal_fpi = PFS_IMPORT(pgWalUsage).wal_fpi;
	usage->wal_bytes = PFS_IMPORT(pgWalUsage).wal_bytes;
}

/* Adds what has been used since pfs_usage_begin() to a statement's counters, but for the rare ones. */
static pg_attribute_always_inline void
pfs_usage_end(const PfsUsage *usage, uint64 *n)
{
	*(PfsPair *) &n[PFS_N_SHARED_BLKS_HIT] += PFS_USAGE_PAIR(shared_blks_hit) - usage->shared;
}

/* Has something been used since that a rare one counts? */
static pg_attribute_always_inline bool
pfs_usage_is_rare(const PfsUsage *usage)
{
	PfsPair		any = (PFS_USAGE_PAIR(shared_blks_dirtied) ^ usage->shared_written) |
	(PFS_USAGE_PAIR(local_blks_hit) ^ usage->local) |
	(PFS_USAGE_PAIR(local_blks_dirtied) ^ usage->local_written) | (PFS_USAGE_PAIR(temp_blks_read) ^ usage->temp);

	return (any[0] | any[1]) != 0 || PFS_IMPORT(pgWalUsage).wal_records != usage->wal_records;
}

/* Adds that; rare: from PFS_N_RARE on. */
static inline void
pfs_usage_end_rare(const PfsUsage *usage, uint64 *rare)
{
	PfsPair    *to = (PfsPair *) rare;

	to[0] += PFS_USAGE_PAIR(shared_blks_dirtied) - usage->shared_written;
	to[1] += PFS_USAGE_PAIR(local_blks_hit) - usage->local;
	to[2] += PFS_USAGE_PAIR(local_blks_dirtied) - usage->local_written;
	to[3] += PFS_USAGE_PAIR(temp_blks_read) - usage->temp;
	rare[PFS_N_WAL_RECORDS - PFS_N_RARE] += PFS_IMPORT(pgWalUsage).wal_records - usage->wal_records;
	rare[PFS_N_WAL_FPI - PFS_N_RARE] += PFS_IMPORT(pgWalUsage).wal_fpi - usage->wal_fpi;
	rare[PFS_N_WAL_BYTES - PFS_N_RARE] += PFS_IMPORT(pgWalUsage).wal_bytes - usage->wal_bytes;
}

/* One call, on the stack of the hook's function. */
typedef struct PfsCall
{
	PfsThread  *thread;			/* NULL: nothing is collected */
	int			nest;			/* calls around this one */

	/* The rest is set only if there is a thread. */
	PfsStatement *statement;	/* NULL: the call belongs to none */
	PfsStatement *outer;		/* pfs_sql.current before the call */
	uint32		nstages;		/* stages on the stack before the call */
	bool		top;			/* it began at top level; it can be for a
								 * nested statement all the same */
	PfsTimestamp start;
	uint64		lock_ticks;
	PfsUsage	usage;
} PfsCall;

/*
 * A command that a utility executes, as those see it that watch commands (pfs_instr_features.h); on the stack of
 * the hook's function.
 */
typedef struct PfsCommand
{
	PfsThread  *thread;			/* NULL: no statement is recorded for it */
	PfsStatement *statement;	/* its own, or NULL */
	const Node *utility;		/* behind the command it may be gone */
	NodeTag		tag;			/* the utility's */
	bool		is_small;		/* it reports no progress and starts no
								 * workers by itself */
	DestReceiver *dest;			/* whom it gives its rows */
	const QueryCompletion *completion;	/* or NULL */
	uint64		rows_sent;		/* behind it */
	uint64		rows_affected;
} PfsCommand;

/* The process's record; a parallel worker has no statement of its own. */
static inline PfsThread *
pfs_call_thread(void)
{
	return IsParallelWorker() ? NULL : pfs_thread_here();
}

/*
 * Count the call among those that are active.  False: nobody wants statements or
 * stages of this process, or a signal handler has come in the middle of a write
 * section; then there is nothing else to do.
 */
static pg_attribute_always_inline bool
pfs_call_begin(PfsCall *call)
{
	PfsThread  *t = pfs_call_thread();

	pfs_plain_leave(t);
	call->nest = pfs_sql.nest;
	call->thread = t;
	call->statement = NULL;
	if (t != NULL && pfs_statement_is_wanted(t) && !pfs_is_writing(t))
		return true;
	call->thread = NULL;
	pfs_sql.nest++;
	return false;
}

/* The call is over.  False: nothing of it was collected. */
static pg_attribute_always_inline bool
pfs_call_end(PfsCall *call)
{
	if (call->thread != NULL && !pfs_is_writing(call->thread))
		return true;
	pfs_sql.nest = call->nest;
	if (call->thread != NULL)
		pfs_sql.current = call->outer;
	return false;
}

/*
 * May the query have triggers to fire?  Where rows go to partitions, or other tables' triggers were looked for,
 * that is not asked of each table.
 */
static inline bool
pfs_may_fire_triggers(const EState *estate)
{
	ListCell   *cell;

	if (estate->es_tuple_routing_result_relations != NIL || estate->es_trig_target_relations != NIL)
		return true;
	foreach(cell, estate->es_opened_result_relations)
	{
		if (((const ResultRelInfo *) lfirst(cell))->ri_TrigDesc != NULL)
			return true;
	}
	return false;
}

/*
 * Is there anything to count in the finish of this query?  It fires triggers and completes
 * WITH; else it does nothing.
 */
static inline bool
pfs_finish_counts(const QueryDesc *desc)
{
	return (desc->operation != CMD_SELECT && pfs_may_fire_triggers(desc->estate)) || desc->plannedstmt->hasModifyingCTE;
}

/* Parse analysis of a text.  It lies inside no other call that is counted. */
extern void pfs_call_parsed(PfsThread *t, const PfsStatementSource *source);

extern void pfs_call_plan_begin(PfsCall *call, const PfsStatementSource *source);
extern void pfs_call_plan_end(PfsCall *call);
extern void pfs_call_executor_start_begin(PfsCall *call, const QueryDesc *desc, int eflags);
extern void pfs_call_executor_start_end(PfsCall *call);

/* in_parts: another run may follow, behind what others execute. */
extern void pfs_call_run_begin(PfsCall *call, const QueryDesc *desc, bool in_parts);
extern void pfs_call_run_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected, uint64 parallel_workers);

/* Of a query that has run. */
extern void pfs_call_behind_run_begin(PfsCall *call, const QueryDesc *desc, PfsStageKind stage);
extern void pfs_call_finish_end(PfsCall *call, const QueryDesc *desc, uint64 rows_affected);

/* The descriptor is freed only behind this, and its text lives longer. */
extern void pfs_call_executor_end_end(PfsCall *call, const QueryDesc *desc);

/* progress: it may report some. */
extern void pfs_call_utility_begin(PfsCall *call, const PfsStatementSource *source, bool progress);
extern void pfs_call_utility_end(PfsCall *call, uint64 rows_sent, uint64 rows_affected);

/*
 * A call of a plain statement that general code has taken over meanwhile (pfs_plain.h): makes what its end needs.
 * desc: its query's, of the executor; else NULL.  start: its begin.
 */
extern void pfs_call_plain_left(PfsCall *call, const QueryDesc *desc, uint64 start);

/* ---- calls of a plain statement (pfs_plain.h) ---- */

/*
 * Begins the call that executes a plain statement, a run or a utility, and returns its begin.  The caller keeps what
 * this notes in a variable whose address no function gets, which the compiler would have to protect its stack for.
 */
static pg_attribute_always_inline uint64
pfs_plain_runs(PfsUsage *usage)
{
	pfs_credit_plain_runs(&pfs_plain.open);
	pfs_plain.state = PFS_PLAIN_RUNS;
	pfs_usage_begin(usage);
	return pfs_plain_now();
}

/*
 * Notes the end of a run, or of a finish, of this query (NULL: of a utility) that began at `start`; false: the general
 * code has taken the statement over.
 */
static pg_attribute_always_inline bool
pfs_plain_has_run(const QueryDesc *query, const PfsUsage *usage, uint64 start)
{
	uint64		now = pfs_plain_now();
	uint64	   *n;

	if (unlikely(!pfs_plain_is(PFS_PLAIN_RUNS, query) || pfs_plain.open.event == NULL) &&
		!pfs_plain_comes_back(pfs_my_thread, PFS_PLAIN_RUNS, query))
		return false;
	pfs_plain.open.stamp = now;
	n = pfs_plain.open.event->n;
	if (likely(now > start))
		n[PFS_N_EXEC_TIME] += now - start;
	pfs_usage_end(usage, n);
	if (unlikely(pfs_usage_is_rare(usage)))
		pfs_usage_end_rare(usage, pfs_plain_rare());
	pfs_plain.state = PFS_PLAIN_RAN;
	if (likely(pfs_plain.depth == 0))
		pfs_local.slow |= PFS_SLOW_OVER;
	pfs_plain.open.message = PFS_IMPORT(GetCurrentStatementStartTimestamp) ();
	return true;
}

/* What runs the statement at top level: the portal, and when it was made. */
extern void pfs_call_set_portal(PfsStatementSource *source);

/* ---- what is answered: pfs_instr_answer.c ---- */

/*
 * A command at top level has been executed, at the end of its last hook: if ActivePortal has
 * stored its rows, it sends them from here on.
 */
extern void pfs_portal_executed(void);

/* Until the session waits for its client: a statement has run that others follow in its string. */
extern void pfs_answers_watch(void);

/*
 * ---- parallel workers: pfs_instr_workers.c ----
 *
 * Begins a call that may start workers: of the executor's run, or with NULL of a utility.  pfs_lead_end()
 * ends it.
 */
extern void pfs_workers_lead(PfsThread *t, PfsLead *lead, const QueryDesc *desc);

/* The same around a command. */
typedef struct PfsWorkersCommand
{
	bool		leads;
	PfsLead		lead;
} PfsWorkersCommand;

extern void pfs_workers_command_begin(PfsCommand *command, PfsWorkersCommand *state);
extern void pfs_workers_command_end(PfsCommand *command, const PfsWorkersCommand *state);

/* How many a query has started that has just run for the first time: later runs start none. */
extern uint64 pfs_workers_launched(const QueryDesc *desc);

/* ---- what calls of all hooks begin and end with: for pfs_instr_call.c ---- */

/* The nested statement of an executor's descriptor, nearly always the newest one; NULL: it is none. */
static inline PfsStatement *
pfs_call_nested(const QueryDesc *desc)
{
	PfsStatement *newest = pfs_sql.open;

	if (newest == NULL || likely(newest->query == desc))
		return newest;
	return pfs_nested_find(desc);
}

/* Notes that the statement has come to a phase; the first one gives it its name. */
extern void pfs_call_reach(PfsThread *t, PfsStatement *s, PfsStatementPhase phase, const PfsStatementSource *source);

/*
 * The statement at top level that a call belongs to.  is_next: the call is not one of
 * the statement that has run, if one has.
 */
extern PfsStatement *pfs_call_top(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source, bool is_next);

static inline bool
pfs_call_is_other_portal(const PfsStatementSource *source)
{
	return source->portal != pfs_sql.top.portal || source->portal_time != pfs_sql.top.portal_time;
}

/* Gives the digest of a statement that is going to be executed a text, if it may have none. */
static inline void
pfs_call_look_for_text(PfsThread *t, const PfsStatementSource *source)
{
	if (unlikely(pfs_digest_may_lack_text(source->query_id)))
		pfs_digest_text_executed(t, source);
}

/*
 * Begins a write section for a call that pfs_call_begin() has found to be wanted, and
 * finds out whether it is at top level.  The caller finds the statement, and ends the
 * section by pfs_call_make_active().  desc: of a query that the executor has started before, else NULL.
 */
extern PfsTimestamp pfs_call_enter(PfsCall *call, const QueryDesc *desc);

/* Begins another stage of the statement at top level, outside of a write section. */
extern void pfs_call_switch_stage(PfsThread *t, PfsStageKind stage, PfsTimestamp now);

/* Are waits this nested statement's already, as its call before has left it? */
static inline bool
pfs_call_is_charged(const PfsStatement *s)
{
	return s->event_id != 0 && pfs_local.parent.event_id == s->event_id && pfs_digest_charged == s->statement_id;
}

/*
 * Makes a call active whose statement has been found, or is NULL as there is none: begins
 * the stage, and ends the write section of pfs_call_enter().
 */
static inline void
pfs_call_make_active(PfsCall *call, PfsStatement *s, PfsTimestamp now, PfsStageKind stage)
{
	PfsThread  *t = call->thread;

	call->statement = s;
	call->start = now;
	call->lock_ticks = pfs_local.lock_ticks;
	pfs_sql.nest = call->nest + 1;
	if (s != NULL)
	{
		pfs_sql.current = s;
		if (s != &pfs_sql.top)
		{
			s->examined = pfs_examined();
			pfs_nested_call_begin(s, pfs_sql.nest);
			if (unlikely(pfs_stage_is_wanted(t, stage)))
			{
				pfs_stage_push(t, pfs_stage_instrument[stage], now, pfs_statement_around_stages(s));
				pfs_set_parent();
			}
			else if (!pfs_call_is_charged(s))
				pfs_set_parent();
		}
		else if (unlikely(!pfs_stage_stays_off(t, stage)))
			pfs_stage_switch(t, stage, now, s->event_id);
	}
	pfs_write_end(t);
}

/* Has a call left more than so many stages, or a statement that was planned and not executed? */
static inline bool
pfs_call_has_left(uint32 nstages)
{
	return pfs_stages.n != nstages || pfs_sql.planned != NULL;
}

/*
 * Ends a call that belongs to a nested statement or to none, or inside of which calls have
 * left something open after an error that was caught.
 */
extern void pfs_call_end_inside(PfsCall *call, PfsTimestamp now);

/* Ends the last call of a nested statement, and that with it; source: its text, if it has no slot. */
extern void pfs_call_end_nested(PfsCall *call, PfsTimestamp now, const PfsStatementSource *source);

/*
 * Has a call that ends more to end than itself?  Between two calls of a nested statement that is whole, waits stay
 * its own: there nothing is done but to note that none is active.
 */
static pg_attribute_always_inline bool
pfs_call_ends_more(const PfsCall *call)
{
	const PfsStatement *s = call->statement;

	if (likely(s == &pfs_sql.top))
		return unlikely(pfs_call_has_left(1));
	if (s == NULL || !s->is_whole || unlikely(pfs_call_has_left(call->nstages)))
		return true;
	pfs_nested_calls_end(call->nest + 1);
	return false;
}

/* Ends any call. */
static pg_attribute_always_inline void
pfs_call_is_over(PfsCall *call, PfsTimestamp now)
{
	pfs_sql.nest = call->nest;
	pfs_sql.current = call->outer;
	if (pfs_call_ends_more(call))
		pfs_call_end_inside(call, now);
	if (call->statement == &pfs_sql.top)
	{
		call->statement->stamp = now;
		if (unlikely(call->statement->next_at != 0) && call->statement->done)
			pfs_answers_watch();
	}
}

/*
 * Counts the time of a call that executes; `now` is its end.  For locks the statement at
 * top level waits also outside of calls, so it counts from its own begin to its end.
 */
static inline void
pfs_call_count_time(const PfsCall *call, PfsStatement *s, PfsTimestamp now)
{
	pfs_add_time(&s->n[PFS_N_EXEC_TIME], call->start, now);
	if (s == &pfs_sql.top)
		return;
	s->n[PFS_N_LOCK_TIME] += pfs_local.lock_ticks - call->lock_ticks;
	pfs_statement_examined(s);
}

/* Counts a call that has executed a statement; `now` is its end. */
static pg_attribute_always_inline void
pfs_call_count_execution(PfsCall *call, PfsStatement *s, PfsTimestamp now, uint64 rows_sent, uint64 rows_affected)
{
	pfs_call_count_time(call, s, now);
	pfs_usage_end(&call->usage, s->n);
	if (unlikely(pfs_usage_is_rare(&call->usage)))
		pfs_usage_end_rare(&call->usage, s->n + PFS_N_RARE);
	s->n[PFS_N_ROWS_SENT] += rows_sent;
	s->n[PFS_N_ROWS_AFFECTED] += rows_affected;
	s->done = true;
	s->message = GetCurrentStatementStartTimestamp();
	if (s == &pfs_sql.top)
		pfs_local.slow |= PFS_SLOW_OVER;
}

#endif							/* PFS_INSTR_CALL_H */
