/*
 * pfs_cell_views.c
 *	  Reading and truncating the cells of counted objects that two groups of SQL's tables show.
 *
 * Separate from what is read of each kind of them besides (pfs_rel_read.c, pfs_program_read.c).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_shared.h"
#include "pfs_cell_views.h"

static inline PfsSharedCell *
cells_of(const PfsCountedKind *of, const void *record)
{
	return (PfsSharedCell *) ((char *) record + of->cells);
}

void
pfs_cell_views_read(PfsCountedObjects kind, PfsCellView view, const void *record, PfsTotals *totals)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];
	uint32		n = pfs_shared_pending[kind].kept_for == view ? 2 * of->ncells : of->ncells;

	for (uint32 i = 0; i < n; i++)
		pfs_shared_cell_read(&cells_of(of, record)[i], &totals[i % of->ncells]);
}

void
pfs_cell_views_read_pending(const PfsPending *p, PfsTotals *totals)
{
	PfsTotals	counts = pfs_counts_totals(&((const PfsPendingCounts *) p)->counts);

	pfs_totals_add(&totals[p->key], &counts);
}

/* ---- truncation ---- */

typedef struct Truncation
{
	PfsCountedObjects kind;
	uint64		events;			/* that the view loses */
} Truncation;

PfsTotals
pfs_cell_views_take(PfsSharedCell *cell)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(cell, &totals);
	if (totals.count_timed == 0)
	{
		totals.sum = pfs_exchange(&cell->sum_low, 0);
		totals.sum += (PfsTicks) pfs_exchange(&cell->sum_high, 0) << 64;
	}
	return totals;
}

/*
 * Keeps numbers that the view loses for the other view.  The record is named meanwhile, so that it
 * does not become another object's.
 */
static void
keep(Truncation *truncation, uint64 object, uint32 cell, const PfsTotals *totals)
{
	const PfsCountedKind *of = pfs_counted_kinds[truncation->kind];
	void	   *record;

	truncation->events += pfs_totals_count(totals);
	if (pfs_totals_count(totals) == 0 && totals->sum == 0)
		return;
	record = pfs_object_enter(pfs_my_thread, truncation->kind, object);

	/*
	 * Whoever removes the record changes its word and then looks whether it
	 * is named: with a fence on this side, too, one of both sees the other.
	 */
	pfs_fence_seqcst();
	if (record != NULL && pfs_object_is_there(truncation->kind, object))
		pfs_shared_cell_merge(&cells_of(of, record)[of->ncells + cell], totals);
	pfs_object_leave(pfs_my_thread, truncation->kind);
}

static void
keep_pending_cb(const PfsPending *p, void *arg)
{
	PfsTotals	totals = pfs_counts_totals(&((const PfsPendingCounts *) p)->counts);

	keep(arg, p->object, p->key, &totals);
}

/* Drops what is kept, if it is the view's; then keeps all else that there is for the other one. */
uint64
pfs_cell_views_truncate(PfsCountedObjects kind, PfsCellView view, int part, PfsPatience *patience)
{
	const PfsCountedKind *of = pfs_counted_kinds[kind];
	Truncation	truncation = {.kind = kind};
	uint32	   *kept_for = &pfs_shared_pending[kind].kept_for;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; *kept_for == view && pfs_pages_each(*of->objects, &at);)
	{
		for (uint32 i = 0; i < of->ncells; i++)
		{
			PfsTotals	totals = pfs_cell_views_take(&cells_of(of, pfs_pages_record(*of->objects, at.index))[of->ncells + i]);

			truncation.events += pfs_totals_count(&totals);
		}
	}
	pfs_pending_truncate(kind, part, keep_pending_cb, &truncation, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(*of->objects, &at);)
	{
		for (uint32 i = 0; i < of->ncells; i++)
		{
			PfsTotals	totals = pfs_cell_views_take(&cells_of(of, pfs_pages_record(*of->objects, at.index))[i]);

			keep(&truncation, PFS_COUNTED_OBJECT(at.index, at.word), i, &totals);
		}
	}
	*kept_for = view == PFS_VIEW_OF_OBJECTS ? PFS_VIEW_OF_KIND : PFS_VIEW_OF_OBJECTS;
	return truncation.events;
}

/* A process without a thread record cannot name the records in which a truncation keeps numbers. */
void
pfs_cell_views_require_thread(void)
{
	/* In single-user mode nothing has been counted. */
	if (pfs_threads != NULL && pfs_my_thread == NULL && pfs_sizes.threads > 0 && IsUnderPostmaster)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("this session has no place in pfs.threads, which a reset of rows of tables and of programs needs"),
				 errhint("Increase the configuration parameter \"pfs.max_thread_instances\", or use another session.")));
}
