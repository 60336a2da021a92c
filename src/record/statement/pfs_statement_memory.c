/*
 * pfs_statement_memory.c
 *	  The most memory that a session had in use while a statement was open.
 *
 * The thread's high-water mark (pfs_memory_total.h) is the most that was in use since
 * the last begin or end of a statement.  Each begin and end begins it anew, and adds it to the
 * statement that has begun last of those that are open, so that an allocation never asks which
 * statement it belongs to.  It counts for all others, too, which are older: so a statement's peak is
 * the largest of its own and those of all newer ones, and one that ends leaves its own to the next older one.
 * Statements need not be nested for this, and they end in any order: a cursor stays open while the
 * statement that opened it ends, and others come and go.  Nearly always it is the newest one that ends.
 *
 * Separate from pfs_statement_nest.c, as most statements do not count memory, and it is a
 * maximum and not a sum.  Where it is stored for a statement it is one more than the bytes
 * are; 0: not counted.
 */
#include "postgres.h"

#include "pfs_memory_counted.h"
#include "pfs_memory_total.h"
#include "pfs_statement_open.h"

/* The newest open statement, top level or not, that counts memory; NULL: none does. */
static PfsMemorySpan *newest;

/* Adds what was in use since the last begin or end. */
static void
add_peak(PfsThread *t)
{
	uint64		peak = pfs_memory_total_next(t);

	if (newest != NULL)
		newest->peak = Max(newest->peak, peak);
}

/* Begins the peak of a statement that begins. */
void
pfs_statement_memory_begin(PfsThread *t, PfsStatement *s)
{
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	/* What a login has taken so far is not in the record yet. */
	if (!pfs_memory_is_counted || unlikely(!t->memory.has_levels))
		return;
	add_peak(t);
	pfs_statement_memory_left(s);
}

/* The same of a plain statement that the general code takes over: what was in use since its begin is nobody's yet. */
void
pfs_statement_memory_left(PfsStatement *s)
{
	s->counts |= PFS_COUNTS_MEMORY;
	s->memory_span = (PfsMemorySpan)
	{
		.older = newest
	};
	if (newest != NULL)
		newest->newer = &s->memory_span;
	newest = &s->memory_span;
}

/* Says what the peak of a statement was that ends. */
void
pfs_statement_memory_end(PfsThread *t, PfsStatement *s)
{
	PfsMemorySpan *span = &s->memory_span;
	uint64		peak = 0;

	add_peak(t);
	for (const PfsMemorySpan *newer = span; newer != NULL; newer = newer->newer)
		peak = Max(peak, newer->peak);
	s->memory = peak + 1;
	if (span->older != NULL)
	{
		span->older->newer = span->newer;
		span->older->peak = Max(span->older->peak, span->peak);
	}
	if (span->newer != NULL)
		span->newer->older = span->older;
	else
		newest = span->older;
}

/* Raises the maximum of the cell that a statement with these flags has just been counted in. */
void
pfs_statement_memory_count(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 memory)
{
	uint32		i = pfs_statement_cell(instrument);
	PfsStatementCell *cell = NULL;

	if (i >= pfs_summary[PFS_FAMILY_STATEMENTS].ncells)
		return;
	if ((flags & PFS_FLAG_THREAD) != 0)
		cell = pfs_block_cell(&t->cells[PFS_FAMILY_STATEMENTS], i);
	if (cell != NULL)
		pfs_store_relaxed(&cell->memory, Max(cell->memory, memory));
	else
		pfs_raise_to(&((PfsSharedStatementCell *)
					   pfs_shared_block_cell(&pfs_summary[PFS_FAMILY_STATEMENTS].cells, i))->memory, memory);
}
