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
