/*
 * pfs_job.h
 *	  Jobs: the family of events that 190_additions.pl adds, with its summaries.
 */
#ifndef PFS_JOB_H
#define PFS_JOB_H

#include "pfs_event_own.h"
#include "pfs_summary_kind.h"

/* Running jobs of a thread. */
#define PFS_JOB_DEPTH 3

typedef enum PfsJobKind
{
	PFS_JOB_SMALL,
	PFS_JOB_LARGE,
} PfsJobKind;

typedef struct PfsJobEvent
{
	PFS_EVENT_FIELDS;
	uint32		priority;
	uint64		steps;			/* known at its end */
} PfsJobEvent;

/* Jobs' own of PfsEventFamilyInfo. */
extern void pfs_job_event_record(PfsThread *t, PfsEvent *event);

/* Outside of write sections.  NULL: not collected, or nested too deep. */
extern PfsJobEvent *pfs_job_begin(PfsThread *t, PfsJobKind kind, uint32 priority);
extern void pfs_job_end(PfsThread *t, PfsJobEvent *e, uint64 steps);

#endif							/* PFS_JOB_H */
