/*
 * pfs_account_read.h
 *	  Readers and truncators of summaries, accounts, users and hosts: their turn, in which no
 *	  account, user or host is evicted, and the rows of these.
 *
 * Backends only, and the recorder.
 */
#ifndef PFS_ACCOUNT_READ_H
#define PFS_ACCOUNT_READ_H

#include "pfs_account.h"
#include "pfs_patience.h"

/*
 * Takes the turn of summaries (alone: of a truncator), forbids evictions, and does the work, which
 * may raise an error.  Ends the patience.
 */
typedef void (*PfsAccountsWork) (PfsPatience *patience, void *arg);
extern void pfs_accounts_work(bool alone, PfsAccountsWork work, PfsPatience *patience, void *arg);

/* A row of accounts, users, hosts. */
typedef void (*PfsAccountEmit) (const PfsAccount *copy, void *arg);

/* Hands each row to emit: inside the work; in a turn of its own. */
extern void pfs_accounts_each(PfsAccountKind kind, PfsAccountEmit emit, void *arg);
extern void pfs_accounts_read(PfsAccountKind kind, PfsAccountEmit emit, void *arg);

#endif							/* PFS_ACCOUNT_READ_H */
