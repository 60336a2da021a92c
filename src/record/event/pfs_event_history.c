/*
 * pfs_event_history.c
 *	  Finished events: the blocks in which a thread's own and those of the server lie,
 *	  what happens when one is full, and what is rare about an event's end.
 *
 * An event is written once, behind the others of its thread, into a block that the
 * thread owns (pfs_blocks.h); its flags say which histories it is in.  In front of each
 * run of events of one thread lies a PfsEventRun.
 *
 * Waits begin and end inline (pfs_event_write.h), as they are most of what
 * happens; the other families' events as inline (pfs_event_own.h).
 */
#include "postgres.h"

#include <unistd.h>

#include "pfs_event_own.h"
#include "pfs_lane.h"
#include "pfs_memory_counted.h"
#include "pfs_shared.h"

PFS_FIXED PfsBlocks *pfs_histories[PFS_NUM_EVENT_FAMILIES];

/* More lanes than this cost memory that the fewer collisions do not repay. */
#define LANES_MAX 16

/* Bytes of a block, where a family does not say otherwise. */
#define BLOCK_SIZE 2048

/*
 * Returns how many lanes the blocks of frequent events have: a power of two, at least the
 * number of processors if that is not too many.  It is worked out once: a restart after
 * a crash has to lay out what was requested.
 */
uint32
pfs_history_lanes(void)
{
	static uint32 lanes = 0;

	if (lanes == 0)
	{
		long		processors = sysconf(_SC_NPROCESSORS_CONF);

		for (lanes = 1; lanes < processors && lanes < LANES_MAX;)
			lanes *= 2;
	}
	return lanes;
}

static uint32
run_size(PfsEventFamily family)
{
	uint32		size = pfs_event_families[family].run_size;

	return size != 0 ? size : TYPEALIGN(PFS_EVENT_UNIT, sizeof(PfsEventRun));
}

/*
 * Works out how the blocks of a family are laid out.  Each event may be the only one of
 * its run.
 */
static void
specify(PfsEventFamily family, PfsBlocksSpec *spec)
{
	const PfsEventFamilyInfo *info = &pfs_event_families[family];
	uint32		item_max = info->item_max != 0 ? info->item_max
	: TYPEALIGN(PFS_EVENT_UNIT, pfs_sizes.event_size[family] - PFS_EVENT_UNSTORED);

	spec->lanes = info->many_lanes ? pfs_history_lanes() : 1;
	spec->items = pfs_sizes.history_long[family];
	spec->own_items = pfs_sizes.history[family];
	spec->item_min = info->item_min != 0 ? info->item_min : sizeof(PfsEvent) - PFS_EVENT_UNSTORED;
	spec->item_max = run_size(family) + item_max;
	spec->writers = pfs_sizes.threads;
	spec->block_size = TYPEALIGN(PFS_CACHE_LINE, Max(info->block_size != 0 ? info->block_size : BLOCK_SIZE,
													 spec->item_max));
}

void
pfs_histories_lay_out(PfsSegment *seg)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		PfsBlocksSpec spec;

		specify(f, &spec);
		pfs_histories[f] = pfs_blocks_create(seg, &spec);
	}
}

/* Bytes of what a thread has to know of its blocks of a family. */
size_t
pfs_history_own_size(PfsEventFamily family)
{
	PfsBlocksSpec spec;

	specify(family, &spec);
	return pfs_blocks_own_size(&spec);
}

/*
 * A thread whose events are all untimed, or of another timer, reads the clock for a
 * sort key at one event in this many.
 */
#define SORT_KEY_EVENTS 16

/*
 * Returns the end of an untimed event, by which it sorts among others: the last reading
 * of the default timer that this thread has made.  That is in the slot of outermost waits
 * the end of the last one (0: of another timer), in what the family keeps elsewhere
 * (last_reading() of LWLocks), or in t->last_reading.
 */
static uint64
sort_key(PfsThread *t)
{
	t->last_reading = Max(t->last_reading, t->waits[0].timer_end);
	if (pfs_event_families[PFS_WAITS].last_reading != NULL)
		t->last_reading = Max(t->last_reading, pfs_event_families[PFS_WAITS].last_reading());
	if (t->last_event_id % SORT_KEY_EVENTS == 1 || t->last_reading == 0)
		t->last_reading = pfs_timer_read(pfs_timer_default());
	return t->last_reading;
}

uint64
pfs_wait_read_end_unusual(PfsThread *t, uint32 flags)
{
	return (flags & PFS_FLAG_TIMED) ? pfs_wait_clock(flags) : sort_key(t);
}

/*
 * Counts a wait whose flags are not pfs_local.usual, for pfs_wait_finish(): one that is
 * untimed, of another timer, or of a thread that is not instrumented, which counts for
 * the server alone.  Its time is converted to the default timer's unit.  If what
 * differs is PFS_FLAG_MEMORY, the switches of memory have changed, and the process
 * follows them here.
 */
void
pfs_event_count_unusual(PfsThread *t, PfsInstrumentId instrument, uint32 flags, uint64 ticks)
{
	bool		timed = (flags & PFS_FLAG_TIMED) != 0;

	if (((flags ^ pfs_local.usual) & PFS_FLAG_MEMORY) != 0)
		pfs_memory_sync(t);
	ticks = timed ? pfs_ticks_of_default(PFS_FLAGS_TIMER(flags), ticks) : 0;
	if (pfs_local.waits != NULL)
		pfs_digest_wait_add_slow(instrument, timed, ticks);
	if ((flags & PFS_FLAG_THREAD) == 0)
		pfs_summary_count_global(instrument, timed, ticks);
	else if (timed)
		pfs_summary_add(t, instrument, ticks);
	else
		pfs_summary_add_untimed(t, instrument);
}

/* ---- blocks ---- */

/* Returns the lane of the family's blocks that this process writes to now. */
static inline uint32
lane_of(const PfsThread *t, PfsEventFamily family)
{
	return pfs_lane(t->index, pfs_blocks_lanes(pfs_histories[family]));
}

/*
 * Goes on in another block, with a run of this thread's events.  Returns where the next one
 * of so many bytes goes; NULL: there is no block, which the container counts.
 */
void *
pfs_history_more_room(PfsThread *t, PfsEventFamily family, uint32 bytes)
{
	uint32		run_bytes = run_size(family);
	PfsBlockWriter *to = &t->events[family].finished;
	PfsEventRun *run;

	if (pfs_histories[family] == NULL ||
		!pfs_block_advance(pfs_histories[family], to, lane_of(t, family), run_bytes + bytes))
		return NULL;
	run = (PfsEventRun *) to->next;
	run->kind = PFS_NO_INSTRUMENT | (uint64) (run_bytes / sizeof(uint64)) << 48;
	run->thread_id = t->thread_id;
	run->role = t->foreground ? t->role : InvalidOid;
	pfs_block_done(to, run_bytes, false, false);
	return to->next;
}

/* Copies a wait, as many lines as it has, into the thread's block. */
void
pfs_history_push_wide(PfsThread *t, PfsWait *e)
{
	uint32		bytes;
	void	   *room;

	if (t->last_event_id != e->event_id)
	{
		e->end_event_id = t->last_event_id;
		pfs_wait_widen(e, PFS_WIDE_END);
	}
	bytes = e->size * sizeof(uint64);
	room = pfs_history_room(t, PFS_WAITS, bytes);
	if (room == NULL)
		return;
	pfs_racy_copy(room, e, bytes);
	pfs_history_done(t, PFS_WAITS, bytes, e->flags);
}

/*
 * Writes the role into the runs of a thread that it has begun before it knew, in
 * blocks that it still owns.
 */
void
pfs_histories_set_role(PfsThread *t)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		const PfsBlockWriter *from = &t->events[f].finished;
		uint64		last = PFS_BLOCK_INDEX(from->position);

		if (pfs_histories[f] == NULL)
			continue;
		for (uint64 i = last - Min(last, pfs_blocks_held(pfs_histories[f]) - 1); i <= last; i++)
		{
			uint32		bytes;
			char	   *block = pfs_block_of_writer(pfs_histories[f], from, i, &bytes);

			for (uint32 at = 0; block != NULL && at < bytes;)
			{
				PfsEventRun *run = (PfsEventRun *) (block + at);

				if (run->instrument == PFS_NO_INSTRUMENT && run->thread_id == t->thread_id)
					pfs_store_relaxed(&run->role, t->foreground ? t->role : InvalidOid);
				at += run->size * sizeof(uint64);
			}
		}
	}
}

/* Gives the blocks of all families away, when the thread ends. */
void
pfs_histories_leave(PfsThread *t)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		if (pfs_histories[f] != NULL)
			pfs_block_writer_end(pfs_histories[f], &t->events[f].finished, lane_of(t, f));
	}
}

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

/*
 * Zeroes the counters of events nested too deep and of those without a block, for
 * TRUNCATE of containers.
 */
void
pfs_histories_reset_lost(void)
{
	for (int f = 0; f < PFS_NUM_EVENT_FAMILIES; f++)
	{
		pfs_store_relaxed(&pfs_shared_threads->too_deep[f], 0);
		if (pfs_histories[f] != NULL)
			pfs_blocks_reset_lost(pfs_histories[f]);
	}
}
