/*
 * pfs_prepared_read.c
 *	  Readers and truncation of prepared statements; pfs_prepared.c has the owner's side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_fence.h"
#include "pfs_pending_read.h"
#include "pfs_prepared.h"

/*
 * Copies a record between two write sections of its owner; false if the record has gone.  Should it be another one's
 * meanwhile, its state word tells.
 */
static bool
copy_record(uint32 index, uint64 word, PfsPrepared *copy, PfsPatience *patience)
{
	const PfsPrepared *p = pfs_pages_record(pfs_prepared, index);
	uint32		owner = pfs_load_relaxed(&p->thread);

	if (owner >= pfs_threads->records_max)
		return false;
	pfs_section_copy(owner, copy, p, pfs_prepared_record_size(), patience);
	return pfs_pages_word(pfs_prepared, index) == word;
}

/* The counts of a copy that belong to this generation. */
static PfsPreparedCounts
counts_of(const PfsPrepared *copy, uint64 generation)
{
	const PfsPreparedCounts *counts = &copy->counts[generation % 2];
	PfsPreparedCounts none = {0};

	return counts->generation == generation ? *counts : none;
}

/* Hands a copy of each prepared statement, of one thread or of all (0), to emit. */
void
pfs_prepared_each(uint64 thread_id, PfsPreparedEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PfsPrepared *copy = palloc(pfs_prepared_record_size());

	pfs_turn_begin(PFS_COUNTED_PREPARED, false);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_prepared, &at);)
	{
		CHECK_FOR_INTERRUPTS();
		if (!copy_record(at.index, at.word, copy, &patience) || (thread_id != 0 && copy->thread_id != thread_id))
			continue;
		copy->counts[0] = counts_of(copy, pfs_load_relaxed(&pfs_words->object_truncations[PFS_COUNTED_PREPARED]));
		emit(copy, arg);
	}
	pfs_turn_end(PFS_COUNTED_PREPARED, false);
	pfs_patience_end(&patience);
	pfree(copy);
}

/*
 * Resets the counts of all prepared statements; returns how many executions that were.  Behind the
 * fence every owner counts its next execution for the new generation.
 */
int64
pfs_prepared_truncate(void)
{
	PfsPatience patience = {.of_reset = true};
	PfsPrepared *copy = palloc(pfs_prepared_record_size());
	uint64		before;
	uint64		taken = 0;

	pfs_turn_begin(PFS_COUNTED_PREPARED, true);
	HOLD_INTERRUPTS();
	before = pfs_add_seqcst(&pfs_words->object_truncations[PFS_COUNTED_PREPARED], 1);
	pfs_words_changed();
	pfs_fence_everywhere();
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_prepared, &at);)
	{
		PfsTotals	executions;

		if (!copy_record(at.index, at.word, copy, &patience))
			continue;
		copy->counts[0] = counts_of(copy, before);
		executions = pfs_counts_totals(&copy->counts[0].executions);
		taken += pfs_totals_count(&executions);
	}
	RESUME_INTERRUPTS();
	pfs_turn_end(PFS_COUNTED_PREPARED, true);
	pfs_patience_end(&patience);
	pfree(copy);
	return (int64) taken;
}
