/*
 * pfs_block.c
 *	  Setting up, reading and walking arrays of aggregate cells; bringing their chunks
 *	  and giving them back.
 */
#include "pfs_block.h"

/*
 * A reader meets the owner only if it copies during those 30 or so cycles in
 * which a cell is written; a hundred misses mean that the owner died or sleeps
 * in the middle.
 */
#define READ_TRIES 100

/* Bytes of the bitmap, up to where the cells begin. */
static size_t
bitmap_bytes(uint32_t ncells)
{
	size_t		bytes = pfs_bitmap_words(ncells) * sizeof(uint64_t);

	return (bytes + PFS_CACHE_LINE - 1) & ~(size_t) (PFS_CACHE_LINE - 1);
}

/* The next bit that is set at or after i, or n. */
static uint32_t
next_bit(const uint64_t *bitmap, uint32_t n, uint32_t i)
{
	uint32_t	w = i / 64;
	uint64_t	bits;

	if (i >= n)
		return n;
	bits = pfs_load_relaxed(&bitmap[w]) & (UINT64_MAX << (i % 64));
	while (bits == 0)
	{
		if (++w >= pfs_bitmap_words(n))
			return n;
		bits = pfs_load_relaxed(&bitmap[w]);
	}
	return w * 64 + __builtin_ctzll(bits);
}

static void
zero_cell(void *cell, uint32_t size)
{
	for (uint64_t *word = cell; size > 0; word++, size -= sizeof(*word))
		pfs_store_relaxed(word, 0);
}

size_t
pfs_block_size(uint32_t ncells, uint32_t cell_size, uint32_t per_chunk)
{
	if (per_chunk == 0)
		return bitmap_bytes(ncells) + (size_t) ncells * cell_size;
	return bitmap_bytes(ncells) + (ncells + per_chunk - 1) / per_chunk * sizeof(void *);
}

/*
 * The bitmap comes first, so an earlier owner's is still readable here: the
 * cells it marks are the only ones that are not zero.  That keeps the cells of
 * instruments that nobody used non-resident, and adding free of a check.  It
 * holds as long as mem is always used for blocks of the same sizes.
 */
void
pfs_block_init(PfsBlock *b, void *mem, uint32_t ncells, uint32_t cell_size, uint32_t per_chunk)
{
	void	   *behind_bitmap = (char *) mem + bitmap_bytes(ncells);

	b->ncells = ncells;
	b->cell_size = cell_size;
	b->per_chunk = per_chunk;
	b->touched = mem;
	b->cells = per_chunk != 0 ? NULL : behind_bitmap;
	b->chunks = per_chunk != 0 ? behind_bitmap : NULL;
	pfs_block_clear(b);
}

/* Zeroes the cells that the bitmap marks, as far as their chunks are still there, and the bitmap. */
void
pfs_block_clear(PfsBlock *b)
{
	for (uint32_t w = 0; w < pfs_bitmap_words(b->ncells); w++)
	{
		uint64_t	bits = b->touched[w];

		if (bits == 0)
			continue;
		for (; bits != 0; bits &= bits - 1)
		{
			void	   *cell = pfs_block_cell(b, w * 64 + __builtin_ctzll(bits));

			if (cell != NULL)
				zero_cell(cell, b->cell_size);
		}
		pfs_store_relaxed(&b->touched[w], 0);
	}
}

void
pfs_block_touch(PfsBlock *b, uint32_t i)
{
	pfs_store_relaxed(&b->touched[i / 64], b->touched[i / 64] | UINT64_C(1) << (i % 64));
}

/*
 * Who is killed before the store has lost a record; behind it the chunk is there, not
 * touched and zero, for this owner or the next one.
 */
void *
pfs_block_make(PfsBlock *b, PfsPages *chunks, uint32_t i, uint32_t *hint)
{
	if (pfs_block_cell(b, i) == NULL)
	{
		void	   *chunk = pfs_pages_make(chunks, hint);

		if (chunk == NULL)
			return NULL;
		/* Q: a reader comes to the zeroes by this.  Pairs with R. */
		pfs_store_release(pfs_block_chunk(b, i), chunk);
	}
	pfs_block_touch(b, i);
	return pfs_block_cell(b, i);
}

/*
 * Takes each address away before the next owner can have the chunk: a reader relies on it,
 * see is_still_there().
 */
void
pfs_block_free_chunks(PfsBlock *b, PfsPages *chunks)
{
	for (uint32_t i = pfs_block_next(b, 0); i < b->ncells; i = pfs_block_next(b, i + 1))
	{
		void	  **place = pfs_block_chunk(b, i);
		void	   *chunk = *place;

		if (chunk == NULL)
			continue;
		pfs_store_relaxed(place, NULL);
		pfs_pages_discard(chunks, chunk);
	}
}

/*
 * Where a reader finds a cell; NULL: its chunk is not there, or the memory changes
 * hands.
 */
static const char *
cell_to_read(const PfsBlock *b, uint32_t i)
{
	uint32_t	cell_size = pfs_load_relaxed(&b->cell_size);
	uint32_t	per_chunk = pfs_load_relaxed(&b->per_chunk);
	const char *cells = pfs_load_relaxed((char *const *) &b->cells);
	const char *const *chunks = pfs_load_relaxed((const char *const *const *) &b->chunks);
	const char *chunk;

	if (cells != NULL)
		return cells + (size_t) i * cell_size;
	if (chunks == NULL || per_chunk == 0)
		return NULL;
	chunk = pfs_load_acquire(&chunks[i / per_chunk]);	/* R */
	return chunk == NULL ? NULL : chunk + i % per_chunk * cell_size;
}

/*
 * Tells whether a cell that was copied is where it was.  An owner takes a chunk's
 * address away before it gives the chunk back: whoever has copied a byte of the next
 * owner sees that here (S, pairs with E of pfs_pages.c).
 */
static bool
is_still_there(const PfsBlock *b, uint32_t i, const char *cell)
{
	pfs_fence_acquire();
	return cell_to_read(b, i) == cell;
}

/*
 * Copies a cell from between two write sections of its owner.  Some tries, as a busy
 * owner may be in the next one each time; false if none of them succeeded.
 */
bool
pfs_block_read(const PfsBlock *b, const PfsSeqlock *lock, uint32_t i, void *dst, uint32_t size)
{
	const char *cell = cell_to_read(b, i);

	for (int tries = 0; tries < READ_TRIES && cell != NULL; tries++)
	{
		uint64_t	word = pfs_seqlock_read_begin(lock);

		if ((word & 1) == 0)
		{
			pfs_racy_copy(dst, cell, size);
			if (pfs_seqlock_read_valid(lock, word))
				return is_still_there(b, i, cell);
		}
		pfs_pause();
	}
	return false;
}

bool
pfs_block_look(const PfsBlock *b, uint32_t i, void *dst, uint32_t size)
{
	const char *cell = cell_to_read(b, i);

	if (cell == NULL)
		return false;
	pfs_racy_copy(dst, cell, size);
	return is_still_there(b, i, cell);
}

uint32_t
pfs_block_next(const PfsBlock *b, uint32_t i)
{
	uint32_t	ncells = pfs_load_relaxed(&b->ncells);
	const uint64_t *touched = pfs_load_relaxed(&b->touched);

	/* Never back, where the memory has changed hands: a reader would not end. */
	if (touched == NULL || ncells < i)
		return ncells > i ? ncells : i;
	return next_bit(touched, ncells, i);
}

/* ---- of many writers ---- */

size_t
pfs_shared_block_size(uint32_t ncells, uint32_t cell_size)
{
	return (size_t) pfs_bitmap_words(ncells) * sizeof(uint64_t) + (size_t) ncells * cell_size;
}

void *
pfs_shared_block_touch(const PfsSharedBlock *b, uint32_t i)
{
	uint64_t   *word = (uint64_t *) b->mem + i / 64;
	uint64_t	bit = UINT64_C(1) << (i % 64);

	if ((pfs_load_relaxed(word) & bit) == 0)
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	return pfs_shared_block_cell(b, i);
}

uint32_t
pfs_shared_block_next(const PfsSharedBlock *b, uint32_t i)
{
	return next_bit(b->mem, b->ncells, i);
}
