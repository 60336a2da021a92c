/*
 * pfs_statement_counters.c
 *	  The values of what statements count.  Events and summaries show the same
 *	  counters in the same units, so both come here.
 */
#include "postgres.h"

#include "pfs_statement_counters.h"
#include "pfs_value.h"

/* The unit in which a counter is kept, and the type of its column. */
typedef enum Unit
{
	COUNT,						/* bigint */
	BYTES,						/* numeric */
	TICKS,						/* numeric, picoseconds */
	NANOSECONDS,				/* numeric, picoseconds */
} Unit;

static const Unit units[PFS_NUM_COUNTERS] = {
	[PFS_N_LOCK_TIME] = TICKS,
	[PFS_N_PLAN_TIME] = TICKS,
	[PFS_N_EXEC_TIME] = TICKS,
	[PFS_N_CPU_TIME] = NANOSECONDS,
	[PFS_N_WAL_BYTES] = BYTES,
};

/*
 * pfs_statement_counter_datum returns the value of a statement's counter, or a sum
 * of such values, in the unit and type that its column has.
 */
Datum
pfs_statement_counter_datum(PfsCounter counter, unsigned __int128 value)
{
	switch (units[counter])
	{
		case TICKS:
			return pfs_ticks_datum(value);
		case NANOSECONDS:
			return pfs_sum_datum((PfsPicoseconds) value * 1000);
		case BYTES:
			return pfs_sum_datum(value);
		default:
			return Int64GetDatum((int64) value);
	}
}

Datum
pfs_statement_memory_datum(uint64 memory, bool *isnull)
{
	return memory == 0 ? pfs_null(isnull) : Int64GetDatum((int64) (memory - 1));
}
