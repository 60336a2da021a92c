/*
 * pfs_object_name.h
 *	  Names of tables, indexes, programs and locks, by what events and counters keep of them.
 *
 * Names are the reader's to look up, in its own database: of another one the OID stands for
 * the name, and the schema is NULL.  All names are palloc'd.
 */
#ifndef PFS_OBJECT_NAME_H
#define PFS_OBJECT_NAME_H

#include "storage/lock.h"

#include "pfs_program.h"

/*
 * Is there such a relation, as far as this database knows?  One of another database counts as existing
 * while its database does.  The record of one that has gone is removed in passing.
 */
extern bool pfs_rel_exists(Oid database, Oid relation);

/* The same of a table and an index; InvalidOid: no index. */
extern bool pfs_rel_and_index_exist(Oid database, Oid relation, Oid index);

/* The same of one relation, and it is no index or sequence, whose locks are waited for, too. */
extern bool pfs_rel_is_table(Oid database, Oid relation);

extern char *pfs_rel_database(Oid database);
extern char *pfs_rel_schema(Oid database, Oid relation);
extern char *pfs_rel_name(Oid database, Oid relation);

/* The name of an index; NULL: none.  While it is rebuilt, and behind that, the name of the one that has its role. */
extern char *pfs_rel_index(Oid database, Oid index);

/* FUNCTION, PROCEDURE or TRIGGER. */
extern const char *pfs_program_type_name(uint64 program);

/*
 * The schema, or NULL, and the name of the function; its OID where there is no such function
 * any more, or where it is of another database.  palloc'd.
 */
extern char *pfs_program_schema(Oid database, uint64 program);
extern char *pfs_program_name(Oid database, uint64 program);

/*
 * Is there such a function, as far as this database knows?  The record of one that has gone is
 * removed in passing.
 */
extern bool pfs_program_exists(Oid database, uint64 program);

/* The type of a lock: "RELATION", ... */
extern char *pfs_lock_type(const LOCKTAG *tag);

/* The relation's schema, "[database]" of another one; NULL: not a relation. */
extern char *pfs_lock_schema(const LOCKTAG *tag);

/* The relation, a transaction, or the key's numbers. */
extern char *pfs_lock_name(const LOCKTAG *tag);

#endif							/* PFS_OBJECT_NAME_H */
