/*
 * pfs_lwlock_event.h
 *	  Acquisitions of LWLocks that are recorded when they are over, and were never
 *	  seen running: nearly all, with `all`.
 *
 * There are so many of them that an instruction more in each is seen in what a
 * transaction costs.  So they have blocks of their own beside those of the thread's other
 * waits, of short records of one size that readers make wait events of.  A wait that
 * is anything but usual (slept, nested, untimed, by another timer) is an
 * ordinary event, pfs_wait_instant_any().
 *
 * There is always room for one record more, which is filled in before it is known
 * whether it becomes one.
 *
 * Records are of x86-64, as the detours are: addresses have 48 bits.
 *
 * Separate from pfs_event_write.h, which has the events of all other waits.
 */
#ifndef PFS_LWLOCK_EVENT_H
#define PFS_LWLOCK_EVENT_H

#include "pfs_lwlock.h"
#include "pfs_wait_class.h"
#include "pfs_wait_lookup.h"

/* In the flags of a record: it would not have waited. */
#define PFS_LWLOCK_TRY			0x20000

#define PFS_LWLOCK_INSTRUMENT_SHIFT 48

extern PfsBlocks *pfs_lwlock_blocks;	/* NULL: `all` is off, or no history
										 * has rows */

/* Postmaster. */
extern void pfs_lwlock_blocks_lay_out(PfsSegment *seg);

/*
 * Owner: at attach, before the record is published; when the thread's role has become known;
 * inside detach's write section.
 */
extern void pfs_lwlock_records_begin(PfsThread *t, PfsLwlockHolder *mine);
extern void pfs_lwlock_records_set_role(PfsThread *t);
extern void pfs_lwlock_records_end(PfsThread *t, PfsLwlockHolder *mine);

StaticAssertDecl(LW_EXCLUSIVE == 0 && LW_SHARED == 1 && PFS_OP_SHARED_LOCK + 1 == PFS_OP_EXCLUSIVE_LOCK &&
				 PFS_OP_TRY_SHARED_LOCK + 1 == PFS_OP_TRY_EXCLUSIVE_LOCK, "operations in another order");

/* The low half of an acquisition's pfs_event_kind(). */
static pg_attribute_always_inline uint32
pfs_lwlock_kind(PfsInstrumentId instrument, LWLockMode mode, bool try)
{
	PfsOperation exclusive = try ? PFS_OP_TRY_EXCLUSIVE_LOCK : PFS_OP_EXCLUSIVE_LOCK;

	return (uint32) pfs_event_kind(instrument, exclusive, PFS_OBJECT_LWLOCK) - ((mode & LW_SHARED) << 16);
}

/* Where the next record goes. */
static pg_attribute_always_inline PfsLwlockEvent *
pfs_lwlock_next(const PfsLwlockHolder *mine)
{
	return (PfsLwlockEvent *) mine->recorded.next;
}

/* The next record is complete. */
static pg_attribute_always_inline void
pfs_lwlock_done(PfsLwlockHolder *mine, const PfsLwlockEvent *e)
{
	pfs_block_done(&mine->recorded, sizeof(PfsLwlockEvent), pfs_history_counts(e->flags));
}

/* The end of the last one of this process, or 0. */
extern uint64 pfs_lwlock_last_reading(void);

/* ---- readers; any backend ---- */

/* The wait event that a record stands for; role: whose, as pfs_lwlock_role_of() says. */
extern void pfs_lwlock_make_event(const PfsLwlockEvent *from, uint64 thread_id, Oid role, PfsWaitEvent *to);

static inline Oid
pfs_lwlock_role_of(const PfsThread *t)
{
	return t->foreground ? pfs_load_relaxed(&t->role) : InvalidOid;
}

/*
 * Readers, where there are blocks: the records in the history of a thread that is still there,
 * oldest first, and older ones before them if its blocks have some; those for the long history
 * of its current block; of all blocks.
 */
extern void pfs_lwlock_records_history(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg);
extern void pfs_lwlock_records_current(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg);
extern void pfs_lwlock_records_each(PfsEventEmit emit, void *arg);

/* TRUNCATE, likewise: what a thread has recorded so far. */
extern void pfs_lwlock_records_hide(uint32 index, uint64 word, bool history_long);

/* ---- instrument points ---- */

/* By tranche; bits: the instrument, as a record has it. */
extern PFS_HIDDEN PfsWaitLookup pfs_lwlock_lookups[PFS_WAIT_INFO_EVENTS];

/* An event has been recorded: can the next one go by the cached lookup? */
extern void pfs_lwlock_cache_lookup(const PfsThread *t, uint32 tranche, PfsInstrumentId instrument);

static inline const LWLock *
pfs_lwlock_of(const PfsLwlockEvent *e)
{
	return (const LWLock *) (uintptr_t) (e->lock & ((UINT64_C(1) << PFS_LWLOCK_INSTRUMENT_SHIFT) - 1) & ~PFS_LWLOCK_SHARED);
}

/* Owner: the last record of a block is complete; ends the write section. */
extern void pfs_lwlock_flush(PfsThread *t, PfsLwlockHolder *mine);

typedef enum PfsLwlockRecorded
{
	PFS_LWLOCK_UNUSUAL,			/* it is not usual; nothing has been written */
	PFS_LWLOCK_RECORDED,
	PFS_LWLOCK_BLOCK_FULL,		/* pfs_lwlock_flush() is to be called */
} PfsLwlockRecorded;

/*
 * Fills in the next record, which readers do not know of before the position is raised.
 * It is the first thing to do: registers are short, and what is in memory needs none.
 * held: lock and mode as in the list; ticks, if they are too many, tell nothing.
 */
static pg_attribute_always_inline void
pfs_lwlock_fill(PfsLwlockEvent *e, const PfsWaitLookup *lookup, uint64 held, uint32 flags, uint64 start, uint64 ticks)
{
	e->timer_start = start;
	e->ticks = (uint32) ticks;
	e->lock = held | lookup->bits;
	/* One by one: the compiler would take vector registers to store both. */
	pfs_store_relaxed(&e->flags, lookup->usual | flags);
	pfs_store_relaxed(&e->nesting_type, (uint32) pfs_local.parent.type);
	e->nesting_event_id = pfs_local.parent.event_id;
}

/*
 * Records the acquisition that has been filled in, if it is usual.  It is not with another
 * event around it, after one that may have ended, as the first of its digest, behind a
 * truncation, or with a very long time.
 *
 * No function is called, so that the caller needs no register that outlives one.
 * A statement that no hook has seen yet matters only to waits, so it is not looked at, nor whether
 * one that has run is over.
 *
 * A write section without a change is harmless.
 */
static pg_attribute_always_inline PfsLwlockRecorded
pfs_lwlock_record(PfsThread *t, PfsLwlockHolder *mine, PfsLwlockEvent *e, const PfsWaitLookup *lookup, uint64 ticks)
{
	uint64		id;
	uint32		bucket;

	if (unlikely((*unvolatize(uint16 *, &pfs_local.not_usual) & ~(PFS_SLOW_UNNAMED | PFS_SLOW_OVER)) != 0 || (t->seq.word & 1) != 0 ||
				 t->events[PFS_WAITS].depth != 0))
		return PFS_LWLOCK_UNUSUAL;
	bucket = pfs_histogram_bucket(ticks);
	if (unlikely(ticks > PG_UINT32_MAX))
		return PFS_LWLOCK_UNUSUAL;
	pfs_write_begin(t);
	if (unlikely(!pfs_wait_lookup_count(lookup, bucket, ticks)))
	{
		pfs_write_end(t);
		return PFS_LWLOCK_UNUSUAL;
	}
	id = t->last_event_id + 1;
	t->last_event_id = id;
	e->event_id = id;

	if (unlikely(mine->recorded.room == sizeof(PfsLwlockEvent)))
		return PFS_LWLOCK_BLOCK_FULL;
	pfs_lwlock_done(mine, e);
	pfs_write_end(t);
	return PFS_LWLOCK_RECORDED;
}

/* Only counts one, with `contended`.  False: not by the cached lookup. */
static pg_attribute_always_inline bool
pfs_lwlock_count_only(PfsThread *t, const PfsWaitLookup *lookup)
{
	if (unlikely((t->seq.word & 1) != 0))
		return false;
	pfs_write_begin(t);
	if (unlikely(!pfs_wait_lookup_holds(lookup)))
		goto unusual;
	if (pfs_local.waits != NULL)
	{
		PfsDigestWait *digest = lookup->digest;

		if (unlikely(digest->key != lookup->digest_key))
			goto unusual;
		digest->counts.untimed++;
		pfs_local.waits_used |= digest->bit;
	}
	pfs_bump(&lookup->cell->time.count_untimed, 1);
	pfs_write_end(t);
	return true;

unusual:
	pfs_write_end(t);
	return false;
}

#endif							/* PFS_LWLOCK_EVENT_H */
