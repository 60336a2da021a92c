/*
 * snapshot_file.c
 *	  Snapshots as files: JSON, one line a row.
 *
 * What is read here may come from anywhere and may be damaged: nothing is taken for granted, and every
 * reason to refuse a file names the place.  All values are strings, so none loses digits.
 */
#include "snapshot.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "input.h"
#include "message.h"

/* Far more than a server has; a file that says more is none of ours. */
#define MAX_COLUMNS 500
#define MAX_FILE ((size_t) 2 << 30)

/* ---- write ---- */

/* Writes a list of strings and nulls on one line. */
static void
write_strings(Sink *sink, char *const *texts, int count)
{
	Buffer		line = {0};

	buffer_add_char(&line, '[');
	for (int i = 0; i < count; i++)
	{
		if (i > 0)
			buffer_add_string(&line, ", ");
		add_json_string(&line, texts[i]);
	}
	buffer_add_char(&line, ']');
	sink_write(sink, line.data, line.length);
	buffer_free(&line);
}

static void
write_member(Sink *sink, const char *before, const char *name, const char *value)
{
	Buffer		line = {0};

	buffer_add_string(&line, before);
	add_json_string(&line, name);
	buffer_add_string(&line, ": ");
	add_json_string(&line, value);
	sink_write(sink, line.data, line.length);
	buffer_free(&line);
}

/* Writes the head, then each table with one line a row. */
void
snapshot_write(const Snapshot *snapshot, Sink *sink)
{
	sink_printf(sink, "{\"format\": \"pfs snapshot\",\n\"version\": %d,\n\"taken\": \"%lld\",\n\"server\": {",
				SNAPSHOT_FORMAT, (long long) snapshot->taken);
	for (int i = 0; i < NUM_FACTS; i++)
		write_member(sink, i ? ",\n  " : "\n  ", snapshot_fact_names[i], snapshot->facts[i]);
	sink_string(sink, "},\n\"missing\": {");
	for (int i = 0; i < snapshot->num_gaps; i++)
		write_member(sink, i ? ",\n  " : "\n  ", snapshot->gaps[i].name, snapshot->gaps[i].reason);
	sink_string(sink, "},\n\"tables\": [");
	for (int i = 0; i < snapshot->num_tables; i++)
	{
		const SnapshotTable *table = &snapshot->tables[i];

		write_member(sink, i ? ",\n{" : "\n{", "name", table->name);
		sink_printf(sink, ", \"reset\": \"%lld\",\n\"columns\": ", (long long) table->reset);
		write_strings(sink, table->columns, table->num_columns);
		sink_string(sink, ",\n\"rows\": [");
		for (int row = 0; row < table->num_rows; row++)
		{
			sink_string(sink, row ? ",\n" : "\n");
			write_strings(sink, table->cells + (size_t) row * table->num_columns, table->num_columns);
		}
		sink_string(sink, "]}");
	}
	sink_string(sink, "]}\n");
}

/* ---- read ---- */

static bool
refuse(char **wrong, const char *format,...)
{
	Buffer		text = {0};
	va_list		arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	*wrong = text.data;

	return false;
}

/* A whole number that a string holds: a time in microseconds. */
static bool
read_time(const json_t *value, int64_t *time)
{
	Number		number;

	if (!json_is_string(value) || !parse_number(json_string_value(value), &number) ||
		number < 0 || number > (Number) 1 << 62)
		return false;
	*time = (int64_t) number;
	return true;
}

/* A table's columns.  No name is there twice, so that looking for one has one answer. */
static bool
read_columns(Snapshot *snapshot, const char *name, const json_t *columns, char **wrong)
{
	const char *names[MAX_COLUMNS];
	size_t		count = json_array_size(columns);

	if (!json_is_array(columns) || count == 0 || count > MAX_COLUMNS)
		return refuse(wrong, "table %s has no list of 1 to %d columns", name, MAX_COLUMNS);
	for (size_t i = 0; i < count; i++)
	{
		names[i] = json_string_value(json_array_get(columns, i));
		if (names[i] == NULL || names[i][0] == '\0')
			return refuse(wrong, "table %s: the name of column %zu is not a string", name, i + 1);
		for (size_t j = 0; j < i; j++)
		{
			if (strcmp(names[i], names[j]) == 0)
				return refuse(wrong, "table %s has column %s twice", name, names[i]);
		}
	}
	snapshot_add_table(snapshot, name, (int) count, names);
	return true;
}

/* Rows have a string or null for each column; counters are numbers, and none is below zero. */
static bool
read_rows(SnapshotTable *table, const json_t *rows, char **wrong)
{
	const char *cells[MAX_COLUMNS];
	size_t		row;
	json_t	   *values;

	if (!json_is_array(rows))
		return refuse(wrong, "table %s has no list of rows", table->name);
	json_array_foreach(rows, row, values)
	{
		if (json_array_size(values) != (size_t) table->num_columns)
			return refuse(wrong, "table %s, row %zu: not %d values", table->name, row + 1, table->num_columns);
		for (int i = 0; i < table->num_columns; i++)
		{
			const json_t *value = json_array_get(values, i);
			Number		number;

			cells[i] = json_string_value(value);
			if (cells[i] == NULL && !json_is_null(value))
				return refuse(wrong, "table %s, row %zu, %s: neither a string nor null", table->name, row + 1,
							  table->columns[i]);
			if (cells[i] && table->kinds[i] == CELL_COUNTER && !parse_number(cells[i], &number))
				return refuse(wrong, "table %s, row %zu, %s: not a whole number", table->name, row + 1,
							  table->columns[i]);
			if (cells[i] && table->kinds[i] == CELL_COUNTER && number < 0)
				return refuse(wrong, "table %s, row %zu, %s: a counter below zero", table->name, row + 1,
							  table->columns[i]);
		}
		table_add_row(table, cells);
	}
	return true;
}

/* Reads all tables; a name stands for one table. */
static bool
read_tables(Snapshot *snapshot, const json_t *tables, char **wrong)
{
	size_t		i;
	json_t	   *entry;

	if (!json_is_array(tables))
		return refuse(wrong, "it has no list of tables");
	json_array_foreach(tables, i, entry)
	{
		const char *name = json_string_value(json_object_get(entry, "name"));

		if (name == NULL)
			return refuse(wrong, "table %zu has no name", i + 1);
		if (snapshot_table(snapshot, name))
			return refuse(wrong, "table %s is there twice", name);
		if (!read_columns(snapshot, name, json_object_get(entry, "columns"), wrong))
			return false;
		if (!read_time(json_object_get(entry, "reset"), &snapshot->tables[snapshot->num_tables - 1].reset))
			return refuse(wrong, "table %s has no time of its reset", name);
		if (!read_rows(&snapshot->tables[snapshot->num_tables - 1], json_object_get(entry, "rows"), wrong))
			return false;
	}
	return true;
}

/* What is neither text nor null is refused; a fact or gap that this program does not know is not. */
static bool
read_head(Snapshot *snapshot, const json_t *root, char **wrong)
{
	const json_t *server = json_object_get(root, "server");
	json_t	   *missing = json_object_get(root, "missing");
	const char *name;
	json_t	   *reason;

	if (!read_time(json_object_get(root, "taken"), &snapshot->taken))
		return refuse(wrong, "it does not say when it was taken");
	if (!json_is_object(server))
		return refuse(wrong, "it does not say of which server it is");
	for (int i = 0; i < NUM_FACTS; i++)
	{
		const json_t *fact = json_object_get(server, snapshot_fact_names[i]);

		if (fact && !json_is_string(fact) && !json_is_null(fact))
			return refuse(wrong, "server, %s: neither a string nor null", snapshot_fact_names[i]);
		if (json_is_string(fact))
			snapshot->facts[i] = copy_string(json_string_value(fact));
	}
	if (missing && !json_is_object(missing))
		return refuse(wrong, "what it says of missing tables is no object");
	json_object_foreach(missing, name, reason)
	{
		if (!json_is_string(reason))
			return refuse(wrong, "missing, %s: the reason is no string", name);
		snapshot_add_gap(snapshot, name, json_string_value(reason));
	}
	return true;
}

/* Checks the format and its version before anything else. */
Snapshot *
snapshot_parse(const char *data, size_t length, char **wrong)
{
	json_error_t error;
	json_t	   *root = json_loadb(data, length, JSON_REJECT_DUPLICATES, &error);
	const char *format = json_string_value(json_object_get(root, "format"));
	json_t	   *version = json_object_get(root, "version");
	Snapshot   *snapshot = NULL;

	*wrong = NULL;
	if (root == NULL)
		refuse(wrong, "it is no JSON, or cut off: line %d: %s", error.line, error.text);
	else if (format == NULL || strcmp(format, "pfs snapshot") != 0)
		refuse(wrong, "it was not written by \"pfs snapshot\"");
	else if (!json_is_integer(version) || json_integer_value(version) < 1)
		refuse(wrong, "it has no version of its format");
	else if (json_integer_value(version) > SNAPSHOT_FORMAT)
		refuse(wrong, "its format has version %lld, and this program reads up to %d: use the pfs that wrote it, or a newer one",
			   (long long) json_integer_value(version), SNAPSHOT_FORMAT);
	else
	{
		snapshot = allocate(sizeof(Snapshot));
		if (!read_head(snapshot, root, wrong) || !read_tables(snapshot, json_object_get(root, "tables"), wrong))
		{
			snapshot_free(snapshot);
			snapshot = NULL;
		}
	}
	json_decref(root);
	return snapshot;
}

/* Reads and checks a file. */
Snapshot *
snapshot_read_or_die(const char *file)
{
	Buffer		data = {0};
	Snapshot   *snapshot;
	char	   *wrong;

	input_read_or_die(file, "snapshot", MAX_FILE, &data);
	snapshot = snapshot_parse(buffer_text(&data), data.length, &wrong);
	if (interrupted)
		die(STATUS_FAILED, "interrupted");
	if (snapshot == NULL)
		die(STATUS_UNUSABLE, "\"%s\" cannot be used as a snapshot: %s", quote(file), wrong);
	buffer_free(&data);
	return snapshot;
}
