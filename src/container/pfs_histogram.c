/*
 * pfs_histogram.c
 *	  The bounds of the buckets.
 */
#include "pfs_histogram.h"

uint64_t
pfs_histogram_low(uint32_t bucket)
{
	static const uint64_t quarters[PFS_HISTOGRAM_PER_OCTAVE] = {
		UINT64_C(1) << 63, PFS_HISTOGRAM_QUARTER_1, PFS_HISTOGRAM_QUARTER_2, PFS_HISTOGRAM_QUARTER_3,
	};
	uint32_t	octave;
	uint32_t	shift;
	uint64_t	quarter;

	if (bucket == 0)
		return 0;
	octave = (bucket - 1) / PFS_HISTOGRAM_PER_OCTAVE;
	quarter = quarters[(bucket - 1) % PFS_HISTOGRAM_PER_OCTAVE];
	shift = 63 - PFS_HISTOGRAM_FIRST_BITS - octave;
	/* The smallest whole value that is not below the bound. */
	return ((quarter - 1) >> shift) + 1;
}

uint64_t
pfs_histogram_high(uint32_t bucket)
{
	return bucket + 1 >= PFS_HISTOGRAM_BUCKETS ? UINT64_MAX : pfs_histogram_low(bucket + 1);
}
