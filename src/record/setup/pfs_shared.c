/*
 * pfs_shared.c
 *	  The segment: the list of parts, laid out twice and started once; and when
 *	  tables were last reset.
 */
#include "postgres.h"

#include <unistd.h>

#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "pfs_clock.h"
#include "pfs_instrument.h"
#include "pfs_part.h"
#include "pfs_probe_row.h"
#include "pfs_setup.h"
#include "pfs_shared.h"

PFS_NEAR PfsSizes pfs_sizes;
PfsSharedResets *pfs_resets = NULL;

static bool active = false;
static bool loaded = false;

static void
lay_out(PfsSegment *seg)
{
	for (int i = 0; i < pfs_num_parts; i++)
	{
		const PfsPart *part = &pfs_parts[i];

		if (part->size > 0)
			*part->address = pfs_segment_take(seg, part->size, PFS_CACHE_LINE);
		if (part->lay_out != NULL)
			part->lay_out(seg);
	}
}

/*
 * The real page size of the segment to be made: huge pages only if the server
 * is certain to use them, else the pages could be aligned too little to be
 * given back; then madvise refuses and reclaim is off, which probes reports.
 */
static size_t
segment_page_size(void)
{
	const char *status = GetConfigOption("huge_pages", true, false);
	const char *size = GetConfigOption("huge_page_size", true, false);
	size_t		kb = size != NULL ? strtoul(size, NULL, 10) : 0;

	if (status == NULL || strcmp(status, "on") != 0)
		return sysconf(_SC_PAGESIZE);
	return kb > 0 ? kb * 1024 : 2 * 1024 * 1024;
}

/* Leaves all pointers of the parts NULL. */
Size
pfs_shared_size(void)
{
	PfsSegment	seg = {NULL, 0, segment_page_size()};

	lay_out(&seg);
	return seg.used;
}

bool
pfs_is_active(void)
{
	return active;
}

bool
pfs_is_loaded(void)
{
	return loaded;
}

void
pfs_shared_note_loaded(void)
{
	loaded = true;
}

/* Does the system take shared memory back?  All containers lie in one segment. */
static void
report_reclaim(void)
{
	PfsProbeRow row = {.name = "reclaim", .target = "madvise(MADV_REMOVE)", .status = "active"};
	int			error = 0;

	for (int i = 0; i < pfs_num_parts && error == 0; i++)
	{
		if (pfs_parts[i].pages != NULL)
			error = pfs_pages_reclaim_errno(*pfs_parts[i].pages);
	}
	if (error != 0)
	{
		row.status = "unavailable";
		strlcpy(row.detail, error == PFS_PAGES_KEPT ? "the system says that it took shared memory back and keeps its bytes"
				: strerror(error), sizeof(row.detail));
		ereport(LOG,
				(errmsg("pfs: the system does not take shared memory back: %s", row.detail),
				 errdetail("Memory that pfs used once stays resident.")));
	}
	pfs_probe_report(&row);
}

void
pfs_shared_start(void)
{
	PfsSegment	seg = {NULL, 0, segment_page_size()};
	bool		found;

	seg.base = ShmemInitStruct("pfs", pfs_shared_size(), &found);

	/*
	 * The postmaster alone gets here, and after a crash it gets a new
	 * segment.
	 */
	Assert(!found);
	lay_out(&seg);
	active = true;
	for (int i = 0; i < pfs_num_parts; i++)
	{
		if (pfs_parts[i].start != NULL)
			pfs_parts[i].start();
	}
	/* What is registered from now on was not known at the start. */
	pfs_instruments->fixed = pfs_instruments->count;
	pfs_setup_refresh();
	report_reclaim();
}

/* The table's place, or the first free one; PFS_RESETS_MAX: there is none. */
static uint32
find_reset(const char *table)
{
	uint32		i = 0;

	while (i < pfs_resets->n && strcmp(pfs_resets->items[i].table, table) != 0)
		i++;
	return i;
}

TimestampTz
pfs_reset_time(const char *table)
{
	uint32		i;
	TimestampTz time;

	LWLockAcquire(pfs_setup->lock, LW_SHARED);
	i = find_reset(table);
	time = i < pfs_resets->n ? pfs_resets->items[i].time : pfs_clock->start_time;
	LWLockRelease(pfs_setup->lock);
	return time;
}

void
pfs_reset_time_note(const char *table)
{
	uint32		i;

	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);
	i = find_reset(table);
	if (i == pfs_resets->n && i < PFS_RESETS_MAX)
	{
		strlcpy(pfs_resets->items[i].table, table, NAMEDATALEN);
		pfs_resets->n++;
	}
	if (i < pfs_resets->n)
		pfs_resets->items[i].time = GetCurrentTimestamp();
	LWLockRelease(pfs_setup->lock);
}
