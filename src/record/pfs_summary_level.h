/*
 * pfs_summary_level.h
 *	  What the files of the summaries share: where numbers go from where.
 */
#ifndef PFS_SUMMARY_LEVEL_H
#define PFS_SUMMARY_LEVEL_H

#include "pfs_summary.h"

/* Where numbers go: up to two places. */
typedef struct PfsDestination
{
	void	   *cells[2];
	int			n;
} PfsDestination;

extern const PfsAccountKind pfs_kind_of_level[];	/* ACCOUNT, USER, HOST
													 * only */
extern const PfsLevel pfs_level_of_kind[];

/* The shared cells of a record. */
extern void *pfs_summary_cells_of(PfsAccountKind kind, uint32 index);

/* Add to a cell above the threads. */
extern void pfs_summary_merge(void *cells, PfsInstrumentId instrument, const PfsTotals *from);

/* Does the level show the numbers of a thread with these references? */
extern bool pfs_summary_belongs(const PfsAccountRefs *refs, PfsLevel level);

#endif							/* PFS_SUMMARY_LEVEL_H */
