/*
 * pfs_lwlock_event_read.c
 *	  Readers of the records of acquisitions, in blocks; and what TRUNCATE hides of
 *	  them.  pfs_lwlock_event.c has the owner's side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_lwlock_event.h"
#include "pfs_own_blocks.h"

/*
 * Hands the records in the copy of a block on as wait events, oldest first: those of one
 * thread (0: of all) that carry the flag, but for those below `hidden`.
 */
static void
block_each(const PfsLwlockEvent *block, uint32 bytes, uint32 hidden, uint32 flag, uint64 thread_id,
		   PfsEventEmit emit, void *arg)
{
	const PfsLwlockEvent *run = block;

	for (uint32 at = 0; at < bytes; at += sizeof(PfsLwlockEvent), block++)
	{
		PfsWaitEvent event;

		if (block->event_id == 0)
			run = block;
		else if (at >= hidden && (block->flags & flag) && (thread_id == 0 || run->timer_start == thread_id))
		{
			pfs_lwlock_make_event(block, run->timer_start, run->flags, &event);
			emit((const PfsEvent *) &event, arg);
		}
	}
}

/* The newest events of a thread, the i-th at i % rows. */
typedef struct PfsNewest
{
	uint64		thread_id;
	uint32		rows;
	uint32		n;
	PfsWaitEvent *events;
} PfsNewest;

static void
keep_cb(const PfsEvent *event, void *arg)
{
	PfsNewest  *newest = arg;

	newest->events[newest->n++ % newest->rows] = *(const PfsWaitEvent *) event;
}

static void
take_own_block_cb(const char *block, uint32 bytes, uint32 hidden, void *arg)
{
	PfsNewest  *newest = arg;

	block_each((const PfsLwlockEvent *) block, bytes, hidden, PFS_FLAG_HISTORY, newest->thread_id, keep_cb, newest);
}

/*
 * Hands the newest acquisitions of a thread that are in its history to emit, oldest first;
 * nothing if the thread has ended.
 */
void
pfs_lwlock_records_history(const PfsThread *copy, uint64 word, uint32 rows, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	PfsNewest	newest = {copy->thread_id, rows, 0, palloc(rows * sizeof(PfsWaitEvent))};

	pfs_own_blocks_each(pfs_lwlock_blocks, &holder->recorded, &holder->history_tail, copy->index, word,
						take_own_block_cb, &newest);
	for (uint32 i = newest.n - Min(newest.n, rows); i < newest.n; i++)
		emit((const PfsEvent *) &newest.events[i % rows], arg);
	pfree(newest.events);
}

/* Hands on what a thread's current block has for the long history. */
void
pfs_lwlock_records_current(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	uint64		position = pfs_load_acquire(&holder->recorded.position);
	PfsLwlockEvent *block = palloc(pfs_blocks_size(pfs_lwlock_blocks));
	uint32		hidden;
	uint32		bytes = pfs_blocks_copy_owned(pfs_lwlock_blocks, &holder->recorded, PFS_BLOCK_INDEX(position), block,
											  &hidden);

	/* One that is gone is among all blocks. */
	if (bytes != PFS_BLOCK_GONE && pfs_pages_word(pfs_threads, copy->index) == word)
		block_each(block, bytes, hidden, PFS_FLAG_HISTORY_LONG, 0, emit, arg);
	pfree(block);
}

/*
 * Hands all acquisitions that blocks have for the long history to emit, as wait
 * events, in no order.  The caller has those of threads' current blocks already.
 */
void
pfs_lwlock_records_each(PfsEventEmit emit, void *arg)
{
	PfsLwlockEvent *block = palloc(pfs_blocks_size(pfs_lwlock_blocks));

	for (uint32 number = 0; number < pfs_blocks_number(pfs_lwlock_blocks); number++)
	{
		uint32		hidden;
		uint32		bytes = pfs_blocks_copy(pfs_lwlock_blocks, number, block, &hidden);

		CHECK_FOR_INTERRUPTS();
		block_each(block, bytes, hidden, PFS_FLAG_HISTORY_LONG, 0, emit, arg);
	}
	pfree(block);
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
