/*
 * hammer_blocks.c
 *	  Blocks that change hands: no torn item, none missing among the newest of the
 *	  server or of a thread, one writer's items in order, truncation hides the old and
 *	  only the old.
 *
 * Each item has a ticket, the number of items that were begun before it in the whole
 * test: the order that readers of the real thing get from the clock.
 */
#include "hammer.h"
#include "pfs_block_order.h"

#define ITEM_WORDS_MIN	4
#define ITEM_WORDS_MAX	16
#define BLOCK_SIZE		512
#define LANES			2
#define FOUND_MAX		65536
#define MINE_MAX		64

/* An item: its size in words above which of its writer's it is; writer, ticket, pattern. */
#define SIZE		0
#define WRITER		1
#define TICKET		2
#define PATTERN		3
#define SIZE_OF(word)		((uint32_t) (word) & 0xFFFF)
#define COUNTER_OF(word)	((word) >> 16)

typedef struct BlocksWriter
{
	uint64_t	life;			/* odd while the writer begins or ends */
	uint64_t	id;
	PfsBlockWriter w;
} BlocksWriter;

typedef struct BlocksContext
{
	PfsBlocks  *blocks;
	uint32_t	items;
	uint32_t	own_items;
	uint32_t	nwriters;
	uint64_t	ticket;
	uint64_t	truncations_begun;
	uint64_t	truncations_ended;
	uint64_t	written;
	uint64_t	lost;
	uint64_t	read;
	uint64_t	collections;
	uint64_t	histories;
	uint64_t	copied_again;
	uint64_t	lives;
	HammerWitness witness;		/* by ticket */
	BlocksWriter writers[HAMMER_WORKERS_MAX];
	char	   *own;			/* [nwriters] of own_size bytes */
	size_t		own_size;
} BlocksContext;

/* What one worker has written, the newest last. */
typedef struct Mine
{
	uint64_t	id;
	uint64_t	counter;		/* items in this life */
	uint64_t	tickets[MINE_MAX];	/* by counter */
	uint64_t	truncations[MINE_MAX];	/* begun before; UINT64_MAX: one is
										 * going on */
} Mine;

/* The tickets that a reader has found. */
typedef struct Found
{
	uint32_t	n;
	uint64_t	tickets[FOUND_MAX];
} Found;

static __thread Found found;

static int
compare_tickets(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static bool
was_found(uint64_t ticket)
{
	return bsearch(&ticket, found.tickets, found.n, sizeof(ticket), compare_tickets) != NULL;
}

/*
 * Looks at all items in the copy of a block, and adds the tickets of those that are not
 * hidden.  What is there of one writer is in order.
 */
static void
look_at_block(BlocksContext *x, const uint64_t *block, uint32_t bytes, uint32_t hidden)
{
	uint64_t	last_writer = 0;
	uint64_t	last = 0;
	uint32_t	at = 0;

	HAMMER_CHECK(bytes % 8 == 0 && bytes <= BLOCK_SIZE, "%u bytes of a block", bytes);
	while (at < bytes)
	{
		const uint64_t *item = block + at / 8;
		uint32_t	size = SIZE_OF(item[SIZE]);

		HAMMER_CHECK(size >= ITEM_WORDS_MIN && size <= ITEM_WORDS_MAX && at + size * 8 <= bytes,
					 "item of %u words at %u of %u", size, at, bytes);
		HAMMER_CHECK(hammer_whole(item, PATTERN, size, item[WRITER] ^ item[TICKET]),
					 "torn item %lu of writer %lu", item[TICKET], item[WRITER]);
		HAMMER_CHECK(hammer_borne(&x->witness, item[TICKET], item[WRITER]), "item %lu has no witness", item[TICKET]);
		HAMMER_CHECK(item[WRITER] != last_writer || COUNTER_OF(item[SIZE]) == last + 1,
					 "writer %lu: item %lu behind %lu", item[WRITER], COUNTER_OF(item[SIZE]), last);
		last_writer = item[WRITER];
		last = COUNTER_OF(item[SIZE]);
		if (at >= hidden && found.n < FOUND_MAX)
			found.tickets[found.n++] = item[TICKET];
		at += size * 8;
	}
	pfs_add_relaxed(&x->read, 1);
}

/* The writer's memory was this life's from before the copy to after it. */
static bool
is_same_life(const BlocksWriter *writer, uint64_t life)
{
	pfs_fence_acquire();
	return pfs_load_relaxed(&writer->life) == life;
}

/* Finds what a reader of the long history finds, sorted. */
static void
collect(BlocksContext *x)
{
	static __thread uint64_t block[BLOCK_SIZE / 8];
	uint32_t	hidden;
	uint32_t	bytes;

	found.n = 0;
	for (uint32_t i = 0; i < x->nwriters && !hammer_failed(); i++)
	{
		BlocksWriter *writer = &x->writers[i];
		uint64_t	life = pfs_load_acquire(&writer->life);
		uint64_t	index = PFS_BLOCK_INDEX(pfs_load_relaxed(&writer->w.position));

		if ((life & 1) != 0 || life == 0)
			continue;
		bytes = pfs_blocks_copy_owned(x->blocks, &writer->w, index, block, &hidden);
		if (is_same_life(writer, life) && bytes != PFS_BLOCK_GONE)
			look_at_block(x, block, bytes, hidden);
	}
	for (uint32_t number = 0; number < pfs_blocks_number(x->blocks) && !hammer_failed(); number++)
	{
		bytes = pfs_blocks_copy(x->blocks, number, block, &hidden);
		if (bytes > 0)
			look_at_block(x, block, bytes, hidden);
	}
	qsort(found.tickets, found.n, sizeof(uint64_t), compare_tickets);
	pfs_add_relaxed(&x->collections, 1);
}

/* All of a worker's own items that are among the newest are found. */
static void
check_collected(BlocksContext *x, const Mine *mine)
{
	uint64_t	truncations;
	uint64_t	end;

	collect(x);
	end = pfs_load_acquire(&x->ticket);
	truncations = pfs_load_acquire(&x->truncations_begun);
	for (uint64_t i = mine->counter; i > 0 && i + MINE_MAX > mine->counter; i--)
	{
		uint64_t	ticket = mine->tickets[i % MINE_MAX];

		HAMMER_CHECK(ticket + x->items <= end || mine->truncations[i % MINE_MAX] != truncations || was_found(ticket),
					 "item %lu is missing at %lu, of %u", ticket, end, x->items);
	}
}

/* The newest items of a thread are in the blocks that it owns. */
static void
check_own(BlocksContext *x, const BlocksWriter *writer, const Mine *mine)
{
	static __thread uint64_t block[BLOCK_SIZE / 8];
	uint64_t	last = PFS_BLOCK_INDEX(writer->w.position);
	uint64_t	first = writer->w.own->oldest;
	uint64_t	wanted = mine->counter < x->own_items ? mine->counter : x->own_items;
	uint64_t	n = 0;
	uint64_t	newest = 0;

	for (uint64_t index = first; index <= last; index++)
	{
		uint32_t	hidden;
		uint32_t	bytes = pfs_blocks_copy_owned(x->blocks, &writer->w, index, block, &hidden);

		HAMMER_CHECK(bytes != PFS_BLOCK_GONE, "one's own block has gone");
		for (uint32_t at = 0; at < bytes; at += SIZE_OF(block[at / 8]) * 8)
		{
			if (block[at / 8 + WRITER] != mine->id)
				continue;
			HAMMER_CHECK(n == 0 || COUNTER_OF(block[at / 8]) == newest + 1, "item %lu behind %lu of one's own",
						 COUNTER_OF(block[at / 8]), newest);
			newest = COUNTER_OF(block[at / 8]);
			n++;
		}
	}
	HAMMER_CHECK(n >= wanted && newest == mine->counter, "%lu of %lu own items, the newest %lu of %lu", n, wanted,
				 newest, mine->counter);
}

/* How often a writer's blocks are copied that gives some of them away meanwhile. */
#define COPY_TRIES 1000

/*
 * The newest items of any thread are in what a reader copies of its blocks, without a hole. One that
 * is killed leaves its blocks as they are.
 */
static void
check_history(BlocksContext *x, HammerRng *rng)
{
	BlocksWriter *writer = &x->writers[hammer_random(rng, x->nwriters)];
	uint64_t	life = pfs_load_acquire(&writer->life);
	uint64_t	id = pfs_load_relaxed(&writer->id);
	uint32_t	held = pfs_blocks_held(x->blocks);
	PfsBlockCopies copies = {malloc((size_t) held * BLOCK_SIZE), malloc(held * sizeof(uint32_t)), 0, 0};
	uint64_t	n = 0;
	uint64_t	newest = 0;
	int			tries = 0;

	while ((life & 1) == 0 && life != 0 && tries < COPY_TRIES && !pfs_blocks_copy_writer(x->blocks, &writer->w, 0, &copies))
		tries++;
	if ((life & 1) != 0 || !is_same_life(writer, life) || tries == COPY_TRIES)
		copies.n = 0;
	for (uint64_t index = copies.end - copies.n; index < copies.end && !hammer_failed(); index++)
	{
		const uint64_t *block = (const uint64_t *) (copies.blocks + index % held * BLOCK_SIZE);
		uint32_t	bytes = copies.bytes[index % held];

		for (uint32_t at = 0; at < bytes && !hammer_failed(); at += SIZE_OF(block[at / 8]) * 8)
		{
			if (block[at / 8 + WRITER] != id)
				continue;
			HAMMER_CHECK(n == 0 || COUNTER_OF(block[at / 8]) == newest + 1, "item %lu behind %lu of a thread",
						 COUNTER_OF(block[at / 8]), newest);
			newest = COUNTER_OF(block[at / 8]);
			n++;
		}
	}
	HAMMER_CHECK(n >= (newest < x->own_items ? newest : x->own_items), "%lu of %lu items of a thread", n, newest);
	pfs_add_relaxed(&x->histories, copies.n > 0);
	pfs_add_relaxed(&x->copied_again, tries);
	free(copies.blocks);
	free(copies.bytes);
}

static void
truncate_blocks(BlocksContext *x)
{
	static __thread Found before;
	uint64_t	i = 0;

	collect(x);
	memcpy(&before, &found, sizeof(found.n) + sizeof(uint64_t) + found.n * sizeof(uint64_t));
	before.n = found.n;
	pfs_add_seqcst(&x->truncations_begun, 1);
	for (uint32_t k = 0; k < x->nwriters; k++)
		if (pfs_load_acquire(&x->writers[k].life) != 0)
			pfs_blocks_hide_owned(x->blocks, &x->writers[k].w);
	pfs_blocks_hide(x->blocks);
	pfs_add_seqcst(&x->truncations_ended, 1);
	collect(x);
	for (uint32_t k = 0; k < found.n; k++)
	{
		while (i < before.n && before.tickets[i] < found.tickets[k])
			i++;
		HAMMER_CHECK(i == before.n || before.tickets[i] != found.tickets[k], "truncated item %lu is there", found.tickets[k]);
	}
}

static void
begin_life(BlocksContext *x, BlocksWriter *writer, uint32_t place, Mine *mine, uint64_t id, HammerRng *rng)
{
	uint64_t	life = pfs_load_relaxed(&writer->life) | 1;

	pfs_store_relaxed(&writer->life, life);
	pfs_fence_release();
	/* Threads share what ThreadSanitizer would call a race. */
	if (!hammer_options.threads)
	{
		/* Whoever reads it now sees a record that is zeroed. */
		memset(&writer->w, 0, sizeof(writer->w));
		hammer_pause(rng);
	}
	pfs_block_writer_init(&writer->w, (PfsOwnBlocks *) (x->own + place * x->own_size));
	memset(mine, 0, sizeof(*mine));
	mine->id = id;
	pfs_store_relaxed(&writer->id, id);
	pfs_store_release(&writer->life, life + 1);
	pfs_add_relaxed(&x->lives, 1);
}

/* Writes one item of random size; false if there was no block. */
static bool
write_one(BlocksContext *x, BlocksWriter *writer, Mine *mine, HammerRng *rng)
{
	uint32_t	size = ITEM_WORDS_MIN + hammer_random(rng, ITEM_WORDS_MAX - ITEM_WORDS_MIN + 1);
	uint64_t	item[ITEM_WORDS_MAX];
	uint64_t	ended = pfs_load_acquire(&x->truncations_ended);
	uint64_t	begun = pfs_load_acquire(&x->truncations_begun);

	if (!pfs_block_has_room(&writer->w, size * 8) &&
		!pfs_block_advance(x->blocks, &writer->w, hammer_random(rng, LANES), size * 8))
	{
		pfs_add_relaxed(&x->lost, 1);
		return false;
	}
	mine->counter++;
	item[SIZE] = size | mine->counter << 16;
	item[WRITER] = mine->id;
	item[TICKET] = pfs_add_seqcst(&x->ticket, 1) + 1;
	hammer_fill(item, PATTERN, size, item[WRITER] ^ item[TICKET]);
	hammer_bear(&x->witness, item[TICKET], item[WRITER]);
	pfs_racy_copy(writer->w.next, item, size * 8);
	pfs_block_done(&writer->w, size * 8, PFS_BLOCK_COUNTS(1, 1));
	mine->tickets[mine->counter % MINE_MAX] = item[TICKET];
	mine->truncations[mine->counter % MINE_MAX] = begun == ended ? begun : UINT64_MAX;
	pfs_add_relaxed(&x->written, 1);
	return true;
}

static void
blocks_worker(void *context, uint32_t id, uint32_t place, HammerRng *rng)
{
	BlocksContext *x = context;
	BlocksWriter *writer = &x->writers[place];
	uint64_t	lives = 0;
	Mine		mine;

	begin_life(x, writer, place, &mine, (uint64_t) id << 32 | ++lives, rng);
	while (hammer_going())
	{
		uint32_t	dice = hammer_random(rng, 10000);

		if (dice < 9900)
		{
			if (!write_one(x, writer, &mine, rng))
			{
				/* Only where victims have taken blocks along. */
				HAMMER_CHECK(hammer_options.kill, "no block is there");
				usleep(100);
				continue;
			}
			if (dice < 500)
				check_own(x, writer, &mine);
		}
		else if (dice < 9930)
			check_collected(x, &mine);
		else if (dice < 9960)
			check_history(x, rng);
		else if (dice < 9990)
		{
			pfs_block_writer_end(x->blocks, &writer->w, hammer_random(rng, LANES));
			/* As a record that is given back: a new owner has other memory. */
			begin_life(x, writer, place, &mine, (uint64_t) id << 32 | ++lives, rng);
		}
		else if (dice < 9991)
			truncate_blocks(x);
		else if (hammer_random(rng, 10) == 0)
			hammer_pause(rng);
	}
}

/* Counts a block that was found in its place: there is no second one. */
static void
see_block(const PfsBlocks *b, uint8_t *seen, uint32_t number, uint64_t *n)
{
	HAMMER_CHECK(number < b->nblocks && seen[number] == 0, "block %u is in two places", number);
	seen[number] = 1;
	*n += 1;
}

/* Sees the blocks on a stack, from its top on. */
static void
see_stack(const PfsBlocks *b, uint8_t *seen, uint64_t top, uint64_t *n)
{
	for (uint32_t below = NUMBER(top); below != 0 && !hammer_failed(); below = b->heads[below - 1].below)
		see_block(b, seen, below - 1, n);
}

/* All writers have ended: each block is in one place, and sums are of what is there. */
static void
check_sums(const PfsBlocks *b)
{
	uint8_t    *seen = calloc(b->nblocks, 1);
	uint64_t	n = 0;

	see_stack(b, seen, b->begun, &n);
	HAMMER_CHECK(b->outside == n, "%u blocks outside, but %lu are begun", b->outside, n);
	see_stack(b, seen, b->empty, &n);
	for (uint32_t i = 0; i < b->nlanes; i++)
	{
		const PfsSharedBlockLane *lane = &b->lanes[i];
		int64_t		items = 0;

		for (uint64_t position = lane->taken; position != lane->entered && !hammer_failed(); position++)
		{
			uint32_t	number = NUMBER(b->order[i * b->nplaces + position % b->nplaces]) - 1;

			see_block(b, seen, number, &n);
			items += b->heads[number].items;
		}
		HAMMER_CHECK(items == lane->items, "a lane has %ld items and counts %ld", items, lane->items);
	}
	HAMMER_CHECK(n == b->fresh || (n == b->nblocks && b->fresh > n), "%lu blocks of %lu", n, b->fresh);
	free(seen);
}

/* Nobody writes any more: the newest items of all are there, without a hole. */
static void
check_quiet(BlocksContext *x)
{
	HammerRng	rng = {1};
	BlocksWriter *writer = &x->writers[0];
	uint64_t	end;
	Mine		mine;

	/* Each leaves a block with room for an item or two. */
	for (uint32_t i = 0; i < x->nwriters; i++)
	{
		memset(&mine, 0, sizeof(mine));
		while (write_one(x, &x->writers[i], &mine, &rng) &&
			   pfs_block_has_room(&x->writers[i].w, 2 * ITEM_WORDS_MAX * sizeof(uint64_t)))
			;
	}
	for (uint32_t i = 0; i < x->nwriters; i++)
		pfs_block_writer_end(x->blocks, &x->writers[i].w, 0);
	begin_life(x, writer, 0, &mine, UINT64_C(1) << 60, &rng);

	/*
	 * All that others have left partly filled is there for it, and one of it
	 * is enough.
	 */
	for (uint32_t n = 0; n < 2 * x->own_items; n++)
	{
		HAMMER_CHECK(write_one(x, writer, &mine, &rng), "no block when nobody writes");
		check_own(x, writer, &mine);
		collect(x);
		for (uint32_t i = 1; i < found.n; i++)
			HAMMER_CHECK(found.tickets[i] != found.tickets[i - 1], "item %lu is there twice", found.tickets[i]);
	}
	for (uint32_t n = 0; n < x->items; n++)
		HAMMER_CHECK(write_one(x, writer, &mine, &rng), "no block when nobody writes");
	collect(x);
	end = pfs_load_acquire(&x->ticket);
	for (uint32_t n = 0; n < x->items; n++)
		HAMMER_CHECK(was_found(end - n), "item %lu of %lu is missing", end - n, end);
	truncate_blocks(x);
	HAMMER_CHECK(found.n == 0, "%u items behind a truncation", found.n);
	HAMMER_CHECK(write_one(x, writer, &mine, &rng), "no block after a truncation");
	collect(x);
	HAMMER_CHECK(was_found(end + 1), "the item after a truncation is missing");
	pfs_block_writer_end(x->blocks, &writer->w, 0);
	HAMMER_CHECK(!write_one(x, writer, &mine, &rng), "a writer that has ended has got a block");
	check_sums(x->blocks);
	collect(x);
	HAMMER_CHECK(found.n == 1, "%u items after a truncation and one more", found.n);
	HAMMER_CHECK(pfs_blocks_lost(x->blocks) == x->lost, "%lu lost, %lu failed", pfs_blocks_lost(x->blocks), x->lost);
	pfs_blocks_reset_lost(x->blocks);
	HAMMER_CHECK(pfs_blocks_lost(x->blocks) == 0, "losses survive their reset");
}

static bool
seen_all(const void *context)
{
	const BlocksContext *x = context;

	return pfs_load_relaxed(&x->collections) > 0 && pfs_load_relaxed(&x->truncations_ended) > 0;
}

static void
run_blocks(uint32_t items, uint32_t own_items)
{
	HammerSegment s;
	BlocksContext *x = NULL;
	PfsBlocks  *blocks = NULL;
	char	   *own = NULL;
	size_t		own_size;
	PfsBlocksSpec spec = {LANES, items, own_items, ITEM_WORDS_MIN * 8, ITEM_WORDS_MAX * 8, hammer_options.processes, BLOCK_SIZE};
	uint32_t	kills;
	char		name[100];

	own_size = (pfs_blocks_own_size(&spec) + 7) / 8 * 8;
	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		x = pfs_segment_take(&s.seg, sizeof(*x), PFS_CACHE_LINE);
		own = pfs_segment_take(&s.seg, hammer_options.processes * own_size, PFS_CACHE_LINE);
		blocks = pfs_blocks_create(&s.seg, &spec);
	}
	x->blocks = blocks;
	x->own = own;
	x->own_size = own_size;
	x->items = items;
	x->own_items = own_items;
	x->nwriters = hammer_options.processes;
	hammer_witness_begin(&x->witness);
	kills = hammer_run_until(blocks_worker, x, seen_all);
	hammer_witness_end(&x->witness);
	if (!hammer_failed() && !hammer_options.kill)
		check_quiet(x);
	snprintf(name, sizeof(name), "blocks, %u items, %u of a thread%s", items, own_items,
			 hammer_options.kill ? ", killing" : "");
	hammer_done(name, "%lu written, %lu lost, %lu blocks read, %lu times all, %lu histories, %lu times again, %lu lives, %lu truncations, %u kills",
				x->written, x->lost, x->read, x->collections, x->histories, x->copied_again, x->lives, x->truncations_ended, kills);
	hammer_segment_end(&s);
}

#define SMALL_ITEM	16
#define ORDER_ITEM	64
#define ORDER_BLOCK 256
#define LARGE_ITEM	256

/*
 * Writes items of so many bytes that are only their numbers, from one to another, for the long
 * history or the thread's own, in a test where nobody runs beside.
 */
static void
write_numbers(PfsBlocks *blocks, PfsBlockWriter *w, uint32_t size, uint64_t from, uint64_t to, bool item_of_all,
			  bool own_item)
{
	uint64_t	item[LARGE_ITEM / 8] = {0};

	for (uint64_t number = from; number <= to; number++)
	{
		if (!pfs_block_has_room(w, size) && !pfs_block_advance(blocks, w, 0, size))
		{
			hammer_fail("no block for item %lu", number);
			return;
		}
		item[0] = number;
		item[1] = size;
		pfs_racy_copy(w->next, item, size);
		pfs_block_done(w, size, PFS_BLOCK_COUNTS(item_of_all, own_item));
	}
}

/* How many of the numbers from one to another are in blocks that are full or were given away. */
static uint32_t
count_numbers(const PfsBlocks *blocks, uint64_t from, uint64_t to)
{
	uint64_t	copy[2 * LARGE_ITEM / 8];
	uint32_t	n = 0;

	for (uint32_t number = 0; number < pfs_blocks_number(blocks); number++)
	{
		uint32_t	hidden;
		uint32_t	bytes = pfs_blocks_copy(blocks, number, copy, &hidden);

		for (uint32_t at = 0; at < bytes; at += copy[at / 8 + 1])
			n += copy[at / 8] >= from && copy[at / 8] <= to;
	}
	return n;
}

/*
 * The newest items are there when one thread has written all of them, and when others
 * then give away, all at once, what they wrote long before.
 */
static void
run_blocks_order(void)
{
	enum
	{
		WRITERS = 4, ITEMS = 24, ALL = 1000
	};
	HammerSegment s;
	PfsBlocks  *blocks = NULL;
	PfsBlocksSpec spec = {1, ITEMS, 8, ORDER_ITEM, ORDER_ITEM, WRITERS, ORDER_BLOCK};
	char		own[WRITERS][64] __attribute__((aligned(8)));
	PfsBlockWriter w[WRITERS];
	uint32_t	each;
	uint64_t	number = 0;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
		blocks = pfs_blocks_create(&s.seg, &spec);
	each = pfs_blocks_held(blocks) * (ORDER_BLOCK / ORDER_ITEM);
	for (int i = 0; i < WRITERS; i++)
	{
		pfs_block_writer_init(&w[i], (PfsOwnBlocks *) own[i]);
		if (i == 0)
			continue;
		write_numbers(blocks, &w[i], ORDER_ITEM, number + 1, number + each, true, true);
		number += each;
	}
	write_numbers(blocks, &w[0], ORDER_ITEM, number + 1, ALL, true, true);
	for (int i = 1; i < WRITERS; i++)
		pfs_block_writer_end(blocks, &w[i], 0);
	pfs_block_writer_end(blocks, &w[0], 0);
	if (count_numbers(blocks, ALL - ITEMS + 1, ALL) != ITEMS)
		hammer_fail("%u of the newest %d items are there", count_numbers(blocks, ALL - ITEMS + 1, ALL), ITEMS);
	if (count_numbers(blocks, 1, ALL) == ALL)
		hammer_fail("nothing has left");
	hammer_done("blocks, their order", "%u of %d items are there", count_numbers(blocks, 1, ALL), ALL);
	hammer_segment_end(&s);
}

/*
 * As many blocks go round as the newest items need, whether each has two of them or 32: more
 * when items get larger, fewer when they get smaller again.
 */
static void
run_blocks_size(void)
{
	enum
	{
		ITEMS = 200, EACH = 10000, MOST = 2 * LARGE_ITEM / SMALL_ITEM
	};
	HammerSegment s;
	PfsBlocks  *blocks = NULL;
	PfsBlocksSpec spec = {1, ITEMS, 4, SMALL_ITEM, LARGE_ITEM, 1, 2 * LARGE_ITEM};
	uint32_t	sizes[] = {SMALL_ITEM, LARGE_ITEM, SMALL_ITEM};
	uint32_t	there[3];
	uint32_t	newest;
	char		own[64] __attribute__((aligned(8)));
	PfsBlockWriter w;
	uint64_t	number = 0;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
		blocks = pfs_blocks_create(&s.seg, &spec);
	pfs_block_writer_init(&w, (PfsOwnBlocks *) own);
	for (int i = 0; i < 3; i++)
	{
		size_t		before = pfs_blocks_resident_bytes(blocks);

		write_numbers(blocks, &w, sizes[i], number + 1, number + EACH, true, true);
		number += EACH;
		there[i] = count_numbers(blocks, 1, number);
		/* The others are in the current block. */
		newest = count_numbers(blocks, number - ITEMS + 1, number) + PFS_BLOCK_ITEMS(w.counts);
		if (newest != ITEMS)
			hammer_fail("%u of the newest %d items are there", newest, ITEMS);
		if (there[i] > ITEMS + (pfs_blocks_held(blocks) + 4) * MOST)
			hammer_fail("%u items are there where %d are wanted", there[i], ITEMS);
		if (i == 2 && pfs_blocks_resident_bytes(blocks) != before)
			hammer_fail("smaller items took more memory");
		if (i == 2 && PFS_BLOCK_INDEX(w.position) - w.own->oldest != 1)
			hammer_fail("%lu full blocks for a few small items", PFS_BLOCK_INDEX(w.position) - w.own->oldest);
	}

	/*
	 * While the one history is off, what is in it stays; and the other one
	 * goes on.
	 */
	write_numbers(blocks, &w, SMALL_ITEM, number + 1, number + 20 * MOST, false, true);
	newest = count_numbers(blocks, number - ITEMS + 1, number);
	if (newest != ITEMS)
		hammer_fail("%u of %d items are there still", newest, ITEMS);
	number += 20 * MOST;
	write_numbers(blocks, &w, SMALL_ITEM, number + 1, number + EACH, true, false);
	if (PFS_BLOCK_INDEX(w.position) - w.own->oldest >= pfs_blocks_held(blocks))
		hammer_fail("%lu full blocks of a thread without a history", PFS_BLOCK_INDEX(w.position) - w.own->oldest);
	pfs_block_writer_end(blocks, &w, 0);
	check_sums(blocks);
	hammer_done("blocks, their number", "%u, %u, %u items are there", there[0], there[1], there[2]);
	hammer_segment_end(&s);
}

void
hammer_blocks(void)
{
	run_blocks_order();
	run_blocks_size();
	run_blocks(1, 0);
	run_blocks(40, 1);
	run_blocks(300, 10);
	run_blocks(2000, 40);
	run_blocks(0, 10);
}
