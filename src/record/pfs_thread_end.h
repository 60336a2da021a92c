/*
 * pfs_thread_end.h
 *	  The end of a process, which frees its thread record; children that are no processes of the server.
 */
#ifndef PFS_THREAD_END_H
#define PFS_THREAD_END_H

#include "pfs_thread.h"

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

/* At attach: can the end be noticed?  Then make sure that it is. */
extern bool pfs_thread_can_end(void);
extern void pfs_thread_watch_end(void);

#endif							/* PFS_THREAD_END_H */
