/*
 * hammer_private.c
 *	  Private memory: what an index finds beside a plain list, in how many
 *	  steps, and that items of a pool stay where they are.
 *
 * Of one process, so there is nobody to race with: this counts work.
 */
#include <string.h>

#include "hammer.h"
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

/* How many links a search for the key looks at. */
static uint32_t
steps_to(PfsIndex *index, uint64_t key)
{
	uint32_t	steps = 0;

	for (const PfsIndexLink *link = *pfs_index_bucket(index, key); link != NULL; link = link->next)
	{
		steps++;
		if (link->key == key)
			break;
	}
	return steps;
}

static void
check_steps(PfsIndex *index, uint32_t from, uint32_t end)
{
	uint64_t	all = 0;

	for (uint32_t i = from; i < end; i++)
	{
		uint32_t	steps = steps_to(index, key_of(i));

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
}
