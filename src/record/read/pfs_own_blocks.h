/*
 * pfs_own_blocks.h
 *	  The blocks of one thread, and those of all, for readers of the histories.
 *
 * Apart from pfs_event_read.h, as acquisitions of LWLocks lie in blocks beside those of
 * the families, and their readers are built without the families, too.
 */
#ifndef PFS_OWN_BLOCKS_H
#define PFS_OWN_BLOCKS_H

#include "pfs_blocks.h"

/* Takes the copy of one block: so many bytes, of which those below `hidden` are not in the history. */
typedef void (*PfsBlockTake) (const char *block, uint32 bytes, uint32 hidden, void *arg);

/*
 * Hands copies of a thread's own blocks to take, the oldest first: those that are behind
 * the tail of its history.  None if the thread's record, the index-th, has another state
 * word by then: what was copied need not be whole.
 */
extern void pfs_own_blocks_each(const PfsBlocks *blocks, const PfsBlockWriter *writer, const uint64 *history_tail,
								uint32 index, uint64 word, PfsBlockTake take, void *arg);

/*
 * The same for the long history: of the current block of a thread, unless it has given that
 * away; of all blocks that threads have given away or filled.
 */
extern void pfs_own_blocks_current(const PfsBlocks *blocks, const PfsBlockWriter *writer, uint32 index, uint64 word,
								   PfsBlockTake take, void *arg);
extern void pfs_all_blocks_each(const PfsBlocks *blocks, PfsBlockTake take, void *arg);

/*
 * TRUNCATE: says up to where a history of a thread is hidden.  Takes that back if the thread's
 * record, the index-th, has another state word by then.
 */
extern void pfs_own_blocks_hide(uint64 *to, uint64 value, uint32 index, uint64 word);

#endif							/* PFS_OWN_BLOCKS_H */
