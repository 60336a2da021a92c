/*
 * pfs_instr_wait.c
 *	  Calls that put the process to sleep: semaphores (LWLocks and group
 *	  updates), latches (locks, clients, other processes, timeouts), naps, and
 *	  child processes.
 *
 * What one wait is, and so when its event ends, differs by family: see
 * pfs_event_open.c for those that are more than one call.  Separate from files and
 * sockets, whose events always end with their call.
 */
#include "postgres.h"

#include <sys/wait.h>

#include "storage/lock.h"

#include "pfs_compat.h"
#include "pfs_event_open.h"
#include "pfs_instr.h"
#include "pfs_instr_buffer.h"
#include "pfs_instr_lwlock.h"
#include "pfs_lock_time.h"
#include "pfs_memory.h"
#include "pfs_plain.h"
#include "pfs_socket.h"
#include "pfs_instr_table.h"
#include "pfs_rel_io.h"

#define CLASS(wait_info) ((wait_info) & 0xFF000000U)

/* The call of an open event returned and the wait goes on. */
static inline void
still_open(PfsThread *t, PfsOpenWait *open)
{
	open->end = pfs_wait_read_end(t, open->event->flags);
}

/* ---- semaphores ---- */

/* A call in progress that may be one of several of its wait. */
typedef struct PfsSleep
{
	PfsWait    *event;			/* what this call began, or NULL */
	PfsOpenWait *open;			/* what it continues, or NULL */
	PfsOpenKind kind;			/* or ENDS_WITH_CALL */
} PfsSleep;

/* Waits that end with their call. */
#define ENDS_WITH_CALL ((PfsOpenKind) -1)

/*
 * Before a call of a semaphore: continues an open event, or begins one.  Without a wait
 * event the process takes back wake-ups that another wait has absorbed.
 */
static pg_attribute_always_inline void
begin_semaphore(PfsSleep *sleep, PfsThread *t, const void *frame)
{
	static PFS_HOT_TABLE PfsFramesMemo memo;
	uint32		wait_info = pfs_wait_event_info();
	bool		lwlock = CLASS(wait_info) == PG_WAIT_LWLOCK;
	bool		buffer = pfs_compat_is_buffer_lock(wait_info);
	PfsInstrumentId instrument;
	PfsWait    *e;
	uint32		flags;

	if (unlikely(buffer))
		pfs_buffer_sleeps();
	/* After an interrupted call the next one is always the same wait's. */
	sleep->kind = lwlock || buffer ? PFS_OPEN_LWLOCK : PFS_OPEN_GROUP;
	sleep->event = NULL;
	sleep->open = pfs_open_top(sleep->kind);
	if (unlikely(sleep->open != NULL))
		return;
	instrument = likely(wait_info != 0) ? pfs_wait_info_instrument(wait_info)
		: pfs_fixed_instrument[PFS_INS_SEMAPHORE_ABSORB];
	if (unlikely(instrument == PFS_NO_INSTRUMENT))
		return;
	flags = pfs_wait_flags(t, instrument);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return;
	e = pfs_wait_begin(t, instrument, flags,
					   buffer ? pfs_buffer_operation() : !lwlock ? PFS_OP_NONE
					   : MyProc->lwWaitMode == LW_SHARED ? PFS_OP_SHARED_LOCK : PFS_OP_EXCLUSIVE_LOCK,
					   buffer ? PFS_OBJECT_BUFFER : lwlock ? PFS_OBJECT_LWLOCK : PFS_OBJECT_NONE, PFS_EVENT_NO_OFFSET,
					   buffer ? pfs_buffer_source(frame) : pfs_frames_source_memo(frame, &memo));
	if (unlikely(e == NULL))
		return;
	pfs_wait_set_bytes(e, PFS_EVENT_NO_BYTES);
	if (lwlock || buffer)
		e->spins = 1;
	if (buffer)
		pfs_buffer_describe(e, frame);
	pfs_wait_start(t, e);
	sleep->event = e;
}

/* One more sleep of the same wait. */
static void
count_sleep(PfsWait *e)
{
	if (e->object_type == PFS_OBJECT_LWLOCK || e->object_type == PFS_OBJECT_BUFFER)
		pfs_store_relaxed(&e->spins, e->spins + 1);
}

/*
 * After the call: ends the event, or leaves it open.  A wake-up ends the wait only if the
 * process is off the queue; an interrupted call never does.
 */
static pg_attribute_always_inline void
end_semaphore(PfsSleep *sleep, PfsThread *t, int result)
{
	PfsWait    *e = sleep->event;

	if (e == NULL && sleep->open == NULL)
		return;
	if (likely(result == 0 && !(sleep->kind == PFS_OPEN_LWLOCK ? pfs_compat_lwlock_waiting(MyProc)
								: pfs_wait_goes_on(sleep->kind))))
	{
		if (likely(e != NULL))
		{
			uint64		end = pfs_wait_read_end(t, e->flags);

			if (sleep->kind == PFS_OPEN_LWLOCK && end > e->timer_start)
				pfs_lwlock_wait_ended(e->flags, end - e->timer_start);
			pfs_wait_end_at(t, e, end);
		}
		else
			pfs_open_finish_this(t, sleep->open, 0);
		return;
	}
	if (result == 0)
		count_sleep(e != NULL ? e : sleep->open->event);
	if (e != NULL)
		pfs_wait_keep_open(t, e, sleep->kind);
	else
		still_open(t, sleep->open);
}

/*
 * The wrapper of a call that sleeps on a semaphore, unless never_blocks.  Inside an acquisition that a
 * detour has seen, the sleep is one of the acquisition's.
 */
#define WRAP_SEMAPHORE(name, params, args, never_blocks) \
static int \
wrap_##name params \
{ \
	PfsThread  *t = pfs_thread_here(); \
	PfsSleep	sleep; \
	int			result; \
\
	if (unlikely(t == NULL) || (never_blocks)) \
		return pfs_real.name args; \
	if (pfs_lwlock_in_progress()) \
	{ \
		pfs_lwlock_before_sleep(t, FRAME); \
		result = pfs_real.name args; \
		pfs_lwlock_after_sleep(result); \
		return result; \
	} \
	begin_semaphore(&sleep, t, FRAME); \
	result = pfs_real.name args; \
	end_semaphore(&sleep, t, result); \
	return result; \
}

WRAP_SEMAPHORE(sem_wait, (sem_t *sem), (sem), false)
/* Of builds with SysV semaphores; raising one never blocks. */
WRAP_SEMAPHORE(semop, (int id, struct sembuf *ops, size_t nops), (id, ops, nops), nops != 1 || ops->sem_op >= 0)

/* ---- latches ---- */

/*
 * The lock that we wait for.  The granter sets waitLock to NULL at any time,
 * but the LOCK stays valid while we wait for it or hold it.
 */
static void
describe_lock(PfsWait *e)
{
	LOCK	   *lock = *(LOCK *volatile *) &MyProc->waitLock;

	if (lock == NULL)
		return;
	e->object_type = PFS_OBJECT_LOCK;
	e->object.locktag = lock->tag;
	e->object_instance = (uintptr_t) lock;
	pfs_wait_widen(e, PFS_WIDE_INSTANCE);
	if (MyProc->waitLockMode >= AccessShareLock && MyProc->waitLockMode <= AccessExclusiveLock)
		e->operation = PFS_OP_LOCK + MyProc->waitLockMode;
}

/*
 * Finds out what is not known of the process yet, and repairs sequence words that were
 * left odd: at a wait for a latch the main line of a process is in no write section.  A
 * handler that makes the process quit can wait for the client in the middle of one
 * (may_repair is false), and no other handler waits.
 */
void
pfs_look_at_thread(PfsThread *t, bool may_repair)
{
	if ((pfs_local.slow & PFS_SLOW_REPAIR) && may_repair)
		pfs_thread_repair(t);
	if (pfs_local.slow & PFS_SLOW_IDENTITY)
		pfs_process.identify_cb(t);
	/* As the apply worker, whose commands no hook sees. */
	if (pfs_local.slow & PFS_SLOW_WATCH)
		pfs_tables_follow_switch(t);
}

/*
 * Before a wait for a latch or a socket: finds out which of the families it is (a client, a
 * heavyweight lock, any other), and begins its event or continues an open one.  The main
 * line of the process is here in no write section, so much of what has been put off is
 * done here.  Returns whether end_latch() has anything to do.
 */
static pg_attribute_always_inline bool
begin_latch(PfsSleep *sleep, PfsThread *t, const void *frame)
{
	static PFS_HOT_TABLE PfsFramesMemo memo;
	uint32		wait_info = pfs_wait_event_info();
	PfsInstrumentId instrument;
	PfsWait    *e;
	uint32		flags;
	bool		client = false;

	sleep->kind = ENDS_WITH_CALL;
	if (likely(wait_info != 0))
	{
		instrument = pfs_wait_info_instrument(wait_info);
		client = CLASS(wait_info) == PG_WAIT_CLIENT;
		if (CLASS(wait_info) == PG_WAIT_LOCK)
			sleep->kind = PFS_OPEN_LOCK;
	}
	else
		instrument = pfs_fixed_instrument[PFS_INS_LATCH_WAIT];

	sleep->event = NULL;
	sleep->open = NULL;
	if (unlikely(pfs_local.slow & (PFS_SLOW_IDENTITY | PFS_SLOW_REPAIR | PFS_SLOW_WATCH)))
		pfs_look_at_thread(t, !client);
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	if (unlikely(pfs_local.slow & PFS_SLOW_OPEN))
	{
		/* What an error ended is over, whether or not this wait is wanted. */
		pfs_open_end_stale_now(t);
		pfs_rel_lock_look(t);
		sleep->open = pfs_open_top(sleep->kind);
		if (sleep->open != NULL)
			return true;
	}
	if (unlikely(instrument == PFS_NO_INSTRUMENT))
		return false;
	flags = pfs_wait_flags(t, instrument);
	if ((flags & PFS_FLAG_ENABLED) == 0)
		return false;
	e = pfs_wait_begin(t, instrument, flags, client ? PFS_OP_WAIT : PFS_OP_NONE,
					   client ? PFS_OBJECT_SOCKET : PFS_OBJECT_NONE, PFS_EVENT_NO_OFFSET,
					   pfs_frames_source_memo(frame, &memo));
	if (unlikely(e == NULL))
		return false;
	pfs_wait_set_bytes(e, PFS_EVENT_NO_BYTES);
	if (sleep->kind == PFS_OPEN_LOCK)
		describe_lock(e);
	else if (client)
		e->object.address = (uintptr_t) pfs_socket_of_wait(instrument);
	pfs_wait_start(t, e);
	sleep->event = e;
	return true;
}

/* After the wait: ends the event, or leaves it open for the next call. */
static pg_attribute_always_inline void
end_latch(PfsSleep *sleep, PfsThread *t)
{
	PfsWait    *e = sleep->event;

	if (sleep->kind == ENDS_WITH_CALL || !pfs_wait_goes_on(sleep->kind))
	{
		if (e != NULL && e->object_type == PFS_OBJECT_SOCKET)
			pfs_socket_wait_end(t, e, (PfsSocket *) (uintptr_t) e->object.address);
		else if (e != NULL)
		{
			uint64		end = pfs_wait_read_end(t, e->flags);

			if (sleep->kind == PFS_OPEN_LOCK)
				pfs_heavy_lock_ended(e, end > e->timer_start ? end - e->timer_start : 0);
			pfs_wait_end_at(t, e, end);
		}
		else
			pfs_open_finish_this(t, sleep->open, 0);
		pfs_rel_lock_look(t);
	}
	else if (e != NULL)
		pfs_wait_keep_open(t, e, sleep->kind);
	else
		still_open(t, sleep->open);
}

static inline bool
is_for_client(void)
{
	return pfs_wait_event_info() == WAIT_EVENT_CLIENT_READ;
}

/*
 * Is this a part of the wait for the client's next message, or is all off?  That wait begins and ends in
 * pfs_instr_socket.c, with the calls that look for the message.
 */
static inline bool
is_passed_on(void)
{
	if (likely(pfs_local.idle != NULL))
		return is_for_client();
	return pfs_is_still_all_off() || (is_for_client() && pfs_between_statements());
}

/*
 * The wrapper of a call that waits for a latch or a socket. Without a timeout to wait for it only asks.  What an idle
 * session does is passed on by a function that needs nothing else.
 */
#define WRAP_LATCH(name, params, args) \
static pg_noinline int \
wait_by_##name(const void *frame, PFS_UNPACK params) \
{ \
	PfsThread  *t = pfs_thread_here(); \
	PfsSleep	sleep; \
	int			result; \
\
	if (unlikely(t == NULL) || timeout == 0 || !begin_latch(&sleep, t, frame)) \
		return pfs_real.name args; \
	result = pfs_real.name args; \
	end_latch(&sleep, t); \
	return result; \
} \
\
static int \
wrap_##name params \
{ \
	if (likely(is_passed_on())) \
		return pfs_real.name args; \
	return wait_by_##name(FRAME, PFS_UNPACK args); \
}

WRAP_LATCH(epoll_wait, (int epfd, struct epoll_event *events, int maxevents, int timeout),
		   (epfd, events, maxevents, timeout))
WRAP_LATCH(poll, (struct pollfd *fds, nfds_t nfds, int timeout), (fds, nfds, timeout))

/* ---- naps ---- */

/*
 * Begins the event of a nap; one without a wait event in a spin delay has an instrument
 * of its own.
 */
static PfsWait *
begin_nap(PfsThread *t, const void *frame)
{
	bool		spin = pfs_wait_event_info() == 0 && pfs_frames_in_spin_delay(frame);
	PfsWait    *e;

	if (pfs_lwlock_in_progress())
		pfs_lwlock_before_nap(t, frame);
	e = pfs_plain_begin(t, pfs_fixed_instrument[spin ? PFS_INS_SPIN_DELAY : PFS_INS_OTHER_SLEEP],
						PFS_OP_NONE, frame);
	/* One event is one delay. */
	if (e != NULL && e->instrument == pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		pfs_store_relaxed(&e->spins, 1);
	return e;
}

static inline void
end_plain(PfsWait *e)
{
	if (e == NULL)
		return;
	if (e->instrument == pfs_fixed_instrument[PFS_INS_OTHER_SOCKET])
		pfs_socket_wait_end(pfs_my_thread, e, NULL);
	else
		pfs_wait_end(pfs_my_thread, e);
}

static int
wrap_nanosleep(const struct timespec *request, struct timespec *remain)
{
	PfsThread  *t = pfs_thread_here();
	PfsWait    *e = t != NULL ? begin_nap(t, FRAME) : NULL;
	int			result;

	result = pfs_real.nanosleep(request, remain);
	end_plain(e);
	return result;
}

/* Naps, or waits for sockets that are not the server's own. */
static int
wrap_select(int nfds, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
	PfsThread  *t = pfs_thread_here();
	PfsWait    *e;
	int			result;

	if (t != NULL && nfds == 0)
		e = begin_nap(t, FRAME);
	else
		e = pfs_plain_begin(t, pfs_fixed_instrument[PFS_INS_OTHER_SOCKET], PFS_OP_WAIT, FRAME);
	result = pfs_real.select(nfds, reads, writes, excepts, timeout);
	end_plain(e);
	return result;
}

/* ---- child processes ---- */

/* The wrapper of a call that waits for a child process; thread NULL: it does not wait. */
#define WRAP_CHILD(type, name, params, args, thread) \
static type \
wrap_##name params \
{ \
	PfsWait    *e = pfs_plain_begin(thread, pfs_fixed_instrument[PFS_INS_CHILD_PROCESS], PFS_OP_NONE, FRAME); \
	type		result = pfs_real.name args; \
\
	end_plain(e); \
	return result; \
}

WRAP_CHILD(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options),
		   options & WNOHANG ? NULL : pfs_my_thread)
WRAP_CHILD(int, system, (const char *command), (command), pfs_thread_here())
WRAP_CHILD(FILE *, popen, (const char *command, const char *mode), (command, mode), pfs_thread_here())

static int
wrap_pclose(FILE *file)
{
	PfsThread  *t = pfs_my_thread;
	PfsWait    *e;
	int			result;

	if (t != NULL)
		pfs_fd_closed(fileno(file));
	e = pfs_plain_begin(t, pfs_fixed_instrument[PFS_INS_CHILD_PROCESS], PFS_OP_NONE, FRAME);
	result = pfs_real.pclose(file);
	end_plain(e);
	return result;
}

const PfsGotPatch pfs_wait_calls[] = {
	PFS_CALL("sem_wait", sem_wait, "wait/synch/lwlock/%"),
	PFS_CALL("semop", semop, "wait/synch/lwlock/%"),
	PFS_CALL("epoll_wait", epoll_wait, "%"),
	PFS_CALL("poll", poll, "%"),
	PFS_CALL("nanosleep", nanosleep, "wait/timeout/%"),
	PFS_CALL("select", select, "wait/timeout/%"),
	PFS_CALL("waitpid", waitpid, "wait/synch/ipc/ChildProcess"),
	PFS_CALL("system", system, "wait/synch/ipc/ChildProcess"),
	PFS_CALL("popen", popen, "wait/synch/ipc/ChildProcess"),
	PFS_CALL("pclose", pclose, "wait/synch/ipc/ChildProcess"),
	{NULL},
};
