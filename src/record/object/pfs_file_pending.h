/*
 * pfs_file_pending.h
 *	  What a process has counted of calls on files and not added to their sums yet.
 *
 * The sums of a file (pfs_file_sum.h) are records that all processes share, and sessions
 * that read one file would fight over their lines at every call.  So each process has
 * places of its own, beside its thread record, and readers add those of all processes; the
 * next process that has the record goes on with what the last one has left.
 *
 * The owner alone writes them, inside write sections of its thread.  A place's numbers are
 * added to the sum of their file (a flush) when another file, kind of call or instrument
 * needs the place; never while a reader or truncator forbids it: then the call is counted
 * in the file's sum at once.
 *
 * TRUNCATE raises pfs_words->file_truncations and writes nobody's numbers: those of an older
 * generation count no more, or only for their event name, and their owner moves them when
 * it comes by.
 *
 * Separate from pfs_file_sum.h: a sum is everybody's, these numbers are one process's.
 */
#ifndef PFS_FILE_PENDING_H
#define PFS_FILE_PENDING_H

#include "pfs_instrument.h"
#include "pfs_segment.h"
#include "pfs_thread.h"

/* Places of a process: sets by a hash of file and key. */
#define PFS_PENDING_FILE_SETS 16
#define PFS_PENDING_FILE_WAYS 2
#define PFS_PENDING_FILES (PFS_PENDING_FILE_SETS * PFS_PENDING_FILE_WAYS)

/* A file, as an event names it: index of its record above the low half of the state word. */
#define PFS_PENDING_FILE(index, word) ((uint64) (index) << 32 | (uint32) (word))
#define PFS_PENDING_INDEX(file) ((uint32) ((file) >> 32))
#define PFS_PENDING_WORD(file) ((uint32) (file))

/* One cache line; all zero is empty. */
typedef struct PfsPendingFile
{
	uint64		file;			/* 0: of none */
	uint32		key;			/* instrument and part, as PfsFileSum.key */
	uint32		unused;
	uint64		generation;		/* of truncations, when the place was taken;
								 * 0: it is empty */
	uint64		sum;			/* ticks of the default timer, of the timed
								 * ones */
	uint64		min;
	uint64		max;
	uint64		bytes;			/* read or written */
	uint32		timed;
	uint32		untimed;
} PfsPendingFile;

StaticAssertDecl(sizeof(PfsPendingFile) == PFS_CACHE_LINE, "a call touches one line of pending numbers");

typedef struct PfsPendingFiles
{
	PfsPendingFile items[PFS_PENDING_FILES];
} __attribute__((aligned(PFS_CACHE_LINE))) PfsPendingFiles;

/*
 * [threads]; NULL: there are no files.  Whether one was ever used says a byte beside: a
 * reader that looked at all of them would make them resident.
 */
extern PFS_HIDDEN PfsPendingFiles *pfs_pending_files;
extern PFS_HIDDEN uint8 *pfs_pending_files_used;

/* This process's; NULL: it has none. */
extern PFS_HIDDEN PfsPendingFiles *pfs_my_pending_files;

/* Postmaster.  Their bytes, and those of sets that were never used. */
extern void pfs_pending_files_lay_out(PfsSegment *seg);
extern size_t pfs_pending_files_size(void);
extern size_t pfs_pending_files_unused(void);

/* The process takes the places of its thread record, and leaves them. */
extern void pfs_pending_files_attach(PfsThread *t);
extern void pfs_pending_files_detach(PfsThread *t);

/*
 * The owner, inside a write section: a place for this file and key, emptied of what was
 * there; NULL: not at this moment, or there is no room for a sum of the file.
 */
extern PfsPendingFile *pfs_pending_file_take(PfsThread *t, uint64 file, uint32 key);

/* Adds the calls of a place to a private sum. */
static inline void
pfs_pending_file_read(const PfsPendingFile *p, PfsTotals *to)
{
	PfsTotals	totals = {.count_timed = p->timed, .count_untimed = p->untimed, .sum = p->sum, .min = p->min, .max = p->max};

	pfs_totals_add(to, &totals);
}

static inline PfsPendingFile *
pfs_pending_file_set(PfsPendingFiles *places, uint64 file, uint32 key)
{
	uint32		hash = (PFS_PENDING_INDEX(file) + key * 31) * UINT32_C(2654435769);

	return &places->items[hash / (UINT32_MAX / PFS_PENDING_FILE_SETS + 1) * PFS_PENDING_FILE_WAYS];
}

static inline bool
pfs_pending_file_is(const PfsPendingFile *p, uint64 file, uint32 key)
{
	return p->file == file && p->key == key;
}

/* The place that is this file's and key's, if one of the set is. */
static inline PfsPendingFile *
pfs_pending_file_find(PfsPendingFiles *places, uint64 file, uint32 key)
{
	PfsPendingFile *set = pfs_pending_file_set(places, file, key);

	return pfs_pending_file_is(&set[0], file, key) ? &set[0] : &set[1];
}

StaticAssertDecl(PFS_PENDING_FILE_WAYS == 2, "pfs_pending_file_find() looks at two");

#endif							/* PFS_FILE_PENDING_H */
