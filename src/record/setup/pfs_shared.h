/*
 * pfs_shared.h
 *	  The one segment of shared memory: its sizes, how it is made of the list of
 *	  parts, and whether pfs is working in this server.
 */
#ifndef PFS_SHARED_H
#define PFS_SHARED_H

#include "datatype/timestamp.h"

#include "pfs_sizes.h"

/* Our LWLocks: changes of the set-up. */
#define PFS_NUM_LOCKS 1

extern PfsSizes pfs_sizes;

/* Bytes to request; shmem_request_hook. */
extern Size pfs_shared_size(void);

/* Make and attach; shmem_startup_hook. */
extern void pfs_shared_start(void);

/*
 * Postmaster, behind pfs_shared_start(): the server looks for the segment by its name, and
 * acquires an LWLock for it, exclusive.
 */
extern void pfs_shared_find(void);

/* True if this server runs with pfs preloaded and pfs.enabled.  Set once, in the postmaster; inherited. */
extern bool pfs_is_active;

/* Library in shared_preload_libraries (pfs.enabled may be off).  Set once, in the postmaster; inherited. */
extern bool pfs_is_loaded;

/*
 * When tables were last reset.  In shared memory, written under the setup lock, and read without
 * one (pfs_reset_time.c).
 */
#define PFS_RESETS_MAX 128

typedef struct PfsSharedResets
{
	uint32		n;				/* grows only */
	struct
	{
		char		table[NAMEDATALEN];
		TimestampTz time;
	}			items[PFS_RESETS_MAX];
} PfsSharedResets;

extern PfsSharedResets *pfs_resets;

/*
 * When a table was last reset; the server's start if never.  table: name
 * without schema.
 */
extern TimestampTz pfs_reset_time(const char *table);
extern void pfs_reset_time_note(const char *table);

/* The same at another time: that of an earlier server, which a file says. */
extern void pfs_reset_time_set(const char *table, TimestampTz time);

#endif							/* PFS_SHARED_H */
