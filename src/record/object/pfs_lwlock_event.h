/*
 * pfs_lwlock_event.h
 *	  Acquisitions of LWLocks that are recorded when they are over, and were never
 *	  seen running: nearly all, with `all`.
 *
 * There are so many of them that an instruction more in each is seen in what a
 * transaction costs.  So they have a ring of their own beside that of the thread's other
 * waits, of short records that readers make wait events of; and a log of their own,
 * whose items are blocks of PFS_LWLOCK_BLOCK records, copied at once.  A wait that
 * is anything but usual (slept, nested, untimed, by another timer) is an
 * ordinary event, pfs_wait_instant_any().
 *
 * The ring has one writer and needs no lock: a reader copies a record, looks at the
 * head again, and drops what may have been overwritten.  The writer stores behind the
 * release of the last head (A), pairs with the acquire fence in the reader (B); a head
 * says that the record below it is complete (C, pairs with D).  A block goes
 * to the log before the head that completes it is stored, so that a reader who looks at
 * the threads first and at the log then sees every event once or twice.
 *
 * Records are of x86-64, as the detours are: addresses have 48 bits.
 *
 * Separate from pfs_event_write.h, which has the events of all other waits.
 */
#ifndef PFS_LWLOCK_EVENT_H
#define PFS_LWLOCK_EVENT_H

#include "pfs_event_write.h"
#include "pfs_log.h"
#include "pfs_lwlock.h"
#include "pfs_wait_class.h"

/* In the flags of a record: it would not have waited. */
#define PFS_LWLOCK_TRY			0x20000

#define PFS_LWLOCK_INSTRUMENT_SHIFT 48

#define PFS_LWLOCK_BLOCK 32

/* An item of the log. */
typedef struct PfsLwlockBlock
{
	PfsSeqlock	log_word;
	uint64		thread_id;
	Oid			role;			/* as in an event */
	uint32		first;			/* those before it are hidden by a TRUNCATE */
	char		unused[PFS_CACHE_LINE - 24];
	PfsLwlockEvent events[PFS_LWLOCK_BLOCK];
} PfsLwlockBlock;

/* In the log; a reader's copy lies anywhere. */
StaticAssertDecl(offsetof(PfsLwlockBlock, events) == PFS_CACHE_LINE, "events begin with a line");
StaticAssertDecl(sizeof(PfsLwlockBlock) % PFS_CACHE_LINE == 0, "blocks lie behind each other");

extern PfsLog *pfs_lwlock_log;	/* NULL: history_long or `all` is off */

/* Records of a ring, a multiple of blocks; blocks that the log has to keep. */
extern uint32 pfs_lwlock_ring_length(void);
extern uint32 pfs_lwlock_log_blocks(void);

/* Owner: at attach, before the record is published; inside detach's write section. */
extern void pfs_lwlock_ring_start(PfsLwlockHolder *mine);
extern void pfs_lwlock_ring_end(PfsThread *t, PfsLwlockHolder *mine);

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
 * A thread's records from a position on that carry the flag, and whose thread is still
 * there; for history_long, those that are not in the log yet.
 */
extern void pfs_lwlock_ring_history(const PfsThread *copy, uint64 word, uint32 rows, PfsEventEmit emit, void *arg);
extern void pfs_lwlock_ring_buffered(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg);
extern void pfs_lwlock_log_each(PfsEventEmit emit, void *arg);

/* TRUNCATE: what a thread has recorded so far. */
extern void pfs_lwlock_ring_hide(uint32 index, bool history_long);

/* ---- instrument points ---- */

/*
 * What a process knows of a tranche; made when its cell has counted an event, and the
 * next one is going to be usual in all.  Initialised in the postmaster, which has no
 * thread.
 */
typedef struct PfsLwlockLookup
{
	const uint32 *flags;		/* of the instrument */
	uint32		usual;			/* if they are this, with the thread's mask,
								 * events are as cached; never ~0 */
	PfsInstrumentId instrument;
	uint32		digest_key;		/* PfsDigestWait.key */
	uint64		instrument_bits;	/* the instrument, for the record */
	PfsCell    *cell;			/* of this thread; with `all` it has buckets */
	PfsDigestWait *digest;		/* where it would be */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsLwlockLookup;

extern PFS_HIDDEN PfsLwlockLookup pfs_lwlock_lookups[PFS_WAIT_INFO_EVENTS];

extern void pfs_lwlock_lookups_start(void);

/* An event with these flags has been recorded: can the next one go by the cached lookup? */
extern void pfs_lwlock_cache_lookup(const PfsThread *t, uint32 tranche, PfsInstrumentId instrument, uint32 flags);

static inline const LWLock *
pfs_lwlock_of(const PfsLwlockEvent *e)
{
	return (const LWLock *) (uintptr_t) (e->lock & ((UINT64_C(1) << PFS_LWLOCK_INSTRUMENT_SHIFT) - 1) & ~PFS_LWLOCK_SHARED);
}

/* The flags are as cached.  t: attached. */
static pg_attribute_always_inline bool
pfs_lwlock_is_cached(const PfsThread *t, const PfsLwlockLookup *lookup)
{
	return likely((pfs_load_relaxed(lookup->flags) & pfs_load_relaxed(&t->mask)) == lookup->usual);
}

/* Owner: the ring's last block is complete; ends the write section. */
extern void pfs_lwlock_flush(PfsThread *t, PfsLwlockHolder *mine);

typedef enum PfsLwlockRecorded
{
	PFS_LWLOCK_UNUSUAL,			/* it is not usual; nothing has been written */
	PFS_LWLOCK_RECORDED,
	PFS_LWLOCK_BLOCK_FULL,		/* pfs_lwlock_flush() is to be called */
} PfsLwlockRecorded;

/*
 * Fills in the next record, which readers do not know of before the head is raised.
 * It is the first thing to do: registers are short, and what is in memory needs none.
 * held: lock and mode as in the list; ticks, if they are too many, tell nothing.
 */
static pg_attribute_always_inline void
pfs_lwlock_fill(PfsLwlockEvent *e, const PfsLwlockLookup *lookup, uint64 held, uint32 flags, uint64 start, uint64 ticks)
{
	pfs_fence_release();		/* A */
	e->timer_start = start;
	e->ticks = (uint32) ticks;
	e->lock = held | lookup->instrument_bits;
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
 * A statement that no hook has seen yet matters only to waits, so it is not looked at.
 *
 * The generation has to be loaded behind the odd word: who truncates waits for those
 * who may not have seen the new one.  A write section without any is harmless.
 */
static pg_attribute_always_inline PfsLwlockRecorded
pfs_lwlock_record(PfsThread *t, PfsLwlockHolder *mine, PfsLwlockEvent *e, const PfsLwlockLookup *lookup, uint64 ticks)
{
	PfsCell    *cell = lookup->cell;
	uint64		head;
	uint64		id;
	uint32	   *bucket;

	if (unlikely((*unvolatize(uint16 *, &pfs_local.not_usual) & ~PFS_SLOW_UNNAMED) != 0 || (t->seq.word & 1) != 0 ||
				 t->events[PFS_WAITS].depth != 0))
		return PFS_LWLOCK_UNUSUAL;
	if (likely(ticks < PFS_HISTOGRAM_SHORT))
		bucket = &cell->buckets[pfs_histogram_short[ticks]];
	else if (ticks > PG_UINT32_MAX)
		return PFS_LWLOCK_UNUSUAL;
	else
		bucket = &cell->buckets[pfs_histogram_bucket_computed(ticks)];

	pfs_write_begin(t);
	if (unlikely(pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_WAITS]) !=
				 t->summary[PFS_FAMILY_WAITS].generation || *bucket == PG_UINT32_MAX))
		goto unusual;
	if (pfs_local.waits != NULL)
	{
		PfsDigestWait *digest = lookup->digest;

		if (unlikely(digest->key != lookup->digest_key))
			goto unusual;
		pfs_digest_wait_count(digest, ticks);
	}
	pfs_bump32(bucket);
	pfs_cell_add(cell, ticks);

	id = t->last_event_id + 1;
	t->last_event_id = id;
	e->event_id = id;

	head = mine->head + 1;
	if (unlikely(head % PFS_LWLOCK_BLOCK == 0))
		return PFS_LWLOCK_BLOCK_FULL;
	mine->next = e + 1;
	pfs_store_release(&mine->head, head);	/* C */
	pfs_write_end(t);
	return PFS_LWLOCK_RECORDED;

unusual:
	pfs_write_end(t);
	return PFS_LWLOCK_UNUSUAL;
}

/* Only counts one, with `contended`.  False: not by the cached lookup. */
static pg_attribute_always_inline bool
pfs_lwlock_count_only(PfsThread *t, const PfsLwlockLookup *lookup)
{
	if (unlikely((t->seq.word & 1) != 0))
		return false;
	pfs_write_begin(t);
	if (unlikely(pfs_load_relaxed(&pfs_words->truncations[PFS_FAMILY_WAITS]) !=
				 t->summary[PFS_FAMILY_WAITS].generation))
		goto unusual;
	if (pfs_local.waits != NULL)
	{
		PfsDigestWait *digest = lookup->digest;

		if (unlikely(digest->key != lookup->digest_key))
			goto unusual;
		digest->untimed++;
		pfs_local.waits_used |= digest->bit;
	}
	pfs_bump(&lookup->cell->count_untimed, 1);
	pfs_write_end(t);
	return true;

unusual:
	pfs_write_end(t);
	return false;
}

#endif							/* PFS_LWLOCK_EVENT_H */
