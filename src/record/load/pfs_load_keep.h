/*
 * pfs_load_keep.h
 *	  What the recorder, and who writes the file, do with the sums of the periods under way.
 *	  pfs_load_keep() itself is declared with its rows: pfs_load_row.h.
 */
#ifndef PFS_LOAD_KEEP_H
#define PFS_LOAD_KEEP_H

#include "pfs_load_ring.h"

/* Adds a row to the remainder of its type and class; rest: [PFS_LOAD_REMAINDERS], of zeroes at first. */
extern void pfs_load_add_to_rest(PfsLoadRow *rest, const PfsLoadRow *row);

/*
 * Makes the rows of a period that are kept, of all rows, the largest first, and of what is in the remainders already.
 * Returns how many; rows: [PFS_LOAD_ROWS_MAX].
 */
extern int	pfs_load_rows_to_keep(const PfsLoadRow *all, int nall, PfsLoadRow *rest, PfsLoadRow *rows);

/*
 * The recorder ends, or stops recording: the minute and the ten minutes under way end here,
 * and are kept as they are.  In the process that called pfs_load_keep(), which does it by
 * itself when it ends; elsewhere it does nothing.
 */
extern void pfs_load_keep_end(void);

/*
 * Emits the minute and the ten minutes under way as they would be kept if they ended now, in
 * the process that called pfs_load_keep(): a file has them, as after a crash nobody else
 * does.
 */
extern void pfs_load_under_way(PfsLoadResolution resolution, PfsLoadEmit emit, void *arg);

#endif							/* PFS_LOAD_KEEP_H */
