/*
 * pfs_rel_name.c
 *	  Names of tables and indexes.
 *
 * Separate from pfs_lock_name.c, whose tags are of more than relations, and which shows
 * another database's schema by that database's name.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pfs_rel_name.h"
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
	return !is_here(database) || SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation));
}

bool
pfs_rel_is_table(Oid database, Oid relation)
{
	char		kind = is_here(database) ? get_rel_relkind(relation) : RELKIND_RELATION;

	return kind != '\0' && kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX && kind != RELKIND_SEQUENCE;
}

Datum
pfs_rel_database_datum(Oid database, bool *isnull)
{
	return OidIsValid(database) ? pfs_text_datum(pfs_database_name(database)) : pfs_null(isnull);
}

Datum
pfs_rel_schema_datum(Oid database, Oid relation, bool *isnull)
{
	Oid			schema = is_here(database) ? get_rel_namespace(relation) : InvalidOid;

	return pfs_text_or_null(OidIsValid(schema) ? get_namespace_name(schema) : NULL, isnull);
}

Datum
pfs_rel_name_datum(Oid database, Oid relation)
{
	char	   *name = is_here(database) ? get_rel_name(relation) : NULL;

	return pfs_text_datum(name != NULL ? name : psprintf("%u", relation));
}
