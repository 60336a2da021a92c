/*
 * pfs_account_evict.h
 *	  Accounts, users and hosts whose place a new name needs: which one goes, how its numbers
 *	  get to the record of all others, and who forbids that.
 *
 * Apart from pfs_account.h, which whoever shows or counts numbers includes.
 */
#ifndef PFS_ACCOUNT_EVICT_H
#define PFS_ACCOUNT_EVICT_H

#include "pfs_account.h"

/* What keeps moves of records' numbers and readers of them apart. */
typedef struct PfsSharedAccounts
{
	uint64		held;			/* readers and truncators at work, which
								 * forbid moves; atomic */
	uint64		moving __attribute__((aligned(PFS_CACHE_LINE)));	/* processes in the
																	 * middle of a move;
																	 * atomic */
} PfsSharedAccounts;

extern PFS_HIDDEN PfsSharedAccounts *pfs_shared_accounts;

typedef enum PfsEviction
{
	PFS_EVICTION_DONE,
	PFS_EVICTION_FORBIDDEN,		/* a reader or truncator is at work */
	PFS_EVICTION_NONE,			/* all records are in use */
} PfsEviction;

/* Instrument points: evict one record of a kind whose container is full, which counts a loss. */
extern PfsEviction pfs_account_evict(PfsAccountKind kind);

/*
 * A record changes hands, or numbers move between records, only between these two; begin says
 * false where a reader or truncator forbids it.
 */
extern bool pfs_account_begin_move(void);
extern void pfs_account_end_move(void);

/* Ends a move that an error has cut off; whether there was one. */
extern bool pfs_account_repair(void);

#endif							/* PFS_ACCOUNT_EVICT_H */
