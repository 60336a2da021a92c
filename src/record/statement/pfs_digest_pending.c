/*
 * pfs_digest_pending.c
 *	  The places in which a process counts statements: which one a digest has, and moving what it has to the
 *	  digest's record and to the thread's totals.
 *
 * Separate from pfs_digest.c, where everything is written by all processes.
 */
#include "postgres.h"

#include "pfs_digest_evict.h"
#include "pfs_digest_pending.h"
#include "pfs_digest_wait.h"
#include "pfs_departed.h"
#include "pfs_shared.h"

PFS_HOT_FIRST uint64 pfs_digests_generation = 0;
PfsKnownPlan pfs_known_plans[PFS_KNOWN_PLANS];

bool
pfs_pending_digests_repair(void)
{
	return pfs_my_digests() != NULL && pfs_seqlock_repair(&pfs_my_digests()->moves);
}

/* ---- the kind ---- */

/* Notes that what a place has is going to be in it no more, or was in none. */
static void
hand_over(const PfsPendingDigest *p)
{
	pfs_pending_digests_hand_over(p->counters.time.count_timed + p->counters.time.count_untimed,
								  p->counters.time.sum + p->extra);
	for (uint32 i = 0; i < p->nwaits; i++)
		pfs_digest_wait_hand_over(p->waits[i].instrument, &p->waits[i].counts);
}

static inline uint32
next_bucket(const PfsPendingDigest *p, uint32 b)
{
	return pfs_histogram_next(p->buckets, sizeof(p->buckets[0]), b);
}

/*
 * Moves what a place has counted for its thread, too, to the thread's cell and histogram: from here on it is the
 * digest's alone.  Inside the section of `moves`, as readers look in both.
 */
static void
collect_place(PfsPendingDigest *p)
{
	if (p->place.key == PFS_NO_INSTRUMENT)
		return;
	pfs_seqlock_write_begin(&pfs_my_digests()->moves);
	pfs_statement_cell_add(pfs_my_thread, p->place.key, &p->counters);
	for (uint32 b = next_bucket(p, 0); b < PFS_HISTOGRAM_BUCKETS; b = next_bucket(p, b + 1))
		pfs_count_statement_bucket(pfs_my_thread, b, p->buckets[b]);
	pfs_store_relaxed(&p->place.key, PFS_NO_INSTRUMENT);
	pfs_seqlock_write_end(&pfs_my_digests()->moves);
}

static void
leave_cb(PfsThread *t, PfsPending *place, bool stays)
{
	PfsPendingDigest *p = (PfsPendingDigest *) place;

	collect_place(p);
	if (!stays)
		hand_over(p);
}

/* Adds what its statements have taken and counted. */
static inline void
flush_counters(const PfsPendingDigest *p, PfsSharedStatementCell *to)
{
	PfsTotals	time = {0};

	pfs_totals_add_cell(&time, &p->counters.time);
	pfs_shared_cell_merge(&to->time, &time);
	for (int i = 0; i < PFS_NUM_COUNTERS; i++)
	{
		if (p->counters.n[i] != 0)
			pfs_shared_sum_add(&to->low[i], &to->high[i], p->counters.n[i]);
	}
	if (p->counters.memory != 0)
		pfs_raise_to(&to->memory, p->counters.memory);
	if (PFS_HAVE_PLAN_ORIGIN)
	{
		pfs_add_relaxed(&to->plans.generic, p->plans.generic);
		pfs_add_relaxed(&to->plans.custom, p->plans.custom);
	}
}

/*
 * Adds a place's statements to a record of the set, pinned NULL: to all others'.  Each part is asked for again
 * before each bucket, wait and row: a truncator may have stopped waiting for this process.
 */
static void
add_statements(const PfsPendingDigest *p, PfsDigestSet *set, PfsPinnedDigest *pinned, PfsDigestPart part, PfsDigestPart buckets)
{
	PfsDigest  *d = pinned != NULL ? pinned->digest : &set->shared->others;

	if (!pfs_pending_digest_counts(&p->place, part))
		return;
	flush_counters(p, &d->counters);
	for (uint32 b = next_bucket(p, 0); b < PFS_HISTOGRAM_BUCKETS && pfs_pending_digest_counts(&p->place, buckets);
		 b = next_bucket(p, b + 1))
		pfs_add_relaxed(&d->buckets[b], p->buckets[b]);
	if (pinned == NULL)
		pfs_digest_note_others(set, p->last_seen, p->last_offset.value, p->last_seen, &p->last_offset);
	else if (p->last_seen > pfs_load_relaxed(&d->last_seen))
	{
		pfs_store_relaxed(&d->last_seen, p->last_seen);
		pfs_digest_offset_store(&d->last_offset, p->last_offset.taken, p->last_offset.value);
	}
}

/* Adds what a place has beside, to its digest or, pinned NULL, to all others. */
static void
add_rest(const PfsPendingDigest *p, PfsPinnedDigest *pinned)
{
	for (uint32 i = 0; i < p->nwaits && pfs_pending_digest_counts(&p->place, PFS_DIGEST_PART_WAITS); i++)
		pfs_digest_wait_put(pinned, p->waits[i].instrument, &p->waits[i].counts);
	for (uint32 i = 0; i < p->nrows && pfs_pending_digest_counts(&p->place, PFS_DIGEST_PART_ROWS); i++)
		pfs_digest_rows_put(pinned, &p->rows[i]);
	if (pinned != NULL && pfs_pending_digest_counts(&p->place, PFS_DIGEST_ALL))
		(void) pfs_add_relaxed(&pinned->digest->extra, p->extra);
}

/* To its digest and its plan, as they are now, or to all others where they were evicted. */
static void
merge_cb(void *object, const PfsPending *place)
{
	const PfsPendingDigest *p = (const PfsPendingDigest *) place;
	PfsPinnedDigest *pinned = pfs_digest_enter(&p->digest, false);

	add_statements(p, &pfs_digests, pinned, PFS_DIGEST_ALL, PFS_DIGEST_PART_BUCKETS);
	add_rest(p, pinned);
	pfs_digest_leave(pinned);
	if (p->plan_id == 0)
		return;
	pinned = pfs_plan_enter(&p->digest, p->plan_id, false);
	add_statements(p, &pfs_plans, pinned, PFS_DIGEST_PART_PLANS, PFS_DIGEST_PART_PLANS);
	pfs_digest_leave(pinned);
}

const PfsCountedKind pfs_counted_digests = {
	.shape = &pfs_pending_digest_shape,
	.add = merge_cb,
	.leave = leave_cb,
};

/* ---- which place ---- */

/* What stands for a record that there is not, or that never goes. */
static const uint64 no_state = 0;
static PfsDigestRefSlot no_slot;
static const PfsDigestFound no_record = {&no_state, &no_slot, 0};

/* A record that has been entered, as it will be looked at again; and leaves it. */
static PfsDigestFound
leave_found(PfsPinnedDigest *pinned)
{
	PfsDigestFound found = no_record;

	if (pinned != NULL)
		found = (PfsDigestFound)
	{
		pinned->state, pinned->ref_slot, (uint32) pinned->word
	};
	pfs_digest_leave(pinned);
	return found;
}

/* It was made at the end of its first statement, a little after that. */
static void
note_first(PfsPinnedDigest *pinned, uint64 end)
{
	if (unlikely(end < pfs_load_relaxed(&pinned->digest->first_seen)))
		pfs_store_relaxed(&pinned->digest->first_seen, end);
}

/* The record of a statement's plan, made if need be; where there is no room for one, it counts for all others. */
static PfsDigestFound
find_plan(const PfsDigestEnd *end)
{
	PfsPinnedDigest *pinned = end->plan_id == 0 ? NULL : pfs_plan_enter(&end->key, end->plan_id, !end->is_fetch);

	if (pinned != NULL)
	{
		note_first(pinned, end->now);
		if (pfs_load_relaxed(&pinned->digest->text_state) < PFS_TEXT_READY && pfs_sizes.plan_text > 0)
			pfs_plan_forget(end->key.query_id);
	}
	return leave_found(pinned);
}

/*
 * Takes a place for the statements of a digest, or of all others, which have a record that never goes.  Where the
 * digest has no record, or no place can be had, they are added to the sums at once.  A fetch makes no digest.
 */
static pg_noinline PfsPendingDigest *
take(const PfsDigestEnd *end)
{
	bool		has_digest = pfs_digest_is_key(&end->key);
	PfsDigestFound of_plan = find_plan(end);
	PfsPinnedDigest *pinned = has_digest ? pfs_digest_enter(&end->key, !end->is_fetch) : NULL;
	PfsDigest  *d = pinned != NULL ? pinned->digest : &pfs_digests.shared->others;
	uint64		object = 0;
	PfsDigestFound of;
	PfsDigestOffset offset;

	/* All others take no sample. */
	uint64		sample_seen = PG_INT64_MAX;
	uint64		sample_ticks = PG_INT64_MAX;
	PfsPendingDigest *p = NULL;

	if (pinned != NULL)
	{
		object = PFS_COUNTED_OBJECT(pinned->state - pfs_digests.pages->state, pinned->word);
		note_first(pinned, end->now);
		sample_seen = pfs_load_relaxed(&d->sample_seen);
		sample_ticks = pfs_load_relaxed(&d->sample_ticks);
	}
	offset = pfs_digest_offset_load(&d->last_offset);
	of = leave_found(pinned);

	/* What has the place may be flushed, to another digest. */
	if (pinned != NULL || !has_digest)
		p = (PfsPendingDigest *) pfs_pending_take(pfs_my_thread, PFS_COUNTED_DIGESTS, object, end->instrument);
	if (likely(p != NULL))
		pfs_my_digests()->ids[p - pfs_my_digests()->items] = (uint32) end->key.query_id;
	else
		p = (PfsPendingDigest *) pfs_pending_at_once(PFS_COUNTED_DIGESTS, object, end->instrument);
	p->place.note = object != 0;
	p->digest = end->key;
	p->plan_id = end->plan_id;
	p->of = of;
	p->of_plan = of_plan;
	p->last_seen = end->now;
	p->last_offset = offset;
	p->sample_seen = sample_seen;
	p->sample_ticks = sample_ticks;
	return p;
}

/* Has the thread the cell of this instrument, or is there room for one? */
static inline bool
has_cell(PfsInstrumentId instrument)
{
	return pfs_own_statement_cell(pfs_my_thread, instrument) != NULL ||
		pfs_summary_cell(pfs_my_thread, PFS_FAMILY_STATEMENTS, pfs_statement_cell(instrument)) != NULL;
}

/*
 * One that there is, with room for one more statement, or a new one, which counts for the thread only if that has the
 * cell to which it will be collected.  A fetch needs no room.
 */
PfsPendingDigest *
pfs_pending_digest_get(PfsDigestEnd *end, uint32 bucket)
{
	PfsPendingDigests *set = (PfsPendingDigests *) pfs_pending_mine(pfs_my_thread, PFS_COUNTED_DIGESTS);
	PfsPendingDigest *p = NULL;
	uint64		generation;

	if (likely(end->instrument != PFS_NO_INSTRUMENT))
		pfs_summary_look(pfs_my_thread, PFS_FAMILY_STATEMENTS);
	pfs_fence_signal();

	/*
	 * The load comes behind the store of the odd sequence word; the other
	 * side is in pfs_pending_truncate().
	 */
	generation = pfs_load_relaxed(&pfs_words->object_truncations[PFS_COUNTED_DIGESTS]);
	if (likely(set != NULL))
		p = pfs_pending_digest_of(set, &end->key, end->plan_id, end->instrument, generation);
	if (p != NULL && pfs_pending_digest_is_gone(p))
	{
		set->ids[p - set->items] = ~(uint32) end->key.query_id;
		p = NULL;
	}
	if (likely(p != NULL && (p->buckets[bucket] != PG_UINT8_MAX || end->is_fetch)))
		return p;
	if (end->instrument != PFS_NO_INSTRUMENT && !has_cell(end->instrument))
		end->instrument = PFS_NO_INSTRUMENT;
	return take(end);
}

bool
pfs_pending_digest_put(const PfsPendingDigest *p)
{
	if (likely(pfs_pending_put(pfs_my_thread, PFS_COUNTED_DIGESTS, &p->place)))
		return true;
	hand_over(p);
	return false;
}

void
pfs_digest_assign_sample_age(int seconds, void *extra)
{
	pfs_digest_set_sample_age(seconds);
	for (int i = 0; pfs_my_digests() != NULL && i < PFS_PENDING_DIGESTS; i++)
		pfs_my_digests()->items[i].usual_until = 0;
}

/* Without places the process's statements have left at once. */
void
pfs_pending_digests_hand_over(uint64 statements, int64 ticks)
{
	PfsPendingDigests *set = (PfsPendingDigests *) pfs_pending_mine(pfs_my_thread, PFS_COUNTED_DIGESTS);

	if (set != NULL)
	{
		set->handed_statements += statements;
		set->handed_ticks += ticks;
		return;
	}
	pfs_departed_begin();
	(void) pfs_add_relaxed(&pfs_departed->statements, statements);
	(void) pfs_add_relaxed(&pfs_departed->statement_ticks, ticks);
	pfs_departed_end();
}

/* The time goes to a place of the digest, or to the record; without either it counts for the process alone. */
void
pfs_pending_digests_add_time(PfsDigestKey key, int64 ticks, uint64 statements)
{
	PfsPendingDigest *p = NULL;
	PfsPinnedDigest *pinned;

	if (pfs_my_digests() != NULL && key.query_id != 0)
		p = pfs_pending_digest_of(pfs_my_digests(), &key, 0, PFS_NO_INSTRUMENT, 0);
	if (p != NULL)
	{
		p->extra += ticks;
		ticks = 0;
	}
	else if (key.query_id != 0)
	{
		pinned = pfs_digest_enter(&key, false);
		if (pinned != NULL)
		{
			(void) pfs_add_relaxed(&pinned->digest->extra, ticks);
			pfs_digest_leave(pinned);
		}
	}
	if (ticks != 0 || statements != 0)
		pfs_pending_digests_hand_over(statements, ticks);
}

/* ---- the thread's totals ---- */

static const PfsSeqlock *
pending_lock(uint32 thread)
{
	const PfsPendingDigests *set = pfs_pending_digests_get(thread);

	return set != NULL ? &set->moves : NULL;
}

/* A place that is empty has no generation. */
static bool
next_pending(uint32 thread, uint32 *i, PfsPendingCell *pending)
{
	const PfsPendingDigests *set = pfs_pending_digests_get(thread);

	for (; *i < PFS_PENDING_DIGESTS; (*i)++)
	{
		const PfsPendingDigest *p = &set->items[*i];
		uint32		instrument = pfs_load_relaxed(&p->place.key);

		if (pfs_load_relaxed(&p->place.generation) == 0 || instrument == PFS_NO_INSTRUMENT)
			continue;
		*pending = (PfsPendingCell)
		{
			pfs_cell_of_instrument(PFS_FAMILY_STATEMENTS, instrument), &p->counters, p->buckets
		};
		return true;
	}
	return false;
}

/* Collects all places in the thread's cells: none of them counts for the thread any more. */
static void
collect(PfsThread *t)
{
	for (int i = 0; pfs_my_digests() != NULL && i < PFS_PENDING_DIGESTS; i++)
	{
		if (pfs_my_digests()->items[i].place.generation != 0)
			collect_place(&pfs_my_digests()->items[i]);
	}
}

const PfsSummaryPending pfs_statement_pending = {
	.lock = pending_lock,
	.next = next_pending,
	.join = pfs_statement_cell_join,
	.collect = collect
};
