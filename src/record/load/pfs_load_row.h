/*
 * pfs_load_row.h
 *	  One period of the load history: what the recorder makes of the sums at each tick, and
 *	  hands to who keeps it.
 *
 * Separate from both sides: the recorder (pfs_recorder.c) knows no ring, the rings know no
 * thread and no digest.
 */
#ifndef PFS_LOAD_ROW_H
#define PFS_LOAD_ROW_H

#include "datatype/timestamp.h"

#include "pfs.h"

typedef enum PfsLoadType
{
	PFS_LOAD_FOREGROUND,		/* inside statements */
	PFS_LOAD_BACKGROUND,		/* outside of them */
} PfsLoadType;

#define PFS_NUM_LOAD_TYPES (PFS_LOAD_BACKGROUND + 1)

/* What is waited for, with the word of the column wait_event_type. */
#define PFS_LOAD_CLASSES(X) \
	X(PFS_LOAD_CPU, "CPU") \
	X(PFS_LOAD_LWLOCK, "LWLock") \
	X(PFS_LOAD_LOCK, "Lock") \
	X(PFS_LOAD_IO, "IO") \
	X(PFS_LOAD_CLIENT, "Client") \
	X(PFS_LOAD_IPC, "IPC") \
	X(PFS_LOAD_BUFFER_PIN, "BufferPin") \
	X(PFS_LOAD_BUFFER, "Buffer") \
	X(PFS_LOAD_TIMEOUT, "Timeout") \
	X(PFS_LOAD_EXTENSION, "Extension") \
	X(PFS_LOAD_SPIN, "Spin") \
	X(PFS_LOAD_IDLE_TRANSACTION, "Idle in transaction")

typedef enum PfsLoadClass
{
	PFS_LOAD_CLASSES(PFS_ENUMERATOR)
} PfsLoadClass;

#define PFS_NUM_LOAD_CLASSES (0 PFS_LOAD_CLASSES(PFS_PLUS_ONE))

/* Instead of an instrument's number: event_name is `cpu`. */
#define PFS_LOAD_CPU_NAME PFS_NO_INSTRUMENT

/*
 * Which statement a row is of.  Rows of BACKGROUND and of "Idle in transaction" have none; nor
 * have, of FOREGROUND, statements without a query identifier, digests that were evicted
 * (all others), and what resets took off.
 */
typedef enum PfsLoadStatement
{
	PFS_LOAD_NO_STATEMENT,		/* query_id, database and user are NULL */
	PFS_LOAD_STATEMENT,			/* query_id counts, database and user too */
} PfsLoadStatement;

/*
 * What makes two rows one.  All bytes are set, also those that mean nothing: they are 0, so
 * keys may be compared and hashed as bytes.
 */
typedef struct PfsLoadKey
{
	Oid			database;		/* InvalidOid: NULL */
	Oid			user;			/* InvalidOid: NULL */
	uint64		query_id;		/* with PFS_LOAD_STATEMENT */
	uint8		statement;		/* PfsLoadStatement */
	uint8		type;			/* PfsLoadType */
	uint8		class;			/* PfsLoadClass */
	uint8		unused[3];
	PfsInstrumentId instrument; /* or PFS_LOAD_CPU_NAME */
} PfsLoadKey;

StaticAssertDecl(sizeof(PfsLoadKey) == 24, "keys have no padding");

/* Times are whole picoseconds. */
typedef struct PfsLoadRow
{
	PfsLoadKey	key;
	uint64		count;			/* events that ended in the period */
	uint64		time;			/* that passed in them in the period */
	uint64		longest;		/* of those that run at its end: the longest,
								 * its length so far; 0: none */
} PfsLoadRow;

typedef enum PfsLoadResolution
{
	PFS_LOAD_INTERVAL,			/* one tick of the recorder */
	PFS_LOAD_MINUTE,
	PFS_LOAD_TEN_MINUTES,
} PfsLoadResolution;

#define PFS_NUM_LOAD_RESOLUTIONS (PFS_LOAD_TEN_MINUTES + 1)

typedef struct PfsLoadPeriod
{
	TimestampTz begin;			/* by the wall clock */
	TimestampTz end;
	uint64		length;			/* by the timer, picoseconds */
	bool		follows;		/* on the one that was handed over before,
								 * without a hole; false: a coarser period
								 * ends here, too */
} PfsLoadPeriod;

/*
 * Called by the recorder at each tick, in its own process, with all rows of the period, each
 * key once: those with the most time are not picked yet.  rows belongs to the recorder, who
 * reuses it; it may be sorted in place.  May allocate, in a context that the recorder resets
 * after each tick; a row of count, time and longest 0 is not handed over.
 */
extern void pfs_load_keep(const PfsLoadPeriod *period, PfsLoadRow *rows, int nrows);

#endif							/* PFS_LOAD_ROW_H */
