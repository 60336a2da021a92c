/*
 * pfs_cell_views.h
 *	  Reading and truncating the cells of counted objects that two groups of SQL's tables show
 *	  (PfsCellView in pfs_pending.h).
 *
 * SQL commands of a backend, inside pfs_blocking_work() of the kind.
 */
#ifndef PFS_CELL_VIEWS_H
#define PFS_CELL_VIEWS_H

#include "pfs_pending_read.h"

/* Adds to totals, one for each cell, what the copy of a record has for a view; what a place has. */
extern void pfs_cell_views_read(PfsCountedObjects kind, PfsCellView view, const void *record, PfsTotals *totals);
extern void pfs_cell_views_read_pending(const PfsPending *p, PfsTotals *totals);

/* Truncators: drops all that only this view shows, the rest is the other view's; how many events that were. */
extern uint64 pfs_cell_views_truncate(PfsCountedObjects kind, PfsCellView view, int part, PfsPatience *patience);

/* Takes a cell with its sum, also where no event of it is timed. */
extern PfsTotals pfs_cell_views_take(PfsSharedCell *cell);

/* Before a truncation, outside of the work: raises an error if this session can do none. */
extern void pfs_cell_views_require_thread(void);

#endif							/* PFS_CELL_VIEWS_H */
