/*
 * past.c
 *	  Times: how long counters have been counting, and what the load history has of a
 *	  time.
 */
#include "past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

/* Runs a query of one value and copies it; false: there is none. */
static bool
ask_one(Server *server, const char *sql, int num_params, const char *const *params, char *value, size_t size)
{
	PGresult   *result = server_query(server, sql, num_params, params);
	bool		there = result && PQntuples(result) == 1 && !PQgetisnull(result, 0, 0);

	if (there)
		snprintf(value, size, "%s", PQgetvalue(result, 0, 0));
	PQclear(result);
	return there;
}

bool
load_history_is_on(Server *server)
{
	char		value[8];

	return ask_one(server, "SELECT s.setting <> '0' FROM pg_settings s WHERE s.name = 'pfs.load_history_interval'"
				   " AND to_regclass('pfs.load_history') IS NOT NULL", 0, NULL, value, sizeof(value)) &&
		value[0] == 't';
}

/* Takes the answer to a query of begin, end, resolution and seconds; frees it. */
static bool
take_past(Past *past, PGresult *result)
{
	bool		found = result && PQntuples(result) == 1 && !PQgetisnull(result, 0, 0);

	past->why_not = "the load history has nothing of this time";
	for (int i = 0; found && i < 3; i++)
	{
		snprintf(past->texts[i], sizeof(past->texts[i]), "%s", PQgetvalue(result, 0, i));
		past->params[i] = past->texts[i];
	}
	if (found)
		past->seconds = strtod(PQgetvalue(result, 0, 3), NULL);
	PQclear(result);
	return found;
}

#define PAST_COLUMNS " SELECT min(period_start), max(period_end), min(resolution), extract(epoch FROM max(period_end) - min(period_start))"

bool
past_latest(Server *server, Past *past)
{
	char		seconds[32];
	const char *params[] = {seconds};

	snprintf(seconds, sizeof(seconds), "%.3f", past->seconds);
	past->ago = past->looked = 0;
	return take_past(past, server_query(server, PAST_COLUMNS " FROM pfs.load_history"
										" WHERE resolution = (SELECT make_interval(secs => setting::float8) FROM pg_settings WHERE name = 'pfs.load_history_interval')"
										" AND period_end > now() - greatest(make_interval(secs => $1::float8), resolution * 1.5)", 1, params));
}

/* Takes the periods of the history that lie in the time. */
bool
past_find(Server *server, Past *past)
{
	char		seconds[32];
	char		ago[32];
	const char *params[] = {seconds, ago};
	double		now = clock_seconds();

	if (past->looked > 0)
		past->ago += now - past->looked;
	past->looked = now;
	past->why_not = "this server keeps no load history";
	if (!load_history_is_on(server))
		return false;
	snprintf(seconds, sizeof(seconds), "%.3f", past->seconds + past->ago);
	snprintf(ago, sizeof(ago), "%.3f", past->ago);

	/*
	 * Of the coarsest of the resolutions that tell of the time, as a screen
	 * has one.
	 */
	return take_past(past, server_query(server,
										"WITH p AS MATERIALIZED (SELECT period_start, period_end, resolution"
										"  FROM pfs_sys.load_periods(now() - make_interval(secs => $1::float8), now() - make_interval(secs => $2::float8)))"
										PAST_COLUMNS " FROM p WHERE resolution = (SELECT max(resolution) FROM p)",
										2, params));
}

double
seconds_since_reset(Server *server, const char *table)
{
	char		value[64];

	if (!ask_one(server, "SELECT extract(epoch FROM clock_timestamp() - pfs.reset_time($1))", 1, &table, value, sizeof(value)))
		return 0;
	return strtod(value, NULL);
}

bool
instrument_is_on(Server *server, const char *pattern)
{
	char		value[8];

	return ask_one(server, "SELECT bool_or(enabled = 'YES') FROM pfs.setup_instruments WHERE name LIKE $1", 1, &pattern, value, sizeof(value)) &&
		value[0] == 't';
}
