/*
 * pfs_actor_check.h
 *	  What the table setup_actors and its functions refuse, in the same words.
 */
#ifndef PFS_ACTOR_CHECK_H
#define PFS_ACTOR_CHECK_H

#include "pfs_actor.h"

/*
 * A value of the column, NULL for a null; raises 22023 if no rule can have it.
 */
extern void pfs_check_actor_column(const char *column, const char *value);

/* Raises 23505 or 53400 unless the rule was taken. */
extern void pfs_report_actor(PfsActorResult result, const PfsActor *rule);

#endif							/* PFS_ACTOR_CHECK_H */
