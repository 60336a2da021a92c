/*
 * pfs_histogram.c
 *	  The bounds of the buckets, and the buckets of short values.
 */
#include "pfs_histogram.h"

#define BUCKET(bucket, first, last) [first ... last] = bucket

const uint8_t pfs_histogram_short[PFS_HISTOGRAM_SHORT] = {
	BUCKET(0, 0, 31), BUCKET(1, 32, 38), BUCKET(2, 39, 45), BUCKET(3, 46, 53),
	BUCKET(4, 54, 63), BUCKET(5, 64, 76), BUCKET(6, 77, 90), BUCKET(7, 91, 107),
	BUCKET(8, 108, 127), BUCKET(9, 128, 152), BUCKET(10, 153, 181), BUCKET(11, 182, 215),
	BUCKET(12, 216, 255), BUCKET(13, 256, 304), BUCKET(14, 305, 362), BUCKET(15, 363, 430),
	BUCKET(16, 431, 511), BUCKET(17, 512, 608), BUCKET(18, 609, 724), BUCKET(19, 725, 861),
	BUCKET(20, 862, 1023), BUCKET(21, 1024, 1217), BUCKET(22, 1218, 1448), BUCKET(23, 1449, 1722),
	BUCKET(24, 1723, 2047), BUCKET(25, 2048, 2435), BUCKET(26, 2436, 2896), BUCKET(27, 2897, 3444),
	BUCKET(28, 3445, 4095),
};

/* Computes the smallest value of a bucket, for readers; writers never need it. */
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
