/*
 * pfs_test_access.c
 *	  Another library that replaces methods of tables before pfs looks at them,
 *	  as PFS_TEST_ACCESS says.
 *
 * chain: methods lead here, and on to the server's; here is a second clock.  change: a method is
 * another one of the server's functions, as in a version with other methods.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/heapam.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "portability/instr_time.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pfs_test_chained);
PG_FUNCTION_INFO_V1(pfs_test_access_time);

PGDLLEXPORT Datum pfs_test_chained(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum pfs_test_access_time(PG_FUNCTION_ARGS);
PGDLLEXPORT void _PG_init(void);

static TableAmRoutine real;
static int64 calls = 0;

/* How long this process was in the methods, since the last question. */
static instr_time spent;

#define TIMED(call) \
	do { \
		instr_time	begin, \
					end; \
		INSTR_TIME_SET_CURRENT(begin); \
		call; \
		INSTR_TIME_SET_CURRENT(end); \
		INSTR_TIME_ACCUM_DIFF(spent, end, begin); \
	} while (0)

static bool
scan_getnextslot(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	bool		found;

	calls++;
	TIMED(found = real.scan_getnextslot(scan, direction, slot));
	return found;
}

static bool
index_fetch_tuple(struct IndexFetchTableData *scan, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot,
				  bool *call_again, bool *all_dead)
{
	bool		found;

	TIMED(found = real.index_fetch_tuple(scan, tid, snapshot, slot, call_again, all_dead));
	return found;
}

static TM_Result
tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		   LockWaitPolicy wait_policy, uint8 flags, TM_FailureData *tmfd)
{
	TM_Result	result;

	TIMED(result = real.tuple_lock(rel, tid, snapshot, slot, cid, mode, wait_policy, flags, tmfd));
	return result;
}

/* pfs_test_chained() returns int8: calls that this process has made here */
Datum
pfs_test_chained(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(calls);
}

/* pfs_test_access_time() returns float8: microseconds in the methods since it was called last */
Datum
pfs_test_access_time(PG_FUNCTION_ARGS)
{
	double		microseconds = INSTR_TIME_GET_DOUBLE(spent) * 1e6;

	INSTR_TIME_SET_ZERO(spent);
	PG_RETURN_FLOAT8(microseconds);
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
	{
		real = *heap;
		heap->scan_getnextslot = scan_getnextslot;
		heap->index_fetch_tuple = index_fetch_tuple;
		heap->tuple_lock = tuple_lock;
	}
	else
		heap->tuple_get_latest_tid = (void (*) (TableScanDesc, ItemPointer)) (void (*) (void)) heap_endscan;
	if (mprotect((void *) start, length, PROT_READ) != 0)
		elog(FATAL, "mprotect: %m");
}
