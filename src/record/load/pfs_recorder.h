/*
 * pfs_recorder.h
 *	  The recorder of the load history: a background worker of the server.
 */
#ifndef PFS_RECORDER_H
#define PFS_RECORDER_H

#include "pfs.h"

/* Written by the recorder, of which there is one at a time. */
typedef struct PfsSharedRecorder
{
	uint64		lost;			/* periods that were not recorded */
	uint64		late;			/* periods that were longer than they should
								 * be */
	uint64		last_tick;		/* by the default timer, raw; 0: it was
								 * switched off */
} PfsSharedRecorder;

extern PfsSharedRecorder *pfs_shared_recorder;

/* _PG_init: the server is to start it. */
extern void pfs_recorder_register(void);

#endif							/* PFS_RECORDER_H */
