/*
 * pfs_event.h
 *	  An event: what is remembered of one wait, stage, statement or transaction,
 *	  and where it is kept (current stack, thread history, long history).  Waits
 *	  are here; pfs_statement.h has the other families' records.
 */
#ifndef PFS_EVENT_H
#define PFS_EVENT_H

#include "pfs.h"
#include "pfs_clock.h"
#include "pfs_operation.h"
#include "pfs_ring.h"
#include "storage/lock.h"

/* What event.object holds. */
typedef enum PfsObjectType
{
	PFS_OBJECT_NONE,
	PFS_OBJECT_FILE,			/* object.file */
	PFS_OBJECT_SOCKET,
	PFS_OBJECT_LWLOCK,
	PFS_OBJECT_LOCK,			/* object.locktag: raw LOCKTAG */
	PFS_OBJECT_BUFFER,			/* object.page; its block is file_offset */
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
 * What events of all families begin with.  Written by the thread that the event
 * belongs to, under its sequence lock; thread_id and role are the same in all of
 * a thread's slots.  Readers get a completed copy.
 *
 * log_word belongs to the long history's log; in a thread's slots it is 1, which
 * the log takes for "being written".  Times are raw readings of the timer in
 * `flags`; the end of an untimed event is the last reading that its thread made:
 * a sort key.  nesting_event_id holds if nesting_type says so; end_event_id is 0 in
 * a reader's copy of a running event.  role is the thread's authenticated one, for
 * rights; flags are PFS_FLAG_* at the begin; source is an offset in the server
 * binary, 0: unknown.  operation and object_type are of waits only.
 */
#define PFS_EVENT_FIELDS \
	PfsSeqlock	log_word; \
	uint64		timer_start; \
	uint64		timer_end; \
	uint64		event_id; \
	uint64		nesting_event_id; \
	uint64		thread_id; \
	uint64		end_event_id; \
	union \
	{ \
		struct \
		{ \
			PfsInstrumentId instrument; \
			uint8		operation; \
			uint8		object_type; \
			uint8		nesting_type; \
		}; \
		uint64		kind; \
	}; \
	Oid			role; \
	uint32		flags; \
	uint32		source

/* An event of any family. */
typedef struct PfsEvent
{
	PFS_EVENT_FIELDS;
	uint32		own;			/* the family's */
} PfsEvent;

/* Two cache lines. */
typedef struct PfsWaitEvent
{
	PFS_EVENT_FIELDS;			/* operation: PfsOperation, object_type:
								 * PfsObjectType */
	uint32		spins;			/* of LWLOCK, BUFFER and spin delays; in a
								 * reader's copy else PFS_EVENT_NO_SPINS: NULL */
	union
	{
		struct
		{
			uint64		word;	/* state word of the file record, 0: none */
			uint32		index;	/* of the file record */
		}			file;
		LOCKTAG		locktag;
		struct
		{
			Oid			tablespace; /* InvalidOid: the page is unknown */
			Oid			database;
			Oid			filenode;
			int32		fork;
		}			page;
	}			object;			/* 16 bytes */
	uint64		object_instance;	/* object_instance_begin, 0: NULL; of
									 * files only in a reader's copy, of
									 * LWLocks only with detours */
	int64		number_of_bytes;	/* PFS_EVENT_NO_BYTES: NULL */
	int64		file_offset;	/* PFS_EVENT_NO_OFFSET: NULL */
	uint64		unused;
} PfsWaitEvent;

StaticAssertDecl(sizeof(PfsWaitEvent) == 128, "a wait event is two cache lines");

extern const char *pfs_nesting_name(PfsNesting n);

/* One family's events of one thread. */
typedef struct PfsEvents
{
	PfsRing		ring;			/* finished ones; running ones are its spares */
	uint32		depth;			/* owner, release-stored: events that run */
	uint64		flushed;		/* owner: position up to which events are in
								 * the long history */

	/*
	 * Written by whoever truncates: positions below are hidden; and of a run
	 * of stages those behind which one up to this event_id has begun.
	 */
	uint64		history_tail;
	uint64		history_long_tail;
	uint64		history_hidden;
	uint64		history_long_hidden;
} PfsEvents;

struct PfsLogClaim;
struct PfsThread;

/* What the families differ in.  Of the callbacks only those may be NULL that say so. */
typedef struct PfsEventFamilyInfo
{
	uint32		depth;			/* events that can run at a time in a thread,
								 * PFS_RING_SPARES_MAX at most */
	bool		many_lanes;		/* so frequent that each processor has its own
								 * lane in the long history */
	const char *current;		/* names of tables, containers and consumers */
	const char *history;
	const char *history_long;

	/* Bytes that mean something, in a slot and in a reader's copy. */
	size_t		(*bytes) (const PfsEvent *event);

	/*
	 * Copies events to a claim of the long history's log: as many as it is
	 * for.
	 */
	void		(*store) (const struct PfsLogClaim *claim, const PfsEvent *const *pick, size_t item_size);

	/*
	 * Bytes of a slot; and how many more the settings decide, known before
	 * the segment is laid out.  NULL: none.
	 */
	size_t		size;
	size_t		(*more) (void);

	/*
	 * Owner: writes what all events of the thread have in common into its
	 * slots; again when its role becomes known.  NULL: each event has it
	 * written.
	 */
	void		(*stamp) (struct PfsThread *t);

	/*
	 * Owner: the last reading of the default timer by events that the family
	 * keeps elsewhere; 0: none.  NULL: there are no such events.
	 */
	uint64		(*last_reading) (void);
} PfsEventFamilyInfo;

/* The families, each by its number: pfs_families.c. */
extern const PfsEventFamilyInfo pfs_event_families[PFS_NUM_EVENT_FAMILIES];

/*
 * Readers.  Each calls emit for a private copy of every event it finds, in no
 * promised order; history_long is complete and without duplicates, newest
 * pfs_sizes.history_long by end.  thread_id 0: all threads.  Any backend; may
 * palloc in the current context.
 */
typedef void (*PfsEventEmit) (const PfsEvent *event, void *arg);

/* Bytes that such a copy has. */
extern Size pfs_event_bytes(PfsEventFamily family, const PfsEvent *event);

extern void pfs_events_current(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg);
extern void pfs_events_history(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg);
extern void pfs_events_history_long(PfsEventFamily family, uint64 thread_id, PfsEventEmit emit, void *arg);

/* TRUNCATE; returns how many events disappeared from the table (about). */
extern int64 pfs_events_history_truncate(PfsEventFamily family);
extern int64 pfs_events_history_long_truncate(PfsEventFamily family);

/* Estimated rows now, for the planner; cheap. */
extern double pfs_events_current_estimate(void);
extern double pfs_events_history_estimate(PfsEventFamily family);
extern double pfs_events_history_long_estimate(PfsEventFamily family);

#endif							/* PFS_EVENT_H */
