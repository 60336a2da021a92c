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
 * A place in a lane's order: the lap in which it is going to be filled, or was, above the
 * block's number and one; 0: it is empty.
 */
#define NUMBER_BITS			32
#define NUMBER(place)		((uint32_t) (place))
#define LAP(place)			((uint32_t) ((place) >> NUMBER_BITS))
#define PLACE(lap, number_and_one) ((uint64_t) (lap) << NUMBER_BITS | (number_and_one))

/*
 * The top of a stack: a block's number and one, 0: it is empty, under a tag that tells
 * one state of the stack from a later one with the same top.
 */
#define TOP(tag, number_and_one) ((uint64_t) (tag) << NUMBER_BITS | (number_and_one))
#define TAG(top)			((top) >> NUMBER_BITS)

/*
 * Blocks go out of use where those of a lane have so many items more than they need, this
 * part of them, that they would not come back at once.
 */
#define PLENTY				16

typedef struct PfsBlockHead
{
	uint64_t	word;			/* generation, and bytes that are complete */
	uint64_t	hidden;			/* truncators raise */
	uint32_t	below;			/* in a stack: number and one of the next */
	uint32_t	items;			/* that are complete, when it was left */
	uint32_t	outside;		/* blocks in no order when it was entered */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsBlockHead;

/* A lane's order is a queue: a ring of places, with a block in those from taken to entered. */
typedef struct PfsSharedBlockLane
{
	uint64_t	entered;		/* places ever filled */
	uint64_t	taken;			/* places ever emptied */
	int64_t		items;			/* in the blocks between, or less */
} __attribute__((aligned(PFS_CACHE_LINE))) PfsSharedBlockLane;

struct PfsBlocks
{
	/* set at creation, never changes */
	uint32_t	nlanes;
	uint32_t	items;			/* newest ones that are to be there; 0: no
								 * long history */
	uint32_t	own_items;
	uint32_t	writers;
	uint32_t	most;			/* items in a block */
	uint32_t	enough;			/* blocks of a lane that are, whatever is in
								 * them */
	uint32_t	nblocks;
	uint32_t	block_size;
	uint32_t	held;
	size_t		nplaces;		/* of a lane: never all filled */
	size_t		bytes;
	PfsSharedBlockLane *lanes;
	uint64_t   *order;			/* [nlanes][nplaces] */
	PfsBlockHead *heads;		/* [nblocks] */
	char	   *blocks;

	/* all processes; tops of the stacks of blocks that nobody owns */
	uint64_t	begun __attribute__((aligned(PFS_CACHE_LINE))); /* partly filled */
	uint64_t	empty;
	uint64_t	fresh;			/* blocks that were ever taken */
	uint32_t	outside;		/* blocks that are in no order, with items, or
								 * more */
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
 * Blocks that a writer owns at most: a block that has just been begun has no items, so the full
 * ones before it have to hold what the thread's history shows.
 */
static uint32_t
held_at_most(const PfsBlocksSpec *spec)
{
	uint32_t	least = items_at_least(spec);

	return (spec->own_items + least - 1) / least + 1;
}

size_t
pfs_blocks_own_size(const PfsBlocksSpec *spec)
{
	return offsetof(PfsOwnBlocks, numbers) + held_at_most(spec) * sizeof(uint32_t);
}

/*
 * Lays out a container.  A lane's order needs the blocks in which the newest items are, if
 * each has as few as it can have; one more item of each thread, which may be about to write it;
 * and one more block for each that threads may hold back, as a block may be entered long after
 * its items were written.
 */
PfsBlocks *
pfs_blocks_create(PfsSegment *seg, const PfsBlocksSpec *spec)
{
	size_t		start = seg->used;
	uint32_t	least = items_at_least(spec);
	uint32_t	held = held_at_most(spec);
	uint32_t	enough = spec->items == 0 ? 0 : (spec->items + spec->writers + least - 1) / least + spec->writers * held;
	size_t		nblocks = (spec->items == 0 ? 0 : (size_t) spec->lanes * (enough + 1)) + (size_t) spec->writers * held;
	size_t		nplaces = spec->items == 0 ? 0 : (nblocks * sizeof(uint64_t) + PFS_CACHE_LINE - 1) /
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
	order = pfs_segment_take(seg, spec->lanes * nplaces * sizeof(uint64_t), PFS_CACHE_LINE);
	heads = pfs_segment_take(seg, nblocks * sizeof(PfsBlockHead), PFS_CACHE_LINE);
	blocks = pfs_segment_take(seg, nblocks * spec->block_size, PFS_CACHE_LINE);
	if (seg->base == NULL)
		return NULL;

	b->nlanes = spec->lanes;
	b->items = spec->items;
	b->own_items = spec->own_items;
	b->writers = spec->writers;
	b->most = spec->block_size / spec->item_min;
	b->enough = enough;
	b->nblocks = nblocks;
	b->block_size = spec->block_size;
	b->held = held;
	b->nplaces = nplaces;
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
pfs_blocks_held(const PfsBlocks *b)
{
	return b->held;
}

size_t
pfs_blocks_bytes(const PfsBlocks *b)
{
	return b->bytes;
}

/* How many blocks a writer ever got.  So readers leave the memory of the others untouched. */
static uint32_t
used_blocks(const PfsBlocks *b)
{
	uint64_t	fresh = pfs_load_relaxed(&b->fresh);

	return fresh < b->nblocks ? fresh : b->nblocks;
}

size_t
pfs_blocks_resident_bytes(const PfsBlocks *b)
{
	return b->bytes - (size_t) (b->nblocks - used_blocks(b)) * b->block_size;
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
pfs_block_writer_init(PfsBlockWriter *w, PfsOwnBlocks *own)
{
	pfs_store_relaxed(&own->oldest, 0);
	own->items = own->others = 0;
	pfs_store_relaxed(&w->position, 0);
	pfs_store_relaxed(&w->own, own);
	pfs_block_leave(w);
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

/*
 * Says in the word of a writer's current block what is complete in it.  B: pairs with C in
 * pfs_blocks_copy().
 */
static void
seal(PfsBlocks *b, const PfsBlockWriter *w)
{
	PfsBlockHead *head = &b->heads[w->own->numbers[PFS_BLOCK_INDEX(w->position) % b->held]];
	uint32_t	bytes = PFS_BLOCK_BYTES(w->position);

	pfs_store_relaxed(&head->items, w->items);
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
 * Enters a block as the newest of a lane's order.  A place is filled before `entered` says
 * so: who finds it filled says it for the other, who may sleep.  There is an empty place, as
 * there are no fewer places than blocks.
 */
static void
enter(PfsBlocks *b, uint32_t number_of_lane, uint32_t number)
{
	PfsSharedBlockLane *lane = &b->lanes[number_of_lane];
	uint64_t   *order = b->order + number_of_lane * b->nplaces;
	PfsBlockHead *head = &b->heads[number];
	uint64_t	position = pfs_load_acquire(&lane->entered);
	bool		is_in = false;

	while (!is_in)
	{
		uint32_t	lap = position / b->nplaces;
		uint64_t	old = PLACE(lap, 0);

		pfs_store_relaxed(&head->outside, pfs_load_relaxed(&b->outside));
		is_in = pfs_cas(&order[position % b->nplaces], &old, PLACE(lap, number + 1));
		if (pfs_cas(&lane->entered, &position, position + 1))
			position++;
	}

	/*
	 * Never more than there are: behind the block's entry, and in front of
	 * its end (take()).
	 */
	(void) pfs_add_relaxed(&lane->items, pfs_load_relaxed(&head->items));
}

/*
 * Takes the oldest block of a lane's order, if the newest items are in those behind it, or
 * if it must.  plenty: the next one, too, could go.  False: it may not, or there is none.
 *
 * What stays are so many blocks that it does not matter what is in them, or so many items:
 * the newest ones, and those that may be older than what goes, as they were in blocks that were in
 * no order when this one was entered, or about to be written.  What is read of a block that
 * another process takes meanwhile does not count, as its place has another lap then.
 */
static bool
take(PfsBlocks *b, uint32_t number_of_lane, bool must, uint32_t *number, bool *plenty)
{
	PfsSharedBlockLane *lane = &b->lanes[number_of_lane];
	uint64_t   *order = b->order + number_of_lane * b->nplaces;
	uint64_t	position = pfs_load_acquire(&lane->taken);

	for (;;)
	{
		uint64_t   *place = &order[position % b->nplaces];
		uint32_t	lap = position / b->nplaces;
		uint64_t	old = pfs_load_acquire(place);
		PfsBlockHead *head;
		int64_t		items;
		int64_t		wanted;
		int64_t		left;
		bool		may;

		if (LAP(old) != lap)
		{
			/* Somebody has taken it, and may sleep before he says so. */
			if (pfs_cas(&lane->taken, &position, position + 1))
				position++;
			continue;
		}
		if (NUMBER(old) == 0)
			return false;
		head = &b->heads[NUMBER(old) - 1];
		items = pfs_load_relaxed(&head->items);
		wanted = (int64_t) b->items + b->writers + (int64_t) pfs_load_relaxed(&head->outside) * b->most;
		may = must || pfs_load_relaxed(&lane->entered) > position + b->enough;
		if (!may && pfs_load_relaxed(&lane->items) - items < wanted)
			return false;
		left = pfs_sub_seqcst(&lane->items, items) - items;
		may = may || left >= wanted;
		if (may && pfs_cas(place, &old, PLACE(lap + 1, 0)))
		{
			(void) pfs_cas(&lane->taken, &position, position + 1);
			*number = NUMBER(old) - 1;
			*plenty = left - wanted > wanted / PLENTY + b->most;
			return true;
		}
		(void) pfs_add_relaxed(&lane->items, items);
		if (!may)
			return false;
	}
}

/* Takes a block without items that is in no order.  False: there is none. */
static bool
take_empty(PfsBlocks *b, uint32_t *number)
{
	uint64_t	fresh;

	if (pop(b, &b->empty, number))
		return true;

	/*
	 * One may have come back since, as an ending thread gives its blocks back
	 * one by one.
	 */
	if (pfs_load_relaxed(&b->fresh) >= b->nblocks || (fresh = pfs_add_relaxed(&b->fresh, 1)) >= b->nblocks)
		return pop(b, &b->empty, number);
	*number = fresh;
	give_up(b, *number);
	return true;
}

/* Gives the oldest block of a lane back that is not needed there. */
static void
put_back(PfsBlocks *b, uint32_t number)
{
	give_up(b, number);
	push(b, &b->empty, number);
}

/*
 * Gives a block to a lane for one without items: the lane's oldest, or an empty one if all of the
 * lane's are needed.  Where the lane has plenty, it gets back to what it needs.  False:
 * there is none, which is possible only where processes were killed.
 */
static bool
exchange(PfsBlocks *b, uint32_t lane, uint32_t *number)
{
	bool		plenty = false;
	bool		taken = true;

	if (b->nplaces != 0)
	{
		enter(b, lane, *number);
		taken = take(b, lane, false, number, &plenty);
		if (plenty)
		{
			put_back(b, *number);
			taken = take(b, lane, false, number, &plenty);
		}
		if (!taken && take_empty(b, number))
			return true;
		if (!taken)
			taken = take(b, lane, true, number, &plenty);
	}
	if (taken)
		give_up(b, *number);
	else
		(void) pfs_sub_seqcst(&b->outside, 1);
	return taken;
}

/*
 * Takes one more block.  A writer's first one is one that an ended thread has left
 * partly filled, if there is one; those after it are empty, as the writer's own items
 * have to fill them (pfs_blocks_held()).  False: there is none.
 */
static bool
take_another(PfsBlocks *b, bool first, uint32_t *number)
{
	if (first && pop(b, &b->begun, number))
		return true;
	if (!take_empty(b, number))
		return false;

	/*
	 * Before there are items in it that a block does not count which is
	 * entered then.
	 */
	(void) pfs_add_seqcst(&b->outside, 1);
	return true;
}

/* Gives a block to a lane for nothing; where that has enough without its oldest, that is empty then. */
static void
give_away(PfsBlocks *b, uint32_t lane, uint32_t number)
{
	bool		plenty;

	if (b->nplaces != 0)
		enter(b, lane, number);
	(void) pfs_sub_seqcst(&b->outside, 1);
	if (b->nplaces == 0 || take(b, lane, false, &number, &plenty))
		put_back(b, number);
}

/*
 * Takes the oldest one from a writer's full blocks, of which the index-th is the next, if
 * those behind it have what the thread's own history shows.  H: pairs with I in
 * pfs_blocks_copy_owned().
 */
static bool
leave_oldest(const PfsBlocks *b, PfsOwnBlocks *own, uint64_t index, uint32_t *number)
{
	uint64_t	oldest = own->oldest;
	uint32_t	items;

	if (oldest == index)
		return false;
	*number = own->numbers[oldest % b->held];
	items = b->heads[*number].items - (oldest == 0 ? own->others : 0);
	if (own->items - items < b->own_items)
		return false;
	own->items -= items;
	pfs_store_release(&own->oldest, oldest + 1);	/* H */
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
 * as long as that is needed for the thread's own history, one more.
 *
 * What is complete in the last block is said by its own word before the position
 * leaves it; and `oldest` has left the oldest block before that is given away
 * (H, pairs with I in pfs_blocks_copy_owned()).
 */
bool
pfs_block_advance(PfsBlocks *b, PfsBlockWriter *w, uint32_t lane, uint32_t bytes)
{
	PfsOwnBlocks *own = w->own;
	uint64_t	index = PFS_BLOCK_INDEX(w->position);
	uint32_t	number;
	uint32_t	another;
	uint32_t	fill;
	bool		found;

	if (own == NULL)
	{
		/* Its thread has ended: what it still writes is lost. */
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	if (w->next != NULL)
	{
		seal(b, w);
		own->items += w->items - (index == 0 ? own->others : 0);
		index++;
		pfs_block_leave(w);
		pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, 0));
	}
	if (leave_oldest(b, own, index, &number))
	{
		/*
		 * What went on with larger items needs fewer blocks when these are
		 * smaller.
		 */
		while (leave_oldest(b, own, index, &another))
			give_away(b, lane, another);
		found = exchange(b, lane, &number);
	}
	else
		found = take_another(b, index == 0, &number);
	/* One that another thread has left, without room, is as good as full. */
	if (found && b->block_size - FILL(b->heads[number].word) < bytes)
		found = exchange(b, lane, &number);
	if (!found)
	{
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	fill = FILL(b->heads[number].word);
	pfs_store_release(&own->numbers[index % b->held], number);	/* H */
	map_pages(block_of(b, number) + fill, block_of(b, number) + b->block_size);
	pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, fill));	/* B */
	w->room = b->block_size - fill;
	w->items = fill == 0 ? 0 : pfs_load_relaxed(&b->heads[number].items);
	if (index == 0)
		own->others = w->items;
	/* It has a block when next says so; by then the position is that block's. */
	pfs_fence_signal();
	w->next = block_of(b, number) + fill;
	return true;
}

/* The owner itself needs no second look. */
void *
pfs_block_of_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index, uint32_t *bytes)
{
	uint64_t	current = PFS_BLOCK_INDEX(w->position);
	uint32_t	number;

	if (w->next == NULL || index > current || index < w->own->oldest)
		return NULL;
	number = w->own->numbers[index % b->held];
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
	PfsOwnBlocks *own = w->own;
	bool		has_current = w->next != NULL;
	uint64_t	first;

	if (own == NULL)
		return;
	if (has_current)
		seal(b, w);
	first = own->oldest;
	/* H: readers of the thread's own blocks have none from here on */
	pfs_store_relaxed(&w->own, NULL);
	pfs_store_release(&own->oldest, index + 1);
	pfs_store_release(&w->position, PFS_BLOCK_POSITION(index + 1, 0));
	pfs_block_leave(w);
	for (uint64_t i = first; i < index; i++)
		give_away(b, lane, own->numbers[i % b->held]);
	if (has_current)
		push(b, &b->begun, own->numbers[index % b->held]);
}

/* ---- any process ---- */

/* The bytes of a block in this generation that have been truncated. */
static uint32_t
hidden_of(const PfsBlockHead *head, uint64_t word)
{
	uint64_t	hidden = pfs_load_acquire(&head->hidden);

	return GENERATION(hidden) == GENERATION(word) ? FILL(hidden) : 0;
}

/* Copies a block as far as its word says, and looks at the word again. */
uint32_t
pfs_blocks_copy(const PfsBlocks *b, uint32_t number, void *dst, uint32_t *hidden)
{
	const PfsBlockHead *head = &b->heads[number];
	uint64_t	word = number < used_blocks(b) ? pfs_load_acquire(&head->word) : 0; /* C */

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
 * Copies a block of a living writer.  It was the writer's all the time if at the end it is not
 * older than the oldest one.  For whoever sees that `numbers` has another number already, that the
 * block has been given up, or what its next owner wrote, sees that, too: I, pairs with H.
 */
uint32_t
pfs_blocks_copy_owned(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index, void *dst,
					  uint32_t *hidden)
{
	uint64_t	position = pfs_load_acquire(&w->position);	/* C */
	const PfsOwnBlocks *own = pfs_load_relaxed(&w->own);
	uint64_t	word;
	uint32_t	number;
	uint32_t	bytes;

	*hidden = 0;
	if (own == NULL || PFS_BLOCK_INDEX(position) < index)
		return 0;
	if (pfs_load_relaxed(&own->oldest) > index)
		return PFS_BLOCK_GONE;
	number = pfs_load_acquire(&own->numbers[index % b->held]);
	if (number >= b->nblocks)
		return 0;
	word = pfs_load_acquire(&b->heads[number].word);
	bytes = PFS_BLOCK_INDEX(position) == index ? PFS_BLOCK_BYTES(position) : FILL(word);
	if (bytes > b->block_size)
		return 0;
	*hidden = hidden_of(&b->heads[number], word);
	pfs_racy_copy(dst, block_of(b, number), bytes);
	pfs_fence_acquire();		/* I */
	return pfs_load_relaxed(&own->oldest) > index ? PFS_BLOCK_GONE : bytes;
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
	const PfsOwnBlocks *own = pfs_load_relaxed(&w->own);
	uint64_t	again;
	uint64_t	word;
	uint32_t	number;

	if (own == NULL || PFS_BLOCK_BYTES(position) == 0 || PFS_BLOCK_BYTES(position) > b->block_size)
		return;
	number = pfs_load_acquire(&own->numbers[PFS_BLOCK_INDEX(position) % b->held]);
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
	uint32_t	used = used_blocks(b);

	for (uint32_t number = 0; number < used; number++)
	{
		uint64_t	word = pfs_load_acquire(&b->heads[number].word);	/* C */

		if (FILL(word) != 0)
			hide(&b->heads[number], word);
	}
}
