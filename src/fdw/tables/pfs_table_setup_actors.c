/*
 * pfs_table_setup_actors.c
 *	  setup_actors: which new sessions are instrumented.  The one table of the
 *	  set-up whose rows come and go.
 */
#include "postgres.h"

#include "utils/datum.h"

#include "pfs_actor.h"
#include "pfs_actor_check.h"
#include "pfs_tables.h"
#include "pfs_value.h"

typedef struct ActorRow
{
	PfsActorRef ref;
	PfsActor	rule;
} ActorRow;

static Datum
check_name(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	char	   *name = isnull ? NULL : TextDatumGetCString(value);

	pfs_check_actor_column(column->name, name);
	return CStringGetTextDatum(name);
}

#define COLUMNS(X, t) \
	X(t, host, text, none, pfs_text_datum(row->rule.host), \
	  "Numeric client address; [local] for a Unix socket; localhost for [local], 127.0.0.0/8 and ::1, where no " \
	  "rule has the very address; % is any. No pattern.", .width = 12, .check_new = check_name, .by_default = "%") \
	X(t, user_name, text, none, pfs_text_datum(row->rule.user_name), \
	  "The role that authenticates; % is any. No pattern.", \
	  .width = 12, .check_new = check_name, .by_default = "%") \
	X(t, role, text, none, CStringGetTextDatum(PFS_ACTOR_ANY), \
	  "Reserved; %.", .width = 2, .check_new = check_name, .by_default = "%") \
	X(t, enabled, text, none, pfs_switch_datum(row->rule.switches & PFS_ACTOR_ENABLED), \
	  "threads.instrumented of such sessions at their start." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES") \
	X(t, history, text, none, pfs_switch_datum(row->rule.switches & PFS_ACTOR_HISTORY), \
	  "threads.history of such sessions at their start." PFS_YES_OR_NO, \
	  .width = 4, .check = pfs_check_switch, .by_default = "YES")

PFS_COLUMNS(actors, ActorRow, COLUMNS)

static double
estimate(void)
{
	PfsPagesStats stats;

	if (pfs_actors == NULL)
		return 0;
	pfs_pages_stats(pfs_actors, &stats);
	return stats.records_used;
}

/* Copies the rules one by one; one that is removed meanwhile is left out. */
static void
copy(PfsScan *scan)
{
	uint32		pos = 0;
	PfsActorRef ref;

	if (pfs_actors == NULL)
		return;
	while ((ref.index = pfs_pages_next(pfs_actors, &pos, &ref.word)) != PFS_NO_RECORD)
	{
		PfsActor	rule;
		ActorRow   *row;

		/* It was removed since pfs_pages_next() found it. */
		if (!pfs_pages_copy(pfs_actors, ref.index, 0, &rule, sizeof(rule), &ref.word))
			continue;
		row = pfs_scan_add(scan);
		row->ref = ref;
		row->rule = rule;
	}
}

static PfsRowId
identity(const void *row)
{
	const PfsActorRef *ref = &((const ActorRow *) row)->ref;
	PfsRowId	id = {ref->index, pfs_row_version(ref->word / PFS_VERSION_INC)};

	return id;
}

/* Finds the rule that a row stood for; false if it has been removed. */
static bool
find_ref(PfsRowId row, PfsActorRef *ref)
{
	if (pfs_actors == NULL || row.slot >= pfs_actors->records_max)
		return false;
	ref->index = row.slot;
	ref->word = pfs_pages_word(pfs_actors, row.slot);
	return (ref->word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED &&
		pfs_row_version(ref->word / PFS_VERSION_INC) == row.version;
}

static void
update(PfsRowId row, const PfsNewRow *values)
{
	PfsActorRef ref;

	if (find_ref(row, &ref))
		pfs_actor_update(ref, pfs_new_switch(values, PFS_COLUMN(actors, enabled)), pfs_new_switch(values, PFS_COLUMN(actors, history)));
}

/* Makes a rule from the values of a new row, which were checked. */
static PfsActor
make_rule(const PfsNewRow *row)
{
	PfsActor	rule = {0};

	strlcpy(rule.host, TextDatumGetCString(row->values[PFS_COLUMN(actors, host)]), sizeof(rule.host));
	strlcpy(rule.user_name, TextDatumGetCString(row->values[PFS_COLUMN(actors, user_name)]), sizeof(rule.user_name));
	if (pfs_new_switch(row, PFS_COLUMN(actors, enabled)) == 1)
		rule.switches |= PFS_ACTOR_ENABLED;
	if (pfs_new_switch(row, PFS_COLUMN(actors, history)) == 1)
		rule.switches |= PFS_ACTOR_HISTORY;
	return rule;
}

/* Compares texts that check_name() made, which are neither compressed nor toasted. */
static bool
same_text(Datum a, Datum b)
{
	return datumIsEqual(a, b, false, -1);
}

/*
 * Raises the error if the last of the new rows is a duplicate of another one or of a
 * rule, or does not fit.
 */
static void
check_insert(const PfsNewRow *rows, int nrows)
{
	const Datum *values = rows[nrows - 1].values;
	PfsActor	rule = make_rule(&rows[nrows - 1]);

	for (int i = 0; i < nrows - 1; i++)
	{
		if (same_text(rows[i].values[PFS_COLUMN(actors, host)], values[PFS_COLUMN(actors, host)]) &&
			same_text(rows[i].values[PFS_COLUMN(actors, user_name)], values[PFS_COLUMN(actors, user_name)]))
			pfs_report_actor(PFS_ACTOR_DUPLICATE, &rule);
	}
	pfs_report_actor(pfs_actor_check(&rule, nrows - 1), &rule);
}

/* Inserts all rules or none; another session may have inserted one since check_insert(). */
static void
insert(const PfsNewRow *rows, int nrows)
{
	PfsActor   *rules = palloc(sizeof(PfsActor) * nrows);
	PfsActorResult result;
	int			which;

	for (int i = 0; i < nrows; i++)
		rules[i] = make_rule(&rows[i]);
	result = pfs_actors_insert(rules, nrows, &which);
	pfs_report_actor(result, &rules[Min(which, nrows - 1)]);
}

static void
delete(const PfsRowId *rows, int nrows)
{
	PfsActorRef *refs = palloc(sizeof(PfsActorRef) * nrows);
	int			n = 0;

	for (int i = 0; i < nrows; i++)
		n += find_ref(rows[i], &refs[n]);
	pfs_actors_remove(refs, n);
}

const PfsTable pfs_table_setup_actors = {
	PFS_TABLE("setup_actors", actors, "MySQL",
			  "one rule: are sessions of this user and host instrumented from their start",
			  "all rules gone: new sessions are not instrumented",
			  "Rules for sessions that start afterwards: is one of this user and host instrumented? The first "
			  "match decides, in this order: host and user_name, user_name only, host only, neither; without a "
			  "match a session is not instrumented. Takes INSERT, UPDATE of enabled and history, DELETE, and "
			  "TRUNCATE, which leaves no rule."),
	.row_size = sizeof(ActorRow),
	.estimate = estimate,
	.copy = copy,
	.identity = identity,
	.update = update,
	.check_insert = check_insert,
	.insert = insert,
	.remove = delete,
	.truncate = pfs_actors_remove_all,
};
