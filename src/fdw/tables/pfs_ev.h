/*
 * pfs_ev.h
 *	  What the tables of all families of events share: their first and last
 *	  columns, and the three tables of each family, which differ in where their
 *	  events come from and in what TRUNCATE does.
 */
#ifndef PFS_EV_H
#define PFS_EV_H

#include "pfs_event.h"
#include "pfs_shared.h"
#include "pfs_source.h"
#include "pfs_tables.h"
#include "pfs_thread.h"

/*
 * The first columns, with comments that differ by family: on the thread, on event_id behind
 * what holds for all families, on the source, and on timer_start behind what holds for all.
 */
#define PFS_EV_COLUMNS(X, t, thread_is, more_of_id, source_is, begin_is) \
	X(t, thread_id, bigint, none, row->thread_id, thread_is, .key = PFS_KEY_THREAD_ID) \
	X(t, event_id, bigint, none, row->event_id, \
	  "Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, " \
	  "statements and transactions." more_of_id, .key = PFS_KEY_EVENT_ID) \
	X(t, end_event_id, bigint, none, PFS_NULL_IF_0(row->end_event_id), \
	  "Number of the last event that began inside this one; its own if none did. NULL while it is running.") \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	X(t, source, text, none, pfs_source_name(row->source), source_is, .width = 24) \
	X(t, timer_start, numeric, picoseconds, pfs_ev_timer((const PfsEvent *) row, PFS_EV_START, isnull), \
	  "Begin, in picoseconds since the server's start, by the timer that setup_timers named then" begin_is, \
	  .width = 14) \
	X(t, timer_end, numeric, picoseconds, pfs_ev_timer((const PfsEvent *) row, PFS_EV_END, isnull), \
	  "End, in picoseconds since the server's start. NULL while it is running, and if not timed.", .width = 14) \
	X(t, timer_wait, numeric, picoseconds, pfs_ev_timer((const PfsEvent *) row, PFS_EV_LENGTH, isnull), \
	  "Length in picoseconds. NULL while it is running, and if not timed.", .width = 10)

/* How most families end the comments on event_id and timer_start. */
#define PFS_EV_NO_MORE ""
#define PFS_EV_BEGIN_NULL ". NULL if not timed."

/* The last two columns, with their comments. */
#define PFS_EV_NESTING_COLUMNS(X, t, id_is, type_is) \
	X(t, nesting_event_id, bigint, none, PFS_NULL_IF_0(row->nesting_event_id), id_is) \
	X(t, nesting_event_type, text, none, row->nesting_event_id == 0 ? NULL : pfs_nesting_name(row->nesting_type), type_is, .width = 8)

/* Which of an event's times a column shows. */
typedef enum PfsEvTime
{
	PFS_EV_START,
	PFS_EV_END,
	PFS_EV_LENGTH,
} PfsEvTime;

/* The value of these columns. */
extern PfsPicoseconds pfs_ev_timer(const PfsEvent *event, PfsEvTime what, bool *isnull);

/* The callbacks of these tables; what they show is in PfsTable.family. */
extern void pfs_ev_current_copy(PfsScan *scan);
extern void pfs_ev_history_copy(PfsScan *scan);
extern void pfs_ev_history_long_copy(PfsScan *scan);
extern double pfs_ev_history_estimate(const PfsTable *table);
extern double pfs_ev_history_long_estimate(const PfsTable *table);
extern Oid	pfs_ev_role(const void *row);
extern int64 pfs_ev_current_truncate(const PfsTable *table);
extern int64 pfs_ev_history_truncate(const PfsTable *table);
extern int64 pfs_ev_history_long_truncate(const PfsTable *table);

/*
 * The three tables of a family, whose columns PFS_COLUMNS(stem, ...) has made.  stem:
 * waits; one: "wait".  Rows are copies of the family's events, each with as many bytes as
 * mean something.  also: the tables' also_role; comment: on the table of running events.
 */
#define PFS_EV_TABLES(events, stem, one, also, comment) \
PFS_EV_TABLE(events, stem, current, also, "one " one " that is running now", "accepted, does nothing", comment), \
	.containers = {&pfs_threads}, \
}; \
PFS_EV_TABLE(events, stem, history, also, "one of the last finished " #stem " of a living thread", "empties it", \
			 "The last finished " #stem " of each living thread, pfs.events_" #stem "_history_size of them. " \
			 "TRUNCATE empties it."), \
	.estimate = pfs_ev_history_estimate, \
	.in_reset_all = true, \
}; \
PFS_EV_TABLE(events, stem, history_long, also, "one of the last finished " #stem " of the whole server", "empties it", \
			 "The last finished " #stem " of the whole server by their end, pfs.events_" #stem "_history_long_size " \
			 "of them. TRUNCATE empties it."), \
	.estimate = pfs_ev_history_long_estimate, \
	.in_reset_all = true, \
}

#define PFS_EV_TABLE(events, stem, which, also, a_row_is, effect, comment) \
const PfsTable pfs_table_events_##stem##_##which = { \
	PFS_TABLE("events_" #stem "_" #which, stem, "MySQL", a_row_is, effect, comment), \
	.family = events, \
	.rows_vary = true, \
	.copy = pfs_ev_##which##_copy, \
	.role = pfs_ev_role, \
	.also_role = also, \
	.truncate_part = pfs_ev_##which##_truncate

#endif							/* PFS_EV_H */
