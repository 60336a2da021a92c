/*
 * screen.h
 *	  What a screen is: a query, its columns, how they are differenced.
 *
 * One definition serves "pfs top" and the commands that show the same once.  A query's
 * columns are those of the screen in the same order, without the derived ones.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include "server.h"
#include "table.h"

typedef enum ColumnRole
{
	ROLE_KEY,					/* with the other keys, tells rows apart */
	ROLE_LABEL,					/* shown as it is */
	ROLE_NOW,					/* a number as it is now */
	ROLE_SUM,					/* a counter: shown as its difference */
	/* Derived: the query does not have them. */
	ROLE_RATIO,					/* column a by column b */
	ROLE_PER_SECOND,			/* column a by the seconds between the
								 * readings */
	ROLE_ACTIVE,				/* column a, a time, by the time between the
								 * readings */
	ROLE_SHARE,					/* column a by its sum over all rows */
	ROLE_MOSTLY,				/* the largest part of the row in the screen's
								 * breakdown, as text */
} ColumnRole;

typedef struct ScreenColumn
{
	const char *name;
	ColumnKind	kind;
	int			width;			/* on a screen; 0: what is left; -1: only in
								 * CSV and JSON */
	ColumnRole	role;
	const char *a;				/* of derived columns */
	const char *b;
	bool		wide;			/* only on terminals of 110 columns and more */
} ScreenColumn;

/* A consumer or a pattern of instruments, and what is missing while it is off. */
typedef struct ScreenNeed
{
	const char *name;
	const char *missing;
} ScreenNeed;

/* How a screen of many rows is read again: see changes.c. */
typedef struct ScreenChanges
{
	/*
	 * Parameters: seconds since the earlier reading began, and the count of
	 * the row of all others then.  Rows as those of the screen's query,
	 * without their text, behind a column that says what they are: "changed",
	 * or "present" for the keys of each row that there is; anything else if
	 * all is to be read.
	 */
	const char *query;

	/* Keys and texts of rows whose id is in the parameter, an array. */
	const char *texts;

	/*
	 * Numbers of values: of the key that the array has, of the count, of the
	 * text.
	 */
	int			id;
	int			count;
	int			text;
} ScreenChanges;

typedef struct Screen Screen;
typedef struct Reading Reading;

struct Screen
{
	const char *name;			/* the command, and the tab; NULL for others
								 * than screens[] */
	const char *title;			/* one line, for help */
	const char *query;
	const ScreenColumn *columns;	/* ends with a NULL name */
	const char *sort;			/* the column that it is sorted by at first,
								 * downwards; NULL: as the query has it */
	bool		has_sums;		/* differences mean something */
	bool		loses_parts;	/* that of files: sums go back where a part of
								 * a row goes, and what it counted goes to the
								 * row REMOVED_FILES of its kind */
	int			extension;		/* the oldest that has its columns: 101 is
								 * 1.1; 0: any */
	const char *since;			/* the table whose reset_time() is the begin
								 * of all sums */

	/*
	 * Another query with the same keys, a name and a sum, for ROLE_MOSTLY.
	 * Its parameter is an array of query_id; NULL: of all rows.
	 */
	const char *breakdown;

	const ScreenChanges *changes;	/* NULL: it is read as a whole each time */

	/* Makes the rows anew from what the query had; NULL: they are its rows. */
	void		(*arrange) (Server *server, Reading *reading);

	/* What Enter shows of a row; its parameters are the row's keys. */
	const Screen *detail;

	/*
	 * An instrument without which there is nothing to see; top can switch it
	 * on and off again: a pattern of names.
	 */
	const char *instrument;

	/*
	 * Switches that it needs besides global_instrumentation, the consumers
	 * above others first; ends with a NULL name.
	 */
	const ScreenNeed *needs;

	/* A query for lines about what else is not known; NULL: nothing. */
	const char *unknown;

	/*
	 * Rows with a text in this column are shown although nothing happened in
	 * them.
	 */
	const char *always;

	/* The column by which a row names a session that can be cancelled. */
	const char *pid;

	/* Said where there is no row. */
	const char *empty;
};

extern const Screen screen_load;
extern const Screen screen_load_now;	/* without a load history */
extern const Screen screen_past_statements;
extern const Screen screen_past_waits;
extern const Screen screen_sessions;
extern const Screen screen_session_detail;	/* the last events of one */
extern const Screen screen_locks;
extern const Screen screen_statements;
extern const Screen screen_waits;
extern const Screen screen_tables;
extern const Screen screen_files;
extern const Screen screen_memory;
extern const Screen screen_plans;

#define NUM_SCREENS 9
extern const Screen *const screens[NUM_SCREENS];

extern int	screen_width(const Screen *screen); /* number of columns */
extern int	screen_column(const Screen *screen, const char *name);	/* -1: none */

static inline bool
is_derived(const ScreenColumn *column)
{
	return column->role >= ROLE_RATIO;
}

#endif
/*
 * Which values of the screen of files are the kind and the name, and the name of what removed
 * files have counted.
 */
#define FILES_KIND 0
#define FILES_NAME 3
#define REMOVED_FILES "(removed files)"
