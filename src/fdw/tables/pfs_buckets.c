/*
 * pfs_buckets.c
 *	  The rows of a histogram and their values, and the quantiles.  Waits and
 *	  statements have histograms of the same kind, so they share this file.
 */
#include "postgres.h"

#include "pfs_buckets.h"
#include "pfs_summary.h"
#include "pfs_value.h"

/*
 * pfs_buckets_quantiles finds the bucket in which each quantile lies by counting
 * upward from the shortest times.
 */
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

/*
 * pfs_buckets_rows makes the rows of one histogram.  A row has what the buckets
 * below it counted, too, so the rows are made from the shortest times upward.
 */
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

/* The callback of PfsTable: adds a row for each bucket that counted something. */
void
pfs_buckets_copy(PfsScan *scan)
{
	PfsFamily	family = scan->table->family;
	uint64	  **histograms = pfs_summary_read_histograms(family);

	for (uint32 i = 0; i < pfs_summary[family].nhistograms; i++)
	{
		PfsBucketRow rows[PFS_HISTOGRAM_BUCKETS];
		int			n = 0;

		if (histograms[i] != NULL && (scan->instrument == PFS_NO_INSTRUMENT || scan->instrument == i))
			n = pfs_buckets_rows(histograms[i], rows);
		for (int b = 0; b < n; b++)
		{
			PfsBucketRow *row = pfs_scan_add(scan);

			*row = rows[b];
			row->instrument = i;
		}
	}
}
