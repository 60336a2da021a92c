/*
 * pfs_save_digest_bytes.h
 *	  How digests, their waits and their rows of tables lie in the file.
 *
 * Plain code, as pfs_save_record.h.  Times are picoseconds; an instrument is its place among
 * the section's events.  A counter of statements, or a count of rows, is in the file because it
 * is in its list (PFS_COUNTERS, PFS_ROW_COUNTS).
 */
#ifndef PFS_SAVE_DIGEST_BYTES_H
#define PFS_SAVE_DIGEST_BYTES_H

#include "pfs_digest.h"
#include "pfs_digest_rows.h"
#include "pfs_save_record.h"

/* PfsTicks is 128 bits wide, and aligned as palloc() aligns. */
typedef struct PfsSavedTotals
{
	uint64		count_timed;
	uint64		count_untimed;
	PfsTicks	sum;
	PfsTicks	min;			/* 0 while nothing is timed */
	PfsTicks	max;
} PfsSavedTotals;

/* Whose: all others have 0 everywhere. */
typedef struct PfsSavedKey
{
	Oid			database;
	Oid			user;
	uint64		query_id;
} PfsSavedKey;

/* The timer by whose ticks the buckets go. */
typedef struct PfsSavedTimer
{
	uint64		frequency;
} PfsSavedTimer;

typedef struct PfsSavedDigest
{
	PfsSavedKey key;
	PfsSavedTotals time;
	PfsTicks	n[PFS_NUM_COUNTERS];	/* those in ticks as picoseconds */
	uint64		memory;
	uint64		generic_plans;
	uint64		custom_plans;
	TimestampTz first_seen;
	TimestampTz last_seen;
	uint64		buckets[PFS_HISTOGRAM_BUCKETS];
	PfsSavedString text;
	PfsSavedString sample;
	TimestampTz sample_seen;
	PfsTicks	sample_time;
} PfsSavedDigest;

typedef struct PfsSavedWait
{
	PfsSavedKey key;
	uint32		event;
	PfsSavedTotals time;
} PfsSavedWait;

/* Of a table or an index.  OIDs are what there is of these that another start has, too. */
typedef struct PfsSavedRows
{
	PfsSavedKey key;
	Oid			relation_database;	/* InvalidOid: all share it */
	Oid			relation;
	Oid			index;			/* InvalidOid: none */
	PfsSavedTotals time;
	uint64		counts[PFS_NUM_ROW_COUNTS];
} PfsSavedRows;

/* Kinds of records in each section: their places in the lists of formats. */
enum
{
	PFS_SAVED_DIGESTS_RESET,
	PFS_SAVED_DIGESTS_TIMER,
	PFS_SAVED_DIGESTS_DIGEST,
};

enum
{
	PFS_SAVED_WAITS_RESET,
	PFS_SAVED_WAITS_EVENT,
	PFS_SAVED_WAITS_WAIT,
};

enum
{
	PFS_SAVED_ROWS_RESET,
	PFS_SAVED_ROWS_ROWS,
};

extern PFS_HIDDEN const PfsSaveFormat pfs_save_digests_format;
extern PFS_HIDDEN const PfsSaveFormat pfs_save_waits_format;
extern PFS_HIDDEN const PfsSaveFormat pfs_save_rows_format;

#endif							/* PFS_SAVE_DIGEST_BYTES_H */
