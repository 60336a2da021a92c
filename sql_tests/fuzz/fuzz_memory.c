/*
 * fuzz_memory.c
 *	  The readers of the containers on memory in which anything lies that they
 *	  say they can meet: other owners' bytes, zeros, half of a set-up.  They must
 *	  end, and stay inside of the container and of what they were given.
 *
 * Trusted, as src/container/README.md says: what is set when a container is made;
 * numbers and addresses of an owner's blocks or cells are either right or 0; a
 * hash slot names a record or none, and the reach of a window ends in it; a block's word
 * is one that its owners have made.
 *
 * Input: which container, its sizes, then what lies in it.
 */
#include <stdbool.h>

#include "pfs_block.h"
#include "pfs_blocks.h"
#include "pfs_histogram.h"

#include "fuzz.h"

/* The slots of an index are written from here, so the file is part of this one. */
#include "pfs_hash.c"

/* A segment of exactly its size: a byte beside it is noticed. */
typedef struct Made
{
	PfsSegment	seg;
	char	   *memory;
	size_t		size;
} Made;

static bool
next_pass(Made *m, int pass)
{
	if (pass == 1)
	{
		m->size = m->seg.used;
		m->memory = aligned_alloc(4096, (m->size + 4095) / 4096 * 4096);
		memset(m->memory, 0, m->size);
		m->seg = (PfsSegment)
		{
			.base = m->memory, .os_page = 4096
		};
	}
	return pass < 2;
}

/* 0, or what it was, as while memory changes hands. */
#define MAYBE_ZERO(in, field) \
	do { if (fuzz_take(in, 1) % 8 == 0) memset(&(field), 0, sizeof(field)); } while (0)

/*
 * Blocks whose writers die anywhere, with any bytes in them; and a writer's memory that
 * another owner has zeroed, or whose position and numbers are any.
 */
static void
fuzz_blocks(FuzzInput *in)
{
	PfsBlocksSpec spec = {
		.lanes = 1 + fuzz_take(in, 1) % 3, .items = fuzz_take(in, 1) % 40, .own_items = 1 + fuzz_take(in, 1) % 10,
		.item_min = 8, .item_max = 8 * (1 + fuzz_take(in, 1) % 8), .writers = 1 + fuzz_take(in, 1) % 3, .block_size = 128
	};
	Made		m = {.seg = {.os_page = 4096}};
	PfsBlocks  *blocks = NULL;
	PfsBlockWriter w[3];
	PfsOwnBlocks *owned[3];
	char	   *copy = malloc(spec.block_size);
	PfsBlockCopies copies = {0};
	uint32_t	hidden;

	for (int pass = 0; next_pass(&m, pass); pass++)
		blocks = pfs_blocks_create(&m.seg, &spec);
	copies.blocks = malloc((size_t) pfs_blocks_held(blocks) * spec.block_size);
	copies.bytes = malloc(pfs_blocks_held(blocks) * sizeof(uint32_t));
	for (uint32_t i = 0; i < spec.writers; i++)
	{
		owned[i] = calloc(1, pfs_blocks_own_size(&spec));
		pfs_block_writer_init(&w[i], owned[i]);
	}
	for (int items = fuzz_take(in, 1); items > 0; items--)
	{
		uint32_t	choice = fuzz_take(in, 1);
		PfsBlockWriter *to = &w[choice % spec.writers];
		uint32_t	size = 8 * (1 + choice % (spec.item_max / 8));

		if (choice == 0xFF)
			pfs_blocks_hide(blocks);
		if (choice >= 0xF0)
		{
			pfs_block_writer_end(blocks, to, choice % spec.lanes);
			pfs_block_writer_init(to, owned[choice % spec.writers]);
			continue;
		}
		FUZZ_CHECK(pfs_block_has_room(to, size) || pfs_block_advance(blocks, to, choice % spec.lanes, size));
		fuzz_fill(in, to->next, size);
		pfs_block_done(to, size, PFS_BLOCK_COUNTS(1, 1));
	}
	for (uint32_t i = 0; i < spec.writers; i++)
	{
		PfsBlockWriter seen = w[i];

		MAYBE_ZERO(in, seen.position);
		MAYBE_ZERO(in, seen.own);
		if (fuzz_take(in, 1) % 2 == 0)
			seen.position = fuzz_take(in, 8);
		if (fuzz_take(in, 1) % 4 == 0)
			fuzz_fill(in, owned[i], pfs_blocks_own_size(&spec));
		for (uint64_t back = 0; back <= pfs_blocks_held(blocks); back++)
		{
			uint32_t	bytes = pfs_blocks_copy_owned(blocks, &seen, PFS_BLOCK_INDEX(seen.position) - back, copy, &hidden);

			FUZZ_CHECK(bytes <= spec.block_size || bytes == PFS_BLOCK_GONE);
		}
		copies.n = 0;
		for (int tries = 0; tries < 3; tries++)
		{
			(void) pfs_blocks_copy_writer(blocks, &seen, fuzz_take(in, 1) % 4, &copies);
			FUZZ_CHECK(copies.n <= pfs_blocks_held(blocks));
			for (uint64_t index = copies.end - copies.n; index < copies.end; index++)
				FUZZ_CHECK(copies.bytes[index % pfs_blocks_held(blocks)] <= spec.block_size);
			MAYBE_ZERO(in, seen.position);
		}
		pfs_blocks_hide_owned(blocks, &seen);
	}
	for (uint32_t number = 0; number < pfs_blocks_number(blocks); number++)
		FUZZ_CHECK(pfs_blocks_copy(blocks, number, copy, &hidden) <= spec.block_size);
	for (uint32_t i = 0; i < spec.writers; i++)
		free(owned[i]);
	free(copies.blocks);
	free(copies.bytes);
	free(copy);
	free(m.memory);
}

static void
fuzz_block(FuzzInput *in)
{
	uint32_t	ncells = fuzz_take(in, 1);
	uint32_t	cell_size = 8 * (1 + fuzz_take(in, 1) % 8);
	size_t		size = pfs_block_size(ncells, cell_size, 0);
	char	   *memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
	char	   *cell = malloc(cell_size);
	PfsSeqlock	lock = {fuzz_take(in, 8)};
	uint32_t	n = 0;
	PfsBlock	b;

	memset(memory, 0, size);
	pfs_block_init(&b, memory, ncells, cell_size, 0);
	for (int touches = fuzz_take(in, 1) % 16; touches > 0 && ncells > 0; touches--)
		pfs_block_touch(&b, fuzz_take(in, 1) % ncells);
	if (ncells > 0)
		fuzz_fill(in, b.cells, (size_t) ncells * cell_size);
	MAYBE_ZERO(in, b.ncells);
	MAYBE_ZERO(in, b.cell_size);
	MAYBE_ZERO(in, b.touched);
	MAYBE_ZERO(in, b.cells);
	for (uint32_t i = pfs_block_next(&b, 0); i < b.ncells; i = pfs_block_next(&b, i + 1))
	{
		bool		got = pfs_block_read(&b, &lock, i, cell, cell_size);

		FUZZ_CHECK(got == (b.cells != NULL && lock.word % 2 == 0));
		FUZZ_CHECK(pfs_block_look(&b, i, cell, cell_size) == (b.cells != NULL));
		FUZZ_CHECK(i < ncells && n++ < ncells);
	}
	free(cell);
	free(memory);
}

static bool
key_equal(const void *record, const void *key)
{
	return *(const uint64_t *) record == *(const uint64_t *) key;
}

static void
fuzz_pages(FuzzInput *in)
{
	uint32_t	records_max = 1 + fuzz_take(in, 1) % 40;
	size_t		record_size = 8 * (1 + fuzz_take(in, 1));
	uint32_t	per_page = fuzz_take(in, 1) % 8;
	Made		m = {.seg = {.os_page = 4096}};
	PfsPages   *c = NULL;
	PfsHash    *h = NULL;
	PfsPagesStats stats;
	char	   *record = malloc(record_size);
	uint32_t	pos = 0;
	uint32_t	n = 0;
	uint32_t	index;
	uint64_t	word;
	uint64_t	key;

	for (int pass = 0; next_pass(&m, pass); pass++)
	{
		c = pfs_pages_create(&m.seg, "fuzz", record_size, records_max, per_page);
		h = pfs_hash_create(&m.seg, c, records_max, key_equal);
	}
	c->available = fuzz_take(in, 4) | (uint64_t) (fuzz_take(in, 1) % (c->pages_max + 1)) << 32;
	for (uint32_t i = 0; i < c->pages_max; i++)
		c->page_state[i] = fuzz_take(in, 1) % 4;
	for (uint32_t i = 0; i < records_max; i++)
		c->state[i] = fuzz_take(in, 2);
	key = fuzz_take(in, 8);

	for (uint64_t i = 0; i <= h->mask; i++)
		h->reach[i] = fuzz_take(in, 1) % (h->window + 1);
	for (uint64_t i = 0; i < h->mask + h->window; i++)
	{
		uint64_t	choice = fuzz_take(in, 1);

		h->slots[i] = choice % 4 == 0 ? 0 :
			((choice & 8 ? pfs_hash_bytes(&key, 8) : fuzz_take(in, 8)) & UINT64_C(0xFFFFFFFF00000000)) |
			(1 + choice / 4 % records_max);
	}
	fuzz_fill(in, c->memory, c->pages_max * c->page_bytes);

	while ((index = pfs_pages_next(c, &pos, &word)) != PFS_NO_RECORD)
	{
		uint64_t	again;

		FUZZ_CHECK(index < records_max && (word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED && n++ < records_max);
		FUZZ_CHECK(pfs_pages_copy(c, index, 0, record, record_size, &again) && again == word);
	}
	for (index = 0; index < records_max; index++)
		FUZZ_CHECK(pfs_pages_copy(c, index, 0, record, record_size, &word) ==
				   ((c->state[index] & PFS_STATE_MASK) == PFS_STATE_ALLOCATED));
	index = pfs_hash_find(h, pfs_hash_bytes(&key, 8), &key, &word);
	FUZZ_CHECK(index == PFS_NO_RECORD ||
			   (index < records_max && memcmp(pfs_pages_record(c, index), &key, 8) == 0));
	pfs_pages_stats(c, &stats);
	FUZZ_CHECK(stats.pages_resident <= stats.pages_max);
	free(record);
	free(m.memory);
}

static void
fuzz_histogram(FuzzInput *in)
{
	while (in->size > 0)
	{
		uint64_t	value = fuzz_take(in, 8);
		uint32_t	bucket = pfs_histogram_bucket(value);

		FUZZ_CHECK(bucket < PFS_HISTOGRAM_BUCKETS && bucket == pfs_histogram_bucket_computed(value));
		FUZZ_CHECK(pfs_histogram_low(bucket) <= value);
		FUZZ_CHECK(value < pfs_histogram_high(bucket) || bucket == PFS_HISTOGRAM_BUCKETS - 1);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput	in = {data, size};

	switch (fuzz_take(&in, 1) % 4)
	{
		case 0:
			fuzz_blocks(&in);
			break;
		case 1:
			fuzz_block(&in);
			break;
		case 2:
			fuzz_pages(&in);
			break;
		default:
			fuzz_histogram(&in);
	}
	return 0;
}
