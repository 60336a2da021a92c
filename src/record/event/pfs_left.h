/*
 * pfs_left.h
 *	  What has left the threads' cells of waits, for the recorder of the load history.
 *
 * The recorder takes differences of what threads have counted.  Counters leave a thread
 * when it ends, or after a TRUNCATE, and where they go then depends on what was truncated;
 * so they are also added here, to sums that nothing takes away from.  The same for waits
 * that no cell of a thread counts.
 *
 * Of waits inside statements, what statements have waited for lies in the thread's own
 * places, from which it is passed on to digests that all share.  How much that was says each
 * cell (passed_count, passed_sum); so what a thread's statements have waited for altogether
 * never gets less, whatever becomes of the digests.
 *
 * Sums may wrap: the recorder takes differences.
 *
 * Separate from pfs_summary.h: no table shows it, and no reset knows it.
 */
#ifndef PFS_LEFT_H
#define PFS_LEFT_H

#include "pfs_segment.h"
#include "pfs_thread.h"

/* Of one instrument; atomic adds. */
typedef struct PfsLeft
{
	uint64		count;
	uint64		sum;			/* ticks of the default timer */
	uint64		passed_count;
	uint64		passed_sum;
} PfsLeft;

typedef struct PfsSharedLeft
{
	/*
	 * How often something has begun, and has ended, to move from a thread to
	 * here.  Raised before and behind it: a reader that finds both alike, and
	 * the same again behind what it has read, knows that none came in
	 * between.
	 */
	uint64		begun;
	uint64		ended;

	/*
	 * Statements that have left, and their time, of processes without places
	 * for digests.
	 */
	uint64		statements;
	uint64		statement_ticks;
	PfsLeft    *items;			/* [cells of waits]; set at start */
} PfsSharedLeft;

extern PFS_HIDDEN PfsSharedLeft *pfs_left;

extern void pfs_left_lay_out(PfsSegment *seg);

/* ---- instrument points ---- */

extern void pfs_left_begin(void);
extern void pfs_left_end(void);

/* Ends what an error has left begun; whether there was any. */
extern bool pfs_left_repair(void);
extern void pfs_left_add(uint32 instrument, uint64 count, uint64 sum, uint64 passed_count, uint64 passed_sum);
extern void pfs_left_count(uint32 instrument, uint64 count, uint64 sum, uint64 passed_count, uint64 passed_sum);

/* Owner, inside a write section: waits of its statements are passed on. */
extern void pfs_left_pass(PfsThread *t, PfsInstrumentId instrument, uint64 count, uint64 sum);

#endif							/* PFS_LEFT_H */
