/*
 * pfs_fdw_scan.c
 *	  Executing a scan: one copy at the first fetch, rows out of it until the
 *	  end, however often the scan is restarted; and who may see what.
 *
 * The copy lies in memory, but that of tables which can be many times as large as work_mem: what
 * is beyond goes to a temporary file, as that of a sort does.
 *
 * Rights are those of the current user when the scan starts.  A view's owner
 * does not count, or every view of a superuser would show all texts.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_authid.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/buffile.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pfs_fdw.h"
#include "pfs_instrument.h"
#include "pfs_shared.h"
#include "pfs_shared_areas.h"

#define FIRST_ROWS 64

typedef struct PfsScanState
{
	PfsScan		scan;
	PfsBinding *binding;
	List	   *key_values;		/* ExprStates of the constants */
	List	   *key_exprs;		/* the same as expressions */
	List	   *keys;			/* of PfsKey, parallel */
	List	   *strategies;		/* of the comparisons, parallel */
	bool		copied;
	Size		position;
	MemoryContext row_context;	/* values of the current row */

	/* Who reads, and the answers for the roles asked for last, of each kind. */
	Oid			reader;
	bool		reads_all;
	Oid			last_role[2];
	bool		last_answer[2];
} PfsScanState;

/* Writes the rows that are in memory behind those that are in the file. */
static void
spill(PfsScan *scan)
{
	if (scan->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->rows_context);

		scan->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(scan->file, scan->rows, scan->nrows * scan->row_size);
	scan->nrows = 0;
}

/* Would twice the memory of the rows be more than work_mem? */
static bool
has_to_spill(const PfsScan *scan)
{
	return scan->table->spills && scan->max_rows > 0 &&
		scan->max_rows * 2 * scan->row_size > work_mem * (Size) 1024;
}

/* Adds a zeroed row to the copy and returns its address, valid until the next call. */
void *
pfs_scan_add(PfsScan *scan)
{
	Size		row_size = scan->row_size;
	void	   *row;

	CHECK_FOR_INTERRUPTS();
	if (scan->nrows == scan->max_rows && has_to_spill(scan))
		spill(scan);
	else if (scan->nrows == scan->max_rows)
	{
		scan->max_rows = Max(FIRST_ROWS, scan->max_rows * 2);
		scan->rows = scan->rows == NULL
			? MemoryContextAllocHuge(scan->rows_context, scan->max_rows * row_size)
			: repalloc_huge(scan->rows, scan->max_rows * row_size);
	}
	row = scan->rows + scan->nrows++ * row_size;
	memset(row, 0, row_size);
	return row;
}

/*
 * Rows of other sizes than most are copies by themselves, and a pointer leads to each.
 * To get memory from the system takes longer than to copy what lies in it.
 */
void
pfs_scan_add_copy(PfsScan *scan, const void *row, Size bytes)
{
	void	   *copy = MemoryContextAlloc(scan->rows_context, bytes);

	memcpy(copy, row, bytes);
	*(void **) pfs_scan_add(scan) = copy;
}

/*
 * Leaves the rows of the copy that a function wants.  Tables that look into catalogues do so here, when
 * they have given back what they held to read: another session's lock may keep them waiting.
 */
void
pfs_scan_keep(PfsScan *scan, bool (*keep) (const void *row))
{
	Size		n = 0;

	for (Size i = 0; i < scan->nrows; i++)
	{
		char	   *row = scan->rows + i * scan->row_size;

		CHECK_FOR_INTERRUPTS();
		if (keep(row))
			memmove(scan->rows + n++ * scan->row_size, row, scan->row_size);
	}
	scan->nrows = n;
}

static int
compare_keys(const void *a, const void *b, void *key_size)
{
	return memcmp(a, b, *(Size *) key_size);
}

/* Adds up the rows of the copy that are of the same thing; they are in the order of their keys' bytes then. */
void
pfs_scan_unite(PfsScan *scan, Size key_size, void (*add) (void *to, const void *row))
{
	char	   *last = scan->rows;
	Size		n = 0;

	if (scan->nrows > 0)
		qsort_arg(scan->rows, scan->nrows, scan->row_size, compare_keys, &key_size);
	for (Size i = 0; i < scan->nrows; i++)
	{
		char	   *row = scan->rows + i * scan->row_size;

		if (i > 0 && memcmp(last, row, key_size) == 0)
			add(last, row);
		else
		{
			last = scan->rows + n++ * scan->row_size;
			if (last != row)
				memcpy(last, row, scan->row_size);
		}
	}
	scan->nrows = n;
}

/* Prepare the conditions that reduce the copy. */
static void
begin_keys(PfsScanState *state, ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *sides = list_nth(plan->fdw_private, PFS_PLAN_SIDES);
	ListCell   *condition;
	ListCell   *side;

	forboth(condition, plan->fdw_exprs, side, sides)
	{
		Expr	   *constant = list_nth(castNode(OpExpr, lfirst(condition))->args,
										lfirst_int(side));

		state->key_exprs = lappend(state->key_exprs, constant);
		state->key_values = lappend(state->key_values,
									ExecInitExpr(constant, &node->ss.ps));
	}
	state->keys = list_nth(plan->fdw_private, PFS_PLAN_KEYS);
	state->strategies = list_nth(plan->fdw_private, PFS_PLAN_STRATEGIES);
}

static bool *
needed_columns(const PfsBinding *binding, List *attributes)
{
	bool	   *needed = palloc0(sizeof(bool) * binding->table->ncolumns);
	bool		all = list_member_int(attributes, 0);

	for (int i = 0; i < binding->natts; i++)
	{
		if (binding->column_of[i] >= 0 && (all || list_member_int(attributes, i + 1)))
			needed[binding->column_of[i]] = true;
	}
	return needed;
}

/* Begins a scan: binds the columns and takes the reader's rights.  Copies nothing yet. */
void
pfsBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	PfsScanState *state;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	/* A cached plan may have been made by another library's rules. */
	pfs_require_loaded();

	state = palloc0(sizeof(PfsScanState));
	state->binding = pfs_bind(node->ss.ss_currentRelation);
	state->scan.table = state->binding->table;
	state->scan.needed = needed_columns(state->binding, list_nth(plan->fdw_private, PFS_PLAN_NEEDED));
	state->scan.row_size = state->scan.table->size_of_row != NULL ? state->scan.table->size_of_row()
		: state->scan.table->rows_vary ? sizeof(void *) : state->scan.table->row_size;
	state->scan.instrument = PFS_NO_INSTRUMENT;
	state->scan.period_start = state->scan.period_end = (PfsTimeRange)
	{
		DT_NOBEGIN, DT_NOEND
	};
	state->scan.rows_context = AllocSetContextCreate(CurrentMemoryContext, "pfs scan",
													 ALLOCSET_DEFAULT_SIZES);
	state->row_context = AllocSetContextCreate(CurrentMemoryContext, "pfs row",
											   ALLOCSET_DEFAULT_SIZES);
	begin_keys(state, node);

	state->reader = GetUserId();
	state->reads_all = has_privs_of_role(state->reader, ROLE_PG_READ_ALL_STATS);
	node->fdw_state = state;
}

static int64
integer_datum(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Restricts a time; false: nothing is left. */
static bool
restrict_range(PfsTimeRange *range, int strategy, TimestampTz value)
{
	if (strategy >= BTEqualStrategyNumber)
		range->min = Max(range->min, value);
	if (strategy <= BTEqualStrategyNumber)
		range->max = Min(range->max, value);

	/*
	 * Bounds that the comparison leaves out stay in: the condition is a
	 * filter, too.
	 */
	return range->min <= range->max;
}

/* Set one key of the scan; false: no row can meet the condition. */
static bool
set_key(PfsScan *scan, PfsKey key, int strategy, Datum value, Oid type)
{
	if (key == PFS_KEY_EVENT_NAME)
	{
		const char *name = TextDatumGetCString(value);

		/* Areas of shared memory become instruments when they are read. */
		if (strncmp(name, PFS_SHARED_AREA_PREFIX, strlen(PFS_SHARED_AREA_PREFIX)) == 0)
			pfs_shared_areas_register();
		scan->instrument = pfs_instrument_by_name(name);
		if (scan->instrument == PFS_NO_INSTRUMENT)
			return false;
		/* The condition is a filter, too. */
		if (pfs_instrument_has_homonym(scan->instrument))
			scan->instrument = PFS_NO_INSTRUMENT;
		return true;
	}
	else if (key == PFS_KEY_RESOLUTION)
	{
		scan->resolution = DatumGetIntervalP(datumCopy(value, false, sizeof(Interval)));
		return true;
	}
	else if (pfs_key_is_time(key))
		return restrict_range(key == PFS_KEY_PERIOD_START ? &scan->period_start : &scan->period_end, strategy,
							  DatumGetTimestampTz(value));
	else
	{
		int64		number = integer_datum(value, type);

		/* Identifiers start from 1, and 0 means "any" to the tables. */
		if (number <= 0)
			return false;
		if (key == PFS_KEY_THREAD_ID)
			scan->thread_id = number;
		else
			scan->event_id = number;
		return true;
	}
}

/* Computes the values that the copy can be restricted to; false: no row can meet the conditions. */
static bool
evaluate_keys(PfsScanState *state, ExprContext *econtext)
{
	ListCell   *value_cell;
	ListCell   *expr_cell;
	ListCell   *key_cell;
	ListCell   *strategy_cell;

	forfour(value_cell, state->key_values, expr_cell, state->key_exprs, key_cell, state->keys,
			strategy_cell, state->strategies)
	{
		bool		isnull;
		Datum		value = ExecEvalExprSwitchContext(lfirst(value_cell), econtext, &isnull);

		if (isnull || !set_key(&state->scan, lfirst_int(key_cell), lfirst_int(strategy_cell), value,
							   exprType(lfirst(expr_cell))))
			return false;
	}
	return true;
}

/* Begins with the first row. */
static void
rewind_copy(PfsScanState *state)
{
	state->position = 0;
	if (state->scan.file == NULL)
		return;
	state->scan.nrows = 0;
	if (BufFileSeek(state->scan.file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file of pfs")));
}

/* Reads the next rows of the file into memory, in place of those before; false: there are no more. */
static bool
read_more(PfsScanState *state)
{
	PfsScan    *scan = &state->scan;

	if (scan->file == NULL)
		return false;
	scan->nrows = BufFileRead(scan->file, scan->rows, scan->max_rows * scan->row_size) / scan->row_size;
	state->position = 0;
	return scan->nrows > 0;
}

/* Has the table copy its rows, in a memory context that lives as long as the scan. */
static void
make_copy(PfsScanState *state, ExprContext *econtext)
{
	MemoryContext old;

	state->copied = true;
	/* Switched off: every table is empty but those that say why. */
	if (!pfs_is_active && !state->scan.table->without_memory)
		return;
	old = MemoryContextSwitchTo(state->scan.rows_context);
	if (evaluate_keys(state, econtext))
		state->scan.table->copy(&state->scan);
	if (state->scan.file != NULL)
		spill(&state->scan);
	MemoryContextSwitchTo(old);
	rewind_copy(state);
}

/* Has the reader the privileges of this role?  which: 0 the row's, 1 the other one. */
static bool
has_privileges(PfsScanState *state, int which, Oid role)
{
	if (role != state->last_role[which])
	{
		state->last_answer[which] = has_privs_of_role(state->reader, role);
		state->last_role[which] = role;
	}
	return state->last_answer[which];
}

static bool
may_see(PfsScanState *state, const void *row)
{
	const PfsTable *table = state->scan.table;
	Oid			role;

	if (state->reads_all)
		return true;
	role = table->role ? table->role(row) : InvalidOid;
	if (!OidIsValid(role) || !has_privileges(state, 0, role))
		return false;
	role = table->also_role ? table->also_role(row) : InvalidOid;
	return !OidIsValid(role) || has_privileges(state, 1, role);
}

/*
 * Makes the values of a row: of the columns that are needed, NULL where the reader may
 * not see them.
 */
static void
fill_slot(PfsScanState *state, const void *row, TupleTableSlot *slot)
{
	const PfsTable *table = state->scan.table;

	for (int i = 0; i < state->binding->natts; i++)
	{
		int			column = state->binding->column_of[i];

		slot->tts_values[i] = (Datum) 0;
		slot->tts_isnull[i] = true;
		if (column < 0 || !state->scan.needed[column])
			continue;
		if (table->columns[column].hidden && !may_see(state, row))
			continue;
		slot->tts_isnull[i] = false;
		slot->tts_values[i] = table->get(&state->scan, row, column, &slot->tts_isnull[i]);
	}
	ExecStoreVirtualTuple(slot);

	/* The slot answers a question for ctid from here. */
	if (table->identity != NULL)
	{
		PfsRowId	id = table->identity(row);

		ItemPointerSet(&slot->tts_tid, id.slot, Max(id.version, 1));
	}
}

/* Returns the next row; the first call makes the copy. */
TupleTableSlot *
pfsIterateForeignScan(ForeignScanState *node)
{
	PfsScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	MemoryContext old;
	const void *row;

	ExecClearTuple(slot);
	if (!state->copied)
		make_copy(state, node->ss.ps.ps_ExprContext);
	if (state->position >= state->scan.nrows && !read_more(state))
		return slot;

	MemoryContextReset(state->row_context);
	old = MemoryContextSwitchTo(state->row_context);
	row = state->scan.rows + state->position++ * state->scan.row_size;
	fill_slot(state, state->scan.table->rows_vary ? *(const void *const *) row : row, slot);
	MemoryContextSwitchTo(old);
	return slot;
}

/* The copy stays, so that a join sees the same rows each time. */
void
pfsReScanForeignScan(ForeignScanState *node)
{
	PfsScanState *state = node->fdw_state;

	if (state != NULL)
		rewind_copy(state);
}

void
pfsEndForeignScan(ForeignScanState *node)
{
	PfsScanState *state = node->fdw_state;

	if (state == NULL)
		return;
	if (state->scan.file != NULL)
		BufFileClose(state->scan.file);
	MemoryContextDelete(state->row_context);
	MemoryContextDelete(state->scan.rows_context);
}
