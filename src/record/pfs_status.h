/*
 * pfs_status.h
 *	  What pfs says about itself: its containers, what they lost, its footprint,
 *	  and the probes.
 */
#ifndef PFS_STATUS_H
#define PFS_STATUS_H

#include "pfs_instrument.h"
#include "pfs_memory_cell.h"
#include "pfs_pages.h"

/* One row of pfs.containers. */
typedef struct PfsContainerRow
{
	const char *name;			/* one word, static */
	uint64		record_size;
	PfsPagesStats stats;
} PfsContainerRow;

/* Rows of pfs.containers, 0 .. n-1; false past the end. */
extern bool pfs_container_row(int i, PfsContainerRow *row);

/* The instrument memory/pfs/<container> of row i; at start these are registered. */
extern PfsInstrumentId pfs_container_instrument(int i);
extern void pfs_containers_register(void);

/* The same row as memory: pages are allocated and given back. */
extern void pfs_container_memory(const PfsContainerRow *row, PfsMemoryTotals *totals);

/* TRUNCATE of containers and status. */
extern void pfs_containers_reset(void);

/*
 * What the rows of pfs.status are made of: to look at all containers takes
 * milliseconds, so it is done once for all rows.  palloc'd.
 */
typedef struct PfsStatus PfsStatus;
extern PfsStatus *pfs_status_make(void);

/* One row of pfs.status; false past the end. Value is text, buf sizes in bytes. */
extern bool pfs_status_row(const PfsStatus *status, int i, char *name, size_t name_size,
						   char *value, size_t value_size);

/* One row of pfs.probes. */
typedef struct PfsProbeRow
{
	char		name[NAMEDATALEN];
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
extern void pfs_probe_report(const PfsProbeRow *row);
extern bool pfs_probe_row(int i, PfsProbeRow *row);

#define PFS_HOOKS_MAX 16

/* In shared memory: hooks of which some process has seen a call.  Only ever set. */
typedef struct PfsSharedHooks
{
	uint8		seen[PFS_HOOKS_MAX];
} PfsSharedHooks;

extern PfsSharedHooks *pfs_shared_hooks;

#endif							/* PFS_STATUS_H */
