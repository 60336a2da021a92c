/*
 * pfs_fence.c
 *	  The fence in all processes at once: by membarrier(), by a walk over all
 *	  processors, or by patience.
 *
 * membarrier() is one system call.  Some systems refuse it: those whose kernel lets
 * processors run without its timer's interrupt (nohz_full), and sandboxes.
 *
 * The walk.  Whoever makes the fence has the system move it to each processor in turn.
 * Another process either runs on that processor, and is preempted, or has left it since
 * the fence began: both are a switch of processes, which is a full fence for the one that
 * leaves.  So each process has passed one, wherever it went meanwhile.  Processors that
 * the walk cannot visit are those that are off, and those that this process may not
 * use; its kin, which have the same parent, may not either, unless somebody has given a
 * single one of them another set of processors.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* processors by sched.h */
#endif
#include "pfs_fence.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pfs_atomic.h"

/*
 * Of linux/membarrier.h, which older systems do not have.  GLOBAL needs no
 * registration of the other processes, unlike the faster kinds.
 */
#define CMD_QUERY 0
#define CMD_GLOBAL 1

/*
 * Where the system refuses both.  A store leaves its processor's buffer within
 * microseconds, and each of the system's ticks is a fence.
 */
#define PATIENCE_NS 10000000

/* More processors than this are not walked over. */
#define PROCESSORS_MAX 4096

static long
membarrier(int command)
{
#ifdef SYS_membarrier
	return syscall(SYS_membarrier, command, 0, 0);
#else
	return -1;
#endif
}

/* False: no processor could be visited. */
static bool
walk(void)
{
	long		n = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t  *before;
	cpu_set_t  *one;
	size_t		size;
	bool		done = false;

	if (n < 1 || n > PROCESSORS_MAX)
		return false;
	before = CPU_ALLOC(PROCESSORS_MAX);
	one = CPU_ALLOC(PROCESSORS_MAX);
	size = CPU_ALLOC_SIZE(PROCESSORS_MAX);
	if (before != NULL && one != NULL && sched_getaffinity(0, size, before) == 0)
	{
		for (long i = 0; i < n; i++)
		{
			CPU_ZERO_S(size, one);
			CPU_SET_S(i, size, one);
			done |= sched_setaffinity(0, size, one) == 0;
		}
		if (done)
			(void) sched_setaffinity(0, size, before);
	}
	if (before != NULL)
		CPU_FREE(before);
	if (one != NULL)
		CPU_FREE(one);
	return done;
}

/* Makes every other process pass a full fence, by the best means that the system allows. */
PfsFenceKind
pfs_fence_everywhere(void)
{
	int			save_errno = errno;
	struct timespec rest = {0, PATIENCE_NS};
	PfsFenceKind kind = PFS_FENCE_MEMBARRIER;

	pfs_fence_seqcst();
	if (membarrier(CMD_GLOBAL) != 0)
		kind = walk() ? PFS_FENCE_WALK : PFS_FENCE_PATIENCE;
	if (kind == PFS_FENCE_PATIENCE)
	{
		while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
			;
	}
	pfs_fence_seqcst();
	errno = save_errno;
	return kind;
}

/* Says which means the next fence would use, without making one. */
const char *
pfs_fence_name(void)
{
	int			save_errno = errno;
	long		commands = membarrier(CMD_QUERY);
	const char *name = "membarrier";
	cpu_set_t	mine;

	/* Moving to where it may be already is refused where moving is. */
	if (commands < 0 || (commands & CMD_GLOBAL) == 0)
		name = sched_getaffinity(0, sizeof(mine), &mine) != 0 || sched_setaffinity(0, sizeof(mine), &mine) == 0
			? "affinity" : "sleep";
	errno = save_errno;
	return name;
}
