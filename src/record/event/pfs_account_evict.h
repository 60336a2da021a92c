/*
 * pfs_account_evict.h
 *	  Accounts, users and hosts whose place a new name needs: which one goes, how its numbers
 *	  get to the record of all others.
 *
 * Apart from pfs_account.h, which whoever shows or counts numbers includes.
 */
#ifndef PFS_ACCOUNT_EVICT_H
#define PFS_ACCOUNT_EVICT_H

#include "pfs_account.h"

typedef enum PfsEviction
{
	PFS_EVICTION_DONE,
	PFS_EVICTION_FORBIDDEN,		/* a reader or truncator is at work */
	PFS_EVICTION_NONE,			/* all records are in use */
} PfsEviction;

/* Instrument points: evict one record of a kind whose container is full, which counts a loss. */
extern PfsEviction pfs_account_evict(PfsAccountKind kind);

#endif							/* PFS_ACCOUNT_EVICT_H */
