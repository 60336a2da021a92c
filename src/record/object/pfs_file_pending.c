/*
 * pfs_file_pending.c
 *	  Numbers of file calls that a process keeps to itself: taking a place for them, and
 *	  adding them to the sums of their files.
 *
 * Flush and readers.  A flush moves numbers from one place to another, which a reader must
 * not see half of.  So readers and truncators say in pfs_shared_files->held that they are
 * there, and then wait for those threads whose sequence word is odd.  A flush happens inside
 * a write section of its thread, and looks at `held` behind the store of the odd word; between
 * store and load both sides have a fence.  So either the flush sees the reader and leaves its
 * numbers where they are, or the reader sees the odd word and waits.
 *
 * Truncators then raise the generation.  Counting in a place that a process has already
 * has no fence: for that they use pfs_fence_everywhere() (pfs_fence.h).
 */
#include "postgres.h"

#include "pfs_file_pending.h"
#include "pfs_file_sum.h"
#include "pfs_shared.h"

PfsPendingFiles *pfs_pending_files = NULL;
uint8	   *pfs_pending_files_used = NULL;
PFS_HOT PfsPendingFiles *pfs_my_pending_files = NULL;

/* This process has said that it uses them; which way is emptied next. */
static bool is_used = false;
static uint32 next_way;

size_t
pfs_pending_files_size(void)
{
	return pfs_sizes.files == 0 ? 0 : pfs_sizes.threads * (sizeof(PfsPendingFiles) + sizeof(uint8));
}

size_t
pfs_pending_files_unused(void)
{
	uint32		n = 0;

	for (uint32 i = 0; pfs_pending_files_used != NULL && i < pfs_sizes.threads; i++)
		n += pfs_load_relaxed(&pfs_pending_files_used[i]) == 0;
	return n * sizeof(PfsPendingFiles);
}

void
pfs_pending_files_lay_out(PfsSegment *seg)
{
	if (pfs_sizes.files == 0)
		return;
	pfs_pending_files = pfs_segment_take(seg, pfs_sizes.threads * sizeof(PfsPendingFiles), PFS_CACHE_LINE);
	pfs_pending_files_used = pfs_segment_take(seg, pfs_sizes.threads * sizeof(uint8), PFS_CACHE_LINE);
}

void
pfs_pending_files_attach(PfsThread *t)
{
	pfs_my_pending_files = pfs_pending_files == NULL ? NULL : &pfs_pending_files[t->index];
	is_used = false;
}

void
pfs_pending_files_detach(PfsThread *t)
{
	pfs_my_pending_files = NULL;
}

/* Adds a place's numbers to their sum and empties it.  False: a reader or truncator forbids it. */
static bool
flush(PfsThread *t, PfsPendingFile *p)
{
	if (pfs_load_acquire(&pfs_shared_files->held) != 0)
		return false;
	if (p->generation != 0)
		pfs_file_sum_merge(t, p);
	memset(p, 0, sizeof(*p));
	return true;
}

/*
 * The slow path of a call: what has the place is flushed if it is not what the call needs.
 * The file gets its sum now, so that it has its row in the tables by instance also when the
 * numbers are truncated before the flush, and so that a loss is that of a call.
 */
PfsPendingFile *
pfs_pending_file_take(PfsThread *t, uint64 file, uint32 key)
{
	PfsPendingFile *set;
	PfsPendingFile *p;
	uint64		generation;

	if (pfs_my_pending_files == NULL)
		return NULL;
	if (!is_used)
	{
		pfs_store_relaxed(&pfs_pending_files_used[pfs_my_pending_files - pfs_pending_files], 1);
		is_used = true;
	}
	pfs_fence_seqcst();			/* pairs with the one in forbid_flushes() */
	generation = pfs_load_acquire(&pfs_words->file_truncations);
	set = pfs_pending_file_set(pfs_my_pending_files, file, key);
	p = pfs_pending_file_find(pfs_my_pending_files, file, key);
	if (!pfs_pending_file_is(p, file, key))
	{
		if (set[0].generation == 0)
			p = &set[0];
		else if (p->generation != 0)
			p = &set[next_way++ % PFS_PENDING_FILE_WAYS];
	}
	if (!flush(t, p) || !pfs_file_sum_make(t, file, key))
		return NULL;
	p->file = file;
	p->key = key;
	p->generation = generation;
	p->min = PG_UINT64_MAX;
	return p;
}
