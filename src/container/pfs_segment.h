/*
 * pfs_segment.h
 *	  Carves one block of shared memory into aligned parts.
 *
 * The same code lays out twice: once with base NULL to learn the size (shmem
 * request time), once on the real block (shmem startup).  Both passes must
 * take the same parts in the same order.  The block is zero when it is new;
 * nothing here touches it, so untouched parts stay non-resident.
 */
#ifndef PFS_SEGMENT_H
#define PFS_SEGMENT_H

#include "pfs_atomic.h"

typedef struct PfsSegment
{
	char	   *base;			/* NULL in the sizing pass */
	size_t		used;			/* bytes taken so far */
	size_t		os_page;		/* bytes of the system's page: unit of reclaim
								 * and alignment */
	int			why_kept;		/* PFS_PAGES_...: no page is given back; 0:
								 * they can be */
} PfsSegment;

/*
 * Take size bytes aligned to align (a power of two).  Returns NULL in the
 * sizing pass.  In that pass base is unknown, so an alignment above
 * PFS_CACHE_LINE reserves align extra bytes in both passes.
 */
extern void *pfs_segment_take(PfsSegment *seg, size_t size, size_t align);

#endif							/* PFS_SEGMENT_H */
