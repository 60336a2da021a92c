/*
 * pfs_event.h
 *	  A wait event: what is remembered of one wait, and where it is kept
 *	  (current stack, thread history, long history).
 */
#ifndef PFS_EVENT_H
#define PFS_EVENT_H

#include "pfs.h"
#include "pfs_clock.h"
#include "pfs_seqlock.h"
#include "storage/lock.h"

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
} PfsOperation;

/* What event.object holds. */
typedef enum PfsObjectType
{
	PFS_OBJECT_NONE,
	PFS_OBJECT_FILE,			/* object.file */
	PFS_OBJECT_SOCKET,
	PFS_OBJECT_LWLOCK,
	PFS_OBJECT_LOCK,			/* object.locktag: raw LOCKTAG */
} PfsObjectType;

/* nesting_event_type */
typedef enum PfsNesting
{
	PFS_NESTING_NONE,
	PFS_NESTING_TRANSACTION,
	PFS_NESTING_STATEMENT,
	PFS_NESTING_STAGE,
	PFS_NESTING_WAIT,
} PfsNesting;

#define PFS_EVENT_NO_SPINS	0xFFFFFFFFU
#define PFS_EVENT_NO_BYTES	INT64_MIN
#define PFS_EVENT_NO_OFFSET (-1)

/* In `flags`, beside PFS_FLAG_*: the event ended without the lock. */
#define PFS_EVENT_NOT_ACQUIRED	0x10000

/*
 * Two cache lines.  Written by the thread that waits, under its sequence lock;
 * thread_id and role are the same in all of a thread's slots.  Readers get a
 * completed copy.
 */
typedef struct PfsWaitEvent
{
	PfsSeqlock	log_word;		/* belongs to the long history's log; in a
								 * thread's slots 1, which the log takes for
								 * "being written" */
	uint64		timer_start;	/* raw readings of the timer in `flags` */
	uint64		timer_end;		/* of an untimed event the last reading that
								 * its thread made: a sort key */
	uint64		event_id;
	uint64		nesting_event_id;	/* if nesting_type says so */
	uint64		thread_id;
	uint64		end_event_id;	/* 0 in a reader's copy of a running event */
	union
	{
		struct
		{
			uint64		word;	/* state word of the file record, 0: none */
			uint32		index;	/* of the file record */
		}			file;
		LOCKTAG		locktag;
	}			object;			/* 16 bytes */
	uint64		object_instance;	/* object_instance_begin, 0: NULL; of
									 * files only in a reader's copy, of
									 * LWLocks only with detours */
	int64		number_of_bytes;	/* PFS_EVENT_NO_BYTES: NULL */
	int64		file_offset;	/* PFS_EVENT_NO_OFFSET: NULL */
	uint32		source;			/* offset in the server binary; 0: unknown */
	uint32		spins;			/* of LWLOCK and spin delays; in a reader's
								 * copy else PFS_EVENT_NO_SPINS: NULL */
	Oid			role;			/* authenticated role of the thread, for
								 * rights */
	uint32		flags;			/* PFS_FLAG_* at its begin: TIMED, timer,
								 * where it goes */
	union
	{
		struct
		{
			PfsInstrumentId instrument;
			uint8		operation;	/* PfsOperation */
			uint8		object_type;	/* PfsObjectType */
			uint8		nesting_type;	/* PfsNesting */
		};
		uint64		kind;		/* all of them in one store */
	};
	uint64		unused;
} PfsWaitEvent;

StaticAssertDecl(sizeof(PfsWaitEvent) == 128, "a wait event is two cache lines");

/* "read", "ShareLock", ...; NULL for PFS_OP_NONE. */
extern const char *pfs_operation_name(PfsOperation op);
extern const char *pfs_nesting_name(PfsNesting n);

/*
 * Readers.  Each calls emit for a private copy of every event it finds, in no
 * promised order; history_long is complete and without duplicates, newest
 * pfs_history_long_size by end.  thread_id 0: all threads.  Any backend; may
 * palloc in the current context.
 */
typedef void (*PfsEventEmit) (const PfsWaitEvent *event, void *arg);

extern void pfs_events_current(uint64 thread_id, PfsEventEmit emit, void *arg);
extern void pfs_events_history(uint64 thread_id, PfsEventEmit emit, void *arg);
extern void pfs_events_history_long(uint64 thread_id, PfsEventEmit emit, void *arg);

/* TRUNCATE; returns how many events disappeared from the table (about). */
extern int64 pfs_events_history_truncate(void);
extern int64 pfs_events_history_long_truncate(void);

/* Estimated rows now, for the planner; cheap. */
extern double pfs_events_current_estimate(void);
extern double pfs_events_history_estimate(void);
extern double pfs_events_history_long_estimate(void);

#endif							/* PFS_EVENT_H */
