/*
 * row_index.c
 *	  Rows of a reading by their keys.
 */
#include "row_index.h"

static unsigned
hash_text(unsigned hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char) *text) * 16777619u;
	return (hash ^ (text ? 0xFF : 0xFE)) * 16777619u;
}

/* Counts values of the query, which derived columns have not. */
int
key_values(const Screen *screen, int *keys)
{
	int			n = 0;
	int			value = 0;

	for (int i = 0; screen->columns[i].name; i++)
	{
		if (is_derived(&screen->columns[i]))
			continue;
		if (screen->columns[i].role == ROLE_KEY && n < MAX_KEYS)
			keys[n++] = value;
		value++;
	}
	return n;
}

static unsigned
hash_row(const char *const *row, const int *keys, int num_keys)
{
	unsigned	hash = 2166136261u;

	for (int i = 0; i < num_keys; i++)
		hash = hash_text(hash, row[keys[i]]);
	return hash;
}

/* Makes an index of a reading's rows by their keys, by open addressing.  Its slots are to be freed. */
Index
index_make(const Reading *reading, const int *keys, int num_keys)
{
	Index		index = {.reading = reading, .keys = keys, .num_keys = num_keys, .size = 16};

	while (index.size < reading->num_rows * 2)
		index.size *= 2;
	index.slots = allocate(sizeof(int) * index.size);
	for (int row = 0; row < reading->num_rows; row++)
	{
		unsigned	at = hash_row(row_of(reading, row), keys, num_keys);

		while (index.slots[at & (index.size - 1)])
			at++;
		index.slots[at & (index.size - 1)] = row + 1;
	}
	return index;
}

/* Goes on from the slot of the keys' hash to the next empty one. */
int
index_find(const Index *index, const char *const *row)
{
	unsigned	at = hash_row(row, index->keys, index->num_keys);

	for (int slot; (slot = index->slots[at & (index->size - 1)]) != 0; at++)
	{
		const char *const *found = row_of(index->reading, slot - 1);
		bool		same = true;

		for (int i = 0; i < index->num_keys && same; i++)
			same = same_text(found[index->keys[i]], row[index->keys[i]]);
		if (same)
			return slot - 1;
	}
	return -1;
}
