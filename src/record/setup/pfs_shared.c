/*
 * pfs_shared.c
 *	  The segment: the list of parts, laid out twice and started once.
 *
 * Separate from the parts, of which it knows no single one.
 */
#include "postgres.h"

#include <unistd.h>

#include "storage/shmem.h"
#include "utils/guc.h"

#include "pfs_part.h"
#include "pfs_probe_row.h"
#include "pfs_shared.h"

PFS_HOT PfsSizes pfs_sizes;

static bool active = false;
static bool loaded = false;

/* Lays all parts out in a segment, or, while it has no address, counts their bytes. */
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

/*
 * Makes the segment: takes it from the server, lays all parts out in it, and starts them in the
 * order of their list.
 */
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
	report_reclaim();
}
