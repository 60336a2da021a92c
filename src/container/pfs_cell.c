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

/* Bytes of the bitmap, up to where the cells begin. */
static size_t
bitmap_bytes(uint32_t ncells)
{
	size_t		bytes = bitmap_words(ncells) * sizeof(uint64_t);

	return (bytes + PFS_CACHE_LINE - 1) & ~(size_t) (PFS_CACHE_LINE - 1);
}

size_t
pfs_cells_size(uint32_t ncells)
{
	return bitmap_bytes(ncells) + (size_t) ncells * sizeof(PfsCell);
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
	b->cells = (PfsCell *) ((char *) mem + bitmap_bytes(ncells));
	pfs_cells_clear(b);
}

void
pfs_cell_clear(PfsCell *c)
{
	pfs_store_relaxed(&c->count_timed, 0);
	pfs_store_relaxed(&c->count_untimed, 0);
	pfs_store_relaxed(&c->sum, 0);
	pfs_store_relaxed(&c->min, 0);
	pfs_store_relaxed(&c->max, 0);
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
			pfs_cell_clear(&b->cells[w * 64 + __builtin_ctzll(bits)]);
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
		if (++w >= bitmap_words(n))
			return n;
		bits = pfs_load_relaxed(&bitmap[w]);
	}
	return w * 64 + __builtin_ctzll(bits);
}

uint32_t
pfs_cells_next(const PfsCellBlock *b, uint32_t i)
{
	uint32_t	ncells = pfs_load_relaxed(&b->ncells);
	const uint64_t *touched = pfs_load_relaxed(&b->touched);

	return touched == NULL ? ncells : next_bit(touched, ncells, i);
}

/* ---- sums over many cells ---- */

void
pfs_totals_add(PfsTotals *to, const PfsTotals *from)
{
	if (from->count_timed > 0)
	{
		if (to->count_timed == 0 || from->min < to->min)
			to->min = from->min;
		if (to->count_timed == 0 || from->max > to->max)
			to->max = from->max;
	}
	to->count_timed += from->count_timed;
	to->count_untimed += from->count_untimed;
	to->sum += from->sum;
}

void
pfs_totals_add_cell(PfsTotals *to, const PfsCell *from)
{
	PfsTotals	totals = {from->count_timed, from->count_untimed, from->sum, from->min, from->max};

	pfs_totals_add(to, &totals);
}

static void
raise_to(uint64_t *word, uint64_t value)
{
	uint64_t	old = pfs_load_relaxed(word);

	while (old < value && !pfs_cas(word, &old, value))
		;
}

static void
add_to_sum(PfsSharedCell *c, uint64_t low, uint64_t high)
{
	uint64_t	old = pfs_add_relaxed(&c->sum_low, low);

	if (old + low < old)
		high++;
	if (high != 0)
		pfs_add_relaxed(&c->sum_high, high);
}

void
pfs_shared_cell_add(PfsSharedCell *c, uint64_t ticks)
{
	add_to_sum(c, ticks, 0);
	raise_to(&c->max, ticks);
	raise_to(&c->inverted_min, UINT64_MAX - ticks);
	pfs_add_relaxed(&c->count_timed, 1);
}

void
pfs_shared_cell_add_untimed(PfsSharedCell *c)
{
	pfs_add_relaxed(&c->count_untimed, 1);
}

void
pfs_shared_cell_merge(PfsSharedCell *c, const PfsTotals *from)
{
	if (from->count_timed > 0)
	{
		add_to_sum(c, (uint64_t) from->sum, (uint64_t) (from->sum >> 64));
		raise_to(&c->max, from->max);
		raise_to(&c->inverted_min, UINT64_MAX - from->min);
		pfs_add_relaxed(&c->count_timed, from->count_timed);
	}
	if (from->count_untimed > 0)
		pfs_add_relaxed(&c->count_untimed, from->count_untimed);
}

void
pfs_shared_cell_read(const PfsSharedCell *c, PfsTotals *to)
{
	PfsTotals	now;

	now.count_timed = pfs_load_relaxed(&c->count_timed);
	now.count_untimed = pfs_load_relaxed(&c->count_untimed);
	now.sum = (PfsTicks) pfs_load_relaxed(&c->sum_high) << 64;
	now.sum += pfs_load_relaxed(&c->sum_low);
	now.max = pfs_load_relaxed(&c->max);
	now.min = UINT64_MAX - pfs_load_relaxed(&c->inverted_min);
	pfs_totals_add(to, &now);
}

/* Any process may add meanwhile: what has not arrived is left for the next one. */
void
pfs_shared_cell_take(PfsSharedCell *c, PfsTotals *to)
{
	PfsTotals	now;

	now.count_timed = pfs_exchange(&c->count_timed, 0);
	now.count_untimed = pfs_exchange(&c->count_untimed, 0);
	now.sum = pfs_exchange(&c->sum_low, 0);
	now.sum += (PfsTicks) pfs_exchange(&c->sum_high, 0) << 64;
	now.max = pfs_exchange(&c->max, 0);
	now.min = UINT64_MAX - pfs_exchange(&c->inverted_min, 0);
	if (now.count_timed == 0)
	{
		/* Times whose count has not arrived yet stay for it. */
		add_to_sum(c, (uint64_t) now.sum, (uint64_t) (now.sum >> 64));
		raise_to(&c->max, now.max);
		raise_to(&c->inverted_min, UINT64_MAX - now.min);
		now.sum = 0;
	}
	pfs_totals_add(to, &now);
}

size_t
pfs_shared_cells_size(uint32_t ncells)
{
	return (size_t) bitmap_words(ncells) * sizeof(uint64_t) + (size_t) ncells * sizeof(PfsSharedCell);
}

PfsSharedCell *
pfs_shared_cells_at(void *mem, uint32_t ncells, uint32_t i)
{
	return (PfsSharedCell *) ((uint64_t *) mem + bitmap_words(ncells)) + i;
}

void
pfs_shared_cells_merge(void *mem, uint32_t ncells, uint32_t i, const PfsTotals *from)
{
	uint64_t   *word = (uint64_t *) mem + i / 64;
	uint64_t	bit = UINT64_C(1) << (i % 64);

	if ((pfs_load_relaxed(word) & bit) == 0)
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	pfs_shared_cell_merge(pfs_shared_cells_at(mem, ncells, i), from);
}

uint32_t
pfs_shared_cells_next(const void *mem, uint32_t ncells, uint32_t i)
{
	return next_bit(mem, ncells, i);
}

void
pfs_shared_cells_clear(void *mem, uint32_t ncells)
{
	uint64_t   *touched = mem;
	PfsSharedCell empty = {0};

	for (uint32_t i = next_bit(touched, ncells, 0); i < ncells; i = next_bit(touched, ncells, i + 1))
		*pfs_shared_cells_at(mem, ncells, i) = empty;
	for (uint32_t w = 0; w < bitmap_words(ncells); w++)
		touched[w] = 0;
}
