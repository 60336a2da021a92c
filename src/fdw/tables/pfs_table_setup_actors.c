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

enum
{
	HOST,
	USER_NAME,
	ROLE,
	ENABLED,
	HISTORY,
};

static Datum
check_name(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	char	   *name = isnull ? NULL : TextDatumGetCString(value);

	pfs_check_actor_column(column->name, name);
	return CStringGetTextDatum(name);
}

static const PfsColumn columns[] = {
	[HOST] = {"host", TEXTOID, .width = 12, .check_new = check_name, .by_default = "%"},
	[USER_NAME] = {"user_name", TEXTOID, .width = 12, .check_new = check_name, .by_default = "%"},
	[ROLE] = {"role", TEXTOID, .width = 2, .check_new = check_name, .by_default = "%"},
	[ENABLED] = {"enabled", TEXTOID, .width = 4, .check = pfs_check_switch, .by_default = "YES"},
	[HISTORY] = {"history", TEXTOID, .width = 4, .check = pfs_check_switch, .by_default = "YES"},
};

static double
estimate(void)
{
	PfsPagesStats stats;

	if (pfs_actors == NULL)
		return 0;
	pfs_pages_stats(pfs_actors, &stats);
	return stats.records_used;
}

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

		/* One that goes at this moment is not there any more. */
		if (!pfs_pages_copy(pfs_actors, ref.index, 0, &rule, sizeof(rule), &ref.word))
			continue;
		row = pfs_scan_add(scan);
		row->ref = ref;
		row->rule = rule;
	}
}

static Datum
get(PfsScan *scan, const void *copied, int column, bool *isnull)
{
	const PfsActor *rule = &((const ActorRow *) copied)->rule;

	switch (column)
	{
		case HOST:
			return pfs_text_datum(rule->host);
		case USER_NAME:
			return pfs_text_datum(rule->user_name);
		case ROLE:
			return CStringGetTextDatum(PFS_ACTOR_ANY);
		case ENABLED:
			return pfs_switch_datum(rule->switches & PFS_ACTOR_ENABLED);
		case HISTORY:
			return pfs_switch_datum(rule->switches & PFS_ACTOR_HISTORY);
	}
	return pfs_null(isnull);
}

static PfsRowId
identity(const void *row)
{
	const PfsActorRef *ref = &((const ActorRow *) row)->ref;
	PfsRowId	id = {ref->index, pfs_row_version(ref->word / PFS_VERSION_INC)};

	return id;
}

/* The rule that a row stood for; false if it has gone. */
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
		pfs_actor_update(ref, pfs_new_switch(values, ENABLED), pfs_new_switch(values, HISTORY));
}

static PfsActor
make_rule(const PfsNewRow *row)
{
	PfsActor	rule = {0};

	strlcpy(rule.host, TextDatumGetCString(row->values[HOST]), sizeof(rule.host));
	strlcpy(rule.user_name, TextDatumGetCString(row->values[USER_NAME]), sizeof(rule.user_name));
	if (pfs_new_switch(row, ENABLED) == 1)
		rule.switches |= PFS_ACTOR_ENABLED;
	if (pfs_new_switch(row, HISTORY) == 1)
		rule.switches |= PFS_ACTOR_HISTORY;
	return rule;
}

/* Texts that check_name() made: neither compressed nor elsewhere. */
static bool
same_text(Datum a, Datum b)
{
	return datumIsEqual(a, b, false, -1);
}

static void
check_insert(const PfsNewRow *rows, int nrows)
{
	const Datum *values = rows[nrows - 1].values;
	PfsActor	rule = make_rule(&rows[nrows - 1]);

	for (int i = 0; i < nrows - 1; i++)
	{
		if (same_text(rows[i].values[HOST], values[HOST]) &&
			same_text(rows[i].values[USER_NAME], values[USER_NAME]))
			pfs_report_actor(PFS_ACTOR_DUPLICATE, &rule);
	}
	pfs_report_actor(pfs_actor_check(&rule, nrows - 1), &rule);
}

/* Another session may have been faster since check_insert(). */
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
	.name = "setup_actors",
	.row_is = "one rule: are sessions of this user and host instrumented from their start",
	.truncate_effect = "all rules gone: new sessions are not instrumented",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(ActorRow),
	.estimate = estimate,
	.copy = copy,
	.get = get,
	.identity = identity,
	.update = update,
	.check_insert = check_insert,
	.insert = insert,
	.remove = delete,
	.truncate = pfs_actors_remove_all,
};
