/*
 * pfs_instr_scan.c
 *	  Places of open scans: made, and given to others.
 *
 * Separate from the methods of tables and of indexes, which both look here: rows that an
 * index leads to belong to one run.
 */
#include "postgres.h"

#include "pfs_instr_scan.h"

PFS_HOT_TABLE PfsScanPlace pfs_scan_places[PFS_SCAN_ALL_PLACES];

PFS_HOT uint32 pfs_scan_places_taken = 0;

/* Which neighbour is evicted next. */
static uint32 next_victim = 0;

/*
 * Returns a place that nobody needs: a free one, or one whose run has ended.  Else a scan
 * is evicted and its run ends: it gets another one at its next call.  One that is in a call, whose
 * functions execute this scan, is passed by, unless all of them are.
 */
static PfsScanPlace *
free_place(PfsThread *t, const void *scan)
{
	PfsScanPlace *home = pfs_scan_home(scan);
	PfsScanPlace *victim;
	int			looks = 0;

	for (PfsScanPlace *place = home; place < home + PFS_SCAN_NEIGHBOURS; place++)
	{
		if (place->scan == NULL || place->link.serial != place->link.run->serial)
			return place;
	}
	do
		victim = home + next_victim++ % PFS_SCAN_NEIGHBOURS;
	while (victim->link.run->in_call && ++looks < PFS_SCAN_NEIGHBOURS);
	pfs_rel_link_end(t, &victim->link);
	return victim;
}

/* Returns the place of a scan, made if it has none. */
PfsScanPlace *
pfs_scan_find_or_make(PfsThread *t, const void *scan, Oid index)
{
	PfsScanPlace *place = pfs_scan_places_taken == 0 ? NULL : pfs_scan_find(scan);

	if (place != NULL)
		return place;
	place = free_place(t, scan);
	if (place->scan == NULL)
		pfs_scan_places_taken++;
	*place = (PfsScanPlace)
	{
		.scan = scan, .index = index, .block = InvalidBlockNumber
	};
	return place;
}

/* Ends the runs of all scans that have a place, and frees the places. */
void
pfs_scan_forget_all(PfsThread *t)
{
	for (PfsScanPlace *place = pfs_scan_places; place < pfs_scan_places + PFS_SCAN_ALL_PLACES; place++)
	{
		if (place->scan == NULL)
			continue;
		place->scan = NULL;
		pfs_scan_places_taken--;
		pfs_rel_link_end(t, &place->link);
	}
}
