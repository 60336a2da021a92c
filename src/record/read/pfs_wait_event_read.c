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

/*
 * Completes the copy of a wait: clears what the columns of its kind of object do not
 * have, and finds the address of a file's record, which is that of its index.  Only
 * locks, sockets, buffers and LWLocks have stored an address; for LWLocks it is shown if
 * acquisitions are recorded, not waits alone.
 */
void
pfs_wait_event_complete(PfsEvent *event, bool running)
{
	PfsWaitEvent *e = (PfsWaitEvent *) event;

	if (running)
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
	if (e->object_type != PFS_OBJECT_LOCK && e->object_type != PFS_OBJECT_SOCKET && e->object_type != PFS_OBJECT_BUFFER &&
		(e->object_type != PFS_OBJECT_LWLOCK || pfs_lwlock_events_now == PFS_LWLOCK_WAITS))
		e->object_instance = 0;
	if (e->object_type == PFS_OBJECT_LWLOCK)
	{
		e->number_of_bytes = PFS_EVENT_NO_BYTES;
		e->file_offset = PFS_EVENT_NO_OFFSET;
	}
	if (e->object_type == PFS_OBJECT_FILE && e->object.file.word != 0 &&
		e->object.file.index < pfs_files->records_max)
		e->object_instance = (uintptr_t) pfs_pages_record(pfs_files, e->object.file.index);
	if (e->object_type != PFS_OBJECT_LWLOCK && e->object_type != PFS_OBJECT_BUFFER &&
		e->instrument != pfs_fixed_instrument[PFS_INS_SPIN_DELAY])
		e->spins = PFS_EVENT_NO_SPINS;
}

static bool
lwlocks_are_there(void)
{
	return pfs_lwlock_holders != NULL;
}

static PfsLog *
lwlock_log(void)
{
	return pfs_lwlock_log;
}

const PfsEventSource pfs_lwlock_event_source = {
	.is_there = lwlocks_are_there,
	.history = pfs_lwlock_ring_history,
	.buffered = pfs_lwlock_ring_buffered,
	.long_history = pfs_lwlock_log_each,
	.log = lwlock_log,
	.events_of_item = PFS_LWLOCK_BLOCK,
	.hide = pfs_lwlock_ring_hide,
};
