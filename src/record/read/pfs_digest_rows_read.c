/*
 * pfs_digest_rows_read.c
 *	  Readers of rows by digest, and truncation of all that is counted of rows.
 *
 * Rows are copied while no process moves counters (pfs_blocking_work()), as of waits, and
 * handed on behind that.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_digest_pending.h"
#include "pfs_digest_rows_read.h"
#include "pfs_pending_read.h"
#include "pfs_rebuild.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"

/* The rows that are read, with space for all; links of chains that were followed. */
typedef struct Rows
{
	PfsDigestRowsRow *items;
	uint32		n;
	uint32		links;
} Rows;

/* Fills in which table or index a row is of; false: it has been dropped. */
static bool
name_row(PfsDigestRowsRow *row, uint32 kind, uint64 stat)
{
	PfsRelStat	record;
	uint64		word;

	if (!pfs_pages_copy(pfs_rel_stats[kind].pages, (uint32) (stat >> 32), 0, &record, offsetof(PfsRelStat, locks), &word) ||
		(uint32) word != (uint32) stat)
		return false;
	row->database = record.database;
	row->relation = record.relation;
	row->index = kind == PFS_INDEX_STATS ? pfs_rebuild_owner(record.database, record.oid) : InvalidOid;
	return true;
}

/* Keeps the row behind the last one, if it has counted something, and what it is of is there. */
static void
keep_row(Rows *rows, uint32 kind, uint64 stat)
{
	PfsDigestRowsRow *row = &rows->items[rows->n];

	if ((pfs_totals_count(&row->all) > 0 || row->all.sum > 0) && name_row(row, kind, stat))
		rows->n++;
}

/* The row behind the last one, of this digest; key NULL: of all others. */
static PfsDigestRowsRow *
begin_row(Rows *rows, const PfsDigestKey *key)
{
	PfsDigestRowsRow *row = &rows->items[rows->n];

	memset(row, 0, sizeof(*row));
	if (key != NULL)
		row->key = *key;
	return row;
}

/* How often a cell that is given to another table is copied again. */
#define READ_TRIES 100

/* Copies a cell; one that is of none, as what it was of has been dropped, is passed over. */
static void
copy_cell(Rows *rows, const PfsDigestRowsCell *cell, const PfsDigestKey *key)
{
	for (int i = 0; i < READ_TRIES; i++)
	{
		PfsDigestRowsRow *row = begin_row(rows, key);
		uint64		stat = pfs_load_acquire(&cell->stat);
		uint32		kind = pfs_load_relaxed(&cell->kind);

		pfs_shared_cell_read(&cell->all, &row->all);
		for (int c = 0; c < PFS_NUM_ROW_COUNTS; c++)
			row->counts[c] = pfs_load_relaxed(&cell->counts[c]);
		pfs_fence_acquire();
		if (pfs_load_relaxed(&cell->stat) == stat)
		{
			if (stat != 0)
				keep_row(rows, kind, stat);
			return;
		}
		pfs_pause();
	}
}

/*
 * Copies a chain.  No cell is in two chains, so there is space for all; but one that is being
 * moved by a process that was not waited for can lead anywhere, and in a circle.
 */
static void
copy_chain(Rows *rows, uint32 link, const PfsDigestKey *key)
{
	while (link != 0 && link <= pfs_digest_rows->records_max && rows->links++ < pfs_digest_rows->records_max)
	{
		const PfsDigestRowsCell *cell = pfs_digest_rows_at(link);

		copy_cell(rows, cell, key);
		link = pfs_load_relaxed(&cell->next);
	}
}

/* Appends what a process has counted for a digest, which may have a row already. */
static void
add_pending_cb(const PfsPending *place, void *arg)
{
	const PfsPendingDigest *p = (const PfsPendingDigest *) place;
	const PfsDigestKey *key = pfs_pending_digest_key(p);

	if (!pfs_pending_digest_counts(place, PFS_DIGEST_PART_ROWS))
		return;
	for (uint32 i = 0; i < Min(p->nrows, PFS_PENDING_DIGEST_ROWS); i++)
	{
		const PfsDigestRows *from = &p->rows[i];
		PfsDigestRowsRow *row = begin_row(arg, key);

		row->all = pfs_counts_totals(&from->rows);
		if (from->part < PFS_NUM_ROW_COUNTS)
			row->counts[from->part] = pfs_row_count(&from->rows);
		keep_row(arg, from->kind, from->stat);
	}
}

/* Copies the cells of all digests, then those of all others, and what is pending. */
static void
copy_rows(PfsPatience *patience, void *arg)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests.pages, &at);)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests.pages, at.index);

		copy_chain(arg, pfs_load_acquire(&d->rows), &d->key);
	}
	for (int i = 0; i < PFS_OTHER_ROWS_CHAINS; i++)
		copy_chain(arg, pfs_load_acquire(&pfs_shared_digests->rows[i]), NULL);
	pfs_pending_each(PFS_COUNTED_DIGESTS, add_pending_cb, arg, patience);
}

/* Hands what digests have counted of tables and indexes to emit. */
void
pfs_digest_rows_read(PfsDigestRowsEmit emit, void *arg)
{
	Rows		rows = {0};

	if (pfs_sizes.digests == 0 || pfs_sizes.tables == 0)
		return;
	/* One more is begun.  Memory that is not used costs nothing. */
	rows.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(PfsDigestRowsRow) *
										((Size) pfs_digest_rows->records_max + 1 +
										 (Size) pfs_sizes.threads * PFS_PENDING_DIGESTS * PFS_PENDING_DIGEST_ROWS));
	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_rows, &rows);
	for (uint32 i = 0; i < rows.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		emit(&rows.items[i], arg);
	}
	pfree(rows.items);
}

/* Truncates both kinds of summaries; returns the rows that leave the one. */
static int64
truncate_all(bool of_digests)
{
	int64		by_table = pfs_rel_stats_clear(PFS_VIEW_OF_KIND);
	int64		by_digest;

	/* The next step can be cancelled, where it waits for its turn. */
	pfs_reset_time_note("table_io_waits_summary_by_table");
	pfs_reset_time_note("table_io_waits_summary_by_index_usage");
	by_digest = pfs_digest_rows_truncate();
	pfs_reset_time_note("table_io_waits_summary_by_digest");
	return of_digests ? by_digest : by_table;
}

int64
pfs_rel_io_truncate(void)
{
	return truncate_all(false);
}

int64
pfs_rel_io_truncate_digests(void)
{
	return truncate_all(true);
}
