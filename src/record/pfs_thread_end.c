/*
 * pfs_thread_end.c
 *	  How a process leaves its record: at its end, and as a child that is no process of
 *	  the server's.
 *
 * The end.  The server has a list of functions that it calls when a process ends, with
 * room for 20, and a process that wants to add one more dies.  So nothing is added at
 * attach, which can happen anywhere, and no room is taken from anybody: the function of
 * the list's last entry makes place for ours, which calls it when it is done.  Where
 * the list has not been found (pfs_exit.c looks for it in the postmaster), the process
 * detaches when the C library's exit() calls what was registered with atexit(), once,
 * in the postmaster; that is behind the server's own functions, so the thread can be
 * seen for some moments longer than its entry in pg_stat_activity.
 * (A before_shmem_exit callback would lose the waits of the shutdown itself and break
 * callers of cancel_before_shmem_exit().)
 *
 * Children.  A child that a library makes by fork() must not write its parent's record:
 * the C library tells it so (pthread_atfork), and it forgets whatever leads there.  One
 * that was made by the bare system call is not told; that its number is not the
 * record's is seen when it ends, and until then it must not call the server.
 */
#include "postgres.h"

#include <pthread.h>
#include <unistd.h>

#include "storage/proc.h"

#include "pfs_attach.h"
#include "pfs_event_open.h"
#include "pfs_local.h"
#include "pfs_memory_counted.h"
#include "pfs_part.h"
#include "pfs_plain_state.h"
#include "pfs_process.h"
#include "pfs_thread_end.h"

/* Of the server; NULL: not known. */
static PfsExit *exits = NULL;
static const int *exits_used = NULL;

/* What our function has taken the place of. */
static PfsExit replaced;

/* The process has no record any more: nothing that is asked before that may say that it has. */
static void
lose_record(void)
{
	pfs_my_thread = NULL;
	pfs_local.idle = NULL;
	pfs_plain.state = PFS_PLAIN_NONE;
	pfs_plain.depth = 0;
	pfs_never_attach = true;
}

/*
 * Forgets everything that leads to the record, for a process that is not its owner.
 * The record itself is not written.
 */
static void
forget(void)
{
	lose_record();
	pfs_each_part_with(part, forget)
	{
		*part->forget = NULL;
	}
	pfs_memory_leave();
}

/*
 * Gives this process's record back, at the end of the process: ends what is still open,
 * lets each part take its share (pfs_parts.c says why in that order), and frees the
 * record.  The write section that it begins is never ended: no handler may write the
 * record any more.  Without a record there is nothing to do; a child of a bare system
 * call, whose process number is not the record's, only forgets where the record is.
 */
static void
detach(void)
{
	PfsThread  *t = pfs_my_thread;

	if (t == NULL)
		return;
	if (t->pid != (int) getpid())
	{
		forget();
		return;
	}

	/*
	 * A handler that raised FATAL in the middle of an instrument point leaves
	 * us busy; nobody else is going to finish that event.
	 */
	pfs_each_part_with(part, leave)
		part->leave(t);
	(void) pfs_repair_others();
	pfs_local.beginning = 0;
	(void) pfs_seqlock_repair(&t->moves);
	if ((t->seq.word & 1) == 0)
		pfs_write_begin(t);

	/*
	 * With waits off nothing may have asked yet, and its counters have an
	 * account.
	 */
	if (pfs_local.slow & PFS_SLOW_IDENTITY)
		pfs_thread_refresh_identity(t, false);
	pfs_each_part_with(part, detach)
		part->detach(t);
	pfs_add_relaxed(&pfs_shared_threads->reentered, pfs_local.reentered);

	lose_record();
	if (pfs_pages_claim(pfs_threads, t->index, t->word))
		pfs_pages_free(pfs_threads, t->index);
}

/*
 * Detaches the process and calls the server's own function whose place this one has
 * taken.
 */
static void
exit_cb(int code, Datum arg)
{
	PfsExit		next = replaced;

	detach();
	next.function(code, next.arg);
}

/*
 * A process that has MyProc but nothing to call at its end yet is just being born: it
 * attaches at its next event.
 */
bool
pfs_thread_can_end(void)
{
	return exits == NULL || *exits_used > 0;
}

/*
 * Puts exit_cb() in the place of the last entry of the server's list, when the process
 * attaches.  Without the list the process detaches by atexit() alone.
 */
void
pfs_thread_watch_end(void)
{
	PfsExit    *last;

	if (exits == NULL)
		return;
	last = &exits[*exits_used - 1];
	replaced = *last;
	last->function = exit_cb;
}

/*
 * Runs in the child of each fork() of the C library (pthread_atfork), also in those
 * that the postmaster makes, which have no record yet.
 */
static void
at_fork_child(void)
{
	if (MyProc != NULL || pfs_my_thread != NULL)
		forget();
}

void
pfs_thread_end_start(PfsExit *list, const int *used)
{
	exits = list;
	exits_used = used;
	pthread_atfork(NULL, NULL, at_fork_child);
	atexit(detach);
}
