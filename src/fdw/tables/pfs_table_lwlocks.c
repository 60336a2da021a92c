/*
 * pfs_table_lwlocks.c
 *	  lwlock_instances: the LWLocks that some process had to wait for, and the threads
 *	  that hold them now.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pfs_instrument.h"
#include "pfs_lwlock.h"
#include "pfs_tables.h"

/* How often holders are read anew, as they change while they are read. */
#define HOLDER_TRIES 20

/* The scan, whose rows are in the order of addresses; and whether no two holders exclude each other. */
typedef struct Holders
{
	PfsScan    *scan;
	bool		agree;
} Holders;

typedef struct LwlockRow
{
	uint64		address;
	PfsInstrumentId instrument;
	uint64		exclusive;		/* thread_id, 0: none */
	Size		nshared;
	uint64	   *shared;
} LwlockRow;

static void
add_lock_cb(const PfsLwlock *lock, uint32 index, void *arg)
{
	PfsScan    *scan = arg;
	LwlockRow  *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && lock->instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->address = lock->address;
	row->instrument = lock->instrument;
}

static int
by_address(const void *a, const void *b)
{
	const LwlockRow *x = a;
	const LwlockRow *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Puts a thread into the row of a lock that it holds, if the lock has one.  Threads are read
 * one after the other, so a lock that was released and acquired meanwhile can have two holders
 * that exclude each other; then the one that was read later holds it.
 */
static void
add_holder_cb(uint64 thread_id, uint64 address, bool shared, void *arg)
{
	Holders    *holders = arg;
	LwlockRow	wanted = {.address = address};
	LwlockRow  *row = bsearch(&wanted, holders->scan->rows, holders->scan->nrows, sizeof(LwlockRow),
							  by_address);

	if (row == NULL)
		return;					/* no process has waited for it */
	if (row->exclusive != 0 || (!shared && row->nshared > 0))
	{
		holders->agree = false;
		row->exclusive = 0;
		row->nshared = 0;
	}
	if (!shared)
		row->exclusive = thread_id;
	else
	{
		row->shared = row->shared == NULL ? palloc(sizeof(uint64))
			: repalloc(row->shared, (row->nshared + 1) * sizeof(uint64));
		row->shared[row->nshared++] = thread_id;
	}
}

/* Reads the holders anew; false: two of them exclude each other. */
static bool
read_holders(PfsScan *scan)
{
	Holders		holders = {scan, true};

	for (Size i = 0; i < scan->nrows; i++)
	{
		LwlockRow  *row = (LwlockRow *) scan->rows + i;

		row->exclusive = 0;
		row->nshared = 0;
	}
	pfs_lwlock_holders_each(add_holder_cb, &holders);
	return holders.agree;
}

/* Tells whether holders are known: only while all acquisitions are recorded. */
static bool
holders_are_known(void)
{
	return pfs_lwlock_events_now == PFS_LWLOCK_ALL;
}

/* Returns the IDs of the threads that hold a lock in shared mode, as an array. */
static Datum
sharers(const LwlockRow *row)
{
	Datum	   *ids = palloc(Max(row->nshared, 1) * sizeof(Datum));

	for (Size i = 0; i < row->nshared; i++)
		ids[i] = Int64GetDatum((int64) row->shared[i]);
	return PointerGetDatum(construct_array(ids, (int) row->nshared, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

#define COLUMNS(X, t) \
	X(t, name, text, none, pfs_event_name(row->instrument), \
	  "The instrument of its tranche: setup_instruments.name.", .width = 30, .key = PFS_KEY_EVENT_NAME) \
	X(t, object_instance_begin, bigint, none, row->address, \
	  "Its address, the same in all processes and in events_waits_*; lwlock_objects says what it protects.") \
	X(t, exclusive_locked_by_thread_id, bigint, none, \
	  PFS_NULL_IF(!holders_are_known() || row->exclusive == 0, row->exclusive), \
	  "The thread that holds it alone: threads.thread_id; NULL if none does, and without pfs.lwlock_events = " \
	  "all.") \
	X(t, shared_locked_by_count, bigint, count, PFS_NULL_IF(!holders_are_known(), row->nshared), \
	  "How many threads hold it together; NULL without pfs.lwlock_events = all.") \
	X(t, shared_locked_by_thread_ids, bigints, none, PFS_NULL_IF(!holders_are_known(), sharers(row)), \
	  "Which ones: threads.thread_id; NULL without pfs.lwlock_events = all.", .width = 32)

PFS_COLUMNS(lwlocks, LwlockRow, COLUMNS)

/*
 * Copies the locks, and if a column of holders is needed those, too: again until no
 * lock has holders that exclude each other.
 */
static void
copy(PfsScan *scan)
{
	pfs_lwlocks_each(add_lock_cb, scan);
	if (!holders_are_known() || scan->nrows == 0 ||
		!(scan->needed[PFS_COLUMN(lwlocks, exclusive_locked_by_thread_id)] ||
		  scan->needed[PFS_COLUMN(lwlocks, shared_locked_by_count)] ||
		  scan->needed[PFS_COLUMN(lwlocks, shared_locked_by_thread_ids)]))
		return;
	qsort(scan->rows, scan->nrows, sizeof(LwlockRow), by_address);
	for (int tries = 0; tries < HOLDER_TRIES && !read_holders(scan); tries++)
		;
}

const PfsTable pfs_table_lwlock_instances = {
	PFS_TABLE("lwlock_instances", lwlocks, "MySQL's rwlock_instances, of LWLocks",
			  "one LWLock that somebody had to wait for",
			  "refused",
			  "LWLocks in the main shared memory that some process had to sleep for since the server's start; with "
			  "pfs.lwlock_events = contended or all. TRUNCATE is refused."),
	.containers = {&pfs_lwlocks},
	.copy = copy,
};
