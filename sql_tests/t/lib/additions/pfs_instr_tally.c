/*
 * pfs_instr_tally.c
 *	  Tallies something: the caller of pfs_tally(), as a function of SQL.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pfs_instr.h"
#include "pfs_tally.h"

PG_FUNCTION_INFO_V1(pfs_example_tally);

PGDLLEXPORT Datum pfs_example_tally(PG_FUNCTION_ARGS);

Datum
pfs_example_tally(PG_FUNCTION_ARGS)
{
	PfsThread  *t = pfs_thread_here();

	if (t != NULL)
		pfs_tally(t, PG_GETARG_INT32(0), PG_GETARG_INT64(1));
	PG_RETURN_VOID();
}
