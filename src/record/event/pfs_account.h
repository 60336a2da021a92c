/*
 * pfs_account.h
 *	  Accounts, users and hosts that threads work for, what was counted for
 *	  them, and how many connections they have and had.
 *
 * An account is a user on a host.  A thread refers to its account, and to the user and the
 * host of that account.  Background processes share one account without names.  Records stay
 * when their last thread has gone, until TRUNCATE, or until a new name needs the place: then
 * the record that was used longest ago is evicted, and what it has counted goes to the record of all
 * others of its container (pfs_account_evict.h).
 */
#ifndef PFS_ACCOUNT_H
#define PFS_ACCOUNT_H

#include "pfs.h"
#include "pfs_client.h"
#include "pfs_sparse.h"

/* None of each kind. */
#define PFS_NO_RECORDS {PFS_NO_RECORD, PFS_NO_RECORD, PFS_NO_RECORD}

/*
 * Connections: those now above those since the last TRUNCATE, so that both are of one moment.  A connection
 * that begins adds to both, one that ends takes from the former.
 */
#define PFS_CONNECTION_NOW	(UINT64_C(1) << 40)

static inline uint64
pfs_connections_now(uint64 connections)
{
	return connections / PFS_CONNECTION_NOW;
}

static inline uint64
pfs_connections_total(uint64 connections)
{
	return connections % PFS_CONNECTION_NOW;
}

/*
 * One account, user or host; behind it lie the links to its cells, of each family.
 * Names never change while it is ALLOCATED, parents only in a move (pfs_account_evict.h) and
 * while nobody has pinned it.
 */
typedef struct PfsAccount
{
	uint64		hash;			/* of the names */
	uint64		connections;	/* see above; atomic; 0: it has no row */
	uint32		parents[PFS_NUM_ACCOUNT_KINDS]; /* of an account its user and
												 * its host, which it has
												 * pinned; else PFS_NO_RECORD */
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
	uint64	   *used;			/* [records_max], when a session of it began
								 * or ended last: ns; atomic */
	uint32		others;			/* the record of all others: pinned for ever;
								 * set at the start */
} PfsAccounts;

/* What its name is, and what a role of this name shares. */
#define PFS_OTHERS_NAME "(others)"

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

/* What a thread refers to, each pinned. */
typedef struct PfsAccountRefs
{
	uint32		records[PFS_NUM_ACCOUNT_KINDS]; /* PFS_NO_RECORD: not known
												 * yet, or size 0 */
	bool		counted;		/* as a connection */
} PfsAccountRefs;

#define PFS_NO_ACCOUNT_REFS ((PfsAccountRefs) {PFS_NO_RECORDS, false})

/* Postmaster, at the start: makes the records of all others. */
extern void pfs_accounts_start(void);

/* Pin the records that another, living thread refers to: a parallel worker's leader. */
extern void pfs_account_share(PfsAccountRefs *refs, const PfsAccountRefs *leader);

/* Pin the records of all others, without a connection. */
extern void pfs_account_share_others(PfsAccountRefs *refs);

/* Give the references back. */
extern void pfs_account_leave(PfsAccountRefs *refs);

static inline PfsAccount *
pfs_account_at(PfsAccountKind kind, uint32 index)
{
	return pfs_pages_record(pfs_accounts[kind].pages, index);
}

/*
 * Do the numbers of a record count at its own level only, as levels above have them
 * themselves?  So it is of users, and of the account of all others, whose numbers are of many users
 * and hosts.
 */
static inline bool
pfs_account_is_beside(PfsAccountKind kind, uint32 index)
{
	return kind == PFS_USERS || (kind == PFS_ACCOUNTS && index == pfs_accounts[PFS_ACCOUNTS].others);
}

/* The shared cells of a record; who has pinned it, or has the turn, may use them. */
extern PfsSparse pfs_account_cells(PfsAccount *account, PfsFamily family);

/* ---- for pfs_account_enter.c ---- */

/* What a record is found by, and its parents; names as PfsAccount has them. */
typedef struct PfsAccountKey
{
	bool		named;
	const char *user_name;
	const char *host_name;
	uint32		parents[PFS_NUM_ACCOUNT_KINDS];
	uint64		hash;
} PfsAccountKey;

/* Names that are NULL are none.  No parents. */
extern PfsAccountKey pfs_account_key(const char *user_name, const char *host_name);

/* The record and its state word, or PFS_NO_RECORD. */
extern uint32 pfs_account_find(PfsAccountKind kind, const PfsAccountKey *key, uint64 *word);

/* Makes a record and returns it, or the one with these names that somebody else has made meanwhile. */
extern uint32 pfs_account_make(PfsAccountKind kind, const PfsAccountKey *key, uint64 *word);

/* Pins a record that was found with this state word; false: it has gone, or is about to. */
extern bool pfs_account_pin(PfsAccountKind kind, uint32 index, uint64 word);

/* Pins a record once more that the caller, or what it has pinned, has pinned already; or none. */
extern void pfs_account_pin_again(PfsAccountKind kind, uint32 index);

/* Unpins a record, if there is one. */
extern void pfs_account_unpin(PfsAccountKind kind, uint32 *index);

/* Pin, or unpin, one record of each kind. */
extern void pfs_account_pin_all_again(const uint32 *records);
extern void pfs_account_unpin_all(uint32 *records);

/* Adds to the connections of the records that a thread refers to. */
extern void pfs_account_count_connection(const PfsAccountRefs *refs, uint64 connections);

/* ---- records that go ---- */

/* What becomes of the numbers of a record that goes, which nobody else uses any more. */
typedef void (*PfsAccountPush) (PfsAccountKind kind, PfsAccount *account);

/*
 * Remove a record that the caller has marked dead, which had this state word: out of the index,
 * push its numbers, unpin its parents, give its cells back.
 */
extern void pfs_account_remove(PfsAccountKind kind, uint32 index, uint64 word, PfsAccountPush push);

/*
 * Remove the records of a kind that nobody refers to, give the rest as many
 * total connections as current ones; how many rows that were.  In a turn alone, while eviction is forbidden.
 */
extern int64 pfs_accounts_purge(PfsAccountKind kind, PfsAccountPush push);

#endif							/* PFS_ACCOUNT_H */
