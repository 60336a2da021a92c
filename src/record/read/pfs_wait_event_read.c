/*
 * pfs_wait_event_read.c
 *	  What readers of waits need besides the readers of all events: the columns that are
 *	  filled in from elsewhere, and acquisitions of LWLocks as a second source.
 *
 * Separate from pfs_lwlock_event_read.c, which the hammer runs without a server.
 */
#include "postgres.h"

#include "pfs_event_read.h"
#include "pfs_file.h"
#include "pfs_lwlock_event.h"
#include "pfs_pending.h"

/*
 * The whole state word of a file's record, of which an event has the low half: it is the
 * one with that half that is nearest to what the word is now.
 */
static uint64
whole_word(uint32 index, uint32 half)
{
	uint64		now;

	if (half == 0 || pfs_files == NULL || index >= pfs_files->records_max)
		return 0;
	now = pfs_pages_word(pfs_files, index);
	return now + (int32) (half - (uint32) now);
}

/*
 * Makes the event of a wait as readers know it, with columns that its kind of object does
 * not have NULL.  The second line counts only where `wide` says so: in a slot it may be
 * an older wait's.
 */
void
pfs_wait_event_unpack(const void *from, PfsEvent *to)
{
	const PfsWait *w = from;
	PfsWaitEvent *e = (PfsWaitEvent *) to;

	memset(e, 0, sizeof(*e));
	e->kind = w->kind;
	e->source = w->source;
	e->timer_start = w->timer_start;
	e->timer_end = w->timer_end;
	e->event_id = w->event_id;
	e->nesting_event_id = (w->wide & PFS_WIDE_NESTING) ? w->nesting_event_id : w->event_id - w->nesting_distance;
	e->end_event_id = (w->wide & PFS_WIDE_END) ? w->end_event_id : w->event_id;
	e->flags = w->flags;
	e->object_instance = (w->wide & PFS_WIDE_INSTANCE) ? w->object_instance : 0;
	e->file_offset = (w->wide & PFS_WIDE_OFFSET) ? w->file_offset : PFS_EVENT_NO_OFFSET;
	e->number_of_bytes = PFS_EVENT_NO_BYTES;
	e->spins = PFS_EVENT_NO_SPINS;
	switch (w->object_type)
	{
		case PFS_OBJECT_FILE:
			e->object.file.index = PFS_COUNTED_INDEX(w->object.file.counted);
			e->object.file.word = whole_word(e->object.file.index, PFS_COUNTED_WORD(w->object.file.counted));
			e->file_offset = w->object.file.offset;
			break;
		case PFS_OBJECT_SOCKET:
		case PFS_OBJECT_LWLOCK:
			e->object_instance = w->object.address;
			break;
		case PFS_OBJECT_TABLE:
			e->object.table.database = w->object.table.database;
			e->object.table.relation = w->object.table.relation;
			e->object.table.index = w->object.table.index;
			e->ticks = (w->wide & PFS_WIDE_TICKS) ? w->ticks : w->object.table.ticks;
			break;
		default:
			memcpy(&e->object, &w->object, sizeof(w->object));
			break;
	}
	if (w->object_type == PFS_OBJECT_FILE || w->object_type == PFS_OBJECT_SOCKET || w->object_type == PFS_OBJECT_TABLE)
	{
		if (w->wide & PFS_WIDE_BYTES)
			e->number_of_bytes = w->number_of_bytes;
		else if (w->bytes != PFS_WAIT_NO_BYTES)
			e->number_of_bytes = w->bytes;
	}
	else if (w->object_type == PFS_OBJECT_LWLOCK || w->object_type == PFS_OBJECT_BUFFER ||
			 w->instrument == pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		e->spins = w->spins;
}

/*
 * Completes the copy of a wait: the address of a file's record is that of its index, and
 * that of an LWLock is shown if acquisitions are recorded, not waits alone.
 */
void
pfs_wait_event_complete(PfsEvent *event, bool running)
{
	PfsWaitEvent *e = (PfsWaitEvent *) event;

	if (running && e->object_type != PFS_OBJECT_TABLE)
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
	if (e->object_type == PFS_OBJECT_LWLOCK && pfs_lwlock_events_now == PFS_LWLOCK_WAITS)
		e->object_instance = 0;
	if (e->object_type == PFS_OBJECT_FILE && e->object.file.word != 0)
		e->object_instance = (uintptr_t) pfs_pages_record(pfs_files, e->object.file.index);
}

const PfsEventSource pfs_lwlock_event_source = {
	.blocks = &pfs_lwlock_blocks,
	.history = pfs_lwlock_records_history,
	.current = pfs_lwlock_records_current,
	.long_history = pfs_lwlock_records_each,
	.hide = pfs_lwlock_records_hide,
};
