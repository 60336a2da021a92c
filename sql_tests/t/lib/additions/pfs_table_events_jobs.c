/*
 * pfs_table_events_jobs.c
 *	  events_jobs_current, _history, _history_long: the columns that jobs have besides
 *	  those of all events.
 */
#include "postgres.h"

#include "pfs_ev.h"
#include "pfs_job.h"

#define JOBS_COLUMNS(X, t) \
	PFS_EV_COLUMNS(X, t, "The thread that it runs or ran in: threads.thread_id.", PFS_EV_NO_MORE, PFS_RESERVED, \
	               PFS_EV_BEGIN_NULL) \
	X(t, priority, integer, none, row->priority, "As it was begun with.") \
	X(t, steps, bigint, count, \
	  PFS_NULL_IF(row->end_event_id == 0, row->steps), "NULL while it runs.") \
	PFS_EV_NESTING_COLUMNS(X, t, "event_id of the event that it began in.", "STAGE or STATEMENT, or NULL.")

PFS_COLUMNS(jobs, PfsJobEvent, JOBS_COLUMNS)

PFS_EV_TABLES(PFS_JOBS, jobs, "job", NULL, "Jobs that are running now.");
