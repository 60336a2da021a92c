/*
 * cmd_report.c
 *	  pfs report: what a server did, between two snapshots, in the next seconds, or in a past time.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "screen.h"

static const Option report_options[] = {
	{"seconds", 's', "SECONDS", "report on the next SECONDS of a server"},
	{"since", 0, "TIME", "report on a past time, from the load history; '1 hour' is ago"},
	{"till", 0, "TIME", "end of that time; now, if it is not given"},
	{"rows", 'r', "ROWS", "show at most so many rows of a section (50)"},
	{"format", 'f', "FORMAT", "html (default), text or json"},
	OPTION_OUTPUT,
	{NULL}
};

/* Adds one sample, which stands for so many microseconds; none when a signal comes. */
static void
sample_load(Server *server, ReportLoad *load, int64_t start, int64_t length)
{
	char	   *query = format_string("SELECT class, sum(sessions) FROM (%s) q (class, event, sessions) GROUP BY 1", screen_load_now.query);
	PGresult   *result = server_query_until_signal(server, query, 0, NULL);
	ReportPoint *point;

	free(query);
	if (result == NULL)
		return;
	point = load_point(load, start, length);
	for (int row = 0; row < PQntuples(result); row++)
		point->times[load_type(load, PQgetvalue(result, row, 0))] +=
			(Number) atoll(PQgetvalue(result, row, 1)) * length * 1000000;
	PQclear(result);
}

/* Watches a server; the samples are for one that keeps no load history itself, or is late with it. */
static Report *
report_live(const Options *options, int seconds, int most)
{
	Server	   *server = server_open_or_die(options, "pfs report", 0);
	ReportLoad	sampled = {.sampled = true};
	Snapshot   *earlier;
	Snapshot   *later;
	Report	   *report;
	long		taken = clock_ms();
	long		moment;
	long		end;

	catch_signals();
	earlier = snapshot_take(server);
	moment = clock_ms();
	end = moment + seconds * 1000L;
	do
	{
		progress("watching the server, seconds", seconds - (end - moment) / 1000, seconds);
		sample_load(server, &sampled, earlier->taken + (moment - taken) * 1000, (end - moment < 1000 ? end - moment : 1000) * 1000);
	} while (wait_for_next(&moment, 1000, end));
	progress_end();

	/*
	 * What was seen so far is a report, too; a second signal ends the
	 * program.
	 */
	if (server_forget_signal(server))
		warn("interrupted: the report is on the time until now");
	later = snapshot_take(server);
	server_close(server);
	report = report_of_snapshots("live", earlier, later, sampled.num_points ? &sampled : NULL, most);
	snapshot_free(earlier);
	snapshot_free(later);
	return report;
}

/* Checks what goes together, makes the report and writes it. */
static int
run_report(const Command *command, Options *options)
{
	const char *format = option_value(options, "format");
	const char *since = option_value(options, "since");
	const char *till = option_value(options, "till");
	int			seconds = option_integer(options, "seconds", 1, 86400, 0);
	int			most = option_integer(options, "rows", 1, 100000, REPORT_MOST_ROWS);
	Report	   *report;
	Sink	   *sink;

	if (format && strcmp(format, "html") != 0 && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
		die(STATUS_UNUSABLE, "option --format takes html, text or json, not \"%s\"", quote(format));
	/* Of a server there is no file to be named: this is its database. */
	if ((seconds > 0 || since) && options->num_arguments == 1 && options->dbname == NULL && !option_given(options, "dbname"))
	{
		options->dbname = options->arguments[0];
		options->num_arguments = 0;
	}
	if ((options->num_arguments > 0) + (seconds > 0) + (since || till) != 1)
		die(STATUS_UNUSABLE, "give one of: two snapshots, --seconds, --since (try \"pfs report --help\")");
	if (options->num_arguments == 1)
		die(STATUS_UNUSABLE, "a second snapshot is missing: pfs report OLDER NEWER");
	if (till && !since)
		die(STATUS_UNUSABLE, "--till needs --since");
	/* One that cannot be written says so before there is anything to lose. */
	sink = sink_open(option_value(options, "output"));
	if (options->num_arguments == 2)
	{
		Snapshot   *earlier = snapshot_read_or_die(options->arguments[0]);
		Snapshot   *later = snapshot_read_or_die(options->arguments[1]);

		report = report_of_snapshots("snapshots", earlier, later, NULL, most);
		snapshot_free(earlier);
		snapshot_free(later);
	}
	else if (seconds > 0)
		report = report_live(options, seconds, most);
	else
	{
		Server	   *server = server_open_or_die(options, "pfs report", 101);

		report = report_of_history(server, since, till, most);
		server_close(server);
	}
	if (format && strcmp(format, "json") == 0)
		report_write_json(report, sink);
	else if (format && strcmp(format, "text") == 0)
		report_write_text(report, sink);
	else
		report_write_html(report, sink);
	sink_close(sink);
	report_free(report);
	return STATUS_OK;
}

const Command command_report = {
	.name = "report",
	.help = "what a server did between two snapshots, in the next seconds, or in a past time",
	.arguments = "[OLDER NEWER]",
	.min_arguments = 0,
	.max_arguments = 2,
	.options = report_options,
	.details = "  pfs report OLDER NEWER        the difference of two files of \"pfs snapshot\"\n"
	"  pfs report --seconds 60       the next minute\n"
	"  pfs report --since '2 hours'  a past time, as far as the load history reaches back\n\n"
	"TIME is a time as PostgreSQL reads it ('2026-03-01 14:00', in the connection's TimeZone), or an interval\n"
	"before now ('90 min').\n",
	.run = run_report,
};
