/*
 * pfs_memory_early.h
 *	  What a process counts of its memory before it is known for whom.
 *
 * A process that the postmaster makes allocates a good part of its memory before its
 * first event, some of it before it has a PGPROC, and a session most of it before it is let
 * in.  It counts in a record of its own, in private memory, which looks like any thread's
 * to the code that counts, but belongs to no account and is seen by nobody: so its water
 * marks rise without a look at other processes'.  When its thread learns whom it works for
 * (pfs_memory_join), it gets the counters.  A process that has no thread keeps them to itself.
 */
#ifndef PFS_MEMORY_EARLY_H
#define PFS_MEMORY_EARLY_H

#include "pfs_thread.h"

/*
 * The record, empty; NULL: the system gives no memory.  The process has just been
 * born, and no other function here was called.
 */
extern PfsThread *pfs_memory_early_start(void);

/* The same record while nothing is counted: by it no methods find an entry, as another library may have kept ours. */
extern PfsThread *pfs_memory_early_rest(void);

extern bool pfs_memory_is_early(const PfsThread *t);

/*
 * Is the segment there?  The syslogger gives it up, so a process that has not attached
 * cannot do without asking.
 */
extern bool pfs_memory_has_segment(void);

/*
 * Give all counters to a thread that has none; inside a write section of both records'
 * memory.seq.  The owner has to apply truncations behind it (pfs_summary_look),
 * and to call pfs_memory_early_stop() when nothing leads to the old cells any more.
 */
extern void pfs_memory_early_hand_over(PfsThread *t);

extern void pfs_memory_early_stop(void);

#endif							/* PFS_MEMORY_EARLY_H */
