/*
 * pfs_columns.h
 *	  How a list of columns becomes a table: the counters of the columns, the
 *	  array that the plumbing reads, and the function that gets a value.
 *
 * A column stands once, in a list in the file of its table, with all that is
 * known of it.  A list is a macro of two arguments:
 *
 *	#define STATUS_COLUMNS(X, t) \
 *		X(t, variable_name, text, none, row->name, \
 *		  "Name of the fact or counter.", .width = 28) \
 *		X(t, variable_value, text, none, row->value, \
 *		  "Its value as text.", .width = 8)
 *
 * Each X has the table's short name, the column's name, its type (PFS_TYPE_*
 * below), its unit, the expression of its value, its comment, and then whatever
 * else of PfsColumn is not zero.  The expression sees scan and row, a pointer to the
 * copied row; it is a value of C, of which the type makes the Datum (PFS_VALUE_*
 * below).  Columns that several tables have are lists of their own, which the lists of
 * these tables contain.
 *
 * The comments and units are not compiled: tools/sql reads the same lists with the
 * preprocessor and makes of them the SQL script and docs/tables.md.  It replaces
 * PFS_JOINED_COLUMNS and PFS_TABLE by macros of its own.
 */
#ifndef PFS_COLUMNS_H
#define PFS_COLUMNS_H

#include "pfs_table.h"
#include "pfs_value.h"

/* The types that a column can have. */
#define PFS_TYPE_text TEXTOID
#define PFS_TYPE_integer INT4OID
#define PFS_TYPE_bigint INT8OID
#define PFS_TYPE_bigints INT8ARRAYOID
#define PFS_TYPE_numeric NUMERICOID
#define PFS_TYPE_float8 FLOAT8OID
#define PFS_TYPE_timestamptz TIMESTAMPTZOID
#define PFS_TYPE_interval INTERVALOID
#define PFS_TYPE_inet INETOID
#define PFS_TYPE_xid8 XID8OID

/*
 * What a value of a list is, by the column's type: a string, of which NULL is a null, a
 * number, or for types that C has no counterpart of a Datum.
 */
#define PFS_VALUE_text(value) pfs_text_or_null(value, isnull)
#define PFS_VALUE_integer(value) Int32GetDatum((int32) (value))
#define PFS_VALUE_bigint(value) Int64GetDatum((int64) (value))
#define PFS_VALUE_bigints(value) (value)
#define PFS_VALUE_numeric(value) pfs_sum_or_null(value, isnull)
#define PFS_VALUE_float8(value) Float8GetDatum(value)
#define PFS_VALUE_timestamptz(value) TimestampTzGetDatum(value)
#define PFS_VALUE_interval(value) (value)
#define PFS_VALUE_inet(value) (value)
#define PFS_VALUE_xid8(value) UInt64GetDatum(value)

/* A value that is no string, or a null.  0 stands for a null in many records. */
#define PFS_NULL_IF(condition, value) ((condition) ? (*isnull = true, 0) : (value))
#define PFS_NULL_IF_0(value) PFS_NULL_IF((value) == 0, value)

/* Sentences that many comments have. */
#define PFS_OWN_ROLE " Only for pg_read_all_stats and the thread's own role."
#define PFS_YES_OR_NO " YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case."
#define PFS_RESERVED "Reserved; NULL."

/* The column of an instrument, of this width, in tables that have one. */
#define PFS_INSTRUMENT_COLUMN(X, t, instrument, w) \
	X(t, event_name, text, none, pfs_event_name(instrument), \
	  "The instrument: setup_instruments.name.", .width = w, .key = PFS_KEY_EVENT_NAME)

/* The number of a column, as scan->needed and PfsNewRow count them. */
#define PFS_COLUMN(t, column) COLUMN_##t##_##column

/* What an X can be. */
#define PFS_COLUMN_NUMBER(t, column, ...) COLUMN_##t##_##column,
#define PFS_COLUMN_ENTRY(t, column, type_, unit, value, comment, ...) \
	[COLUMN_##t##_##column] = {.name = #column, .type = PFS_TYPE_##type_, __VA_ARGS__},
#define PFS_COLUMN_VALUE(t, column, type, unit, value, ...) \
	case COLUMN_##t##_##column: \
		return PFS_VALUE_##type(value);

/*
 * The columns of table t, whose rows are of type Row, from its list.  It stands
 * behind the functions that the list names and before whoever asks for
 * PFS_COLUMN().
 */
#define PFS_COLUMNS(t, Row, LIST) PFS_JOINED_COLUMNS(t, Row, PFS_NO_COLUMNS, LIST)
#define PFS_NO_COLUMNS(X, t)

/* The same from two lists, the keys and what is counted. */
#define PFS_JOINED_COLUMNS(t, Row, KEYS, LIST) \
typedef Row t##_row; \
enum \
{ \
	KEYS(PFS_COLUMN_NUMBER, t) \
	LIST(PFS_COLUMN_NUMBER, t) \
}; \
static const PfsColumn t##_columns[] = { \
	KEYS(PFS_COLUMN_ENTRY, t) \
	LIST(PFS_COLUMN_ENTRY, t) \
}; \
static Datum \
t##_get(PfsScan *scan, const void *copied, int column, bool *isnull) \
{ \
	const Row  *row = copied; \
\
	switch (column) \
	{ \
		KEYS(PFS_COLUMN_VALUE, t) \
		LIST(PFS_COLUMN_VALUE, t) \
	} \
	return pfs_null(isnull); \
}

/*
 * The first members of a PfsTable whose columns PFS_COLUMNS() has made.  source:
 * where the table comes from, for the documentation; the next two are what
 * pfs.tables shows.
 */
#define PFS_TABLE(table_name, t, source, a_row_is, effect, comment) \
	.name = table_name, \
	.row_is = a_row_is, \
	.truncate_effect = effect, \
	.columns = t##_columns, \
	.ncolumns = lengthof(t##_columns), \
	.row_size = sizeof(t##_row), \
	.get = t##_get

#endif							/* PFS_COLUMNS_H */
