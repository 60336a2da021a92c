/*
 * pfs_table_stages_summary.c
 *	  events_stages_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name.
 */
#include "postgres.h"

#include "pfs_levels.h"

PFS_LEVEL_ROW(StageRow, PfsTotals);

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Stages counted.")

/* A guess: a session goes through nearly all stages of statements. */
#define ROWS_PER_KEY 8

PFS_EVENT_LEVEL_TABLES(stages, "stage", STAGES, StageRow, COLUMNS, ROWS_PER_KEY, "zeroes all levels");
