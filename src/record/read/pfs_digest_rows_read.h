/*
 * pfs_digest_rows_read.h
 *	  Rows of tables and indexes by digest, for SQL commands.
 *
 * Backends only; may palloc in the current context, and raise errors.
 */
#ifndef PFS_DIGEST_ROWS_READ_H
#define PFS_DIGEST_ROWS_READ_H

#include "pfs_digest_rows.h"

/* What a digest, or all others (key 0), has of a table or an index. */
typedef struct PfsDigestRowsRow
{
	PfsDigestKey key;
	Oid			database;		/* of the table; InvalidOid: all databases
								 * share it */
	Oid			relation;
	Oid			index;			/* InvalidOid: by none */
	PfsTotals	all;
	uint64		counts[PFS_NUM_ROW_COUNTS];
} PfsDigestRowsRow;

/* Several rows can be of the same: what is pending in processes, and the records of an index that was rebuilt, come apart. */
typedef void (*PfsDigestRowsEmit) (const PfsDigestRowsRow *row, void *arg);
extern void pfs_digest_rows_read(PfsDigestRowsEmit emit, void *arg);

/*
 * TRUNCATE of one of the tables table_io_waits_summary_...: all become zero.  Return the rows
 * that leave the one: those by digest; by table or index.
 */
extern int64 pfs_rel_io_truncate_digests(void);
extern int64 pfs_rel_io_truncate(void);

#endif							/* PFS_DIGEST_ROWS_READ_H */
