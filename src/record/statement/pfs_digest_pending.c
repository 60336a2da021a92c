/*
 * pfs_digest_pending.c
 *	  The places in which a process counts statements: which one a digest has, moving what it has to the
 *	  digest's record and to the thread's totals, and dropping what has been truncated.
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

PFS_HOT PfsPendingDigests *pfs_my_digests = NULL;

void
pfs_pending_digests_lay_out(PfsSegment *seg)
{
	if (pfs_sizes.digests > 0)
		pfs_thread_sets_lay_out(&pfs_pending_digests, seg, sizeof(PfsPendingDigests));
}

bool
pfs_pending_digests_repair(void)
{
	if (pfs_my_digests == NULL || (pfs_my_digests->seq.word & 1) == 0)
		return false;
	pfs_seqlock_write_end(&pfs_my_digests->seq);
	return true;
}

/* ---- emptying ---- */

/* Notes that what a place has is going to be in it no more. */
static void
pass_item(const PfsPendingDigest *p)
{
	pfs_my_digests->passed_statements += p->counters.time.count_timed + p->counters.time.count_untimed;
	pfs_my_digests->passed_ticks += p->counters.time.sum + p->extra;
	for (uint32 i = 0; i < p->nwaits; i++)
		pfs_digest_wait_pass(p->waits[i].instrument, &p->waits[i].counts);
}

/*
 * Returns the first bucket of a place at or behind this one that has something; PFS_HISTOGRAM_BUCKETS: none has.
 * Nearly all are empty, so they are looked at by words.
 */
static int
next_bucket(const PfsPendingDigest *p, int b)
{
	uint64		several;

	for (; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (b % sizeof(several) == 0)
		{
			memcpy(&several, &p->buckets[b], sizeof(several));
			if (several == 0)
			{
				b += sizeof(several) - 1;
				continue;
			}
		}
		if (p->buckets[b] != 0)
			return b;
	}
	return PFS_HISTOGRAM_BUCKETS;
}

/*
 * Moves what a place has counted for its thread, too, to the thread's cell and histogram: from here on it is the
 * digest's alone.  Inside the section of seq, as readers look in both.
 */
static void
collect_place(PfsPendingDigest *p)
{
	if (p->instrument == PFS_NO_INSTRUMENT)
		return;
	pfs_statement_cell_add(pfs_my_thread, p->instrument, &p->counters);
	for (int b = next_bucket(p, 0); b < PFS_HISTOGRAM_BUCKETS; b = next_bucket(p, b + 1))
		pfs_count_statement_bucket(pfs_my_thread, b, p->buckets[b]);
	pfs_store_relaxed(&p->instrument, PFS_NO_INSTRUMENT);
}

/* Empties a place, which is free then. */
static void
clear_item(PfsPendingDigest *p)
{
	collect_place(p);
	pfs_store_relaxed(&p->key.query_id, 0);
	pfs_my_digests->tags[p - pfs_my_digests->items] = 0;
	p->usual_ticks = 0;
	p->nwaits = 0;
	p->nrows = 0;
	p->extra = 0;
	memset(&p->plans, 0, sizeof(p->plans));
	memset(&p->counters, 0, sizeof(p->counters));
	memset(p->buckets, 0, sizeof(p->buckets));
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

/* Adds a place's numbers to a digest's record, cached NULL: to all others', as far as they still count. */
static void
add_to_record(const PfsPendingDigest *p, PfsCachedDigest *cached)
{
	PfsDigest  *d = cached != NULL ? cached->digest : &pfs_shared_digests->others;

	if (!pfs_pending_digest_counts(p, PFS_DIGEST_ALL) || !pfs_digest_move_is_wanted())
		return;
	flush_counters(p, &d->counters);
	if (pfs_pending_digest_counts(p, PFS_DIGEST_PART_BUCKETS))
	{
		for (int b = next_bucket(p, 0); b < PFS_HISTOGRAM_BUCKETS && pfs_digest_move_is_wanted(); b = next_bucket(p, b + 1))
			pfs_add_relaxed(&d->buckets[b], p->buckets[b]);
	}
	if (pfs_pending_digest_counts(p, PFS_DIGEST_PART_WAITS))
	{
		for (uint32 i = 0; i < p->nwaits && pfs_digest_move_is_wanted(); i++)
			pfs_digest_wait_put(cached, p->waits[i].instrument, &p->waits[i].counts);
	}
	if (pfs_pending_digest_counts(p, PFS_DIGEST_PART_ROWS))
	{
		for (uint32 i = 0; i < p->nrows && pfs_digest_move_is_wanted(); i++)
			pfs_digest_rows_put(cached, &p->rows[i]);
	}
	if (cached == NULL)
	{
		pfs_digest_note_others(p->last_seen, p->last_offset.value, p->last_seen, &p->last_offset);
		return;
	}
	if (p->last_seen > pfs_load_relaxed(&d->last_seen))
	{
		pfs_store_relaxed(&d->last_seen, p->last_seen);
		pfs_digest_offset_store(&d->last_offset, p->last_offset.taken, p->last_offset.value);
	}
	(void) pfs_add_relaxed(&d->extra, p->extra);
}

/*
 * Adds a place's numbers to its digest, or to all others if that was evicted, and frees the place.  False: a reader or
 * truncator forbids it, who may still have to count what the place has.
 */
static bool
flush(PfsPendingDigest *p)
{
	PfsCachedDigest *cached = pfs_digest_enter(&p->key, false);
	bool		may = pfs_digest_begin_move();

	if (may)
	{
		add_to_record(p, cached);
		pass_item(p);
		clear_item(p);
		pfs_digest_end_move();
	}
	pfs_digest_leave(cached);
	return may;
}

/* ---- which place ---- */

/* The first place of a digest, or the next one behind `last`, whatever is counted there; NULL: there is none. */
static PfsPendingDigest *
next_place_of(const PfsDigestKey *key, const PfsPendingDigest *last)
{
	for (int i = last == NULL ? 0 : last - pfs_my_digests->items + 1; i < PFS_PENDING_DIGESTS; i++)
	{
		if (pfs_my_digests->tags[i] == pfs_pending_digest_tag(key->query_id) &&
			pfs_digest_same_key(&pfs_my_digests->items[i].key, key))
			return &pfs_my_digests->items[i];
	}
	return NULL;
}

/* Remembers where the digest was found. */
PfsPendingDigest *
pfs_pending_digest_look(const PfsDigestKey *key, PfsInstrumentId instrument, uint64 generation)
{
	for (PfsPendingDigest *p = next_place_of(key, NULL); p != NULL; p = next_place_of(key, p))
	{
		if (p->instrument == instrument && p->generation == generation)
		{
			pfs_my_digests->lately[key->query_id % PFS_PENDING_LATELY] = p - pfs_my_digests->items;
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
take(const PfsDigestEnd *end, uint64 generation)
{
	PfsPendingDigest *p = NULL;

	for (int i = 0; i < PFS_PENDING_DIGESTS && p == NULL; i++)
	{
		if (pfs_my_digests->tags[i] == 0)
			p = &pfs_my_digests->items[i];
	}
	if (p == NULL)
	{
		p = &pfs_my_digests->items[pfs_my_digests->next++ % PFS_PENDING_DIGESTS];
		if (!flush(p))
			return NULL;
	}
	if (!pfs_digest_is_key(&end->key))
		link_others(p);
	else if (!link_digest(p, end))
		return NULL;
	p->last_seen = end->now;
	p->instrument = end->instrument;
	p->generation = generation;
	p->key.db_user = end->key.db_user;
	pfs_store_relaxed(&p->key.query_id, end->key.query_id);
	pfs_my_digests->tags[p - pfs_my_digests->items] = pfs_pending_digest_tag(end->key.query_id);
	return p;
}

/*
 * The place of a digest, with room for one more statement; NULL: none at this moment, or the thread has no cell
 * yet to which it would be flushed.  A fetch needs no room, and takes a place only if its query has one.
 */
static inline PfsPendingDigest *
find(const PfsDigestEnd *end, uint32 bucket, uint64 generation)
{
	PfsPendingDigest *p = pfs_pending_digest_of(&end->key, end->instrument, generation);

	if (unlikely(p == NULL) && end->instrument != PFS_NO_INSTRUMENT &&
		pfs_summary_chunk(pfs_my_thread, PFS_FAMILY_STATEMENTS, pfs_statement_cell(end->instrument)) == NULL)
		return NULL;
	if (unlikely(end->is_fetch))
	{
		const PfsPendingDigest *of_query = p != NULL ? p : next_place_of(&end->key, NULL);

		if (of_query == NULL || pfs_pending_digest_is_gone(of_query))
			return NULL;
		return p != NULL ? p : take(end, generation);
	}
	if (likely(p != NULL && !pfs_pending_digest_is_gone(p) && p->buckets[bucket] != PG_UINT8_MAX))
		return p;
	if (p != NULL && !flush(p))
		return NULL;
	return take(end, generation);
}

/* The process takes its set of places with its first statement. */
PfsPendingDigest *
pfs_pending_digest_begin(const PfsDigestEnd *end, uint32 bucket)
{
	if (unlikely(pfs_my_digests == NULL))
		pfs_my_digests = pfs_thread_sets_take(&pfs_pending_digests, pfs_my_thread);
	if (unlikely(pfs_my_digests == NULL))
		return NULL;
	if (likely(end->instrument != PFS_NO_INSTRUMENT))
		pfs_summary_look(pfs_my_thread, PFS_FAMILY_STATEMENTS);
	pfs_seqlock_write_begin(&pfs_my_digests->seq);
	pfs_fence_signal();

	/*
	 * The load comes after these two stores; the other side is in
	 * pfs_digest_truncate.c.
	 */
	return find(end, bucket, pfs_load_acquire(&pfs_words->digest_truncations));
}

/* Without places the process's statements have left at once. */
void
pfs_pending_digests_pass(uint64 statements, uint64 ticks)
{
	if (unlikely(pfs_my_digests == NULL))
		pfs_my_digests = pfs_thread_sets_take(&pfs_pending_digests, pfs_my_thread);
	if (pfs_my_digests == NULL)
	{
		pfs_left_begin();
		(void) pfs_add_relaxed(&pfs_left->statements, statements);
		(void) pfs_add_relaxed(&pfs_left->statement_ticks, ticks);
		pfs_left_end();
		return;
	}
	pfs_seqlock_write_begin(&pfs_my_digests->seq);
	pfs_my_digests->passed_statements += statements;
	pfs_my_digests->passed_ticks += ticks;
	pfs_seqlock_write_end(&pfs_my_digests->seq);
}

/* The time goes to the process's place of the digest, or to the record; without either it counts for the process alone. */
void
pfs_pending_digests_add_time(PfsDigestKey key, int64 ticks, uint64 statements)
{
	PfsPendingDigest *p = NULL;
	PfsCachedDigest *cached;

	if (pfs_my_digests != NULL && key.query_id != 0)
		p = next_place_of(&key, NULL);
	if (p != NULL && !pfs_pending_digest_is_gone(p))
	{
		pfs_seqlock_write_begin(&pfs_my_digests->seq);
		p->extra += ticks;
		pfs_seqlock_write_end(&pfs_my_digests->seq);
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
		pfs_pending_digests_pass(statements, ticks);
}

/* ---- the thread's totals ---- */

static const PfsSeqlock *
pending_lock(uint32 thread)
{
	const PfsPendingDigests *set = pfs_pending_digests_get(thread);

	return set != NULL ? &set->seq : NULL;
}

/* A place that is free has no instrument of the thread's. */
static bool
next_pending(uint32 thread, uint32 *i, PfsPendingCell *pending)
{
	const PfsPendingDigests *set = pfs_pending_digests_get(thread);

	for (; *i < PFS_PENDING_DIGESTS; (*i)++)
	{
		const PfsPendingDigest *p = &set->items[*i];
		PfsInstrumentId instrument;

		if (pfs_load_relaxed(&set->tags[*i]) == 0)
			continue;
		instrument = pfs_load_relaxed(&p->instrument);
		if (instrument == PFS_NO_INSTRUMENT)
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
	if (pfs_my_digests == NULL)
		return;
	pfs_seqlock_write_begin(&pfs_my_digests->seq);
	for (int i = 0; i < PFS_PENDING_DIGESTS; i++)
	{
		if (pfs_my_digests->tags[i] != 0)
			collect_place(&pfs_my_digests->items[i]);
	}
	pfs_seqlock_write_end(&pfs_my_digests->seq);
}

const PfsSummaryPending pfs_statement_pending = {
	.lock = pending_lock,
	.next = next_pending,
	.join = pfs_statement_cell_join,
	.collect = collect
};

/*
 * Adds all numbers to their digests when the process ends: its thread's totals go then, and who gets the places
 * next is another thread.  Those that a reader or truncator forbids to move stay, for their digests alone.
 */
void
pfs_pending_digests_detach(PfsThread *t)
{
	if (pfs_my_digests == NULL)
		return;
	pfs_seqlock_write_begin(&pfs_my_digests->seq);
	for (int i = 0; i < PFS_PENDING_DIGESTS; i++)
	{
		PfsPendingDigest *p = &pfs_my_digests->items[i];

		if (pfs_my_digests->tags[i] != 0 && !flush(p))
			collect_place(p);
	}
	pfs_seqlock_write_end(&pfs_my_digests->seq);
	pfs_my_digests = NULL;
}
