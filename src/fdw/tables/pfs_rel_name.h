/*
 * pfs_rel_name.h
 *	  Names of tables and indexes, by the OIDs that events and counters keep.
 *
 * Names are the reader's to look up, in its own database: of another one the OID stands for
 * the name, and the schema is NULL.
 */
#ifndef PFS_REL_NAME_H
#define PFS_REL_NAME_H

#include "postgres_ext.h"

/*
 * Is there such a relation, as far as this database knows?  One of another database counts as existing
 * while its database does.  The record of one that has gone is removed in passing.
 */
extern bool pfs_rel_exists(Oid database, Oid relation);

/* The same of a table and an index; InvalidOid: no index. */
extern bool pfs_rel_and_index_exist(Oid database, Oid relation, Oid index);

/* The same of one relation, and it is no index or sequence, whose locks are waited for, too. */
extern bool pfs_rel_is_table(Oid database, Oid relation);

/* palloc'd, or NULL. */
extern char *pfs_rel_database(Oid database);
extern char *pfs_rel_schema(Oid database, Oid relation);
extern char *pfs_rel_name(Oid database, Oid relation);

/* The name of an index; NULL: none.  While it is rebuilt, and behind that, the name of the one that has its role. */
extern char *pfs_rel_index(Oid database, Oid index);

#endif							/* PFS_REL_NAME_H */
