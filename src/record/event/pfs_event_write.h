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

#include "pfs_instrument.h"
#include "pfs_summary.h"
#include "pfs_thread.h"

/* Reasons for an instrument point to take its slow path. */
#define PFS_SLOW_OPEN		0x01	/* an event may have ended unnoticed */
#define PFS_SLOW_IDENTITY	0x02	/* role, status entry or leader not known
									 * yet */
#define PFS_SLOW_UNNAMED	0x04	/* a message that no hook has seen yet */
#define PFS_SLOW_PROGRESS	0x10	/* in a command that may report progress */
#define PFS_SLOW_WATCH		0x08	/* a process without hooks: look for
									 * transactions */
#define PFS_SLOW_LWLOCK		0x20	/* an acquisition has been shown */
#define PFS_SLOW_REPAIR		0x40	/* an event has passed by: a word may be
									 * left odd, see pfs_thread_end.c */

/* When does an event that outlives its call end? */
typedef enum PfsOpenKind
{
	PFS_OPEN_LWLOCK,			/* until the process is off the lock's queue */
	PFS_OPEN_LOCK,				/* until the lock manager stops waiting */
	PFS_OPEN_GROUP,				/* until the group's leader has served us */
	PFS_OPEN_IDLE,				/* until a byte of the next message arrives */
} PfsOpenKind;

typedef struct PfsOpenWait
{
	PfsWait    *event;
	PfsOpenKind kind;
	uint64		which;			/* tells it from the process's next wait of
								 * the kind */
	uint64		end;			/* end of the last call under it; 0: not known
								 * yet */
} PfsOpenWait;

/*
 * An event whose flags of these are pfs_local.usual takes the fast path at its end: its
 * thread is instrumented, it is timed by the default timer, and the switches of memory
 * are as the process knows them.
 */
#define PFS_FLAGS_USUAL (PFS_FLAG_THREAD | PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK | PFS_FLAG_MEMORY)

/* What an event is nested in; type NONE: nothing. */
typedef struct PfsParent
{
	uint64		event_id;
	uint64		type;			/* PfsNesting */
} PfsParent;

/*
 * A wait whose flags of these are pfs_local.instant is besides numbered and goes to the
 * thread's history: what one that is recorded when it is over needs for its fast path.
 */
#define PFS_FLAGS_INSTANT (PFS_FLAGS_USUAL | PFS_FLAG_ENABLED | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY)

/*
 * Whose digest waits and rows are charged to.  query_id 0: it is the statement at top level,
 * whose identifier is not known yet; statement_id 0: nobody.
 */
typedef struct PfsDigestCharged
{
	uint64		statement_id;
	PfsDigestKey key;
} PfsDigestCharged;

/* A wait for a lock on a relation that has ended, until it is counted for that. */
typedef struct PfsEndedLock
{
	Oid			relation;		/* InvalidOid: none */
	Oid			database;
	int			mode;
	bool		timed;
	uint64		ticks;			/* of the default timer */
} PfsEndedLock;

/* Everything process-local of the record layer. */
typedef struct PfsLocal
{
	union
	{
		struct
		{
			volatile uint8 slow;	/* PFS_SLOW_* */
			volatile uint8 beginning;	/* from pfs_wait_begin() to _start(),
										 * of an instant to its end */
		};
		volatile uint16 not_usual;	/* either, in one load */
	};
	uint32		nopen;
	bool		never_attach;	/* gone, or not ours to watch */
	uint32		usual;			/* flags of an event whose time needs no
								 * conversion: cells are in the unit of the
								 * default timer; see PFS_FLAGS_USUAL */
	PfsParent	parent;			/* of a wait that is in no other */
	uint64		lock_ticks;		/* of the default timer, in waits for locks */
	uint64		rows_examined;	/* fetched from tables, or found by indexes
								 * alone; see pfs_rel_run.h */
	uint64		full_scans;		/* runs that fetched rows by no index */
	uint32		instant;		/* flags of an event that takes the fast path
								 * of pfs_event_instant.h */
	PfsDigestWait *waits;		/* of the thread's record; NULL: nobody's */
	uint64		waits_used;		/* those that have counted something */
	uint64		reentered;		/* events of signal handlers that were lost */
	PfsOpenWait open[PFS_WAIT_DEPTH];
	PfsEndedLock ended_lock;	/* see pfs_rel_lock_look() */
} PfsLocal;

extern PFS_HIDDEN PfsLocal pfs_local;

/*
 * Sets the flags that events have to have for the fast path from now on: at attach, and
 * when the switches of memory have changed.
 */
static inline void
pfs_local_set_usual(uint32 flags)
{
	pfs_local.usual = flags;

	/*
	 * No instant takes the fast path where the clock is not the cycle
	 * counter.
	 */
	pfs_local.instant = (flags & PFS_FLAG_TIMER_MASK) != 0 ? ~PFS_FLAGS_INSTANT
		: flags | PFS_FLAG_ENABLED | PFS_FLAG_CURRENT | PFS_FLAG_HISTORY;
}

/* Postmaster: takes the blocks; how many lanes those of frequent events have. */
extern void pfs_histories_lay_out(PfsSegment *seg);
extern uint32 pfs_history_lanes(void);

/* TRUNCATE of containers. */
extern void pfs_histories_reset_lost(void);

/* The blocks of each family's finished events; NULL: it has no history. */
extern PFS_HIDDEN PfsBlocks *pfs_histories[PFS_NUM_EVENT_FAMILIES];

/*
 * Get a record for this process.  Only from calls that no signal handler
 * makes.  NULL if it must not, or if no record is free (counted).
 */
extern PfsThread *pfs_thread_attach(void);

/*
 * Find out the thread's role and account, at latch waits whose events are not wanted: a
 * session is a connection of its account whatever is switched off.
 */
extern void pfs_thread_identify_now(PfsThread *t);

/*
 * Repair what an error has left as inside a write section.  Only where the process is
 * in none, and in no signal handler.
 */
extern void pfs_thread_repair(PfsThread *t);

/* Slow path of begin: looks at what the process has missed.  False: no event. */
extern bool pfs_wait_prepare(PfsThread *t);

/* Bytes of what a thread has to know of its blocks of a family. */
extern size_t pfs_history_own_size(PfsEventFamily family);

/* Owner: the thread ends; its role has become known. */
extern void pfs_histories_leave(PfsThread *t);
extern void pfs_histories_set_role(PfsThread *t);

/* Slow path of pfs_history_room(). */
extern void *pfs_history_more_room(PfsThread *t, PfsEventFamily family, uint32 bytes);

/* A wait that may have two lines goes into the histories. */
extern void pfs_history_push_wide(PfsThread *t, PfsWait *e);

/* The end of an event that is untimed, or not timed by the cycle counter. */
extern uint64 pfs_wait_read_end_unusual(PfsThread *t, uint32 flags);

/* Inside a write section: events that are untimed, of another timer, or of no thread. */
extern void pfs_event_count_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags,
									uint64 ticks);

/* A wait for a heavyweight lock ends; ticks by its own timer. */
extern void pfs_heavy_lock_ended(const PfsWait *e, uint64 ticks);

/* Is this process still in a wait of this kind? */
extern bool pfs_wait_goes_on(PfsOpenKind kind);

/* What the present wait of this kind has and the next one will not; or 0. */
extern uint64 pfs_wait_identity(PfsOpenKind kind);

/* End the innermost open event at the given raw reading, 0: now. */
extern void pfs_open_finish(PfsThread *t, uint64 end);

/* End an event that a call has continued, if it is still the innermost open one. */
extern void pfs_open_finish_this(PfsThread *t, const PfsOpenWait *open, uint64 end);

/* Inside a write section: end the open events that nobody waits in any more. */
extern void pfs_open_end_stale(PfsThread *t);

/* Does that in a write section of its own, where the next event is not wanted. */
extern void pfs_open_end_stale_now(PfsThread *t);
extern void pfs_open_finish_all(PfsThread *t);

/*
 * Begin and end a write section of the thread's record: the owner writes what readers
 * can see between these two (edges A and B of pfs_seqlock.h).  A slot that is being
 * filled is not yet among it: readers come to it by its depth, which is stored behind it
 * (C, pairs with the acquire in copy_running_event), and a slot is filled again only
 * after a write section, the end of its event.
 */
static pg_attribute_always_inline void
pfs_write_begin(PfsThread *t)
{
	pfs_seqlock_write_begin(&t->seq);
}

static pg_attribute_always_inline void
pfs_write_end(PfsThread *t)
{
	pfs_seqlock_write_end(&t->seq);
}

/*
 * Is the process inside a write section, or filling in an event?  Then this is a signal
 * handler, or an error has left it so.
 */
static pg_attribute_always_inline bool
pfs_is_writing(const PfsThread *t)
{
	return (pfs_load_relaxed(&t->seq.word) & 1) != 0 || pfs_local.beginning != 0;
}

/*
 * Is this event to be collected?  The one load and one branch that a disabled
 * instrument costs, behind finding out which instrument it is.
 */
static pg_attribute_always_inline uint32
pfs_wait_flags(const PfsThread *t, PfsInstrumentId instrument)
{
	return pfs_instrument_flags(instrument) & pfs_load_relaxed(&t->mask);
}

/*
 * The clock of an event's class: the cycle counter, nearly always, or the
 * system; 0 without TIMED.
 */
static pg_attribute_always_inline uint64
pfs_wait_clock(uint32 flags)
{
	if (likely((flags & (PFS_FLAG_TIMED | PFS_FLAG_TIMER_MASK)) == PFS_FLAG_TIMED))
		return pfs_read_cycles();
	return (flags & PFS_FLAG_TIMED) ? pfs_timer_read_system(PFS_FLAGS_TIMER(flags)) : 0;
}

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
	if (unlikely(distance > PG_UINT32_MAX))
	{
		e->nesting_event_id = parent.event_id;
		pfs_wait_widen(e, PFS_WIDE_NESTING);
	}
}

/*
 * Begin: a slot at the next level, with all that is known of the event now.
 * flags: what pfs_wait_flags() gave, ENABLED among them.  The caller fills in
 * object (but of FILE the offset), object_instance (LOCK, BUFFER), spins (LWLOCK, BUFFER,
 * spin delays), bytes (FILE, SOCKET: at the latest before the end), and calls
 * pfs_wait_start().  NULL: no event.
 *
 * A wait that no _current consumer takes has a slot, too, but no number, and
 * readers do not show it.
 */
static pg_attribute_always_inline PfsWait *
pfs_wait_begin(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation operation,
			   PfsObjectType object_type, int64 file_offset, uint32 source)
{
	PfsEvents  *waits = &t->events[PFS_WAITS];
	uint32		level = waits->depth;
	uint64		id = 0;
	PfsWait    *e;

	if (unlikely(pfs_local.not_usual != 0 || (pfs_load_relaxed(&t->seq.word) & 1) != 0 ||
				 level >= PFS_WAIT_DEPTH))
	{
		if (!pfs_wait_prepare(t))
			return NULL;
		/* It may have found out that this thread has no history. */
		flags &= pfs_load_relaxed(&t->mask);
		level = waits->depth;
	}
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

/* Shows readers a wait that pfs_wait_begin() has made; its start was read before. */
static pg_attribute_always_inline void
pfs_wait_start_at(PfsThread *t, PfsWait *e, uint64 start)
{
	e->timer_start = start;
	pfs_store_release(&t->events[PFS_WAITS].depth, t->events[PFS_WAITS].depth + 1); /* C */
	pfs_fence_signal();
	pfs_local.beginning = 0;
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

/*
 * Returns the position below which events are hidden.  A truncation may store its own
 * into a record that has just changed hands, until it takes that back: one that the
 * thread has not reached yet was not meant for it.
 */
static inline uint64
pfs_history_tail(uint64 tail, uint64 head)
{
	return tail > head ? 0 : tail;
}

/* Inside a write section of the family: apply the truncations that the thread has not seen. */
static pg_attribute_always_inline void
pfs_summary_look(PfsThread *t, PfsFamily family)
{
	if (unlikely(pfs_load_relaxed(&pfs_words->truncations[family]) != t->generation[family]))
		pfs_summary_apply_resets(t, family);
}

/*
 * Inside a write section: counts a wait that is timed by the default timer in the
 * thread's own cell and its buckets.
 */
static pg_attribute_always_inline void
pfs_summary_add(PfsThread *t, PfsInstrumentId instrument, uint64 ticks)
{
	PfsWaitCell *cell;
	uint32	   *bucket;
	uint32		n;

	pfs_summary_look(t, PFS_FAMILY_WAITS);
	cell = pfs_wait_cell(t, instrument);
	if (unlikely(cell == NULL || cell->time.count_timed == 0))
	{
		cell = pfs_summary_touch(t, instrument, ticks);
		if (cell == NULL)
		{
			pfs_summary_count_global(instrument, true, ticks);
			return;
		}
	}
	pfs_cell_add(&cell->time, ticks);
	bucket = &cell->buckets[pfs_histogram_bucket(ticks)];
	n = *bucket + 1;
	pfs_store_relaxed(bucket, n);
	/* Its 32 bits have wrapped: the server's bucket has 64. */
	if (unlikely(n == 0))
		pfs_summary_add_to_server(PFS_FAMILY_WAITS, instrument, pfs_histogram_bucket(ticks), UINT64_C(1) << 32);
}

/* The same for a wait without a time. */
static inline void
pfs_summary_add_untimed(PfsThread *t, PfsInstrumentId instrument)
{
	PfsWaitCell *cell;

	pfs_summary_look(t, PFS_FAMILY_WAITS);
	cell = pfs_wait_cell(t, instrument);
	if (unlikely(cell == NULL || cell->time.count_untimed == 0))
		cell = pfs_summary_touch(t, instrument, PG_UINT64_MAX);
	if (likely(cell != NULL))
		pfs_bump(&cell->time.count_untimed, 1);
	else
		pfs_summary_count_global(instrument, false, 0);
}

/*
 * Inside a write section: where an event of so many bytes goes, in the thread's current
 * block; NULL: there is no block (counted).
 */
static pg_attribute_always_inline void *
pfs_history_room(PfsThread *t, PfsEventFamily family, uint32 bytes)
{
	PfsBlockWriter *to = &t->events[family].finished;

	if (unlikely(!pfs_block_has_room(to, bytes)))
		return pfs_history_more_room(t, family, bytes);
	return to->next;
}

/* Inside a write section: the event there is complete, and with these flags in the histories. */
static pg_attribute_always_inline void
pfs_history_done(PfsThread *t, PfsEventFamily family, uint32 bytes, uint32 flags)
{
	pfs_block_done(&t->events[family].finished, bytes, (flags & PFS_FLAG_HISTORY_LONG) != 0, (flags & PFS_FLAG_HISTORY) != 0);
}

/*
 * Asks the processor for the memory to which the next event of a family goes, so many
 * bytes of it: nobody has touched it since the server wrote as many events as the long
 * history has, and it comes while the server works.
 */
static pg_attribute_always_inline void
pfs_history_expect(const PfsThread *t, PfsEventFamily family, size_t bytes)
{
	const char *to = t->events[family].finished.next;

	if (likely(to != NULL))
		pfs_expect_lines(to, (bytes + PFS_CACHE_LINE - 1) / PFS_CACHE_LINE);
}

/*
 * Inside a write section: the event goes into the histories, one cache line.  That is
 * written to memory which nobody has touched for long, so the next one is asked for.
 */
static pg_attribute_always_inline void
pfs_history_push(PfsThread *t, PfsWait *e)
{
	PfsBlockWriter *to = &t->events[PFS_WAITS].finished;
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
	pfs_expect_lines(to->next, 1);
}

/* Inside a write section: count a wait of a digest that has no place in the table yet. */
extern void pfs_digest_wait_add_slow(PfsInstrumentId instrument, bool timed, uint64 ticks);

/*
 * Inside a write section: counts a wait that is timed by the default timer in a place
 * of the statement's table.
 */
static pg_attribute_always_inline void
pfs_digest_wait_count(PfsDigestWait *w, uint64 ticks)
{
	w->counts.timed++;
	w->counts.sum += ticks;
	if (ticks < w->counts.min)
	{
		/* The first wait always gets here. */
		pfs_local.waits_used |= w->bit;
		w->counts.min = ticks;
	}
	if (ticks > w->counts.max)
		w->counts.max = ticks;
}

/*
 * Inside a write section: counts a wait for the running statement's digest, if it has
 * one.
 */
static pg_attribute_always_inline void
pfs_digest_wait_add(PfsInstrumentId instrument, uint64 ticks)
{
	PfsDigestWait *w = pfs_local.waits;

	if (w == NULL)
		return;
	w += instrument % PFS_DIGEST_WAITS;
	if (unlikely(w->key != (uint32) instrument + 1))
		pfs_digest_wait_add_slow(instrument, true, ticks);
	else
		pfs_digest_wait_count(w, ticks);
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

/* Adds a wait for a lock to what a statement's lock_time is made of; timed ones only. */
static pg_attribute_always_inline void
pfs_lock_wait_ended(uint32 flags, uint64 ticks)
{
	if (flags & PFS_FLAG_TIMED)
		pfs_local.lock_ticks += pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks);
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

/* The innermost open event if it is of this kind, else NULL. */
static pg_attribute_always_inline PfsOpenWait *
pfs_open_top(PfsOpenKind kind)
{
	PfsOpenWait *open;

	/* Not by PFS_SLOW_OPEN, which a handler may find half changed. */
	if (likely(pfs_local.nopen == 0))
		return NULL;
	open = &pfs_local.open[pfs_local.nopen - 1];
	return open->kind == kind ? open : NULL;
}

/*
 * Leaves the innermost wait open, as it goes on although its call has returned.  An idle
 * wait has no provisional end: it ends when it is found to be over.
 */
static pg_attribute_always_inline void
pfs_wait_keep_open(PfsThread *t, PfsWait *e, PfsOpenKind kind)
{
	PfsOpenWait *open = &pfs_local.open[pfs_local.nopen];

	open->event = e;
	open->kind = kind;
	open->which = kind == PFS_OPEN_IDLE ? 0 : pfs_wait_identity(kind);
	open->end = kind == PFS_OPEN_IDLE ? 0 : pfs_wait_read_end(t, e->flags);
	pfs_local.nopen++;
	pfs_local.slow |= PFS_SLOW_OPEN;
}

#endif							/* PFS_EVENT_WRITE_H */
