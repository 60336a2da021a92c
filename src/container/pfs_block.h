/*
 * pfs_block.h
 *	  Arrays of aggregate cells with a bitmap of the touched ones, so that
 *	  folding and reading cost what was used: of one writer, and of many.
 *
 * What a cell is, and how it is added to, is the business of pfs_cell.h and of
 * the record layer.  A cell is a multiple of 8 bytes; all zero is empty.
 */
#ifndef PFS_BLOCK_H
#define PFS_BLOCK_H

#include "pfs_pages.h"
#include "pfs_seqlock.h"

/* ---- of one owner ---- */

/*
 * Guarded by its owner's sequence lock, which the owner holds for every change: a
 * reader sees a cell before or after an event, never between.
 *
 * The cells of a block in chunks lie elsewhere, some of them in each chunk, a record of
 * a container, which the owner takes when it is needed, and gives back at the end.  A
 * chunk holds no addresses itself: a reader may find another owner's bytes in it until it
 * compares whose the block is.
 */
typedef struct PfsBlock
{
	uint32_t	ncells;			/* set at init */
	uint32_t	cell_size;		/* bytes */
	uint32_t	per_chunk;		/* cells; 0: they are in one piece */
	uint64_t   *touched;		/* bitmap, (ncells + 63) / 64 words */
	void	   *cells;			/* [ncells]; NULL: in chunks */
	void	  **chunks;			/* by the owner: NULL until there are cells */
} PfsBlock;

/*
 * Bytes for the bitmap, and for the cells of one block or the addresses of its chunks.
 * per_chunk: as in PfsBlock.
 */
extern size_t pfs_block_size(uint32_t ncells, uint32_t cell_size, uint32_t per_chunk);

/*
 * mem: pfs_block_size bytes, cache-aligned, either zero or used by an earlier block
 * of the same sizes, which has given back its chunks.  Only cells that its bitmap marks,
 * and the bitmap, are zeroed.  A chunk that is there all the same was made by an owner
 * that was killed before it touched a cell: it is zero, and ours.  Owner, holding its
 * lock.
 */
extern void pfs_block_init(PfsBlock *b, void *mem, uint32_t ncells, uint32_t cell_size, uint32_t per_chunk);

/* Owner, holding its lock: all cells untouched and zero. */
extern void pfs_block_clear(PfsBlock *b);

/* Owner, holding its lock: the cell is not zero any more. */
extern void pfs_block_touch(PfsBlock *b, uint32_t i);

/* Owner: where the chunk of this cell is noted. */
static inline void **
pfs_block_chunk(const PfsBlock *b, uint32_t i)
{
	return &b->chunks[i / b->per_chunk];
}

/* Owner: the cell; NULL: its chunk is not there. */
static inline void *
pfs_block_cell(const PfsBlock *b, uint32_t i)
{
	char	   *chunk;

	if (b->cells != NULL)
		return (char *) b->cells + (size_t) i * b->cell_size;
	chunk = *pfs_block_chunk(b, i);
	return chunk == NULL ? NULL : chunk + i % b->per_chunk * b->cell_size;
}

/*
 * Owner, holding its lock: the cell, marked as touched; its chunk is brought if it is not
 * there.  NULL: there is none left, which is counted.  chunks: not looked at by a block
 * with its cells in one piece.
 */
extern void *pfs_block_make(PfsBlock *b, PfsPages *chunks, uint32_t i, uint32_t *hint);

/* Owner, holding its lock: gives the chunks of all touched cells back; pfs_block_clear() is next. */
extern void pfs_block_free_chunks(PfsBlock *b, PfsPages *chunks);

/*
 * Any process: a consistent copy of the first `size` bytes of a cell; lock: the owner's.
 * False after too many retries.
 */
extern bool pfs_block_read(const PfsBlock *b, const PfsSeqlock *lock, uint32_t i, void *dst, uint32_t size);

/*
 * Any process: the same words as they are now, of an owner that stays in the middle of
 * a write section.  False while the memory changes hands.
 */
extern bool pfs_block_look(const PfsBlock *b, uint32_t i, void *dst, uint32_t size);

/* Any process: next touched cell at or after i, or ncells. */
extern uint32_t pfs_block_next(const PfsBlock *b, uint32_t i);

/* ---- of many writers ---- */

/* mem: pfs_shared_block_size() bytes, 8-aligned, zero. */
typedef struct PfsSharedBlock
{
	void	   *mem;
	uint32_t	ncells;
	uint32_t	cell_size;
} PfsSharedBlock;

extern size_t pfs_shared_block_size(uint32_t ncells, uint32_t cell_size);

static inline uint32_t
pfs_bitmap_words(uint32_t ncells)
{
	return (ncells + 63) / 64;
}

/* The cell, marked as touched: for writers. */
extern void *pfs_shared_block_touch(const PfsSharedBlock *b, uint32_t i);

/* Was it ever?  Untouched ones read as zero, but reading makes them resident. */
static inline bool
pfs_shared_block_is_touched(const PfsSharedBlock *b, uint32_t i)
{
	return (pfs_load_relaxed((uint64_t *) b->mem + i / 64) & UINT64_C(1) << (i % 64)) != 0;
}

/* The cell: for readers. */
static inline void *
pfs_shared_block_cell(const PfsSharedBlock *b, uint32_t i)
{
	return (char *) ((uint64_t *) b->mem + pfs_bitmap_words(b->ncells)) + (size_t) i * b->cell_size;
}

/* Next touched cell at or after i, or ncells. */
extern uint32_t pfs_shared_block_next(const PfsSharedBlock *b, uint32_t i);

#endif							/* PFS_BLOCK_H */
