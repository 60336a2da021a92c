/*
 * pfs_event_history.c
 *	  Finished events: the blocks in which a thread's own and those of the server lie, and
 *	  what happens when one is full.
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

#include "pfs_event_history.h"
#include "pfs_lane.h"
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

/* Returns the lane of the family's blocks that this process writes to now. */
static inline uint32
lane_of(const PfsThread *t, PfsEventFamily family)
{
	return pfs_event_families[family].many_lanes ? pfs_lane(t->index, pfs_history_lanes()) : 0;
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
	pfs_block_done(to, run_bytes, 0);
	return to->next;
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
