/*
 * pfs_patience.h
 *	  How long readers, resets and new sessions wait for a process that is in the
 *	  middle of something, and how readers and resets take turns.
 *
 * What a process is in the middle of at an instrument point takes nanoseconds or
 * microseconds, unless the process has lost its processor; and nobody knows whether it
 * will get it back.  So each reading and each reset has one patience for all that it
 * waits for.  When that has run out it takes what it finds, and counts itself as
 * inexact.  Within a statement the next one does not wait for the same process again.
 *
 *	  PfsPatience patience = {.of_reset = true};
 *
 *	  while (something is in the way && pfs_patience_more(&patience))
 *		  ;
 *	  pfs_patience_next(&patience);		before waiting for the next process
 *	  ...
 *	  pfs_patience_end(&patience);
 *
 * No interrupt is served inside, so what a caller has begun it ends; but a cancelled
 * statement has no patience any more, and so comes to its next CHECK_FOR_INTERRUPTS().
 *
 * Readers of one kind of counters and those who reset them exclude each other by a
 * lock of the server's lock manager, not by an LWLock: whoever waits for it can be
 * cancelled, errors release it, and the holder's naps can be interrupted.
 *
 * Backends only.
 */
#ifndef PFS_PATIENCE_H
#define PFS_PATIENCE_H

#include "pfs.h"
#include "pfs_atomic.h"

typedef struct PfsPatience
{
	uint32		looks;			/* at the present process */
	uint64		until;			/* ns of CLOCK_MONOTONIC; 0: no nap yet */
	bool		of_reset;
	bool		has_run_out;
} PfsPatience;

/* Look again?  Pauses or naps before it says so. */
extern bool pfs_patience_more(PfsPatience *patience);

/* The next look is at another process. */
static inline void
pfs_patience_next(PfsPatience *patience)
{
	patience->looks = 0;
}

/* Count the reading or the reset if it is not exact. */
extern void pfs_patience_end(const PfsPatience *patience);

/* What has to be read by readers, or changed by one reset, at a time. */
typedef enum PfsTurn
{
	PFS_TURN_SUMMARIES,
	PFS_TURN_DIGESTS,
	PFS_TURN_SOCKETS,
	PFS_TURN_PREPARED,
	PFS_TURN_FILES,
	PFS_TURN_TABLES,			/* and indexes */
	PFS_TURN_PROGRAMS,
} PfsTurn;

#define PFS_NUM_TURNS (PFS_TURN_PROGRAMS + 1)

/* alone: for a reset.  Raises an error after PFS_TURN_TIMEOUT. */
extern void pfs_turn_begin(PfsTurn what, bool alone);
extern void pfs_turn_end(PfsTurn what, bool alone);

/* Readers and resets take half a second at most, each; several may be before us. */
#define PFS_TURN_TIMEOUT 10000	/* ms */

/* In shared memory: what could not be waited for, and what was repaired. */
typedef struct PfsSharedPatience
{
	uint64		reads_inexact;	/* atomic */
	uint64		resets_inexact; /* atomic */
	uint64		repaired;		/* sequence words and the like, atomic; see
								 * pfs_process.c */

	/*
	 * By turn: readers and resets at work that forbid others to move what
	 * they are about from one place to another; atomic.
	 */
	struct
	{
		uint64		n;
	}			blocked[PFS_NUM_TURNS] __attribute__((aligned(PFS_CACHE_LINE)));
} PfsSharedPatience;

extern PFS_HIDDEN PfsSharedPatience *pfs_patience;

/*
 * Instrument points, inside a write section: may it be moved from here to the section's end?  The
 * fence pairs with the one in forbid_moves(); ../ledger/README.md has the protocol.
 */
static inline bool
pfs_is_blocked(PfsTurn what)
{
	return pfs_load_acquire(&pfs_patience->blocked[what].n) != 0;
}

static inline bool
pfs_may_move(PfsTurn what)
{
	pfs_fence_seqcst();
	return !pfs_is_blocked(what);
}

#endif							/* PFS_PATIENCE_H */
