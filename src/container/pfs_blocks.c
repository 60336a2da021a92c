/*
 * pfs_blocks.c
 *	  Blocks that change hands: how they are laid out, what a writer does, and copies for
 *	  readers.
 *
 * README.md has the argument; the letters of edges are explained there.
 */
#include "pfs_block_order.h"

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
	size_t		nplaces = spec->items == 0 ? 0 : ((enough + 1 + spec->writers) * sizeof(uint64_t) + PFS_CACHE_LINE - 1) /
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

uint32_t
pfs_blocks_left(const PfsBlocks *b, const void *at)
{
	size_t		offset = (const char *) at - b->blocks;

	if ((const char *) at < b->blocks || offset >= (size_t) b->nblocks * b->block_size)
		return 0;
	return b->block_size - offset % b->block_size;
}

/* ---- owner ---- */

void
pfs_block_writer_init(PfsBlockWriter *w, PfsOwnBlocks *own)
{
	pfs_store_relaxed(&own->oldest, 0);
	own->items = 0;
	pfs_store_relaxed(&w->position, 0);
	pfs_store_relaxed(&w->own, own);
	pfs_block_leave(w);
}

/*
 * Says in the word of a writer's current block what is complete in it.  B: pairs with C in
 * pfs_blocks_copy().
 */
static inline void
seal(PfsBlocks *b, const PfsBlockWriter *w)
{
	PfsBlockHead *head = &b->heads[w->own->numbers[PFS_BLOCK_INDEX(w->position) % b->held]];
	uint32_t	bytes = PFS_BLOCK_BYTES(w->position);

	pfs_store_relaxed(&head->items, PFS_BLOCK_ITEMS(w->counts));
	head->own_items = PFS_BLOCK_OWN_ITEMS(w->counts);
	pfs_store_release(&head->word, WORD(GENERATION(head->word), bytes));	/* B */
}

/*
 * Takes the oldest one from a writer's full blocks, if those behind it have what the thread's own
 * history shows, or if it owns as many as it may; else PFS_NO_BLOCK.  index: of the block that comes next.  H: pairs
 * with I in pfs_blocks_copy_owned().
 */
static inline uint32_t
leave_oldest(const PfsBlocks *b, PfsOwnBlocks *own, uint64_t index)
{
	uint64_t	oldest = own->oldest;
	uint32_t	number;
	uint32_t	items;

	/* The only one has all that the history shows. */
	if (oldest == index || (oldest + 1 == index && b->held > 1))
		return PFS_NO_BLOCK;
	number = own->numbers[oldest % b->held];
	items = b->heads[number].own_items;
	if (own->items - items < b->own_items && index - oldest < b->held)
		return PFS_NO_BLOCK;
	own->items -= items;
	pfs_store_release(&own->oldest, oldest + 1);	/* H */
	return number;
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
	uint32_t	room;
	char	   *at;

	if (own == NULL)
	{
		/* Its thread has ended: what it still writes is lost. */
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	if (w->next != NULL)
	{
		seal(b, w);
		own->items += PFS_BLOCK_OWN_ITEMS(w->counts);
		index++;
		pfs_block_leave(w);
		pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, 0));
	}
	number = leave_oldest(b, own, index);
	if (number != PFS_NO_BLOCK)
	{
		/*
		 * What went on with larger items needs fewer blocks when these are
		 * smaller.
		 */
		while ((another = leave_oldest(b, own, index)) != PFS_NO_BLOCK)
			pfs_block_discard(b, lane, another);
		number = pfs_block_exchange(b, lane, number);
	}
	else
		number = pfs_block_claim(b, index == 0);
	/* One that another thread has left, without room, is as good as full. */
	if (number != PFS_NO_BLOCK && b->block_size - FILL(b->heads[number].word) < bytes)
		number = pfs_block_exchange(b, lane, number);
	if (number == PFS_NO_BLOCK)
	{
		pfs_add_relaxed(&b->lost, 1);
		return false;
	}
	fill = FILL(b->heads[number].word);
	at = block_of(b, number) + fill;
	room = b->block_size - fill;
	pfs_store_release(&own->numbers[index % b->held], number);	/* H */
	map_pages(at, at + room);
	pfs_store_release(&w->position, PFS_BLOCK_POSITION(index, fill));	/* B */
	w->room = room;
	w->counts = PFS_BLOCK_COUNTS(fill == 0 ? 0 : pfs_load_relaxed(&b->heads[number].items), 0);
	/* It has a block when next says so; by then the position is that block's. */
	pfs_fence_signal();
	w->next = at;
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
		pfs_block_discard(b, lane, own->numbers[i % b->held]);
	if (has_current)
		pfs_block_leave_begun(b, own->numbers[index % b->held]);
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

	*hidden = 0;
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
	if (PFS_BLOCK_INDEX(position) < index)
		return 0;
	if (own == NULL || pfs_load_relaxed(&own->oldest) > index)
		return PFS_BLOCK_GONE;
	number = pfs_load_acquire(&own->numbers[index % b->held]);
	if (number >= b->nblocks)
		return 0;
	word = pfs_load_acquire(&b->heads[number].word);
	bytes = PFS_BLOCK_INDEX(position) == index ? PFS_BLOCK_BYTES(position) : FILL(word);
	if (bytes > b->block_size)
		return 0;
	*hidden = hidden_of(&b->heads[number], word);
	/* It was taken over with these. */
	if (PFS_BLOCK_INDEX(position) == index && FILL(word) > *hidden)
		*hidden = FILL(word);
	pfs_racy_copy(dst, block_of(b, number), bytes);
	pfs_fence_acquire();		/* I */
	return pfs_load_relaxed(&own->oldest) > index ? PFS_BLOCK_GONE : bytes;
}

/*
 * The newest first: what the writer gives away while it is read are its oldest, so that
 * what was copied has no gap.  Where it has, what was copied stays right, but for the block that
 * was current: the next call goes back to that, and each has less to copy.
 */
bool
pfs_blocks_copy_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t back_to, PfsBlockCopies *to)
{
	const PfsOwnBlocks *own = pfs_load_relaxed(&w->own);
	uint64_t	end;
	uint64_t	first;
	uint64_t	last;

	if (own == NULL)
	{
		to->n = 0;
		return true;
	}
	first = to->n == 0 ? pfs_load_acquire(&own->oldest) : to->end - to->n;
	last = to->n == 0 ? first : to->end - 1;

	/*
	 * Behind the oldest: what is current now is not older than what was when
	 * that was the oldest.
	 */
	end = PFS_BLOCK_INDEX(pfs_load_acquire(&w->position)) + 1;
	if (first < back_to)
		first = back_to;
	/* The writer's memory may have changed hands. */
	if (first > end)
		first = end;
	if (end - first > b->held)
		first = end - b->held;
	for (uint64_t index = end; index-- > first && index >= last;)
	{
		uint32_t	place = index % b->held;
		uint32_t	hidden;

		to->bytes[place] = pfs_blocks_copy_owned(b, w, index, to->blocks + (size_t) place * b->block_size, &hidden);
		if (to->bytes[place] == PFS_BLOCK_GONE)
		{
			to->end = end;
			to->n = end - 1 - index;
			return false;
		}
	}
	to->end = end;
	to->n = end - first;
	return true;
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
 * If the writer's memory has changed hands, its next owner has another block, or has completed
 * no more of this one than the second look says.
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
	again = pfs_load_acquire(&w->position);
	if (PFS_BLOCK_INDEX(again) == PFS_BLOCK_INDEX(position) &&
		pfs_load_relaxed(&own->numbers[PFS_BLOCK_INDEX(position) % b->held]) == number)
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
