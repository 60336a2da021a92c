/*
 * pfs_tw.c
 *	  The values of the columns that every summary has.
 */
#include "postgres.h"

#include "pfs_tw.h"
#include "pfs_value.h"

static Datum
time_datum(PfsTicks ticks)
{
	return NumericGetDatum(pfs_ps_to_numeric(pfs_ticks_to_ps(pfs_timer_default(), ticks)));
}

Datum
pfs_tw_get(const PfsTotals *totals, PfsTw what)
{
	bool		timed = totals->count_timed > 0;

	switch (what)
	{
		case PFS_TW_COUNT_STAR:
			return Int64GetDatum((int64) pfs_totals_count(totals));
		case PFS_TW_COUNT_TIMED:
			return Int64GetDatum((int64) totals->count_timed);
		case PFS_TW_SUM:
			return time_datum(timed ? totals->sum : 0);
		case PFS_TW_MIN:
			return time_datum(timed ? totals->min : 0);
		case PFS_TW_MAX:
			return time_datum(timed ? totals->max : 0);
		case PFS_TW_AVG:
			break;
	}
	/* Of the picoseconds, as they are shown. */
	return NumericGetDatum(pfs_ps_to_numeric(timed ? pfs_ticks_to_ps(pfs_timer_default(), totals->sum) /
											 totals->count_timed : 0));
}

Datum
pfs_calls_get(const PfsTotals *parts, const uint64 *bytes, int column)
{
	PfsTotals	all = {0};
	int			i = column - PFS_CALLS_PART(0);

	if (column == PFS_CALLS_BYTES_READ)
		return NumericGetDatum(pfs_ps_to_numeric(bytes[PFS_CALLS_READ]));
	if (column == PFS_CALLS_BYTES_WRITE)
		return NumericGetDatum(pfs_ps_to_numeric(bytes[PFS_CALLS_WRITE]));
	if (i >= 0)
		return pfs_tw_get(&parts[i / PFS_TW_PART_NCOLUMNS], pfs_tw_of_part(i % PFS_TW_PART_NCOLUMNS));
	pfs_calls_add(&all, parts);
	return pfs_tw_get(&all, column);
}
