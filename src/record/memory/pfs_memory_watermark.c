/*
 * pfs_memory_watermark.c
 *	  The water marks of a thread's cells: they rise and fall, and use up what is
 *	  left above.
 *
 * While the caches of a new session fill, nearly each allocation raises a high-water
 * mark.  So that costs little: which records the levels above are is worked out once,
 * when the thread learns whom it works for, and the water mark of chunks and that of
 * bytes move together.
 */
#include "postgres.h"

#include "pfs_memory.h"

/*
 * Returns a level's cell, or NULL if there is no such level, or nobody has ever touched
 * the cell: then its page is better not read.
 */
static pg_attribute_always_inline PfsSharedMemoryCell *
cell_of(PfsAccount *level, uint32 cell)
{
	/* As pfs_account_cells(), but of sizes that the compiler knows. */
	PfsSparse	cells = {
		.chunks = pfs_account_counters,
		.ncells = UINT32_MAX,
		.cell_size = sizeof(PfsSharedMemoryCell),
		.per_chunk = pfs_sparse_per_chunk(PFS_ACCOUNT_CHUNK_SIZE, sizeof(PfsSharedMemoryCell)),
	};

	if (level == NULL)
		return NULL;
	cells.links = (uint32 *) ((char *) level + pfs_account_links_at[PFS_FAMILY_MEMORY]);
	return pfs_sparse_find(&cells, cell);
}

/* The same of the server. */
static PfsSharedMemoryCell *
cell_of_server(uint32 cell)
{
	const PfsSharedBlock *cells = &pfs_summary[PFS_FAMILY_MEMORY].cells;

	return pfs_shared_block_is_touched(cells, cell) ? pfs_shared_block_cell(cells, cell) : NULL;
}

typedef enum WaterMark
{
	HIGH_WATER_MARK,
	LOW_WATER_MARK,
} WaterMark;

/*
 * Uses up headroom (of low-water marks: depth) that is left in a level's cell; count
 * and bytes become what it was not enough for.
 */
static pg_attribute_always_inline void
use_up(PfsSharedMemoryCell *c, WaterMark water_mark, uint64 *count, uint64 *bytes)
{
	if (c == NULL)
		return;
	*count = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_count : &c->depth_count, *count);
	*bytes = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_bytes : &c->depth_bytes, *bytes);
}

/*
 * Carries what the account had not enough for to the user, and to the host and the
 * server; ends the move.  The account of all others concerns its own level only.
 */
static pg_noinline void
carry_on(PfsThread *t, uint32 cell, WaterMark water_mark, uint64 count, uint64 bytes)
{
	uint64		user_count = count;
	uint64		user_bytes = bytes;
	uint32		account = t->refs.records[PFS_ACCOUNTS];

	if (account != PFS_NO_RECORD && pfs_account_is_beside(PFS_ACCOUNTS, account))
	{
		uint64		account_count = count;
		uint64		account_bytes = bytes;

		use_up(cell_of(pfs_account_at(PFS_ACCOUNTS, account), cell), water_mark, &account_count, &account_bytes);
	}
	use_up(cell_of(t->memory.levels[PFS_USERS], cell), water_mark, &user_count, &user_bytes);
	use_up(cell_of(t->memory.levels[PFS_HOSTS], cell), water_mark, &count, &bytes);
	use_up(cell_of_server(cell), water_mark, &count, &bytes);
	pfs_seqlock_write_end(&t->moves);
}

/*
 * Tells the levels above that water marks of this thread have moved by so much.
 * Headroom that is left there is used up, from below to above: where there is enough
 * the level's water marks stay where they are.  A reader sees both changes or none:
 * they are a move of the thread, which ends here.  Nothing comes behind, so that the
 * usual case calls nobody and saves no register.  Of early memory no level is known yet.
 */
static pg_attribute_always_inline void
carry(PfsThread *t, uint32 cell, WaterMark water_mark, uint64 count, uint64 bytes)
{
	if (likely(t->memory.has_levels))
		use_up(cell_of(t->memory.levels[PFS_ACCOUNTS], cell), water_mark, &count, &bytes);
	else
		count = bytes = 0;
	if ((count | bytes) != 0)
		carry_on(t, cell, water_mark, count, bytes);
	else
		pfs_seqlock_write_end(&t->moves);
}

/*
 * Raises the high-water marks of a cell by as much as its headroom has gone below zero,
 * for chunks and bytes at once; then the headroom is zero.  This is one move of the
 * thread (`moves`), as headroom of the levels above is used up; carry() ends it.
 */
static pg_attribute_always_inline void
raise_high_water(PfsThread *t, PfsMemoryCell *c)
{
	uint64		count = pfs_memory_beyond(c->headroom_count);
	uint64		bytes = pfs_memory_beyond(c->headroom_bytes);

	pfs_seqlock_write_begin(&t->moves);
	pfs_memory_raise(c, count, bytes);
	carry(t, c - pfs_memory_cell(t, 0), HIGH_WATER_MARK, count, bytes);
}

/*
 * Marks the cell as touched, at its first chunk or the first one since a truncation,
 * and raises its marks.
 */
static pg_noinline void
raise_first(PfsThread *t, PfsMemoryCell *c)
{
	pfs_block_touch(&t->cells[PFS_FAMILY_MEMORY], c - pfs_memory_cell(t, 0));
	raise_high_water(t, c);
}

/*
 * Raises the high-water marks of a cell by what is in use beyond them; follows a
 * pfs_memory_more() that returns true.
 */
void
pfs_memory_raise_high_water(PfsThread *t, PfsMemoryCell *c)
{
	if (unlikely(c->high_count == 0))
		raise_first(t, c);
	else
		raise_high_water(t, c);
}

/*
 * Lowers the low-water marks of a cell where its headroom is more than the range;
 * follows a pfs_memory_less() that returns true.
 */
void
pfs_memory_lower_low_water(PfsThread *t, PfsMemoryCell *c)
{
	uint32		cell = c - pfs_memory_cell(t, 0);
	uint64		count = c->headroom_count > c->range_count ? c->headroom_count - c->range_count : 0;
	uint64		bytes = c->headroom_bytes > c->range_bytes ? c->headroom_bytes - c->range_bytes : 0;

	pfs_seqlock_write_begin(&t->moves);
	pfs_bump(&c->range_count, count);
	pfs_bump(&c->range_bytes, bytes);
	carry(t, cell, LOW_WATER_MARK, count, bytes);
}

/*
 * Counts a chunk that has become bigger or smaller in its place: one allocation and one
 * free.  The number of chunks in use stays, and the water marks of bytes move by the
 * difference at most.  Counting a new chunk and then a free would raise the high-water
 * mark to both sizes at once.
 */
void
pfs_memory_resize(PfsThread *t, PfsMemoryCell *c, uint64 bytes, uint64 old_bytes)
{
	pfs_bump(&c->count_free, 1);
	pfs_bump(&c->bytes_free, old_bytes);
	if (bytes >= old_bytes)
	{
		if (pfs_drop(&c->headroom_bytes, bytes - old_bytes))
			pfs_memory_raise_high_water(t, c);
		pfs_memory_total_more(t, bytes - old_bytes);
		return;
	}
	pfs_memory_raise_early(t, c);
	pfs_bump(&c->headroom_bytes, old_bytes - bytes);
	if (c->headroom_bytes > c->range_bytes)
		pfs_memory_lower_low_water(t, c);
	pfs_memory_total_less(t, old_bytes - bytes);
}
