/*
 * pfs_shared_areas.c
 *	  The server's own index of shared memory, asked by the function behind
 *	  pg_shmem_allocations: the index itself is not to be had.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "pfs_shared_areas.h"

/* Columns of the function's rows. */
#define AREA_NAME 1
#define AREA_ALLOCATED 4

static PfsInstrumentId
instrument_of(const char *name)
{
	PfsInstrument proto = {.class = PFS_CLASS_MEMORY, .properties = PFS_PROPERTY_BUILT_IN};

	proto.documentation = "An area of the server's shared memory; always on.";
	snprintf(proto.name, sizeof(proto.name), PFS_SHARED_AREA_PREFIX "%s", name);
	for (char *c = proto.name + strlen(PFS_SHARED_AREA_PREFIX); *c; c++)
	{
		if (*c == '/')
			*c = '_';
	}
	return pfs_instrument_register(&proto);
}

static void
emit_row(TupleTableSlot *slot, PfsSharedAreaEmit emit, void *arg)
{
	bool		isnull;
	bool		no_bytes;
	Datum		name = slot_getattr(slot, AREA_NAME, &isnull);
	Datum		bytes = slot_getattr(slot, AREA_ALLOCATED, &no_bytes);

	/* Without a name: reserved, and nobody's yet. */
	if (!isnull && !no_bytes)
		emit(instrument_of(TextDatumGetCString(name)), 1, DatumGetInt64(bytes), arg);
}

/*
 * Calls emit for each named area of shared memory, as the server's own function lists
 * them.
 */
void
pfs_shared_areas_each(PfsSharedAreaEmit emit, void *arg)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	flinfo;
	ReturnSetInfo rsinfo = {.type = T_ReturnSetInfo};
	ExprContext *econtext;
	TupleTableSlot *slot;

	if (pfs_instruments == NULL)
		return;
	econtext = CreateStandaloneExprContext();
	fmgr_info(F_PG_GET_SHMEM_ALLOCATIONS, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, (Node *) &rsinfo);
	rsinfo.econtext = econtext;
	rsinfo.allowedModes = SFRM_Materialize;
	rsinfo.returnMode = SFRM_ValuePerCall;
	rsinfo.expectedDesc = NULL;
	(void) pg_get_shmem_allocations(fcinfo);
	if (rsinfo.setResult != NULL)
	{
		slot = MakeSingleTupleTableSlot(rsinfo.setDesc, &TTSOpsMinimalTuple);
		while (tuplestore_gettupleslot(rsinfo.setResult, true, false, slot))
			emit_row(slot, emit, arg);
		ExecDropSingleTupleTableSlot(slot);
		tuplestore_end(rsinfo.setResult);
	}
	FreeExprContext(econtext, true);
}

static void
ignore_cb(PfsInstrumentId instrument, uint64 count, uint64 bytes, void *arg)
{
}

void
pfs_shared_areas_register(void)
{
	pfs_shared_areas_each(ignore_cb, NULL);
}
