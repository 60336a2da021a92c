/*
 * pfs_table_examples.c
 *	  examples: two rows.
 */
#include "postgres.h"

#include "pfs_tables.h"

typedef struct ExampleRow
{
	int			number;
} ExampleRow;

#define EXAMPLES_COLUMNS(X, t) \
	X(t, number, integer, none, row->number, "1 or 2.") \
	X(t, word, text, none, row->number == 1 ? NULL : "two", "Its word.", .width = 4)

PFS_COLUMNS(examples, ExampleRow, EXAMPLES_COLUMNS)

static void
examples_copy(PfsScan *scan)
{
	for (int i = 1; i <= 2; i++)
		((ExampleRow *) pfs_scan_add(scan))->number = i;
}

const PfsTable pfs_table_examples = {
	PFS_TABLE("examples", examples, "own", "one example", "refused", "Examples; there are two."),
	.usual_rows = 2,
	.copy = examples_copy,
};
