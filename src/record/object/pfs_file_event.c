/*
 * pfs_file_event.c
 *	  Calls on files: what a process caches of them, and the events of those that find it
 *	  there, or have to do without.
 */
#include "postgres.h"

#include "pfs_event_open.h"
#include "pfs_file_event.h"

/*
 * Cached lookups by instrument.  The first operation of an instrument takes the entry and keeps it, as descriptors lead
 * there (PfsFdCall); another one, as CREATE beside OPEN, goes without.  Calls on files have some 200 instruments, which
 * are numbered nearly one after the other.
 */
#define LOOKUPS 256
static PFS_HOT_TABLE PfsWaitLookup lookups[LOOKUPS];

/* The lookup of the file event that runs in place, if one does. */
static PFS_HOT PfsWaitLookup *last_begun;

/* Returns what is cached of a call, or makes it; NULL: it cannot go by a lookup. */
static inline PfsWaitLookup *
lookup_of(PfsThread *t, PfsInstrumentId instrument, PfsOperation op)
{
	PfsWaitLookup *lookup = &lookups[instrument % LOOKUPS];
	uint64		bits = pfs_event_kind(instrument, op, PFS_OBJECT_FILE);

	if (likely(pfs_wait_lookup_holds(lookup)))
		return likely(lookup->bits == bits) ? lookup : NULL;

	/*
	 * A session that does not know yet whom it works for, as it reads its
	 * caches, would make none.
	 */
	if ((pfs_local.slow & PFS_SLOW_IDENTITY) != 0 || (lookup->generation != 0 && lookup->bits != bits))
		return NULL;
	pfs_write_begin(t);
	pfs_wait_lookup_make(lookup, t, instrument, bits);
	pfs_write_end(t);
	return pfs_wait_lookup_holds(lookup) ? lookup : NULL;
}

/*
 * Begins and starts the event of a file call, for the instrument points: by what is cached of its instrument, where it
 * stays, or in a slot.  The caller's flags are those of the instrument, which the lookup has, too, unless the caller wants
 * fewer.
 */
bool
pfs_file_wait_begin(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation op, uint64 counted,
					int64 offset, uint32 source)
{
	PfsWaitLookup *lookup;
	PfsWait    *e;

	if (unlikely(!pfs_wait_may_begin(t, &flags)))
		return false;
	lookup = likely(t->events[PFS_WAITS].depth == 0) ? lookup_of(t, instrument, op) : NULL;
	if (likely(lookup != NULL && lookup->usual == flags) &&
		likely(pfs_file_event_begin(t, lookup, &counted, offset, &source, PG_UINT8_MAX)))
	{
		last_begun = lookup;
		return true;
	}
	e = pfs_wait_begin_with_flags(t, instrument, flags, op, PFS_OBJECT_FILE, offset, source);
	e->object.file.counted = counted;
	pfs_wait_start(t, e);
	return true;
}

/* Behind a call that was counted in this place: the next one of the descriptor can be the same in all. */
static inline void
learn(PfsFd *file, uint32 wait_info, PfsWaitLookup *lookup, PfsCallsPart part, PfsPendingCalls *place)
{
	PfsFdCall	call = {.lookup = lookup, .place = place};
	bool		announced = (wait_info & 0xFF000000U) == PG_WAIT_IO &&
	pfs_wait_info_instrument(wait_info) == lookup->instrument;

	lookup->wait_info = announced ? wait_info : 0;
	pfs_fd_called(file, lookup->generation, part, call);
}

/*
 * Ends the event of a file call, counts it for its file, and notes with its descriptor what the next one may go by: of
 * reads and writes, as no other is that often.
 */
void
pfs_file_wait_end_at(PfsThread *t, uint64 end, int64 bytes, PfsFd *file, uint32 wait_info)
{
	pfs_write_begin(t);
	if (likely(pfs_wait_is_in_place(t) && bytes <= PG_INT32_MAX))
	{
		PfsWait    *e = pfs_file_wait_here(t);
		PfsOperation op = e->operation;
		PfsCallsPart part = pfs_calls_part(op);
		uint64		counted = e->object.file.counted;
		uint64		ticks = end - e->timer_start;
		PfsPendingCalls *place = (PfsPendingCalls *)
		pfs_pending_find(PFS_COUNTED_FILES, &pfs_pending_file_shape, counted, PFS_CALLS_KEY(e->instrument, part));

		if (likely(place != NULL) && likely(pfs_wait_lookup_end(t, last_begun, e, end, ticks, bytes >= 0 ? bytes : PFS_WAIT_NO_BYTES)))
		{
			pfs_pending_calls_add(place, ticks, part != PFS_CALLS_MISC ? Max(bytes, 0) : 0);
			/* A handler's call may have left another file there, or none. */
			if (file != NULL && (op == PFS_OP_READ || op == PFS_OP_WRITE) && file->state != NULL &&
				pfs_fd_counted(file) == counted)
				learn(file, wait_info, last_begun, part, place);
			(void) pfs_wait_lookup_leave(t, 0);
			return;
		}
	}
	(void) pfs_file_event_end_any(t, end, bytes);
}

/*
 * Ends the event of a file call by the general code, in the slot of its level, to which one moves that has begun where it
 * stays.
 */
int64
pfs_file_event_end_any(PfsThread *t, uint64 end, int64 bytes)
{
	PfsWait    *e;

	pfs_wait_leave_place(t);
	e = pfs_file_wait_here(t);
	pfs_wait_set_bytes(e, bytes >= 0 ? bytes : PFS_EVENT_NO_BYTES);
	/* Before the event leaves its slot. */
	(void) pfs_file_sum(t, e, end);
	pfs_wait_finish(t, e, t->events[PFS_WAITS].depth - 1, end);
	pfs_write_end(t);
	return bytes;
}
