/*
 * pfs_account.c
 *	  Accounts, users and hosts: their containers; finding, making, pinning, removing a record.
 *	  What tables show of them is in pfs_account_read.c, which no instrument point calls.
 *
 * Each record has a reference count (pfs_ref.h) of the threads, and for users and hosts
 * of the accounts, that have pinned it.  How a session gets its records is in
 * pfs_account_enter.c, above this file and above pfs_account_evict.c, which makes room.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs.h"
#include "pfs_account.h"
#include "pfs_clock.h"
#include "pfs_hash.h"
#include "pfs_ref.h"
#include "pfs_shared.h"
#include "pfs_summary_kind.h"

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

/*
 * Compares a record with a key, for pfs_hash; another process may be filling the record
 * meanwhile.
 */
static bool
has_names(const void *record, const void *key)
{
	const PfsAccount *account = record;
	const PfsAccountKey *wanted = key;

	return account->named == wanted->named &&
		strncmp(account->user_name, wanted->user_name, sizeof(account->user_name)) == 0 &&
		strncmp(account->host_name, wanted->host_name, sizeof(account->host_name)) == 0;
}

/* What fill_cb() fills a record of, and whether it has done so. */
typedef struct Fill
{
	PfsAccountKind kind;
	bool		done;
} Fill;

/* Now, for PfsAccounts.used. */
static uint64
now(void)
{
	return pfs_timer_read(PFS_TIMER_NANOSECOND);
}

void
pfs_account_pin_again(PfsAccountKind kind, uint32 index)
{
	if (index != PFS_NO_RECORD)
		pfs_add_seqcst(&pfs_accounts[kind].references[index], 1);
}

/*
 * Who reads the index afterwards and finds it unchanged has read it before the pin was given back,
 * see find_account() in pfs_attach.c.
 */
void
pfs_account_unpin(PfsAccountKind kind, uint32 *index)
{
	uint32		old = *index;

	pfs_store_relaxed(index, PFS_NO_RECORD);
	if (old != PFS_NO_RECORD)
		pfs_ref_unpin(&pfs_accounts[kind].references[old]);
}

void
pfs_account_pin_all_again(const uint32 *records)
{
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
		pfs_account_pin_again(kind, records[kind]);
}

void
pfs_account_unpin_all(uint32 *records)
{
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
		pfs_account_unpin(kind, &records[kind]);
}

/*
 * Fills a fresh record, for pfs_hash_insert_new(): names and parents as the key has them,
 * no connections, no cells.  It pins its parents, which the caller has pinned.  Its reference
 * count stops saying that the record is dead last, so that it can be pinned as soon as it is
 * published.
 */
static void
fill_cb(void *record, const void *key, void *arg)
{
	PfsAccount *account = record;
	const PfsAccountKey *wanted = key;
	Fill	   *fill = arg;
	const PfsAccounts *accounts = &pfs_accounts[fill->kind];
	uint32		index = pfs_pages_index(accounts->pages, record);

	memset(account, 0, pfs_pages_record_size(accounts->pages));
	account->hash = wanted->hash;
	memcpy(account->parents, wanted->parents, sizeof(account->parents));
	account->named = wanted->named;
	strlcpy(account->user_name, wanted->user_name, sizeof(account->user_name));
	strlcpy(account->host_name, wanted->host_name, sizeof(account->host_name));
	pfs_account_pin_all_again(account->parents);
	fill->done = true;
	pfs_store_relaxed(&accounts->used[index], now());
	pfs_ref_reuse(&accounts->references[index]);
}

PfsSparse
pfs_account_cells(PfsAccount *account, PfsFamily family)
{
	PfsSparse	sparse = cells[family];

	sparse.links = (uint32 *) ((char *) account + pfs_account_links_at[family]);
	return sparse;
}

/*
 * Takes the container of a kind, with records of so many bytes; one more than the setting says, for
 * that of all others.
 */
static void
lay_out(PfsSegment *seg, PfsAccountKind kind, const char *name, size_t size, uint32 records)
{
	PfsAccounts *accounts = &pfs_accounts[kind];

	if (records > 0)
		records++;
	accounts->pages = pfs_pages_create(seg, name, size, records, RECORDS_PER_PAGE);
	accounts->index = pfs_hash_create(seg, accounts->pages, records, has_names);
	accounts->references = pfs_segment_take(seg, records * sizeof(uint64), PFS_CACHE_LINE);
	accounts->used = pfs_segment_take(seg, records * sizeof(uint64), PFS_CACHE_LINE);
	accounts->others = PFS_NO_RECORD;
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

uint32
pfs_account_find(PfsAccountKind kind, const PfsAccountKey *key, uint64 *word)
{
	return pfs_hash_find(pfs_accounts[kind].index, key->hash, key, word);
}

/* It has been used now. */
bool
pfs_account_pin(PfsAccountKind kind, uint32 index, uint64 word)
{
	const PfsAccounts *accounts = &pfs_accounts[kind];

	if (!pfs_ref_pin(&accounts->references[index], &accounts->pages->state[index], word))
		return false;
	pfs_store_relaxed(&accounts->used[index], now());
	return true;
}

/*
 * A record that another process has made first is found instead; then the one that was filled here
 * has pinned its parents in vain.
 */
uint32
pfs_account_make(PfsAccountKind kind, const PfsAccountKey *key, uint64 *word)
{
	Fill		fill = {.kind = kind};
	bool		created;
	uint32		index = pfs_hash_insert_new(pfs_accounts[kind].index, key->hash, key, fill_cb, &fill,
											&hints[kind], word, &created);

	if (fill.done && !created)
	{
		PfsAccountKey copy = *key;

		pfs_account_unpin_all(copy.parents);
	}
	return index;
}

/* Makes the key of an account (both names), a user, a host, or of the background (none). */
PfsAccountKey
pfs_account_key(const char *user_name, const char *host_name)
{
	PfsAccountKey key = {
		.named = user_name != NULL || host_name != NULL,
		.user_name = user_name ? user_name : "",
		.host_name = host_name ? host_name : "",
		.parents = PFS_NO_RECORDS,
	};

	/* Each session asks for three: so no text is made of both. */
	key.hash = pfs_hash_bytes(key.user_name, strlen(key.user_name)) * 31 +
		pfs_hash_bytes(key.host_name, strlen(key.host_name));
	return key;
}

/*
 * Makes the record of all others in each container, and pins it for ever: it is there when a
 * record is evicted, and has numbers only then.
 */
void
pfs_accounts_start(void)
{
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		PfsAccountKey key = pfs_account_key(kind == PFS_HOSTS ? NULL : PFS_OTHERS_NAME, kind == PFS_USERS ? NULL : PFS_OTHERS_NAME);
		uint64		word;

		if (pfs_accounts[kind].pages->records_max == 0)
			continue;
		pfs_accounts[kind].others = pfs_account_make(kind, &key, &word);
		pfs_account_pin_again(kind, pfs_accounts[kind].others);
	}
}

/* Adds to the connections of the records that a thread refers to. */
void
pfs_account_count_connection(const PfsAccountRefs *refs, uint64 connections)
{
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		if (refs->records[kind] != PFS_NO_RECORD)
			pfs_add_relaxed(&pfs_account_at(kind, refs->records[kind])->connections, connections);
	}
}

/*
 * Pins the records that another thread refers to, for a parallel worker.  The caller looks whether
 * the leader still refers to them.  A worker is not counted as a connection.
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
		if ((word & PFS_STATE_MASK) == PFS_STATE_ALLOCATED && pfs_account_pin(kind, index, word))
			refs->records[kind] = index;
	}
}

/* Pins the records of all others, for a parallel worker that ends before its leader has its own. */
void
pfs_account_share_others(PfsAccountRefs *refs)
{
	*refs = PFS_NO_ACCOUNT_REFS;
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
		refs->records[kind] = pfs_accounts[kind].others;
	pfs_account_pin_all_again(refs->records);
}

/*
 * Unpins what the thread refers to, and takes its connection off their counters if it
 * was counted.  The references are empty then, so that it may be called twice.
 */
void
pfs_account_leave(PfsAccountRefs *refs)
{
	if (refs->counted)
		pfs_account_count_connection(refs, -PFS_CONNECTION_NOW);
	refs->counted = false;
	for (PfsAccountKind kind = 0; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		if (refs->records[kind] != PFS_NO_RECORD)
			pfs_store_relaxed(&pfs_accounts[kind].used[refs->records[kind]], now());
	}
	pfs_account_unpin_all(refs->records);
}

/*
 * Removes a record that the caller has marked dead: takes it out of the index, where a
 * new session would look for it in vain meanwhile, hands its counters to push, unpins its
 * parents and gives its cells back.  Nobody uses them: threads pin a record before, and
 * while readers are at work nobody removes one.
 */
void
pfs_account_remove(PfsAccountKind kind, uint32 index, uint64 word, PfsAccountPush push)
{
	PfsAccount *account = pfs_account_at(kind, index);

	if (!pfs_hash_remove(pfs_accounts[kind].index, account->hash, index, word))
		return;
	push(kind, account);
	pfs_account_unpin_all(account->parents);
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		PfsSparse	sparse = pfs_account_cells(account, family);

		pfs_sparse_free(&sparse);
	}
	pfs_pages_free(pfs_accounts[kind].pages, index);
}

/* The total of a record becomes what it has now; false: that is nothing, and it had a row. */
static bool
restart_connections(PfsAccount *account)
{
	uint64		before = pfs_load_relaxed(&account->connections);
	uint64		now;

	do
		now = pfs_connections_now(before);
	while (!pfs_cas(&account->connections, &before, now * PFS_CONNECTION_NOW + now));
	return now > 0 || before == 0;
}

/*
 * Removes the records of a kind that nobody has pinned, for TRUNCATE of accounts, users
 * or hosts.  The others stay with as many total connections as current ones.  Returns how many had a row and have none
 * any more.
 */
int64
pfs_accounts_purge(PfsAccountKind kind, PfsAccountPush push)
{
	PfsAccounts *accounts = &pfs_accounts[kind];
	int64		rows = 0;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(accounts->pages, &at);)
	{
		PfsAccount *account = pfs_account_at(kind, at.index);

		if (!pfs_ref_mark_found_dead(&accounts->references[at.index], &accounts->pages->state[at.index], at.word))
		{
			rows += restart_connections(account) ? 0 : 1;
			continue;
		}
		rows += account->connections != 0 ? 1 : 0;
		pfs_account_remove(kind, at.index, at.word, push);
	}
	return rows;
}
