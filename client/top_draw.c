/*
 * top_draw.c
 *	  pfs top: what is on the terminal.
 *
 * Every text goes through escape_terminal(), and is cut at the width that it has on a terminal.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "escape.h"
#include "format.h"
#include "top.h"

#include <curses.h>

#define FIRST_LINE 5

/* At most so many lines say what is not recorded. */
#define MAX_LACKS 3

static int
num_lacks(const Top *top)
{
	int			room = LINES - FIRST_LINE - 3;
	int			n = top->num_lacks < MAX_LACKS ? top->num_lacks : MAX_LACKS;

	return n < room ? n : room > 0 ? room : 0;
}

int
top_num_lines(const Top *top)
{
	int			n = LINES - FIRST_LINE - 2 - num_lacks(top);

	return n > 1 ? n : 1;
}

/* Writes at most width columns of a text, and blanks up to it; right: behind them. */
static void
put(int y, int x, int width, bool right, const char *text)
{
	Buffer		safe = {0};
	int			taken;

	if (y >= LINES || x >= COLS)
		return;
	width = x + width > COLS ? COLS - x : width;
	escape_terminal(&safe, text, strlen(text));
	taken = cut_with_ellipsis(&safe, width);
	move(y, x);
	for (int i = taken; right && i < width; i++)
		addch(' ');
	addstr(buffer_text(&safe));
	for (int i = taken; !right && i < width; i++)
		addch(' ');
	buffer_free(&safe);
}

/* One line over the whole width. */
static void
put_line(int y, attr_t attributes, char *text)
{
	attron(attributes);
	put(y, 0, COLS, false, text);
	attroff(attributes);
	free(text);
}

/* What the server is, how busy it is, and since when. */
static void
draw_head(const Top *top)
{
	const TopHead *head = &top->head;
	Server	   *server = top->server;
	Buffer		line = {0};
	const char *host = server->conn ? PQhost(server->conn) : server->host;

	/*
	 * The host's name can be long: what the screen's state is comes before
	 * it.
	 */
	put_line(0, A_BOLD, format_string("pfs top  %s%s%s%s%s  %s  PostgreSQL %d.%d%s  every %g s", head->clock, top->lost ? "  NO CONNECTION" : "",
									  head->off ? "  RECORDING IS OFF" : "",
									  top->paused ? "  PAUSED" : "", top->filter ? "  FILTERED" : "", host && host[0] ? host : "local",
									  server->version / 10000, server->version % 10000, server->in_recovery ? " standby" : "",
									  top->interval));
	buffer_printf(&line, "%d sessions: %d active", head->sessions, head->active);
	if (head->waits_off)
		buffer_add_string(&line, ", who waits is not known");
	else
		buffer_printf(&line, ", %d waiting", head->waiting);
	buffer_printf(&line, "; %d idle in transaction", head->idle_in_transaction);
	if (head->oldest_transaction >= 0)
		buffer_printf(&line, "; oldest %s", format_time(head->oldest_transaction));
	put_line(1, 0, line.data);
	memset(&line, 0, sizeof(line));
	if (head->off)
		buffer_add_string(&line, "SELECT pfs.set_consumers('global_instrumentation', 'YES') records again");
	else if (head->load_off)
		buffer_add_string(&line, "active sessions over time: not known, the consumer statements_digest is off");
	else if (head->load[0] >= 0)
		buffer_printf(&line, "active sessions, 1, 5, 60 min: %.2f %.2f %.2f; %s%s", head->load[0], head->load[1], head->load[2],
					  head->busy_since[0] ? "busy since " : "not busy", head->busy_since);
	else
		buffer_printf(&line, top->history ? "active sessions over time: from the first whole minute on" : "no load history");
	if (head->statements[0])
		buffer_printf(&line, "; %s statements/s", head->statements);
	put_line(2, 0, line.data);
}

/* The names of the screens, with their keys. */
static void
draw_tabs(const Top *top)
{
	int			x = 0;

	move(3, 0);
	clrtoeol();
	for (int i = 0; i < NUM_SCREENS; i++)
	{
		char	   *tab = format_string("%s%d %s ", i > 0 ? " " : "", i + 1, screens[i]->name);
		int			width = (int) strlen(tab);

		attron(i == top->current ? A_REVERSE : 0);
		put(3, x, width, false, tab);
		attroff(A_REVERSE);
		x += width;
		free(tab);
	}
}

bool
top_is_visible(const ScreenColumn *column)
{
	return column->width >= 0 && (!column->wide || COLS >= 110);
}

/* How wide each column is here; 0: it is not shown. */
static void
column_widths(const Screen *screen, int *widths)
{
	int			left = COLS;
	int			rest = -1;

	for (int i = 0; screen->columns[i].name; i++)
	{
		const ScreenColumn *column = &screen->columns[i];

		widths[i] = 0;
		if (!top_is_visible(column))
			continue;
		if (column->width == 0)
		{
			rest = i;
			continue;
		}
		widths[i] = column->width + 1 > left ? 0 : column->width;
		left -= widths[i] ? widths[i] + 1 : 0;
	}
	if (rest >= 0 && left > 4)
		widths[rest] = left;
}

/* The heading of the rows; the column that they are sorted by is bold. */
static void
draw_columns(const Top *top, const int *widths)
{
	int			x = 0;
	int			sort = top_sort_column(top);

	attron(A_UNDERLINE);
	move(FIRST_LINE - 1, 0);
	clrtoeol();
	for (int i = 0; top->screen->columns[i].name; i++)
	{
		char	   *name = copy_string(top->screen->columns[i].name);

		for (char *p = name; *p; p++)
			*p = *p == '_' ? ' ' : *p;
		if (widths[i] > 0)
		{
			attron(i == sort ? A_BOLD : 0);
			put(FIRST_LINE - 1, x, widths[i], is_right_aligned(top->screen->columns[i].kind), name);
			attroff(A_BOLD);
			x += widths[i] + 1;
		}
		free(name);
	}
	attroff(A_UNDERLINE);
}

/* The rows that there is room for, or why there is none. */
static void
draw_rows(Top *top, const int *widths)
{
	int			lines = top_num_lines(top);

	if (top->row < top->top_row)
		top->top_row = top->row;
	if (top->row >= top->top_row + lines)
		top->top_row = top->row - lines + 1;
	for (int line = 0; line < lines; line++)
	{
		int			row = top->top_row + line;
		int			x = 0;
		int			y = FIRST_LINE + line;

		move(y, 0);
		clrtoeol();
		if (top->view == NULL || row >= top->view->num_rows)
			continue;
		attron(row == top->row ? A_REVERSE : 0);
		for (int i = 0; i < top->view->num_columns; i++)
		{
			ColumnKind	kind = top->screen->columns[i].kind;
			const char *value;

			if (widths[i] == 0)
				continue;
			value = cell_value(&top->view->rows[row][i], kind);
			if (kind == COLUMN_BAR)
				value = value ? format_bar(strtod(value, NULL), widths[i]) : "";
			else
				value = show_value(kind, value);
			put(y, x, widths[i] + 1, false, "");
			put(y, x, widths[i], is_right_aligned(kind), value);
			x += widths[i] + 1;
		}
		if (row == top->row && x < COLS)
			put(y, x, COLS - x, false, "");
		attroff(A_REVERSE);
	}
	if (top->view && top->view->num_rows == 0)
	{
		put(FIRST_LINE + 1, 2, COLS - 2, false, top->filter ? "No row has the text of the filter; / changes it." :
			top->num_lacks > 0 ? "There is no row." : top->screen->empty);
	}
}

static const char *const help[] = {
	"1 to 9, Tab    another screen",
	"Up, Down, PageUp, PageDown    mark a row",
	"Enter          more about a row: a session's events, a statement's waits,",
	"               a wait's histogram, a process's memory contexts",
	"Esc            back",
	"Left, Right    sort by another column; r: the other way round",
	"t              what happened since the last reset, or since the last refresh",
	"/              only rows with a text",
	"<, >, g, End   back and on in the load history, to a time, to the present",
	"Space, p, d    refresh now, pause, another interval",
	"i              switch on the instrument that a screen needs, until the end",
	"c, k           cancel the statement, terminate the session; both ask first",
	"q              quit",
	"",
	"The line above the keys says which time numbers are of; quantile and longest",
	"are always since the last reset.",
	"active: average active sessions, time in it by the time that passed.",
	"cpu: time of statements in no wait of an instrument that is on.",
};

static void
draw_help(const Top *top)
{
	for (int i = 0; i < top_num_lines(top) + 1; i++)
	{
		move(FIRST_LINE - 1 + i, 0);
		clrtoeol();
		if (i < (int) (sizeof(help) / sizeof(help[0])))
			put(FIRST_LINE - 1 + i, 1, COLS - 1, false, help[i]);
	}
}

/* Which time the rows are of. */
static char *
time_of_rows(const Top *top)
{
	const Screen *screen = top->screen;

	if (top->past.ago > 0 && top->past.params[0] && top->num_keys == 0)
		return format_string("%.19s, %s long", top->past.params[0], format_time(top->past.seconds * 1e12));
	if (!screen->has_sums)
		return screen == &screen_load ? format_string("Of the last %s", format_time(top->past.seconds * 1e12)) : copy_string("At this moment");
	if (top->since_start || top->before == NULL)
		return copy_string("Since the last reset");
	return copy_string("Since the last refresh");
}

/* What of the screen is not recorded; where there are more lines than room, the last one says so. */
static void
draw_lacks(const Top *top)
{
	int			n = num_lacks(top);
	const char *line = top->lacks;

	for (int i = 0; i < n; i++)
	{
		const char *end = strchr(line, '\n');
		const char *instrument = screens[top->current]->instrument;
		const char *advice = strstr(line, "; SELECT");
		bool		key = instrument && advice && advice < end && strstr(line, instrument) && strstr(line, instrument) < advice;
		char	   *more = i == n - 1 && top->num_lacks > n ? format_string("(and %d more) ", top->num_lacks - n) : copy_string("");

		put_line(LINES - 2 - n + i, has_colors() ? COLOR_PAIR(3) : A_BOLD,
				 format_string("%s%.*s%s", more, (int) ((key ? advice : end) - line), line, key ? "; i switches it on" : ""));
		free(more);
		line = end + 1;
	}
}

/* A question, a notice or what the rows are, and the keys. */
static void
draw_foot(const Top *top)
{
	char	   *time = time_of_rows(top);

	if (top->mode == MODE_INPUT)
		put_line(LINES - 2, A_BOLD, format_string("%s%s_", top->question, top->input));
	else if (top->mode == MODE_CONFIRM)
		put_line(LINES - 2, A_BOLD | (has_colors() ? COLOR_PAIR(2) : 0), copy_string(top->question));
	else if (top->notice)
		put_line(LINES - 2, has_colors() ? COLOR_PAIR(3) : 0, copy_string(top->notice));
	else
		put_line(LINES - 2, has_colors() ? COLOR_PAIR(1) : 0, format_string("%s: %s%s%s", time, top->screen->title, top->of ? ": " : "", top->of ? top->of : ""));
	put_line(LINES - 1, A_REVERSE, copy_string("q quit  1-8 tabs  Enter more  arrows  t total  / filter  < > past  c k i  ? help"));
	free(time);
}

/* Draws everything; curses sends what has changed. */
void
top_draw(Top *top)
{
	int		   *widths = allocate(sizeof(int) * (screen_width(top->screen) + 1));

	column_widths(top->screen, widths);
	draw_head(top);
	draw_tabs(top);
	if (top->mode == MODE_HELP)
		draw_help(top);
	else
	{
		draw_columns(top, widths);
		draw_rows(top, widths);
	}
	draw_lacks(top);
	draw_foot(top);
	refresh();
	free(widths);
}
