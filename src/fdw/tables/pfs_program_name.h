/*
 * pfs_program_name.h
 *	  What readers see of a program: its type, schema and name.
 */
#ifndef PFS_PROGRAM_NAME_H
#define PFS_PROGRAM_NAME_H

#include "pfs_program.h"

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

#endif							/* PFS_PROGRAM_NAME_H */
