/*
 * pfs_buckets.h
 *	  The columns of a histogram, and the quantiles that are found from it.
 */
#ifndef PFS_BUCKETS_H
#define PFS_BUCKETS_H

#include "pfs_histogram.h"
#include "pfs_table.h"

typedef struct PfsBucketRow
{
	PfsInstrumentId instrument;
	uint32		bucket;
	uint64		count;
	uint64		and_lower;
	uint64		total;
} PfsBucketRow;

/*
 * bucket_row: a const PfsBucketRow *.  The rest are parts of the columns' comments.  took:
 * what the bucket counts, as in "Waits that took so long"; all: of what bucket_quantile is a
 * fraction.
 */
#define PFS_BUCKET_COLUMNS(X, t, bucket_row, took, all) \
	X(t, bucket_number, integer, none, (bucket_row)->bucket, \
	  "Number of the range, from 0; four for each doubling of the time.") \
	X(t, bucket_timer_low, numeric, picoseconds, pfs_ticks_as_ps(pfs_histogram_low((bucket_row)->bucket)), \
	  "Its lower bound, in picoseconds, included.", .width = 10) \
	X(t, bucket_timer_high, numeric, picoseconds, \
	  PFS_NULL_IF((bucket_row)->bucket == PFS_HISTOGRAM_BUCKETS - 1, pfs_ticks_as_ps(pfs_histogram_high((bucket_row)->bucket))), \
	  "Its upper bound, in picoseconds, not included: 1.19 times the lower one. NULL: none.", .width = 10) \
	X(t, count_bucket, bigint, count, (bucket_row)->count, took ".") \
	X(t, count_bucket_and_lower, bigint, count, (bucket_row)->and_lower, took " or less.") \
	X(t, bucket_quantile, float8, fraction, (double) (bucket_row)->and_lower / (bucket_row)->total, \
	  "The same as a part of all " all ", 0 to 1.")

/* The quantiles that tables show: 95 %, 99 %, 99.9 %. */
#define PFS_NUM_QUANTILES 3

/*
 * Fills ticks with the quantiles: the upper bound of the bucket in which each lies, but
 * not more than max, the longest time that was seen.
 */
extern void pfs_buckets_quantiles(const uint64 *buckets, uint64 max, uint64 *ticks);

/* One row for each bucket that counted something; returns their number. */
extern int	pfs_buckets_rows(const uint64 *buckets, PfsBucketRow *rows);

/* The callback of tables that show the histograms of a family, one for each instrument or one in all. */
extern void pfs_buckets_copy(PfsScan *scan);

#endif							/* PFS_BUCKETS_H */
