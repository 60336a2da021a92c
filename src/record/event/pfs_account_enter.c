/*
 * pfs_account_enter.c
 *	  How a session gets its account, user and host, and what it gets where there is no room.
 *
 * Separate from pfs_account.c, as it makes room by pfs_account_evict.c, which knows the summaries
 * and, below them, that file.
 */
#include "postgres.h"

#include "pfs_account_enter.h"
#include "pfs_account_evict.h"
#include "pfs_patience.h"
#include "pfs_ref.h"

/* A record that is being removed is out of the index soon. */
#define ENTER_TRIES		100

/*
 * Making a record fails, and says so late, where somebody else is in the middle of making or
 * removing the same: then that process sleeps, or has ended there.
 */
#define MAKE_TRIES		3

/*
 * Finds or makes a record and pins it; of a container that is full, behind an eviction.  A record
 * that is being removed is looked for again, ENTER_TRIES times.  What has no room is counted
 * as lost, and has the record of all others; so does what cannot be made.  False: there may be room
 * when the caller comes back, as eviction is forbidden now, or somebody is about to remove the record.
 */
static bool
enter(PfsAccountKind kind, const PfsAccountKey *key, bool may_come_back, uint32 *index)
{
	const PfsAccounts *accounts = &pfs_accounts[kind];
	PfsEviction eviction = PFS_EVICTION_DONE;
	int			failed = 0;

	*index = PFS_NO_RECORD;
	if (accounts->pages->records_max == 0)
		return true;
	for (int tries = 0; tries < ENTER_TRIES && failed < MAKE_TRIES && eviction == PFS_EVICTION_DONE; tries++)
	{
		uint64		word;
		uint32		found = pfs_account_find(kind, key, &word);

		if (found == PFS_NO_RECORD && pfs_pages_is_full(accounts->pages))
		{
			eviction = pfs_account_evict(kind);
			continue;
		}
		if (found == PFS_NO_RECORD)
		{
			found = pfs_account_make(kind, key, &word);
			failed += found == PFS_NO_RECORD;
		}
		if (found != PFS_NO_RECORD && pfs_account_pin(kind, found, word))
		{
			*index = found;
			return true;
		}
		pfs_pause();
	}
	if (eviction != PFS_EVICTION_NONE && failed < MAKE_TRIES && may_come_back)
		return false;
	pfs_pages_count_lost(accounts->pages);
	*index = accounts->others;
	pfs_account_pin_again(kind, *index);
	return true;
}

/* Does the account that is pinned have the parents that are pinned beside it? */
static bool
has_parents(const PfsAccountRefs *refs)
{
	const PfsAccount *account = pfs_account_at(PFS_ACCOUNTS, refs->records[PFS_ACCOUNTS]);

	for (PfsAccountKind kind = PFS_ACCOUNTS + 1; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		if (account->parents[kind] != refs->records[kind])
			return false;
	}
	return true;
}

/* Pins other parents of an account instead of those that are pinned. */
static void
pin_parents_instead(uint32 *records, const uint32 *others)
{
	for (PfsAccountKind kind = PFS_ACCOUNTS + 1; kind < PFS_NUM_ACCOUNT_KINDS; kind++)
	{
		pfs_account_pin_again(kind, others[kind]);
		pfs_account_unpin(kind, &records[kind]);
		records[kind] = others[kind];
	}
}

/*
 * Gives an account that no session uses the parents that are pinned beside it, which it could not
 * have when it was made; the caller has unpinned it.  What it has counted is theirs from now
 * on.
 */
static void
change_parents(const PfsAccountRefs *refs, uint32 index, uint64 word)
{
	PfsAccounts *accounts = &pfs_accounts[PFS_ACCOUNTS];
	PfsAccount *account = pfs_account_at(PFS_ACCOUNTS, index);

	if (!pfs_ref_mark_found_dead(&accounts->references[index], &accounts->pages->state[index], word))
		return;
	pin_parents_instead(account->parents, refs->records);
	pfs_ref_reuse(&accounts->references[index]);
}

/*
 * Finds or makes the account of a user and a host, which are pinned, and pins it.  One that was
 * made when its user or host had no room has all others as parent: it gets the right one, or, if
 * a session uses it, this session goes by the parents that it has.  False: as enter().
 */
static bool
enter_account(PfsAccountRefs *refs, const char *user_name, const char *host_name, bool may_come_back)
{
	uint32	   *index = &refs->records[PFS_ACCOUNTS];
	PfsAccountKey key = pfs_account_key(user_name, host_name);

	/* It has no account yet. */
	memcpy(key.parents, refs->records, sizeof(key.parents));
	if (!enter(PFS_ACCOUNTS, &key, may_come_back, index))
		return false;
	if (*index == PFS_NO_RECORD || pfs_account_is_beside(PFS_ACCOUNTS, *index) || has_parents(refs))
		return true;
	if (pfs_may_move(PFS_TURN_SUMMARIES))
	{
		uint32		old = *index;
		uint64		word = pfs_pages_word(pfs_accounts[PFS_ACCOUNTS].pages, old);

		pfs_account_unpin(PFS_ACCOUNTS, index);
		change_parents(refs, old, word);
		if (!enter(PFS_ACCOUNTS, &key, may_come_back, index))
			return false;
		if (pfs_account_is_beside(PFS_ACCOUNTS, *index) || has_parents(refs))
			return true;
	}
	else if (may_come_back)
		return false;
	pin_parents_instead(refs->records, pfs_account_at(PFS_ACCOUNTS, *index)->parents);
	return true;
}

/*
 * Finds or makes account, user and host by name, pins all three and counts a connection.  For
 * find_account() of pfs_attach.c; the thread gives the references back by pfs_account_leave().
 */
bool
pfs_account_enter(PfsAccountRefs *refs, const char *user_name, const char *host_name, bool may_come_back)
{
	PfsAccountKey user = pfs_account_key(user_name, NULL);
	PfsAccountKey host = pfs_account_key(NULL, host_name);

	*refs = PFS_NO_ACCOUNT_REFS;
	if (!enter(PFS_USERS, &user, may_come_back, &refs->records[PFS_USERS]) ||
		!enter(PFS_HOSTS, &host, may_come_back, &refs->records[PFS_HOSTS]) ||
		!enter_account(refs, user_name, host_name, may_come_back))
	{
		pfs_account_leave(refs);
		return false;
	}
	refs->counted = true;
	pfs_account_count_connection(refs, PFS_CONNECTION_NOW + 1);
	return true;
}
