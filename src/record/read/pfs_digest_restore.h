/*
 * pfs_digest_restore.h
 *	  Rows of digests become digests again.  Postmaster, at the start, behind that of all
 *	  parts; nobody else may exist.
 */
#ifndef PFS_DIGEST_RESTORE_H
#define PFS_DIGEST_RESTORE_H

#include "pfs_digest.h"

/* Rows as pfs_digests_read() and pfs_digest_waits_read() hand them out; waits behind all digests. */
extern void pfs_digest_restore(const PfsDigestRow *row);
extern void pfs_digest_wait_restore(const PfsDigestWaitRow *row);

#endif							/* PFS_DIGEST_RESTORE_H */
