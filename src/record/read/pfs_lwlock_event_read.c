/*
 * pfs_lwlock_event_read.c
 *	  Readers of the records of acquisitions, in rings and in the log; and what
 *	  TRUNCATE hides of them.  pfs_lwlock_event.c has the owner's side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_lwlock_event.h"

/*
 * Copies the records of a thread's ring from `from` below `head`, then hands those
 * on that carry the flag and that the owner has not overwritten meanwhile.  Nothing
 * is handed on if the thread has ended.
 */
static void
ring_each(const PfsThread *copy, uint64 word, uint64 from, uint64 head, uint32 flag, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	uint32		length = pfs_lwlock_ring_length();
	PfsLwlockEvent *events;
	uint64		now;

	if (head > length && from < head - length)
		from = head - length;
	if (from >= head)
		return;
	events = palloc((head - from) * sizeof(PfsLwlockEvent));
	for (uint64 pos = from; pos < head; pos++)
		pfs_racy_copy(&events[pos - from], &holder->events[pos & (length - 1)], sizeof(PfsLwlockEvent));
	pfs_fence_acquire();		/* B */
	now = pfs_load_relaxed(&holder->head);
	if (pfs_pages_word(pfs_threads, copy->index) == word)
	{
		/* The one at `now` may be being written, where `now - length` was. */
		for (uint64 pos = from; pos < head; pos++)
		{
			PfsWaitEvent event;

			if (now - pos >= length || (events[pos - from].flags & flag) == 0)
				continue;
			pfs_lwlock_make_event(&events[pos - from], copy->thread_id, pfs_lwlock_role_of(copy), &event);
			emit((const PfsEvent *) &event, arg);
		}
	}
	pfree(events);
}

void
pfs_lwlock_ring_history(const PfsThread *copy, uint64 word, uint32 rows, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	uint64		head = pfs_load_acquire(&holder->head); /* D */
	uint64		tail = pfs_history_tail(pfs_load_relaxed(&holder->history_tail), head);

	ring_each(copy, word, Max(tail, head > rows ? head - rows : 0), head, PFS_FLAG_HISTORY, emit, arg);
}

void
pfs_lwlock_ring_buffered(const PfsThread *copy, uint64 word, PfsEventEmit emit, void *arg)
{
	const PfsLwlockHolder *holder = pfs_lwlock_holder(copy->index);
	uint64		head = pfs_load_acquire(&holder->head); /* D */
	uint64		tail = pfs_history_tail(pfs_load_relaxed(&holder->history_long_tail), head);

	ring_each(copy, word, Max(tail, head - head % PFS_LWLOCK_BLOCK), head, PFS_FLAG_HISTORY_LONG, emit, arg);
}

/*
 * Hands all acquisitions that the log has for the long history to emit, as wait
 * events, in no order.  The caller adds those that threads have still buffered.
 */
void
pfs_lwlock_log_each(PfsEventEmit emit, void *arg)
{
	PfsLwlockBlock *block;

	if (pfs_lwlock_log == NULL)
		return;
	block = palloc(sizeof(PfsLwlockBlock));
	for (uint32 lane = 0; lane < pfs_log_lanes(pfs_lwlock_log); lane++)
	{
		uint32		used = pfs_log_used_slots(pfs_lwlock_log, lane);

		for (uint32 slot = 0; slot < used; slot++)
		{
			if (!pfs_log_read(pfs_lwlock_log, lane, slot, block))
				continue;
			for (uint32 i = block->first; i < PFS_LWLOCK_BLOCK; i++)
			{
				PfsWaitEvent event;

				if ((block->events[i].flags & PFS_FLAG_HISTORY_LONG) == 0)
					continue;
				pfs_lwlock_make_event(&block->events[i], block->thread_id, block->role, &event);
				emit((const PfsEvent *) &event, arg);
			}
		}
		CHECK_FOR_INTERRUPTS();
	}
	pfree(block);
}

void
pfs_lwlock_ring_hide(uint32 index, bool history_long)
{
	PfsLwlockHolder *holder = pfs_lwlock_holder(index);
	uint64		head = pfs_load_acquire(&holder->head);

	pfs_store_relaxed(history_long ? &holder->history_long_tail : &holder->history_tail, head);
}
