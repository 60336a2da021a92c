/*
 * pfs_ring.c
 *	  The ring of one writer: set-up and the readers' side.
 */
#include "pfs_ring.h"

/*
 * One write section of the owner pushes up to `spares` items, all behind one
 * fence: so many positions beside the readers' keep all of them apart.
 */
static uint32_t
ring_length(uint32_t capacity, uint32_t spares)
{
	uint32_t	length = 1;

	if (capacity == 0)
		return 0;
	while (length < capacity + spares)
		length *= 2;
	return length;
}

size_t
pfs_ring_size(uint32_t capacity, uint32_t spares, uint32_t item_size)
{
	uint32_t	length = ring_length(capacity, spares);
	size_t		size = (size_t) (length + spares) * item_size + length * sizeof(uint32_t);

	return (size + 7) & ~(size_t) 7;
}

/* Gives each place of the ring and each level a slot of its own. */
void
pfs_ring_init(PfsRing *r, void *mem, uint32_t capacity, uint32_t spares, uint32_t item_size)
{
	r->head = 0;
	r->capacity = capacity;
	r->length = ring_length(capacity, spares);
	r->item_size = item_size;
	r->spares = spares;
	r->items = mem;
	r->order = (uint32_t *) (r->items + (size_t) (r->length + spares) * item_size);
	for (uint32_t i = 0; i < r->length; i++)
		r->order[i] = i * item_size;
	for (uint32_t i = 0; i < spares; i++)
		r->spare[i] = (r->length + i) * item_size;
}

/*
 * What is set at init is read once: while the memory changes hands, it is 0 or
 * what it was.
 */
bool
pfs_ring_read(const PfsRing *r, uint64_t pos, void *dst)
{
	uint64_t	head = pfs_load_acquire(&r->head);	/* D */
	uint32_t	capacity = pfs_load_relaxed(&r->capacity);
	uint32_t	length = pfs_load_relaxed(&r->length);
	uint32_t	item_size = pfs_load_relaxed(&r->item_size);
	uint32_t	spares = pfs_load_relaxed(&r->spares);
	const char *items = pfs_load_relaxed(&r->items);
	const uint32_t *order = pfs_load_relaxed(&r->order);
	uint32_t	offset;

	if (pos >= head || head - pos > capacity)
		return false;
	if (length == 0 || items == NULL || order == NULL)
		return false;
	offset = pfs_load_relaxed(&order[pos & (length - 1)]);
	/* While another owner sets the ring up, anything may stand there. */
	if (offset > (length + spares - 1) * item_size)
		return false;
	pfs_racy_copy(dst, items + offset, item_size);
	pfs_fence_acquire();		/* C */
	return pfs_load_relaxed(&r->head) - pos <= capacity;
}
