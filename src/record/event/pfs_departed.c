/*
 * pfs_departed.c
 *	  What has left the threads' cells of waits: adding to it.
 */
#include "postgres.h"

#include "pfs_clock.h"
#include "pfs_departed.h"
#include "pfs_shared.h"
#include "pfs_summary_own.h"

PfsSharedDeparted *pfs_departed = NULL;

/* A wait that is longer than this part of a second is announced to the recorder, see pfs_departed_count(). */
#define LONG_PART	10

/* Moves that this process has begun and not ended. */
static uint32 moving = 0;

/* The struct is the part's own; this is what lies behind it. */
void
pfs_departed_lay_out(PfsSegment *seg)
{
	PfsDeparted *items = pfs_segment_take(seg, pfs_sizes.cells[PFS_FAMILY_WAITS] * sizeof(PfsDeparted), PFS_CACHE_LINE);

	if (pfs_departed != NULL)
		pfs_departed->items = items;
}

/* Announces that a thread's counters are about to move; its `moves` is odd. */
void
pfs_departed_begin(void)
{
	moving++;
	(void) pfs_add_seqcst(&pfs_departed->begun, 1);
	pfs_fence_release();		/* what moves is behind it */
}

void
pfs_departed_end(void)
{
	(void) pfs_add_seqcst(&pfs_departed->ended, 1);
	moving--;
}

bool
pfs_departed_repair(void)
{
	bool		was_moving = moving > 0;

	while (moving > 0)
		pfs_departed_end();
	return was_moving;
}

/* Adds counters of an instrument that have left a thread, or never were in one. */
void
pfs_departed_add(uint32 instrument, uint64 count, uint64 sum, uint64 handed_count, uint64 handed_sum)
{
	PfsDeparted *to = &pfs_departed->items[instrument];

	if (count != 0)
	{
		(void) pfs_add_relaxed(&to->count, count);
		(void) pfs_add_relaxed(&to->sum, sum);
	}
	if (handed_count != 0)
	{
		(void) pfs_add_relaxed(&to->handed_count, handed_count);
		(void) pfs_add_relaxed(&to->handed_sum, handed_sum);
	}
}

/*
 * Counts an event that is in no cell, or statements' waits that go where no cell is.  The
 * thread has had it until now, as an event that runs or in a place of its own.
 *
 * Where cells are none, because there are no more or nobody wants them, this is the way of every
 * wait.  So only a long one is announced: the recorder would else see such moves all the time.
 * Of short ones it may see some twice or not at all, until its next tick; that is no more than
 * threads wait while it reads them.
 */
void
pfs_departed_count(uint32 instrument, uint64 count, uint64 sum, uint64 handed_count, uint64 handed_sum)
{
	bool		is_long = sum + handed_sum > pfs_clock->frequency[pfs_timer_default()] / LONG_PART;

	if (is_long)
		pfs_departed_begin();
	pfs_departed_add(instrument, count, sum, handed_count, handed_sum);
	if (is_long)
		pfs_departed_end();
}

/*
 * Notes in the thread's cell that so many waits of its statements have gone from its own
 * places to where all add.  A process that takes over the places of one that has ended may
 * not have had such a wait itself.
 */
void
pfs_departed_note(PfsThread *t, PfsInstrumentId instrument, uint64 count, uint64 sum)
{
	PfsWaitCell *cell = pfs_wait_cell(t, instrument);

	if (unlikely(cell == NULL))
		cell = pfs_summary_touch(t, instrument, PG_UINT64_MAX);
	if (unlikely(cell == NULL))
	{
		pfs_departed_count(instrument, 0, 0, count, sum);
		return;
	}
	pfs_bump(&cell->time.handed_count, count);
	pfs_bump(&cell->time.handed_sum, sum);
}
