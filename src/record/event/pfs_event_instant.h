/*
 * pfs_event_instant.h
 *	  A wait event that is recorded when it is over, and was never seen running:
 *	  one that nearly always is too short to be seen by a reader.
 *
 * It begins when it has ended.  pfs_lwlock_event.h has the fast path, for events that are
 * timed by the cycle counter and go to the thread's history.
 */
#ifndef PFS_EVENT_INSTANT_H
#define PFS_EVENT_INSTANT_H

#include "pfs_event_write.h"

/*
 * Record an LWLock wait that is over.  kind: the low half of pfs_event_kind(); flags: what
 * pfs_wait_flags() gave at its begin, ENABLED among them, and PFS_EVENT_*; start,
 * end: clock readings by the flags.  No offset, no bytes: readers know that of
 * LWLocks.
 */
extern void pfs_wait_instant_any(PfsThread *t, uint32 kind, uint32 flags, uint64 object_instance,
								 uint32 source, uint64 start, uint64 end);

/*
 * Counts what would be an event, but gets none: an acquisition that did not wait.  It
 * goes to the thread's cells and its statement's digest, without a time, or to the
 * server alone if the thread is not instrumented.  flags: as above.
 */
static pg_attribute_always_inline void
pfs_wait_count_only(PfsThread *t, PfsInstrumentId instrument, uint32 flags)
{
	if (unlikely((flags & PFS_FLAG_THREAD) == 0))
	{
		pfs_summary_count_global(instrument, false, 0);
		return;
	}

	/*
	 * A signal handler's, inside another write section: rare enough to be
	 * lost.
	 */
	if (unlikely(pfs_load_relaxed(&t->seq.word) & 1))
	{
		pfs_local.reentered++;
		return;
	}
	pfs_write_begin(t);
	pfs_summary_add_untimed(t, instrument);
	if (pfs_local.waits != NULL)
		pfs_digest_wait_add_slow(instrument, false, 0);
	pfs_write_end(t);
}

#endif							/* PFS_EVENT_INSTANT_H */
