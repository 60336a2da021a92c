/*
 * pfs_buckets.c
 *	  The columns of a histogram.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_value.h"

void
pfs_buckets_quantiles(const uint64 *buckets, uint64 max, uint64 *ticks)
{
	static const double quantiles[PFS_NUM_QUANTILES] = {0.95, 0.99, 0.999};
	uint64		total = 0;
	uint64		so_far = 0;
	int			q = 0;

	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		total += buckets[b];
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && q < PFS_NUM_QUANTILES; b++)
	{
		so_far += buckets[b];
		while (q < PFS_NUM_QUANTILES && so_far > 0 && so_far >= quantiles[q] * total)
			ticks[q++] = Min(pfs_histogram_high(b), max);
	}
}

int
pfs_buckets_rows(const uint64 *buckets, PfsBucketRow *rows)
{
	uint64		total = 0;
	uint64		so_far = 0;
	int			n = 0;

	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
		total += buckets[b];
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && so_far < total; b++)
	{
		so_far += buckets[b];
		if (buckets[b] == 0)
			continue;
		rows[n].instrument = PFS_NO_INSTRUMENT;
		rows[n].bucket = b;
		rows[n].count = buckets[b];
		rows[n].and_lower = so_far;
		rows[n++].total = total;
	}
	return n;
}

void
pfs_buckets_add(PfsScan *scan, PfsInstrumentId instrument, const uint64 *buckets)
{
	PfsBucketRow rows[PFS_HISTOGRAM_BUCKETS];
	int			n = pfs_buckets_rows(buckets, rows);

	for (int i = 0; i < n; i++)
	{
		PfsBucketRow *row = pfs_scan_add(scan);

		*row = rows[i];
		row->instrument = instrument;
	}
}

static Datum
bound_datum(uint64 ticks)
{
	return NumericGetDatum(pfs_ps_to_numeric(pfs_ticks_to_ps(pfs_timer_default(), ticks)));
}

Datum
pfs_bucket_get(const PfsBucketRow *row, int column, bool *isnull)
{
	switch (column)
	{
		case 0:
			return Int32GetDatum((int32) row->bucket);
		case 1:
			return bound_datum(pfs_histogram_low(row->bucket));
		case 2:
			if (row->bucket == PFS_HISTOGRAM_BUCKETS - 1)
				return pfs_null(isnull);	/* no bound */
			return bound_datum(pfs_histogram_high(row->bucket));
		case 3:
			return Int64GetDatum((int64) row->count);
		case 4:
			return Int64GetDatum((int64) row->and_lower);
		default:
			return Float8GetDatum((double) row->and_lower / row->total);
	}
}
