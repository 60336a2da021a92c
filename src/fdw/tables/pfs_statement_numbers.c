/*
 * pfs_statement_numbers.c
 *	  The columns of what statements count.
 */
#include "postgres.h"

#include "pfs_statement_numbers.h"
#include "pfs_value.h"

/* How a number is shown. */
typedef enum Unit
{
	COUNT,						/* bigint */
	BYTES,						/* numeric */
	TICKS,						/* numeric, picoseconds */
	NANOSECONDS,				/* the same */
} Unit;

static const Unit units[PFS_NUM_NUMBERS] = {
	[PFS_N_LOCK_TIME] = TICKS,
	[PFS_N_PLAN_TIME] = TICKS,
	[PFS_N_EXEC_TIME] = TICKS,
	[PFS_N_CPU_TIME] = NANOSECONDS,
	[PFS_N_WAL_BYTES] = BYTES,
};

Datum
pfs_statement_number_datum(PfsNumber number, unsigned __int128 value)
{
	switch (units[number])
	{
		case TICKS:
			return NumericGetDatum(pfs_ps_to_numeric(pfs_ticks_to_ps(pfs_timer_default(), value)));
		case NANOSECONDS:
			return NumericGetDatum(pfs_ps_to_numeric((PfsPicoseconds) value * 1000));
		case BYTES:
			return NumericGetDatum(pfs_ps_to_numeric(value));
		default:
			return Int64GetDatum((int64) value);
	}
}

/* Two numbers of local buffers are not shown. */
static const PfsNumber sums[] = {
	PFS_N_LOCK_TIME, PFS_N_PLAN_TIME, PFS_N_EXEC_TIME, PFS_N_CPU_TIME, PFS_N_ERRORS, PFS_N_WARNINGS,
	PFS_N_ROWS_AFFECTED, PFS_N_ROWS_SENT, PFS_N_SHARED_BLKS_HIT, PFS_N_SHARED_BLKS_READ,
	PFS_N_SHARED_BLKS_DIRTIED, PFS_N_SHARED_BLKS_WRITTEN, PFS_N_LOCAL_BLKS_READ,
	PFS_N_LOCAL_BLKS_WRITTEN, PFS_N_TEMP_BLKS_READ, PFS_N_TEMP_BLKS_WRITTEN, PFS_N_WAL_RECORDS,
	PFS_N_WAL_FPI, PFS_N_WAL_BYTES, PFS_N_PARALLEL_WORKERS,
};

StaticAssertDecl(lengthof(sums) == PFS_STATEMENT_SUM_NCOLUMNS - 1, "the maximum is behind them");

Datum
pfs_statement_memory_datum(uint64 memory, bool *isnull)
{
	return memory == 0 ? pfs_null(isnull) : Int64GetDatum((int64) (memory - 1));
}

Datum
pfs_statement_sum_get(const PfsStatementTotals *totals, int column, bool *isnull)
{
	return column < lengthof(sums) ? pfs_statement_number_datum(sums[column], totals->n[sums[column]])
		: pfs_statement_memory_datum(totals->memory, isnull);
}
