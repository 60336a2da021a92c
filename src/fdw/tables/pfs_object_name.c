/*
 * pfs_object_name.c
 *	  Names of tables, indexes, programs and locks, and whether these are still there.
 *
 * Events and counters keep OIDs and raw lock tags, as no instrument point reads a catalog; the
 * reader looks names up, in its own database only.  Of what is of another one, or was dropped
 * meanwhile, the OID is shown.
 *
 * Most drops are seen where they happen.  Not so what a standby replays, what a transaction
 * that was prepared has dropped, and what an extension deletes by itself: a reader finds such
 * a record and removes it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pfs_object_change.h"
#include "pfs_object_name.h"
#include "pfs_program.h"
#include "pfs_rebuild.h"
#include "pfs_rel_stat.h"
#include "pfs_value.h"

/* ---- whether something is still there ---- */

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
 * Has a catalog of this database a row with this OID, in the eyes of anybody?  Also one that was
 * made or dropped by another session's transaction which is not over.  The column has the OIDs, the
 * index is the one of that column.
 *
 * A row that is updated meanwhile can be missed by a snapshot that sees everybody's: its index entry is
 * newer than what was read of the index, and the update is committed when the old version is looked at.
 * A snapshot from after that has it.
 */
static bool
exists_for_anybody(Oid catalog, AttrNumber column, Oid index, Oid oid)
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

/* Is there a database of this number?  The cache may not have heard of a new one yet. */
static bool
database_exists(Oid database)
{
	return SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database)) ||
		exists_for_anybody(DatabaseRelationId, Anum_pg_database_oid, DatabaseOidIndexId, database);
}

/* ---- tables and indexes ---- */

/* Can the names be looked up here?  Relations that all databases share can. */
static inline bool
is_here(Oid database)
{
	return database == MyDatabaseId || !OidIsValid(database);
}

bool
pfs_rel_exists(Oid database, Oid relation)
{
	if (is_here(database) ? SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) : database_exists(database))
		return true;
	/* If this transaction has dropped it, that can be rolled back. */
	if (!is_here(database) ||
		(!FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()) &&
		 !exists_for_anybody(RelationRelationId, Anum_pg_class_oid, ClassOidIndexId, relation)))
		pfs_rel_stats_remove(database, relation);
	return false;
}

static bool
is_valid_index(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		valid = HeapTupleIsValid(tuple) && ((Form_pg_index) GETSTRUCT(tuple))->indisvalid;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return valid;
}

/*
 * Which index has the name and the role of one for which rows were counted?  While REINDEX CONCURRENTLY goes on, the
 * catalog says which of both is valid, so that the name is right at once when they exchange theirs.  Rows can
 * have been copied before it ended.
 */
static Oid
owner_of(Oid database, Oid index)
{
	PfsRebuild	rebuild;

	if (pfs_rebuild_find(database, index, &rebuild) && is_here(database))
		return is_valid_index(rebuild.after) ? rebuild.after : rebuild.before;
	while (is_here(database) && !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(index)) &&
		   pfs_rebuild_find_ended(database, index, &rebuild))
		index = rebuild.after;
	return index;
}

/* Both are looked for, as each has a record that may have to go. */
bool
pfs_rel_and_index_exist(Oid database, Oid relation, Oid index)
{
	bool		has_table = pfs_rel_exists(database, relation);

	return (!OidIsValid(index) || pfs_rel_exists(database, owner_of(database, index))) && has_table;
}

bool
pfs_rel_is_table(Oid database, Oid relation)
{
	char		kind = is_here(database) ? get_rel_relkind(relation) : RELKIND_RELATION;

	return pfs_rel_exists(database, relation) &&
		kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX && kind != RELKIND_SEQUENCE;
}

char *
pfs_rel_database(Oid database)
{
	return OidIsValid(database) ? pfs_database_name(database) : NULL;
}

char *
pfs_rel_schema(Oid database, Oid relation)
{
	Oid			schema = is_here(database) ? get_rel_namespace(relation) : InvalidOid;

	return OidIsValid(schema) ? get_namespace_name(schema) : NULL;
}

char *
pfs_rel_name(Oid database, Oid relation)
{
	char	   *name = is_here(database) ? get_rel_name(relation) : NULL;

	return name != NULL ? name : psprintf("%u", relation);
}

char *
pfs_rel_index(Oid database, Oid index)
{
	return OidIsValid(index) ? pfs_rel_name(database, owner_of(database, index)) : NULL;
}

/* ---- programs ---- */

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

	if (database != MyDatabaseId ? database_exists(database)
		: exists_for_anybody(ProcedureRelationId, Anum_pg_proc_oid, ProcedureOidIndexId, function))
		return true;
	if (database != MyDatabaseId)
		pfs_program_drop(database, InvalidOid);
	/* If this transaction has dropped it, that can be rolled back. */
	else if (!pfs_object_is_dropped_here(ProcedureRelationId, function))
		pfs_program_drop(database, function);
	return false;
}

/* ---- what a heavyweight lock is on ---- */

char *
pfs_lock_type(const LOCKTAG *tag)
{
	const char *name;

	if (tag->locktag_type > LOCKTAG_LAST_TYPE)
		return psprintf("%d", tag->locktag_type);
	name = LockTagTypeNames[tag->locktag_type];
	return asc_toupper(name, strlen(name));
}

static bool
is_relation(const LOCKTAG *tag)
{
	switch (tag->locktag_type)
	{
		case LOCKTAG_RELATION:
		case LOCKTAG_RELATION_EXTEND:
		case LOCKTAG_PAGE:
		case LOCKTAG_TUPLE:
			return true;
		default:
			return false;
	}
}

char *
pfs_lock_schema(const LOCKTAG *tag)
{
	if (!is_relation(tag))
		return NULL;
	if (!is_here(tag->locktag_field1))
		return psprintf("[%s]", pfs_database_name(tag->locktag_field1));
	return pfs_rel_schema(tag->locktag_field1, tag->locktag_field2);
}

/*
 * pfs_lock_name returns what a lock is on, for object_name.  A relation of another
 * database, or one that has been dropped, shows as its OID.
 */
char *
pfs_lock_name(const LOCKTAG *tag)
{
	if (is_relation(tag))
		return pfs_rel_name(tag->locktag_field1, tag->locktag_field2);
	switch (tag->locktag_type)
	{
		case LOCKTAG_TRANSACTION:
		case LOCKTAG_DATABASE_FROZEN_IDS:
			return psprintf("%u", tag->locktag_field1);
		case LOCKTAG_VIRTUALTRANSACTION:
		case LOCKTAG_SPECULATIVE_TOKEN:
			return psprintf("%u/%u", tag->locktag_field1, tag->locktag_field2);
		default:
			return psprintf("%u/%u/%u/%u", tag->locktag_field1, tag->locktag_field2,
							tag->locktag_field3, tag->locktag_field4);
	}
}
