/*
 * cmd_screens.c
 *	  pfs load, sessions, locks, statements, waits, tables, files, memory: the screens of
 *	  "pfs top" once, as a table, CSV or JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "command.h"
#include "past.h"
#include "reading.h"
#include "recording.h"

/* Texts that a table shows to their end are cut here; CSV and JSON have them whole. */
#define TEXT_WIDTH 64

/* Which rows a command shows, and how: the same for all of them. */
#define OPTIONS_OF_ROWS \
	{"sort", 's', "COLUMN", "by this column, downwards; with \"+\" in front: upwards"}, \
	{"filter", 'F', "TEXT", "only rows with this text in one of their texts"}, \
	{"limit", 'n', "N", "at most so many rows (20; 0: all)"}, \
	OPTION_FORMAT, \
	OPTION_OUTPUT, \
	{NULL}

static const Option options_now[] = {
	OPTIONS_OF_ROWS
};

static const Option options_sums[] = {
	{"seconds", 'S', "N", "what happens in the next N seconds; without it, since the last reset"},
	OPTIONS_OF_ROWS
};

static const Option options_load[] = {
	{"seconds", 'S', "N", "the last N seconds of the load history (60)"},
	OPTIONS_OF_ROWS
};

/* Ends the program, as a query has failed. */
static void
die_of(const Server *server)
{
	die(server_status(server), "%s", buffer_text(&server->message));
}

/* Ends the program if a reading could not be taken. */
static Reading *
take_or_die(Server *server, const Screen *screen, int num_params, const char *const *params)
{
	Reading    *reading = reading_take(server, screen, num_params, params);

	if (reading == NULL && server->problem == SERVER_LOST && server_reconnect(server))
		reading = reading_take(server, screen, num_params, params);
	if (reading == NULL)
		die_of(server);
	return reading;
}

/* The same of the first rows by the column that the user names, else that of the screen; limit 0: all. */
static Reading *
take_first_or_die(Server *server, const Screen *screen, const char *by, int limit)
{
	bool		up = by && by[0] == '+';
	int			column = screen_column(screen, by ? by + up : screen->sort);
	Reading    *reading = reading_take_first(server, screen, 0, NULL, column, up, limit);

	if (reading == NULL && server->problem == SERVER_LOST && server_reconnect(server))
		reading = reading_take_first(server, screen, 0, NULL, column, up, limit);
	if (reading == NULL)
		die_of(server);
	return reading;
}

/* Returns when the server began to count, another time behind each restart and crash; NULL: it does not say. */
static char *
start_or_die(Server *server)
{
	PGresult   *result = server_query(server, "SELECT extract(epoch FROM variable_value::timestamptz) FROM pfs.status"
									  " WHERE variable_name = 'pfs_start_time'", 0, NULL);
	char	   *start = NULL;

	if (result == NULL && server->conn == NULL)
		die_of(server);
	if (result && PQntuples(result) == 1)
		start = copy_string(PQgetvalue(result, 0, 0));
	PQclear(result);
	return start;
}

/* Finds a time in the load history; false: there is nothing of it.  Ends the program if it cannot be looked for. */
static bool
find_past_or_die(Server *server, Past *past)
{
	bool		found = past_find(server, past);

	if (!found && server->problem == SERVER_LOST && server_reconnect(server))
		found = past_find(server, past);
	if (!found && server->problem != SERVER_OK)
		die_of(server);
	return found;
}

/* Waits, with progress on a terminal; ends the program when it is interrupted. */
static void
wait_seconds(double seconds)
{
	long		begin = clock_ms();
	long		moment = begin;

	catch_signals();
	do
	{
		progress("seconds", (moment - begin) / 1000, (long) seconds);
	} while (wait_for_next(&moment, 100, begin + (long) (seconds * 1000)));
	progress_end();
	if (interrupted)
		die(STATUS_FAILED, "interrupted");
}

/*
 * Takes a reading, and another one after so many seconds.  Ends the program if the server has begun to count
 * anew in between: what it has counted since is not what happened in that time.
 */
static Reading *
take_two_or_die(Server *server, const Screen *screen, double seconds, Reading **before)
{
	char	   *started = start_or_die(server);
	char	   *started_now;
	Reading    *now;

	*before = take_or_die(server, screen, 0, NULL);
	wait_seconds(seconds);
	now = reading_take_changes(server, screen, *before);
	if (now == NULL)
		now = take_or_die(server, screen, 0, NULL);
	started_now = start_or_die(server);
	if (!same_text(started, started_now))
		die(STATUS_FAILED, "the server was restarted, or one of its processes crashed, meanwhile: "
			"what it counted in these seconds is not known");
	free(started);
	free(started_now);
	return now;
}

/* What a view holds, by columns of its own: people do not get those that are for programs. */
static void
write_view(const View *view, int limit, Sink *sink, OutputFormat format)
{
	TableColumn *columns = allocate(sizeof(TableColumn) * view->num_columns);
	const char **values = allocate(sizeof(char *) * view->num_columns);
	char	  **copies = allocate(sizeof(char *) * view->num_columns);
	int			n = 0;
	Table	   *table;

	for (int i = 0; i < view->num_columns; i++)
	{
		const ScreenColumn *column = &view->screen->columns[i];

		if (format == FORMAT_TABLE && column->width < 0)
			continue;
		columns[n++] = (TableColumn)
		{
			column->name, column->kind, column->kind == COLUMN_TEXT ? TEXT_WIDTH : 0
		};
	}
	table = table_new(columns, n);
	for (int row = 0; row < view->num_rows && (limit == 0 || row < limit); row++)
	{
		n = 0;
		for (int i = 0; i < view->num_columns; i++)
		{
			const char *value = cell_value(&view->rows[row][i], view->screen->columns[i].kind);

			if (format == FORMAT_TABLE && view->screen->columns[i].width < 0)
				continue;
			copies[n] = value ? copy_string(value) : NULL;
			values[n] = copies[n];
			n++;
		}
		table_add(table, values);
		while (n > 0)
			free(copies[--n]);
	}
	table_write(table, sink, format);
	table_free(table);
	free(columns);
	free(values);
	free(copies);
}

/*
 * Says what is not recorded at this moment, so that nobody takes it for what did not happen; where there is no row
 * and nothing is missing, what that means.
 */
static void
explain(Server *server, const Screen *screen, bool no_row)
{
	char	   *lacks = recording_lacks(server, screen);

	if (no_row)
		warn("%s", lacks[0] ? "There is no row." : screen->empty);
	for (char *rest = lacks, *line; (line = strsep(&rest, "\n")) != NULL;)
	{
		if (line[0])
			warn("%s", line);
	}
	free(lacks);
}

/* Ends the program if the user sorts by what is no column of the screen. */
static void
check_sort(const Screen *screen, const char *by)
{
	Buffer		names = {0};

	if (by == NULL || screen_column(screen, by + (by[0] == '+')) >= 0)
		return;
	for (int i = 0; screen->columns[i].name; i++)
		buffer_printf(&names, i ? ", %s" : "%s", screen->columns[i].name);
	die(STATUS_UNUSABLE, "there is no column \"%s\"; columns are: %s", quote(by + (by[0] == '+')), names.data);
}

/* Sorts as the user says, else as the screen does. */
static void
sort_view(View *view, const char *by)
{
	const Screen *screen = view->screen;
	bool		up = by && by[0] == '+';

	view_sort(view, screen_column(screen, by ? by + up : screen->sort), up);
}

/* Runs the command of a screen: reads it, twice if asked for differences, and writes it. */
static int
run_screen(const Command *command, Options *options)
{
	const Screen *screen = NULL;
	double		seconds = option_number(options, "seconds", 1, 86400, 0);
	int			limit = option_integer(options, "limit", 0, 1000000, 20);
	OutputFormat format = option_format(options);
	char	   *application = format_string("pfs %s", command->name);
	const char *filter = option_value(options, "filter");
	const char *sort = option_value(options, "sort");
	Server	   *server;
	Reading    *before = NULL;
	Reading    *now;
	View	   *view;
	Sink	   *sink;

	for (int i = 0; i < NUM_SCREENS; i++)
	{
		if (strcmp(screens[i]->name, command->name) == 0)
			screen = screens[i];
	}
	check_sort(screen, sort);
	server = server_open_or_die(options, application, screen->extension);
	sink = sink_open(option_value(options, "output"));
	if (screen == &screen_load)
	{
		Past		past = {.seconds = seconds > 0 ? seconds : 60};

		if (find_past_or_die(server, &past))
			now = take_or_die(server, screen, 3, past.params);
		else
		{
			warn("%s; this is the load of the moment", past.why_not);
			screen = &screen_load_now;
			check_sort(screen, sort);
			now = take_or_die(server, screen, 0, NULL);
		}
		seconds = past.seconds;
	}
	else if (seconds > 0 && screen->has_sums)
		now = take_two_or_die(server, screen, seconds, &before);
	else
	{
		if (screen->since)
			seconds = seconds_since_reset(server, screen->since);
		/* A filter looks at all rows. */
		now = take_first_or_die(server, screen, sort, filter ? 0 : limit);
	}
	view = view_make(now, before, seconds);
	view_filter(view, filter);
	sort_view(view, sort);
	write_view(view, limit, sink, format);
	sink_close(sink);
	if (view->num_rows == 0 && view->num_hidden > 0)
		warn("None of %d rows has the text \"%s\".", view->num_hidden, quote(filter));
	else if (limit > 0 && view->num_all - view->num_hidden > limit && format == FORMAT_TABLE)
		warn("%d of %d rows; --limit 0 shows all", limit, view->num_all - view->num_hidden);
	explain(server, screen, view->num_rows == 0 && view->num_hidden == 0);
	view_free(view);
	reading_free(before);
	reading_free(now);
	server_close(server);
	free(application);
	return STATUS_OK;
}

#define SCREEN_COMMAND(screen_name, text, own_options) \
	const Command command_##screen_name = { \
		.name = #screen_name, \
		.help = text, \
		.options = own_options, \
		.run = run_screen, \
	};

SCREEN_COMMAND(load, "average active sessions by kind of wait, and the statement that is in it most", options_load)
SCREEN_COMMAND(sessions, "sessions, what each is in and for how long", options_now)
SCREEN_COMMAND(locks, "who blocks whom, as a tree", options_now)
SCREEN_COMMAND(statements, "statements by shape, the most time first, and what each waits for", options_sums)
SCREEN_COMMAND(waits, "what the server waits for", options_sums)
SCREEN_COMMAND(tables, "rows of tables and indexes, and indexes that nobody used", options_sums)
SCREEN_COMMAND(files, "calls on files, by relation or kind of file", options_sums)
SCREEN_COMMAND(memory, "memory of each process", options_now)
SCREEN_COMMAND(plans, "plans of statements, the most time first", options_sums)
