/*
 * pfs_prepared_read.c
 *	  Readers and truncation of prepared statements; pfs_prepared.c has the owner's side.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_fence.h"
#include "pfs_owned.h"
#include "pfs_prepared.h"

static bool
copy_record(uint32 index, uint64 word, PfsPrepared *copy, PfsPatience *patience)
{
	const PfsPrepared *p = pfs_pages_record(pfs_prepared, index);

	return pfs_owned_copy(pfs_prepared, index, word, &p->thread, copy, pfs_prepared_record_size(), patience);
}

/*
 * Hands a copy of each prepared statement, of one thread or of all (0), to emit.
 * Counters that a truncation has taken, but whose owner has not begun anew yet, are
 * shown as zero.
 */
void
pfs_prepared_each(uint64 thread_id, PfsPreparedEmit emit, void *arg)
{
	PfsPatience patience = {0};
	PfsPrepared *copy = palloc(pfs_prepared_record_size());

	pfs_turn_take(PFS_TURN_PREPARED, false);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_prepared, &at);)
	{
		CHECK_FOR_INTERRUPTS();
		if (!copy_record(at.index, at.word, copy, &patience) || (thread_id != 0 && copy->thread_id != thread_id))
			continue;
		if (copy->generation < copy->collected)
			memset(&copy->executions, 0, sizeof(copy->executions));
		emit(copy, arg);
	}
	pfs_turn_give(PFS_TURN_PREPARED, false);
	pfs_patience_end(&patience);
	pfree(copy);
}

/*
 * Takes the counters of one record for a truncation; returns the executions, 0 if
 * the owner has taken them itself.  If the compare-and-swap fails, its owner has, or
 * the record has been reused: that is seen at the next round.
 */
static uint64
collect(uint32 index, uint64 word, uint64 generation, PfsPrepared *copy, PfsPatience *patience)
{
	PfsPrepared *p = pfs_pages_record(pfs_prepared, index);

	while (copy_record(index, word, copy, patience))
	{
		uint64		collected = copy->collected;

		if (copy->generation >= generation || collected > copy->generation)
			return 0;
		if (pfs_cas(&p->collected, &collected, generation))
			return copy->executions.count_timed + copy->executions.count_untimed;
	}
	return 0;
}

/*
 * Resets the counters of all prepared statements; returns how many executions that
 * were.  Behind the fence every owner sees the new generation before its next event,
 * and begins anew; what the owners have taken themselves by then is in `left`.
 */
int64
pfs_prepared_truncate(void)
{
	PfsPatience patience = {.of_reset = true};
	PfsPrepared *copy = palloc(pfs_prepared_record_size());
	uint64		generation;
	uint64		left = 0;

	pfs_turn_take(PFS_TURN_PREPARED, true);
	HOLD_INTERRUPTS();
	pfs_exchange(&pfs_shared_prepared->left, 0);
	generation = pfs_add_seqcst(&pfs_words->prepared_truncations, 1) + 1;
	pfs_words_changed();
	pfs_fence_everywhere();
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_prepared, &at);)
		left += collect(at.index, at.word, generation, copy, &patience);
	left += pfs_exchange(&pfs_shared_prepared->left, 0);
	RESUME_INTERRUPTS();
	pfs_turn_give(PFS_TURN_PREPARED, true);
	pfs_patience_end(&patience);
	pfree(copy);
	return (int64) left;
}
