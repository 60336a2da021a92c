/*
 * report_build.c
 *	  A report of two snapshots: what has to be known of them, the load, the first figures.
 */
#include "report_build.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "message.h"

/* ---- instruments ---- */

/* Looks for an instrument of that name that the later snapshot says is on. */
bool
build_is_on(const ReportBuild *build, const char *prefix)
{
	const SnapshotTable *table = snapshot_table(build->later, "setup_instruments");

	for (int row = 0; table && row < table->num_rows; row++)
	{
		const char *name = table_cell(table, row, table_column(table, "name"));
		const char *enabled = table_cell(table, row, table_column(table, "enabled"));

		if (name && strncmp(name, prefix, strlen(prefix)) == 0 && enabled && strcmp(enabled, "YES") == 0)
			return true;
	}
	return false;
}

/* A column of an instrument; NULL: there is none, or it is null. */
static const char *
instrument(const ReportBuild *build, const char *event, const char *column)
{
	const SnapshotTable *table = snapshot_table(build->later, "setup_instruments");
	int			name = table ? table_column(table, "name") : -1;

	for (int row = 0; name >= 0 && row < table->num_rows; row++)
	{
		const char *there = table_cell(table, row, name);

		if (there && strcmp(there, event) == 0)
			return table_cell(table, row, table_column(table, column));
	}
	return NULL;
}

bool
build_has_property(const ReportBuild *build, const char *event, const char *property)
{
	const char *properties = instrument(build, event, "properties");

	return properties && strstr(properties, property) != NULL;
}

const char *
build_wait_type(const ReportBuild *build, const char *event)
{
	const char *type = instrument(build, event, "wait_class");

	/* Before 1.2 there are PostgreSQL's words alone. */
	if (type == NULL)
		type = instrument(build, event, "wait_event_type");
	return type ? type : "Other";
}

/* ---- differences ---- */

/* Makes the difference of a table; a table that was met before has its notices already. */
Difference *
build_difference(ReportBuild *build, const char *table)
{
	Difference *difference = difference_of(build->earlier, build->later, table);
	char		time[TIME_TEXT];
	char	   *mark;

	if (difference == NULL)
		return NULL;
	/* Once for each table. */
	mark = format_string("%s ", table);
	for (int i = 0; i < build->report->num_notices; i++)
	{
		if (strncmp(build->report->notices[i], mark, strlen(mark)) == 0)
		{
			free(mark);
			return difference;
		}
	}
	free(mark);
	if (difference->reset)
	{
		const char *restarted = build->later->facts[FACT_pfs_started];

		/* What a restart in between took was said already. */
		if (restarted == NULL || fact_time(restarted) <= build->earlier->taken ||
			difference->since > fact_time(restarted) + 1000000)
			report_notice(build->report, "%s was reset at %s: its numbers are those since then.", table,
						  time_text(&build->report->zone, difference->since, time));
	}
	else if (snapshot_table(build->earlier, table) == NULL)
		report_notice(build->report, "%s is missing in the earlier snapshot: its numbers are those since %s.", table,
					  time_text(&build->report->zone, difference->since, time));
	if (difference->restarted_rows > 0)
		report_notice(build->report, "%s has %d rows whose counters went back: the server had forgotten them, or a part of the table was "
					  "reset. They count from then.", table, difference->restarted_rows);
	return difference;
}

/* ---- what has to be known of the two ---- */

static bool
facts_differ(const ReportBuild *build, SnapshotFact fact)
{
	const char *a = build->earlier->facts[fact];
	const char *b = build->later->facts[fact];

	return a && b && strcmp(a, b) != 0;
}

/* Who has read a snapshot; and did they see the statements of other roles, as far as the file says? */
static const char *
role_of(const Snapshot *snapshot)
{
	return snapshot->facts[FACT_role] ? snapshot->facts[FACT_role] : "";
}

static bool
sees_all(const Snapshot *snapshot)
{
	return snapshot->facts[FACT_sees_all] == NULL || strcmp(snapshot->facts[FACT_sees_all], "no") != 0;
}

/* Refuses what has no meaning, and says what makes numbers mean something else. */
static void
check_pair(ReportBuild *build)
{
	const Snapshot *a = build->earlier;
	const Snapshot *b = build->later;
	char		time[TIME_TEXT];

	if (facts_differ(build, FACT_system_identifier))
		die(STATUS_UNUSABLE, "the snapshots are of two clusters (system identifiers %s and %s): give two of the same server",
			quote(a->facts[FACT_system_identifier]), quote(b->facts[FACT_system_identifier]));
	if (a->taken >= b->taken)
		die(STATUS_UNUSABLE, "the first snapshot is not older than the second: give the older one first");
	if (facts_differ(build, FACT_data_directory))
		report_notice(build->report, "The snapshots are of two servers of one cluster, as a primary and its standby are, "
					  "in %s and %s: their difference means nothing.",
					  a->facts[FACT_data_directory], b->facts[FACT_data_directory]);
	else if (facts_differ(build, FACT_in_recovery))
		report_notice(build->report, "The server was %s at the first snapshot and %s at the second.",
					  strcmp(a->facts[FACT_in_recovery], "yes") == 0 ? "a standby" : "no standby",
					  strcmp(b->facts[FACT_in_recovery], "yes") == 0 ? "a standby" : "none");
	if (facts_differ(build, FACT_pfs_started) && b->facts[FACT_pfs_started])
	{
		int64_t		started = fact_time(b->facts[FACT_pfs_started]);

		if (started > a->taken)
			report_notice(build->report, "The server was restarted, or one of its processes crashed, in between: "
						  "numbers are those since %s; what was counted before is lost, but for statements by digest, "
						  "where the server keeps them.", time_text(&build->report->zone, started, time));
	}
	if (facts_differ(build, FACT_database))
		report_notice(build->report, "The snapshots were read in databases \"%s\" and \"%s\". Relations and functions have names in their own database "
					  "only: what the first one knows by number counts here since its reset.", a->facts[FACT_database], b->facts[FACT_database]);
	if (facts_differ(build, FACT_sees_all))
		report_notice(build->report, "Role \"%s\" of one snapshot does not see the statements of other roles, role \"%s\" of the other does: "
					  "what only the second one has counts here since its reset.",
					  role_of(sees_all(a) ? b : a), role_of(sees_all(a) ? a : b));
	if (!sees_all(b))
		report_notice(build->report, "Role \"%s\" does not see the statements of other roles: GRANT pg_read_all_stats "
					  "or pg_monitor shows them.", role_of(b));
	for (int i = 0; i < b->num_gaps; i++)
		report_notice(build->report, "%s could not be read: %s", b->gaps[i].name, b->gaps[i].reason);
}

/* What nobody recorded cannot be in the report. */
static void
check_consumers(ReportBuild *build)
{
	const SnapshotTable *table = snapshot_table(build->later, "setup_consumers");

	for (int row = 0; table && row < table->num_rows; row++)
	{
		const char *name = table_cell(table, row, table_column(table, "name"));
		const char *enabled = table_cell(table, row, table_column(table, "enabled"));

		if (name == NULL || enabled == NULL || strcmp(enabled, "NO") != 0)
			continue;
		if (strcmp(name, "global_instrumentation") == 0 || strcmp(name, "thread_instrumentation") == 0 ||
			strcmp(name, "statements_digest") == 0)
			report_notice(build->report, "Consumer %s is off: %s. SELECT pfs.set_consumers('%s', 'YES') switches it on.",
						  name, name[0] == 'g' ? "nothing is recorded" :
						  name[0] == 't' ? "only global and per-object numbers are recorded" : "statements by digest are not recorded",
						  name);
	}
	if (table && table->num_rows == 0)
		report_notice(build->report, "pfs.enabled is off: nothing is recorded until it is on and the server restarted.");
}

/* ---- load ---- */

/*
 * Takes the time between the snapshots from the load history of the later one, in the
 * finest resolution that covers it.
 */
static void
take_load(ReportBuild *build)
{
	const SnapshotTable *table = snapshot_table(build->later, "load_history");
	ReportLoad *load = &build->report->load;
	int64_t		from = build->earlier->taken;
	int64_t		till = build->later->taken;
	Number		resolutions[8];
	Number		first[8];
	int			num_resolutions = 0;
	int			best = -1;
	int			column_resolution = table ? table_column(table, "resolution") : -1;
	int			column_start = table ? table_column(table, "period_start") : -1;
	int			column_length = table ? table_column(table, "length") : -1;

	for (int row = 0; table && row < table->num_rows; row++)
	{
		Number		resolution;
		Number		start;
		int			i;

		if (!table_number(table, row, column_resolution, &resolution) || !table_number(table, row, column_start, &start))
			continue;
		for (i = 0; i < num_resolutions && resolutions[i] != resolution; i++);
		if (i == 8)
			continue;
		if (i == num_resolutions)
		{
			resolutions[num_resolutions] = resolution;
			first[num_resolutions++] = start;
		}
		if (start < first[i])
			first[i] = start;
	}

	/*
	 * They come from the finest to the coarsest; without one that reaches
	 * back so far, the last.
	 */
	for (int i = 0; i < num_resolutions; i++)
	{
		best = i;
		if (first[i] <= from + resolutions[i] * 1000000)
			break;
	}
	for (int row = 0; best >= 0 && row < table->num_rows; row++)
	{
		const char *type = table_cell(table, row, table_column(table, "wait_event_type"));
		Number		resolution;
		Number		start;
		Number		length;
		Number		time;

		if (table_number(table, row, column_resolution, &resolution) && resolution == resolutions[best] &&
			table_number(table, row, column_start, &start) && table_number(table, row, column_length, &length) &&
			table_number(table, row, table_column(table, "sum_timer_wait"), &time) &&
			type && length > 0 && length < (Number) 1 << 60 && start >= 0 && start + length > from && start < till)
			load_point(load, (int64_t) start, (int64_t) length)->times[load_type(load, type)] += time;
	}
}

/* What the statements' time was spent on. */
static void
build_wait_types(ReportBuild *build)
{
	static const TableColumn columns[] = {
		{"type", COLUMN_TEXT, 24}, {"active_sessions", COLUMN_REAL}, {"most_active_sessions", COLUMN_REAL},
		{"time", COLUMN_TIME}, {"share", COLUMN_PERCENT}
	};
	static const char *const titles[] = {"on", "active sessions", "at most", "time", "share"};
	ReportLoad *load = &build->report->load;
	ReportSection *section = report_section(build->report, "load", "Load",
											"What the sessions' statements spent their time on: on a processor or waiting for "
											"one (CPU), or in a wait, by PostgreSQL's words. By time.", columns, titles, 5);
	Number		total = load_total(load, -1);

	for (int type = 0; type < load->num_types; type++)
	{
		Number		time = load_total(load, type);
		double		most = 0;
		ReportRow  *row;

		if (time == 0)
			continue;
		for (int i = 0; i < load->num_points; i++)
		{
			double		average = (double) load->points[i].times[type] / 1e6 / load->points[i].length;

			if (average > most)
				most = average;
		}
		row = section_row(section);
		row_text(row, 0, load->types[type]);
		row_real(row, 1, load_average(load, type));
		row_real(row, 2, most);
		row_number(row, 3, time);
		row_real(row, 4, (double) time / (double) total);
	}
	section_sort(section, 3, build->most);
	if (load->num_points == 0)
		section->empty = copy_string("There is no load over time: the snapshots have no load history of it "
									 "(pfs 1.1 keeps one unless pfs.load_history_interval is 0), and it was not sampled.");
}

/* ---- figures ---- */

static Number
sum_growth(Difference *difference, const char *column)
{
	Number		sum = 0;

	for (int row = 0; difference && row < difference->table->num_rows; row++)
	{
		if (!difference->hidden[row])
			sum += growth_of(difference, row, table_column(difference->table, column));
	}
	return sum;
}

/* Seconds that a table's numbers are about. */
static double
seconds_of(const ReportBuild *build, const Difference *difference)
{
	double		seconds = (build->later->taken - (difference ? difference->since : build->earlier->taken)) / 1e6;

	return seconds > 0 ? seconds : 1e-6;
}

/* How busy the sessions were; sums over the server, and what they are by the second. */
static void
build_figures(ReportBuild *build)
{
	Difference *statements = build_difference(build, "events_statements_summary_global_by_event_name");
	Difference *transactions = build_difference(build, "events_transactions_summary_global_by_event_name");
	Difference *errors = build_difference(build, "events_errors_summary_global_by_error");
	Difference *files = build_difference(build, "file_summary_by_event_name");
	Difference *status = build_difference(build, "status");
	Number		count = sum_growth(statements, "count_star");
	Number		timed = sum_growth(statements, "count_timed");
	Number		raised = 0;
	Number		handled = 0;

	if (build->report->load.num_points > 0)
		report_figure_active(build->report);
	if (statements)
	{
		report_figure(build->report, "statements", "Statements", COLUMN_COUNT, count,
					  format_string("%s a second", format_count((double) count / seconds_of(build, statements))));
		report_figure(build->report, "statement_average", "Average statement", COLUMN_TIME,
					  timed ? sum_growth(statements, "sum_timer_wait") / timed : 0, NULL);
	}
	if (transactions)
		report_figure(build->report, "transactions", "Transactions", COLUMN_COUNT, sum_growth(transactions, "count_star"),
					  format_string("%s a second",
									format_count((double) sum_growth(transactions, "count_star") / seconds_of(build, transactions))));
	for (int row = 0; errors && row < errors->table->num_rows; row++)
	{
		const char *severity = table_cell(errors->table, row, table_column(errors->table, "severity"));

		if (severity && strcmp(severity, "WARNING") == 0)
			continue;
		raised += growth_of(errors, row, table_column(errors->table, "sum_error_raised"));
		handled += growth_of(errors, row, table_column(errors->table, "sum_error_handled"));
	}
	if (errors)
		report_figure(build->report, "errors", "Errors", COLUMN_COUNT, raised,
					  format_string("%s handled", format_count((double) handled)));
	if (files)
	{
		report_figure(build->report, "bytes_read", "Read from files", COLUMN_BYTES, sum_growth(files, "sum_number_of_bytes_read"), NULL);
		report_figure(build->report, "bytes_written", "Written to files", COLUMN_BYTES, sum_growth(files, "sum_number_of_bytes_write"), NULL);
	}
	if (status)
		report_figure(build->report, "lost", "Events lost", COLUMN_COUNT, sum_growth(status, "count_lost"), NULL);
	difference_free(statements);
	difference_free(transactions);
	difference_free(errors);
	difference_free(files);
	difference_free(status);
}

/* ---- all of it ---- */

/* Which server this is, as far as the later snapshot knows. */
static void
build_facts(ReportBuild *build)
{
	char	   *const *facts = build->later->facts;
	char		time[TIME_TEXT];

	report_fact(build->report, "server", facts[FACT_cluster_name]);
	report_fact(build->report, "host", facts[FACT_host]);
	report_fact(build->report, "port", facts[FACT_port]);
	report_fact(build->report, "database", facts[FACT_database]);
	report_fact(build->report, "PostgreSQL", facts[FACT_version]);
	report_fact(build->report, "pfs", facts[FACT_pfs_version]);
	report_fact(build->report, "standby", facts[FACT_in_recovery]);
	report_fact(build->report, "read as", facts[FACT_role]);
	if (facts[FACT_postmaster_started])
		report_fact(build->report, "server started", time_text(&build->report->zone, fact_time(facts[FACT_postmaster_started]), time));
	report_fact(build->report, "system identifier", facts[FACT_system_identifier]);
}

/* Makes all parts; the load comes first, as its kinds of wait have the colours of the rest. */
Report *
report_of_snapshots(const char *source, const Snapshot *earlier, const Snapshot *later, const ReportLoad *sampled, int most)
{
	ReportBuild build = {0};

	build.report = report_new(source, earlier->taken, later->taken);
	zone_parse(&build.report->zone, later->facts[FACT_time_zone]);
	build.earlier = earlier;
	build.later = later;
	build.most = most;
	take_load(&build);
	if (build.report->load.num_points == 0 && sampled)
		build.report->load = *sampled;
	check_pair(&build);
	check_consumers(&build);
	build_facts(&build);
	build_figures(&build);
	build_wait_types(&build);
	build_statements(&build);
	build_tables(&build);
	return build.report;
}
