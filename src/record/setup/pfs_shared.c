/*
 * pfs_shared.c
 *	  The segment: the list of parts, laid out twice and started once.
 *
 * Separate from the parts, of which it knows no single one.
 */
#include "postgres.h"

#include <inttypes.h>
#include <unistd.h>

#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "pfs_part.h"
#include "pfs_probe_row.h"
#include "pfs_shared.h"

PFS_FIXED PfsSizes pfs_sizes;

const PfsPart *const *pfs_parts = NULL;
int			pfs_num_parts = 0;

bool		pfs_is_loaded = false;
bool		pfs_is_active = false;

/* Lays all parts out in a segment, or, while it has no address, counts their bytes. */
static void
lay_out(PfsSegment *seg)
{
	pfs_each_part(part)
	{
		if (part->size > 0)
			*part->address = pfs_segment_take(seg, part->size, PFS_CACHE_LINE);
		if (part->lay_out != NULL)
			part->lay_out(seg);
	}
}

/*
 * Why must no page of this memory be given back?  0: it may.  With huge_pages = try only the
 * system knows whether it lies in huge pages; nothing is lost by keeping them.
 */
static int
why_kept(const void *memory)
{
	const char *setting = GetConfigOption("huge_pages", true, false);
	FILE	   *maps;
	char		line[1024];
	bool		inside = false;
	size_t		kb = 0;

	if (setting != NULL && strcmp(setting, "off") == 0)
		return 0;
	maps = AllocateFile("/proc/self/smaps", "r");
	if (maps == NULL)
		return PFS_PAGES_UNKNOWN;
	while (kb == 0 && fgets(line, sizeof(line), maps) != NULL)
	{
		uintptr_t	start;
		uintptr_t	end;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
			inside = (uintptr_t) memory >= start && (uintptr_t) memory < end;
		else if (inside)
			(void) sscanf(line, "KernelPageSize: %zu kB", &kb);
	}
	FreeFile(maps);
	if (kb == 0)
		return PFS_PAGES_UNKNOWN;
	return kb * 1024 > (size_t) sysconf(_SC_PAGESIZE) ? PFS_PAGES_HUGE : 0;
}

/* Of the segment, once it is there. */
static Size size;

/* Leaves all pointers of the parts NULL. */
Size
pfs_shared_size(void)
{
	PfsSegment	seg = {.os_page = sysconf(_SC_PAGESIZE)};

	lay_out(&seg);
	return seg.used;
}

/* Does the system take shared memory back?  All containers lie in one segment. */
static void
report_reclaim(void)
{
	PfsProbeRow row = {.name = "reclaim", .target = "madvise(MADV_REMOVE)", .status = "active"};
	int			error = 0;

	pfs_each_part_with(part, pages)
	{
		if (error == 0)
			error = pfs_pages_reclaim_errno(*part->pages);
	}
	if (error != 0)
	{
		row.status = error == PFS_PAGES_HUGE ? "off" : "unavailable";
		strlcpy(row.detail, error == PFS_PAGES_HUGE ? "shared memory lies in huge pages, which are the server's for good"
				: error == PFS_PAGES_UNKNOWN ? "the system does not say whether shared memory lies in huge pages, which must not be given back"
				: error == PFS_PAGES_KEPT ? "the system says that it took shared memory back and keeps its bytes"
				: strerror(error), sizeof(row.detail));
		if (error != PFS_PAGES_HUGE)
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
	PfsSegment	seg = {.os_page = sysconf(_SC_PAGESIZE)};
	bool		found;

	size = pfs_shared_size();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	seg.base = ShmemInitStruct("pfs", size, &found);
	LWLockRelease(AddinShmemInitLock);
	seg.why_kept = why_kept(seg.base);

	/*
	 * The postmaster alone gets here, and after a crash it gets a new
	 * segment.
	 */
	Assert(!found);
	lay_out(&seg);
	pfs_is_active = true;
	pfs_each_part_with(part, start)
		part->start();
	report_reclaim();
}

void
pfs_shared_find(void)
{
	bool		found;

	(void) ShmemInitStruct("pfs", size, &found);
}
