/*
 * pfs_instr_rebuild.c
 *	  What REINDEX CONCURRENTLY says of the indexes that it builds anew.
 *
 * The server tells of the new index by object_access_hook, before anybody else can see it; which one it is built
 * for, the command has written into its progress report.  When both have exchanged their names there is no hook: the new
 * index is valid then, which is looked up before each commit of the command that has changed something.  The drop of
 * the old one is seen as any other (pfs_instr_drop.c): the server has waited until nobody uses it any more.
 *
 * Where a session reports no progress (track_activities is off), the new index begins with nothing, as on a standby,
 * where nothing of this is seen.
 *
 * Commits are watched by a callback of its own from the first such command of a session on, so that other sessions'
 * commits do nothing for it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "utils/backend_status.h"
#include "utils/syscache.h"

#include "pfs_compat_progress.h"
#include "pfs_instr_drop.h"
#include "pfs_rebuild.h"

/* Does the index have the name and the role, for this transaction? */
static bool
is_valid(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		valid = HeapTupleIsValid(tuple) && ((Form_pg_index) GETSTRUCT(tuple))->indisvalid;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return valid;
}

/* Notes which swaps a commit makes; before, as catalogs cannot be read at it. */
static void
rebuild_xact_cb(XactEvent event, void *arg)
{
	if (likely(pfs_rebuilds_here == 0))
		return;
	if (event == XACT_EVENT_PRE_COMMIT && FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()))
	{
		for (uint32 i = 0; i < pfs_rebuilds_here; i++)
			pfs_rebuild_note_swap(i, is_valid(pfs_rebuild_new_index(i)));
	}
	else if (event == XACT_EVENT_COMMIT)
		pfs_rebuilds_committed();
	else if (event == XACT_EVENT_ABORT)
		pfs_rebuilds_end();
}

/*
 * Notes that a new index has been made for another one, which the progress report names.  Other relations, and those
 * of other commands, it passes by.
 */
void
pfs_rebuild_relation_made(Oid relation)
{
	static bool is_registered = false;
	const PgBackendStatus *me = MyBEEntry;

	if (me == NULL || me->st_progress_command != PROGRESS_COMMAND_CREATE_INDEX ||
		me->st_progress_param[PROGRESS_CREATEIDX_COMMAND] != PROGRESS_CREATEIDX_COMMAND_REINDEX_CONCURRENTLY ||
		me->st_progress_param[PROGRESS_CREATEIDX_PHASE] != 0)
		return;					/* in phases, functions of indexes can make
								 * something */
	if (!is_registered)
		RegisterXactCallback(rebuild_xact_cb, NULL);
	is_registered = true;
	pfs_rebuild_begin(MyDatabaseId, (Oid) me->st_progress_param[PROGRESS_CREATEIDX_INDEX_OID], relation);
}
