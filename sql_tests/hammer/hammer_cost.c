/*
 * hammer_cost.c
 *	  What the hot operations cost alone, in cycles of the time stamp counter.
 *	  Figures, not a test: the best of several rounds, divided by the number.
 */
#include "hammer.h"
#include "pfs_blocks.h"
#include "pfs_cell.h"
#include "pfs_hash.h"

#define ROUNDS	200
#define TIMES	1000
#define ITEM_SIZE	(8 * sizeof(uint64_t))

#define COST(name, per, statement) \
	do { \
		uint64_t best = UINT64_MAX; \
		for (int r_ = 0; r_ < ROUNDS; r_++) \
		{ \
			uint64_t t_ = hammer_ticks(); \
			for (int n_ = 0; n_ < TIMES; n_++) \
			{ statement; } \
			t_ = hammer_ticks() - t_; \
			if (t_ < best) \
				best = t_; \
		} \
		hammer_done("cost, " name, "%.1f cycles", (double) best / TIMES / (per)); \
	} while (0)

static bool
equal(const void *record, const void *key)
{
	return *(const uint64_t *) record == *(const uint64_t *) key;
}

static void
fill(void *record, const void *key, void *arg)
{
	*(uint64_t *) record = *(const uint64_t *) key;
}

/* The changes of a wait's end, each under a lock of its own here. */
static inline void
block_item(PfsBlocks *blocks, PfsBlockWriter *w, PfsSeqlock *lock, const uint64_t *item)
{
	pfs_seqlock_write_begin(lock);
	if (!pfs_block_has_room(w, ITEM_SIZE) && !pfs_block_advance(blocks, w, 0, ITEM_SIZE))
		hammer_fail("no block for a single writer");
	memcpy(w->next, item, ITEM_SIZE);
	pfs_block_done(w, ITEM_SIZE, PFS_BLOCK_COUNTS(1, 1));
	pfs_seqlock_write_end(lock);
}

static inline void
add_to_cell(PfsBlock *block, PfsSeqlock *lock, uint32_t i, uint64_t n)
{
	pfs_seqlock_write_begin(lock);
	pfs_cells_add(block, i, n);
	pfs_seqlock_write_end(lock);
}

static inline uint32_t
insert_key(PfsHash *hash, const uint64_t *key, uint32_t *hint, uint64_t *word)
{
	bool		created;

	return pfs_hash_insert(hash, pfs_hash_bytes(key, 8), key, fill, NULL, hint, word, &created);
}

static inline void
find_key(PfsHash *hash, const uint64_t *key)
{
	uint64_t	word;

	if (pfs_hash_find(hash, pfs_hash_bytes(key, 8), key, &word) == PFS_NO_RECORD)
		hammer_fail("not found");
}

static inline void
insert_and_remove(PfsHash *hash, PfsPages *pages, const uint64_t *key, uint32_t *hint)
{
	uint64_t	word;
	uint32_t	index = insert_key(hash, key, hint, &word);

	if (!pfs_hash_remove(hash, pfs_hash_bytes(key, 8), index, word))
		hammer_fail("not removed");
	pfs_pages_free(pages, index);
}

void
hammer_cost(void)
{
	HammerSegment s;
	PfsPages   *pages = NULL;
	PfsHash    *hash = NULL;
	PfsBlocks  *blocks = NULL;
	char	   *cells = NULL;
	PfsBlocksSpec kept = {1, 1000, 10, ITEM_SIZE, ITEM_SIZE, 1, 32 * ITEM_SIZE};
	PfsBlockWriter writer;
	char		own[64] __attribute__((aligned(8)));
	PfsSeqlock	lock = {0};
	PfsBlock	block = {.ncells = 0};
	uint64_t	item[8] = {0};
	uint32_t	hint = 0;
	uint64_t	key = 5;
	uint64_t	word;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		pages = pfs_pages_create(&s.seg, "cost", 128, 1000, 100);
		hash = pfs_hash_create(&s.seg, pages, 1000, equal);
		blocks = pfs_blocks_create(&s.seg, &kept);
		cells = pfs_segment_take(&s.seg, pfs_block_size(300, sizeof(PfsCell), 0), PFS_CACHE_LINE);
	}
	pfs_block_writer_init(&writer, (PfsOwnBlocks *) own);
	pfs_block_init(&block, cells, 300, sizeof(PfsCell), 0);

	COST("reading the counter", 1, (void) hammer_ticks());
	(void) pfs_pages_allocate(pages, &hint);	/* the page stays open */
	COST("pages, allocate and free", 1, pfs_pages_free(pages, pfs_pages_allocate(pages, &hint)));
	COST("blocks, item of 64 bytes", 1, block_item(blocks, &writer, &lock, item));
	COST("cell, add to one", 1, add_to_cell(&block, &lock, 7, n_));
	COST("cell, add to several", 1, add_to_cell(&block, &lock, n_ % 16, n_));
	insert_key(hash, &key, &hint, &word);
	COST("hash, find with hashing 8 bytes", 1, find_key(hash, &key));
	key = 6;
	COST("hash, insert and remove", 1, insert_and_remove(hash, pages, &key, &hint));
	hammer_segment_end(&s);
}
