/*
 * pfs_sparse.c
 *	  Sparse arrays of cells: making and giving back their chunks.
 */
#include "pfs_sparse.h"

/* The link that leads to a record. */
static uint32_t
link_of(const PfsSparse *s, const void *record)
{
	return ((const char *) record - s->chunks->memory) / PFS_SPARSE_UNIT + 1;
}

/*
 * Makes the n-th chunk, or finds the one that somebody else has made meanwhile, perhaps
 * of the last record there was.
 */
static bool
make_chunk(const PfsSparse *s, uint32_t n, PfsSharedBlock *chunk, uint32_t *hint)
{
	void	   *record = pfs_pages_make(s->chunks, hint);
	uint32_t	link = 0;

	if (record == NULL)
		return pfs_sparse_chunk(s, n, chunk);
	if (pfs_cas(&s->links[n], &link, link_of(s, record)))	/* K */
		link = link_of(s, record);
	else
		pfs_pages_discard(s->chunks, record);
	*chunk = pfs_sparse_block(s, n, link);
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

bool
pfs_sparse_hand_over(const PfsSparse *from, uint32_t n, const PfsSparse *to)
{
	uint32_t	none = 0;

	if (!pfs_cas(&to->links[n], &none, pfs_load_relaxed(&from->links[n])))	/* K */
		return false;
	pfs_store_relaxed(&from->links[n], 0);
	return true;
}

void
pfs_sparse_free(const PfsSparse *s)
{
	for (uint32_t n = 0; n < pfs_sparse_chunks(s); n++)
	{
		uint32_t	link = pfs_exchange(&s->links[n], 0);

		if (link != 0)
			pfs_pages_discard(s->chunks, pfs_sparse_block(s, n, link).mem);
	}
}
