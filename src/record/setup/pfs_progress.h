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

/*
 * The instrument of the phase that a command's parameters say, by the server's
 * numbers; PFS_NO_INSTRUMENT: a command or phase that is unknown.
 */
extern PfsInstrumentId pfs_progress_stage(int command, const int64 *params);

/*
 * Brings the work done in a phase, and all work in it, up to date with the
 * parameters of its command.  Both are -1 where the phase has none, and at its
 * begin.  over: the command has ended, these are its last ones.  False: the parameters
 * begin again, so they are about another run of the phase, and nothing is changed.
 */
extern bool pfs_progress_work(PfsInstrumentId instrument, int command, const int64 *params, bool over,
							  int64 *completed, int64 *estimated);

/* The command has gone on: all work that there was has been done. */
static inline void
pfs_progress_complete(int64 *completed, const int64 *estimated)
{
	if (*estimated > 0)
		*completed = *estimated;
}

#endif							/* PFS_PROGRESS_H */
