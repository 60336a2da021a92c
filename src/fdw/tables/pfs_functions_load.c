/*
 * pfs_functions_load.c
 *	  The SQL function pfs_sys.load_periods(): which periods of load_history tell of a time.
 *
 * Among the tables, as these are all that knows the load history.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "pfs_fdw.h"
#include "pfs_load_ring.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_load_periods);

/* Rows of the function, in memory up to work_mem. */
typedef struct PeriodRows
{
	TupleDesc	desc;
	Tuplestorestate *store;
	MemoryContext values;		/* of one row */
} PeriodRows;

/* Adds a row of a period, whose values are freed at once. */
static void
add_head_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	PeriodRows *to = arg;
	MemoryContext old = MemoryContextSwitchTo(to->values);
	Interval	length = {.time = head->resolution * USECS_PER_SEC};
	Datum		values[] = {
		TimestampTzGetDatum(head->begin),
		TimestampTzGetDatum(head->end),
		IntervalPGetDatum(&length),
		pfs_sum_datum(head->length),
	};
	bool		nulls[lengthof(values)] = {0};

	CHECK_FOR_INTERRUPTS();
	tuplestore_putvalues(to->store, to->desc, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(to->values);
}

/* Reads the heads of all periods of a time into a tuplestore. */
Datum
pfs_load_periods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;
	PeriodRows	rows;

	pfs_require_active();
	if (result == NULL || !IsA(result, ReturnSetInfo) || (result->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	old = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	if (get_call_result_type(fcinfo, NULL, &rows.desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rows.desc = CreateTupleDescCopy(rows.desc);
	rows.store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	result->returnMode = SFRM_Materialize;
	result->setResult = rows.store;
	result->setDesc = rows.desc;
	MemoryContextSwitchTo(old);
	rows.values = AllocSetContextCreate(CurrentMemoryContext, "pfs row", ALLOCSET_SMALL_SIZES);
	pfs_load_read_best(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_TIMESTAMPTZ(1), add_head_cb, &rows);
	MemoryContextDelete(rows.values);
	return (Datum) 0;
}
