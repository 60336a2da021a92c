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

#include <string.h>

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
 * The bucket of a value that is in neither of them: the exponent of its fourth power, which is four times its own
 * logarithm, rounded down.  A table would take a page and two lines of memory for each statement, and to compare the
 * value's highest bits with three bounds takes ten instructions more.
 *
 * That is exact although the fourth power is rounded, in any direction: up to 2^52 no whole value comes as near to a
 * bound as a rounding reaches.  As rounding keeps the order, the values beside the bounds tell it of all, and those are
 * what the hammer looks at.
 */
static inline uint32_t
pfs_histogram_bucket_inside(uint64_t value)
{
	double		power = (double) (int64_t) value;
	uint64_t	bits;

	power *= power;
	power *= power;
	memcpy(&bits, &power, sizeof(bits));
	/* 1023 is the exponent of 1. */
	return (uint32_t) (bits >> 52) - 1023 - PFS_HISTOGRAM_FIRST_BITS * PFS_HISTOGRAM_PER_OCTAVE + 1;
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

/*
 * The first bucket at or behind b that has something, of counts of so many bytes each, which fill whole words;
 * PFS_HISTOGRAM_BUCKETS: none has.  Nearly all are empty, so they are looked at by words, whose lowest byte comes first.
 */
static inline uint32_t
pfs_histogram_next(const void *counts, uint32_t size, uint32_t b)
{
	const uint32_t per_word = sizeof(uint64_t) / size;
	uint32_t	in_front = b % per_word;
	uint64_t	mask = UINT64_MAX << in_front * size * 8;

	for (b -= in_front; b < PFS_HISTOGRAM_BUCKETS; b += per_word, mask = UINT64_MAX)
	{
		uint64_t	word;

		memcpy(&word, (const char *) counts + b * size, sizeof(word));
		word &= mask;
		if (word != 0)
			return b + __builtin_ctzll(word) / (size * 8);
	}
	return PFS_HISTOGRAM_BUCKETS;
}

#endif							/* PFS_HISTOGRAM_H */
