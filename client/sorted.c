/*
 * sorted.c
 *	  Finding places in sorted arrays.
 */
#include "sorted.h"

/* By halves: what comes before `low` is smaller than the key, what comes from `high` on is not. */
int
lower_bound(const void *items, int count, size_t size, const void *key, int (*compare) (const void *, const void *))
{
	int			low = 0;

	for (int high = count; low < high;)
	{
		int			middle = low + (high - low) / 2;

		if (compare((const char *) items + middle * size, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
