/*
 * pfs_instr_scan.h
 *	  Where the runs of open scans are found: a small table by the address of the scan's
 *	  descriptor.
 *
 * The descriptor itself is the server's, and is left alone.  A link cannot be put behind it:
 * the server keeps its address from the moment it is made (since 17 a scan's read stream
 * does), so it may not move, and who allocates it decides what follows it.  So nothing
 * of a scan depends on whether pfs has seen its begin: a scan that is unknown gets a place
 * at its next call, and a process can begin to watch, or stop, in the middle of it.
 *
 * A place whose scan an error has ended keeps its address until another scan has the same one,
 * which then is told by its begin, or until the place is needed.  What such a place leads to is
 * looked at by nobody else, and the run itself ends with the transaction (PfsRelLink).
 */
#ifndef PFS_INSTR_SCAN_H
#define PFS_INSTR_SCAN_H

#include "access/relscan.h"
#include "storage/block.h"

#include "pfs_rel_io.h"

/* One for each value of the hash's highest bits. */
#define PFS_SCAN_PLACES 128
#define PFS_SCAN_SHIFT	57

/* A scan whose own place is taken gets one of the next ones; the last ones have some behind them. */
#define PFS_SCAN_NEIGHBOURS 4
#define PFS_SCAN_ALL_PLACES (PFS_SCAN_PLACES + PFS_SCAN_NEIGHBOURS - 1)

/* A TableScanDesc or an IndexFetchTableData, whoever made it. */
typedef struct PfsScanPlace
{
	const void *scan;			/* NULL: the place is free */
	PfsRelLink	link;
	Oid			index;			/* by which rows are fetched; InvalidOid: by
								 * none, or it is not known yet */
	BlockNumber block;			/* of the last fetch by index */
} PfsScanPlace;

extern PFS_HIDDEN PfsScanPlace pfs_scan_places[PFS_SCAN_ALL_PLACES];

/* How many are taken. */
extern PFS_HIDDEN uint32 pfs_scan_places_taken;

/* The place that a scan has if no other one was there before. */
static pg_attribute_always_inline PfsScanPlace *
pfs_scan_home(const void *scan)
{
	return &pfs_scan_places[((uint64) (uintptr_t) scan * UINT64CONST(0x9E3779B97F4A7C15)) >> PFS_SCAN_SHIFT];
}

/* Is this the scan's place, and does it lead to a run? */
static pg_attribute_always_inline bool
pfs_scan_is_at(const PfsScanPlace *place, const void *scan)
{
	return place->scan == scan && place->link.serial == place->link.run->serial;
}

/* Wherever it is; NULL: it has none. */
static inline PfsScanPlace *
pfs_scan_find(const void *scan)
{
	PfsScanPlace *home = pfs_scan_home(scan);

	for (int i = 0; i < PFS_SCAN_NEIGHBOURS; i++)
	{
		if (home[i].scan == scan)
			return &home[i];
	}
	return NULL;
}

/* Out of line: the same; makes one if there is none, for which another scan may be evicted. */
extern PfsScanPlace *pfs_scan_find_or_make(PfsThread *t, const void *scan, Oid index);

/* The place of a scan that is watched. */
static inline PfsScanPlace *
pfs_scan_place(PfsThread *t, const void *scan, Oid index)
{
	PfsScanPlace *home = pfs_scan_home(scan);

	return likely(home->scan == scan) ? home : pfs_scan_find_or_make(t, scan, index);
}

/* A scan has begun, or ends: what the place of its address leads to is over. */
static inline void
pfs_scan_forget(PfsThread *t, const void *scan)
{
	PfsScanPlace *place = pfs_scan_places_taken == 0 ? NULL : pfs_scan_find(scan);

	if (place == NULL)
		return;
	place->scan = NULL;
	pfs_scan_places_taken--;
	pfs_rel_link_end(t, &place->link);
}

/* All scans are. */
extern void pfs_scan_forget_all(PfsThread *t);

#endif							/* PFS_INSTR_SCAN_H */
