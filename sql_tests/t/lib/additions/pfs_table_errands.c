/*
 * pfs_table_errands.c
 *	  errands: what all processes have counted of each.
 */
#include "postgres.h"

#include "pfs_errand.h"
#include "pfs_pending_read.h"
#include "pfs_tables.h"

#define ERRANDS_COLUMNS(X, t) \
	X(t, number, bigint, none, row->number, "Its number.") \
	X(t, count_run, bigint, count, row->count, "How often it was run.") \
	X(t, sum_miles, bigint, count, row->miles, "Over how many miles.")

PFS_COLUMNS(errands, PfsErrand, ERRANDS_COLUMNS)

static void
add_pending_cb(const PfsPending *p, void *arg)
{
	PfsErrand  *row = arg;

	row->count += ((const PfsPendingErrand *) p)->count;
	row->miles += ((const PfsPendingErrand *) p)->miles;
}

static void
read_errands(PfsPatience *patience, void *arg)
{
	PfsPendingCopies pending;

	pfs_pending_copy_all(PFS_COUNTED_ERRANDS, PFS_PENDING_OBJECT, &pending, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_errands, &at);)
	{
		PfsErrand	errand;
		uint64		word;

		if (!pfs_pages_copy(pfs_errands, at.index, 0, &errand, sizeof(errand), &word))
			continue;
		pfs_pending_of_object(&pending, PFS_COUNTED_OBJECT(at.index, word), add_pending_cb, &errand);
		*(PfsErrand *) pfs_scan_add(arg) = errand;
	}
	pfree(pending.items);
}

static void
errands_copy(PfsScan *scan)
{
	/* What this process has removed before. */
	pfs_objects_free_removed();
	pfs_blocking_work(PFS_COUNTED_ERRANDS, false, read_errands, scan);
}

/* What was pending of an errand that has gone is in no row. */
static void
count_cb(const PfsPending *p, void *arg)
{
	if (pfs_object_is_there(PFS_COUNTED_ERRANDS, p->object))
		add_pending_cb(p, arg);
}

static void
truncate_errands(PfsPatience *patience, void *arg)
{
	pfs_pending_truncate(PFS_COUNTED_ERRANDS, PFS_PENDING_ALL, count_cb, arg, patience);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_errands, &at);)
	{
		PfsErrand  *errand = pfs_pages_record(pfs_errands, at.index);

		((PfsErrand *) arg)->count += pfs_exchange(&errand->count, 0);
		((PfsErrand *) arg)->miles += pfs_exchange(&errand->miles, 0);
	}
}

/* How many runs leave the table. */
static int64
errands_truncate(void)
{
	PfsErrand	all = {0};

	pfs_blocking_work(PFS_COUNTED_ERRANDS, true, truncate_errands, &all);
	return (int64) all.count;
}

const PfsTable pfs_table_errands = {
	PFS_TABLE("errands", errands, "own", "one errand", "sets all numbers to zero", "Errands, until they are removed."),
	.containers = {&pfs_errands},
	.copy = errands_copy,
	.truncate = errands_truncate,
};
