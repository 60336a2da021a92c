/*
 * pfs_table_events_stages.c
 *	  events_stages_current, _history, _history_long: the columns that stages have
 *	  besides those of all events.
 */
#include "postgres.h"

#include "pfs_ev.h"
#include "pfs_statement.h"

#define STAGES_COLUMNS(X, t) \
	PFS_EV_COLUMNS(X, t, "The thread that is or was in the stage: threads.thread_id.", PFS_EV_NO_MORE, \
	               PFS_RESERVED, PFS_EV_BEGIN_NULL) \
	X(t, work_completed, bigint, none, PFS_NULL_IF(row->work_completed < 0, row->work_completed), \
	  "Of a stage/progress/% stage: work done so far, in the unit of the command's progress view. NULL where the " \
	  "phase has none, and with track_activities off.") \
	X(t, work_estimated, bigint, none, PFS_NULL_IF(row->work_estimated < 0, row->work_estimated), \
	  "Of a stage/progress/% stage: all work that there is, in the same unit. NULL where unknown.") \
	PFS_EV_NESTING_COLUMNS(X, t, "event_id of the statement that the stage belongs to; NULL if there is none.", \
	                       "TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.")

PFS_COLUMNS(stages, PfsStageEvent, STAGES_COLUMNS)

PFS_EV_TABLES(PFS_STAGES, stages, "stage", NULL,
			  "Stages that are running now: of each statement that is being planned or executed the one that it is "
			  "in. A finished stage is removed. TRUNCATE is accepted and does nothing.");
