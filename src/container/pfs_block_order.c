/*
 * pfs_block_order.c
 *	  Blocks that nobody owns: the orders of the full ones, by lane, and the stacks of
 *	  those that are empty or partly filled.
 *
 * README.md has the argument; the letters of edges are explained there.
 */
#include "pfs_block_order.h"

/*
 * The top of a stack: a block's number plus one, 0: it is empty, under a tag that tells
 * one state of the stack from a later one with the same top.
 */
#define TOP(tag, number_plus_one) PLACE(tag, number_plus_one)
#define TAG(top)			((top) >> NUMBER_BITS)

/*
 * A lane has plenty if its blocks have this part more items than it needs: a block that goes
 * out of use then does not come back at once.
 */
#define PLENTY				16

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

static void
push(PfsBlocks *b, uint64_t *stack, uint32_t number)
{
	uint64_t	top = pfs_load_relaxed(stack);

	do
		pfs_store_relaxed(&b->heads[number].below, NUMBER(top));
	while (!pfs_cas(stack, &top, TOP(TAG(top) + 1, number + 1)));
}

/* Takes the block on top of a stack, or PFS_NO_BLOCK. */
static inline uint32_t
pop(PfsBlocks *b, uint64_t *stack)
{
	uint64_t	top = pfs_load_acquire(stack);

	while (NUMBER(top) != 0)
	{
		uint32_t	below = pfs_load_relaxed(&b->heads[NUMBER(top) - 1].below);

		/* `below` may be another's by now; then the tag is, too */
		if (pfs_cas(stack, &top, TOP(TAG(top) + 1, below)))
			return NUMBER(top) - 1;
	}
	return PFS_NO_BLOCK;
}

/*
 * Returns how many items have to be behind a block in its lane's order before the block may be reused: the newest items,
 * which readers show, and as many as may be older than the block's own.  Such items were in blocks that had no place in
 * the order yet when this block was entered, or that were being written.
 */
static inline int64_t
enough_items(const PfsBlocks *b, const PfsBlockHead *head)
{
	return (int64_t) b->items + b->writers + (int64_t) pfs_load_relaxed(&head->outside) * b->most;
}

/*
 * Takes the oldest block out of a lane's order.  Unless it must, it takes the block only if the order keeps b->enough
 * blocks, whatever is in them, or enough items (enough_items()).  Returns PFS_NO_BLOCK if it may not, or if the order is
 * empty.
 *
 * Another process may take the block while this one reads its head.  Then the compare-and-swap of the place fails, as the
 * place has a later lap; at worst this process has read too many items and leaves a block that it could have taken.
 */
static uint32_t
take(PfsBlocks *b, uint32_t number_of_lane, bool must)
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
		bool		may;

		if (LAP(old) != lap)
		{
			/* Somebody has taken it, and may sleep before he says so. */
			if (pfs_cas(&lane->taken, &position, position + 1))
				position++;
			continue;
		}
		if (NUMBER(old) == 0)
			return PFS_NO_BLOCK;
		head = &b->heads[NUMBER(old) - 1];
		items = pfs_load_relaxed(&head->items);
		wanted = enough_items(b, head);
		may = must || pfs_load_relaxed(&lane->entered) > position + b->enough;
		if (!may && pfs_load_relaxed(&lane->items) - items < wanted)
			return PFS_NO_BLOCK;
		may = pfs_sub_seqcst(&lane->items, items) - items >= wanted || may;
		if (may && pfs_cas(place, &old, PLACE(lap + 1, 0)))
		{
			(void) pfs_cas(&lane->taken, &position, position + 1);
			return NUMBER(old) - 1;
		}
		(void) pfs_add_relaxed(&lane->items, items);
		if (!may)
			return PFS_NO_BLOCK;
	}
}

/* Could the next block of a lane's order go, too, as this one has? */
static inline bool
has_plenty(const PfsBlocks *b, uint32_t lane, uint32_t taken)
{
	int64_t		wanted = enough_items(b, &b->heads[taken]);

	return pfs_load_relaxed(&b->lanes[lane].items) - wanted > wanted / PLENTY + b->most;
}

/* An owner's block, which has no items from here on, is an empty one. */
static void
put_back(PfsBlocks *b, uint32_t number)
{
	give_up(b, number);
	push(b, &b->empty, number);
}

/*
 * Enters a block as the newest of a lane's order.  A place is filled before `entered` says
 * so: who finds it filled says it for the other, who may sleep.  The order is full only where
 * processes were killed; then its oldest block goes.
 */
static void
enter(PfsBlocks *b, uint32_t number_of_lane, uint32_t number)
{
	PfsSharedBlockLane *lane = &b->lanes[number_of_lane];
	uint64_t   *order = b->order + number_of_lane * b->nplaces;
	PfsBlockHead *head = &b->heads[number];
	uint32_t	items = pfs_load_relaxed(&head->items); /* while it is ours */
	uint64_t	position = pfs_load_acquire(&lane->entered);
	bool		is_in = false;

	while (!is_in)
	{
		uint32_t	lap = position / b->nplaces;
		uint64_t	old = PLACE(lap, 0);

		pfs_store_relaxed(&head->outside, pfs_load_relaxed(&b->outside));
		is_in = pfs_cas(&order[position % b->nplaces], &old, PLACE(lap, number + 1));
		if (!is_in && LAP(old) == lap - 1)
		{
			uint32_t	oldest = take(b, number_of_lane, true);

			if (oldest != PFS_NO_BLOCK)
				put_back(b, oldest);
			position = pfs_load_acquire(&lane->entered);
		}
		else if (pfs_cas(&lane->entered, &position, position + 1))
			position++;
	}

	/*
	 * Added when it is in, and subtracted before it is taken: so they are
	 * never too many.
	 */
	(void) pfs_add_relaxed(&lane->items, items);
}

/* Takes a block without items that is in no order, or PFS_NO_BLOCK. */
static uint32_t
take_empty(PfsBlocks *b)
{
	uint32_t	number = pop(b, &b->empty);
	uint64_t	fresh;

	if (number != PFS_NO_BLOCK)
		return number;

	/*
	 * One may have come back since, as an ending thread gives its blocks back
	 * one by one.
	 */
	if (pfs_load_relaxed(&b->fresh) >= b->nblocks || (fresh = pfs_add_relaxed(&b->fresh, 1)) >= b->nblocks)
		return pop(b, &b->empty);
	give_up(b, fresh);
	return fresh;
}

/* Where the lane has plenty, it gets back to what it needs, block by block. */
uint32_t
pfs_block_exchange(PfsBlocks *b, uint32_t lane, uint32_t number)
{
	if (b->nplaces != 0)
	{
		enter(b, lane, number);
		number = take(b, lane, false);
		if (number != PFS_NO_BLOCK && has_plenty(b, lane, number))
		{
			put_back(b, number);
			number = take(b, lane, false);
		}
		if (number == PFS_NO_BLOCK)
		{
			number = take_empty(b);
			if (number != PFS_NO_BLOCK)
				return number;
			number = take(b, lane, true);
		}
	}
	if (number != PFS_NO_BLOCK)
		give_up(b, number);
	else
		(void) pfs_sub_seqcst(&b->outside, 1);
	return number;
}

/* Those after a writer's first one are empty, as its own items have to fill them (pfs_blocks_held()). */
uint32_t
pfs_block_claim(PfsBlocks *b, bool first)
{
	uint32_t	number = first ? pop(b, &b->begun) : PFS_NO_BLOCK;

	if (number != PFS_NO_BLOCK)
		return number;
	number = take_empty(b);

	/* Before it has items: blocks that are entered from then on count it. */
	if (number != PFS_NO_BLOCK)
		(void) pfs_add_seqcst(&b->outside, 1);
	return number;
}

/* Where the lane has enough without its oldest block, that becomes an empty one. */
void
pfs_block_discard(PfsBlocks *b, uint32_t lane, uint32_t number)
{
	if (b->nplaces != 0)
		enter(b, lane, number);
	(void) pfs_sub_seqcst(&b->outside, 1);
	if (b->nplaces != 0)
		number = take(b, lane, false);
	if (number != PFS_NO_BLOCK)
		put_back(b, number);
}

void
pfs_block_leave_begun(PfsBlocks *b, uint32_t number)
{
	push(b, &b->begun, number);
}
