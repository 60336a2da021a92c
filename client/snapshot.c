/*
 * snapshot.c
 *	  Snapshots in memory, and how one is taken from a server.
 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "zone.h"

#define STRINGIFY(name) #name,
const char *const snapshot_fact_names[NUM_FACTS] = {SNAPSHOT_FACTS(STRINGIFY)};

/*
 * Columns that say what a row is about.  They stand first in every table, and a table's key
 * ends before its first column that is none of these.
 */
static const char *const key_columns[] = {
	"event_name", "user_name", "host", "database_name", "query_id", "object_type", "object_schema", "object_name",
	"index_name", "error_name", "sql_state", "severity", "file_name", "tablespace", "kind", "object_instance_begin",
	"bucket_number", "name", "variable_name", "thread_id", "period_start", "resolution", "type", "wait_event_type",
	NULL
};

static bool
is_key(const char *name)
{
	for (int i = 0; key_columns[i]; i++)
	{
		if (strcmp(key_columns[i], name) == 0)
			return true;
	}
	return false;
}

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Every column of the server that only grows is called so. */
static bool
is_counter(const char *name)
{
	return starts_with(name, "count_") || starts_with(name, "sum_") || strcmp(name, "total_connections") == 0;
}

/* The tables that a snapshot is made of, and what it leaves out of the large ones. */
static const struct
{
	const char *name;
	const char *condition;
	const char *columns;		/* NULL: all */
}			wanted_tables[] =

{
	{"events_waits_summary_global_by_event_name"},
	{"events_waits_summary_by_account_by_event_name"},
	{"events_waits_summary_by_user_by_event_name"},
	{"events_waits_summary_by_host_by_event_name"},
	{"events_waits_summary_by_instance", "count_star > 0"},
	{"events_waits_summary_by_digest"},
	{"events_waits_histogram_global", "count_bucket > 0"},
	{"events_stages_summary_global_by_event_name"},
	{"events_stages_summary_by_account_by_event_name"},
	{"events_stages_summary_by_user_by_event_name"},
	{"events_stages_summary_by_host_by_event_name"},
	{"events_statements_summary_global_by_event_name"},
	{"events_statements_summary_by_account_by_event_name"},
	{"events_statements_summary_by_user_by_event_name"},
	{"events_statements_summary_by_host_by_event_name"},
	{"events_statements_summary_by_digest"},
	{"events_statements_summary_by_program"},
	{"events_statements_histogram_global", "count_bucket > 0"},
	{"events_statements_histogram_by_digest", "count_bucket > 0"},
	{"events_transactions_summary_global_by_event_name"},
	{"events_transactions_summary_by_account_by_event_name"},
	{"events_transactions_summary_by_user_by_event_name"},
	{"events_transactions_summary_by_host_by_event_name"},
	{"events_errors_summary_global_by_error"},
	{"events_errors_summary_by_account_by_error"},
	{"events_errors_summary_by_user_by_error"},
	{"events_errors_summary_by_host_by_error"},
	{"memory_summary_global_by_event_name"},
	{"memory_summary_by_account_by_event_name"},
	{"memory_summary_by_user_by_event_name"},
	{"memory_summary_by_host_by_event_name"},
	{"file_summary_by_event_name", "count_star > 0"},
	{"file_summary_by_instance", "count_star > 0"},
	{"file_summary_by_relation", "count_star > 0"},
	{"socket_summary_by_event_name", "count_star > 0"},
	{"socket_summary_by_instance", "count_star > 0"},
	{"table_io_waits_summary_by_table"},
	{"table_io_waits_summary_by_index_usage"},
	{"table_io_waits_summary_by_digest"},
	{"table_lock_waits_summary_by_table"},
	{"objects_summary_global_by_type"},
	{"accounts"},
	{"users"},
	{"hosts"},

	/*
	 * Counters of losses alone; "containers" has them, too, but looks at each
	 * page of the memory.
	 */
	{"status", "variable_name LIKE '%\\_lost'", "variable_name, variable_value::numeric AS count_lost"},
	{"setup_instruments"},
	{"setup_consumers"},
};

#define NUM_WANTED ((int) (sizeof(wanted_tables) / sizeof(wanted_tables[0])))

/* ---- in memory ---- */

/* Makes an empty table, and finds what its columns are; the pointer holds until the next call. */
SnapshotTable *
snapshot_add_table(Snapshot *snapshot, const char *name, int num_columns, const char *const *columns)
{
	SnapshotTable *table;
	bool		keys = true;

	snapshot->tables = reallocate(snapshot->tables, sizeof(SnapshotTable) * (snapshot->num_tables + 1));
	table = &snapshot->tables[snapshot->num_tables++];
	memset(table, 0, sizeof(*table));
	table->name = copy_string(name);
	table->num_columns = num_columns;
	table->columns = allocate(sizeof(char *) * (num_columns + 1));
	table->kinds = allocate(sizeof(CellKind) * (num_columns + 1));
	for (int i = 0; i < num_columns; i++)
	{
		table->columns[i] = copy_string(columns[i]);
		keys = keys && is_key(columns[i]);
		if (keys)
			table->num_keys = i + 1;
		table->kinds[i] = keys ? CELL_KEY : is_counter(columns[i]) ? CELL_COUNTER : CELL_STATE;
	}
	return table;
}

void
table_add_row(SnapshotTable *table, const char *const *cells)
{
	char	  **row;

	if (table->num_rows == table->max_rows)
	{
		table->max_rows = table->max_rows ? table->max_rows * 2 : 64;
		table->cells = reallocate(table->cells, sizeof(char *) * table->max_rows * (table->num_columns + 1));
	}
	row = table->cells + (size_t) table->num_rows++ * table->num_columns;
	for (int i = 0; i < table->num_columns; i++)
		row[i] = cells[i] ? copy_string(cells[i]) : NULL;
}

void
snapshot_add_gap(Snapshot *snapshot, const char *name, const char *reason)
{
	snapshot->gaps = reallocate(snapshot->gaps, sizeof(SnapshotGap) * (snapshot->num_gaps + 1));
	snapshot->gaps[snapshot->num_gaps].name = copy_string(name);
	snapshot->gaps[snapshot->num_gaps++].reason = copy_string(reason);
}

/* Frees a snapshot and all in it; NULL is none. */
void
snapshot_free(Snapshot *snapshot)
{
	if (snapshot == NULL)
		return;
	for (int i = 0; i < snapshot->num_tables; i++)
	{
		SnapshotTable *table = &snapshot->tables[i];

		for (size_t j = 0; j < (size_t) table->num_rows * table->num_columns; j++)
			free(table->cells[j]);
		for (int j = 0; j < table->num_columns; j++)
			free(table->columns[j]);
		free(table->cells);
		free(table->columns);
		free(table->kinds);
		free(table->name);
	}
	for (int i = 0; i < snapshot->num_gaps; i++)
	{
		free(snapshot->gaps[i].name);
		free(snapshot->gaps[i].reason);
	}
	for (int i = 0; i < NUM_FACTS; i++)
		free(snapshot->facts[i]);
	free(snapshot->tables);
	free(snapshot->gaps);
	free(snapshot);
}

const SnapshotTable *
snapshot_table(const Snapshot *snapshot, const char *name)
{
	for (int i = 0; i < snapshot->num_tables; i++)
	{
		if (strcmp(snapshot->tables[i].name, name) == 0)
			return &snapshot->tables[i];
	}
	return NULL;
}

int
table_column(const SnapshotTable *table, const char *name)
{
	for (int i = 0; i < table->num_columns; i++)
	{
		if (strcmp(table->columns[i], name) == 0)
			return i;
	}
	return -1;
}

int64_t
fact_time(const char *fact)
{
	Number		number;

	return parse_number(fact, &number) && number >= 0 && number < (Number) 1 << 62 ? (int64_t) number : 0;
}

const char *
table_cell(const SnapshotTable *table, int row, int column)
{
	return column < 0 ? NULL : table->cells[(size_t) row * table->num_columns + column];
}

bool
table_number(const SnapshotTable *table, int row, int column, Number *number)
{
	const char *cell = table_cell(table, row, column);

	return cell && parse_number(cell, number);
}

/* ---- from a server ---- */

/* Runs a query that may fail; a lost connection ends the program. */
static PGresult *
try_query(Server *server, const char *sql)
{
	PGresult   *result = server_query(server, sql, 0, NULL);

	if (result == NULL && server->conn == NULL)
		die(STATUS_FAILED, "%s", buffer_text(&server->message));
	return result;
}

/* A fact that not every role may see, or not every server has: it is left out then. */
static void
read_fact(Snapshot *snapshot, Server *server, SnapshotFact fact, const char *sql)
{
	PGresult   *result = try_query(server, sql);

	if (result && PQntuples(result) == 1 && !PQgetisnull(result, 0, 0))
		snapshot->facts[fact] = copy_string(PQgetvalue(result, 0, 0));
	PQclear(result);
}

/* When it is there, and who it is. */
static void
read_server(Snapshot *snapshot, Server *server)
{
	PGresult   *result;

	result = server_query_or_die(server,
								 "SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint,"
								 " current_setting('server_version'), current_setting('server_version_num'),"
								 " (SELECT extversion FROM pg_extension WHERE extname = 'pfs'),"
								 " current_database(), current_user, current_setting('cluster_name'), pg_is_in_recovery(),"
								 " (extract(epoch FROM pg_postmaster_start_time()) * 1e6)::bigint,"
								 " pg_has_role('pg_read_all_stats', 'USAGE')", 0, NULL);
	snapshot->taken = atoll(PQgetvalue(result, 0, 0));
	snapshot->facts[FACT_version] = copy_string(PQgetvalue(result, 0, 1));
	snapshot->facts[FACT_version_num] = copy_string(PQgetvalue(result, 0, 2));
	snapshot->facts[FACT_pfs_version] = copy_string(PQgetvalue(result, 0, 3));
	snapshot->facts[FACT_database] = copy_string(PQgetvalue(result, 0, 4));
	snapshot->facts[FACT_role] = copy_string(PQgetvalue(result, 0, 5));
	snapshot->facts[FACT_cluster_name] = copy_string(PQgetvalue(result, 0, 6));
	snapshot->facts[FACT_in_recovery] = copy_string(PQgetvalue(result, 0, 7)[0] == 't' ? "yes" : "no");
	snapshot->facts[FACT_postmaster_started] = copy_string(PQgetvalue(result, 0, 8));
	snapshot->facts[FACT_sees_all] = copy_string(PQgetvalue(result, 0, 9)[0] == 't' ? "yes" : "no");
	PQclear(result);
	snapshot->facts[FACT_host] = copy_string(PQhost(server->conn) ? PQhost(server->conn) : "");
	snapshot->facts[FACT_port] = copy_string(PQport(server->conn) ? PQport(server->conn) : "");
	read_fact(snapshot, server, FACT_system_identifier, "SELECT system_identifier FROM pg_control_system()");
	read_fact(snapshot, server, FACT_data_directory, "SELECT setting FROM pg_settings WHERE name = 'data_directory'");
	read_fact(snapshot, server, FACT_pfs_started, "SELECT (extract(epoch FROM variable_value::timestamptz) * 1e6)::bigint"
			  " FROM pfs.status WHERE variable_name = 'pfs_start_time'");
	read_fact(snapshot, server, FACT_time_zone, zone_query);
}

/* Makes a table of what a query returns, or notes why not. */
static void
read_query(Snapshot *snapshot, Server *server, const char *name, const char *sql)
{
	PGresult   *result = try_query(server, sql);
	SnapshotTable *table;
	const char **cells;
	int			num_columns;

	if (result == NULL)
	{
		snapshot_add_gap(snapshot, name, buffer_text(&server->message));
		return;
	}
	num_columns = PQnfields(result);
	cells = allocate(sizeof(char *) * (num_columns + 1));
	for (int i = 0; i < num_columns; i++)
		cells[i] = PQfname(result, i);
	table = snapshot_add_table(snapshot, name, num_columns, cells);
	for (int row = 0; row < PQntuples(result); row++)
	{
		for (int i = 0; i < num_columns; i++)
			cells[i] = field(result, row, i);
		table_add_row(table, cells);
	}
	free(cells);
	PQclear(result);
}

/* Copies one table of the server. */
static void
read_table(Snapshot *snapshot, Server *server, const char *name, const char *columns, const char *condition)
{
	char	   *sql = format_string("SELECT %s FROM pfs.%s%s%s", columns ? columns : "*", name,
									condition ? " WHERE " : "", condition ? condition : "");

	read_query(snapshot, server, name, sql);
	free(sql);
}

/* An older pfs has fewer tables, which is nothing to mend. */
static bool
has_table(const PGresult *tables, const char *name)
{
	for (int row = 0; row < PQntuples(tables); row++)
	{
		if (strcmp(PQgetvalue(tables, row, 0), name) == 0)
			return true;
	}
	return false;
}

/*
 * When each table was reset.  Read before the tables: a reset in between then shows as
 * counters that went back, not as a table that was never reset.
 */
static PGresult *
read_resets(Server *server)
{
	return try_query(server,
					 "SELECT c.relname, (extract(epoch FROM pfs.reset_time(c.relname::text)) * 1e6)::bigint"
					 " FROM pg_class c WHERE c.relnamespace = to_regnamespace('pfs') AND c.relkind = 'f'"
					 " AND (c.relname ~ '_summary_|_histogram_' OR c.relname IN ('accounts', 'users', 'hosts', 'status'))");
}

/*
 * The load over time, where the server keeps it: seconds of the last quarter of an hour,
 * minutes of the last day, tens of minutes of the last week, by kind of wait.
 */
static void
read_load(Snapshot *snapshot, Server *server)
{
	read_query(snapshot, server, "load_history",
			   "SELECT extract(epoch FROM resolution)::bigint AS resolution, (extract(epoch FROM period_start) * 1e6)::bigint AS period_start,"
			   " (extract(epoch FROM period_end - period_start) * 1e6)::bigint AS length, wait_event_type, sum(sum_timer_wait) AS sum_timer_wait"
			   " FROM pfs.load_history h WHERE type = 'FOREGROUND' AND wait_event_type <> 'Idle in transaction'"
			   " AND period_end > now() - CASE WHEN resolution < '1 min' THEN interval '15 min'"
			   " WHEN resolution = '1 min' THEN interval '1 day' ELSE interval '7 days' END"
			   " GROUP BY h.resolution, h.period_start, period_end, wait_event_type ORDER BY h.resolution, h.period_start");
}

/* Reads the server's facts, the times of resets, the tables, the load. */
Snapshot *
snapshot_take(Server *server)
{
	Snapshot   *snapshot = allocate(sizeof(Snapshot));
	PGresult   *resets;
	PGresult   *tables;

	read_server(snapshot, server);
	resets = read_resets(server);
	tables = server_query_or_die(server, "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('pfs')", 0, NULL);
	for (int i = 0; i < NUM_WANTED; i++)
	{
		progress("reading", i, NUM_WANTED);
		if (has_table(tables, wanted_tables[i].name))
			read_table(snapshot, server, wanted_tables[i].name, wanted_tables[i].columns, wanted_tables[i].condition);
	}
	if (has_table(tables, "load_history"))
		read_load(snapshot, server);
	PQclear(tables);
	progress_end();
	for (int row = 0; resets && row < PQntuples(resets); row++)
	{
		SnapshotTable *table = (SnapshotTable *) snapshot_table(snapshot, PQgetvalue(resets, row, 0));

		if (table && !PQgetisnull(resets, row, 1))
			table->reset = atoll(PQgetvalue(resets, row, 1));
	}
	PQclear(resets);
	return snapshot;
}
