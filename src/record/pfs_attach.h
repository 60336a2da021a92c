/*
 * pfs_attach.h
 *	  How a process gets its thread record and learns its role and account: the functions
 *	  of PfsProcessCallbacks, and what the end of a process needs of them.
 */
#ifndef PFS_ATTACH_H
#define PFS_ATTACH_H

#include "pfs_thread.h"

/* See PfsProcessCallbacks: attach, identify, prepare. */
extern PfsThread *pfs_thread_attach(void);
extern void pfs_thread_identify_now(PfsThread *t);
extern bool pfs_wait_prepare(PfsThread *t);

/* This process gets no record any more: it has one or had it, or is not ours to watch. */
extern bool pfs_never_attach;

/* What a process learns about itself only after its first events. */
extern void pfs_thread_refresh_identity(PfsThread *t, bool may_wait);

#endif							/* PFS_ATTACH_H */
