/*
 * pfs_thread_copy.h
 *	  Copies of all threads' counters as of one point in time: what a counter has
 *	  counted is in its thread's copy or above the threads, never in both or in neither.
 *
 *	  pfs_thread_copies_make(&copies, 0);
 *	  do
 *		  read what is above the threads
 *	  while (!pfs_thread_copies_hold(&copies));
 *
 * Readers and truncators, in their turn.  They wait with the patience of the copies.
 */
#ifndef PFS_THREAD_COPY_H
#define PFS_THREAD_COPY_H

#include "lib/stringinfo.h"

#include "pfs_patience.h"
#include "pfs_summary.h"

typedef struct PfsBucketCopy
{
	uint16		histogram;
	uint16		bucket;
	uint32		n;
} PfsBucketCopy;

typedef struct PfsCellCopy
{
	uint64		index;			/* which cell it is */
	uint64		words[];		/* what it held, of the family's size */
} PfsCellCopy;

typedef struct PfsThreadCopy
{
	bool		is_there;		/* false: no thread had the record, or it has
								 * ended */
	bool		stuck;			/* in the middle of a move, and stays there */
	uint32		index;
	uint64		word;			/* of the record; another one: it has gone */
	uint64		moves;
	uint64		generation;
	uint64		thread_id;
	PfsAccountRefs refs;
	uint32		n;				/* cells, or buckets */
	StringInfoData items;		/* of the size of the one or the other */
} PfsThreadCopy;

typedef struct PfsThreadCopies
{
	PfsThreadCopy *threads;		/* [n], by record */
	uint32		n;
	uint32		rounds;			/* of copying again */
	uint64		attached;		/* threads so far, before the copies */
	PfsFamily	family;
	bool		of_histograms;	/* buckets are copied, no cells */
	uint32		first;			/* cells that are wanted */
	uint32		end;
	PfsPatience patience;
} PfsThreadCopies;

static inline const PfsCellCopy *
pfs_copied_cell(const PfsThreadCopies *copies, const PfsThreadCopy *copy, uint32 i)
{
	size_t		size = offsetof(PfsCellCopy, words) + pfs_summary_kinds[copies->family]->read_size;

	return (const PfsCellCopy *) (copy->items.data + i * size);
}

static inline const PfsBucketCopy *
pfs_copied_bucket(const PfsThreadCopy *copy, uint32 i)
{
	return (const PfsBucketCopy *) copy->items.data + i;
}

/*
 * Makes copies of all threads (0), or of one, if it is there.  The caller sets family,
 * of_histograms, first, end and patience before; all else must be 0.
 */
extern void pfs_thread_copies_make(PfsThreadCopies *copies, uint64 thread_id);

/*
 * Returns whether no thread has moved counters since it was copied.  Those that have are
 * copied again.  After some hundred rounds the answer is yes; and threads that are in
 * the middle of a move when the patience has run out are not checked any more.  Looks at
 * interrupts, which truncators hold.
 */
extern bool pfs_thread_copies_hold(PfsThreadCopies *copies);
extern void pfs_thread_copies_free(PfsThreadCopies *copies);

#endif							/* PFS_THREAD_COPY_H */
