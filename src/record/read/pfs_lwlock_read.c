/*
 * pfs_lwlock_read.c
 *	  Readers and truncation of LWLock instances, and readers of their holders;
 *	  pfs_lwlock.c has the owner's side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_lwlock.h"

/*
 * Hands each LWLock's record to emit: the record itself, no copy, as its fields are
 * read and reset one by one.
 */
void
pfs_lwlocks_each(PfsLwlockEmit emit, void *arg)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_lwlocks, &at);)
	{
		CHECK_FOR_INTERRUPTS();
		emit(pfs_pages_record(pfs_lwlocks, at.index), at.index, arg);
	}
}

/* How often a list is copied that changes during each copy. */
#define COPY_TRIES 100

/*
 * Copies a list of held LWLocks that was there twice in the same state; returns the
 * number of its entries.  A list that changes at every try is taken as the last try
 * found it.
 */
static uint32
copy_holder(const PfsLwlockHolder *holder, uint64 *locks)
{
	uint32		n = 0;

	for (int i = 0; i < COPY_TRIES; i++)
	{
		bool		same = true;

		n = Min(pfs_load_acquire(&holder->n), PFS_LWLOCKS_HELD);
		for (uint32 l = 0; l < n; l++)
			locks[l] = pfs_load_relaxed(&holder->locks[l]);
		pfs_fence_acquire();
		for (uint32 l = 0; l < n; l++)
			same &= locks[l] == pfs_load_relaxed(&holder->locks[l]);
		if (same && pfs_load_relaxed(&holder->n) == n)
			break;
		pfs_pause();
	}
	return n;
}

/*
 * Hands each LWLock that a thread holds now to emit, by its address.  The lists of
 * several threads are not of the same time: a lock that is passed on meanwhile can
 * be seen twice or not at all.
 */
void
pfs_lwlock_holders_each(PfsLwlockHolderEmit emit, void *arg)
{
	if (pfs_lwlock_holders == NULL)
		return;
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);
		uint64		thread_id = pfs_load_relaxed(&t->thread_id);
		uint64		locks[PFS_LWLOCKS_HELD];
		uint32		n = copy_holder(pfs_lwlock_holder(at.index), locks);

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_word(pfs_threads, at.index) != at.word)
			continue;
		for (uint32 l = 0; l < n; l++)
			emit(thread_id, locks[l] & ~PFS_LWLOCK_SHARED, (locks[l] & PFS_LWLOCK_SHARED) != 0, arg);
	}
}

/*
 * Finds the thread ID of the process at a place of the proc array, for the function
 * that names the process whose fast-path lock an LWLock is; 0 if that process has no
 * thread record.
 */
uint64
pfs_lwlock_thread_of_proc(int procno)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_threads, &at);)
	{
		const PfsThread *t = pfs_pages_record(pfs_threads, at.index);
		uint64		thread_id = pfs_load_relaxed(&t->thread_id);
		bool		found = pfs_load_relaxed(&t->procno) == procno;

		pfs_fence_acquire();
		if (found && pfs_pages_word(pfs_threads, at.index) == at.word)
			return thread_id;
	}
	return 0;
}

static void
truncate_cb(const PfsLwlock *lock, uint32 index, void *arg)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(&((PfsLwlock *) lock)->waits, &totals);
	*(uint64 *) arg += pfs_totals_count(&totals);
}

/*
 * Empties the counters of each LWLock; returns how many waits those were.  The event
 * names have counted these waits, too, so nothing is moved to them.
 */
int64
pfs_lwlocks_truncate(void)
{
	uint64		events = 0;

	pfs_lwlocks_each(truncate_cb, &events);
	return (int64) events;
}
