/*
 * pfs_exists.c
 *	  Whether what a record is of is still there.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_database.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pfs_exists.h"

/* Is it found with this snapshot?  NULL: the one that catalogs are read with. */
static bool
is_found(Relation catalog, AttrNumber column, Oid index, Oid oid, Snapshot snapshot)
{
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
	scan = systable_beginscan(catalog, index, true, snapshot, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	return found;
}

/*
 * A row that is updated meanwhile can be missed by a snapshot that sees everybody's: its index entry is
 * newer than what was read of the index, and the update is committed when the old version is looked at.
 * A snapshot from after that has it.
 */
bool
pfs_exists_for_anybody(Oid catalog, AttrNumber column, Oid index, Oid oid)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	SnapshotData anybody;
	bool		found;

	InitDirtySnapshot(anybody);
	found = is_found(rel, column, index, oid, &anybody);
	if (!found)
	{
		InvalidateCatalogSnapshot();
		found = is_found(rel, column, index, oid, NULL);
	}
	table_close(rel, AccessShareLock);
	return found;
}

/* The cache may not have heard of a new one yet. */
bool
pfs_database_exists(Oid database)
{
	return SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database)) ||
		pfs_exists_for_anybody(DatabaseRelationId, Anum_pg_database_oid, DatabaseOidIndexId, database);
}
