/*
 * pfs_table_setup_actors.c
 *	  setup_actors: which new sessions are instrumented.
 */
#include "postgres.h"

#include "pfs_actor.h"
#include "pfs_quote.h"
#include "pfs_rule_table.h"
#include "pfs_tables.h"

typedef struct ActorRow
{
	PfsRuleRef	ref;
	PfsActor	rule;
} ActorRow;

static Datum
check_name(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	bool		is_role = strcmp(column->name, "role") == 0;
	int			max = strcmp(column->name, "host") == 0 ? PFS_CLIENT_HOST_SIZE - 1 : NAMEDATALEN - 1;
	char	   *text = pfs_rule_text(table, column, value, isnull, is_role ? PG_INT32_MAX : max);

	if (is_role && strcmp(text, PFS_ACTOR_ANY) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"role\" of setup_actors: \"%s\"", pfs_quote(text)),
				 errdetail("The only value is \"%s\".", PFS_ACTOR_ANY)));
	return CStringGetTextDatum(text);
}

#define COLUMNS(X, t) \
	X(t, host, text, none, row->rule.host, \
	  "Numeric client address; [local] for a Unix socket; localhost for [local], 127.0.0.0/8 and ::1, where no " \
	  "rule has the very address; % is any. No pattern.", .width = 12, .check_new = check_name, .by_default = "%") \
	X(t, user_name, text, none, row->rule.user_name, \
	  "The role that authenticates; % is any. No pattern.", \
	  .width = 12, .check_new = check_name, .by_default = "%") \
	X(t, role, text, none, PFS_ACTOR_ANY, \
	  "Reserved; %.", .width = 2, .check_new = check_name, .by_default = "%") \
	X(t, enabled, text, none, pfs_yes_or_no(row->rule.switches & PFS_ACTOR_ENABLED), \
	  "threads.instrumented of such sessions at their start." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES") \
	X(t, history, text, none, pfs_yes_or_no(row->rule.switches & PFS_ACTOR_HISTORY), \
	  "threads.history of such sessions at their start." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES")

PFS_COLUMNS(actors, ActorRow, COLUMNS)

/* Fills in the key of a rule from a new row. */
static void
make_key(const PfsNewRow *row, void *rule)
{
	PfsActor   *actor = rule;

	strlcpy(actor->host, TextDatumGetCString(row->values[PFS_COLUMN(actors, host)]), sizeof(actor->host));
	strlcpy(actor->user_name, TextDatumGetCString(row->values[PFS_COLUMN(actors, user_name)]), sizeof(actor->user_name));
}

static char *
key_words(const void *rule)
{
	const PfsActor *actor = rule;

	return psprintf("host \"%s\", user_name \"%s\", role \"%s\"", actor->host, actor->user_name, PFS_ACTOR_ANY);
}

static const PfsRuleTable rule_table = {
	.list = &pfs_actors,
	.nkeys = 2,
	.keys = {PFS_COLUMN(actors, host), PFS_COLUMN(actors, user_name)},
	.switches = {PFS_COLUMN(actors, enabled), PFS_COLUMN(actors, history)},
	.make_key = make_key,
	.key_words = key_words,
	.setter = "pfs.set_actor()",
};

const PfsTable pfs_table_setup_actors = {
	PFS_TABLE("setup_actors", actors, "MySQL",
			  "one rule: are sessions of this user and host instrumented from their start",
			  "all rules gone: new sessions are not instrumented",
			  "Rules for sessions that start afterwards: is one of this user and host instrumented? The first "
			  "match decides, in this order: host and user_name, user_name only, host only, neither; without a "
			  "match a session is not instrumented. Takes INSERT, UPDATE of enabled and history, DELETE, and "
			  "TRUNCATE, which leaves no rule."),
	PFS_RULE_TABLE(rule_table),
};
