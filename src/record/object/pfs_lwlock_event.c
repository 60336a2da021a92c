/*
 * pfs_lwlock_event.c
 *	  Acquisitions of LWLocks that did not sleep: cached lookups, and the blocks of
 *	  their records.
 *
 * Separate from pfs_lwlock.c, which has the locks themselves and who holds them.
 */
#include "postgres.h"

#include "pfs_lane.h"
#include "pfs_lwlock_event.h"
#include "pfs_shared.h"

PfsWaitLookup pfs_lwlock_lookups[PFS_WAIT_INFO_EVENTS];
PfsBlocks  *pfs_lwlock_blocks = NULL;

/* Where a process without a block fills its records in: each is full with the first. */
static PfsLwlockEvent nowhere[1];

/*
 * How the blocks of records are laid out: of whole cache lines, and of whole records, one
 * of which says whose the others are.
 */
static void
specify(PfsBlocksSpec *spec)
{
	spec->lanes = pfs_history_lanes();
	spec->items = pfs_sizes.history_long[PFS_WAITS];
	spec->own_items = pfs_sizes.history[PFS_WAITS];
	spec->item_min = sizeof(PfsLwlockEvent);
	spec->item_max = 2 * sizeof(PfsLwlockEvent);
	spec->writers = pfs_lwlock_holders_max();
	spec->block_size = sizeof(PfsLwlockEvent) * PFS_CACHE_LINE / 2;
}

size_t
pfs_lwlock_holder_size(void)
{
	PfsBlocksSpec spec;

	specify(&spec);
	return TYPEALIGN(PFS_CACHE_LINE, offsetof(PfsLwlockHolder, own) + pfs_blocks_own_size(&spec));
}

void
pfs_lwlock_blocks_lay_out(PfsSegment *seg)
{
	PfsBlocksSpec spec;

	specify(&spec);
	pfs_lwlock_blocks = pfs_blocks_create(seg, &spec);
}

/* ---- cached lookups ---- */

/*
 * Makes the cached lookup of a tranche, behind an event of it, so that
 * the next one takes the fast path of pfs_lwlock_record() or pfs_lwlock_count_only().
 */
void
pfs_lwlock_cache_lookup(const PfsThread *t, uint32 tranche, PfsInstrumentId instrument)
{
	if (tranche >= lengthof(pfs_lwlock_lookups) || (pfs_lwlock_events_now == PFS_LWLOCK_ALL && pfs_my_lwlocks == NULL))
		return;
	pfs_wait_lookup_make(&pfs_lwlock_lookups[tranche], t, instrument,
						 (uint64) instrument << PFS_LWLOCK_INSTRUMENT_SHIFT);
}

/* ---- owner ---- */

/*
 * Goes on in another block, with a record of whose those behind it are.  Where there is
 * none, which the container counts, records go nowhere.
 */
static void
take_block(const PfsThread *t, PfsLwlockHolder *mine)
{
	PfsBlockWriter *to = &mine->recorded;
	PfsLwlockEvent *run;

	if (pfs_lwlock_blocks == NULL ||
		!pfs_block_advance(pfs_lwlock_blocks, to, pfs_lane(t->index, pfs_blocks_lanes(pfs_lwlock_blocks)),
						   2 * sizeof(PfsLwlockEvent)))
	{
		to->next = (char *) nowhere;
		to->room = sizeof(nowhere);
		return;
	}
	run = pfs_lwlock_next(mine);
	run->timer_start = t->thread_id;
	run->flags = pfs_lwlock_role_of(t);
	run->event_id = 0;
	pfs_block_done(to, sizeof(PfsLwlockEvent), 0);
}

void
pfs_lwlock_records_begin(PfsThread *t, PfsLwlockHolder *mine)
{
	pfs_block_writer_init(&mine->recorded, &mine->own);
	pfs_store_relaxed(&mine->history_tail, 0);
	take_block(t, mine);
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
	to->kind = pfs_lwlock_kind(from->lock >> PFS_LWLOCK_INSTRUMENT_SHIFT, from->lock & PFS_LWLOCK_SHARED,
							   (from->flags & PFS_LWLOCK_TRY) != 0);
	to->nesting_type = from->nesting_type;
	to->role = role;
	to->flags = from->flags & ~PFS_LWLOCK_TRY;
	to->source = from->source;
	to->object_instance = (uintptr_t) pfs_lwlock_of(from);
	to->number_of_bytes = PFS_EVENT_NO_BYTES;
	to->file_offset = PFS_EVENT_NO_OFFSET;
}

/*
 * Shows the last record of a block, goes on in another block, and ends the write section
 * that pfs_lwlock_record() has left open.
 */
void
pfs_lwlock_flush(PfsThread *t, PfsLwlockHolder *mine)
{
	if (pfs_lwlock_next(mine) != nowhere)
		pfs_lwlock_done(mine, pfs_lwlock_next(mine));
	else
		pfs_block_leave(&mine->recorded);
	take_block(t, mine);
	pfs_write_end(t);
}

/* Writes the role into what says whose the records are, in blocks that are still the thread's. */
void
pfs_lwlock_records_set_role(PfsThread *t)
{
	const PfsBlockWriter *from;
	uint64		last;

	if (pfs_my_lwlocks == NULL || pfs_lwlock_next(pfs_my_lwlocks) == nowhere)
		return;
	from = &pfs_my_lwlocks->recorded;
	last = PFS_BLOCK_INDEX(from->position);
	for (uint64 i = last - Min(last, pfs_blocks_held(pfs_lwlock_blocks) - 1); i <= last; i++)
	{
		uint32		bytes;
		PfsLwlockEvent *run = pfs_block_of_writer(pfs_lwlock_blocks, from, i, &bytes);

		if (run == NULL)
			continue;
		for (PfsLwlockEvent *end = run + bytes / sizeof(PfsLwlockEvent); run < end; run++)
		{
			if (run->event_id == 0 && run->timer_start == t->thread_id)
				pfs_store_relaxed(&run->flags, pfs_lwlock_role_of(t));
		}
	}
}

void
pfs_lwlock_records_end(PfsThread *t, PfsLwlockHolder *mine)
{
	if (pfs_lwlock_blocks == NULL)
		return;
	if (pfs_lwlock_next(mine) == nowhere)
		pfs_block_leave(&mine->recorded);
	pfs_block_writer_end(pfs_lwlock_blocks, &mine->recorded, pfs_lane(t->index, pfs_blocks_lanes(pfs_lwlock_blocks)));
}

uint64
pfs_lwlock_last_reading(void)
{
	const PfsLwlockEvent *e;

	if (pfs_my_lwlocks == NULL || pfs_lwlock_next(pfs_my_lwlocks) == nowhere)
		return 0;
	e = pfs_lwlock_next(pfs_my_lwlocks) - 1;
	return e->event_id == 0 ? 0 : e->timer_start + e->ticks;
}
