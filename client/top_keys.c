/*
 * top_keys.c
 *	  pfs top: what keys do.
 *
 * Nothing that changes the server happens without a question and the key "y".  Instruments that were
 * switched on are switched off at the end, those alone that were off before.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "top.h"

#include <curses.h>

#define KEY_ESCAPE 27

static void
ask_for(Top *top, TopPurpose purpose, const char *question)
{
	top->mode = MODE_INPUT;
	top->purpose = purpose;
	top->input[0] = '\0';
	snprintf(top->question, sizeof(top->question), "%s", question);
}

/* A text of the marked row; NULL: there is none. */
static const char *
marked(const Top *top, const char *column)
{
	int			i = screen_column(top->screen, column);

	if (i < 0 || top->view == NULL || top->row >= top->view->num_rows)
		return NULL;
	return top->view->rows[top->row][i].text;
}

/* Asks whether the marked session is to be cancelled or terminated. */
static void
ask_for_signal(Top *top, TopPurpose purpose)
{
	const char *pid = marked(top, top->screen->pid);
	const char *statement = marked(top, "statement");
	const char *command = marked(top, "terminate_command");

	if (top->num_keys > 0 || top->screen->pid == NULL || top->past.ago > 0)
		top_notice(top, "Mark a session first: on the screens sessions, locks and memory.");
	else if (pid == NULL)
		top_notice(top, "This row is no session.");
	else if (strcmp(pid, "0") == 0)
		top_notice(top, "A prepared transaction has no session; %s ends it.", command ? command : "ROLLBACK PREPARED");
	else
	{
		top->mode = MODE_CONFIRM;
		top->purpose = purpose;
		free(top->target);
		top->target = copy_string(pid);
		snprintf(top->question, sizeof(top->question), "%s %s (%.60s)?  y: yes, any other key: no",
				 purpose == FOR_CANCEL ? "Cancel the statement of" : "Terminate the session", pid, statement ? statement : "no statement");
	}
}

/* Asks whether the instrument that a screen needs is to be switched on. */
static void
ask_for_switch(Top *top)
{
	const char *name = screens[top->current]->instrument;

	if (name == NULL)
		top_notice(top, "This screen needs no other instrument.");
	else if (instrument_is_on(top->server, name))
		top_notice(top, "%s is on.", name);
	else
	{
		top->mode = MODE_CONFIRM;
		top->purpose = FOR_SWITCH;
		free(top->target);
		top->target = copy_string(name);
		snprintf(top->question, sizeof(top->question), "Switch on %s for all sessions, until pfs top ends?  y: yes, any other key: no", name);
	}
}

/*
 * Switches the instruments that match a pattern, or the one with that name: by UPDATE, which whoever has the right to
 * it may do, and on a standby, where no statement may write, by the function.  Only a pattern has a percent sign: an
 * underscore is one in most names.
 */
static PGresult *
set_instruments(Top *top, const char *pattern, const char *enabled)
{
	const char *params[] = {pattern, enabled};
	const char *sql = strchr(pattern, '%') ?
	"UPDATE pfs.setup_instruments SET enabled = $2 WHERE name LIKE $1 AND enabled <> $2" :
	"UPDATE pfs.setup_instruments SET enabled = $2 WHERE name = $1 AND enabled <> $2";

	return server_query(top->server, top->server->in_recovery ? "SELECT pfs.set_instruments($1, $2)" : sql, 2, params);
}

/* Switches on what is off, and remembers it. */
static void
switch_on(Top *top)
{
	PGresult   *off = server_query(top->server, "SELECT name FROM pfs.setup_instruments WHERE name LIKE $1 AND enabled = 'NO'",
								   1, (const char *const *) &top->target);
	PGresult   *done;
	int			n;

	if (off == NULL)
	{
		top_notice(top, "%s", buffer_text(&top->server->message));
		return;
	}

	/*
	 * Noted before: it may be on, too, where a signal or a lost connection
	 * left no answer.  On a standby it is the pattern, which the function
	 * remembers for instruments that come later: none of them was on.
	 */
	n = top->server->in_recovery ? 1 : PQntuples(off);
	top->switched_on = reallocate(top->switched_on, sizeof(char *) * (top->num_switched_on + n + 1));
	for (int i = 0; i < n; i++)
		top->switched_on[top->num_switched_on++] = copy_string(top->server->in_recovery ? top->target : PQgetvalue(off, i, 0));
	done = set_instruments(top, top->target, "YES");
	if (done)
		top_notice(top, "%s is on; it counts from now.", top->target);
	else
	{
		top_notice(top, "%s", buffer_text(&top->server->message));
		for (int i = 0; top->server->conn && i < n; i++)
			free(top->switched_on[--top->num_switched_on]);
	}
	PQclear(off);
	PQclear(done);
}

/*
 * Puts the switches back, over a new connection if need be.  Says so if it cannot: the
 * server still counts then.  Where nothing answers, it does not ask again for each.
 */
void
top_restore_switches(Top *top)
{
	bool		gone = false;

	for (int i = 0; i < top->num_switched_on; i++)
	{
		const char *name = top->switched_on[i];
		PGresult   *result = set_instruments(top, name, "NO");

		/* A signal in the middle of a query has ended the connection, too. */
		if (result == NULL && top->server->conn == NULL && !gone)
		{
			gone = !server_reconnect(top->server);
			if (!gone)
				result = set_instruments(top, name, "NO");
		}
		if (result == NULL)
			warn("%s could not be switched off again: %s", name, buffer_text(&top->server->message));
		PQclear(result);
		free(top->switched_on[i]);
	}
	top->num_switched_on = 0;
}

/* Does what was asked for. */
static void
answer_yes(Top *top)
{
	PGresult   *result;

	if (top->purpose == FOR_SWITCH)
	{
		switch_on(top);
		top_refresh(top);
		return;
	}
	result = server_query(top->server, top->purpose == FOR_CANCEL ? "SELECT pg_cancel_backend($1::int)" : "SELECT pg_terminate_backend($1::int)",
						  1, (const char *const *) &top->target);
	if (result == NULL)
		top_notice(top, "%s", buffer_text(&top->server->message));
	else if (PQgetvalue(result, 0, 0)[0] == 't')
		top_notice(top, top->purpose == FOR_CANCEL ? "%s was told to cancel its statement." : "%s was told to end.", top->target);
	else
		top_notice(top, "%s is no session, or has ended.", top->target);
	PQclear(result);
	top_refresh(top);
}

/*
 * Goes to a time of the load history that was typed.
 */
static void
go_to_time(Top *top)
{
	PGresult   *result;
	double		ago;

	/* Without a connection nothing can be said of the time. */
	if (top->lost)
		top_refresh(top);
	if (top->lost)
		return;
	result = server_query_time(top->server, "extract(epoch FROM now() - t)", top->input);
	ago = result ? strtod(PQgetvalue(result, 0, 0), NULL) : NAN;
	PQclear(result);
	if (top->server->conn == NULL)
	{
		top->lost = true;
		top_notice(top, "%s", buffer_text(&top->server->message));
		return;
	}
	if (!isfinite(ago))
	{
		top_notice(top, "\"%s\" is no time: 14:05, 2026-01-31 14:05, or 90 min", top->input);
		return;
	}
	top->past.ago = ago > 0 ? ago : 0;
	top->past.looked = 0;
	top_refresh(top);
}

/* What to do with a line that was typed. */
static void
take_input(Top *top)
{
	char	   *end;
	double		seconds;

	switch (top->purpose)
	{
		case FOR_FILTER:
			free(top->filter);
			top->filter = top->input[0] ? copy_string(top->input) : NULL;
			top->row = top->top_row = 0;
			/* The view has dropped rows: make it anew. */
			top_arrange(top);
			break;
		case FOR_INTERVAL:
			errno = 0;
			seconds = strtod(top->input, &end);
			if (*end != '\0' || end == top->input || !(seconds >= 0.5 && seconds <= 3600))
				top_notice(top, "\"%s\" is not a number of seconds from 0.5 to 3600", top->input);
			else
				top->interval = seconds;
			break;
		default:
			go_to_time(top);
	}
}

/* A key while a line is typed. */
static void
input_key(Top *top, int key)
{
	size_t		length = strlen(top->input);

	if (key == KEY_ESCAPE)
		top->mode = MODE_ROWS;
	else if (key == '\r' || key == '\n' || key == KEY_ENTER)
	{
		top->mode = MODE_ROWS;
		take_input(top);
	}
	else if (key == KEY_BACKSPACE || key == 127 || key == '\b')
	{
		/* The whole of a character of UTF-8. */
		while (length > 0 && (top->input[length - 1] & 0xC0) == 0x80)
			length--;
		if (length > 0)
			length--;
		top->input[length] = '\0';
	}
	else if (key >= 32 && key < 256 && length + 1 < sizeof(top->input))
	{
		top->input[length] = (char) key;
		top->input[length + 1] = '\0';
	}
}

/* Moves the column by which rows are sorted, over those that can be seen; where the query has an order, over that, too. */
static void
move_sort(Top *top, int by)
{
	TopTab	   *tab = &top->tabs[top->current];
	int			first = top->screen->sort ? 0 : -1;
	int			n = screen_width(top->screen) - first;
	int			column = tab->sort;

	if (top->num_keys > 0 || top->screen != screens[top->current])
		return;
	for (int i = 0; i < n; i++)
	{
		column = (column - first + by + n) % n + first;
		if (column < 0 || top_is_visible(&top->screen->columns[column]))
			break;
	}
	tab->sort = column;
	tab->sort_up = false;
	top_arrange(top);
}

/* Goes to the present. */
static void
leave_past(Top *top)
{
	top->past.ago = top->past.looked = 0;
	top->window = 10;
}

/* Goes back or on in the load history by a window. */
static void
move_time(Top *top, int by)
{
	double		step = top->window < 60 ? 60 : top->window;

	if (!top->history)
	{
		top_notice(top, "This server keeps no load history, so there is no past to show.");
		return;
	}
	if (by < 0 && top->past.ago <= 0)
		top->window = step;
	top->past.ago += by < 0 ? step : -step;
	if (top->past.ago <= 0)
		leave_past(top);
	top_refresh(top);
}

static void
move_row(Top *top, int by)
{
	int			last = top->view ? top->view->num_rows - 1 : 0;

	top->row += by;
	top->row = top->row > last ? last : top->row;
	top->row = top->row < 0 ? 0 : top->row;
}

/* A key while rows are shown. */
static void
rows_key(Top *top, int key)
{
	TopTab	   *tab = &top->tabs[top->current];

	if (key >= '1' && key < '1' + NUM_SCREENS)
	{
		top_show(top, key - '1');
		return;
	}
	switch (key)
	{
		case 'q':
			top->quit = true;
			break;
		case '?':
			top->mode = MODE_HELP;
			break;
		case '\t':
			top_show(top, (top->current + 1) % NUM_SCREENS);
			break;
		case KEY_BTAB:
			top_show(top, (top->current + NUM_SCREENS - 1) % NUM_SCREENS);
			break;
		case KEY_ESCAPE:
		case KEY_BACKSPACE:
		case 127:
			if (top->num_keys > 0)
				top_show(top, top->current);
			break;
		case '\r':
		case '\n':
		case KEY_ENTER:
			top_show_detail(top);
			break;
		case KEY_UP:
			move_row(top, -1);
			break;
		case KEY_DOWN:
			move_row(top, 1);
			break;
		case KEY_PPAGE:
			move_row(top, -top_num_lines(top));
			break;
		case KEY_NPAGE:
			move_row(top, top_num_lines(top));
			break;
		case KEY_LEFT:
			move_sort(top, -1);
			break;
		case KEY_RIGHT:
			move_sort(top, 1);
			break;
		case 'r':
			/* Details have an order of their own. */
			if (top->num_keys == 0)
			{
				tab->sort_up = !tab->sort_up;
				top_arrange(top);
			}
			break;
		case 't':
			top->since_start = !top->since_start;
			top_arrange(top);
			break;
		case 'p':
			top->paused = !top->paused;
			break;
		case ' ':
			top_refresh(top);
			break;
		case '/':
			ask_for(top, FOR_FILTER, "Only rows with this text (empty: all): ");
			break;
		case 'd':
			ask_for(top, FOR_INTERVAL, "Seconds between two refreshes: ");
			break;
		case 'g':
			if (top->history)
				ask_for(top, FOR_TIME, "Go to this time (14:05, 2026-01-31 14:05, or 90 min ago): ");
			else
				move_time(top, 0);
			break;
		case '<':
			move_time(top, -1);
			break;
		case '>':
			move_time(top, 1);
			break;
		case KEY_END:
			leave_past(top);
			top_refresh(top);
			break;
		case 'c':
			ask_for_signal(top, FOR_CANCEL);
			break;
		case 'k':
			ask_for_signal(top, FOR_TERMINATE);
			break;
		case 'i':
			ask_for_switch(top);
			break;
		case KEY_RESIZE:
			break;
		default:
			top_notice(top, "This key does nothing here; ? shows those that do.");
	}
}

/* Any key: what it does depends on the mode. */
void
top_key(Top *top, int key)
{
	if (key != KEY_RESIZE)
	{
		free(top->notice);
		top->notice = NULL;
	}
	if (top->mode == MODE_INPUT)
		input_key(top, key);
	else if (key == KEY_RESIZE)
		return;
	else if (top->mode == MODE_HELP)
		top->mode = MODE_ROWS;
	else if (top->mode == MODE_CONFIRM)
	{
		top->mode = MODE_ROWS;
		if (key == 'y' || key == 'Y')
			answer_yes(top);
		else
			top_notice(top, "Nothing was done.");
	}
	else
		rows_key(top, key);
}
