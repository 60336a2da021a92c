/*
 * pfs_context.c
 *	  Entries of contexts, and tracked chunks by address, a set of regions with open
 *	  addressing for each context that has any; all in private memory.
 *
 * Entries stay in their places, in a pool that reserves address space for very many.
 * A set is made anew when half of it is used, in a critical section when it is nearly
 * full; where there is no memory for that it takes nothing more then: the system gives
 * none, or the small sets of one size have used up what is reserved for them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_context.h"
#include "pfs_private.h"

/*
 * The first set of TopMemoryContext, the only context without a parent, and of the
 * others.  In a client backend that counts everything the former has more than 500
 * chunks before its first query: a smaller set would only be copied.
 */
#define FIRST_BITS_TOP 11
#define FIRST_BITS 3
#define LAST_BITS 28

/* Arrays of up to a page of places come from pools, one for each size. */
#define SMALL_BITS 8

/* Address space that is reserved for the arrays of one size: 16,384 of the largest. */
#define PLACES_RESERVED (64 * 1024 * 1024)

/* Chunks begin at multiples of 8 bytes. */
#define PFS_REGION_SIZE (64 * MAXIMUM_ALIGNOF)

struct PfsChunkRegion
{
	uint64		number;			/* its address in units of its size; 0: none */
	uint64		chunks;			/* a bit for each that is tracked */
};

/* Contexts. */
static PfsPool entries = PFS_POOL_INIT(sizeof(PfsContext), PFS_CONTEXTS_MAX);
static PfsContext *found_last;	/* by pfs_context_search() */

/* Arrays of places that are small, by the bits of their size. */
static PfsPool small_places[SMALL_BITS + 1];

/* The only place of a context that has no set. */
static PfsChunkRegion no_region;

const void *pfs_newest_chunks[PFS_NEWEST_CHUNKS];

uintptr_t	pfs_contexts_at = PFS_NO_CONTEXTS;
bool		pfs_contexts_incomplete;

/* ---- arrays of places ---- */

static inline size_t
size_of(uint32 bits)
{
	return sizeof(PfsChunkRegion) << bits;
}

/*
 * Returns an array of 2^bits free places, or NULL if the system gives no memory.
 * Nearly all sets are small, and thousands can come and go in one transaction: so small
 * arrays come from pools.  All pages of a big one are mapped at once: they are used soon, and
 * each would be faulted in twice, as a place is read before it is written.
 */
static PfsChunkRegion *
get_places(uint32 bits)
{
	PfsPool    *pool;

	if (bits > SMALL_BITS)
		return pfs_private_map(size_of(bits), true);
	pool = &small_places[bits];
	if (pool->items == NULL)
		*pool = (PfsPool) PFS_POOL_INIT(size_of(bits), PLACES_RESERVED / size_of(bits));
	if (!pfs_pool_grow(pool))
		return NULL;
	return memset(pfs_pool_claim(pool), 0, size_of(bits));
}

static void
put_places(PfsChunkRegion *places, uint32 bits)
{
	if (bits > SMALL_BITS)
		pfs_private_unmap(places, size_of(bits));
	else
		pfs_pool_put(&small_places[bits], places);
}

/* ---- contexts ---- */

/*
 * Makes the pool of entries, when the process begins to count; returns false if the
 * system gives no memory.
 */
bool
pfs_contexts_start(void)
{
	found_last = NULL;
	pfs_contexts_incomplete = false;
	if (!pfs_pool_grow(&entries))
		return false;
	pfs_contexts_at = (uintptr_t) entries.items;
	return true;
}

/*
 * Unmaps the sets of all contexts, and with `keep` false their entries, too.  An entry
 * that another library may have copied the address of stays mapped, and the next start
 * begins a new pool.
 */
void
pfs_contexts_stop(bool keep)
{
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
		pfs_context_untrack_all(c);
	for (uint32 bits = 0; bits <= SMALL_BITS; bits++)
		pfs_pool_destroy(&small_places[bits]);
	if (keep)
		entries = (PfsPool) PFS_POOL_INIT(sizeof(PfsContext), PFS_CONTEXTS_MAX);
	else
		pfs_pool_destroy(&entries);
	found_last = NULL;
	pfs_contexts_at = PFS_NO_CONTEXTS;
}

static inline void
have_no_set(PfsContext *c)
{
	c->places = &no_region;
	c->nregions = c->mask = 0;
	c->shift = 32;
}

bool
pfs_contexts_have_room(void)
{
	return likely(pfs_pool_has_room(&entries)) || pfs_pool_grow(&entries);
}

/*
 * Makes the entry of a context, which has no chunks yet; its methods are for the caller
 * to fill in.  Where the system gives no memory for it, all further chunks of the
 * context go without an entry, which pfs_contexts_incomplete remembers.
 */
PfsContext *
pfs_context_add(MemoryContext context)
{
	PfsContext *c;

	(void) pfs_contexts_have_room();
	c = pfs_pool_claim(&entries);
	if (unlikely(c == NULL))
	{
		pfs_contexts_incomplete = true;
		return NULL;
	}
	c->context = context;
	c->count = 0;
	c->bytes = 0;
	c->cell = NULL;
	have_no_set(c);
	c->counted = PFS_COUNTED_ALL;
	return c;
}

void
pfs_context_remove(PfsContext *c)
{
	pfs_context_untrack_all(c);
	c->context = NULL;
	pfs_pool_put(&entries, c);
}

/*
 * Returns the first entry in use behind this one, for walks over all entries; NULL:
 * behind the last one.
 */
PfsContext *
pfs_context_next(PfsContext *c)
{
	const PfsContext *end = (const PfsContext *) entries.items + entries.used;

	for (c = c == NULL ? (PfsContext *) entries.items : c + 1; c < end; c++)
	{
		if (c->context != NULL)
			return c;
	}
	return NULL;
}

/*
 * Finds the entry of a context by going through all of them.  Libraries that change
 * methods change few contexts': a search is for the same one again.
 */
PfsContext *
pfs_context_search(MemoryContext context)
{
	if (found_last != NULL && found_last->context == context)
		return found_last;
	for (PfsContext *c = pfs_context_next(NULL); c != NULL; c = pfs_context_next(c))
	{
		if (c->context == context)
			return found_last = c;
	}
	return NULL;
}

/* ---- chunks ---- */

static inline uint64
number_of(const void *chunk)
{
	return (uintptr_t) chunk / PFS_REGION_SIZE;
}

static inline uint64
bit_of(const void *chunk)
{
	return UINT64_C(1) << ((uintptr_t) chunk / MAXIMUM_ALIGNOF % 64);
}

/* The place of a region, or the free one where it would be. */
static inline PfsChunkRegion *
place_of(const PfsContext *c, uint64 number)
{
	uint64		place = (uint64) ((uint32) number * UINT32_C(0x9E3779B9)) >> c->shift;

	while (unlikely(c->places[place].number != number) && c->places[place].number != 0)
		place = (place + 1) & c->mask;
	return &c->places[place];
}

static inline uint32
bits_of(const PfsContext *c)
{
	return 32 - c->shift;
}

static inline uint32
half_of(const PfsContext *c)
{
	return (c->mask + 1) / 2;
}

/* Has the context no set, or one that takes no more? */
static inline bool
is_full(const PfsContext *c)
{
	return c->nregions >= (c->mask + 1) / 8 * 7;
}

/* Returns by how many bits the places of a set are to be numbered when it is made, or made anew. */
static uint32
next_bits(const PfsContext *c)
{
	uint32		used = 0;

	if (c->mask == 0)
		return c->context->parent == NULL ? FIRST_BITS_TOP : FIRST_BITS;
	for (uint64 i = 0; i <= c->mask; i++)
		used += c->places[i].chunks != 0;
	return used > half_of(c) / 2 ? bits_of(c) + 1 : bits_of(c);
}

/*
 * Makes the first set of a context, or one without the regions that have no chunk any more, of twice
 * as many places if they are few.
 */
static void
renew_set(PfsContext *c)
{
	PfsContext	old = *c;
	uint32		bits = next_bits(c);
	PfsChunkRegion *places = bits <= LAST_BITS ? get_places(bits) : NULL;

	if (places == NULL)
		return;
	c->places = places;
	c->nregions = 0;
	c->shift = 32 - bits;
	c->mask = (UINT32_C(1) << bits) - 1;
	if (old.mask == 0)
		return;
	for (uint64 i = 0; i <= old.mask; i++)
	{
		if (old.places[i].chunks != 0)
		{
			*place_of(c, old.places[i].number) = old.places[i];
			c->nregions++;
		}
	}
	put_places(old.places, bits_of(&old));
}

/* The region of this number in a context's set; NULL: there is none. */
static PfsChunkRegion *
find_region(const PfsContext *c, uint64 number)
{
	PfsChunkRegion *region = place_of(c, number);

	return likely(region->number == number) ? region : NULL;
}

/*
 * Adds a region to a context's set, or returns NULL where there is no room for it: a set that could
 * not be made anew is filled to seven eighths.
 */
static PfsChunkRegion *
add_region(PfsContext *c, uint64 number)
{
	PfsChunkRegion *region;

	/*
	 * Asking the system raises no error, but takes its time: in a critical
	 * section only where a chunk would be lost.
	 */
	if (c->nregions >= half_of(c) && (CritSectionCount == 0 || is_full(c)))
		renew_set(c);
	if (is_full(c))
		return NULL;
	region = place_of(c, number);
	*region = (PfsChunkRegion)
	{
		.number = number
	};
	c->nregions++;
	return region;
}

static bool
track_in_region(PfsContext *c, const void *chunk)
{
	PfsChunkRegion *region = find_region(c, number_of(chunk));

	if (unlikely(region == NULL))
		region = add_region(c, number_of(chunk));
	if (unlikely(region == NULL))
		return false;
	region->chunks |= bit_of(chunk);
	return true;
}

static inline bool
has_newest(const PfsContext *c)
{
	return c->context == TopMemoryContext;
}

/* Puts a chunk into the context's set; false: the set is full. */
static bool
track(PfsContext *c, const void *chunk)
{
	const void **newest = pfs_newest_chunk(chunk);

	if (!has_newest(c))
		return track_in_region(c, chunk);
	if (*newest != NULL && !track_in_region(c, *newest))
		return false;
	*newest = chunk;
	return true;
}

/* Takes it out; false: it was not there. */
static bool
untrack(PfsContext *c, const void *chunk)
{
	PfsChunkRegion *region;
	uint64		chunks;

	if (has_newest(c) && *pfs_newest_chunk(chunk) == chunk)
	{
		*pfs_newest_chunk(chunk) = NULL;
		return true;
	}
	region = find_region(c, number_of(chunk));
	if (unlikely(region == NULL))
		return false;
	chunks = region->chunks;
	region->chunks = chunks & ~bit_of(chunk);
	return region->chunks != chunks;
}

void
pfs_context_untrack_all(PfsContext *c)
{
	if (unlikely(has_newest(c)))
		memset(pfs_newest_chunks, 0, sizeof(pfs_newest_chunks));
	if (likely(c->mask == 0))
		return;
	put_places(c->places, bits_of(c));
	have_no_set(c);
}

/*
 * Decides whether a new chunk is counted, and tracks it if it is an exception in its
 * context.  Where the switch has flipped since the context's first chunk this is where
 * the kind of its set is chosen: the counted chunks if the first ones were not counted,
 * else those that are not.  If the set has no room (*lost), the chunk is treated as the
 * others that are not in the set: not counted although it should be, or the other way
 * round.  The caller adds up, and counts what is lost.
 */
bool
pfs_context_put(PfsContext *c, const void *chunk, bool *lost)
{
	*lost = false;
	if (c->counted == PFS_COUNTED_ALL && !c->on)
		c->counted = c->count == 0 ? PFS_COUNTED_NONE : PFS_COUNTED_UNTRACKED;
	else if (c->counted == PFS_COUNTED_NONE && c->on)
		c->counted = PFS_COUNTED_TRACKED;
	if (c->counted != (c->on ? PFS_COUNTED_TRACKED : PFS_COUNTED_UNTRACKED))
		return c->on;
	/* It is an exception in its context. */
	*lost = !track(c, chunk);
	return c->on != *lost;
}

/*
 * Returns whether a chunk that goes was counted, and takes it out of the set if it was
 * tracked.  The caller takes it off its counters and then calls pfs_context_taken().
 */
bool
pfs_context_take(PfsContext *c, const void *chunk)
{
	/* Where all are counted, or none, the set is empty. */
	bool		was_tracked = untrack(c, chunk);

	if (c->counted == PFS_COUNTED_NONE || c->counted == PFS_COUNTED_TRACKED)
		return was_tracked;
	/* Should a context without an entry have had chunks after all. */
	return !was_tracked && c->count > 0;
}

/*
 * Empties the set of a context that has no counted chunk left: those that remain are
 * all not counted, and need no set.
 */
void
pfs_context_taken(PfsContext *c)
{
	if (c->count > 0 || c->counted == PFS_COUNTED_ALL)
		return;
	/* An empty set stays: where one chunk comes and goes it is needed again. */
	if (c->counted == PFS_COUNTED_UNTRACKED)
		pfs_context_untrack_all(c);
	c->counted = PFS_COUNTED_NONE;
}
