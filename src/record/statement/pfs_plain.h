/*
 * pfs_plain.h
 *	  The fast path of a plain statement: one of a client's, which the session has waited for or which
 *	  follows another plain one in a pipeline, that the executor runs once, or that is an EXECUTE, SET or SHOW,
 *	  or begins or ends a transaction, while everything is switched on as by default, or memory and stages are on besides.
 *
 * Of such a statement the process keeps only what its end needs (PfsPlain), and its event is filled
 * in once, when its query is known.  Everything else that can happen to a statement is the business
 * of the general code, which knows it by pfs_sql.top.  So whatever is about to read or change pfs_sql
 * calls pfs_plain_leave() first: from there on the statement is pfs_sql.top, as if it had always been.
 *
 *		state			until
 *		ARRIVED			its text has been analysed, or what has been prepared is planned or started
 *		NAMED			it is planned, or the executor starts
 *		PLANNING		its plan is there: then it is NAMED again
 *		STARTING		its start is over; of a utility, that runs at once: it RUNS then
 *		STARTED			it runs
 *		RUNS			its run is over, or its finish if that counts
 *		ENDING			a finish that counts nothing, or its end, is over: then it is RAN again
 *		RAN				the session waits for its client
 *
 * A query that the executor starts while it RUNS, and executes without a portal but that of an EXECUTE, is a nested
 * plain one (pfs_plain_nests()): then that is the innermost one, which pfs_plain.open and the state tell of, until its
 * end is over.  Only the innermost one's event lies where it stays; those of the others are in slots.
 *
 * Whether everything is switched so is asked once for each generation of the shared
 * words (pfs_plain_look()); then one comparison tells that nothing has changed.  Inside a write section
 * it comes behind the odd word, as that of each truncation's generation does: the truncator's side
 * is in ../read/pfs_summary_truncate.c.
 *
 * Owner only, instrument points.
 */
#ifndef PFS_PLAIN_H
#define PFS_PLAIN_H

#include "nodes/parsenodes.h"

#include "pfs_digest_wait.h"
#include "pfs_plain_state.h"

/* Is everything so, as far as shared words tell? */
static pg_attribute_always_inline bool
pfs_plain_is_on(void)
{
	return likely(pfs_load_relaxed(&pfs_words->generation) == pfs_plain.generation);
}

/*
 * Outside of write sections, where a message has arrived: looks whether it is, or whether everything is
 * off, if that is not known of this generation.
 */
extern void pfs_plain_look_now(PfsThread *t);

/* Has a shared word changed since pfs_plain_look() has looked at them? */
static pg_attribute_always_inline bool
pfs_plain_is_stale(void)
{
	return unlikely(pfs_load_relaxed(&pfs_words->generation) != pfs_plain.looked);
}

/* Behind a message, while everything is off: has something been switched?  Then it is not off any more. */
extern void pfs_plain_switch_on(void);

static inline bool
pfs_plain_stays_off(void)
{
	if (!pfs_plain_is_stale())
		return true;
	pfs_plain_switch_on();
	return false;
}

/* Is everything off, and has nothing been switched on since? */
static inline bool
pfs_is_still_all_off(void)
{
	return pfs_is_all_off() && !pfs_plain_is_stale();
}

static inline void
pfs_plain_look(PfsThread *t)
{
	if (pfs_plain_is_stale())
		pfs_plain_look_now(t);
}

/* The process knows its thread's mask from now on: with the next message it looks again. */
static inline void
pfs_plain_look_again(void)
{
	pfs_plain.generation = pfs_plain.looked = 0;
}

/* The statement, if there is one, is pfs_sql.top from here on; the second inside a write section. */
extern void pfs_plain_leave_now(PfsThread *t);
extern void pfs_plain_leave_inside_now(PfsThread *t);

static inline void
pfs_plain_leave(PfsThread *t)
{
	if (pfs_plain.state != PFS_PLAIN_NONE)
		pfs_plain_leave_now(t);
}

static inline void
pfs_plain_leave_inside(PfsThread *t)
{
	if (pfs_plain.state != PFS_PLAIN_NONE)
		pfs_plain_leave_inside_now(t);
}

/*
 * Outside of write sections: the statement that the general code has taken over goes on as a plain one, in this state
 * (RUNS: in its call; RAN: behind it), if what has happened in the meantime, as nested statements, is over.  query: its
 * own, NULL: it is a utility.
 */
extern bool pfs_plain_comes_back(PfsThread *t, PfsPlainState state, const QueryDesc *query);

/*
 * Inside a write section: the event of the innermost statement, which lies where it stays, goes on in the slot of its level.
 */
extern void pfs_plain_leave_place(PfsThread *t);

/* Begins what is collected beside: the peak of memory, and the first stage. */
extern void pfs_plain_arrives_with_more(PfsThread *t, uint64 now);

/*
 * Inside a write section, at the reading that has ended an idle wait: the next statement may be a
 * plain one.  False: it is for the general code.
 */
static pg_attribute_always_inline bool
pfs_plain_arrives(PfsThread *t, uint64 now)
{
	if (!pfs_plain_is_on() || unlikely(pfs_sql.top_open || pfs_sql.open != NULL || pfs_local.waits_used != 0 ||
									   pfs_sql.next_id == pfs_sql.last_id))
		return false;
	pfs_plain.open.start = now;
	pfs_plain.open.statement_id = ++pfs_sql.next_id;
	pfs_plain.open.event_id = ++t->last_event_id;
	pfs_plain.open.lock_ticks = pfs_local.lock_ticks;
	pfs_plain.open.parent = pfs_transaction.event_id;
	pfs_local.parent = (PfsParent)
	{
		pfs_plain.open.event_id, PFS_NESTING_STATEMENT
	};
	pfs_digest_charged = pfs_plain.open.statement_id;
	pfs_store_relaxed(&t->charged.query_id, 0);
	pfs_local.waits = t->digest_waits;
	pfs_local.slow |= PFS_SLOW_UNNAMED;
	pfs_plain.passes = false;
	pfs_plain.open.query = NULL;
	pfs_plain.state = PFS_PLAIN_ARRIVED;
	if (unlikely(pfs_plain.more != 0))
		pfs_plain_arrives_with_more(t, now);
	return true;
}

/* A reading by which times of a plain statement are measured. */
static pg_attribute_always_inline uint64
pfs_plain_now(void)
{
	return likely((pfs_local.usual & PFS_FLAG_TIMER_MASK) == PFS_TIMER_CYCLE) ? pfs_read_cycles()
		: pfs_timer_read_system(PFS_FLAGS_TIMER(pfs_local.usual));
}

/*
 * Outside of write sections, where its stages are collected: the statement comes to this one.  False: that is for the
 * general code, as something has been switched, or there is no block.
 */
extern bool pfs_plain_comes_to(PfsStageKind kind);

/* Are its stages collected? */
static pg_attribute_always_inline bool
pfs_plain_has_stages(void)
{
	return unlikely(pfs_plain.more & PFS_PLAIN_STAGES);
}

/*
 * Outside of write sections, where a call begins that lies in no other one: behind a statement that has run it may be of
 * the next one of a pipeline, whose message has come without a wait.  Then that is a plain one, too, and begins where the
 * one before has ended.
 */
extern void pfs_plain_follows_now(PfsThread *t);

static inline void
pfs_plain_follows(PfsThread *t)
{
	if (unlikely(pfs_plain.state == PFS_PLAIN_RAN))
		pfs_plain_follows_now(t);
}

/*
 * A query of the client's has been analysed, or is planned: names the statement that has arrived.
 * False: it is for the general code.
 */
extern bool pfs_plain_is_named(PfsThread *t, const Query *query, const char *str);

/*
 * Can the statement be this utility?  An EXECUTE is its query, which is nested in it.  SET and SHOW, and BEGIN, COMMIT and
 * ROLLBACK, set states or say what they are, and no more: they execute nothing, report no progress and start no workers.
 * What they have caused comes behind their call, as the commit of any statement does.  AND CHAIN, savepoints and
 * two-phase commits have more to tell to the transaction's event.
 */
static inline bool
pfs_plain_may_be_utility(const Node *utility)
{
	const TransactionStmt *stmt = (const TransactionStmt *) utility;

	switch (nodeTag(utility))
	{
		case T_TransactionStmt:
			return !stmt->chain && (stmt->kind == TRANS_STMT_BEGIN || stmt->kind == TRANS_STMT_START ||
									stmt->kind == TRANS_STMT_COMMIT || stmt->kind == TRANS_STMT_ROLLBACK);
		case T_ExecuteStmt:
		case T_VariableSetStmt:
		case T_VariableShowStmt:
			return true;
		default:
			return false;
	}
}

/* The executor starts a query, or a utility runs, with NULL; false: it is for the general code. */
extern bool pfs_plain_starts(PfsThread *t, const PlannedStmt *stmt, uint64 query_id, const char *str,
							 const QueryDesc *query);

/* The start is noted, and its stage begins, if they are collected; false: the general code has to start it. */
extern bool pfs_plain_starts_stage(void);

/* Its rare counters (from PFS_N_RARE on), which its event gets with the first of them. */
extern uint64 *pfs_plain_rare(void);

/* Is this call of the executor one for the plain statement, which has come to this state? */
static pg_attribute_always_inline bool
pfs_plain_is(PfsPlainState state, const QueryDesc *desc)
{
	return likely(pfs_plain.state == state && pfs_plain.open.query == desc);
}

/*
 * Inside a write section: the session looks for its client's next message, at this reading, and the statement
 * has run.  False: the general code ends it.
 */
extern bool pfs_plain_ends(PfsThread *t, uint64 now);

/*
 * Outside of write sections: the executor starts a query in the run, or the finish, of a plain statement; its end is
 * over.  Then the innermost plain statement is that one, nested in what has been the innermost one; and that one
 * again.  False: it is for the general code.
 */
extern bool pfs_plain_nests(PfsThread *t, const QueryDesc *query);
extern bool pfs_plain_nested_ends(PfsThread *t);

#endif							/* PFS_PLAIN_H */
