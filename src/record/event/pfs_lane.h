/*
 * pfs_lane.h
 *	  Which lane of the blocks that all processes share a process uses: the one of its processor,
 *	  so that no two processes that run at the same time share a cache line.
 */
#ifndef PFS_LANE_H
#define PFS_LANE_H

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define PFS_HAVE_RSEQ 1
#endif
#endif

/*
 * lanes: a power of two.  The kernel keeps the processor's number in a word of
 * every thread's memory (registered by glibc since 2.35); where it does not,
 * or under an emulator, the thread's slot spreads the load instead.  A process
 * that moves right after the question is safe, as a lane has many writers.
 */
static inline uint32
pfs_lane(uint32 slot, uint32 lanes)
{
#ifdef PFS_HAVE_RSEQ
	if (__rseq_size > 0)
	{
		const struct rseq *area =
		(const struct rseq *) ((const char *) __builtin_thread_pointer() + __rseq_offset);
		uint32		cpu = *(const volatile uint32 *) &area->cpu_id;

		if ((int32) cpu >= 0)
			return cpu & (lanes - 1);
	}
#endif
	return slot & (lanes - 1);
}

#endif							/* PFS_LANE_H */
