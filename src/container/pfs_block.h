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

#include "pfs_seqlock.h"

/* ---- of one owner ---- */

/*
 * Guarded by its owner's sequence lock, which the owner holds for every change: a
 * reader sees a cell before or after an event, never between.
 */
typedef struct PfsBlock
{
	uint32_t	ncells;			/* set at init */
	uint32_t	cell_size;		/* bytes */
	uint64_t   *touched;		/* bitmap, (ncells + 63) / 64 words */
	void	   *cells;			/* [ncells] */
} PfsBlock;

/* Bytes for the bitmap and the cells of one block. */
extern size_t pfs_block_size(uint32_t ncells, uint32_t cell_size);

/*
 * mem: pfs_block_size bytes, cache-aligned, either zero or used by an earlier block
 * of the same sizes.  Only cells that its bitmap marks, and the bitmap, are
 * zeroed.  Owner, holding its lock.
 */
extern void pfs_block_init(PfsBlock *b, void *mem, uint32_t ncells, uint32_t cell_size);

/* Owner, holding its lock: all cells untouched and zero. */
extern void pfs_block_clear(PfsBlock *b);

/* Owner, holding its lock: the cell is not zero any more. */
extern void pfs_block_touch(PfsBlock *b, uint32_t i);

static inline void *
pfs_block_cell(const PfsBlock *b, uint32_t i)
{
	return (char *) b->cells + (size_t) i * b->cell_size;
}

/*
 * Any process: a consistent copy of one cell; lock: the owner's.  False after
 * too many retries.
 */
extern bool pfs_block_read(const PfsBlock *b, const PfsSeqlock *lock, uint32_t i, void *dst);

/*
 * Any process: the cell's words as they are now, of an owner that stays in the
 * middle of a write section.  False while the memory changes hands.
 */
extern bool pfs_block_look(const PfsBlock *b, uint32_t i, void *dst);

/* Any process: next touched cell at or after i, or ncells. */
extern uint32_t pfs_block_next(const PfsBlock *b, uint32_t i);

/* ---- of many writers ---- */

/* mem: pfs_shared_block_size() bytes, 8-aligned, zero or cleared by its last user. */
typedef struct PfsSharedBlock
{
	void	   *mem;
	uint32_t	ncells;
	uint32_t	cell_size;
} PfsSharedBlock;

extern size_t pfs_shared_block_size(uint32_t ncells, uint32_t cell_size);

/* The cell, marked as touched: for writers. */
extern void *pfs_shared_block_touch(const PfsSharedBlock *b, uint32_t i);

/* Was it ever?  Untouched ones read as zero, but reading makes them resident. */
extern bool pfs_shared_block_is_touched(const PfsSharedBlock *b, uint32_t i);

/* The cell: for readers. */
extern void *pfs_shared_block_cell(const PfsSharedBlock *b, uint32_t i);

/* Next touched cell at or after i, or ncells. */
extern uint32_t pfs_shared_block_next(const PfsSharedBlock *b, uint32_t i);

/* Its only user: all cells untouched and zero. */
extern void pfs_shared_block_clear(const PfsSharedBlock *b);

#endif							/* PFS_BLOCK_H */
