/*
 * pfs_fdw_modify.c
 *	  UPDATE, INSERT, DELETE and TRUNCATE.
 *
 * Changes are checked and collected row by row and applied together at the end
 * of the statement, which is not reached after an error: a statement that fails
 * changes nothing.  Only the columns of the SET list are written, so two
 * sessions that change different columns of one row both succeed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "parser/parsetree.h"
#include "storage/itemptr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pfs_fdw.h"
#include "pfs_shared.h"

/*
 * Names of the junk columns that carry a row's identity, and for DELETE ...
 * RETURNING the row itself.  The second is the server's own name for it.
 */
#define IDENTITY_COLUMN "ctid"
#define ROW_COLUMN "wholerow"
#define FIRST_CHANGES 64

/* ResultRelInfo.ri_FdwState */
typedef struct PfsModify
{
	PfsBinding *binding;
	CmdType		operation;
	AttrNumber	identity;		/* of the junk columns in the subplan's rows */
	AttrNumber	old_row;		/* invalid: nobody wants it */
	bool	   *set;			/* by column: to be written */
	MemoryContext context;		/* all that is collected */
	HTAB	   *seen;			/* identities of the rows collected so far */

	/* What was collected, in order. */
	int			nchanges;
	int			max_changes;
	PfsRowId   *rows;			/* not for INSERT */
	PfsNewRow  *values;			/* not for DELETE */
} PfsModify;

static const char *
verb(CmdType operation)
{
	switch (operation)
	{
		case CMD_INSERT:
			return "INSERT into";
		case CMD_DELETE:
			return "DELETE from";
		default:
			return "UPDATE";
	}
}

/* Does the table have what this command needs? */
static bool
is_supported(const PfsTable *table, CmdType operation)
{
	switch (operation)
	{
		case CMD_INSERT:
			return table->insert != NULL;
		case CMD_UPDATE:
			return table->update != NULL;
		case CMD_DELETE:
			return table->remove != NULL;
		default:
			return false;
	}
}

/* What the table does allow, as an error's hint. */
static int
hint_allowed(const PfsTable *table)
{
	char	   *writable = pfs_writable_columns(table);

	if (writable == NULL)
		return errhint("Table \"%s\" can only be read.", table->name);
	return errhint("Columns that can be updated: %s.", writable);
}

static void
require_supported(const PfsTable *table, CmdType operation)
{
	if (!is_supported(table, operation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s table \"%s\" of pfs", verb(operation), table->name),
				 hint_allowed(table)));
}

int
pfs_new_switch(const PfsNewRow *values, int column)
{
	if (!values->set[column] || values->isnull[column])
		return -1;
	return strcmp(TextDatumGetCString(values->values[column]), "YES") == 0;
}

/*
 * information_schema asks for every foreign table: not the place for errors.
 *
 * The executor asks, too, when it has locked the table for writing.  If we said
 * no then, it would refuse in its own words, with another SQLSTATE and no hint;
 * the begin callbacks refuse instead (COPY FROM has no planner callback).
 */
int
pfsIsForeignRelUpdatable(Relation rel)
{
	static const CmdType operations[] = {CMD_UPDATE, CMD_INSERT, CMD_DELETE};
	const PfsTable *table = pfs_table_of(rel);
	bool		is_write = CheckRelationLockedByMe(rel, RowExclusiveLock, true);
	int			events = 0;

	for (int i = 0; table != NULL && i < lengthof(operations); i++)
	{
		if (is_write || is_supported(table, operations[i]))
			events |= 1 << operations[i];
	}
	return events;
}

void
pfsAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
						   RangeTblEntry *target_rte, Relation target_relation)
{
	Var		   *var = makeVar(rtindex, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0);

	add_row_identity_var(root, var, rtindex, IDENTITY_COLUMN);

	/* An UPDATE gets the old row by itself. */
	if (root->parse->commandType == CMD_DELETE && root->parse->returningList != NIL)
	{
		var = makeVar(rtindex, InvalidAttrNumber, RECORDOID, -1, InvalidOid, 0);
		add_row_identity_var(root, var, rtindex, ROW_COLUMN);
	}
}

/*
 * Refuse here what the server would refuse later in its own words, which do not
 * say what is allowed.
 */
List *
pfsPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation, int subplan_index)
{
	RangeTblEntry *rte = planner_rt_fetch(resultRelation, root);
	Relation	rel;

	pfs_require_loaded();
	rel = table_open(rte->relid, NoLock);
	require_supported(pfs_bind(rel)->table, plan->operation);
	table_close(rel, NoLock);
	if (plan->onConflictAction != ONCONFLICT_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("INSERT ... ON CONFLICT is not supported for tables of pfs"),
				 errhint("Leave out what is there already, or use the pfs.set_ function of the table.")));
	return NIL;
}

/* Makes the state of a command, with a memory context for its changes. */
static PfsModify *
begin_modify(ResultRelInfo *rinfo, CmdType operation)
{
	PfsModify  *modify;
	HASHCTL		info = {0};

	pfs_require_loaded();
	modify = palloc0(sizeof(PfsModify));
	modify->binding = pfs_bind(rinfo->ri_RelationDesc);
	modify->operation = operation;
	modify->set = palloc0(sizeof(bool) * modify->binding->table->ncolumns);
	require_supported(modify->binding->table, operation);

	modify->context = AllocSetContextCreate(CurrentMemoryContext, "pfs changes",
											ALLOCSET_DEFAULT_SIZES);
	modify->max_changes = FIRST_CHANGES;
	modify->rows = MemoryContextAlloc(modify->context, sizeof(PfsRowId) * FIRST_CHANGES);
	modify->values = MemoryContextAlloc(modify->context, sizeof(PfsNewRow) * FIRST_CHANGES);
	info.keysize = sizeof(ItemPointerData);
	info.entrysize = sizeof(ItemPointerData);
	info.hcxt = modify->context;
	modify->seen = hash_create("pfs changed rows", 64, &info,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	rinfo->ri_FdwState = modify;
	return modify;
}

/*
 * The SET list; each of its columns must be one that can change, also if it is
 * set to what it is.
 */
static void
find_set_columns(PfsModify *modify, Relation rel, Bitmapset *updated)
{
	const PfsTable *table = modify->binding->table;
	int			bit = -1;

	while ((bit = bms_next_member(updated, bit)) >= 0)
	{
		int			attno = bit + FirstLowInvalidHeapAttributeNumber;
		int			column = attno > 0 && attno <= modify->binding->natts
		? modify->binding->column_of[attno - 1] : -1;

		if (column < 0)
			pfs_report_other_version(rel);
		if (table->columns[column].check == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot update column \"%s\" of table \"%s\"",
							table->columns[column].name, table->name),
					 hint_allowed(table)));
		modify->set[column] = true;
	}
}

/* Begins an INSERT, UPDATE or DELETE, and finds the columns that it needs. */
void
pfsBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
					  int subplan_index, int eflags)
{
	PfsModify  *modify = begin_modify(rinfo, mtstate->operation);

	if (modify->operation == CMD_UPDATE)
		find_set_columns(modify, rinfo->ri_RelationDesc,
						 ExecGetUpdatedCols(rinfo, mtstate->ps.state));
	if (modify->operation != CMD_INSERT)
	{
		Plan	   *subplan = outerPlanState(mtstate)->plan;

		modify->identity = ExecFindJunkAttributeInTlist(subplan->targetlist, IDENTITY_COLUMN);
		if (!AttributeNumberIsValid(modify->identity))
			elog(ERROR, "could not find junk column %s", IDENTITY_COLUMN);
		modify->old_row = ExecFindJunkAttributeInTlist(subplan->targetlist, ROW_COLUMN);
	}
	else
		memset(modify->set, true, modify->binding->table->ncolumns);
}

/* COPY FROM, and rows that a partitioned table sends here. */
void
pfsBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	PfsModify  *modify;

	/*
	 * An UPDATE of a partitioned table both changes rows here and moves some
	 * in.
	 */
	if (rinfo->ri_FdwState != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move rows into foreign table \"%s\" while it is being updated",
						RelationGetRelationName(rinfo->ri_RelationDesc))));
	modify = begin_modify(rinfo, CMD_INSERT);
	memset(modify->set, true, modify->binding->table->ncolumns);
}

/* Room for one more change. */
static void
reserve_change(PfsModify *modify)
{
	if (modify->nchanges < modify->max_changes)
		return;
	modify->max_changes *= 2;
	modify->rows = repalloc(modify->rows, sizeof(PfsRowId) * modify->max_changes);
	modify->values = repalloc(modify->values, sizeof(PfsNewRow) * modify->max_changes);
}

static PfsColumnCheck
check_of(const PfsModify *modify, int column)
{
	const PfsColumn *columns = modify->binding->table->columns;

	if (columns[column].check == NULL && modify->operation == CMD_INSERT)
		return columns[column].check_new;
	return columns[column].check;
}

/* What a foreign table that was made by hand does not have gets its default. */
static void
set_defaults(const PfsTable *table, Datum *values, bool *isnull)
{
	for (int column = 0; column < table->ncolumns; column++)
	{
		isnull[column] = table->columns[column].by_default == NULL;
		if (!isnull[column])
			values[column] = CStringGetTextDatum(table->columns[column].by_default);
	}
}

/*
 * Check the values that will be written, keep them as the next change, and put
 * them into the slot's row as they will read.
 */
static void
collect_values(PfsModify *modify, TupleTableSlot *slot, const PfsRowId *changed)
{
	const PfsTable *table = modify->binding->table;
	TupleDesc	desc = slot->tts_tupleDescriptor;
	MemoryContext old = MemoryContextSwitchTo(modify->context);
	Datum	   *values = palloc0(sizeof(Datum) * table->ncolumns);
	bool	   *isnull = palloc0(sizeof(bool) * table->ncolumns);
	Datum	   *row;
	bool	   *row_isnull;
	HeapTuple	tuple;

	memset(isnull, true, table->ncolumns);
	if (modify->operation == CMD_INSERT)
		set_defaults(table, values, isnull);

	slot_getallattrs(slot);
	row = palloc(sizeof(Datum) * desc->natts);
	row_isnull = palloc(sizeof(bool) * desc->natts);
	memcpy(row, slot->tts_values, sizeof(Datum) * desc->natts);
	memcpy(row_isnull, slot->tts_isnull, sizeof(bool) * desc->natts);

	for (int i = 0; i < modify->binding->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			column = modify->binding->column_of[i];
		bool		ignored;

		if (column < 0 || !modify->set[column])
			continue;
		ignored = changed != NULL && table->ignores != NULL && table->ignores(*changed, column);
		if (check_of(modify, column) != NULL && !(ignored && row_isnull[i]))
		{
			/* A check either raises an error or gives a value. */
			row[i] = check_of(modify, column) (table, &table->columns[column],
											   row[i], row_isnull[i]);
			row_isnull[i] = false;
		}

		/*
		 * It reads NULL, so NULL can be written back; other values must be
		 * valid ones.
		 */
		if (ignored)
			row_isnull[i] = true;
		isnull[column] = row_isnull[i];
		if (!row_isnull[i])
			values[column] = datumCopy(row[i], att->attbyval, att->attlen);
	}

	/* RETURNING shows what was written, not how it was spelt. */
	MemoryContextSwitchTo(slot->tts_mcxt);
	tuple = heap_form_tuple(desc, row, row_isnull);
	tuple->t_self = slot->tts_tid;
	tuple->t_tableOid = slot->tts_tableOid;
	ExecForceStoreHeapTuple(tuple, slot, true);
	MemoryContextSwitchTo(modify->context);
	pfree(row);
	pfree(row_isnull);
	MemoryContextSwitchTo(old);

	reserve_change(modify);
	modify->values[modify->nchanges] = (PfsNewRow)
	{
		modify->set, values, isnull
	};
}

/* False if the row was met before in this statement: its first match counts. */
static bool
find_row(PfsModify *modify, TupleTableSlot *planSlot, PfsRowId *row)
{
	bool		isnull;
	bool		found;
	Datum		datum = ExecGetJunkAttribute(planSlot, modify->identity, &isnull);
	ItemPointer identity = (ItemPointer) DatumGetPointer(datum);

	if (isnull)
		elog(ERROR, "%s is NULL", IDENTITY_COLUMN);
	row->slot = ItemPointerGetBlockNumber(identity);
	row->version = ItemPointerGetOffsetNumber(identity);
	hash_search(modify->seen, identity, HASH_ENTER, &found);
	return !found;
}

TupleTableSlot *
pfsExecForeignInsert(EState *estate, ResultRelInfo *rinfo,
					 TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	PfsModify  *modify = rinfo->ri_FdwState;
	const PfsTable *table = modify->binding->table;

	pfs_require_active();
	collect_values(modify, slot, NULL);
	modify->nchanges++;
	if (table->check_insert != NULL)
		table->check_insert(table, modify->values, modify->nchanges);
	return slot;
}

TupleTableSlot *
pfsExecForeignUpdate(EState *estate, ResultRelInfo *rinfo,
					 TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	PfsModify  *modify = rinfo->ri_FdwState;
	PfsRowId	row;

	if (!find_row(modify, planSlot, &row))
		return NULL;
	ItemPointerSet(&slot->tts_tid, row.slot, row.version);
	collect_values(modify, slot, &row);
	modify->rows[modify->nchanges++] = row;
	return slot;
}

/* Collects a row to be removed; it goes when the statement has succeeded. */
TupleTableSlot *
pfsExecForeignDelete(EState *estate, ResultRelInfo *rinfo,
					 TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	PfsModify  *modify = rinfo->ri_FdwState;
	PfsRowId	row;

	if (!find_row(modify, planSlot, &row))
		return NULL;
	if (AttributeNumberIsValid(modify->old_row))
	{
		bool		isnull;
		Datum		old = ExecGetJunkAttribute(planSlot, modify->old_row, &isnull);

		if (!isnull)
			ExecStoreHeapTupleDatum(old, slot);
	}
	ItemPointerSet(&slot->tts_tid, row.slot, row.version);
	reserve_change(modify);
	modify->rows[modify->nchanges++] = row;
	return slot;
}

/* The statement has succeeded; see PfsTable for what can still fail below. */
static void
apply(PfsModify *modify)
{
	const PfsTable *table = modify->binding->table;

	if (modify->nchanges == 0)
		return;
	switch (modify->operation)
	{
		case CMD_INSERT:
			table->insert(table, modify->values, modify->nchanges);
			break;
		case CMD_UPDATE:
			for (int i = 0; i < modify->nchanges; i++)
				table->update(table, modify->rows[i], &modify->values[i]);
			break;
		default:
			table->remove(table, modify->rows, modify->nchanges);
			break;
	}
}

/* The end of a command, and of COPY FROM, too. */
void
pfsEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	PfsModify  *modify = rinfo->ri_FdwState;

	if (modify == NULL)
		return;
	rinfo->ri_FdwState = NULL;
	apply(modify);
	MemoryContextDelete(modify->context);
}

void
pfs_require_truncatable(const PfsTable *table)
{
	if (table->truncate == NULL && table->truncate_part == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot TRUNCATE table \"%s\" of pfs", table->name),
				 errhint("SELECT table_name, truncate_effect FROM pfs.tables shows what can be truncated.")));
	if (table->check_truncate != NULL && pfs_is_active)
		table->check_truncate();
}

int64
pfs_truncate(const PfsTable *table)
{
	int64		rows = table->truncate != NULL ? table->truncate() : table->truncate_part(table);

	pfs_reset_time_note(table->name);
	if (table->truncated != NULL)
		table->truncated();
	return rows;
}

/* All tables of the statement come in one call: check them all, then act. */
void
pfsExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	List	   *tables = NIL;
	ListCell   *lc;

	pfs_require_loaded();
	foreach(lc, rels)
	{
		const PfsTable *table = pfs_bind(lfirst(lc))->table;

		pfs_require_truncatable(table);
		tables = lappend(tables, (void *) table);
	}
	if (!pfs_is_active)
		return;
	foreach(lc, tables)
		pfs_truncate(lfirst(lc));
}
