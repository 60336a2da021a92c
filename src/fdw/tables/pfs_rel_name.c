/*
 * pfs_rel_name.c
 *	  Names of tables and indexes.
 *
 * Separate from pfs_lock_name.c, whose tags are of more than relations, and which shows
 * another database's schema by that database's name.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pfs_exists.h"
#include "pfs_rebuild.h"
#include "pfs_rel_name.h"
#include "pfs_rel_stat.h"
#include "pfs_value.h"

/* Can the names be looked up here?  Relations that all databases share can. */
static inline bool
is_here(Oid database)
{
	return database == MyDatabaseId || !OidIsValid(database);
}

bool
pfs_rel_exists(Oid database, Oid relation)
{
	if (is_here(database) ? SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) : pfs_database_exists(database))
		return true;
	/* If this transaction has dropped it, that can be rolled back. */
	if (!is_here(database) ||
		(!FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()) &&
		 !pfs_exists_for_anybody(RelationRelationId, Anum_pg_class_oid, ClassOidIndexId, relation)))
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
