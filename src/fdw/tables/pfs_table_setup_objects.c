/*
 * pfs_table_setup_objects.c
 *	  setup_objects: which tables, functions, procedures and triggers are instrumented.
 */
#include "postgres.h"

#include "pfs_object_rules.h"
#include "pfs_quote.h"
#include "pfs_rule_table.h"
#include "pfs_tables.h"

typedef struct ObjectRow
{
	PfsRuleRef	ref;
	PfsObjectRule rule;
} ObjectRow;

static Datum
check_key(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	bool		is_type = strcmp(column->name, "object_type") == 0;
	char	   *text = pfs_rule_text(table, column, value, isnull, is_type ? PG_INT32_MAX : NAMEDATALEN - 1);
	int			type = is_type ? pfs_rule_object_by_name(text) : 0;

	if (type < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"object_type\" of setup_objects: \"%s\"", pfs_quote(text)),
				 errdetail("The values are TABLE, FUNCTION, PROCEDURE and TRIGGER, in any letter case.")));
	return CStringGetTextDatum(is_type ? pfs_rule_object_names[type] : text);
}

#define COLUMNS(X, t) \
	X(t, object_type, text, none, pfs_rule_object_names[row->rule.type], \
	  "TABLE, FUNCTION, PROCEDURE or TRIGGER (a trigger's function); takes any letter case. Tables are all relations " \
	  "that hold rows: partitions, materialized views and TOAST tables, too.", \
	  .width = 6, .check_new = check_key, .by_default = "TABLE") \
	X(t, database_name, text, none, row->rule.database_name, \
	  "Its database; % is any. No pattern.", \
	  .width = 12, .check_new = check_key, .by_default = "%") \
	X(t, object_schema, text, none, row->rule.object_schema, \
	  "Its schema; pg_temp for the temporary schema of each session and pg_toast also for pg_toast_temp_N, where no " \
	  "rule has the very name; % is any. No pattern.", \
	  .width = 12, .check_new = check_key, .by_default = "%") \
	X(t, object_name, text, none, row->rule.object_name, \
	  "Its name, without arguments: functions that share a name share a rule; % is any. No pattern.", \
	  .width = 12, .check_new = check_key, .by_default = "%") \
	X(t, enabled, text, none, pfs_yes_or_no(row->rule.switches & PFS_OBJECT_ENABLED), \
	  "Are such objects instrumented?" PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES") \
	X(t, timed, text, none, pfs_yes_or_no(row->rule.switches & PFS_OBJECT_TIMED), \
	  "Are their events timed? Without meaning where enabled is NO." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES")

PFS_COLUMNS(objects, ObjectRow, COLUMNS)

/* Copies a name of a rule from a new row. */
static void
copy_name(char *name, Datum value)
{
	strlcpy(name, TextDatumGetCString(value), NAMEDATALEN);
}

/* Fills in the key of a rule from a new row. */
static void
make_key(const PfsNewRow *row, void *rule)
{
	PfsObjectRule *object = rule;

	object->type = pfs_rule_object_by_name(TextDatumGetCString(row->values[PFS_COLUMN(objects, object_type)]));
	copy_name(object->database_name, row->values[PFS_COLUMN(objects, database_name)]);
	copy_name(object->object_schema, row->values[PFS_COLUMN(objects, object_schema)]);
	copy_name(object->object_name, row->values[PFS_COLUMN(objects, object_name)]);
}

static char *
key_words(const void *rule)
{
	const PfsObjectRule *object = rule;

	return psprintf("object_type \"%s\", database_name \"%s\", object_schema \"%s\", object_name \"%s\"",
					pfs_rule_object_names[object->type], object->database_name, object->object_schema, object->object_name);
}

static const PfsRuleTable rule_table = {
	.list = &pfs_object_rules,
	.nkeys = 4,
	.keys = {PFS_COLUMN(objects, object_type), PFS_COLUMN(objects, database_name),
	PFS_COLUMN(objects, object_schema), PFS_COLUMN(objects, object_name)},
	.switches = {PFS_COLUMN(objects, enabled), PFS_COLUMN(objects, timed)},
	.make_key = make_key,
	.key_words = key_words,
	.setter = "pfs.set_object()",
};

const PfsTable pfs_table_setup_objects = {
	PFS_TABLE("setup_objects", objects, "MySQL",
			  "one rule: are tables, functions, procedures or triggers of this name instrumented, and timed",
			  "all rules gone: no table, function, procedure or trigger is instrumented",
			  "Rules for tables, functions, procedures and triggers: is one of this database, schema and name "
			  "instrumented, and timed? Of the rules that match, the most specific one decides: by name before "
			  "schema before database; without a match it is not instrumented. A change counts for each session "
			  "from its next statement on. Takes INSERT, UPDATE of enabled and timed, DELETE, and TRUNCATE, which "
			  "leaves no rule."),
	PFS_RULE_TABLE(rule_table),
};
