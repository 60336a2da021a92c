/*
 * pfs_instr_table.c
 *	  The methods of the heap: which rows the server fetches and changes, and what that
 *	  takes.
 *
 * All calls go through one struct of the server (TableAmRoutine), whose address each
 * relation has.  Methods are replaced in the struct, in processes that are to be
 * watched: in any other one nothing is different.  rd_tableam of relations is left alone, as
 * the server compares it.
 *
 * A row of a page that the scan is on already is counted, and the server's function jumped to;
 * what can take longer is timed, out of line.  Rows are counted where the server counts them for
 * pg_stat_all_tables.  What it does not count is passed by, although it has a method:
 * tuple_fetch_row_version (mostly of a row that a scan has found before), ANALYZE.
 *
 * An access method of an extension may have copied the struct while ours was there.  Then our methods
 * are called for its tables, too, and call the heap's, which is what it has copied.
 *
 * An error leaves a method without coming back.  Nothing is kept here that would have to be put
 * back: the run knows that it is in a call, and ends with the transaction.
 */
#include "postgres.h"

#include "catalog/index.h"
#include "utils/guc.h"

#include "pfs_compat.h"
#include "pfs_instr.h"
#include "pfs_instr_table.h"
#include "pfs_relro.h"

/* The methods begin behind the struct's tag. */
#define METHODS(am) ((void **) &(am)->slot_callbacks)
#define NUM_METHODS ((sizeof(TableAmRoutine) - offsetof(TableAmRoutine, slot_callbacks)) / sizeof(void *))

/* The server's; what a process that is watched has instead; and where. */
static PFS_FIXED TableAmRoutine real;
static TableAmRoutine ours;
static PFS_FIXED PfsMethodStruct heap;
PFS_FIXED const TableAmRoutine *pfs_heap_methods = NULL;

/* Descriptors of scans are those of our headers.  Else each call is timed. */
static PFS_FIXED bool trusted = false;

/* They can be replaced; and this process has ours. */
static PFS_FIXED bool can_watch = false;
PFS_HOT bool pfs_tables_are_watched = false;

/* Begins a call that changes rows; NULL: this process has no record. */
static inline PfsRelRun *
begin_write(Relation rel, PfsOperation operation)
{
	PfsThread  *t = pfs_my_thread;
	PfsRelRun  *run;

	if (unlikely(t == NULL))
		return NULL;
	run = pfs_rel_write(t, rel, NULL, operation);
	pfs_rel_call_begin(t, run);
	return run;
}

/*
 * The run of a scan that no index leads; of a bitmap scan one has led to all of its rows, which the
 * scan's place remembers, as other bitmaps of the table may follow.  Processes of a parallel query
 * share the bitmap: those that did not make it do not know which one.
 */
static PfsRelRun *
run_of_scan(PfsThread *t, TableScanDesc scan)
{
	PfsScanPlace *place = pfs_scan_place(t, scan, InvalidOid);
	Relation	rel = scan->rs_rd;
	PfsRelRun  *run;

	if ((scan->rs_flags & SO_TYPE_BITMAPSCAN) == 0)
		return pfs_rel_run(t, &place->link, rel, NULL, InvalidOid, PFS_OP_FETCH);
	if (!OidIsValid(place->index))
		place->index = pfs_rel_bitmap_index(RelationGetRelid(rel));
	run = pfs_rel_run(t, &place->link, rel, NULL, place->index, PFS_OP_FETCH);
	run->by_index = true;
	return run;
}

/* Begins a call that may go to another page; NULL: this process has no record. */
static inline PfsRelRun *
begin_page(TableScanDesc scan)
{
	PfsThread  *t = pfs_my_thread;
	PfsRelRun  *run;

	if (unlikely(t == NULL))
		return NULL;
	run = run_of_scan(t, scan);
	pfs_rel_call_begin(t, run);
	return run;
}

static inline void
end_call(PfsRelRun *run, uint64 rows)
{
	if (likely(run != NULL))
		pfs_rel_call_end(run, rows);
}

/* ---- rows that the server counts by itself ---- */

/*
 * Index builds read all rows in one call.  How many, dead ones too, the server's counter says, which
 * the run asks when the call returns, or an error leaves it.  A relation may have that counter only from
 * the begin of the scan on: until then the build waits here.  One that an error has left before that stays
 * here, with a run that is nobody's or another one's by then, and without a counter.
 */
static struct
{
	Relation	rel;			/* whose scan has not begun yet; NULL: none */
	PfsRelRun  *run;
	uint64		serial;			/* of the run */
}			build;

/* Begins the run of a build of an index, and tells it of the server's counter, or lets the build wait for that. */
static PfsRelRun *
build_begin(PfsThread *t, PfsRelLink *link, Relation rel)
{
	PfsRelRun  *run = pfs_rel_run(t, link, rel, NULL, InvalidOid, PFS_OP_FETCH);

	build.rel = NULL;
	if (run == &pfs_rel_run_of_nobody)
		return run;
	pfs_rel_call_counted_by(run, pfs_compat_rows_read(rel));
	if (run->server_rows == NULL)
	{
		build.rel = rel;
		build.run = run;
		build.serial = run->serial;
	}
	return run;
}

/* The scan of the build that waits has begun, and with it the counter. */
static pg_noinline void
build_scan_begins(void)
{
	if (build.run->serial == build.serial)
		pfs_rel_call_counted_by(build.run, pfs_compat_rows_read(build.rel));
	build.rel = NULL;
}

/* Ends the run of a build.  rows: what the build itself says, where the server does not count. */
static void
build_end(PfsThread *t, PfsRelLink *link, PfsRelRun *run, uint64 rows)
{
	build.rel = NULL;
	if (run->server_rows != NULL)
		rows = pfs_rel_call_rows(run);
	pfs_rel_call_end(run, rows);
	pfs_rel_call_counted_by(run, NULL);
	pfs_rel_link_end(t, link);
}

/* ---- scans ---- */

/* An earlier scan may have had the same address. */
static TableScanDesc
scan_begin(Relation rel, Snapshot snapshot, int nkeys, struct ScanKeyData *keys, ParallelTableScanDesc parallel,
		   uint32 flags)
{
	TableScanDesc scan = real.scan_begin(rel, snapshot, nkeys, keys, parallel, flags);

	pfs_scan_forget(pfs_my_thread, scan);
	if (unlikely(build.rel == rel))
		build_scan_begins();
	return scan;
}

static void
scan_end(TableScanDesc scan)
{
	pfs_scan_forget(pfs_my_thread, scan);
	real.scan_end(scan);
}

/* A call that may go to another page, and returns whether it has found something; rows: what that counts. */
#define PAGE_CALL(name, method, params, args, rows) \
static pg_noinline bool \
name params \
{ \
	PfsRelRun  *run = begin_page(scan); \
	bool		found = real.method args; \
\
	end_call(run, rows); \
	return found; \
}

/* The next page, or any row where pages are not known. */
PAGE_CALL(scan_getnextslot_timed, scan_getnextslot,
		  (TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot), (scan, direction, slot), found)
PAGE_CALL(scan_getnextslot_tidrange, scan_getnextslot_tidrange,
		  (TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot), (scan, direction, slot), found)
PAGE_CALL(scan_sample_next_block, scan_sample_next_block,
		  (TableScanDesc scan, struct SampleScanState *state), (scan, state), 0)
#if PFS_HAVE_BITMAP_BLOCKS
PAGE_CALL(scan_bitmap_next_block, scan_bitmap_next_block,
		  (TableScanDesc scan, struct TBMIterateResult *block), (scan, block), 0)
#endif

static bool
scan_getnextslot(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	PfsScanPlace *place = pfs_scan_home(scan);

	if (likely(pfs_scan_is_at(place, scan) && pfs_compat_scan_has_row(scan, direction)))
	{
		pfs_rel_row(place->link.run);
		return real.scan_getnextslot(scan, direction, slot);
	}
	return scan_getnextslot_timed(scan, direction, slot);
}

static bool
scan_sample_next_tuple(TableScanDesc scan, struct SampleScanState *state, TupleTableSlot *slot)
{
	PfsThread  *t = pfs_my_thread;
	bool		found = real.scan_sample_next_tuple(scan, state, slot);

	if (found && t != NULL)
		pfs_rel_row(run_of_scan(t, scan));
	return found;
}

/* The next page, or any row where pages are not known; or the end of a page. */
static pg_noinline bool
scan_bitmap_next_tuple_timed(PFS_BITMAP_ROW_PARAMS)
{
	PfsRelRun  *run;
	bool		found;

	if (PFS_HAVE_BITMAP_BLOCKS && trusted && !pfs_compat_bitmap_has_row(scan))
		return real.scan_bitmap_next_tuple(PFS_BITMAP_ROW_ARGS);
	run = begin_page(scan);
	found = real.scan_bitmap_next_tuple(PFS_BITMAP_ROW_ARGS);
	end_call(run, found);
	return found;
}

static bool
scan_bitmap_next_tuple(PFS_BITMAP_ROW_PARAMS)
{
	PfsScanPlace *place = pfs_scan_home(scan);

	if (likely(pfs_scan_is_at(place, scan) && pfs_compat_bitmap_has_row(scan)))
	{
		pfs_rel_row(place->link.run);
		return real.scan_bitmap_next_tuple(PFS_BITMAP_ROW_ARGS);
	}
	return scan_bitmap_next_tuple_timed(PFS_BITMAP_ROW_ARGS);
}

/* ---- fetches by index ---- */

/* The place is made by the index's first call, see pfs_instr_index.c. */
static struct IndexFetchTableData *
index_fetch_begin(PFS_FETCH_BEGIN_PARAMS)
{
	struct IndexFetchTableData *fetch = real.index_fetch_begin(PFS_FETCH_BEGIN_ARGS);

	pfs_scan_forget(pfs_my_thread, fetch);
	return fetch;
}

static void
index_fetch_end(struct IndexFetchTableData *fetch)
{
	pfs_scan_forget(pfs_my_thread, fetch);
	real.index_fetch_end(fetch);
}

/*
 * Another block, or any row where blocks are not known.  Who fetches without a call of the index is
 * a check of uniqueness, which the server does not count.
 */
static pg_noinline bool
index_fetch_tuple_timed(struct IndexFetchTableData *fetch, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot,
						bool *call_again, bool *all_dead)
{
	PfsThread  *t = pfs_my_thread;
	PfsScanPlace *place = pfs_scan_find(fetch);
	PfsRelRun  *run;
	bool		found;

	if (place == NULL || t == NULL)
		return real.index_fetch_tuple(fetch, tid, snapshot, slot, call_again, all_dead);
	place->block = ItemPointerGetBlockNumberNoCheck(tid);
	run = pfs_rel_run(t, &place->link, fetch->rel, NULL, place->index, PFS_OP_FETCH);
	pfs_rel_call_begin(t, run);
	found = real.index_fetch_tuple(fetch, tid, snapshot, slot, call_again, all_dead);
	pfs_rel_call_end(run, found);
	return found;
}

/* The result decides what is counted, so this one is called and not jumped to. */
static bool
index_fetch_tuple(struct IndexFetchTableData *fetch, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot,
				  bool *call_again, bool *all_dead)
{
	PfsScanPlace *place = pfs_scan_home(fetch);
	PfsRelRun  *run;
	bool		found;

	if (unlikely(!pfs_scan_is_at(place, fetch)) ||
		!pfs_compat_fetch_has_block(fetch, ItemPointerGetBlockNumberNoCheck(tid), place->block))
		return index_fetch_tuple_timed(fetch, tid, snapshot, slot, call_again, all_dead);
	run = place->link.run;
	found = real.index_fetch_tuple(fetch, tid, snapshot, slot, call_again, all_dead);
	if (found)
		pfs_rel_row(run);
	return found;
}

/* ---- changes ---- */

/* A call that inserts rows. */
#define INSERT_CALL(method, params, args, rows) \
static void \
method params \
{ \
	PfsRelRun  *run = begin_write(rel, PFS_OP_INSERT); \
\
	real.method args; \
	end_call(run, rows); \
}

INSERT_CALL(tuple_insert, (PFS_INSERT_PARAMS), (PFS_INSERT_ARGS), 1)
INSERT_CALL(tuple_insert_speculative, (PFS_INSERT_PARAMS, uint32 token), (PFS_INSERT_ARGS, token), 1)
INSERT_CALL(multi_insert, (PFS_MULTI_INSERT_PARAMS), (PFS_MULTI_INSERT_ARGS), nslots)

/* A row that was inserted on trial stays, or is deleted again, which is a change of its own. */
static void
tuple_complete_speculative(Relation rel, TupleTableSlot *slot, uint32 token, bool succeeded)
{
	PfsRelRun  *run;

	if (succeeded)
	{
		real.tuple_complete_speculative(rel, slot, token, succeeded);
		return;
	}
	run = begin_write(rel, PFS_OP_DELETE);
	real.tuple_complete_speculative(rel, slot, token, succeeded);
	end_call(run, 1);
}

/* A call that changes a row, or locks it, if it succeeds. */
#define ROW_CALL(method, params, args, operation) \
static TM_Result \
method params \
{ \
	PfsRelRun  *run = begin_write(rel, operation); \
	TM_Result	result = real.method args; \
\
	end_call(run, result == TM_Ok); \
	return result; \
}

ROW_CALL(tuple_update, (PFS_UPDATE_PARAMS), (PFS_UPDATE_ARGS), PFS_OP_UPDATE)
ROW_CALL(tuple_delete, (PFS_DELETE_PARAMS), (PFS_DELETE_ARGS), PFS_OP_DELETE)
ROW_CALL(tuple_lock, (Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot, CommandId cid,
					  LockTupleMode mode, LockWaitPolicy policy, uint8 flags, TM_FailureData *failure),
		 (rel, tid, snapshot, slot, cid, mode, policy, flags, failure), PFS_OP_ROW_LOCK)

/* ---- index builds ---- */

/* All rows of a table are read, or some of its pages. */
static double
index_build_range_scan(Relation rel, Relation index, struct IndexInfo *info, bool allow_sync, bool any_visible,
					   bool progress, BlockNumber start, BlockNumber nblocks, IndexBuildCallback callback, void *state,
					   TableScanDesc scan)
{
	PfsThread  *t = pfs_my_thread;
	PfsRelLink	link = {0};
	PfsRelRun  *run;
	double		rows;

	if (t == NULL)
		return real.index_build_range_scan(rel, index, info, allow_sync, any_visible, progress, start, nblocks, callback,
										   state, scan);
	run = build_begin(t, &link, rel);
	pfs_rel_call_begin(t, run);
	rows = real.index_build_range_scan(rel, index, info, allow_sync, any_visible, progress, start, nblocks, callback,
									   state, scan);
	build_end(t, &link, run, (uint64) rows);
	return rows;
}

/* And once more, if the index is built concurrently. */
static void
index_validate_scan(Relation rel, Relation index, struct IndexInfo *info, Snapshot snapshot,
					struct ValidateIndexState *state)
{
	PfsThread  *t = pfs_my_thread;
	PfsRelLink	link = {0};
	PfsRelRun  *run;

	if (t == NULL)
	{
		real.index_validate_scan(rel, index, info, snapshot, state);
		return;
	}
	run = build_begin(t, &link, rel);
	pfs_rel_call_begin(t, run);
	real.index_validate_scan(rel, index, info, snapshot, state);
	build_end(t, &link, run, (uint64) state->htups);
}

/* ---- a process begins and stops ---- */

/*
 * Gives this process our methods, or theirs back.  Scans may be open: those that are not known
 * get a place at their next call, and whose place goes were watched until now.
 */
void
pfs_tables_switch(bool on)
{
	bool		was_on = pfs_tables_are_watched;

	if (!can_watch)
		return;
	pfs_scan_forget_all(pfs_my_thread);
	if (pfs_method_struct_switch(&heap, on) != 0)
		return;
	if (pfs_index_methods_switch(on) != 0)
	{
		(void) pfs_method_struct_switch(&heap, was_on);
		return;
	}
	pfs_tables_are_watched = on;
}

void
pfs_tables_note_names(const EState *estate)
{
	for (Index i = 0; i < estate->es_range_table_size; i++)
	{
		if (estate->es_relations[i] != NULL)
			pfs_rel_note_name(estate->es_relations[i]);
	}
}

/* ---- the postmaster ---- */

static bool seen;

static const TupleTableSlotOps *
look_at_slot_callbacks(Relation rel)
{
	seen = true;
	return real.slot_callbacks(rel);
}

/*
 * Makes a function of the server call a method, of a relation that is none, while one of ours is in
 * its place.  NULL, or why it was not seen.
 */
static const char *
prove(const TableAmRoutine *am)
{
	static char message[128];
	RelationData rel = {.rd_tableam = am};
	TableAmRoutine looking = real;
	PfsMethodStruct look = {heap.place, heap.real, METHODS(&looking), NUM_METHODS};
	int			err;

	looking.slot_callbacks = look_at_slot_callbacks;
	seen = false;
	err = pfs_method_struct_switch(&look, true);
	if (err == 0)
	{
		(void) table_slot_callbacks(&rel);
		err = pfs_method_struct_switch(&look, false);
	}
	if (err != 0)
	{
		snprintf(message, sizeof(message), "could not make the methods of tables writable: %s", strerror(err));
		return message;
	}
	return seen ? NULL : "a call of the server went past the methods of tables";
}

/* A method that this server does not have stays missing: the planner asks for it. */
#define REPLACE(method) \
	do { \
		if (ours.method != NULL) \
			ours.method = method; \
	} while (0)

/* Makes the struct that a process gets. */
static void
replace_all(void)
{
	ours = real;
	REPLACE(scan_begin);
	REPLACE(scan_end);
	REPLACE(scan_getnextslot);
	REPLACE(scan_getnextslot_tidrange);
	REPLACE(scan_sample_next_block);
	REPLACE(scan_sample_next_tuple);
#if PFS_HAVE_BITMAP_BLOCKS
	REPLACE(scan_bitmap_next_block);
#endif
	REPLACE(scan_bitmap_next_tuple);
	REPLACE(index_fetch_begin);
	REPLACE(index_fetch_end);
	REPLACE(index_fetch_tuple);
	REPLACE(tuple_insert);
	REPLACE(tuple_insert_speculative);
	REPLACE(tuple_complete_speculative);
	REPLACE(multi_insert);
	REPLACE(tuple_update);
	REPLACE(tuple_delete);
	REPLACE(tuple_lock);
	REPLACE(index_build_range_scan);
	REPLACE(index_validate_scan);
	if (!trusted)
	{
		ours.scan_getnextslot = scan_getnextslot_timed;
		ours.scan_bitmap_next_tuple = scan_bitmap_next_tuple_timed;
		ours.index_fetch_tuple = index_fetch_tuple_timed;
	}
}

/*
 * Finds the methods of tables and indexes and proves that what takes their place is called.
 * Nothing stays replaced in the postmaster but index handlers.
 */
void
pfs_instr_table_start(void)
{
	const TableAmRoutine *am = GetHeapamTableAmRoutine();
	bool		same_server = atoi(GetConfigOption("server_version_num", false, false)) == PFS_BUILT_FOR;
	PfsCompatMethod methods[PFS_HEAP_METHODS];
	PfsMethodJudgement judgement = PFS_METHODS_ARE_UNKNOWN;
	const char *why_not = NULL;

	if (!pfs_relro_has(am, sizeof(*am)))
		why_not = "the methods of tables do not lie in the server's read-only data";
	else
		judgement = pfs_method_struct_judge(methods, pfs_compat_heap_methods(am, methods));
	if (why_not == NULL && (judgement == PFS_METHODS_ARE_UNKNOWN || am->type != T_TableAmRoutine))
		why_not = "the methods of tables are laid out in another way than in the version that pfs was built for";
	if (why_not == NULL)
	{
		real = *am;
		pfs_heap_methods = am;
		heap = (PfsMethodStruct)
		{
			METHODS(unconstify(TableAmRoutine *, am)), METHODS(&real), METHODS(&ours), NUM_METHODS
		};
		why_not = prove(am);
	}
	pfs_method_struct_report("heap", judgement, why_not);
	if (why_not != NULL)
	{
		ereport(LOG,
				(errmsg("pfs: tables and indexes cannot be watched: %s", why_not)));
		return;
	}
	trusted = same_server && judgement == PFS_METHODS_ARE_SERVERS;
	replace_all();
	pfs_index_methods_start(same_server);
	pfs_access_methods_report();
	can_watch = true;
}
