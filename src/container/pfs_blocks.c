/*
 * pfs_blocks.c
 *	  Blocks that change hands: the order of those that nobody owns, the stacks of those
 *	  that ended threads have left, copies for readers.
 *
 * README.md has the argument; the letters of edges are explained there.
 */
#include "pfs_blocks.h"

/*
 * A block's word: its generation, raised when its content is given up, above the bytes
 * of it that are complete.  `hidden` has the same form.
 */
#define FILL_BITS			24
#define FILL(word)			((uint32_t) (word) & ((1 << FILL_BITS) - 1))
#define GENERATION(word)	((word) >> FILL_BITS)
#define WORD(generation, fill) ((uint64_t) (generation) << FILL_BITS | (fill))

/*
 * A place in a lane's order: the lap in which it was filled, above a block's number.  Laps
 * wrap; they are compared by their difference.  In lap 0 it is the place's own block.
 */
#define NUMBER_BITS			32
#define NUMBER(place)		((uint32_t) (place))
#define PLACE(lap, number)	((uint64_t) (lap) << NUMBER_BITS | (number))

/*
 * The top of a stack: a block's number and one, 0: it is empty, under a tag that tells
 * one state of the stack from a later one with the same top.
 */
#define TOP(tag, number_and_one) ((uint64_t) (tag) << NUMBER_BITS | (number_and_one))
#define TAG(top)			((top) >> NUMBER_BITS)

typedef struct PfsBlockHead
{
	uint64_t	word;			/* generation, and bytes that are complete */
	uint64_t	hidden;			/* truncators raise */
	uint32_t	below;			/* in a stack: number and one of the next */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsBlockHead;

typedef struct PfsSharedBlockLane
{
	uint64_t	position;		/* places ever filled */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsSharedBlockLane;

struct PfsBlocks
{
	/* set at creation, never changes */
	uint32_t	nlanes;
	uint32_t	nplaces;		/* of a lane; 0: no long history */
	uint32_t	nblocks;
	uint32_t	nspare;			/* of these, that begin in no lane */
	uint32_t	block_size;
	uint32_t	held;
	size_t		order_stride;	/* places from one lane's order to the next's */
	size_t		bytes;
	PfsSharedBlockLane *lanes;
	uint64_t   *order;
	PfsBlockHead *heads;		/* [nblocks] */
	char	   *blocks;

	/* all processes; tops of the stacks of blocks that nobody owns */
	uint64_t	begun __attribute__((aligned(PFS_CACHE_LINE))); /* partly filled */
	uint64_t	empty;
	uint64_t	fresh;			/* spare blocks that were ever taken */
	uint64_t	lost;
};

/*
 * Items that a full block holds at least: it is left when the next one does not fit.
 */
static uint32_t
items_at_least(const PfsBlocksSpec *spec)
{
	uint32_t	n = spec->block_size / spec->item_max;

	return n == 0 ? 1 : n;
}

/*
 * A block that has just been begun has no items, so the full ones before it have to hold
 * what the thread's history shows.
 */
uint32_t
pfs_blocks_held(const PfsBlocksSpec *spec)
{
	uint32_t	least = items_at_least(spec);

	return (spec->own_items + least - 1) / least + 1;
}

/*
 * Lays out a container.  A lane's order has places for the blocks in which the newest
 * items are; for one more item of each thread, which may be about to write it; and for one
 * more block for each that threads may hold back, as a block may be entered long after
 * its items were written.
 */
PfsBlocks *
pfs_blocks_create(PfsSegment *seg, const PfsBlocksSpec *spec)
{
	size_t		start = seg->used;
	uint32_t	least = items_at_least(spec);
	uint32_t	held = pfs_blocks_held(spec);
	uint32_t	nspare = spec->writers * held;
	uint32_t	nplaces = spec->items == 0 ? 0 : (spec->items + spec->writers + least - 1) / least + nspare;
	size_t		nblocks = (size_t) spec->lanes * nplaces + nspare;
	size_t		order_stride = (nplaces * sizeof(uint64_t) + PFS_CACHE_LINE - 1) /
	PFS_CACHE_LINE * (PFS_CACHE_LINE / sizeof(uint64_t));
	PfsBlocks  *b;
	PfsSharedBlockLane *lanes;
	uint64_t   *order;
	PfsBlockHead *heads;
	char	   *blocks;

	if ((spec->items == 0 && spec->own_items == 0) || spec->writers == 0)
		return NULL;
	b = pfs_segment_take(seg, sizeof(PfsBlocks), PFS_CACHE_LINE);
	lanes = pfs_segment_take(seg, spec->lanes * sizeof(PfsSharedBlockLane), PFS_CACHE_LINE);
	order = pfs_segment_take(seg, spec->lanes * order_stride * sizeof(uint64_t), PFS_CACHE_LINE);
	heads = pfs_segment_take(seg, nblocks * sizeof(PfsBlockHead), PFS_CACHE_LINE);
	blocks = pfs_segment_take(seg, nblocks * spec->block_size, PFS_CACHE_LINE);
	if (seg->base == NULL)
		return NULL;

	b->nlanes = spec->lanes;
	b->nplaces = nplaces;
	b->nblocks = nblocks;
	b->nspare = nspare;
	b->block_size = spec->block_size;
	b->held = held;
	b->order_stride = order_stride;
	b->bytes = seg->used - start;
	b->lanes = lanes;
	b->order = order;
	b->heads = heads;
	b->blocks = blocks;
	return b;
}

uint32_t
pfs_blocks_lanes(const PfsBlocks *b)
{
	return b->nlanes;
}

uint32_t
pfs_blocks_size(const PfsBlocks *b)
{
	return b->block_size;
}

uint32_t
pfs_blocks_number(const PfsBlocks *b)
{
	return b->nblocks;
}

uint32_t
pfs_blocks_owned(const PfsBlocks *b)
{
	return b->held;
}

size_t
pfs_blocks_bytes(const PfsBlocks *b)
{
	return b->bytes;
}

/* All but the blocks that no thread ever got from a lane's order or as a spare one. */
size_t
pfs_blocks_resident_bytes(const PfsBlocks *b)
{
	uint64_t	fresh = pfs_load_relaxed(&b->fresh);
	size_t		unused = fresh < b->nspare ? b->nspare - fresh : 0;

	for (uint32_t lane = 0; lane < b->nlanes; lane++)
	{
		uint64_t	position = pfs_load_relaxed(&b->lanes[lane].position);

		unused += position < b->nplaces ? b->nplaces - position : 0;
	}
	return b->bytes - unused * b->block_size;
}

uint64_t
pfs_blocks_lost(const PfsBlocks *b)
{
	return pfs_load_relaxed(&b->lost);
}

void
pfs_blocks_reset_lost(PfsBlocks *b)
{
	pfs_store_relaxed(&b->lost, 0);
}

static inline char *
block_of(const PfsBlocks *b, uint32_t number)
{
	return b->blocks + (size_t) number * b->block_size;
}

/* ---- owner ---- */

void
pfs_block_writer_init(PfsBlockWriter *w, uint32_t *owned)
{
	pfs_store_relaxed(&w->position, 0);
	w->next = w->end = NULL;
	pfs_store_relaxed(&w->owned, owned);
}

/*
 * Enters a block as the newest of a lane, and returns the oldest, which is the caller's
 * from then on.  Both are one compare-and-swap of a place.  A process that slept so
 * long that others came round to its place finds a later lap there, and goes to the
 * newest place again: what it would take otherwise is not the oldest block.
 */
static uint32_t
exchange(PfsBlocks *b, uint32_t lane, uint32_t mine)
{
	uint64_t   *order = b->order + lane * b->order_stride;

	if (b->nplaces == 0)
		return mine;
	for (;;)
	{
		uint64_t	position = pfs_add_relaxed(&b->lanes[lane].position, 1);
		uint32_t	place = position % b->nplaces;
		uint64_t	entered = PLACE(position / b->nplaces + 1, mine);
		uint64_t	old = pfs_load_relaxed(&order[place]);

		while ((int64_t) ((entered - NUMBER(entered)) - (old - NUMBER(old))) > 0)
		{
			/*
			 * G: publishes our block, and takes the other with all that it
			 * has
			 */
			if (pfs_cas(&order[place], &old, entered))
				return old == 0 ? lane * b->nplaces + place : NUMBER(old);
		}
	}
}

/*
 * Gives up what a block holds, to write into it from its begin.  Released behind
 * whatever its last owner did (see pfs_blocks_copy_owned()); A pairs with D.
 */
static void
give_up(PfsBlocks *b, uint32_t number)
{
	PfsBlockHead *head = &b->heads[number];

	pfs_store_release(&head->word, WORD(GENERATION(head->word) + 1, 0));
	pfs_fence_release();		/* A */
}

/* Says in a block's word what is complete in it.  B: pairs with C in pfs_blocks_copy(). */
static void
seal(PfsBlocks *b, uint32_t number, uint32_t bytes)
{
	PfsBlockHead *head = &b->heads[number];

	pfs_store_release(&head->word, WORD(GENERATION(head->word), bytes));	/* B */
}

static void
push(PfsBlocks *b, uint64_t *stack, uint32_t number)
{
	uint64_t	top = pfs_load_relaxed(stack);

	do
		pfs_store_relaxed(&b->heads[number].below, NUMBER(top));
	while (!pfs_cas(stack, &top, TOP(TAG(top) + 1, number + 1)));
}

/* Takes the block on top of a stack; false: there is none. */
static bool
pop(PfsBlocks *b, uint64_t *stack, uint32_t *number)
{
	uint64_t	top = pfs_load_acquire(stack);

	while (NUMBER(top) != 0)
	{
		uint32_t	below = pfs_load_relaxed(&b->heads[NUMBER(top) - 1].below);

		/* `below` may be another's by now; then the tag is, too */
		if (pfs_cas(stack, &top, TOP(TAG(top) + 1, below)))
		{
			*number = NUMBER(top) - 1;
			return true;
		}
	}
	return false;
}

/*
 * Takes a block that nobody owns and that is in no lane.  A writer's first one is one that
 * an ended thread has left partly filled, if there is one; those after it are empty, as
 * the writer's own items have to fill them (pfs_blocks_held()).  False: there is none.
 */
static bool
take_spare(PfsBlocks *b, bool first, uint32_t *number)
{
	uint64_t	fresh;

	if ((first && pop(b, &b->begun, number)) || pop(b, &b->empty, number))
		return true;

	/*
	 * One may have come back since, as an ending thread gives its blocks back
	 * one by one.
	 */
	if (pfs_load_relaxed(&b->fresh) >= b->nspare || (fresh = pfs_add_relaxed(&b->fresh, 1)) >= b->nspare)
		return pop(b, &b->empty, number);
	*number = b->nlanes * b->nplaces + fresh;
	give_up(b, *number);
	return true;
}

/*
 * Reads the begin and the end of a block that is going to be written.  Each process has to map
 * each page of the blocks once: where one is read, the kernel maps those around it, too
 * (fault-around, of 64 kB by default), but where it is written first, that one alone.
 */
static void
map_pages(const char *begin, const char *end)
{
	(void) *(const volatile char *) begin;
	(void) *(const volatile char *) (end - 1);
}

/*
 * Goes on with another block: the lane's oldest one for the oldest of this thread, or,
 * as long as it does not own as many as it may, one more.
 *
 * What is complete in the last block is said by its own word before the position
 * leaves it; and the position has left the oldest block before that is given away
 * (H, pairs with I in pfs_blocks_copy_owned()).
 */
bool
pfs_block_advance(PfsBlocks *b, PfsBlockWriter *w, uint32_t lane, uint32_t bytes)
{
	uint64_t	index = PFS_BLOCK_INDEX(w->position);
	uint32_t	number;
	uint32_t	fill;

	if (w->owned == NULL)
	{
		/* Its thread has ended: what it still writes is lost. */
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	if (w->next != NULL)
	{
		seal(b, w->owned[index % b->held], PFS_BLOCK_BYTES(w->position));
		index++;
		w->next = w->end = NULL;
		pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, 0));	/* H */
	}
	if (index >= b->held)
	{
		number = exchange(b, lane, w->owned[index % b->held]);
		give_up(b, number);
	}
	else if (!take_spare(b, index == 0, &number))
	{
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	fill = FILL(b->heads[number].word);
	if (b->block_size - fill < bytes)
	{
		/* As good as full: the lane's, instead of one that this thread owns. */
		number = exchange(b, lane, number);
		give_up(b, number);
		fill = 0;
	}
	pfs_store_release(&w->owned[index % b->held], number);	/* H */
	map_pages(block_of(b, number) + fill, block_of(b, number) + b->block_size);
	pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, fill));	/* B */
	/* It has a block when next says so; by then the position is that block's. */
	pfs_fence_signal();
	w->end = block_of(b, number) + b->block_size;
	w->next = block_of(b, number) + fill;
	return true;
}

/* The owner itself needs no second look. */
void *
pfs_block_of_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index, uint32_t *bytes)
{
	uint64_t	current = PFS_BLOCK_INDEX(w->position);
	uint32_t	number;

	if (w->next == NULL || index > current || current - index >= b->held)
		return NULL;
	number = w->owned[index % b->held];
	*bytes = index == current ? PFS_BLOCK_BYTES(w->position) : FILL(b->heads[number].word);
	return block_of(b, number);
}

/*
 * Gives all blocks away, when the thread ends: the full ones to the lane, and the
 * current one to the next thread that needs one, which goes on behind what is in it.
 * Connections of one query each would fill the lanes with blocks of a few items
 * otherwise.  There is no current one where pfs_block_advance() has found none.
 */
void
pfs_block_writer_end(PfsBlocks *b, PfsBlockWriter *w, uint32_t lane)
{
	uint64_t	index = PFS_BLOCK_INDEX(w->position);
	uint64_t	first = index < b->held ? 0 : index - b->held + 1;
	const uint32_t *owned = w->owned;
	bool		has_current = w->next != NULL;

	if (owned == NULL)
		return;
	if (has_current)
		seal(b, owned[index % b->held], PFS_BLOCK_BYTES(w->position));
	/* H: readers of the thread's own blocks have none from here on */
	pfs_store_relaxed(&w->owned, NULL);
	pfs_store_release(&w->position, PFS_BLOCK_POSITION(index + b->held, 0));
	w->next = w->end = NULL;
	for (uint64_t i = first; i < index; i++)
	{
		uint32_t	number = exchange(b, lane, owned[i % b->held]);

		give_up(b, number);
		push(b, &b->empty, number);
	}
	if (has_current)
		push(b, &b->begun, owned[index % b->held]);
}

/* ---- any process ---- */

/* The bytes of a block in this generation that have been truncated. */
static uint32_t
hidden_of(const PfsBlockHead *head, uint64_t word)
{
	uint64_t	hidden = pfs_load_acquire(&head->hidden);

	return GENERATION(hidden) == GENERATION(word) ? FILL(hidden) : 0;
}

/*
 * Did a writer ever get this block?  So readers leave the memory of others untouched, which
 * would become resident by a look.
 */
static bool
was_used(const PfsBlocks *b, uint32_t number)
{
	if (number >= b->nlanes * b->nplaces)
		return number - b->nlanes * b->nplaces < pfs_load_relaxed(&b->fresh);
	return number % b->nplaces < pfs_load_relaxed(&b->lanes[number / b->nplaces].position);
}

/* Copies a block as far as its word says, and looks at the word again. */
uint32_t
pfs_blocks_copy(const PfsBlocks *b, uint32_t number, void *dst, uint32_t *hidden)
{
	const PfsBlockHead *head = &b->heads[number];
	uint64_t	word = was_used(b, number) ? pfs_load_acquire(&head->word) : 0; /* C */

	if (FILL(word) == 0)
		return 0;
	*hidden = hidden_of(head, word);
	if (*hidden >= FILL(word))
		return 0;
	pfs_racy_copy(dst, block_of(b, number), FILL(word));
	pfs_fence_acquire();		/* D */
	return GENERATION(pfs_load_relaxed(&head->word)) == GENERATION(word) ? FILL(word) : 0;
}

/*
 * Copies a block of a living writer.  It was the writer's all the time if at the end the
 * position is not `held` blocks further.  For whoever sees that `owned` has another
 * number already, that the block has been given up, or what its next owner wrote, sees
 * the position, too: I, pairs with H.
 */
uint32_t
pfs_blocks_copy_owned(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index, void *dst,
					  uint32_t *hidden)
{
	uint64_t	position = pfs_load_acquire(&w->position);	/* C */
	const uint32_t *owned = pfs_load_relaxed(&w->owned);
	uint64_t	word;
	uint32_t	number;
	uint32_t	bytes;

	*hidden = 0;
	if (owned == NULL || PFS_BLOCK_INDEX(position) < index)
		return 0;
	if (PFS_BLOCK_INDEX(position) - index >= b->held)
		return PFS_BLOCK_GONE;
	number = pfs_load_acquire(&owned[index % b->held]);
	if (number >= b->nblocks)
		return 0;
	word = pfs_load_acquire(&b->heads[number].word);
	bytes = PFS_BLOCK_INDEX(position) == index ? PFS_BLOCK_BYTES(position) : FILL(word);
	if (bytes > b->block_size)
		return 0;
	*hidden = hidden_of(&b->heads[number], word);
	pfs_racy_copy(dst, block_of(b, number), bytes);
	pfs_fence_acquire();		/* I */
	return PFS_BLOCK_INDEX(pfs_load_relaxed(&w->position)) - index >= b->held ? PFS_BLOCK_GONE : bytes;
}

/*
 * The newest first: what the writer gives away while it is read are its oldest, so that
 * what was copied has no gap.
 */
uint32_t
pfs_blocks_copy_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t back_to, char *dst,
					   uint32_t *bytes, uint64_t *current)
{
	uint64_t	index = PFS_BLOCK_INDEX(pfs_load_acquire(&w->position));
	uint32_t	n = 0;

	*current = index;
	for (; n < b->held && index >= back_to; n++, index--)
	{
		uint32_t	place = index % b->held;
		uint32_t	hidden;

		bytes[place] = pfs_blocks_copy_owned(b, w, index, dst + (size_t) place * b->block_size, &hidden);
		if (bytes[place] == PFS_BLOCK_GONE)
			break;
		if (index == 0)
			return n + 1;
	}
	return n;
}

/* Hides the bytes of a block in the generation that the word has, up to its fill. */
static void
hide(PfsBlockHead *head, uint64_t word)
{
	pfs_raise_to(&head->hidden, word);
}

/*
 * If the writer goes on to another block meanwhile, this one's own word says what is
 * complete in it, and pfs_blocks_hide() hides that.  A generation that is over hides nothing.
 * If the writer's memory changes hands, the block may be another's, who has completed no more
 * of it than the second look says.
 */
void
pfs_blocks_hide_owned(PfsBlocks *b, const PfsBlockWriter *w)
{
	uint64_t	position = pfs_load_acquire(&w->position);	/* C */
	const uint32_t *owned = pfs_load_relaxed(&w->owned);
	uint64_t	again;
	uint64_t	word;
	uint32_t	number;

	if (owned == NULL || PFS_BLOCK_BYTES(position) == 0 || PFS_BLOCK_BYTES(position) > b->block_size)
		return;
	number = pfs_load_acquire(&owned[PFS_BLOCK_INDEX(position) % b->held]);
	if (number >= b->nblocks)
		return;
	word = pfs_load_acquire(&b->heads[number].word);
	pfs_fence_acquire();		/* I */
	again = pfs_load_relaxed(&w->position);
	if (PFS_BLOCK_INDEX(again) == PFS_BLOCK_INDEX(position))
		hide(&b->heads[number], WORD(GENERATION(word), PFS_BLOCK_BYTES(again < position ? again : position)));
}

void
pfs_blocks_hide(PfsBlocks *b)
{
	for (uint32_t number = 0; number < b->nblocks; number++)
	{
		uint64_t	word = was_used(b, number) ? pfs_load_acquire(&b->heads[number].word) : 0;	/* C */

		if (FILL(word) != 0)
			hide(&b->heads[number], word);
	}
}
