/*
 * pfs_test_front.c
 *	  What other libraries can do around pfs: stand in front of its hooks, and
 *	  call the server on a stack of their own.
 *
 * Preloaded behind pfs.  The hooks are set when shared memory is made, as pfs sets its
 * own, and the one that was loaded last does it last.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <ucontext.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"

#include "../../../src/compat/pfs_compat_hooks.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_elsewhere);

PGDLLEXPORT Datum pfs_test_elsewhere(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static post_parse_analyze_hook_type prev_post_parse_analyze_hook = NULL;

/* Calls on to the server, past everybody else. */
static PlannedStmt *
planner_cb(PFS_PLANNER_PARAMS)
{
	return standard_planner(PFS_PLANNER_ARGS);
}

/* Calls on as one should. */
static void
parse_analyze_cb(ParseState *pstate, Query *query, PfsJumbleState *jumble)
{
	if (prev_post_parse_analyze_hook)
		prev_post_parse_analyze_hook(pstate, query, jumble);
}

static void
startup_cb(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	if (getenv("PFS_TEST_FRONT") == NULL)
		return;
	planner_hook = planner_cb;
	prev_post_parse_analyze_hook = post_parse_analyze_hook;
	post_parse_analyze_hook = parse_analyze_cb;
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_cb;
}

/* ---- a stack of one's own ---- */

/* Of mapped memory, and as much above it that is not. */
#define STACK_BYTES (256 * 1024)

static ucontext_t here;
static ucontext_t there;
static char *stack;

#if defined(__x86_64__)

/*
 * call_from(frame, returns, function, argument): calls the function with a frame pointer
 * that is none, and with a return address that is only an instruction "ret" on the way
 * back: what code that keeps no frame pointers can look like.
 */
extern void call_from(void *frame, void *returns, void (*function) (long), long argument);

__asm__(".text\n"
		".hidden call_from\n"
		".globl call_from\n"
		"call_from:\n"
		"	push %rbp\n"
		"	sub $8, %rsp\n"
		"	mov %rdi, %rbp\n"
		"	lea 1f(%rip), %rax\n"
		"	push %rax\n"
		"	push %rsi\n"
		"	mov %rcx, %rdi\n"
		"	jmp *%rdx\n"
		"1:	add $8, %rsp\n"
		"	pop %rbp\n"
		"	ret\n");

static void
sleep_elsewhere(void)
{
	unsigned char *wrapper = (unsigned char *) LWLockAcquire;

	/* "pop %rbp; ret" is its end, or one of them. */
	for (int i = 0; i < 4096; i++)
	{
		if (wrapper[i] == 0x5d && wrapper[i + 1] == 0xc3)
		{
			call_from(stack + STACK_BYTES + STACK_BYTES / 2, wrapper + i + 1, pg_usleep, 1000);
			return;
		}
	}
}

#else

static void
sleep_elsewhere(void)
{
	pg_usleep(1000);
}

#endif

/* pfs_test_elsewhere(): sleeps for a millisecond, on a stack that is not the main one. */
Datum
pfs_test_elsewhere(PG_FUNCTION_ARGS)
{
	stack = mmap(NULL, 2 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE) != 0 || getcontext(&there) != 0)
		elog(ERROR, "no stack: %m");
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, sleep_elsewhere, 0);
	swapcontext(&here, &there);
	munmap(stack, 2 * STACK_BYTES);
	PG_RETURN_VOID();
}
