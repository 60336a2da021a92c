/*
 * pfs_memory_early.c
 *	  The private record in which a process counts its memory before it is known for
 *	  whom, and how its counters become a thread's.
 */
#include "postgres.h"

#include "storage/pg_shmem.h"

#include "pfs_memory.h"
#include "pfs_memory_early.h"
#include "pfs_private.h"

/* Only its part of memory is used: the other pages are never touched. */
static PfsThread early;
static void *early_cells = NULL;
static size_t early_size;

/*
 * Makes the private record, with empty cells.  For the child, right behind fork().  It
 * remembers the generation of truncations, so that one that comes before the thread gets
 * these counters is applied to them as well.
 */
PfsThread *
pfs_memory_early_start(void)
{
	uint32		ncells = pfs_summary[PFS_FAMILY_MEMORY].ncells;

	early_size = pfs_block_size(ncells, sizeof(PfsMemoryCell), 0);
	early_cells = pfs_private_map(early_size, false);
	if (early_cells == NULL)
		return NULL;
	pfs_block_init(&early.cells[PFS_FAMILY_MEMORY], early_cells, ncells, sizeof(PfsMemoryCell), 0);
	early.generation[PFS_FAMILY_MEMORY] = pfs_load_acquire(&pfs_words->truncations[PFS_FAMILY_MEMORY]);

	/*
	 * The switches of threads are not known yet: see switch_cb() of
	 * pfs_instr_memory_switch.c.
	 */
	early.mask = ~(uint32) 0;
	pfs_memory_total_begin(&early);
	return &early;
}

PfsThread *
pfs_memory_early_rest(void)
{
	pfs_memory_make_stale(&early);
	return &early;
}

bool
pfs_memory_is_early(const PfsThread *t)
{
	return t == &early;
}

bool
pfs_memory_has_segment(void)
{
	return UsedShmemSegAddr != NULL;
}

/*
 * Adds what the process has counted so far to its thread record.
 *
 * The thread's high-water marks are raised to the early ones first, as if all had been
 * in use at once: so they use up what is left at the levels above, like any other water
 * mark.  Then what was freed is given back.  The low-water marks are zero, as a process
 * begins with nothing.
 *
 * The generation is the early one: a truncation in between is applied to these counters
 * as to those of any thread that slept through it.
 */
void
pfs_memory_early_hand_over(PfsThread *t)
{
	const PfsBlock *block = &early.cells[PFS_FAMILY_MEMORY];

	pfs_seqlock_write_begin(&t->moves);
	pfs_store_relaxed(&t->generation[PFS_FAMILY_MEMORY], early.generation[PFS_FAMILY_MEMORY]);
	pfs_seqlock_write_end(&t->moves);
	for (uint32 i = pfs_block_next(block, 0); i < block->ncells; i = pfs_block_next(block, i + 1))
	{
		PfsMemoryCell *from = pfs_block_cell(block, i);
		PfsMemoryCell *to = pfs_memory_cell(t, i);

		pfs_memory_raise_early(&early, from);
		pfs_bump(&to->count_free, from->count_free);
		pfs_bump(&to->bytes_free, from->bytes_free);
		(void) pfs_drop(&to->headroom_count, from->high_count);
		(void) pfs_drop(&to->headroom_bytes, from->high_bytes);
		pfs_memory_raise_high_water(t, to);
		pfs_bump(&to->headroom_count, from->headroom_count);
		pfs_bump(&to->headroom_bytes, from->headroom_bytes);
	}
	pfs_store_relaxed(&t->memory.high, early.memory.high);
	pfs_store_relaxed(&t->memory.peak, early.memory.peak);
	pfs_store_relaxed(&t->memory.in_use, early.memory.in_use);
}

void
pfs_memory_early_stop(void)
{
	pfs_private_unmap(early_cells, early_size);
	early_cells = NULL;
}
