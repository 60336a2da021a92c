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
#include "pfs_event_write.h"
#include "pfs_file.h"
#include "pfs_pending.h"
#include "pfs_thread.h"

StaticAssertDecl(sizeof(PfsChained) == PFS_CACHE_LINE, "adding to a file touches one line");

/* A place of calls on a file that a process has not added to their sum yet: one cache line. */
typedef struct PfsPendingFile
{
	PfsPending	place;			/* object: the file, or above the low half 0
								 * its kind; key: PFS_CALLS_KEY; note:
								 * PfsFileUse */
	uint64		sum;			/* ticks of the default timer, of the timed
								 * ones */
	uint64		min;
	uint64		max;
	uint64		bytes;			/* read or written */
	uint32		timed;
	uint32		untimed;
} PfsPendingFile;

StaticAssertDecl(sizeof(PfsPendingFile) == PFS_CACHE_LINE, "a call touches one line of pending numbers");

static const PfsPendingShape pfs_pending_file_shape = {.sets = 16, .size = sizeof(PfsPendingFile)};

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
#define PFS_FILE_KEY(key, use) ((key) | (uint32) (use) << PFS_CALLS_KEY_BITS)
#define PFS_FILE_KEY_USE(key) ((PfsFileUse) ((key) >> PFS_CALLS_KEY_BITS))

/* Takes the container and the totals. */
extern void pfs_file_sums_lay_out(PfsSegment *seg);

static inline PfsCallsPart
pfs_file_part(PfsOperation op)
{
	if (op == PFS_OP_READ)
		return PFS_CALLS_READ;
	return op == PFS_OP_WRITE || op == PFS_OP_COPY ? PFS_CALLS_WRITE : PFS_CALLS_MISC;
}

/*
 * Inside a write section, out of line: counts a file call in the sums that all processes
 * share, of its file or of none.
 */
extern void pfs_file_sum_at_once(PfsThread *t, const PfsWait *e, uint64 ticks);

/* The same: an empty place for the calls on a file; NULL: it is to be counted at once. */
extern PfsPendingFile *pfs_file_place(PfsThread *t, uint64 file, uint32 key);

/* Ticks of the default timer that a timed event has taken. */
static pg_attribute_always_inline uint64
pfs_file_ticks(const PfsWait *e, uint64 end)
{
	uint64		ticks = end > e->timer_start ? end - e->timer_start : 0;

	if (likely((e->flags & PFS_FLAG_TIMER_MASK) == (pfs_local.usual & PFS_FLAG_TIMER_MASK)))
		return ticks;
	return pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), ticks);
}

/* Is there no room for one call more in its numbers? */
static pg_attribute_always_inline bool
pfs_pending_file_is_full(const PfsPendingFile *p)
{
	return unlikely((int32) (p->timed | p->untimed) < 0);
}

static pg_attribute_always_inline void
pfs_pending_file_add(PfsPendingFile *p, uint64 ticks)
{
	p->timed++;
	p->sum += ticks;
	if (ticks < p->min)
		p->min = ticks;
	if (ticks > p->max)
		p->max = ticks;
}

/*
 * Inside a write section: counts a file call that ends now, before the event leaves its slot.
 * Returns its place; NULL: it was counted at once.
 */
static pg_attribute_always_inline PfsPendingFile *
pfs_file_sum(PfsThread *t, const PfsWait *e, uint64 end)
{
	PfsCallsPart part = pfs_file_part(e->operation);
	uint64		file = likely(e->object_type == PFS_OBJECT_FILE) ? e->object.file.counted : 0;
	uint32		key = PFS_CALLS_KEY(e->instrument, part);
	PfsPendingFile *p = (PfsPendingFile *) pfs_pending_find(PFS_COUNTED_FILES, &pfs_pending_file_shape, file, key);
	uint64		ticks = 0;

	if (unlikely(p == NULL || pfs_pending_file_is_full(p)))
		p = pfs_file_place(t, file, key);
	if (likely(e->flags & PFS_FLAG_TIMED))
		ticks = pfs_file_ticks(e, end);
	if (unlikely(p == NULL))
	{
		pfs_file_sum_at_once(t, e, ticks);
		return NULL;
	}
	if (part != PFS_CALLS_MISC && pfs_wait_bytes(e) > 0)
		p->bytes += pfs_wait_bytes(e);
	if (unlikely((e->flags & PFS_FLAG_TIMED) == 0))
		p->untimed++;
	else
		pfs_pending_file_add(p, ticks);
	return p;
}

/* ---- removal of files; called by pfs_file.c ---- */

/* Does not wait: false if another process has the lock. */
extern bool pfs_file_sums_try_lock(void);
extern void pfs_file_sums_unlock(void);

/* See pfs_process.c: true if there was something to repair. */
extern bool pfs_file_sums_repair(void);

/* Holding it, for a file that no process counts for: moves its sums to the event names. */
extern void pfs_file_sums_free(PfsFile *file);

/* Moves the counters of a sum to its event name's, and returns how many events. */
extern int64 pfs_file_sum_move(PfsChained *sum);

/* The numbers of a place as a sum that has nothing else. */
extern PfsChained pfs_file_sum_of_pending(const PfsPending *place);

/* The calls of a place as a private sum. */
static inline PfsTotals
pfs_pending_file_totals(const PfsPendingFile *p)
{
	PfsTotals	totals = {.count_timed = p->timed, .count_untimed = p->untimed, .sum = p->sum, .min = p->min, .max = p->max};

	return totals;
}

/* ---- SQL commands: pfs_file_sum_read.c ---- */

/*
 * Each living file, instrument and part: its sum, and what each process has pending
 * of it, all of one file one after the other.
 */
typedef void (*PfsFileSumEmit) (uint32 file, uint64 word, const PfsChained *copy, void *arg);
extern void pfs_file_sums_each(PfsFileSumEmit emit, void *arg);

/*
 * The same, and what no living file has, by use: file PFS_NO_RECORD.  Both at one moment, so
 * that all sums of a use are what calls on such files have counted.
 */
extern void pfs_file_sums_each_use(PfsFileSumEmit emit, void *arg);

/* For both: is a reading over that began at this word of the sequence lock `moving`? */
extern bool pfs_file_sums_read(uint64 word, PfsPatience *patience);

/* Everything counted, by instrument: calls[pfs_instruments->max], zeroed. */
extern void pfs_file_sums_by_instrument(PfsCalls *calls);

/*
 * TRUNCATE of the instances: their counters go to the event names; of the
 * event names: all counters go.  Both return the events that left the table.
 */
extern int64 pfs_file_sums_push(void);
extern int64 pfs_file_sums_clear(void);

#endif							/* PFS_FILE_SUM_H */
