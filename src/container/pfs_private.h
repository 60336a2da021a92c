/*
 * pfs_private.h
 *	  Private memory of one process, straight from the system: a pool of items
 *	  of one size that stay where they are, and an index over items by a key of
 *	  64 bits.
 *
 * Apart from the other containers, which lie in shared memory: what is here is
 * seen by its process alone.  It does not come from malloc(), because instrument
 * points run inside of allocators, and because memory is to be had at a moment
 * that the caller chooses: an item is taken and an index is added to without any
 * system call, for which the caller has made room before, where it is not
 * changing what others read.
 *
 * None of this may be called by a signal handler.
 */
#ifndef PFS_PRIVATE_H
#define PFS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory; populate: all pages at once.  NULL: the system gives none.  errno stays. */
extern void *pfs_private_map(size_t size, bool populate);
extern void pfs_private_unmap(void *memory, size_t size);	/* NULL: nothing */

/* ---- pools ---- */

/*
 * Address space for `max` items is reserved at the first use, without access, so
 * that no system counts it as memory; it is made usable from its begin, step by
 * step.  Free items are a list through their last words.
 */
typedef struct PfsPool
{
	uint32_t	item_size;		/* bytes, a multiple of 8 */
	uint32_t	max;			/* items */
	uint32_t	used;			/* items that were ever taken */
	uint32_t	usable;			/* items */
	uint32_t	live;			/* items that are taken now */
	char	   *items;			/* NULL: nothing reserved yet */
	void	   *free;
} PfsPool;

#define PFS_POOL_INIT(size, most) {.item_size = (size), .max = (most)}

/* Bytes that become usable at a time: whole pages, of up to 64 kB each. */
#define PFS_POOL_STEP (128 * 1024)

/* Room for one more; false: the pool is full, or the system gives none.  May call the system. */
extern bool pfs_pool_grow(PfsPool *pool);

/* Does pfs_pool_claim() find an item? */
static inline bool
pfs_pool_has_room(const PfsPool *pool)
{
	return pool->free != NULL || pool->used < pool->usable;
}

static inline void **
pfs_pool_link(const PfsPool *pool, void *item)
{
	return (void **) ((char *) item + pool->item_size - sizeof(void *));
}

/* An item of any content; NULL: there is no room. */
static inline void *
pfs_pool_claim(PfsPool *pool)
{
	void	   *item = pool->free;

	if (item != NULL)
		pool->free = *pfs_pool_link(pool, item);
	else if (pool->used < pool->usable)
		item = pool->items + (size_t) pool->used++ * pool->item_size;
	else
		return NULL;
	pool->live++;
	return item;
}

static inline void
pfs_pool_put(PfsPool *pool, void *item)
{
	*pfs_pool_link(pool, item) = pool->free;
	pool->free = item;
	pool->live--;
}

/*
 * When no item is taken: the system gets all pages back but those of the first
 * step.  Addresses stay readable, as zeroes.  May call the system.
 */
extern void pfs_pool_shrink_now(PfsPool *pool);

static inline void
pfs_pool_shrink(PfsPool *pool)
{
	if (pool->live == 0 && (size_t) pool->used * pool->item_size > PFS_POOL_STEP)
		pfs_pool_shrink_now(pool);
}

/* Everything goes back; the pool is as new. */
extern void pfs_pool_destroy(PfsPool *pool);

/* ---- indexes ---- */

/*
 * What an item in an index has in it.  Several may have one key: the newest comes
 * first.
 */
typedef struct PfsIndexLink
{
	struct PfsIndexLink *next;	/* in the same bucket */
	uint64_t	key;
} PfsIndexLink;

#define PFS_INDEX_FIRST_BITS 4

/*
 * Buckets of a power of two, by the upper bits of the key times a constant.  The
 * first ones lie in the struct, so that a few items need no memory.  Without
 * memory for more buckets a search takes more steps, and nothing else changes.
 */
typedef struct PfsIndex
{
	PfsIndexLink **buckets;		/* NULL: those of the struct */
	uint32_t	bits;			/* of the number of buckets, if they are
								 * mapped */
	uint32_t	items;
	PfsIndexLink *first[1 << PFS_INDEX_FIRST_BITS];
} PfsIndex;

/* May an item be added without the buckets becoming too long? */
static inline bool
pfs_index_has_room(const PfsIndex *index)
{
	return index->items < UINT32_C(2) << (index->buckets == NULL ? PFS_INDEX_FIRST_BITS : index->bits);
}

/*
 * More buckets where there is no room, if the system gives any; of an index without
 * items, none but the first ones.  May call the system.
 */
extern void pfs_index_resize(PfsIndex *index);

static inline PfsIndexLink **
pfs_index_bucket(PfsIndex *index, uint64_t key)
{
	uint64_t	mixed = key * UINT64_C(0x9E3779B97F4A7C15);

	return index->buckets == NULL ? &index->first[mixed >> (64 - PFS_INDEX_FIRST_BITS)]
		: &index->buckets[mixed >> (64 - index->bits)];
}

/* The newest item with the key, or the next older one behind a link; NULL: none. */
static inline PfsIndexLink *
pfs_index_next(PfsIndexLink *link, uint64_t key)
{
	while (link != NULL && link->key != key)
		link = link->next;
	return link;
}

static inline PfsIndexLink *
pfs_index_find(PfsIndex *index, uint64_t key)
{
	return pfs_index_next(*pfs_index_bucket(index, key), key);
}

static inline void
pfs_index_add(PfsIndex *index, PfsIndexLink *link, uint64_t key)
{
	PfsIndexLink **bucket = pfs_index_bucket(index, key);

	link->key = key;
	link->next = *bucket;
	*bucket = link;
	index->items++;
}

/* The link is in the index. */
static inline void
pfs_index_remove(PfsIndex *index, PfsIndexLink *link)
{
	PfsIndexLink **at = pfs_index_bucket(index, link->key);

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	index->items--;
}

#endif							/* PFS_PRIVATE_H */
