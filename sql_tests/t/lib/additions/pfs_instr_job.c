/*
 * pfs_instr_job.c
 *	  Begins and ends jobs: the callers of pfs_job.c, as functions of SQL.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pfs_instr.h"
#include "pfs_job.h"

PG_FUNCTION_INFO_V1(pfs_example_begin_job);
PG_FUNCTION_INFO_V1(pfs_example_end_job);

PGDLLEXPORT Datum pfs_example_begin_job(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_example_end_job(PG_FUNCTION_ARGS);

/* The jobs of this process that run, outermost first. */
static PfsJobEvent *running[PFS_JOB_DEPTH];
static int	nrunning = 0;

/* Begins a job of a kind and priority; returns how many run now. */
Datum
pfs_example_begin_job(PG_FUNCTION_ARGS)
{
	PfsThread  *t = pfs_thread_here();
	PfsJobEvent *e = t == NULL ? NULL : pfs_job_begin(t, PG_GETARG_INT32(0), PG_GETARG_INT32(1));

	if (e != NULL)
		running[nrunning++] = e;
	PG_RETURN_INT32(nrunning);
}

/* Ends the innermost job after so many steps; returns how many run now. */
Datum
pfs_example_end_job(PG_FUNCTION_ARGS)
{
	if (nrunning > 0)
		pfs_job_end(pfs_my_thread, running[--nrunning], PG_GETARG_INT64(0));
	PG_RETURN_INT32(nrunning);
}
