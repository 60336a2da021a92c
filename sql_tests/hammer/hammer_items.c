/*
 * hammer_items.c
 *	  Items of one writer: no copy is torn, none is another place's or older than what was
 *	  there before the reader looked, and no chunk is lost.
 */
#include "hammer.h"
#include "pfs_items.h"

#define WORDS_MAX	64

/* An item: its place, its number, its words; then the pattern. */
#define PLACE		0
#define NUMBER		1
#define SIZE		2
#define PATTERN		3

typedef struct ItemsContext
{
	PfsItems   *items;
	bool		scarce;			/* chunks are not enough for all places */
	uint64_t	number;			/* of the last item */
	uint64_t	refused;
	uint64_t	dropped;
	uint64_t	read;
	uint64_t	empty;
	uint64_t	parts;
	HammerWitness witness;		/* by number */
	uint64_t	latest[];		/* by place: the number of what is there; 0:
								 * nothing.  Stored behind it */
} ItemsContext;

static uint32_t
chunks_of(const ItemsContext *x)
{
	uint32_t	n = 0;

	for (uint32_t place = 0; place < x->items->nplaces; place++)
		n += pfs_item_chunks(pfs_items_bytes(x->items, place));
	return n;
}

static void
write_one(ItemsContext *x, HammerRng *rng)
{
	uint32_t	place = hammer_random(rng, x->items->nplaces);
	uint32_t	size = PATTERN + 1 + hammer_random(rng, WORDS_MAX - PATTERN);
	uint64_t	item[WORDS_MAX];

	if (hammer_random(rng, 20) == 0)
	{
		pfs_items_drop(x->items, place);
		pfs_store_release(&x->latest[place], 0);
		x->dropped++;
		return;
	}
	item[PLACE] = place;
	item[NUMBER] = x->number + 1;
	item[SIZE] = size;
	hammer_fill(item, PATTERN, size, item[NUMBER]);
	hammer_bear(&x->witness, item[NUMBER], place);
	if (pfs_items_put(x->items, place, item, size * 8))
	{
		pfs_store_relaxed(&x->number, item[NUMBER]);
		pfs_store_release(&x->latest[place], item[NUMBER]);
		return;
	}
	HAMMER_CHECK(x->scarce, "there is no chunk, of as many as there can be");
	HAMMER_CHECK(pfs_items_bytes(x->items, place) == 0, "a place that got nothing is not empty");
	pfs_store_release(&x->latest[place], 0);
	x->refused++;
}

static void
read_one(ItemsContext *x, HammerRng *rng)
{
	uint32_t	place = hammer_random(rng, x->items->nplaces);
	uint64_t	before = pfs_load_acquire(&x->latest[place]);
	uint32_t	room = hammer_random(rng, 4) == 0 ? PATTERN + hammer_random(rng, WORDS_MAX - PATTERN) : WORDS_MAX;
	uint64_t	item[WORDS_MAX];
	uint32_t	bytes = pfs_items_copy(x->items, place, item, room * 8);

	if (bytes == 0)
	{
		pfs_add_relaxed(&x->empty, 1);
		return;
	}
	HAMMER_CHECK(item[PLACE] == place, "an item of place %lu at place %u", item[PLACE], place);
	HAMMER_CHECK(bytes == item[SIZE] * 8 && item[SIZE] <= WORDS_MAX, "%u bytes of %lu words", bytes, item[SIZE]);
	HAMMER_CHECK(hammer_whole(item, PATTERN, item[SIZE] < room ? item[SIZE] : room, item[NUMBER]), "torn item %lu", item[NUMBER]);
	HAMMER_CHECK(item[NUMBER] >= before, "item %lu where %lu was before", item[NUMBER], before);
	HAMMER_CHECK(hammer_borne(&x->witness, item[NUMBER], place), "item %lu has no witness", item[NUMBER]);
	pfs_add_relaxed(room < item[SIZE] ? &x->parts : &x->read, 1);
}

/* The first one writes, all others read. */
static void
items_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	ItemsContext *x = context;

	while (hammer_going() && !hammer_failed())
	{
		if (place > 0)
			read_one(x, rng);
		else
		{
			write_one(x, rng);
			if (x->number % 1000 == 0)
				HAMMER_CHECK(chunks_of(x) == x->items->used, "%u chunks in use, %u counted", chunks_of(x), x->items->used);
			/* Readers must see places at rest, too. */
			if (hammer_random(rng, 100) == 0)
				hammer_pause(rng);
		}
	}
}

static bool
seen_all(const void *context)
{
	const ItemsContext *x = context;

	return pfs_load_relaxed(&x->read) > 0 && pfs_load_relaxed(&x->parts) > 0 && pfs_load_relaxed(&x->number) > 1000;
}

/* Nobody else is there: empties all places, and fills the pool to its last chunk. */
static void
check_quiet(ItemsContext *x)
{
	uint64_t	item[WORDS_MAX] = {0};
	uint32_t	n = 0;

	for (uint32_t place = 0; place < x->items->nplaces; place++)
		pfs_items_drop(x->items, place);
	HAMMER_CHECK(x->items->used == 0, "%u chunks of no item", x->items->used);
	while (n < x->items->nplaces && pfs_items_put(x->items, n, item, PFS_ITEM_CHUNK))
		n++;
	HAMMER_CHECK(n == x->items->nplaces || n == x->items->nchunks, "%u chunks of %u are there", n, x->items->nchunks);
	HAMMER_CHECK(x->items->opened <= x->items->nchunks, "%u chunks of %u were used", x->items->opened, x->items->nchunks);
}

static void
run_items(uint32_t places, uint32_t chunks)
{
	HammerSegment s;
	ItemsContext *x = NULL;
	PfsItems   *items = NULL;
	char		name[100];

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x) + places * sizeof(uint64_t), PFS_CACHE_LINE);
		items = pfs_items_create(&s.seg, "items", places, chunks);
	}
	x->items = items;
	x->scarce = chunks < places * pfs_item_chunks(WORDS_MAX * 8);
	hammer_witness_begin(&x->witness);
	hammer_run_until(items_worker, x, seen_all);
	hammer_witness_end(&x->witness);
	if (!hammer_failed())
		check_quiet(x);
	snprintf(name, sizeof(name), "items, %u places, %u chunks", places, chunks);
	hammer_done(name, "%lu written, %lu without chunks, %lu dropped, %lu read, %lu parts, %lu empty", x->number, x->refused,
				x->dropped, x->read, x->parts, x->empty);
	hammer_segment_end(&s);
}

void
hammer_items(void)
{
	/* A writer that is killed is the recorder: shared memory is made anew. */
	if (hammer_options.kill || hammer_options.processes < 2)
		return;
	run_items(1, 8);
	run_items(7, 20);
	run_items(300, 2400);
}
