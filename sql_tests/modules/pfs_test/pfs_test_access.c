/*
 * pfs_test_access.c
 *	  Another library that replaces methods of tables before pfs looks at them,
 *	  as PFS_TEST_ACCESS says.
 *
 * chain: a method leads here, and on to the server's.  change: a method is another one of the
 * server's functions, as in a version with other methods.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/heapam.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_chained);

PGDLLEXPORT Datum pfs_test_chained(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

static int64 calls = 0;

static bool
scan_getnextslot(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	calls++;
	return heap_getnextslot(scan, direction, slot);
}

/* pfs_test_chained() returns int8: calls that this process has made here */
Datum
pfs_test_chained(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(calls);
}

void
_PG_init(void)
{
	TableAmRoutine *heap = unconstify(TableAmRoutine *, GetHeapamTableAmRoutine());
	uintptr_t	page = sysconf(_SC_PAGESIZE);
	uintptr_t	start = (uintptr_t) heap & ~(page - 1);
	size_t		length = TYPEALIGN(page, (uintptr_t) (heap + 1)) - start;
	const char *what = getenv("PFS_TEST_ACCESS");

	if (!process_shared_preload_libraries_in_progress || what == NULL)
		return;
	if (mprotect((void *) start, length, PROT_READ | PROT_WRITE) != 0)
		elog(FATAL, "mprotect: %m");
	if (strcmp(what, "chain") == 0)
		heap->scan_getnextslot = scan_getnextslot;
	else
		heap->tuple_get_latest_tid = (void (*) (TableScanDesc, ItemPointer)) (void (*) (void)) heap_endscan;
	if (mprotect((void *) start, length, PROT_READ) != 0)
		elog(FATAL, "mprotect: %m");
}
