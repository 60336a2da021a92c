/*
 * pfs_wait_lookup.h
 *	  What a process has looked up of one kind of wait, so that the next one of it is counted
 *	  without looking up anything: for waits that are timed by the cycle counter and go to
 *	  the thread's history, as nearly all are.
 *
 * A lookup is made when its cell has counted an event, and the next one is going to be usual in
 * all.  It is never removed: it holds while the flags are the same, which each wait compares.
 * Where lookups lie is the business of whoever has them: pfs_lwlock_event.h by tranche,
 * pfs_file_event.h by wait event.
 */
#ifndef PFS_WAIT_LOOKUP_H
#define PFS_WAIT_LOOKUP_H

#include "pfs_event_write.h"

typedef struct PfsWaitLookup
{
	const uint32 *flags;		/* of the instrument */
	uint32		usual;			/* if they are this, with the thread's mask,
								 * events are as cached; never ~0 */
	PfsInstrumentId instrument;
	uint32		digest_key;		/* PfsDigestWait.key */
	uint64		bits;			/* instrument and more of an event's first
								 * word, as the family has it */
	PfsWaitCell *cell;			/* of this thread */
	PfsDigestWait *digest;		/* where it would be */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsWaitLookup;

/* Postmaster, which has no thread: n lookups that do not hold. */
extern void pfs_wait_lookups_start(PfsWaitLookup *lookups, int n);

/* Makes one, behind an event of the instrument with these flags, and outside of write sections. */
extern void pfs_wait_lookup_make(PfsWaitLookup *lookup, const PfsThread *t, PfsInstrumentId instrument, uint32 flags,
								 uint64 bits);

static pg_attribute_always_inline bool
pfs_wait_lookup_holds(const PfsWaitLookup *lookup, const PfsThread *t)
{
	return likely((pfs_load_relaxed(lookup->flags) & pfs_load_relaxed(&t->mask)) == lookup->usual);
}

/* The bucket of the cell that so many ticks are counted in. */
static pg_attribute_always_inline uint32 *
pfs_wait_lookup_bucket(const PfsWaitLookup *lookup, uint64 ticks)
{
	return &lookup->cell->buckets[pfs_histogram_bucket(ticks)];
}

/*
 * Inside a write section: counts a wait in its cell, and for the running statement's digest.
 * False: nothing was done, as it is not usual: behind a truncation, in a bucket that is full, or the
 * first of its digest.
 *
 * The generation has to be loaded behind the odd word: who truncates waits for those
 * who may not have seen the new one.
 */
static pg_attribute_always_inline bool
pfs_wait_lookup_count(const PfsThread *t, const PfsWaitLookup *lookup, uint32 *bucket, uint64 ticks)
{
	if (unlikely(pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_WAITS]) !=
				 t->generation[PFS_FAMILY_WAITS] || *bucket == PG_UINT32_MAX))
		return false;
	if (pfs_local.waits != NULL)
	{
		if (unlikely(lookup->digest->key != lookup->digest_key))
			return false;
		pfs_digest_wait_count(lookup->digest, ticks);
	}
	pfs_bump32(bucket);
	pfs_cell_add(&lookup->cell->time, ticks);
	return true;
}

#endif							/* PFS_WAIT_LOOKUP_H */
