/*
 * pfs_owned.c
 *	  Reading records that a thread changes inside its own changes.
 */
#include "postgres.h"

#include <time.h>

#include "pfs_owned.h"

#define NAP_NS 100000

void
pfs_owned_nap(void)
{
	struct timespec rest = {0, NAP_NS};

	/* libc's own, which is no wait of the server. */
	nanosleep(&rest, NULL);
}

bool
pfs_owned_copy(PfsPages *pages, uint32 index, uint64 word, const uint32 *thread, void *copy, size_t size)
{
	const void *record = pfs_pages_record(pages, index);

	for (int i = 0; i < PFS_OWNED_SPINS + PFS_OWNED_NAPS; i++)
	{
		uint32		owner = pfs_load_relaxed(thread);
		const PfsSeqlock *lock;
		uint64		before;

		if (owner >= pfs_threads->records_max)
			return false;
		lock = &((const PfsThread *) pfs_pages_record(pfs_threads, owner))->seq;
		before = pfs_seqlock_read_begin(lock);
		if ((before & 1) == 0)
		{
			pfs_racy_copy(copy, record, size);
			if (pfs_seqlock_read_valid(lock, before))
				return pfs_pages_word(pages, index) == word;
		}
		if (pfs_pages_word(pages, index) != word)
			return false;
		if (i < PFS_OWNED_SPINS)
			pfs_pause();
		else
			pfs_owned_nap();
	}
	return false;
}

Oid
pfs_owned_role(uint32 thread, uint64 thread_id)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, thread);
	bool		foreground = pfs_load_relaxed(&t->foreground);
	Oid			role = pfs_load_relaxed(&t->role);

	return foreground && pfs_load_relaxed(&t->thread_id) == thread_id ? role : InvalidOid;
}
