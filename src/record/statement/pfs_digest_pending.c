/*
 * pfs_digest_pending.c
 *	  What a statement that has ended adds to its digest: to the numbers that its process keeps
 *	  to itself, or where there is no place to the record; and adding these numbers to the
 *	  digests' records.
 *
 * Separate from pfs_digest.c, where everything is written by all processes.
 */
#include "postgres.h"

#include "pfs_digest_evict.h"
#include "pfs_digest_pending.h"
#include "pfs_digest_wait.h"
#include "pfs_left.h"
#include "pfs_shared.h"

PFS_FIXED PfsThreadSets pfs_pending_digests;

/* This process's; NULL: it has none yet. */
static PFS_HOT PfsPendingDigests *mine = NULL;

/* In which place a digest was found last, by its query identifier; that may be another digest's by now. */
#define LATELY 64

static PFS_HOT_TABLE uint8 lately[LATELY];

void
pfs_pending_digests_lay_out(PfsSegment *seg)
{
	if (pfs_sizes.digests > 0)
		pfs_thread_sets_lay_out(&pfs_pending_digests, seg, sizeof(PfsPendingDigests));
}

void
pfs_pending_digests_detach(PfsThread *t)
{
	mine = NULL;
}

bool
pfs_pending_digests_repair(void)
{
	if (mine == NULL || (mine->seq.word & 1) == 0)
		return false;
	pfs_seqlock_write_end(&mine->seq);
	return true;
}

/* ---- truncation ---- */

/* Notes that the waits of a place are going to be in it no more. */
static void
pass_waits(const PfsPendingDigest *p)
{
	for (uint32 i = 0; i < p->nwaits; i++)
		pfs_digest_wait_pass(p->waits[i].instrument, &p->waits[i].counts);
}

/* The same of all that it has. */
static void
pass_item(const PfsPendingDigest *p)
{
	mine->passed_statements += p->counters.time.count_timed + p->counters.time.count_untimed;
	mine->passed_ticks += p->counters.time.sum + p->extra;
	pass_waits(p);
}

/* Empties a place, which is free then. */
static void
clear_item(PfsPendingDigest *p)
{
	pfs_store_relaxed(&p->key.query_id, 0);
	mine->tags[p - mine->items] = 0;
	p->nwaits = 0;
	p->nrows = 0;
	p->extra = 0;
	memset(&p->plans, 0, sizeof(p->plans));
	memset(&p->counters, 0, sizeof(p->counters));
	memset(p->buckets, 0, sizeof(p->buckets));
}

/*
 * Drops what is older than the truncations that have happened since this process looked
 * last; inside the section of seq.  False: a truncator may still have to count it.  It has
 * announced itself (`held`) before it said what it truncates and raised the generation, and
 * takes that back when it has counted.  So what it truncates is read first: of one that is
 * not seen by `held` nothing is in it.
 */
static pg_noinline bool
apply_truncations(uint64 generation)
{
	uint64		truncated[PFS_NUM_DIGEST_PARTS];

	for (int part = 0; part < PFS_NUM_DIGEST_PARTS; part++)
		truncated[part] = pfs_load_acquire(&pfs_shared_digests->truncated[part]);
	if (pfs_load_acquire(&pfs_shared_digests->held) != 0)
		return false;
	for (int i = 0; i < PFS_PENDING_DIGESTS; i++)
	{
		PfsPendingDigest *p = &mine->items[i];

		/* A free one has nothing in it, and its page is perhaps not there. */
		if (mine->tags[i] == 0)
			continue;
		if (truncated[PFS_DIGEST_ALL] > mine->generation)
		{
			pass_item(p);
			clear_item(p);
		}
		if (truncated[PFS_DIGEST_PART_BUCKETS] > mine->generation)
			memset(p->buckets, 0, sizeof(p->buckets));
		if (truncated[PFS_DIGEST_PART_WAITS] > mine->generation)
		{
			pass_waits(p);
			p->nwaits = 0;
		}
		if (truncated[PFS_DIGEST_PART_ROWS] > mine->generation)
			p->nrows = 0;
	}
	pfs_store_relaxed(&mine->generation, generation);
	return true;
}

/* ---- flushing ---- */

/* Adds a place's buckets, nearly all of which are empty: they are looked at by words. */
static inline void
flush_buckets(const PfsPendingDigest *p, PfsDigest *d)
{
	uint64		several;

	for (int first = 0; first < PFS_HISTOGRAM_BUCKETS; first += sizeof(several))
	{
		memcpy(&several, &p->buckets[first], sizeof(several));
		if (several == 0)
			continue;
		for (int b = first; b < first + (int) sizeof(several); b++)
		{
			if (p->buckets[b] == 0)
				continue;
			if (!pfs_digest_move_is_wanted())
				return;
			pfs_add_relaxed(&d->buckets[b], p->buckets[b]);
		}
	}
}

/* Adds what its statements have taken and counted. */
static inline void
flush_counters(const PfsPendingDigest *p, PfsSharedStatementCell *to)
{
	PfsTotals	time = {0};

	pfs_totals_add_cell(&time, &p->counters.time);
	pfs_shared_cell_merge(&to->time, &time);
	pfs_shared_statement_add(to, p->counters.n, p->counters.memory);
	if (PFS_HAVE_PLAN_ORIGIN)
	{
		pfs_add_relaxed(&to->plans.generic, p->plans.generic);
		pfs_add_relaxed(&to->plans.custom, p->plans.custom);
	}
}

/*
 * Adds a place's numbers to its digest, or to all others if that was evicted, and frees the
 * place.  False: a reader or truncator forbids it, or the numbers are older than a truncation
 * that has happened since this section began.
 */
static bool
flush(PfsPendingDigest *p)
{
	PfsCachedDigest *cached = pfs_digest_enter(&p->key, false);
	PfsDigest  *d = cached != NULL ? cached->digest : &pfs_shared_digests->others;
	bool		may = pfs_digest_begin_move();

	if (may && unlikely(pfs_load_acquire(&pfs_words->digest_truncations) != mine->generation))
	{
		pfs_digest_end_move();
		may = false;
	}
	if (may)
	{
		if (pfs_digest_move_is_wanted())
			flush_counters(p, &d->counters);
		flush_buckets(p, d);
		for (uint32 i = 0; i < p->nwaits && pfs_digest_move_is_wanted(); i++)
			pfs_digest_wait_put(cached, p->waits[i].instrument, &p->waits[i].counts);
		for (uint32 i = 0; i < p->nrows && pfs_digest_move_is_wanted(); i++)
			pfs_digest_rows_put(cached, &p->rows[i]);
		if (cached == NULL)
			pfs_digest_note_others(p->last_seen, p->last_offset.value, p->last_seen, &p->last_offset);
		else if (p->last_seen > pfs_load_relaxed(&d->last_seen))
		{
			pfs_store_relaxed(&d->last_seen, p->last_seen);
			pfs_digest_offset_store(&d->last_offset, p->last_offset.taken, p->last_offset.value);
		}
		if (cached != NULL)
			(void) pfs_add_relaxed(&d->extra, p->extra);
		pass_item(p);
		clear_item(p);
		pfs_digest_end_move();
	}
	pfs_digest_leave(cached);
	return may;
}

/* ---- counting ---- */

static inline uint8
tag_of(uint64 query_id)
{
	return query_id >> 56 | 1;
}

/* The place of a digest; NULL: it has none. */
static inline PfsPendingDigest *
place_of(const PfsDigestKey *key)
{
	uint8		tag = tag_of(key->query_id);
	uint8	   *last = &lately[key->query_id % LATELY];
	PfsPendingDigest *found = &mine->items[*last];

	if (likely(mine->tags[*last] == tag && pfs_digest_same_key(&found->key, key)))
		return found;
	for (int i = 0; i < PFS_PENDING_DIGESTS; i++)
	{
		PfsPendingDigest *p = &mine->items[i];

		if (mine->tags[i] == tag && pfs_digest_same_key(&p->key, key))
		{
			*last = i;
			return p;
		}
	}
	return NULL;
}

/* Makes a place that of all others, which have a record that never goes. */
static void
link_others(PfsPendingDigest *p)
{
	static const uint64 no_state = 0;
	static PfsDigestRefSlot no_slot;

	p->state = &no_state;
	p->word = 0;
	p->ref_slot = &no_slot;
	p->last_offset = pfs_digest_offset_load(&pfs_shared_digests->others.last_offset);
	p->lacks_text = false;
}

/* Makes a place that of a digest; false: this has no record. */
static bool
link_digest(PfsPendingDigest *p, const PfsDigestEnd *end)
{
	PfsCachedDigest *cached = pfs_digest_enter(&end->key, true);
	PfsDigest  *d;

	if (cached == NULL)
		return false;
	d = cached->digest;
	/* It was made at the end of its first statement, a little after that. */
	if (unlikely(end->now < pfs_load_relaxed(&d->first_seen)))
		pfs_store_relaxed(&d->first_seen, end->now);
	p->state = cached->state;
	p->word = cached->word;
	p->ref_slot = cached->ref_slot;
	p->last_offset = pfs_digest_offset_load(&d->last_offset);
	p->sample_seen = pfs_load_relaxed(&d->sample_seen);
	p->sample_ticks = pfs_load_relaxed(&d->sample_ticks);
	p->lacks_text = true;
	pfs_digest_leave(cached);
	return true;
}

/*
 * Takes the first free place for a digest, or that of another one, which is flushed.
 * NULL: the digest has no record, or no place can be had.
 */
static pg_noinline PfsPendingDigest *
take(const PfsDigestEnd *end)
{
	PfsPendingDigest *p = NULL;

	for (int i = 0; i < PFS_PENDING_DIGESTS && p == NULL; i++)
	{
		if (mine->tags[i] == 0)
			p = &mine->items[i];
	}
	if (p == NULL)
	{
		p = &mine->items[mine->next++ % PFS_PENDING_DIGESTS];
		if (!flush(p))
			return NULL;
	}
	if (!pfs_digest_is_key(&end->key))
		link_others(p);
	else if (!link_digest(p, end))
		return NULL;
	p->last_seen = end->now;
	p->key.db_user = end->key.db_user;
	pfs_store_relaxed(&p->key.query_id, end->key.query_id);
	mine->tags[p - mine->items] = tag_of(end->key.query_id);
	return p;
}

/* Has the digest's record gone? */
static inline bool
is_gone(const PfsPendingDigest *p)
{
	return unlikely(pfs_load_relaxed(p->state) != p->word);
}

/*
 * The place of a digest, with room for one more statement; NULL: none at this moment.  A fetch needs no
 * room, and takes no place.
 */
static inline PfsPendingDigest *
find(const PfsDigestEnd *end, uint32 bucket)
{
	PfsPendingDigest *p = place_of(&end->key);

	if (unlikely(end->is_fetch))
		return p != NULL && !is_gone(p) ? p : NULL;
	if (likely(p != NULL && !is_gone(p) && p->buckets[bucket] != PG_UINT8_MAX))
		return p;
	if (p != NULL && !flush(p))
		return NULL;
	return take(end);
}

/* Where a place counts waits of this instrument; NULL: there is no room for them. */
static inline PfsPendingWait *
waits_of(PfsPendingDigest *p, uint32 instrument)
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
	w->counts = (PfsCounts)
	{
		.min = PG_UINT64_MAX
	};
	return w;
}

/*
 * Takes the waits of the process's table into a place.  Kinds that find no room stay in
 * the table.  Nobody counts one meanwhile, as this is a write section.
 */
static pg_attribute_always_inline void
take_waits(PfsPendingDigest *p)
{
	PfsDigestWait *items = pfs_local.waits;
	uint64		left = 0;

	for (uint64 used = pfs_local.waits_used; used != 0; used &= used - 1)
	{
		PfsDigestWait *from = &items[__builtin_ctzll(used)];
		PfsPendingWait *to = waits_of(p, from->key - 1);

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
count_plan(PfsPendingDigest *p, uint8 origin)
{
	if (origin == PFS_PLAN_GENERIC)
		p->plans.generic++;
	else if (origin == PFS_PLAN_CUSTOM)
		p->plans.custom++;
}

/*
 * Counts a statement in the place of its digest, if it has one or gets one; false: not at this
 * moment.  Everything lies between two steps of `seq`, so that a reader gets all of a statement
 * or nothing.
 */
static bool
count_in_place(const PfsDigestEnd *end, bool with_waits)
{
	uint32		bucket = pfs_histogram_bucket(end->ticks);
	uint64		generation;
	PfsPendingDigest *p = NULL;

	if (unlikely(mine == NULL))
		mine = pfs_thread_sets_take(&pfs_pending_digests, pfs_my_thread);
	if (unlikely(mine == NULL))
		return false;
	pfs_seqlock_write_begin(&mine->seq);
	pfs_fence_signal();

	/*
	 * The load comes after these two stores; the other side is in
	 * pfs_digest_truncate.c.
	 */
	generation = pfs_load_acquire(&pfs_words->digest_truncations);
	if (likely(generation == mine->generation) || apply_truncations(generation))
		p = find(end, bucket);
	if (likely(p != NULL))
	{
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
			count_plan(p, end->plan_origin);
		p->last_seen = end->now;
		pfs_digest_look_at_offset(&p->last_offset, end->now);
		if (with_waits)
			take_waits(p);
		if (unlikely(pfs_digest_rows_used != 0))
			pfs_digest_rows_take(&end->key, p->rows, &p->nrows, PFS_PENDING_DIGEST_ROWS);
		pfs_digest_raise_usage(p->ref_slot);
		if (unlikely(end->sample != NULL && pfs_digest_wants_sample(p->sample_ticks, p->sample_seen, end)))
			pfs_digest_take_sample(end, p->last_offset.value, &p->sample_seen, &p->sample_ticks);
		if (unlikely(p->lacks_text))
			p->lacks_text = pfs_digest_note_text(p->state - pfs_digests->state, end->key.query_id);
	}
	pfs_seqlock_write_end(&mine->seq);
	return p != NULL;
}

/*
 * Notes statements that were counted in no place of this process, so that what it has
 * counted altogether is still all of them.
 */
static void
pass_statements(uint64 statements, uint64 ticks)
{
	if (unlikely(mine == NULL))
		mine = pfs_thread_sets_take(&pfs_pending_digests, pfs_my_thread);
	if (mine == NULL)
	{
		pfs_left_begin();
		(void) pfs_add_relaxed(&pfs_left->statements, statements);
		(void) pfs_add_relaxed(&pfs_left->statement_ticks, ticks);
		pfs_left_end();
		return;
	}
	pfs_seqlock_write_begin(&mine->seq);
	mine->passed_statements += statements;
	mine->passed_ticks += ticks;
	pfs_seqlock_write_end(&mine->seq);
}

/* Counts the execution of a statement, and its time, in a record. */
static void
count_in_record(PfsDigest *d, const PfsDigestEnd *end)
{
	if (unlikely(end->is_fetch))
	{
		if (end->timed)
			pfs_shared_sum_add(&d->counters.time.sum_low, &d->counters.time.sum_high, end->ticks);
		return;
	}
	pfs_count_plan(&d->counters, end->plan_origin);
	if (end->timed)
		pfs_add_relaxed(&d->buckets[pfs_histogram_bucket(end->ticks)], 1);
	pfs_shared_cell_add(&d->counters.time, end->timed, end->ticks);
}

/*
 * Adds a statement to its digest's record, or to all others: where the process has no
 * place for its numbers.  A fetch makes no digest: if its query's has gone, so has what that counted.
 */
static pg_noinline void
count_at_once(const PfsDigestEnd *end, bool with_waits)
{
	PfsCachedDigest *cached = pfs_digest_is_key(&end->key) ? pfs_digest_enter(&end->key, !end->is_fetch) : NULL;
	PfsDigest  *d = cached != NULL ? cached->digest : &pfs_shared_digests->others;

	pfs_shared_statement_add(&d->counters, end->n, end->memory);
	count_in_record(d, end);
	pass_statements(end->is_fetch ? 0 : 1, end->timed ? end->ticks : 0);
	if (with_waits)
		pfs_digest_waits_give(cached);
	if (cached == NULL)
	{
		PfsDigestOffset offset = pfs_digest_offset_load(&d->last_offset);

		pfs_digest_look_at_offset(&offset, end->now);
		pfs_digest_note_others(end->now, offset.value, end->now, &offset);
		return;
	}
	pfs_store_relaxed(&d->last_seen, end->now);
	pfs_digest_look_at_offset(&d->last_offset, end->now);
	/* It was made at the end of its first statement, a little after that. */
	if (end->now < pfs_load_relaxed(&d->first_seen))
		pfs_store_relaxed(&d->first_seen, end->now);
	pfs_digest_raise_usage(cached->ref_slot);
	if (end->sample != NULL &&
		pfs_digest_wants_sample(pfs_load_relaxed(&d->sample_ticks), pfs_load_relaxed(&d->sample_seen), end))
		pfs_digest_put_sample(d, end, d->last_offset.value);
	(void) pfs_digest_note_text(cached->state - pfs_digests->state, end->key.query_id);
	pfs_digest_leave(cached);
}

/* Counts a statement that has ended: it becomes the sample if it is the slowest or that is old. */
static inline void
count(const PfsDigestEnd *end, bool with_waits)
{
	if (unlikely(!count_in_place(end, with_waits)))
		count_at_once(end, with_waits);
	else if (unlikely(with_waits && pfs_local.waits_used != 0))
	{
		if (pfs_digest_is_key(&end->key))
			pfs_digest_waits_give_to(&end->key, true);
		else
			pfs_digest_waits_give(NULL);
	}
}

/*
 * Counts a statement that has ended, and its waits, for its digest, or without one for all others; inside the
 * owner's write section.
 */
void
pfs_digest_count(const PfsStatement *s, const PfsStatementEvent *e, uint64 at, bool with_waits)
{
	PfsDigestEnd end = {
		.key = s->query_id != 0 ? pfs_digest_key(s->database, s->user, s->query_id) : pfs_digest_key_of_others,
		.n = s->n,
		.memory = s->memory,
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
	count(&end, with_waits);
}

/* Counts it where this is rare: a digest without a place, a sample, a text.  slot: one that nobody uses. */
static pg_noinline void
count_plain_any(const PfsStoredStatement *e, PfsStatementEvent *slot, uint64 now, uint64 ticks)
{
	PfsDigestEnd end = {
		.key = pfs_digest_key(e->database, e->user, e->query_id),
		.n = slot->n,
		.plan_origin = e->plan_origin,
		.timed = true,
		.sample = e->text_len > 0 ? slot : NULL,
		.now = now,
		.ticks = ticks,
	};

	pfs_statement_event_unpack(e, (PfsEvent *) slot);
	count(&end, true);
}

/*
 * Counts a plain statement.  The place of its digest is there; the statement is no sample, and fits.
 */
void
pfs_digest_count_plain(const PfsStoredStatement *e, const uint64 *rare, PfsStatementEvent *slot, uint64 now,
					   uint64 ticks, uint32 bucket)
{
	PfsDigestKey key = pfs_digest_key(e->database, e->user, e->query_id);
	PfsPendingDigests *set = mine;
	PfsPendingDigest *p = likely(set != NULL) ? place_of(&key) : NULL;

	if (unlikely(p == NULL || is_gone(p) || p->buckets[bucket] == PG_UINT8_MAX ||
				 p->lacks_text || ticks > p->sample_ticks || now - p->sample_seen > pfs_sample_age ||
				 p->counters.time.count_timed == 0))
	{
		count_plain_any(e, slot, now, ticks);
		return;
	}
	pfs_seqlock_write_begin(&set->seq);
	pfs_fence_signal();
	/* As in count_in_place(). */
	if (unlikely(pfs_load_acquire(&pfs_words->digest_truncations) != set->generation))
	{
		pfs_seqlock_write_end(&set->seq);
		count_plain_any(e, slot, now, ticks);
		return;
	}
	pfs_cell_add(&p->counters.time, ticks);
	p->buckets[bucket]++;
	pfs_counters_add_parts(p->counters.n, e->n, rare);
	if (PFS_HAVE_PLAN_ORIGIN)
		count_plan(p, e->plan_origin);
	p->last_seen = now;
	pfs_digest_look_at_offset(&p->last_offset, now);
	take_waits(p);
	pfs_seqlock_write_end(&set->seq);
	pfs_digest_raise_usage(p->ref_slot);
	if (unlikely(pfs_local.waits_used != 0))
		pfs_digest_waits_give_to(&p->key, true);
}

bool
pfs_pending_digests_are_mine(void)
{
	return mine != NULL && mine->generation == pfs_load_relaxed(&pfs_words->digest_truncations);
}

/*
 * Adds time to a digest that no statement of it has taken, or takes some away: where
 * statements are nested, were not executed, or have parallel workers.  It goes to the
 * process's place of the digest, or to the record, if there is one; and without
 * either it counts for the process alone.
 */
void
pfs_pending_digests_add_time(PfsDigestKey key, int64 ticks, uint64 statements)
{
	PfsPendingDigest *p = NULL;
	PfsCachedDigest *cached;

	if (mine != NULL && key.query_id != 0)
		p = place_of(&key);
	if (p != NULL && !is_gone(p))
	{
		pfs_seqlock_write_begin(&mine->seq);
		p->extra += ticks;
		pfs_seqlock_write_end(&mine->seq);
		ticks = 0;
	}
	else if (key.query_id != 0)
	{
		cached = pfs_digest_enter(&key, false);
		if (cached != NULL)
		{
			(void) pfs_add_relaxed(&cached->digest->extra, ticks);
			pfs_digest_leave(cached);
		}
	}
	if (ticks != 0 || statements != 0)
		pass_statements(statements, ticks);
}
