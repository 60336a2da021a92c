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
 * Whether a drop lasts is known at the end of the transaction, so what was dropped or made is kept
 * in a list until then (pfs_object_change.c).  What a prepared transaction has dropped is left to
 * readers, as is what a standby replays (pfs_object_name.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_database_d.h"
#include "catalog/pg_proc_d.h"
#include "miscadmin.h"

#include "pfs.h"
#include "pfs_compat_progress.h"
#include "pfs_instr_drop.h"
#include "pfs_instr_prove.h"
#include "pfs_object_change.h"
#include "pfs_program.h"
#include "pfs_rebuild.h"
#include "pfs_rel_stat.h"

/* Who had the hook before it was set. */
static object_access_hook_type prev_object_access = NULL;

/* The server has made something, or is about to drop it. */
static void
object_access_cb(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	pfs_hook_called(PFS_HOOK_OBJECT_ACCESS);
	if (prev_object_access)
		prev_object_access(access, class, object, sub, arg);
	if (class == ProcedureRelationId && access == OAT_POST_CREATE)
	{
		/*
		 * One that has a record is not new: it was replaced.  If it was not
		 * called before, and is called now, and all of this is rolled back,
		 * its calls so far are lost.
		 */
		if (!pfs_program_is_known(object))
			pfs_object_change_note(class, object, true);
	}
	else if (class == RelationRelationId && access == OAT_POST_CREATE && sub == 0)
		pfs_rebuild_relation_made(object);
	else if (access == OAT_DROP && sub == 0 &&
			 (class == ProcedureRelationId || class == RelationRelationId || class == DatabaseRelationId))
		pfs_object_change_note(class, object, false);
}

/* ---- when the hook is set ---- */

/* It began for the drops of a commit; else by a command, at this level of subtransactions. */
static bool until_commit = false;
static int	watch_level = 0;

/* Begins to watch; false: a command around this one does, or one that an error has cut off. */
static bool
watch(void)
{
	if (pfs_object_work.watches)
		return false;
	prev_object_access = object_access_hook;
	object_access_hook = object_access_cb;
	pfs_object_work.watches = true;
	watch_level = GetCurrentTransactionNestLevel();
	return true;
}

static void
unwatch(void)
{
	pfs_rebuilds_end();
	/* A library may have set the hook meanwhile, and call ours. */
	if (!pfs_object_work.watches || object_access_hook != object_access_cb)
		return;
	object_access_hook = prev_object_access;
	pfs_object_work.watches = false;
}

/*
 * Watches a command that can drop something, or make a function: those that rewrite a table make a
 * transient one and drop it.
 */
void
pfs_drop_command_begin(PfsCommand *command, bool *watches)
{
	*watches = false;
	switch (command->tag)
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
			*watches = watch();
			break;
		default:
			break;
	}
}

void
pfs_drop_command_end(PfsCommand *command, const bool *watches)
{
	if (*watches)
		unwatch();
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
		unwatch();
	until_commit = false;
}

/* A subtransaction is rolled back, and with it the command that watches, if that is inside of it. */
void
pfs_drop_subtransaction_failed(int level)
{
	if (watch_level >= level)
		unwatch();
}

/* ---- ends of transactions ---- */

/* The object is not there any more. */
static void
remove_records(const PfsObjectChange *change)
{
	switch (change->class)
	{
		case ProcedureRelationId:
			pfs_program_drop(MyDatabaseId, change->object);
			break;
		case RelationRelationId:
			pfs_rebuild_dropped(change->object);
			pfs_rel_stats_drop(MyDatabaseId, change->object);
			break;
		case DatabaseRelationId:
			pfs_program_drop(change->object, InvalidOid);
			pfs_rel_stats_remove_database(change->object);
			break;
	}
}

/*
 * A dropped object's records go if that has committed, and a made one's if it has not.  A transaction
 * that is prepared leaves all records: whoever reads them next in this database finds those without
 * an object.
 */
void
pfs_drop_ended(int level, PfsTransactionState state)
{
	PfsObjectChange change;

	if (state == PFS_TRANSACTION_COMMITTED)
		pfs_objects_free_removed();
	while (pfs_object_change_take(level, &change))
	{
		if (state == (change.made ? PFS_TRANSACTION_ROLLED_BACK : PFS_TRANSACTION_COMMITTED))
			remove_records(&change);
	}
}
