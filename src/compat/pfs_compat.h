/*
 * pfs_compat.h
 *	  What differs between PostgreSQL 15 to 19 for the layers below
 *	  SQL.  Each wrapper has the newest shape; PG_VERSION_NUM occurs nowhere
 *	  outside this folder.
 */
#ifndef PFS_COMPAT_H
#define PFS_COMPAT_H

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "pfs supports PostgreSQL 15 to 19"
#endif

/*
 * Waits for buffers.  The class has always had the same number; up to 18 the wait for
 * pins is its only event, and its functions give that name for every number.  19 made the
 * content lock a part of the buffer's header, which is no LWLock any more: processes
 * wait for it as for an LWLock (lwWaiting, a semaphore), but under this class.  Can go
 * when 19 is the oldest version.
 */
#if PG_VERSION_NUM >= 190000
#define PFS_HAVE_BUFFER_LOCKS 1
#define PFS_WAIT_BUFFER PG_WAIT_BUFFER
#define PFS_WAIT_BUFFER_TYPE "Buffer"
#define PFS_WAIT_BUFFER_PREFIX "wait/synch/buffer/"
#else
#define PFS_HAVE_BUFFER_LOCKS 0
#if PG_VERSION_NUM >= 170000
#define PFS_WAIT_BUFFER PG_WAIT_BUFFERPIN
#else
#define PFS_WAIT_BUFFER PG_WAIT_BUFFER_PIN
#endif
#define PFS_WAIT_BUFFER_TYPE "BufferPin"
#define PFS_WAIT_BUFFER_PREFIX "wait/synch/bufferpin/"
#endif

/* Does a sleep on a semaphore under this wait_event_info wait for a buffer's content lock? */
static inline bool
pfs_compat_is_buffer_lock(uint32 wait_info)
{
	return PFS_HAVE_BUFFER_LOCKS && (wait_info & 0xFF000000U) == PFS_WAIT_BUFFER;
}

/* Class of injection points, from 17 on. */
#ifndef PG_WAIT_INJECTIONPOINT
#define PG_WAIT_INJECTIONPOINT 0x0B000000U
#endif

/* Types of heavyweight locks, for the words of class Lock. */
#define PFS_NUM_LOCK_TYPES (LOCKTAG_LAST_TYPE + 1)

/* 16 announces spin delays; before, the caller of the sleep tells. */
#if PG_VERSION_NUM >= 160000
#define PFS_WAIT_SPIN_DELAY ((uint32) WAIT_EVENT_SPIN_DELAY)
#else
#define PFS_WAIT_SPIN_DELAY 0U
#endif

/* 18 waits for reads that another process makes; it counts that as I/O. */
#if PG_VERSION_NUM >= 180000
#define PFS_WAIT_AIO_COMPLETION ((uint32) WAIT_EVENT_AIO_IO_COMPLETION)
#else
#define PFS_WAIT_AIO_COMPLETION 0U
#endif

/* 17 lets extensions name their own wait events; 0 is the class's own word. */
#if PG_VERSION_NUM >= 170000
#define PFS_HAVE_CUSTOM_WAIT_EVENTS 1
#else
#define PFS_HAVE_CUSTOM_WAIT_EVENTS 0
#endif

/*
 * Calls back for each LWLock that this process holds.  The function came with minor
 * releases (15.16 has it, 15.15 does not), so neither the headers nor the running
 * server need have it: weak, and NULL where it is missing.
 */
extern void ForEachLWLockHeldByMe(void (*callback) (LWLock *, LWLockMode, void *), void *context)
			__attribute__((weak));

static inline bool
pfs_compat_lists_held_lwlocks(void)
{
	return ForEachLWLockHeldByMe != NULL;
}

/*
 * The same.  Where the server has no such function, only the locks with fixed places
 * are asked for; those of buffers and of extensions stay unknown.
 */
static inline void
pfs_compat_each_held_lwlock(void (*callback) (LWLock *, LWLockMode, void *), void *context)
{
	if (pfs_compat_lists_held_lwlocks())
	{
		ForEachLWLockHeldByMe(callback, context);
		return;
	}
	for (int i = 0; i < NUM_FIXED_LWLOCKS; i++)
	{
		LWLock	   *lock = &MainLWLockArray[i].lock;

		if (LWLockHeldByMe(lock))
			callback(lock, LWLockHeldByMeInMode(lock, LW_EXCLUSIVE) ? LW_EXCLUSIVE : LW_SHARED, context);
	}
}

/*
 * Can an instrument point ask for the name of a tranche that an extension has registered?
 * GetLWLockIdentifier() read arrays of the process; since 19 it looks into shared memory, where
 * it takes a spinlock, and raises an error for a number that nobody has registered.
 * Every process can name every tranche there, so readers do it.  Can go when 19 is
 * the oldest version.
 */
#define PFS_TRANCHE_NAMES_ARE_LOCAL (PG_VERSION_NUM < 190000)

/* The version whose headers this library was built with, as server_version_num says it. */
#define PFS_BUILT_FOR PG_VERSION_NUM

/* Index of a process in the array of all processes. */
static inline int
pfs_compat_procno(const PGPROC *proc)
{
#if PG_VERSION_NUM >= 170000
	return GetNumberFromPGProc(proc);
#else
	return proc->pgprocno;
#endif
}

/* Still in an LWLock's queue, or (19) a buffer's?  Zero has been "not waiting" in 15 to 19. */
static inline bool
pfs_compat_lwlock_waiting(const PGPROC *proc)
{
	return *(const volatile uint8 *) &proc->lwWaiting != 0;
}

/* Number of the process's transaction; 17 put it into a struct. */
static inline LocalTransactionId
pfs_compat_lxid(const PGPROC *proc)
{
#if PG_VERSION_NUM >= 170000
	return proc->vxid.lxid;
#else
	return proc->lxid;
#endif
}

/* Background processes that run transactions. */
static inline bool
pfs_compat_has_transactions(BackendType type)
{
	switch (type)
	{
		case B_AUTOVAC_LAUNCHER:
		case B_AUTOVAC_WORKER:
		case B_BG_WORKER:
#if PG_VERSION_NUM >= 170000
		case B_SLOTSYNC_WORKER:
#endif
			return true;
		default:
			return false;
	}
}

/* Where a plan comes from: since 19 the plan says it; before, it is not known. */
typedef enum PfsPlanOrigin
{
	PFS_PLAN_UNKNOWN,
	PFS_PLAN_INTERNAL,
	PFS_PLAN_STANDARD,
	PFS_PLAN_GENERIC,
	PFS_PLAN_CUSTOM,
} PfsPlanOrigin;

#define PFS_HAVE_PLAN_ORIGIN (PG_VERSION_NUM >= 190000)

/* Every process that can have a PGPROC, auxiliary ones too. */
static inline int
pfs_compat_max_processes(void)
{
	return MaxBackends + NUM_AUXILIARY_PROCS;
}

/* The number of a system cache, as callbacks of invalidations get it: an enum since 19, goes with 18. */
#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier PfsSyscacheId;
#else
typedef int PfsSyscacheId;
#endif

/* Processes of a kind that exist once per client or work for one. */
static inline bool
pfs_compat_is_foreground(BackendType type)
{
	return type == B_BACKEND || type == B_WAL_SENDER;
}

/* Number of backend types; their descriptions come from GetBackendTypeDesc(). */
#if PG_VERSION_NUM >= 160000
#define PFS_NUM_BACKEND_TYPES BACKEND_NUM_TYPES
#else
#define PFS_NUM_BACKEND_TYPES (B_LOGGER + 1)
#endif

/* Backend types that are no process of their own, or never attach. */
static inline bool
pfs_compat_type_attaches(int type)
{
	switch (type)
	{
		case B_INVALID:
		case B_LOGGER:
#if PG_VERSION_NUM >= 170000
		case B_STANDALONE_BACKEND:
#endif
#if PG_VERSION_NUM >= 180000
		case B_DEAD_END_BACKEND:
#endif
			return false;
		default:
			return true;
	}
}

/*
 * Recount wait events of class Extension that were given a name since: 17+.
 * Returns NULL and 0 before.  Takes a lock, palloc's: backends only.
 */
static inline char **
pfs_compat_custom_wait_names(int *n)
{
#if PFS_HAVE_CUSTOM_WAIT_EVENTS
	return GetWaitEventCustomNames(PG_WAIT_EXTENSION, n);
#else
	*n = 0;
	return NULL;
#endif
}

/* The word of an existing custom wait event (17+; see above). */
static inline uint32
pfs_compat_custom_wait_event_info(const char *name)
{
#if PFS_HAVE_CUSTOM_WAIT_EVENTS
	return WaitEventExtensionNew(name);
#else
	return 0;
#endif
}

#endif							/* PFS_COMPAT_H */
