/*
 * pfs_ev.h
 *	  What the tables of all families of events share: their first and last
 *	  columns, and the three tables of each family, which differ in where their
 *	  events come from and in what TRUNCATE does.
 */
#ifndef PFS_EV_H
#define PFS_EV_H

#include "pfs_event.h"
#include "pfs_tables.h"

/* The first columns, by their own numbers. */
enum
{
	PFS_EV_THREAD_ID,
	PFS_EV_EVENT_ID,
	PFS_EV_END_EVENT_ID,
	PFS_EV_EVENT_NAME,
	PFS_EV_SOURCE,
	PFS_EV_TIMER_START,
	PFS_EV_TIMER_END,
	PFS_EV_TIMER_WAIT,
	PFS_EV_FIRST_OWN,			/* of the family */
};

#define PFS_EV_COLUMNS \
	[PFS_EV_THREAD_ID] = {"thread_id", INT8OID, .key = PFS_KEY_THREAD_ID}, \
	[PFS_EV_EVENT_ID] = {"event_id", INT8OID, .key = PFS_KEY_EVENT_ID}, \
	[PFS_EV_END_EVENT_ID] = {"end_event_id", INT8OID}, \
	[PFS_EV_EVENT_NAME] = {"event_name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME}, \
	[PFS_EV_SOURCE] = {"source", TEXTOID, .width = 24}, \
	[PFS_EV_TIMER_START] = {"timer_start", NUMERICOID, .width = 14}, \
	[PFS_EV_TIMER_END] = {"timer_end", NUMERICOID, .width = 14}, \
	[PFS_EV_TIMER_WAIT] = {"timer_wait", NUMERICOID, .width = 10}

/* The last two, from the number `first` on. */
#define PFS_EV_NESTING_COLUMNS(first) \
	[first] = {"nesting_event_id", INT8OID}, \
	[(first) + 1] = {"nesting_event_type", TEXTOID, .width = 8}

/* One of the first columns. */
extern Datum pfs_ev_get(const PfsEvent *event, int column, bool *isnull);

/* One of the last two: 0 or 1. */
extern Datum pfs_ev_nesting(const PfsEvent *event, int column, bool *isnull);

/* The callbacks; arg of the first: what is copied where. */
typedef struct PfsEvCopy
{
	PfsScan    *scan;
	PfsEventFamily family;
} PfsEvCopy;

extern void pfs_ev_add_cb(const PfsEvent *event, void *arg);
extern Oid	pfs_ev_role(const void *row);
extern int64 pfs_ev_truncate_nothing(void);

/*
 * The three tables of a family.  words: "waits"; one: "wait".  Rows are copies of
 * the family's events, each with as many bytes as mean something.  also: the tables'
 * also_role.
 */
#define PFS_EV_TABLES(family, stem, one, columns, get, also) \
static void \
current_copy(PfsScan *scan) \
{ \
	PfsEvCopy	copy = {scan, family}; \
\
	pfs_events_current(family, scan->thread_id, pfs_ev_add_cb, &copy); \
} \
static void \
history_copy(PfsScan *scan) \
{ \
	PfsEvCopy	copy = {scan, family}; \
\
	pfs_events_history(family, scan->thread_id, pfs_ev_add_cb, &copy); \
} \
static void \
history_long_copy(PfsScan *scan) \
{ \
	PfsEvCopy	copy = {scan, family}; \
\
	pfs_events_history_long(family, scan->thread_id, pfs_ev_add_cb, &copy); \
} \
static double \
history_estimate(void) \
{ \
	return pfs_events_history_estimate(family); \
} \
static double \
history_long_estimate(void) \
{ \
	return pfs_events_history_long_estimate(family); \
} \
static int64 \
history_truncate(void) \
{ \
	return pfs_events_history_truncate(family); \
} \
static int64 \
history_long_truncate(void) \
{ \
	return pfs_events_history_long_truncate(family); \
} \
const PfsTable pfs_table_events_##stem##_current = { \
	.name = "events_" #stem "_current", \
	.row_is = "one " one " that is running now", \
	.truncate_effect = "accepted, does nothing", \
	.columns = columns, \
	.ncolumns = lengthof(columns), \
	.row_size = sizeof(void *), \
	.rows_vary = true, \
	.estimate = pfs_events_current_estimate, \
	.copy = current_copy, \
	.get = get, \
	.role = pfs_ev_role, \
	.also_role = also, \
	.truncate = pfs_ev_truncate_nothing, \
}; \
const PfsTable pfs_table_events_##stem##_history = { \
	.name = "events_" #stem "_history", \
	.row_is = "one of the last finished " #stem " of a living thread", \
	.truncate_effect = "empties it", \
	.columns = columns, \
	.ncolumns = lengthof(columns), \
	.row_size = sizeof(void *), \
	.rows_vary = true, \
	.estimate = history_estimate, \
	.copy = history_copy, \
	.get = get, \
	.role = pfs_ev_role, \
	.also_role = also, \
	.truncate = history_truncate, \
	.in_reset_all = true, \
}; \
const PfsTable pfs_table_events_##stem##_history_long = { \
	.name = "events_" #stem "_history_long", \
	.row_is = "one of the last finished " #stem " of the whole server", \
	.truncate_effect = "empties it", \
	.columns = columns, \
	.ncolumns = lengthof(columns), \
	.row_size = sizeof(void *), \
	.rows_vary = true, \
	.estimate = history_long_estimate, \
	.copy = history_long_copy, \
	.get = get, \
	.role = pfs_ev_role, \
	.also_role = also, \
	.truncate = history_long_truncate, \
	.in_reset_all = true, \
}

#endif							/* PFS_EV_H */
