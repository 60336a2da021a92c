/*
 * pfs_event_own.h
 *	  The owner's side of events that are not waits: begin, show, end.  Inside a
 *	  write section; inline, with the family a constant, as a statement has several
 *	  of them.
 *
 * pfs_event_begin() fills in the first spare slot that is not in use, up to the
 * family's own part; NULL: they are nested too deep, counted (but of statements:
 * pfs_statement_end()).  The event runs from
 * pfs_event_show() on; its end puts it into the histories, a drop does not.  They
 * need not end in the order in which they began.  pfs_event_record() is the end of
 * an event that is in no slot of the running ones: it was never shown, or was dropped
 * and kept elsewhere.  The caller has set its end_event_id.
 */
#ifndef PFS_EVENT_OWN_H
#define PFS_EVENT_OWN_H

#include "pfs_event_history.h"
#include "pfs_local.h"

extern void pfs_event_too_deep(PfsEventFamily family);

/* The slot at a level, of those that run or of the first one that is free. */
static pg_attribute_always_inline PfsEvent *
pfs_event_slot(const PfsEvents *events, uint32 level)
{
	return (PfsEvent *) (events->slots + events->slot[level] * (size_t) events->slot_size);
}

/* Exchange the event's slot with that of the last running one. */
extern void pfs_event_make_last(PfsEvents *events, const PfsEvent *e);

/*
 * Begins an event of a family other than waits: fills in the first spare slot that is
 * not in use, which no reader looks at yet.  Returns NULL if the family's events are
 * nested too deep.  The caller adds what is the family's own and calls
 * pfs_event_show().  An event that no _current consumer takes has event_id 0.
 */
static pg_attribute_always_inline PfsEvent *
pfs_event_begin(PfsThread *t, PfsEventFamily family, PfsInstrumentId instrument, uint32 flags,
				uint64 start, PfsParent parent)
{
	PfsEvents  *events = &t->events[family];
	PfsEvent   *e;

	if (unlikely(events->depth >= events->depth_max))
	{
		/* What a statement is, and whether it is lost, shows at its end. */
		if (family != PFS_STATEMENTS)
			pfs_event_too_deep(family);
		return NULL;
	}
	e = pfs_event_slot(events, events->depth);
	e->timer_start = start;
	e->event_id = (flags & PFS_FLAG_CURRENT) ? ++t->last_event_id : 0;
	e->nesting_event_id = parent.event_id;
	e->kind = instrument | parent.type << 32;
	e->flags = flags;
	e->own = 0;
	return e;
}

/*
 * Shows the event to readers, as the last of those that run.  C: pairs with the acquire
 * in copy_running_event().
 */
static pg_attribute_always_inline void
pfs_event_show(PfsThread *t, PfsEventFamily family)
{
	pfs_store_release(&t->events[family].depth, t->events[family].depth + 1);
}

/* Ends an event without a history entry; its slot is the first spare one then. */
static pg_attribute_always_inline void
pfs_event_drop(PfsThread *t, PfsEventFamily family, PfsEvent *e)
{
	PfsEvents  *events = &t->events[family];
	uint32		last = events->depth - 1;

	if (unlikely(pfs_event_slot(events, last) != e))
		pfs_event_make_last(events, e);
	pfs_store_relaxed(&events->depth, last);
}

/*
 * Puts an event that is over, or was never shown, into the histories that its flags ask
 * for.  Whoever calls it has set end_event_id.
 */
static pg_attribute_always_inline void
pfs_event_record(PfsThread *t, PfsEventFamily family, PfsEvent *e, uint64 end)
{
	e->timer_end = Max(end, e->timer_start);
	if (likely(e->flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		pfs_event_records[family] (t, e);
}

/*
 * Where an event goes that has so many bytes in a block, which are rounded up; NULL:
 * there is no block.
 */
static pg_attribute_always_inline char *
pfs_event_room(PfsThread *t, PfsEventFamily family, PfsEvent *event, size_t size)
{
	event->size = TYPEALIGN(PFS_EVENT_UNIT, size) / sizeof(uint64);
	return pfs_history_room(t, family, event->size * sizeof(uint64));
}

static pg_attribute_always_inline void
pfs_event_done(PfsThread *t, PfsEventFamily family, const PfsEvent *event)
{
	pfs_history_done(t, family, event->size * sizeof(uint64), event->flags);
}

/*
 * PfsEventFamilyInfo.record of a family whose events lie in a block as they do in a slot,
 * without what only readers have.  used: bytes of the slot that mean something.
 */
static pg_attribute_always_inline void
pfs_event_record_plain(PfsThread *t, PfsEventFamily family, PfsEvent *event, size_t used)
{
	char	   *to = pfs_event_room(t, family, event, used - PFS_EVENT_UNSTORED);

	if (unlikely(to == NULL))
		return;
	memcpy(to, PFS_EVENT_STORED(event), used - PFS_EVENT_UNSTORED);
	pfs_event_done(t, family, event);
}

/* Ends a running event, wherever it lies, and puts it into the histories. */
static pg_attribute_always_inline void
pfs_event_end(PfsThread *t, PfsEventFamily family, PfsEvent *e, uint64 end)
{
	pfs_event_drop(t, family, e);
	e->end_event_id = t->last_event_id;
	pfs_event_record(t, family, e, end);
}

#endif							/* PFS_EVENT_OWN_H */
