/*
 * pfs_digest_count.h
 *	  What a statement that has ended adds to its digest, and to the totals of its thread: to the place in which its
 *	  process counts both (pfs_digest_pending.h).
 *
 * Owner, inside a write section of its thread.
 *
 * Separate from pfs_digest_pending.h, which says where; readers need that alone.
 */
#ifndef PFS_DIGEST_COUNT_H
#define PFS_DIGEST_COUNT_H

#include "pfs_digest_pending.h"
#include "pfs_digest_wait.h"

/*
 * Counts a statement that ends.  e: its slot, or NULL; at: by the timer in its flags; with_waits:
 * those of pfs_digest_wait.h are its own.  False: its thread's cell has to count it, too.
 */
extern bool pfs_digest_count(const PfsStatement *s, const PfsStatementEvent *e, uint64 at, bool with_waits);

/* Where a place counts waits of this instrument; NULL: there is no room for them. */
static inline PfsPendingWait *
pfs_pending_digest_waits(PfsPendingDigest *p, uint32 instrument)
{
	PfsPendingWait *w = p->waits;
	PfsPendingWait *end = w + p->nwaits;

	for (; w < end; w++)
	{
		if (w->instrument == instrument)
			return w;
	}
	if (unlikely(p->nwaits == PFS_PENDING_DIGEST_WAITS))
		return NULL;
	p->nwaits++;
	w->instrument = instrument;
	pfs_counts_clear(&w->counts);
	return w;
}

/*
 * Takes the waits of the process's table into a place.  Kinds that find no room stay in
 * the table.  Nobody counts one meanwhile, as this is a write section.
 */
static pg_attribute_always_inline void
pfs_pending_digest_take_waits(PfsPendingDigest *p)
{
	PfsDigestWait *items = pfs_local.waits;
	uint64		left = 0;

	for (uint64 used = pfs_local.waits_used; used != 0; used &= used - 1)
	{
		PfsDigestWait *from = &items[__builtin_ctzll(used)];
		PfsPendingWait *to = pfs_pending_digest_waits(p, PFS_DIGEST_WAIT_INSTRUMENT(from->key));

		if (unlikely(to == NULL))
		{
			left |= from->bit;
			continue;
		}
		pfs_counts_add(&to->counts, &from->counts);
		pfs_digest_wait_clear(from);
	}
	pfs_local.waits_used = left;
}

static inline void
pfs_pending_digest_plan(PfsPendingDigest *p, uint8 origin)
{
	if (origin == PFS_PLAN_GENERIC)
		p->plans.generic++;
	else if (origin == PFS_PLAN_CUSTOM)
		p->plans.custom++;
}

/*
 * Looks at the digest of a place, in which a statement is going to be counted that is no slower than the sample; false: it
 * has gone, or the sample is old.
 */
extern bool pfs_digest_look_again(PfsPendingDigest *p, uint64 now);

/* Counts a plain statement where this is rare: a digest without a place, a sample, a text. */
extern void pfs_digest_count_plain_any(PfsThread *t, const PfsStoredStatement *e, PfsStatementEvent *slot, uint64 now,
									   uint64 ticks);

/*
 * Counts a plain statement (pfs_plain.h) with its waits, for its thread, too, where nothing has been truncated since
 * pfs_plain_look().  The place of its digest is there, which was looked at a moment ago; the statement is no sample, and
 * fits: else it is counted as any other.
 * rare: pfs_counters_rare(); slot: one that no statement is in, which may be filled in.
 */
static pg_attribute_always_inline void
pfs_digest_count_plain(PfsThread *t, const PfsStoredStatement *e, const uint64 *rare, PfsStatementEvent *slot, uint64 now,
					   uint64 ticks)
{
	PfsDigestKey key = pfs_digest_key_of_end(e->database, e->user, e->query_id);
	PfsPendingDigests *set = pfs_my_digests();
	PfsPendingDigest *p = NULL;
	uint32		bucket = pfs_histogram_bucket(ticks);

	if (likely(set != NULL))
		p = pfs_pending_digest_of(set, &key, e->plan_id, e->instrument, pfs_digests_generation);
	if (unlikely(p == NULL || p->buckets[bucket] == PG_UINT8_MAX || ticks >= p->usual_ticks) ||
		(unlikely(now >= p->usual_until) && !pfs_digest_look_again(p, now)))
	{
		pfs_digest_count_plain_any(t, e, slot, now, ticks);
		return;
	}
	pfs_cell_add(&p->counters.time, ticks);
	p->buckets[bucket]++;
	pfs_counters_add_parts(p->counters.n, e->n, rare);
	if (unlikely(e->counts & PFS_COUNTS_MEMORY))
		p->counters.memory = Max(p->counters.memory, pfs_stored_last(e)[0]);
	if (PFS_HAVE_PLAN_ORIGIN)
		pfs_pending_digest_plan(p, e->plan_origin);
	p->last_seen = now;
	pfs_pending_digest_take_waits(p);
	if (unlikely(pfs_local.waits_used != 0))
		pfs_digest_waits_flush_to(&key, true);
}

#endif							/* PFS_DIGEST_COUNT_H */
