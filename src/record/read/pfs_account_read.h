/*
 * pfs_account_read.h
 *	  Readers of accounts, users and hosts; pfs_summary_truncate.c truncates them: it removes the records that
 *	  no session has pinned, whose numbers go to the levels above, then truncates this level in all families of
 *	  summaries.
 *
 * Backends only, and the recorder.
 */
#ifndef PFS_ACCOUNT_READ_H
#define PFS_ACCOUNT_READ_H

#include "pfs_account.h"
#include "pfs_pending_read.h"

/* A row of accounts, users, hosts. */
typedef void (*PfsAccountEmit) (const PfsAccount *copy, void *arg);

/* Hands each row to emit, which may raise errors. */
extern void pfs_accounts_read(PfsAccountKind kind, PfsAccountEmit emit, void *arg);

#endif							/* PFS_ACCOUNT_READ_H */
