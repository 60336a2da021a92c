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

/* 2^62 times 2^(1/4), 2^(2/4) and 2^(3/4), rounded down. */
#define QUARTER_1 UINT64_C(0x4C1BF828C6DC54B7)
#define QUARTER_2 UINT64_C(0x5A827999FCEF3242)
#define QUARTER_3 UINT64_C(0x6BA27E656B4EB57A)

/* The smallest whole value above such a bound, in the octave that begins with 2^bits. */
#define LOW(quarter, bits) ((quarter) >> (62 - (bits))) + 1
#define OCTAVE(bits) UINT64_C(1) << (bits), LOW(QUARTER_1, bits), LOW(QUARTER_2, bits), LOW(QUARTER_3, bits)
#define OCTAVES(bits) OCTAVE(bits), OCTAVE((bits) + 1), OCTAVE((bits) + 2), OCTAVE((bits) + 3), OCTAVE((bits) + 4)

const uint64_t pfs_histogram_lows[PFS_HISTOGRAM_BUCKETS] = {
	0,
	OCTAVES(PFS_HISTOGRAM_FIRST_BITS), OCTAVES(10), OCTAVES(15), OCTAVES(20), OCTAVES(25), OCTAVES(30), OCTAVES(35), OCTAVES(40),
	UINT64_C(1) << PFS_HISTOGRAM_LAST_BITS,
};

_Static_assert(PFS_HISTOGRAM_FIRST_BITS == 5 && PFS_HISTOGRAM_LAST_BITS == 45, "other octaves");

uint64_t
pfs_histogram_high(uint32_t bucket)
{
	return bucket + 1 >= PFS_HISTOGRAM_BUCKETS ? UINT64_MAX : pfs_histogram_low(bucket + 1);
}
