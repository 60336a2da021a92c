/*
 * pfs_digest_count.c
 *	  What a statement that has ended adds to its digest: to the process's own numbers of
 *	  it, or where there is no place to the record itself.
 */
#include "postgres.h"

#include "pfs_digest_evict.h"
#include "pfs_digest_pending.h"
#include "pfs_digest_wait.h"
#include "pfs_shared.h"

/*
 * Adds a statement to its digest's record, or to all others: where the process has no
 * place for its numbers.  The times are of the default timer.
 */
static pg_noinline void
count_at_once(const PfsDigestEnd *end, uint64 now, uint64 ticks)
{
	PfsCachedDigest *cached = pfs_digest_enter(&end->key, true);
	PfsDigest  *d = cached != NULL ? cached->digest : &pfs_shared_digests->others;
	bool		timed = (end->flags & PFS_FLAG_TIMED) != 0;

	pfs_shared_statement_add(&d->counters, end->n, end->memory);
	pfs_count_plan(&d->counters, end->plan_origin);
	if (timed)
		pfs_add_relaxed(&d->buckets[pfs_histogram_bucket(ticks)], 1);
	pfs_shared_cell_add(&d->counters.time, timed, ticks);
	pfs_pending_digests_pass(1, timed ? ticks : 0);
	if (end->with_waits)
		pfs_digest_waits_give(cached);
	if (cached == NULL)
	{
		pfs_digest_note_others(now, now, NULL);
		return;
	}
	pfs_store_relaxed(&d->last_seen, now);
	pfs_digest_look_at_offset(&d->last_offset, now);
	/* It was made at the end of its first statement, a little after that. */
	if (now < pfs_load_relaxed(&d->first_seen))
		pfs_store_relaxed(&d->first_seen, now);
	pfs_digest_raise_usage(cached->ref_slot);
	if ((end->flags & PFS_FLAG_TIMED) && end->text_len > 0 &&
		pfs_digest_wants_sample(pfs_load_relaxed(&d->sample_ticks), pfs_load_relaxed(&d->sample_seen), now, ticks))
		pfs_digest_put_sample(d, end, now, d->last_offset.value, ticks);
	pfs_digest_leave(cached);
}

/*
 * Counts a statement that has ended, and its waits, for its digest; inside the owner's
 * write section.  It becomes the sample if it is the slowest or that is old.
 */
void
pfs_digest_count(const PfsDigestEnd *end)
{
	bool		usual = (end->flags & PFS_FLAG_TIMER_MASK) == (pfs_local.usual & PFS_FLAG_TIMER_MASK);
	uint64		now = likely(usual) ? end->end : pfs_timer_read(pfs_timer_default());
	uint64		ticks = likely(usual) ? end->ticks : pfs_ticks_of_default(PFS_FLAGS_TIMER(end->flags), end->ticks);

	if (unlikely(!pfs_pending_digests_count(end, now, ticks)))
		count_at_once(end, now, ticks);
	else if (unlikely(end->with_waits && pfs_local.waits_used != 0))
		pfs_digest_waits_give_to(&end->key, true);
}
