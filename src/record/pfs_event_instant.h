/*
 * pfs_event_instant.h
 *	  A wait event that is recorded when it is over, and was never seen running:
 *	  one that nearly always is too short to be met by a reader.
 *
 * Apart from pfs_event_write.h because begin and end are one change here, and
 * every instruction counts: a class of events that a point select has some
 * fifteen of.
 */
#ifndef PFS_EVENT_INSTANT_H
#define PFS_EVENT_INSTANT_H

#include "pfs_event_write.h"

/*
 * Record an instant of any kind.  kind: as an event has it, without nesting; flags: what
 * pfs_wait_flags() gave at its begin, ENABLED among them, and PFS_EVENT_*; start,
 * end: clock readings by the flags.  No offset, no bytes: readers know that of
 * LWLocks.
 */
extern void pfs_wait_instant_any(PfsThread *t, uint64 kind, uint32 flags, uint64 object_instance,
								 uint32 source, uint64 start, uint64 end);

/* Do events with these flags go everywhere, timed by the cycle counter? */
static pg_attribute_always_inline bool
pfs_instant_is_usual(uint32 flags)
{
	return (flags & PFS_FLAGS_INSTANT) == pfs_local.instant;
}

/*
 * For flags that are usual there is a way straight through.  Whatever stands in it
 * (another event around this one, one that may have ended, the first of its cell,
 * a truncation) is found out before anything is written: then it is
 * pfs_wait_instant_any() that has to be called.
 *
 * True: a change has begun, which pfs_wait_instant() ends.  It begins here because
 * the generation has to be loaded behind the odd word: who truncates waits for
 * those who may not have seen the new one.  A change without any is harmless.
 */
typedef struct PfsInstantPlace
{
	PfsCell    *cell;
	uint32	   *bucket;
} PfsInstantPlace;

static pg_attribute_always_inline bool
pfs_wait_instant_begin(PfsThread *t, PfsInstrumentId instrument, uint64 start, uint64 end,
					   PfsInstantPlace *place)
{
	PfsCell    *cell = (PfsCell *) t->summary[PFS_FAMILY_WAITS].cells.cells + instrument;

	if (unlikely(pfs_local.not_usual != 0 || (pfs_load_relaxed(&t->seq.word) & 1) != 0 ||
				 t->events[PFS_WAITS].depth != 0 || end < start))
		return false;
	pfs_change_begin(t);
	if (likely(pfs_load_relaxed(&pfs_summary[PFS_FAMILY_WAITS].generation) ==
			   t->summary[PFS_FAMILY_WAITS].generation &&
			   cell->count_timed != 0 && cell->buckets != NULL))
	{
		place->cell = cell;
		place->bucket = &cell->buckets[pfs_histogram_bucket(end - start)];
		if (likely(*place->bucket != PG_UINT32_MAX))
			return true;
	}
	pfs_change_end(t);
	return false;
}

static pg_attribute_always_inline void
pfs_wait_instant(PfsThread *t, const PfsInstantPlace *place, uint64 kind, uint32 flags,
				 uint64 object_instance, uint32 source, uint64 start, uint64 end)
{
	uint64		id;
	PfsWaitEvent *e;

	id = t->last_event_id + 1;
	t->last_event_id = id;
	e = pfs_ring_spare(&t->events[PFS_WAITS].ring, 0);
	e->event_id = id;
	e->end_event_id = id;
	e->timer_start = start;
	/* By itself: the compiler would take vector registers to store both. */
	pfs_store_relaxed(&e->timer_end, end);
	e->object_instance = object_instance;
	e->source = source;
	e->spins = 0;
	e->flags = flags;
	e->nesting_event_id = pfs_local.parent.event_id;
	e->kind = kind | pfs_local.parent.type << 32;
	pfs_cell_add(place->cell, end - start);
	pfs_store_relaxed(place->bucket, *place->bucket + 1);
	pfs_digest_wait_add((PfsInstrumentId) kind, end - start);
	pfs_history_push(t, 0);
	pfs_change_end(t);
}

/*
 * What would be an event, but is only counted.  flags: as above.
 */
static pg_attribute_always_inline void
pfs_wait_count_only(PfsThread *t, PfsInstrumentId instrument, uint32 flags)
{
	if (unlikely((flags & PFS_FLAG_THREAD) == 0))
	{
		pfs_summary_count_global(instrument, false, 0);
		return;
	}
	/* A handler's, in the middle of something: rare enough to go by. */
	if (unlikely(pfs_load_relaxed(&t->seq.word) & 1))
	{
		pfs_local.reentered++;
		return;
	}
	pfs_change_begin(t);
	pfs_summary_look(t);
	pfs_cells_add_untimed(&t->summary[PFS_FAMILY_WAITS].cells, instrument);
	if (pfs_local.waits != NULL)
		pfs_digest_wait_far(instrument, false, 0);
	pfs_change_end(t);
}

#endif							/* PFS_EVENT_INSTANT_H */
