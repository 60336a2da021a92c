/*
 * pfs_program_change.c
 *	  Functions that this transaction makes and drops.
 *
 * A list, newest first, of what commands have said, each with the nesting of subtransactions in
 * which that was.  At the transaction's end a dropped function's record goes if that has committed, and
 * a made one's if it has not.  A transaction that is prepared leaves all records: whoever reads them
 * next in this database finds those without a function.
 *
 * The list lies in private memory, and has nearly always one item.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "pfs_program_change.h"

/* More are forgotten: readers find them. */
#define CHANGES_MAX (1 << 20)

typedef struct Change
{
	struct Change *older;
	Oid			database;
	Oid			function;		/* InvalidOid: all of the database */
	int			xact_level;
	bool		made;			/* else dropped */
	uint64		pool;			/* of a free one: see pfs_private.h */
} Change;

PFS_HOT bool pfs_program_has_changes = false;

static PfsPool pool = PFS_POOL_INIT(sizeof(Change), CHANGES_MAX);
static Change *newest = NULL;

/* Adds an item to the list; without memory the change is forgotten. */
static void
note(Oid database, Oid function, bool made)
{
	Change	   *change;

	if (!pfs_pool_grow(&pool))
		return;
	change = pfs_pool_take(&pool);
	change->older = newest;
	change->database = database;
	change->function = function;
	change->xact_level = GetCurrentTransactionNestLevel();
	change->made = made;
	newest = change;
	pfs_program_has_changes = true;
}

/*
 * One that has a record is not new: it was replaced.  If it was not called before, and is called
 * now, and all of this is rolled back, its calls so far are lost.
 */
void
pfs_program_note_made(Oid function)
{
	if (!pfs_program_is_known(function))
		note(MyDatabaseId, function, true);
}

void
pfs_program_note_dropped(Oid database, Oid function)
{
	note(database, function, false);
}

bool
pfs_program_is_dropped_here(Oid function)
{
	for (const Change *c = newest; c != NULL; c = c->older)
	{
		if (c->function == function && c->database == MyDatabaseId && !c->made)
			return true;
	}
	return false;
}

/*
 * Ends what was noted in transactions of this level and deeper; state: what has become of
 * them.
 */
void
pfs_program_changes_end(int level, PfsTransactionState state)
{
	while (newest != NULL && newest->xact_level >= level)
	{
		Change	   *change = newest;

		newest = change->older;
		if (state == (change->made ? PFS_TRANSACTION_ROLLED_BACK : PFS_TRANSACTION_COMMITTED))
			pfs_program_drop(change->database, change->function);
		pfs_pool_put(&pool, change);
	}
	pfs_program_has_changes = newest != NULL;
	pfs_pool_shrink(&pool);
}

void
pfs_program_changes_promote(int level)
{
	for (Change *c = newest; c != NULL && c->xact_level >= level; c = c->older)
		c->xact_level = level - 1;
}
