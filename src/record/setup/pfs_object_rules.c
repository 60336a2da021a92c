/*
 * pfs_object_rules.c
 *	  Rules for tables, functions, procedures and triggers: resolving their names, and
 *	  deciding by them.
 *
 * Each process decides by a copy of its own, which only it reads and writes, so nothing
 * can wait at an instrument point and nothing can change under its reader.  The copy has
 * the rules for the present database only, with OIDs for names of schemas, the most
 * specific ones first: the first that fits decides.
 *
 * It is made from the shared rules inside a transaction, where a statement begins, or
 * before the commit of a process without statements; never in a wait (pfs_tables_watch()).  The
 * word of their sequence lock says whether it is still right: each change ends with another
 * even word.  A reader that saw this word unchanged around its copying has the rules of
 * exactly that word (edges C and D of pfs_seqlock.h), and pfs_object_rules_word remembers it.
 * A statement that was sent when a change had ended sees it: the kernel, which took the
 * news from one client to the other, ordered the writer's stores before our load.
 *
 * Schemas: the server tells each process at the beginning of its statements which rows of
 * pg_namespace have changed, and that makes the copy invalid.  So a schema that is created,
 * renamed or dropped counts from the next statement on, as a rule does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pfs_compat.h"
#include "pfs_object_rules.h"
#include "pfs_patience.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

/* Schemas that a rule of the copy is for. */
typedef enum SchemaKind
{
	ANY_SCHEMA,
	ONE_SCHEMA,
	OWN_TEMP,					/* this session's pg_temp_N */
	OWN_TOAST_TEMP,				/* this session's pg_toast_temp_N */
} SchemaKind;

/* A rule of the copy; two of pg_toast. */
typedef struct ResolvedRule
{
	uint8		type;			/* PfsRuleObject */
	uint8		kind;			/* SchemaKind */
	uint8		rank;			/* the higher, the more specific */
	uint8		flags;			/* PFS_OBJECT_*, 0 if not enabled */
	Oid			schema;			/* of ONE_SCHEMA */
	char		object_name[NAMEDATALEN];
} ResolvedRule;

typedef struct ResolvedRules
{
	uint32		n;
	bool		names_tables;	/* a rule is for tables of one name */
	ResolvedRule rules[FLEXIBLE_ARRAY_MEMBER];
} ResolvedRules;

PfsRuleList pfs_object_rules = {.name = "setup_objects", .key_size = offsetof(PfsObjectRule, switches)};
uint64		pfs_object_rules_copies = 0;
uint64		pfs_object_rules_word = 0;
bool		pfs_object_rules_name_tables = false;

/* The copy, NULL at first. */
static ResolvedRules *resolved = NULL;

/* Invalidations of schemas that this process was told of. */
static uint64 schema_changes = 0;

const char *const pfs_rule_object_names[PFS_NUM_RULE_OBJECTS] = {
	[PFS_RULE_TABLE] = "TABLE",
	[PFS_RULE_FUNCTION] = "FUNCTION",
	[PFS_RULE_PROCEDURE] = "PROCEDURE",
	[PFS_RULE_TRIGGER] = "TRIGGER",
};

/* Returns the type that a user named, -1 if there is none. */
int
pfs_rule_object_by_name(const char *name)
{
	for (int type = 0; type < PFS_NUM_RULE_OBJECTS; type++)
	{
		if (pg_strcasecmp(name, pfs_rule_object_names[type]) == 0)
			return type;
	}
	return -1;
}

static bool
is_any(const char *name)
{
	return strcmp(name, PFS_OBJECT_ANY) == 0;
}

/* ---- deciding ---- */

/* Is it a temporary schema of this session?  Reads variables of this process only. */
static SchemaKind
kind_of_schema(Oid schema)
{
	if (isTempNamespace(schema))
		return OWN_TEMP;
	return isTempToastNamespace(schema) ? OWN_TOAST_TEMP : ONE_SCHEMA;
}

/* Is the rule for this schema?  kind: what kind_of_schema() says of it. */
static bool
fits_schema(const ResolvedRule *rule, Oid schema, SchemaKind kind)
{
	if (rule->kind == ONE_SCHEMA)
		return rule->schema == schema;
	return rule->kind == ANY_SCHEMA || rule->kind == kind;
}

/*
 * Returns the flags of the first rule of the copy that fits, for instrument points.  The
 * session's temporary schemas are looked up here and not when the copy is made, as a
 * statement can make them.
 */
uint32
pfs_object_rules_flags(PfsRuleObject type, Oid schema, const char *object_name)
{
	const ResolvedRules *copy = resolved;
	SchemaKind	kind = kind_of_schema(schema);

	if (copy == NULL)
		return 0;
	for (uint32 i = 0; i < copy->n; i++)
	{
		const ResolvedRule *rule = &copy->rules[i];

		if (rule->type == type && fits_schema(rule, schema, kind) &&
			(is_any(rule->object_name) || strcmp(rule->object_name, object_name) == 0))
			return rule->flags;
	}
	return 0;
}

/* ---- resolving ---- */

/* A schema has changed, or the server does not know which one has: look names up again. */
static void
schemas_changed_cb(Datum arg, PfsSyscacheId cache, uint32 hash)
{
	schema_changes++;
	pfs_object_rules_word = 0;
}

/*
 * Copies the shared rules, and returns true if they did not change meanwhile; *word is
 * their generation.  Waits as readers do for a writer that lost its processor.
 */
static bool
read_rules(PfsObjectRule *rules, uint32 *n, uint64 *word)
{
	PfsPatience patience = {0};
	bool		is_valid;

	do
	{
		*word = pfs_seqlock_read_begin(&pfs_object_rules.shared->seq);
		*n = 0;
		for (PfsPagesAt at = PFS_PAGES_BEGIN; *n < pfs_sizes.object_rules && pfs_pages_each(pfs_object_rules.pages, &at);)
			*n += pfs_pages_copy(pfs_object_rules.pages, at.index, 0, &rules[*n], sizeof(rules[*n]), &at.word);
		is_valid = pfs_seqlock_read_valid(&pfs_object_rules.shared->seq, *word);
	} while (!is_valid && pfs_patience_more(&patience));
	pfs_patience_end(&patience);
	return is_valid;
}

/*
 * How specific a rule is: a name outweighs schema and database, a schema the database.
 * pg_temp and pg_toast as the names of temporary schemas give way to the real ones.  As no
 * two rules have one key, no two that fit an object have one rank.
 */
static uint8
rank_of(const PfsObjectRule *rule, SchemaKind kind)
{
	int			of_schema = kind == ANY_SCHEMA ? 0 : kind == ONE_SCHEMA ? 2 : 1;

	return !is_any(rule->object_name) * 6 + of_schema * 2 + !is_any(rule->database_name);
}

#define RANK_MAX (6 + 2 * 2 + 1)

/* Appends a rule to the copy. */
static void
add_rule(ResolvedRules *copy, const PfsObjectRule *rule, SchemaKind kind, Oid schema)
{
	ResolvedRule *to = &copy->rules[copy->n++];

	to->type = rule->type;
	to->kind = kind;
	to->rank = rank_of(rule, kind);
	to->flags = (rule->switches & PFS_OBJECT_ENABLED) != 0 ? rule->switches : 0;
	to->schema = schema;
	strlcpy(to->object_name, rule->object_name, sizeof(to->object_name));
	if (to->type == PFS_RULE_TABLE && !is_any(to->object_name))
		copy->names_tables = true;
}

/*
 * Appends a rule with its schema, unless the database has none of that name.  pg_catalog and
 * pg_toast have fixed OIDs.  pg_temp is the session's own temporary schema, and pg_toast
 * also where the session has the TOAST tables of its temporary ones.
 */
static void
resolve_schema(ResolvedRules *copy, const PfsObjectRule *rule)
{
	const char *name = rule->object_schema;
	Oid			schema;

	if (is_any(name))
		add_rule(copy, rule, ANY_SCHEMA, InvalidOid);
	else if (strcmp(name, "pg_catalog") == 0)
		add_rule(copy, rule, ONE_SCHEMA, PG_CATALOG_NAMESPACE);
	else if (strcmp(name, "pg_toast") == 0)
	{
		add_rule(copy, rule, ONE_SCHEMA, PG_TOAST_NAMESPACE);
		add_rule(copy, rule, OWN_TOAST_TEMP, InvalidOid);
	}
	else if (strcmp(name, "pg_temp") == 0)
		add_rule(copy, rule, OWN_TEMP, InvalidOid);
	else if (OidIsValid(schema = get_namespace_oid(name, true)))
		add_rule(copy, rule, ONE_SCHEMA, schema);
}

/* Bytes of a copy of so many rules. */
static Size
copy_size(uint32 n)
{
	return offsetof(ResolvedRules, rules) + n * sizeof(ResolvedRule);
}

/*
 * Returns a lasting copy whose rules are ordered by rank, the most specific first.  There are few ranks,
 * and each session comes here: so the rules are not sorted.
 */
static ResolvedRules *
in_order(const ResolvedRules *from)
{
	ResolvedRules *to = MemoryContextAlloc(TopMemoryContext, copy_size(from->n));

	to->n = 0;
	to->names_tables = from->names_tables;
	for (int rank = RANK_MAX; rank >= 0; rank--)
	{
		for (uint32 i = 0; i < from->n; i++)
		{
			if (from->rules[i].rank == rank)
				to->rules[to->n++] = from->rules[i];
		}
	}
	return to;
}

/*
 * Makes a copy of the rules and puts it in the place of the old one.  Looking up names can
 * raise an error, and can tell of more changes: then the copy stays, or becomes, invalid,
 * and the next statement makes another one.  Where a writer keeps the rules changing for
 * longer than we wait, the old copy stays until the generation is another one.
 */
static void
make_copy(void)
{
	static bool is_registered = false;
	uint64		changes = schema_changes;
	PfsObjectRule *rules = palloc(pfs_sizes.object_rules * sizeof(PfsObjectRule));
	ResolvedRules *copy;
	ResolvedRules *old = resolved;
	char	   *database;
	uint64		word;
	uint32		n;

	if (!is_registered)
	{
		CacheRegisterSyscacheCallback(NAMESPACEOID, schemas_changed_cb, (Datum) 0);
		is_registered = true;
	}
	pfs_object_rules_word = 0;
	if (!read_rules(rules, &n, &word))
	{
		pfs_object_rules_word = word;
		pfree(rules);
		return;
	}
	database = get_database_name(MyDatabaseId);
	copy = palloc(copy_size(2 * n));
	copy->n = 0;
	copy->names_tables = false;
	for (uint32 i = 0; i < n; i++)
	{
		if (is_any(rules[i].database_name) || (database != NULL && strcmp(rules[i].database_name, database) == 0))
			resolve_schema(copy, &rules[i]);
	}

	/* Nothing below raises errors but for want of memory. */
	resolved = in_order(copy);
	pfs_object_rules_copies++;
	pfs_object_rules_name_tables = copy->names_tables;
	if (changes == schema_changes)
		pfs_object_rules_word = word;
	if (old != NULL)
		pfree(old);
	if (database != NULL)
		pfree(database);
	pfree(copy);
	pfree(rules);
}

/* Makes another copy if there is a reason, for hooks where statements begin. */
void
pfs_object_rules_resolve(void)
{
	if (likely(pfs_object_rules_are_current()))
		return;
	if (IsTransactionState() && OidIsValid(MyDatabaseId))
		make_copy();
}

/* Takes no lock: two words, each of which is what it was at one moment while they were read. */
TimestampTz
pfs_object_rules_counted_since(void)
{
	TimestampTz since = pfs_load_relaxed(&pfs_setup->table_since);

	if (since != 0)
		since = Max(since, pfs_load_relaxed(&pfs_object_rules.shared->changed));
	return since;
}

/* ---- start ---- */

/* Takes the container of rules from the segment. */
void
pfs_object_rules_lay_out(PfsSegment *seg)
{
	pfs_rules_lay_out(&pfs_object_rules, seg, pfs_sizes.object_rules);
}

/*
 * Inserts, for each type of object, the rules that leave out the system's schemas and the one
 * that instruments everything else, as MySQL has them.
 */
void
pfs_object_rules_start(void)
{
	static const char *const system_schemas[] = {"pg_catalog", "information_schema", "pg_toast"};
	PfsObjectRule rules[PFS_NUM_RULE_OBJECTS * (lengthof(system_schemas) + 1)] = {0};
	int			n = 0;

	for (int type = 0; type < PFS_NUM_RULE_OBJECTS; type++)
	{
		for (int i = 0; i <= lengthof(system_schemas); i++)
		{
			PfsObjectRule *rule = &rules[n++];
			bool		is_system = i < lengthof(system_schemas);

			rule->type = type;
			strlcpy(rule->database_name, PFS_OBJECT_ANY, NAMEDATALEN);
			strlcpy(rule->object_schema, is_system ? system_schemas[i] : PFS_OBJECT_ANY, NAMEDATALEN);
			strlcpy(rule->object_name, PFS_OBJECT_ANY, NAMEDATALEN);
			rule->switches = is_system ? 0 : PFS_OBJECT_ENABLED | PFS_OBJECT_TIMED;
		}
	}
	pfs_rules_start(&pfs_object_rules, rules, n);
}
