/*
 * pfs_sparse.h
 *	  Arrays of cells of many writers that take memory only for what was touched: cut
 *	  into chunks, each a record of pages that many arrays share.
 *
 * An array has one word for each of its chunks, a link, 0 at first.  Who touches the
 * first cell of a chunk takes a record, clears it, and puts it into the link by
 * compare-and-swap; who comes second gives his own back.  A chunk stays until the array
 * is given up as a whole.  Whoever touches or reads an array keeps it, by means of his
 * own, from being given up.  Apart from pfs_block.h, where an array that takes records
 * has one owner.
 */
#ifndef PFS_SPARSE_H
#define PFS_SPARSE_H

#include "pfs_block.h"
#include "pfs_pages.h"

/* An array; links lie in shared memory, the rest never changes. */
typedef struct PfsSparse
{
	PfsPages   *chunks;
	uint32_t   *links;			/* [pfs_sparse_chunks()], atomic: where the
								 * record lies, in PFS_SPARSE_UNITs from 1; 0:
								 * none */
	uint32_t	ncells;
	uint32_t	cell_size;
	uint32_t	per_chunk;		/* cells of a chunk; the last one may have
								 * fewer */
} PfsSparse;

/* Records are multiples of it, so that a link leads to one without a division. */
#define PFS_SPARSE_UNIT	PFS_CACHE_LINE

/* One word of a bitmap says which cells of a chunk were touched. */
#define PFS_SPARSE_PER_CHUNK_MAX	64

/* Cells that a record of so many bytes has room for; 0 if it is too small. */
static inline uint32_t
pfs_sparse_per_chunk(size_t record_size, uint32_t cell_size)
{
	size_t		n = (record_size - sizeof(uint64_t)) / cell_size;

	return n < PFS_SPARSE_PER_CHUNK_MAX ? n : PFS_SPARSE_PER_CHUNK_MAX;
}

static inline uint32_t
pfs_sparse_chunks(const PfsSparse *s)
{
	return (s->ncells + s->per_chunk - 1) / s->per_chunk;
}

/* The cell, marked as touched: for writers.  NULL: no room, counted as lost. */
extern void *pfs_sparse_touch(const PfsSparse *s, uint32_t i, uint32_t *hint);

/* The cells of the n-th chunk, to which this link leads. */
static inline PfsSharedBlock
pfs_sparse_block(const PfsSparse *s, uint32_t n, uint32_t link)
{
	uint32_t	rest = s->ncells - n * s->per_chunk;

	return (PfsSharedBlock)
	{
		s->chunks->memory + (size_t) (link - 1) * PFS_SPARSE_UNIT, rest < s->per_chunk ? rest : s->per_chunk, s->cell_size
	};
}

/*
 * The n-th chunk, which begins with cell n * per_chunk; false: nobody has touched any
 * of its cells.
 */
static inline bool
pfs_sparse_chunk(const PfsSparse *s, uint32_t n, PfsSharedBlock *chunk)
{
	uint32_t	link = pfs_load_acquire(&s->links[n]);	/* L */

	if (link == 0)
		return false;
	*chunk = pfs_sparse_block(s, n, link);
	return true;
}

/* The cell, if it was ever touched; else NULL.  Inline for those who know the sizes. */
static inline void *
pfs_sparse_find(const PfsSparse *s, uint32_t i)
{
	uint32_t	n = i / s->per_chunk;
	PfsSharedBlock chunk;

	if (!pfs_sparse_chunk(s, n, &chunk) || !pfs_shared_block_is_touched(&chunk, i - n * s->per_chunk))
		return NULL;
	return pfs_shared_block_cell(&chunk, i - n * s->per_chunk);
}

/*
 * Its only user: passes the n-th chunk, which is there, on to another array of the same shape;
 * false if that has one there already.
 */
extern bool pfs_sparse_hand_over(const PfsSparse *from, uint32_t n, const PfsSparse *to);

/* Its only user: gives all chunks back. */
extern void pfs_sparse_free(const PfsSparse *s);

#endif							/* PFS_SPARSE_H */
