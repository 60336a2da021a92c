/*
 * pfs_save_digest_bytes.h
 *	  How digests, their waits and their rows of tables lie in the file.
 *
 * Plain code, as pfs_save_bytes.h.  Times are picoseconds; an instrument is its place in a
 * list of names at the section's begin.
 */
#ifndef PFS_SAVE_DIGEST_BYTES_H
#define PFS_SAVE_DIGEST_BYTES_H

#include "pfs_digest.h"
#include "pfs_digest_rows.h"
#include "pfs_save_bytes.h"

/* Raise it when a record changes, the list of counters (PfsCounter) included. */
#define PFS_SAVE_DIGESTS_VERSION	1
#define PFS_SAVE_WAITS_VERSION		1
#define PFS_SAVE_ROWS_VERSION		1
#define PFS_SAVE_RESETS_VERSION		1

/* Picoseconds up to here can be converted to ticks: 600 million years. */
#define PFS_SAVE_PS_MAX ((unsigned __int128) 1 << 94)

/* PfsTicks is 128 bits wide, and aligned as palloc() aligns. */
typedef struct PfsSavedTotals
{
	uint64		count_timed;
	uint64		count_untimed;
	PfsTicks	sum;
	PfsTicks	min;			/* 0 while nothing is timed */
	PfsTicks	max;
} PfsSavedTotals;

/* Texts are not terminated; NULL: none. */
typedef struct PfsSavedDigest
{
	PfsDigestKey key;			/* all others: 0 */
	PfsSavedTotals time;
	PfsTicks	n[PFS_NUM_COUNTERS];	/* of times picoseconds */
	uint64		memory;
	PfsPlanCounts plans;
	TimestampTz first_seen;
	TimestampTz last_seen;
	uint64		buckets[PFS_HISTOGRAM_BUCKETS];
	const char *text;
	const char *sample;
	uint32		text_len;
	uint32		sample_len;
	TimestampTz sample_seen;
	PfsTicks	sample_time;
} PfsSavedDigest;

typedef struct PfsSavedWait
{
	PfsDigestKey key;
	uint32		instrument;		/* place in the list of names */
	PfsSavedTotals totals;
} PfsSavedWait;

/* Of a table or an index.  OIDs are what there is of these that another start has, too. */
typedef struct PfsSavedRows
{
	PfsDigestKey key;
	Oid			database;		/* InvalidOid: all share it */
	Oid			relation;
	Oid			index;			/* InvalidOid: none */
	PfsSavedTotals all;
	uint64		counts[PFS_NUM_ROW_COUNTS];
} PfsSavedRows;

/* When a table was reset.  Its name is not terminated. */
typedef struct PfsSavedReset
{
	const char *table;
	uint32		len;
	TimestampTz time;
} PfsSavedReset;

/* Is a counter of statements a time, in ticks? */
static inline bool
pfs_save_is_time(PfsCounter i)
{
	return i == PFS_N_LOCK_TIME || i == PFS_N_PLAN_TIME || i == PFS_N_EXEC_TIME;
}

/*
 * The frequency of the timer by whose ticks the buckets go, at the section's begin; then
 * digests up to its end.
 */
extern uint64 pfs_save_get_frequency(PfsSaveReader *r);

/* Fields of the records above (PfsSaveFields).  Waits lie behind a list of names. */
extern void pfs_save_digest_fields(PfsSaveCodec *c, void *digest);
extern void pfs_save_wait_fields(PfsSaveCodec *c, void *wait);
extern void pfs_save_rows_fields(PfsSaveCodec *c, void *rows);
extern void pfs_save_reset_fields(PfsSaveCodec *c, void *reset);

/* Whole sections: can they be what they say? */
extern bool pfs_save_check_digests(PfsSaveReader *r);
extern bool pfs_save_check_waits(PfsSaveReader *r);
extern bool pfs_save_check_rows(PfsSaveReader *r);
extern bool pfs_save_check_resets(PfsSaveReader *r);

#endif							/* PFS_SAVE_DIGEST_BYTES_H */
