/*
 * pfs_progress.h
 *	  Phases of the commands that report their progress, as instruments, and
 *	  the work done in each.
 */
#ifndef PFS_PROGRESS_H
#define PFS_PROGRESS_H

#include "pfs_instrument.h"

/* Registers the instruments of all phases. */
extern void pfs_progress_start(void);

/* A phase of a command. */
typedef struct PfsProgressPhase
{
	const char *word;			/* as in the progress view, "_" for blanks */
	int			completed;		/* parameters, or PFS_PROGRESS_NONE */
	int			estimated;
	PfsInstrumentId instrument; /* PFS_NO_INSTRUMENT: no phase has this number */
} PfsProgressPhase;

/*
 * The phase that a command's parameters say, by the server's numbers; NULL: a command or phase
 * that is unknown.
 */
extern const PfsProgressPhase *pfs_progress_phase(int command, const int64 *params);

/*
 * Brings the work done in the phase of an instrument, and all work in it, up to date with the
 * parameters of its command, which say that it is in the phase `now`.  Both are -1 where the phase
 * has none, and at its begin.  over: the command has ended, these are its last ones.  False: the
 * parameters begin again, so they are about another run of the phase, and nothing is changed.
 */
extern bool pfs_progress_work(PfsInstrumentId instrument, const PfsProgressPhase *now, const int64 *params, bool over,
							  int64 *completed, int64 *estimated);

/* The command has gone on: all work that there was has been done. */
static inline void
pfs_progress_complete(int64 *completed, const int64 *estimated)
{
	if (*estimated > 0)
		*completed = *estimated;
}

#endif							/* PFS_PROGRESS_H */
