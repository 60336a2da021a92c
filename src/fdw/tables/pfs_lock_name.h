/*
 * pfs_lock_name.h
 *	  What a heavyweight lock is on, from its raw tag.
 */
#ifndef PFS_LOCK_NAME_H
#define PFS_LOCK_NAME_H

#include "storage/lock.h"

/* All palloc'd.  "RELATION", ... */
extern char *pfs_lock_type(const LOCKTAG *tag);

/* The relation's schema, "[database]" of another one; NULL: not a relation. */
extern char *pfs_lock_schema(const LOCKTAG *tag);

/* The relation, a transaction, or the key's numbers. */
extern char *pfs_lock_name(const LOCKTAG *tag);

#endif							/* PFS_LOCK_NAME_H */
