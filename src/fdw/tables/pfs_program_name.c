/*
 * pfs_program_name.c
 *	  Names of programs.
 *
 * Records and events have the OID of a function, as no instrument point reads a
 * catalog; the reader looks names up, in its own database only.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "pfs_program_change.h"
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

/*
 * Is there a function of this number in this database, in the eyes of anybody?  Also one that
 * a transaction has made or dropped that is not over.
 */
static bool
is_there(Oid function)
{
	Relation	catalog = table_open(ProcedureRelationId, AccessShareLock);
	SnapshotData anybody;
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	InitDirtySnapshot(anybody);
	ScanKeyInit(&key, Anum_pg_proc_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(catalog, ProcedureOidIndexId, true, &anybody, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}

/*
 * That a record has stayed behind its function is rare: the drop was prepared in two phases, or a
 * session has called it that had not heard of the drop.
 */
bool
pfs_program_exists(Oid database, uint64 program)
{
	Oid			function = PFS_PROGRAM_FUNCTION_OID(program);

	if (database != MyDatabaseId || is_there(function))
		return true;
	if (!pfs_program_is_dropped_here(function))
		pfs_program_drop(MyDatabaseId, function);
	return false;
}
