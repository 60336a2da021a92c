/*
 * pfs_file_event.h
 *	  Reads and writes of open files that are usual in all: nothing is in the way, and the
 *	  process has made such a call before.
 *
 * What it has looked up then is cached: of the server's wait event (PfsWaitLookup), and of the
 * descriptor where its calls are counted (PfsFd.place).  So such a call finds nothing anew; begin
 * and end ask whether all is as it was, and write what an event is, where it stays.  Whatever is not usual,
 * also if it turns out at the end, is the business of pfs_wait_begin() and pfs_file_wait_end_at(), to
 * which the event looks like any other: it is in the slot of the outermost wait by then.
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

/* By wait event of class IO; bits: pfs_event_kind() without the operation. */
#define PFS_FILE_LOOKUPS 128
extern PFS_HIDDEN PfsWaitLookup pfs_file_lookups[PFS_FILE_LOOKUPS];

/* By kind of file: reads for which the server announces no wait event. */
extern PFS_HIDDEN PfsWaitLookup pfs_file_read_lookups[PFS_NUM_FILE_KINDS];

/* Finds the lookup under a wait_event_info; false: it is of another class. */
static pg_attribute_always_inline bool
pfs_file_find_lookup(uint32 wait_info, PfsWaitLookup **lookup)
{
	uint32		event = wait_info - PG_WAIT_IO;

	if (unlikely(event >= PFS_FILE_LOOKUPS))
		return false;
	*lookup = &pfs_file_lookups[event];
	/* Otherwise the compiler would work the address out anew at each use. */
__asm__("":"+r"(*lookup));
	return true;
}

/* The lookup of a read that the server may make under any wait event, or none. */
static pg_attribute_always_inline PfsWaitLookup *
pfs_file_read_lookup(uint32 wait_info, PfsFileKind kind)
{
	PfsWaitLookup *lookup;

	return pfs_file_find_lookup(wait_info, &lookup) ? lookup : &pfs_file_read_lookups[kind];
}

/* An event has ended: can the next one go by the lookup? */
extern void pfs_file_cache_lookup(const PfsThread *t, uint32 wait_info, PfsInstrumentId instrument);

/* A read of a file of this kind has ended, under any wait event or none: the same. */
extern void pfs_file_cache_read(const PfsThread *t, uint32 wait_info, PfsFileKind kind, PfsInstrumentId instrument);

/*
 * The end of any file call: as pfs_wait_end_at(), and counted to its file; file: its
 * descriptor's entry, which learns where, or NULL.
 */
extern void pfs_file_wait_end_at(PfsThread *t, PfsWait *e, uint64 end, PfsFd *file);

/* The same of an event that pfs_file_event_end() has found to be unusual; ends its write section. */
extern void pfs_file_event_end_any(PfsThread *t, uint64 end, PfsFd *file, int64 bytes);

/*
 * The entry of a descriptor, if its file is still the same and a call on it was counted before; else
 * NULL.
 */
static pg_attribute_always_inline PfsFd *
pfs_fd_used(int fd)
{
	PfsFd	   *entry;

	if (unlikely((uint32) fd >= (uint32) pfs_nfds))
		return NULL;
	entry = &pfs_fds[fd];
	return likely(entry->place != NULL) && likely(pfs_load_acquire(entry->state) == entry->word) ? entry : NULL;
}

/*
 * Begins the event of a call, where it stays, whose lookup holds.  ignored:
 * PFS_SLOW_... that are not in the way.  False: nothing was done, as something is.
 *
 * A handler that comes before it is shown sees `beginning`, and passes by; for one that comes
 * later it leaves its place.
 */
static pg_attribute_always_inline bool
pfs_file_event_begin(PfsThread *t, const PfsWaitLookup *lookup, const PfsFd *file, PfsOperation op, int64 offset,
					 uint32 source, uint16 ignored)
{
	PfsParent	parent = pfs_local.parent;
	PfsWait    *e;

	if (unlikely(!pfs_wait_is_undisturbed(t, ignored)))
		return false;
	pfs_local.beginning = 1;
	pfs_fence_signal();
	if (unlikely(!pfs_wait_lookup_has_place(t, parent)))
	{
		pfs_local.beginning = 0;
		return false;
	}
	e = pfs_wait_lookup_fill(t, lookup, op, parent, source);
	e->object.file.counted = file->counted;
	e->object.file.offset = offset;
	e->timer_start = pfs_read_cycles();
	pfs_wait_lookup_show(t);
	pfs_fence_signal();
	pfs_local.beginning = 0;
	return true;
}

/*
 * Ends it, with so many bytes, negative on failure.  All that it asks comes before the first change,
 * so that what is not usual by now (a place that others have taken, or as pfs_wait_lookup_end() says) is still
 * whole for the general way.  Switches in between change nothing: the flags
 * are those of the begin.
 */
static pg_attribute_always_inline void
pfs_file_event_end(PfsThread *t, const PfsWaitLookup *lookup, PfsFd *file, PfsCallsPart part, int64 bytes)
{
	uint64		end = pfs_read_cycles();
	PfsPendingCalls *p = file->place;

	pfs_write_begin(t);
	if (likely(pfs_wait_is_in_place(t) && p != NULL && (uint64) bytes <= PG_INT32_MAX))
	{
		PfsWait    *e = (PfsWait *) t->events[PFS_WAITS].finished.next;
		uint64		ticks = end - e->timer_start;

		if (likely(pfs_pending_holds(PFS_COUNTED_FILES, &p->place, e->object.file.counted,
									 PFS_CALLS_KEY(lookup->instrument, part)) &&
				   !pfs_pending_calls_are_full(p) && pfs_wait_lookup_end(t, lookup, e, end, (int32) bytes)))
		{
			pfs_pending_calls_add(p, ticks, bytes);
			pfs_write_end(t);
			return;
		}
	}
	pfs_file_event_end_any(t, end, file, bytes);
}

#endif							/* PFS_FILE_EVENT_H */
