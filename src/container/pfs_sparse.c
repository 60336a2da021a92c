/*
 * pfs_sparse.c
 *	  Sparse arrays of cells: finding, making and giving back their chunks.
 */
#include "pfs_sparse.h"

/* One word of a bitmap says which cells of a chunk were touched. */
#define CELLS_PER_CHUNK_MAX 64

uint32_t
pfs_sparse_per_chunk(size_t record_size, uint32_t cell_size)
{
	/* The bitmap of 64 cells is one word, and so is that of fewer. */
	size_t		n = (record_size - pfs_shared_block_size(1, 0)) / cell_size;

	return n < CELLS_PER_CHUNK_MAX ? n : CELLS_PER_CHUNK_MAX;
}

/* The cells of a record that is or will be the n-th chunk. */
static PfsSharedBlock
block_of(const PfsSparse *s, uint32_t n, uint32_t index)
{
	uint32_t	rest = s->ncells - n * s->per_chunk;

	return (PfsSharedBlock)
	{
		pfs_pages_record(s->chunks, index), rest < s->per_chunk ? rest : s->per_chunk, s->cell_size
	};
}

bool
pfs_sparse_chunk(const PfsSparse *s, uint32_t n, PfsSharedBlock *chunk)
{
	uint32_t	link = pfs_load_acquire(&s->links[n]);	/* L */

	if (link == 0)
		return false;
	*chunk = block_of(s, n, link - 1);
	return true;
}

/* Nobody but us frees it: a chunk's record is claimed by whoever owns the array. */
static void
give_back(const PfsSparse *s, uint32_t index)
{
	if (pfs_pages_claim(s->chunks, index, pfs_pages_word(s->chunks, index)))
		pfs_pages_free(s->chunks, index);
}

/* Makes the n-th chunk, or finds the one that somebody else has made meanwhile. */
static bool
make_chunk(const PfsSparse *s, uint32_t n, PfsSharedBlock *chunk, uint32_t *hint)
{
	uint32_t	index = pfs_pages_allocate(s->chunks, hint);
	uint32_t	none = 0;

	if (index == PFS_NO_RECORD)
		return false;
	*chunk = block_of(s, n, index);
	memset(chunk->mem, 0, pfs_pages_record_size(s->chunks));
	pfs_pages_publish(s->chunks, index);
	if (!pfs_cas(&s->links[n], &none, index + 1))	/* K */
	{
		give_back(s, index);
		*chunk = block_of(s, n, none - 1);
	}
	return true;
}

void *
pfs_sparse_touch(const PfsSparse *s, uint32_t i, uint32_t *hint)
{
	uint32_t	n = i / s->per_chunk;
	PfsSharedBlock chunk;

	if (!pfs_sparse_chunk(s, n, &chunk) && !make_chunk(s, n, &chunk, hint))
		return NULL;
	return pfs_shared_block_touch(&chunk, i - n * s->per_chunk);
}

void *
pfs_sparse_find(const PfsSparse *s, uint32_t i)
{
	uint32_t	n = i / s->per_chunk;
	PfsSharedBlock chunk;

	if (!pfs_sparse_chunk(s, n, &chunk) || !pfs_shared_block_is_touched(&chunk, i - n * s->per_chunk))
		return NULL;
	return pfs_shared_block_cell(&chunk, i - n * s->per_chunk);
}

void
pfs_sparse_free(const PfsSparse *s)
{
	for (uint32_t n = 0; n < pfs_sparse_chunks(s); n++)
	{
		uint32_t	link = pfs_exchange(&s->links[n], 0);

		if (link != 0)
			give_back(s, link - 1);
	}
}
