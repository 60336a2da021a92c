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
#include "pfs_blocks.h"
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
	PFS_OBJECT_TABLE,			/* object.table; its rows are number_of_bytes */
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

/* Events of a family that can run in a thread at a time, at most. */
#define PFS_EVENT_DEPTH_MAX 10

/* In `flags`, beside PFS_FLAG_*: the event ended without the lock. */
#define PFS_EVENT_NOT_ACQUIRED	0x10000

/*
 * The first word of an event wherever it lies.  size: of what lies in a block, in words;
 * wide: of waits, PFS_WIDE_*; the others are of waits only but for instrument and
 * nesting_type.
 */
#define PFS_EVENT_KIND \
	union \
	{ \
		struct \
		{ \
			PfsInstrumentId instrument; \
			uint8		operation; \
			uint8		object_type; \
			uint8		nesting_type; \
			uint8		wide; \
			uint16		size; \
		}; \
		uint64		kind; \
	}

/*
 * What events of all families begin with, as readers get them, and as the owner fills them
 * in while they run (but for waits: PfsWait), under its sequence lock.  In front of
 * `kind` is what only a reader's copy has, as it is the same for all of a thread's:
 * role is the authenticated one, for rights; source, of waits, is an offset in the
 * server binary, 0: unknown.
 *
 * Times are raw readings of the timer in `flags`; the end of an untimed event is the last
 * reading that its thread made: a sort key.  nesting_event_id holds if nesting_type
 * says so; end_event_id is 0 in a reader's copy of a running event.  flags are
 * PFS_FLAG_* at the begin.
 */
#define PFS_EVENT_FIELDS \
	uint64		thread_id; \
	Oid			role; \
	uint32		source; \
	PFS_EVENT_STORED_FIELDS

/* Those of an event in a block, but for waits. */
#define PFS_EVENT_STORED_FIELDS \
	PFS_EVENT_KIND; \
	uint64		timer_start; \
	uint64		timer_end; \
	uint64		event_id; \
	uint64		nesting_event_id; \
	uint64		end_event_id; \
	uint32		flags

/* An event of any family. */
typedef struct PfsEvent
{
	PFS_EVENT_FIELDS;
	uint32		own;			/* the family's */
} PfsEvent;

/* What an event has in a block begins with its kind, also that of a wait. */
#define PFS_EVENT_STORED(event) ((void *) &(event)->kind)
#define PFS_EVENT_UNSTORED offsetof(PfsEvent, kind)

/* Events in blocks are aligned to this, but for waits. */
#define PFS_EVENT_UNIT 16

/*
 * In a block, in front of events of one thread: whose they are.  The instrument is
 * PFS_NO_INSTRUMENT.  Its owner writes the role when it becomes known.
 */
typedef struct PfsEventRun
{
	PFS_EVENT_KIND;
	uint64		thread_id;
	Oid			role;
	uint32		unused;
} PfsEventRun;

/* The page of a BUFFER's wait. */
typedef struct PfsWaitPage
{
	Oid			tablespace;		/* InvalidOid: it is unknown */
	Oid			database;
	Oid			filenode;
	int32		fork;
} PfsWaitPage;

/* What a wait is about. */
typedef union PfsWaitObject
{
	struct
	{
		uint64		word;		/* state word of the file record, 0: none */
		uint32		index;		/* of the file record */
	}			file;
	LOCKTAG		locktag;
	PfsWaitPage page;
	struct
	{
		Oid			database;	/* InvalidOid: of a table that all share */
		Oid			relation;
		Oid			index;		/* InvalidOid: by none */
	}			table;
} PfsWaitObject;

/* A wait as readers get it. */
typedef struct PfsWaitEvent
{
	PFS_EVENT_FIELDS;			/* operation: PfsOperation, object_type:
								 * PfsObjectType */
	uint32		spins;			/* of LWLOCK, BUFFER and spin delays; else
								 * PFS_EVENT_NO_SPINS: NULL */
	PfsWaitObject object;
	uint64		object_instance;	/* object_instance_begin, 0: NULL; of
									 * LWLocks only with detours */
	int64		number_of_bytes;	/* PFS_EVENT_NO_BYTES: NULL */
	int64		file_offset;	/* PFS_EVENT_NO_OFFSET: NULL */
	uint64		ticks;			/* of TABLE: timer_wait, as it is less than
								 * from start to end */
} PfsWaitEvent;

/* What a wait has in its second line. */
#define PFS_WIDE_BYTES		0x01	/* number_of_bytes, instead of bytes */
#define PFS_WIDE_INSTANCE	0x02	/* object_instance */
#define PFS_WIDE_OFFSET		0x04	/* file_offset */
#define PFS_WIDE_NESTING	0x08	/* nesting_event_id, instead of
									 * nesting_distance */
#define PFS_WIDE_END		0x10	/* end_event_id; else it is the event_id */
#define PFS_WIDE_TICKS		0x20	/* ticks, instead of object.table.ticks */

#define PFS_WAIT_NO_BYTES PG_INT32_MIN

/*
 * A wait as it runs, in a slot of its thread's record, and as it lies in a block: of
 * nearly all waits the first line alone means something.
 */
typedef struct PfsWait
{
	PFS_EVENT_KIND;
	uint64		timer_start;
	uint64		timer_end;
	uint64		event_id;
	uint32		nesting_distance;	/* event_id less nesting_event_id */
	uint32		flags;
	uint32		source;
	union
	{
		int32		bytes;		/* of FILE, SOCKET and TABLE;
								 * PFS_WAIT_NO_BYTES: NULL */
		uint32		spins;		/* of the others */
	};
	union
	{
		struct
		{
			uint64		counted;	/* PFS_COUNTED_OBJECT; of no record its
									 * PfsFileKind alone */
			int64		offset;
		}			file;
		uint64		address;	/* of SOCKET and LWLOCK: object_instance */
		LOCKTAG		locktag;
		PfsWaitPage page;
		struct
		{
			Oid			database;
			Oid			relation;
			Oid			index;
			uint32		ticks;
		}			table;
	}			object;

	int64		number_of_bytes;
	uint64		object_instance;	/* of LOCK and BUFFER */
	int64		file_offset;	/* of BUFFER */
	uint64		nesting_event_id;
	uint64		end_event_id;
	uint64		ticks;			/* of TABLE */
	uint64		unused[2];
} PfsWait;

#define PFS_WAIT_LINE 64

StaticAssertDecl(offsetof(PfsWait, number_of_bytes) == PFS_WAIT_LINE && sizeof(PfsWait) == 2 * PFS_WAIT_LINE,
				 "a wait is one cache line, or two");

extern const char *pfs_nesting_name(PfsNesting n);

/*
 * One family's events of one thread: a cache line.  The running ones lie in slots of
 * the record; those of waits by level, those of other families wherever `slot` says, as
 * they need not end in the order in which they began.  The finished ones are in blocks.
 */
typedef struct PfsEvents
{
	PfsBlockWriter finished;
	uint64		history_tail;	/* whoever truncates: positions below are
								 * hidden */
	char	   *slots;			/* set at init, but of waits */
	uint32		slot_size;		/* set at init */
	uint8		depth_max;		/* set at init, but of waits */
	uint8		depth;			/* owner, release-stored: events that run */
	uint8		slot[PFS_EVENT_DEPTH_MAX];	/* by level: number of its slot */
} PfsEvents;

StaticAssertDecl(sizeof(PfsEvents) == 64, "the events of a family are a cache line");

/*
 * In PfsEvents.depth, beside the number of events that run in slots: one more runs, inside of these, that lies where it
 * stays, at finished.next, as it would if it had ended.  Its size is in its kind.  Of waits, stages and transactions it is the
 * only one.  With it, the depth of waits is more than PFS_WAIT_DEPTH: the next one does not begin without a look.
 */
#define PFS_EVENT_IN_PLACE 0x80

struct PfsThread;

/* What the families differ in.  Of the callbacks only those may be NULL that say so. */
typedef struct PfsEventFamilyInfo
{
	uint32		depth;			/* events that can run at a time in a thread,
								 * PFS_EVENT_DEPTH_MAX at most */
	bool		many_lanes;		/* so frequent that each processor has its own
								 * lane in the long history */
	const char *current;		/* names of tables, containers and consumers */
	const char *history;
	const char *history_long;

	/*
	 * Bytes of a slot; and how many more the settings decide, known before
	 * the segment is laid out.  NULL: none.
	 */
	size_t		size;
	size_t		(*more) (void);

	uint32		item_min;		/* bytes of the smallest event in a block; 0:
								 * what all have */

	/*
	 * Bytes of a block at least, of the largest event in it, and of a
	 * PfsEventRun, a multiple of what events in blocks are aligned to.  0: as
	 * nearly all have it.
	 */
	uint32		block_size;
	uint32		item_max;
	uint32		run_size;

	/* Owner: puts a finished event into the thread's block.  Of waits NULL. */
	void		(*record) (struct PfsThread *t, PfsEvent *event);

	/*
	 * Owner: the last reading of the default timer by events that the family
	 * keeps elsewhere; 0: none.  NULL: there are no such events.
	 */
	uint64		(*last_reading) (void);
} PfsEventFamilyInfo;

/*
 * The families, each by its number.  Set once, when the library is loaded
 * (../pfs_families.c).
 */
extern PFS_HIDDEN PfsEventFamilyInfo pfs_event_families[PFS_NUM_EVENT_FAMILIES];

/* Their `record`, on one line: a statement ends events of several families. */
typedef void (*PfsEventRecord) (struct PfsThread *t, PfsEvent *event);

extern PFS_HIDDEN PfsEventRecord pfs_event_records[PFS_NUM_EVENT_FAMILIES];

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

/* How many events the long history shows. */
extern uint64 pfs_events_history_long_count(PfsEventFamily family);

#endif							/* PFS_EVENT_H */
