/*
 * pfs_actor_check.c
 *	  Errors of setup_actors.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pfs_actor_check.h"
#include "pfs_shared.h"

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
				 errmsg("\"%s\" is longer than %d bytes: \"%s\"", column, max, value)));
}

/* Raises an error for a value that a rule's column cannot have. */
void
pfs_check_actor_column(const char *column, const char *value)
{
	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of table \"setup_actors\" cannot be NULL", column),
				 errhint("\"%s\" stands for any.", PFS_ACTOR_ANY)));
	if (strcmp(column, "user_name") == 0)
		check_length(column, value, NAMEDATALEN - 1);
	else if (strcmp(column, "host") == 0)
		check_length(column, value, PFS_CLIENT_HOST_SIZE - 1);
	else if (strcmp(value, PFS_ACTOR_ANY) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\" of setup_actors: \"%s\"", column, value),
				 errdetail("The only value is \"%s\".", PFS_ACTOR_ANY)));
}

/* Raises the error that belongs to what came of a change of the rules. */
void
pfs_report_actor(PfsActorResult result, const PfsActor *rule)
{
	switch (result)
	{
		case PFS_ACTOR_DONE:
			break;
		case PFS_ACTOR_DUPLICATE:
			ereport(ERROR,
					(errcode(ERRCODE_UNIQUE_VIOLATION),
					 errmsg("setup_actors can have only one rule for host \"%s\", user_name \"%s\", role \"%s\"",
							rule->host, rule->user_name, PFS_ACTOR_ANY),
					 errhint("UPDATE the one that is there, or use pfs.set_actor(), which inserts or updates.")));
			break;
		case PFS_ACTOR_FULL:
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("setup_actors has room for %u rules only", pfs_sizes.actors),
					 errhint("Delete a rule, or raise pfs.setup_actors_size and restart the server.")));
			break;
	}
}
