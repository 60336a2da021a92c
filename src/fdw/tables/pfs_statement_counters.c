/*
 * pfs_statement_counters.c
 *	  The values of what statements count.  Events and summaries show the same
 *	  counters in the same units, so both come here.
 */
#include "postgres.h"

#include "pfs_statement_counters.h"
#include "pfs_value.h"

#define UNIT(counter, name, unit) [counter] = unit,

static const PfsCounterUnit units[PFS_NUM_COUNTERS] = {PFS_COUNTERS(UNIT)};

/*
 * pfs_statement_counter_datum returns the value of a statement's counter, or a sum
 * of such values, in the unit and type that its column has.
 */
Datum
pfs_statement_counter_datum(PfsCounter counter, unsigned __int128 value)
{
	switch (units[counter])
	{
		case PFS_UNIT_TICKS:
			return pfs_ticks_datum(value);
		case PFS_UNIT_NANOSECONDS:
			return pfs_sum_datum((PfsPicoseconds) value * 1000);
		case PFS_UNIT_BYTES:
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
