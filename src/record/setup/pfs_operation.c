/*
 * pfs_operation.c
 *	  Names of the operations of waits, as events_waits_* shows them.
 */
#include "postgres.h"

#include "pfs_operation.h"

static const char *const operation_names[] = {
	[PFS_OP_OPEN] = "open",[PFS_OP_CREATE] = "create",[PFS_OP_CLOSE] = "close",
	[PFS_OP_READ] = "read",[PFS_OP_WRITE] = "write",[PFS_OP_SYNC] = "sync",
	[PFS_OP_FLUSH] = "flush",[PFS_OP_STAT] = "stat",[PFS_OP_SEEK] = "seek",
	[PFS_OP_CHSIZE] = "chsize",[PFS_OP_DELETE] = "delete",[PFS_OP_RENAME] = "rename",
	[PFS_OP_LINK] = "link",[PFS_OP_PREFETCH] = "prefetch",[PFS_OP_ALLOCATE] = "allocate",
	[PFS_OP_COPY] = "copy",[PFS_OP_DIR] = "dir",
	[PFS_OP_RECV] = "recv",[PFS_OP_SEND] = "send",[PFS_OP_WAIT] = "wait",
	[PFS_OP_LOCK + 1] = "AccessShareLock",[PFS_OP_LOCK + 2] = "RowShareLock",
	[PFS_OP_LOCK + 3] = "RowExclusiveLock",[PFS_OP_LOCK + 4] = "ShareUpdateExclusiveLock",
	[PFS_OP_LOCK + 5] = "ShareLock",[PFS_OP_LOCK + 6] = "ShareRowExclusiveLock",
	[PFS_OP_LOCK + 7] = "ExclusiveLock",[PFS_OP_LOCK + 8] = "AccessExclusiveLock",
	[PFS_OP_SHARED_LOCK] = "shared_lock",[PFS_OP_EXCLUSIVE_LOCK] = "exclusive_lock",
	[PFS_OP_TRY_SHARED_LOCK] = "try_shared_lock",[PFS_OP_TRY_EXCLUSIVE_LOCK] = "try_exclusive_lock",
	[PFS_OP_SHARE_EXCLUSIVE_LOCK] = "share_exclusive_lock",
	[PFS_OP_FETCH] = "fetch",[PFS_OP_INSERT] = "insert",[PFS_OP_UPDATE] = "update",
	[PFS_OP_ROW_LOCK] = "lock",
};

const char *
pfs_operation_name(PfsOperation op)
{
	return op < lengthof(operation_names) ? operation_names[op] : NULL;
}
