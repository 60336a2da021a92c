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
#include "pfs_rebuild.h"
#include "pfs_rel_count.h"
#include "pfs_rel_read.h"
#include "pfs_shared.h"
#include "pfs_cell_views.h"

/* ---- rows ---- */

typedef struct StatsReader
{
	PfsCellView view;
	PfsRelStatEmit emit;
	void	   *arg;
	PfsRelStatCopy *copy;		/* the one that is made now */
} StatsReader;

static void
add_pending_cb(const PfsPending *p, void *arg)
{
	StatsReader *reader = arg;

	pfs_cell_views_read_pending(p, reader->copy->parts);
}

/* Hands on all records of a kind; one that is removed meanwhile is left out. */
static void
read_kind(StatsReader *reader, PfsRelStatKind kind, PfsPatience *patience)
{
	PfsPages   *pages = pfs_rel_stats[kind].pages;
	PfsPendingCopies pending;

	pfs_pending_copy_all(pfs_rel_stat_counted(kind), PFS_PENDING_OBJECT, &pending, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pages, &at);)
	{
		PfsRelStatCopy copy = {.kind = kind};
		PfsRelStat	record;
		uint64		now;

		CHECK_FOR_INTERRUPTS();
		if (!pfs_pages_copy(pages, at.index, 0, &record, sizeof(record), &now))
			continue;
		copy.database = record.database;
		copy.relation = record.relation;
		copy.has_locks = record.locks != 0;
		copy.index = kind == PFS_INDEX_STATS ? pfs_rebuild_owner(record.database, record.oid) : InvalidOid;
		pfs_cell_views_read(pfs_rel_stat_counted(kind), reader->view, &record, copy.parts);
		reader->copy = &copy;
		pfs_pending_of_object(&pending, PFS_COUNTED_OBJECT(at.index, now), add_pending_cb, reader);
		reader->emit(&copy, reader->arg);
	}
	pfree(pending.items);
}

static void
read_indexes(PfsPatience *patience, void *arg)
{
	read_kind(arg, PFS_INDEX_STATS, patience);
}

static void
read_tables(PfsPatience *patience, void *arg)
{
	read_kind(arg, PFS_TABLE_STATS, patience);
	pfs_blocking_work(PFS_COUNTED_INDEXES, false, read_indexes, arg);
}

void
pfs_rel_stats_each(PfsCellView view, PfsRelStatEmit emit, void *arg)
{
	StatsReader reader = {.view = view, .emit = emit, .arg = arg};

	/* What was found to have gone by the reading before. */
	pfs_objects_free_removed();
	pfs_blocking_work(PFS_COUNTED_TABLES, false, read_tables, &reader);
}

/*
 * Adds times that belong to other rows than those that a part counts: it gets all the time,
 * and no more timed rows than rows.
 */
void
pfs_rel_add_times(PfsTotals *to, const PfsTotals *from, uint64 rows)
{
	PfsTotals	times = *from;

	times.count_untimed = 0;
	pfs_totals_add(to, &times);
	to->count_timed = Min(to->count_timed, rows);
	to->count_untimed = rows - to->count_timed;
}

/*
 * What indexes led to is the table's own, also of those that have gone; the entries that are made in an
 * index are no rows of it.
 */
void
pfs_rel_parts_of_table(const PfsRelStatCopy *copy, PfsTotals *parts)
{
	for (int part = 0; part < PFS_NUM_REL_PARTS && copy->kind == PFS_TABLE_STATS; part++)
		pfs_totals_add(&parts[part == PFS_REL_BY_INDEX ? PFS_REL_FETCH : part], &copy->parts[part]);
}

/* ---- truncation ---- */

typedef struct Truncation
{
	PfsCellView view;
	PfsPatience *of_tables;
	int64		rows;			/* of tables, that the view loses */
} Truncation;

/* Both kinds, or a command that is cancelled before has changed nothing. */
static void
truncate_both(PfsPatience *patience, void *arg)
{
	Truncation *truncation = arg;

	truncation->rows = (int64) pfs_cell_views_truncate(PFS_COUNTED_TABLES, truncation->view, PFS_PENDING_ALL, truncation->of_tables);
	(void) pfs_cell_views_truncate(PFS_COUNTED_INDEXES, truncation->view, PFS_PENDING_ALL, patience);
}

static void
truncate_with_tables(PfsPatience *patience, void *arg)
{
	((Truncation *) arg)->of_tables = patience;
	pfs_blocking_work(PFS_COUNTED_INDEXES, true, truncate_both, arg);
}

/* What only this view shows is gone; the rest is the other view's from now on. */
int64
pfs_rel_stats_clear(PfsCellView view)
{
	Truncation	truncation = {.view = view};

	pfs_blocking_work(PFS_COUNTED_TABLES, true, truncate_with_tables, &truncation);
	return truncation.rows;
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

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pages, &at);)
	{
		const PfsRelStat *stat = pfs_rel_stat_at(PFS_TABLE_STATS, at.index);
		PfsTotals	modes[PFS_REL_LOCK_ANY] = {{0}};
		Oid			database = pfs_load_relaxed(&stat->database);
		Oid			relation = pfs_load_relaxed(&stat->relation);
		uint32		link = pfs_load_acquire(&stat->locks);
		uint64		waits = 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 n = 0; link != 0 && link <= pfs_rel_locks->records_max && n < PFS_REL_LOCK_ANY; n++)
		{
			const PfsChained *cell = pfs_chain_at(pfs_rel_locks, link);
			uint32		mode = pfs_load_relaxed(&cell->key) - 1;

			if (mode < PFS_REL_LOCK_ANY)
			{
				pfs_shared_cell_read(&cell->cell, &modes[mode]);
				waits += pfs_totals_count(&modes[mode]);
			}
			link = pfs_load_relaxed(&cell->next);
		}
		pfs_fence_acquire();
		if (waits > 0 && pfs_pages_word(pages, at.index) == at.word)
			emit(database, relation, modes, arg);
	}
}

/* Zeroes the counters of waits for locks; all cells of the container are of tables that are there. */
int64
pfs_rel_locks_clear(PfsCellView view)
{
	int64		waits = 0;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_rel_locks, &at);)
	{
		PfsChained *cell = pfs_pages_record(pfs_rel_locks, at.index);
		PfsTotals	totals = {0};

		if ((pfs_load_relaxed(&cell->key) == PFS_REL_LOCK_ANY) != (view == PFS_VIEW_OF_OBJECTS))
			continue;
		/* A wait whose count is on its way keeps its time. */
		pfs_shared_cell_take(&cell->cell, &totals);
		waits += (int64) pfs_totals_count(&totals);
	}
	return waits;
}
