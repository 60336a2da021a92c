/*
 * pfs_statement_top.c
 *	  The statement at top level of a session with a client: one at a time,
 *	  `pfs_sql.top`.
 *
 * It begins when a message arrives (the end of an idle wait), or where the one
 * before it ended, if the session has not been idle in between.  It ends when
 * the session becomes idle, or when the next one begins:
 *
 * - In a string of several, when the server has told the client that it is complete.  That is watched
 *	 where its text says that another one follows (pfs_top_is_complete()).
 * - In a pipeline, at its stamp, the end of its last call (a plain one's run or finish) or of its commit, or
 *	 of a wait behind that.  The next one shows itself by a hook, or at the first wait behind the next
 *	 message, whose arrival the server notes (pfs_top_next_has_come()).  So waits for locks in its analysis
 *	 are its own.
 *
 * Separate from pfs_statement_nest.c, as nested ones begin and end with calls of hooks,
 * and many can be open at a time.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"

#include "pfs_digest_wait.h"
#include "pfs_plain.h"
#include "pfs_program_call.h"

/* ---- begin and end, inside a write section ---- */

/*
 * Begins the statement at top level.  It has no name yet, so readers do not see it; its
 * first stage begins with it.
 */
static pg_attribute_always_inline void
begin_top(PfsThread *t, PfsTimestamp now)
{
	PfsStatement *s = &pfs_sql.top;
	uint32		flags = pfs_class_flags(t, PFS_CLASS_STATEMENT);
	PfsStatementEvent *e;

	pfs_sql.raised = pfs_sql.failed = false;
	pfs_sql.sqlstate = 0;
	pfs_sql.message_len = 0;
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	pfs_statement_start(t, s, flags, now);
	pfs_sql.top_open = true;
	if (flags & PFS_FLAG_DIGEST)
		pfs_digest_charge_top(t);
	s->instrument = pfs_other_statement[PFS_STATEMENT_PARSE];
	pfs_local.slow &= ~PFS_SLOW_OVER;
	if (likely(flags & PFS_FLAG_ENABLED))
	{
		s->parent = pfs_transaction_parent();

		/*
		 * Until something is known of it, nobody needs to see it, and it may
		 * be none.
		 */
		e = pfs_statement_make_event(t, s, flags);
		if (likely(e != NULL))
		{
			e->flags &= ~(PFS_FLAG_CURRENT | PFS_FLAG_DIGEST);
			s->event = e;
			s->event_id = e->event_id;
			pfs_event_show(t, PFS_STATEMENTS);
		}
		pfs_local.slow |= PFS_SLOW_UNNAMED;
	}
	if (unlikely(!pfs_stage_first(t, now, PFS_STAGE_PARSE_ANALYZE, s->event_id)))
		pfs_set_parent();
}

/* Forgets the statement at top level: it was none. */
void
pfs_top_drop(PfsThread *t)
{
	pfs_stage_drop(t);
	if (pfs_sql.top.counts & PFS_COUNTS_MEMORY)
		pfs_statement_memory_end(t, &pfs_sql.top);
	if (pfs_sql.top.event != NULL)
		pfs_event_drop(t, PFS_STATEMENTS, (PfsEvent *) pfs_sql.top.event);
	pfs_digest_forget_top();
	pfs_sql.top.event = NULL;
	pfs_sql.top.n = pfs_sql.top.own;
	pfs_sql.top_open = false;
	pfs_local.slow &= ~(PFS_SLOW_UNNAMED | PFS_SLOW_OVER);
	pfs_set_parent();
}

/*
 * Ends the statement at top level, its stages, and what is open inside it.  From here on
 * waits are nested in the transaction, if one goes on.
 */
void
pfs_top_end(PfsThread *t, PfsTimestamp now)
{
	PfsStatement *s = &pfs_sql.top;
	bool		failed = pfs_top_has_failed();

	if (unlikely(pfs_sql.open != NULL))
		pfs_nested_leave(t, now);
	/* What comes to its end without an execution is named now, or was none. */
	if (unlikely(s->phase != PFS_PHASE_EXECUTION))
	{
		if (s->phase == PFS_PHASE_ARRIVED && !failed)
		{
			pfs_top_drop(t);
			return;
		}
		if (s->phase == PFS_PHASE_ARRIVED)
			pfs_statement_name(t, s, pfs_other_statement[PFS_STATEMENT_ERROR], NULL);
		else if (!failed)
			pfs_statement_name(t, s, pfs_other_statement[s->phase == PFS_PHASE_PARSE ? PFS_STATEMENT_PARSE
														 : PFS_STATEMENT_BIND], NULL);
	}
	pfs_stages_end(t, now);
	s->n[PFS_N_LOCK_TIME] = pfs_local.lock_ticks - s->lock_ticks;
	pfs_statement_examined(s);
	if (likely(s->event != NULL && !failed && s->counts == 0 && now.timer == PFS_FLAGS_TIMER(s->flags)))
		pfs_statement_finish(t, s, Max(now.at, s->start));
	else
		pfs_statement_end(t, s, now, failed, NULL);
	pfs_sql.top_open = false;
	pfs_local.slow &= ~(PFS_SLOW_UNNAMED | PFS_SLOW_PROGRESS | PFS_SLOW_OVER);
	pfs_local.parent = pfs_transaction_parent();
}

/*
 * When the statement that has run was over: behind its stamp there can have been waits, as that for the log at
 * the end of a commit.  They are its own, as those of the next one end it first.
 */
static PfsTimestamp
end_of_done(const PfsThread *t)
{
	PfsTimestamp end = pfs_sql.top.stamp;

	if (likely(end.timer == PFS_FLAGS_TIMER(pfs_local.usual)))
		end.at = Max(end.at, Max(t->waits[0].timer_end, t->last_reading));
	return end;
}

/* The next statement of a string or pipeline: it begins where this one ended. */
void
pfs_top_next(PfsThread *t, PfsTimestamp now)
{
	if (pfs_sql.top_open)
	{
		if (pfs_sql.top.done)
			now = end_of_done(t);
		pfs_top_end(t, now);
	}
	begin_top(t, now);
}

/*
 * With each message the server notes the time, but for Sync, whose commit is still that of the statement
 * before, and so are the triggers that this fires.
 */
bool
pfs_top_next_has_come(void)
{
	TimestampTz message = GetCurrentStatementStartTimestamp();

	if (pfs_plain.state != PFS_PLAIN_NONE)
		return pfs_plain.state == PFS_PLAIN_RAN && pfs_plain.open.message != message;
	if (likely(pfs_sql.nest != 0 || !pfs_sql.top_open || !pfs_sql.top.done || pfs_sql.top.message == message))
		return false;
	return pfs_trigger_depth() == 0;
}

/* Ends the statement at top level, if the next message has come, and begins the next one. */
void
pfs_statement_look_behind(PfsThread *t)
{
	if (likely(!pfs_top_next_has_come()))
		return;
	pfs_plain_leave_inside(t);
	pfs_top_next(t, pfs_timestamp_now());
}

/* The same where a run on a table begins, and then whom it is charged to: PfsChargeCallbacks.statement_cb. */
PfsDigestCharged
pfs_statement_charged(bool *rides)
{
	if (unlikely(pfs_local.slow & PFS_SLOW_OVER))
		pfs_statement_look_behind(pfs_my_thread);
	return pfs_digest_charged_now(rides);
}

/*
 * Ends a statement of a string, and begins the next one, whose text begins where this one's ends.  The last
 * one goes on: what the server does before it waits for the client is its own.
 */
void
pfs_top_is_complete(PfsThread *t)
{
	int			text_at = pfs_sql.top.next_at;

	if (!pfs_sql.top_open || !pfs_sql.top.done || text_at == 0 || pfs_sql.nest != 0 || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_top_is_done(pfs_timestamp_now());
	pfs_top_next(t, pfs_sql.top.stamp);
	pfs_sql.top.text_at = text_at;
	pfs_write_end(t);
}

/*
 * Begins statement/com/fetch: an Execute of a portal whose first one is another statement.
 * What has been parsed or bound before it, with the same message, was something else.
 */
PfsStatement *
pfs_top_fetch(PfsThread *t, PfsTimestamp now, const PfsStatementSource *source)
{
	PfsStatement *s = &pfs_sql.top;

	if (!pfs_sql.top_open || s->phase != PFS_PHASE_ARRIVED || s->done)
		pfs_top_next(t, now);
	pfs_transaction_look_at(t, now);
	s->portal = source->portal;
	s->portal_time = source->portal_time;
	s->is_fetch = true;
	s->phase = PFS_PHASE_EXECUTION;
	pfs_statement_name(t, s, pfs_other_statement[PFS_STATEMENT_FETCH], source);
	return s;
}

/* AND CHAIN begins a transaction behind all hooks: it is still this statement's. */
static inline void
end_at_wait(PfsThread *t, PfsTimestamp now)
{
	pfs_transaction_look_at(t, now);
	pfs_top_end(t, now);
}

/* Ends the statement at top level, if it is over, at a reading behind it.  Inside a write section. */
void
pfs_statement_is_over(PfsThread *t, PfsTimestamp now)
{
	pfs_plain_leave_inside(t);
	if (pfs_sql.top_open && (pfs_sql.top.done || pfs_top_has_failed()))
		end_at_wait(t, now);
}

/*
 * Begins a statement with a client's message, if the session has been idle, or the
 * statement before is over and has not ended yet.  The reading of the clock that ended
 * the idle wait is the statement's begin, too.  Inside a write section.
 */
void
pfs_statement_arrived(PfsThread *t, PfsTimestamp now)
{
	if (unlikely(now.at == 0))
		now = pfs_timestamp_now();
	pfs_statement_is_over(t, now);
	/* A part of a message, or the next of those that a statement consists of. */
	if (!pfs_sql.top_open && pfs_statement_is_wanted(t))
		begin_top(t, now);
}

/*
 * Ends the statement at top level, as its session is going to wait for its client.  Inside
 * a write section.
 */
void
pfs_statement_idle(PfsThread *t, PfsTimestamp now)
{
	pfs_plain_leave_inside(t);
	if (!pfs_sql.top_open)
		return;
	end_at_wait(t, now);
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
}

/*
 * Ends what is open when the process ends: the transaction, as rolled back, the
 * statement at top level and all stages.  Does nothing if the exit has interrupted a
 * write section.
 */
void
pfs_statement_detach(PfsThread *t)
{
	if (pfs_is_writing(t))
		return;
	pfs_plain_leave(t);
	pfs_transaction_end(t, PFS_TRANSACTION_ROLLED_BACK, pfs_timestamp_now());
	pfs_write_begin(t);
	if (pfs_sql.top_open)
		pfs_top_end(t, pfs_timestamp_now());
	pfs_stage_pop(t, 0, pfs_timestamp_now());
	pfs_write_end(t);
}

/*
 * Names a statement that no hook has seen yet by its text: it is being parsed, or it is a
 * replication command.  Inside a write section, at any instrument point.
 */
void
pfs_statement_look(PfsThread *t, const char *str)
{
	PfsStatementSource source = {.str = str, .location = -1};
	PfsInstrumentId replication = PFS_NO_INSTRUMENT;

	pfs_plain_leave_inside(t);
	if (!pfs_sql.top_open || pfs_sql.top.phase != PFS_PHASE_ARRIVED || str == NULL)
		return;
	if (unlikely(pfs_sql.top.text_at != 0))
		source.location = pfs_sql.top.text_at;
	if (MyBackendType == B_WAL_SENDER)
		replication = pfs_replication_statement(str);
	/* It can get a name whose instrument is on: until then it stays hidden. */
	if (replication == PFS_NO_INSTRUMENT &&
		(pfs_wait_flags(t, pfs_other_statement[PFS_STATEMENT_PARSE]) & PFS_FLAG_ENABLED) == 0)
	{
		pfs_local.slow &= ~PFS_SLOW_UNNAMED;
		if (pfs_sql.top.event != NULL)
			pfs_statement_put_text(pfs_sql.top.event, str, source.location, 0);
		return;
	}
	pfs_statement_name(t, &pfs_sql.top, replication != PFS_NO_INSTRUMENT ? replication
					   : pfs_other_statement[PFS_STATEMENT_PARSE], &source);
	if (replication != PFS_NO_INSTRUMENT)
	{
		pfs_sql.top.phase = PFS_PHASE_EXECUTION;
		pfs_local.slow |= PFS_SLOW_PROGRESS;

		/*
		 * It has no digest, and what it waits for is not what a session waits
		 * for.
		 */
		pfs_sql.top.flags &= ~PFS_FLAG_DIGEST;
		if (pfs_sql.top.event != NULL)
			pfs_sql.top.event->flags &= ~PFS_FLAG_DIGEST;
		pfs_digest_forget_top();
	}
}

/*
 * A walsender's answer shows the command by its text; with the last one the command is
 * over.
 */
void
pfs_statement_answers(PfsThread *t, bool completes)
{
	pfs_plain_leave(t);
	if (!pfs_sql.top_open || pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_statement_look(t, debug_query_string);
	/* The next command can arrive without an idle wait in between. */
	if (completes && pfs_sql.top.phase == PFS_PHASE_EXECUTION)
		pfs_top_is_done(pfs_timestamp_by(pfs_sql.top.flags));
	pfs_write_end(t);
}

/* ---- ends of transactions ---- */

/*
 * Names a statement that comes to a commit without having met a hook.  The message was a
 * description or a function call; or it only ends what an earlier message began, has an
 * empty text, or is the session's last one, whose end drops its temporary tables, and then
 * it is no statement.
 */
static pg_noinline void
name_by_commit(PfsThread *t)
{
	bool		fastpath = MyBEEntry != NULL && MyBEEntry->st_state == STATE_FASTPATH;
	bool		is_new = pfs_transaction_is_new() && debug_query_string == NULL && !proc_exit_inprogress;

	pfs_write_begin(t);
	/* IDENTIFY_SYSTEM has a transaction of its own before it answers. */
	if (MyBackendType == B_WAL_SENDER && debug_query_string != NULL &&
		pfs_replication_statement(debug_query_string) != PFS_NO_INSTRUMENT)
		pfs_statement_look(t, debug_query_string);
	else if (fastpath || is_new)
	{
		pfs_statement_name(t, &pfs_sql.top, pfs_other_statement[fastpath ? PFS_STATEMENT_FASTPATH
																: PFS_STATEMENT_DESCRIBE], NULL);
		pfs_sql.top.phase = PFS_PHASE_EXECUTION;
	}
	else
		pfs_top_drop(t);
	pfs_write_end(t);
}

/* The statement at top level comes to another stage, outside of all calls. */
void
pfs_statement_stage(PfsThread *t, PfsStageKind kind)
{
	pfs_plain_leave(t);
	if (!pfs_sql.top_open || pfs_sql.nest > 0 || pfs_is_writing(t) || pfs_stage_stays_off(t, kind))
		return;
	pfs_write_begin(t);
	pfs_stage_switch(t, kind, pfs_timestamp_by(pfs_sql.top.flags), pfs_sql.top.event_id);
	pfs_write_end(t);
}

/* The commit begins: a transaction that nobody has noticed is noticed at the latest now. */
void
pfs_statement_committing(PfsThread *t)
{
	pfs_plain_leave(t);
	if (pfs_sql.top_open && pfs_sql.top.phase == PFS_PHASE_ARRIVED && pfs_sql.nest == 0 && !pfs_is_writing(t))
		name_by_commit(t);
	if (pfs_transaction_is_new())
		pfs_transaction_notice(t);
	if (!pfs_stage_stays_off(t, PFS_STAGE_COMMIT))
		pfs_statement_stage(t, PFS_STAGE_COMMIT);
}

/* Ends the transaction; what the session does from here on is another statement. */
void
pfs_statement_transaction_ended(PfsThread *t, PfsTransactionState state)
{
	PfsTimestamp now = {0, 0};

	pfs_plain_leave(t);
	if (pfs_sql.top_open || pfs_transaction.event != NULL)
		now = pfs_timestamp_now();
	pfs_transaction_end(t, state, now);
	if (!pfs_sql.top_open || pfs_sql.nest > 0 || pfs_is_writing(t))
		return;
	pfs_top_is_done(now);
}
