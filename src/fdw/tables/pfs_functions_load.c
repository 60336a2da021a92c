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
#include "utils/timestamp.h"

#include "pfs_fdw.h"
#include "pfs_load_ring.h"
#include "pfs_value.h"

PFS_FUNCTION(pfs_load_periods);

/* Heads of periods, as they come. */
typedef struct Heads
{
	PfsLoadHead *items;
	int			n;
	int			max;
} Heads;

static void
add_head_cb(PfsLoadResolution resolution, const PfsLoadHead *head, const PfsLoadRow *rows, void *arg)
{
	Heads	   *heads = arg;

	CHECK_FOR_INTERRUPTS();
	if (heads->n == heads->max)
	{
		heads->max *= 2;
		heads->items = repalloc_huge(heads->items, heads->max * sizeof(PfsLoadHead));
	}
	heads->items[heads->n++] = *head;
}

/* Reads the heads at the first call, and returns one at each. */
Datum
pfs_load_periods(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Heads	   *heads;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		TupleDesc	desc;

		pfs_require_active();
		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		call->tuple_desc = BlessTupleDesc(desc);
		heads = call->user_fctx = palloc0(sizeof(Heads));
		heads->max = 64;
		heads->items = palloc(heads->max * sizeof(PfsLoadHead));
		pfs_load_read_best(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_TIMESTAMPTZ(1), add_head_cb, heads);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	heads = call->user_fctx;
	if (call->call_cntr < heads->n)
	{
		const PfsLoadHead *head = &heads->items[call->call_cntr];
		Interval	resolution = {.time = head->resolution * USECS_PER_SEC};
		Datum		values[] = {
			TimestampTzGetDatum(head->begin),
			TimestampTzGetDatum(head->end),
			IntervalPGetDatum(&resolution),
			pfs_sum_datum(head->length),
		};
		bool		nulls[lengthof(values)] = {0};

		SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
	}
	SRF_RETURN_DONE(call);
}
