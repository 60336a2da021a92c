/*
 * pfs_recorder_own.h
 *	  What the files of the recorder share: sums of one period.
 *
 * All of it is private to the recorder's process.
 */
#ifndef PFS_RECORDER_OWN_H
#define PFS_RECORDER_OWN_H

#include "pfs_digest.h"
#include "pfs_load_row.h"

/*
 * What a number is added to.  Sums are of events that ended and of the time so far of
 * those that run, by instrument.  Statements themselves, and their processor time with the
 * waits, are what PFS_LOAD_CPU_NAME has inside.
 */
typedef enum PfsSum
{
	PFS_SUM_WAITS,				/* all of an instrument of waits */
	PFS_SUM_INSIDE,				/* those inside statements; and the part of
								 * these that a digest has, if there is one */
	PFS_SUM_OF_DIGEST,			/* that part alone */
} PfsSum;

/* One number of a source: where it is added, and how much.  Differences may be negative. */
typedef struct PfsSumItem
{
	PfsDigestKey key;			/* none: no digest's */
	uint16		sum;			/* PfsSum */
	PfsInstrumentId instrument; /* or PFS_LOAD_CPU_NAME */
	bool		minus;			/* of one that runs: it is taken off */
	bool		shown;			/* of one that runs: it is the row of this sum
								 * that has its length */
	uint64		count;
	uint64		ticks;			/* of the default timer */
	uint64		start;			/* of one that runs: raw, by its timer */
	uint8		timer;
} PfsSumItem;

/* The numbers of a source, as they were read last. */
typedef struct PfsSumItems
{
	PfsSumItem *items;
	uint32		n;
	uint32		max;
} PfsSumItems;

/* One reading of the clock, by all timers that there are. */
typedef struct PfsTick
{
	uint64		now[PFS_NUM_TIMERS];
	TimestampTz wall;
} PfsTick;

/*
 * Appends an item that is added to this sum, of zeroes else, and returns it until the next one
 * comes.  key: NULL: no digest's.
 */
extern PfsSumItem *pfs_sum_items_add(PfsSumItems *to, PfsSum sum, uint32 instrument, const PfsDigestKey *key);

/* Makes `to` a copy, whose memory grows as far as it needs. */
extern void pfs_sum_items_copy(PfsSumItems *to, const PfsSumItems *from);

/* ---- pfs_recorder_sum.c ---- */

extern void pfs_sums_start(void);

/*
 * A period begins: all differences are 0 but what is carried.  All up to its rows is in the
 * current context, which is reset behind them.
 */
extern void pfs_sums_begin(void);

/* Adds a source's numbers, or takes them off. */
extern void pfs_sums_add(const PfsSumItems *items);
extern void pfs_sums_subtract(const PfsSumItems *items);

/* An event of this length runs. */
extern void pfs_sums_running(const PfsSumItem *item, uint64 length);

/* Picoseconds of ticks of the default timer, at most what 64 bits hold. */
extern uint64 pfs_sums_ps(uint64 ticks);

/* The rows of the period. */
extern PfsLoadRow *pfs_sums_rows(int *nrows);

/* ---- pfs_recorder_thread.c, pfs_recorder_digest.c: what is read ---- */

extern void pfs_recorder_threads_start(void);
extern void pfs_recorder_read_threads(const PfsTick *tick, bool first);
extern void pfs_recorder_digests_start(void);
extern void pfs_recorder_read_digests(void);

#endif							/* PFS_RECORDER_OWN_H */
