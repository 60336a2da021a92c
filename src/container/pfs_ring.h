/*
 * pfs_ring.h
 *	  The ring of one writer: what a thread is doing, and what it did last.
 *
 * A ring of the newest `capacity` finished items and `spares` items in the
 * making, one for each level of nesting.  An item is filled in place and never
 * copied by its writer: to finish it, the ring and the spare exchange slots
 * (offsets).  Positions count finished items from 0 and never wrap (64 bits).
 *
 * Written by the owner only; read by any process.  A finished item is not
 * touched until its position is too old, so readers need no more than the head.
 * Items in the making are guarded by the owner: it holds a sequence lock for
 * every push, whose edge A also orders the head of before the push in front of
 * whatever is stored into a slot that a push gave up.
 */
#ifndef PFS_RING_H
#define PFS_RING_H

#include "pfs_seqlock.h"

#define PFS_RING_SPARES_MAX 10

typedef struct PfsRing
{
	uint64_t	head;			/* items ever finished = next position */
	uint32_t	capacity;		/* set at init; finished items that readers
								 * get */
	uint32_t	length;			/* set at init; a power of two, at least
								 * capacity + spares; 0: none are kept */
	uint32_t	item_size;		/* set at init; bytes, multiple of 8 */
	uint32_t	spares;			/* set at init */
	char	   *items;			/* set at init; length + spares slots */
	uint32_t   *order;			/* set at init; [length] offsets of finished
								 * items */
	uint32_t	spare[PFS_RING_SPARES_MAX]; /* offset per level */
} PfsRing;

/* Bytes of memory that a ring needs behind its struct; a multiple of 8. */
extern size_t pfs_ring_size(uint32_t capacity, uint32_t spares, uint32_t item_size);

/* mem: pfs_ring_size bytes, aligned as the items want it; any content. */
extern void pfs_ring_init(PfsRing *r, void *mem, uint32_t capacity, uint32_t spares,
						  uint32_t item_size);

/* Owner: the item in the making at a level; stays in place until it is pushed. */
static inline void *
pfs_ring_spare(const PfsRing *r, uint32_t level)
{
	return r->items + pfs_load_relaxed(&r->spare[level]);
}

/*
 * Any process: the same, to copy under the owner's lock; NULL while the memory
 * changes hands.
 */
static inline const void *
pfs_ring_look(const PfsRing *r, uint32_t level)
{
	const char *items = pfs_load_relaxed(&r->items);

	return items == NULL ? NULL : items + pfs_load_relaxed(&r->spare[level]);
}

/*
 * Owner: the level's item is finished.  The slot that has been finished longest
 * goes to the level.  Its position is `length` old, more than readers are given,
 * so they are done with it before the exchange begins:
 *
 * (A) pairs with (C) in pfs_ring_read(): who sees the exchanged offset sees
 * the head of before the push, and so that the position is too old.
 * (B) pairs with (D) there: who sees the head sees the item and its offset.
 *
 * Returns the new head.
 */
static inline uint64_t
pfs_ring_push(PfsRing *r, uint32_t level)
{
	uint64_t	head = r->head;
	uint32_t   *order = &r->order[head & (r->length - 1)];
	uint32_t	finished = r->spare[level];
	uint32_t	oldest = *order;

	pfs_store_release(order, finished); /* A */
	pfs_store_relaxed(&r->spare[level], oldest);
	pfs_store_release(&r->head, head + 1);	/* B */
	return head + 1;
}

/*
 * Owner: the finished item at a position, which must be one of the newest
 * `capacity`.
 */
static inline const void *
pfs_ring_item(const PfsRing *r, uint64_t pos)
{
	return r->items + r->order[pos & (r->length - 1)];
}

/*
 * Any process: copy the finished item at position pos into dst (item_size
 * bytes).  False if it is not there any more, or not yet.
 */
extern bool pfs_ring_read(const PfsRing *r, uint64_t pos, void *dst);

#endif							/* PFS_RING_H */
