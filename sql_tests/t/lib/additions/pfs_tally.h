/*
 * pfs_tally.h
 *	  Tallies: the family of summaries that 190_additions.pl adds.  Its cells count how
 *	  often something was tallied, and how much of it.
 */
#ifndef PFS_TALLY_H
#define PFS_TALLY_H

#include "pfs_local.h"
#include "pfs_summary_own.h"

#define PFS_TALLY_COLOURS 2

/* Of a thread, above threads, and as a private sum. */
typedef struct PfsTallyCell
{
	uint64		count;
	uint64		amount;
} PfsTallyCell;

/* Outside of write sections. */
extern void pfs_tally(PfsThread *t, int colour, uint64 amount);

#endif							/* PFS_TALLY_H */
