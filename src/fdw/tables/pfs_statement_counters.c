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

PfsPicoseconds
pfs_statement_counter(PfsCounter counter, unsigned __int128 value)
{
	switch (units[counter])
	{
		case PFS_UNIT_TICKS:
			return pfs_ticks_as_ps(value);
		case PFS_UNIT_NANOSECONDS:
			return (PfsPicoseconds) value * 1000;
		default:
			return value;
	}
}
