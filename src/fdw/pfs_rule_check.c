/*
 * pfs_rule_check.c
 *	  Errors of setup_actors and setup_objects.
 */
#include "postgres.h"

#include "pfs_quote.h"
#include "pfs_rule_check.h"
#include "pfs_shared.h"

/* Raises an error for a null; any: what stands for any value of the column, or NULL. */
static void
require_value(const char *table, const char *column, const char *value, const char *any)
{
	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of table \"%s\" cannot be NULL", column, table),
				 any == NULL ? 0 : errhint("\"%s\" stands for any.", any)));
}

/*
 * A name that is longer than any that could match is an error and not cut: the
 * rule would do something else than it says.
 */
static void
check_length(const char *column, const char *value, int max)
{
	if (strlen(value) > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is longer than %d bytes: \"%s\"", column, max, pfs_quote(value))));
}

/* Raises an error for a value that a column of setup_actors cannot have. */
void
pfs_check_actor_column(const char *column, const char *value)
{
	require_value("setup_actors", column, value, PFS_ACTOR_ANY);
	if (strcmp(column, "user_name") == 0)
		check_length(column, value, NAMEDATALEN - 1);
	else if (strcmp(column, "host") == 0)
		check_length(column, value, PFS_CLIENT_HOST_SIZE - 1);
	else if (strcmp(value, PFS_ACTOR_ANY) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\" of setup_actors: \"%s\"", column, pfs_quote(value)),
				 errdetail("The only value is \"%s\".", PFS_ACTOR_ANY)));
}

/* Raises an error for a value that a column of setup_objects cannot have, else returns it. */
const char *
pfs_check_object_column(const char *column, const char *value)
{
	bool		is_type = strcmp(column, "object_type") == 0;
	int			type;

	require_value("setup_objects", column, value, is_type ? NULL : PFS_OBJECT_ANY);
	if (!is_type)
	{
		check_length(column, value, NAMEDATALEN - 1);
		return value;
	}
	type = pfs_rule_object_by_name(value);
	if (type < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\" of setup_objects: \"%s\"", column, pfs_quote(value)),
				 errdetail("The values are TABLE, FUNCTION, PROCEDURE and TRIGGER, in any letter case.")));
	return pfs_rule_object_names[type];
}

/* Raises the error that belongs to what came of a change of a list; key: the rule's, in words. */
static void
report(PfsRuleResult result, const PfsRuleList *list, const char *key, const char *function)
{
	switch (result)
	{
		case PFS_RULES_DONE:
			break;
		case PFS_RULES_DUPLICATE:
			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("%s can have only one rule for %s", list->name, key),
					 errhint("UPDATE the one that is there, or use %s, which inserts or updates.", function)));
			break;
		case PFS_RULES_FULL:
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("%s has room for %u rules only", list->name, list->pages->records_max),
					 errhint("Delete a rule, or raise pfs.%s_size and restart the server.", list->name)));
			break;
	}
}

/* Raises the error for a rule of setup_actors that was not taken. */
void
pfs_report_actor(PfsRuleResult result, const void *rule)
{
	const PfsActor *actor = rule;

	if (result == PFS_RULES_DONE)
		return;
	report(result, &pfs_actors,
		   psprintf("host \"%s\", user_name \"%s\", role \"%s\"", actor->host, actor->user_name, PFS_ACTOR_ANY),
		   "pfs.set_actor()");
}

/* Raises the error for a rule of setup_objects that was not taken. */
void
pfs_report_object(PfsRuleResult result, const void *rule)
{
	const PfsObjectRule *object = rule;

	if (result == PFS_RULES_DONE)
		return;
	report(result, &pfs_object_rules,
		   psprintf("object_type \"%s\", database_name \"%s\", object_schema \"%s\", object_name \"%s\"",
					pfs_rule_object_names[object->type], object->database_name, object->object_schema, object->object_name),
		   "pfs.set_object()");
}
