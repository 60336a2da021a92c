/*
 * pfs_program_read.c
 *	  Readers and truncation of programs; pfs_program.c has the writers' side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_patience.h"
#include "pfs_program.h"

/*
 * Hands a copy of each program that has counted something to emit, which may raise errors: the
 * record is not pinned any more.
 */
void
pfs_programs_read(PfsProgramView view, PfsProgramEmit emit, void *arg)
{
	pfs_turn_take(PFS_TURN_PROGRAMS, false);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
	{
		PfsProgramRow row = {0};
		const PfsProgram *p = pfs_pages_record(pfs_programs, at.index);

		CHECK_FOR_INTERRUPTS();
		if (!pfs_program_enter(at.index, at.word))
			continue;
		row.key = p->key;
		pfs_shared_cell_read(&p->calls, &row.calls);
		if (*pfs_program_kept_for == view)
			pfs_shared_cell_read(&p->kept, &row.calls);
		if (view == PFS_PROGRAM_OF_STATEMENTS)
			pfs_statement_kind.read(&p->statements, &row.statements);
		pfs_program_leave(at.index, at.word);
		if (pfs_totals_count(&row.calls) + pfs_totals_count(&row.statements.time) > 0)
			emit(&row, arg);
	}
	pfs_turn_give(PFS_TURN_PROGRAMS, false);
}

/*
 * Takes the counters that one view shows, word by word, so that what is added meanwhile is either
 * taken or of the next period; calls that the other view shows, too, are kept for that.  Returns
 * the calls that this one has lost.
 */
int64
pfs_programs_truncate(PfsProgramView view)
{
	uint64		taken = 0;
	bool		drops_kept;

	pfs_turn_take(PFS_TURN_PROGRAMS, true);
	drops_kept = *pfs_program_kept_for == view;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_programs, &at);)
	{
		PfsProgram *p = pfs_pages_record(pfs_programs, at.index);
		PfsStatementTotals statements = {0};
		PfsTotals	kept = {0};
		PfsTotals	calls = {0};

		if (!pfs_program_enter(at.index, at.word))
			continue;
		if (drops_kept)
			pfs_shared_cell_take(&p->kept, &kept);
		pfs_shared_cell_take(&p->calls, &calls);
		pfs_shared_cell_merge(&p->kept, &calls);
		if (view == PFS_PROGRAM_OF_STATEMENTS)
			pfs_statement_kind.take(&p->statements, &statements);
		pfs_program_leave(at.index, at.word);
		taken += pfs_totals_count(&kept) + pfs_totals_count(&calls);
	}
	*pfs_program_kept_for = view == PFS_PROGRAM_OF_STATEMENTS ? PFS_PROGRAM_OF_OBJECTS : PFS_PROGRAM_OF_STATEMENTS;
	pfs_turn_give(PFS_TURN_PROGRAMS, true);
	return (int64) taken;
}
