/*
 * table.h
 *	  Rows of values as a table for people, as CSV or as JSON.
 *
 * CSV and JSON have the plain values, as the server wrote them: times in picoseconds,
 * sizes in bytes.  A table has them as people read them.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "sink.h"

typedef enum ColumnKind
{
	COLUMN_TEXT,
	COLUMN_NUMBER,				/* as it is: a process id, a version */
	COLUMN_COUNT,
	COLUMN_REAL,				/* with two decimals */
	COLUMN_TIME,				/* picoseconds */
	COLUMN_BYTES,
	COLUMN_PERCENT,				/* a fraction */
	COLUMN_BAR,					/* a fraction, drawn */
} ColumnKind;

/* Texts and bars begin at the left. */
static inline bool
is_right_aligned(ColumnKind kind)
{
	return kind != COLUMN_TEXT && kind != COLUMN_BAR;
}

typedef struct TableColumn
{
	const char *name;			/* of CSV and JSON; a table shows "_" as a
								 * blank */
	ColumnKind	kind;
	int			width;			/* a table cuts longer texts, 0: not */
} TableColumn;

typedef enum OutputFormat
{
	FORMAT_TABLE,
	FORMAT_CSV,
	FORMAT_SPREADSHEET,			/* CSV without what a spreadsheet would
								 * compute */
	FORMAT_JSON,
} OutputFormat;

typedef struct Table Table;

/* The columns stay the caller's. */
extern Table *table_new(const TableColumn *columns, int num_columns);

/* Copies the values; NULL: none. */
extern void table_add(Table *table, const char *const *values);
extern int	table_rows(const Table *table);
extern const char *table_value(const Table *table, int row, int column);
extern void table_write(const Table *table, Sink *sink, OutputFormat format);
extern void table_free(Table *table);

/* Is it a number as JSON has them?  PostgreSQL writes also NaN and Infinity. */
extern bool is_json_number(const char *value);

/* A value as people read it, in a static buffer or itself; NULL becomes "". */
extern const char *show_value(ColumnKind kind, const char *value);

#endif
