/*
 * fuzz_memory.c
 *	  The readers of the containers on memory in which anything lies that they
 *	  say they can meet: other owners' bytes, zeros, half of a set-up.  They must
 *	  end, and stay inside of the container and of what they were given.
 *
 * Trusted, as src/container/README.md says: what is set when a container is made;
 * numbers and addresses of an owner's ring or cells are either right or 0; a
 * hash slot names a record or none; a log's group word has at most 16 claims.
 *
 * Input: which container, its sizes, then what lies in it.
 */
#include <stdbool.h>

#include "pfs_block.h"
#include "pfs_hash.h"
#include "pfs_histogram.h"
#include "pfs_log.h"
#include "pfs_ring.h"

#include "fuzz.h"

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

static void
fuzz_ring(FuzzInput *in)
{
	uint32_t	capacity = fuzz_take(in, 1) % 20;
	uint32_t	spares = 1 + fuzz_take(in, 1) % PFS_RING_SPARES_MAX;
	uint32_t	item_size = 8 * (1 + fuzz_take(in, 1) % 8);
	size_t		size = pfs_ring_size(capacity, spares, item_size);
	char	   *memory = aligned_alloc(64, (size + 63) / 64 * 64);
	char	   *end = memory + size;
	char	   *item = malloc(item_size);
	PfsRing		r;

	pfs_ring_init(&r, memory, capacity, spares, item_size);
	for (int pushes = fuzz_take(in, 1); pushes > 0 && r.length > 0; pushes--)
		pfs_ring_push(&r, fuzz_take(in, 1) % spares);
	MAYBE_ZERO(in, r.capacity);
	MAYBE_ZERO(in, r.length);
	MAYBE_ZERO(in, r.item_size);
	MAYBE_ZERO(in, r.spares);
	MAYBE_ZERO(in, r.items);
	MAYBE_ZERO(in, r.order);
	MAYBE_ZERO(in, r.spare[0]);
	if (fuzz_take(in, 1) % 2 == 0)
		r.head = fuzz_take(in, 8);
	fuzz_fill(in, memory, size);
	for (int i = 0; i < 24; i++)
	{
		uint64_t	pos = i == 0 ? fuzz_take(in, 8) : r.head - i;

		if (pfs_ring_read(&r, pos, item))
			FUZZ_CHECK(pos < r.head && r.head - pos <= capacity);
	}
	for (uint32_t level = 0; level < spares; level++)
	{
		const char *slot = pfs_ring_look(&r, level);

		FUZZ_CHECK(slot == NULL || (slot >= memory && slot + item_size <= end));
	}
	free(item);
	free(memory);
}

static void
fuzz_block(FuzzInput *in)
{
	uint32_t	ncells = fuzz_take(in, 1);
	uint32_t	cell_size = 8 * (1 + fuzz_take(in, 1) % 8);
	size_t		size = pfs_block_size(ncells, cell_size);
	char	   *memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
	char	   *cell = malloc(cell_size);
	PfsSeqlock	lock = {fuzz_take(in, 8)};
	uint32_t	n = 0;
	PfsBlock	b;

	memset(memory, 0, size);
	pfs_block_init(&b, memory, ncells, cell_size);
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
		bool		got = pfs_block_read(&b, &lock, i, cell);

		FUZZ_CHECK(got == (b.cells != NULL && lock.word % 2 == 0));
		FUZZ_CHECK(pfs_block_look(&b, i, cell) == (b.cells != NULL));
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
	PfsPagesSpec spec = {"fuzz", 8 * (1 + fuzz_take(in, 1)), records_max, fuzz_take(in, 1) % 8};
	Made		m = {.seg = {.os_page = 4096}};
	PfsPages   *c = NULL;
	PfsHash    *h = NULL;
	uint64_t   *slots;
	uint32_t	nslots;
	PfsPagesStats stats;
	char	   *record = malloc(spec.record_size);
	uint32_t	pos = 0;
	uint32_t	n = 0;
	uint32_t	index;
	uint64_t	word;
	uint64_t	key;

	for (int pass = 0; next_pass(&m, pass); pass++)
	{
		c = pfs_pages_create(&m.seg, &spec);
		h = pfs_hash_create(&m.seg, c, records_max, key_equal);
	}
	c->available = fuzz_take(in, 4) | (uint64_t) (fuzz_take(in, 1) % (c->pages_max + 1)) << 32;
	for (uint32_t i = 0; i < c->pages_max; i++)
		c->page_state[i] = fuzz_take(in, 1) % 4;
	for (uint32_t i = 0; i < records_max; i++)
		c->state[i] = fuzz_take(in, 2);
	key = fuzz_take(in, 8);

	/* The slots are the last part of the index. */
	nslots = (uint32_t) ((m.memory + m.seg.used - (char *) h) / sizeof(uint64_t));
	nslots = nslots < 2 * records_max ? nslots : 2 * records_max;
	slots = (uint64_t *) (m.memory + m.seg.used) - nslots;
	for (uint32_t i = 0; i < nslots; i++)
	{
		uint64_t	choice = fuzz_take(in, 1);

		slots[i] = choice % 4 == 0 ? 0 :
			((choice & 8 ? pfs_hash_bytes(&key, 8) : fuzz_take(in, 8)) & UINT64_C(0xFFFFFFFF00000000)) |
			(1 + choice / 4 % records_max);
	}
	fuzz_fill(in, c->memory, c->pages_max * c->page_bytes);

	while ((index = pfs_pages_next(c, &pos, &word)) != PFS_NO_RECORD)
	{
		uint64_t	again;

		FUZZ_CHECK(index < records_max && (word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED && n++ < records_max);
		FUZZ_CHECK(pfs_pages_copy(c, index, 0, record, spec.record_size, &again) && again == word);
	}
	for (index = 0; index < records_max; index++)
		FUZZ_CHECK(pfs_pages_copy(c, index, 0, record, spec.record_size, &word) ==
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
fuzz_log(FuzzInput *in)
{
	uint32_t	lanes = 1 + fuzz_take(in, 1) % 3;
	uint32_t	capacity = 1 + fuzz_take(in, 1) % 40;
	uint32_t	item_size = 8 * (1 + fuzz_take(in, 1) % 8);
	Made		m = {.seg = {.os_page = 4096}};
	char	   *item = malloc(item_size);
	PfsLog	   *log = NULL;
	PfsLogClaim claim;

	for (int pass = 0; next_pass(&m, pass); pass++)
		log = pfs_log_create(&m.seg, lanes, capacity, item_size);
	for (int claims = fuzz_take(in, 1); claims > 0; claims--)
	{
		uint32_t	lane = fuzz_take(in, 1);
		uint32_t	choice = fuzz_take(in, 1);

		if (!pfs_log_claim(log, lane, 1 + choice % PFS_LOG_GROUP, &claim))
			continue;
		FUZZ_CHECK(claim.lane < lanes && claim.count >= 1 && claim.count <= PFS_LOG_GROUP &&
				   claim.first + claim.count <= pfs_log_slots(log));

		/*
		 * Its writer dies before, in the middle, or never; the slots get any
		 * bytes.
		 */
		for (uint32_t i = 0; i < claim.count; i++)
		{
			fuzz_fill(in, item, item_size);
			if (choice & 0x10)
				pfs_log_store(log, &claim, i, item);
			else if (choice & 0x20)
				memcpy(pfs_log_slot(&claim, i, item_size), item, item_size);
			else if (choice & 0x40)
				pfs_log_slot_begin(&claim, i, pfs_log_slot(&claim, i, item_size));
		}
		if (choice == 0xFF)
			pfs_log_truncate(log);
	}
	for (uint32_t lane = 0; lane < lanes; lane++)
		for (uint32_t slot = 0; slot < pfs_log_slots(log); slot++)
			if (pfs_log_read(log, lane, slot, item))
				FUZZ_CHECK(*(uint64_t *) item % 2 == 0);
	free(item);
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

	switch (fuzz_take(&in, 1) % 5)
	{
		case 0:
			fuzz_ring(&in);
			break;
		case 1:
			fuzz_block(&in);
			break;
		case 2:
			fuzz_pages(&in);
			break;
		case 3:
			fuzz_log(&in);
			break;
		default:
			fuzz_histogram(&in);
	}
	return 0;
}
