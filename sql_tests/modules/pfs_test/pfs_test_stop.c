/*
 * pfs_test_stop.c
 *	  A process that stops itself in the middle of an instrument point, as one does that
 *	  a debugger or the system has stopped; one whose sequence word was left odd; the
 *	  list of what is called at a process's end, filled up by somebody else; and processes
 *	  that end if they write what only the postmaster sets.
 *
 * A function of pfs.so is found by its name (pfs_test_symbol.h).  The first
 * byte of its code is replaced by a breakpoint; the signal's handler puts the byte
 * back and stops the process.  When it goes on it makes the call as if nothing had been.
 */
#include "postgres.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/elog.h"
#include "utils/guc.h"

#include "../../../src/container/pfs_fence.c"
#include "../../../src/record/setup/pfs_clock_source.c"

#include "pfs_test_symbol.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_stop_at);
PG_FUNCTION_INFO_V1(pfs_test_raise_word);
PG_FUNCTION_INFO_V1(pfs_test_clock_source);
PG_FUNCTION_INFO_V1(pfs_test_fence);
PG_FUNCTION_INFO_V1(pfs_test_write_fixed);
PGDLLEXPORT Datum pfs_test_stop_at(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_raise_word(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_clock_source(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_fence(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_write_fixed(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

/* ---- stopping ---- */

#if defined(__x86_64__)
#define BREAKPOINT 0xCC
typedef uint8 Code;
#define INSTRUCTION(context) ((context)->uc_mcontext.gregs[REG_RIP])
#define BEHIND 1
#else
#define BREAKPOINT 0xD4200000
typedef uint32 Code;
#define INSTRUCTION(context) ((context)->uc_mcontext.pc)
#define BEHIND 0
#endif

static Code *place;
static Code instead;

static void
allow(int protection)
{
	uintptr_t	page = sysconf(_SC_PAGESIZE);
	uintptr_t	begin = (uintptr_t) place & ~(page - 1);

	if (mprotect((void *) begin, 2 * page, protection) != 0)
		_exit(99);
}

static void
set_code(Code code)
{
	allow(PROT_READ | PROT_WRITE | PROT_EXEC);
	*place = code;
	__builtin___clear_cache((char *) place, (char *) (place + 1));
	allow(PROT_READ | PROT_EXEC);
}

static void
stop(int signo, siginfo_t *info, void *arg)
{
	ucontext_t *context = arg;
	int			save_errno = errno;

	set_code(instead);
	INSTRUCTION(context) = (uintptr_t) place;
	kill(getpid(), SIGSTOP);
	errno = save_errno;
}

/* This process will stop when it calls this function. */
static void
stop_at(const char *function)
{
	struct sigaction action = {0};

	place = symbol(function);
	action.sa_sigaction = stop;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGTRAP, &action, NULL);
	instead = *place;
	set_code(BREAKPOINT);
}

/* pfs_test_stop_at(function text): where this process will stop. */
Datum
pfs_test_stop_at(PG_FUNCTION_ARGS)
{
	stop_at(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

/*
 * pfs_test_raise_word(variable text, at int, by bigint): the word at this distance in what a pointer of
 * pfs.so points to is so much more than it was.
 */
Datum
pfs_test_raise_word(PG_FUNCTION_ARGS)
{
	char	  **pointer = symbol(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	*(uint64 *) (*pointer + PG_GETARG_INT32(1)) += PG_GETARG_INT64(2);
	PG_RETURN_VOID();
}

/* pfs_test_clock_source(folder text) returns bool */
Datum
pfs_test_clock_source(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(pfs_clock_source_is_trusted(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/* ---- the fence ---- */

static bool
refuse(int call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {lengthof(filter), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/*
 * pfs_test_fence(refused bool) returns text: what the fence is made of, and what it says
 * that it is made of, in a child for which the system refuses membarrier().
 */
Datum
pfs_test_fence(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"membarrier", "sleep"};
	bool		refused = PG_GETARG_BOOL(0);
	int			status = -1;
	pid_t		pid = fork();

	if (pid == 0)
	{
		const char *kind;

		if (refused && !refuse(SYS_membarrier))
			_exit(99);
		kind = pfs_fence_everywhere();
		_exit(strcmp(kind, pfs_fence_name()) == 0 ? strcmp(kind, names[0]) != 0 : 97);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= (int) lengthof(names))
		elog(ERROR, "the child ended with status %d", status);
	PG_RETURN_TEXT_P(cstring_to_text(names[WEXITSTATUS(status)]));
}

/* ---- what only the postmaster may write ---- */

static char *fixed_begins;
static char *fixed_ends;

/* A child of the postmaster begins: whoever writes a variable in PFS_FIXED ends by a signal. */
static void
protect_cb(void)
{
	if (mprotect(fixed_begins, fixed_ends - fixed_begins, PROT_READ) != 0)
		_exit(99);
}

/* pfs_test_write_fixed(): as a variable in PFS_FIXED would be that is not fixed. */
Datum
pfs_test_write_fixed(PG_FUNCTION_ARGS)
{
	volatile char *place = fixed_begins;

	*place = *place;
	PG_RETURN_VOID();
}

/* ---- the list of what is called at the end ---- */

static int	exit_callbacks = 0;
static emit_log_hook_type prev_emit_log_hook = NULL;

static void
nothing_cb(int code, Datum arg)
{
}

/*
 * The first message of a client backend that has MyProc; with log_min_messages = debug3
 * that is before its first event.
 */
static void
emit_log_cb(ErrorData *edata)
{
	static bool done = false;

	if (MyProc != NULL && MyProcPort != NULL && !done)
	{
		done = true;
		for (int i = 0; i < exit_callbacks; i++)
			on_shmem_exit(nothing_cb, 0);
	}
	if (prev_emit_log_hook != NULL)
		prev_emit_log_hook(edata);
}

void
_PG_init(void)
{
	static bool protect_fixed = false;

	if (!process_shared_preload_libraries_in_progress)
	{
		/*
		 * In session_preload_libraries of a role: a session stops while it
		 * begins.
		 */
		const char *function = GetConfigOption("pfs_test.stop_at", true, false);

		if (function != NULL && *function != '\0')
			stop_at(function);
		return;
	}
	DefineCustomIntVariable("pfs_test.exit_callbacks", "Callbacks that each client backend registers.", NULL,
							&exit_callbacks, 0, 0, 100, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("pfs_test.protect_fixed", "Nobody but the postmaster may write to PFS_FIXED.", NULL,
							 &protect_fixed, false, PGC_POSTMASTER, 0, NULL, NULL, NULL);
	prev_emit_log_hook = emit_log_hook;
	emit_log_hook = emit_log_cb;
	if (protect_fixed)
	{
		fixed_begins = symbol("pfs_fixed_first_begins");
		fixed_ends = symbol("pfs_hot_first_begins");
		pthread_atfork(NULL, NULL, protect_cb);
	}
}
