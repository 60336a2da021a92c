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

/*
 * The buckets of values below this, where nearly all waits for nothing lie: one
 * load, where finding a bucket takes ten instructions.
 */
#define PFS_HISTOGRAM_SHORT 4096
extern const uint8_t pfs_histogram_short[PFS_HISTOGRAM_SHORT] __attribute__((visibility("hidden")));

/* The smallest value of each bucket. */
extern const uint64_t pfs_histogram_lows[PFS_HISTOGRAM_BUCKETS] __attribute__((visibility("hidden")));

/* Is the value neither in the first nor in the last bucket?  False for some in the upper half of the rest, too. */
static inline bool
pfs_histogram_is_inside(uint64_t value)
{
	return (value - (UINT64_C(1) << PFS_HISTOGRAM_FIRST_BITS)) >> (PFS_HISTOGRAM_LAST_BITS - 1) == 0;
}

/*
 * The bounds inside an octave: 2^30 times 2^(1/4), 2^(2/4) and 2^(3/4), rounded up.  As constants of the code,
 * as a table would take a page and two lines of memory for each statement.
 */
#define PFS_HISTOGRAM_QUARTER_1 0x4C1BF829
#define PFS_HISTOGRAM_QUARTER_2 0x5A82799A
#define PFS_HISTOGRAM_QUARTER_3 0x6BA27E66

/* The bucket of a value that is in neither of them. */
static inline uint32_t
pfs_histogram_bucket_inside(uint64_t value)
{
	uint32_t	bits = 63 ^ __builtin_clzll(value);
	int32_t		top = (value << (63 - bits)) >> 33; /* the value's highest 31
													 * bits, of which the
													 * first is set */

	/* From the octave's last bucket down, by -1 for each bound that is above. */
	return (bits - PFS_HISTOGRAM_FIRST_BITS + 1) * PFS_HISTOGRAM_PER_OCTAVE +
		((top - PFS_HISTOGRAM_QUARTER_1) >> 31) + ((top - PFS_HISTOGRAM_QUARTER_2) >> 31) +
		((top - PFS_HISTOGRAM_QUARTER_3) >> 31);
}

/* The bucket of any value. */
static inline uint32_t
pfs_histogram_bucket_computed(uint64_t value)
{
	if (value < UINT64_C(1) << PFS_HISTOGRAM_FIRST_BITS)
		return 0;
	if (__builtin_expect(value >> PFS_HISTOGRAM_LAST_BITS != 0, 0))
		return PFS_HISTOGRAM_BUCKETS - 1;
	return pfs_histogram_bucket_inside(value);
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
static inline uint64_t
pfs_histogram_low(uint32_t bucket)
{
	return pfs_histogram_lows[bucket];
}

extern uint64_t pfs_histogram_high(uint32_t bucket);

#endif							/* PFS_HISTOGRAM_H */
