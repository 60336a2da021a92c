/*
 * pfs_wait_cell.h
 *	  What a thread has counted of one instrument of waits.
 *
 * Separate from pfs_cell.h, which other families have their times in, without buckets.
 */
#ifndef PFS_WAIT_CELL_H
#define PFS_WAIT_CELL_H

#include "pfs.h"
#include "pfs_cell.h"
#include "pfs_histogram.h"

/* A record of the container thread_waits; readers of times copy no buckets. */
typedef struct PfsWaitCell
{
	PfsCell		time;
	uint32		buckets[PFS_HISTOGRAM_BUCKETS];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsWaitCell;

#endif							/* PFS_WAIT_CELL_H */
