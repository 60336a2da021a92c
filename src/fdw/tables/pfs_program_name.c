/*
 * pfs_program_name.c
 *	  Names of programs.
 *
 * Records and events have the OID of a function, as no instrument point reads a
 * catalog; the reader looks names up, in its own database only.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "pfs_exists.h"
#include "pfs_object_change.h"
#include "pfs_program.h"
#include "pfs_program_name.h"

const char *
pfs_program_type_name(uint64 program)
{
	switch (PFS_PROGRAM_TYPE(program))
	{
		case PFS_PROGRAM_FUNCTION:
			return "FUNCTION";
		case PFS_PROGRAM_PROCEDURE:
			return "PROCEDURE";
		case PFS_PROGRAM_TRIGGER:
			return "TRIGGER";
	}
	return NULL;
}

char *
pfs_program_schema(Oid database, uint64 program)
{
	Oid			schema = database == MyDatabaseId ? get_func_namespace(PFS_PROGRAM_FUNCTION_OID(program)) : InvalidOid;

	return OidIsValid(schema) ? get_namespace_name(schema) : NULL;
}

char *
pfs_program_name(Oid database, uint64 program)
{
	Oid			function = PFS_PROGRAM_FUNCTION_OID(program);
	char	   *name = database == MyDatabaseId ? get_func_name(function) : NULL;

	return name != NULL ? name : psprintf("%u", function);
}

/* With the database all of its functions go at once. */
bool
pfs_program_exists(Oid database, uint64 program)
{
	Oid			function = PFS_PROGRAM_FUNCTION_OID(program);

	if (database != MyDatabaseId ? pfs_database_exists(database)
		: pfs_exists_for_anybody(ProcedureRelationId, Anum_pg_proc_oid, ProcedureOidIndexId, function))
		return true;
	if (database != MyDatabaseId)
		pfs_program_drop(database, InvalidOid);
	/* If this transaction has dropped it, that can be rolled back. */
	else if (!pfs_object_is_dropped_here(ProcedureRelationId, function))
		pfs_program_drop(database, function);
	return false;
}
