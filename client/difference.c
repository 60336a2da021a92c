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
	uint32_t	mask;
	int		   *slots;			/* row + 1; 0: free */
} Index;

/* FNV-1a over the keys; a null differs from an empty text. */
static uint32_t
hash_keys(const SnapshotTable *table, int row)
{
	uint32_t	hash = 2166136261u;

	for (int i = 0; i < table->num_keys; i++)
	{
		const char *cell = table_cell(table, row, i);

		hash = (hash ^ (cell ? 1 : 2)) * 16777619u;
		for (; cell && *cell; cell++)
			hash = (hash ^ (unsigned char) *cell) * 16777619u;
	}
	return hash;
}

/* Do two rows have the same keys? */
static bool
same_keys(const SnapshotTable *a, int row_a, const SnapshotTable *b, int row_b)
{
	for (int i = 0; i < a->num_keys; i++)
	{
		const char *cell_a = table_cell(a, row_a, i);
		const char *cell_b = table_cell(b, row_b, i);

		if ((cell_a == NULL) != (cell_b == NULL) || (cell_a && strcmp(cell_a, cell_b) != 0))
			return false;
	}
	return true;
}

/* The slot of a row of any table with these keys: one that has them, or a free one. */
static int *
find_slot(const Index *index, const SnapshotTable *table, int row)
{
	uint32_t	at = hash_keys(table, row);

	for (;; at++)
	{
		int		   *slot = &index->slots[at & index->mask];

		if (*slot == 0 || same_keys(index->table, *slot - 1, table, row))
			return slot;
	}
}

static void
index_init(Index *index, const SnapshotTable *table)
{
	uint32_t	size = 16;

	while (size < 2 * (uint32_t) table->num_rows)
		size *= 2;
	index->table = table;
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
 * The rows that have what forgotten rows had counted: database, user and query are null in
 * them.  There are few, one for each event that such a table has as a further key.
 */
typedef struct Others
{
	int			query;			/* column; -1: the table has no such rows */
	int			num_rows;
	int		   *rows;
} Others;

/* Finds them, for a table that has a query id among its keys. */
static void
others_init(Others *others, const SnapshotTable *table)
{
	others->query = table_column(table, "query_id");
	if (others->query >= table->num_keys)
		others->query = -1;
	others->num_rows = 0;
	others->rows = allocate(sizeof(int) * (table->num_rows + 1));
	for (int row = 0; others->query >= 0 && row < table->num_rows; row++)
	{
		bool		all = true;

		for (int i = 0; i <= others->query; i++)
			all = all && table_cell(table, row, i) == NULL;
		if (all)
			others->rows[others->num_rows++] = row;
	}
}

/* The one for a row of the earlier snapshot, whose further keys it shares; -1: none. */
static int
find_others(const Others *others, const SnapshotTable *table, const SnapshotTable *earlier, int row)
{
	for (int i = 0; i < others->num_rows; i++)
	{
		bool		same = true;

		for (int j = others->query + 1; same && j < table->num_keys; j++)
		{
			const char *cell = table_cell(table, others->rows[i], j);
			const char *wanted = table_cell(earlier, row, j);

			same = cell && wanted ? strcmp(cell, wanted) == 0 : cell == wanted;
		}
		if (same)
			return others->rows[i];
	}
	return -1;
}

/* Takes a row of the earlier snapshot off a row of the later one; what went back has not grown. */
static void
subtract(Difference *difference, int row, const SnapshotTable *earlier, int earlier_row)
{
	const SnapshotTable *table = difference->table;

	for (int i = table->num_keys; i < table->num_columns; i++)
	{
		Number		number;

		if (table->kinds[i] == CELL_COUNTER &&
			table_number(earlier, earlier_row, table_column(earlier, table->columns[i]), &number))
		{
			Number	   *growth = &difference->growth[(size_t) row * table->num_columns + i];

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
	Others		others;

	for (int row = 0; after_start && !crashed && row < earlier->num_rows; row++)
	{
		int		   *slot = find_slot(index, earlier, row);

		crashed = *slot > 0 && went_back(difference, *slot - 1, earlier, row);
	}
	others_init(&others, difference->table);
	for (int row = 0; row < earlier->num_rows; row++)
	{
		int		   *slot = find_slot(index, earlier, row);

		if (*slot > 0 && (crashed || !went_back(difference, *slot - 1, earlier, row)))
			subtract(difference, *slot - 1, earlier, row);
		else if (!crashed)
		{
			int			into = find_others(&others, difference->table, earlier, row);

			difference->restarted_rows += *slot > 0;
			if (into >= 0 && !went_back(difference, into, earlier, row))
				subtract(difference, into, earlier, row);
		}
	}
	free(others.rows);
}

/* When a table began to count: a view counts with the table that it reads. */
static int64_t
reset_of(const Snapshot *snapshot, const SnapshotTable *table)
{
	const SnapshotTable *counted = table;

	if (strcmp(table->name, "file_summary_by_relation") == 0)
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
		int		   *slot = find_slot(&index, table, row);
		int			into = *slot > 0 ? *slot - 1 : row;

		if (into == row)
			*slot = row + 1;
		else
		{
			difference->hidden[row] = true;
			difference->duplicates++;
		}
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
