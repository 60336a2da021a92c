/*
 * pfs_table_events_stages.c
 *	  events_stages_current, _history, _history_long.
 */
#include "postgres.h"

#include "pfs_ev.h"
#include "pfs_shared.h"
#include "pfs_statement.h"
#include "pfs_value.h"

enum
{
	WORK_COMPLETED = PFS_EV_FIRST_OWN,
	WORK_ESTIMATED,
	NESTING_EVENT_ID,
	NESTING_EVENT_TYPE,
};

static const PfsColumn columns[] = {
	PFS_EV_COLUMNS,
	[WORK_COMPLETED] = {"work_completed", INT8OID},
	[WORK_ESTIMATED] = {"work_estimated", INT8OID},
	PFS_EV_NESTING_COLUMNS(NESTING_EVENT_ID),
};

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const PfsStageEvent *event = row;

	switch (column)
	{
		case WORK_COMPLETED:
			return event->work_completed < 0 ? pfs_null(isnull) : Int64GetDatum(event->work_completed);
		case WORK_ESTIMATED:
			return event->work_estimated < 0 ? pfs_null(isnull) : Int64GetDatum(event->work_estimated);
		case NESTING_EVENT_ID:
		case NESTING_EVENT_TYPE:
			return pfs_ev_nesting(row, column - NESTING_EVENT_ID, isnull);
		default:
			return pfs_ev_get(row, column, isnull);
	}
}

PFS_EV_TABLES(PFS_STAGES, stages, "stage", columns, get, NULL);
