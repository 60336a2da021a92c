/*
 * pfs_test.c
 *	  What the tests need an extension for: locks that are held as long as one
 *	  likes, wait events and processes of its own, a fork().
 *
 * Preloaded, before or after pfs.  The functions are declared by the tests,
 * with the path that PG_LIBDIR names.
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "access/relation.h"
#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/pg_sema.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "../../../src/compat/pfs_compat_tests.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_lwlock);
PG_FUNCTION_INFO_V1(pfs_test_spinlock);
PG_FUNCTION_INFO_V1(pfs_test_register);
PG_FUNCTION_INFO_V1(pfs_test_wait);
PG_FUNCTION_INFO_V1(pfs_test_worker);
PG_FUNCTION_INFO_V1(pfs_test_waiter);
PG_FUNCTION_INFO_V1(pfs_test_fork);
PG_FUNCTION_INFO_V1(pfs_test_fork_busy);
PG_FUNCTION_INFO_V1(pfs_test_hold);
PG_FUNCTION_INFO_V1(pfs_test_hold_forking);
PG_FUNCTION_INFO_V1(pfs_test_hold_page);
PG_FUNCTION_INFO_V1(pfs_test_wake);
PG_FUNCTION_INFO_V1(pfs_test_release_hold);
PG_FUNCTION_INFO_V1(pfs_test_try);
PG_FUNCTION_INFO_V1(pfs_test_take);
PG_FUNCTION_INFO_V1(pfs_test_fail);
PG_FUNCTION_INFO_V1(pfs_test_provoke);
PG_FUNCTION_INFO_V1(pfs_test_chase);
PG_FUNCTION_INFO_V1(pfs_test_tranche);
PG_FUNCTION_INFO_V1(pfs_test_command);

PGDLLEXPORT Datum pfs_test_lwlock(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_spinlock(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_register(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_wait(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_worker(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_waiter(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_fork(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_fork_busy(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_hold(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_hold_forking(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_hold_page(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_wake(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_release_hold(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_try(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_take(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_fail(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_provoke(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_chase(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_tranche(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_command(PG_FUNCTION_ARGS);
PGDLLEXPORT void pfs_test_main(Datum arg);
PGDLLEXPORT void pfs_test_waiter_main(Datum arg);
PGDLLEXPORT void _PG_init(void);

#define LATE_NAME "pfs_test_late"

/* More than pfs keeps instances for in a small server. */
#define PFS_TEST_LOCKS 3000
/* No test waits for longer than this for another session. */
#define PFS_TEST_PATIENCE 120.0

typedef struct PfsTestShared
{
	LWLock		late;			/* up to 18 its tranche has a name only where
								 * pfs_test_register() was called */
	slock_t		spinlock;
	pg_atomic_uint32 release_hold;	/* raised by pfs_test_release_hold() */
	pg_atomic_uint32 turn;		/* locks that pfs_test_provoke() has taken */
	PGPROC	   *volatile chaser;	/* who comes after it */
	ConditionVariable never;	/* that nobody signals */
	LWLock		locks[PFS_TEST_LOCKS];	/* of the tranche of `late` */
} PfsTestShared;

static PfsTestShared *shared = NULL;
static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
request_cb(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(sizeof(PfsTestShared));
	RequestNamedLWLockTranche("pfs_test", 1);
}

static void
startup_cb(void)
{
	bool		found;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	shared = ShmemInitStruct("pfs_test", sizeof(PfsTestShared), &found);
	LWLockInitialize(&shared->late, pfs_compat_new_tranche(LATE_NAME));
	SpinLockInit(&shared->spinlock);
	pg_atomic_init_u32(&shared->release_hold, 0);
	pg_atomic_init_u32(&shared->turn, 0);
	shared->chaser = NULL;
	ConditionVariableInit(&shared->never);
	for (int i = 0; i < PFS_TEST_LOCKS; i++)
		LWLockInitialize(&shared->locks[i], shared->late.tranche);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_cb;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_cb;
}

/* Busy, not asleep: a sleep would be an event of its own. */
static void
hold(double seconds)
{
	instr_time	start;
	instr_time	now;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
	} while (INSTR_TIME_GET_DOUBLE(now) < seconds);
}

static LWLock *
lock_of(const char *name)
{
	return strcmp(name, "late") == 0 ? &shared->late
		: &GetNamedLWLockTranche("pfs_test")->lock;
}

static LWLockMode
mode_of(const char *mode)
{
	return strcmp(mode, "exclusive") == 0 ? LW_EXCLUSIVE : LW_SHARED;
}

/* pfs_test_lwlock(name text, mode text, seconds float8): 'pfs_test' or 'late', 'shared' or 'exclusive' */
Datum
pfs_test_lwlock(PG_FUNCTION_ARGS)
{
	LWLock	   *lock = lock_of(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	LWLockAcquire(lock, mode_of(text_to_cstring(PG_GETARG_TEXT_PP(1))));
	hold(PG_GETARG_FLOAT8(2));
	LWLockRelease(lock);
	PG_RETURN_VOID();
}

/* pfs_test_spinlock(seconds float8) */
Datum
pfs_test_spinlock(PG_FUNCTION_ARGS)
{
	double		seconds = PG_GETARG_FLOAT8(0);

	SpinLockAcquire(&shared->spinlock);
	hold(seconds);
	SpinLockRelease(&shared->spinlock);
	PG_RETURN_VOID();
}

/* pfs_test_tranche(id) returns text: the name of a tranche */
Datum
pfs_test_tranche(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(GetLWLockIdentifier(PG_WAIT_LWLOCK, (uint16) PG_GETARG_INT32(0))));
}

/*
 * pfs_test_command(command text): executes a utility command as extensions do, some of which
 * pass no receiver of its result
 */
Datum
pfs_test_command(PG_FUNCTION_ARGS)
{
	char	   *str = text_to_cstring(PG_GETARG_TEXT_PP(0));
	PlannedStmt *stmt = makeNode(PlannedStmt);

	stmt->commandType = CMD_UTILITY;
	stmt->canSetTag = true;
	stmt->utilityStmt = linitial_node(RawStmt, raw_parser(str, RAW_PARSE_DEFAULT))->stmt;
	stmt->stmt_len = strlen(str);
	ProcessUtility(stmt, str, false, PROCESS_UTILITY_TOPLEVEL, NULL, NULL, NULL, NULL);
	PG_RETURN_VOID();
}

/* pfs_test_register(): this process knows the other tranche's name from now on */
Datum
pfs_test_register(PG_FUNCTION_ARGS)
{
	pfs_compat_register_tranche(shared->late.tranche, LATE_NAME);
	PG_RETURN_VOID();
}

/*
 * pfs_test_wait(name text, seconds float8): under a wait event of that name,
 * where there are such.  Can be cancelled.
 */
Datum
pfs_test_wait(PG_FUNCTION_ARGS)
{
	uint32		event = PG_WAIT_EXTENSION;
	TimestampTz end = GetCurrentTimestamp() + (TimestampTz) (PG_GETARG_FLOAT8(1) * USECS_PER_SEC);

#if PG_VERSION_NUM >= 170000
	event = WaitEventExtensionNew(text_to_cstring(PG_GETARG_TEXT_PP(0)));
#endif
	for (;;)
	{
		long		left = (long) ceil((end - GetCurrentTimestamp()) / 1000.0);

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, event);
	}
	PG_RETURN_VOID();
}

void
pfs_test_main(Datum arg)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	while (!ShutdownRequestPending)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1L, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	proc_exit(0);
}

/* Waits inside a transaction, 10 ms at a time, in the list of a condition variable. */
void
pfs_test_waiter_main(Datum arg)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection("postgres", NULL, 0);
	StartTransactionCommand();
	ConditionVariablePrepareToSleep(&shared->never);
	while (!ShutdownRequestPending)
		(void) ConditionVariableTimedSleep(&shared->never, 10, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	CommitTransactionCommand();
	proc_exit(0);
}

/* Starts a background worker; returns its pid. */
static pid_t
start_worker(const char *library, const char *function, const char *type, int flags)
{
	BackgroundWorker worker = {0};
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | flags;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, library, sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, function, BGW_MAXLEN);
	strlcpy(worker.bgw_name, "one of a test", BGW_MAXLEN);
	strlcpy(worker.bgw_type, type, sizeof(worker.bgw_type));
	if (!RegisterDynamicBackgroundWorker(&worker, &handle) ||
		WaitForBackgroundWorkerStartup(handle, &pid) != BGWH_STARTED)
		ereport(ERROR, (errmsg("no background worker")));
	return pid;
}

/* pfs_test_worker(library text, type text) returns int4: pid of a background worker that waits to be told to end */
Datum
pfs_test_worker(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(start_worker(text_to_cstring(PG_GETARG_TEXT_PP(0)), "pfs_test_main", text_to_cstring(PG_GETARG_TEXT_PP(1)), 0));
}

/* pfs_test_waiter(library text) returns int4: pid of one that waits inside a transaction, again and again */
Datum
pfs_test_waiter(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(start_worker(text_to_cstring(PG_GETARG_TEXT_PP(0)), "pfs_test_waiter_main", "test waiter", BGWORKER_BACKEND_DATABASE_CONNECTION));
}

/* The exit status of a child, once it has ended. */
static int
status_of(pid_t pid)
{
	int			status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * pfs_test_fork(sleeps int4) returns int4: exit status of a child that the
 * server does not know, and that calls the server's functions.
 */
Datum
pfs_test_fork(PG_FUNCTION_ARGS)
{
	int			sleeps = PG_GETARG_INT32(0);
	pid_t		pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
	{
		for (int i = 0; i < sleeps; i++)
			pg_usleep(100L);
		_exit(3);
	}
	PG_RETURN_INT32(status_of(pid));
}

/*
 * pfs_test_fork_busy(how text) returns int4: exit status of a child that reads files by
 * the server's functions, allocates, and takes and releases an LWLock; it ends by
 * exit() or by _exit().
 */
Datum
pfs_test_fork_busy(PG_FUNCTION_ARGS)
{
	bool		by_exit = strcmp(text_to_cstring(PG_GETARG_TEXT_PP(0)), "exit") == 0;
	pid_t		pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "child", ALLOCSET_DEFAULT_SIZES);

		for (int i = 0; i < 100; i++)
		{
			int			fd = OpenTransientFile("PG_VERSION", O_RDONLY);
			char		byte;

			if (fd < 0 || read(fd, &byte, 1) != 1)
				_exit(4);
			CloseTransientFile(fd);
			(void) MemoryContextAlloc(context, 1000 * i);
			(void) palloc(100);
			LWLockAcquire(&shared->locks[0], LW_SHARED);
			LWLockRelease(&shared->locks[0]);
			pg_usleep(10L);
		}
		MemoryContextDelete(context);
		if (!by_exit)
			_exit(3);

		/*
		 * As a child has to that wants to end so: the server's own are not
		 * for it.
		 */
		on_exit_reset();
		exit(3);
	}
	PG_RETURN_INT32(status_of(pid));
}

static double
seconds_since(const instr_time *start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, *start);
	return INSTR_TIME_GET_DOUBLE(now);
}

/*
 * pfs_test_hold_forking(name text): hold it in shared mode, as below, while a child has
 * taken and released it, too.
 */
Datum
pfs_test_hold_forking(PG_FUNCTION_ARGS)
{
	LWLock	   *lock = lock_of(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	uint32		before = pg_atomic_read_u32(&shared->release_hold);
	instr_time	start;
	pid_t		pid;

	LWLockAcquire(lock, LW_SHARED);
	pid = fork();
	if (pid == 0)
	{
		LWLockAcquire(lock, LW_SHARED);
		LWLockRelease(lock);
		_exit(0);
	}
	(void) status_of(pid);
	INSTR_TIME_SET_CURRENT(start);
	while (pg_atomic_read_u32(&shared->release_hold) == before && seconds_since(&start) < PFS_TEST_PATIENCE)
		pg_usleep(1000L);
	LWLockRelease(lock);
	PG_RETURN_VOID();
}

/* pfs_test_hold(name text, mode text): as pfs_test_lwlock(), until somebody calls pfs_test_release_hold() */
Datum
pfs_test_hold(PG_FUNCTION_ARGS)
{
	LWLock	   *lock = lock_of(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	uint32		before = pg_atomic_read_u32(&shared->release_hold);
	instr_time	start;

	LWLockAcquire(lock, mode_of(text_to_cstring(PG_GETARG_TEXT_PP(1))));
	INSTR_TIME_SET_CURRENT(start);
	while (pg_atomic_read_u32(&shared->release_hold) == before && seconds_since(&start) < PFS_TEST_PATIENCE)
		pg_usleep(1000L);
	LWLockRelease(lock);
	PG_RETURN_VOID();
}

/* pfs_test_hold_page(relation oid): hold the content lock of its first page in the same way */
Datum
pfs_test_hold_page(PG_FUNCTION_ARGS)
{
	Relation	relation = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(relation, 0);
	uint32		before = pg_atomic_read_u32(&shared->release_hold);
	instr_time	start;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	INSTR_TIME_SET_CURRENT(start);
	while (pg_atomic_read_u32(&shared->release_hold) == before && seconds_since(&start) < PFS_TEST_PATIENCE)
		pg_usleep(1000L);
	UnlockReleaseBuffer(buffer);
	relation_close(relation, AccessShareLock);
	PG_RETURN_VOID();
}

/* pfs_test_wake(pid int): wakes a process that sleeps on its semaphore, for nothing */
Datum
pfs_test_wake(PG_FUNCTION_ARGS)
{
	PGPROC	   *proc = BackendPidGetProc(PG_GETARG_INT32(0));

	if (proc != NULL)
		PGSemaphoreUnlock(proc->sem);
	PG_RETURN_VOID();
}

/* pfs_test_release_hold() */
Datum
pfs_test_release_hold(PG_FUNCTION_ARGS)
{
	pg_atomic_fetch_add_u32(&shared->release_hold, 1);
	PG_RETURN_VOID();
}

/* pfs_test_try(name text, mode text) returns bool: LWLockConditionalAcquire() */
Datum
pfs_test_try(PG_FUNCTION_ARGS)
{
	LWLock	   *lock = lock_of(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	bool		taken = LWLockConditionalAcquire(lock, mode_of(text_to_cstring(PG_GETARG_TEXT_PP(1))));

	if (taken)
		LWLockRelease(lock);
	PG_RETURN_BOOL(taken);
}

/*
 * pfs_test_take(n int4, locks int4): n times, take so many locks of the array together and
 * release them, the first one first.
 */
Datum
pfs_test_take(PG_FUNCTION_ARGS)
{
	int			locks = PG_GETARG_INT32(1);

	for (int i = 0; i < PG_GETARG_INT32(0); i++)
	{
		for (int l = 0; l < locks; l++)
			LWLockAcquire(&shared->locks[l], LW_EXCLUSIVE);
		for (int l = 0; l < locks; l++)
			LWLockRelease(&shared->locks[l]);
	}
	PG_RETURN_VOID();
}

/*
 * pfs_test_fail(locks int4, level text): take so many locks and leave with an ERROR, or with a FATAL
 * one; more than PostgreSQL allows are an error by themselves.
 */
Datum
pfs_test_fail(PG_FUNCTION_ARGS)
{
	bool		fatal = strcmp(text_to_cstring(PG_GETARG_TEXT_PP(1)), "fatal") == 0;

	for (int l = 0; l < PG_GETARG_INT32(0); l++)
		LWLockAcquire(&shared->locks[l], LW_SHARED);
	ereport(fatal ? FATAL : ERROR, (errmsg("left with locks")));
	PG_RETURN_VOID();
}

/*
 * pfs_test_provoke(n int4): take n locks of the array, one after the other, each until the session
 * that calls pfs_test_chase(n) sleeps for it.
 */
Datum
pfs_test_provoke(PG_FUNCTION_ARGS)
{
	instr_time	start;

	pg_atomic_write_u32(&shared->turn, 0);
	shared->chaser = NULL;
	INSTR_TIME_SET_CURRENT(start);
	for (int l = 0; l < PG_GETARG_INT32(0); l++)
	{
		LWLockAcquire(&shared->locks[l], LW_EXCLUSIVE);
		pg_atomic_write_u32(&shared->turn, l + 1);
		/* Once it shows the wait, nothing keeps it from sleeping. */
		while ((shared->chaser == NULL ||
				(*(volatile uint32 *) &shared->chaser->wait_event_info & 0xFF000000U) != PG_WAIT_LWLOCK) &&
			   seconds_since(&start) < PFS_TEST_PATIENCE)
			;
		LWLockRelease(&shared->locks[l]);
		/* Until it has had the lock: its next sleep is for the next one. */
		while (pg_atomic_read_u32(&shared->turn) == l + 1 && seconds_since(&start) < PFS_TEST_PATIENCE)
			;
	}
	PG_RETURN_VOID();
}

/* pfs_test_chase(n int4): see above */
Datum
pfs_test_chase(PG_FUNCTION_ARGS)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	for (int l = 0; l < PG_GETARG_INT32(0); l++)
	{
		while (pg_atomic_read_u32(&shared->turn) != l + 1 && seconds_since(&start) < PFS_TEST_PATIENCE)
			;
		shared->chaser = MyProc;
		LWLockAcquire(&shared->locks[l], LW_EXCLUSIVE);
		LWLockRelease(&shared->locks[l]);
		pg_atomic_write_u32(&shared->turn, 0);
	}
	PG_RETURN_VOID();
}
