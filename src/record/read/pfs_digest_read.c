/*
 * pfs_digest_read.c
 *	  Readers of digests: rows of statements and of waits, texts.
 *
 * Copies are made while no process moves counters (pfs_blocking_work()), and handed out
 * behind that.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_digest_pending.h"
#include "pfs_pending_read.h"
#include "pfs_shared.h"

/* One raw copy: the head, the texts, the sample. */
typedef struct Copies
{
	const PfsDigestSet *set;
	int			parts;			/* that are wanted */
	char	   *mem;			/* [digests + 1]; that of all others is the
								 * first */
	uint32		n;
	uint32	   *number_of;		/* by record: of its copy; 0: none */
	Size		stride;
	Size		head;			/* bytes of PfsDigest that are copied */
	Size		text;			/* offsets, from the copy's begin */
	Size		sample;
	PfsPatience *patience;		/* with processes that write texts and samples */
} Copies;

/*
 * Copies the text of a digest's record and returns its length; 0: there is none, or
 * whoever writes it did not come to an end.  `to` has set->text bytes.
 */
static uint32
copy_text(const PfsDigestSet *set, const PfsDigest *d, char *to, PfsPatience *patience)
{
	pfs_patience_next(patience);
	do
	{
		uint32		before = pfs_load_acquire(&d->text_state);

		if (before == PFS_TEXT_NONE)
			return 0;
		if (before == PFS_TEXT_PROVISIONAL || before == PFS_TEXT_READY)
		{
			uint32		len = Min(pfs_load_relaxed(&d->text_len), set->text);

			memcpy(to, d->texts, len);
			pfs_fence_acquire();
			if (pfs_load_relaxed(&d->text_state) == before)
				return len;
		}
	} while (pfs_patience_more(patience));
	return 0;
}

/*
 * Copies a digest's sample query, with its time and its length, into one raw copy.
 * A sample that stays being written is left out: the copy then says that there is
 * none.
 */
static void
copy_sample(Copies *c, char *to, const PfsDigest *d)
{
	PfsDigest  *copy = (PfsDigest *) to;

	pfs_patience_next(c->patience);
	do
	{
		uint64		word = pfs_seqlock_read_begin(&d->sample);

		copy->sample_seen = pfs_load_relaxed(&d->sample_seen);
		copy->sample_ticks = pfs_load_relaxed(&d->sample_ticks);
		copy->sample_offset = pfs_load_relaxed(&d->sample_offset);
		copy->sample_len = Min(pfs_load_relaxed(&d->sample_len), pfs_sizes.sql_text);
		memcpy(to + c->sample, d->texts + pfs_sizes.digest_text, copy->sample_len);
		if (pfs_seqlock_read_valid(&d->sample, word))
			return;
	} while (pfs_patience_more(c->patience));
	copy->sample_len = 0;
	copy->sample_seen = 0;
}

static inline PfsDigest *
copy_at(const Copies *c, uint32 number)
{
	return (PfsDigest *) (c->mem + number * c->stride);
}

/*
 * Makes a raw copy of a digest, with the parts that are wanted.  No record is another digest's
 * meanwhile, so pfs_digests_read() has space for all.
 */
static void
copy_one(Copies *c, uint32 index)
{
	const PfsDigest *d = pfs_pages_record(c->set->pages, index);
	PfsDigest  *copy = copy_at(c, c->n);

	memcpy(copy, d, c->head);
	if (c->parts & PFS_DIGEST_TEXT)
	{
		copy->text_len = copy_text(c->set, d, (char *) copy + c->text, c->patience);
		copy->plan = d->plan;
	}
	if (c->parts & PFS_DIGEST_SAMPLE)
		copy_sample(c, (char *) copy, d);
	c->number_of[index] = c->n++;
}

/*
 * Adds what a process has counted to the copy of its digest, which may have been made since
 * all were copied, or to that of all others.
 */
static void
add_pending_cb(const PfsPending *place, void *arg)
{
	const PfsPendingDigest *p = (const PfsPendingDigest *) place;
	Copies	   *c = arg;
	bool		of_plans = c->set == &pfs_plans;
	PfsDigestPart buckets = of_plans ? PFS_DIGEST_PART_PLANS : PFS_DIGEST_PART_BUCKETS;
	uint64		word;
	uint32		index;
	PfsDigest  *copy;
	PfsStatementTotals totals = {0};

	if (of_plans && (p->plan_id == 0 || !pfs_pending_digest_counts(place, PFS_DIGEST_PART_PLANS)))
		return;
	index = pfs_plan_find(&p->digest, of_plans ? p->plan_id : 0, &word);
	if (index != PFS_NO_RECORD && c->number_of[index] == 0)
		copy_one(c, index);
	copy = copy_at(c, index != PFS_NO_RECORD ? c->number_of[index] : 0);
	pfs_kind_add(&pfs_statement_kind, &totals, &p->counters, PFS_SHARE_ALL);
	totals.plans = p->plans;
	pfs_kind_merge(&pfs_statement_kind, &copy->counters, &totals);
	for (int b = 0; c->head > offsetof(PfsDigest, buckets) && b < PFS_HISTOGRAM_BUCKETS; b++)
	{
		if (pfs_pending_digest_counts(place, buckets))
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
emit_copy(const Copies *c, PfsDigest *copy, PfsDigestEmit emit, void *arg)
{
	const char *from = (const char *) copy;
	int			parts = c->parts;
	PfsDigestRow row = {.key = copy->key, .plan_id = copy->plan_id};

	pfs_kind_read(&pfs_statement_kind, &copy->counters, &row.totals, false);
	if (pfs_totals_count(&row.totals.time) == 0)
		return;
	row.first_seen = pfs_clock_timestamp(copy->first_seen, copy->first_offset);
	row.last_seen = Max(pfs_clock_timestamp(copy->last_seen, copy->last_offset.value), row.first_seen);
	if (parts & PFS_DIGEST_BUCKETS)
		row.buckets = copy->buckets;
	if ((parts & PFS_DIGEST_TEXT) && copy->text_len > 0)
	{
		row.text.text = from + c->text;
		row.text.len = copy->text_len;
		row.plan = copy->plan;
	}
	if ((parts & PFS_DIGEST_SAMPLE) && copy->sample_seen != 0)
	{
		row.sample.text = from + c->sample;
		row.sample.len = copy->sample_len;
		row.sample_seen = pfs_clock_timestamp(copy->sample_seen, copy->sample_offset);
		row.sample_ticks = copy->sample_ticks;
	}
	emit(&row, arg);
}

/* Copies all digests, all others first. */
static void
copy_all(PfsPatience *patience, void *arg)
{
	Copies	   *c = arg;

	c->patience = patience;
	memcpy(copy_at(c, c->n++), &c->set->shared->others, c->head);
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(c->set->pages, &at);)
		copy_one(c, at.index);
	pfs_pending_each(PFS_COUNTED_DIGESTS, add_pending_cb, c, patience);
}

/*
 * Hands a row for each digest or plan, and one for all statements without a row of their
 * own, to emit. parts says what is copied besides the totals: text, sample query,
 * histogram.  Everything is copied first and turned into rows behind that.  The copies stay until the caller's memory context goes, because
 * rows point into them.
 */
void
pfs_digests_read(const PfsDigestSet *set, int parts, PfsDigestEmit emit, void *arg)
{
	Copies		c = {.set = set, .parts = parts};
	uint32		records = set->pages == NULL ? 0 : set->pages->records_max;

	if (records == 0)
		return;
	c.head = (parts & PFS_DIGEST_BUCKETS) ? offsetof(PfsDigest, texts) : offsetof(PfsDigest, buckets);
	c.text = c.head;
	c.sample = c.text + ((parts & PFS_DIGEST_TEXT) ? set->text : 0);
	c.stride = TYPEALIGN(8, c.sample + ((parts & PFS_DIGEST_SAMPLE) ? pfs_sizes.sql_text : 0));
	/* Memory that is not used costs nothing. */
	c.mem = MemoryContextAllocHuge(CurrentMemoryContext, (records + 1) * c.stride);
	c.number_of = palloc0(records * sizeof(uint32));

	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_all, &c);
	for (uint32 i = 0; i < c.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		emit_copy(&c, copy_at(&c, i), emit, arg);
	}
}

/* The waits that are read, and which are wanted: PFS_NO_INSTRUMENT stands for all instruments. */
typedef struct WaitRows
{
	PfsInstrumentId instrument;
	PfsDigestWaitRow *items;	/* with space for all */
	uint32		n;
	uint32		links;			/* of chains, that were followed */
} WaitRows;

/* key NULL: of all others. */
static void
add_wait(WaitRows *rows, const PfsDigestKey *key, PfsInstrumentId instrument, const PfsTotals *totals)
{
	PfsDigestWaitRow row = {.instrument = instrument, .totals = *totals};

	if (key != NULL)
		row.key = *key;
	if (pfs_totals_count(totals) > 0 && (rows->instrument == PFS_NO_INSTRUMENT || rows->instrument == instrument))
		rows->items[rows->n++] = row;
}

/*
 * Copies the wait cells of all digests, then those of statements without a digest.
 *
 * No cell is in two chains, so there is space for all; but a chain that is being moved by
 * a process that was not waited for can lead anywhere, and in a circle.
 */
static void
copy_counted_waits(WaitRows *rows)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_digests.pages, &at);)
	{
		const PfsDigest *d = pfs_pages_record(pfs_digests.pages, at.index);

		for (uint32 link = pfs_load_acquire(&d->waits);
			 link != 0 && link <= pfs_digest_waits->records_max && rows->links++ < pfs_digest_waits->records_max;
			 link = pfs_chain_at(pfs_digest_waits, link)->next)
		{
			const PfsChained *cell = pfs_chain_at(pfs_digest_waits, link);
			PfsTotals	totals = {0};

			pfs_shared_cell_read(&cell->cell, &totals);
			add_wait(rows, &d->key, cell->key, &totals);
		}
	}
	for (uint32 i = pfs_shared_block_next(&pfs_digest_other_waits, 0); i < pfs_digest_other_waits.ncells;
		 i = pfs_shared_block_next(&pfs_digest_other_waits, i + 1))
	{
		PfsTotals	totals = {0};

		pfs_shared_cell_read(pfs_shared_block_cell(&pfs_digest_other_waits, i), &totals);
		add_wait(rows, NULL, i, &totals);
	}
}

/* Appends the waits that a process has counted for a digest, which may have a row already. */
static void
add_pending_waits_cb(const PfsPending *place, void *arg)
{
	const PfsPendingDigest *p = (const PfsPendingDigest *) place;
	const PfsDigestKey *key = pfs_pending_digest_key(p);

	if (!pfs_pending_digest_counts(place, PFS_DIGEST_PART_WAITS))
		return;
	for (uint32 i = 0; i < Min(p->nwaits, PFS_PENDING_DIGEST_WAITS); i++)
	{
		const PfsPendingWait *w = &p->waits[i];
		PfsTotals	totals = pfs_counts_totals(&w->counts);

		add_wait(arg, key, w->instrument, &totals);
	}
}

static void
copy_waits(PfsPatience *patience, void *arg)
{
	copy_counted_waits(arg);
	pfs_pending_each(PFS_COUNTED_DIGESTS, add_pending_waits_cb, arg, patience);
}

/*
 * Hands what digests have waited for to emit, for events_waits_summary_by_digest.  The cells are copied while moves are
 * held off, and emit is called afterwards.
 */
void
pfs_digest_waits_read(PfsInstrumentId instrument, PfsDigestWaitEmit emit, void *arg)
{
	WaitRows	rows = {.instrument = instrument};

	if (pfs_sizes.digests == 0)
		return;
	/* Memory that is not used costs nothing. */
	rows.items = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(PfsDigestWaitRow) *
										((Size) pfs_digest_waits->records_max + pfs_digest_other_waits.ncells +
										 (Size) pfs_sizes.threads * PFS_PENDING_DIGESTS * PFS_PENDING_DIGEST_WAITS));
	pfs_blocking_work(PFS_COUNTED_DIGESTS, false, copy_waits, &rows);
	for (uint32 i = 0; i < rows.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		emit(&rows.items[i], arg);
	}
	pfree(rows.items);
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
	PfsPatience patience = {0};

	if (pfs_sizes.digests == 0 || key->query_id == 0)
		return NULL;
	index = pfs_digest_find(key, &word);
	if (index == PFS_NO_RECORD)
		return NULL;
	copy = palloc(pfs_sizes.digest_text + 1);
	*len = copy_text(&pfs_digests, pfs_pages_record(pfs_digests.pages, index), copy, &patience);
	pfs_patience_end(&patience);
	pfs_fence_acquire();
	return *len > 0 && pfs_pages_word(pfs_digests.pages, index) == word ? copy : NULL;
}
