/*
 * pfs_histogram.h
 *	  Buckets whose bounds grow by a fixed ratio: where a value falls, and the
 *	  bounds.
 *
 * Four buckets an octave: bounds grow by 2^(1/4), so a bucket's upper bound is at
 * most 19 % above any value in it.  Below PFS_HISTOGRAM_FIRST there is one bucket,
 * and one above the last bound (3.8 hours at 2.5 GHz).
 */
#ifndef PFS_HISTOGRAM_H
#define PFS_HISTOGRAM_H

#include "pfs_atomic.h"

#define PFS_HISTOGRAM_FIRST_BITS	5	/* values below 2^5 share a bucket */
#define PFS_HISTOGRAM_LAST_BITS		45
#define PFS_HISTOGRAM_PER_OCTAVE	4

#define PFS_HISTOGRAM_BUCKETS \
	(1 + (PFS_HISTOGRAM_LAST_BITS - PFS_HISTOGRAM_FIRST_BITS) * PFS_HISTOGRAM_PER_OCTAVE + 1)

/* 2^63 times 2^(1/4), 2^(2/4), 2^(3/4): the bounds inside an octave. */
#define PFS_HISTOGRAM_QUARTER_1 UINT64_C(0x9837F0518DB8A96F)
#define PFS_HISTOGRAM_QUARTER_2 UINT64_C(0xB504F333F9DE6484)
#define PFS_HISTOGRAM_QUARTER_3 UINT64_C(0xD744FCCAD69D6AF4)

/*
 * The buckets of values below this, where nearly all waits for nothing lie: one
 * load, where finding a bucket takes twenty instructions.
 */
#define PFS_HISTOGRAM_SHORT 4096
extern const uint8_t pfs_histogram_short[PFS_HISTOGRAM_SHORT] __attribute__((visibility("hidden")));

/* The bucket of any value. */
static inline uint32_t
pfs_histogram_bucket_computed(uint64_t value)
{
	uint32_t	shift;
	uint32_t	bucket;

	if (value < UINT64_C(1) << PFS_HISTOGRAM_FIRST_BITS)
		return 0;
	shift = __builtin_clzll(value);
	if (shift <= 63 - PFS_HISTOGRAM_LAST_BITS)
		return PFS_HISTOGRAM_BUCKETS - 1;
	/* The value between 1 and 2, scaled to the top of the word. */
	value <<= shift;
	bucket = 1 + (63 - PFS_HISTOGRAM_FIRST_BITS - shift) * PFS_HISTOGRAM_PER_OCTAVE;
	bucket += value >= PFS_HISTOGRAM_QUARTER_1;
	bucket += value >= PFS_HISTOGRAM_QUARTER_2;
	bucket += value >= PFS_HISTOGRAM_QUARTER_3;
	return bucket;
}

/* The same for values that are often short. */
static inline uint32_t
pfs_histogram_bucket(uint64_t value)
{
	if (__builtin_expect(value < PFS_HISTOGRAM_SHORT, 1))
		return pfs_histogram_short[value];
	return pfs_histogram_bucket_computed(value);
}

/*
 * The bucket's bounds: every value v in it has low <= v < high.  UINT64_MAX for
 * the last one's high.
 */
extern uint64_t pfs_histogram_low(uint32_t bucket);
extern uint64_t pfs_histogram_high(uint32_t bucket);

#endif							/* PFS_HISTOGRAM_H */
