/*
 * pfs_thread_sets.h
 *	  What a process keeps beside its thread record: sets of bytes in shared memory, one
 *	  for each of the places of thread records.
 *
 * A process takes the set of its record when it needs it first, and it alone writes it.  A
 * set is not emptied when its process ends: the next one that has the record goes on with
 * what is there.  Readers copy the sets of all records, also of those that are nobody's at
 * the moment; how they do that is the business of whoever has sets.
 *
 * Separate from the thread record, which is filled anew for each process, and whose page is
 * given back to the system when nobody has it.
 */
#ifndef PFS_THREAD_SETS_H
#define PFS_THREAD_SETS_H

#include "pfs_segment.h"
#include "pfs_thread.h"

/*
 * Sets of one kind; inherited from the postmaster.  Whether one was ever taken says a byte
 * beside: a reader that looked at all of them would make them resident.
 */
typedef struct PfsThreadSets
{
	char	   *sets;			/* [threads]; NULL: there are none */
	uint8	   *taken;			/* [threads]; the record's process stores 1,
								 * and nobody stores 0 */
	size_t		size;			/* bytes of a set */
} PfsThreadSets;

/* Postmaster: takes the memory of sets of so many bytes, whole cache lines. */
extern void pfs_thread_sets_lay_out(PfsThreadSets *sets, PfsSegment *seg, size_t size);

/* Bytes of all sets, and of those that were never taken, whose pages are not resident. */
extern size_t pfs_thread_sets_bytes(const PfsThreadSets *sets);
extern size_t pfs_thread_sets_unused(const PfsThreadSets *sets);

/* The owner of a record: its set, taken from now on; NULL: there are none. */
extern void *pfs_thread_sets_claim(const PfsThreadSets *sets, const PfsThread *t);

/* Readers: the set of the record of this index; NULL: it was never taken. */
static inline const void *
pfs_thread_sets_get(const PfsThreadSets *sets, uint32 thread)
{
	if (sets->sets == NULL || pfs_load_relaxed(&sets->taken[thread]) == 0)
		return NULL;
	return sets->sets + thread * sets->size;
}

#endif							/* PFS_THREAD_SETS_H */
