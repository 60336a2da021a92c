/*
 * pfs_items.c
 *	  Items that vary in size: the pool of chunks, and copies for readers.
 */
#include "pfs_items.h"

/* Times that a reader looks at a place that is being written; a write is a few hundred stores. */
#define READ_TRIES	1000

/* Lays out the struct, the places, and the pool. */
PfsItems *
pfs_items_create(PfsSegment *seg, const char *name, uint32_t nplaces, uint32_t nchunks)
{
	size_t		before = seg->used;
	PfsItems   *items = pfs_segment_take(seg, sizeof(PfsItems), PFS_CACHE_LINE);
	PfsItemPlace *places = pfs_segment_take(seg, nplaces * sizeof(PfsItemPlace), PFS_CACHE_LINE);
	uint32_t   *next = pfs_segment_take(seg, nchunks * sizeof(uint32_t), PFS_CACHE_LINE);
	char	   *chunks = pfs_segment_take(seg, (size_t) nchunks * PFS_ITEM_CHUNK, PFS_CACHE_LINE);

	if (items == NULL)
		return NULL;
	items->name = name;
	items->nplaces = nplaces;
	items->nchunks = nchunks;
	items->bytes_reserved = seg->used - before;
	items->places = places;
	items->chunks = chunks;
	items->next = next;
	return items;
}

/* Writer: takes a chunk that is free, as there is one. */
static uint32_t
take_chunk(PfsItems *items)
{
	uint32_t	chunk;

	if (items->free != 0)
	{
		chunk = items->free - 1;
		items->free = pfs_load_relaxed(&items->next[chunk]);
	}
	else
		chunk = items->opened++;
	items->used++;
	return chunk;
}

/* Writer: gives an item's chunks back, the first one last, so that it is taken first. */
static void
free_chunks(PfsItems *items, uint32_t first, uint32_t bytes)
{
	uint32_t	n = pfs_item_chunks(bytes);
	uint32_t	last = first;

	for (uint32_t i = 1; i < n; i++)
		last = items->next[last] - 1;
	pfs_store_relaxed(&items->next[last], items->free);
	items->free = first + 1;
	items->used -= n;
}

/* Writer: empties a place.  What its chunks get from now on comes behind the odd word. */
void
pfs_items_drop(PfsItems *items, uint32_t place)
{
	PfsItemPlace *p = &items->places[place];
	uint32_t	bytes = p->bytes;

	if (bytes == 0)
		return;
	pfs_seqlock_write_begin(&p->lock);
	pfs_store_relaxed(&p->bytes, 0);
	pfs_seqlock_write_end(&p->lock);
	free_chunks(items, p->first, bytes);
}

/*
 * Writer: stores an item.  The chunks are filled inside of the write section, though no
 * reader is led to them before its end: so the section's stores are all there is to order.
 */
bool
pfs_items_put(PfsItems *items, uint32_t place, const void *item, uint32_t bytes)
{
	PfsItemPlace *p = &items->places[place];
	uint32_t	n = pfs_item_chunks(bytes);
	uint32_t	chunk = 0;

	pfs_items_drop(items, place);
	if (bytes == 0 || n > items->nchunks - items->used)
		return false;
	if (place >= items->places_opened)
		items->places_opened = place + 1;
	pfs_seqlock_write_begin(&p->lock);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	rest = bytes - i * PFS_ITEM_CHUNK;
		uint32_t	taken = take_chunk(items);

		if (i == 0)
			pfs_store_relaxed(&p->first, taken);
		else
			pfs_store_relaxed(&items->next[chunk], taken + 1);
		chunk = taken;
		rest = rest < PFS_ITEM_CHUNK ? (rest + 7) & ~7U : PFS_ITEM_CHUNK;
		pfs_racy_copy(items->chunks + (size_t) chunk * PFS_ITEM_CHUNK, (const char *) item + (size_t) i * PFS_ITEM_CHUNK,
					  rest);
	}
	pfs_store_relaxed(&p->bytes, bytes);
	pfs_seqlock_write_end(&p->lock);
	return true;
}

/*
 * Copies what a place leads to, which may be of several items while it is written.  False:
 * a link leads nowhere.
 */
static bool
copy_chunks(const PfsItems *items, uint32_t chunk, char *to, uint32_t bytes)
{
	while (bytes > 0)
	{
		uint32_t	part = bytes < PFS_ITEM_CHUNK ? bytes : PFS_ITEM_CHUNK;

		if (chunk >= items->nchunks)
			return false;
		pfs_racy_copy(to, items->chunks + (size_t) chunk * PFS_ITEM_CHUNK, part);
		to += part;
		bytes -= part;
		if (bytes > 0)
			chunk = pfs_load_relaxed(&items->next[chunk]) - 1;
	}
	return true;
}

/* Any process: a whole copy, or the whole begin of it. */
uint32_t
pfs_items_copy(const PfsItems *items, uint32_t place, void *to, uint32_t room)
{
	const PfsItemPlace *p = &items->places[place];

	for (int i = 0; i < READ_TRIES; i++)
	{
		uint64_t	word = pfs_seqlock_read_begin(&p->lock);
		uint32_t	first = pfs_load_relaxed(&p->first);
		uint32_t	bytes = pfs_load_relaxed(&p->bytes);
		uint32_t	wanted = (bytes + 7) & ~7U;
		bool		followed;

		if ((word & 1) != 0)
		{
			pfs_pause();
			continue;
		}
		followed = copy_chunks(items, first, to, wanted < room ? wanted : room);
		if (pfs_seqlock_read_valid(&p->lock, word) && followed)
			return bytes;
	}
	return 0;
}

size_t
pfs_items_resident(const PfsItems *items)
{
	return sizeof(PfsItems) + (size_t) items->places_opened * PFS_ITEM_PLACE_BYTES +
		(size_t) items->opened * PFS_ITEM_CHUNK_BYTES;
}
