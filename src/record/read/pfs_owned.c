/*
 * pfs_owned.c
 *	  Reading records that belong to a thread.
 */
#include "postgres.h"

#include "pfs_owned.h"

/*
 * Copies a record between two write sections of its owner, for the readers of
 * prepared statements; false if the record has gone.  The record says
 * itself which thread owns it, so each try reads that anew.  When the patience has
 * run out the record is copied as it is, and pfs_patience_end(), which the caller
 * calls, counts that.
 */
bool
pfs_owned_copy(PfsPages *pages, uint32 index, uint64 word, const uint32 *thread, void *copy, size_t size,
			   PfsPatience *patience)
{
	const void *record = pfs_pages_record(pages, index);
	bool		is_whole;

	pfs_patience_next(patience);
	do
	{
		uint32		owner = pfs_load_relaxed(thread);
		const PfsSeqlock *lock;
		uint64		before;

		if (owner >= pfs_threads->records_max)
			return false;
		lock = &((const PfsThread *) pfs_pages_record(pfs_threads, owner))->seq;
		before = pfs_seqlock_read_begin(lock);
		pfs_racy_copy(copy, record, size);
		is_whole = pfs_seqlock_read_valid(lock, before);
		if (pfs_pages_word(pages, index) != word)
			return false;
	} while (!is_whole && pfs_patience_more(patience));
	return true;
}

Oid
pfs_owned_role(uint32 thread, uint64 thread_id)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, thread);
	bool		foreground = pfs_load_relaxed(&t->foreground);
	Oid			role = pfs_load_relaxed(&t->role);

	return foreground && pfs_load_relaxed(&t->thread_id) == thread_id ? role : InvalidOid;
}
