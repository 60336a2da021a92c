/*
 * server.h
 *	  One connection to a server: how to get it, what is there, queries.
 *
 * Functions of threads of their own may use servers of their own; a server is used by
 * one thread at a time.  A function that can fail returns false or NULL and leaves
 * problem and message in the server; those called ..._or_die() end the program.
 */
#ifndef SERVER_H
#define SERVER_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "buffer.h"
#include "options.h"

typedef enum ServerProblem
{
	SERVER_OK,
	SERVER_NO_CONNECTION,		/* it cannot be reached, or refuses */
	SERVER_LOST,				/* the connection was there and is gone */
	SERVER_TIME_LIMIT,
	SERVER_INTERRUPTED,
	SERVER_NOT_LOADED,			/* the library pfs is not in the server, or is
								 * off */
	SERVER_NO_EXTENSION,
	SERVER_OLD_EXTENSION,
	SERVER_NO_RIGHTS,
	SERVER_QUERY_FAILED,
} ServerProblem;

typedef struct Server
{
	PGconn	   *conn;			/* NULL: no connection now */
	int			time_limit;		/* for connecting and for each query,
								 * milliseconds; 0: none */
	int			query_limit;	/* after which the server itself ends a query,
								 * so that it does not go on for nobody;
								 * milliseconds, 0: none */

	ServerProblem problem;		/* of the last call */
	Buffer		message;		/* one line, with what to do; not yet escaped */

	/* Facts, since the connection was made. */
	int			version;		/* 150020 */
	int			extension;		/* 101 for 1.1; 0: none in this database */
	bool		loaded;			/* the library is in the server */
	bool		in_recovery;
	bool		may_read;		/* USAGE on schema pfs */
	bool		may_see_all;	/* pg_read_all_stats: texts of other roles */
	bool		is_monitor;		/* pg_monitor, which has all the rights that
								 * pfs asks for */
	char	   *database;
	char	   *role;

	/* How to connect. */
	const char *host;
	const char *port;
	const char *user;
	const char *dbname;
	const char *application;
	char	   *password;
	bool		ask;
	bool		never_ask;
} Server;

/*
 * A server as the common options name it.  dbname takes the place of --dbname if it is
 * not NULL; application is the name that the session gets ("pfs top").
 */
extern Server *server_new(const Options *options, const char *dbname, const char *application);

/* Connects, prepares the session (search_path, no JIT, ISO dates, UTF-8) and reads the facts. */
extern bool server_connect(Server *server);

/* Can pfs be read here, and is the extension at least this version (101: 1.1; 0: any)? */
extern bool server_check(Server *server, int extension);

/*
 * Runs one statement.  Parameters are texts, or NULL for NULL.  The result has rows, or
 * none for a command; PQclear() it.  After SERVER_LOST and SERVER_TIME_LIMIT there is no connection.
 */
extern PGresult *server_query(Server *server, const char *sql, int num_params, const char *const *params);

/*
 * Selects columns of t, the time that a text names: a timestamp, a time of the day (the last one that
 * was, in the server's time zone), or an interval before now.  NULL: it is none of them, or the
 * connection is lost.
 */
extern PGresult *server_query_time(Server *server, const char *columns, const char *text);

/* Closes what is there and connects again. */
extern bool server_reconnect(Server *server);

/* The number of a version of the extension, "1.1", or 0. */
extern int	extension_number(const char *version);

/* The exit status for its problem, by which a script can tell apart no way to look and a look that failed. */
extern int	server_status(const Server *server);

/* For commands that run once. */
extern Server *server_open_or_die(const Options *options, const char *application, int extension);

/* As server_query(); a lost connection is made anew, with a message, and the query sent again. */
extern PGresult *server_query_or_die(Server *server, const char *sql, int num_params, const char *const *params);

/*
 * For loops that a signal ends and what comes behind them: the first returns NULL if a signal comes
 * meanwhile; the second forgets it, connects again if it took the connection, and says whether there was one.
 */
extern PGresult *server_query_until_signal(Server *server, const char *sql, int num_params, const char *const *params);
extern bool server_forget_signal(Server *server);

extern void server_close(Server *server);

/* A field of a result as text; NULL where it is NULL. */
static inline const char *
field(const PGresult *result, int row, int column)
{
	return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

#endif
