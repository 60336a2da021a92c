/*
 * pfs_own_blocks.c
 *	  The blocks of one thread, for readers of its history.
 */
#include "postgres.h"

#include "pfs_event_write.h"
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
					uint32 index, uint64 word, PfsOwnBlockTake take, void *arg)
{
	uint32		held = pfs_blocks_held(blocks);
	uint32		size = pfs_blocks_size(blocks);
	char	   *copies = palloc((Size) held * size);
	uint32	   *bytes = palloc(held * sizeof(uint32));
	uint64		tail = pfs_load_acquire(history_tail);
	uint64		current;
	uint32		n = 0;
	bool		whole = false;

	/*
	 * Behind the tail: one that a truncation stores meanwhile would be taken
	 * for another thread's.
	 */
	tail = pfs_history_tail(tail, pfs_load_acquire(&writer->position));
	for (int i = 0; i < READ_TRIES && !whole; i++)
		n = pfs_blocks_copy_writer(blocks, writer, PFS_BLOCK_INDEX(tail), copies, bytes, &current, &whole);
	if (pfs_pages_word(pfs_threads, index) != word)
		n = 0;
	for (uint64 block = current - n + 1; n > 0 && block <= current; block++)
		take(copies + block % held * size, bytes[block % held], block == PFS_BLOCK_INDEX(tail) ? PFS_BLOCK_BYTES(tail) : 0, arg);
	pfree(bytes);
	pfree(copies);
}
