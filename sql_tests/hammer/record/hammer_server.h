/*
 * hammer_server.h
 *	  What the tests of the record layer share: turns, waiting without end, and processes that lose
 *	  their processor.
 */
#ifndef HAMMER_SERVER_H
#define HAMMER_SERVER_H

#include "../hammer.h"

/* Not the server's. */
#undef snprintf

#include "pfs_instrument.h"
#include "pfs_patience.h"

/*
 * Takes the turns, the words and the patience of a run, which end with it.  Between the two the words are
 * in shared memory.
 */
extern void hammer_server_lay_out(PfsSegment *seg);
extern void hammer_server_end(void);

/* Takes pfs_sizes.threads thread records with their cells, and what is above them. */
extern void hammer_summaries_lay_out(PfsSegment *seg);

/* Frees what the library's readers have allocated, behind a reading or a truncation. */
extern void hammer_server_free_memory(void);

/* Now and then, once in so many times, a process loses its processor in the middle of something. */
extern void hammer_linger(uint32 times);

/*
 * And then again, when it is over: whoever has waited for it looks before there are so many new
 * events that a few which are missing do not show.
 */
extern void hammer_linger_behind(void);

/*
 * What was seen by key is no less than what had ended before, without what had begun when the
 * last truncation was over, and no more than what has begun, without what had ended before it.  Each of these has
 * so many keys.
 */
typedef struct HammerBounds
{
	const uint64 *begun;		/* events, by now */
	const uint64 *ended;		/* before the reading */
	const uint64 *begun_behind; /* the last truncation */
	const uint64 *ended_before; /* the same */
} HammerBounds;

extern void hammer_check_seen(const char *what, const uint64 *seen, const HammerBounds *bounds, int keys);

static inline void
hammer_copy_counts(uint64 *to, const uint64 *counts, int keys)
{
	for (int key = 0; key < keys; key++)
		to[key] = pfs_load_acquire(&counts[key]);
}

static inline uint64
hammer_sum_of(const uint64 *counts, int keys)
{
	uint64		sum = 0;

	for (int key = 0; key < keys; key++)
		sum += pfs_load_acquire(&counts[key]);
	return sum;
}

#endif							/* HAMMER_SERVER_H */
