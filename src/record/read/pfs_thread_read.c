/*
 * pfs_thread_read.c
 *	  Readers of thread records and of all memory of a thread, and changes of their
 *	  switches.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_memory_total.h"
#include "pfs_setup.h"
#include "pfs_thread.h"

/*
 * Hands a copy of each living thread's record, or of one (thread_id), to emit, with
 * the state word that the copy belongs to.  The word tells callers that go on to
 * read or to change the record itself whether it is still the same thread's.
 */
void
pfs_threads_each(uint64 thread_id, PfsThreadEmit emit, void *arg)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		PfsThread	copy;
		uint64		copied;

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_copy(pfs_threads, at.index, 0, &copy, sizeof(copy), &copied) &&
			(thread_id == 0 || copy.thread_id == thread_id))
			emit(&copy, copied, arg);
	}
}

/*
 * Reads what a thread has in use and the most that it had, for readers.  When the
 * patience has run out, what was read last is taken as it is.  If the record has changed
 * hands the copy's values are returned.
 */
void
pfs_memory_total_read(const PfsThread *copy, uint64 word, uint64 *in_use, uint64 *high, PfsPatience *patience)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	uint64		before;

	pfs_patience_next(patience);
	do
	{
		uint64		peak;

		before = pfs_seqlock_read_begin(&t->memory.seq);
		*in_use = pfs_load_relaxed(&t->memory.in_use);
		/* Pairs with A of pfs_memory_total_next(). */
		peak = Max(pfs_load_acquire(&t->memory.peak), *in_use);
		*high = Max(pfs_load_relaxed(&t->memory.high), peak);
	} while (!pfs_seqlock_read_valid(&t->memory.seq, before) && pfs_patience_more(patience));
	if (pfs_pages_word(pfs_threads, copy->index) == word)
		return;
	*in_use = copy->memory.in_use;
	*high = Max(copy->memory.high, Max(copy->memory.peak, copy->memory.in_use));
}

/*
 * Changes the switches of the thread in this record, -1 leaves one as it is; false
 * if the record has got a new owner since `word` was read.
 */
bool
pfs_thread_set(uint32 index, uint64 word, int instrumented, int history)
{
	PfsThread  *t;
	bool		same;

	if (pfs_threads == NULL || index >= pfs_threads->records_max)
		return false;
	t = pfs_pages_record(pfs_threads, index);
	LWLockAcquire(pfs_setup->lock, LW_EXCLUSIVE);

	/*
	 * If the thread ends and the slot gets a new owner between the test and
	 * the stores, that owner has our switches instead of its kind's:
	 * accepted, as it can be seen and changed in pfs.threads.
	 */
	same = pfs_pages_word(pfs_threads, index) == word;
	if (same)
	{
		if (instrumented >= 0)
			pfs_store_relaxed(&t->instrumented, instrumented ? PFS_SWITCH_ON : 0);
		if (history >= 0)
			pfs_store_relaxed(&t->history, history ? PFS_SWITCH_ON : 0);
		pfs_fence_seqcst();
		pfs_thread_publish_mask(t);
		pfs_words_changed();
	}
	LWLockRelease(pfs_setup->lock);
	return same;
}

Oid
pfs_owned_role(uint32 thread, uint64 thread_id)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, thread);
	bool		foreground = pfs_load_relaxed(&t->foreground);
	Oid			role = pfs_load_relaxed(&t->role);

	return foreground && pfs_load_relaxed(&t->thread_id) == thread_id ? role : InvalidOid;
}

uint64
pfs_thread_id_of_pid(int pid)
{
	uint64		word;
	uint32		index = pfs_thread_find(pid, &word);
	uint64		thread_id;

	if (index == PFS_NO_RECORD)
		return 0;
	thread_id = pfs_load_relaxed(&((PfsThread *) pfs_pages_record(pfs_threads, index))->thread_id);
	pfs_fence_acquire();
	return pfs_pages_word(pfs_threads, index) == word ? thread_id : 0;
}
