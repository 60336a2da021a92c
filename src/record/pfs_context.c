/*
 * pfs_context.c
 *	  Two tables of open addressing in private memory: contexts by address, and
 *	  listed chunks by address.
 *
 * Both double when they are half full, outside of critical sections if they can,
 * and take nothing more when they are nearly full.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "pfs_context.h"

#define FIRST_CONTEXTS 256
#define FIRST_CHUNKS 1024

typedef struct Chunk
{
	const void *address;		/* NULL: a free place */
	uint64		serial;			/* its context's */
} Chunk;

typedef struct Table
{
	char	   *items;
	uint32		item_size;		/* the address it is found by comes first */
	uint32		bits;			/* of the number of places */
	uint32		used;
} Table;

static Table contexts = {.item_size = sizeof(PfsContext)};
static Table chunks = {.item_size = sizeof(Chunk)};
static uint64 last_serial = 0;
static bool incomplete = false;

static void *
map(uint32 item_size, uint32 bits)
{
	int			save_errno = errno;
	void	   *memory = mmap(NULL, (size_t) item_size << bits, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = save_errno;
	return memory == MAP_FAILED ? NULL : memory;
}

static void
unmap(Table *table)
{
	if (table->items != NULL)
		(void) munmap(table->items, (size_t) table->item_size << table->bits);
	table->items = NULL;
	table->used = 0;
}

/* Addresses are multiples of 8, those of contexts of more. */
static inline uint32
place_of(const void *address, uint32 bits)
{
	return ((uint64) (uintptr_t) address * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - bits);
}

static inline const void **
item_at(const Table *table, uint32 place)
{
	return (const void **) (table->items + (size_t) place * table->item_size);
}

/* The item of this address, or the free place where it would be. */
static inline const void **
find(const Table *table, const void *address)
{
	uint32		mask = (UINT32_C(1) << table->bits) - 1;
	uint32		place = place_of(address, table->bits);
	const void **item = item_at(table, place);

	while (*item != address && *item != NULL)
		item = item_at(table, place = (place + 1) & mask);
	return item;
}

static void
grow(Table *table)
{
	Table		old = *table;
	void	   *memory = map(table->item_size, table->bits + 1);

	if (memory == NULL)
		return;
	table->items = memory;
	table->bits++;
	for (uint32 place = 0; place < UINT32_C(1) << old.bits; place++)
	{
		const void **item = item_at(&old, place);

		if (*item != NULL)
			memcpy(find(table, *item), item, table->item_size);
	}
	unmap(&old);
}

/* Room for one more? */
static bool
make_room(Table *table)
{
	uint32		places = UINT32_C(1) << table->bits;

	if (table->used < places / 2)
		return true;
	if (CritSectionCount == 0 && table->bits < 30)
		grow(table);
	return table->used < (UINT32_C(1) << table->bits) / 8 * 7;
}

/* Free a place; what was put behind it for want of it moves up. */
static void
free_place(Table *table, const void **item)
{
	uint32		mask = (UINT32_C(1) << table->bits) - 1;
	uint32		hole = ((char *) item - table->items) / table->item_size;

	for (uint32 place = (hole + 1) & mask; *item_at(table, place) != NULL; place = (place + 1) & mask)
	{
		uint32		home = place_of(*item_at(table, place), table->bits);

		/* Not if its home lies between the hole and its place. */
		if (((place - home) & mask) < ((place - hole) & mask))
			continue;
		memcpy(item_at(table, hole), item_at(table, place), table->item_size);
		hole = place;
	}
	memset(item_at(table, hole), 0, table->item_size);
	table->used--;
}

bool
pfs_contexts_start(void)
{
	contexts.bits = pg_leftmost_one_pos32(FIRST_CONTEXTS);
	chunks.bits = pg_leftmost_one_pos32(FIRST_CHUNKS);
	contexts.items = map(contexts.item_size, contexts.bits);
	chunks.items = map(chunks.item_size, chunks.bits);
	contexts.used = chunks.used = 0;
	incomplete = false;
	if (contexts.items != NULL && chunks.items != NULL)
		return true;
	pfs_contexts_stop();
	return false;
}

void
pfs_contexts_stop(void)
{
	unmap(&contexts);
	unmap(&chunks);
}

bool
pfs_contexts_incomplete(void)
{
	return incomplete;
}

PfsContext *
pfs_context_find(MemoryContext context)
{
	PfsContext *c = (PfsContext *) find(&contexts, context);

	return c->context == NULL ? NULL : c;
}

PfsContext *
pfs_context_add(MemoryContext context)
{
	PfsContext *c;

	if (!make_room(&contexts))
	{
		incomplete = true;
		return NULL;
	}
	c = (PfsContext *) find(&contexts, context);
	c->context = context;
	c->serial = ++last_serial;
	c->cell = PFS_NO_CELL;
	contexts.used++;
	return c;
}

/* Nobody knows where they are: look at all places.  Few contexts ever have any. */
static void
unlist_all(PfsContext *c)
{
	for (uint32 place = 0; c->listed > 0; place++)
	{
		Chunk	   *chunk = (Chunk *) item_at(&chunks, place & ((UINT32_C(1) << chunks.bits) - 1));

		/* What moves up to this place is looked at, too. */
		while (chunk->address != NULL && chunk->serial == c->serial)
		{
			free_place(&chunks, (const void **) chunk);
			c->listed--;
		}
	}
}

void
pfs_context_empty(PfsContext *c)
{
	unlist_all(c);
	c->count = 0;
	c->bytes = 0;
	c->counted = PFS_COUNTED_ALL;
}

void
pfs_context_remove(PfsContext *c)
{
	unlist_all(c);
	free_place(&contexts, (const void **) c);
}

static bool
list(PfsContext *c, const void *address)
{
	Chunk	   *chunk;

	if (!make_room(&chunks))
		return false;
	chunk = (Chunk *) find(&chunks, address);
	if (chunk->address == NULL)
		chunks.used++;
	chunk->address = address;
	chunk->serial = c->serial;
	c->listed++;
	return true;
}

static bool
unlist(PfsContext *c, const void *address)
{
	Chunk	   *chunk = (Chunk *) find(&chunks, address);

	if (chunk->address == NULL || chunk->serial != c->serial)
		return false;
	free_place(&chunks, (const void **) chunk);
	c->listed--;
	return true;
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
			*lost = !list(c, chunk);
			return !*lost;
		case PFS_COUNTED_UNLISTED:
			if (c->on)
				return true;
			*lost = !list(c, chunk);
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
			return unlist(c, chunk);
		case PFS_COUNTED_UNLISTED:
			return !unlist(c, chunk) && c->count > 0;
	}
	return false;
}

/* Where no counted chunk is left, the others need no list. */
void
pfs_context_taken(PfsContext *c)
{
	if (c->count > 0 || c->counted == PFS_COUNTED_ALL)
		return;
	unlist_all(c);
	c->counted = PFS_COUNTED_NONE;
}
