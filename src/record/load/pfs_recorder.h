/*
 * pfs_recorder.h
 *	  The recorder of the load history: a background worker of the server.
 */
#ifndef PFS_RECORDER_H
#define PFS_RECORDER_H

#include "storage/latch.h"

#include "pfs.h"

/* Written by the recorder, of which there is one at a time. */
typedef struct PfsSharedRecorder
{
	uint64		lost;			/* periods that were not recorded */
	uint64		late;			/* periods that were longer than they should
								 * be */
	uint64		last_tick;		/* by the default timer, raw; 0: it was
								 * switched off */
	Latch	   *latch;			/* its own; NULL: it has not run; atomic */
	uint32		save_asked;		/* somebody wants a save soon; atomic */
} PfsSharedRecorder;

extern PfsSharedRecorder *pfs_shared_recorder;

/*
 * A process with a SQL command, while pfs is on: what was truncated shall not come back from
 * the file after a crash.  The recorder saves soon, unless it is told to save at a clean stop
 * only.
 */
extern void pfs_recorder_ask_to_save(void);

/* _PG_init: the server is to start it. */
extern void pfs_recorder_register(void);

#endif							/* PFS_RECORDER_H */
