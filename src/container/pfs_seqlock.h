/*
 * pfs_seqlock.h
 *	  One writer, many readers: the sequence lock used by everything that one
 *	  process writes and others copy.
 *
 * The word is even while the data is stable and odd while it is written.
 * Writer: begin (A), plain stores, end (B).  Reader: read_begin (C), copy,
 * read_valid (D).  A pairs with D: a reader that saw any of the new data also
 * sees the odd or the later word and drops its copy.  B pairs with C: a reader
 * that saw the even word sees all data stored before it.
 */
#ifndef PFS_SEQLOCK_H
#define PFS_SEQLOCK_H

#include <string.h>

#include "pfs_atomic.h"

typedef struct PfsSeqlock
{
	uint64_t	word;			/* owner writes, all read */
} PfsSeqlock;

/*
 * The odd word is made in a single step.  With a load and a store a signal
 * handler that comes between could make changes of its own, and the store would
 * take the word back to one that readers have seen.
 */
static inline void
pfs_seqlock_write_begin(PfsSeqlock *l)
{
	pfs_add_local(&l->word, 1);
	pfs_fence_release();		/* A */
}

static inline void
pfs_seqlock_write_end(PfsSeqlock *l)
{
	pfs_add_local_release(&l->word, 1); /* B */
}

/* Ends a write section of the caller's that an error has left open; false: there is none. */
static inline bool
pfs_seqlock_repair(PfsSeqlock *l)
{
	if ((pfs_load_relaxed(&l->word) & 1) == 0)
		return false;
	pfs_seqlock_write_end(l);
	return true;
}

/* Returns the word to hand to read_valid; odd means: being written now. */
static inline uint64_t
pfs_seqlock_read_begin(const PfsSeqlock *l)
{
	return pfs_load_acquire(&l->word);	/* C */
}

static inline bool
pfs_seqlock_read_valid(const PfsSeqlock *l, uint64_t begin)
{
	pfs_fence_acquire();		/* D */
	return (begin & 1) == 0 && pfs_load_relaxed(&l->word) == begin;
}

/*
 * Copy shared bytes that may change while they are copied; the caller checks
 * afterwards.  len and both addresses are multiples of 8.  Under
 * ThreadSanitizer the copy is made of atomic words, elsewhere it is memcpy.
 */
static inline void
pfs_racy_copy(void *dst, const void *src, size_t len)
{
#ifdef __SANITIZE_THREAD__
	for (size_t i = 0; i < len / 8; i++)
		pfs_store_relaxed((uint64_t *) dst + i,
						  pfs_load_relaxed((const uint64_t *) src + i));
#else
	memcpy(dst, src, len);
#endif
}

#endif							/* PFS_SEQLOCK_H */
