/*
 * pfs_event_write.c
 *	  What is rare about the end of a wait: its time is not measured by the default timer,
 *	  or it has two lines.
 */
#include "postgres.h"

#include "pfs_event_write.h"
#include "pfs_memory_counted.h"

/*
 * A thread whose events are all untimed, or of another timer, reads the clock for a
 * sort key at one event in this many.
 */
#define SORT_KEY_EVENTS 16

/*
 * Returns the end of an untimed event, by which it sorts among others: the last reading
 * of the default timer that this thread has made.  That is in the slot of outermost waits
 * the end of the last one there (0: of another timer), in what the family keeps elsewhere
 * (last_reading() of LWLocks), or in t->last_reading, as that of the last one by a lookup.
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

/* The next wait is to find room. */
int64
pfs_wait_leave_block(PfsThread *t, int64 result)
{
	(void) pfs_history_more_room(t, PFS_WAITS, PFS_WAIT_LINE);
	pfs_write_end(t);
	return result;
}
