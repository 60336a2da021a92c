/*
 * pfs_operation.h
 *	  What a wait does: the operations that instruments and events of waits name.
 *	  Apart from both, as the catalogue of instruments knows no event.
 */
#ifndef PFS_OPERATION_H
#define PFS_OPERATION_H

/* events_waits_*.operation */
typedef enum PfsOperation
{
	PFS_OP_NONE,				/* NULL */
	PFS_OP_OPEN, PFS_OP_CREATE, PFS_OP_CLOSE, PFS_OP_READ, PFS_OP_WRITE, PFS_OP_SYNC, PFS_OP_FLUSH,
	PFS_OP_STAT, PFS_OP_SEEK, PFS_OP_CHSIZE, PFS_OP_DELETE, PFS_OP_RENAME, PFS_OP_LINK,
	PFS_OP_PREFETCH, PFS_OP_ALLOCATE, PFS_OP_COPY, PFS_OP_DIR,
	PFS_OP_RECV, PFS_OP_SEND, PFS_OP_WAIT,
	/* heavyweight lock modes: PFS_OP_LOCK + LOCKMODE (1 .. 8) */
	PFS_OP_LOCK,
	PFS_OP_LOCK_LAST = PFS_OP_LOCK + 8,
	PFS_OP_SHARED_LOCK, PFS_OP_EXCLUSIVE_LOCK,
	PFS_OP_TRY_SHARED_LOCK, PFS_OP_TRY_EXCLUSIVE_LOCK,
	PFS_OP_SHARE_EXCLUSIVE_LOCK,
	/* rows of a table; also PFS_OP_DELETE */
	PFS_OP_FETCH, PFS_OP_INSERT, PFS_OP_UPDATE, PFS_OP_ROW_LOCK,
} PfsOperation;

/* "read", "ShareLock", ...; NULL for PFS_OP_NONE. */
extern const char *pfs_operation_name(PfsOperation op);

#endif							/* PFS_OPERATION_H */
