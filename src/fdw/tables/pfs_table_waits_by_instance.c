/*
 * pfs_table_waits_by_instance.c
 *	  events_waits_summary_by_instance: the waits of each object that has
 *	  counters of its own.  A kind of object is one entry of `sources`.
 */
#include "postgres.h"

#include "pfs_file_sum.h"
#include "pfs_instrument.h"
#include "pfs_lwlock.h"
#include "pfs_socket.h"
#include "pfs_tables.h"
#include "pfs_timer_wait.h"

typedef struct InstanceRow
{
	PfsInstrumentId instrument;
	uint64		object_instance;
	PfsTotals	totals;
} InstanceRow;

#define COLUMNS(X, t) \
	PFS_INSTRUMENT_COLUMN(X, t, row->instrument, 30) \
	X(t, object_instance_begin, bigint, none, row->object_instance, \
	  "Identifies the object, as in events_waits_current.") \
	PFS_TIMER_WAIT_COLUMNS(X, t, &row->totals, "Number of waits.")

PFS_COLUMNS(instances, InstanceRow, COLUMNS)

/* Adds one sum of a file to the row of the file and instrument; those of a file come together. */
static void
add_file_sum_cb(uint32 file, uint64 word, const PfsChained *sum, void *arg)
{
	PfsScan    *scan = arg;
	PfsInstrumentId instrument = PFS_CALLS_INSTRUMENT(sum->key);
	uint64		object = (uintptr_t) pfs_pages_record(pfs_files, file);
	InstanceRow *rows = (InstanceRow *) scan->rows;
	InstanceRow *row = NULL;

	if (scan->instrument != PFS_NO_INSTRUMENT && instrument != scan->instrument)
		return;
	for (Size i = scan->nrows; i > 0 && row == NULL && rows[i - 1].object_instance == object; i--)
		row = rows[i - 1].instrument == instrument ? &rows[i - 1] : NULL;
	if (row == NULL)
	{
		row = pfs_scan_add(scan);
		row->instrument = instrument;
		row->object_instance = object;
	}
	pfs_shared_cell_read(&sum->cell, &row->totals);
}

static void
files_copy(PfsScan *scan)
{
	pfs_file_sums_each(false, add_file_sum_cb, scan);
}

/* Adds the counters of one socket, unless a condition on event_name leaves it out. */
static void
add_socket_cb(PfsInstrumentId instrument, uint64 address, const PfsCalls *calls, void *arg)
{
	PfsScan    *scan = arg;
	InstanceRow *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->instrument = instrument;
	row->object_instance = address;
	row->totals = pfs_calls_all(calls);
}

static void
sockets_copy(PfsScan *scan)
{
	pfs_sockets_by_instance(add_socket_cb, scan);
}

/* Adds the waits for one LWLock, unless a condition on event_name leaves it out. */
static void
add_lwlock_cb(const PfsLwlock *lock, uint32 index, void *arg)
{
	PfsScan    *scan = arg;
	InstanceRow *row;

	if (scan->instrument != PFS_NO_INSTRUMENT && lock->instrument != scan->instrument)
		return;
	row = pfs_scan_add(scan);
	row->instrument = lock->instrument;
	row->object_instance = lock->address;
	pfs_shared_cell_read(&lock->waits, &row->totals);
}

static void
lwlocks_copy(PfsScan *scan)
{
	pfs_lwlocks_each(add_lwlock_cb, scan);
}

static const struct
{
	void		(*copy) (PfsScan *scan);
	int64		(*push) (void); /* to the event names; events that left */
	const PfsTable *table;		/* of this kind alone; NULL: there is none */
}			sources[] =

{
	{files_copy, pfs_file_sums_push, &pfs_table_file_summary_by_instance},
	{sockets_copy, pfs_sockets_push, &pfs_table_socket_summary_by_instance},
	{lwlocks_copy, pfs_lwlocks_truncate, NULL},
};

static void
copy(PfsScan *scan)
{
	for (int i = 0; i < lengthof(sources); i++)
		sources[i].copy(scan);
}

/*
 * pfs_instances_push is TRUNCATE of one of the tables by instance.  The counters of
 * all kinds go, as one TRUNCATE must leave the tables of all kinds consistent.
 */
int64
pfs_instances_push(const PfsTable *table)
{
	int64		events = 0;

	for (int i = 0; i < lengthof(sources); i++)
	{
		int64		pushed = sources[i].push();

		if (table == sources[i].table || table == &pfs_table_events_waits_summary_by_instance)
			events += pushed;
	}
	return events;
}

const PfsTable pfs_table_events_waits_summary_by_instance = {
	PFS_TABLE("events_waits_summary_by_instance", instances, "MySQL",
			  "one event name and one object that its waits were for",
			  "adds its numbers to the event names and sets them to zero, in all tables by instance",
			  "Waits by event name and object: files, sockets, and with pfs.lwlock_events = contended or all "
			  "LWLocks, of which those acquisitions count that slept. TRUNCATE adds the numbers to the event names "
			  "(those of LWLocks are there already) and sets them to zero, in all tables by instance."),
	.containers = {&pfs_file_sums, &pfs_sockets, &pfs_lwlocks},
	.copy = copy,
	.truncate_part = pfs_instances_push,
	.in_reset_all = true,
};
