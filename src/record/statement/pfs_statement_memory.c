/*
 * pfs_statement_memory.c
 *	  The most memory that a session had in use while a statement was open.
 *
 * The thread's high-water mark (pfs_memory_total.h) is the most that was in use since
 * the last begin or end of a statement.  Each begin and end adds it to the open
 * statements' spans and begins it anew, so that an allocation never asks which
 * statement it belongs to.  Statements need not be nested for this, and they end in any
 * order: a cursor stays open while the statement that opened it ends, and others come
 * and go.
 *
 * Separate from pfs_statement_nest.c, as most statements do not count memory, and it is a
 * maximum and not a sum.  Where it is stored for a statement it is one more than the bytes
 * are; 0: not counted.
 */
#include "postgres.h"

#include "pfs_memory_counted.h"
#include "pfs_memory_total.h"
#include "pfs_statement_open.h"

/* Spans of the open statements, top level or not, that count memory. */
static PfsPeaks peaks;

/* Opens the span of a statement that begins. */
void
pfs_statement_memory_begin(PfsThread *t, PfsStatement *s)
{
	if (unlikely(pfs_memory_is_stale()))
		pfs_memory_sync(t);
	/* What a login has taken so far is not in the record yet. */
	if (!pfs_memory_is_counted || unlikely(!t->memory.has_levels))
		return;
	pfs_peaks_add(&peaks, pfs_memory_total_next(t));
	s->counts |= PFS_COUNTS_MEMORY;
	pfs_span_begin(&peaks, &s->memory_span);
}

/* Opens the span of a plain statement that the general code takes over: what was in use since its begin is in no span yet. */
void
pfs_statement_memory_left(PfsStatement *s)
{
	s->counts |= PFS_COUNTS_MEMORY;
	pfs_span_begin(&peaks, &s->memory_span);
}

/* Closes the span of a statement that ends: the most that was added to it is its peak. */
void
pfs_statement_memory_end(PfsThread *t, PfsStatement *s)
{
	pfs_peaks_add(&peaks, pfs_memory_total_next(t));
	s->memory = pfs_span_end(&peaks, &s->memory_span) + 1;
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
