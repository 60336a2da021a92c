/*
 * pfs_test_load.c
 *	  A recorder of made-up periods: hands them to the load history as the real one does,
 *	  which has to be off.  All calls have to come from one session, as sums of longer
 *	  periods are the recorder's own.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pfs_load_row.h"
#include "pfs_test_symbol.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_load_keep);
PG_FUNCTION_INFO_V1(pfs_test_load_end);
PG_FUNCTION_INFO_V1(pfs_test_load_run);
PG_FUNCTION_INFO_V1(pfs_test_load_many);
PGDLLEXPORT Datum pfs_test_load_keep(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_load_end(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_load_run(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_load_many(PG_FUNCTION_ARGS);

typedef void (*KeepFunction) (const PfsLoadPeriod *period, PfsLoadRow *rows, int nrows);
typedef void (*EndFunction) (void);
typedef PfsInstrumentId (*ByNameFunction) (const char *name);

#define CLASS_NAME(class, name) [class] = name,

static const char *const classes[PFS_NUM_LOAD_CLASSES] = {PFS_LOAD_CLASSES(CLASS_NAME)};

static KeepFunction keep_function = NULL;

/* Hands a period over, in a context that is emptied after it, as the recorder's is. */
static void
keep(const PfsLoadPeriod *period, PfsLoadRow *rows, int nrows)
{
	MemoryContext tick = AllocSetContextCreate(CurrentMemoryContext, "tick", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(tick);

	if (keep_function == NULL)
		keep_function = symbol("pfs_load_keep");
	keep_function(period, rows, nrows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(tick);
}

/* The next field of a row: what is before the next bar, which is moved behind it. */
static char *
field(char **at)
{
	char	   *result = *at;
	char	   *bar = result == NULL ? NULL : strchr(result, '|');

	if (result == NULL)
		elog(ERROR, "a row has too few fields");
	if (bar != NULL)
		*bar++ = '\0';
	*at = bar;
	return result;
}

/* type|wait_event_type|event_name|database|user|query_id or empty|count|time|longest */
static void
read_row(char *text, PfsLoadRow *row)
{
	ByNameFunction by_name = symbol("pfs_instrument_by_name");
	const char *value;

	memset(row, 0, sizeof(*row));
	row->key.type = strcmp(field(&text), "BACKGROUND") == 0 ? PFS_LOAD_BACKGROUND : PFS_LOAD_FOREGROUND;
	value = field(&text);
	while (row->key.class < PFS_NUM_LOAD_CLASSES && strcmp(classes[row->key.class], value) != 0)
		row->key.class++;
	if (row->key.class == PFS_NUM_LOAD_CLASSES)
		elog(ERROR, "no class %s", value);
	value = field(&text);
	row->key.instrument = strcmp(value, "cpu") == 0 ? PFS_LOAD_CPU_NAME : by_name(value);
	row->key.database = strtoul(field(&text), NULL, 10);
	row->key.user = strtoul(field(&text), NULL, 10);
	value = field(&text);
	row->key.statement = value[0] == '\0' ? PFS_LOAD_NO_STATEMENT : PFS_LOAD_STATEMENT;
	row->key.query_id = (uint64) strtoll(value, NULL, 10);
	row->count = strtoull(field(&text), NULL, 10);
	row->time = strtoull(field(&text), NULL, 10);
	row->longest = strtoull(field(&text), NULL, 10);
}

/* pfs_test_load_keep(period_start timestamptz, period_end timestamptz, length bigint, follows bool, rows text[]) */
Datum
pfs_test_load_keep(PG_FUNCTION_ARGS)
{
	PfsLoadPeriod period = {PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_TIMESTAMPTZ(1), PG_GETARG_INT64(2), PG_GETARG_BOOL(3)};
	Datum	   *texts;
	int			n;
	PfsLoadRow *rows;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(4), TEXTOID, -1, false, TYPALIGN_INT, &texts, NULL, &n);
	rows = palloc(Max(n, 1) * sizeof(PfsLoadRow));
	for (int i = 0; i < n; i++)
		read_row(TextDatumGetCString(texts[i]), &rows[i]);
	keep(&period, rows, n);
	PG_RETURN_VOID();
}

/* pfs_test_load_end(): the recorder ends */
Datum
pfs_test_load_end(PG_FUNCTION_ARGS)
{
	((EndFunction) symbol("pfs_load_keep_end")) ();
	PG_RETURN_VOID();
}

/*
 * pfs_test_load_run(first bigint, n bigint): periods of a second, as fast as they can be
 * kept.  Period k is the k-th second of 2001, and has k % 40 rows, of k + 1, k + 2 and so on
 * picoseconds: so whoever reads it knows what it has to be.
 */
Datum
pfs_test_load_run(PG_FUNCTION_ARGS)
{
	int64		first = PG_GETARG_INT64(0);
	int64		n = PG_GETARG_INT64(1);
	TimestampTz zero = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in, CStringGetDatum("2001-01-01 00:00:00+00"),
															   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	PfsInstrumentId instrument = ((ByNameFunction) symbol("pfs_instrument_by_name")) ("wait/io/file/DataFileRead");

	for (int64 k = first; k < first + n; k++)
	{
		PfsLoadPeriod period = {zero + k * USECS_PER_SEC, zero + (k + 1) * USECS_PER_SEC, UINT64_C(1000000000000), k > first};
		PfsLoadRow	rows[40];
		int			nrows = k % 40;

		memset(rows, 0, sizeof(rows));
		for (int i = 0; i < nrows; i++)
		{
			rows[i].key.class = PFS_LOAD_IO;
			rows[i].key.instrument = instrument;
			rows[i].key.statement = PFS_LOAD_STATEMENT;
			rows[i].key.database = 1;
			rows[i].key.user = 1 + i / 8;
			rows[i].key.query_id = k * 64 + i;
			rows[i].count = 1;
			rows[i].time = k + i + 1;
		}
		keep(&period, rows, nrows);
		CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_VOID();
}

/*
 * pfs_test_load_many(period_start timestamptz, rows int, first bigint): a period of a second
 * with so many statements, numbered from the first one, the i-th of i picoseconds
 */
Datum
pfs_test_load_many(PG_FUNCTION_ARGS)
{
	TimestampTz start = PG_GETARG_TIMESTAMPTZ(0);
	int			n = PG_GETARG_INT32(1);
	PfsLoadPeriod period = {start, start + USECS_PER_SEC, UINT64_C(1000000000000), true};
	PfsLoadRow *rows = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(PfsLoadRow));

	memset(rows, 0, n * sizeof(PfsLoadRow));
	for (int i = 0; i < n; i++)
	{
		rows[i].key.class = PFS_LOAD_CPU;
		rows[i].key.instrument = PFS_LOAD_CPU_NAME;
		rows[i].key.statement = PFS_LOAD_STATEMENT;
		rows[i].key.database = 1;
		rows[i].key.user = 1;
		rows[i].key.query_id = PG_GETARG_INT64(2) + i;
		rows[i].count = 1;
		rows[i].time = i + 1;
	}
	keep(&period, rows, n);
	PG_RETURN_VOID();
}
