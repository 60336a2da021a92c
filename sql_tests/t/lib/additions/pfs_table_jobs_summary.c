/*
 * pfs_table_jobs_summary.c
 *	  events_jobs_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name.
 */
#include "postgres.h"

#include "pfs_levels.h"

PFS_LEVEL_ROW(JobRow, PfsTotals);

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Jobs counted.")

/* There are two kinds. */
#define ROWS_PER_KEY 2

PFS_EVENT_LEVEL_TABLES(jobs, "job", JOBS, JobRow, COLUMNS, ROWS_PER_KEY, "zeroes all levels");
