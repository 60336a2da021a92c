/*
 * top.h
 *	  What "pfs top" knows: shared by its loop (cmd_top.c), its keys (top_keys.c) and what
 *	  it draws (top_draw.c).
 */
#ifndef TOP_H
#define TOP_H

#include "past.h"
#include "reading.h"

/* What keys are for. */
typedef enum TopMode
{
	MODE_ROWS,
	MODE_HELP,
	MODE_INPUT,					/* a line is being typed */
	MODE_CONFIRM,				/* a question waits for "y" */
} TopMode;

/* What a line that is typed, or a question, is for. */
typedef enum TopPurpose
{
	FOR_FILTER,
	FOR_INTERVAL,
	FOR_TIME,
	FOR_CANCEL,
	FOR_TERMINATE,
	FOR_SWITCH,
} TopPurpose;

/* How the user left a screen: kept while others are shown. */
typedef struct TopTab
{
	int			sort;			/* a column of the tab's screen of the
								 * present; -1: as the query has it */
	bool		sort_up;
} TopTab;

/* Numbers of the head; below zero: not known. */
typedef struct TopHead
{
	int			sessions;
	int			active;
	int			waiting;
	int			idle_in_transaction;
	double		oldest_transaction; /* picoseconds */
	double		load[3];		/* active sessions of the last 1, 5, 60
								 * minutes */
	char		clock[24];		/* the connection's time of day and its zone,
								 * as of the last refresh */
	char		busy_since[32]; /* the time of day; "": it is not busy */
	char		statements[32]; /* a second, since the last refresh */
	bool		off;			/* nothing is recorded */
	bool		load_off;		/* no statement gets into the load history */
	bool		waits_off;		/* who waits is not known */
} TopHead;

typedef struct Top
{
	Server	   *server;
	double		interval;		/* seconds */
	int			current;		/* a number of screens[] */
	bool		since_start;	/* counters since their reset, not since the
								 * last refresh */
	bool		paused;
	bool		quit;

	/* What is shown: a screen, or a detail of one. */
	const Screen *screen;
	char	   *keys[3];		/* of the row whose detail it is */
	int			num_keys;
	char	   *of;				/* what the detail is of, for its title */
	Reading    *before;
	Reading    *now;
	View	   *view;
	char	   *lacks;			/* what of it is not recorded, a line each */
	int			num_lacks;		/* lines of it; as many as there is room for
								 * are shown */
	TopTab		tabs[NUM_SCREENS];
	int			row;			/* the one that is marked */
	int			top_row;		/* the first that is visible */
	char	   *filter;
	double		next;			/* when to refresh, by clock_seconds() */

	Past		past;			/* ago > 0: a time in the load history is
								 * shown */
	double		window;			/* seconds of it */

	TopHead		head;
	double		statements;		/* ended until the last refresh; below zero:
								 * not known */
	double		statements_at;
	bool		lost;			/* no connection */
	bool		history;		/* the server keeps a load history */

	TopMode		mode;
	TopPurpose	purpose;
	char		input[128];
	char		question[256];
	char	   *target;			/* a pid, or an instrument */
	char	   *notice;			/* one line, until the next key */
	bool		answered;		/* it answers a key */
	char	  **switched_on;	/* names of instruments, to be switched off at
								 * the end */
	int			num_switched_on;
} Top;

/* cmd_top.c */
extern void top_refresh(Top *top);
extern void top_show(Top *top, int screen);
extern void top_show_detail(Top *top);
extern void top_arrange(Top *top);

/* The column by which the rows that are shown are sorted; -1: as the query has them. */
extern int	top_sort_column(const Top *top);
extern void top_notice(Top *top, const char *format,...) __attribute__((format(printf, 2, 3)));

/* top_keys.c */
extern void top_key(Top *top, int key);
extern void top_restore_switches(Top *top);

/* top_draw.c */
extern void top_draw(Top *top);

/* How many rows there is room for. */
extern int	top_num_lines(const Top *top);

/* Is the column shown on a terminal of this width? */
extern bool top_is_visible(const ScreenColumn *column);

#endif
