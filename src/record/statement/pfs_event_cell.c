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
 * Returns the thread's cell of an instrument, touched, and its older counters reset;
 * NULL: events do not count for the thread, there is no memory for its cell, or the
 * instrument has none, which add_global() knows, too.
 */
static void *
cell_of(PfsThread *t, PfsFamily family, PfsInstrumentId instrument, uint32 flags)
{
	PfsBlock   *block = &t->cells[family];
	uint32		cell = pfs_instrument_items[instrument].cell;

	if ((flags & PFS_FLAG_THREAD) == 0 || cell >= block->ncells)
		return NULL;
	pfs_summary_look(t, family);
	return pfs_summary_cell(t, family, cell);
}

/*
 * Adds to the server's totals, where nothing is counted by thread (consumer
 * thread_instrumentation is off), or the thread has no cell.
 */
static void
add_global(PfsFamily family, PfsInstrumentId instrument, const void *totals)
{
	uint32		cell = pfs_instrument_items[instrument].cell;

	if (cell < pfs_summary[family].ncells)
		pfs_summary_kinds[family]->merge(pfs_shared_block_touch(&pfs_summary[family].cells, cell), totals);
}

/*
 * Counts a stage where pfs_count_stage() does not: it is untimed, by another timer, or
 * of no thread.  An instrument without a cell is not counted.
 */
void
pfs_count_stage_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	PfsTotals	one = totals_of_one(flags, ticks);
	PfsCell    *cell = cell_of(t, PFS_FAMILY_STAGES, instrument, flags);

	if (cell != NULL)
		add_one(cell, &one);
	else
		add_global(PFS_FAMILY_STAGES, instrument, &one);
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
	PfsStatementCell *cell = cell_of(t, PFS_FAMILY_STATEMENTS, instrument, flags);

	if (cell != NULL)
	{
		add_one(&cell->time, &one);
		pfs_counters_add(cell->n, n);
		if (one.count_timed != 0)
			pfs_count_statement_time(t, one.max);
	}
	else
	{
		PfsStatementTotals totals = {.time = one};

		for (int i = 0; i < PFS_NUM_COUNTERS; i++)
			totals.n[i] = n[i];
		add_global(PFS_FAMILY_STATEMENTS, instrument, &totals);
		if (one.count_timed != 0)
			pfs_summary_add_to_server(PFS_FAMILY_STATEMENTS, 0, pfs_histogram_bucket(one.max), 1);
	}
}

/*
 * Counts a transaction where pfs_count_transaction() does not, as for stages.  In the
 * server's totals it is counted twice, for all and for its kind; a thread counts the
 * two kinds, and readers add them up.
 */
void
pfs_count_transaction_unusual(PfsThread *t, uint32 flags, uint64 ticks, bool read_only)
{
	PfsTotals	one = totals_of_one(flags, ticks);
	PfsTransactionCell *cell = cell_of(t, PFS_FAMILY_TRANSACTIONS, pfs_transaction_instrument, flags);

	if (cell != NULL)
		add_one(read_only ? &cell->read_only : &cell->read_write, &one);
	else
	{
		PfsTransactionTotals totals = {0};

		totals.parts[PFS_TRANSACTIONS_ALL] = one;
		totals.parts[read_only ? PFS_TRANSACTIONS_READ_ONLY : PFS_TRANSACTIONS_READ_WRITE] = one;
		add_global(PFS_FAMILY_TRANSACTIONS, pfs_transaction_instrument, &totals);
	}
}

/* ---- one statement, for what many processes add to ---- */

/* Any process: adds to one counter. */
void
pfs_shared_statement_add_one(PfsSharedStatementCell *to, PfsCounter i, uint64 value)
{
	if (pfs_add_relaxed(&to->low[i], value) + value < value)
		pfs_add_relaxed(&to->high[i], 1);
}

static pg_noinline void
add_rare(PfsSharedStatementCell *to, const uint64 *rare)
{
	for (int i = 0; i < PFS_NUM_RARE; i++)
	{
		if (rare[i] != 0)
			pfs_shared_statement_add_one(to, PFS_N_RARE + i, rare[i]);
	}
}

/*
 * Any process: adds one statement's counters, but for its time.  Those that many statements have are
 * looked at one by one, the others all at once.
 */
void
pfs_shared_statement_add(PfsSharedStatementCell *to, const uint64 *n, const uint64 *rare, uint64 memory)
{
#pragma GCC unroll 6
	for (int i = 0; i < PFS_N_RARE; i++)
	{
		if (n[i] != 0)
			pfs_shared_statement_add_one(to, i, n[i]);
	}
	if (rare != NULL)
		add_rare(to, rare);
	if (memory != 0)
		pfs_raise_to(&to->memory, memory);
}

/* ---- statements ---- */

#define statement_is_empty pfs_plain_is_empty

static void
statement_add(void *totals, const void *cell)
{
	PfsStatementTotals *to = totals;
	const PfsStatementCell *from = cell;

	pfs_totals_add_cell(&to->time, &from->time);
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

	pfs_cell_clear(&c->time);
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

	pfs_shared_cell_merge(&to->time, &from->time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		pfs_shared_sum_add(&to->low[i], &to->high[i], from->n[i]);
	pfs_raise_to(&to->memory, from->memory);
	pfs_add_relaxed(&to->plans.generic, from->plans.generic);
	pfs_add_relaxed(&to->plans.custom, from->plans.custom);
}

/*
 * Adds a shared cell to private sums.  A carry may be missing from the upper word for a
 * moment, in which the sum is too small.
 */
static void
statement_read(const void *shared, void *totals)
{
	const PfsSharedStatementCell *from = shared;
	PfsStatementTotals *to = totals;

	pfs_shared_cell_read(&from->time, &to->time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
		to->n[i] += (PfsTicks) pfs_load_relaxed(&from->high[i]) << 64 | pfs_load_relaxed(&from->low[i]);
	to->memory = Max(to->memory, pfs_load_relaxed(&from->memory));
	to->plans.generic += pfs_load_relaxed(&from->plans.generic);
	to->plans.custom += pfs_load_relaxed(&from->plans.custom);
}

/*
 * Takes a shared cell's counters away and adds them to private sums, for a truncation.
 * Each word is taken by an exchange, so no addition is lost: what comes later is of the
 * next period.
 */
static void
statement_take(void *shared, void *totals)
{
	PfsSharedStatementCell *from = shared;
	PfsStatementTotals *to = totals;
	uint64		memory = pfs_exchange(&from->memory, 0);

	pfs_shared_cell_take(&from->time, &to->time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
	{
		to->n[i] += (PfsTicks) pfs_exchange(&from->low[i], 0);
		to->n[i] += (PfsTicks) pfs_exchange(&from->high[i], 0) << 64;
	}
	to->memory = Max(to->memory, memory);
	to->plans.generic += pfs_exchange(&from->plans.generic, 0);
	to->plans.custom += pfs_exchange(&from->plans.custom, 0);
}

/* ---- transactions ---- */

static bool
transaction_is_empty(const void *cell)
{
	const PfsTransactionCell *c = cell;

	return pfs_plain_is_empty(&c->read_write) && pfs_plain_is_empty(&c->read_only);
}

static void
transaction_add(void *totals, const void *cell)
{
	PfsTransactionTotals *to = totals;
	const PfsTransactionCell *from = cell;

	pfs_totals_add_cell(&to->parts[PFS_TRANSACTIONS_ALL], &from->read_write);
	pfs_totals_add_cell(&to->parts[PFS_TRANSACTIONS_ALL], &from->read_only);
	pfs_totals_add_cell(&to->parts[PFS_TRANSACTIONS_READ_WRITE], &from->read_write);
	pfs_totals_add_cell(&to->parts[PFS_TRANSACTIONS_READ_ONLY], &from->read_only);
}

static void
transaction_clear_going(void *cell)
{
	PfsTransactionCell *c = cell;

	pfs_cell_clear(&c->read_write);
	pfs_cell_clear(&c->read_only);
}

static void
transaction_merge(void *shared, const void *totals)
{
	PfsSharedTransactionCell *to = shared;
	const PfsTransactionTotals *from = totals;

	for (int i = 0; i < PFS_NUM_TRANSACTION_PARTS; i++)
		pfs_shared_cell_merge(&to->parts[i], &from->parts[i]);
}

static void
transaction_read(const void *shared, void *totals)
{
	const PfsSharedTransactionCell *from = shared;
	PfsTransactionTotals *to = totals;

	for (int i = 0; i < PFS_NUM_TRANSACTION_PARTS; i++)
		pfs_shared_cell_read(&from->parts[i], &to->parts[i]);
}

static void
transaction_take(void *shared, void *totals)
{
	PfsSharedTransactionCell *from = shared;
	PfsTransactionTotals *to = totals;

	for (int i = 0; i < PFS_NUM_TRANSACTION_PARTS; i++)
		pfs_shared_cell_take(&from->parts[i], &to->parts[i]);
}

/* ---- the histogram of all statements ---- */

static uint32 *
statement_next_buckets(const PfsThread *t, uint32 *i)
{
	return *i == 0 ? (uint32 *) t->statement_buckets : NULL;
}

/* ---- the families ---- */

/*
 * Each kind's cell begins with the counts of all events, and so do its sums.  does: what its functions
 * begin with; histogram: the name of that table, or NULL.
 */
#define KIND(does, Cell, Shared, Totals, words, histogram) \
	.tables = PFS_SUMMARY_TABLES("events_" words "_summary", "event_name", histogram), \
	.cell_size = sizeof(Cell), \
	.read_size = sizeof(Cell), \
	.shared_size = sizeof(Shared), \
	.totals_size = sizeof(Totals), \
	.lock_offset = offsetof(PfsThread, seq), \
	.is_empty = does##_is_empty, \
	.add = does##_add, \
	.add_going = does##_add, \
	.clear_going = does##_clear_going, \
	.merge = does##_merge, \
	.read = does##_read, \
	.take = does##_take, \
	.count = pfs_plain_count, \
	.container = "events_" words "_summary_global"

const PfsSummaryKind pfs_stage_kind = {
	KIND(pfs_plain, PfsCell, PfsSharedCell, PfsTotals, "stages", NULL),
	.ncells = STAGE_CELLS
};

const PfsSummaryKind pfs_transaction_kind = {
	KIND(transaction, PfsTransactionCell, PfsSharedTransactionCell, PfsTransactionTotals, "transactions", NULL),
	.ncells = 1
};

const PfsSummaryKind pfs_statement_kind = {
	KIND(statement, PfsStatementCell, PfsSharedStatementCell, PfsStatementTotals, "statements",
		 "events_statements_histogram_global"),
	.ncells = STATEMENT_CELLS,
	.chunks = &pfs_thread_counters,
	.per_chunk = PFS_COUNTERS_CHUNK / sizeof(PfsStatementCell),
	.next_buckets = statement_next_buckets,
	.one_histogram = true
};
