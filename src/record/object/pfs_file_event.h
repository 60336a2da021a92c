/*
 * pfs_file_event.h
 *	  Calls on files, most of which are usual in all: nothing is in the way, and the process
 *	  has made such a call before.
 *
 * What it has looked up then is cached, by instrument (PfsWaitLookup), so that the event is made where it stays.  Of
 * reads and writes of open files the descriptor has it besides, with the place where its calls are counted (PfsFdCall):
 * such a call finds nothing anew.  Begin and end ask whether all is as it was; whatever is not usual, also if it turns out
 * at the end, is the business of pfs_wait_begin_with_flags() and pfs_file_event_end_any(), to which the event looks like any
 * other: it is in the slot of the outermost wait by then.
 *
 * Separate from pfs_event_write.h, which has the events of all other waits.
 */
#ifndef PFS_FILE_EVENT_H
#define PFS_FILE_EVENT_H

#include "utils/wait_event.h"

#include "pfs_fd.h"
#include "pfs_file_sum.h"
#include "pfs_wait_class.h"
#include "pfs_wait_lookup.h"

/*
 * Begins the event of any file call, which is counted for `counted`, and starts it.  flags: as pfs_wait_flags() gave them.
 * False: there is no event.
 */
extern bool pfs_file_wait_begin(PfsThread *t, PfsInstrumentId instrument, uint32 flags, PfsOperation op, uint64 counted,
								int64 offset, uint32 source);

/*
 * The end of any file call, with so many bytes, negative on failure: as pfs_wait_end_at(), and counted to its file.
 * file: its descriptor's entry, or NULL; wait_info: the server's wait event.  The next read or write may go by what the
 * entry learns.
 */
extern void pfs_file_wait_end_at(PfsThread *t, uint64 end, int64 bytes, PfsFd *file, uint32 wait_info);

/* The same of an event that has turned out to be unusual; ends its write section, returns bytes. */
extern int64 pfs_file_event_end_any(PfsThread *t, uint64 end, int64 bytes);

/* The event of a file call that ends: where it is now, as one of a handler can have moved it. */
static pg_attribute_always_inline PfsWait *
pfs_file_wait_here(PfsThread *t)
{
	return pfs_wait_is_in_place(t) ? (PfsWait *) t->events[PFS_WAITS].finished.next
		: &t->waits[t->events[PFS_WAITS].depth - 1];
}

/* The clock at its end.  Where it stays an event is timed by the cycle counter, and so is one that is moved from there now. */
static pg_attribute_always_inline uint64
pfs_file_wait_read_end(PfsThread *t)
{
	return pfs_wait_is_in_place(t) ? pfs_read_cycles() : pfs_wait_read_end(t, pfs_file_wait_here(t)->flags);
}

/*
 * What a call on a descriptor goes by, under a wait event of class IO or another one (0), if nothing has changed since
 * the last one of its part; else NULL.  Then there is a thread, too.
 */
static pg_attribute_always_inline const PfsFdCall *
pfs_file_usual_call(int fd, PfsCallsPart part, uint32 wait_info)
{
	const PfsFd *file;
	const PfsFdCall *call;

	if (unlikely((uint32) fd >= (uint32) pfs_nfds))
		return NULL;
	file = &pfs_fds[fd];
	call = &file->last[part];
	return likely(file->generation == pfs_load_relaxed(&pfs_words->generation)) &&
		likely(call->lookup->wait_info == wait_info) &&
		likely(pfs_load_acquire(file->state) == file->word) ? call : NULL;
}

/*
 * Begins the event of a call that goes by this lookup, where it stays.  ignored:
 * PFS_SLOW_... that are not in the way.  False: nothing was done, as something is.
 *
 * A handler that comes before it is shown sees `beginning`, and passes by; for one that comes
 * later it leaves its place.
 */
static pg_attribute_always_inline bool
pfs_file_event_begin(PfsThread *t, const PfsWaitLookup *lookup, const uint64 *counted, int64 offset,
					 const uint32 *source, uint16 ignored)
{
	PfsWait    *e;

	if (unlikely(!pfs_wait_is_undisturbed(t, ignored)))
		return false;
	pfs_local.beginning = 1;
	pfs_fence_signal();
	e = pfs_wait_lookup_fill(t, lookup, pfs_local.parent, *source);
	if (unlikely(e == NULL))
	{
		pfs_local.beginning = 0;
		return false;
	}
	t->last_event_id = e->event_id;
	e->object.file.counted = *counted;
	e->object.file.offset = offset;
	e->timer_start = pfs_read_cycles();
	pfs_wait_lookup_show(t);
	pfs_fence_signal();
	pfs_local.beginning = 0;
	return true;
}

/*
 * Ends it, with so many bytes, negative on failure, which it returns.  All that it asks comes before the first change,
 * so that what is not usual by now, as pfs_wait_lookup_end() says, is still whole for the general way.  Switches in
 * between change nothing: the flags are those of the begin.
 *
 * The place is still the one of the begin, as only an event of a handler could have taken it.  That it was not
 * truncated tells the lookup, which held then and holds now: so the generation is still the same.
 */
static pg_attribute_always_inline int64
pfs_file_event_end(PfsThread *t, PfsFdCall call, int64 bytes)
{
	uint64		end = pfs_read_cycles();

	pfs_write_begin(t);
	if (likely(pfs_wait_is_in_place(t) && (uint64) bytes <= PG_INT32_MAX))
	{
		PfsWait    *e = (PfsWait *) t->events[PFS_WAITS].finished.next;
		uint64		ticks = end - e->timer_start;

		if (likely(pfs_wait_lookup_end(t, call.lookup, e, end, ticks, (int32) bytes)))
		{
			pfs_pending_calls_add(call.place, ticks, bytes);
			return pfs_wait_lookup_leave(t, bytes);
		}
	}
	return pfs_file_event_end_any(t, end, bytes);
}

#endif							/* PFS_FILE_EVENT_H */
