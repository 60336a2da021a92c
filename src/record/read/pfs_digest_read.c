/*
 * pfs_digest_read.c
 *	  Readers and truncators of digests.
 *
 * While they work, no process may move counters of digests, which eviction does
 * ("Readers" in pfs_digest.c); and they take turns (pfs_patience.h).  Between hold() and
 * release() nothing is allocated and no error can be raised, as nothing would take
 * `held` back.  Statements go on.
 *
 * A process that is in the middle of a move already is waited for.  If it is stopped
 * there, a reader finds the counters of one digest in the digest, in the row of all
 * others, or half of them in both; a truncator tells the process by `abandoned` to drop
 * the counters that it is moving.  A digest that is in use for longer than the
 * truncator's patience stays, with its counters reset: what its user is about to add
 * comes after the truncation.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_digest.h"
#include "pfs_digest_pending.h"
#include "pfs_fence.h"
#include "pfs_patience.h"
#include "pfs_shared.h"

/* How often a sample that is being written is read again. */
#define SAMPLE_TRIES 100

/*
 * Announces a reader or truncator, and waits until no process is in the middle of a
 * move.  Returns false if one is and does not go on within the patience. unblock_moves()
 * takes the announcement back in both cases.
 */
static bool
block_moves(PfsPatience *patience)
{
	pfs_add_seqcst(&pfs_shared_digests->held, 1);
	pfs_fence_seqcst();			/* pairs with the one in pfs_digest_evict() */
	while (pfs_load_acquire(&pfs_shared_digests->moving) != 0)
	{
		if (!pfs_patience_more(patience))
			return false;
	}
	return true;
}

static void
unblock_moves(void)
{
	pfs_sub_seqcst(&pfs_shared_digests->held, 1);
}

/*
 * Takes the turn (alone: of a truncator) and keeps processes from moving counters of
 * digests.  Cancellation is possible only in here: until release() no interrupt is
 * served.
 */
static void
hold(bool alone, PfsPatience *patience)
{
	bool		held;

	pfs_turn_take(PFS_TURN_DIGESTS, alone);
	held = block_moves(patience);
	if (!held)
	{
		/* Perhaps because the command was cancelled. */
		unblock_moves();
		CHECK_FOR_INTERRUPTS();
		held = block_moves(patience);
	}
	if (!held && alone)
		pfs_add_seqcst(&pfs_shared_digests->abandoned, 1);
	HOLD_INTERRUPTS();
}

static void
release(bool alone, const PfsPatience *patience)
{
	unblock_moves();
	RESUME_INTERRUPTS();
	pfs_turn_give(PFS_TURN_DIGESTS, alone);
	pfs_patience_end(patience);
}

/* ---- what processes have not added to their digests yet ---- */

/*
 * Calls `each` for a private copy of every set of numbers that is not empty, while moves
 * are held off: so what is copied here is in no record, and stays out of all.  A process
 * that is stopped in the middle of a change is waited for, within the patience; then what
 * is there is taken as it is.
 */
static void
each_pending(void (*each) (const PfsPendingDigest *p, uint64 generation, void *arg), void *arg, PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const PfsPendingDigests *pending = &pfs_pending_digests[i];

		for (int k = 0; k < PFS_PENDING_DIGESTS && pfs_load_relaxed(&pfs_pending_used[i]) != 0; k++)
		{
			const PfsPendingDigest *from = &pending->items[k];
			PfsPendingDigest copy;
			uint64		generation;
			uint64		word;

			if (pfs_load_relaxed(&from->key.query_id) == 0)
				continue;
			pfs_patience_next(patience);
			do
			{
				word = pfs_seqlock_read_begin(&pending->seq);
				generation = pfs_load_relaxed(&pending->generation);
				pfs_racy_copy(&copy, from, sizeof(copy));
			} while (!pfs_seqlock_read_valid(&pending->seq, word) && pfs_patience_more(patience));
			if (copy.key.query_id != 0)
				each(&copy, generation, arg);
		}
	}
}

/* Do numbers of this generation still count for a part, behind its last truncation? */
static bool
is_current(uint64 generation, PfsDigestPart part)
{
	return generation >= pfs_shared_digests->truncated[PFS_DIGEST_ALL] &&
		generation >= pfs_shared_digests->truncated[part];
}

/* ---- rows ---- */

/* One raw copy: the head, the texts, the sample. */
typedef struct Copies
{
	char	   *mem;
	uint32		n;
	uint32	   *number_of;		/* by record: of its copy + 1; 0: none */
	Size		stride;
	Size		head;			/* bytes of PfsDigest that are copied */
	Size text;					/* offsets, from the copy's begin */
	Size		sample;
} Copies;

/*
 * Copies a digest's sample query, with its time and its length, into one raw copy.
 * A sample that is being written at every try is left out: the copy then says that
 * there is none.
 */
static void
copy_sample(const Copies *c, char *to, const PfsDigest *d)
{
	PfsDigest  *copy = (PfsDigest *) to;

	for (int i = 0; i < SAMPLE_TRIES; i++)
	{
		uint64		word = pfs_seqlock_read_begin(&d->sample);

		copy->sample_seen = pfs_load_relaxed(&d->sample_seen);
		copy->sample_ticks = pfs_load_relaxed(&d->sample_ticks);
		copy->sample_offset = pfs_load_relaxed(&d->sample_offset);
		copy->sample_len = Min(pfs_load_relaxed(&d->sample_len), pfs_sizes.sql_text);
		memcpy(to + c->sample, d->texts + pfs_sizes.digest_text, copy->sample_len);
		if (pfs_seqlock_read_valid(&d->sample, word))
			return;
		pfs_pause();
	}
	copy->sample_len = 0;
	copy->sample_seen = 0;
}

/*
 * Makes a raw copy of every digest, with the parts that are wanted.  Called while
 * moves are held off, so it allocates nothing: pfs_digests_read() has reserved space
 * for as many digests as there can be.
 */
static void
copy_all(Copies *c, int parts)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	while ((index = pfs_pages_next(pfs_digests, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests, index);
		char	   *to = c->mem + c->n * c->stride;
		PfsDigest  *copy = (PfsDigest *) to;

		memcpy(to, d, c->head);
		if (parts & PFS_DIGEST_TEXT)
			copy->text_len = pfs_digest_copy_text(d, to + c->text);
		if (parts & PFS_DIGEST_SAMPLE)
			copy_sample(c, to, d);
		c->n++;
		c->number_of[index] = c->n;
	}
}

/* Adds what a process has counted to the copy of its digest, or to that of all others. */
static void
add_pending_cb(const PfsPendingDigest *p, uint64 generation, void *arg)
{
	Copies	   *c = arg;
	uint64		word;
	uint32		index = pfs_digest_find(&p->key, &word);
	uint32		number = index != PFS_NO_RECORD && c->number_of[index] != 0 ? c->number_of[index] - 1 : c->n;
	PfsDigest  *copy = (PfsDigest *) (c->mem + number * c->stride);
	PfsStatementTotals totals = {0};

	if (!is_current(generation, PFS_DIGEST_ALL))
		return;
	pfs_statement_kind.add(&totals, &p->counters);
	totals.plans = p->plans;
	pfs_statement_kind.merge(&copy->counters, &totals);
	for (int b = 0; c->head > offsetof(PfsDigest, buckets) && b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (is_current(generation, PFS_DIGEST_PART_BUCKETS))
			copy->buckets[b] += p->buckets[b];
	}
	if (copy->first_seen == 0 || p->last_seen < copy->first_seen)
	{
		copy->first_seen = p->last_seen;
		copy->first_offset = p->last_offset.value;
	}
	if (p->last_seen > copy->last_seen)
	{
		copy->last_seen = p->last_seen;
		copy->last_offset = p->last_offset;
	}
}

/*
 * Turns a raw copy into a row and hands it to emit, unless it has counted no
 * statement.  The row points into the copy.
 */
static void
emit_copy(const Copies *c, const char *from, int parts, PfsDigestEmit emit, void *arg)
{
	const PfsDigest *copy = (const PfsDigest *) from;
	PfsDigestRow row = {.key = copy->key};

	pfs_statement_kind.read(&copy->counters, &row.totals);
	if (pfs_totals_count(&row.totals.time) == 0)
		return;
	row.first_seen = pfs_clock_timestamp(copy->first_seen, copy->first_offset);
	row.last_seen = Max(pfs_clock_timestamp(copy->last_seen, copy->last_offset.value), row.first_seen);
	if (parts & PFS_DIGEST_BUCKETS)
		row.buckets = copy->buckets;
	if ((parts & PFS_DIGEST_TEXT) && copy->text_len > 0)
	{
		row.text = from + c->text;
		row.text_len = copy->text_len;
	}
	if ((parts & PFS_DIGEST_SAMPLE) && copy->sample_seen != 0)
	{
		row.sample = from + c->sample;
		row.sample_len = copy->sample_len;
		row.sample_seen = pfs_clock_timestamp(copy->sample_seen, copy->sample_offset);
		row.sample_ticks = copy->sample_ticks;
	}
	emit(&row, arg);
}

/*
 * Hands a row for each digest, and one for all statements without a digest of their
 * own, to emit. parts says what is copied besides the totals: text, sample query,
 * histogram.  Everything is copied first and turned into rows after release(), as
 * emit allocates.  The copies stay until the caller's memory context goes, because
 * rows point into them.
 */
void
pfs_digests_read(int parts, PfsDigestEmit emit, void *arg)
{
	PfsPatience patience = {0};
	Copies		c = {0};
	PfsDigest  *others;

	if (pfs_digests == NULL || pfs_sizes.digests == 0)
		return;
	c.head = (parts & PFS_DIGEST_BUCKETS) ? offsetof(PfsDigest, texts) : offsetof(PfsDigest, buckets);
	c.text = c.head;
	c.sample = c.text +((parts & PFS_DIGEST_TEXT) ? pfs_sizes.digest_text : 0);
	c.stride = TYPEALIGN(8, c.sample + ((parts & PFS_DIGEST_SAMPLE) ? pfs_sizes.sql_text : 0));
	/* Memory that is not used costs nothing. */
	c.mem = MemoryContextAllocHuge(CurrentMemoryContext, (pfs_sizes.digests + 1) * c.stride);
	c.number_of = palloc0(pfs_sizes.digests * sizeof(uint32));

	hold(false, &patience);
	copy_all(&c, parts);
	others = (PfsDigest *) (c.mem + c.n * c.stride);
	memset(others, 0, c.head);
	others->counters = pfs_shared_digests->counters;
	others->first_seen = pfs_shared_digests->first_seen;
	others->last_seen = pfs_shared_digests->last_seen;
	others->first_offset = pfs_shared_digests->first_offset;
	others->last_offset = pfs_shared_digests->last_offset;
	if (parts & PFS_DIGEST_BUCKETS)
		memcpy(others->buckets, pfs_shared_digests->buckets, sizeof(others->buckets));
	each_pending(add_pending_cb, &c, &patience);
	release(false, &patience);

	for (uint32 i = 0; i <= c.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		emit_copy(&c, c.mem + i * c.stride, parts, emit, arg);
	}
}

typedef struct WaitCopy
{
	PfsDigestKey key;
	uint32		instrument;
	PfsSharedCell cell;
} WaitCopy;

/*
 * Copies the wait cells of all digests, then those of statements without a digest;
 * returns how many.  PFS_NO_INSTRUMENT stands for all instruments.
 *
 * No cell is in two chains, so the caller's array has space for all; but a chain
 * that is being moved by a process that was not waited for can lead anywhere.
 */
static uint32
copy_waits(WaitCopy *to, PfsInstrumentId instrument)
{
	uint32		pos = 0;
	uint32		index;
	uint64		word;
	uint32		n = 0;

	while ((index = pfs_pages_next(pfs_digests, &pos, &word)) != PFS_NO_RECORD)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests, index);

		for (uint32 link = pfs_load_acquire(&d->waits);
			 link != 0 && link <= pfs_digest_waits->records_max && n < pfs_digest_waits->records_max;
			 link = pfs_chain_at(pfs_digest_waits, link)->next)
		{
			const PfsChained *cell = pfs_chain_at(pfs_digest_waits, link);

			if (instrument != PFS_NO_INSTRUMENT && cell->key != instrument)
				continue;
			to[n].key = d->key;
			to[n].instrument = cell->key;
			to[n++].cell = cell->cell;
		}
	}
	for (uint32 i = pfs_shared_block_next(&pfs_digest_other_waits, 0); i < pfs_digest_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_digest_other_waits, i + 1))
	{
		if (instrument != PFS_NO_INSTRUMENT && i != instrument)
			continue;
		memset(&to[n].key, 0, sizeof(to[n].key));
		to[n].instrument = i;
		to[n++].cell = *(const PfsSharedCell *) pfs_shared_block_cell(&pfs_digest_other_waits, i);
	}
	return n;
}

/* What add_pending_waits_cb() adds to: the copies of waits, and which are wanted. */
typedef struct WaitCopies
{
	WaitCopy   *items;
	uint32		n;
	PfsInstrumentId instrument;
} WaitCopies;

/* Appends the waits that a process has counted for a digest, which may have a copy already. */
static void
add_pending_waits_cb(const PfsPendingDigest *p, uint64 generation, void *arg)
{
	WaitCopies *c = arg;
	uint64		word;
	bool		is_there = pfs_digest_find(&p->key, &word) != PFS_NO_RECORD;

	if (!is_current(generation, PFS_DIGEST_PART_WAITS))
		return;
	for (uint32 i = 0; i < Min(p->nwaits, PFS_PENDING_WAITS); i++)
	{
		const PfsPendingWait *w = &p->waits[i];
		WaitCopy   *to = &c->items[c->n];

		if (c->instrument != PFS_NO_INSTRUMENT && w->instrument != c->instrument)
			continue;
		memset(to, 0, sizeof(*to));
		if (is_there)
			to->key = p->key;
		to->instrument = w->instrument;
		if (w->timed != 0)
			pfs_shared_cell_add_timed(&to->cell, w->timed, w->sum, w->min, w->max);
		to->cell.count_untimed = w->untimed;
		c->n++;
	}
}

/* Orders copies by digest and instrument. */
static int
compare_waits(const void *a, const void *b)
{
	const WaitCopy *x = a;
	const WaitCopy *y = b;

	if (x->key.query_id != y->key.query_id)
		return x->key.query_id < y->key.query_id ? -1 : 1;
	if (x->key.db_user != y->key.db_user)
		return x->key.db_user < y->key.db_user ? -1 : 1;
	return (x->instrument > y->instrument) - (x->instrument < y->instrument);
}

/*
 * Hands a row for each digest and instrument with waits to emit, for
 * events_waits_summary_by_digest.  The cells are copied while moves are held off,
 * and emit is called afterwards.
 */
void
pfs_digest_waits_read(PfsInstrumentId instrument, PfsDigestWaitEmit emit, void *arg)
{
	PfsPatience patience = {0};
	WaitCopies	copies = {.instrument = instrument};

	if (pfs_digests == NULL || pfs_sizes.digests == 0)
		return;
	copies.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(WaitCopy) *
										  ((Size) pfs_digest_waits->records_max + pfs_digest_other_waits.ncells +
										   (Size) pfs_sizes.threads * PFS_PENDING_DIGESTS * PFS_PENDING_WAITS));
	hold(false, &patience);
	copies.n = copy_waits(copies.items, instrument);
	each_pending(add_pending_waits_cb, &copies, &patience);
	release(false, &patience);
	qsort(copies.items, copies.n, sizeof(WaitCopy), compare_waits);
	for (uint32 i = 0; i < copies.n;)
	{
		const WaitCopy *first = &copies.items[i];
		PfsDigestWaitRow row = {.key = first->key, .instrument = first->instrument};

		CHECK_FOR_INTERRUPTS();
		for (; i < copies.n && compare_waits(first, &copies.items[i]) == 0; i++)
			pfs_shared_cell_read(&copies.items[i].cell, &row.totals);
		if (pfs_totals_count(&row.totals) > 0)
			emit(&row, arg);
	}
	pfree(copies.items);
}

/* ---- truncators ---- */

/* What a truncation has taken. */
typedef struct Taken
{
	uint64		statements;
	uint64		waits;
	uint64		in_buckets;
} Taken;

/* What a truncation is about; before: the generations of those before it. */
typedef struct Truncation
{
	uint64		generation;
	uint64		before[PFS_NUM_DIGEST_PARTS];
	Taken	   *taken;
} Truncation;

/*
 * Counts what the truncation takes of the numbers of a process: those that are older than
 * it, and were not older than one before.
 */
static void
take_pending_cb(const PfsPendingDigest *p, uint64 generation, void *arg)
{
	const Truncation *t = arg;

	if (generation >= t->generation || generation < t->before[PFS_DIGEST_ALL])
		return;
	t->taken->statements += p->counters.time.count_timed + p->counters.time.count_untimed;
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS && generation >= t->before[PFS_DIGEST_PART_BUCKETS]; b++)
		t->taken->in_buckets += p->buckets[b];
	for (uint32 i = 0; i < Min(p->nwaits, PFS_PENDING_WAITS) && generation >= t->before[PFS_DIGEST_PART_WAITS]; i++)
		t->taken->waits += p->waits[i].timed + p->waits[i].untimed;
}

/* Waits until no process is in the middle of counting by the old generation. */
static void
wait_for_owners(PfsPatience *patience)
{
	for (uint32 i = 0; i < pfs_sizes.threads; i++)
	{
		const PfsSeqlock *lock = &pfs_pending_digests[i].seq;
		uint64		word = pfs_load_relaxed(&pfs_pending_used[i]) != 0 ? pfs_seqlock_read_begin(lock) : 0;

		pfs_patience_next(patience);
		while ((word & 1) != 0 && pfs_load_acquire(&lock->word) == word && pfs_patience_more(patience))
			;
	}
}

/*
 * Truncates what processes have not added to their digests yet.  Behind the fence a process
 * that still goes by the old generation shows an odd word.
 */
static void
truncate_pending(PfsDigestPart part, Taken *taken, PfsPatience *patience)
{
	uint64		generation = pfs_words->digest_truncations + 1;
	Truncation	t = {.generation = generation, .taken = taken};

	memcpy(t.before, pfs_shared_digests->truncated, sizeof(t.before));
	pfs_store_relaxed(&pfs_shared_digests->truncated[part], generation);
	pfs_store_release(&pfs_words->digest_truncations, generation);
	pfs_fence_everywhere();
	wait_for_owners(patience);
	each_pending(take_pending_cb, &t, patience);
}

static void
take_wait_cb(PfsChained *cell, void *arg)
{
	PfsTotals	totals = {0};

	pfs_shared_cell_take(&cell->cell, &totals);
	((Taken *) arg)->waits += pfs_totals_count(&totals);
}

static bool
take_cb(PfsDigest *d, void *arg)
{
	PfsStatementTotals totals = {0};

	pfs_statement_kind.read(&d->counters, &totals);
	((Taken *) arg)->statements += pfs_totals_count(&totals.time);
	pfs_chain_free(pfs_digest_waits, &d->waits, take_wait_cb, arg);
	return true;
}

static void
take_buckets(uint64 *buckets, Taken *taken)
{
	for (int b = 0; b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (pfs_load_relaxed(&buckets[b]) != 0)
			taken->in_buckets += pfs_exchange(&buckets[b], 0);
	}
}

/*
 * Empties the wait cells of a digest, which stay in its chain.  It is not called for
 * a digest that is marked dead: the process that marked it is about to free the
 * chain.
 */
static void
take_waits(PfsDigest *d, Taken *taken)
{
	uint32		n = 0;

	for (uint32 link = pfs_load_acquire(&d->waits);
		 link != 0 && link <= pfs_digest_waits->records_max && n < pfs_digest_waits->records_max;
		 link = pfs_chain_at(pfs_digest_waits, link)->next, n++)
		take_wait_cb(pfs_chain_at(pfs_digest_waits, link), taken);
}

/*
 * Takes all counters of a digest that cannot be removed, because a process that does
 * not go on refers to it.
 */
static void
empty_one(uint32 index, Taken *taken)
{
	PfsDigest  *d = pfs_pages_record(pfs_digests, index);
	PfsStatementTotals totals = {0};

	pfs_statement_kind.take(&d->counters, &totals);
	take_buckets(d->buckets, taken);
	if (pfs_ref_is_dead(&pfs_digest_ref_slots[index].ref))
		return;
	taken->statements += pfs_totals_count(&totals.time);
	take_waits(d, taken);
}

/*
 * Removes one digest and adds what it had counted to `taken`.  Waits, within the
 * patience, until nobody refers to it; then leaves the digest where it is and only
 * empties it.
 */
static void
remove_one(uint32 index, uint64 word, Taken *taken, PfsPatience *patience)
{
	pfs_patience_next(patience);
	do
	{
		if (pfs_digest_give_up(index, word, take_cb, taken) || pfs_pages_word(pfs_digests, index) != word)
			return;
	} while (pfs_patience_more(patience));
	empty_one(index, taken);
}

/* Empties the wait cells of statements without a digest. */
static void
take_other_waits(Taken *taken)
{
	for (uint32 i = pfs_shared_block_next(&pfs_digest_other_waits, 0); i < pfs_digest_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_digest_other_waits, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_take(pfs_shared_block_cell(&pfs_digest_other_waits, i), &totals);
		taken->waits += pfs_totals_count(&totals);
	}
}

/*
 * Takes what a truncation is about: of every digest, by take_one(), then of the statements
 * without one, by take_others().  What those add meanwhile is taken, or stays.  False:
 * there are no digests.
 */
static bool
take_all(PfsDigestPart part, void (*take_one) (uint32 index, uint64 word, Taken *taken, PfsPatience *patience),
		 void (*take_others) (Taken *taken), Taken *taken)
{
	PfsPatience patience = {.of_reset = true};
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	if (pfs_digests == NULL || pfs_sizes.digests == 0)
		return false;
	hold(true, &patience);
	truncate_pending(part, taken, &patience);
	while ((index = pfs_pages_next(pfs_digests, &pos, &word)) != PFS_NO_RECORD)
		take_one(index, word, taken, &patience);
	take_others(taken);
	release(true, &patience);
	return true;
}

static void
take_others(Taken *taken)
{
	PfsStatementTotals totals = {0};

	pfs_statement_kind.take(&pfs_shared_digests->counters, &totals);
	taken->statements += pfs_totals_count(&totals.time);
	take_buckets(pfs_shared_digests->buckets, taken);
	take_other_waits(taken);
	pfs_store_relaxed(&pfs_shared_digests->first_seen, 0);
}

/*
 * Removes all digests, with their waits and histograms; returns how many statements
 * that were.  TRUNCATE of events_statements_summary_by_digest.
 */
int64
pfs_digests_truncate(void)
{
	Taken		taken = {0};

	if (take_all(PFS_DIGEST_ALL, remove_one, take_others, &taken))
	{
		pfs_reset_time_note("events_statements_summary_by_digest");
		pfs_reset_time_note("events_statements_histogram_by_digest");
		pfs_reset_time_note("events_waits_summary_by_digest");
	}
	return (int64) taken.statements;
}

static void
take_buckets_of_one(uint32 index, uint64 word, Taken *taken, PfsPatience *patience)
{
	take_buckets(((PfsDigest *) pfs_pages_record(pfs_digests, index))->buckets, taken);
}

static void
take_other_buckets(Taken *taken)
{
	take_buckets(pfs_shared_digests->buckets, taken);
}

/*
 * Empties the histograms of all digests, and leaves the digests; returns how many
 * statements that were.  They are emptied in place: a digest cannot be evicted
 * meanwhile.  Its record can hold a new digest by then, whose histogram has nothing
 * that is older than the truncation.
 */
int64
pfs_digest_buckets_truncate(void)
{
	Taken		taken = {0};

	if (take_all(PFS_DIGEST_PART_BUCKETS, take_buckets_of_one, take_other_buckets, &taken))
		pfs_reset_time_note("events_statements_histogram_by_digest");
	return (int64) taken.in_buckets;
}

static void
take_waits_of_one(uint32 index, uint64 word, Taken *taken, PfsPatience *patience)
{
	take_waits(pfs_pages_record(pfs_digests, index), taken);
}

/*
 * Empties the waits of all digests, in place, and leaves the digests; returns how
 * many waits that were.  TRUNCATE of events_waits_summary_by_digest.
 */
int64
pfs_digest_waits_truncate(void)
{
	Taken		taken = {0};

	if (take_all(PFS_DIGEST_PART_WAITS, take_waits_of_one, take_other_waits, &taken))
		pfs_reset_time_note("events_waits_summary_by_digest");
	return (int64) taken.waits;
}

double
pfs_digests_estimate(void)
{
	return pfs_digests == NULL ? 0 : pfs_load_relaxed(&pfs_digests->used);
}

double
pfs_digest_waits_estimate(void)
{
	return pfs_digest_waits == NULL ? 0 : pfs_load_relaxed(&pfs_digest_waits->used);
}

/*
 * Returns a copy of the normalized text of a digest, for rows of statement events,
 * which remember the key alone.  Takes no turn: if the record was reused for another
 * digest while its text was copied, there is no text.
 */
char *
pfs_digest_text_of(const PfsDigestKey *key, uint32 *len)
{
	uint64		word;
	uint32		index;
	char	   *copy;

	if (pfs_digests == NULL || pfs_sizes.digests == 0 || key->query_id == 0)
		return NULL;
	index = pfs_digest_find(key, &word);
	if (index == PFS_NO_RECORD)
		return NULL;
	copy = palloc(pfs_sizes.digest_text + 1);
	*len = pfs_digest_copy_text(pfs_pages_record(pfs_digests, index), copy);
	pfs_fence_acquire();
	return *len > 0 && pfs_pages_word(pfs_digests, index) == word ? copy : NULL;
}
