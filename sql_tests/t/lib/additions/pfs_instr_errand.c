/*
 * pfs_instr_errand.c
 *	  Runs and removes errands: the callers of pfs_errand.c, as functions of SQL.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pfs_errand.h"
#include "pfs_instr.h"

PG_FUNCTION_INFO_V1(pfs_example_run_errand);
PG_FUNCTION_INFO_V1(pfs_example_remove_errand);

PGDLLEXPORT Datum pfs_example_run_errand(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_example_remove_errand(PG_FUNCTION_ARGS);

Datum
pfs_example_run_errand(PG_FUNCTION_ARGS)
{
	PfsThread  *t = pfs_thread_here();

	PG_RETURN_BOOL(t != NULL && pfs_errand_run(t, PG_GETARG_INT32(0), PG_GETARG_INT32(1)));
}

Datum
pfs_example_remove_errand(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(pfs_errand_remove(PG_GETARG_INT32(0)));
}
