/*
 * pfs_save_digest_bytes.h
 *	  How digests, their waits and their rows of tables, and nodes of plans lie in the file.
 *
 * Plain code, as pfs_save_record.h.  Records are readers' rows (PfsDigestWaitRow, PfsDigestRowsRow, PfsNodeRow, PfsNodeWaitRow), with an instrument as
 * its place among the section's events.  A counter of statements, or a count of rows, is in the file because it is in its
 * list (PFS_COUNTERS, PFS_ROW_COUNTS).
 */
#ifndef PFS_SAVE_DIGEST_BYTES_H
#define PFS_SAVE_DIGEST_BYTES_H

#include "pfs_digest.h"
#include "pfs_digest_rows_read.h"
#include "pfs_node_read.h"
#include "pfs_save_record.h"

/* The timer by whose ticks the buckets go. */
typedef struct PfsSavedTimer
{
	uint64		frequency;
} PfsSavedTimer;

/* The row of a digest or of a plan without its buckets, which are here. */
typedef struct PfsSavedDigest
{
	PfsDigestRow row;
	uint64		buckets[PFS_HISTOGRAM_BUCKETS];
} PfsSavedDigest;

/* Kinds of records in each section: their places in the lists of formats. */
enum
{
	PFS_SAVED_DIGESTS_RESET,
	PFS_SAVED_DIGESTS_TIMER,
	PFS_SAVED_DIGESTS_DIGEST,
	PFS_SAVED_DIGESTS_PLAN,
};

enum
{
	PFS_SAVED_NODES_RESET,
	PFS_SAVED_NODES_EVENT,
	PFS_SAVED_NODES_NODE,
	PFS_SAVED_NODES_WAIT,
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
extern PFS_HIDDEN const PfsSaveFormat pfs_save_nodes_format;

#endif							/* PFS_SAVE_DIGEST_BYTES_H */
