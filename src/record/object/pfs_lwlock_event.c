/*
 * pfs_lwlock_event.c
 *	  Acquisitions of LWLocks that did not sleep: cached lookups, the ring's
 *	  records, and their blocks for the long history.
 *
 * Separate from pfs_lwlock.c, which has the locks themselves and who holds them.
 */
#include "postgres.h"

#include "pfs_event_instant.h"
#include "pfs_lane.h"
#include "pfs_lwlock_event.h"
#include "pfs_shared.h"

PfsLwlockLookup pfs_lwlock_lookups[PFS_WAIT_INFO_EVENTS];
PfsLog	   *pfs_lwlock_log = NULL;

/* Of instruments that are not known yet. */
static const uint32 no_flags = 0;

/*
 * Returns the number of records in a ring of acquisitions: a power of two that has room
 * for what events_waits_history shows and for the block that is being written beside
 * it, and at least two blocks.  It is computed at the first call, in the postmaster.
 */
uint32
pfs_lwlock_ring_length(void)
{
	static uint32 length = 0;

	if (length == 0)
	{
		/* A reader's records are not the block that is being written. */
		uint32		wanted = pfs_sizes.history[PFS_WAITS] + PFS_LWLOCK_BLOCK;

		for (length = 2 * PFS_LWLOCK_BLOCK; length < wanted;)
			length *= 2;
	}
	return length;
}

/*
 * Returns how many blocks the log of acquisitions has room for: those of
 * events_waits_history_long, and one more for each thread, as a thread's records wait in
 * its ring until a block is complete.
 */
uint32
pfs_lwlock_log_blocks(void)
{
	if (pfs_sizes.lwlock_holders == 0 || pfs_sizes.history_long[PFS_WAITS] == 0)
		return 0;
	return pfs_sizes.history_long[PFS_WAITS] / PFS_LWLOCK_BLOCK + 1 + pfs_sizes.threads;
}

/* ---- cached lookups ---- */

void
pfs_lwlock_lookups_start(void)
{
	for (int i = 0; i < lengthof(pfs_lwlock_lookups); i++)
	{
		pfs_lwlock_lookups[i].flags = &no_flags;
		pfs_lwlock_lookups[i].usual = ~0U;
	}
}

/*
 * Makes the cached lookup of a tranche, behind an event of it with these flags, so that
 * the next one takes the fast path of pfs_lwlock_record() or pfs_lwlock_count_only().
 * None is made while anything about such events is unusual, or their cell has not
 * counted one yet.  It is never removed: it holds while the flags are the same, which
 * each acquisition compares.
 */
void
pfs_lwlock_cache_lookup(const PfsThread *t, uint32 tranche, PfsInstrumentId instrument, uint32 flags)
{
	PfsLwlockLookup *lookup;
	PfsCell    *cell = (PfsCell *) t->summary[PFS_FAMILY_WAITS].cells.cells + instrument;

	if (tranche >= lengthof(pfs_lwlock_lookups) || !pfs_instant_is_usual(flags) ||
		cell->count_timed + cell->count_untimed == 0)
		return;
	if (pfs_lwlock_events_now == PFS_LWLOCK_ALL && (cell->buckets == NULL || pfs_my_lwlocks == NULL))
		return;
	lookup = &pfs_lwlock_lookups[tranche];
	lookup->flags = &pfs_words->flags[instrument];
	lookup->usual = flags;
	lookup->instrument = instrument;
	lookup->instrument_bits = (uint64) instrument << PFS_LWLOCK_INSTRUMENT_SHIFT;
	lookup->cell = cell;
	lookup->digest_key = (uint32) instrument + 1;
	lookup->digest = &pfs_digest_wait_items[instrument % PFS_DIGEST_WAITS];
}

/* ---- owner ---- */

void
pfs_lwlock_ring_start(PfsLwlockHolder *mine)
{
	pfs_store_relaxed(&mine->head, 0);
	pfs_store_relaxed(&mine->history_tail, 0);
	pfs_store_relaxed(&mine->history_long_tail, 0);
	mine->next = mine->events;
}

static inline uint64
kind_of(const PfsLwlockEvent *from)
{
	bool		try = (from->flags & PFS_LWLOCK_TRY) != 0;
	bool		shared = (from->lock & PFS_LWLOCK_SHARED) != 0;
	PfsOperation operation = try ? (shared ? PFS_OP_TRY_SHARED_LOCK : PFS_OP_TRY_EXCLUSIVE_LOCK)
	: (shared ? PFS_OP_SHARED_LOCK : PFS_OP_EXCLUSIVE_LOCK);

	return pfs_event_kind(from->lock >> PFS_LWLOCK_INSTRUMENT_SHIFT, operation, PFS_OBJECT_LWLOCK) |
		(uint64) from->nesting_type << 32;
}

/* The same as an ordinary wait, for its thread's block. */
static void
make_wait(const PfsLwlockEvent *from, PfsWait *to)
{
	uint64		distance = from->event_id - from->nesting_event_id;

	memset(to, 0, sizeof(*to));
	to->kind = kind_of(from);
	to->timer_start = from->timer_start;
	to->timer_end = from->timer_start + from->ticks;
	to->event_id = from->event_id;
	to->nesting_distance = (uint32) distance;
	to->flags = from->flags & ~PFS_LWLOCK_TRY;
	to->source = from->source;
	to->object.address = (uintptr_t) pfs_lwlock_of(from);
	if (distance > PG_UINT32_MAX)
	{
		to->nesting_event_id = from->nesting_event_id;
		pfs_wait_widen(to, PFS_WIDE_NESTING);
	}
}

/*
 * Makes the wait event that a record of an acquisition stands for, for readers.  What the record leaves out, as it is the same for all of a
 * thread's, is given by the caller (thread_id, role) or left zero.
 */
void
pfs_lwlock_make_event(const PfsLwlockEvent *from, uint64 thread_id, Oid role, PfsWaitEvent *to)
{
	memset(to, 0, sizeof(*to));
	to->timer_start = from->timer_start;
	to->timer_end = from->timer_start + from->ticks;
	to->event_id = to->end_event_id = from->event_id;
	to->nesting_event_id = from->nesting_event_id;
	to->thread_id = thread_id;
	to->kind = kind_of(from);
	to->role = role;
	to->flags = from->flags & ~PFS_LWLOCK_TRY;
	to->source = from->source;
	to->object_instance = (uintptr_t) pfs_lwlock_of(from);
	to->number_of_bytes = PFS_EVENT_NO_BYTES;
	to->file_offset = PFS_EVENT_NO_OFFSET;
}

/*
 * Copies the ring's last block, which is complete, to the log, then stores the head
 * that completes it and ends the write section that pfs_lwlock_record() has left open.
 * If the log is off, or a TRUNCATE has hidden the whole block, only the head moves on.
 * Positions below a truncation are hidden; a position that this ring has not reached
 * was not meant for it (see pfs_history_tail()).
 */
void
pfs_lwlock_flush(PfsThread *t, PfsLwlockHolder *mine)
{
	uint64		head = mine->head + 1;
	uint64		from = head - PFS_LWLOCK_BLOCK;
	uint64		tail = pfs_history_tail(pfs_load_relaxed(&mine->history_long_tail), head);
	uint32		mask = pfs_lwlock_ring_length() - 1;
	PfsLogClaim claim;

	/* The losses are counted there. */
	if (pfs_lwlock_log != NULL && tail < head &&
		pfs_log_claim(pfs_lwlock_log, pfs_lane(t->index, pfs_log_lanes(pfs_lwlock_log)), 1, &claim))
	{
		PfsLwlockBlock *block = pfs_log_slot(&claim, 0, sizeof(PfsLwlockBlock));

		pfs_log_slot_begin(&claim, 0, block);
		pfs_store_relaxed(&block->thread_id, t->thread_id);
		pfs_store_relaxed(&block->role, pfs_lwlock_role_of(t));
		pfs_store_relaxed(&block->first, tail > from ? (uint32) (tail - from) : 0);
		pfs_racy_copy(block->events, &mine->events[from & mask], PFS_LWLOCK_BLOCK * sizeof(PfsLwlockEvent));
		pfs_log_slot_end(&claim, 0, block);

		/*
		 * Where the next one will probably be: written a whole lap of the log
		 * ago.
		 */
		for (size_t i = 0; i < sizeof(PfsLwlockBlock); i += PFS_CACHE_LINE)
			__builtin_prefetch((const char *) (block + 1) + i, 1);
	}
	mine->next = &mine->events[head & mask];
	pfs_store_release(&mine->head, head);	/* C */
	pfs_write_end(t);
}

/*
 * Puts the records of the last block, which is not complete when the thread ends, among
 * the thread's other waits, one by one: those that the long history wants.  Inside detach's
 * write section.
 */
void
pfs_lwlock_ring_end(PfsThread *t, PfsLwlockHolder *mine)
{
	uint64		head = mine->head;
	uint64		tail = pfs_history_tail(pfs_load_relaxed(&mine->history_long_tail), head);
	uint32		mask = pfs_lwlock_ring_length() - 1;

	for (uint64 pos = Max(head - head % PFS_LWLOCK_BLOCK, tail); pos < head; pos++)
	{
		const PfsLwlockEvent *e = &mine->events[pos & mask];
		PfsWait		wait;

		if ((e->flags & PFS_FLAG_HISTORY_LONG) == 0)
			continue;
		make_wait(e, &wait);
		pfs_history_add(t, &wait);
	}
}

uint64
pfs_lwlock_last_reading(void)
{
	const PfsLwlockEvent *e;

	if (pfs_my_lwlocks == NULL || pfs_my_lwlocks->head == 0)
		return 0;
	e = &pfs_my_lwlocks->events[(pfs_my_lwlocks->head - 1) & (pfs_lwlock_ring_length() - 1)];
	return e->timer_start + e->ticks;
}
