/*
 * reading.h
 *	  What a screen's query returned at one moment, and the view that two of them make.
 */
#ifndef READING_H
#define READING_H

#include "screen.h"

struct Reading
{
	const Screen *screen;
	Reading    *breakdown;		/* its keys come first, then name and sum;
								 * NULL: the screen has none */
	PGresult   *result;			/* whose texts the values are, but those of
								 * own */
	int			num_rows;
	int			num_values;		/* of a row */
	const char **values;
	char	  **own;			/* texts that an arrange function made */
	int			num_own;
	double		asked;			/* when it was asked for, by the monotonic
								 * clock, seconds */
	double		at;				/* when it was there */
	double		whole_at;		/* when all of it was asked for last */
	int			num_all;		/* rows on the server, of which these are some */
	double		whole;			/* the sum of all of them that shares are of;
								 * below zero: these are all */
};

/* One cell: a text, a number, or both; neither: NULL. */
typedef struct Cell
{
	const char *text;
	double		number;
	bool		is_null;
} Cell;

/* A view is what is shown: differenced, derived, filtered, sorted. */
typedef struct View
{
	const Screen *screen;
	int			num_columns;
	int			num_rows;
	Cell	  **rows;
	char	  **own;
	int			num_own;
	double		seconds;		/* between the readings */
	int			num_hidden;		/* rows that the filter took away */
	int			num_all;		/* before it, also those that the server has
								 * kept */
} View;

/* NULL: see the server's problem. */
extern Reading *reading_take(Server *server, const Screen *screen, int num_params, const char *const *params);

/* The same of the first rows by a column, if the server can sort by that; else all of them.  limit 0: all. */
extern Reading *reading_take_first(Server *server, const Screen *screen, int num_params, const char *const *params,
								   int column, bool up, int limit);
extern void reading_free(Reading *reading);

/* Keeps a text as long as the reading. */
extern const char *reading_keep(Reading *reading, char *text);

/*
 * before NULL: what the counters have since their start, seconds ago.  Else the
 * differences; rows in which nothing happened are left out.
 */
extern View *view_make(const Reading *now, const Reading *before, double seconds);
extern void view_filter(View *view, const char *text);
extern void view_sort(View *view, int column, bool up);
extern void view_free(View *view);

/* A cell as it is written into CSV and JSON; in a static buffer or the cell's own text. NULL: none. */
extern const char *cell_value(const Cell *cell, ColumnKind kind);

/* Seconds by the monotonic clock. */
extern double clock_seconds(void);

#endif
