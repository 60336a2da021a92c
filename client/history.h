/*
 * history.h
 *	  What chosen sessions did: their events, from the histories and those that are running.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "number.h"
#include "server.h"

typedef enum HistoryFamily
{
	FAMILY_TRANSACTION,
	FAMILY_STATEMENT,
	FAMILY_STAGE,
	FAMILY_WAIT,
	NUM_FAMILIES
} HistoryFamily;

typedef struct HistoryEvent
{
	HistoryFamily family;
	int64_t		thread;
	int64_t		id;
	int64_t		parent;			/* nesting_event_id; 0: none */
	int64_t		start;			/* nanoseconds since the server's start */
	int64_t		end;			/* of a running one: when it was read */
	Number		time;			/* picoseconds; of a running one so far */
	bool		running;
	bool		chosen;			/* by the options; others serve to name
								 * blockers */
	const char *name;			/* event_name */

	/* Its other columns: fields of a result from first_detail on. */
	const PGresult *result;
	int			row;
} HistoryEvent;

/* The columns before an event's details. */
#define FIRST_DETAIL 7

typedef struct HistoryThread
{
	int64_t		id;
	char	   *title;			/* for people: who it is */
	bool		chosen;			/* by its process or its role */
} HistoryThread;

/* One waits for the other: seen in blocking_tree, or known by the transaction. */
typedef struct HistoryBlock
{
	int64_t		waiter;			/* thread */
	int64_t		wait;			/* its event */
	int64_t		blocker;		/* thread */
} HistoryBlock;

typedef struct History
{
	int			num_events;
	int			max_events;
	HistoryEvent *events;		/* by thread, start, length */
	int			num_threads;
	HistoryThread *threads;
	int			num_blocks;
	int			max_blocks;
	HistoryBlock *blocks;		/* each once, by waiter, wait, blocker */
	int			num_untimed;
	int			max_untimed;
	HistoryEvent *untimed;		/* events without times, which have no place;
								 * some are there twice */
	int64_t		own;			/* thread that reads, which is left out unless
								 * it is named */
	int64_t		since;			/* the time that the options ask for, in
								 * nanoseconds since the server's start */
	int64_t		till;
	int64_t		complete;		/* since then no long history has lost an
								 * event; nanoseconds */
	int64_t		now;			/* nanoseconds since the server's start */
	int64_t		clock;			/* the same moment, nanoseconds since 1970 */

	uint32_t	mask;			/* of the index by thread and id */
	int		   *slots;
} History;

#define HISTORY_OPTIONS \
	{"session", 0, "PID", "only the session of this process; may be repeated"}, \
	{"thread", 0, "THREAD", "only this thread_id, which may have ended; may be repeated"}, \
	{"role", 0, "ROLE", "only sessions of this role"}, \
	{"query-id", 0, "QUERY", "only statements with this query id, and what is in them"}, \
	{"since", 0, "TIME", "only events since then; '10 s' is ago"}, \
	{"till", 0, "TIME", "only events until then"}, \
	{"seconds", 's', "SECONDS", "watch the server so long, then show this time"}

/* Reads what the options choose; ends the program where that is nothing that there can be. */
extern History *history_read(Server *server, const Options *options);

/* The first event of a thread that began then or later; if there is none, the first of the next thread. */
extern int	history_first_since(const History *history, int64_t thread, int64_t start);

/* The first of the blocks of a wait; the others come behind it. */
extern int	history_first_block(const History *history, int64_t waiter, int64_t wait);

/* NULL: it is not there any more. */
extern HistoryEvent *history_find(const History *history, int64_t thread, int64_t id);

/* The statement's, stage's or wait's name for people. */
extern const char *event_title(const HistoryEvent *event);

#endif
