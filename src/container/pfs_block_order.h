/*
 * pfs_block_order.h
 *	  Blocks that nobody owns: the orders of the full ones, by lane, and the stacks of
 *	  those that are empty or partly filled.  For pfs_blocks.c alone.
 *
 * README.md has the argument; the letters of edges are explained there.
 */
#ifndef PFS_BLOCK_ORDER_H
#define PFS_BLOCK_ORDER_H

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
 * block's number plus one; 0: it is empty.
 */
#define NUMBER_BITS			32
#define NUMBER(place)		((uint32_t) (place))
#define LAP(place)			((uint32_t) ((place) >> NUMBER_BITS))
#define PLACE(lap, number_plus_one) ((uint64_t) (lap) << NUMBER_BITS | (number_plus_one))

typedef struct PfsBlockHead
{
	uint64_t	word;			/* generation, and bytes that are complete */
	uint64_t	hidden;			/* truncators raise */
	uint32_t	below;			/* in a stack: number plus one of the next */
	uint32_t	items;			/* complete ones of the long history, when it
								 * was left */
	uint32_t	own_items;		/* of its owner's history, when it was full */
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
	uint32_t	enough;			/* so many blocks of a lane suffice, whatever
								 * is in them */
	uint32_t	nblocks;
	uint32_t	block_size;
	uint32_t	held;
	size_t		nplaces;		/* of a lane */
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

/* Instead of a block's number: there is none. */
#define PFS_NO_BLOCK		UINT32_MAX

/*
 * Gives a block to a lane for one without items: the lane's oldest, or an empty one if
 * all of the lane's are needed.  PFS_NO_BLOCK: it is given, and there is none, which is possible only
 * where processes were killed.
 */
extern uint32_t pfs_block_exchange(PfsBlocks *b, uint32_t lane, uint32_t number);

/* Gives a block to a lane for nothing. */
extern void pfs_block_discard(PfsBlocks *b, uint32_t lane, uint32_t number);

/*
 * Takes one more block, an empty one, or if it is a writer's first, one that another has left
 * partly filled, if there is one; or PFS_NO_BLOCK.
 */
extern uint32_t pfs_block_claim(PfsBlocks *b, bool first);

/* Leaves a writer's last block, partly filled, to the next one. */
extern void pfs_block_leave_begun(PfsBlocks *b, uint32_t number);

#endif							/* PFS_BLOCK_ORDER_H */
