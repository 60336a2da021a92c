/*
 * pfs_owned.c
 *	  Reading records that a thread changes inside its own write sections: what readers
 *	  of sockets and of prepared statements have in common.
 */
#include "postgres.h"

#include "pfs_owned.h"

/*
 * Copies a record between two write sections of its owner, for the readers of
 * sockets and of prepared statements; false if the record has gone.  The record says
 * itself which thread owns it, so each try reads that anew.  When the patience has
 * run out the record is copied as it is, and pfs_patience_end(), which the caller
 * calls, counts that.
 */
bool
pfs_owned_copy(PfsPages *pages, uint32 index, uint64 word, const uint32 *thread, void *copy, size_t size,
			   PfsPatience *patience)
{
	const void *record = pfs_pages_record(pages, index);
	uint32		owner;
	const PfsSeqlock *lock;

	pfs_patience_next(patience);
	do
	{
		uint64		before;

		owner = pfs_load_relaxed(thread);
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
	} while (pfs_patience_more(patience));

	/* Its owner has been in the middle of a write section for long. */
	pfs_racy_copy(copy, record, size);
	pfs_fence_acquire();
	return pfs_pages_word(pages, index) == word;
}

Oid
pfs_owned_role(uint32 thread, uint64 thread_id)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, thread);
	bool		foreground = pfs_load_relaxed(&t->foreground);
	Oid			role = pfs_load_relaxed(&t->role);

	return foreground && pfs_load_relaxed(&t->thread_id) == thread_id ? role : InvalidOid;
}
