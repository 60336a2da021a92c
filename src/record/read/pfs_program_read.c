/*
 * pfs_program_read.c
 *	  Readers and truncation of programs; pfs_program.c has the writers' side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_program.h"
#include "pfs_cell_views.h"

typedef struct Reader
{
	PfsCellView view;
	PfsProgramEmit emit;
	void	   *arg;
	PfsProgramRow row;			/* the one that is made now */
} Reader;

static void
add_pending_cb(const PfsPending *p, void *arg)
{
	Reader	   *reader = arg;

	if (pfs_pending_counts(pfs_shared_pending[PFS_COUNTED_PROGRAMS].truncated, p, PFS_PROGRAM_CALLS))
		pfs_cell_views_read_pending(p, &reader->row.calls);
	if (reader->view == PFS_VIEW_OF_KIND &&
		pfs_pending_counts(pfs_shared_pending[PFS_COUNTED_PROGRAMS].truncated, p, PFS_PROGRAM_STATEMENTS))
		pfs_kind_add(&pfs_statement_kind, &reader->row.statements, &((const PfsPendingProgram *) p)->statements, PFS_SHARE_ALL);
}

/* Hands on all programs that have counted something; one that is removed meanwhile is left out. */
static void
read_programs(PfsPatience *patience, void *arg)
{
	Reader	   *reader = arg;
	PfsProgramRow *row = &reader->row;
	PfsPendingCopies pending;

	pfs_pending_copy_all(PFS_COUNTED_PROGRAMS, PFS_PENDING_OBJECT, &pending, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
	{
		PfsProgram	program;
		uint64		now;

		CHECK_FOR_INTERRUPTS();
		if (!pfs_pages_copy(pfs_programs, at.index, 0, &program, sizeof(program), &now))
			continue;
		*row = (PfsProgramRow)
		{
			.key = program.key
		};
		pfs_cell_views_read(PFS_COUNTED_PROGRAMS, reader->view, &program, &row->calls);
		if (reader->view == PFS_VIEW_OF_KIND)
			pfs_kind_read(&pfs_statement_kind, &program.statements, &row->statements, false);
		pfs_pending_of_object(&pending, PFS_COUNTED_OBJECT(at.index, now), add_pending_cb, reader);
		if (pfs_totals_count(&row->calls) + pfs_totals_count(&row->statements.time) > 0)
			reader->emit(row, reader->arg);
	}
	pfree(pending.items);
}

void
pfs_programs_read(PfsCellView view, PfsProgramEmit emit, void *arg)
{
	Reader		reader = {.view = view, .emit = emit, .arg = arg};

	/* What was found to have gone by the reading before. */
	pfs_objects_free_removed();
	pfs_pending_work(PFS_COUNTED_PROGRAMS, false, read_programs, &reader);
}

/* ---- truncation ---- */

typedef struct Truncation
{
	PfsCellView view;
	int64		calls;			/* that the view loses */
} Truncation;

/* Calls that the other view shows, too, are kept for that; statements are one view's alone. */
static void
truncate_programs(PfsPatience *patience, void *arg)
{
	Truncation *truncation = arg;
	PfsStatementTotals statements = {0};

	truncation->calls = (int64) pfs_cell_views_truncate(PFS_COUNTED_PROGRAMS, truncation->view, PFS_PROGRAM_CALLS, patience);
	if (truncation->view != PFS_VIEW_OF_KIND)
		return;
	pfs_pending_truncate(PFS_COUNTED_PROGRAMS, PFS_PROGRAM_STATEMENTS, NULL, NULL, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
		pfs_kind_read(&pfs_statement_kind, &((PfsProgram *) pfs_pages_record(pfs_programs, at.index))->statements, &statements, true);
}

int64
pfs_programs_truncate(PfsCellView view)
{
	Truncation	truncation = {.view = view};

	pfs_pending_work(PFS_COUNTED_PROGRAMS, true, truncate_programs, &truncation);
	return truncation.calls;
}
