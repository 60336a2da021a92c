/*
 * pfs_exists.h
 *	  Whether what a record is of is still there.
 *
 * Most drops are seen where they happen.  Not so what a standby replays, what a transaction
 * that was prepared has dropped, and what an extension deletes by itself: a reader finds such
 * a record and removes it.
 */
#ifndef PFS_EXISTS_H
#define PFS_EXISTS_H

#include "access/attnum.h"
#include "postgres_ext.h"

/*
 * Has a catalog of this database a row with this OID, in the eyes of anybody?  Also one that was
 * made or dropped by another session's transaction which is not over.  The column has the OIDs, the
 * index is the one of that column.
 */
extern bool pfs_exists_for_anybody(Oid catalog, AttrNumber column, Oid index, Oid oid);

/* Is there a database of this number? */
extern bool pfs_database_exists(Oid database);

#endif							/* PFS_EXISTS_H */
