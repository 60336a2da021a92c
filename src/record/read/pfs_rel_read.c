/*
 * pfs_rel_read.c
 *	  Readers and truncation of what is counted of tables and indexes.
 *
 * Rows are in records and in places of processes (pfs_pending_read.h).  Whoever wants both
 * tables and indexes takes the turn of tables first.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_chain.h"
#include "pfs_pending_read.h"
#include "pfs_rel_count.h"
#include "pfs_rel_read.h"

/* ---- rows ---- */

typedef struct StatsReader
{
	PfsRelStatKind kind;
	PfsRelStatEmit emit;
	void	   *arg;
	PfsRelStatCopy *copy;		/* the one that is made now */
} StatsReader;

static void
add_pending_cb(const PfsPending *p, void *arg)
{
	StatsReader *reader = arg;

	pfs_pending_rows_read(p, &reader->copy->parts[p->key]);
}

/* Hands on all records of a kind; one that is removed meanwhile is left out. */
static void
read_kind(PfsPatience *patience, void *arg)
{
	StatsReader *reader = arg;
	PfsCountedObjects counted = pfs_rel_stat_counted(reader->kind);
	PfsPages   *pages = pfs_rel_stats[reader->kind].pages;
	PfsPendingCopies pending;
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	pfs_pending_copy_all(counted, &pending, patience);
	while ((index = pfs_pages_next(pages, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsRelStatCopy copy = {.kind = reader->kind};
		PfsRelStat	record;
		uint64		now;

		CHECK_FOR_INTERRUPTS();
		if (!pfs_pages_copy(pages, index, 0, &record, sizeof(record), &now))
			continue;
		copy.database = record.database;
		copy.relation = record.relation;
		copy.has_locks = record.locks != 0;
		copy.index = reader->kind == PFS_INDEX_STATS ? record.oid : InvalidOid;
		for (int part = 0; part < PFS_NUM_REL_PARTS; part++)
			pfs_shared_cell_read(&record.parts[part], &copy.parts[part]);
		reader->copy = &copy;
		pfs_pending_of_object(&pending, PFS_COUNTED_OBJECT(index, now), add_pending_cb, reader);
		reader->emit(&copy, reader->arg);
	}
	pfree(pending.items);
}

static void
read_indexes(PfsPatience *patience, void *arg)
{
	StatsReader *reader = arg;

	reader->kind = PFS_INDEX_STATS;
	read_kind(patience, reader);
}

static void
read_tables(PfsPatience *patience, void *arg)
{
	StatsReader *reader = arg;
	PfsPatience of_indexes = {0};

	reader->kind = PFS_TABLE_STATS;
	read_kind(patience, reader);
	pfs_pending_work(PFS_COUNTED_INDEXES, false, read_indexes, &of_indexes, reader);
}

void
pfs_rel_stats_each(PfsRelStatEmit emit, void *arg)
{
	PfsPatience patience = {0};
	StatsReader reader = {.emit = emit, .arg = arg};

	if (pfs_rel_stats[PFS_TABLE_STATS].pages == NULL)
		return;
	pfs_pending_work(PFS_COUNTED_TABLES, false, read_tables, &patience, &reader);
}

double
pfs_rel_stats_estimate(PfsRelStatKind kind)
{
	return pfs_rel_stats[kind].pages == NULL ? 0 : pfs_load_relaxed(&pfs_rel_stats[kind].pages->used);
}

/* ---- truncation ---- */

/*
 * Takes a cell's counters and returns how many rows they were; its sum goes with them, also
 * where no row is timed.
 */
static int64
clear_cell(PfsSharedCell *cell)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(cell, &totals);
	if (totals.count_timed == 0)
	{
		(void) pfs_exchange(&cell->sum_low, 0);
		(void) pfs_exchange(&cell->sum_high, 0);
	}
	return (int64) pfs_totals_count(&totals);
}

/* Zeroes all records of a kind, and what is pending of them; returns how many rows. */
static int64
clear_kind(PfsRelStatKind kind, PfsPatience *patience)
{
	PfsPages   *pages = pfs_rel_stats[kind].pages;
	int64		rows = (int64) pfs_pending_clear(pfs_rel_stat_counted(kind), patience);
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	while ((index = pfs_pages_next(pages, &pos, &word)) != PFS_NO_RECORD)
	{
		for (int part = 0; part < PFS_NUM_REL_PARTS; part++)
			rows += clear_cell(&pfs_rel_stat_at(kind, index)->parts[part]);
	}
	return rows;
}

static void
clear_indexes(PfsPatience *patience, void *arg)
{
	*(int64 *) arg += clear_kind(PFS_INDEX_STATS, patience);
}

static void
clear_tables(PfsPatience *patience, void *arg)
{
	PfsPatience of_indexes = {.of_reset = true};

	*(int64 *) arg = clear_kind(PFS_TABLE_STATS, patience);
	pfs_pending_work(PFS_COUNTED_INDEXES, true, clear_indexes, &of_indexes, arg);
}

int64
pfs_rel_stats_clear(void)
{
	PfsPatience patience = {.of_reset = true};
	int64		rows = 0;

	if (pfs_rel_stats[PFS_TABLE_STATS].pages != NULL)
		pfs_pending_work(PFS_COUNTED_TABLES, true, clear_tables, &patience, &rows);
	return rows;
}

/* ---- waits for locks ---- */

/*
 * Hands on the tables that were waited for.  A table's chain stays while its state word does,
 * so a look at the word afterwards tells whether all that was read was the table's.
 */
void
pfs_rel_locks_each(PfsRelLocksEmit emit, void *arg)
{
	PfsPages   *pages = pfs_rel_stats[PFS_TABLE_STATS].pages;
	uint32		pos = 0;
	uint64		word;
	uint32		index;

	if (pages == NULL)
		return;
	while ((index = pfs_pages_next(pages, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsRelStat *stat = pfs_rel_stat_at(PFS_TABLE_STATS, index);
		PfsTotals	modes[PFS_REL_LOCK_MODES] = {{0}};
		Oid			database = pfs_load_relaxed(&stat->database);
		Oid			relation = pfs_load_relaxed(&stat->relation);
		uint32		link = pfs_load_acquire(&stat->locks);
		uint64		waits = 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 n = 0; link != 0 && link <= pfs_rel_locks->records_max && n < PFS_REL_LOCK_MODES; n++)
		{
			const PfsChained *cell = pfs_chain_at(pfs_rel_locks, link);
			uint32		mode = pfs_load_relaxed(&cell->key) - 1;

			if (mode < PFS_REL_LOCK_MODES)
			{
				pfs_shared_cell_read(&cell->cell, &modes[mode]);
				waits += pfs_totals_count(&modes[mode]);
			}
			link = pfs_load_relaxed(&cell->next);
		}
		pfs_fence_acquire();
		if (waits > 0 && pfs_pages_word(pages, index) == word)
			emit(database, relation, modes, arg);
	}
}

/* Zeroes the counters of waits for locks; all cells of the container are of tables that are there. */
int64
pfs_rel_locks_clear(void)
{
	uint32		pos = 0;
	uint64		word;
	uint32		index;
	int64		waits = 0;

	if (pfs_rel_locks == NULL)
		return 0;
	while ((index = pfs_pages_next(pfs_rel_locks, &pos, &word)) != PFS_NO_RECORD)
		waits += clear_cell(&((PfsChained *) pfs_pages_record(pfs_rel_locks, index))->cell);
	return waits;
}
