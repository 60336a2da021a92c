/*
 * hammer_cost.c
 *	  What the hot operations cost alone, in cycles of the time stamp counter.
 *	  Figures, not a test: the best of several rounds, divided by the number.
 */
#include "hammer.h"
#include "pfs_cell.h"
#include "pfs_hash.h"
#include "pfs_log.h"
#include "pfs_ring.h"

#define ROUNDS	200
#define TIMES	1000
#define ITEM_SIZE	(16 * sizeof(uint64_t))

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

static inline void
log_items(PfsLog *log, uint32_t n, const uint64_t *item)
{
	PfsLogClaim claim;

	if (!pfs_log_claim(log, 0, n, &claim))
		hammer_fail("no claim when nobody writes");
	for (uint32_t i = 0; i < claim.count; i++)
		pfs_log_store_sized(&claim, i, item, ITEM_SIZE);
}

/* The changes of a wait's end, each under a lock of its own here. */
static inline void
ring_item(PfsRing *ring, PfsSeqlock *lock, const uint64_t *item)
{
	pfs_seqlock_write_begin(lock);
	memcpy(pfs_ring_spare(ring, 0), item, ITEM_SIZE);
	pfs_ring_push(ring, 0);
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
	PfsLog	   *log = NULL;
	char	   *items = NULL;
	char	   *cells = NULL;
	PfsRing		ring;
	PfsSeqlock	lock = {0};
	PfsBlock	block = {.ncells = 0};
	PfsPagesSpec spec = {"cost", 128, 1000, 100};
	uint64_t	item[16] = {0};
	uint32_t	hint = 0;
	uint64_t	key = 5;
	uint64_t	word;

	for (hammer_segment_begin(&s); hammer_segment_pass(&s);)
	{
		pages = pfs_pages_create(&s.seg, &spec);
		hash = pfs_hash_create(&s.seg, pages, 1000, equal);
		log = pfs_log_create(&s.seg, 1, 1000, sizeof(item));
		items = pfs_segment_take(&s.seg, pfs_ring_size(10, 1, sizeof(item)), PFS_CACHE_LINE);
		cells = pfs_segment_take(&s.seg, pfs_block_size(300, sizeof(PfsCell)), PFS_CACHE_LINE);
	}
	pfs_ring_init(&ring, items, 10, 1, sizeof(item));
	pfs_block_init(&block, cells, 300, sizeof(PfsCell));

	COST("reading the counter", 1, (void) hammer_ticks());
	(void) pfs_pages_allocate(pages, &hint);	/* the page stays open */
	COST("pages, allocate and free", 1, pfs_pages_free(pages, pfs_pages_allocate(pages, &hint)));
	COST("log, claim 16 and store, per item of 128 bytes", PFS_LOG_GROUP, log_items(log, PFS_LOG_GROUP, item));
	COST("log, claim 1 and store, item of 128 bytes", 1, log_items(log, 1, item));
	COST("ring, item of 128 bytes", 1, ring_item(&ring, &lock, item));
	COST("cell, add to one", 1, add_to_cell(&block, &lock, 7, n_));
	COST("cell, add to several", 1, add_to_cell(&block, &lock, n_ % 16, n_));
	insert_key(hash, &key, &hint, &word);
	COST("hash, find with hashing 8 bytes", 1, find_key(hash, &key));
	key = 6;
	COST("hash, insert and remove", 1, insert_and_remove(hash, pages, &key, &hint));
	hammer_segment_end(&s);
}
