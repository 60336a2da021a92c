/*
 * pfs_load_text.h
 *	  Texts of the statements that the load history names: they stay known when the digest
 *	  is evicted, the latest 4,096 of them.
 *
 * Separate from the digests, which are the statements of now, and from the rings, whose
 * periods name a statement thousands of times.
 */
#ifndef PFS_LOAD_TEXT_H
#define PFS_LOAD_TEXT_H

#include "utils/hsearch.h"

#include "pfs_load_ring.h"

#define PFS_LOAD_TEXTS	4096

/* Bytes that all texts take together at most; only texts of the full length are fewer. */
#define PFS_LOAD_TEXT_BYTES (4 * 1024 * 1024)

typedef struct PfsSharedLoadTexts
{
	uint64		clock;			/* raised at each period; the writer's */
	int			writer;			/* pid of who wrote last */
	uint32		generation;		/* of the load history whose statements they
								 * are; atomic, the writer's */
	uint64		named[PFS_LOAD_TEXTS];	/* the clock when it was named last;
										 * the writer's */
} PfsSharedLoadTexts;

/* NULL: no texts are kept. */
extern PfsSharedLoadTexts *pfs_shared_load_texts;

extern void pfs_load_texts_lay_out(PfsSegment *seg);

/*
 * Writer: these statements are named by a period that is kept.  Their texts become known,
 * if their digests have one, instead of those that were named longest ago.
 */
extern void pfs_load_texts_name(const PfsLoadRow *rows, int nrows);

/* Writer: keeps a text, as named now; of a file, the one that was named longest ago first. */
extern void pfs_load_text_put(const PfsLoadTextKey *key, const char *text, uint32 len);

/*
 * Any process: copies the text at a place, its first `room` bytes, a multiple of 8, to
 * `to`.  Returns its length; -1: there is none.
 */
extern int	pfs_load_text_copy(uint32 place, PfsLoadTextKey *key, char *to, uint32 room);

/* A reader's index of all places, in the current context.  NULL: no texts are kept. */
extern HTAB *pfs_load_texts_index(void);

/* The text of a statement: that of its digest, or what is kept here.  NULL: none.  palloc'd. */
extern char *pfs_load_text_find(HTAB *index, const PfsLoadTextKey *key, uint32 *len);

/* Row of containers, TRUNCATE of it. */
extern void pfs_load_texts_row(int i, PfsContainerRow *row);
extern void pfs_load_texts_reset_lost(void);

#endif							/* PFS_LOAD_TEXT_H */
