/*
 * pfs_attach.c
 *	  How a process gets its thread record, learns its role and account, and looks at
 *	  what it has missed.  Here, above the rooms of all parts, as each part has its
 *	  share.
 *
 * A process attaches at its first event that is allowed to (no hook exists at the start
 * of a process).  What it is then is known in part only: role, status entry, account
 * and a parallel worker's leader come later, and each begin of an event looks for them
 * until they are there.  Each part has its share of a new record (pfs_part.h);
 * pfs_thread_end.c has how the process detaches.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "libpq/libpq-be.h"
#include "postmaster/bgworker.h"
#include "postmaster/postmaster.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"

#include "pfs_account_enter.h"
#include "pfs_actor.h"
#include "pfs_attach.h"
#include "pfs_compat.h"
#include "pfs_digest_wait.h"
#include "pfs_error.h"
#include "pfs_event_history.h"
#include "pfs_event_open.h"
#include "pfs_leader.h"
#include "pfs_lwlock_event.h"
#include "pfs_memory.h"
#include "pfs_part.h"
#include "pfs_plain.h"
#include "pfs_shared.h"
#include "pfs_stage.h"
#include "pfs_thread_end.h"
#include "pfs_rel_io.h"

bool		pfs_never_attach = false;

/*
 * Copies the account references of another living thread; all empty if it has gone.
 * Returns false if the thread lives and does not know them yet.  For a parallel worker,
 * which works for its leader's account.
 *
 * References are written once, before has_refs, and taken back when the thread ends:
 * nothing here waits, also at instrument points, and what the leader does with its
 * counters meanwhile (each rise of a memory water mark holds `moves`) is no reason to
 * find none.  Those that are read while they are taken back are each there or not.
 */
static bool
thread_refs(uint64 thread_id, PfsAccountRefs *refs)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		PfsThread  *t = pfs_pages_record(pfs_threads, at.index);
		bool		has_refs;

		if (pfs_load_relaxed(&t->thread_id) != thread_id)
			continue;
		has_refs = pfs_load_acquire(&t->has_refs);
		*refs = PFS_NO_ACCOUNT_REFS;
		for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
			refs->records[kind] = pfs_load_relaxed(&t->refs.records[kind]);
		pfs_fence_acquire();
		if (pfs_pages_word(pfs_threads, at.index) == at.word)
			return has_refs;
	}
	*refs = PFS_NO_ACCOUNT_REFS;
	return true;
}

/*
 * Finds the account that the process works for and takes a reference to it: a client's
 * own when its session is there, a parallel worker's leader's, the background's for all
 * others.  Returns false while it is not known yet.  The server ends the initialization
 * of a session when role, database, rights and limits let it in; until then it is a
 * login that can fail, and belongs to nobody.  So is a session for which there is no room before
 * a reader allows it to evict an account; one that ends asks for the last time.  A worker that ends
 * before its leader has an account counts for all others.
 */
static bool
find_account(PfsThread *t)
{
	PfsAccountRefs refs = PFS_NO_ACCOUNT_REFS;

	if (t->has_refs)
		return true;
	if (pfs_thread_is_parallel_worker())
	{
		PfsAccountRefs leader;
		PfsAccountRefs again;

		if (t->parent_thread_id == 0)
			return false;
		if (thread_refs(t->parent_thread_id, &leader))
		{
			pfs_account_share(&refs, &leader);

			/*
			 * A leader that ends takes its references back before it unpins
			 * the records: if they are unchanged it had not, and these are
			 * its.
			 */
			if (!thread_refs(t->parent_thread_id, &again) || memcmp(again.records, leader.records, sizeof(again.records)) != 0)
				pfs_account_leave(&refs);
		}
		else if (proc_exit_inprogress)
			pfs_account_share_others(&refs);
		else
			return false;
	}
	else if (t->foreground)
	{
		char		host[PFS_CLIENT_HOST_SIZE];

		if (t->role == InvalidOid || MyProcPort == NULL || !IsNormalProcessingMode())
			return false;
		pfs_client_host(host);
		if (!pfs_account_enter(&refs, MyProcPort->user_name, host, !proc_exit_inprogress))
			return false;
	}
	else if (!pfs_account_enter(&refs, NULL, NULL, !proc_exit_inprogress))
		return false;

	pfs_seqlock_write_begin(&t->moves);
	t->refs = refs;
	/* Pairs with the acquire in thread_refs(). */
	pfs_store_release(&t->has_refs, true);
	pfs_seqlock_write_end(&t->moves);
	return true;
}

/*
 * Decides the switches of a session that has just been authenticated, by the rules of
 * setup_actors.  The user's name is MyProcPort's and not the role's, as looking that up
 * needs the catalog.  They are the same; a longer name was cut to find the role.  False:
 * the rules are changing, and it has to ask again.
 */
static bool
ask_actors(PfsThread *t, bool may_wait)
{
	char		user_name[NAMEDATALEN];
	char		host[PFS_CLIENT_HOST_SIZE];
	bool		instrumented;
	bool		history;

	strlcpy(user_name, MyProcPort->user_name, sizeof(user_name));
	pfs_client_host(host);
	if (!pfs_actor_decide(user_name, host, may_wait, &instrumented, &history))
		return false;
	pfs_thread_decide(t, instrumented, history);
	return true;
}

/*
 * Makes the leader's thread_id and switches the parallel worker's.  What was read counts only if
 * the record has not changed hands meanwhile; otherwise the worker asks again at its next event.
 * False: the leader has no record, nor gets one, as it has had events before it made the worker.
 */
static bool
follow_leader(PfsThread *t, int leader)
{
	uint64		word;
	uint32		index = pfs_thread_find(leader, &word);
	PfsThread  *other;
	uint64		thread_id;
	bool		instrumented;
	bool		history;

	if (index == PFS_NO_RECORD)
		return false;
	other = pfs_pages_record(pfs_threads, index);
	thread_id = pfs_load_relaxed(&other->thread_id);
	instrumented = pfs_load_relaxed(&other->instrumented) & PFS_SWITCH_ON;
	history = pfs_load_relaxed(&other->history) & PFS_SWITCH_ON;
	pfs_fence_acquire();
	if (pfs_pages_word(pfs_threads, index) != word)
		return true;
	pfs_thread_decide(t, instrumented, history);
	pfs_digest_work_for(pfs_work_for(other, word, DatumGetUInt32(MyBgworkerEntry->bgw_main_arg)));
	pfs_store_release(&t->parent_thread_id, thread_id);
	return true;
}

/*
 * Is it certain that a client's session learns nothing about itself now?  While it starts, dozens of
 * events ask: first the client has not been authenticated, then the session is not let in.
 */
static bool
learns_nothing(const PfsThread *t)
{
	if (MyProcPort == NULL || !t->foreground || t->has_refs || (t->status == NULL && MyBEEntry != NULL))
		return false;
	if (t->role == InvalidOid)
		return ClientAuthInProgress || MyProc == NULL || !OidIsValid(MyProc->roleId);
	return ((pfs_load_relaxed(&t->instrumented) | pfs_load_relaxed(&t->history)) & PFS_SWITCH_OPEN) == 0 &&
		!IsNormalProcessingMode();
}

/*
 * Looks for what a process learns about itself only after its first events: role,
 * status entry, a parallel worker's leader, account.  Inside a write section.  The slow
 * path is left (PFS_SLOW_IDENTITY) when all of it is known.  may_wait: the process holds no
 * lock that others could want.
 */
void
pfs_thread_refresh_identity(PfsThread *t, bool may_wait)
{
	bool		complete = true;
	bool		is_orphan = false;

	if (learns_nothing(t))
		return;
	/* Before authentication the name is only what the client claims. */
	if (t->role == InvalidOid && MyProc != NULL && OidIsValid(MyProc->roleId) && !ClientAuthInProgress)
	{
		pfs_store_relaxed(&t->role, MyProc->roleId);
		pfs_histories_set_role(t);
		pfs_lwlock_records_set_role(t);
	}
	/* Some switch may be one that nobody has decided yet. */
	if (t->role != InvalidOid && MyProcPort != NULL && pfs_compat_is_foreground(MyBackendType) &&
		((pfs_load_relaxed(&t->instrumented) | pfs_load_relaxed(&t->history)) & PFS_SWITCH_OPEN) != 0)
		complete = ask_actors(t, may_wait);
	if (t->role == InvalidOid && (t->foreground || MyBackendType == B_BG_WORKER))
		complete = false;

	if (t->status == NULL)
		pfs_store_relaxed(&t->status, MyBEEntry);
	if (t->status == NULL)
		complete = false;

	if (t->parent_thread_id == 0 && pfs_thread_has_leader())
	{
		/* Known from the fork on; MyProc->lockGroupLeader is not. */
		is_orphan = !follow_leader(t, MyBgworkerEntry->bgw_notify_pid);
		if (!is_orphan && t->parent_thread_id == 0)
			complete = false;
	}
	if (is_orphan || find_account(t))
		pfs_memory_join(t);
	else
		complete = false;
	if (complete)
	{
		pfs_local.slow &= ~PFS_SLOW_IDENTITY;
		pfs_plain_look_again();
	}
}

/*
 * Takes a record for this process, fills it, and lets each part take its share.  The
 * process has its record (pfs_my_thread) when all of it is there: a signal handler that
 * comes before passes by, as pfs_never_attach is set.  Returns NULL where the process must
 * not have a record (yet), or none is free, which the container counts.
 */
PfsThread *
pfs_thread_attach(void)
{
	static uint32 hint = 0;
	int			save_errno = errno;
	uint32		index;
	PfsThread  *t;

	if (MyProc == NULL || pfs_never_attach || pfs_threads == NULL)
		return NULL;
	if (!IsUnderPostmaster || proc_exit_inprogress || CritSectionCount > 0 ||
		!pfs_compat_type_attaches(MyBackendType) || !pfs_thread_can_end())
		return NULL;

	/* A handler must not come here a second time. */
	pfs_never_attach = true;
	index = pfs_pages_allocate(pfs_threads, &hint);
	errno = save_errno;
	if (index == PFS_NO_RECORD)
	{
		/* Counted there; this process stays unseen. */
		pfs_memory_leave();
		return NULL;
	}

	t = pfs_pages_record(pfs_threads, index);
	pfs_thread_fill(t, index);
	pfs_open_waits.n = 0;
	pfs_local.idle = NULL;
	pfs_local.beginning = 0;
	pfs_local_set_usual(PFS_FLAG_THREAD | PFS_FLAG_TIMED |
						(uint32) pfs_timer_default() << PFS_FLAG_TIMER_SHIFT);
	pfs_each_part_with(part, begin)
		part->begin(t);
	pfs_thread_watch_end();
	t->word = pfs_pages_publish(pfs_threads, index);
	pfs_add_seqcst(&pfs_shared_threads->attached, 1);
	pfs_each_part_with(part, attach)
		part->attach(t);
	pfs_local.slow = PFS_SLOW_IDENTITY;
	/* Autovacuum, logical replication: no hook tells of their transactions. */
	if (MyProcPort == NULL && !pfs_thread_is_parallel_worker() && pfs_compat_has_transactions(MyBackendType))
		pfs_local.slow |= PFS_SLOW_WATCH;
	pfs_my_thread = t;
	pfs_write_begin(t);
	pfs_thread_refresh_identity(t, false);
	pfs_write_end(t);
	/* It has not begun to count where that was not wanted at its birth. */
	if (pfs_memory_is_counted || pfs_memory_is_stale())
		pfs_memory_sync(t);
	errno = save_errno;
	return t;
}

/*
 * Calls pfs_thread_refresh_identity() in a write section of its own, for a latch wait
 * whose event is not wanted.  A signal handler that comes in the middle of another
 * write section passes by.
 */
void
pfs_thread_identify_now(PfsThread *t)
{
	if (pfs_is_writing(t))
		return;
	pfs_write_begin(t);
	pfs_thread_refresh_identity(t, true);
	pfs_write_end(t);
}

/*
 * Looks at everything that pfs_local.slow says the process has missed, in one write
 * section: its role and account, waits that are over, a statement that is, a message that no hook has seen,
 * transactions and errors of a process without hooks, phases of a command.
 */
static void
look_at_missed(PfsThread *t)
{
	pfs_write_begin(t);
	if (pfs_local.slow & PFS_SLOW_IDENTITY)
		pfs_thread_refresh_identity(t, false);
	if (pfs_local.slow & PFS_SLOW_OPEN)
	{
		pfs_open_end_stale(t);
		pfs_rel_lock_look(t);
	}
	if (pfs_local.slow & PFS_SLOW_OVER)
		pfs_statement_look_behind(t);
	if (pfs_local.slow & PFS_SLOW_UNNAMED)
		pfs_statement_look(t, debug_query_string);
	if (pfs_local.slow & PFS_SLOW_WATCH)
	{
		pfs_transaction_look(t);
		pfs_error_watch();
	}
	if (pfs_local.slow & (PFS_SLOW_PROGRESS | PFS_SLOW_WATCH))
		pfs_stage_look(t);
	pfs_write_end(t);
}

/*
 * Does what a wait may find left to be done before it begins; a session that starts has nothing but
 * itself to learn of, and mostly not even that.  Then the wait begins after all, unless the thread is not
 * instrumented or the wait is nested too deep.  Returns false if it does not begin.
 */
bool
pfs_wait_prepare(PfsThread *t)
{
	if (pfs_is_writing(t))
	{
		pfs_local.reentered++;
		pfs_local.slow |= PFS_SLOW_REPAIR;
		return false;
	}
	if (t->events[PFS_WAITS].depth == PFS_EVENT_IN_PLACE)
	{
		pfs_write_begin(t);
		pfs_wait_leave_place(t);
		pfs_write_end(t);
	}
	if (pfs_local.slow != PFS_SLOW_IDENTITY || !learns_nothing(t))
		look_at_missed(t);
	if (pfs_load_relaxed(&t->mask) == 0)
		return false;			/* so it has just been decided */
	if (t->events[PFS_WAITS].depth >= PFS_WAIT_DEPTH)
	{
		pfs_add_relaxed(&pfs_shared_threads->too_deep[PFS_WAITS], 1);
		return false;
	}
	return true;
}
