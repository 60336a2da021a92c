/*
 * pfs_lane.h
 *	  Which lane of the blocks that all processes share a process uses: the one of its processor,
 *	  so that no two processes that run at the same time share a cache line.
 */
#ifndef PFS_LANE_H
#define PFS_LANE_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>

/*
 * lanes: a power of two.  Where the kernel does not tell the processor, the thread's slot
 * spreads the load instead.  A process that moves right after the question is safe, as a
 * lane has many writers.
 */
static inline uint32_t
pfs_lane(uint32_t slot, uint32_t lanes)
{
	int			errno_before;
	int			cpu;

	if (lanes == 1)
		return 0;
	errno_before = errno;
	cpu = sched_getcpu();
	errno = errno_before;
	return (cpu >= 0 ? (uint32_t) cpu : slot) & (lanes - 1);
}

#endif							/* PFS_LANE_H */
