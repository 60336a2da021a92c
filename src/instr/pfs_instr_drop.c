/*
 * pfs_instr_drop.c
 *	  Tables, indexes, functions and databases that are dropped: what was counted of them goes
 *	  with the commit.
 *
 * The server tells of each by object_access_hook.  Where that is set, the server calls it for
 * each function of each plan and, from 17 on, does not keep what it has made of search_path.  So
 * it is set while a command runs that can drop something or make a function, and in sessions with
 * temporary tables at the commit, which can drop these; not else.
 *
 * Whether a drop lasts is known at the end of the transaction, so tables and indexes are kept
 * in a list until then; pfs_program_change.c does so for functions.  What a prepared transaction
 * has dropped is left to readers, as is what a standby replays (pfs_exists.h).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_database_d.h"
#include "catalog/pg_proc_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs.h"
#include "pfs_compat_progress.h"
#include "pfs_instr_drop.h"
#include "pfs_instr_prove.h"
#include "pfs_program_change.h"
#include "pfs_rel_stat.h"

/* Who had the hook before it was set. */
static object_access_hook_type prev_object_access = NULL;

typedef struct Dropped
{
	Oid			class;
	Oid			object;
	int			level;			/* of subtransactions */
} Dropped;

/* Room for so many stays when the transaction is over. */
#define DROPPED_AT_LEAST 64

static Dropped *dropped = NULL;
PFS_HOT uint32 pfs_dropped = 0;
static uint32 max_dropped = 0;

/*
 * Appends to the list.  Where there is no memory the object's record stays until a reader finds
 * that the object has gone.
 */
static void
note_drop(Oid class, Oid object)
{
	if (pfs_dropped == max_dropped)
	{
		uint32		max = Max(2 * max_dropped, DROPPED_AT_LEAST);
		Dropped    *larger = MemoryContextAllocExtended(TopMemoryContext, max * sizeof(Dropped),
														MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);

		if (larger == NULL)
			return;
		if (dropped != NULL)
		{
			memcpy(larger, dropped, pfs_dropped * sizeof(Dropped));
			pfree(dropped);
		}
		dropped = larger;
		max_dropped = max;
	}
	dropped[pfs_dropped++] = (Dropped)
	{
		class, object, GetCurrentTransactionNestLevel()
	};
}

/* The server has made something, or is about to drop it. */
static void
object_access_cb(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	pfs_hook_called(PFS_HOOK_OBJECT_ACCESS);
	if (prev_object_access)
		prev_object_access(access, class, object, sub, arg);
	if (class == ProcedureRelationId && access == OAT_POST_CREATE)
		pfs_program_note_made(object);
	else if (access != OAT_DROP || sub != 0)
		return;
	else if (class == ProcedureRelationId)
		pfs_program_note_dropped(MyDatabaseId, object);
	else if (class == RelationRelationId)
		note_drop(class, object);
	else if (class == DatabaseRelationId)
	{
		pfs_program_note_dropped(object, InvalidOid);
		note_drop(class, object);
	}
}

/* ---- when the hook is set ---- */

PFS_HOT bool pfs_drop_is_watching = false;

/* It began for the drops of a commit; else by a command, at this level of subtransactions. */
static bool until_commit = false;
static int	watch_level = 0;

/* Begins to watch; false: a command around this one does, or one that an error has cut off. */
static bool
watch(void)
{
	if (pfs_drop_is_watching)
		return false;
	prev_object_access = object_access_hook;
	object_access_hook = object_access_cb;
	pfs_drop_is_watching = true;
	watch_level = GetCurrentTransactionNestLevel();
	return true;
}

void
pfs_drop_unwatch(void)
{
	/* A library may have set the hook meanwhile, and call ours. */
	if (!pfs_drop_is_watching || object_access_hook != object_access_cb)
		return;
	object_access_hook = prev_object_access;
	pfs_drop_is_watching = false;
}

/*
 * Watches a command that can drop something, or make a function: those that rewrite a table make a
 * transient one and drop it.
 */
bool
pfs_drop_command(const Node *utility)
{
	switch (nodeTag(utility))
	{
		case T_DropStmt:
		case T_DropOwnedStmt:
		case T_DropdbStmt:
		case T_CreateFunctionStmt:
		case T_AlterTableStmt:
		case T_ReindexStmt:
		case T_VacuumStmt:
		case PFS_REWRITE_STMT:
		case T_RefreshMatViewStmt:
		case T_DiscardStmt:
			return watch();
		default:
			return false;
	}
}

void
pfs_drop_watch_commit(void)
{
	until_commit = watch();
}

/*
 * A transaction has ended.  The command that watches goes on unless it failed: some have a
 * transaction for each step, and drop something in a later one.
 */
void
pfs_drop_transaction_ended(bool aborted)
{
	if (aborted || until_commit)
		pfs_drop_unwatch();
	until_commit = false;
}

/* A subtransaction is rolled back, and with it the command that watches, if that is inside of it. */
void
pfs_drop_subtransaction_failed(int level)
{
	if (watch_level >= level)
		pfs_drop_unwatch();
}

/* ---- ends of transactions ---- */

static void
forget_all(void)
{
	pfs_dropped = 0;
	if (max_dropped <= DROPPED_AT_LEAST)
		return;
	pfree(dropped);
	dropped = NULL;
	max_dropped = 0;
}

/* Removes the counters of all in the list. */
void
pfs_drop_committed(void)
{
	pfs_rel_stats_give_back();
	for (uint32 i = 0; i < pfs_dropped; i++)
	{
		if (dropped[i].class == DatabaseRelationId)
			pfs_rel_stats_remove_database(dropped[i].object);
		else
			pfs_rel_stats_drop(MyDatabaseId, dropped[i].object);
	}
	forget_all();
}

void
pfs_drop_rolled_back(int level)
{
	while (pfs_dropped > 0 && dropped[pfs_dropped - 1].level >= level)
		pfs_dropped--;
	if (pfs_dropped == 0)
		forget_all();
}

void
pfs_drop_promote(int level)
{
	for (uint32 i = pfs_dropped; i > 0 && dropped[i - 1].level >= level; i--)
		dropped[i - 1].level = level - 1;
}
