/*
 * table.c
 *	  Rows of values as a table for people, as CSV or as JSON.
 */
#include "table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "escape.h"
#include "format.h"

struct Table
{
	const TableColumn *columns;
	int			num_columns;
	char	  **values;			/* of all rows, one after the other */
	int			num_rows;
	int			max_rows;
};

Table *
table_new(const TableColumn *columns, int num_columns)
{
	Table	   *table = allocate(sizeof(Table));

	table->columns = columns;
	table->num_columns = num_columns;
	return table;
}

void
table_add(Table *table, const char *const *values)
{
	char	  **row;

	if (table->num_rows == table->max_rows)
	{
		table->max_rows = table->max_rows ? table->max_rows * 2 : 32;
		table->values = reallocate(table->values, sizeof(char *) * table->num_columns * table->max_rows);
	}
	row = table->values + (size_t) table->num_rows++ * table->num_columns;
	for (int i = 0; i < table->num_columns; i++)
		row[i] = values[i] ? copy_string(values[i]) : NULL;
}

int
table_rows(const Table *table)
{
	return table->num_rows;
}

const char *
table_value(const Table *table, int row, int column)
{
	return table->values[(size_t) row * table->num_columns + column];
}

void
table_free(Table *table)
{
	for (size_t i = 0; i < (size_t) table->num_rows * table->num_columns; i++)
		free(table->values[i]);
	free(table->values);
	free(table);
}

/* Picks the form for people by the kind of the column. */
const char *
show_value(ColumnKind kind, const char *value)
{
	double		number;
	static __thread char text[64];

	if (value == NULL)
		return "";
	if (kind == COLUMN_TEXT || kind == COLUMN_NUMBER)
		return value;
	number = strtod(value, NULL);
	switch (kind)
	{
		case COLUMN_TIME:
			return format_time(number);
		case COLUMN_BYTES:
			return format_bytes(number);
		case COLUMN_PERCENT:
			return format_percent(number);
		case COLUMN_BAR:
			return format_bar(number, 20);
		case COLUMN_REAL:
			snprintf(text, sizeof(text), "%.2f", number);
			return text;

		default:
			return format_count(number);
	}
}

/* Is it a number of JSON?  PostgreSQL writes also NaN and Infinity. */
bool
is_json_number(const char *value)
{
	const char *p = value + (*value == '-');

	if (!isdigit((unsigned char) *p) || (p[0] == '0' && isdigit((unsigned char) p[1])))
		return false;
	while (isdigit((unsigned char) *p))
		p++;
	if (*p == '.')
	{
		if (!isdigit((unsigned char) *++p))
			return false;
		while (isdigit((unsigned char) *p))
			p++;
	}
	if (*p == 'e' || *p == 'E')
	{
		p++;
		p += *p == '+' || *p == '-';
		if (!isdigit((unsigned char) *p))
			return false;
		while (isdigit((unsigned char) *p))
			p++;
	}
	return *p == '\0';
}

/*
 * A head with the names of the columns, then the rows; NULL is an empty field.  For a spreadsheet texts
 * are made such that it shows them: any role chooses its application_name.
 */
static void
write_csv(const Table *table, Sink *sink, bool spreadsheet)
{
	Buffer		line = {0};

	for (int row = -1; row < table->num_rows; row++)
	{
		buffer_clear(&line);
		for (int i = 0; i < table->num_columns; i++)
		{
			const char *value = row < 0 ? table->columns[i].name : table->values[(size_t) row * table->num_columns + i];

			if (i > 0)
				buffer_add_char(&line, ',');
			if (value && spreadsheet && row >= 0 && table->columns[i].kind == COLUMN_TEXT)
				escape_spreadsheet(&line, value, strlen(value));
			else if (value)
				escape_csv(&line, value, strlen(value));
		}
		buffer_add_char(&line, '\n');
		sink_write(sink, line.data, line.length);
	}
	buffer_free(&line);
}

/* An array of one object for each row.  Numbers keep all their digits. */
static void
write_json(const Table *table, Sink *sink)
{
	Buffer		line = {0};

	sink_string(sink, "[");
	for (int row = 0; row < table->num_rows; row++)
	{
		buffer_clear(&line);
		buffer_add_string(&line, row > 0 ? ",\n{" : "\n{");
		for (int i = 0; i < table->num_columns; i++)
		{
			const TableColumn *column = &table->columns[i];
			const char *value = table->values[(size_t) row * table->num_columns + i];

			buffer_printf(&line, "%s\"%s\": ", i > 0 ? ", " : "", column->name);
			if (value && column->kind != COLUMN_TEXT && is_json_number(value))
				buffer_add_string(&line, value);
			else
				add_json_string(&line, value);
		}
		buffer_add_char(&line, '}');
		sink_write(sink, line.data, line.length);
	}
	sink_string(sink, table->num_rows > 0 ? "\n]\n" : "]\n");
	buffer_free(&line);
}

static void
add_blanks(Buffer *buffer, int n)
{
	while (n-- > 0)
		buffer_add_char(buffer, ' ');
}

/* As psql does: a head, a line, the rows, how many. */
static void
write_table(const Table *table, Sink *sink)
{
	int			n = table->num_columns;
	int		   *widths = allocate(sizeof(int) * n);
	char	  **cells = allocate(sizeof(char *) * n * (table->num_rows + 1));
	Buffer		line = {0};

	for (int row = 0; row <= table->num_rows; row++)
	{
		for (int i = 0; i < n; i++)
		{
			const TableColumn *column = &table->columns[i];
			const char *value = row == 0 ? column->name : show_value(column->kind, table->values[(size_t) (row - 1) * n + i]);
			Buffer		cell = {0};
			int			width;

			escape_terminal(&cell, value, strlen(value));
			if (row == 0)
			{
				for (char *p = cell.data; *p; p++)
					*p = *p == '_' ? ' ' : *p;
			}
			width = row > 0 && column->width > 0 ? cut_with_ellipsis(&cell, column->width) : display_width(cell.data);
			if (width > widths[i])
				widths[i] = width;
			cells[row * n + i] = cell.data;
		}
	}
	for (int row = 0; row <= table->num_rows; row++)
	{
		buffer_clear(&line);
		for (int i = 0; i < n; i++)
		{
			char	   *cell = cells[row * n + i];
			int			blanks = widths[i] - display_width(cell);
			bool		right = is_right_aligned(table->columns[i].kind);

			buffer_add_string(&line, i > 0 ? " | " : " ");
			add_blanks(&line, row == 0 ? blanks / 2 : right ? blanks : 0);
			buffer_add_string(&line, cell);
			if (i + 1 < n)
				add_blanks(&line, row == 0 ? blanks - blanks / 2 : right ? 0 : blanks);
			free(cell);
		}
		buffer_add_char(&line, '\n');
		for (int i = 0; row == 0 && i < n; i++)
		{
			buffer_add_string(&line, i > 0 ? "+" : "");
			for (int j = 0; j < widths[i] + 2; j++)
				buffer_add_char(&line, '-');
		}
		if (row == 0)
			buffer_add_char(&line, '\n');
		sink_write(sink, line.data, line.length);
	}
	sink_printf(sink, table->num_rows == 1 ? "(%d row)\n" : "(%d rows)\n", table->num_rows);
	buffer_free(&line);
	free(cells);
	free(widths);
}

void
table_write(const Table *table, Sink *sink, OutputFormat format)
{
	if (format == FORMAT_CSV || format == FORMAT_SPREADSHEET)
		write_csv(table, sink, format == FORMAT_SPREADSHEET);
	else if (format == FORMAT_JSON)
		write_json(table, sink);
	else
		write_table(table, sink);
}
