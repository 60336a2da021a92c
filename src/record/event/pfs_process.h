/*
 * pfs_process.h
 *	  What a process does about its thread record as a whole: it gets one, learns whom it
 *	  works for, looks at what it has missed, and repairs what an error has left undone.
 *
 * In all but the last each room has its share, so that is done in the folder above them, which
 * hands its functions down.
 */
#ifndef PFS_PROCESS_H
#define PFS_PROCESS_H

#include "pfs_thread.h"

/* Of ../pfs_attach.c.  Set once, when the library is loaded (../pfs_register.c). */
typedef struct PfsProcessCallbacks
{
	/*
	 * Get a record for this process.  Only from calls that no signal handler
	 * makes.  NULL if it must not, or if no record is free (counted).
	 */
	PfsThread  *(*attach_cb) (void);

	/*
	 * Find out the thread's role and account, at latch waits whose events are
	 * not wanted: a session is a connection of its account whatever is
	 * switched off.
	 */
	void		(*identify_cb) (PfsThread *t);

	/*
	 * Slow path of an event's begin: looks at what the process has missed.
	 * False: no event.
	 */
	bool		(*prepare_cb) (PfsThread *t);
} PfsProcessCallbacks;

extern PFS_HIDDEN PfsProcessCallbacks pfs_process;

/*
 * Repair what an error has left as inside a write section.  Only where the process is
 * in none, and in no signal handler.
 */
extern void pfs_thread_repair(PfsThread *t);

/*
 * Of that, what lies outside of its own record: takes back what the process has counted itself
 * in for, and returns how many words that were.
 */
extern uint64 pfs_repair_others(void);

#endif							/* PFS_PROCESS_H */
