/*
 * pfs_compat_buffer.h
 *	  What differs between PostgreSQL 15 to 19 about buffer headers.  Apart
 *	  from pfs_compat.h, so that nearly no instrument point sees them.
 */
#ifndef PFS_COMPAT_BUFFER_H
#define PFS_COMPAT_BUFFER_H

#include "common/relpath.h"
#include "storage/buf_internals.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

/* A page by numbers, as 16 and later have it. */
typedef struct PfsCompatPage
{
	Oid			tablespace;
	Oid			database;
	Oid			filenode;
	ForkNumber	fork;
	BlockNumber block;
} PfsCompatPage;

/* 16 replaced the RelFileNode inside the tag by its three numbers. */
static inline PfsCompatPage
pfs_compat_page_of(const BufferTag *tag)
{
#if PG_VERSION_NUM >= 160000
	PfsCompatPage page = {tag->spcOid, tag->dbOid, tag->relNumber, tag->forkNum, tag->blockNum};
#else
	PfsCompatPage page = {tag->rnode.spcNode, tag->rnode.dbNode, tag->rnode.relNode, tag->forkNum, tag->blockNum};
#endif

	return page;
}

/*
 * The header's state: 19 made it 64 bits wide, as the content lock is in it.  Can go, with
 * the cast, when 19 is the oldest version.
 */
static inline uint64
pfs_compat_buffer_state(const BufferDesc *buffer)
{
#if PG_VERSION_NUM >= 190000
	return pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &buffer->state));
#else
	return pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &buffer->state));
#endif
}

/*
 * Where in a header the address lies that stands for its content lock: that of the
 * LWLock, or, as there is none since 19, that of the header itself.
 */
#if PG_VERSION_NUM >= 190000
#define PFS_BUFFER_LOCK_OFFSET 0
#else
#define PFS_BUFFER_LOCK_OFFSET offsetof(BufferDesc, content_lock)
#endif

/*
 * Is this process in the queue for the buffer's content lock?  It follows the queue from
 * the process on to its last one, which has to be the last of the buffer's queue.  A
 * process whose links are both 0 is in no queue.  Others change the queue meanwhile,
 * under the header's spinlock, which we do not take: so a queue that changes gives
 * false, and is to be asked again.  Before 19 it is an LWLock's, and nobody asks.
 */
static inline bool
pfs_compat_waits_for_buffer(const BufferDesc *buffer)
{
#if PG_VERSION_NUM >= 190000
	const volatile proclist_head *queue = &buffer->lock_waiters;
	ProcNumber	at = GetNumberFromPGProc(MyProc);

	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		const volatile proclist_node *links = &GetPGProcByNumber(at)->lwWaitLink;
		ProcNumber	next = links->next;

		if (next == INVALID_PROC_NUMBER)
			return queue->tail == at;
		if ((next == 0 && links->prev == 0) || next < 0 || (uint32) next >= ProcGlobal->allProcCount)
			return false;
		at = next;
	}
#endif
	return false;
}

/* How the process waits for a buffer's content lock, as in BufferLockMode of 19. */
typedef enum PfsCompatBufferLock
{
	PFS_BUFFER_LOCK_SHARE = 1,
	PFS_BUFFER_LOCK_SHARE_EXCLUSIVE,
	PFS_BUFFER_LOCK_EXCLUSIVE,
} PfsCompatBufferLock;

#if PG_VERSION_NUM >= 190000
StaticAssertDecl(PFS_BUFFER_LOCK_SHARE == (int) BUFFER_LOCK_SHARE &&
				 PFS_BUFFER_LOCK_SHARE_EXCLUSIVE == (int) BUFFER_LOCK_SHARE_EXCLUSIVE &&
				 PFS_BUFFER_LOCK_EXCLUSIVE == (int) BUFFER_LOCK_EXCLUSIVE, "modes are the server's");
#endif

/* The wait event of a mode; 0: there is no such mode, or its wait is an LWLock's (up to 18). */
static inline uint32
pfs_compat_buffer_wait(int mode)
{
#if PG_VERSION_NUM >= 190000
	switch (mode)
	{
		case BUFFER_LOCK_SHARE:
			return WAIT_EVENT_BUFFER_SHARED;
		case BUFFER_LOCK_SHARE_EXCLUSIVE:
			return WAIT_EVENT_BUFFER_SHARE_EXCLUSIVE;
		case BUFFER_LOCK_EXCLUSIVE:
			return WAIT_EVENT_BUFFER_EXCLUSIVE;
	}
#endif
	return 0;
}

/*
 * Path of a fork's first segment, as the names of files have it; 18 made the result a
 * struct.  Can go when 18 is the oldest version.
 */
static inline char *
pfs_compat_relation_path(Oid database, Oid tablespace, Oid filenode, ForkNumber fork)
{
#if PG_VERSION_NUM >= 180000
	return pstrdup(GetRelationPath(database, tablespace, filenode, INVALID_PROC_NUMBER, fork).str);
#else
	return GetRelationPath(database, tablespace, filenode, -1, fork);
#endif
}

/*
 * The number of LWLocks in the main array, which ends with the tranches that extensions
 * have requested; 0: unknown.  Up to 18 their names follow the array; since 19 nothing
 * exported says where it ends, but the index of shared memory has it.
 */
static inline Size
pfs_compat_num_main_lwlocks(void)
{
#if PG_VERSION_NUM >= 190000
	return 0;
#else
	if (NamedLWLockTrancheRequests == 0)
		return NUM_FIXED_LWLOCKS;
	return ((uintptr_t) NamedLWLockTrancheArray - (uintptr_t) MainLWLockArray) / sizeof(LWLockPadded);
#endif
}

#endif							/* PFS_COMPAT_BUFFER_H */
