/*
 * pfs_summary_level.h
 *	  What the files of the summaries share: where the counters of a level go.
 *	  Apart from pfs_summary.h, which instrument points include.
 */
#ifndef PFS_SUMMARY_LEVEL_H
#define PFS_SUMMARY_LEVEL_H

#include "pfs_summary.h"

/*
 * Where counters go: to the account; if there is none, or no room for them there, or it is that of
 * all others, to the user, and to the host or else the server.  PFS_NO_RECORD: not there.
 */
typedef struct PfsDestination
{
	uint32		records[PFS_NUM_ACCOUNT_KINDS];
	bool		server;
} PfsDestination;

#define PFS_NOWHERE ((PfsDestination) {PFS_NO_RECORDS, false})

/* A private sum of any family; all zero is empty. */
typedef union PfsAnyTotals
{
	char		bytes[PFS_TOTALS_SIZE_MAX];
	PfsTotals	aligned;
} PfsAnyTotals;

extern const PfsAccountKind pfs_kind_of_level[];	/* ACCOUNT, USER, HOST
													 * only */
extern const PfsLevel pfs_level_of_kind[];

/*
 * Does TRUNCATE of a level empty this one?  Counters that are emptied go to the lowest levels above that are not, but for
 * what is beside (pfs_account_is_beside()), which is discarded.
 */
extern const bool pfs_level_empties[PFS_NUM_LEVELS][PFS_NUM_LEVELS];

/* Add a sum to the cells where it goes; one that is empty takes no room there. */
extern void pfs_summary_merge(PfsFamily family, const PfsDestination *to, uint32 cell, const PfsAnyTotals *totals);

/*
 * The account, user or host under which a level shows the counters of a thread with these
 * references; PFS_NO_RECORD: it does not.  0 at the other levels, which show all.
 */
extern uint32 pfs_summary_record_of(const PfsAccountRefs *refs, PfsLevel level);

/*
 * The same of the counters that an account, user or host has itself, at the levels of these
 * and of the server.
 */
extern uint32 pfs_summary_record_above(PfsAccountKind kind, uint32 index, PfsLevel level);

#endif							/* PFS_SUMMARY_LEVEL_H */
