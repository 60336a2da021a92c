/*
 * pfs_file_sum.h
 *	  Sums of file calls: per file, instrument and part (read, write, misc), and
 *	  per instrument what no living file accounts for.
 *
 * Instrument points add with pfs_file_sum(); pfs_file_sum.c has the protocol.
 *
 * Separate from pfs_file.h: sums have more than one record for each file, and outlive it.
 */
#ifndef PFS_FILE_SUM_H
#define PFS_FILE_SUM_H

#include "pfs_chain.h"
#include "pfs_fd.h"
#include "pfs_thread.h"

/*
 * In shared memory, one cache line; of one file (a record of pfs_file_sums: a
 * PfsChained) or of none (an entry of pfs_file_totals).  next, instrument and
 * part are written before it is linked to its file and stay until it is freed.
 */
struct PfsFileSum				/* declared in pfs_fd.h */
{
	PfsSharedCell cell;			/* atomic adds; ticks of the default timer */
	uint64		bytes;			/* read or written; atomic */
	uint32		next;			/* index + 1 of the file's next one; 0: none */
	union
	{
		struct
		{
			PfsInstrumentId instrument;
			uint8		part;	/* PfsFilePart */
			uint8		unused;
		};
		uint32		key;		/* both, as PfsChained has it */
	};
};

StaticAssertDecl(sizeof(PfsFileSum) == PFS_CACHE_LINE, "adding to a file touches one line");
StaticAssertDecl(sizeof(PfsFileSum) == sizeof(PfsChained) &&
				 offsetof(PfsFileSum, key) == offsetof(PfsChained, key), "it is a link of a chain");

extern PFS_HIDDEN PfsPages *pfs_file_sums;	/* container file_events */
extern PFS_HIDDEN PfsFileSum *pfs_file_totals;	/* [instruments *
												 * PFS_NUM_FILE_PARTS] */

extern size_t pfs_file_totals_size(void);

/* Takes the container and the totals. */
extern void pfs_file_sums_lay_out(PfsSegment *seg);

static inline PfsFilePart
pfs_file_part(PfsOperation op)
{
	if (op == PFS_OP_READ)
		return PFS_FILE_READ;
	return op == PFS_OP_WRITE || op == PFS_OP_COPY ? PFS_FILE_WRITE : PFS_FILE_MISC;
}

/* Out of line: adds the event to this record. */
extern void pfs_file_sum_add(PfsFileSum *sum, const PfsWait *e, uint64 end);

/* Out of line: find or make the record; fd, if not NULL, remembers it. */
extern void pfs_file_sum_slow(PfsThread *t, const PfsWait *e, uint64 end, PfsFd *fd);

/*
 * Inside a write section: count a file call that ends now, before the event
 * leaves its slot.  fd: the descriptor's entry, or NULL if the call has none.
 */
static pg_attribute_always_inline void
pfs_file_sum(PfsThread *t, const PfsWait *e, uint64 end, PfsFd *fd)
{
	PfsFileSum *sum;

	if (likely(fd != NULL && fd->word != 0 && (uint32) fd->word == e->object.file.word &&
			   fd->index == e->object.file.index &&
			   (sum = fd->sums[pfs_file_part(e->operation)]) != NULL))
	{
		/* See "Who may free a record" in pfs_file_sum.c. */
		pfs_store_relaxed(&t->file_in_use, fd->index + 1);
		pfs_fence_signal();
		if (likely(pfs_load_acquire(fd->state) == fd->word && sum->instrument == e->instrument))
		{
			pfs_file_sum_add(sum, e, end);
			pfs_store_release(&t->file_in_use, 0);
			return;
		}
	}
	pfs_file_sum_slow(t, e, end, fd);
}

/* ---- removal of files; called by pfs_file.c ---- */

/* Does not wait: false if another process has the lock. */
extern bool pfs_file_sums_try_lock(void);
extern void pfs_file_sums_unlock(void);

/* See pfs_thread_end.c: true if there was something to repair. */
extern bool pfs_file_sums_repair(void);

/*
 * Holding it: which of these removed files (n at most 64) does a process still
 * count a call for?  A bit each.
 */
extern uint64 pfs_file_sums_in_use(const uint32 *files, int n);

/* Holding it, for a file that no process counts for: moves its sums to the event names. */
extern void pfs_file_sums_free(PfsFile *file);

/*
 * Takes the counters of a record away and adds them to these; or moves them to its event
 * name's, and returns how many events.
 */
extern void pfs_file_sum_take(PfsFileSum *sum, PfsTotals *totals, uint64 *bytes);
extern int64 pfs_file_sum_move(PfsFileSum *sum);

static inline PfsFileSum *
pfs_file_sum_at(uint32 link)
{
	return pfs_pages_record(pfs_file_sums, link - 1);
}

/* ---- SQL commands: pfs_file_sum_read.c ---- */

/* A private sum. */
typedef struct PfsFileCounters
{
	PfsTotals	totals[PFS_NUM_FILE_PARTS];
	uint64		bytes[PFS_NUM_FILE_PARTS];
} PfsFileCounters;

extern void pfs_file_counters_add(PfsFileCounters *to, const PfsFileSum *sum, PfsFilePart part);

/*
 * Each living file, instrument and part that has a record, all of one file one
 * after the other.
 */
typedef void (*PfsFileSumEmit) (uint32 file, uint64 word, const PfsFileSum *copy, void *arg);
extern void pfs_file_sums_each(PfsFileSumEmit emit, void *arg);

/* Everything counted, by instrument: counters[pfs_instruments->max], zeroed. */
extern void pfs_file_sums_by_instrument(PfsFileCounters *counters);

/*
 * TRUNCATE of the instances: their counters go to the event names; of the
 * event names: all counters go.  Both return the events that left the table.
 */
extern int64 pfs_file_sums_push(void);
extern int64 pfs_file_sums_clear(void);
extern double pfs_file_sums_estimate(void);

#endif							/* PFS_FILE_SUM_H */
