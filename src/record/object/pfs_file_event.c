/*
 * pfs_file_event.c
 *	  Reads and writes of open files: what a process caches of them, and the end of those that
 *	  are not usual.
 */
#include "postgres.h"

#include "pfs_event_open.h"
#include "pfs_file_event.h"

PFS_HOT_TABLE PfsWaitLookup pfs_file_lookups[PFS_FILE_LOOKUPS];
PFS_HOT_TABLE PfsWaitLookup pfs_file_read_lookups[PFS_NUM_FILE_KINDS];

/*
 * Makes the cached lookup of a wait event, behind an event of it with these flags, so that the next
 * one can take the fast path.
 */
void
pfs_file_cache_lookup(const PfsThread *t, uint32 wait_info, PfsInstrumentId instrument)
{
	PfsWaitLookup *lookup;

	/* Otherwise the call has a name of its own, as closing. */
	if (pfs_file_find_lookup(wait_info, &lookup) && pfs_wait_info_instrument(wait_info) == instrument)
		pfs_wait_lookup_make(lookup, t, instrument, pfs_event_kind(instrument, PFS_OP_NONE, PFS_OBJECT_FILE));
}

void
pfs_file_cache_read(const PfsThread *t, uint32 wait_info, PfsFileKind kind, PfsInstrumentId instrument)
{
	if (pfs_file_instrument[kind][PFS_OP_READ] == instrument)
		pfs_wait_lookup_make(&pfs_file_read_lookups[kind], t, instrument,
							 pfs_event_kind(instrument, PFS_OP_NONE, PFS_OBJECT_FILE));
	else
		pfs_file_cache_lookup(t, wait_info, instrument);
}

/* Inside a write section: ends the wait at a level, and counts it to its file. */
static void
finish(PfsThread *t, PfsWait *e, uint32 level, uint64 end, PfsFd *file)
{
	/* Before the event leaves its slot. */
	PfsPendingCalls *place = pfs_file_sum(t, e, end);

	/* A handler's call may have left another file there, or none. */
	if (file != NULL && file->state != NULL && file->counted == e->object.file.counted)
		file->place = place;
	pfs_wait_finish(t, e, level, end);
}

void
pfs_file_wait_end_at(PfsThread *t, PfsWait *e, uint64 end, PfsFd *file)
{
	pfs_write_begin(t);
	finish(t, e, t->events[PFS_WAITS].depth - 1, end, file);
	pfs_write_end(t);
}

void
pfs_file_event_end_any(PfsThread *t, uint64 end, PfsFd *file, int64 bytes)
{
	PfsWait    *e = &t->waits[0];

	pfs_wait_leave_place(t);
	pfs_wait_set_bytes(e, bytes >= 0 ? bytes : PFS_EVENT_NO_BYTES);
	finish(t, e, 0, end, file);
	pfs_write_end(t);
}
