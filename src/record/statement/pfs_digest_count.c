/*
 * pfs_digest_count.c
 *	  What a statement that has ended adds to its digest: to the process's own numbers of
 *	  it, or where there is no place to the record itself.
 */
#include "postgres.h"

#include "pfs_digest_count.h"
#include "pfs_digest_evict.h"
#include "pfs_digest_pending.h"
#include "pfs_digest_wait.h"
#include "pfs_shared.h"

static inline void
add_counter(PfsSharedStatementCell *to, int i, uint64 value)
{
	if (pfs_add_relaxed(&to->low[i], value) + value < value)
		pfs_add_relaxed(&to->high[i], 1);
}

static inline PfsPair
pair(const uint64 *n, PfsCounter first)
{
	return *(const PfsPair *) &n[first];
}

/* Nearly every statement has some of these, and of the others hardly any. */
static inline bool
is_common(int i)
{
	return i == PFS_N_PLAN_TIME || i == PFS_N_EXEC_TIME || i == PFS_N_ROWS_SENT || i == PFS_N_SHARED_BLKS_HIT;
}

static pg_noinline void
add_rare(PfsSharedStatementCell *to, const uint64 *n)
{
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
	{
		if (n[i] != 0 && !is_common(i))
			add_counter(to, i, n[i]);
	}
}

StaticAssertDecl(PFS_NUM_COUNTERS == 22, "add_counters() knows all of them");

/*
 * Adds a statement's counters.  Those that nearly every statement has are looked at one
 * by one; the rest is ORed together in pairs, so that having none costs one branch.
 */
static inline void
add_counters(PfsSharedStatementCell *to, const uint64 *n)
{
	PfsPair		rare = pair(n, PFS_N_SHARED_BLKS_DIRTIED) | pair(n, PFS_N_LOCAL_BLKS_HIT) |
	pair(n, PFS_N_LOCAL_BLKS_DIRTIED) | pair(n, PFS_N_TEMP_BLKS_READ) | pair(n, PFS_N_WAL_RECORDS) |
	pair(n, PFS_N_WAL_BYTES) | pair(n, PFS_N_ROWS_AFFECTED) | pair(n, PFS_N_ERRORS);

	if (n[PFS_N_PLAN_TIME] != 0)
		add_counter(to, PFS_N_PLAN_TIME, n[PFS_N_PLAN_TIME]);
	if (n[PFS_N_EXEC_TIME] != 0)
		add_counter(to, PFS_N_EXEC_TIME, n[PFS_N_EXEC_TIME]);
	if (n[PFS_N_ROWS_SENT] != 0)
		add_counter(to, PFS_N_ROWS_SENT, n[PFS_N_ROWS_SENT]);
	if (n[PFS_N_SHARED_BLKS_HIT] != 0)
		add_counter(to, PFS_N_SHARED_BLKS_HIT, n[PFS_N_SHARED_BLKS_HIT]);
	if ((rare[0] | rare[1] | n[PFS_N_LOCK_TIME] | n[PFS_N_SHARED_BLKS_READ]) != 0)
		add_rare(to, n);
}

/*
 * Adds a statement to its digest's record, or to all others: where the process has no
 * place for its numbers.  The times are of the default timer.
 */
static pg_noinline void
count_at_once(const PfsDigestEnd *end, uint64 now, uint64 ticks)
{
	PfsCachedDigest *cached = pfs_digest_enter(&end->key, true);
	PfsDigest  *d = cached != NULL ? cached->digest : NULL;
	PfsSharedStatementCell *counters = d != NULL ? &d->counters : &pfs_shared_digests->counters;

	add_counters(counters, end->n);
	if (end->memory != 0)
		pfs_raise_to(&counters->memory, end->memory);
	pfs_count_plan(counters, end->plan_origin);
	if (end->flags & PFS_FLAG_TIMED)
	{
		uint64	   *buckets = d != NULL ? d->buckets : pfs_shared_digests->buckets;

		pfs_add_relaxed(&buckets[pfs_histogram_bucket(ticks)], 1);
		pfs_shared_cell_add(&counters->time, ticks);
	}
	else
		pfs_shared_cell_add_untimed(&counters->time);
	if (end->with_waits)
		pfs_digest_waits_give(cached);
	if (d == NULL)
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
		pfs_digest_put_sample(d, end, now, ticks);
	pfs_digest_leave(cached);
}

/* Adds waits that have found no place to the digest's record. */
static pg_noinline void
give_waits(const PfsDigestKey *key)
{
	PfsCachedDigest *cached = pfs_digest_enter(key, true);

	pfs_digest_waits_give(cached);
	if (cached != NULL)
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
		give_waits(&end->key);
}

/* Adds the planning of a statement that is not executed. */
void
pfs_digest_count_planning(const PfsDigestKey *key, uint64 ticks)
{
	PfsCachedDigest *cached = pfs_digest_enter(key, true);

	add_counter(cached != NULL ? &cached->digest->counters : &pfs_shared_digests->counters, PFS_N_PLAN_TIME, ticks);
	if (cached != NULL)
		pfs_digest_leave(cached);
}
