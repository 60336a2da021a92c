/*
 * pfs_lock_name.c
 *	  Names for lock tags.
 *
 * Events keep the raw tag, as no instrument point may read a catalog; the
 * reader looks names up, in its own database only.  An object that was dropped
 * meanwhile shows as its OID.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/formatting.h"

#include "pfs_lock_name.h"
#include "pfs_rel_name.h"
#include "pfs_value.h"

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
	if (tag->locktag_field1 != MyDatabaseId && OidIsValid(tag->locktag_field1))
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
