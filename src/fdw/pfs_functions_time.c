/*
 * pfs_functions_time.c
 *	  SQL functions about time: timer_now, timer_to_timestamp, format_time.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"
#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "pfs_fdw.h"
#include "pfs_setup.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_timer_now);
PFS_FUNCTION(pfs_timer_to_timestamp);
PFS_FUNCTION(pfs_format_time);

#define PS_PER_MICROSECOND 1000000
/* Further than any timestamp is from now, well inside 64 bits. */
#define MICROSECONDS_MAX 9e18

/* The timer that setup_timers names for the class. */
static PfsTimer
timer_of_class(const char *name)
{
	int			class = pfs_class_by_name(name);

	if (class < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no class of events \"%s\"", name),
				 errhint("The classes are those of pfs.setup_timers: idle, wait, stage, statement, transaction.")));
	return pfs_setup->timer[class];
}

static PfsPicoseconds
read_now(PfsTimer timer)
{
	return pfs_timer_to_ps(timer, pfs_timer_read(timer));
}

Datum
pfs_timer_now(PG_FUNCTION_ARGS)
{
	pfs_require_active();
	PG_RETURN_DATUM(pfs_sum_datum(read_now(timer_of_class(text_to_cstring(PG_GETARG_TEXT_PP(0))))));
}

/*
 * Counted back from now, not forward from the server's start: the clocks' drift
 * then grows with the event's age.
 */
Datum
pfs_timer_to_timestamp(PG_FUNCTION_ARGS)
{
	Datum		age;
	double		rough;
	TimestampTz result;
	PfsTimer	timer;

	pfs_require_active();
	timer = timer_of_class(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	age = DirectFunctionCall2(numeric_sub, pfs_sum_datum(read_now(timer)),
							  PG_GETARG_DATUM(0));
	age = DirectFunctionCall2(numeric_div, age,
							  NumericGetDatum(int64_to_numeric(PS_PER_MICROSECOND)));
	rough = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, age));
	if (isnan(rough) || fabs(rough) >= MICROSECONDS_MAX ||
		pg_sub_s64_overflow(GetCurrentTimestamp(),
							DatumGetInt64(DirectFunctionCall1(numeric_int8, age)), &result) ||
		!IS_VALID_TIMESTAMP(result))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	PG_RETURN_TIMESTAMPTZ(result);
}

/* A time in the largest unit that leaves at least one whole. */
Datum
pfs_format_time(PG_FUNCTION_ARGS)
{
	static const struct
	{
		const char *name;
		double		ps;
	}			units[] =
	{
		{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12},
		{"min", 60e12}, {"h", 3600e12}, {"d", 86400e12},
	};
	double		ps;
	int			unit = 0;

	pfs_require_active();
	ps = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(0)));
	if (isnan(ps))
		PG_RETURN_NULL();
	if (isinf(ps))
		PG_RETURN_TEXT_P(cstring_to_text(ps > 0 ? "Infinity" : "-Infinity"));

	/* Compare what will be printed: 999.999 ns is 1.00 us. */
	for (; unit + 1 < lengthof(units); unit++)
	{
		double		digits = unit == 0 ? 1 : 100;

		if (rint(fabs(ps) / units[unit].ps * digits) / digits < units[unit + 1].ps / units[unit].ps)
			break;
	}
	if (unit == 0)
		PG_RETURN_TEXT_P(cstring_to_text(psprintf("%.0f ps", ps)));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%.2f %s", ps / units[unit].ps, units[unit].name)));
}
