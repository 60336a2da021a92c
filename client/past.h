/*
 * past.h
 *	  Times: how long counters have been counting, and what the load history has of a
 *	  time.
 */
#ifndef PAST_H
#define PAST_H

#include "server.h"

/* A time in the load history. */
typedef struct Past
{
	double		seconds;		/* how long; what is found may be shorter */
	double		ago;			/* how long before now it ends, when it was
								 * looked for last; it stays where it is */
	double		looked;			/* when that was, by clock_seconds(); 0: not
								 * yet */

	/* Filled by past_find(). */
	const char *params[3];		/* since, till, resolution, as texts */
	const char *why_not;		/* there is none: a static text */
	char		texts[3][64];
} Past;

/*
 * Finds the coarsest resolution that tells of a time, and its periods' first begin and last
 * end.  False: the server has a problem, or else keeps no history of it, see why_not.
 */
extern bool past_find(Server *server, Past *past);

/* The last seconds of the finest resolution. */
extern bool past_latest(Server *server, Past *past);

/* Does the server keep a load history at this moment? */
extern bool load_history_is_on(Server *server);

/* Seconds since what a table shows was reset; 0: not known. */
extern double seconds_since_reset(Server *server, const char *table);

/* Is any instrument with such a name on? */
extern bool instrument_is_on(Server *server, const char *pattern);

#endif
