/*
 * pfs_load_ring.h
 *	  The rings of the load history, one for each resolution: one process stores periods,
 *	  everybody reads them.
 *
 * A ring is a container of items (pfs_items.h), of which each place is that of every
 * n-th period.  Periods of a resolution are numbered as they come.  TRUNCATE writes nobody's
 * places: it raises one word, the generation, and periods of an earlier one are hidden
 * from readers, and removed by the writer when it comes by.  A period is of the generation
 * in which it ended, a minute or ten minutes of that of its first period.
 */
#ifndef PFS_LOAD_RING_H
#define PFS_LOAD_RING_H

#include "pfs_items.h"
#include "pfs_load_code.h"
#include "pfs_part.h"

/*
 * Chunks for each period of a ring: 1,344 bytes, the 32 largest rows and the remainders of a
 * busy server, unless they are of 32 users.  Then fewer periods than the setting says may
 * be there.
 */
#define PFS_LOAD_CHUNKS_PER_PERIOD	21

/* The writer's; readers read next and rows. */
typedef struct PfsSharedLoadRing
{
	uint64		next;			/* number of the next period */
	uint64		first;			/* of the oldest that is there */
	uint64		rows;			/* of all that are there */
} PfsSharedLoadRing;

typedef struct PfsSharedLoad
{
	uint32		generation;		/* TRUNCATEs; atomic */
	PfsSharedLoadRing rings[PFS_NUM_LOAD_RESOLUTIONS];
} PfsSharedLoad;

/* NULL: pfs is off.  Inherited. */
extern PfsSharedLoad *pfs_shared_load;

extern void pfs_load_rings_lay_out(PfsSegment *seg);

/* Does this resolution keep periods? */
extern bool pfs_load_ring_is_on(PfsLoadResolution resolution);

/* The generation now: a period that ends now is of it. */
extern uint32 pfs_load_generation(void);

/*
 * Writer: stores a period, instead of the oldest one if there is no room; periods of another
 * length are removed.  head: number and nrows are filled in here.
 */
extern void pfs_load_put(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, int nrows);

/* Writer: removes all periods of a resolution. */
extern void pfs_load_drop(PfsLoadResolution resolution);

/* ---- any process ---- */

/* Which periods a reader wants: begin and end in between, bounds included. */
typedef struct PfsLoadRange
{
	TimestampTz begin_min;
	TimestampTz begin_max;
	TimestampTz end_min;
	TimestampTz end_max;
} PfsLoadRange;

#define PFS_LOAD_EVERYTHING ((PfsLoadRange) {DT_NOBEGIN, DT_NOEND, DT_NOBEGIN, DT_NOEND})

typedef void (*PfsLoadEmit) (PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg);

/* Periods of a resolution, from the oldest to the newest, each whole. */
extern void pfs_load_read(PfsLoadResolution resolution, const PfsLoadRange *range, PfsLoadEmit emit, void *arg);

/*
 * Periods that tell of a time, without overlaps, from the oldest to the newest: those of the
 * finest resolution that covers it; and of finer ones for what that does not have yet.  rows
 * of emit: as above.
 */
extern void pfs_load_read_best(TimestampTz since, TimestampTz till, PfsLoadEmit emit, void *arg);

/*
 * Hides all periods that have ended, and those under way but the finest one; returns how many rows were hidden.
 * While pfs is on.
 */
extern int64 pfs_load_truncate(void);

/* Rows, for the planner. */
extern double pfs_load_estimate(void);

/* Rows of containers: one for each resolution. */
extern void pfs_load_container_row(int i, PfsContainerRow *row);

/* The row of any container of items; TRUNCATE of containers. */
extern void pfs_load_items_row(const PfsItems *items, const char *name, PfsContainerRow *row);
extern void pfs_load_rings_reset_lost(void);

#endif							/* PFS_LOAD_RING_H */
