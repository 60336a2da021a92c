/*
 * pfs_departed.h
 *	  What has left the threads' cells of waits, for the recorder of the load history.
 *
 * The recorder takes differences of what threads have counted.  Counters leave a thread
 * when it ends, or after a TRUNCATE, and where they go then depends on what was truncated;
 * so they are also added here, to sums that nothing takes away from.  The same for waits
 * that no cell of a thread counts.
 *
 * Of waits inside statements, what statements have waited for lies in the thread's own
 * places, from which it is handed over to digests that all share.  Each cell says how much that was
 * (handed_count, handed_sum); so what a thread's statements have waited for altogether
 * never gets less, whatever becomes of the digests.
 *
 * Sums may wrap: the recorder takes differences.
 *
 * Separate from pfs_summary.h: no table shows it, and no reset knows it.
 */
#ifndef PFS_DEPARTED_H
#define PFS_DEPARTED_H

#include "pfs_segment.h"
#include "pfs_thread.h"

/* Of one instrument; atomic adds. */
typedef struct PfsDeparted
{
	uint64		count;
	uint64		sum;			/* ticks of the default timer */
	uint64		handed_count;
	uint64		handed_sum;
} PfsDeparted;

typedef struct PfsSharedDeparted
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
	PfsDeparted *items;			/* [cells of waits]; set at start */
} PfsSharedDeparted;

extern PFS_HIDDEN PfsSharedDeparted *pfs_departed;

extern void pfs_departed_lay_out(PfsSegment *seg);

/* ---- instrument points ---- */

extern void pfs_departed_begin(void);
extern void pfs_departed_end(void);

/* Ends what an error has left begun; whether there was any. */
extern bool pfs_departed_repair(void);
extern void pfs_departed_add(uint32 instrument, uint64 count, uint64 sum, uint64 handed_count, uint64 handed_sum);
extern void pfs_departed_count(uint32 instrument, uint64 count, uint64 sum, uint64 handed_count, uint64 handed_sum);

/* Owner, inside a write section: waits of its statements are passed on. */
extern void pfs_departed_note(PfsThread *t, PfsInstrumentId instrument, uint64 count, uint64 sum);

#endif							/* PFS_DEPARTED_H */
