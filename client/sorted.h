/*
 * sorted.h
 *	  Finding places in sorted arrays.
 */
#ifndef SORTED_H
#define SORTED_H

#include <stddef.h>

/*
 * Returns how many items of an array come before the key, which is where the first item that does
 * not lies. The array is sorted by compare(), as for qsort(); the key is one more item.
 */
extern int	lower_bound(const void *items, int count, size_t size, const void *key,
						int (*compare) (const void *, const void *));

#endif
