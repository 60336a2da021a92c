/*
 * pfs_table_stages_summary.c
 *	  events_stages_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name.
 */
#include "postgres.h"

#include "pfs_event_levels.h"

typedef struct StageRow
{
	PfsLevelKeys keys;
	PfsTotals	totals;
} StageRow;

static Datum
value_get(const StageRow *row, int column, bool *isnull)
{
	return pfs_tw_get(&row->totals, column);
}

/* A session goes through nearly all stages of statements. */
#define ROWS_PER_KEY 8

PFS_EVENT_LEVEL_TABLES(stages, "stage", STAGES, StageRow, PfsTotals, PFS_TW_COLUMNS, value_get, ROWS_PER_KEY,
					   "zeroes all levels");
