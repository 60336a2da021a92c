/*
 * pfs_thread_end.h
 *	  How a process leaves its record, and how it puts right what was left undone in
 *	  the middle of a write section.
 */
#ifndef PFS_THREAD_END_H
#define PFS_THREAD_END_H

#include "pfs_process.h"

/*
 * Postmaster, once.  exits: the server's list of what it calls at the end of a process,
 * as PfsExit; used: how many of its entries are in use.  NULL: they are not known.
 */
typedef struct PfsExit
{
	void		(*function) (int code, Datum arg);
	Datum		arg;
} PfsExit;

extern void pfs_thread_end_start(PfsExit *exits, const int *used);

/* This process gets no record any more: it is gone, or not ours to watch. */
extern bool pfs_never_attach;

/* At attach: can the end be noticed?  Then make sure that it is. */
extern bool pfs_thread_can_end(void);
extern void pfs_thread_watch_end(void);

/* Of pfs_attach.c: what a process learns about itself only after its first events. */
extern void pfs_thread_refresh_identity(PfsThread *t, bool may_wait);

#endif							/* PFS_THREAD_END_H */
