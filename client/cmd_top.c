/*
 * cmd_top.c
 *	  pfs top: the screens, refreshed.
 *
 * The loop reads, shows, and waits for a key or the next refresh.  What a key does is in
 * top_keys.c, what is drawn in top_draw.c.  The connection may go at any time: what was read
 * last stays visible, and each refresh tries to connect again.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before curses, which has macros of short names. */
#include "changes.h"
#include "command.h"
#include "recording.h"
#include "top.h"

#include <curses.h>

/* How long a server may take for a query of a screen, in milliseconds. */
#define QUERY_LIMIT 20000

/* The head's part from the load history is read anew after so many seconds. */
#define HISTORY_INTERVAL 10.0

static void event_notice(Top *top, const char *format,...) __attribute__((format(printf, 2, 3)));

static void
set_notice(Top *top, bool answers, const char *format, va_list arguments)
{
	Buffer		text = {0};

	buffer_vprintf(&text, format, arguments);
	free(top->notice);
	top->notice = copy_string(buffer_text(&text));
	top->answered = answers;
	buffer_free(&text);
}

void
top_notice(Top *top, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	set_notice(top, true, format, arguments);
	va_end(arguments);
}

/* Says what has happened to the connection. */
static void
event_notice(Top *top, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	set_notice(top, false, format, arguments);
	va_end(arguments);
}

/* Says what each refresh finds, unless an answer to the user stands there. */
static void
state_notice(Top *top, const char *text)
{
	if (top->notice == NULL || !top->answered)
		event_notice(top, "%s", text);
}

/* Forgets what the present screen has read. */
static void
drop_readings(Top *top)
{
	view_free(top->view);
	top->view = NULL;
	reading_free(top->before);
	reading_free(top->now);
	top->before = top->now = NULL;
}

/* The tab's column is one of its screen of the present: in another one it is found by its name. */
int
top_sort_column(const Top *top)
{
	const Screen *present = screens[top->current];
	int			sort = top->tabs[top->current].sort;
	int			same;

	if (top->screen == present)
		return sort;

	/*
	 * Details have an order of their own, and the past has some of the
	 * columns of the present.
	 */
	same = top->num_keys == 0 && sort >= 0 ? screen_column(top->screen, present->columns[sort].name) : -1;
	return same >= 0 ? same : screen_column(top->screen, top->screen->sort);
}

/* Makes the view of the readings: differenced, filtered, sorted. */
void
top_arrange(Top *top)
{
	double		seconds = top->past.seconds;
	const Screen *screen = top->screen;
	bool		detail = top->num_keys > 0;

	view_free(top->view);
	top->view = NULL;
	if (top->now == NULL)
		return;
	if (screen->has_sums && (top->since_start || top->before == NULL) && screen->since)
		seconds = seconds_since_reset(top->server, screen->since);
	top->view = view_make(top->now, top->since_start ? NULL : top->before, seconds);
	view_filter(top->view, detail ? NULL : top->filter);
	view_sort(top->view, top_sort_column(top), !detail && top->tabs[top->current].sort_up);
	if (top->row >= top->view->num_rows)
		top->row = top->view->num_rows > 0 ? top->view->num_rows - 1 : 0;
}

/* A number of a result; missing where it is NULL. */
static double
number(const PGresult *result, int column, double missing)
{
	return PQgetisnull(result, 0, column) ? missing : strtod(PQgetvalue(result, 0, column), NULL);
}

static bool
truth(const PGresult *result, int column)
{
	return PQgetvalue(result, 0, column)[0] == 't';
}

/* Sessions at this moment, what of them is not recorded, and how many statements ended since the last refresh. */
static void
read_head(Top *top)
{
	TopHead    *head = &top->head;
	PGresult   *result = server_query(top->server,
									  "SELECT count(t.thread_id), count(*) FILTER (WHERE t.processlist_command = 'Query'),"
									  " count(*) FILTER (WHERE t.processlist_command = 'Query' AND w.thread_id IS NOT NULL),"
									  " count(*) FILTER (WHERE t.processlist_command = 'Sleep in transaction'),"
									  " max(pfs.timer_now('transaction') - x.timer_start),"
									  " (SELECT sum(count_star) FROM pfs.events_statements_summary_global_by_event_name WHERE event_name LIKE 'statement/sql/%'),"
									  " c.off, c.load_off, c.waits_off, to_char(clock_timestamp(), 'HH24:MI:SS TZ')"
									  " FROM (SELECT bool_or(name = 'global_instrumentation') AS off, bool_or(name = 'statements_digest') AS load_off,"
									  "   bool_or(name IN ('thread_instrumentation', 'events_waits_current')) AS waits_off FROM pfs.setup_consumers WHERE enabled = 'NO') c"
									  " LEFT JOIN pfs.threads t ON t.type = 'FOREGROUND' AND t.thread_os_id <> pg_backend_pid()"
									  " LEFT JOIN (SELECT DISTINCT thread_id FROM pfs.events_waits_current WHERE event_name NOT LIKE 'wait/io/table/%') w USING (thread_id)"
									  " LEFT JOIN (SELECT thread_id, min(timer_start) AS timer_start FROM pfs.events_transactions_current GROUP BY 1) x USING (thread_id)"
									  " GROUP BY 7, 8, 9", 0, NULL);
	double		statements;
	double		seconds = clock_seconds();

	if (result == NULL)
		return;
	head->sessions = (int) number(result, 0, 0);
	head->active = (int) number(result, 1, 0);
	head->waiting = (int) number(result, 2, 0);
	head->idle_in_transaction = (int) number(result, 3, 0);
	head->oldest_transaction = number(result, 4, -1);
	statements = number(result, 5, -1);
	head->off = truth(result, 6);
	head->load_off = head->off || truth(result, 7);
	head->waits_off = head->off || truth(result, 8);
	head->statements[0] = '\0';
	if (!head->off && statements >= top->statements && top->statements >= 0 && seconds > top->statements_at)
		snprintf(head->statements, sizeof(head->statements), "%.0f", (statements - top->statements) / (seconds - top->statements_at));
	snprintf(head->clock, sizeof(head->clock), "%s", PQgetvalue(result, 0, 9));
	top->statements = statements;
	top->statements_at = seconds;
	PQclear(result);
}

/* Average active sessions of the last 1, 5 and 60 minutes, and since when there is at least one. */
static void
read_head_history(Top *top)
{
	static double last = -HISTORY_INTERVAL;
	TopHead    *head = &top->head;
	PGresult   *result;

	if (!top->history || clock_seconds() - last < HISTORY_INTERVAL)
		return;
	last = clock_seconds();
	result = server_query(top->server,
						  "WITH h AS MATERIALIZED (SELECT resolution, period_start, period_end,"
						  "   coalesce(sum(active_sessions) FILTER (WHERE wait_event_type <> 'Idle in transaction'), 0) AS active"
						  "  FROM pfs.load_history WHERE type = 'FOREGROUND' AND resolution = '1 min' AND period_start >= now() - interval '61 min'"
						  "  GROUP BY 1, 2, 3)"
						  " SELECT (SELECT active FROM h ORDER BY period_start DESC LIMIT 1),"
						  "  (SELECT avg(active) FROM h WHERE period_start >= now() - interval '6 min'), (SELECT avg(active) FROM h),"
						  "  (SELECT to_char(min(period_start), 'HH24:MI') FROM h WHERE active >= 1"
						  "    AND period_start > coalesce((SELECT max(period_start) FROM h WHERE active < 1), '-infinity'))", 0, NULL);
	for (int i = 0; i < 3; i++)
		head->load[i] = result && PQntuples(result) == 1 ? number(result, i, -1) : -1;
	head->busy_since[0] = '\0';
	if (result && PQntuples(result) == 1 && !PQgetisnull(result, 0, 3))
		snprintf(head->busy_since, sizeof(head->busy_since), "%s", PQgetvalue(result, 0, 3));
	PQclear(result);
}

/* Which query the present screen and time have, or NULL: this screen has no past. */
static const Screen *
screen_of_time(const Top *top)
{
	const Screen *screen = screens[top->current];

	if (top->past.ago > 0)
		return screen == &screen_statements ? &screen_past_statements : screen == &screen_waits ? &screen_past_waits :
			screen == &screen_load ? screen : NULL;
	if (screen == &screen_load && !top->history)
		return &screen_load_now;
	return screen;
}

/* Reads a time of the load history: the last seconds, or one that lies back. */
static Reading *
read_past(Top *top)
{
	top->past.seconds = top->window;
	if (!(top->past.ago > 0 ? past_find(top->server, &top->past) : past_latest(top->server, &top->past)))
	{
		if (top->server->problem == SERVER_OK)
			state_notice(top, top->past.why_not);
		return NULL;
	}
	return reading_take(top->server, top->screen, 3, top->past.params);
}

/* Connects anew, if the connection is gone; false: it is still gone. */
static bool
have_connection(Top *top)
{
	if (!top->lost)
		return true;
	if (!server_reconnect(top->server) || !server_check(top->server, 100))
	{
		event_notice(top, "no connection, trying again: %s", buffer_text(&top->server->message));
		return false;
	}
	top->lost = false;
	/* Behind a crash, counters may begin anew, or where they were saved. */
	drop_readings(top);
	event_notice(top, "The connection was lost; it is there again, by a new session.");
	return true;
}

/* Asks what of the screen is not recorded. */
static void
read_lacks(Top *top)
{
	free(top->lacks);
	top->lacks = top->server->extension < top->screen->extension ? copy_string("") : recording_lacks(top->server, screens[top->current]);
	top->num_lacks = 0;
	for (const char *p = top->lacks; *p; p++)
		top->num_lacks += *p == '\n';
}

/* Reads what is shown anew. */
void
top_refresh(Top *top)
{
	Reading    *now;

	top->next = clock_seconds() + top->interval;
	if (!have_connection(top))
		return;
	read_head(top);
	read_head_history(top);
	if (top->num_keys == 0)
		top->screen = screen_of_time(top);
	if (top->screen == NULL)
	{
		drop_readings(top);
		top->screen = screens[top->current];
		state_notice(top, "This screen has no past; load, statements and waits have. End leads back to the present.");
		return;
	}

	if (top->server->extension < top->screen->extension)
	{
		drop_readings(top);
		state_notice(top, "This screen needs a newer pfs than this database has: ALTER EXTENSION pfs UPDATE.");
		return;
	}

	/*
	 * The rows of another screen do not fit its columns, also where nothing
	 * can be read.
	 */
	if (top->now && top->now->screen != top->screen)
		drop_readings(top);
	if (top->num_keys > 0)
		now = reading_take(top->server, top->screen, top->num_keys, (const char *const *) top->keys);
	else if (top->screen == &screen_load || top->past.ago > 0)
		now = read_past(top);
	else
	{
		now = reading_take_changes(top->server, top->screen, top->now);
		if (now == NULL && top->server->problem == SERVER_OK)
			now = reading_take(top->server, top->screen, 0, NULL);
	}
	if (now == NULL)
	{
		switch (top->server->problem)
		{
			case SERVER_OK:

				/*
				 * Nothing is known of this time: not what is known of
				 * another.
				 */
				drop_readings(top);
				break;
			case SERVER_LOST:
			case SERVER_TIME_LIMIT:
			case SERVER_NO_CONNECTION:
				top->lost = true;
				/* FALLTHROUGH */
			default:
				event_notice(top, "%s", buffer_text(&top->server->message));
		}
		return;
	}
	reading_free(top->before);
	top->before = top->now;
	top->now = now;
	top_arrange(top);
	read_lacks(top);
}

/* Goes to a screen. */
void
top_show(Top *top, int screen)
{
	drop_readings(top);
	for (int i = 0; i < top->num_keys; i++)
		free(top->keys[i]);
	top->num_keys = 0;
	free(top->of);
	top->of = NULL;
	top->current = screen;
	top->row = top->top_row = 0;
	top_refresh(top);
}

/* Goes to what there is about the marked row. */
void
top_show_detail(Top *top)
{
	const Screen *screen = top->screen;
	char	   *keys[3];
	char	   *of = NULL;
	int			n = 0;

	if (screen->detail == NULL || top->num_keys > 0 || top->view == NULL || top->row >= top->view->num_rows)
		return;
	for (int i = 0; i < top->view->num_columns; i++)
	{
		const Cell *cell = &top->view->rows[top->row][i];

		if (screen->columns[i].role == ROLE_KEY && n < 3)
			keys[n++] = cell->is_null || cell->text == NULL ? NULL : copy_string(cell->text);
		if (screen->columns[i].width >= 0 && screen->columns[i].kind == COLUMN_TEXT && cell->text)
		{
			free(of);
			of = copy_string(cell->text);
		}
	}
	drop_readings(top);
	memcpy(top->keys, keys, sizeof(keys[0]) * n);
	top->num_keys = n;
	top->of = of;
	top->screen = screen->detail;
	top->row = top->top_row = 0;
	top_refresh(top);
}

/* Waits for a key until a moment; ERR: it has come, or a signal. */
static int
wait_for_key(double until)
{
	while (!interrupted)
	{
		struct pollfd descriptor = {.fd = STDIN_FILENO, .events = POLLIN};
		double		left = until - clock_seconds();
		int			key = getch();

		if (key != ERR)
			return key;
		if (left <= 0)
			return ERR;
		if (poll(&descriptor, 1, left > 1 ? 1000 : (int) ceil(left * 1000)) > 0 && (descriptor.revents & (POLLHUP | POLLERR)))
		{
			interrupted = SIGHUP;
			return ERR;
		}
	}
	return ERR;
}

static void
end_screen(void)
{
	if (!isendwin())
		endwin();
}

/* Runs the loop on a terminal, and puts back what was switched when it ends. */
static int
run_top(const Command *command, Options *options)
{
	Top			top = {.screen = &screen_load, .window = 10, .statements = -1, .head = {.load = {-1, -1, -1}}};
	int			signal_number;

	top.interval = option_number(options, "interval", 0.5, 3600, 2);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		die(STATUS_UNUSABLE, "pfs top needs a terminal; \"pfs load\", \"pfs statements\" and others write the same once");
	for (int i = 0; i < NUM_SCREENS; i++)
		top.tabs[i].sort = screen_column(screens[i], screens[i]->sort);
	top.server = server_open_or_die(options, "pfs top", 100);
	/* From here on the screen is in the way of a question. */
	top.server->never_ask = true;
	top.server->time_limit = top.server->query_limit = QUERY_LIMIT;
	top.history = load_history_is_on(top.server);
	catch_signals();
	if (newterm(NULL, stdout, stdin) == NULL)
		die(STATUS_UNUSABLE, "the terminal \"%s\" is not known here", getenv("TERM") ? quote(getenv("TERM")) : "");
	add_clean_up(end_screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (has_colors() && wants_color(stdout))
	{
		start_color();
		use_default_colors();
		init_pair(1, COLOR_CYAN, -1);
		init_pair(2, COLOR_RED, -1);
		init_pair(3, COLOR_YELLOW, -1);
	}
	top_refresh(&top);
	while (!top.quit && !interrupted)
	{
		int			key;

		top_draw(&top);
		key = wait_for_key(top.next);
		if (key != ERR)
			top_key(&top, key);
		if (!top.quit && !interrupted && clock_seconds() >= top.next)
		{
			if (top.paused || top.mode == MODE_INPUT)
				top.next = clock_seconds() + top.interval;
			else
				top_refresh(&top);
		}
	}
	end_screen();
	signal_number = interrupted;
	/* A terminal that goes away says so more than once. */
	signal(SIGHUP, SIG_IGN);
	interrupted = 0;
	top_restore_switches(&top);
	drop_readings(&top);
	server_close(top.server);
	return signal_number && signal_number != SIGINT ? 128 + signal_number : STATUS_OK;
}

static const Option top_options[] = {
	{"interval", 'i', "SECONDS", "between two refreshes (2)"},
	{NULL}
};

const Command command_top = {
	.name = "top",
	.help = "full screen, refreshed: load, sessions, locks, statements, waits, tables, files, memory",
	.options = top_options,
	.details = "Keys are shown at the bottom; \"?\" explains them.\n",
	.run = run_top,
};
