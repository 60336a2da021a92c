/*
 * pfs_own_blocks.c
 *	  The blocks of one thread, and those of all, for readers of the histories.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_event_history.h"
#include "pfs_own_blocks.h"
#include "pfs_shared.h"

/*
 * How often a thread's blocks are looked at again that gives some of them away in the time
 * that they take to copy.
 */
#define READ_TRIES 1000

/* Copies first, as the thread goes on writing them; then looks whose they were. */
void
pfs_own_blocks_each(const PfsBlocks *blocks, const PfsBlockWriter *writer, const uint64 *history_tail,
					uint32 index, uint64 word, PfsBlockTake take, void *arg)
{
	uint32		held = pfs_blocks_held(blocks);
	uint32		size = pfs_blocks_size(blocks);
	PfsBlockCopies copies = {palloc((Size) held * size), palloc(held * sizeof(uint32)), 0, 0};
	uint64		tail = pfs_load_acquire(history_tail);

	/*
	 * Behind the tail: one that a truncation stores meanwhile would be taken
	 * for another thread's.
	 */
	tail = pfs_history_tail(tail, pfs_load_acquire(&writer->position));
	for (int i = 0; i < READ_TRIES && !pfs_blocks_copy_writer(blocks, writer, PFS_BLOCK_INDEX(tail), &copies); i++)
		CHECK_FOR_INTERRUPTS();
	if (pfs_pages_word(pfs_threads, index) != word)
		copies.n = 0;
	for (uint64 block = copies.end - copies.n; block < copies.end; block++)
		take(copies.blocks + block % held * size, copies.bytes[block % held],
			 block == PFS_BLOCK_INDEX(tail) ? PFS_BLOCK_BYTES(tail) : 0, arg);
	pfree(copies.bytes);
	pfree(copies.blocks);
}

void
pfs_own_blocks_current(const PfsBlocks *blocks, const PfsBlockWriter *writer, uint32 index, uint64 word,
					   PfsBlockTake take, void *arg)
{
	uint64		position = pfs_load_acquire(&writer->position);
	char	   *block = palloc(pfs_blocks_size(blocks));
	uint32		hidden;
	uint32		bytes = pfs_blocks_copy_owned(blocks, writer, PFS_BLOCK_INDEX(position), block, &hidden);

	/* One that is gone is among all blocks. */
	if (bytes != PFS_BLOCK_GONE && pfs_pages_word(pfs_threads, index) == word)
		take(block, bytes, hidden, arg);
	pfree(block);
}

/* Those that threads still fill are not among them: their readers take those first. */
void
pfs_all_blocks_each(const PfsBlocks *blocks, PfsBlockTake take, void *arg)
{
	char	   *block = palloc(pfs_blocks_size(blocks));

	for (uint32 number = 0; number < pfs_blocks_number(blocks); number++)
	{
		uint32		hidden;
		uint32		bytes = pfs_blocks_copy(blocks, number, block, &hidden);

		CHECK_FOR_INTERRUPTS();
		take(block, bytes, hidden, arg);
	}
	pfree(block);
}

/*
 * A truncator may have slept before its store, which then is the next thread's.  That fills
 * its record in behind the change of the word: where the word is the same behind the store, the
 * record is still the thread's, or the store is overwritten.
 */
void
pfs_own_blocks_hide(uint64 *to, uint64 value, uint32 index, uint64 word)
{
	pfs_store_relaxed(to, value);
	pfs_fence_seqcst();
	if (pfs_pages_word(pfs_threads, index) != word)
		(void) pfs_cas(to, &value, 0);
}
