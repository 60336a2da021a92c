/*
 * server.c
 *	  One connection to a server: how to get it, what is there, queries.
 *
 * Everything waits in wait_for(), which ends at the time limit and at a signal, so that a
 * server that is stopped holds nobody.
 */
#include "server.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "escape.h"
#include "message.h"

static bool
fail(Server *server, ServerProblem problem, const char *format,...)
{
	va_list		arguments;

	server->problem = problem;
	buffer_clear(&server->message);
	va_start(arguments, format);
	buffer_vprintf(&server->message, format, arguments);
	va_end(arguments);
	while (server->message.length > 0 && strchr("\n ", server->message.data[server->message.length - 1]))
		server->message.data[--server->message.length] = '\0';
	return false;
}

Server *
server_new(const Options *options, const char *dbname, const char *application)
{
	Server	   *server = allocate(sizeof(Server));

	server->host = option_value(options, "host");
	server->port = option_value(options, "port");
	server->user = options->username ? options->username : option_value(options, "username");
	server->dbname = dbname ? dbname : options->dbname ? options->dbname : option_value(options, "dbname");
	server->ask = option_given(options, "password");
	server->never_ask = option_given(options, "no-password");
	server->application = application;
	return server;
}

static void
disconnect(Server *server)
{
	PQfinish(server->conn);
	server->conn = NULL;
}

/*
 * Waits until the connection's socket can be read or written, until deadline (0: for ever).
 */
static bool
wait_for(Server *server, short events, long deadline)
{
	for (;;)
	{
		struct pollfd wanted = {.fd = PQsocket(server->conn), .events = events};
		long		left = deadline ? deadline - clock_ms() : -1;
		int			n;

		if (interrupted)
			return fail(server, SERVER_INTERRUPTED, "interrupted");
		if (deadline && left <= 0)
			return fail(server, SERVER_TIME_LIMIT, "the server did not answer within %g s",
						(server->query_limit ? server->query_limit : server->time_limit) / 1000.0);

		/*
		 * A signal that comes between the look at it and the call is seen
		 * within a second.
		 */
		n = poll(&wanted, 1, left < 0 || left > 1000 ? 1000 : (int) left);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return fail(server, SERVER_LOST, "cannot wait for the server: %s", strerror(errno));
	}
}

/* Waits until something can be read from the terminal; false: a signal came. */
static bool
wait_for_line(int terminal)
{
	struct pollfd wanted = {.fd = terminal, .events = POLLIN};

	/* As in wait_for(), a signal before the call is seen within a second. */
	while (!interrupted)
	{
		int			n = poll(&wanted, 1, 1000);

		if (n > 0 || (n < 0 && errno != EINTR))
			return !interrupted;
	}
	return false;
}

/*
 * Reads a password from the terminal, without showing it.  NULL: there is none, or a signal came; it is caught, as
 * the terminal has to show again what is typed.
 */
static char *
read_password(const char *user)
{
	FILE	   *terminal = fopen("/dev/tty", "r+");
	struct termios before;
	struct termios silent;
	char		line[1024];
	char	   *result = NULL;

	if (terminal == NULL)
		return NULL;
	catch_signals();
	tcgetattr(fileno(terminal), &before);
	silent = before;
	silent.c_lflag &= ~ECHO;
	tcsetattr(fileno(terminal), TCSAFLUSH, &silent);
	fprintf(terminal, user ? "Password for user %s: " : "Password: ", user);
	fflush(terminal);
	if (wait_for_line(fileno(terminal)) && fgets(line, sizeof(line), terminal))
	{
		line[strcspn(line, "\n")] = '\0';
		result = copy_string(line);
	}
	tcsetattr(fileno(terminal), TCSAFLUSH, &before);
	fputs("\n", terminal);
	fclose(terminal);
	memset(line, 0, sizeof(line));
	return result;
}

/* What a server remarks, as that its collations have changed, is not what was asked for. */
static void
ignore_notice(void *arg, const char *message)
{
}

/* Starts a connection and follows it to its end, good or bad. */
static bool
try_connect(Server *server)
{
	const char *keywords[] = {"host", "port", "user", "password", "dbname", "fallback_application_name", "client_encoding", NULL};
	const char *values[] = {server->host, server->port, server->user, server->password, server->dbname,
	server->application, "UTF8", NULL};
	const char *limit = NULL;
	long		deadline = server->time_limit ? clock_ms() + server->time_limit : 0;
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;
	PQconninfoOption *settings;

	disconnect(server);
	server->conn = PQconnectStartParams(keywords, values, 1);
	if (server->conn == NULL)
		return fail(server, SERVER_NO_CONNECTION, "out of memory");
	PQsetNoticeProcessor(server->conn, ignore_notice, NULL);
	/* They have what the environment and the service file say, too. */
	settings = PQconninfo(server->conn);
	for (PQconninfoOption *o = settings; o && o->keyword; o++)
	{
		if (strcmp(o->keyword, "connect_timeout") == 0 && o->val)
			limit = o->val;
	}
	if (limit && atoi(limit) > 0 && !deadline)
	{
		int			seconds = atoi(limit) < 2 ? 2 : atoi(limit);

		deadline = clock_ms() + seconds * 1000L;
	}
	PQconninfoFree(settings);
	if (PQstatus(server->conn) == CONNECTION_BAD)
		return fail(server, SERVER_NO_CONNECTION, "%s", PQerrorMessage(server->conn));
	while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED)
	{
		if (!wait_for(server, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline))
		{
			if (server->problem == SERVER_TIME_LIMIT)
				fail(server, SERVER_NO_CONNECTION, "cannot connect: the server did not answer in time");
			return false;
		}
		state = PQconnectPoll(server->conn);
	}
	if (state == PGRES_POLLING_FAILED)
		return fail(server, SERVER_NO_CONNECTION, "%s", PQerrorMessage(server->conn));
	server->problem = SERVER_OK;
	return true;
}

/* Parses "1.1" into 101; 0 for none. */
int
extension_number(const char *version)
{
	int			major = 0;
	int			minor = 0;

	if (version == NULL || sscanf(version, "%d.%d", &major, &minor) < 1)
		return 0;
	return major * 100 + minor;
}

static bool
is_true(const char *value)
{
	return value && value[0] == 't';
}

static void
replace_string(char **place, const char *value)
{
	free(*place);
	*place = value ? copy_string(value) : NULL;
}

/* What this session and this server are like. */
static bool
read_facts(Server *server)
{
	PGresult   *result;

	result = server_query(server,
						  "SELECT current_setting('server_version_num'), pg_is_in_recovery(), current_database(), current_user,"
						  " (SELECT extversion FROM pg_extension WHERE extname = 'pfs'),"
						  " EXISTS (SELECT FROM pg_settings WHERE name = 'pfs.enabled'),"
						  " pg_has_role('pg_read_all_stats', 'USAGE'), has_schema_privilege(to_regnamespace('pfs'), 'USAGE'),"
						  " pg_has_role('pg_monitor', 'USAGE')",
						  0, NULL);
	if (result == NULL)
		return false;
	server->version = atoi(PQgetvalue(result, 0, 0));
	server->in_recovery = is_true(field(result, 0, 1));
	replace_string(&server->database, field(result, 0, 2));
	replace_string(&server->role, field(result, 0, 3));
	server->extension = extension_number(field(result, 0, 4));
	server->loaded = is_true(field(result, 0, 5));
	server->may_see_all = is_true(field(result, 0, 6));
	server->may_read = is_true(field(result, 0, 7));
	server->is_monitor = is_true(field(result, 0, 8));
	PQclear(result);
	return true;
}

/*
 * Connects, with a password from the terminal if the server wants one and there is none, and
 * prepares the session: nothing that was planted in a search path, nor a role's settings, changes
 * what queries mean.
 */
bool
server_connect(Server *server)
{
	/*
	 * In one query: an exporter has a time limit, and its servers may be far
	 * away.
	 */
	static const char settings[] =
	"SELECT pg_catalog.set_config(name, setting, false) FROM (VALUES ('search_path', 'pg_catalog, pg_temp'),"
	" ('client_min_messages', 'warning'), ('datestyle', 'ISO'), ('intervalstyle', 'postgres'), ('extra_float_digits', '1'),"
	" ('standard_conforming_strings', 'on'), ('jit', 'off'), ('lock_timeout', '5s'), ('default_transaction_isolation', 'read committed'),"
	" ('statement_timeout', $1)) AS s (name, setting)";
	bool		asked = server->password != NULL;
	char		limit[32];
	const char *params[] = {limit};
	PGresult   *result;

	if (server->ask && !asked && !server->never_ask)
	{
		server->password = read_password(server->user);
		asked = true;
	}
	while (!try_connect(server))
	{
		bool		needs = server->conn && PQconnectionNeedsPassword(server->conn);

		disconnect(server);
		if (server->problem != SERVER_NO_CONNECTION || !needs || asked || server->never_ask)
			return false;
		server->password = read_password(server->user);
		if (interrupted)
			return fail(server, SERVER_INTERRUPTED, "interrupted");
		if (server->password == NULL)
			return false;
		asked = true;
	}
	snprintf(limit, sizeof(limit), "%d", server->query_limit);
	result = server_query(server, settings, 1, params);
	PQclear(result);
	return result != NULL && read_facts(server);
}

/* Says what keeps pfs from being read here, from the outside to the inside. */
bool
server_check(Server *server, int extension)
{
	PGresult   *result;

	if (server->extension == 0 && !server->loaded)
		return fail(server, SERVER_NOT_LOADED, "pfs is not in this server: "
					"set shared_preload_libraries = 'pfs' in postgresql.conf, restart the server, "
					"then run CREATE EXTENSION pfs in database \"%s\"", server->database);
	if (server->extension == 0)
		return fail(server, SERVER_NO_EXTENSION, "extension pfs is not in database \"%s\": "
					"run CREATE EXTENSION pfs there, or name a database that has it with --dbname", server->database);
	if (!server->may_read)
		return fail(server, SERVER_NO_RIGHTS, "role \"%s\" may not read pfs: GRANT pg_monitor TO \"%s\"",
					server->role, server->role);
	/* Raises what keeps pfs from working, with a hint. */
	result = server_query(server, "SELECT pfs.timer_now()", 0, NULL);
	if (result == NULL)
		return false;
	PQclear(result);
	if (server->extension < extension)
		return fail(server, SERVER_OLD_EXTENSION, "database \"%s\" has pfs %d.%d and this needs %d.%d: "
					"run ALTER EXTENSION pfs UPDATE there", server->database,
					server->extension / 100, server->extension % 100, extension / 100, extension % 100);
	return true;
}

/* A part of an error; NULL: it has none.  Servers can quote whatever they were given, of any length. */
static char *
error_field(const PGresult *result, int code)
{
	const char *field = PQresultErrorField(result, code);

	return field ? short_line(field, 1000) : NULL;
}

/* Sorts an error of the server, and makes one line of it. */
static void
take_error(Server *server, const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	char	   *text = error_field(result, PG_DIAG_MESSAGE_PRIMARY);
	char	   *hint = error_field(result, PG_DIAG_MESSAGE_HINT);
	char	   *detail = error_field(result, PG_DIAG_MESSAGE_DETAIL);
	const char *advice = hint;
	ServerProblem problem = SERVER_QUERY_FAILED;

	if (same_text(state, "42501"))
		problem = SERVER_NO_RIGHTS;
	else if (same_text(state, "55000"))
		problem = SERVER_NOT_LOADED;
	if (problem == SERVER_NO_RIGHTS && advice == NULL)
		advice = detail;
	if (problem == SERVER_NO_RIGHTS && advice == NULL && !server->is_monitor)
		fail(server, problem, "%s: GRANT pg_monitor TO \"%s\" may be what is missing", text, server->role ? server->role : "");
	else
		fail(server, problem, advice ? "%s: %s" : "%s", text ? text : PQresultErrorMessage(result), advice);
	free(text);
	free(hint);
	free(detail);
}

/* The connection ended in the middle of something. */
static PGresult *
lose(Server *server)
{
	fail(server, SERVER_LOST, "the connection is lost: %s", PQerrorMessage(server->conn));
	disconnect(server);
	return NULL;
}

/*
 * Waits for one result; more than one there cannot be.  Gives up the connection where
 * what the server still sends would be taken for the answer to the next query.
 */
static PGresult *
receive(Server *server, long deadline)
{
	PGresult   *last = NULL;
	PGresult   *result;

	for (;;)
	{
		int			unsent;

		while ((unsent = PQflush(server->conn)) > 0 || PQisBusy(server->conn))
		{
			if (!wait_for(server, unsent > 0 ? POLLIN | POLLOUT : POLLIN, deadline))
			{
				/*
				 * A server that does not answer would not answer to this,
				 * either, and one that ends its queries by itself need not be
				 * waited for.
				 */
				bool		needs_cancel = server->problem == SERVER_INTERRUPTED && server->query_limit == 0;
				PGcancel   *cancel = needs_cancel ? PQgetCancel(server->conn) : NULL;
				char		error[256];

				if (cancel)
					PQcancel(cancel, error, sizeof(error));
				PQfreeCancel(cancel);
				PQclear(last);
				disconnect(server);
				return NULL;
			}
			if (PQconsumeInput(server->conn) == 0)
			{
				PQclear(last);
				return lose(server);
			}
		}
		result = PQgetResult(server->conn);
		if (result == NULL)
			return last;
		PQclear(last);
		last = result;
	}
}

/* Sends one statement and waits for its result; errors become problem and message. */
PGresult *
server_query(Server *server, const char *sql, int num_params, const char *const *params)
{
	long		deadline = server->time_limit ? clock_ms() + server->time_limit : 0;
	PGresult   *result;

	server->problem = SERVER_OK;
	if (server->conn == NULL)
	{
		fail(server, SERVER_LOST, "there is no connection");
		return NULL;
	}
	PQsetnonblocking(server->conn, 1);
	if (PQsendQueryParams(server->conn, sql, num_params, NULL, params, NULL, NULL, 0) == 0)
		return lose(server);
	result = receive(server, deadline);
	if (result == NULL)
	{
		if (server->problem == SERVER_OK)
			return lose(server);
		return NULL;
	}
	if (PQresultStatus(result) == PGRES_TUPLES_OK || PQresultStatus(result) == PGRES_COMMAND_OK)
		return result;
	if (PQstatus(server->conn) == CONNECTION_BAD)
	{
		PQclear(result);
		return lose(server);
	}
	take_error(server, result);
	PQclear(result);
	return NULL;
}

/* Is this a number and a word, as "90 min"?  Intervals mostly are, and few times ("1 March 2026"). */
static bool
looks_like_interval(const char *text)
{
	const char *number = &text[strspn(text, " +-")];
	const char *behind = number + strspn(number, "0123456789.");

	return behind > number && isalpha((unsigned char) behind[strspn(behind, " ")]);
}

/* Asks for the time by one expression of $1. */
static PGresult *
query_time_by(Server *server, const char *columns, const char *expression, const char *text)
{
	char	   *sql = format_string("SELECT %s FROM (SELECT %s) AS s (t)", columns, expression);
	PGresult   *result = server_query(server, sql, 1, &text);

	free(sql);
	return result;
}

/*
 * The extension has a function for it from 1.1 on.  Without it, what the text looks like is tried first: it
 * cannot be asked without an error, which the server writes to its log.
 */
PGresult *
server_query_time(Server *server, const char *columns, const char *text)
{
	static const char *const times[] = {
		"CASE WHEN $1::text !~ '^[0-9]{1,2}:[0-9:.]*$' THEN $1::text::timestamptz"
		" ELSE (current_date - ((current_date + $1::text::time)::timestamptz > now())::int + $1::text::time)::timestamptz END",
		"now() - $1::interval",
	};
	int			first = looks_like_interval(text) ? 1 : 0;
	PGresult   *result = NULL;

	if (server->extension >= 101)
	{
		result = query_time_by(server, columns, "pfs_sys.parse_time($1)", text);
		/* Who may read single tables of pfs may not call it. */
		if (result || server->problem != SERVER_NO_RIGHTS)
			return result;
	}
	for (int i = 0; i < 2 && result == NULL && server->conn != NULL; i++)
		result = query_time_by(server, columns, times[i ^ first], text);
	return result;
}

bool
server_reconnect(Server *server)
{
	disconnect(server);
	return server_connect(server);
}

int
server_status(const Server *server)
{
	return server->problem == SERVER_QUERY_FAILED || server->problem == SERVER_INTERRUPTED ? STATUS_FAILED : STATUS_UNUSABLE;
}

Server *
server_open_or_die(const Options *options, const char *application, int extension)
{
	Server	   *server = server_new(options, NULL, application);

	if (!server_connect(server) || !server_check(server, extension))
		die(server_status(server), "%s", buffer_text(&server->message));
	return server;
}

/* Runs a statement for a command that runs once. */
PGresult *
server_query_or_die(Server *server, const char *sql, int num_params, const char *const *params)
{
	PGresult   *result = server_query(server, sql, num_params, params);

	if (result == NULL && server->problem == SERVER_LOST)
	{
		warn("%s; connecting again", buffer_text(&server->message));
		if (server_reconnect(server))
			result = server_query(server, sql, num_params, params);
	}
	if (result == NULL)
		die(server_status(server), "%s", buffer_text(&server->message));
	return result;
}

PGresult *
server_query_until_signal(Server *server, const char *sql, int num_params, const char *const *params)
{
	PGresult   *result = server_query(server, sql, num_params, params);

	if (result || server->problem == SERVER_INTERRUPTED)
		return result;
	return server_query_or_die(server, sql, num_params, params);
}

bool
server_forget_signal(Server *server)
{
	bool		was_interrupted = interrupted != 0;

	interrupted = 0;
	if (server->conn == NULL && !server_reconnect(server))
		die(server_status(server), "%s", buffer_text(&server->message));
	return was_interrupted;
}

void
server_close(Server *server)
{
	if (server == NULL)
		return;
	disconnect(server);
	buffer_free(&server->message);
	free(server->database);
	free(server->role);
	free(server->password);
	free(server);
}
