/*
 * pfs_lwlock_event_read.c
 *	  Readers of the records of acquisitions, in blocks; and what TRUNCATE hides of
 *	  them.  pfs_lwlock_event.c has the owner's side.
 */
#include "postgres.h"

#include "pfs_lwlock_event.h"
#include "pfs_own_blocks.h"

/* Who reads the records of one thread (0: of all) that carry a flag. */
typedef struct RecordReader
{
	uint32		flag;
	uint64		thread_id;
	PfsEventEmit emit;
	void	   *arg;
} RecordReader;

/* Hands the records in the copy of a block on as wait events, oldest first. */
static void
take_block_cb(const char *block, uint32 bytes, uint32 hidden, void *arg)
{
	const RecordReader *reader = arg;
	const PfsLwlockEvent *record = (const PfsLwlockEvent *) block;
	const PfsLwlockEvent *run = record;

	for (uint32 at = 0; at < bytes; at += sizeof(PfsLwlockEvent), record++)
	{
		PfsWaitEvent event;

		if (record->event_id == 0)
			run = record;
		else if (at >= hidden && (record->flags & reader->flag) &&
				 (reader->thread_id == 0 || run->timer_start == reader->thread_id))
		{
			pfs_lwlock_make_event(record, run->timer_start, run->flags, &event);
			reader->emit((const PfsEvent *) &event, reader->arg);
		}
	}
}

/* Nothing if the thread has ended. */
void
pfs_lwlock_records_history(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	RecordReader reader = {PFS_FLAG_HISTORY, copy->thread_id, emit, arg};

	pfs_own_blocks_each(pfs_lwlock_blocks, &holder->recorded, &holder->history_tail, copy->index, word,
						take_block_cb, &reader);
}

void
pfs_lwlock_records_current(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg)
{
	RecordReader reader = {PFS_FLAG_HISTORY_LONG, 0, emit, arg};

	pfs_own_blocks_current(pfs_lwlock_blocks, &pfs_lwlock_holder(copy->index)->recorded, copy->index, word,
						   take_block_cb, &reader);
}

/* In no order.  The caller has those of threads' current blocks already. */
void
pfs_lwlock_records_each(PfsEventEmit emit, void *arg)
{
	RecordReader reader = {PFS_FLAG_HISTORY_LONG, 0, emit, arg};

	pfs_all_blocks_each(pfs_lwlock_blocks, take_block_cb, &reader);
}

void
pfs_lwlock_records_hide(uint32 index, uint64 word, bool history_long)
{
	PfsLwlockHolder *holder = pfs_lwlock_holder(index);

	if (history_long)
		pfs_blocks_hide_owned(pfs_lwlock_blocks, &holder->recorded);
	else
		pfs_own_blocks_hide(&holder->history_tail, pfs_load_acquire(&holder->recorded.position), index, word);
}
