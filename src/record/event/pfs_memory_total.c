/*
 * pfs_memory_total.c
 *	  What readers see of all memory of a thread.  The owner's side is inline, in the
 *	  header.
 */
#include "postgres.h"

#include "pfs_memory_total.h"

#define TOTAL_TRIES 1000

/*
 * Reads what a thread has in use and the most that it had, for readers.  Owners change
 * it all the time: what the last of TOTAL_TRIES reads is taken as it is.  If the record
 * has changed hands the copy's values are returned.
 */
void
pfs_memory_total_read(const PfsThread *copy, uint64 word, uint64 *in_use, uint64 *high)
{
	const PfsThread *t = pfs_pages_record(pfs_threads, copy->index);
	bool		valid = false;

	for (int tries = 0; tries < TOTAL_TRIES && !valid; tries++)
	{
		uint64		before = pfs_seqlock_read_begin(&t->memory.seq);
		uint64		headroom = pfs_load_relaxed(&t->memory.headroom);
		uint64		high_water = pfs_load_relaxed(&t->memory.high_water);

		*in_use = pfs_memory_total_in_use(headroom, high_water);
		*high = Max(pfs_load_relaxed(&t->memory.high), pfs_memory_total_peak(headroom, high_water));
		valid = pfs_seqlock_read_valid(&t->memory.seq, before);
		pfs_pause();
	}
	if (pfs_pages_word(pfs_threads, copy->index) == word)
		return;
	*in_use = pfs_memory_total_in_use(copy->memory.headroom, copy->memory.high_water);
	*high = Max(copy->memory.high, pfs_memory_total_peak(copy->memory.headroom, copy->memory.high_water));
}
