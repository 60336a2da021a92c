/*
 * pfs_fence.c
 *	  The fence in all processes at once: membarrier(), or patience.
 */
#include "pfs_fence.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pfs_atomic.h"

/*
 * Of linux/membarrier.h, which older systems do not have.  GLOBAL needs no
 * registration of the other processes, unlike the faster kinds.
 */
#define CMD_GLOBAL 1

/*
 * Where the system refuses.  A store leaves its processor's buffer within
 * microseconds, and each of the system's ticks is a fence.
 */
#define PATIENCE_NS 10000000

static bool
ask_system(void)
{
#ifdef SYS_membarrier
	return syscall(SYS_membarrier, CMD_GLOBAL, 0, 0) == 0;
#else
	return false;
#endif
}

void
pfs_fence_everywhere(void)
{
	int			save_errno = errno;
	struct timespec rest = {0, PATIENCE_NS};

	pfs_fence_seqcst();
	if (!ask_system())
	{
		while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
			;
	}
	pfs_fence_seqcst();
	errno = save_errno;
}
