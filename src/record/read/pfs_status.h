/*
 * pfs_status.h
 *	  What pfs says about itself: its containers, what they lost, its footprint.
 */
#ifndef PFS_STATUS_H
#define PFS_STATUS_H

#include "pfs_container.h"
#include "pfs_probe_row.h"

/* TRUNCATE of containers and status. */
extern void pfs_containers_reset(void);

/*
 * What the rows of pfs.status are made of: to look at all containers takes
 * milliseconds, so it is done once for all rows.  palloc'd.
 */
typedef struct PfsStatus PfsStatus;
extern PfsStatus *pfs_status_make(void);

/*
 * Writes one row of pfs.status; false past the end.  The value is text; sizes of the
 * buffers are in bytes.
 */
extern bool pfs_status_row(const PfsStatus *status, int i, char *name, size_t name_size,
						   char *value, size_t value_size);

/* Rows of pfs.probes, 0 .. n-1; false past the end. */
extern bool pfs_probe_row(int i, PfsProbeRow *row);

#endif							/* PFS_STATUS_H */
