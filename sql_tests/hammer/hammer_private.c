/*
 * hammer_private.c
 *	  Private memory: what an index finds beside a plain list, in how many
 *	  steps, that items of a pool stay where they are, and the peaks of open spans
 *	  beside what each of them was told.
 *
 * Of one process, so there is nobody to race with: this counts work.
 */
#include <string.h>

#include "hammer.h"
#include "pfs_peak.h"
#include "pfs_private.h"

#define ITEMS_MAX 100000

/* An index of any size is to find an item in so many steps; a list would take thousands. */
#define STEPS_ON_AVERAGE 3
#define STEPS_AT_MOST 40

typedef struct Item
{
	PfsIndexLink link;
	uint64_t	content;
	uint64_t	pool;
} Item;

static Item *items[ITEMS_MAX];

/* Like the addresses of the server's descriptors: multiples of 8, close together. */
static uint64_t
key_of(uint64_t i)
{
	return UINT64_C(0x55d0c0de0000) + i * 728;
}

static void
check_steps(PfsIndex *index, uint32_t from, uint32_t end)
{
	uint64_t	all = 0;

	for (uint32_t i = from; i < end; i++)
	{
		uint32_t	steps = pfs_index_steps(index, key_of(i));

		HAMMER_CHECK(steps <= STEPS_AT_MOST, "%u steps to one of %u items", steps, end - from);
		HAMMER_CHECK(pfs_index_find(index, key_of(i)) == &items[i]->link, "item %u is not found", i);
		all += steps;
	}
	HAMMER_CHECK(all <= (uint64_t) (end - from) * STEPS_ON_AVERAGE, "%lu steps to %u items", all, end - from);
}

static void
run(uint32_t n)
{
	PfsPool		pool = PFS_POOL_INIT(sizeof(Item), ITEMS_MAX);
	PfsIndex	index;

	memset(&index, 0, sizeof(index));
	for (uint32_t i = 0; i < n; i++)
	{
		if (!pfs_index_has_room(&index))
			pfs_index_resize(&index);
		HAMMER_CHECK(pfs_pool_grow(&pool), "no room for item %u of %u", i, n);
		items[i] = pfs_pool_claim(&pool);
		HAMMER_CHECK(items[i] != NULL, "room, but no item %u of %u", i, n);
		items[i]->content = i;
		pfs_index_add(&index, &items[i]->link, key_of(i));
	}
	check_steps(&index, 0, n);

	/*
	 * The newest of two of one key is found, and the older one when it has
	 * gone.
	 */
	{
		Item		twin;

		pfs_index_add(&index, &twin.link, key_of(0));
		pfs_index_resize(&index);
		HAMMER_CHECK(pfs_index_find(&index, key_of(0)) == &twin.link, "an older item of the same key is found");
		HAMMER_CHECK(pfs_index_next(twin.link.next, key_of(0)) == &items[0]->link, "there is no next one of the same key");
		pfs_index_remove(&index, &twin.link);
	}
	/* The oldest half goes, oldest first. */
	for (uint32_t i = 0; i < n / 2; i++)
	{
		HAMMER_CHECK(items[i]->content == i, "item %u has %lu", i, items[i]->content);
		pfs_index_remove(&index, &items[i]->link);
		pfs_pool_put(&pool, items[i]);
		HAMMER_CHECK(pfs_index_find(&index, key_of(i)) == NULL, "item %u is found after its removal", i);
	}
	check_steps(&index, n / 2, n);
	/* Their places are used again. */
	for (uint32_t i = 0; i < n / 2; i++)
	{
		items[i] = pfs_pool_claim(&pool);
		HAMMER_CHECK(items[i] != NULL, "a free item is not found");
		pfs_index_add(&index, &items[i]->link, key_of(i));
	}
	HAMMER_CHECK(pool.used == n && pool.live == n, "%u of %u items, %u live", pool.used, n, pool.live);
	check_steps(&index, 0, n);
	for (uint32_t i = 0; i < n; i++)
	{
		pfs_index_remove(&index, &items[i]->link);
		pfs_pool_put(&pool, items[i]);
	}
	pfs_index_resize(&index);
	HAMMER_CHECK(index.buckets == NULL && index.items == 0, "an index of nothing keeps its memory");
	if (n * sizeof(Item) > PFS_POOL_STEP)
	{
		uint64_t	before = hammer_count_resident(pool.items, (size_t) n * sizeof(Item));

		pfs_pool_shrink(&pool);
		HAMMER_CHECK(hammer_count_resident(pool.items, (size_t) n * sizeof(Item)) < before,
					 "a pool of nothing keeps its memory");
		HAMMER_CHECK(items[n - 1]->content == 0, "what was given back is not zero");
	}
	pfs_pool_destroy(&pool);
}

static void
run_full(void)
{
	PfsPool		pool = PFS_POOL_INIT(sizeof(Item), ITEMS_MAX);
	uint32_t	n = 0;

	while (pfs_pool_grow(&pool))
	{
		HAMMER_CHECK(pfs_pool_claim(&pool) != NULL, "room, but no item");
		n++;
	}
	HAMMER_CHECK(n >= ITEMS_MAX && pfs_pool_claim(&pool) == NULL, "a pool of %u has %u", ITEMS_MAX, n);
	pfs_pool_destroy(&pool);
}

/* A span, and the largest value that it was told of one by one. */
typedef struct Told
{
	PfsSpan		span;
	uint64_t	largest;
	bool		open;
} Told;

#define SPANS_MAX 600
#define SPAN_STEPS 12000

/* Which one of n open spans ends next. */
typedef enum EndOrder
{
	END_NEWEST, END_OLDEST, END_ANY, END_ORDERS
} EndOrder;

/*
 * Spans begin and end in one order, at most n at a time; values rise, fall, or jump.
 * Each span's peak must be what a comparison with every value gives.
 */
static void
run_peaks(uint32_t n, EndOrder order)
{
	static Told told[SPANS_MAX];
	PfsPeaks	peaks;
	HammerRng	rng = {UINT64_C(4711) + n * 3 + order};
	uint32_t	nopen = 0;
	uint32_t	largest_used = 0;
	uint64_t	value = UINT64_C(1) << 40;

	memset(&peaks, 0, sizeof(peaks));
	memset(told, 0, sizeof(told));
	for (uint32_t step = 0; step < SPAN_STEPS; step++)
	{
		uint32_t	i;

		value = hammer_random(&rng, 8) == 0 ? hammer_random(&rng, 1000000) : value - 1;
		pfs_peaks_add(&peaks, value);
		for (i = 0; i < n; i++)
		{
			if (told[i].open && told[i].largest < value)
				told[i].largest = value;
		}
		if (nopen < n && (nopen == 0 || hammer_random(&rng, 100) < 52))
		{
			for (i = 0; told[i].open; i++)
				;
			told[i].open = true;
			told[i].largest = 0;
			nopen++;
			pfs_span_begin(&peaks, &told[i].span);
		}
		else
		{
			uint32_t	chosen = n;

			for (i = 0; i < n; i++)
			{
				if (told[i].open && (chosen == n ||
									 (order == END_NEWEST && told[i].span.number > told[chosen].span.number) ||
									 (order == END_OLDEST && told[i].span.number < told[chosen].span.number) ||
									 (order == END_ANY && hammer_random(&rng, nopen) == 0)))
					chosen = i;
			}
			value = pfs_span_end(&peaks, &told[chosen].span);
			HAMMER_CHECK(value == told[chosen].largest, "a span of %u had %lu, and is said to have had %lu",
						 n, told[chosen].largest, value);
			told[chosen].open = false;
			nopen--;
		}
		if (largest_used < peaks.used)
			largest_used = peaks.used;
	}

	/*
	 * What spans leave in the middle is removed, so the array has not grown
	 * with the steps.
	 */
	HAMMER_CHECK(largest_used <= 4 * n + PFS_PEAKS_FIRST, "%u entries for %u spans", largest_used, n);
	for (uint32_t i = 0; i < n; i++)
	{
		if (told[i].open)
			(void) pfs_span_end(&peaks, &told[i].span);
	}
	HAMMER_CHECK(peaks.newest == NULL && peaks.used == 0 && peaks.mapped == NULL, "no span is open, but something is kept");
}

void
hammer_private(void)
{
	static const uint32_t sizes[] = {1, 16, 33, 1000, ITEMS_MAX};

	for (int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		char		name[64];

		if (!hammer_failed())
			run(sizes[i]);
		snprintf(name, sizeof(name), "private, %u items", sizes[i]);
		hammer_done(name, "%s", "");
	}
	run_full();
	hammer_done("private, a full pool", "%s", "");
	for (EndOrder order = END_NEWEST; order < END_ORDERS; order++)
	{
		static const char *const names[] = {"the newest", "the oldest", "any"};
		static const uint32_t spans[] = {1, 2, 15, 300, SPANS_MAX};
		char		name[64];

		for (int i = 0; i < sizeof(spans) / sizeof(spans[0]) && !hammer_failed(); i++)
			run_peaks(spans[i], order);
		snprintf(name, sizeof(name), "private, peaks, %s ends first", names[order]);
		hammer_done(name, "%s", "");
	}
}
