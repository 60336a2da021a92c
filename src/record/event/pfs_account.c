/*
 * pfs_account.c
 *	  Accounts, users and hosts: finding, making, counting, removing.  What tables show
 *	  of them is in pfs_account_read.c, which no instrument point calls.
 *
 * Each record has a reference count (pfs_ref.h) of the threads, and for users and hosts
 * of the accounts, that have pinned it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs.h"
#include "pfs_account.h"
#include "pfs_hash.h"
#include "pfs_ref.h"
#include "pfs_shared.h"
#include "pfs_summary_kind.h"

/* A record that is being removed is out of the index soon. */
#define ENTER_TRIES		100

/* 64 kB, or so, are a page: of records, and of chunks. */
#define RECORDS_PER_PAGE	32
#define CHUNKS_PER_PAGE		128

StaticAssertDecl(PFS_ACCOUNT_CHUNK_SIZE % PFS_SPARSE_UNIT == 0, "a link leads to a chunk");

PfsAccounts pfs_accounts[PFS_NUM_ACCOUNT_KINDS];
PfsPages   *pfs_account_counters;

size_t		pfs_account_links_at[PFS_NUM_FAMILIES];

/* The cells of each record, but for where their links lie. */
static PfsSparse cells[PFS_NUM_FAMILIES];

static uint32 hints[PFS_NUM_ACCOUNT_KINDS];

/* What a record is found by, and its parents; names as PfsAccount has them. */
typedef struct AccountKey
{
	bool		named;
	const char *user_name;
	const char *host_name;
	uint32		user;
	uint32		host;
	uint64		hash;
} AccountKey;

/*
 * Compares a record with a key, for pfs_hash; another process may be filling the record
 * meanwhile.
 */
static bool
has_names(const void *record, const void *key)
{
	const PfsAccount *account = record;
	const AccountKey *wanted = key;

	return account->named == wanted->named &&
		strncmp(account->user_name, wanted->user_name, sizeof(account->user_name)) == 0 &&
		strncmp(account->host_name, wanted->host_name, sizeof(account->host_name)) == 0;
}

/*
 * Fills a fresh record, for pfs_hash_insert(): names and parents as the key has them,
 * no connections, no cells.  Its reference count stops saying that the record is
 * dead last, so that it can be pinned as soon as it is published.
 */
static void
fill_cb(void *record, const void *key, void *arg)
{
	PfsAccount *account = record;
	const AccountKey *wanted = key;
	const PfsAccounts *accounts = arg;

	memset(account, 0, pfs_pages_record_size(accounts->pages));
	account->hash = wanted->hash;
	account->user = wanted->user;
	account->host = wanted->host;
	account->named = wanted->named;
	strlcpy(account->user_name, wanted->user_name, sizeof(account->user_name));
	strlcpy(account->host_name, wanted->host_name, sizeof(account->host_name));
	pfs_ref_reuse(&accounts->references[pfs_pages_index(accounts->pages, record)]);
}

PfsSparse
pfs_account_cells(PfsAccount *account, PfsFamily family)
{
	PfsSparse	sparse = cells[family];

	sparse.links = (uint32 *) ((char *) account + pfs_account_links_at[family]);
	return sparse;
}

/* Takes the container of a kind, with records of so many bytes. */
static void
lay_out(PfsSegment *seg, PfsAccountKind kind, const char *name, size_t size, uint32 records)
{
	PfsAccounts *accounts = &pfs_accounts[kind];

	accounts->pages = pfs_pages_create(seg, name, size, records, RECORDS_PER_PAGE);
	accounts->index = pfs_hash_create(seg, accounts->pages, records, has_names);
	accounts->references = pfs_segment_take(seg, records * sizeof(uint64), PFS_CACHE_LINE);
}

/*
 * Takes the containers of accounts, users and hosts, each with its index and its
 * reference counts, and that of their cells.  The three have records of one size: the
 * names, and behind them for each family of summaries a link to each chunk of cells.
 */
void
pfs_accounts_lay_out(PfsSegment *seg)
{
	size_t		size = TYPEALIGN(PFS_CACHE_LINE, sizeof(PfsAccount));

	pfs_account_counters = pfs_pages_create(seg, "account_counters", PFS_ACCOUNT_CHUNK_SIZE, pfs_sizes.account_counters,
											CHUNKS_PER_PAGE);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		uint32		cell_size = pfs_summary_kinds[family]->shared_size;

		cells[family] = (PfsSparse)
		{
			pfs_account_counters, NULL, pfs_sizes.cells[family], cell_size,
				pfs_sparse_per_chunk(PFS_ACCOUNT_CHUNK_SIZE, cell_size)
		};
		pfs_account_links_at[family] = size;
		size += pfs_sparse_chunks(&cells[family]) * sizeof(uint32);
	}
	size = TYPEALIGN(PFS_CACHE_LINE, size);
	lay_out(seg, PFS_ACCOUNTS, "accounts", size, pfs_sizes.accounts);
	lay_out(seg, PFS_USERS, "users", size, pfs_sizes.users);
	lay_out(seg, PFS_HOSTS, "hosts", size, pfs_sizes.hosts);
}

/* Pins a record that was found with this state word; returns false if it has gone. */
static bool
pin_record(PfsAccountKind kind, uint32 index, uint64 word)
{
	return pfs_ref_pin(&pfs_accounts[kind].references[index],
					   &pfs_accounts[kind].pages->state[index], word);
}

/*
 * Finds or makes a record and pins it.  *created: it was made, with these parents, also
 * if it was removed again before we could pin it.  A record that is being removed is
 * looked for again, ENTER_TRIES times; what cannot be had is counted as lost.
 */
static uint32
enter(PfsAccountKind kind, const char *user_name, const char *host_name, uint32 user, uint32 host,
	  bool *created)
{
	PfsAccounts *accounts = &pfs_accounts[kind];
	AccountKey	key = {
		.named = user_name != NULL || host_name != NULL,
		.user_name = user_name ? user_name : "",
		.host_name = host_name ? host_name : "",
		.user = user,
		.host = host,
	};
	char		names[NAMEDATALEN + PFS_CLIENT_HOST_SIZE];

	snprintf(names, sizeof(names), "%s@%s", key.user_name, key.host_name);
	key.hash = pfs_hash_bytes(names, strlen(names));
	for (int tries = 0; tries < ENTER_TRIES; tries++)
	{
		uint64		word;
		uint32		index = pfs_hash_insert(accounts->index, key.hash, &key, fill_cb, accounts,
											&hints[kind], &word, created);

		if (index == PFS_NO_RECORD)
			return PFS_NO_RECORD;
		if (pin_record(kind, index, word))
			return index;
		if (*created)
			return PFS_NO_RECORD;
		pfs_pause();
	}
	pfs_pages_count_lost(accounts->pages);
	return PFS_NO_RECORD;
}

/*
 * Adds to the connections of the records that counters of a thread with these references
 * belong to; what is added to the total is never taken back.
 */
static void
count_connection(const PfsAccountRefs *refs, int64 connections)
{
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint32		index = pfs_account_record(refs, kind);
		PfsAccount *account;

		if (index == PFS_NO_RECORD)
			continue;
		account = pfs_account_at(kind, index);
		pfs_add_relaxed(&account->current, (uint64) connections);
		if (connections > 0)
			pfs_add_relaxed(&account->total, (uint64) connections);
	}
}

/* Unpins a record, if there is one. */
static void
unpin_if_any(PfsAccountKind kind, uint32 *index)
{
	if (*index != PFS_NO_RECORD)
		pfs_ref_unpin(&pfs_accounts[kind].references[*index]);
	*index = PFS_NO_RECORD;
}

/*
 * Finds or makes account, user and host by name and pins what the thread has to refer
 * to: the account alone, as it has pinned its user and its host itself, or where no
 * account can be had user and host.  For find_account() of pfs_attach.c; the thread
 * gives the references back by pfs_account_leave().
 */
void
pfs_account_enter(PfsAccountRefs *refs, const char *user_name, const char *host_name)
{
	bool		created;
	uint32		user = enter(PFS_USERS, user_name, NULL, PFS_NO_RECORD, PFS_NO_RECORD, &created);
	uint32		host = enter(PFS_HOSTS, NULL, host_name, PFS_NO_RECORD, PFS_NO_RECORD, &created);
	uint32		account = enter(PFS_ACCOUNTS, user_name, host_name, user, host, &created);

	if (created)
	{
		/*
		 * A new account keeps the references to its parents; one that was
		 * removed before we could refer to it has given them back.
		 */
		user = PFS_NO_RECORD;
		host = PFS_NO_RECORD;
	}
	else if (account != PFS_NO_RECORD)
	{
		unpin_if_any(PFS_USERS, &user);
		unpin_if_any(PFS_HOSTS, &host);
	}
	*refs = (PfsAccountRefs)
	{
		{
			[PFS_ACCOUNTS] = account,[PFS_USERS] = user,[PFS_HOSTS] = host
		}, true
	};
	count_connection(refs, 1);
}

/*
 * Pins the records that another thread refers to, for a parallel worker.  The leader
 * lives, or did a moment ago: if its account has lost its last reference meanwhile,
 * pinning fails, or keeps what is still there.  A worker is not counted as a connection.
 */
void
pfs_account_share(PfsAccountRefs *refs, const PfsAccountRefs *leader)
{
	*refs = PFS_NO_ACCOUNT_REFS;
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		uint32		index = leader->records[kind];
		uint64		word;

		if (index == PFS_NO_RECORD)
			continue;
		word = pfs_pages_word(pfs_accounts[kind].pages, index);
		if ((word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED && pin_record(kind, index, word))
			refs->records[kind] = index;
	}
}

/*
 * Unpins what the thread refers to, and takes its connection off their counters if it
 * was counted.  The references are empty then, so that it may be called twice.
 */
void
pfs_account_leave(PfsAccountRefs *refs)
{
	if (refs->counted)
		count_connection(refs, -1);
	refs->counted = false;
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
		unpin_if_any(kind, &refs->records[kind]);
}

uint32
pfs_account_record(const PfsAccountRefs *refs, PfsAccountKind kind)
{
	const PfsAccount *account;

	if (kind == PFS_ACCOUNTS || refs->records[PFS_ACCOUNTS] == PFS_NO_RECORD)
		return refs->records[kind];
	account = pfs_account_at(PFS_ACCOUNTS, refs->records[PFS_ACCOUNTS]);
	return kind == PFS_USERS ? account->user : account->host;
}

/*
 * Removes a record that is marked dead, and so is ours: takes it out of the index, where a
 * new session would look for it in vain meanwhile, hands its counters to push, unpins its
 * parents and gives its cells back.  Nobody uses them: threads pin a record before, and
 * readers have no turn now.
 */
static void
remove_account(PfsAccountKind kind, uint32 index, uint64 word, void (*push) (PfsAccountKind, PfsAccount *))
{
	PfsAccount *account = pfs_account_at(kind, index);

	if (!pfs_hash_remove(pfs_accounts[kind].index, account->hash, index, word))
		return;
	push(kind, account);
	unpin_if_any(PFS_USERS, &account->user);
	unpin_if_any(PFS_HOSTS, &account->host);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		PfsSparse	sparse = pfs_account_cells(account, family);

		pfs_sparse_free(&sparse);
	}
	pfs_pages_free(pfs_accounts[kind].pages, index);
}

/*
 * Removes the records of a kind that nobody has pinned, for TRUNCATE of accounts, users
 * or hosts.  The others stay with as many total connections as current ones.
 * Nobody else removes records meanwhile, as the caller has a turn: the record that is
 * marked dead is the one that was found.
 */
void
pfs_accounts_purge(PfsAccountKind kind, void (*push) (PfsAccountKind, PfsAccount *))
{
	PfsPages   *pages = pfs_accounts[kind].pages;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pages, &at);)
	{
		PfsAccount *account = pfs_account_at(kind, at.index);

		if (pfs_ref_mark_dead(&pfs_accounts[kind].references[at.index]))
			remove_account(kind, at.index, at.word, push);
		else
		{
			/* A session that comes meanwhile adds to both. */
			uint64		total = pfs_load_relaxed(&account->total);

			pfs_add_relaxed(&account->total, pfs_load_relaxed(&account->current) - total);
		}
	}
}
