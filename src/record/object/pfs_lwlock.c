/*
 * pfs_lwlock.c
 *	  LWLock instances and holders: making and counting.
 *
 * A lock is known by address and tranche.  The address means the same lock in all
 * processes only inside the server's main shared memory; a lock in a segment
 * that processes map where they like (parallel query) has no instance.
 *
 * Separate from pfs_lwlock_event.c, which has acquisitions that did not sleep: they have
 * no instance.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "pfs_clock.h"
#include "pfs_compat.h"
#include "pfs_guc.h"
#include "pfs_lwlock_event.h"
#include "pfs_shared.h"

/* Records of one page. */
#define LWLOCKS_PER_PAGE 512

/* Locks that somebody waits for, sooner or later: of the server, and more with the load. */
#define LWLOCKS_FOR_SERVER		2048
#define LWLOCKS_PER_CONNECTION	32

PfsLwlockEvents pfs_lwlock_events_now = PFS_LWLOCK_WAITS;
PfsPages   *pfs_lwlocks = NULL;
static PfsHash *lwlocks_by_key = NULL;
void	   *pfs_lwlock_holders = NULL;
PFS_HOT PfsLwlockHolder *pfs_my_lwlocks = NULL;

/* What tells one lock from another. */
typedef struct PfsLwlockKey
{
	uint64		address;
	uint64		tranche;
} PfsLwlockKey;

uint32
pfs_lwlock_holders_max(void)
{
	return pfs_lwlock_events == PFS_LWLOCK_ALL ? pfs_sizes.threads : 0;
}

size_t
pfs_lwlock_holders_size(void)
{
	return pfs_lwlock_holders_max() * pfs_lwlock_holder_size();
}

static bool
matches(const void *record, const void *key)
{
	const PfsLwlock *lock = record;
	const PfsLwlockKey *wanted = key;

	return pfs_load_relaxed(&lock->address) == wanted->address &&
		pfs_load_relaxed(&lock->tranche) == wanted->tranche;
}

/* The lists of holders take nothing, and are NULL, where no acquisition is an event. */
void
pfs_lwlocks_lay_out(PfsSegment *seg)
{
	uint32		locks = pfs_lwlock_events == PFS_LWLOCK_WAITS ? 0 : LWLOCKS_FOR_SERVER + LWLOCKS_PER_CONNECTION * MaxConnections;
	void	   *holders;

	pfs_lwlocks = pfs_pages_create(seg, "lwlock_instances", sizeof(PfsLwlock), locks, LWLOCKS_PER_PAGE);
	lwlocks_by_key = pfs_hash_create(seg, pfs_lwlocks, locks, matches);
	holders = pfs_segment_take(seg, pfs_lwlock_holders_size(), PFS_CACHE_LINE);
	pfs_lwlock_holders = pfs_lwlock_holders_max() > 0 ? holders : NULL;
	pfs_lwlock_blocks_lay_out(seg);
}

void
pfs_lwlocks_reset_lost(void)
{
	if (pfs_lwlock_blocks != NULL)
		pfs_blocks_reset_lost(pfs_lwlock_blocks);
}

static void
fill_cb(void *record, const void *key, void *arg)
{
	PfsLwlock  *lock = record;
	const PfsLwlockKey *wanted = key;

	memset(lock, 0, sizeof(*lock));
	pfs_store_relaxed(&lock->address, wanted->address);
	pfs_store_relaxed(&lock->tranche, (uint32) wanted->tranche);
	lock->instrument = *(const PfsInstrumentId *) arg;
}

/*
 * Finds or makes the instance of a lock that this process is about to sleep for.  It is
 * never freed, so its number alone names it.  PFS_NO_RECORD: there is no room
 * (counted), or the address means the lock in this process only.
 */
uint32
pfs_lwlock_instance(const LWLock *lock, PfsInstrumentId instrument)
{
	static uint32 hint = 0;
	PfsLwlockKey key;
	uint64		word;
	bool		created;

	if (pfs_lwlocks == NULL || !ShmemAddrIsValid(lock))
		return PFS_NO_RECORD;
	key.address = (uintptr_t) lock;
	key.tranche = lock->tranche;
	return pfs_hash_insert(lwlocks_by_key, pfs_hash_bytes(&key, sizeof(key)), &key, fill_cb, &instrument, &hint, &word, &created);
}

/*
 * Adds an acquisition that slept to the lock's instance, by atomic adds, when the wait
 * ends.
 */
void
pfs_lwlock_count(uint32 instance, const PfsWait *e, uint64 end)
{
	PfsLwlock  *lock = pfs_pages_record(pfs_lwlocks, instance);

	pfs_shared_cell_add(&lock->waits, (e->flags & PFS_FLAG_TIMED) != 0,
						pfs_ticks_of_default(PFS_FLAGS_TIMER(e->flags), Max(end, e->timer_start) - e->timer_start));
}

/* ---- what this process holds ---- */

static void
note_taken_before_cb(LWLock *lock, LWLockMode mode, void *context)
{
	pfs_lwlock_note_taken(context, (uintptr_t) lock | mode);
}

/*
 * Begins the list of held locks and the records of acquisitions, when a process attaches
 * and `all` is in effect.  Locks that it has taken before come from the server's own
 * list of them.
 */
void
pfs_lwlock_attach(PfsThread *t)
{
	if (pfs_lwlock_holders == NULL || pfs_lwlock_events_now != PFS_LWLOCK_ALL)
		return;
	pfs_my_lwlocks = pfs_lwlock_holder(t->index);
	pfs_store_relaxed(&pfs_my_lwlocks->n, 0);
	pfs_lwlock_records_begin(t, pfs_my_lwlocks);
	pfs_compat_each_held_lwlock(note_taken_before_cb, pfs_my_lwlocks);
}

/*
 * Ends both: the records stay in the long history.  Inside
 * detach's write section.
 */
void
pfs_lwlock_detach(PfsThread *t)
{
	if (pfs_my_lwlocks == NULL)
		return;
	pfs_lwlock_records_end(t, pfs_my_lwlocks);
	pfs_store_relaxed(&pfs_my_lwlocks->n, 0);
	pfs_my_lwlocks = NULL;
}

/*
 * Takes a lock off the list that was not taken last: the entries above it move down.  A
 * reader may see one of them twice or not at all while they do, and looks at the list
 * again before it believes it.  A lock that is not in the list, as it was full or the
 * process had not attached, changes nothing.
 */
void
pfs_lwlock_note_released_other(PfsLwlockHolder *mine, const LWLock *lock)
{
	uint32		n = (uint32) mine->n;

	for (uint32 i = n; i-- > 0;)
	{
		if ((mine->locks[i] & ~PFS_LWLOCK_SHARED) != (uintptr_t) lock)
			continue;
		for (uint32 j = i + 1; j < n; j++)
			pfs_store_relaxed(&mine->locks[j - 1], mine->locks[j]);
		pfs_store_release(&mine->n, n - 1);
		return;
	}
}
