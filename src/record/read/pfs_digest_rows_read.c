/*
 * pfs_digest_rows_read.c
 *	  Readers of rows by digest, and truncation of all that is counted of rows.
 *
 * Copies are made while no process moves counters (pfs_blocking_work()), as of waits, and
 * turned into rows behind that.
 */
#include "postgres.h"

#include "pfs_digest_copies.h"
#include "pfs_digest_rows_read.h"
#include "pfs_rebuild.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"

/* How often a cell that is given to another table is copied again. */
#define READ_TRIES 100

/* Copies a cell; false: it is of none, as what it was of has been dropped. */
static bool
copy_cell(const PfsDigestRowsCell *cell, PfsDigestCopy *to)
{
	for (int i = 0; i < READ_TRIES; i++)
	{
		memset(to, 0, sizeof(*to));
		to->what = pfs_load_acquire(&cell->stat);
		to->kind = pfs_load_relaxed(&cell->kind);
		pfs_shared_cell_read(&cell->all, &to->totals);
		for (int c = 0; c < PFS_NUM_ROW_COUNTS; c++)
			to->counts[c] = pfs_load_relaxed(&cell->counts[c]);
		pfs_fence_acquire();
		if (pfs_load_relaxed(&cell->stat) == to->what)
			return to->what != 0;
		pfs_pause();
	}
	return false;
}

/*
 * Copies a chain.  No cell is in two chains, so there is space for all; but one that is being
 * moved by a process that was not waited for can lead anywhere, and in a circle.
 */
static void
copy_chain(PfsDigestCopies *c, uint32 link, const PfsDigestKey *key)
{
	while (link != 0 && link <= pfs_digest_rows->records_max && c->links++ < pfs_digest_rows->records_max)
	{
		const PfsDigestRowsCell *cell = pfs_digest_rows_at(link);

		if (copy_cell(cell, &c->items[c->n]))
			c->items[c->n++].key = *key;
		link = pfs_load_relaxed(&cell->next);
	}
}

/* Appends what a process has counted for a digest, which may have a copy already. */
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
		PfsDigestCopy *to = pfs_digest_copies_add(arg, key, from->stat);

		to->kind = from->kind;
		to->totals = pfs_counts_totals(&from->rows);
		if (from->part < PFS_NUM_ROW_COUNTS)
			to->counts[from->part] = pfs_row_count(&from->rows);
	}
}

/* Fills in which table or index a copy is of; false: it has been dropped. */
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

/* An index that was rebuilt can have several records: their copies get the number of one of them. */
static void
unite_indexes(PfsDigestCopies *c)
{
	for (uint32 i = 0; i < c->n && pfs_rebuilds_were(); i++)
	{
		PfsDigestRowsRow row;
		uint64		stat;

		if (c->items[i].kind != PFS_INDEX_STATS || !name_row(&row, PFS_INDEX_STATS, c->items[i].what))
			continue;
		stat = pfs_rel_stat_of_index(row.database, row.index);
		if (stat != 0)
			c->items[i].what = stat;
	}
}

/* Copies the cells of all digests, then those of all others, and what is pending. */
static void
copy_rows(PfsPatience *patience, void *arg)
{
	const PfsDigestKey others = {0, 0};

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests, &at);)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests, at.index);

		copy_chain(arg, pfs_load_acquire(&d->rows), &d->key);
	}
	for (int i = 0; i < PFS_OTHER_ROWS_CHAINS; i++)
		copy_chain(arg, pfs_load_acquire(&pfs_shared_digests->rows[i]), &others);
	pfs_pending_each(PFS_COUNTED_DIGESTS, add_pending_cb, arg, patience);
}

/* Hands a row for each digest and each table, or index, that has counted something to emit. */
void
pfs_digest_rows_read(PfsDigestRowsEmit emit, void *arg)
{
	PfsDigestCopies c = {0};
	PfsDigestCopy sum;

	if (pfs_sizes.digests == 0 || pfs_sizes.tables == 0)
		return;
	/* Memory that is not used costs nothing. */
	c.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(PfsDigestCopy) *
									 ((Size) pfs_digest_rows->records_max +
									  (Size) pfs_sizes.threads * PFS_PENDING_DIGESTS * PFS_PENDING_DIGEST_ROWS));
	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_rows, &c);
	unite_indexes(&c);
	while (pfs_digest_copies_next(&c, &sum))
	{
		PfsDigestRowsRow row = {.key = sum.key, .all = sum.totals};

		memcpy(row.counts, sum.counts, sizeof(row.counts));
		if ((pfs_totals_count(&row.all) > 0 || row.all.sum > 0) && name_row(&row, sum.kind, sum.what))
			emit(&row, arg);
	}
	pfree(c.items);
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
