/*
 * pfs_statement_error.c
 *	  What errors, subtransactions and ends of transactions do to open
 *	  statements.
 *
 * An error jumps over the ends of the hooks around it.  Code that catches one has
 * a subtransaction for it, nearly always: its begin notes where the hooks stood (PfsSubxact), its
 * rollback ends what began since and what was cut off, and restores that.  An error that
 * nobody catches leaves it all to the rollback of the transaction.
 *
 * Separate from pfs_error.c, which counts errors by SQLSTATE and knows no statements.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"

#include "pfs_plain.h"
#include "pfs_program_call.h"
#include "pfs_secret.h"
#include "pfs_shared.h"
#include "pfs_statement_open.h"

/* Where the hooks stood when a subtransaction began. */
typedef struct PfsSubxact
{
	int			nest;
	uint32		nstages;
	PfsStatement *current;
	uint64		statement_id;	/* the last that was given */
	uint64		writes_first;	/* pfs_rel_local.writes_first */
	uint64		row_calls;		/* pfs_rel_calls() */
} PfsSubxact;

/* Levels of subtransactions; deeper ones are as without memory.  The server takes 8 kB and more for each. */
#define SUBXACTS_MAX (1 << 20)

/* By level; none is ever put back. */
static PfsPool subxacts = PFS_POOL_INIT(sizeof(PfsSubxact), SUBXACTS_MAX);

/* Returns what was noted of the subtransaction of this level; NULL: there was no memory for it. */
static PfsSubxact *
subxact_at(int level)
{
	return level < subxacts.used ? (PfsSubxact *) subxacts.items + level : NULL;
}

/*
 * Makes a place for the subtransaction of this level, and of those below that have none.
 * Called by the callbacks of subtransactions, outside of write sections, so the pool may
 * grow here.  NULL: there is no memory.
 */
static PfsSubxact *
make_subxact(int level)
{
	while (subxacts.used <= level)
	{
		if (!pfs_pool_grow(&subxacts))
			return NULL;
		/* Of those that there was no memory for, nothing is known. */
		((PfsSubxact *) pfs_pool_claim(&subxacts))->row_calls = PG_UINT64_MAX;
	}
	return subxact_at(level);
}

/*
 * Notes where the hooks, the stages and the statement numbers stand when a
 * subtransaction of this level begins, for pfs_statement_unwind().  Without memory
 * nothing is noted, and the statements inside end with the transaction.
 */
void
pfs_statement_note_subxact(int level)
{
	PfsSubxact *subxact = make_subxact(level);

	pfs_plain_leave(pfs_my_thread);
	if (subxact == NULL)
		return;
	subxact->nest = pfs_sql.nest;
	subxact->nstages = pfs_stages.n;
	subxact->current = pfs_sql.current;
	subxact->statement_id = pfs_sql.next_id;
	subxact->writes_first = pfs_rel_local.writes_first;
	subxact->row_calls = pfs_rel_calls();
}

uint64
pfs_statement_row_calls(int level)
{
	const PfsSubxact *subxact = subxact_at(level);

	return subxact != NULL ? subxact->row_calls : PG_UINT64_MAX;
}

/*
 * Ends what began behind the statement of this number; failed: by an error, which is that of
 * statements that were being executed, not of cursors that waited.  A library whose hooks are in front of ours
 * can raise it between two calls.  Each end is a write section of its own, so that readers need not wait for
 * all of them.
 */
static void
end_all(PfsThread *t, uint64 statement_id, bool failed, bool utilities_too)
{
	PfsStatement *older;

	for (PfsStatement *s = pfs_sql.open; s != NULL && s->statement_id > statement_id; s = older)
	{
		older = s->older_open;
		if (s->is_utility && !utilities_too)
			continue;
		pfs_write_begin(t);
		pfs_nested_end(t, s, pfs_timestamp_now(), failed && (s->call_nest != 0 || s->is_whole), NULL);
		pfs_write_end(t);
	}
	pfs_nested_shrink();
}

/* Has an error cut off what was being executed?  One that nobody catches is seen on every server. */
static bool
has_failed(void)
{
	return pfs_sql.raised || pfs_sql.failed;
}

/*
 * Ends the statements that are older than a subtransaction, but whose calls began inside it and
 * were cut off by its error: cursors that were being read, which can be read no more.
 */
static void
end_cut_off(PfsThread *t, const PfsSubxact *subxact)
{
	while (pfs_sql.called != NULL && pfs_sql.called->call_nest > subxact->nest)
	{
		pfs_write_begin(t);
		pfs_nested_end(t, pfs_sql.called, pfs_timestamp_now(), has_failed(), NULL);
		pfs_write_end(t);
	}
	pfs_nested_shrink();
}

/* Nobody has handled an error inside of a subtransaction: the statement at top level is over. */
static void
end_failed(PfsThread *t)
{
	pfs_write_begin(t);
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	if (pfs_sql.top_open)
		pfs_top_is_done(pfs_timestamp_now());
	pfs_set_parent();
	pfs_write_end(t);
}

/*
 * Ends what began inside a subtransaction that has been rolled back; after an error, also what that
 * has cut off, and puts the hooks back to where they stood when the subtransaction began.
 */
void
pfs_statement_unwind(PfsThread *t, int level)
{
	const PfsSubxact *subxact = subxact_at(level);

	if (pfs_is_writing(t))
		return;
	pfs_plain_leave(t);

	/*
	 * Rolled back by a command: no hook is cut off, and nothing has failed.
	 * But the cursors that were opened inside go without a call.  Where
	 * raises are not seen, hooks that are cut off tell that there was an
	 * error, but not which.
	 */
	if (!has_failed() && (subxact == NULL || pfs_sql.nest <= subxact->nest))
	{
		if (subxact != NULL)
			end_all(t, subxact->statement_id, false, false);
		return;
	}
	if (subxact != NULL)
	{
		end_all(t, subxact->statement_id, has_failed(), true);
		end_cut_off(t, subxact);
	}
	if (pfs_sql.failed)
	{
		/* The outermost handler has given up all context. */
		if (error_context_stack == NULL)
			end_failed(t);
		return;
	}
	pfs_sql.raised = false;
	pfs_sql.message_len = 0;
	if (subxact == NULL)
		return;
	pfs_rel_local.writes_first = subxact->writes_first;
	pfs_write_begin(t);
	pfs_sql.nest = subxact->nest;
	pfs_sql.current = subxact->current;
	pfs_stage_pop(t, subxact->nstages, pfs_timestamp_now());
	pfs_set_parent();
	pfs_write_end(t);
}

/*
 * Ends what is open when the whole transaction has been rolled back by an error.
 * Procedures can roll back and go on: then their calls are still there.
 */
void
pfs_statement_unwind_all(PfsThread *t)
{
	bool		failed;

	if (pfs_is_writing(t))
		return;
	pfs_plain_leave(t);
	failed = pfs_top_has_failed();
	if (pfs_sql.open != NULL)
		end_all(t, 0, failed, failed);
	if (!failed)
		return;
	pfs_program_end_above(0);
	/* AND CHAIN begins none when the commit has failed. */
	pfs_transaction.chain = false;
	pfs_write_begin(t);
	pfs_sql.nest = 0;
	pfs_sql.current = NULL;
	if (!pfs_sql.top_open)
	{
		pfs_stage_pop(t, 0, pfs_timestamp_now());
		pfs_sql.raised = pfs_sql.failed = false;
	}
	pfs_set_parent();
	pfs_write_end(t);
}

/* An error or a warning comes: of which statement at top level? */
static void
find_top(PfsThread *t)
{
	if (likely(!pfs_top_next_has_come()))
		return;
	pfs_write_begin(t);
	pfs_top_next(t, pfs_timestamp_now());
	pfs_write_end(t);
}

/* Counts an error or a warning for the current statement and all around it. */
static void
count_up(PfsCounter counter)
{
	PfsStatement *s = pfs_sql.current;

	for (; s != NULL; s = s->outer)
	{
		s->n[counter]++;
		if (s == &pfs_sql.top)
			return;
	}
	if (pfs_sql.top_open)
		pfs_sql.top.n[counter]++;
}

/* Notices the transaction that an error rolls back; behind the server's own cleaning up there is none. */
static inline void
notice_transaction(PfsThread *t)
{
	if (MyProc != NULL && !pfs_are_hooks_off())
		pfs_transaction_look(t);
}

/* Counts an error that is raised; whether somebody catches it is not known yet. */
void
pfs_statement_raised(PfsThread *t, int sqlstate)
{
	if (pfs_is_writing(t))
		return;
	pfs_plain_leave(t);
	find_top(t);
	pfs_write_begin(t);

	/*
	 * A statement without a name takes its text, as long as the server has
	 * it.
	 */
	pfs_statement_look(t, debug_query_string);

	/*
	 * An error of the parser comes before all hooks, and its transaction is
	 * rolled back.
	 */
	notice_transaction(t);
	pfs_sql.raised = true;
	pfs_sql.sqlstate = sqlstate;
	pfs_sql.message_len = 0;
	count_up(PFS_N_ERRORS);
	pfs_write_end(t);
}

/* The outermost handler gets an error: what the process was doing has failed. */
void
pfs_statement_failed(PfsThread *t)
{
	pfs_plain_leave(t);
	/* If it was seen when it was raised, that was before handlers cleaned up. */
	if (!pfs_sql.raised && !pfs_is_writing(t))
		find_top(t);
	pfs_sql.failed = true;
}

/*
 * Can the text of this statement hold a secret?  What is cut in its slot, or not there, or
 * has not been parsed, is looked for in the client's whole text.
 */
static bool
holds_secret(const PfsStatement *s)
{
	const PfsStatementEvent *e = s->event;

	if (e != NULL && s->phase != PFS_PHASE_ARRIVED && e->text_len + MAX_MULTIBYTE_CHAR_LEN <= pfs_sizes.sql_text)
		return pfs_find_secret(pfs_statement_text(e), e->text_len) >= 0;
	return pfs_has_secret(debug_query_string);
}

/*
 * Can a message quote a secret?  It can quote the statement that failed ("syntax error at
 * or near"), and is also that of all statements around it.
 */
static bool
is_about_secret(void)
{
	for (const PfsStatement *s = pfs_sql.current; s != NULL; s = s->outer)
	{
		if (s != &pfs_sql.top && holds_secret(s))
			return true;
	}
	return pfs_sql.top_open && holds_secret(&pfs_sql.top);
}

/*
 * Takes a logged error's text for the statement at top level, which has failed; counts a
 * warning.
 */
void
pfs_statement_logged(PfsThread *t, bool error, bool unhandled, int sqlstate, const char *message)
{
	if (pfs_is_writing(t))
		return;
	pfs_plain_leave(t);
	if (!pfs_sql.raised)
		find_top(t);
	if (message != NULL && is_about_secret())
		message = PFS_SECRET_TEXT;
	pfs_write_begin(t);

	/*
	 * A statement without a name takes its text, as long as the server has
	 * it.
	 */
	pfs_statement_look(t, debug_query_string);
	if (error)
	{
		/* It has been noticed by now, unless raises are not seen. */
		notice_transaction(t);
		pfs_sql.failed = true;
		if (unhandled)
		{
			pfs_sql.nest = 0;
			pfs_sql.current = NULL;
		}
		pfs_sql.sqlstate = sqlstate;
		pfs_sql.message_len = 0;
		if (message != NULL)
		{
			uint32		len = strlen(message);

			if (len > PFS_MESSAGE_SIZE)
				len = pg_mbcliplen(message, len, PFS_MESSAGE_SIZE);
			memcpy(pfs_sql.message, message, len);
			pfs_sql.message_len = len;
		}
	}
	else
		count_up(PFS_N_WARNINGS);
	pfs_write_end(t);
}
