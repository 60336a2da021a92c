/*
 * changes.c
 *	  A reading made of an earlier one and of the rows that have changed since.
 *
 * A server may keep ten thousand shapes of statements, of which some dozens are executed between two
 * refreshes.  To send all of them each time costs the server more than all other screens together.  So it
 * sends rows that were executed since the earlier reading began, and, where a shape may have had to make room for
 * another one, or have been reset, what there is still.  Texts are asked for when a row is new.
 */
#include "changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row_index.h"

/*
 * Times of rows are by the server's clock, and those of readings by this machine's.  What is sent twice
 * changes nothing, and what a clock that was set kept out comes with the next whole reading.
 */
#define MARGIN 2.0
#define WHOLE_INTERVAL 60.0

/* Rows of a result of which each begins with its kind: of one kind, without that. */
static Reading *
rows_of_kind(const Screen *screen, const PGresult *result, const char *kind)
{
	Reading    *rows = allocate(sizeof(Reading));

	rows->screen = screen;
	rows->num_values = PQnfields(result) - 1;
	rows->values = allocate(sizeof(char *) * PQntuples(result) * rows->num_values);
	for (int row = 0; row < PQntuples(result); row++)
	{
		if (!same_text(field(result, row, 0), kind))
			continue;
		for (int i = 0; i < rows->num_values; i++)
			rows->values[rows->num_rows * rows->num_values + i] = field(result, row, i + 1);
		rows->num_rows++;
	}
	return rows;
}

static void
add_row(Reading *reading, const char *const *row)
{
	memcpy(reading->values + reading->num_rows++ * reading->num_values, row, sizeof(char *) * reading->num_values);
}

/* Copies all texts of a reading, which lie in readings and results that go, into memory of its own. */
static void
own_texts(Reading *reading)
{
	size_t		size = 0;
	char	   *at;

	for (int i = 0; i < reading->num_rows * reading->num_values; i++)
		size += reading->values[i] ? strlen(reading->values[i]) + 1 : 0;
	at = allocate(size + 1);
	reading_keep(reading, at);
	for (int i = 0; i < reading->num_rows * reading->num_values; i++)
	{
		if (reading->values[i])
		{
			size = strlen(reading->values[i]) + 1;
			reading->values[i] = memcpy(at, reading->values[i], size);
			at += size;
		}
	}
}

/* Writes the numbers of rows as an array of bigint, for a query; only: those without this value. */
static char *
array_of_ids(const Reading *rows, int id, int only)
{
	Buffer		array = {0};

	buffer_add_char(&array, '{');
	for (int row = 0; row < rows->num_rows; row++)
	{
		const char *const *values = row_of(rows, row);

		if (values[id] && (only < 0 || values[only] == NULL))
			buffer_printf(&array, array.length > 1 ? ",%s" : "%s", values[id]);
	}
	buffer_add_char(&array, '}');
	return array.data;
}

/*
 * Merges the rows of an earlier reading with those that have changed.  present: all that there are; NULL: all of
 * the earlier ones are there.  The texts of rows that have changed are the earlier ones.
 */
static Reading *
merge_rows(const Screen *screen, const Reading *before, Reading *changed, const Reading *present)
{
	int			keys[MAX_KEYS];
	int			num_keys = key_values(screen, keys);
	int			text = screen->changes->text;
	Index		changed_rows = index_make(changed, keys, num_keys);
	Index		present_rows = {0};
	Reading    *merged = allocate(sizeof(Reading));

	if (present)
		present_rows = index_make(present, keys, num_keys);
	merged->screen = screen;
	merged->whole = -1;
	merged->num_values = before->num_values;
	merged->values = allocate(sizeof(char *) * merged->num_values * (before->num_rows + changed->num_rows));
	for (int row = 0; row < before->num_rows; row++)
	{
		const char *const *values = row_of(before, row);
		int			found = index_find(&changed_rows, values);

		if (found >= 0)
			changed->values[found * changed->num_values + text] = values[text];
		else if (present == NULL || index_find(&present_rows, values) >= 0)
			add_row(merged, values);
	}
	for (int row = 0; row < changed->num_rows; row++)
		add_row(merged, row_of(changed, row));
	free(changed_rows.slots);
	free(present_rows.slots);
	return merged;
}

/*
 * Fills in the texts of rows that have none, which are new.  Returns the result in which they lie; NULL: there
 * are no such rows, or there is a problem.
 */
static PGresult *
fill_texts(Server *server, Reading *rows, const Reading *changed)
{
	const ScreenChanges *changes = rows->screen->changes;
	char	   *ids = array_of_ids(changed, changes->id, changes->text);
	PGresult   *result = NULL;
	int			keys[MAX_KEYS];
	Index		index = index_make(rows, keys, key_values(rows->screen, keys));

	if (strcmp(ids, "{}") != 0)
		result = server_query(server, changes->texts, 1, (const char *const *) &ids);
	for (int i = 0; result && i < PQntuples(result); i++)
	{
		const char *wanted[MAX_VALUES] = {NULL};
		int			row;

		for (int key = 0; key < index.num_keys; key++)
			wanted[keys[key]] = field(result, i, key);
		row = index_find(&index, wanted);
		if (row >= 0)
			rows->values[row * rows->num_values + changes->text] = field(result, i, index.num_keys);
	}
	free(index.slots);
	free(ids);
	return result;
}

/* Merges the parts of rows that have not changed with those of the others, which are asked for. */
static Reading *
take_breakdown(Server *server, const Reading *rows, const Reading *changed, const Reading *before)
{
	const Screen *screen = rows->screen;
	char	   *ids = array_of_ids(changed, screen->changes->id, -1);
	PGresult   *result = server_query(server, screen->breakdown, 1, (const char *const *) &ids);
	int			keys[MAX_KEYS];
	int			num_keys = key_values(screen, keys);
	Index		all = index_make(rows, keys, num_keys);
	Index		anew = index_make(changed, keys, num_keys);
	Reading    *parts = allocate(sizeof(Reading));

	parts->screen = screen;
	parts->num_values = before->num_values;
	parts->values = allocate(sizeof(char *) * parts->num_values * (before->num_rows + (result ? PQntuples(result) : 0)));
	for (int row = 0; result && row < before->num_rows; row++)
	{
		const char *wanted[MAX_VALUES] = {NULL};

		for (int key = 0; key < num_keys; key++)
			wanted[keys[key]] = row_of(before, row)[key];
		if (index_find(&anew, wanted) < 0 && index_find(&all, wanted) >= 0)
			add_row(parts, row_of(before, row));
	}
	for (int row = 0; result && row < PQntuples(result); row++)
	{
		for (int i = 0; i < parts->num_values; i++)
			parts->values[parts->num_rows * parts->num_values + i] = field(result, row, i);
		parts->num_rows++;
	}
	own_texts(parts);
	free(all.slots);
	free(anew.slots);
	free(ids);
	if (result == NULL)
	{
		reading_free(parts);
		parts = NULL;
	}
	PQclear(result);
	return parts;
}

/* Asks what has changed, and makes a reading of that and of the earlier one. */
Reading *
reading_take_changes(Server *server, const Screen *screen, const Reading *before)
{
	double		asked = clock_seconds();
	char		seconds[32];
	const char *params[2] = {seconds, NULL};
	const char *nothing[MAX_VALUES] = {NULL};
	int			keys[MAX_KEYS];
	Index		index;
	int			others;
	PGresult   *result;
	PGresult   *texts = NULL;
	Reading    *changed;
	Reading    *present;
	Reading    *reading = NULL;

	server->problem = SERVER_OK;

	/*
	 * Rows whose keys a role may not see are one, of which no single one
	 * changes.
	 */
	if (screen->changes == NULL || before == NULL || before->screen != screen || !server->may_see_all ||
		asked - before->whole_at > WHOLE_INTERVAL)
		return NULL;
	snprintf(seconds, sizeof(seconds), "%.3f", asked - before->asked + MARGIN);
	index = index_make(before, keys, key_values(screen, keys));
	others = index_find(&index, nothing);
	free(index.slots);
	if (others >= 0)
		params[1] = row_of(before, others)[screen->changes->count];
	result = server_query(server, screen->changes->query, 2, params);
	if (result == NULL)
		return NULL;
	changed = rows_of_kind(screen, result, "changed");
	present = rows_of_kind(screen, result, "present");
	if (PQntuples(result) == changed->num_rows + present->num_rows)
	{
		reading = merge_rows(screen, before, changed, present->num_rows > 0 ? present : NULL);
		reading->asked = asked;
		reading->whole_at = before->whole_at;
		reading->at = clock_seconds();
		texts = fill_texts(server, reading, changed);
		if (server->problem == SERVER_OK)
			reading->breakdown = take_breakdown(server, reading, changed, before->breakdown);
		own_texts(reading);
		if (reading->breakdown == NULL)
		{
			reading_free(reading);
			reading = NULL;
		}
	}
	PQclear(texts);
	PQclear(result);
	reading_free(changed);
	reading_free(present);
	return reading;
}
