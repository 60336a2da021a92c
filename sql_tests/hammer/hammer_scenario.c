/*
 * hammer_scenario.c
 *	  The skipped pages of the article on container memory: four pages, the
 *	  first and the last full, the two between with free records, four
 *	  allocators that read the shared counter at the same moment.
 *
 * The article's algorithm is written out in steps here, so that the order of
 * the four is forced.  It must skip pages and open a new one; that shows that
 * the scenario is the right one.  Ours must not, in the same scenario.
 */
#include <errno.h>
#include <sched.h>

#include "hammer.h"

#define ALLOCATORS	4
#define PAGES		4
#define PER_PAGE	4

/* --- the article's --- */

typedef struct Article
{
	uint32_t	monotonic;		/* m_monotonic */
	uint32_t	free_records[PAGES + ALLOCATORS];
	uint32_t	page_count;		/* m_max_page_index */
} Article;

typedef struct ArticleAllocator
{
	uint32_t	monotonic;
	uint32_t	monotonic_max;
	bool		done;
	bool		opened;
} ArticleAllocator;

/* One turn of allocate()'s loop over the pages. */
static void
article_step(Article *c, ArticleAllocator *a)
{
	if (a->done)
		return;
	if (a->monotonic < a->monotonic_max)
	{
		uint32_t	index = a->monotonic % PAGES;

		if (c->free_records[index] > 0)
		{
			c->free_records[index]--;
			a->done = true;
		}
		else
			a->monotonic = c->monotonic++;
		return;
	}

	/*
	 * "Create a new page if the allocation still fails after all pages are
	 * polled"
	 */
	c->free_records[c->page_count] = PER_PAGE - 1;
	c->page_count++;
	a->done = a->opened = true;
}

/*
 * Turn by turn, four at once.  Returns how many pages were opened.  The article
 * counts pages from 1 and says that the third and the fourth allocator skip
 * pages 2 and 3.
 */
static uint32_t
run_article(void)
{
	Article		c = {.free_records = {0, PER_PAGE, PER_PAGE, 0}, .page_count = PAGES};
	ArticleAllocator a[ALLOCATORS];

	for (int i = 0; i < ALLOCATORS; i++)
		a[i] = (ArticleAllocator)
	{
		.monotonic = c.monotonic, .monotonic_max = c.monotonic + PAGES
	};
	for (int turn = 0; turn < 2 * PAGES + 2; turn++)
		for (int i = 0; i < ALLOCATORS; i++)
			article_step(&c, &a[i]);
	for (int i = 0; i < ALLOCATORS; i++)
		if (!a[i].done)
			hammer_fail("allocator %d of the article's does not end", i);
	if (c.free_records[1] + c.free_records[2] == 0)
		hammer_fail("the article's pages were really full");
	return c.page_count - PAGES;
}

/* --- ours --- */

typedef struct ScenarioContext
{
	PfsPages   *pages;
	uint32_t	turn;			/* allocators that are ready */
	uint32_t	done;
	uint32_t	rounds;
} ScenarioContext;

/* Pages 1 and 4 full, 2 and 3 free, the shared hint on page 1. */
static void
set_up(PfsPages *c)
{
	uint32_t	hint = 1;

	for (uint32_t i = 0; i < PAGES * PER_PAGE; i++)
		if (pfs_pages_allocate(c, &hint) == PFS_NO_RECORD)
			hammer_fail("no record in a new container");
	for (uint32_t i = PER_PAGE; i < 3 * PER_PAGE; i++)
		pfs_pages_free(c, i);
	pfs_store_relaxed(&c->hint, 0);
}

/*
 * Workers 0 .. 3 allocate at once, from the same page, again and again: a
 * barrier before and after stands for "at the same time".
 */
static void
scenario_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	ScenarioContext *x = context;

	if (place >= ALLOCATORS)
		return;
	for (uint32_t round = 1; hammer_going(); round++)
	{
		uint32_t	hint = 1;	/* record 0 of page 1, as the others' */
		uint32_t	index;

		pfs_add_seqcst(&x->turn, 1);
		while (pfs_load_acquire(&x->turn) < ALLOCATORS * round)
		{
			if (!hammer_going())
				return;
			sched_yield();
		}
		index = pfs_pages_allocate(x->pages, &hint);
		HAMMER_CHECK(index != PFS_NO_RECORD, "allocation failed with pages 2 and 3 free");
		HAMMER_CHECK(index / PER_PAGE == 1 || index / PER_PAGE == 2, "record %u: page %u", index, index / PER_PAGE + 1);
		pfs_add_seqcst(&x->done, 1);
		while (pfs_load_acquire(&x->done) < ALLOCATORS * round)
		{
			if (!hammer_going())
				return;
			sched_yield();
		}
		pfs_pages_free(x->pages, index);
		if (place == 0)
			x->rounds = round;
	}
}

void
hammer_scenario(void)
{
	HammerSegment s;
	ScenarioContext *x = NULL;
	PfsPages   *pages = NULL;
	uint32_t	opened = run_article();
	bool		kill = hammer_options.kill;

	if (opened == 0)
		hammer_fail("the article's algorithm does not open a page: not its scenario");
	hammer_done("scenario, the article's algorithm", "opens %u pages while 2 and 3 have free records", opened);

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		pages = pfs_pages_create(&s.seg, "scenario", 1024, 2 * PAGES * PER_PAGE, PER_PAGE);
	}
	x->pages = pages;
	pages->reclaim_errno = ENOTSUP; /* or pages 2 and 3 would go back */
	if (pages->records_per_page != PER_PAGE)
		hammer_fail("%u records on a page", pages->records_per_page);
	set_up(pages);

	/* A barrier cannot wait for a victim. */
	hammer_options.kill = false;
	if (hammer_options.processes >= ALLOCATORS)
		hammer_run(scenario_worker, x);
	hammer_options.kill = kill;
	if (pages->available >> 32 != PAGES)
		hammer_fail("%lu pages are open", pages->available >> 32);
	hammer_done("scenario, ours", "%u rounds of %d allocators, no page opened", x->rounds, ALLOCATORS);
	hammer_segment_end(&s);
}
