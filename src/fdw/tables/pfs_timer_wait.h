/*
 * pfs_timer_wait.h
 *	  The columns that every summary has: count_star, count_timed and the sum,
 *	  minimum, average and maximum of the times.
 */
#ifndef PFS_TIMER_WAIT_H
#define PFS_TIMER_WAIT_H

#include "pfs_calls.h"
#include "pfs_table.h"

/* The columns that show parts of a PfsTotals. */
typedef enum PfsTimerWait
{
	PFS_TIMER_WAIT_COUNT_STAR,
	PFS_TIMER_WAIT_COUNT_TIMED,
	PFS_TIMER_WAIT_SUM,
	PFS_TIMER_WAIT_MIN,
	PFS_TIMER_WAIT_AVG,
	PFS_TIMER_WAIT_MAX,
} PfsTimerWait;

/* totals: a const PfsTotals *; counted: the comment on count_star. */
#define PFS_TIMER_WAIT_COLUMNS(X, t, totals, counted) \
	X(t, count_star, bigint, count, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_COUNT_STAR), counted) \
	X(t, count_timed, bigint, count, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_COUNT_TIMED), "Those of them that were timed.") \
	X(t, sum_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_SUM), \
	  "Sum of their times, in picoseconds.", .width = 14) \
	X(t, min_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MIN), \
	  "Shortest of their times, in picoseconds; 0 where nothing was timed.", .width = 10) \
	X(t, avg_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_AVG), \
	  "sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.", .width = 10) \
	X(t, max_timer_wait, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MAX), \
	  "Longest of their times, in picoseconds; 0 where nothing was timed.", .width = 12)

/* Such columns for a part of the calls, which is in the names: count_read and so on. */
#define PFS_TIMER_WAIT_PART_COLUMNS(X, t, part, totals, counted) \
	X(t, count_##part, bigint, count, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_COUNT_STAR), counted) \
	X(t, sum_timer_##part, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_SUM), \
	  "Sum of their times, in picoseconds.", .width = 14) \
	X(t, min_timer_##part, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MIN), \
	  "Shortest of their times, in picoseconds.", .width = 10) \
	X(t, avg_timer_##part, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_AVG), \
	  "Average of their times, in picoseconds.", .width = 10) \
	X(t, max_timer_##part, numeric, picoseconds, pfs_timer_wait_get(totals, PFS_TIMER_WAIT_MAX), \
	  "Longest of their times, in picoseconds.", .width = 12)

/*
 * What summaries of calls have behind their keys: all calls, those that read,
 * those that write and all others, and the bytes of the first two.  calls: a const PfsCalls *;
 * then the comments on the three counts and on the two sums of bytes.
 */
#define PFS_CALLS_COLUMNS(X, t, calls, reads, writes, others, bytes_read, bytes_written) \
	PFS_TIMER_WAIT_COLUMNS(X, t, ((const PfsTotals[]) {pfs_calls_all(calls)}), "Number of calls.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, read, &(calls)->parts[PFS_CALLS_READ], reads) \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, write, &(calls)->parts[PFS_CALLS_WRITE], writes) \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, misc, &(calls)->parts[PFS_CALLS_MISC], others) \
	X(t, sum_number_of_bytes_read, numeric, bytes, (calls)->bytes[PFS_CALLS_READ], bytes_read, .width = 10) \
	X(t, sum_number_of_bytes_write, numeric, bytes, (calls)->bytes[PFS_CALLS_WRITE], \
	  bytes_written, .width = 10)

/* A row of a table of calls, whose columns these are. */
typedef struct PfsCallsRow
{
	PfsInstrumentId instrument;
	uint64		address;		/* by instance */
	PfsCalls	calls;
} PfsCallsRow;

/* Adds a row for each event name that has counted something; calls: by instrument, of all. */
extern void pfs_calls_add_rows(PfsScan *scan, const PfsCalls *calls);

/*
 * Times are in ticks of the default timer and shown in picoseconds; 0 where
 * nothing was timed.
 */
extern PfsPicoseconds pfs_timer_wait_get(const PfsTotals *totals, PfsTimerWait what);

#endif							/* PFS_TIMER_WAIT_H */
