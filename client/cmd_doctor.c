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
 * Containers that can be full, the setting of each one's size, and the container that has as many records as the
 * setting says: others have a multiple of it.
 */
static const struct
{
	const char *container;
	const char *setting;
	const char *sized;
}			container_settings[] =

{
	{"instruments", "pfs.max_instruments", "instruments"},
	{"setup_actors", "pfs.setup_actors_size", "setup_actors"},
	{"setup_objects", "pfs.setup_objects_size", "setup_objects"},
	{"thread_instances", "pfs.max_thread_instances", "thread_instances"},
	{"accounts", "pfs.accounts_size", "accounts"},
	{"users", "pfs.users_size", "users"},
	{"hosts", "pfs.hosts_size", "hosts"},
	{"account_counters", "pfs.account_counters_size", "account_counters"},
	{"thread_counters", "pfs.thread_counters_size", "thread_counters"},
	{"thread_waits", "pfs.thread_waits_size", "thread_waits"},
	{"digests", "pfs.digests_size", "digests"},
	{"plans", "pfs.plans_size", "plans"},
	{"plan_nodes", "pfs.plan_nodes_size", "plan_nodes"},
	{"plan_node_waits", "pfs.plan_nodes_size", "plan_nodes"},
	{"digest_waits", "pfs.digests_size", "digests"},
	{"digest_rows", "pfs.digests_size", "digests"},
	{"file_instances", "pfs.max_file_instances", "file_instances"},
	{"file_long_names", "pfs.max_file_instances", "file_instances"},
	{"file_events", "pfs.max_file_instances", "file_instances"},
	{"table_instances", "pfs.max_table_instances", "table_instances"},
	{"table_lock_stat", "pfs.max_table_instances", "table_instances"},
	{"index_stat", "pfs.max_index_stat", "index_stat"},
	{"socket_instances", "pfs.max_socket_instances", "socket_instances"},
	{"prepared_statements_instances", "pfs.max_prepared_statements_instances", "prepared_statements_instances"},
	{"program_instances", "pfs.max_program_instances", "program_instances"},
	{"load_history_seconds", "pfs.load_history_seconds", NULL},
	{"load_history_minutes", "pfs.load_history_minutes", NULL},
	{"load_history_ten_minutes", "pfs.load_history_ten_minutes", NULL},
};

#define NUM_CONTAINER_SETTINGS (sizeof(container_settings) / sizeof(container_settings[0]))

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

/* What to do about a container that is full: which setting to raise, from what to what.  NULL: none helps. */
static char *
advise_size(PGresult *sizes, const char *container)
{
	for (int i = 0; i < PQntuples(sizes); i++)
	{
		const char *setting = PQgetvalue(sizes, i, 1);
		double		now = strtod(PQgetvalue(sizes, i, 2), NULL);
		double		most = strtod(PQgetvalue(sizes, i, 3), NULL);

		if (strcmp(PQgetvalue(sizes, i, 0), container) != 0 || PQgetisnull(sizes, i, 2))
			continue;
		if (now >= most)
			return format_string("%s has its largest value, %.0f", setting, now);
		/* How many more would have had a place nobody counts. */
		return format_string("raise %s from %.0f to %.0f and restart the server", setting, now, now * 2 < most ? now * 2 : most);
	}
	return NULL;
}

/* Finds what was lost, and what is nearly full, and for each the setting to raise and a value for it. */
static void
check_losses(Diagnosis *diagnosis)
{
	Buffer		values = {0};
	char	   *sql;
	PGresult   *sizes;
	PGresult   *result;
	int			lost;

	for (size_t i = 0; i < NUM_CONTAINER_SETTINGS; i++)
		buffer_printf(&values, i ? ", ('%s', '%s', '%s')" : "('%s', '%s', '%s')", container_settings[i].container,
					  container_settings[i].setting, container_settings[i].sized ? container_settings[i].sized : "");

	/*
	 * Names of containers, their settings, and these settings' values: -1 is
	 * as many as the container has, or ten or ten thousand rows of a history.
	 */
	sql = format_string("SELECT v.container, v.setting,"
						" CASE WHEN g.setting <> '-1' THEN g.setting::bigint ELSE coalesce(c.records_max, CASE WHEN v.setting LIKE '%%long_size' THEN 10000 ELSE 10 END) END,"
						" g.max_val::bigint"
						" FROM (VALUES %s UNION ALL SELECT regexp_replace(name, '^pfs\\.(.*)_size$', '\\1'), name, '' FROM pg_settings"
						"   WHERE name LIKE 'pfs.events\\_%%\\_history%%\\_size') v (container, setting, sized)"
						" JOIN pg_settings g ON g.name = v.setting LEFT JOIN pfs.containers c ON c.name = v.sized", values.data);
	sizes = ask(diagnosis, "losses", sql);
	free(sql);
	buffer_free(&values);
	result = sizes ? ask(diagnosis, "losses",
						 "SELECT variable_name, variable_value, regexp_replace(variable_name, '^pfs_(.*)_lost$', '\\1') FROM pfs.status"
						 " WHERE variable_name LIKE '%\\_lost' AND variable_value ~ '^[0-9]+$' AND variable_value <> '0'"
						 " ORDER BY variable_name") : NULL;
	lost = result ? PQntuples(result) : -1;
	if (lost == 0)
		find_out(diagnosis, "ok", "losses", copy_string("nothing was lost"), NULL);
	for (int i = 0; i < lost; i++)
	{
		char	   *size = advise_size(sizes, PQgetvalue(result, i, 2));
		char	   *advice = size ? format_string("%s; SELECT pfs.reset('status') sets the counter to zero", size) :
		copy_string("docs/limits.md says what the counter means");

		find_out(diagnosis, size ? "to do" : "note", PQgetvalue(result, i, 0),
				 format_string("%s were lost since the server's start or the last reset", PQgetvalue(result, i, 1)), advice);
		free(advice);
		free(size);
	}
	PQclear(result);
	result = lost >= 0 ? ask(diagnosis, "losses",
							 "SELECT name, records_high_water, records_max FROM pfs.containers"
							 " WHERE records_high_water >= 0.9 * records_max AND records_max > 0 AND records_lost = 0"
							 " AND name NOT LIKE '%history%' ORDER BY name") : NULL;
	for (int i = 0; result && i < PQntuples(result); i++)
	{
		char	   *advice = advise_size(sizes, PQgetvalue(result, i, 0));

		/*
		 * Containers that have a record for all that there can be are full by
		 * design.
		 */
		if (advice)
			find_out(diagnosis, "note", PQgetvalue(result, i, 0),
					 format_string("nearly full: %s of %s records were in use at one time", PQgetvalue(result, i, 1), PQgetvalue(result, i, 2)), advice);
		free(advice);
	}
	PQclear(result);
	PQclear(sizes);
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
		find_out(diagnosis, "to do", "compute_query_id", copy_string("off: statements have no query_id, so all are in one row by digest"),
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
 * of tables were not counted since the last reset: says since when, or why not.  1.0 has no rows of tables.
 */
static void
check_unused_indexes(Diagnosis *diagnosis)
{
	static const char subject[] = "unused indexes";
	PGresult   *result;

	if (diagnosis->server->extension < 101)
		return;
	result = ask(diagnosis, subject,
				 "SELECT pfs.index_usage_unknown(), greatest(pfs.reset_time('table_io_waits_summary_by_index_usage'),"
				 " pfs.reset_time('table_io_waits_summary_by_table'))::timestamptz(0)");
	if (result && field(result, 0, 0))
	{
		/* "reason; what to do" */
		const char *why = PQgetvalue(result, 0, 0);
		const char *advice = strstr(why, "; ");

		find_out(diagnosis, "note", subject,
				 format_string("not known, and pfs_sys.schema_unused_indexes is empty: %.*s",
							   advice ? (int) (advice - why) : (int) strlen(why), why), advice ? advice + 2 : NULL);
	}
	else if (result)
		find_out(diagnosis, "ok", subject, format_string("known since %s", PQgetvalue(result, 0, 1)), NULL);
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
