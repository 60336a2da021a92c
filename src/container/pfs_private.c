/*
 * pfs_private.c
 *	  Private memory of one process: what calls the system.
 */
#include <errno.h>
#include <sys/mman.h>

#include "pfs_private.h"

static void *
map(size_t size, int protection, int flags)
{
	int			save_errno = errno;
	void	   *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	errno = save_errno;
	return memory == MAP_FAILED ? NULL : memory;
}

void *
pfs_private_map(size_t size, bool populate)
{
	return map(size, PROT_READ | PROT_WRITE, populate ? MAP_POPULATE : 0);
}

void
pfs_private_unmap(void *memory, size_t size)
{
	int			save_errno = errno;

	if (memory != NULL)
		(void) munmap(memory, size);
	errno = save_errno;
}

/* ---- pools ---- */

/* Address space of all items, in whole steps. */
static size_t
reserved(const PfsPool *pool)
{
	size_t		bytes = (size_t) pool->max * pool->item_size;

	return (bytes + PFS_POOL_STEP - 1) / PFS_POOL_STEP * PFS_POOL_STEP;
}

/* What is usable, in whole steps. */
static size_t
usable_bytes(const PfsPool *pool)
{
	size_t		bytes = (size_t) pool->usable * pool->item_size;

	return (bytes + PFS_POOL_STEP - 1) / PFS_POOL_STEP * PFS_POOL_STEP;
}

/*
 * Makes the next step of the reserved address space accessible.  Items stay where they
 * are, so pointers to them stay valid.
 */
bool
pfs_pool_grow(PfsPool *pool)
{
	size_t		usable = usable_bytes(pool);
	int			save_errno = errno;

	if (pfs_pool_has_room(pool))
		return true;
	if (usable == reserved(pool))
		return false;
	if (pool->items == NULL)
		pool->items = map(reserved(pool), PROT_NONE, MAP_NORESERVE);
	if (pool->items != NULL && mprotect(pool->items + usable, PFS_POOL_STEP, PROT_READ | PROT_WRITE) == 0)
		pool->usable = (usable + PFS_POOL_STEP) / pool->item_size;
	errno = save_errno;
	return pfs_pool_has_room(pool);
}

void
pfs_pool_shrink_now(PfsPool *pool)
{
	int			save_errno = errno;

	pool->free = NULL;
	(void) madvise(pool->items + PFS_POOL_STEP, usable_bytes(pool) - PFS_POOL_STEP, MADV_DONTNEED);
	pool->used = 0;
	errno = save_errno;
}

void
pfs_pool_destroy(PfsPool *pool)
{
	pfs_private_unmap(pool->items, reserved(pool));
	pool->items = NULL;
	pool->free = NULL;
	pool->used = pool->usable = pool->live = 0;
}

/* ---- indexes ---- */

/* All items from one array of buckets to another, those of each old bucket in their order. */
static void
move_items(PfsIndexLink **from, uint32_t from_bits, PfsIndex *to)
{
	for (uint32_t i = 0; i < UINT32_C(1) << from_bits; i++)
	{
		PfsIndexLink *reversed = NULL;
		PfsIndexLink *link = from[i];

		while (link != NULL)
		{
			PfsIndexLink *next = link->next;

			link->next = reversed;
			reversed = link;
			link = next;
		}
		from[i] = NULL;
		while (reversed != NULL)
		{
			PfsIndexLink *next = reversed->next;
			PfsIndexLink **bucket = pfs_index_bucket(to, reversed->key);

			reversed->next = *bucket;
			*bucket = reversed;
			reversed = next;
		}
	}
}

/* The number of buckets grows by factors of four; without items it is the first one again. */
void
pfs_index_resize(PfsIndex *index)
{
	PfsIndexLink **old = index->buckets;
	uint32_t	old_bits = old == NULL ? PFS_INDEX_FIRST_BITS : index->bits;
	uint32_t	bits = old_bits;
	PfsIndexLink **buckets = NULL;

	if (!pfs_index_has_room(index))
		bits += 2;
	else if (index->items == 0)
		bits = PFS_INDEX_FIRST_BITS;
	if (bits == old_bits || bits > 30)
		return;
	if (bits > PFS_INDEX_FIRST_BITS)
	{
		buckets = pfs_private_map(sizeof(*buckets) << bits, false);
		if (buckets == NULL)
			return;
	}
	index->buckets = buckets;
	index->bits = bits;
	move_items(old == NULL ? index->first : old, old_bits, index);
	if (old != NULL)
		pfs_private_unmap(old, sizeof(*old) << old_bits);
}
