/*
 * difference.c
 *	  What happened between two snapshots of a server, table by table.
 *
 * Rows of both are matched by their keys.  A row that the server had forgotten in between
 * (a statement's digest that had to make room) begins again at zero; what it had counted
 * went into the row whose keys are all null, and is taken off that one's growth, so that
 * the sum over all rows stays what the server did.
 */
#include "difference.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows by key ---- */

typedef struct Index
{
	const SnapshotTable *table;
	int			others;			/* the first so many keys are null in rows
								 * that have what forgotten ones had counted;
								 * 0: the table has no such rows */
	uint32_t	mask;
	int		   *slots;			/* row + 1; 0: free */
} Index;

/* A key of a row, of which the first so many count as null. */
static const char *
key_of(const SnapshotTable *table, int row, int key, int nulls)
{
	return key < nulls ? NULL : table_cell(table, row, key);
}

/* FNV-1a over the keys; a null differs from an empty text. */
static uint32_t
hash_keys(const SnapshotTable *table, int row, int nulls)
{
	uint32_t	hash = 2166136261u;

	for (int i = 0; i < table->num_keys; i++)
	{
		const char *cell = key_of(table, row, i, nulls);

		hash = (hash ^ (cell ? 1 : 2)) * 16777619u;
		for (; cell && *cell; cell++)
			hash = (hash ^ (unsigned char) *cell) * 16777619u;
	}
	return hash;
}

/* Does a row of the index have the keys of a row of any table? */
static bool
same_keys(const Index *index, int there, const SnapshotTable *table, int row, int nulls)
{
	for (int i = 0; i < table->num_keys; i++)
	{
		if (!same_text(table_cell(index->table, there, i), key_of(table, row, i, nulls)))
			return false;
	}
	return true;
}

/*
 * The slot for the keys of a row of any table, of which the first so many count as null: one
 * that has them, or a free one.
 */
static int *
find_slot(const Index *index, const SnapshotTable *table, int row, int nulls)
{
	uint32_t	at = hash_keys(table, row, nulls);

	for (;; at++)
	{
		int		   *slot = &index->slots[at & index->mask];

		if (*slot == 0 || same_keys(index, *slot - 1, table, row, nulls))
			return slot;
	}
}

static void
index_init(Index *index, const SnapshotTable *table)
{
	int			query = table_column(table, "query_id");
	uint32_t	size = 16;

	while (size < 2 * (uint32_t) table->num_rows)
		size *= 2;
	index->table = table;
	index->others = query < table->num_keys ? query + 1 : 0;
	index->mask = size - 1;
	index->slots = allocate(sizeof(int) * size);
}

/* Have both the same key columns, so that rows can be matched? */
static bool
same_key_columns(const SnapshotTable *a, const SnapshotTable *b)
{
	if (a->num_keys != b->num_keys)
		return false;
	for (int i = 0; i < a->num_keys; i++)
	{
		if (strcmp(a->columns[i], b->columns[i]) != 0)
			return false;
	}
	return true;
}

/* ---- growth ---- */

/*
 * Do rows of this table lose what a part of them has counted?  Those of files do, where a file is
 * removed or renamed: it goes to the row of the removed files of their kind.
 */
static bool
loses_parts(const SnapshotTable *table)
{
	return strcmp(table->name, "file_summary_by_relation") == 0;
}

/*
 * Finds the row of the later snapshot that has what files of the same kind have counted that
 * are not there any more; -1: there is none, as in other tables.
 */
static int
find_removed(const Difference *difference, const SnapshotTable *earlier, int earlier_row)
{
	const SnapshotTable *table = difference->table;
	int			name = table_column(table, "object_name");
	int			kind = table_column(table, "kind");

	for (int row = 0; loses_parts(table) && row < table->num_rows; row++)
	{
		if (same_text(table_cell(table, row, name), "(removed files)") &&
			same_text(table_cell(table, row, kind), table_cell(earlier, earlier_row, table_column(earlier, "kind"))))
			return row;
	}
	return -1;
}

/*
 * Takes a row of the earlier snapshot off a row of the later one.  What went back has not
 * grown; of files, what is missing there is taken off the row to which it went.
 */
static void
subtract(Difference *difference, int row, const SnapshotTable *earlier, int earlier_row)
{
	const SnapshotTable *table = difference->table;
	int			removed = -1;
	bool		looked = false;

	for (int i = table->num_keys; i < table->num_columns; i++)
	{
		Number		number;

		if (table->kinds[i] == CELL_COUNTER &&
			table_number(earlier, earlier_row, table_column(earlier, table->columns[i]), &number))
		{
			Number	   *growth = &difference->growth[(size_t) row * table->num_columns + i];
			Number		taken = *growth < number ? *growth : number;

			*growth -= taken;
			if (taken == number)
				continue;
			if (!looked)
				removed = find_removed(difference, earlier, earlier_row);
			looked = true;
			if (removed < 0 || removed == row)
				continue;
			growth = &difference->growth[(size_t) removed * table->num_columns + i];
			number -= taken;
			*growth -= *growth < number ? *growth : number;
		}
	}
}

/* Did a counter of the row go back, so that it was forgotten and met again? */
static bool
went_back(const Difference *difference, int row, const SnapshotTable *earlier, int earlier_row)
{
	const SnapshotTable *table = difference->table;

	for (int i = table->num_keys; i < table->num_columns; i++)
	{
		Number		number;

		if (table->kinds[i] == CELL_COUNTER &&
			table_number(earlier, earlier_row, table_column(earlier, table->columns[i]), &number) &&
			growth_of(difference, row, i) < number)
			return true;
	}
	return false;
}

/*
 * Subtracts the earlier snapshot from rows that hold the later one's numbers.
 *
 * A table that survives a crash goes on with what was saved last: rows that go back then were
 * not forgotten, and those that are missing went nowhere.
 */
static void
subtract_table(Difference *difference, const Index *index, const SnapshotTable *earlier, bool after_start)
{
	bool		crashed = false;
	bool		loses = loses_parts(earlier);

	for (int row = 0; after_start && !crashed && row < earlier->num_rows; row++)
	{
		int		   *slot = find_slot(index, earlier, row, 0);

		crashed = *slot > 0 && went_back(difference, *slot - 1, earlier, row);
	}
	for (int row = 0; row < earlier->num_rows; row++)
	{
		int		   *slot = find_slot(index, earlier, row, 0);

		if (*slot > 0 && (crashed || loses || !went_back(difference, *slot - 1, earlier, row)))
			subtract(difference, *slot - 1, earlier, row);
		else if (!crashed)
		{
			int			into = index->others ? *find_slot(index, earlier, row, index->others) - 1
			: find_removed(difference, earlier, row);

			difference->restarted_rows += *slot > 0;
			if (into >= 0 && !went_back(difference, into, earlier, row))
				subtract(difference, into, earlier, row);
		}
	}
}

/* When a table began to count: a view counts with the table that it reads. */
static int64_t
reset_of(const Snapshot *snapshot, const SnapshotTable *table)
{
	const SnapshotTable *counted = table;

	if (loses_parts(table))
		counted = snapshot_table(snapshot, "file_summary_by_instance");
	return counted ? counted->reset : 0;
}

/* Was the server started between two snapshots, or its processes, after a crash? */
static bool
was_started(const Snapshot *earlier, const Snapshot *later)
{
	const char *started = later->facts[FACT_pfs_started];

	return started && fact_time(started) > earlier->taken;
}

/* Matches the rows of both snapshots by their keys and subtracts their counters. */
Difference *
difference_of(const Snapshot *earlier, const Snapshot *later, const char *name)
{
	const SnapshotTable *table = snapshot_table(later, name);
	const SnapshotTable *old = snapshot_table(earlier, name);
	Difference *difference;
	Index		index;
	size_t		cells;

	if (table == NULL)
		return NULL;
	cells = (size_t) table->num_rows * table->num_columns;
	difference = allocate(sizeof(Difference));
	difference->table = table;
	difference->since = earlier->taken;
	difference->growth = allocate(sizeof(Number) * (cells + 1));
	difference->hidden = allocate(table->num_rows + 1);

	/*
	 * Keys that the reader may not see are null, and then several rows have
	 * the same.
	 */
	index_init(&index, table);
	for (int row = 0; row < table->num_rows; row++)
	{
		int		   *slot = find_slot(&index, table, row, 0);
		int			into = *slot > 0 ? *slot - 1 : row;

		if (into == row)
			*slot = row + 1;
		else
			difference->hidden[row] = true;
		for (int i = 0; i < table->num_columns; i++)
		{
			Number		number;

			if (table->kinds[i] == CELL_COUNTER && table_number(table, row, i, &number))
				difference->growth[(size_t) into * table->num_columns + i] += number;
		}
	}

	if (reset_of(later, table) > earlier->taken)
	{
		difference->reset = true;
		difference->since = reset_of(later, table);
	}
	else if (old == NULL || !same_key_columns(old, table))
		difference->since = reset_of(later, table);
	else
		subtract_table(difference, &index, old, was_started(earlier, later));
	free(index.slots);
	return difference;
}

void
difference_free(Difference *difference)
{
	if (difference == NULL)
		return;
	free(difference->growth);
	free(difference->hidden);
	free(difference);
}
