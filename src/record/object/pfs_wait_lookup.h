/*
 * pfs_wait_lookup.h
 *	  What a process has looked up of one kind of wait, so that the next one of it is counted
 *	  without looking up anything: for waits that are timed by the cycle counter and go to
 *	  the thread's history, as nearly all are.
 *
 * A lookup is made when its cell has counted an event, and the next one is going to be usual in
 * all.  It is never removed: it holds while the flags are the same, which each wait compares.
 * Where lookups lie is the business of whoever has them: pfs_lwlock_event.h by tranche,
 * pfs_file_event.h by wait event, pfs_socket.h of the client's socket.
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

/*
 * Makes one, behind an event of the instrument with these flags; inside a write section or not, but not where a handler
 * may come that goes by it.
 */
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

/*
 * Inside a write section: ends the outermost wait, which is the lookup's, at a reading of its timer.  All that is
 * asked comes before the first change.  False: nothing was done, as it is not usual by now: as above, or there is
 * another event behind it, of a handler, or it has something in its second line, or its block is full.
 */
static pg_attribute_always_inline bool
pfs_wait_lookup_end(PfsThread *t, const PfsWaitLookup *lookup, uint64 end, int32 bytes)
{
	PfsWait    *e = &t->waits[0];
	uint64		ticks = end - e->timer_start;
	PfsWait    *to;

	if (unlikely((int64) ticks < 0 || t->last_event_id != e->event_id || e->wide != 0 ||
				 !pfs_block_has_room(&t->events[PFS_WAITS].finished, PFS_WAIT_LINE) ||
				 !pfs_wait_lookup_count(t, lookup, pfs_wait_lookup_bucket(lookup, ticks), ticks)))
		return false;
	/* It is copied in the pieces in which it was written. */
	to = (PfsWait *) t->events[PFS_WAITS].finished.next;
	to->kind = e->kind;
	to->timer_start = e->timer_start;
	e->timer_end = to->timer_end = end;
	to->event_id = e->event_id;
	memcpy(&to->nesting_distance, &e->nesting_distance, sizeof(uint64));
	to->source = e->source;
	to->bytes = bytes;
	memcpy(&to->object, &e->object, sizeof(e->object));
	pfs_store_relaxed(&t->events[PFS_WAITS].depth, 0);
	pfs_history_done(t, PFS_WAITS, PFS_WAIT_LINE, e->flags);
	return true;
}

/*
 * Inside a write section: counts a wait that is over, and in no other one, and makes its event where it stays; it
 * was never seen running.  False: nothing was done.  Without a block, which is counted as a loss, there is no event.
 */
static pg_attribute_always_inline bool
pfs_wait_lookup_instant(PfsThread *t, const PfsWaitLookup *lookup, uint64 start, uint64 ticks, int32 bytes, uint64 address,
						uint32 source)
{
	PfsParent	parent = pfs_local.parent;
	uint64		id = t->last_event_id + 1;
	PfsWait    *e;

	if (unlikely(id - parent.event_id > PG_UINT32_MAX ||
				 !pfs_wait_lookup_count(t, lookup, pfs_wait_lookup_bucket(lookup, ticks), ticks)))
		return false;
	t->last_event_id = id;
	e = pfs_history_room(t, PFS_WAITS, PFS_WAIT_LINE);
	if (unlikely(e == NULL))
		return true;
	e->kind = lookup->bits | parent.type << 32;
	e->timer_start = start;
	e->timer_end = start + ticks;
	e->event_id = id;
	e->nesting_distance = (uint32) (id - parent.event_id);
	e->flags = lookup->usual;
	e->source = source;
	e->bytes = bytes;
	e->object.address = address;
	pfs_history_done(t, PFS_WAITS, PFS_WAIT_LINE, lookup->usual);
	return true;
}

#endif							/* PFS_WAIT_LOOKUP_H */
