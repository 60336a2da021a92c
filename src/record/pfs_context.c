/*
 * pfs_context.c
 *	  Entries of contexts, and listed chunks by address, a set of open addressing;
 *	  both in private memory.
 *
 * Entries stay in their places: address space for very many is reserved, without
 * access, so that no system counts it as memory; it is made usable from its begin.
 * The set doubles when a quarter of it is used, outside of
 * critical sections, and takes nothing more when it is nearly full.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pfs_context.h"

/*
 * The set of a client backend that counts everything: its TopMemoryContext has more
 * than 500 chunks before its first query.  A smaller one would only be copied.
 */
#define FIRST_BITS 12
#define LAST_BITS 28
#define ENTRIES_MAX (1 << 20)
#define ENTRIES_STEP 1024		/* whole pages, up to 64 kB each */

_Static_assert(ENTRIES_STEP * sizeof(PfsContext) % (64 * 1024) == 0, "whole pages");

/* Contexts. */
static PfsContext *entries = NULL;
static uint32 nentries;			/* that were ever used */
static uint32 nusable;
static PfsContext *free_entries;
static bool incomplete;

PfsContextRange pfs_context_range;
PfsChunkSet pfs_chunks;

static void *
map(size_t size, int protection, int flags)
{
	int			save_errno = errno;
	void	   *memory = mmap(NULL, size, protection,
							  MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	errno = save_errno;
	return memory == MAP_FAILED ? NULL : memory;
}

static void
unmap(void *memory, size_t size)
{
	int			save_errno = errno;

	if (memory != NULL)
		(void) munmap(memory, size);
	errno = save_errno;
}

/*
 * Places of the set.  All pages are used soon, and each would be faulted in twice: a
 * place is read before it is written.
 */
static const void **
map_places(uint32 bits)
{
	return map(sizeof(void *) << bits, PROT_READ | PROT_WRITE, MAP_POPULATE);
}

static void
set_chunk_bits(uint32 bits)
{
	pfs_chunks.shift = 64 - bits;
	pfs_chunks.mask = (UINT32_C(1) << bits) - 1;
}

bool
pfs_contexts_start(void)
{
	set_chunk_bits(FIRST_BITS);
	nentries = nusable = pfs_chunks.used = 0;
	free_entries = NULL;
	incomplete = false;
	entries = map(ENTRIES_MAX * sizeof(PfsContext), PROT_NONE, MAP_NORESERVE);
	pfs_chunks.places = map_places(FIRST_BITS);
	if (entries != NULL && pfs_chunks.places != NULL)
	{
		pfs_context_range = (PfsContextRange)
		{
			(uintptr_t) entries, ENTRIES_MAX * sizeof(PfsContext)
		};
		return true;
	}
	pfs_contexts_stop();
	return false;
}

void
pfs_contexts_stop(void)
{
	unmap(entries, ENTRIES_MAX * sizeof(PfsContext));
	unmap(pfs_chunks.places, sizeof(void *) * ((size_t) pfs_chunks.mask + 1));
	entries = NULL;
	pfs_context_range.size = 0;
	pfs_chunks.places = NULL;
	nentries = 0;
}

/* ---- contexts ---- */

bool
pfs_contexts_incomplete(void)
{
	return incomplete;
}

static pg_noinline bool
make_more_usable(void)
{
	int			save_errno = errno;
	bool		done = nusable < ENTRIES_MAX &&
	mprotect(&entries[nusable], ENTRIES_STEP * sizeof(PfsContext), PROT_READ | PROT_WRITE) == 0;

	if (done)
		nusable += ENTRIES_STEP;
	errno = save_errno;
	return done;
}

PfsContext *
pfs_context_add(MemoryContext context)
{
	PfsContext *c = free_entries;

	if (c != NULL)
		free_entries = c->next_free;
	else if (likely(nentries < nusable) || make_more_usable())
		c = &entries[nentries++];
	else
	{
		incomplete = true;
		return NULL;
	}
	c->context = context;
	c->count = 0;
	c->bytes = 0;
	c->cell = NULL;
	c->listed = 0;
	c->counted = PFS_COUNTED_ALL;
	return c;
}

void
pfs_context_remove(PfsContext *c)
{
	c->context = NULL;
	c->next_free = free_entries;
	free_entries = c;
}

PfsContext *
pfs_context_next(PfsContext *c)
{
	for (c = c == NULL ? entries : c + 1; c < entries + nentries; c++)
	{
		if (c->context != NULL)
			return c;
	}
	return NULL;
}

/* ---- chunks ---- */

bool
pfs_chunks_make_room(void)
{
	const void **old = pfs_chunks.places;
	const void **grown = NULL;
	uint32		old_mask = pfs_chunks.mask;

	if (CritSectionCount == 0 && pfs_chunks.shift > 64 - LAST_BITS)
		grown = map_places(64 - pfs_chunks.shift + 1);
	if (grown != NULL)
	{
		pfs_chunks.places = grown;
		set_chunk_bits(64 - pfs_chunks.shift + 1);
		for (uint32 i = 0; i <= old_mask; i++)
		{
			if (old[i] != NULL)
				pfs_chunks.places[pfs_chunk_find(old[i])] = old[i];
		}
		unmap(old, sizeof(*old) * ((size_t) old_mask + 1));
	}
	return pfs_chunks.used < pfs_chunks.mask / 8 * 7;
}

void
pfs_chunk_close_up(uint32 hole)
{
	const void **places = pfs_chunks.places;
	uint32		mask = pfs_chunks.mask;

	for (uint32 i = (hole + 1) & mask; places[i] != NULL; i = (i + 1) & mask)
	{
		/* Not if its home lies between the hole and its place. */
		if (((i - pfs_chunk_home(places[i])) & mask) < ((i - hole) & mask))
			continue;
		places[hole] = places[i];
		hole = i;
	}
	places[hole] = NULL;
}

/*
 * Nobody knows where they are: look at all places.  Few contexts that have any
 * are ever emptied.
 */
void
pfs_context_unlist_all(PfsContext *c)
{
	const void **places = pfs_chunks.places;

	for (uint64 i = 0; c->listed > 0 && i <= 2 * (uint64) pfs_chunks.mask; i++)
	{
		uint32		place = i & pfs_chunks.mask;

		/* What moves up to this place is looked at, too. */
		while (places[place] != NULL &&
			   GetMemoryChunkContext(unconstify(void *, places[place])) == c->context)
		{
			pfs_chunk_close_up(place);
			pfs_chunks.used--;
			c->listed--;
		}
	}
}

bool
pfs_context_put(PfsContext *c, const void *chunk, bool *lost)
{
	*lost = false;
	if (c->counted == PFS_COUNTED_ALL && !c->on)
		c->counted = c->count == 0 ? PFS_COUNTED_NONE : PFS_COUNTED_UNLISTED;
	else if (c->counted == PFS_COUNTED_NONE && c->on)
		c->counted = PFS_COUNTED_LISTED;
	switch ((PfsCounted) c->counted)
	{
		case PFS_COUNTED_ALL:
			return true;
		case PFS_COUNTED_NONE:
			return false;
		case PFS_COUNTED_LISTED:
			if (!c->on)
				return false;
			*lost = !pfs_chunk_list(c, chunk);
			return !*lost;
		case PFS_COUNTED_UNLISTED:
			if (c->on)
				return true;
			*lost = !pfs_chunk_list(c, chunk);
			return *lost;
	}
	return false;
}

bool
pfs_context_take(PfsContext *c, const void *chunk)
{
	switch ((PfsCounted) c->counted)
	{
		case PFS_COUNTED_ALL:
			/* Should a context without an entry have had chunks after all. */
			return c->count > 0;
		case PFS_COUNTED_NONE:
			return false;
		case PFS_COUNTED_LISTED:
			return pfs_chunk_unlist(c, chunk);
		case PFS_COUNTED_UNLISTED:
			return !pfs_chunk_unlist(c, chunk) && c->count > 0;
	}
	return false;
}

/* Where no counted chunk is left, the others need no list. */
void
pfs_context_taken(PfsContext *c)
{
	if (c->count > 0 || c->counted == PFS_COUNTED_ALL)
		return;
	pfs_context_unlist_all(c);
	c->counted = PFS_COUNTED_NONE;
}
