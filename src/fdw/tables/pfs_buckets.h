/*
 * pfs_buckets.h
 *	  The columns of a histogram.
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

/* The six entries of a PfsColumn array, from index `first`. */
#define PFS_BUCKET_COLUMNS(first) \
	[(first) + 0] = {"bucket_number", INT4OID}, \
	[(first) + 1] = {"bucket_timer_low", NUMERICOID, .width = 10}, \
	[(first) + 2] = {"bucket_timer_high", NUMERICOID, .width = 10}, \
	[(first) + 3] = {"count_bucket", INT8OID}, \
	[(first) + 4] = {"count_bucket_and_lower", INT8OID}, \
	[(first) + 5] = {"bucket_quantile", FLOAT8OID}

/* The quantiles that tables show: 95 %, 99 %, 99.9 %. */
#define PFS_NUM_QUANTILES 3

/*
 * In ticks: the upper bound of the bucket in which each lies, but not more than
 * max, the longest time that was seen.
 */
extern void pfs_buckets_quantiles(const uint64 *buckets, uint64 max, uint64 *ticks);

/* One row for each bucket that counted something; returns their number. */
extern int	pfs_buckets_rows(const uint64 *buckets, PfsBucketRow *rows);

/* The same into the scan, of an instrument or of none. */
extern void pfs_buckets_add(PfsScan *scan, PfsInstrumentId instrument, const uint64 *buckets);

/* column: 0 to 5. */
extern Datum pfs_bucket_get(const PfsBucketRow *row, int column, bool *isnull);

#endif							/* PFS_BUCKETS_H */
