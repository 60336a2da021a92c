/*
 * pfs_object_rules.h
 *	  The rules of setup_objects: which tables, functions, procedures and triggers are
 *	  instrumented, and whether their events are timed.
 *
 * Changes come from SQL (pfs_rule_list.h).  A process goes by a copy of its own, in which
 * names of schemas are OIDs: pfs_object_rules_resolve() makes it when a statement begins,
 * pfs_object_rules_flags() reads it at instrument points.
 *
 * Who keeps flags of an object keeps pfs_object_rules_resolved() with them, and asks again
 * when that differs.  The generation is no such mark: it changes before the copy does, and
 * does not change with the schemas of the database.
 */
#ifndef PFS_OBJECT_RULES_H
#define PFS_OBJECT_RULES_H

#include "pfs.h"
#include "pfs_rule_list.h"

/* In a rule: any database, any schema, any name. */
#define PFS_OBJECT_ANY "%"

#define PFS_OBJECT_ENABLED	0x1
#define PFS_OBJECT_TIMED	0x2

/* In the order in which the rules of the start are inserted. */
typedef enum PfsRuleObject
{
	PFS_RULE_TABLE,
	PFS_RULE_FUNCTION,
	PFS_RULE_PROCEDURE,
	PFS_RULE_TRIGGER,
} PfsRuleObject;

#define PFS_NUM_RULE_OBJECTS (PFS_RULE_TRIGGER + 1)

/* One rule.  What it is for, the key, does not change while it lives. */
typedef struct PfsObjectRule
{
	uint64		type;			/* PfsRuleObject */
	char		database_name[NAMEDATALEN];
	char		object_schema[NAMEDATALEN];
	char		object_name[NAMEDATALEN];
	uint64		switches;		/* PFS_OBJECT_* */
} PfsObjectRule;

extern PFS_HIDDEN PfsRuleList pfs_object_rules;

/* Copies of the rules that this process has made. */
extern PFS_HIDDEN uint64 pfs_object_rules_copies;

/* The copy has a rule for tables of one name. */
extern PFS_HIDDEN bool pfs_object_rules_name_tables;

/* Server start: the container, and the rules for system schemas and for all others. */
extern void pfs_object_rules_lay_out(PfsSegment *seg);
extern void pfs_object_rules_start(void);

/*
 * Since when rows of tables have been counted by the same instrument, consumers and rules;
 * 0: they are not.  Takes no lock.
 */
extern TimestampTz pfs_object_rules_counted_since(void);

/* TABLE, ..., as setup_objects says it; by name: in any letter case, -1 if there is none. */
extern const char *const pfs_rule_object_names[PFS_NUM_RULE_OBJECTS];
extern int	pfs_rule_object_by_name(const char *name);

/*
 * Changes whenever what pfs_object_rules_flags() says in this process may have changed;
 * 0: nothing was resolved yet.  Any context.
 */
static inline uint64
pfs_object_rules_resolved(void)
{
	return pfs_object_rules_copies;
}

/*
 * Brings this process's copy up to date, where the rules or the schemas of the database
 * have changed since.  At the beginning of a statement, where locks can be taken and
 * memory allocated; does nothing outside of a transaction and in a process without a
 * database.
 */
extern void pfs_object_rules_resolve(void);

/* The generation of the rules that the copy was made from; 0, which is none: it is not valid. */
extern PFS_HIDDEN uint64 pfs_object_rules_word;

/*
 * Is the copy up to date?  The generation, the word of the list's sequence lock, changes with each
 * change of the rules, by whichever process.  Any context, while pfs is active.
 */
static inline bool
pfs_object_rules_are_current(void)
{
	return pfs_object_rules_word == pfs_load_relaxed(&pfs_object_rules.shared->seq.word);
}

/*
 * PFS_OBJECT_* of an object of the current database: of the rule that fits it best, by name
 * before schema before database; 0: none fits, nothing was resolved yet, or it is not
 * enabled.  Functions of one name have one rule.  Instrument points: no catalog, no
 * lock, no allocation, no error.
 */
extern uint32 pfs_object_rules_flags(PfsRuleObject type, Oid schema, const char *object_name);

#endif							/* PFS_OBJECT_RULES_H */
