/*
 * pfs_program_call.h
 *	  Calls of programs that are open in this process: which program a statement
 *	  begins in, and when a call is over.
 *
 * Process-local; instrument points only, in the main line: nothing here is called by
 * signal handlers.
 */
#ifndef PFS_PROGRAM_CALL_H
#define PFS_PROGRAM_CALL_H

#include "pfs_program.h"

typedef struct PfsProgramCall
{
	struct PfsProgramCall *outer;
	PfsProgramEntry *program;
	const void *frame;			/* what its language knows it by; NULL: it is
								 * a CALL that no language has taken over */
	PfsTimestamp start;			/* if it is timed */
	uint32		depth;			/* calls that are open, with this one */
	int			xact_level;		/* nesting of subtransactions when it began */
	uint8		flags;			/* PFS_PROGRAM_*, as they were then */
	uint64		pool;			/* of a free one: see pfs_private.h */
} PfsProgramCall;

/* The innermost one, whose program a statement begins in; NULL: none is open. */
extern PFS_HIDDEN PfsProgramCall *pfs_program_innermost;

static inline PfsProgramEntry *
pfs_program_entered(void)
{
	return likely(pfs_program_innermost == NULL) ? NULL : pfs_program_innermost->program;
}

static inline uint32
pfs_program_depth(void)
{
	return pfs_program_innermost == NULL ? 0 : pfs_program_innermost->depth;
}

/*
 * A call begins.  frame: an address that no other open call has; NULL: a CALL, whose language
 * may say so, too, with a frame, and is then the same call.
 */
extern void pfs_program_begin(PfsProgramEntry *program, const void *frame);

/* The call of this frame is over, and all that is open inside; unknown ones are ignored. */
extern void pfs_program_end(const void *frame);

/* All calls are over but the first `depth` ones. */
extern void pfs_program_end_above(uint32 depth);

/* A subtransaction of this level has been rolled back: what began in it is over. */
extern void pfs_program_unwind(int xact_level);

#endif							/* PFS_PROGRAM_CALL_H */
