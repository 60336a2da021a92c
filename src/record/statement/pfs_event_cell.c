/*
 * pfs_event_cell.c
 *	  Counts of stages, statements and transactions: events that the inline
 *	  functions of the header leave to this file, and how cells become sums.
 *
 * Separate from the events themselves, as readers and truncators of the summaries need
 * nothing else of them.
 */
#include "postgres.h"

#include "pfs_event_cell.h"
#include "pfs_summary_level.h"

/* More than any version has stages, and command tags and other statements. */
#define STAGE_CELLS			64
#define STATEMENT_CELLS		256

/* ---- one event, where it is not as nearly all are ---- */

/* Returns what one event is in a sum.  Ticks, of the timer in flags, become those of the default timer. */
static PfsTotals
totals_of_one(uint32 flags, uint64 ticks)
{
	bool		timed = (flags & PFS_FLAG_TIMED) != 0;
	uint64		of_default = timed ? pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks) : 0;
	PfsTotals	one = {timed, !timed, of_default, of_default, of_default};

	return one;
}

static void
add_one(PfsCell *c, const PfsTotals *one)
{
	if (one->count_timed != 0)
		pfs_cell_add_timed(c, one->max);
	else
		pfs_store_relaxed(&c->count_untimed, c->count_untimed + 1);
}

/*
 * Counts an event that is not as nearly all are: by its thread, or in the server's totals, where nothing is counted by
 * thread (consumer thread_instrumentation is off) or there is no memory for the thread's cell.  time: which of its cell's
 * times it is in; n: [PFS_NUM_COUNTERS], of statements.  An instrument without a cell is not counted.  Returns whether
 * the thread has it.
 */
static bool
count_unusual(PfsThread *t, PfsFamily family, PfsInstrumentId instrument, uint32 flags, const PfsTotals *one, uint32 time,
			  const uint64 *n)
{
	uint32		i = pfs_instrument_items[instrument].cell;
	PfsCell    *cell = NULL;

	if ((flags & PFS_FLAG_THREAD) && i < t->cells[family].ncells)
	{
		pfs_summary_look(t, family);
		cell = pfs_summary_cell(t, family, i);
	}
	if (cell != NULL)
	{
		add_one(&cell[time], one);
		if (n != NULL)
			pfs_counters_add(((PfsStatementCell *) cell)->n, n);
		return true;
	}
	if (i < pfs_summary[family].ncells)
	{
		PfsAnyTotals totals = {0};

		((PfsTotals *) &totals)[time] = *one;
		for (int c = 0; n != NULL && c < PFS_NUM_COUNTERS; c++)
			((PfsStatementTotals *) &totals)->n[c] = n[c];
		pfs_kind_merge(pfs_summary_kinds[family], pfs_shared_block_touch(&pfs_summary[family].cells, i), &totals);
	}
	return false;
}

/* Counts a stage where pfs_count_stage() does not: it is untimed, by another timer, or of no thread. */
void
pfs_count_stage_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	PfsTotals	one = totals_of_one(flags, ticks);

	(void) count_unusual(t, PFS_FAMILY_STAGES, instrument, flags, &one, 0, NULL);
}

/*
 * Counts a statement where pfs_count_statement() does not, as for stages.  Only timed
 * ones are in the histogram.
 */
void
pfs_count_statement_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks,
							const uint64 *n)
{
	PfsTotals	one = totals_of_one(flags, ticks);
	bool		by_thread = count_unusual(t, PFS_FAMILY_STATEMENTS, instrument, flags, &one, 0, n);

	if (one.count_timed != 0 && by_thread)
		pfs_count_statement_time(t, one.max);
	else if (one.count_timed != 0)
		pfs_summary_add_to_server(PFS_FAMILY_STATEMENTS, 0, pfs_histogram_bucket(one.max), 1);
}

/* Counts a transaction where pfs_count_transaction() does not, as for stages. */
void
pfs_count_transaction_unusual(PfsThread *t, uint32 flags, uint64 ticks, bool read_only)
{
	PfsTotals	one = totals_of_one(flags, ticks);

	(void) count_unusual(t, PFS_FAMILY_TRANSACTIONS, pfs_transaction_instrument, flags, &one,
						 read_only ? PFS_TRANSACTIONS_READ_ONLY : PFS_TRANSACTIONS_READ_WRITE, NULL);
}

/* ---- statements ---- */

static void
statement_add(void *totals, const void *cell, PfsShare share)
{
	PfsStatementTotals *to = totals;
	const PfsStatementCell *from = cell;

	if ((share & PFS_SHARE_GOES) == 0)
		return;
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		to->n[i] += from->n[i];
	to->memory = Max(to->memory, from->memory);
}

/* Single stores of whole words, as readers of a thread's cell look on. */
void
pfs_statement_cell_join(void *to, const void *from)
{
	PfsStatementCell *sum = to;
	const PfsStatementCell *part = from;

	if (part->time.count_timed != 0)
	{
		bool		first = sum->time.count_timed == 0;

		pfs_store_relaxed(&sum->time.min, first ? part->time.min : Min(sum->time.min, part->time.min));
		pfs_store_relaxed(&sum->time.max, Max(sum->time.max, part->time.max));
	}
	pfs_bump(&sum->time.count_timed, part->time.count_timed);
	pfs_bump(&sum->time.count_untimed, part->time.count_untimed);
	pfs_bump(&sum->time.sum, part->time.sum);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		pfs_bump(&sum->n[i], part->n[i]);
	pfs_store_relaxed(&sum->memory, Max(sum->memory, part->memory));
}

void
pfs_statement_cell_add(PfsThread *t, PfsInstrumentId instrument, const PfsStatementCell *from)
{
	pfs_statement_cell_join(pfs_summary_cell(t, PFS_FAMILY_STATEMENTS, pfs_statement_cell(instrument)), from);
}

static void
statement_clear_going(void *cell)
{
	PfsStatementCell *c = cell;

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		pfs_store_relaxed(&c->n[i], 0);
	pfs_store_relaxed(&c->memory, 0);
}

/* Adds private sums of statements to a shared cell. */
static void
statement_merge(void *shared, const void *totals)
{
	PfsSharedStatementCell *to = shared;
	const PfsStatementTotals *from = totals;

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		pfs_shared_sum_add(&to->low[i], &to->high[i], from->n[i]);
	pfs_raise_to(&to->memory, from->memory);
	pfs_add_relaxed(&to->plans.generic, from->plans.generic);
	pfs_add_relaxed(&to->plans.custom, from->plans.custom);
}

/*
 * Adds a shared cell to private sums.  A carry may be missing from the upper word for a
 * moment, in which the sum is too small.  What is taken for a truncation is taken word by word, so
 * no addition is lost: what comes later is of the next period.
 */
static void
statement_read(void *shared, void *totals, bool take)
{
	PfsSharedStatementCell *from = shared;
	PfsStatementTotals *to = totals;
	uint64		memory = pfs_load_or_take(&from->memory, take);

	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
	{
		to->n[i] += (PfsTicks) pfs_load_or_take(&from->high[i], take) << 64;
		to->n[i] += pfs_load_or_take(&from->low[i], take);
	}
	to->memory = Max(to->memory, memory);
	to->plans.generic += pfs_load_or_take(&from->plans.generic, take);
	to->plans.custom += pfs_load_or_take(&from->plans.custom, take);
}

/* ---- the histogram of all statements ---- */

static uint32 *
statement_next_buckets(const PfsThread *t, uint32 *i)
{
	return *i == 0 ? (uint32 *) t->statement_buckets : NULL;
}

/* ---- the families ---- */

/* histogram: the name of that table, or NULL. */
#define KIND(Cell, Shared, Totals, times, words, histogram) \
	.tables = PFS_SUMMARY_TABLES("events_" words "_summary", "event_name", histogram), \
	.cell_size = sizeof(Cell), \
	.read_size = sizeof(Cell), \
	.shared_size = sizeof(Shared), \
	.totals_size = sizeof(Totals), \
	.lock_offset = offsetof(PfsThread, seq), \
	.ntimes = times, \
	.container = "events_" words "_summary_global"

const PfsSummaryKind pfs_stage_kind = {
	KIND(PfsCell, PfsSharedCell, PfsTotals, 1, "stages", NULL),
	.ncells = STAGE_CELLS
};

const PfsSummaryKind pfs_transaction_kind = {
	KIND(PfsTransactionCell, PfsSharedTransactionCell, PfsTransactionTotals, PFS_NUM_TRANSACTION_PARTS, "transactions",
		 NULL),
	.ncells = 1
};

const PfsSummaryKind pfs_statement_kind = {
	KIND(PfsStatementCell, PfsSharedStatementCell, PfsStatementTotals, 1, "statements",
		 "events_statements_histogram_global"),
	.add = statement_add,
	.clear_going = statement_clear_going,
	.merge = statement_merge,
	.read = statement_read,
	.ncells = STATEMENT_CELLS,
	.chunks = &pfs_thread_counters,
	.per_chunk = PFS_COUNTERS_CHUNK / sizeof(PfsStatementCell),
	.next_buckets = statement_next_buckets,
	.one_histogram = true
};
