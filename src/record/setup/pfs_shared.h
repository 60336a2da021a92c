/*
 * pfs_shared.h
 *	  The one segment of shared memory: its sizes, how it is made of the list of
 *	  parts, and whether pfs is working in this server.
 */
#ifndef PFS_SHARED_H
#define PFS_SHARED_H

#include "pfs.h"
#include "datatype/timestamp.h"

/* Our LWLocks: changes of the set-up. */
#define PFS_NUM_LOCKS 1

/* Settings in effect, -1 resolved.  Filled from the GUCs at request time. */
typedef struct PfsSizes
{
	uint32		threads;
	uint32		files;
	uint32		instruments;
	uint32		cells[PFS_NUM_FAMILIES];	/* of each block of a family */
	uint32		accounts[PFS_NUM_ACCOUNT_KINDS];
	uint32		history[PFS_NUM_EVENT_FAMILIES];	/* rows per thread */
	uint32		history_long[PFS_NUM_EVENT_FAMILIES];	/* rows in all */
	uint32		event_size[PFS_NUM_EVENT_FAMILIES]; /* bytes */
	uint32		sql_text;		/* bytes of a statement's text that are kept */
	uint32		actors;
	uint32		sockets;
	uint32		lwlocks;
	uint32		lwlock_holders; /* threads, or 0 */
	uint32		digests;
	uint32		digest_text;	/* bytes of a digest's text that are kept */
	uint32		prepared;
} PfsSizes;

extern PfsSizes pfs_sizes;

/* Bytes to request; shmem_request_hook. */
extern Size pfs_shared_size(void);

/* Make and attach; shmem_startup_hook, holding AddinShmemInitLock. */
extern void pfs_shared_start(void);

/* True if this server runs with pfs preloaded and pfs.enabled. */
extern bool pfs_is_active(void);

/* Library in shared_preload_libraries (pfs.enabled may be off). */
extern bool pfs_is_loaded(void);
extern void pfs_shared_note_loaded(void);

/*
 * When tables were last reset.  In shared memory, under the setup lock.
 */
#define PFS_RESETS_MAX 128

typedef struct PfsSharedResets
{
	uint32		n;
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

#endif							/* PFS_SHARED_H */
