/*
 * pfs_memory_watermark.c
 *	  The water marks of a thread's cells: they rise and fall, and use up what is
 *	  left above.
 *
 * While the caches of a new session fill, nearly each allocation raises a high-water
 * mark.  So that costs little: where the levels above have their cells is worked out
 * once, when the thread learns whom it works for, and the water mark of chunks and that
 * of bytes move together.
 */
#include "postgres.h"

#include "pfs_memory.h"

/*
 * Notes where a level has its cells.  It is there, with its cells, or not there: a
 * handler that ends the process can come in between.
 */
static void
set_above(PfsMemoryLevel *level, PfsSharedBlock block)
{
	level->touched = NULL;
	pfs_fence_signal();
	level->cells = pfs_shared_block_cell(&block, 0);
	pfs_fence_signal();
	level->touched = block.mem;
}

static void
set_account(PfsMemoryLevel *level, PfsAccountKind kind, uint32 index)
{
	if (index == PFS_NO_RECORD)
		level->touched = NULL;
	else
		set_above(level, pfs_account_cells(pfs_account_at(kind, index), PFS_FAMILY_MEMORY));
}

/*
 * Works out where the levels above the thread have their cells of memory, from the
 * thread's references: at its begin, and again when its account becomes known.
 */
void
pfs_memory_refer(PfsThread *t)
{
	set_account(&t->memory.account, PFS_ACCOUNTS, t->refs.account);
	set_account(&t->memory.user, PFS_USERS, pfs_account_user(&t->refs));
	set_account(&t->memory.host, PFS_HOSTS, pfs_account_host(&t->refs));
	set_above(&t->memory.server, pfs_summary[PFS_FAMILY_MEMORY].cells);
}

/*
 * Returns the level's cell, or NULL if nobody has ever touched it: then its page is
 * better not read.
 */
static pg_attribute_always_inline PfsSharedMemoryCell *
cell_at(const PfsMemoryLevel *level, uint32 cell)
{
	if (level->touched == NULL ||
		(pfs_load_relaxed(&level->touched[cell / 64]) & UINT64CONST(1) << (cell % 64)) == 0)
		return NULL;
	return &level->cells[cell];
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
use_up(const PfsMemoryLevel *level, uint32 cell, WaterMark water_mark, uint64 *count, uint64 *bytes)
{
	PfsSharedMemoryCell *c = cell_at(level, cell);

	if (c == NULL)
		return;
	*count = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_count : &c->depth_count, *count);
	*bytes = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_bytes : &c->depth_bytes, *bytes);
}

/*
 * Carries what the account had not enough for to the user, and to the host and the
 * server; ends the move.
 */
static pg_noinline void
carry_on(PfsThread *t, uint32 cell, WaterMark water_mark, uint64 count, uint64 bytes)
{
	uint64		user_count = count;
	uint64		user_bytes = bytes;

	use_up(&t->memory.user, cell, water_mark, &user_count, &user_bytes);
	use_up(&t->memory.host, cell, water_mark, &count, &bytes);
	use_up(&t->memory.server, cell, water_mark, &count, &bytes);
	pfs_seqlock_write_end(&t->moves);
}

/*
 * Tells the levels above that water marks of this thread have moved by so much.
 * Headroom that is left there is used up, from below to above: where there is enough
 * the level's water marks stay where they are.  A reader sees both changes or none:
 * they are a move of the thread, which ends here.  Nothing comes behind, so that the
 * usual case calls nobody and saves no register.
 */
static pg_attribute_always_inline void
carry(PfsThread *t, uint32 cell, WaterMark water_mark, uint64 count, uint64 bytes)
{
	use_up(&t->memory.account, cell, water_mark, &count, &bytes);
	if ((count | bytes) != 0)
		carry_on(t, cell, water_mark, count, bytes);
	else
		pfs_seqlock_write_end(&t->moves);
}

/* Returns by how much the headroom has gone below zero. */
static pg_attribute_always_inline uint64
beyond(uint64 headroom)
{
	return (int64) headroom < 0 ? -headroom : 0;
}

/*
 * Raises the high-water marks of a cell by as much as its headroom has gone below zero,
 * for chunks and bytes at once; then the headroom is zero.  This is one move of the
 * thread (`moves`), as headroom of the levels above is used up; carry() ends it.
 */
static pg_attribute_always_inline void
raise_high_water(PfsThread *t, PfsMemoryCell *c)
{
	uint64		count = beyond(c->headroom_count);
	uint64		bytes = beyond(c->headroom_bytes);

	pfs_seqlock_write_begin(&t->moves);
	pfs_bump(&c->headroom_count, count);
	pfs_bump(&c->high_count, count);
	pfs_bump(&c->range_count, count);
	pfs_bump(&c->headroom_bytes, bytes);
	pfs_bump(&c->high_bytes, bytes);
	pfs_bump(&c->range_bytes, bytes);
	carry(t, c - pfs_memory_cell(t, 0), HIGH_WATER_MARK, count, bytes);
}

/*
 * Marks the cell as touched, at its first chunk or the first one since a truncation,
 * and raises its marks.
 */
static pg_noinline void
raise_first(PfsThread *t, PfsMemoryCell *c)
{
	pfs_block_touch(&t->summary[PFS_FAMILY_MEMORY].cells, c - pfs_memory_cell(t, 0));
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
	pfs_bump(&c->count_alloc, 1);
	pfs_bump(&c->bytes_alloc, bytes);
	if (bytes >= old_bytes)
	{
		if (pfs_drop(&c->headroom_bytes, bytes - old_bytes))
			pfs_memory_raise_high_water(t, c);
		pfs_memory_total_more(t, bytes - old_bytes);
		return;
	}
	pfs_bump(&c->headroom_bytes, old_bytes - bytes);
	if (c->headroom_bytes > c->range_bytes)
		pfs_memory_lower_low_water(t, c);
	pfs_memory_total_less(t, old_bytes - bytes);
}
