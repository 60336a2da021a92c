/*
 * pfs_memory_watermark.c
 *	  The water marks of a thread's cells: they rise and fall, and use up what is
 *	  left above.
 *
 * While the caches of a new session fill, nearly each allocation makes a water
 * mark.  So a water mark's way is short: where the levels above have their cells
 * is worked out once, when the thread learns whom it works for, and the water mark
 * of chunks and that of bytes move together.
 */
#include "postgres.h"

#include "pfs_memory.h"

/*
 * A level is there, with its cells, or not there: a handler that ends the process can
 * come in between.
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

void
pfs_memory_refer(PfsThread *t)
{
	set_account(&t->memory.account, PFS_ACCOUNTS, t->refs.account);
	set_account(&t->memory.user, PFS_USERS, pfs_account_user(&t->refs));
	set_account(&t->memory.host, PFS_HOSTS, pfs_account_host(&t->refs));
	set_above(&t->memory.server, pfs_summary[PFS_FAMILY_MEMORY].cells);
}

/* The level's cell; NULL: it was never touched, and is better not read. */
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

/* What is left at a level is used up; the counts become what it was not enough for. */
static pg_attribute_always_inline void
use_up(const PfsMemoryLevel *level, uint32 cell, WaterMark water_mark, uint64 *count, uint64 *bytes)
{
	PfsSharedMemoryCell *c = cell_at(level, cell);

	if (c == NULL)
		return;
	*count = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_count : &c->depth_count, *count);
	*bytes = pfs_memory_use_up(water_mark == HIGH_WATER_MARK ? &c->headroom_bytes : &c->depth_bytes, *bytes);
}

/* The same of those above it, where the account had not enough; ends the move. */
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
 * Water marks of this thread move by so much.  What is left at the levels above is
 * used up, from below to above: there the water marks stay where they are.  A
 * reader sees both changes or none: they are a move of the thread, which ends here.
 * Nothing comes behind, so that what is usual calls nobody and saves no register.
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

/* By how much the headroom has gone below zero. */
static pg_attribute_always_inline uint64
beyond(uint64 headroom)
{
	return (int64) headroom < 0 ? -headroom : 0;
}

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

/* The cell's first chunk, or the first one since a truncation. */
static pg_noinline void
raise_first(PfsThread *t, PfsMemoryCell *c)
{
	pfs_block_touch(&t->summary[PFS_FAMILY_MEMORY].cells, c - pfs_memory_cell(t, 0));
	raise_high_water(t, c);
}

/* The high-water marks rise by what is beyond them. */
void
pfs_memory_raise_high_water(PfsThread *t, PfsMemoryCell *c)
{
	if (unlikely(c->high_count == 0))
		raise_first(t, c);
	else
		raise_high_water(t, c);
}

/* The low-water marks fall where the headroom is more than the range. */
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
