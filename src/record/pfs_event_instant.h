/*
 * pfs_event_instant.h
 *	  A wait event that is recorded when it is over, and was never seen running:
 *	  one that nearly always is too short to be met by a reader.
 *
 * Apart from pfs_event_write.h because begin and end are one change here, and
 * every store counts: an event of a class with some hundreds per transaction.
 */
#ifndef PFS_EVENT_INSTANT_H
#define PFS_EVENT_INSTANT_H

#include "pfs_event_write.h"

/*
 * flags: what pfs_wait_flags() gave at its begin, ENABLED among them.  start, end:
 * clock readings by them.  No offset, no bytes: readers know that of LWLocks.
 */
static pg_attribute_always_inline void
pfs_wait_instant(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation operation,
				 PfsObjectType object_type, uint64 object_instance, uint32 source,
				 uint64 start, uint64 end)
{
	uint32		level = t->wait_depth;
	uint64		id = 0;
	uint64		nesting = PFS_NESTING_NONE;
	PfsWaitEvent *e;

	if (unlikely(pfs_local.not_usual != 0 || (pfs_load_relaxed(&t->seq.word) & 1) != 0 ||
				 level >= PFS_WAIT_DEPTH))
	{
		if (!pfs_wait_prepare(t))
			return;
		flags &= pfs_load_relaxed(&t->mask);
		level = t->wait_depth;
	}
	pfs_change_begin(t);
	if (likely(flags & PFS_FLAG_CURRENT))
		t->last_event_id = id = t->last_event_id + 1;
	e = pfs_ring_spare(&t->waits, level);
	e->event_id = id;
	if (unlikely(level > 0))
	{
		e->nesting_event_id = ((const PfsWaitEvent *) pfs_ring_spare(&t->waits, level - 1))->event_id;
		nesting = e->nesting_event_id != 0 ? PFS_NESTING_WAIT : PFS_NESTING_NONE;
	}
	e->timer_start = start;
	e->object_instance = object_instance;
	e->source = source;
	e->spins = 0;
	e->flags = flags;
	e->kind = instrument | (uint64) operation << 16 | (uint64) object_type << 24 |
		nesting << 32;
	pfs_wait_finish(t, e, level, end);
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
	pfs_change_end(t);
}

#endif							/* PFS_EVENT_INSTANT_H */
