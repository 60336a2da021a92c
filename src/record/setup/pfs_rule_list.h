/*
 * pfs_rule_list.h
 *	  A list of rules in shared memory that SQL changes: setup_actors, setup_objects.
 *
 * A rule is a record of a container: its key, in which unused bytes are zero, and behind
 * it one word with its two switches.  Changes come from SQL, under the setup lock.
 * Readers take no lock: what a rule means, and how readers look for it, is in the file of
 * each list.
 */
#ifndef PFS_RULE_LIST_H
#define PFS_RULE_LIST_H

#include "datatype/timestamp.h"

#include "pfs_pages.h"
#include "pfs_seqlock.h"

/* Records of the lists are at most so large, in bytes. */
#define PFS_RULE_SIZE_MAX 256

typedef struct PfsSharedRules
{
	PfsSeqlock	seq;			/* written under the setup lock; odd while
								 * rules change, a new value after each change */
	TimestampTz changed;		/* when they last changed since the server's
								 * start, written and read under the setup
								 * lock; 0: never */
} PfsSharedRules;

typedef struct PfsRuleList
{
	const char *name;			/* of the table and of the container */
	size_t		key_size;		/* bytes, a multiple of 8: where a record has
								 * its word of switches */
	PfsPages   *pages;			/* NULL when pfs is off; these two are
								 * inherited from the postmaster */
	PfsSharedRules *shared;
	uint32_t	hint;			/* process-local, of allocations */
} PfsRuleList;

/* A rule that was read, as the one to be changed or removed. */
typedef struct PfsRuleRef
{
	uint32_t	index;
	uint64_t	word;			/* its state word then */
} PfsRuleRef;

typedef enum PfsRuleResult
{
	PFS_RULES_DONE,
	PFS_RULES_DUPLICATE,
	PFS_RULES_FULL,
} PfsRuleResult;

/* Server start: the container, and its first rules, of which those that do not fit are lost. */
extern void pfs_rules_lay_out(PfsRuleList *list, PfsSegment *seg, uint32_t records_max);
extern void pfs_rules_start(PfsRuleList *list, const void *rules, int n);

/*
 * The rest is for SQL commands; takes the setup lock.
 *
 * Could this rule be inserted now, together with so many others?
 */
extern PfsRuleResult pfs_rules_check(PfsRuleList *list, const void *rule, int others);

/* All or none of an array; *which is the first duplicate.  The rules differ in their keys. */
extern PfsRuleResult pfs_rules_insert(PfsRuleList *list, const void *rules, int n, int *which);

/* Insert, or give the one with this key these switches. */
extern PfsRuleResult pfs_rules_set(PfsRuleList *list, const void *rule);

/* Give these bits of the switches these values.  A rule that has gone is passed over. */
extern void pfs_rules_update(PfsRuleList *list, PfsRuleRef ref, uint64_t bits, uint64_t switches);

/* All at once.  Those that have gone are passed over. */
extern void pfs_rules_remove(PfsRuleList *list, const PfsRuleRef *refs, int n);

/* The rule with the key of this one, or all for NULL; returns how many it removed. */
extern int64_t pfs_rules_remove_key(PfsRuleList *list, const void *rule);

/* Bytes of a rule. */
static inline size_t
pfs_rules_size(const PfsRuleList *list)
{
	return list->key_size + sizeof(uint64_t);
}

#endif							/* PFS_RULE_LIST_H */
