/*
 * row_index.h
 *	  Rows of a reading by their keys.
 */
#ifndef ROW_INDEX_H
#define ROW_INDEX_H

#include "reading.h"

#define MAX_KEYS 8
#define MAX_VALUES 16

typedef struct Index
{
	const Reading *reading;
	const int  *keys;			/* numbers of its values */
	int			num_keys;
	int		   *slots;			/* a row's number + 1 */
	int			size;			/* a power of two */
} Index;

static inline const char *const *
row_of(const Reading *reading, int row)
{
	return (const char *const *) reading->values + row * reading->num_values;
}

/* Finds the numbers of a reading's values that are keys; returns how many. */
extern int	key_values(const Screen *screen, int *keys);

/* Makes an index of a reading's rows, which has to stay as long.  Its slots are to be freed. */
extern Index index_make(const Reading *reading, const int *keys, int num_keys);

/* Finds the row with the keys of another one, and returns its number; -1: there is none. */
extern int	index_find(const Index *index, const char *const *row);

#endif
