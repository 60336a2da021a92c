/*
 * pfs_file_sum.h
 *	  Sums of file calls: per file, instrument and part (read, write, misc), and
 *	  per instrument what no living file accounts for.
 *
 * Instrument points count with pfs_file_sum(), in places of the process's own
 * (pfs_pending.h); pfs_file_sum.c has the protocol of the sums.
 *
 * Separate from pfs_file.h: sums have more than one record for each file, and outlive it.
 */
#ifndef PFS_FILE_SUM_H
#define PFS_FILE_SUM_H

#include "pfs_calls.h"
#include "pfs_file.h"

StaticAssertDecl(sizeof(PfsChained) == PFS_CACHE_LINE, "adding to a file touches one line");

/* A process's places of calls on files.  object: the file, or above the low half 0 its kind; note: PfsFileUse. */
#define PFS_PENDING_FILE_SETS 16
static const PfsPendingShape pfs_pending_file_shape = {.sets = PFS_PENDING_FILE_SETS, .ways = PFS_PENDING_WAYS, .size = sizeof(PfsPendingCalls)};

/* What files differ in from other objects that are counted. */
extern const PfsCountedKind pfs_counted_files;

/*
 * The sums of files, in chains of PfsChained by instrument and part, and the totals of what no
 * file has, by what it was for; ticks of the default timer.
 */
extern PFS_HIDDEN PfsPages *pfs_file_sums;	/* container file_events */
extern PFS_HIDDEN PfsChained *pfs_file_totals[PFS_NUM_FILE_USES];	/* see pfs_calls.h */

/*
 * The key of a sum: above instrument and part what its file is for, so that it is known when
 * the file has gone.
 */
#define PFS_FILE_KEY(key, use) (((key) & ~PFS_CALLS_UNTIMED) | (uint32) (use) << PFS_CALLS_KEY_BITS)
#define PFS_FILE_KEY_USE(key) ((PfsFileUse) ((key) >> PFS_CALLS_KEY_BITS))

/* Takes the container and the totals. */
extern void pfs_file_sums_lay_out(PfsSegment *seg);

/*
 * Inside a write section: counts a file call that ends now, before the event leaves its slot.
 * Returns its place; NULL: it was counted in the sums at once.
 */
extern PfsPendingCalls *pfs_file_sum(PfsThread *t, const PfsWait *e, uint64 end);

/* ---- removal of files; called by pfs_file.c ---- */

/* Where counters may move, for a file that no process counts for: moves its sums to the event names. */
extern void pfs_file_sums_free(PfsFile *file);

/* Moves the counters of a sum to its event name's, and returns how many events. */
extern int64 pfs_file_sum_move(PfsChained *sum);

/* The numbers of a place as a sum that has nothing else. */
extern PfsChained pfs_file_sum_of_pending(const PfsPending *place);

/* ---- SQL commands: pfs_file_sum_read.c ---- */

/*
 * What was counted, at one moment, in sums of an instrument and a part: by file each record of a file that is
 * there, and what each process has pending of it; then (all) what no such file has, as of file PFS_NO_RECORD.  So all
 * sums of a use are what calls on such files have counted.
 */
typedef void (*PfsFileSumEmit) (uint32 file, uint64 word, const PfsChained *copy, void *arg);
extern void pfs_file_sums_each(bool all, PfsFileSumEmit emit, void *arg);

/*
 * TRUNCATE of the instances: their counters go to the event names; of the
 * event names: all counters go.  Both return the events that left the table.
 */
extern int64 pfs_file_sums_push(void);
extern int64 pfs_file_sums_clear(void);

#endif							/* PFS_FILE_SUM_H */
