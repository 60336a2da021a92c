/*
 * pfs_process.h
 *	  What a process does about its thread record as a whole: it gets one, learns whom it
 *	  works for, looks at what it has missed, and repairs words that an error left odd.
 *
 * Each room has its share of that, so it is done in the folder above them
 * (../pfs_attach.c, ../pfs_thread_end.c).
 */
#ifndef PFS_PROCESS_H
#define PFS_PROCESS_H

#include "pfs_thread.h"

/*
 * Get a record for this process.  Only from calls that no signal handler
 * makes.  NULL if it must not, or if no record is free (counted).
 */
extern PfsThread *pfs_thread_attach(void);

/*
 * Find out the thread's role and account, at latch waits whose events are not wanted: a
 * session is a connection of its account whatever is switched off.
 */
extern void pfs_thread_identify_now(PfsThread *t);

/*
 * Repair what an error has left as inside a write section.  Only where the process is
 * in none, and in no signal handler.
 */
extern void pfs_thread_repair(PfsThread *t);

/* Slow path of begin: looks at what the process has missed.  False: no event. */
extern bool pfs_wait_prepare(PfsThread *t);

#endif							/* PFS_PROCESS_H */
