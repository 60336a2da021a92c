/*
 * hammer_pages.c
 *	  Record pages: nobody shares a record, nobody reads half of one, nobody
 *	  fails or opens a page while a record is free, empty pages go back.
 */
#include <errno.h>
#include <sched.h>

#include "hammer.h"

#define WORDS_MAX	512			/* of 8 bytes in a record */
#define HELD_MAX	250			/* records that a worker holds at once */

typedef struct PagesContext
{
	PfsPages   *pages;
	uint32_t	words;			/* per record */
	uint32_t	held_max;		/* by one worker */
	bool		strict;			/* no allocation by a permit may fail */

	/*
	 * A semaphore around each record's life, from before its allocation until
	 * after its release.  With as many permits as records, one record is free
	 * during the whole of every allocation.
	 */
	int64_t		permits;
	uint64_t	allocations;
	uint64_t	failures;
	uint64_t	excused;		/* failed, with a page under way */
	uint64_t	copies;
	uint32_t   *owners;			/* [records_max] id of the worker, or 0 */
	HammerWitness records;		/* by record and word */
	HammerWitness lives;		/* by record: plain, for threads: who has it */
} PagesContext;

typedef struct Held
{
	uint32_t	index;
	uint64_t	word;
	uint64_t	base;
} Held;

/*
 * ThreadSanitizer must not take the permits for what orders the containers'
 * memory; with its calls in between, nothing is moved across them either.
 */
#ifdef __SANITIZE_THREAD__
#define PERMIT_ORDER __ATOMIC_RELAXED
#else
#define PERMIT_ORDER __ATOMIC_SEQ_CST
#endif

static bool
take_permit(PagesContext *x)
{
	int64_t		n = pfs_load_relaxed(&x->permits);

	while (n > 0)
		if (__atomic_compare_exchange_n(&x->permits, &n, n - 1, false, PERMIT_ORDER, __ATOMIC_RELAXED))
			return true;
	return false;
}

static void
give_permit(PagesContext *x)
{
	__atomic_fetch_add(&x->permits, 1, PERMIT_ORDER);
}

static uint64_t
witness_of(const PagesContext *x, uint32_t index, uint64_t word)
{
	return word / PFS_VERSION_INC * x->pages->records_max + index;
}

/* What an allocation that fails although a record is free may blame. */
typedef struct Moves
{
	uint64_t	retirals;
	uint32_t	retired;
	bool		under_way;
} Moves;

static void
look_at_moves(const PfsPages *c, Moves *m)
{
	m->retirals = pfs_load_acquire(&c->retirals);
	m->retired = 0;
	m->under_way = false;
	for (uint32_t i = 0; i < c->pages_max; i++)
	{
		uint32_t	state = pfs_load_acquire(&c->page_state[i]);

		m->retired += state == PFS_PAGE_RETIRED;
		if (state == PFS_PAGE_OPENING || state == PFS_PAGE_RETIRING)
			m->under_way = true;
	}
}

/*
 * A record holds the state word under which it will be published, its pattern's
 * base, and the pattern.  So a copy proves that it is of the version that the
 * word names.
 */
static void
write_record(PagesContext *x, Held *h, uint32_t id, uint32_t counter)
{
	uint64_t   *words = pfs_pages_record(x->pages, h->index);
	uint64_t	next = (pfs_pages_word(x->pages, h->index) & ~PFS_STATE_MASK) +
	PFS_VERSION_INC + PFS_STATE_ALLOCATED;

	h->base = ((uint64_t) id << 40) ^ counter;
	pfs_store_relaxed(&words[0], next);
	pfs_store_relaxed(&words[1], h->base);
	hammer_fill(words, 2, x->words, h->base);
	hammer_bear(&x->records, witness_of(x, h->index, next), next);
	h->word = pfs_pages_publish(x->pages, h->index);
	HAMMER_CHECK(h->word == next, "record %u was published as %lx, not %lx: two owners",
				 h->index, h->word, next);
}

static void
allocate(PagesContext *x, Held *h, uint32_t id, uint32_t counter, uint32_t *hint, bool *got)
{
	PfsPages   *c = x->pages;
	uint32_t	before;
	Moves		moves = {0};

	*got = false;
	if (x->strict)
		look_at_moves(c, &moves);
	pfs_add_relaxed(&x->allocations, 1);
	h->index = pfs_pages_allocate(c, hint);
	if (h->index == PFS_NO_RECORD)
	{
		pfs_add_relaxed(&x->failures, 1);
		if (x->strict)
		{
			Moves		now;

			look_at_moves(c, &now);
			HAMMER_CHECK(c->reclaim_errno == 0 &&
						 (moves.under_way || now.under_way || now.retirals != moves.retirals ||
						  now.retired != moves.retired),
						 "allocation failed though a record was free all the time");
			pfs_add_relaxed(&x->excused, 1);
		}
		return;
	}
	*got = true;
	HAMMER_CHECK(h->index < c->records_max, "index %u of %u", h->index, c->records_max);
	hammer_bear(&x->lives, h->index, id);
	before = pfs_exchange(&x->owners[h->index], id);
	HAMMER_CHECK(before == 0, "record %u given to %u belongs to %u", h->index, id, before);
	HAMMER_CHECK((pfs_pages_word(c, h->index) & PFS_STATE_MASK) == PFS_STATE_DIRTY,
				 "record %u came back in state %lx", h->index, pfs_pages_word(c, h->index));
	write_record(x, h, id, counter);
}

static void
release(PagesContext *x, const Held *h, uint32_t id, bool publish_again)
{
	PfsPages   *c = x->pages;
	uint64_t   *words = pfs_pages_record(c, h->index);
	Held		again = *h;

	HAMMER_CHECK(pfs_load_relaxed(&words[0]) == h->word &&
				 pfs_load_relaxed(&words[1]) == h->base &&
				 hammer_whole(words, 2, x->words, h->base),
				 "record %u of %u was written by someone else", h->index, id);
	HAMMER_CHECK(pfs_pages_claim(c, h->index, h->word), "cannot claim record %u of mine", h->index);
	HAMMER_CHECK(!pfs_pages_claim(c, h->index, h->word), "claimed record %u twice", h->index);
	if (publish_again)
	{
		write_record(x, &again, id, (uint32_t) h->base + 1);
		HAMMER_CHECK(!pfs_pages_claim(c, h->index, h->word), "claimed record %u by an old word", h->index);
		HAMMER_CHECK(pfs_pages_claim(c, h->index, again.word), "cannot claim record %u again", h->index);
	}
	pfs_store_release(&x->owners[h->index], 0);
	hammer_bear(&x->lives, h->index, 0);
	pfs_pages_free(c, h->index);
}

static void
copy(PagesContext *x, uint32_t index)
{
	uint64_t	words[WORDS_MAX];
	uint64_t	word;

	if (!pfs_pages_copy(x->pages, index, 0, words, x->words * 8, &word))
		return;
	pfs_add_relaxed(&x->copies, 1);
	HAMMER_CHECK(words[0] == word && hammer_whole(words, 2, x->words, words[1]),
				 "copy of record %u is torn: word %lx, in the record %lx", index, word, words[0]);
	HAMMER_CHECK(hammer_borne(&x->records, witness_of(x, index, word), word),
				 "record %u, word %lx, has no witness", index, word);
}

static void
pages_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	PagesContext *x = context;
	Held		held[HELD_MAX];
	uint32_t	n = 0;
	uint32_t	hint = 0;

	uint32_t	growing = 25;

	for (uint32_t counter = 0; hammer_going(); counter++)
	{
		uint32_t	dice = hammer_random(rng, 100);

		/* now many records, now few or none: pages fill and empty */
		if (counter % (8 * x->held_max) == 0)
		{
			growing = 100 - growing - 15;
			while (n > 0 && dice < 50 && !hammer_failed())
			{
				release(x, &held[--n], id, false);
				give_permit(x);
			}
		}
		if (dice < growing && n < x->held_max)
		{
			bool		got;

			if (!take_permit(x))
			{
				if (n == 0)
					sched_yield();
				goto give;
			}
			allocate(x, &held[n], id, counter, &hint, &got);
			if (got)
				n++;
			else
				give_permit(x);
		}
		else if (dice < 85)
		{
	give:
			if (n > 0)
			{
				uint32_t	i = hammer_random(rng, n);

				release(x, &held[i], id, dice < 50);
				held[i] = held[--n];
				give_permit(x);
			}
		}
		else if (dice < 99)
			copy(x, hammer_random(rng, x->pages->records_max));
		else
		{
			uint32_t	pos = 0;
			uint32_t	last = PFS_NO_RECORD;
			uint32_t	index;
			uint64_t	word;

			while ((index = pfs_pages_next(x->pages, &pos, &word)) != PFS_NO_RECORD)
			{
				HAMMER_CHECK(last == PFS_NO_RECORD || index > last, "iteration goes back");
				HAMMER_CHECK((word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED, "iteration shows word %lx", word);
				last = index;
				copy(x, index);
			}
		}
	}
	while (n > 0 && !hammer_failed())
	{
		release(x, &held[--n], id, false);
		give_permit(x);
	}
}

static uint32_t
opened_pages(const PfsPages *c)
{
	return c->available >> 32;
}

/* Everything was freed: is it all there, and has it gone back? */
static void
check_empty(PagesContext *x)
{
	PfsPages   *c = x->pages;
	PfsPagesStats stats;
	uint32_t	hint = 0;
	uint32_t	index;
	uint32_t	got = 0;

	pfs_pages_stats(c, &stats);
	HAMMER_CHECK(stats.records_used == 0, "%lu records are in use", stats.records_used);
	HAMMER_CHECK(stats.records_high_water <= c->records_max, "high water %lu of %u",
				 stats.records_high_water, c->records_max);
	HAMMER_CHECK(stats.records_lost == x->failures, "%lu lost, %lu failed",
				 stats.records_lost, x->failures);
	if (c->reclaim_errno == 0)
	{
		/* Two that met while they retired pages may have left some: sweep. */
		index = pfs_pages_allocate(c, &hint);
		HAMMER_CHECK(index != PFS_NO_RECORD, "no record in an empty container");
		pfs_pages_free(c, index);
		pfs_pages_stats(c, &stats);
		HAMMER_CHECK(stats.pages_resident == 1, "%lu pages are resident, not the spare one", stats.pages_resident);
	}
	while ((index = pfs_pages_allocate(c, &hint)) != PFS_NO_RECORD)
	{
		HAMMER_CHECK(x->owners[index] == 0, "record %u is given twice", index);
		x->owners[index] = 1;
		got++;
	}
	HAMMER_CHECK(got == c->records_max, "%u records of %u can be had", got, c->records_max);
	pfs_pages_stats(c, &stats);
	HAMMER_CHECK(stats.records_high_water == c->records_max, "high water %lu of %u when full",
				 stats.records_high_water, c->records_max);
	for (index = 0; index < c->records_max; index++)
		pfs_pages_free(c, index);
	if (c->reclaim_errno == 0)
	{
		uint64_t	resident = hammer_count_resident(c->memory, c->pages_max * c->page_bytes);

		pfs_pages_stats(c, &stats);
		HAMMER_CHECK(stats.pages_resident == 1 && stats.bytes_resident == c->page_bytes,
					 "%lu pages are resident after all was freed", stats.pages_resident);
		HAMMER_CHECK(resident <= c->page_bytes, "%lu bytes are resident after all was freed", resident);
	}
	pfs_pages_reset_stats(c);
	pfs_pages_stats(c, &stats);
	HAMMER_CHECK(stats.records_lost == 0 && stats.records_high_water == 0 &&
				 stats.pages_reclaimed == 0, "statistics survive their reset");
}

/* After kills: at most a record each, or the page that the victim was moving. */
static void
check_after_kills(PagesContext *x, uint32_t kills)
{
	PfsPages   *c = x->pages;
	uint32_t	stuck = 0;
	uint32_t	got = 0;
	uint32_t	hint = 0;
	uint32_t	index;

	for (uint32_t i = 0; i < c->pages_max; i++)
		stuck += c->page_state[i] == PFS_PAGE_OPENING || c->page_state[i] == PFS_PAGE_RETIRING;
	HAMMER_CHECK(stuck <= kills, "%u pages are stuck after %u kills", stuck, kills);
	while ((index = pfs_pages_allocate(c, &hint)) != PFS_NO_RECORD)
	{
		HAMMER_CHECK(pfs_exchange(&x->owners[index], 1) == 0, "record %u of a killed worker is given again", index);
		got++;
	}
	HAMMER_CHECK(got + (kills - stuck) + stuck * c->records_per_page >= c->records_max,
				 "%u records of %u are left after %u kills, %u pages stuck", got, c->records_max, kills, stuck);
}

static void
run_pages(uint32_t records_max, uint32_t record_size, uint32_t per_page, bool reclaim,
		  uint32_t permits, const char *what)
{
	HammerSegment s;
	PagesContext *x = NULL;
	PfsPages   *pages = NULL;
	uint32_t   *owners = NULL;
	uint32_t	kills;
	uint32_t	opened;
	bool		takes_back = hammer_takes_back();
	PfsPagesStats stats;
	char		name[100];

	reclaim &= takes_back;
	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		owners = pfs_segment_take(&s.seg, records_max * sizeof(uint32_t), 64);
		pages = pfs_pages_create(&s.seg, "hammer", record_size, records_max, per_page);
	}
	if (pages->reclaim_errno != 0 && reclaim)
		hammer_fail("MADV_REMOVE does not work here: errno %d", pages->reclaim_errno);

	/*
	 * What the container tries at its creation stays where nothing is taken
	 * back.
	 */
	if (takes_back && hammer_count_resident(pages->memory, pages->pages_max * pages->page_bytes) != 0)
		hammer_fail("creation touches the pages");
	if (!reclaim)
		pages->reclaim_errno = ENOTSUP;
	x->pages = pages;
	x->owners = owners;
	x->words = record_size / 8;
	x->held_max = hammer_options.kill ? 1 : records_max < 100 ? 8 : HELD_MAX;
	/* A killed worker takes its permit with it, so then nothing is promised. */
	x->strict = permits <= records_max && !hammer_options.kill;
	x->permits = hammer_options.kill ? INT32_MAX : permits;

	hammer_witness_begin(&x->records);
	hammer_witness_begin(&x->lives);
	kills = hammer_run(pages_worker, x);
	hammer_witness_end(&x->records);
	hammer_witness_end(&x->lives);
	pfs_pages_stats(pages, &stats);
	opened = opened_pages(pages);
	if (!hammer_options.kill && !reclaim && !hammer_failed() &&
		opened > (permits - 1) / pages->records_per_page + 1)
		hammer_fail("%u pages were opened for at most %u records", opened, permits);
	if (!hammer_failed())
	{
		if (hammer_options.kill)
			check_after_kills(x, kills);
		else
			check_empty(x);
	}
	snprintf(name, sizeof(name), "pages, %u records by %u, %s%s%s", records_max,
			 pages->records_per_page, what, reclaim ? "" : ", no reclaim",
			 hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu allocations, %lu failed, %lu of them for a page under way, %lu copies, "
				"%u pages opened, %lu reclaimed, high water %lu, %u kills",
				x->allocations, x->failures, x->excused, x->copies, opened,
				stats.pages_reclaimed, stats.records_high_water, kills);
	hammer_segment_end(&s);
}

static void
run_off(void)
{
	HammerSegment s;
	PfsPages   *pages = NULL;
	PfsPagesStats stats;
	uint32_t	hint = 0;
	uint32_t	pos = 0;
	uint64_t	word;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
		pages = pfs_pages_create(&s.seg, "off", 64, 0, 16);
	if (pfs_pages_allocate(pages, &hint) != PFS_NO_RECORD ||
		pfs_pages_next(pages, &pos, &word) != PFS_NO_RECORD)
		hammer_fail("a record in a container that is off");
	pfs_pages_stats(pages, &stats);
	if (stats.records_lost != 0 || stats.pages_max != 0)
		hammer_fail("a container that is off counts losses");
	hammer_done("pages, off", "no loss");
	hammer_segment_end(&s);
}

void
hammer_pages(void)
{
	static const struct
	{
		uint32_t	records_max;
		uint32_t	record_size;
		uint32_t	per_page;
	}			sizes[] = {{1, 4096, 1}, {2, 4096, 1}, {7, 2048, 2}, {1000, 256, 16}};

	run_off();
	for (int i = 0; i < 4; i++)
	{
		uint32_t	n = sizes[i].records_max;
		uint32_t	size = sizes[i].record_size;
		uint32_t	per_page = sizes[i].per_page;

		run_pages(n, size, per_page, false, n, "one always free");
		run_pages(n, size, per_page, true, n, "one always free");
		run_pages(n, size, per_page, true, INT32_MAX, "too few");
	}
	/* Far fewer in use than there is room for: few pages must do. */
	run_pages(1000, 256, 16, false, 20, "20 at once");
}
