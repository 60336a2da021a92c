/*
 * pfs_rule_check.h
 *	  What the tables setup_actors and setup_objects and their functions refuse, in the
 *	  same words.
 */
#ifndef PFS_RULE_CHECK_H
#define PFS_RULE_CHECK_H

#include "pfs_actor.h"
#include "pfs_object_rules.h"

/*
 * A value of the column, NULL for a null; raises 22023 if no rule can have it.  Of an
 * object_type it returns the word in capitals, of all others the value.
 */
extern void pfs_check_actor_column(const char *column, const char *value);
extern const char *pfs_check_object_column(const char *column, const char *value);

/* Raises 23505 or 53400 unless the rule was taken. */
extern void pfs_report_actor(PfsRuleResult result, const void *rule);
extern void pfs_report_object(PfsRuleResult result, const void *rule);

#endif							/* PFS_RULE_CHECK_H */
