/*
 * pfs_sparse.h
 *	  Arrays of cells of many writers that take memory only for what was touched: cut
 *	  into chunks, each a record of pages that many arrays share.
 *
 * An array has one word for each of its chunks, a link, 0 at first.  Who touches the
 * first cell of a chunk takes a record, clears it, and puts it into the link by
 * compare-and-swap; who comes second gives his own back.  A chunk stays until the array
 * is given up as a whole.  Whoever touches or reads an array keeps it, by means of his
 * own, from being given up.  Apart from pfs_block.h, as it takes records.
 */
#ifndef PFS_SPARSE_H
#define PFS_SPARSE_H

#include "pfs_block.h"
#include "pfs_pages.h"

/* An array; links lie in shared memory, the rest never changes. */
typedef struct PfsSparse
{
	PfsPages   *chunks;
	uint32_t   *links;			/* [pfs_sparse_chunks()], atomic: index + 1 of
								 * the record; 0: none */
	uint32_t	ncells;
	uint32_t	cell_size;
	uint32_t	per_chunk;		/* cells of a chunk; the last one may have
								 * fewer */
} PfsSparse;

/* Cells that a record of so many bytes has room for: at most 64, and 0 if it is too small. */
extern uint32_t pfs_sparse_per_chunk(size_t record_size, uint32_t cell_size);

static inline uint32_t
pfs_sparse_chunks(const PfsSparse *s)
{
	return (s->ncells + s->per_chunk - 1) / s->per_chunk;
}

/* The cell, marked as touched: for writers.  NULL: no room, counted as lost. */
extern void *pfs_sparse_touch(const PfsSparse *s, uint32_t i, uint32_t *hint);

/* The cell, if it was ever touched; else NULL. */
extern void *pfs_sparse_find(const PfsSparse *s, uint32_t i);

/*
 * The n-th chunk, which begins with cell n * per_chunk; false: nobody has touched any
 * of its cells.
 */
extern bool pfs_sparse_chunk(const PfsSparse *s, uint32_t n, PfsSharedBlock *chunk);

/* Its only user: gives all chunks back. */
extern void pfs_sparse_free(const PfsSparse *s);

#endif							/* PFS_SPARSE_H */
