/*
 * pfs_file_event.c
 *	  Reads and writes of open files: what a process caches of them, and the end of those that
 *	  are not usual.
 */
#include "postgres.h"

#include "pfs_event_open.h"
#include "pfs_file_event.h"

/* Of reads and of writes, by wait event of class IO; bits: pfs_event_kind(). */
#define EVENTS 128
static PFS_HOT_TABLE PfsWaitLookup lookups[2][EVENTS];

/* The same by kind of file, where the server announces no such wait event. */
static PFS_HOT_TABLE PfsWaitLookup lookups_by_kind[2][PFS_NUM_FILE_KINDS];

/*
 * Inside a write section, behind a call that was counted in this place, before which the words had that generation: the
 * next one can be the same in all.  Other operations than these two, calls that have a name of their own, as
 * closing, and calls that were not timed cannot.
 */
static void
learn(PfsThread *t, PfsFd *file, uint64 generation, uint32 wait_info, PfsInstrumentId instrument, PfsOperation op,
	  PfsPendingCalls *place)
{
	PfsCallsPart part = pfs_calls_part(op);
	uint32		event = wait_info - PG_WAIT_IO;
	PfsWaitLookup *lookup;
	PfsFdCall	call = {.place = place};

	if ((op != PFS_OP_READ && op != PFS_OP_WRITE) || (place->place.key & PFS_CALLS_UNTIMED) != 0)
		return;
	if (event < EVENTS && pfs_wait_info_instrument(wait_info) == instrument)
		lookup = &lookups[part][event];
	else if (pfs_file_instrument[file->kind][op] == instrument)
	{
		lookup = &lookups_by_kind[part][file->kind];
		wait_info = 0;
	}
	else
		return;
	pfs_wait_lookup_make(lookup, t, instrument, pfs_event_kind(instrument, op, PFS_OBJECT_FILE));
	lookup->wait_info = wait_info;
	call.lookup = lookup;
	if (lookup->generation == generation)
		pfs_fd_called(file, generation, part, call);
}

/*
 * Ends the event of a file call, counts it for its file, and notes with its descriptor what the next one may go by.  The
 * generation is read before all that it is to vouch for.
 */
void
pfs_file_wait_end_at(PfsThread *t, PfsWait *e, uint64 end, PfsFd *file, uint32 wait_info)
{
	uint64		generation = pfs_load_acquire(&pfs_words->generation);
	PfsInstrumentId instrument = e->instrument;
	PfsOperation op = e->operation;
	PfsPendingCalls *place;

	/* A handler's call may have left another file there, or none. */
	if (file != NULL && (file->state == NULL || pfs_fd_counted(file) != e->object.file.counted))
		file = NULL;
	pfs_write_begin(t);
	/* Before the event leaves its slot. */
	place = pfs_file_sum(t, e, end);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
	if (place != NULL && file != NULL)
		learn(t, file, generation, wait_info, instrument, op, place);
	pfs_write_end(t);
}

int64
pfs_file_event_end_any(PfsThread *t, uint64 end, int64 bytes)
{
	PfsWait    *e = &t->waits[0];

	pfs_wait_leave_place(t);
	pfs_wait_set_bytes(e, bytes >= 0 ? bytes : PFS_EVENT_NO_BYTES);
	(void) pfs_file_sum(t, e, end);
	pfs_wait_finish(t, e, 0, end);
	pfs_write_end(t);
	return bytes;
}
