/*
 * pfs_digest_columns.h
 *	  The columns by which tables tell digests apart, and whose rows these are.
 */
#ifndef PFS_DIGEST_COLUMNS_H
#define PFS_DIGEST_COLUMNS_H

#include "pfs_digest.h"
#include "pfs_table.h"

#define PFS_RIGHTS_OF_USER "NULL without the rights of user_name or pg_read_all_stats."

/* digest: a const PfsDigestKey *.  The row of what has no digest of its own has no key: its query_id is 0. */
#define PFS_DIGEST_KEY_COLUMNS(X, t, digest) \
	X(t, database_name, text, none, \
	  (digest)->query_id != 0 ? pfs_scan_database_name(scan, PFS_DIGEST_DATABASE((digest)->db_user)) : NULL, \
	  "Database in which they ran; NULL with user_name and query_id: all others.", .width = 12) \
	X(t, user_name, text, none, \
	  (digest)->query_id != 0 ? pfs_scan_role_name(scan, PFS_DIGEST_USER((digest)->db_user)) : NULL, \
	  "Role in effect when they started.", .width = 12) \
	X(t, query_id, bigint, none, PFS_NULL_IF_0((digest)->query_id), \
	  "The server's query identifier, as in pg_stat_statements.queryid. " PFS_RIGHTS_OF_USER, .hidden = true)

/* The role whose row it is; for tables whose rows begin with a PfsDigestKey. */
static inline Oid
pfs_digest_row_role(const void *row)
{
	const PfsDigestKey *key = row;

	return key->query_id == 0 ? InvalidOid : PFS_DIGEST_USER(key->db_user);
}

#endif							/* PFS_DIGEST_COLUMNS_H */
