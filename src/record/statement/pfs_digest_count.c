/*
 * pfs_digest_count.c
 *	  What a statement that has ended adds to its digest, and its thread's totals: any statement.
 */
#include "postgres.h"

#include "pfs_digest_count.h"
#include "pfs_shared.h"

/*
 * Looks at a digest, for the statements that its place has counted since the last look: raises its usage, and takes the
 * offset if the last one is old.
 */
static void
look_at(PfsPendingDigest *p, uint64 now)
{
	uint64		counted = p->counters.time.count_timed + p->counters.time.count_untimed;

	pfs_digest_look_at_offset(&p->last_offset, now);
	pfs_digest_raise_usage(p->of.ref_slot, counted - p->counted);
	pfs_digest_raise_usage(p->of_plan.ref_slot, counted - p->counted);
	p->counted = counted;
}

/* Looks again, where a statement is no slower than the sample: that must not be too old. */
bool
pfs_digest_look_again(PfsPendingDigest *p, uint64 now)
{
	if (pfs_pending_digest_is_gone(p) || pfs_digest_is_sample_old(p->sample_seen, now))
		return false;
	look_at(p, now);
	p->usual_until = pfs_digest_next_look(p->sample_seen, now);
	return true;
}

/*
 * Counts a statement that has ended: it becomes the sample if it is the slowest or that is old.  Returns whether
 * it is counted for its thread, too.
 */
static bool
count(PfsDigestEnd *end, bool with_waits)
{
	uint32		bucket = pfs_histogram_bucket(end->ticks);
	PfsPendingDigest *p = pfs_pending_digest_get(end, bucket);

	if (unlikely(end->is_fetch))
		p->counters.time.sum += end->timed ? end->ticks : 0;
	else if (likely(end->timed))
	{
		pfs_cell_add_timed(&p->counters.time, end->ticks);
		p->buckets[bucket]++;
	}
	else
		p->counters.time.count_untimed++;
	pfs_counters_add(p->counters.n, end->n);
	if (unlikely(end->memory > p->counters.memory))
		p->counters.memory = end->memory;
	if (PFS_HAVE_PLAN_ORIGIN && !end->is_fetch)
		pfs_pending_digest_plan(p, end->plan_origin);
	p->last_seen = end->now;
	if (with_waits)
		pfs_pending_digest_take_waits(p);
	if (unlikely(pfs_digest_rows_used != 0))
		pfs_digest_rows_claim(&end->key, p->rows, &p->nrows, PFS_PENDING_DIGEST_ROWS);
	look_at(p, end->now);
	if (unlikely(end->sample != NULL && pfs_digest_wants_sample(p->sample_ticks, p->sample_seen, end)))
		pfs_digest_take_sample(end, p->last_offset.value, &p->sample_seen, &p->sample_ticks);
	if (unlikely(p->place.note))
		p->place.note = pfs_digest_note_text(PFS_COUNTED_INDEX(p->place.object), end->key.query_id);
	p->usual_ticks = p->place.note || p->counters.time.count_timed == 0 ? 0 : p->sample_ticks;
	p->usual_until = pfs_digest_next_look(p->sample_seen, end->now);
	if (unlikely(with_waits && pfs_local.waits_used != 0))
		pfs_digest_waits_flush_to(&end->key, true);
	return pfs_pending_digest_put(p) && end->instrument != PFS_NO_INSTRUMENT;
}

/*
 * Counts a statement that has ended, and its waits, for its digest, or without one for all others; inside the
 * owner's write section.  Its thread's totals take from there what their cells would count in the same way.
 */
bool
pfs_digest_count(const PfsStatement *s, const PfsStatementEvent *e, uint64 at, bool with_waits)
{
	PfsDigestEnd end = {
		.key = pfs_digest_key_of_end(s->database, s->user, s->query_id),
		.plan_id = s->plan_id,
		.n = s->n,
		.memory = s->memory,
		.instrument = pfs_is_usual(s->flags) && !s->is_fetch ? s->instrument : PFS_NO_INSTRUMENT,
		.plan_origin = s->plan_origin,
		.timed = (s->flags & PFS_FLAG_TIMED) != 0,
		.is_fetch = s->is_fetch,
		.sample = (s->flags & PFS_FLAG_TIMED) != 0 && s->query_id != 0 && !s->is_fetch && e != NULL && e->text_len > 0 ? e : NULL,
		.now = at,
		.ticks = at - s->start,
	};

	if (unlikely((s->flags & PFS_FLAG_TIMER_MASK) != (pfs_local.usual & PFS_FLAG_TIMER_MASK)))
	{
		end.now = pfs_timer_read(pfs_timer_default());
		end.ticks = pfs_ticks_of_default(PFS_FLAGS_TIMER(s->flags), end.ticks);
	}
	return count(&end, with_waits);
}

/* Fills in the slot, as the sample is taken from there. */
void
pfs_digest_count_plain_any(PfsThread *t, const PfsStoredStatement *e, PfsStatementEvent *slot, uint64 now, uint64 ticks)
{
	PfsDigestEnd end = {
		.key = pfs_digest_key_of_end(e->database, e->user, e->query_id),
		.plan_id = e->plan_id,
		.n = slot->n,
		.instrument = e->instrument,
		.plan_origin = e->plan_origin,
		.timed = true,
		.sample = e->query_id != 0 && e->text_len > 0 ? slot : NULL,
		.now = now,
		.ticks = ticks,
	};

	pfs_statement_event_unpack(e, (PfsEvent *) slot);
	end.memory = slot->memory;
	if (count(&end, true))
		return;
	pfs_count_statement(t, e->instrument, e->flags, ticks, slot->n);
	if (unlikely(slot->memory != 0))
		pfs_statement_memory_count(t, e->instrument, e->flags, slot->memory);
}
