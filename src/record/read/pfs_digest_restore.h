/*
 * pfs_digest_restore.h
 *	  Rows of digests become digests again.  Postmaster, at the start, behind that of all
 *	  parts; nobody else may exist.
 */
#ifndef PFS_DIGEST_RESTORE_H
#define PFS_DIGEST_RESTORE_H

#include "pfs_digest_rows_read.h"
#include "pfs_node_read.h"

/*
 * Rows as readers of digests and plans (a set each), of their waits and of their rows of tables get them; digests come
 * first.
 */
extern void pfs_digest_restore(PfsDigestSet *set, const PfsDigestRow *row);
extern void pfs_digest_wait_restore(const PfsDigestWaitRow *row);
extern void pfs_digest_rows_restore(const PfsDigestRowsRow *row);

/* All nodes of a plan, in the order of their numbers, or that of all others; and waits of one, behind them. */
extern void pfs_nodes_restore(const PfsNodeRow *rows, uint32 n);
extern void pfs_node_wait_restore(const PfsNodeWaitRow *row);

#endif							/* PFS_DIGEST_RESTORE_H */
