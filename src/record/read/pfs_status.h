/*
 * pfs_status.h
 *	  What pfs says about itself: its containers, what they lost, its footprint.
 */
#ifndef PFS_STATUS_H
#define PFS_STATUS_H

#include "pfs_container.h"
#include "pfs_probe_row.h"

/* TRUNCATE of containers and status; returns the rows that leave: none. */
extern int64 pfs_containers_reset(void);

/* Hands the rows of pfs.status to emit.  Texts are palloc'd in the current context, or static. */
typedef void (*PfsStatusEmit) (const char *name, const char *value, void *arg);
extern void pfs_status_each(PfsStatusEmit emit, void *arg);

/* Rows of pfs.probes, 0 .. n-1; false past the end. */
extern bool pfs_probe_row(int i, PfsProbeRow *row);

#endif							/* PFS_STATUS_H */
