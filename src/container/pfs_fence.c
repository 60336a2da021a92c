/*
 * pfs_fence.c
 *	  The fence in all processes at once: by membarrier(), or by patience.
 *
 * membarrier() is one system call.  Some systems refuse it: those whose kernel lets
 * processors run without its timer's interrupt (nohz_full), and sandboxes.  A store leaves
 * its processor's buffer within microseconds all the same, and nearly everywhere each of
 * the system's ticks is a fence: so milliseconds do.
 */
#include "pfs_fence.h"

#include <errno.h>
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

/* How long it takes without it. */
#define PATIENCE_NS 10000000

static const char by_membarrier[] = "membarrier";
static const char by_patience[] = "sleep";

static long
membarrier(int command)
{
#ifdef SYS_membarrier
	return syscall(SYS_membarrier, command, 0, 0);
#else
	return -1;
#endif
}

/* Makes every other process pass a full fence, by the best means that the system allows. */
const char *
pfs_fence_everywhere(void)
{
	int			save_errno = errno;
	struct timespec rest = {0, PATIENCE_NS};
	const char *name = by_membarrier;

	pfs_fence_seqcst();
	if (membarrier(CMD_GLOBAL) != 0)
	{
		name = by_patience;
		while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
			;
	}
	pfs_fence_seqcst();
	errno = save_errno;
	return name;
}

/* Says which means the next fence would use, without making one. */
const char *
pfs_fence_name(void)
{
	int			save_errno = errno;
	long		commands = membarrier(CMD_QUERY);

	errno = save_errno;
	return commands >= 0 && (commands & CMD_GLOBAL) != 0 ? by_membarrier : by_patience;
}
