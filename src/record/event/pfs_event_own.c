/*
 * pfs_event_own.c
 *	  What is rare about events that are not waits: they are nested too deep, or end below
 *	  others.
 */
#include "postgres.h"

#include "pfs_event_own.h"

void
pfs_event_too_deep(PfsEventFamily family)
{
	pfs_add_relaxed(&pfs_shared_threads->too_deep[family], 1);
}

/*
 * Exchanges the slot of a running event with that of the last one, for an event that
 * ends below others: the slots in use stay together.
 */
void
pfs_event_make_last(PfsEvents *events, const PfsEvent *e)
{
	uint32		last = events->depth - 1;
	uint32		level = last;
	uint8		slot;

	while (level > 0 && pfs_event_slot(events, level) != e)
		level--;
	slot = events->slot[level];
	pfs_store_relaxed(&events->slot[level], events->slot[last]);
	pfs_store_relaxed(&events->slot[last], slot);
}
