/*
 * pfs_statement_memory.c
 *	  The most memory that a session had in use while a statement was open.
 *
 * The thread's high-water mark (pfs_memory_total.h) is what was in use most since the
 * last begin or end of a statement.  Each begin and end hands it to the newest open
 * statement and begins it anew, so that an allocation never asks for which statement
 * it is.  Open
 * statements are in a list in the order of their begins, top level or not: what
 * any of them had in its time, all older ones had in theirs.  So a statement's
 * peak is the most of its own and all newer ones', and when it ends the next older
 * one gets that.  They need not be nested for this: a cursor stays open while
 * the statement that opened it ends, and others come and go.
 */
#include "postgres.h"

#include "pfs_memory.h"
#include "pfs_statement_memory.h"

/* The newest open one that counts memory; nobody else has it. */
static PFS_NEAR PfsStatement *newest;

/* Hands the high-water mark of the thread to the newest open statement. */
static inline void
take_peak(PfsThread *t)
{
	uint64		peak = pfs_memory_total_next(t);

	if (newest != NULL && peak > newest->memory)
		newest->memory = peak;
}

/* Puts a statement that begins at the end of the list. */
void
pfs_statement_memory_begin(PfsThread *t, PfsStatement *s)
{
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	if (!pfs_memory_is_told)
		return;
	Assert(s != newest);
	take_peak(t);
	s->counts |= PFS_COUNTS_MEMORY;
	s->memory = 0;
	s->older = newest;
	s->newer = NULL;
	if (newest != NULL)
		newest->newer = s;
	newest = s;
}

/*
 * Takes a statement out of the list, with the most that it and all newer ones had; that
 * becomes the next older one's, too.
 */
void
pfs_statement_memory_end(PfsThread *t, PfsStatement *s)
{
	uint64		peak = 0;

	take_peak(t);
	for (const PfsStatement *one = s; one != NULL; one = one->newer)
		peak = Max(peak, one->memory);
	if (s->older != NULL)
	{
		s->older->newer = s->newer;
		s->older->memory = Max(s->older->memory, peak);
	}
	if (s->newer != NULL)
		s->newer->older = s->older;
	else
		newest = s->older;
	s->memory = peak + 1;
}

/* Raises the maximum of the cell that the statement has just been counted in. */
void
pfs_statement_memory_count(PfsThread *t, const PfsStatement *s)
{
	uint32		i = pfs_statement_cell(s->instrument);
	PfsBlock   *block = &t->summary[PFS_FAMILY_STATEMENTS].cells;

	if ((s->flags & PFS_FLAG_THREAD) == 0 && i < pfs_summary[PFS_FAMILY_STATEMENTS].ncells)
		pfs_raise_to(&((PfsSharedStatementCell *)
					   pfs_shared_block_cell(&pfs_summary[PFS_FAMILY_STATEMENTS].cells, i))->memory, s->memory);
	else if ((s->flags & PFS_FLAG_THREAD) != 0 && i < block->ncells)
		pfs_raise_local(&((PfsStatementCell *) pfs_block_cell(block, i))->memory, s->memory);
}
