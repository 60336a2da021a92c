/*
 * pfs_compat_table.h
 *	  What differs in the methods of tables and indexes: their parameters, where their
 *	  structs lie, and by what one sees that a row is there already.
 */
#ifndef PFS_COMPAT_TABLE_H
#define PFS_COMPAT_TABLE_H

#include "access/amapi.h"
#include "access/brin_internal.h"
#include "access/gin_private.h"
#include "access/gist_private.h"
#include "access/hash.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/spgist.h"
#include "access/tableam.h"
#include "pgstat.h"

/*
 * Up to 18 each relation has a copy of what the handler of its index access method has
 * returned; since 19 handlers return the address of a struct that all share.  Can go when 19
 * is the oldest version.
 */
#define PFS_INDEX_METHODS_ARE_SHARED (PG_VERSION_NUM >= 190000)

/* Since 18 a bitmap scan asks for rows only, and finds the next page itself. */
#define PFS_HAVE_BITMAP_BLOCKS (PG_VERSION_NUM < 180000)

/* Parameters of methods, and what they are called with. */
#if PG_VERSION_NUM >= 190000
#define PFS_FETCH_BEGIN_PARAMS Relation rel, uint32 flags
#define PFS_FETCH_BEGIN_ARGS rel, flags
#define PFS_INSERT_PARAMS Relation rel, TupleTableSlot *slot, CommandId cid, uint32 options, \
	struct BulkInsertStateData *bistate
#define PFS_MULTI_INSERT_PARAMS Relation rel, TupleTableSlot **slots, int nslots, CommandId cid, uint32 options, \
	struct BulkInsertStateData *bistate
#define PFS_UPDATE_PARAMS Relation rel, ItemPointer tid, TupleTableSlot *slot, CommandId cid, uint32 options, \
	Snapshot snapshot, Snapshot crosscheck, bool wait, TM_FailureData *failure, LockTupleMode *mode, \
	TU_UpdateIndexes *indexes
#define PFS_UPDATE_ARGS rel, tid, slot, cid, options, snapshot, crosscheck, wait, failure, mode, indexes
#define PFS_DELETE_PARAMS Relation rel, ItemPointer tid, CommandId cid, uint32 options, Snapshot snapshot, \
	Snapshot crosscheck, bool wait, TM_FailureData *failure
#define PFS_DELETE_ARGS rel, tid, cid, options, snapshot, crosscheck, wait, failure
#else
#define PFS_FETCH_BEGIN_PARAMS Relation rel
#define PFS_FETCH_BEGIN_ARGS rel
#define PFS_INSERT_PARAMS Relation rel, TupleTableSlot *slot, CommandId cid, int options, \
	struct BulkInsertStateData *bistate
#define PFS_MULTI_INSERT_PARAMS Relation rel, TupleTableSlot **slots, int nslots, CommandId cid, int options, \
	struct BulkInsertStateData *bistate
#if PG_VERSION_NUM >= 160000
#define PFS_UPDATE_PARAMS Relation rel, ItemPointer tid, TupleTableSlot *slot, CommandId cid, Snapshot snapshot, \
	Snapshot crosscheck, bool wait, TM_FailureData *failure, LockTupleMode *mode, TU_UpdateIndexes *indexes
#else
#define PFS_UPDATE_PARAMS Relation rel, ItemPointer tid, TupleTableSlot *slot, CommandId cid, Snapshot snapshot, \
	Snapshot crosscheck, bool wait, TM_FailureData *failure, LockTupleMode *mode, bool *indexes
#endif
#define PFS_UPDATE_ARGS rel, tid, slot, cid, snapshot, crosscheck, wait, failure, mode, indexes
#define PFS_DELETE_PARAMS Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot, Snapshot crosscheck, \
	bool wait, TM_FailureData *failure, bool moves
#define PFS_DELETE_ARGS rel, tid, cid, snapshot, crosscheck, wait, failure, moves
#endif
#define PFS_INSERT_ARGS rel, slot, cid, options, bistate
#define PFS_MULTI_INSERT_ARGS rel, slots, nslots, cid, options, bistate

#if PFS_HAVE_BITMAP_BLOCKS
#define PFS_BITMAP_ROW_PARAMS TableScanDesc scan, struct TBMIterateResult *block, TupleTableSlot *slot
#define PFS_BITMAP_ROW_ARGS scan, block, slot
#else
#define PFS_BITMAP_ROW_PARAMS TableScanDesc scan, TupleTableSlot *slot, bool *recheck, uint64 *lossy, uint64 *exact
#define PFS_BITMAP_ROW_ARGS scan, slot, recheck, lossy, exact
#endif

/*
 * ---- is the row there already? ----
 *
 * By the server's own descriptors of scans, as this version's headers have them.  Whoever asks has
 * made sure that the running server is the one that these headers are of, and that the
 * functions behind are the server's own.
 */

/*
 * Will the next call of a sequential scan return a visible row of the page that it is on?
 * Page by page it notes which rows are visible; by itself, or with keys, it looks for them.
 */
static pg_attribute_always_inline bool
pfs_compat_scan_has_row(TableScanDesc scan, ScanDirection direction)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

	return heap->rs_inited && heap->rs_cindex + 1 < heap->rs_ntuples && scan->rs_nkeys == 0 &&
		(scan->rs_flags & SO_ALLOW_PAGEMODE) != 0 && ScanDirectionIsForward(direction);
}

/*
 * The same of a bitmap scan.  Up to 17 calls for rows never go to another page, and 17 can
 * return rows of pages that it has not read: the server does not count those.
 */
static pg_attribute_always_inline bool
pfs_compat_bitmap_has_row(TableScanDesc scan)
{
	HeapScanDesc heap = (HeapScanDesc) scan;

#if PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000
	if (heap->rs_empty_tuples_pending > 0)
		return false;
#endif
	return heap->rs_cindex < heap->rs_ntuples;
}

/* Is the block pinned that a fetch by index asks for?  last: the one that it asked for last. */
static pg_attribute_always_inline bool
pfs_compat_fetch_has_block(const struct IndexFetchTableData *fetch, BlockNumber block, BlockNumber last)
{
	const IndexFetchHeapData *heap = (const IndexFetchHeapData *) fetch;

#if PG_VERSION_NUM >= 190000
	return heap->xs_blk == block;
#else
	return block == last && BufferIsValid(heap->xs_cbuf);
#endif
}

/* Has a scan of a btree read the entry already that it will return next? */
static pg_attribute_always_inline bool
pfs_compat_btree_has_entry(IndexScanDesc scan, ScanDirection direction)
{
	const BTScanPosData *at = &((BTScanOpaque) scan->opaque)->currPos;

	if (!BlockNumberIsValid(at->currPage))
		return false;
	return ScanDirectionIsForward(direction) ? at->itemIndex < at->lastItem : at->itemIndex > at->firstItem;
}

/*
 * Where the server counts the rows that this process has read by sequential scans of a table; NULL: it does
 * not count, or has not begun to.  It stays there until the transaction has ended.
 */
static inline const int64 *
pfs_compat_rows_read(Relation rel)
{
	if (rel->pgstat_info == NULL)
		return NULL;
#if PG_VERSION_NUM >= 160000
	return &rel->pgstat_info->counts.tuples_returned;
#else
	return &rel->pgstat_info->t_counts.t_tuples_returned;
#endif
}

/* ---- are the structs laid out as the headers say? ---- */

/* What a struct has as a method, and which function of the server that should be. */
typedef struct PfsCompatMethod
{
	const void *found;
	const void *expected;
} PfsCompatMethod;

#define PFS_HEAP_METHODS 16

/*
 * Methods of the heap that are functions which the server exports: they stand before, between and
 * behind those that pfs replaces.  Returns how many there are, at most PFS_HEAP_METHODS.
 */
static inline int
pfs_compat_heap_methods(const TableAmRoutine *am, PfsCompatMethod *methods)
{
	const PfsCompatMethod exported[] = {
		{am->scan_begin, heap_beginscan},
		{am->scan_end, heap_endscan},
		{am->scan_rescan, heap_rescan},
		{am->scan_getnextslot, heap_getnextslot},
		{am->scan_set_tidrange, heap_set_tidrange},
		{am->scan_getnextslot_tidrange, heap_getnextslot_tidrange},
		{am->parallelscan_reinitialize, table_block_parallelscan_reinitialize},
#if PG_VERSION_NUM >= 190000
		{am->index_fetch_begin, heapam_index_fetch_begin},
		{am->index_fetch_end, heapam_index_fetch_end},
		{am->index_fetch_tuple, heapam_index_fetch_tuple},
#endif
		{am->tuple_get_latest_tid, heap_get_latest_tid},
		{am->index_delete_tuples, heap_index_delete_tuples},
		{am->multi_insert, heap_multi_insert},
		{am->relation_vacuum, heap_vacuum_rel},
		{am->relation_size, table_block_relation_size},
		{am->relation_fetch_toast_slice, heap_fetch_toast_slice},
	};

	StaticAssertStmt(lengthof(exported) <= PFS_HEAP_METHODS, "the caller has room for all");
	memcpy(methods, exported, sizeof(exported));
	return lengthof(exported);
}

#endif							/* PFS_COMPAT_TABLE_H */
