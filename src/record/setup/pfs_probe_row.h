/*
 * pfs_probe_row.h
 *	  Rows of pfs.probes: whoever sets or misses a probe reports it here.
 */
#ifndef PFS_PROBE_ROW_H
#define PFS_PROBE_ROW_H

#include "pfs.h"

/* One row of pfs.probes. */
typedef struct PfsProbeRow
{
	char		name[NAMEDATALEN];	/* "": mechanism/target */
	const char *mechanism;		/* got, method_table, hook, detour; static.
								 * NULL: pfs relies on it, and is not called
								 * by it */
	const char *target;			/* static */
	const char *status;			/* active, unavailable or off; static */
	char		detail[160];

	/* Fills in status and detail when the row is read; NULL: they stay. */
	void		(*look) (struct PfsProbeRow *row, int number);
	int			number;			/* for look */
} PfsProbeRow;

/*
 * Kept in postmaster memory at load, inherited by all.  Postmaster only.  A row of
 * the same name is replaced: shared memory can be made several times.
 */
extern void pfs_probe_report(PfsProbeRow *row);

/* The i-th that was reported, as it is now; false past the last one. */
extern bool pfs_probe_reported(int i, PfsProbeRow *row);

#define PFS_HOOKS_MAX 16

/* In shared memory: hooks of which some process has seen a call.  Only ever set. */
typedef struct PfsSharedHooks
{
	uint8		seen[PFS_HOOKS_MAX];
} PfsSharedHooks;

extern PfsSharedHooks *pfs_shared_hooks;

#endif							/* PFS_PROBE_ROW_H */
