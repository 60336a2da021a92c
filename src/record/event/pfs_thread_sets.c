/*
 * pfs_thread_sets.c
 *	  Sets of bytes beside the thread records: their memory, and taking one.
 *
 * Separate from those who have such sets (../ledger, pfs_rel_run.c), for which
 * this is the same.
 *
 * From process to process.  Nothing here is atomic but `taken`: that one process is behind
 * the other says the release of the thread record and its next allocation (pfs_pages.h).
 *
 * Who takes a set stores `taken`, and loads behind that what readers and truncators store
 * before they look at the sets, as the count of those who are there, or a generation.  The
 * fences between these stores and loads are those of whoever has sets: by them a reader sees
 * `taken`, or the owner sees the reader.
 */
#include "postgres.h"

#include "pfs_shared.h"
#include "pfs_thread_sets.h"

/*
 * Takes the memory of one set for each thread record, and remembers it in *sets.  They are
 * zero at first.
 */
void
pfs_thread_sets_lay_out(PfsThreadSets *sets, PfsSegment *seg, size_t size)
{
	Assert(size % PFS_CACHE_LINE == 0);
	sets->size = size;
	sets->sets = pfs_segment_take(seg, pfs_sizes.threads * size, PFS_CACHE_LINE);
	sets->taken = pfs_segment_take(seg, pfs_sizes.threads * sizeof(uint8), PFS_CACHE_LINE);
}

size_t
pfs_thread_sets_bytes(const PfsThreadSets *sets)
{
	return sets->sets == NULL ? 0 : pfs_sizes.threads * (sets->size + sizeof(uint8));
}

size_t
pfs_thread_sets_unused(const PfsThreadSets *sets)
{
	uint32		n = 0;

	for (uint32 i = 0; sets->sets != NULL && i < pfs_sizes.threads; i++)
		n += pfs_load_relaxed(&sets->taken[i]) == 0;
	return n * sets->size;
}

/*
 * Returns the set of this process's record, which readers look at from now on.  Called when
 * the process needs it first; it keeps the address.
 */
void *
pfs_thread_sets_claim(const PfsThreadSets *sets, const PfsThread *t)
{
	if (sets->sets == NULL)
		return NULL;
	pfs_store_relaxed(&sets->taken[t->index], 1);
	return sets->sets + t->index * sets->size;
}
