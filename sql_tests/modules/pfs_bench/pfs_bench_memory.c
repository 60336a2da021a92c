/*
 * pfs_bench_memory.c
 *	  What counting memory adds to an allocation and its free, in a loop inside
 *	  a backend.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "pfs_clock.h"
#include "pfs_memory.h"
#include "pfs_setup.h"

PG_FUNCTION_INFO_V1(pfs_bench_alloc);
PGDLLEXPORT Datum pfs_bench_alloc(PG_FUNCTION_ARGS);

#define ALL_CONTEXTS PFS_MEMORY_PREFIX "%"

static void
switch_memory(bool on)
{
	pfs_setup_set_instruments(ALL_CONTEXTS, on, -1);
	pfs_memory_sync(pfs_my_thread);
	if (pfs_memory_is_counted != on)
		elog(ERROR, "memory could not be switched %s", on ? "on" : "off");
}

static int
compare_double(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Cycles of an allocation of 64 bytes and its free: the median of short runs. */
#define RUNS 15

static double
measure(MemoryContext context, int loops)
{
	double		results[RUNS];

	for (int i = 0; i < RUNS; i++)
	{
		uint64		start = pfs_read_cycles();

		for (int n = 0; n < loops; n++)
			pfree(MemoryContextAlloc(context, 64));
		results[i] = (double) (pfs_read_cycles() - start) / loops;
	}
	qsort(results, RUNS, sizeof(double), compare_double);
	return results[RUNS / 2];
}

/*
 * pfs_bench_alloc(kind text, loops int4): never: the server's own methods; on: counted; tracked: counted
 * in a context that is older than the counting; off: switched on and off again.
 */
Datum
pfs_bench_alloc(PG_FUNCTION_ARGS)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			loops = Max(PG_GETARG_INT32(1) / RUNS, 1);
	bool		tracked = strcmp(kind, "tracked") == 0;
	bool		on = tracked || strcmp(kind, "on") == 0;
	MemoryContext context = NULL;
	double		cycles;

	if (pfs_my_thread == NULL)
		ereport(ERROR, (errmsg("pfs_bench must be in shared_preload_libraries, instead of pfs")));
	if (tracked)
	{
		context = AllocSetContextCreate(TopMemoryContext, "pfs bench", ALLOCSET_DEFAULT_SIZES);
		(void) MemoryContextAlloc(context, 64);
	}
	if (strcmp(kind, "never") != 0)
		switch_memory(true);
	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "pfs bench", ALLOCSET_DEFAULT_SIZES);
	if (strcmp(kind, "off") == 0)
		switch_memory(false);
	cycles = measure(context, loops);
	MemoryContextDelete(context);
	if (on)
		pfs_setup_set_instruments(ALL_CONTEXTS, false, -1);
	PG_RETURN_FLOAT8(cycles);
}
