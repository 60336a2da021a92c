/*
 * pfs_value.c
 *	  Numbers, switches and names as SQL sees them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_database.h"
#include "mb/pg_wchar.h"
#include "utils/syscache.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "pfs_instrument.h"
#include "pfs_quote.h"
#include "pfs_setup_list.h"
#include "pfs_value.h"

/* What is beyond 2^63, as are picoseconds of 106 days, is put together from two parts. */
#define UPPER_UNIT INT64CONST(1000000000000000000)

/* Converts 128 bits; numeric's own functions take 64, so in two halves. */
Datum
pfs_sum_datum(PfsPicoseconds n)
{
	Datum		upper;
	Datum		lower;
	Datum		unit;

	if (n <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64) n));
	upper = NumericGetDatum(int64_to_numeric((int64) (n / UPPER_UNIT)));
	lower = NumericGetDatum(int64_to_numeric((int64) (n % UPPER_UNIT)));
	unit = NumericGetDatum(int64_to_numeric(UPPER_UNIT));
	return DirectFunctionCall2(numeric_add, DirectFunctionCall2(numeric_mul, upper, unit), lower);
}

int
pfs_parse_switch(const char *value)
{
	switch (pfs_list_word(value, strlen(value)))
	{
		case PFS_LIST_ON:
			return 1;
		case PFS_LIST_OFF:
			return 0;
		default:
			return -1;
	}
}

/* Raises an error for a value that stands for neither YES nor NO. */
Datum
pfs_check_switch(const PfsTable *table, const PfsColumn *column, Datum value, bool isnull)
{
	int			on = isnull ? -1 : pfs_parse_switch(TextDatumGetCString(value));

	if (on < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 isnull
				 ? errmsg("column \"%s\" of table \"%s\" cannot be NULL", column->name, table->name)
				 : errmsg("invalid value for column \"%s\" of table \"%s\": \"%s\"",
						  column->name, table->name, pfs_quote(TextDatumGetCString(value))),
				 errdetail(PFS_SWITCH_VALUES),
				 isnull
				 ? errhint("A sub-select that finds no row gives NULL; UPDATE ... FROM leaves such rows alone.")
				 : 0));
	return CStringGetTextDatum(pfs_yes_or_no(on));
}

/* "CYCLE, NANOSECOND", ...: those that this machine has. */
static char *
offered_timers(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int timer = 0; timer < PFS_NUM_TIMERS; timer++)
	{
		if (pfs_timer_offered(timer))
			appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "", pfs_timer_names[timer]);
	}
	return buf.data;
}

PfsTimer
pfs_require_timer(const char *name)
{
	int			timer = name ? pfs_timer_by_name(name) : -1;

	if (timer < 0 || !pfs_timer_offered(timer))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 name == NULL ? errmsg("the name of a timer cannot be NULL")
				 : timer < 0 ? errmsg("there is no timer \"%s\"", pfs_quote(name))
				 : errmsg("timer \"%s\" is not available on this machine", name),
				 errhint("Available timers: %s.", offered_timers())));
	return timer;
}

char *
pfs_database_name(Oid database)
{
	char	   *name = get_database_name(database);

	return name ? name : psprintf("%u", database);
}

const char *
pfs_event_name(PfsInstrumentId instrument)
{
	const PfsInstrument *ins = pfs_instrument_at(instrument);

	return ins != NULL ? pfs_instrument_name(ins) : NULL;
}

char *
pfs_role_name(Oid role)
{
	char	   *name = GetUserNameFromId(role, true);

	return name ? name : psprintf("%u", role);
}

/* A place for a name in a scan, of which each OID and kind of name has one. */
typedef struct PfsScanName
{
	Oid			oid;
	char	   *name;			/* NULL: none yet */
} PfsScanName;

#define SCAN_NAMES 64

/* A lookup may fail: then the place is as it was. */
static const char *
scan_name(PfsScan *scan, int kind, Oid oid, char *(*look_up) (Oid))
{
	PfsScanName *place;
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);

	if (scan->names == NULL)
		scan->names = palloc0(2 * SCAN_NAMES * sizeof(PfsScanName));
	place = &scan->names[kind * SCAN_NAMES + oid % SCAN_NAMES];
	if (place->name == NULL || place->oid != oid)
	{
		char	   *name = look_up(oid);

		if (place->name != NULL)
			pfree(place->name);
		place->oid = oid;
		place->name = name;
	}
	MemoryContextSwitchTo(old);
	return place->name;
}

const char *
pfs_scan_database_name(PfsScan *scan, Oid database)
{
	return scan_name(scan, 0, database, pfs_database_name);
}

const char *
pfs_scan_role_name(PfsScan *scan, Oid role)
{
	return scan_name(scan, 1, role, pfs_role_name);
}

/* Without a database the encoding is unknown: bytes that may be anything. */
int
pfs_database_encoding(Oid database)
{
	int			encoding = PG_SQL_ASCII;
	HeapTuple	tuple;

	if (database == MyDatabaseId)
		return GetDatabaseEncoding();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	if (HeapTupleIsValid(tuple))
	{
		encoding = ((Form_pg_database) GETSTRUCT(tuple))->encoding;
		ReleaseSysCache(tuple);
	}
	return encoding;
}
