/*
 * pfs_functions_time.c
 *	  SQL functions about time: timer_now, timer_to_timestamp, format_time, parse_time.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "pfs_fdw.h"
#include "pfs_quote.h"
#include "pfs_setup.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_timer_now);
PFS_FUNCTION(pfs_timer_to_timestamp);
PFS_FUNCTION(pfs_format_time);
PFS_FUNCTION(pfs_parse_time);

#define PS_PER_MICROSECOND 1000000
/* Further than any timestamp is from now, well inside 64 bits. */
#define MICROSECONDS_MAX 9e18
/* Days from which on digits say nothing any more: a million years. */
#define DAYS_MAX 3.65e8

/* The timer that setup_timers names for the class. */
static PfsTimer
timer_of_class(const char *name)
{
	int			class = pfs_class_by_name(name);

	if (class < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no class of events \"%s\"", pfs_quote(name)),
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
	Numeric		timer = PG_GETARG_NUMERIC(0);
	double		ps;
	int			unit = 0;

	pfs_require_active();
	ps = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(timer)));
	if (isnan(ps))
		PG_RETURN_NULL();
	if (numeric_is_inf(timer))
		PG_RETURN_TEXT_P(cstring_to_text(ps > 0 ? "Infinity" : "-Infinity"));
	/* A numeric can be larger than a double. */
	if (fabs(ps) >= DAYS_MAX * units[lengthof(units) - 1].ps)
	{
		Datum		day = NumericGetDatum(int64_to_numeric((int64) units[lengthof(units) - 1].ps));

		timer = DatumGetNumeric(DirectFunctionCall2(numeric_div, NumericGetDatum(timer), day));
		PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s d", numeric_out_sci(timer, 2))));
	}

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

/*
 * Times as people write them.  The server's input functions raise an error for what they do not
 * understand, so the text is told apart before one of them gets it.
 */

/* "10:29", "10:29:15.5", "3:00 pm": a time of day without a date. */
static bool
is_time_of_day(const char *text)
{
	size_t		digits = strspn(text, "0123456789");

	if (digits < 1 || digits > 2 || text[digits] != ':')
		return false;
	text += digits;
	text += strspn(text, ":.0123456789");
	text += strspn(text, " ");

	return *text == '\0' || pg_strcasecmp(text, "am") == 0 || pg_strcasecmp(text, "pm") == 0;
}

/*
 * "90 min", "1 hour ago", "P1D", "90": an interval.  Several digits without a unit can be a date, as in
 * 20260301 or 20260301 14:00; up to five are seconds.
 */
static bool
is_interval(const char *text)
{
	char	   *fields[MAXDATEFIELDS];
	int			types[MAXDATEFIELDS];
	char		work[MAXDATELEN + MAXDATEFIELDS];
	int			nfields;
	int			type;
	struct pg_itm_in itm;
	size_t		digits = strspn(text, "0123456789");
	const char *behind = text + digits + strspn(text + digits, " \t\n");

	/* The end of the text is found, too. */
	if (digits > 5 && strchr("0123456789", *behind) != NULL)
		return false;
	if (ParseDateTime(text, work, sizeof(work), fields, types, MAXDATEFIELDS, &nfields) != 0)
		return false;
	if (DecodeInterval(fields, types, nfields, INTERVAL_FULL_RANGE, &type, &itm) == 0)
		return type == DTK_DELTA;
	strlcpy(work, text, sizeof(work));
	return DecodeISO8601Interval(work, &type, &itm) == 0 && type == DTK_DELTA;
}

/* Adds to an error of an input function what it may have meant to be. */
static void
add_hint_cb(void *arg)
{
	errhint("Give a time, such as '10:29', 'yesterday 3:00' or '2026-03-01 14:00', or an interval before now, such as '90 min'.");
}

/* The latest time of day that is not ahead: today's or yesterday's. */
static TimestampTz
time_of_day(const char *text, TimestampTz now)
{
	Datum		time = DirectFunctionCall3(time_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	DateADT		today = DatumGetDateADT(DirectFunctionCall1(timestamptz_date, TimestampTzGetDatum(now)));
	TimestampTz result = 0;

	for (int ago = 0; ago < 2; ago++)
	{
		result = DatumGetTimestampTz(DirectFunctionCall1(timestamp_timestamptz,
														 DirectFunctionCall2(datetime_timestamp, DateADTGetDatum(today - ago), time)));
		if (result <= now)
			break;
	}
	return result;
}

/* SQL function: the time that a text says, as the functions about the load history take it. */
Datum
pfs_parse_time(PG_FUNCTION_ARGS)
{
	char	   *str = text_to_cstring(PG_GETARG_TEXT_PP(0));
	TimestampTz now = GetCurrentTransactionStartTimestamp();
	ErrorContextCallback hint = {.previous = error_context_stack, .callback = add_hint_cb};
	Datum		result;

	error_context_stack = &hint;
	str += strspn(str, " \t\n");

	/*
	 * Longer than anything that the input functions take, which would quote
	 * all of it.
	 */
	if (strlen(str) > MAXDATELEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_DATETIME_FORMAT),
				 errmsg("invalid time: \"%s\"", pfs_quote(str))));
	if (is_time_of_day(str))
		result = TimestampTzGetDatum(time_of_day(str, now));
	else if (is_interval(str))
	{
		Interval   *interval = DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(str),
																	 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));

		/* "1 hour ago" is the same hour. */
		if (DatumGetInt32(DirectFunctionCall2(interval_cmp, IntervalPGetDatum(interval),
											  DirectFunctionCall3(interval_in, CStringGetDatum("0"), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)))) < 0)
			interval = DatumGetIntervalP(DirectFunctionCall1(interval_um, IntervalPGetDatum(interval)));
		result = DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(now), IntervalPGetDatum(interval));
	}
	else
		result = DirectFunctionCall3(timestamptz_in, CStringGetDatum(str), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	error_context_stack = hint.previous;
	PG_RETURN_DATUM(result);
}
