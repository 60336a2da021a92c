/*
 * cmd_doctor.c
 *	  pfs doctor: is pfs loaded, does all of it work, what was lost, what to change.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "escape.h"
#include "format.h"

static const TableColumn columns[] = {
	{"state", COLUMN_TEXT},
	{"subject", COLUMN_TEXT},
	{"finding", COLUMN_TEXT},
	{"advice", COLUMN_TEXT},
};

/* Findings so far. */
typedef struct Diagnosis
{
	Server	   *server;
	Table	   *table;
	bool		to_do;
	bool		unknown;
} Diagnosis;

/*
 * A counter of status above zero, and the setting that decides about it.  Of others that
 * end in "_lost" nothing more is known than their name.
 */
static const struct
{
	const char *counter;
	const char *setting;
}			loss_settings[] =

{
	{"pfs_instruments_lost", "pfs.max_instruments"},
	{"pfs_setup_actors_lost", "pfs.setup_actors_size"},
	{"pfs_setup_objects_lost", "pfs.setup_objects_size"},
	{"pfs_thread_instances_lost", "pfs.max_thread_instances"},
	{"pfs_accounts_lost", "pfs.accounts_size"},
	{"pfs_users_lost", "pfs.users_size"},
	{"pfs_hosts_lost", "pfs.hosts_size"},
	{"pfs_account_counters_lost", "pfs.account_counters_size"},
	{"pfs_thread_counters_lost", "pfs.thread_counters_size"},
	{"pfs_thread_waits_lost", "pfs.thread_waits_size"},
	{"pfs_digests_lost", "pfs.digests_size"},
	{"pfs_digest_waits_lost", "pfs.digests_size"},
	{"pfs_file_instances_lost", "pfs.max_file_instances"},
	{"pfs_file_long_names_lost", "pfs.max_file_instances"},
	{"pfs_file_events_lost", "pfs.max_file_instances"},
	{"pfs_table_instances_lost", "pfs.max_table_instances"},
	{"pfs_table_lock_stat_lost", "pfs.max_table_instances"},
	{"pfs_index_stat_lost", "pfs.max_index_stat"},
	{"pfs_socket_instances_lost", "pfs.max_socket_instances"},
	{"pfs_prepared_statements_instances_lost", "pfs.max_prepared_statements_instances"},
	{"pfs_program_instances_lost", "pfs.max_program_instances"},
	{"pfs_load_history_lost", NULL},
};

static void
find_out(Diagnosis *diagnosis, const char *state, const char *subject, char *finding, const char *advice)
{
	const char *values[] = {state, subject, finding, advice};

	table_add(diagnosis->table, values);
	if (strcmp(state, "to do") == 0)
		diagnosis->to_do = true;
	if (strcmp(state, "unknown") == 0)
		diagnosis->unknown = true;
	free(finding);
}

/* Runs a query of the diagnosis; one that fails is a finding itself. */
static PGresult *
ask(Diagnosis *diagnosis, const char *subject, const char *sql)
{
	Server	   *server = diagnosis->server;
	PGresult   *result = server_query(server, sql, 0, NULL);

	if (result == NULL && server->problem == SERVER_LOST && server_reconnect(server))
		result = server_query(server, sql, 0, NULL);
	if (result == NULL)
		find_out(diagnosis, "unknown", subject, copy_string(buffer_text(&server->message)), NULL);
	return result;
}

/* How many of the places where the server calls pfs work, and which do not. */
static void
check_probes(Diagnosis *diagnosis)
{
	PGresult   *result = ask(diagnosis, "probes",
							 "SELECT count(*) FILTER (WHERE status = 'active'), count(*) FILTER (WHERE status = 'unavailable') FROM pfs.probes");
	const char *unavailable;

	if (result == NULL)
		return;
	unavailable = PQgetvalue(result, 0, 1);
	find_out(diagnosis, strcmp(unavailable, "0") == 0 ? "ok" : "note", "probes",
			 format_string("%s work, %s do not work on this server", PQgetvalue(result, 0, 0), unavailable), NULL);
	PQclear(result);
	result = ask(diagnosis, "probes", "SELECT probe_name, detail FROM pfs.probes WHERE status = 'unavailable' ORDER BY probe_name");
	for (int i = 0; result && i < PQntuples(result); i++)
		find_out(diagnosis, "note", PQgetvalue(result, i, 0), format_string("does not work here: %s", PQgetvalue(result, i, 1)), NULL);
	PQclear(result);
}

static const char *
setting_of(const char *counter, bool *known)
{
	*known = true;
	for (size_t i = 0; i < sizeof(loss_settings) / sizeof(loss_settings[0]); i++)
	{
		if (strcmp(loss_settings[i].counter, counter) == 0)
			return loss_settings[i].setting;
	}
	*known = false;
	return NULL;
}

/* Finds the counters of what was lost, and for each the setting to raise. */
static void
check_losses(Diagnosis *diagnosis)
{
	PGresult   *result = ask(diagnosis, "losses",
							 "SELECT s.variable_name, s.variable_value, g.setting, g.name"
							 " FROM pfs.status s LEFT JOIN pg_settings g ON g.name = 'pfs.' ||"
							 "  regexp_replace(s.variable_name, '^pfs_(events_(?:waits|stages|statements|transactions)_history(?:_long)?)_lost$', '\\1_size')"
							 " WHERE s.variable_name LIKE '%\\_lost' AND s.variable_value ~ '^[0-9]+$' AND s.variable_value <> '0'"
							 " ORDER BY s.variable_name");

	if (result == NULL)
		return;
	if (PQntuples(result) == 0)
		find_out(diagnosis, "ok", "losses", copy_string("nothing was lost"), NULL);
	for (int i = 0; i < PQntuples(result); i++)
	{
		const char *counter = PQgetvalue(result, i, 0);
		bool		known;
		const char *setting = setting_of(counter, &known);
		char	   *advice;

		if (setting == NULL)
			setting = field(result, i, 3);
		if (setting)
			advice = format_string("raise %s and restart the server; SELECT pfs.reset('status') sets the counter to zero", setting);
		else
			advice = copy_string("docs/limits.md says what the counter means");
		find_out(diagnosis, setting ? "to do" : "note", counter,
				 format_string("%s were lost since the server's start or the last reset", PQgetvalue(result, i, 1)), advice);
		free(advice);
	}
	PQclear(result);
}

/* Finds what is switched off: consumers one by one, instruments by kind. */
static void
check_switches(Diagnosis *diagnosis)
{
	PGresult   *result = ask(diagnosis, "consumers",
							 "SELECT coalesce(bool_or(name = 'global_instrumentation'), false), string_agg(name, ', ' ORDER BY name)"
							 " FROM pfs.setup_consumers WHERE enabled = 'NO' AND name <> 'events_statements_cpu'");

	if (result && field(result, 0, 1) == NULL)
		find_out(diagnosis, "ok", "consumers", copy_string("all are on"), NULL);
	else if (result)
	{
		bool		all = PQgetvalue(result, 0, 0)[0] == 't';

		find_out(diagnosis, all ? "to do" : "note", "consumers", format_string("switched off: %s", PQgetvalue(result, 0, 1)),
				 all ? "nothing is recorded; to record again: SELECT pfs.set_consumers('global_instrumentation', 'YES')"
				 : "to switch one on: SELECT pfs.set_consumers('NAME', 'YES')");
	}
	PQclear(result);

	result = ask(diagnosis, "instruments",
				 "SELECT CASE WHEN name = 'wait/io/table/handler' THEN name ELSE split_part(name, '/', 1) || '/' ||"
				 "  CASE WHEN name ~ '^(wait|memory|stage)/' THEN split_part(name, '/', 2) || '/' ELSE '' END || '%' END AS kind,"
				 " count(*) FILTER (WHERE enabled = 'NO'), count(*)"
				 " FROM pfs.setup_instruments GROUP BY 1 HAVING bool_or(enabled = 'NO') ORDER BY 1");
	for (int i = 0; result && i < PQntuples(result); i++)
	{
		char	   *advice = format_string("to switch them on: SELECT pfs.set_instruments('%s', 'YES')", PQgetvalue(result, i, 0));

		find_out(diagnosis, "note", "instruments", format_string("%s of %s are off: %s", PQgetvalue(result, i, 1),
																 PQgetvalue(result, i, 2), PQgetvalue(result, i, 0)), advice);
		free(advice);
	}
	PQclear(result);
}

/* Settings of the server without which pfs has less to show. */
static void
check_settings(Diagnosis *diagnosis)
{
	PGresult   *result = ask(diagnosis, "settings",
							 "SELECT current_setting('compute_query_id'), current_setting('track_activities'),"
							 " (SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused'),"
							 " current_setting('pfs.load_history_interval', true),"
							 " (SELECT setting = '0' FROM pg_settings WHERE name = 'pfs.load_history_interval'),"
							 " (SELECT default_version FROM pg_available_extensions WHERE name = 'pfs')");

	if (result == NULL)
		return;
	if (strcmp(PQgetvalue(result, 0, 0), "off") == 0)
		find_out(diagnosis, "to do", "compute_query_id", copy_string("off: statements have no query_id, so they have no rows by digest"),
				 "set compute_query_id = auto in postgresql.conf and reload");
	if (strcmp(PQgetvalue(result, 0, 1), "off") == 0)
		find_out(diagnosis, "note", "track_activities", copy_string("off: sessions have no application names or texts"), NULL);
	if (field(result, 0, 2) && strcmp(PQgetvalue(result, 0, 2), "0") != 0)
		find_out(diagnosis, "to do", "settings", format_string("%s entries of pfs's settings were refused when the server started",
															   PQgetvalue(result, 0, 2)),
				 "the server's log of its start names them: correct them in postgresql.conf and restart");
	if (field(result, 0, 3) == NULL)
		find_out(diagnosis, "note", "load history", copy_string("this pfs has none"), NULL);
	else if (PQgetvalue(result, 0, 4)[0] == 't')
		find_out(diagnosis, "note", "load history", copy_string("switched off"), "set pfs.load_history_interval = 1s in postgresql.conf and reload");
	else
		find_out(diagnosis, "ok", "load history", format_string("recorded every %s", PQgetvalue(result, 0, 3)), NULL);
	if (extension_number(field(result, 0, 5)) > diagnosis->server->extension)
		find_out(diagnosis, "to do", "extension", format_string("database \"%s\" has pfs %d.%d, and %s is installed",
																diagnosis->server->database, diagnosis->server->extension / 100,
																diagnosis->server->extension % 100, PQgetvalue(result, 0, 5)),
				 "run ALTER EXTENSION pfs UPDATE in each database that has it");
	PQclear(result);
}

/*
 * Is it known which indexes nobody used?  Not where pfs_sys.schema_unused_indexes is empty because rows
 * of tables were not counted since the last reset: says since when, or why not.
 */
static void
check_unused_indexes(Diagnosis *diagnosis)
{
	static const char subject[] = "unused indexes";
	PGresult   *result = ask(diagnosis, subject,
							 "SELECT enabled, s.counted::timestamptz <= r.since, r.since::timestamptz(0)"
							 " FROM pfs.setup_instruments,"
							 "  (SELECT greatest(pfs.reset_time('table_io_waits_summary_by_index_usage'),"
							 "    pfs.reset_time('table_io_waits_summary_by_table')) AS since) r,"
							 "  (SELECT nullif(max(CASE WHEN variable_name = 'pfs_table_io_since' THEN variable_value END), '') AS counted"
							 "    FROM pfs.status) s"
							 " WHERE name = 'wait/io/table/handler'");

	if (result == NULL || PQntuples(result) == 0)
		;
	else if (strcmp(PQgetvalue(result, 0, 0), "NO") == 0)
		find_out(diagnosis, "note", subject,
				 copy_string("not known, and pfs_sys.schema_unused_indexes is empty, while wait/io/table/handler is off"),
				 "SELECT pfs.set_instruments('wait/io/table/handler', 'YES'), pfs.reset('table_io_waits_summary_by_index_usage')"
				 " counts from then on");
	else if (field(result, 0, 1) == NULL || PQgetvalue(result, 0, 1)[0] == 'f')
		find_out(diagnosis, "note", subject,
				 format_string("not known, and pfs_sys.schema_unused_indexes is empty: rows of tables were not counted all the"
							   " time since the last reset, %s", PQgetvalue(result, 0, 2)),
				 "SELECT pfs.reset('table_io_waits_summary_by_index_usage') begins anew");
	else
		find_out(diagnosis, "ok", subject, format_string("known since %s", PQgetvalue(result, 0, 2)), NULL);
	PQclear(result);
}

/* Memory, timer, and what may be inexact. */
static void
check_rest(Diagnosis *diagnosis)
{
	PGresult   *result = ask(diagnosis, "memory",
							 "SELECT (SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_bytes_reserved'),"
							 " (SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_bytes_resident'),"
							 " (SELECT timer_name FROM pfs.setup_timers WHERE name = 'wait'),"
							 " (SELECT string_agg(variable_name || ' ' || variable_value, ', ') FROM pfs.status"
							 "   WHERE variable_name IN ('pfs_reads_inexact', 'pfs_resets_inexact') AND variable_value <> '0')");

	if (result == NULL)
		return;
	if (field(result, 0, 0) && field(result, 0, 1))
		find_out(diagnosis, "ok", "memory", format_string("%s reserved, %s in use", format_bytes(strtod(PQgetvalue(result, 0, 0), NULL)),
														  format_bytes(strtod(PQgetvalue(result, 0, 1), NULL))), NULL);
	if (field(result, 0, 2))
		find_out(diagnosis, "ok", "timer", format_string("waits are timed by %s", PQgetvalue(result, 0, 2)), NULL);
	if (field(result, 0, 3))
		find_out(diagnosis, "note", "inexact", format_string("%s: a process was stopped in the middle of something", PQgetvalue(result, 0, 3)), NULL);
	PQclear(result);
}

/* For people: a line for each finding, its advice on a line of its own. */
static void
write_lines(const Diagnosis *diagnosis, Sink *sink)
{
	bool		color = wants_color(sink_stream(sink));

	for (int i = 0; i < table_rows(diagnosis->table); i++)
	{
		const char *state = table_value(diagnosis->table, i, 0);
		const char *advice = table_value(diagnosis->table, i, 3);
		const char *code = strcmp(state, "to do") == 0 ? "31" : strcmp(state, "ok") == 0 ? "32" : "33";
		Buffer		text = {0};

		buffer_printf(&text, color ? "\033[%sm" : "%.0s", code);
		buffer_printf(&text, "%-7s%s ", state, color ? "\033[0m" : "");
		escape_terminal(&text, table_value(diagnosis->table, i, 1), strlen(table_value(diagnosis->table, i, 1)));
		buffer_add_string(&text, ": ");
		escape_terminal(&text, table_value(diagnosis->table, i, 2), strlen(table_value(diagnosis->table, i, 2)));
		if (advice)
		{
			buffer_add_string(&text, "\n        ");
			escape_terminal(&text, advice, strlen(advice));
		}
		buffer_add_char(&text, '\n');
		sink_write(sink, text.data, text.length);
		buffer_free(&text);
	}
}

/*
 * Makes the diagnosis and writes it.  A server that cannot be asked is a diagnosis, too.
 */
static int
run_doctor(const Command *command, Options *options)
{
	Server	   *server = server_new(options, NULL, "pfs doctor");
	Diagnosis	diagnosis = {.server = server, .table = table_new(columns, 4)};
	OutputFormat format = option_format(options);
	Sink	   *sink;

	if (!server_connect(server))
		find_out(&diagnosis, "unknown", "connection", copy_string(buffer_text(&server->message)), NULL);
	else if (!server_check(server, 0))
	{
		bool		rights = server->problem == SERVER_NO_RIGHTS || server->problem == SERVER_LOST;

		find_out(&diagnosis, rights ? "unknown" : "to do", rights ? "rights" : "pfs", copy_string(buffer_text(&server->message)), NULL);
	}
	else
	{
		find_out(&diagnosis, "ok", "pfs", format_string("loaded and on, version %d.%d in database \"%s\", PostgreSQL %d%s",
														server->extension / 100, server->extension % 100, server->database,
														server->version / 10000, server->in_recovery ? ", a standby" : ""), NULL);
		if (!server->may_see_all)
			find_out(&diagnosis, "note", "rights", format_string("role \"%s\" does not see texts of other roles", server->role),
					 "GRANT pg_monitor to it");
		check_settings(&diagnosis);
		check_probes(&diagnosis);
		check_losses(&diagnosis);
		check_switches(&diagnosis);
		check_unused_indexes(&diagnosis);
		check_rest(&diagnosis);
	}
	sink = sink_open(option_value(options, "output"));
	if (format == FORMAT_TABLE)
		write_lines(&diagnosis, sink);
	else
		table_write(diagnosis.table, sink, format);
	sink_close(sink);
	table_free(diagnosis.table);
	server_close(server);
	return diagnosis.unknown ? STATUS_UNUSABLE : diagnosis.to_do ? STATUS_FAILED : STATUS_OK;
}

static const Option doctor_options[] = {OPTION_FORMAT, OPTION_OUTPUT, {NULL}};

const Command command_doctor = {
	.name = "doctor",
	.help = "is pfs loaded, which probes work, what was lost, which setting to change",
	.options = doctor_options,
	.details = "Exit status: 0 all is well, 1 there is something to do, 2 it cannot tell.\n",
	.run = run_doctor,
};
