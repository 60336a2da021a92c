/*
 * pfs_table_lwlocks.c
 *	  lwlock_instances: the LWLocks that somebody had to wait for, and who holds
 *	  them now.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pfs_instrument.h"
#include "pfs_lwlock.h"
#include "pfs_tables.h"
#include "pfs_value.h"

/* Who holds locks changes while it is read; then it is read again. */
#define HOLDER_TRIES 20

typedef struct Holder
{
	uint64		thread_id;
	Size		row;			/* of the lock */
	bool		shared;
} Holder;

/* All holders of listed locks, and where to find a lock's row. */
typedef struct Holders
{
	PfsScan    *scan;
	Holder	   *list;
	Size		n;
	Size		size;
} Holders;

typedef struct LwlockRow
{
	uint64		address;
	PfsInstrumentId instrument;
	uint64		exclusive;		/* thread_id, 0: none */
	Size		nshared;
	uint64	   *shared;
} LwlockRow;

enum
{
	NAME,
	OBJECT_INSTANCE_BEGIN,
	EXCLUSIVE_LOCKED_BY_THREAD_ID,
	SHARED_LOCKED_BY_COUNT,
	SHARED_LOCKED_BY_THREAD_IDS,
};

static const PfsColumn columns[] = {
	[NAME] = {"name", TEXTOID, .width = 30, .key = PFS_KEY_EVENT_NAME},
	[OBJECT_INSTANCE_BEGIN] = {"object_instance_begin", INT8OID},
	[EXCLUSIVE_LOCKED_BY_THREAD_ID] = {"exclusive_locked_by_thread_id", INT8OID},
	[SHARED_LOCKED_BY_COUNT] = {"shared_locked_by_count", INT8OID},
	[SHARED_LOCKED_BY_THREAD_IDS] = {"shared_locked_by_thread_ids", INT8ARRAYOID, .width = 32},
};

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

static void
add_holder_cb(uint64 thread_id, uint64 address, bool shared, void *arg)
{
	Holders    *holders = arg;
	LwlockRow	wanted = {.address = address};
	LwlockRow  *row = bsearch(&wanted, holders->scan->rows, holders->scan->nrows, sizeof(LwlockRow),
							  by_address);

	if (row == NULL)
		return;					/* nobody has waited for it */
	if (holders->n == holders->size)
	{
		holders->size = Max(2 * holders->size, 64);
		holders->list = holders->list == NULL ? palloc(holders->size * sizeof(Holder))
			: repalloc(holders->list, holders->size * sizeof(Holder));
	}
	holders->list[holders->n].thread_id = thread_id;
	holders->list[holders->n].row = row - (LwlockRow *) holders->scan->rows;
	holders->list[holders->n++].shared = shared;
}

/*
 * Threads are read one after the other, so a lock that changed hands meanwhile can
 * have a holder that excludes another one.  The later of the two is the true one.
 */
static bool
put_holders(PfsScan *scan, const Holders *holders, bool last_try)
{
	LwlockRow  *rows = (LwlockRow *) scan->rows;
	bool		agree = true;

	for (Size i = 0; i < scan->nrows; i++)
	{
		rows[i].exclusive = 0;
		rows[i].nshared = 0;
	}
	for (Size i = 0; i < holders->n; i++)
	{
		const Holder *holder = &holders->list[i];
		LwlockRow  *row = &rows[holder->row];

		if (row->exclusive != 0 || (!holder->shared && row->nshared > 0))
		{
			agree = false;
			row->exclusive = 0;
			row->nshared = 0;
		}
		if (!holder->shared)
			row->exclusive = holder->thread_id;
		else
		{
			row->shared = row->shared == NULL ? palloc(sizeof(uint64))
				: repalloc(row->shared, (row->nshared + 1) * sizeof(uint64));
			row->shared[row->nshared++] = holder->thread_id;
		}
	}
	return agree || last_try;
}

static void
copy(PfsScan *scan)
{
	Holders		holders = {.scan = scan};

	pfs_lwlocks_each(add_lock_cb, scan);
	if (pfs_lwlock_events_now != PFS_LWLOCK_ALL || scan->nrows == 0 ||
		!(scan->needed[EXCLUSIVE_LOCKED_BY_THREAD_ID] || scan->needed[SHARED_LOCKED_BY_COUNT] ||
		  scan->needed[SHARED_LOCKED_BY_THREAD_IDS]))
		return;
	qsort(scan->rows, scan->nrows, sizeof(LwlockRow), by_address);
	for (int tries = 1; tries <= HOLDER_TRIES; tries++)
	{
		holders.n = 0;
		pfs_lwlock_holders_each(add_holder_cb, &holders);
		if (put_holders(scan, &holders, tries == HOLDER_TRIES))
			break;
	}
}

static Datum
thread_ids(const LwlockRow *row)
{
	Datum	   *ids = palloc(Max(row->nshared, 1) * sizeof(Datum));

	for (Size i = 0; i < row->nshared; i++)
		ids[i] = Int64GetDatum((int64) row->shared[i]);
	return PointerGetDatum(construct_array(ids, (int) row->nshared, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static Datum
get(PfsScan *scan, const void *row, int column, bool *isnull)
{
	const LwlockRow *lock = row;

	switch (column)
	{
		case NAME:
			return pfs_event_name_datum(lock->instrument, isnull);
		case OBJECT_INSTANCE_BEGIN:
			return Int64GetDatum((int64) lock->address);
	}
	if (pfs_lwlock_events_now != PFS_LWLOCK_ALL)
		return pfs_null(isnull);
	switch (column)
	{
		case EXCLUSIVE_LOCKED_BY_THREAD_ID:
			return pfs_int64_or_null(lock->exclusive, isnull);
		case SHARED_LOCKED_BY_COUNT:
			return Int64GetDatum((int64) lock->nshared);
		case SHARED_LOCKED_BY_THREAD_IDS:
			return thread_ids(lock);
	}
	return pfs_null(isnull);
}

const PfsTable pfs_table_lwlock_instances = {
	.name = "lwlock_instances",
	.row_is = "one LWLock that somebody had to wait for",
	.truncate_effect = "refused",
	.columns = columns,
	.ncolumns = lengthof(columns),
	.row_size = sizeof(LwlockRow),
	.estimate = pfs_lwlocks_estimate,
	.copy = copy,
	.get = get,
};
