/*
 * pfs_functions_lwlock.c
 *	  SQL function about LWLocks: which of the server's objects has its lock at an
 *	  address.
 *
 * Any number can be asked for, so an address is compared with where the server's
 * arrays lie before anything is read through it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "common/relpath.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"

#include "pfs_compat.h"
#include "pfs_compat_buffer.h"
#include "pfs_fdw.h"
#include "pfs_lwlock.h"
#include "pfs_shared_areas.h"

PFS_FUNCTION(pfs_lwlock_object);

/* Locks for the insertion of WAL: NUM_XLOGINSERT_LOCKS of xlog.c. */
#define WAL_INSERT_LOCKS 8
/* They lie this far apart: PG_CACHE_LINE_SIZE, as each is padded to one. */
#define WAL_INSERT_STRIDE PG_CACHE_LINE_SIZE

/* Two reads of a buffer's tag that agree are as good as its header's lock. */
#define TAG_TRIES 100

enum
{
	ANSWER_OBJECT_TYPE,
	ANSWER_OBJECT_NUMBER,
	ANSWER_TABLESPACE_OID,
	ANSWER_DATABASE_OID,
	ANSWER_FILENODE,
	ANSWER_FORK,
	ANSWER_BLOCK_NUMBER,
	ANSWER_THREAD_ID,
	ANSWER_NUM_COLUMNS
};

typedef struct Answer
{
	Datum		values[ANSWER_NUM_COLUMNS];
	bool		nulls[ANSWER_NUM_COLUMNS];
} Answer;

static void
put(Answer *answer, int column, Datum value)
{
	answer->values[column] = value;
	answer->nulls[column] = false;
}

static bool
name_it(Answer *answer, const char *type, int64 number)
{
	put(answer, ANSWER_OBJECT_TYPE, CStringGetTextDatum(type));
	put(answer, ANSWER_OBJECT_NUMBER, Int64GetDatum(number));
	return true;
}

/*
 * Which element of an array has its lock there?  offset: of the lock in an
 * element.  False: none.
 */
static bool
find_in_array(uintptr_t address, const void *array, Size stride, Size count, Size offset, Size *number)
{
	uintptr_t	first = (uintptr_t) array + offset;

	if (array == NULL || address < first || address >= first + stride * count ||
		(address - first) % stride != 0)
		return false;
	*number = (address - first) / stride;
	return true;
}

/*
 * The page that a buffer has now.  No lock is taken: whoever asks may be looking
 * at a server that is stuck.
 */
static bool
read_tag(const BufferDesc *buffer, PfsCompatPage *page)
{
	for (int i = 0; i < TAG_TRIES; i++)
	{
		uint64		before = pfs_compat_buffer_state(buffer);
		BufferTag	tag = *(const volatile BufferTag *) &buffer->tag;
		BufferTag	again;
		uint64		after;

		pg_read_barrier();
		again = *(const volatile BufferTag *) &buffer->tag;
		after = pfs_compat_buffer_state(buffer);
		if (((before | after) & BM_LOCKED) == 0 && memcmp(&tag, &again, sizeof(tag)) == 0)
		{
			*page = pfs_compat_page_of(&tag);
			return (before & after & BM_TAG_VALID) != 0;
		}
	}
	return false;
}

/* Is it the content lock of a shared buffer, or (19) its header?  Then the page is part of the answer. */
static bool
find_buffer(uintptr_t address, Answer *answer)
{
	Size		number;
	PfsCompatPage page;

	if (!find_in_array(address, BufferDescriptors, sizeof(BufferDescPadded), NBuffers,
					   PFS_BUFFER_LOCK_OFFSET, &number))
		return false;
	name_it(answer, "BUFFER", number + 1);
	if (read_tag(&BufferDescriptors[number].bufferdesc, &page))
	{
		put(answer, ANSWER_TABLESPACE_OID, ObjectIdGetDatum(page.tablespace));
		put(answer, ANSWER_DATABASE_OID, ObjectIdGetDatum(page.database));
		put(answer, ANSWER_FILENODE, ObjectIdGetDatum(page.filenode));
		if (page.fork >= 0 && page.fork <= MAX_FORKNUM)
			put(answer, ANSWER_FORK, CStringGetTextDatum(forkNames[page.fork]));
		put(answer, ANSWER_BLOCK_NUMBER, Int64GetDatum((int64) page.block));
	}
	return true;
}

/* How many locks of the same tranche precede this one in the main array. */
static Size
number_in_tranche(Size number)
{
	Size		n = 0;

	while (number > NUM_FIXED_LWLOCKS &&
		   MainLWLockArray[number - 1].lock.tranche == MainLWLockArray[number].lock.tranche)
	{
		number--;
		n++;
	}
	return n;
}

static void
take_main_array_cb(PfsInstrumentId instrument, uint64 count, uint64 bytes, void *arg)
{
	/* An area that has no place among the instruments has none. */
	if (instrument == PFS_NO_INSTRUMENT)
		return;
	if (strcmp(pfs_instrument_name(pfs_instrument_at(instrument)), "memory/shared/Main LWLock array") == 0)
		*(Size *) arg = bytes / sizeof(LWLockPadded);
}

/*
 * The number of locks in the main array, asked of the server's index of shared memory
 * where nothing else says it.  It never changes.
 */
static Size
num_main_lwlocks(void)
{
	static Size count = 0;

	if (count == 0)
		count = pfs_compat_num_main_lwlocks();
	if (count == 0)
	{
		pfs_shared_areas_each(take_main_array_cb, &count);
		count = Max(count, NUM_FIXED_LWLOCKS);
	}
	return count;
}

/* Is it one of the main array, which ends with the tranches that extensions requested? */
static bool
find_in_main_array(uintptr_t address, Answer *answer)
{
	Size		number;

	/* An address before the array is asked of nobody. */
	if (!find_in_array(address, MainLWLockArray, sizeof(LWLockPadded), UINT32_MAX, 0, &number) ||
		(number >= NUM_FIXED_LWLOCKS && number >= num_main_lwlocks()))
		return false;
	if (number >= NUM_FIXED_LWLOCKS)
		return name_it(answer, "TRANCHE", number_in_tranche(number));
	if (number >= PREDICATELOCK_MANAGER_LWLOCK_OFFSET)
		return name_it(answer, "PREDICATE LOCK MANAGER", number - PREDICATELOCK_MANAGER_LWLOCK_OFFSET);
	if (number >= LOCK_MANAGER_LWLOCK_OFFSET)
		return name_it(answer, "LOCK MANAGER", number - LOCK_MANAGER_LWLOCK_OFFSET);
	if (number >= BUFFER_MAPPING_LWLOCK_OFFSET)
		return name_it(answer, "BUFFER MAPPING", number - BUFFER_MAPPING_LWLOCK_OFFSET);
	return name_it(answer, "MAIN", number);
}

/* Is it the fast-path lock of a process? */
static bool
find_process(uintptr_t address, Answer *answer)
{
	Size		number;

	if (!find_in_array(address, ProcGlobal->allProcs, sizeof(PGPROC), ProcGlobal->allProcCount,
					   offsetof(PGPROC, fpInfoLock), &number))
		return false;
	name_it(answer, "PROCESS", number);
	{
		uint64		thread_id = pfs_lwlock_thread_of_proc((int) number);

		if (thread_id != 0)
			put(answer, ANSWER_THREAD_ID, Int64GetDatum((int64) thread_id));
	}
	return true;
}

/*
 * No name of the server leads to these: they are found by the tranche in them, and
 * numbered by how many of them precede.  Before the first one lie positions in the
 * WAL, whose lowest bits are those of a page's begin, so no tranche.
 */
static bool
find_wal_insert(uintptr_t address, Answer *answer)
{
	int			n = 0;

	if (address % sizeof(uint64) != 0 || !ShmemAddrIsValid((void *) address) ||
		((const LWLock *) address)->tranche != LWTRANCHE_WAL_INSERT)
		return false;
	while (n + 1 < WAL_INSERT_LOCKS &&
		   ShmemAddrIsValid((void *) (address - (n + 1) * WAL_INSERT_STRIDE)) &&
		   ((const LWLock *) (address - (n + 1) * WAL_INSERT_STRIDE))->tranche == LWTRANCHE_WAL_INSERT)
		n++;
	return name_it(answer, "WAL INSERT", n);
}

/* SQL function: tells what an LWLock at an address protects. */
Datum
pfs_lwlock_object(PG_FUNCTION_ARGS)
{
	uintptr_t	address = (uintptr_t) PG_GETARG_INT64(0);
	Answer		answer;
	TupleDesc	desc;

	pfs_require_active();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != ANSWER_NUM_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this function was made for another version of the library"),
				 errhint("Run ALTER EXTENSION pfs UPDATE, or restart the server.")));
	memset(answer.nulls, true, sizeof(answer.nulls));
	(void) (find_buffer(address, &answer) || find_in_main_array(address, &answer) ||
			find_process(address, &answer) || find_wal_insert(address, &answer));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), answer.values, answer.nulls)));
}
