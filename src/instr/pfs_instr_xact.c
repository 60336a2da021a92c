/*
 * pfs_instr_xact.c
 *	  Ends of transactions, subtransactions, and errors.
 *
 * Errors are seen twice: when they are raised, as every ERROR leaves by a jump
 * that the server's slot of the C library's function is used for; and when they
 * are logged, with their texts, which caught ones never are.  Separate from the hooks
 * of statements, as no statement needs to be open for any of this.
 */
#include "postgres.h"

#include <setjmp.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"

#include "pfs_digest.h"
#include "pfs_error.h"
#include "pfs_instr.h"
#include "pfs_instr_drop.h"
#include "pfs_instr_prove.h"
#include "pfs_instr_table.h"
#include "pfs_leader.h"
#include "pfs_object_change.h"
#include "pfs_plain.h"
#include "pfs_program_call.h"
#include "pfs_rel_io.h"
#include "pfs_rel_stat.h"
#include "pfs_secret.h"
#include "pfs_statement_open.h"

static emit_log_hook_type prev_emit_log = NULL;

/*
 * Ends accesses to rows that nobody has ended, with the transaction, also a parallel worker's; and
 * removes, or keeps, what was counted of what it has dropped or made.
 */
static inline void
end_rows(PfsThread *t, XactEvent event)
{
	if (event == XACT_EVENT_PRE_COMMIT)
	{
		pfs_drop_committing();
		return;
	}
	if (event == XACT_EVENT_PARALLEL_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		return;
	if (unlikely(pfs_object_work.watches))
		pfs_drop_transaction_ended(event == XACT_EVENT_ABORT);
	if (unlikely(pfs_rel_local.open != 0))
		pfs_rel_runs_sweep(t, 1, 0);
	if (likely(!pfs_object_work.has_changes && pfs_object_work.made == 0))
		return;
	if (event == XACT_EVENT_ABORT)
		pfs_rel_stats_rolled_back(InvalidSubTransactionId);
	else
		pfs_rel_stats_committed();
	pfs_drop_ended(1, event == XACT_EVENT_ABORT ? PFS_TRANSACTION_ROLLED_BACK :
				   event == XACT_EVENT_PREPARE ? PFS_TRANSACTION_PREPARED : PFS_TRANSACTION_COMMITTED);
}

/*
 * Tells record of the commit, the preparation and the abort of a transaction.
 *
 * A process without a client watches tables from its first transaction on, which connects it to its
 * database: its work may come by no hook, as the part of a CREATE INDEX that a parallel worker does,
 * or the pages that autovacuum summarizes for a BRIN index.  At a commit catalogs can be read.
 */
static pg_noinline void
general_xact(XactEvent event)
{
	PfsThread  *t = pfs_my_thread;

	end_rows(t, event);
	if (unlikely(MyProcPort == NULL))
	{
		if (event == XACT_EVENT_PRE_COMMIT)
			pfs_tables_watch(pfs_thread_here());
		if (IsParallelWorker())
		{
			/* Its scans are over; so far no leader has been told that it is. */
			if (event == XACT_EVENT_PARALLEL_COMMIT || event == XACT_EVENT_PARALLEL_ABORT)
				pfs_work_hand_over();
			return;
		}
		t = pfs_my_thread;
	}
	if (t == NULL)
		return;
	if (likely(event == XACT_EVENT_PRE_COMMIT))
	{
		pfs_hook_called(PFS_HOOK_XACT);
		pfs_statement_committing(t);
		return;
	}
	if (likely(event == XACT_EVENT_COMMIT))
	{
		pfs_statement_transaction_ended(t, PFS_TRANSACTION_COMMITTED);
		return;
	}
	if (event == XACT_EVENT_PRE_PREPARE)
		pfs_statement_committing(t);
	else if (event == XACT_EVENT_PREPARE)
		pfs_statement_transaction_ended(t, PFS_TRANSACTION_PREPARED);
	else if (event == XACT_EVENT_ABORT)
	{
		pfs_lead_rolled_back(t);
		pfs_statement_unwind_all(t);
		pfs_statement_transaction_ended(t, PFS_TRANSACTION_ROLLED_BACK);
	}
}

/*
 * Does a plain statement commit its transaction, which was noticed when that was named?  What the server does
 * behind one, as to notify its client, is another transaction, of which there is no event yet.
 */
static inline bool
plain_commits(void)
{
	return likely(pfs_plain.state == PFS_PLAIN_RAN) && likely(pfs_transaction.event != NULL);
}

/* A plain statement commits whose stages are collected. */
static pg_noinline void
before_staged_commit(void)
{
	if (likely(pfs_plain_comes_to(PFS_STAGE_COMMIT)))
		pfs_drop_committing();
	else
		general_xact(XACT_EVENT_PRE_COMMIT);
}

static inline void
before_commit(void)
{
	if (plain_commits() && pfs_plain_has_stages())
		before_staged_commit();
	else if (plain_commits() || pfs_are_hooks_off())
		pfs_drop_committing();
	else
		general_xact(XACT_EVENT_PRE_COMMIT);
}

/*
 * In a plain statement no run on a table is left open: where one is open there is none, and a switch behind which one
 * may have begun is noticed (pfs_plain_is_on()).
 */
static inline void
commit(void)
{
	if (unlikely(pfs_object_work.any != 0) ||
		(plain_commits() ? !pfs_transaction_of_plain_commits(pfs_my_thread) : !pfs_are_hooks_off() || pfs_rel_local.open != 0))
		general_xact(XACT_EVENT_COMMIT);
}

/* The callback.  Most commits are those of plain statements. */
static void
xact_cb(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
		before_commit();
	else if (event == XACT_EVENT_COMMIT)
		commit();
	else
		general_xact(event);
}

/*
 * Tells record of subtransactions.  A parallel worker has no statements, but calls of programs
 * that an error in a subtransaction can cut off.
 */
static void
subxact_cb(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	PfsThread  *t = pfs_my_thread;
	int			level = GetCurrentTransactionNestLevel();

	if (t == NULL)
		return;
	if (event == SUBXACT_EVENT_START_SUB)
		pfs_statement_note_subxact(level);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		if (unlikely(pfs_object_work.watches))
			pfs_drop_subtransaction_failed(level);
		pfs_rel_runs_sweep(t, level, pfs_statement_row_calls(level));
		pfs_rel_stats_rolled_back(id);
		pfs_program_unwind(level);
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		pfs_rel_runs_promote(level);
		pfs_rel_stats_promote(id, parent);
	}
	if (IsParallelWorker())
		return;
	pfs_hook_called(PFS_HOOK_SUBXACT);
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		pfs_lead_rolled_back(t);
		pfs_statement_unwind(t, level);
	}
	if (likely(!pfs_object_work.has_changes))
		return;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		pfs_object_changes_promote(level);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		pfs_drop_ended(level, PFS_TRANSACTION_ROLLED_BACK);
}

/*
 * Counts a message that is logged: an error with its text, which becomes the statement's,
 * or a warning.  It takes no lock, allocates nothing, and raises nothing.  What comes from
 * inside pfs itself, in the middle of a write section, passes by.
 */
static void
emit_log_cb(ErrorData *edata)
{
	PfsThread  *t = pfs_my_thread;
	int			save_errno = errno;

	pfs_hook_called(PFS_HOOK_EMIT_LOG);
	if (t != NULL && !IsParallelWorker())
	{
		if (edata->elevel >= ERROR)
		{
			bool		in_transaction = IsTransactionState();

			/*
			 * A text that does not parse is no statement yet where a function
			 * executes it.
			 */
			bool		quotes_secret = pfs_has_secret(edata->internalquery) || pfs_has_secret(edata->context);

			/*
			 * The outermost handlers have given up all context before they
			 * report.
			 */
			pfs_statement_logged(t, true, error_context_stack == NULL, edata->sqlerrcode,
								 quotes_secret ? PFS_SECRET_TEXT : edata->message);

			/*
			 * Between the two, 19 has a FATAL that is meant for the client
			 * only.
			 */
			pfs_error_logged(t, edata->elevel == ERROR ? PFS_SEVERITY_ERROR
							 : edata->elevel < PANIC ? PFS_SEVERITY_FATAL : PFS_SEVERITY_PANIC,
							 edata->sqlerrcode, pfs_raises_are_seen);
			if (edata->elevel == ERROR && in_transaction)
				pfs_statement_stage(t, PFS_STAGE_ROLLBACK);
		}
		else if (edata->elevel == WARNING)
		{
			pfs_statement_logged(t, false, false, edata->sqlerrcode, NULL);
			pfs_error_logged(t, PFS_SEVERITY_WARNING, edata->sqlerrcode, true);
		}
	}
	errno = save_errno;
	if (prev_emit_log)
		prev_emit_log(edata);
}

/*
 * Jumps to the innermost handler.  An error is raised if errfinish() has called; what a
 * handler throws on has been counted, but the handler's own subtransaction may be rolled back
 * by now, and this is another one's error.  The function does not return.
 */
static void
wrap_longjmp_chk(struct __jmp_buf_tag *env, int value)
{
	PfsThread  *t = pfs_my_thread;

	if (unlikely(pfs_leading != NULL))
		pfs_lead_cut_off(env);
	if (t != NULL && env == (struct __jmp_buf_tag *) PG_exception_stack && !IsParallelWorker() &&
		!pfs_text_is_made)
	{
		if (pfs_frames_is_raise(FRAME))
		{
			pfs_statement_raised(t, geterrcode());
			pfs_error_raised(t, geterrcode(), env);
		}
		else
		{
			pfs_error_thrown_on(env);
			pfs_plain_leave(t);
			if (pfs_raises_are_seen && !pfs_is_writing(t))
				pfs_sql.raised = true;
		}
		if (pfs_error_has_failed(env))
			pfs_statement_failed(t);
	}
	pfs_real.longjmp_chk(env, value);
}

const PfsGotPatch pfs_error_calls[] = {
	PFS_CALL("__longjmp_chk", longjmp_chk, "%error"),
	PFS_CALL("siglongjmp", longjmp_chk, "%error"),
	{NULL},
};

void
pfs_instr_xact_start(void)
{
	RegisterXactCallback(xact_cb, NULL);
	RegisterSubXactCallback(subxact_cb, NULL);
	prev_emit_log = emit_log_hook;
	emit_log_hook = emit_log_cb;
	/* Of pfs_instr_drop.c, which sets it only now and then. */
	pfs_hook_report(PFS_HOOK_OBJECT_ACCESS, "object_access_hook", NULL, NULL);
	pfs_hook_report(PFS_HOOK_EMIT_LOG, "emit_log_hook", &emit_log_hook, &prev_emit_log);
	pfs_hook_report(PFS_HOOK_XACT, "RegisterXactCallback", NULL, NULL);
	pfs_hook_report(PFS_HOOK_SUBXACT, "RegisterSubXactCallback", NULL, NULL);
}
