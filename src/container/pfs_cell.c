/*
 * pfs_cell.c
 *	  Setting up, reading and walking a block of aggregate cells; adding to one
 *	  is inline.
 */
#include "pfs_cell.h"

/*
 * A reader meets the owner only if it copies during those 30 or so cycles in
 * which a cell is written; a hundred misses mean that the owner died or sleeps
 * in the middle.
 */
#define PFS_CELL_READ_TRIES 100

static uint32_t
bitmap_words(uint32_t ncells)
{
	return (ncells + 63) / 64;
}

size_t
pfs_cells_size(uint32_t ncells)
{
	return (size_t) bitmap_words(ncells) * sizeof(uint64_t) +
		(size_t) ncells * sizeof(PfsCell);
}

/*
 * The bitmap comes first, so an earlier owner's is still readable here: the
 * cells it marks are the only ones that are not zero.  That keeps the cells of
 * instruments that nobody used non-resident, and pfs_cells_add free of a check.
 * It holds as long as mem is always used for blocks of the same ncells.
 */
void
pfs_cells_init(PfsCellBlock *b, void *mem, uint32_t ncells)
{
	b->ncells = ncells;
	b->touched = mem;
	b->cells = (PfsCell *) (b->touched + bitmap_words(ncells));
	pfs_cells_clear(b);
}

void
pfs_cells_clear(PfsCellBlock *b)
{
	for (uint32_t w = 0; w < bitmap_words(b->ncells); w++)
	{
		uint64_t	bits = b->touched[w];

		if (bits == 0)
			continue;
		for (; bits != 0; bits &= bits - 1)
		{
			PfsCell    *c = &b->cells[w * 64 + __builtin_ctzll(bits)];

			pfs_store_relaxed(&c->count_timed, 0);
			pfs_store_relaxed(&c->count_untimed, 0);
			pfs_store_relaxed(&c->sum, 0);
			pfs_store_relaxed(&c->min, 0);
			pfs_store_relaxed(&c->max, 0);
		}
		pfs_store_relaxed(&b->touched[w], 0);
	}
}

void
pfs_cells_touch(PfsCellBlock *b, uint32_t i, uint64_t ticks)
{
	pfs_store_relaxed(&b->touched[i / 64], b->touched[i / 64] | UINT64_C(1) << (i % 64));
	if (b->cells[i].count_timed == 0)
		pfs_store_relaxed(&b->cells[i].min, ticks);
}

bool
pfs_cells_read(const PfsCellBlock *b, const PfsSeqlock *lock, uint32_t i, PfsCell *dst)
{
	/* NULL while the memory changes hands. */
	const PfsCell *cells = pfs_load_relaxed(&b->cells);

	for (int tries = 0; tries < PFS_CELL_READ_TRIES && cells != NULL; tries++)
	{
		uint64_t	word = pfs_seqlock_read_begin(lock);

		if ((word & 1) == 0)
		{
			pfs_racy_copy(dst, &cells[i], sizeof(PfsCell));
			if (pfs_seqlock_read_valid(lock, word))
				return true;
		}
		pfs_pause();
	}
	return false;
}

uint32_t
pfs_cells_next(const PfsCellBlock *b, uint32_t i)
{
	uint32_t	ncells = pfs_load_relaxed(&b->ncells);
	const uint64_t *touched = pfs_load_relaxed(&b->touched);
	uint32_t	w = i / 64;
	uint64_t	bits;

	if (i >= ncells || touched == NULL)
		return ncells;
	bits = pfs_load_relaxed(&touched[w]) & (UINT64_MAX << (i % 64));
	while (bits == 0)
	{
		if (++w >= bitmap_words(ncells))
			return ncells;
		bits = pfs_load_relaxed(&touched[w]);
	}
	return w * 64 + __builtin_ctzll(bits);
}
