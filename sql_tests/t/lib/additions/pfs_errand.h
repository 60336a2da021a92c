/*
 * pfs_errand.h
 *	  Errands: the kind of counted objects that 190_additions.pl adds.  Processes count how
 *	  often each was run, and over how many miles.
 */
#ifndef PFS_ERRAND_H
#define PFS_ERRAND_H

#include "pfs_pending.h"

/* In shared memory. */
typedef struct PfsErrand
{
	uint64		number;			/* by which it is found; never changes */
	uint64		count;			/* atomic, and the next one */
	uint64		miles;
} PfsErrand;

/* A place.  object: the record; key: 0. */
typedef struct PfsPendingErrand
{
	PfsPending	place;
	uint64		count;
	uint64		miles;
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingErrand;

extern PfsPages *pfs_errands;

/* Outside of write sections.  False: there is no room for another errand. */
extern bool pfs_errand_run(PfsThread *t, uint64 number, uint64 miles);

/* Removes an errand, with all that was counted of it; false: there is none. */
extern bool pfs_errand_remove(uint64 number);

#endif							/* PFS_ERRAND_H */
