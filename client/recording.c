/*
 * recording.c
 *	  What a server does not record at this moment, of what a screen needs.
 *
 * It is asked anew each time, as anybody may throw a switch.  A server that counts nothing looks
 * as one does on which nothing happens, so whoever shows numbers shows these lines with them.
 */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

/* The consumer above all others. */
#define GLOBAL "global_instrumentation"

/*
 * For each name: how many switches it names, how many of them are off, and how many are on and not
 * timed.  The instrument of rows of tables is off by default, and its times contain those of other waits, so only
 * its own name stands for it.
 */
static const char switches[] =
"SELECT n.i, count(*), count(*) FILTER (WHERE s.enabled = 'NO'), count(*) FILTER (WHERE s.enabled = 'YES' AND s.timed = 'NO'), min(s.kind)"
" FROM unnest($1::text[]) WITH ORDINALITY n (name, i)"
" JOIN (SELECT name, enabled, NULL AS timed, 'consumer' AS kind FROM pfs.setup_consumers"
"  UNION ALL SELECT name, enabled, timed, 'instrument' FROM pfs.setup_instruments) s"
"  ON s.name LIKE n.name AND (s.name <> 'wait/io/table/handler' OR s.name = n.name)"
" GROUP BY n.i ORDER BY n.i";

/* Adds a line about one need of which some are off or not timed. */
static void
add_line(Buffer *lines, const ScreenNeed *need, const char *kind, int all, int off, int untimed)
{
	if (off == 0)
		buffer_printf(lines, "%d of %d of %s are not timed: their time is not known; SELECT pfs.set_instruments('%s', timed => 'YES') changes that.\n",
					  untimed, all, need->name, need->name);
	else if (all == 1)
		buffer_printf(lines, "The %s %s is off: %s; SELECT pfs.set_%ss('%s', 'YES') switches it on.\n",
					  kind, need->name, need->missing, kind, need->name);
	else if (off == all)
		buffer_printf(lines, "All of %s is off: %s; SELECT pfs.set_instruments('%s', 'YES') switches it on.\n",
					  need->name, need->missing, need->name);
	else
		buffer_printf(lines, "%d of %d of %s are off: %s; SELECT pfs.set_instruments('%s', 'YES') switches them on.\n",
					  off, all, need->name, need->missing, need->name);
}

/* Asks for all switches at once, and then for what the screen asks besides. */
char *
recording_lacks(Server *server, const Screen *screen)
{
	Buffer		names = {0};
	Buffer		lines = {0};
	const char *params[1];
	PGresult   *result;

	/* None of the names has a character that means something in an array. */
	buffer_add_string(&names, "{" GLOBAL);
	for (const ScreenNeed *need = screen->needs; need && need->name; need++)
		buffer_printf(&names, ",%s", need->name);
	buffer_add_char(&names, '}');
	params[0] = names.data;
	result = server_query(server, switches, 1, params);
	for (int i = 0; result && i < PQntuples(result); i++)
	{
		int			number = atoi(PQgetvalue(result, i, 0)) - 1;
		int			all = atoi(PQgetvalue(result, i, 1));
		int			off = atoi(PQgetvalue(result, i, 2));
		int			untimed = atoi(PQgetvalue(result, i, 3));

		if (number == 0 && off > 0)
		{
			buffer_add_string(&lines, "RECORDING IS OFF: the consumer " GLOBAL " is off, and what is shown may be of before; "
							  "SELECT pfs.set_consumers('" GLOBAL "', 'YES') switches it on.\n");
			/* Nothing else matters then. */
			break;
		}
		if (number > 0 && (off > 0 || untimed > 0))
			add_line(&lines, &screen->needs[number - 1], PQgetvalue(result, i, 4), all, off, untimed);
	}
	PQclear(result);
	if (result && screen->unknown && (result = server_query(server, screen->unknown, 0, NULL)) != NULL)
	{
		for (int i = 0; i < PQntuples(result); i++)
			buffer_printf(&lines, "%s\n", PQgetvalue(result, i, 0));
		PQclear(result);
	}
	buffer_free(&names);
	return lines.data ? lines.data : copy_string("");
}
