/*
 * pfs_rel_count.h
 *	  Counting rows for tables and indexes: in places of the process's own (pfs_pending.h),
 *	  and in the records that all processes share (pfs_rel_stat.h).
 *
 * Separate from pfs_rel_stat.h: a record is everybody's, a place is one process's.
 */
#ifndef PFS_REL_COUNT_H
#define PFS_REL_COUNT_H

#include "pfs_pending.h"
#include "pfs_rel_run.h"
#include "pfs_rel_stat.h"

/* Places are PfsPendingCounts.  object: the record; key: PfsRelPart. */
StaticAssertDecl(sizeof(PfsPendingCounts) == PFS_CACHE_LINE, "counting rows touches one line of pending numbers");

static const PfsPendingShape pfs_pending_rows_shape = {.sets = 16, .ways = PFS_PENDING_WAYS, .size = sizeof(PfsPendingCounts)};

/* Inside a write section: the rows of a run that ends. */
extern void pfs_rel_count(PfsThread *t, PfsRelRun *run);

#endif							/* PFS_REL_COUNT_H */
