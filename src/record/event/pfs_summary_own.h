/*
 * pfs_summary_own.h
 *	  The owner's side of the summaries: a wait is counted in the thread's own cell of
 *	  its instrument, inline.
 *
 * Everything here is done inside a write section of the family.
 */
#ifndef PFS_SUMMARY_OWN_H
#define PFS_SUMMARY_OWN_H

#include "pfs_summary.h"
#include "pfs_thread.h"

/* Apply the truncations that the thread has not seen. */
static pg_attribute_always_inline void
pfs_summary_look(PfsThread *t, PfsFamily family)
{
	if (unlikely(pfs_load_relaxed(&pfs_words->truncations[family]) != t->generation[family]))
		pfs_summary_apply_resets(t, family);
}

/* The thread's cell of a wait, which is a chunk of its own; NULL: it has none yet. */
static pg_attribute_always_inline PfsWaitCell *
pfs_wait_cell(const PfsThread *t, PfsInstrumentId instrument)
{
	return t->cells[PFS_FAMILY_WAITS].chunks[instrument];
}

/*
 * Counts a wait that is timed by the default timer in the thread's own cell and its
 * buckets.
 */
static pg_attribute_always_inline void
pfs_summary_add(PfsThread *t, PfsInstrumentId instrument, uint64 ticks)
{
	PfsWaitCell *cell;
	uint32	   *bucket;
	uint32		n;

	pfs_summary_look(t, PFS_FAMILY_WAITS);
	cell = pfs_wait_cell(t, instrument);
	if (unlikely(cell == NULL || cell->time.count_timed == 0))
	{
		cell = pfs_summary_touch(t, instrument, ticks);
		if (cell == NULL)
		{
			pfs_summary_count_global(instrument, true, ticks);
			return;
		}
	}
	pfs_cell_add(&cell->time, ticks);
	bucket = &cell->buckets[pfs_histogram_bucket(ticks)];
	n = *bucket + 1;
	pfs_store_relaxed(bucket, n);
	/* Its 32 bits have wrapped: the server's bucket has 64. */
	if (unlikely(n == 0))
		pfs_summary_add_to_server(PFS_FAMILY_WAITS, instrument, pfs_histogram_bucket(ticks), UINT64_C(1) << 32);
}

/* The same for a wait without a time. */
static inline void
pfs_summary_add_untimed(PfsThread *t, PfsInstrumentId instrument)
{
	PfsWaitCell *cell;

	pfs_summary_look(t, PFS_FAMILY_WAITS);
	cell = pfs_wait_cell(t, instrument);
	if (unlikely(cell == NULL || cell->time.count_untimed == 0))
		cell = pfs_summary_touch(t, instrument, PG_UINT64_MAX);
	if (likely(cell != NULL))
		pfs_bump(&cell->time.count_untimed, 1);
	else
		pfs_summary_count_global(instrument, false, 0);
}

#endif							/* PFS_SUMMARY_OWN_H */
