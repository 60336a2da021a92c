/*
 * pfs_event_write.h
 *	  The owner's side of a wait event: begin, end, and the thread record they
 *	  work on.  Everything an instrument point needs, inline.
 *
 *	  begin:	pfs_wait_flags()	is it wanted?
 *				pfs_wait_begin()	a slot among the running events
 *				(object, number_of_bytes, spins, as the call has them)
 *				pfs_wait_start()	read the clock, publish
 *	  the call
 *	  end:		pfs_wait_end()		read the clock, histories, cells
 *
 * Rules: no lock, no allocation, no error.  errno belongs to the server, before
 * the call and after: nothing on the fast path can change it, and whatever
 * makes a system call restores it (pfs_fd_look, pfs_thread_attach, pfs_pages).
 * A signal handler that comes here while the record is being changed sees that
 * (pfs_is_writing) and passes by.
 */
#ifndef PFS_EVENT_WRITE_H
#define PFS_EVENT_WRITE_H

#include "pfs_charge.h"
#include "pfs_event_history.h"
#include "pfs_local.h"
#include "pfs_process.h"
#include "pfs_summary_own.h"

/* A wait that may have two lines goes into the histories. */
extern void pfs_history_push_wide(PfsThread *t, PfsWait *e);

/* Ends a write section behind the last wait of a block, and returns `result`. */
extern int64 pfs_wait_leave_block(PfsThread *t, int64 result);

/* The end of an event that is untimed, or not timed by the cycle counter. */
extern uint64 pfs_wait_read_end_unusual(PfsThread *t, uint32 flags);

/* Inside a write section: events that are untimed, of another timer, or of no thread. */
extern void pfs_event_count_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags,
									uint64 ticks);

/* instrument, operation, object_type, size; little-endian.  PfsWait.kind without nesting. */
static pg_attribute_always_inline uint64
pfs_event_kind(PfsInstrumentId instrument, PfsOperation operation, PfsObjectType object_type)
{
	return instrument | (uint64) operation << 16 | (uint64) object_type << 24 |
		(uint64) (PFS_WAIT_LINE / sizeof(uint64)) << 48;
}

/* Notes that a wait has something in its second line. */
static inline void
pfs_wait_widen(PfsWait *e, uint8 what)
{
	e->wide |= what;
	e->size = sizeof(PfsWait) / sizeof(uint64);
}

/* Gives a wait its bytes, before its end; PFS_EVENT_NO_BYTES: none. */
static pg_attribute_always_inline void
pfs_wait_set_bytes(PfsWait *e, int64 bytes)
{
	if (bytes == PFS_EVENT_NO_BYTES)
	{
		e->bytes = PFS_WAIT_NO_BYTES;
		return;
	}
	e->bytes = (int32) bytes;
	if (unlikely(bytes != (int32) bytes || bytes == PFS_WAIT_NO_BYTES))
	{
		e->number_of_bytes = bytes;
		pfs_wait_widen(e, PFS_WIDE_BYTES);
	}
}

/* Bytes of a FILE's or a SOCKET's wait; negative: none. */
static inline int64
pfs_wait_bytes(const PfsWait *e)
{
	return unlikely(e->wide & PFS_WIDE_BYTES) ? e->number_of_bytes : e->bytes;
}

/* What a wait at this level is nested in. */
static pg_attribute_always_inline PfsParent
pfs_wait_parent(const PfsThread *t, uint32 level)
{
	PfsParent	parent = pfs_local.parent;

	if (unlikely(level > 0) && t->waits[level - 1].event_id != 0)
	{
		parent.event_id = t->waits[level - 1].event_id;
		parent.type = PFS_NESTING_WAIT;
	}
	return parent;
}

/*
 * Gives a wait its number, and says what it is and what it is nested in.  kind: as
 * pfs_event_kind() makes it.
 */
static pg_attribute_always_inline void
pfs_wait_identify(PfsWait *e, uint64 id, uint64 kind, PfsParent parent)
{
	uint64		distance = id - parent.event_id;

	e->event_id = id;
	e->nesting_distance = (uint32) distance;
	e->kind = kind | parent.type << 32;
	if (unlikely(distance > PG_UINT32_MAX) && parent.type != PFS_NESTING_NONE)
	{
		e->nesting_event_id = parent.event_id;
		pfs_wait_widen(e, PFS_WIDE_NESTING);
	}
}

/* May a wait be begun or counted that is in no other, as nothing is in the way, but for these PFS_SLOW_...? */
static pg_attribute_always_inline bool
pfs_wait_is_undisturbed(const PfsThread *t, uint16 ignored)
{
	return likely(((pfs_local.not_usual & ~ignored) | (pfs_load_relaxed(&t->seq.word) & 1) | t->events[PFS_WAITS].depth) == 0);
}

/*
 * Lets a wait with these flags begin, which it may take from it: does what is left to be done before, if something is in
 * the way.  False: it does not begin.
 */
static pg_attribute_always_inline bool
pfs_wait_may_begin(PfsThread *t, uint32 *flags)
{
	if (likely(pfs_local.not_usual == 0 && (pfs_load_relaxed(&t->seq.word) & 1) == 0 &&
			   t->events[PFS_WAITS].depth < PFS_WAIT_DEPTH))
		return true;
	if (!pfs_process.prepare_cb(t))
		return false;
	/* It may have found out that this thread has no history. */
	*flags &= pfs_load_relaxed(&t->mask);
	return true;
}

/*
 * Begin: a slot at the next level, with all that is known of the event now.
 * flags: what pfs_wait_flags() gave, ENABLED among them.  The caller fills in
 * object (but of FILE the offset), object_instance (LOCK, BUFFER), spins (LWLOCK, BUFFER,
 * spin delays), bytes (FILE, SOCKET: at the latest before the end), and calls
 * pfs_wait_start().  NULL: no event.
 *
 * A wait that no _current consumer takes has a slot, too, but no number, and
 * readers do not show it.  pfs_wait_may_begin() has said that it may begin.
 */
static pg_attribute_always_inline PfsWait *
pfs_wait_begin_with_flags(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation operation,
						  PfsObjectType object_type, int64 file_offset, uint32 source)
{
	uint32		level = t->events[PFS_WAITS].depth;
	uint64		id = 0;
	PfsWait    *e;

	pfs_local.beginning = 1;
	pfs_fence_signal();
	if (likely(flags & PFS_FLAG_CURRENT))
		t->last_event_id = id = t->last_event_id + 1;

	/* Stores are what an event costs; readers know which fields count. */
	e = &t->waits[level];
	pfs_wait_identify(e, id, pfs_event_kind(instrument, operation, object_type), pfs_wait_parent(t, level));
	if (object_type == PFS_OBJECT_FILE)
		e->object.file.offset = file_offset;
	e->source = source;
	e->flags = flags;
	return e;
}

/* The same where it is not known yet whether it may begin. */
static pg_attribute_always_inline PfsWait *
pfs_wait_begin(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation operation,
			   PfsObjectType object_type, int64 file_offset, uint32 source)
{
	if (unlikely(!pfs_wait_may_begin(t, &flags)))
		return NULL;
	return pfs_wait_begin_with_flags(t, instrument, flags, operation, object_type, file_offset, source);
}

/* Shows readers the wait at this level, which is filled in. */
static pg_attribute_always_inline void
pfs_wait_show(PfsThread *t, uint32 level)
{
	pfs_store_release(&t->events[PFS_WAITS].depth, level + 1);	/* C */
	pfs_fence_signal();
	pfs_local.beginning = 0;
}

/* Shows readers a wait that pfs_wait_begin() has made; its start was read before. */
static pg_attribute_always_inline void
pfs_wait_start_at(PfsThread *t, PfsWait *e, uint64 start)
{
	e->timer_start = start;
	pfs_wait_show(t, t->events[PFS_WAITS].depth);
}

static pg_attribute_always_inline void
pfs_wait_start(PfsThread *t, PfsWait *e)
{
	pfs_wait_start_at(t, e, pfs_wait_clock(e->flags));
}

/* The clock at the end of the wait; to be read right after the call. */
static pg_attribute_always_inline uint64
pfs_wait_read_end(PfsThread *t, uint32 flags)
{
	if (likely((flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) == PFS_FLAG_TIMED))
		return pfs_read_cycles();
	return pfs_wait_read_end_unusual(t, flags);
}

/* Inside a write section: the event goes into the histories, one cache line. */
static pg_attribute_always_inline void
pfs_history_push(PfsThread *t, PfsWait *e)
{
	void	   *room;

	if (unlikely(t->last_event_id != e->event_id || e->wide != 0))
	{
		pfs_history_push_wide(t, e);
		return;
	}
	room = pfs_history_room(t, PFS_WAITS, PFS_WAIT_LINE);
	if (unlikely(room == NULL))
		return;
	pfs_racy_copy(room, e, PFS_WAIT_LINE);
	pfs_history_done(t, PFS_WAITS, PFS_WAIT_LINE, e->flags);
}

/* Inside a write section: counts a wait that took so many ticks, by its own timer. */
static pg_attribute_always_inline void
pfs_wait_count(PfsThread *t, const PfsWait *e, uint64 ticks)
{
	if (likely((e->flags & PFS_FLAGS_USUAL) == pfs_local.usual))
	{
		pfs_summary_add(t, e->instrument, ticks);
		pfs_digest_wait_add(e->instrument, ticks);
	}
	else
		pfs_event_count_unusual(t, e->instrument, e->flags, ticks);
}

/*
 * Inside a write section: the wait at this level has ended.  Its event goes
 * into the histories, its time into the thread's own counters.
 */
static pg_attribute_always_inline void
pfs_wait_finish(PfsThread *t, PfsWait *e, uint32 level, uint64 end)
{
	PfsEvents  *waits = &t->events[PFS_WAITS];
	uint32		flags = e->flags;
	uint64		start = e->timer_start;

	/* Another processor's counter may lag; a wait is never negative. */
	if (unlikely(end < start))
		end = start;
	e->timer_end = end;
	pfs_wait_count(t, e, end - start);
	pfs_store_relaxed(&waits->depth, level);
	if (likely(flags & (PFS_FLAG_HISTORY | PFS_FLAG_HISTORY_LONG)))
		pfs_history_push(t, e);
	if (unlikely((flags & PFS_FLAG_TIMER_MASK) != (pfs_local.usual & PFS_FLAG_TIMER_MASK)))
		e->timer_end = 0;		/* no sort key, see sort_key() */
}

/* End of the innermost wait, at a clock reading that pfs_wait_read_end() gave. */
static pg_attribute_always_inline void
pfs_wait_end_at(PfsThread *t, PfsWait *e, uint64 end)
{
	pfs_write_begin(t);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
	pfs_write_end(t);
}

static pg_attribute_always_inline void
pfs_wait_end(PfsThread *t, PfsWait *e)
{
	pfs_wait_end_at(t, e, pfs_wait_read_end(t, e->flags));
}

#endif							/* PFS_EVENT_WRITE_H */
