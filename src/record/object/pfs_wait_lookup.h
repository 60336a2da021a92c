/*
 * pfs_wait_lookup.h
 *	  What a process has looked up of one kind of wait, so that the next one of it is counted
 *	  without looking up anything: for waits that are timed by the cycle counter and go to
 *	  the thread's history, as nearly all are.
 *
 * A lookup is made when its cell has counted an event, and the next one is going to be usual in
 * all.  It is never removed: it holds as long as no switch changes, of an instrument, a consumer or a thread, and nothing
 * is truncated, which the generation of the shared words tells.  Each wait compares that.
 * Where lookups lie is the business of whoever has them: pfs_lwlock_event.h by tranche,
 * pfs_file_event.c by instrument, pfs_socket.h of the client's socket.
 *
 * A wait by a lookup, but of an LWLock, is made where it stays, in the thread's block, and runs there
 * (PFS_EVENT_IN_PLACE).  There is one at most, which is in no other: whatever else begins while it runs moves it to the
 * slot of the outermost wait first (pfs_wait_leave_place()), where it is as any other.
 */
#ifndef PFS_WAIT_LOOKUP_H
#define PFS_WAIT_LOOKUP_H

#include "pfs_event_write.h"

typedef struct PfsWaitLookup
{
	uint64		generation;		/* of the shared words at which events are as
								 * cached; 0: never */
	uint32		usual;			/* their flags */
	uint32		counts;			/* pfs_history_counts() of them */
	PfsInstrumentId instrument;
	uint32		digest_key;		/* PfsDigestWait.key */
	uint64		bits;			/* instrument and more of an event's first
								 * word, as the family has it */
	PfsWaitCell *cell;			/* of this thread */
	PfsDigestWait *digest;		/* where it would be */
	uint32		wait_info;		/* of calls on files: the server's wait event;
								 * 0: none of files' */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsWaitLookup;

/*
 * Makes one, where an event of the instrument ends or is about to begin; inside a write section or not, but not where a handler
 * may come that goes by it.
 */
extern void pfs_wait_lookup_make(PfsWaitLookup *lookup, const PfsThread *t, PfsInstrumentId instrument, uint64 bits);

/* Has nothing changed since it was made?  Where a wait is counted, inside a write section. */
static pg_attribute_always_inline bool
pfs_wait_lookup_holds(const PfsWaitLookup *lookup)
{
	return likely(pfs_load_relaxed(&pfs_words->generation) == lookup->generation);
}

/*
 * Inside a write section: counts a wait in its cell, in this bucket, and for the running statement's digest.
 * False: nothing was done, as it is not usual: behind a truncation or a switch, in a bucket that is full, or the
 * first of its digest.
 *
 * The generation has to be loaded behind the odd word: who truncates waits for those
 * who may not have seen the new one.
 */
static pg_attribute_always_inline bool
pfs_wait_lookup_count(const PfsWaitLookup *lookup, uint32 bucket, uint64 ticks)
{
	PfsWaitCell *cell = lookup->cell;

	if (unlikely(!pfs_wait_lookup_holds(lookup) || cell->buckets[bucket] == PG_UINT32_MAX))
		return false;
	if (pfs_local.waits != NULL)
	{
		if (unlikely(lookup->digest->key != lookup->digest_key))
			return false;
		pfs_digest_wait_count(lookup->digest, ticks);
	}
	pfs_bump32(&cell->buckets[bucket]);
	pfs_cell_add(&cell->time, ticks);
	return true;
}

/*
 * Begins to make an event where it stays; NULL: there is no room, or it is too far from what it is nested in.  It is
 * the thread's next one when that has taken its number, and readers do not know of it yet.  The caller fills in
 * object, start and end, and bytes.
 */
static pg_attribute_always_inline PfsWait *
pfs_wait_lookup_fill(PfsThread *t, const PfsWaitLookup *lookup, PfsParent parent, uint32 source)
{
	PfsWait    *e = (PfsWait *) t->events[PFS_WAITS].finished.next;
	uint64		id = t->last_event_id + 1;
	uint64		distance = id - parent.event_id;

	if (unlikely(!pfs_block_has_room(&t->events[PFS_WAITS].finished, PFS_WAIT_LINE)))
		return NULL;
	e->nesting_distance = (uint32) distance;
	if (unlikely(distance >> 32 != 0))
		return NULL;
	e->kind = lookup->bits | parent.type << 32;
	e->event_id = id;
	e->flags = lookup->usual;
	e->source = source;
	return e;
}

/* Shows readers that event, as it runs. */
static pg_attribute_always_inline void
pfs_wait_lookup_show(PfsThread *t)
{
	pfs_store_release(&t->events[PFS_WAITS].depth, PFS_EVENT_IN_PLACE); /* C */
}

/* Does a wait run where it stays?  It does at finished.next. */
static pg_attribute_always_inline bool
pfs_wait_is_in_place(const PfsThread *t)
{
	return likely(t->events[PFS_WAITS].depth == PFS_EVENT_IN_PLACE);
}

/* Inside a write section: the event is complete; pfs_wait_lookup_leave() is to follow. */
static pg_attribute_always_inline void
pfs_wait_lookup_done(PfsThread *t, const PfsWaitLookup *lookup, PfsWait *e, uint64 end, int32 bytes)
{
	e->timer_end = end;
	e->bytes = bytes;
	pfs_block_done(&t->events[PFS_WAITS].finished, PFS_WAIT_LINE, lookup->counts);
}

/*
 * Ends the write section of events that are complete.  The next one is to find a place, as whoever begins one is in no
 * write section.  Returns `result`, so that a jump leads to what is rare.
 */
static pg_attribute_always_inline int64
pfs_wait_lookup_leave(PfsThread *t, int64 result)
{
	if (unlikely(!pfs_block_has_room(&t->events[PFS_WAITS].finished, PFS_WAIT_LINE)))
		return pfs_wait_leave_block(t, result);
	pfs_write_end(t);
	return result;
}

/*
 * Inside a write section: ends the wait that runs where it stays, which is the lookup's, at a reading of the cycle
 * counter.  All that is asked comes before the first change.  False: nothing was done, as it is not usual by now: as
 * above, or its time is very short or long.  What has come in between, of a handler, are no events: the first of these
 * would have moved it.
 */
static pg_attribute_always_inline bool
pfs_wait_lookup_end(PfsThread *t, const PfsWaitLookup *lookup, PfsWait *e, uint64 end, uint64 ticks, int32 bytes)
{
	if (unlikely(!pfs_histogram_is_inside(ticks) ||
				 !pfs_wait_lookup_count(lookup, pfs_histogram_bucket_inside(ticks), ticks)))
		return false;
	t->last_reading = end;
	pfs_store_relaxed(&t->events[PFS_WAITS].depth, 0);
	pfs_wait_lookup_done(t, lookup, e, end, bytes);
	return true;
}

#endif							/* PFS_WAIT_LOOKUP_H */
