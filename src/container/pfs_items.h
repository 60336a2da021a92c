/*
 * pfs_items.h
 *	  Items that vary in size, of one writer and many readers: numbered places, each
 *	  empty or with an item, whose bytes lie in small chunks of one pool.
 *
 * Memory is used for what items have, not for the largest that each could have, and the
 * chunk that was given back last is taken first, so no more becomes resident than was ever
 * needed at a time.  Which place is the next one, or the one to be given up, the writer
 * decides: a ring, or what was used longest ago.  Separate from pfs_pages.h, where
 * everybody allocates, and each record has the same size.
 *
 * Each place has a sequence lock, and nothing of its item, nor any chunk that it had,
 * changes but behind the odd word (README.md: A -> D).  So a copy whose place has kept
 * its word is whole, even if the reader has followed chunks of another item meanwhile.
 */
#ifndef PFS_ITEMS_H
#define PFS_ITEMS_H

#include "pfs_segment.h"
#include "pfs_seqlock.h"

/* Bytes of a chunk: what an item takes at least. */
#define PFS_ITEM_CHUNK	PFS_CACHE_LINE

typedef struct PfsItemPlace
{
	PfsSeqlock	lock;
	uint32_t	first;			/* chunk; with bytes > 0 */
	uint32_t	bytes;			/* of the item; 0: empty */
} PfsItemPlace;

typedef struct PfsItems
{
	/* set at creation, never changes */
	const char *name;
	uint32_t	nplaces;
	uint32_t	nchunks;
	size_t		bytes_reserved;
	PfsItemPlace *places;
	char	   *chunks;			/* [nchunks] of PFS_ITEM_CHUNK bytes */
	uint32_t   *next;			/* [nchunks]: number and one of the item's
								 * next chunk, or of the next free one */

	/* the writer's; all read them for the figures */
	uint32_t	free;			/* number and one of the chunk given back
								 * last; 0: none */
	uint32_t	opened;			/* chunks below it were ever used */
	uint32_t	used;			/* chunks of items */
	uint32_t	places_opened;	/* places below it were ever used */
	uint64_t	lost;			/* counted by who has to give something up */
} PfsItems;

/*
 * Chunks of as many bytes as an item of so many takes.
 */
static inline uint32_t
pfs_item_chunks(uint32_t bytes)
{
	return (bytes + PFS_ITEM_CHUNK - 1) / PFS_ITEM_CHUNK;
}

/* What a place, and a chunk with its link, take from the memory. */
#define PFS_ITEM_PLACE_BYTES	sizeof(PfsItemPlace)
#define PFS_ITEM_CHUNK_BYTES	(PFS_ITEM_CHUNK + sizeof(uint32_t))

/* Lays out the places and the pool; NULL in the sizing pass.  Nothing is touched. */
extern PfsItems *pfs_items_create(PfsSegment *seg, const char *name, uint32_t nplaces, uint32_t nchunks);

/*
 * Writer: stores an item, instead of the one that is there.  False: not enough chunks
 * are free, and the place is empty.  item: padded to a multiple of 8 bytes, aligned.
 */
extern bool pfs_items_put(PfsItems *items, uint32_t place, const void *item, uint32_t bytes);

/* Writer: the place is empty. */
extern void pfs_items_drop(PfsItems *items, uint32_t place);

/* Writer: as now; 0: empty. */
static inline uint32_t
pfs_items_bytes(const PfsItems *items, uint32_t place)
{
	return items->places[place].bytes;
}

/*
 * Any process: copies an item, its first `room` bytes if it has more; room, and the
 * address, are multiples of 8.  Returns all bytes that it has; 0: the place is empty, or
 * is being written for longer than anybody works at it.
 */
extern uint32_t pfs_items_copy(const PfsItems *items, uint32_t place, void *to, uint32_t room);

/* Bytes that were ever touched. */
extern size_t pfs_items_resident(const PfsItems *items);

#endif							/* PFS_ITEMS_H */
