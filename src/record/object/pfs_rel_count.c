/*
 * pfs_rel_count.c
 *	  Counting the rows of a run that ends.
 *
 * The sum of times can be more than those of the rows: calls that found no row take time,
 * too.  Where a table has none of these rows, it has a sum without a count.
 */
#include "postgres.h"

#include "pfs_chain.h"
#include "pfs_shared.h"
#include "pfs_rel_count.h"

/* ---- places ---- */

/* What was counted of a table or an index that has gone goes with it. */
static void
add_cb(void *stat, const PfsPending *place)
{
	if (stat != NULL)
		pfs_shared_cell_add_counts(&((PfsRelStat *) stat)->parts[place->key], &((const PfsPendingCounts *) place)->counts);
}

static void
discard_cb(void *stat)
{
	pfs_chain_free(pfs_rel_locks, &((PfsRelStat *) stat)->locks, NULL, NULL);
}

#define KIND(what, max_objects) \
	.shape = &pfs_pending_rows_shape, \
	.turn = PFS_TURN_TABLES, \
	.objects = &pfs_rel_stats[what].pages, \
	.max = max_objects, \
	.add = add_cb, \
	.discard = discard_cb, \
	.cells = offsetof(PfsRelStat, parts), \
	.ncells = PFS_NUM_REL_PARTS

const PfsCountedKind pfs_counted_tables = {KIND(PFS_TABLE_STATS, &pfs_sizes.tables)};
const PfsCountedKind pfs_counted_indexes = {KIND(PFS_INDEX_STATS, &pfs_sizes.indexes)};

/* ---- counting ---- */

/* Counts rows in a place that is taken for them; where none is to be had at this moment, in the record. */
static pg_noinline void
count_in_new_place(PfsThread *t, PfsCountedObjects counted, uint64 stat, PfsRelPart part, const PfsRowCount *rows)
{
	PfsPendingCounts *p = (PfsPendingCounts *) pfs_pending_get(t, counted, stat, part);

	p->counts = *rows;
	pfs_pending_put(t, counted, &p->place);
}

/* Counts rows for a record, in a place of this process. */
static pg_attribute_always_inline void
count_rows(PfsThread *t, PfsRelStatKind kind, uint64 stat, PfsRelPart part, const PfsRowCount *rows)
{
	PfsCountedObjects counted = pfs_rel_stat_counted(kind);
	PfsPendingCounts *p;

	if (stat == 0 || (pfs_row_count(rows) == 0 && rows->sum == 0))
		return;
	p = (PfsPendingCounts *) pfs_pending_find(counted, &pfs_pending_rows_shape, stat, part);
	if (likely(p != NULL))
		pfs_counts_add(&p->counts, rows);
	else
		count_in_new_place(t, counted, stat, part, rows);
}

/*
 * Counts what a run has fetched by an index: for the index the rows that it found, and for the table those
 * that it led to, with all times.  So a table keeps them when the index goes.
 */
static inline void
count_by_index(PfsThread *t, const PfsRelRun *run, const PfsRowCount *rows)
{
	PfsRowCount space;
	const PfsRowCount *found = pfs_rows_by_default_timer(&run->index_rows, run->wait.flags, &space);
	PfsRowCount of_table = pfs_rows_with_times(pfs_row_count(rows), rows, found);

	count_rows(t, PFS_INDEX_STATS, run->index_stat, PFS_REL_FETCH, rows);
	count_rows(t, PFS_INDEX_STATS, run->index_stat, PFS_INDEX_READ, found);
	count_rows(t, PFS_TABLE_STATS, run->table_stat, PFS_REL_BY_INDEX, &of_table);
}

/* Counts what a run has done, for its table or its index, and for its statement's digest. */
void
pfs_rel_count(PfsThread *t, PfsRelRun *run)
{
	PfsRowCount space;
	const PfsRowCount *rows = pfs_rows_by_default_timer(&run->rows, run->wait.flags, &space);
	PfsRelPart	part = pfs_rel_part(run->wait.operation);

	if (!OidIsValid(run->wait.object.table.index))
		count_rows(t, PFS_TABLE_STATS, run->table_stat, run->by_index ? PFS_REL_BY_INDEX : part, rows);
	else if (part == PFS_REL_FETCH)
		count_by_index(t, run, rows);
	else
		count_rows(t, PFS_INDEX_STATS, run->index_stat, part, rows);
	pfs_rel_run_flush(run);
}
