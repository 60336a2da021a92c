/*
 * metrics.c
 *	  What a server says as metrics: the families, reading them, both formats of Prometheus.
 *
 * A query's columns say what becomes of them: one that is called pfs_... is the value of a
 * sample of that name, all others are labels; NULL makes no sample and no label.  So a new
 * metric is a column and a line in the list of families.
 */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "message.h"

#define SAMPLE_PREFIX "pfs_"

typedef enum FamilyType
{
	COUNTER,
	GAUGE,
	HISTOGRAM,
	INFO,
} FamilyType;

typedef struct Family
{
	const char *name;			/* without what the type adds to it: _total,
								 * _bucket, _info */
	FamilyType	type;
	const char *unit;			/* which the name ends with; NULL: none */
	const char *help;
} Family;

static const Family families[] = {
	{"pfs_up", GAUGE, NULL, "1 if the server answered within the time limit, else 0."},
	{"pfs_scrape_duration_seconds", GAUGE, "seconds", "Time that reading this server took."},
	{"pfs_build", INFO, NULL, "Versions of the server and of the extension."},
	{"pfs_server_start_time_seconds", GAUGE, "seconds", "When the server was started, in seconds since 1970."},
	{"pfs_in_recovery", GAUGE, NULL, "1 on a standby, else 0."},
	{"pfs_wait_events", COUNTER, NULL, "Waits that have ended, by instrument."},
	{"pfs_wait_seconds", COUNTER, "seconds", "Time in waits, by instrument. Those of class wait/io/table contain others."},
	{"pfs_wait_duration_seconds", HISTOGRAM, "seconds", "Lengths of waits by class, without those that wait for work or contain others."},
	{"pfs_statements", COUNTER, NULL, "Statements that have ended, by kind."},
	{"pfs_statement_seconds", COUNTER, "seconds", "Time of statements."},
	{"pfs_statement_lock_seconds", COUNTER, "seconds", "Time of statements in waits for locks."},
	{"pfs_statement_cpu_seconds", COUNTER, "seconds", "Processor time of statements; needs the consumer events_statements_cpu."},
	{"pfs_statement_errors", COUNTER, NULL, "Errors raised in statements."},
	{"pfs_statement_rows_sent", COUNTER, NULL, "Rows that statements returned."},
	{"pfs_statement_rows_affected", COUNTER, NULL, "Rows that statements changed."},
	{"pfs_statement_blocks_hit", COUNTER, NULL, "Pages that statements found in shared buffers."},
	{"pfs_statement_blocks_read", COUNTER, NULL, "Pages that statements read into shared buffers."},
	{"pfs_statement_temp_written_bytes", COUNTER, "bytes", "Written to temporary files."},
	{"pfs_statement_wal_bytes", COUNTER, "bytes", "WAL that statements wrote."},
	{"pfs_statement_duration_seconds", HISTOGRAM, "seconds", "Lengths of statements."},
	{"pfs_query_calls", COUNTER, NULL, "Executions of the 50 statements that took most time, by query identifier."},
	{"pfs_query_seconds", COUNTER, "seconds", "Their time."},
	{"pfs_query_rows", COUNTER, NULL, "Rows that they returned or changed."},
	{"pfs_query", INFO, NULL, "The beginnings of their texts."},
	{"pfs_transactions", COUNTER, NULL, "Transactions that have ended, by access mode."},
	{"pfs_transaction_seconds", COUNTER, "seconds", "Their time."},
	{"pfs_oldest_transaction_seconds", GAUGE, "seconds", "How long the oldest open transaction has been running; 0: none is open."},
	{"pfs_errors", COUNTER, NULL, "Errors and warnings raised."},
	{"pfs_connections", GAUGE, NULL, "Connections now."},
	{"pfs_connections_opened", COUNTER, NULL, "Connections that were made."},
	{"pfs_threads", GAUGE, NULL, "Processes by what they do."},
	{"pfs_lock_waiters", GAUGE, NULL, "Processes that wait for a heavyweight lock now."},
	{"pfs_file_operations", COUNTER, NULL, "Calls on files."},
	{"pfs_file_seconds", COUNTER, "seconds", "Time of calls on files."},
	{"pfs_file_read_bytes", COUNTER, "bytes", "Read from files."},
	{"pfs_file_written_bytes", COUNTER, "bytes", "Written to files."},
	{"pfs_memory_bytes", GAUGE, "bytes", "Memory in use, by instrument."},
	{"pfs_lost", COUNTER, NULL, "What could not be recorded, by container; 0 on a healthy server."},
	{"pfs_container_records", GAUGE, NULL, "Records in use."},
	{"pfs_container_records_max", GAUGE, NULL, "Records that fit."},
	{"pfs_container_resident_bytes", GAUGE, "bytes", "Memory that the container takes."},
};

#define NUM_FAMILIES ((int) (sizeof(families) / sizeof(families[0])))

#define CLASS_OF(event) "regexp_replace(" event ", '/[^/]*$', '')"
#define SECONDS(ps) "trim_scale((" ps ") * 0.000000000001)"
#define LEFT_OUT "(SELECT name FROM pfs.setup_instruments WHERE properties LIKE '%idle%' OR properties LIKE '%contains_waits%')"

/*
 * Bounds of buckets in metrics: 1 us to 1074 s, each twice the one before, the same on every server and
 * after each restart, as the server's own depend on its timer.  A bucket of the server is below the first
 * bound that is not less than its end.
 */
#define BOUNDS "(SELECT i AS place, trim_scale(0.000001 * (1::bigint << i)) AS le FROM generate_series(0, 30) i)"

/* Places of +Inf, and of count and sum, behind all bounds. */
#define PLACE_OF_ALL "31"
#define PLACE_OF_SUM "32"

static const char *const queries[] = {
	"SELECT current_setting('server_version') AS server_version, extversion AS version, 1 AS pfs_build_info "
	"FROM pg_extension WHERE extname = 'pfs'",

	"SELECT extract(epoch FROM pg_postmaster_start_time()) AS pfs_server_start_time_seconds, pg_is_in_recovery()::int AS pfs_in_recovery",

	"SELECT event_name AS event, " CLASS_OF("event_name") " AS class, count_star AS pfs_wait_events_total, "
	SECONDS("sum_timer_wait") " AS pfs_wait_seconds_total "
	"FROM pfs.events_waits_summary_global_by_event_name WHERE count_star > 0",

	"WITH buckets AS MATERIALIZED ("
	" SELECT " CLASS_OF("event_name") " AS class, " SECONDS("bucket_timer_high") " AS high, sum(count_bucket) AS n"
	" FROM pfs.events_waits_histogram_global WHERE event_name NOT IN " LEFT_OUT " GROUP BY 1, 2 HAVING sum(count_bucket) > 0"
	"), sums AS ("
	" SELECT " CLASS_OF("event_name") " AS class, sum(sum_timer_wait) AS s"
	" FROM pfs.events_waits_summary_global_by_event_name WHERE event_name NOT IN " LEFT_OUT " GROUP BY 1"
	") SELECT class, le, bucket AS pfs_wait_duration_seconds_bucket, number AS pfs_wait_duration_seconds_count, seconds AS pfs_wait_duration_seconds_sum FROM ("
	" SELECT class, place, b.le::text AS le, coalesce(sum(n) FILTER (WHERE high <= b.le), 0) AS bucket,"
	"  NULL::numeric AS number, NULL::numeric AS seconds FROM buckets, " BOUNDS " b GROUP BY class, place, b.le"
	" UNION ALL SELECT class, " PLACE_OF_ALL ", '+Inf', sum(n), NULL, NULL FROM buckets GROUP BY class"
	" UNION ALL SELECT class, " PLACE_OF_SUM ", NULL, NULL, sum(n), (SELECT " SECONDS("s") " FROM sums WHERE sums.class = buckets.class) FROM buckets GROUP BY class"
	") x ORDER BY class, place",

	"SELECT regexp_replace(event_name, '^statement/', '') AS statement, count_star AS pfs_statements_total, "
	SECONDS("sum_timer_wait") " AS pfs_statement_seconds_total, " SECONDS("sum_lock_time") " AS pfs_statement_lock_seconds_total, "
	SECONDS("sum_cpu_time") " AS pfs_statement_cpu_seconds_total, sum_errors AS pfs_statement_errors_total, "
	"sum_rows_sent AS pfs_statement_rows_sent_total, sum_rows_affected AS pfs_statement_rows_affected_total, "
	"sum_shared_blks_hit AS pfs_statement_blocks_hit_total, sum_shared_blks_read AS pfs_statement_blocks_read_total, "
	"sum_temp_blks_written * current_setting('block_size')::numeric AS pfs_statement_temp_written_bytes_total, "
	"sum_wal_bytes AS pfs_statement_wal_bytes_total "
	"FROM pfs.events_statements_summary_global_by_event_name WHERE count_star > 0",

	"WITH buckets AS MATERIALIZED ("
	" SELECT " SECONDS("bucket_timer_high") " AS high, count_bucket AS n FROM pfs.events_statements_histogram_global WHERE count_bucket > 0"
	") SELECT le, bucket AS pfs_statement_duration_seconds_bucket, number AS pfs_statement_duration_seconds_count, seconds AS pfs_statement_duration_seconds_sum FROM ("
	" SELECT place, b.le::text AS le, coalesce(sum(n) FILTER (WHERE high <= b.le), 0) AS bucket,"
	"  NULL::numeric AS number, NULL::numeric AS seconds FROM " BOUNDS " b LEFT JOIN buckets ON true GROUP BY place, b.le"
	" UNION ALL SELECT " PLACE_OF_ALL ", '+Inf', coalesce(sum(n), 0), NULL, NULL FROM buckets"
	" UNION ALL SELECT " PLACE_OF_SUM ", NULL, NULL, coalesce(sum(n), 0),"
	"  (SELECT " SECONDS("coalesce(sum(sum_timer_wait), 0)") " FROM pfs.events_statements_summary_global_by_event_name) FROM buckets"
	") x ORDER BY place",

	"WITH top AS MATERIALIZED ("
	" SELECT database_name, user_name, query_id, digest_text, count_star, sum_timer_wait, sum_rows_sent + sum_rows_affected AS n"
	" FROM pfs.events_statements_summary_by_digest WHERE query_id IS NOT NULL ORDER BY sum_timer_wait DESC LIMIT 50"
	") SELECT database_name AS database, user_name AS \"user\", query_id, NULL AS query, count_star AS pfs_query_calls_total, "
	SECONDS("sum_timer_wait") " AS pfs_query_seconds_total, n AS pfs_query_rows_total, NULL::int AS pfs_query_info FROM top "
	"UNION ALL SELECT database_name, user_name, query_id, left(digest_text, 64), NULL, NULL, NULL, 1 FROM top WHERE digest_text IS NOT NULL",

	"SELECT v.mode, v.number AS pfs_transactions_total, " SECONDS("v.ps") " AS pfs_transaction_seconds_total "
	"FROM pfs.events_transactions_summary_global_by_event_name, "
	"LATERAL (VALUES ('read_write', count_read_write, sum_timer_read_write), ('read_only', count_read_only, sum_timer_read_only)) v (mode, number, ps)",

	"SELECT coalesce(" SECONDS("max(greatest(pfs.timer_now('transaction') - timer_start, 0))") ", 0) AS pfs_oldest_transaction_seconds "
	"FROM pfs.events_transactions_current WHERE state = 'ACTIVE'",

	"SELECT error_name AS error, sql_state AS sqlstate, severity, sum_error_raised AS pfs_errors_total "
	"FROM pfs.events_errors_summary_global_by_error WHERE sum_error_raised > 0",

	"SELECT coalesce(user_name, '') AS \"user\", current_connections AS pfs_connections, total_connections AS pfs_connections_opened_total FROM pfs.users",

	"SELECT lower(type) AS type, lower(processlist_command) AS command, count(*) AS pfs_threads FROM pfs.threads GROUP BY 1, 2",

	"SELECT count(*) AS pfs_lock_waiters FROM pfs.events_waits_current WHERE event_name LIKE 'wait/lock/%'",

	"SELECT event_name AS event, v.operation, v.number AS pfs_file_operations_total, " SECONDS("v.ps") " AS pfs_file_seconds_total, "
	"v.read AS pfs_file_read_bytes_total, v.written AS pfs_file_written_bytes_total "
	"FROM pfs.file_summary_by_event_name, LATERAL (VALUES ('read', count_read, sum_timer_read, NULL, NULL),"
	" ('write', count_write, sum_timer_write, NULL, NULL), ('misc', count_misc, sum_timer_misc, NULL, NULL),"
	" (NULL, NULL, NULL, sum_number_of_bytes_read, sum_number_of_bytes_write)) v (operation, number, ps, read, written) WHERE count_star > 0",

	"SELECT event_name AS event, current_number_of_bytes_used AS pfs_memory_bytes "
	"FROM pfs.memory_summary_global_by_event_name WHERE current_number_of_bytes_used > 0",

	"SELECT regexp_replace(variable_name, '^pfs_(.*)_lost$', '\\1') AS container, variable_value AS pfs_lost_total "
	"FROM pfs.status WHERE variable_name ~ '^pfs_.*_lost$'",

	"SELECT name AS container, records_used AS pfs_container_records, records_max AS pfs_container_records_max, "
	"bytes_resident AS pfs_container_resident_bytes FROM pfs.containers",
};

#define NUM_QUERIES ((int) (sizeof(queries) / sizeof(queries[0])))

Metrics *
metrics_new(void)
{
	Metrics    *metrics = allocate(sizeof(Metrics));

	metrics->lines = allocate(sizeof(Buffer) * NUM_FAMILIES);
	return metrics;
}

static void
metrics_clear(Metrics *metrics)
{
	for (int i = 0; i < NUM_FAMILIES; i++)
		buffer_clear(&metrics->lines[i]);
}

void
metrics_free(Metrics *metrics)
{
	if (metrics == NULL)
		return;
	for (int i = 0; i < NUM_FAMILIES; i++)
		buffer_free(&metrics->lines[i]);
	free(metrics->lines);
	free(metrics);
}

/* The family of a sample's name; -1: there is none. */
static int
find_family(const char *sample)
{
	static const char *const endings[][4] = {
		[COUNTER] = {"_total"},
		[GAUGE] = {""},
		[HISTOGRAM] = {"_bucket", "_count", "_sum"},
		[INFO] = {"_info"},
	};

	for (int i = 0; i < NUM_FAMILIES; i++)
	{
		size_t		length = strlen(families[i].name);

		if (strncmp(sample, families[i].name, length) != 0)
			continue;
		for (int e = 0; e < 4 && endings[families[i].type][e]; e++)
		{
			if (strcmp(sample + length, endings[families[i].type][e]) == 0)
				return i;
		}
	}
	return -1;
}

static void
add_label(Buffer *buffer, const char *name, const char *value, bool first)
{
	buffer_printf(buffer, "%s%s=\"", first ? "" : ",", name);
	escape_label(buffer, value, strlen(value));
	buffer_add_char(buffer, '"');
}

static bool
is_sample(const PGresult *result, int column)
{
	return strncmp(PQfname(result, column), SAMPLE_PREFIX, strlen(SAMPLE_PREFIX)) == 0;
}

/*
 * Is the column a label?  The queries name them, but a server can answer what it likes: one that is no
 * name, or is there twice, would make the whole output useless.
 */
static bool
is_label(const PGresult *result, int column)
{
	const char *name = PQfname(result, column);

	return !is_sample(result, column) && name[0] != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] == '\0' &&
		strcmp(name, "server") != 0 && PQfnumber(result, name) == column;
}

/* Makes the samples of a result; a value that is no number makes none. */
static void
add_result(Metrics *metrics, const char *name, const PGresult *result)
{
	Buffer		labels = {NULL};

	for (int row = 0; row < PQntuples(result); row++)
	{
		buffer_clear(&labels);
		add_label(&labels, "server", name, true);
		for (int column = 0; column < PQnfields(result); column++)
		{
			if (field(result, row, column) && is_label(result, column))
				add_label(&labels, PQfname(result, column), field(result, row, column), false);
		}
		for (int column = 0; column < PQnfields(result); column++)
		{
			const char *sample = PQfname(result, column);
			const char *value = field(result, row, column);
			int			family = is_sample(result, column) ? find_family(sample) : -1;

			if (family >= 0 && value && is_json_number(value))
				buffer_printf(&metrics->lines[family], "%s{%s} %s\n", sample, buffer_text(&labels), value);
		}
	}
	buffer_free(&labels);
}

/*
 * Connects where there is no connection, looks whether pfs can be read, and asks all queries, until
 * one fails.  What was read before that is dropped: half of a server's numbers would look like all.
 */
bool
metrics_read(Metrics *metrics, Server *server, const char *name, long deadline)
{
	bool		good = true;

	metrics_clear(metrics);
	for (int i = -2; i < NUM_QUERIES && good; i++)
	{
		long		left = deadline - clock_ms();

		server->time_limit = left > 1 ? (int) left : 1;
		if (i == -2)
			good = server->conn || server_connect(server);
		else if (i == -1)
		{
			/*
			 * What a connection knows of the library, the extension and
			 * rights is of when it was made.
			 */
			good = server_check(server, 0) ||
				(server->problem != SERVER_TIME_LIMIT && server_reconnect(server) && server_check(server, 0));
		}
		else
		{
			PGresult   *result = server_query(server, queries[i], 0, NULL);

			good = result != NULL;
			if (good)
				add_result(metrics, name, result);
			PQclear(result);
		}
	}
	if (!good)
		metrics_clear(metrics);
	return good;
}

void
metrics_add_reading(Metrics *metrics, const char *name, bool up, double seconds)
{
	Buffer		labels = {NULL};

	add_label(&labels, "server", name, true);
	buffer_printf(&metrics->lines[find_family("pfs_up")], "pfs_up{%s} %d\n", buffer_text(&labels), up);
	buffer_printf(&metrics->lines[find_family("pfs_scrape_duration_seconds")], "pfs_scrape_duration_seconds{%s} %.6f\n", buffer_text(&labels), seconds);
	buffer_free(&labels);
}

/*
 * Both formats have the same lines of samples and differ in what stands above them: OpenMetrics
 * calls a counter's family without _total, and knows units and infos.
 */
void
metrics_write(Buffer *out, Metrics *const *servers, int n, bool openmetrics)
{
	static const char *const types[] = {[COUNTER] = "counter",[GAUGE] = "gauge",[HISTOGRAM] = "histogram",[INFO] = "info"};

	for (int i = 0; i < NUM_FAMILIES; i++)
	{
		const Family *family = &families[i];
		const char *ending = openmetrics ? "" : family->type == COUNTER ? "_total" : family->type == INFO ? "_info" : "";
		const char *type = family->type == INFO && !openmetrics ? "gauge" : types[family->type];
		bool		empty = true;

		for (int s = 0; s < n; s++)
			empty = empty && servers[s]->lines[i].length == 0;
		if (empty)
			continue;
		buffer_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, ending, family->help, family->name, ending, type);
		if (openmetrics && family->unit)
			buffer_printf(out, "# UNIT %s %s\n", family->name, family->unit);
		for (int s = 0; s < n; s++)
			buffer_add(out, buffer_text(&servers[s]->lines[i]), servers[s]->lines[i].length);
	}
	if (openmetrics)
		buffer_add_string(out, "# EOF\n");
}
