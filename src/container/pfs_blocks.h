/*
 * pfs_blocks.h
 *	  The newest items of each thread and of the whole server, written once: blocks
 *	  of bytes that change hands.
 *
 * A thread owns a current block, into which it writes items of any size one behind the
 * other, and the full ones before it, as many as its own history needs.  What it gives
 * away stays where it is: a lane's order of blocks, oldest first, is all that changes.
 * The thread enters its oldest block there as the newest one, and gets the oldest of
 * the lane to write into, if those behind it have enough items, else an empty one.  So
 * nothing is copied, the newest items of the server are those in the blocks of the order
 * and in those of living threads, and not many more blocks go round than these items and
 * one block of each thread fill.
 *
 * README.md has the argument why readers get whole items only, and each of them.
 */
#ifndef PFS_BLOCKS_H
#define PFS_BLOCKS_H

#include "pfs_seqlock.h"
#include "pfs_segment.h"

typedef struct PfsBlocks PfsBlocks;

/*
 * The blocks that a writer owns, from the oldest one to the current one, which has the
 * index of its position; written by the thread alone, and read by all.
 */
typedef struct PfsOwnBlocks
{
	uint64_t	oldest;			/* index, release-stored before a block is
								 * given away */
	uint32_t	items;			/* owner only: of its history, in the full
								 * ones */
	uint32_t	numbers[];		/* [held], by index */
} PfsOwnBlocks;

/*
 * What a thread has of a container; written by the thread alone, and read by all.
 * position: the number of blocks that it had before the current one, above 24 bits of
 * bytes that are complete in that.
 */
typedef struct PfsBlockWriter
{
	uint64_t	position;		/* release-stored */
	char	   *next;			/* owner only: where the next item goes; NULL:
								 * no block yet */
	uint32_t	room;			/* owner only: bytes behind that */
	uint32_t	counts;			/* owner only: PFS_BLOCK_COUNTS, in the
								 * current block */
	PfsOwnBlocks *own;			/* set at init; NULL: it has ended */
} PfsBlockWriter;

/*
 * Items of the long history, by whomever, and of the thread's own: a sum of two numbers in one
 * word, as each item adds to both.
 */
#define PFS_BLOCK_COUNTS(items, own_items) ((uint32_t) (items) | (uint32_t) (own_items) << 16)
#define PFS_BLOCK_ITEMS(counts) ((counts) & 0xFFFF)
#define PFS_BLOCK_OWN_ITEMS(counts) ((counts) >> 16)

#define PFS_BLOCK_BYTES_BITS 24
#define PFS_BLOCK_POSITION(index, bytes) ((uint64_t) (index) << PFS_BLOCK_BYTES_BITS | (bytes))
#define PFS_BLOCK_INDEX(position) ((position) >> PFS_BLOCK_BYTES_BITS)
#define PFS_BLOCK_BYTES(position) ((uint32_t) (position) & ((1 << PFS_BLOCK_BYTES_BITS) - 1))

typedef struct PfsBlocksSpec
{
	uint32_t	lanes;
	uint32_t	items;			/* of the server that are to be there always;
								 * 0: only the threads' own */
	uint32_t	own_items;		/* the same of a thread */
	uint32_t	item_min;		/* bytes of the smallest */
	uint32_t	item_max;		/* bytes of the largest, with what says whose
								 * it is */
	uint32_t	writers;		/* at a time */
	uint32_t	block_size;		/* bytes, a multiple of a cache line */
} PfsBlocksSpec;

/* Bytes of a writer's PfsOwnBlocks. */
extern size_t pfs_blocks_own_size(const PfsBlocksSpec *spec);

/* Lay out in seg; NULL in the sizing pass, or if spec asks for no items at all. */
extern PfsBlocks *pfs_blocks_create(PfsSegment *seg, const PfsBlocksSpec *spec);

extern uint32_t pfs_blocks_lanes(const PfsBlocks *b);
extern uint32_t pfs_blocks_size(const PfsBlocks *b);	/* of one */
extern uint32_t pfs_blocks_number(const PfsBlocks *b);
extern uint32_t pfs_blocks_held(const PfsBlocks *b);	/* by a writer, at most */
extern size_t pfs_blocks_bytes(const PfsBlocks *b);

/* About: the pages of blocks that nobody ever wrote to are not resident. */
extern size_t pfs_blocks_resident_bytes(const PfsBlocks *b);

extern uint64_t pfs_blocks_lost(const PfsBlocks *b);
extern void pfs_blocks_reset_lost(PfsBlocks *b);

/* ---- owner ---- */

/* own: pfs_blocks_own_size(), any content.  The writer has no block yet. */
extern void pfs_block_writer_init(PfsBlockWriter *w, PfsOwnBlocks *own);

/*
 * The current block has no room for the next item, or there is none yet: takes another
 * one, with room for so many bytes; it may hold items of others.  False, and a loss is
 * counted, if there is none.
 */
extern bool pfs_block_advance(PfsBlocks *b, PfsBlockWriter *w, uint32_t lane, uint32_t bytes);

/*
 * What is in the writer's index-th block, and how much of it is complete; NULL: it has
 * given that away.
 */
extern void *pfs_block_of_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index,
								 uint32_t *bytes);

/* Gives all blocks away; the writer gets none any more. */
extern void pfs_block_writer_end(PfsBlocks *b, PfsBlockWriter *w, uint32_t lane);

/* The writer has no current block. */
static inline void
pfs_block_leave(PfsBlockWriter *w)
{
	w->next = NULL;
	w->room = 0;
	w->counts = 0;
}

static inline bool
pfs_block_has_room(const PfsBlockWriter *w, size_t bytes)
{
	return w->room >= bytes;
}

/*
 * What was written at `next` is complete, so many bytes.  counts: an item of the server's newest, of
 * the thread's, of both (PFS_BLOCK_COUNTS); or neither, as what lies in front of items.  B: pairs with C in
 * pfs_blocks_copy_owned().
 */
static inline void
pfs_block_done(PfsBlockWriter *w, uint32_t bytes, uint32_t counts)
{
	w->next += bytes;
	w->room -= bytes;
	w->counts += counts;
	pfs_bump_release(&w->position, bytes);	/* B */
}

/* ---- any process ---- */

/*
 * Copies what is complete in a block, as far as its last owner but the present one has
 * left it, or its present one has given it away or filled it: to dst, pfs_blocks_size()
 * bytes.  Returns how many bytes those are; those below *hidden have been truncated.
 */
extern uint32_t pfs_blocks_copy(const PfsBlocks *b, uint32_t number, void *dst, uint32_t *hidden);

/* Bytes from an address inside of a block to that block's end; 0: it is inside of none. */
extern uint32_t pfs_blocks_left(const PfsBlocks *b, const void *at);

/*
 * The same of the index-th block of a living writer, its current one included; of that,
 * *hidden covers also what pfs_blocks_copy() finds, of whoever had it before.
 * PFS_BLOCK_GONE: it has given the block away, perhaps while it was copied.  Whether the
 * writer's memory has changed hands meanwhile the caller finds out.
 */
#define PFS_BLOCK_GONE UINT32_MAX

extern uint32_t pfs_blocks_copy_owned(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t index,
									  void *dst, uint32_t *hidden);

/*
 * Copies of a writer's blocks: the n with an index below `end`, the index-th in its place
 * among pfs_blocks_held() ones, so many bytes of it.
 */
typedef struct PfsBlockCopies
{
	char	   *blocks;			/* [held] */
	uint32_t   *bytes;			/* [held] */
	uint64_t	end;
	uint32_t	n;				/* 0 before the first call */
} PfsBlockCopies;

/*
 * Copies all blocks of a living writer from its current one back to that of a position
 * (PFS_BLOCK_INDEX); none of one that has ended.  False: it has given some of them away
 * meanwhile, and what was copied may end before what it owned then; the same call again goes
 * on from there.
 */
extern bool pfs_blocks_copy_writer(const PfsBlocks *b, const PfsBlockWriter *w, uint64_t back_to, PfsBlockCopies *to);

/*
 * Hides what is complete in the current block of a living writer; in all blocks that
 * pfs_blocks_copy() knows of.  In this order, as blocks go from the one to the other.
 */
extern void pfs_blocks_hide_owned(PfsBlocks *b, const PfsBlockWriter *w);
extern void pfs_blocks_hide(PfsBlocks *b);

#endif							/* PFS_BLOCKS_H */
