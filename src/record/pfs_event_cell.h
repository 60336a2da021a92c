/*
 * pfs_event_cell.h
 *	  Counts of stages, statements and transactions: of one thread and one
 *	  instrument, above threads, and private sums.
 *
 * A stage's are those of a wait.  Statements have their numbers beside, and
 * transactions the same counts again for those that may write and those that
 * may not.
 */
#ifndef PFS_EVENT_CELL_H
#define PFS_EVENT_CELL_H

#include "pfs_statement.h"
#include "pfs_summary.h"

typedef struct PfsStatementCell
{
	PfsCell		time;
	uint64		n[PFS_NUM_NUMBERS];
} PfsStatementCell;

typedef struct PfsSharedStatementCell
{
	PfsSharedCell time;
	uint64		low[PFS_NUM_NUMBERS];	/* adders carry into high */
	uint64		high[PFS_NUM_NUMBERS];
} PfsSharedStatementCell;

typedef struct PfsStatementTotals
{
	PfsTotals	time;
	PfsTicks	n[PFS_NUM_NUMBERS];
} PfsStatementTotals;

/* What is counted of transactions three times. */
typedef enum PfsTransactionPart
{
	PFS_TRANSACTIONS_ALL,
	PFS_TRANSACTIONS_READ_WRITE,
	PFS_TRANSACTIONS_READ_ONLY,
} PfsTransactionPart;

#define PFS_NUM_TRANSACTION_PARTS (PFS_TRANSACTIONS_READ_ONLY + 1)

typedef struct PfsTransactionCell
{
	PfsCell		parts[PFS_NUM_TRANSACTION_PARTS];
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

/* ---- owner of a thread, inside a change: one event ---- */

/* Numbers of the family that are older than a truncation go up. */
static inline void
pfs_family_look(PfsThread *t, PfsFamily family)
{
	if (unlikely(pfs_load_relaxed(&pfs_summary[family].generation) != t->summary[family].generation))
		pfs_summary_settle(t, family);
}

/* Ticks are those of the timer in flags.  n: [PFS_NUM_NUMBERS]. */
extern void pfs_count_stage(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks);
extern void pfs_count_statement(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks,
								const uint64 *n);
extern void pfs_count_transaction(PfsThread *t, uint32 flags, uint64 ticks, bool read_only);

#endif							/* PFS_EVENT_CELL_H */
