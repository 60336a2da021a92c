/*
 * pfs_instr_lwlock.h
 *	  What the wrappers of sleeping calls need to know of the LWLock acquisition
 *	  that they sleep for.  Only with detours; see pfs_instr_lwlock.c.
 */
#ifndef PFS_INSTR_LWLOCK_H
#define PFS_INSTR_LWLOCK_H

#include "storage/lwlock.h"

#include "pfs_event_write.h"

/*
 * The call of an LWLock function that is in progress; there is one at most, so its end
 * finds here what its begin knew.
 */
typedef struct PfsAcquisition
{
	const LWLock *lock;			/* NULL: none */
	uint64		start;			/* clock at its begin, with `all` */
	const struct PfsWaitLookup *lookup; /* cached lookup of its tranche; NULL:
										 * by flags and kind */
	uint32		flags;			/* of the event, with `all` */
	uint32		kind;			/* the same: pfs_event_kind() */
	LWLockMode	mode;			/* the same */
	bool		asked;			/* whether an event is wanted is decided;
								 * false while there is none */
	bool		interrupted;	/* the sleep goes on in the next call */
	uint32		instance;		/* of the lock, once slept for */
	PfsWait    *event;			/* shown as running, or NULL */
} PfsAcquisition;

extern PFS_HIDDEN PfsAcquisition pfs_acquisition;

/* Before and after a semaphore call of the acquisition in progress. */
extern void pfs_lwlock_before_sleep(PfsThread *t, const void *frame);

static inline void
pfs_lwlock_after_sleep(int result)
{
	pfs_acquisition.interrupted = result != 0;
}

/*
 * Another wait begins inside the acquisition in progress (a spin delay): with
 * `all`, this one has to be shown first, so that the other nests in it.
 */
extern void pfs_lwlock_before_nap(PfsThread *t, const void *frame);

/* Is this call of a semaphore, or nap, one of an acquisition in progress? */
static inline bool
pfs_lwlock_in_progress(void)
{
	return unlikely(pfs_acquisition.lock != NULL);
}

#endif							/* PFS_INSTR_LWLOCK_H */
