/*
 * report_history.c
 *	  A report of a past time, from the load history of the server.
 *
 * The history has the largest combinations of statement and wait of each period, and the
 * rest of each kind of wait without names; so sums by kind are exact, and a statement's time
 * is what it had in the periods where it was among the largest.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "message.h"
#include "recording.h"

/* What is asked for, as texts that the server reads. */
typedef struct Past
{
	Server	   *server;
	Report	   *report;
	int			most;
	const char *params[3];		/* resolution, since, till */
} Past;

/* ---- which time ---- */

/*
 * Reads a time, as server_query_time() does.  Returns microseconds since 1970 and stores the text for
 * later queries.
 */
static int64_t
read_time(Server *server, const char *option, const char *text, char **timestamp)
{
	/* Infinity is a time and no number of microseconds. */
	PGresult   *result = server_query_time(server, "t, (extract(epoch FROM t) * 1e6)::bigint", text);
	int64_t		time;

	if (result)
	{
		*timestamp = copy_string(PQgetvalue(result, 0, 0));
		time = atoll(PQgetvalue(result, 0, 1));
		PQclear(result);
		return time;
	}
	if (server->conn == NULL)
		die(STATUS_FAILED, "%s", buffer_text(&server->message));
	die(STATUS_UNUSABLE, "option --%s takes a time, such as '10:29', 'yesterday 3:00' or '2026-03-01 14:00', or an interval before now, such as '90 min', not \"%s\"",
		option, quote(text));
}

/* Times are shown in the zone of the connection, as they are read. */
static void
read_zone(Server *server, Zone *zone)
{
	PGresult   *result = server_query_or_die(server, zone_query, 0, NULL);

	zone_parse(zone, field(result, 0, 0));
	PQclear(result);
}

/* The finest resolution that reaches back so far; without one, the one that reaches back farthest. */
static char *
choose_resolution(Server *server, const char *since)
{
	PGresult   *result;
	char	   *resolution;

	result = server_query_or_die(server,
								 "SELECT resolution FROM pfs.load_history GROUP BY resolution"
								 " ORDER BY min(period_start) > $1::timestamptz,"
								 " CASE WHEN min(period_start) > $1::timestamptz THEN min(period_start) END, resolution LIMIT 1",
								 1, &since);
	if (PQntuples(result) == 0)
		die(STATUS_FAILED, "the server has no load history: pfs.load_history_interval is 0, or the recorder has not run yet");
	resolution = copy_string(PQgetvalue(result, 0, 0));
	PQclear(result);
	return resolution;
}

/* ---- load ---- */

#define IN_TIME " resolution = $1::interval AND period_end > $2::timestamptz AND period_start < $3::timestamptz "
#define IN_STATEMENTS IN_TIME "AND type = 'FOREGROUND' AND wait_event_type <> 'Idle in transaction' "

/* Reads the load of each period, by kind of wait. */
static void
take_load(Past *past)
{
	Report	   *report = past->report;
	PGresult   *result;

	result = server_query_or_die(past->server,
								 "SELECT (extract(epoch FROM period_start) * 1e6)::bigint,"
								 " greatest(1, (extract(epoch FROM period_end - period_start) * 1e6)::bigint), wait_event_type,"
								 " sum(sum_timer_wait)"
								 " FROM pfs.load_history WHERE" IN_STATEMENTS
								 " GROUP BY period_start, period_end, wait_event_type ORDER BY period_start",
								 3, past->params);
	for (int row = 0; row < PQntuples(result); row++)
	{
		ReportPoint *point = load_point(&report->load, atoll(PQgetvalue(result, row, 0)), atoll(PQgetvalue(result, row, 1)));
		Number		time;

		if (parse_number(PQgetvalue(result, row, 3), &time))
			point->times[load_type(&report->load, PQgetvalue(result, row, 2))] += time;
	}
	PQclear(result);
	/* Whole periods: the report is on all of the first and the last. */
	if (report->load.num_points > 0)
	{
		const ReportPoint *last = &report->load.points[report->load.num_points - 1];

		report->from = report->load.points[0].start;
		report->till = last->start + last->length;
	}
}

/* Says what is not in the history. */
static void
check_time(Past *past, int64_t since, int64_t till)
{
	char		time[TIME_TEXT];
	const ReportLoad *load = &past->report->load;
	int64_t		missing = 0;
	char	   *lacks = recording_lacks(past->server, &screen_load);
	const char *line;

	report_notice(past->report, "From the load history, in periods of %s: the largest statements and waits of each period have names; "
				  "sums of a kind of wait are exact.", past->params[0]);

	/*
	 * What is off now may have been on, and the other way round: nothing else
	 * tells why there is nothing.
	 */
	for (char *rest = lacks; (line = strsep(&rest, "\n")) != NULL;)
	{
		if (line[0])
			report_notice(past->report, "At this moment: %s", line);
	}
	free(lacks);
	if (load->num_points == 0)
	{
		report_notice(past->report, "The load history has no period with a running statement in this time.");
		return;
	}
	if (load->points[0].start > since + 2 * load->points[0].length)
		report_notice(past->report, "The load history of this time begins at %s.", time_text(&past->report->zone, load->points[0].start, time));
	for (int i = 0; i + 1 < load->num_points; i++)
		missing += load->points[i + 1].start - load->points[i].start - load->points[i].length;
	if (missing > 1000000)
		report_notice(past->report, "In %s of this time no statement ran, or the server was down.", format_time(missing * 1e6));
	if (!past->server->may_see_all)
		report_notice(past->report, "Role \"%s\" does not see the statements of other roles: GRANT pg_read_all_stats or pg_monitor "
					  "shows them.", past->server->role);
}

/* ---- sections ---- */

/*
 * Fills a section from a query whose columns are the section's but for the share, which is
 * computed: how much of a whole its time is, or, where that is 0, of the time of all rows.
 */
static void
fill_section(Past *past, ReportSection *section, int time_column, int share_column, Number whole, const char *sql)
{
	PGresult   *result = server_query_or_die(past->server, sql, 3, past->params);
	Number		total = whole;
	Number		time;

	for (int row = 0; whole == 0 && row < PQntuples(result); row++)
	{
		if (parse_number(PQgetvalue(result, row, time_column), &time))
			total += time;
	}
	for (int row = 0; row < PQntuples(result); row++)
	{
		ReportRow  *added = section_row(section);

		for (int i = 0; i < PQnfields(result); i++)
			row_text(added, i, field(result, row, i));
		if (parse_number(PQgetvalue(result, row, time_column), &time))
			row_real(added, share_column, total ? (double) time / (double) total : 0);
	}
	PQclear(result);
	section_sort(section, time_column, past->most);
}

/*
 * The time by kind of wait, the processor's too.  Of the processor nothing is still running: what the history has there is
 * the length of a statement, whose waits are in it.
 */
static void
add_types(Past *past)
{
	static const TableColumn columns[] = {
		{"type", COLUMN_TEXT, 24}, {"time", COLUMN_TIME}, {"count", COLUMN_COUNT}, {"longest_running", COLUMN_TIME},
		{"share", COLUMN_PERCENT}
	};
	static const char *const titles[] = {"on", "time", "ended", "longest still running", "share"};
	ReportSection *section = report_section(past->report, "load", "Load",
											"What the sessions' statements spent their time on: on a processor or waiting for one "
											"(CPU), or in a wait, by PostgreSQL's words. By time.", columns, titles, 5);

	fill_section(past, section, 1, 4, 0,
				 "SELECT wait_event_type, sum(sum_timer_wait), sum(count_star),"
				 " CASE WHEN wait_event_type <> 'CPU' THEN max(max_timer_wait) END"
				 " FROM pfs.load_history WHERE" IN_STATEMENTS "GROUP BY 1");
}

/*
 * The statements, and what each spent its time on, which is a second query.
 */
static void
add_statements(Past *past)
{
	static const TableColumn columns[] = {
		{"statement", COLUMN_TEXT, 60}, {"database_name", COLUMN_TEXT, 20}, {"user_name", COLUMN_TEXT, 20},
		{"query_id", COLUMN_NUMBER}, {"time", COLUMN_TIME}, {"active_sessions", COLUMN_REAL}, {"share", COLUMN_PERCENT}
	};
	static const char *const titles[] = {"statement", "database", "role", "query id", "time", "active sessions", "share"};
	ReportLoad *load = &past->report->load;
	double		length = (past->report->till - past->report->from) * 1e6;
	ReportSection *section = report_section(past->report, "statements", "Statements",
											"By shape, role and database, in the periods where they were among the largest. Colours "
											"show what their time was spent on. By time; the share is of all sessions' statements.", columns, titles, 7);
	PGresult   *result;

	fill_section(past, section, 4, 6, load_total(load, -1),
				 "SELECT max(digest_text), database_name, user_name, query_id, sum(sum_timer_wait)"
				 " FROM pfs.load_history WHERE" IN_STATEMENTS "AND event_name IS NOT NULL GROUP BY 2, 3, 4");
	for (int i = 0; i < section->num_rows; i++)
	{
		ReportRow  *row = &section->rows[i];

		if (row->cells[0])
			row->text = copy_string(row->cells[0]);
		else
			row->cells[0] = copy_string(row->cells[3] ? "(no text kept)" : "(not shown to this role, or without a query id)");
		row_real(row, 5, length > 0 ? strtod(row->cells[4], NULL) / length : 0);
	}
	result = server_query_or_die(past->server,
								 "SELECT database_name, user_name, query_id, wait_event_type, event_name, sum(count_star),"
								 " sum(sum_timer_wait) FROM pfs.load_history WHERE" IN_STATEMENTS
								 "AND event_name IS NOT NULL GROUP BY 1, 2, 3, 4, 5", 3, past->params);
	for (int i = 0; i < PQntuples(result); i++)
	{
		Number		count;
		Number		time;

		for (int j = 0; j < section->num_rows; j++)
		{
			ReportRow  *row = &section->rows[j];

			if (!same_text(row->cells[3], field(result, i, 2)) || !same_text(row->cells[1], field(result, i, 0)) ||
				!same_text(row->cells[2], field(result, i, 1)))
				continue;
			if (parse_number(PQgetvalue(result, i, 5), &count) && parse_number(PQgetvalue(result, i, 6), &time))
			{
				row_mix(row, load_type(load, PQgetvalue(result, i, 3)), time);
				row_wait(row, PQgetvalue(result, i, 4), count, count, time);
			}
			break;
		}
	}
	PQclear(result);
}

/* The waits in statements, and those of nobody's statement. */
static void
add_waits(Past *past)
{
	static const TableColumn columns[] = {
		{"event_name", COLUMN_TEXT, 60}, {"time", COLUMN_TIME}, {"count", COLUMN_COUNT}, {"longest_running", COLUMN_TIME},
		{"share", COLUMN_PERCENT}
	};
	static const char *const titles[] = {"wait", "time", "ended", "longest still running", "share"};
	ReportSection *section;

	section = report_section(past->report, "waits", "Waits in statements",
							 "What the statements waited for. By time.", columns, titles, 5);
	fill_section(past, section, 1, 4, 0,
				 "SELECT event_name, sum(sum_timer_wait), sum(count_star), max(max_timer_wait)"
				 " FROM pfs.load_history WHERE" IN_STATEMENTS
				 "AND event_name IS NOT NULL AND event_name <> 'cpu' GROUP BY 1");
	section = report_section(past->report, "background", "Waits outside of statements",
							 "What background processes waited for; it is no load of sessions. By time.", columns, titles, 5);
	fill_section(past, section, 1, 4, 0,
				 "SELECT coalesce(event_name, wait_event_type || ', others'), sum(sum_timer_wait), sum(count_star), max(max_timer_wait)"
				 " FROM pfs.load_history WHERE" IN_TIME "AND type = 'BACKGROUND' GROUP BY 1");
}

static void
add_users(Past *past)
{
	static const TableColumn columns[] = {
		{"user_name", COLUMN_TEXT, 32}, {"database_name", COLUMN_TEXT, 32}, {"time", COLUMN_TIME}, {"share", COLUMN_PERCENT}
	};
	static const char *const titles[] = {"role", "database", "time", "share"};
	ReportSection *section = report_section(past->report, "users", "Users",
											"Whose statements these were. By time; the share is of all sessions' statements.", columns, titles, 4);

	fill_section(past, section, 2, 3, load_total(&past->report->load, -1),
				 "SELECT user_name, database_name, sum(sum_timer_wait) FROM pfs.load_history WHERE" IN_STATEMENTS
				 "AND event_name IS NOT NULL GROUP BY 1, 2");
}

/* ---- all of it ---- */

static void
add_facts(Past *past)
{
	Server	   *server = past->server;
	char	   *version = format_string("%d.%d", server->version / 10000, server->version % 10000);

	report_fact(past->report, "host", PQhost(server->conn));
	report_fact(past->report, "port", PQport(server->conn));
	report_fact(past->report, "database", server->database);
	report_fact(past->report, "PostgreSQL", version);
	report_fact(past->report, "standby", server->in_recovery ? "yes" : "no");
	report_fact(past->report, "read as", server->role);
	free(version);
}

/* How busy the sessions were, with what most, and when most. */
static void
add_figures(Past *past)
{
	Report	   *report = past->report;
	const ReportLoad *load = &report->load;
	bool		same_day;
	double		most = 0;
	int64_t		when = 0;
	char		time[TIME_TEXT];
	char		end[TIME_TEXT];

	same_day = strncmp(time_text(&report->zone, report->from, time), time_text(&report->zone, report->till - 1, end),
					   strlen("2026-11-24")) == 0;
	report_figure_active(report);
	for (int i = 0; i < load->num_points; i++)
	{
		Number		sum = 0;

		for (int type = 0; type < load->num_types; type++)
			sum += load->points[i].times[type];
		if ((double) sum / 1e6 / load->points[i].length > most)
		{
			most = (double) sum / 1e6 / load->points[i].length;
			when = load->points[i].start;
		}
	}
	report_figure_real(report, "most_active_sessions", "At most", most,
					   when ? format_string("at %s", time_text(&report->zone, when, time) + (same_day ? strlen("2026-11-24 ") : 0)) : NULL);
	report_figure(report, "time", "Statements' time", COLUMN_TIME, load_total(load, -1), NULL);
}

/* Makes a report of the time from since till till (NULL: now); ends the program where there is no history. */
Report *
report_of_history(Server *server, const char *since, const char *till, int most)
{
	Past		past = {.server = server, .most = most};
	char	   *since_text;
	char	   *till_text;
	int64_t		from = read_time(server, "since", since, &since_text);
	int64_t		end = read_time(server, "till", till ? till : "0 s", &till_text);

	if (from >= end)
		die(STATUS_UNUSABLE, till ? "the time is empty: --till is not behind --since" : "the time is empty: --since is not in the past");
	past.report = report_new("history", from, end);
	read_zone(server, &past.report->zone);
	past.params[0] = choose_resolution(server, since_text);
	past.params[1] = since_text;
	past.params[2] = till_text;
	add_facts(&past);
	take_load(&past);
	check_time(&past, from, end);
	add_figures(&past);
	add_types(&past);
	add_statements(&past);
	add_waits(&past);
	add_users(&past);
	return past.report;
}
