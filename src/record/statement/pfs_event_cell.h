/*
 * pfs_event_cell.h
 *	  Counts of stages, statements and transactions: of one thread and one
 *	  instrument, above threads, and private sums.
 *
 * A stage's are those of a wait.  Statements have their counters beside, and
 * transactions counts for those that may write and those that may not.
 *
 * Separate from pfs_statement.h, as events can be recorded without being counted, and readers
 * of sums need no event.
 */
#ifndef PFS_EVENT_CELL_H
#define PFS_EVENT_CELL_H

#include "pfs_statement.h"
#include "pfs_summary_own.h"

typedef struct PfsStatementCell
{
	PfsCell		time;
	uint64		n[PFS_NUM_COUNTERS];
	uint64		memory;			/* maximum; see pfs_statement_memory.c */
	uint64		unused;
} PfsStatementCell;

/* As in an event: in a thread's block aligned, in a reader's copy perhaps not. */
StaticAssertDecl(offsetof(PfsStatementCell, n) % 16 == 0, "pairs of counters are aligned");
StaticAssertDecl(sizeof(PfsStatementCell) % 16 == 0, "cells lie behind each other");

/* Executions by the origin of their plan, of digests only. */
typedef struct PfsPlanCounts
{
	uint64		generic;
	uint64		custom;
} PfsPlanCounts;

typedef struct PfsSharedStatementCell
{
	PfsSharedCell time;
	uint64		low[PFS_NUM_COUNTERS];	/* adders carry into high */
	uint64		high[PFS_NUM_COUNTERS];
	uint64		memory;			/* maximum */
	PfsPlanCounts plans;
} PfsSharedStatementCell;

typedef struct PfsStatementTotals
{
	PfsTotals	time;
	PfsTicks	n[PFS_NUM_COUNTERS];
	uint64		memory;			/* maximum */
	PfsPlanCounts plans;
} PfsStatementTotals;

/* A transaction is counted in one of these parts; readers add them up. */
typedef enum PfsTransactionPart
{
	PFS_TRANSACTIONS_READ_WRITE,
	PFS_TRANSACTIONS_READ_ONLY,
} PfsTransactionPart;

#define PFS_NUM_TRANSACTION_PARTS (PFS_TRANSACTIONS_READ_ONLY + 1)

typedef struct PfsTransactionCell
{
	PfsCell		read_write;
	PfsCell		read_only;
} PfsTransactionCell;

typedef struct PfsSharedTransactionCell
{
	PfsSharedCell parts[PFS_NUM_TRANSACTION_PARTS];
} PfsSharedTransactionCell;

typedef struct PfsTransactionTotals
{
	PfsTotals	parts[PFS_NUM_TRANSACTION_PARTS];
} PfsTransactionTotals;

/* One for each of the families. */
extern const PfsSummaryKind pfs_stage_kind;
extern const PfsSummaryKind pfs_statement_kind;
extern const PfsSummaryKind pfs_transaction_kind;

/* ---- owner of a thread, inside a write section: one event ---- */

/* Is it counted by its thread, in ticks of the default timer?  Nearly all are. */
static pg_attribute_always_inline bool
pfs_is_usual(uint32 flags)
{
	return likely((flags & PFS_FLAGS_USUAL) == pfs_local.usual);
}

StaticAssertDecl(PFS_COUNTERS_CHUNK / sizeof(PfsStatementCell) == 1, "a chunk is one cell of statements");

/*
 * Adds one timed event to a cell of this thread.  Plain stores are enough, as the owner
 * is the only writer and inside a write section; the caller has applied resets and
 * touched the cell.
 */
static pg_attribute_always_inline void
pfs_cell_add_timed(PfsCell *c, uint64 ticks)
{
	/* A cell that was never cleared has zeros. */
	if (unlikely(c->count_timed == 0))
		pfs_store_relaxed(&c->min, ticks);
	pfs_cell_add(c, ticks);
}

/*
 * Slow path: count events that are untimed, of another timer, or of no thread, or that
 * find no memory for the thread's cell.
 */
extern void pfs_count_stage_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks);
extern void pfs_count_statement_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks,
										const uint64 *n);
extern void pfs_count_transaction_unusual(PfsThread *t, uint32 flags, uint64 ticks, bool read_only);

/* The thread's cell of a statement's instrument, which is a chunk of its own; NULL: it has none yet. */
static pg_attribute_always_inline PfsStatementCell *
pfs_own_statement_cell(const PfsThread *t, PfsInstrumentId instrument)
{
	return t->cells[PFS_FAMILY_STATEMENTS].chunks[pfs_statement_cell(instrument)];
}

/* Ticks are those of the timer in flags. */
static pg_attribute_always_inline void
pfs_count_stage(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	if (pfs_is_usual(flags))
	{
		pfs_summary_look(t, PFS_FAMILY_STAGES);
		pfs_cells_add(&t->cells[PFS_FAMILY_STAGES], pfs_stage_cell(instrument), ticks);
	}
	else
		pfs_count_stage_unusual(t, instrument, flags, ticks);
}

/* Counts n statements in a bucket of the thread's histogram.  What its 32 bits cannot hold is the server's. */
static pg_attribute_always_inline void
pfs_count_statement_bucket(PfsThread *t, uint32 i, uint32 n)
{
	uint32	   *bucket = &t->statement_buckets[i];

	pfs_store_relaxed(bucket, *bucket + n);
	if (unlikely(*bucket < n))
		pfs_summary_add_to_server(PFS_FAMILY_STATEMENTS, 0, i, UINT64_C(1) << 32);
}

static pg_attribute_always_inline void
pfs_count_statement_time(PfsThread *t, uint64 ticks)
{
	pfs_count_statement_bucket(t, pfs_histogram_bucket(ticks), 1);
}

/*
 * Counts a statement that ends, in the thread's cell and histogram.  n:
 * [PFS_NUM_COUNTERS].  Ticks are those of the timer in flags.
 */
static pg_attribute_always_inline void
pfs_count_statement(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks, const uint64 *n)
{
	uint32		i = pfs_statement_cell(instrument);
	PfsStatementCell *cell;

	if (unlikely(!pfs_is_usual(flags)))
	{
		pfs_count_statement_unusual(t, instrument, flags, ticks, n);
		return;
	}
	cell = pfs_own_statement_cell(t, instrument);
	pfs_summary_look(t, PFS_FAMILY_STATEMENTS);
	if (unlikely(cell == NULL || cell->time.count_timed == 0))
		cell = pfs_summary_cell(t, PFS_FAMILY_STATEMENTS, i);
	if (unlikely(cell == NULL))
	{
		pfs_count_statement_unusual(t, instrument, flags & ~(uint32) PFS_FLAG_THREAD, ticks, n);
		return;
	}
	pfs_cell_add_timed(&cell->time, ticks);
	/* Readers look on, and look again. */
	pfs_counters_add(cell->n, n);
	pfs_count_statement_time(t, ticks);
}

/* Adds a cell to a copy of another one; or, by the owner and inside a write section, to the thread's own. */
extern void pfs_statement_cell_join(void *to, const void *from);

/* Owner, inside a write section: adds what has been counted elsewhere for the thread to its cell of the instrument, which it has. */
extern void pfs_statement_cell_add(PfsThread *t, PfsInstrumentId instrument, const PfsStatementCell *from);

/*
 * Counts a transaction that ends, in the thread's cell of its kind; unusual ones
 * elsewhere.  Ticks are those of the timer in flags.  A cell of transactions has two parts,
 * and either may be the first that is used.
 */
static pg_attribute_always_inline void
pfs_count_transaction(PfsThread *t, uint32 flags, uint64 ticks, bool read_only)
{
	/* There is one instrument. */
	PfsTransactionCell *cell = t->cells[PFS_FAMILY_TRANSACTIONS].cells;
	PfsCell    *part = read_only ? &cell->read_only : &cell->read_write;

	if (unlikely(!pfs_is_usual(flags)))
	{
		pfs_count_transaction_unusual(t, flags, ticks, read_only);
		return;
	}
	pfs_summary_look(t, PFS_FAMILY_TRANSACTIONS);
	if (unlikely(part->count_timed == 0))
		pfs_block_touch(&t->cells[PFS_FAMILY_TRANSACTIONS], 0);
	pfs_cell_add_timed(part, ticks);
}

#endif							/* PFS_EVENT_CELL_H */
