/*
 * pfs_account.h
 *	  Accounts, users and hosts that threads work for, what was counted for
 *	  them, and how many connections they have and had.
 *
 * An account is a user on a host.  A thread refers to its account, the account
 * to its user and its host; where there is no account (size 0, or full) the
 * thread refers to user and host itself.  Background processes share one account
 * without names.  Records stay when their last thread has gone, until TRUNCATE.
 */
#ifndef PFS_ACCOUNT_H
#define PFS_ACCOUNT_H

#include "pfs.h"
#include "pfs_client.h"
#include "pfs_sparse.h"

/*
 * One account, user or host; behind it lie the links to its cells, of each family.
 * Names and parents never change while it is ALLOCATED.
 */
typedef struct PfsAccount
{
	uint64		hash;			/* of the names */
	uint64		current;		/* connections now; atomic */
	uint64		total;			/* connections since the last TRUNCATE; atomic */
	uint32		user;			/* of an account: its parents, each held by a */
	uint32		host;			/* reference; PFS_NO_RECORD: missing */
	bool		named;			/* false: background processes */
	char		user_name[NAMEDATALEN]; /* accounts and users */
	char		host_name[PFS_CLIENT_HOST_SIZE];	/* accounts and hosts */
} PfsAccount;

/* One container.  Inherited from the postmaster; pages NULL: pfs is off. */
typedef struct PfsAccounts
{
	PfsPages   *pages;
	struct PfsHash *index;
	uint64	   *references;		/* [records_max]; outside of the records, as
								 * they outlive them */
} PfsAccounts;

extern PfsAccounts pfs_accounts[PFS_NUM_ACCOUNT_KINDS];

/*
 * The cells of all three, by chunks: most accounts have a few dozen of the 2,000 cells
 * that there are.  A chunk has one cell of statements, or ten of waits or fifteen of errors
 * that are neighbours.
 */
extern PfsPages *pfs_account_counters;

#define PFS_ACCOUNT_CHUNK_SIZE	512

/* Where a record's links to the chunks of a family lie behind its begin; set at the start. */
extern size_t pfs_account_links_at[PFS_NUM_FAMILIES];

/* Takes the four containers. */
extern void pfs_accounts_lay_out(PfsSegment *seg);

/* What a thread refers to. */
typedef struct PfsAccountRefs
{
	uint32		records[PFS_NUM_ACCOUNT_KINDS]; /* user and host only without
												 * an account; PFS_NO_RECORD:
												 * none */
	bool		counted;		/* as a connection */
} PfsAccountRefs;

#define PFS_NO_ACCOUNT_REFS ((PfsAccountRefs) {{PFS_NO_RECORD, PFS_NO_RECORD, PFS_NO_RECORD}, false})

/*
 * Find or make the records, take a reference to them, and count a connection.  user_name
 * NULL: the background's.  Instrument points; what is full is counted there and missing
 * here.
 */
extern void pfs_account_enter(PfsAccountRefs *refs, const char *user_name, const char *host_name);

/* Pin the records that another, living thread refers to: a parallel worker's leader. */
extern void pfs_account_share(PfsAccountRefs *refs, const PfsAccountRefs *leader);

/* Give the references back. */
extern void pfs_account_leave(PfsAccountRefs *refs);

/* The record of a kind that counters of these references belong to; PFS_NO_RECORD: none. */
extern uint32 pfs_account_record(const PfsAccountRefs *refs, PfsAccountKind kind);

static inline PfsAccount *
pfs_account_at(PfsAccountKind kind, uint32 index)
{
	return pfs_pages_record(pfs_accounts[kind].pages, index);
}

/* The shared cells of a record; who has pinned it, or has the turn, may use them. */
extern PfsSparse pfs_account_cells(PfsAccount *account, PfsFamily family);

/*
 * Remove the records of a kind that nobody refers to, give the rest as many
 * total connections as current ones.  push gets each record that goes, with what
 * is still in its cells.  In a turn alone.
 */
extern void pfs_accounts_purge(PfsAccountKind kind, void (*push) (PfsAccountKind, PfsAccount *));

/* A row of accounts, users, hosts. */
typedef void (*PfsAccountEmit) (const PfsAccount *copy, void *arg);
extern void pfs_accounts_each(PfsAccountKind kind, PfsAccountEmit emit, void *arg);

#endif							/* PFS_ACCOUNT_H */
