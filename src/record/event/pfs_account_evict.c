/*
 * pfs_account_evict.c
 *	  Evicting accounts, users and hosts: which one, and how its numbers get to all others.
 *
 * Separate from pfs_account.c, which finds and makes records: nothing here runs while there is
 * room.
 *
 * Of the records that no session has pinned the one goes whose last session began or ended
 * longest ago; those of a user or a host are preceded by its accounts, which have it pinned.  It is
 * marked dead by one step on its reference count, from 0 only, so no session has it, nor gets it.
 *
 * What the record has counted goes to that of all others, of which each container has one, pinned for
 * ever.  What an account has counted is its user's and its host's, too, and stays theirs: it is added
 * to both of them, and to the account of all others, which counts at its own level only
 * (pfs_account_is_beside()).  Each level's sum stays what it was.
 *
 * Readers and truncators need all numbers as of one moment, and records that stay.  So they
 * forbid moves while they are at work (../ledger/README.md).  A session that is not allowed
 * to evict has no account yet, as while it logged in, and asks again at its next event; one that
 * ends meanwhile counts for all others.  Nobody waits at an instrument point, and nothing is lost.
 *
 * A process that is stopped in the middle of a move is waited for, within the patience of the
 * reader or truncator; then numbers of one record may be missing or there twice, and what is moved
 * behind a truncation is there again.
 */
#include "postgres.h"

#include "pfs_account_evict.h"
#include "pfs_patience.h"
#include "pfs_ref.h"
#include "pfs_shared.h"
#include "pfs_summary_level.h"

/* A record that somebody has pinned meanwhile is no candidate any more; then the next one is. */
#define CANDIDATES	8

/* Adds the cells of a record's n-th chunk to those above it. */
static void
add_above(PfsFamily family, const PfsSharedBlock *chunk, uint32 base, const PfsDestination *above)
{
	for (uint32 i = pfs_shared_block_next(chunk, 0); i < chunk->ncells; i = pfs_shared_block_next(chunk, i + 1))
	{
		PfsAnyTotals totals = {0};

		pfs_kind_read(pfs_summary_kinds[family], pfs_shared_block_cell(chunk, i), &totals, false);
		pfs_summary_merge(family, above, base + i, &totals);
	}
}

/* Adds them to those of the same chunk of all others. */
static void
add_beside(PfsFamily family, const PfsSharedBlock *chunk, const PfsSharedBlock *theirs)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[family];

	for (uint32 i = pfs_shared_block_next(chunk, 0); i < chunk->ncells; i = pfs_shared_block_next(chunk, i + 1))
	{
		PfsAnyTotals totals = {0};

		pfs_kind_read(kind, pfs_shared_block_cell(chunk, i), &totals, false);
		pfs_kind_merge(kind, pfs_shared_block_touch(theirs, i), &totals);
	}
}

/*
 * Gives all that a record has counted to all others, and that of an account to what is above it.  A
 * chunk that all others do not have is passed on as it is, which takes no memory; it is read
 * before, as sessions that have no other record may add to it from then on.
 */
static void
flush_to_others(PfsAccountKind kind, PfsAccount *account)
{
	PfsAccount *others = pfs_account_at(kind, pfs_accounts[kind].others);
	PfsDestination above = PFS_NOWHERE;

	memcpy(above.records, account->parents, sizeof(above.records));
	above.server = kind == PFS_ACCOUNTS;
	for (PfsFamily family = 0; family < PFS_NUM_FAMILIES; family++)
	{
		PfsSparse	from = pfs_account_cells(account, family);
		PfsSparse	to = pfs_account_cells(others, family);

		for (uint32 n = 0; n < pfs_sparse_chunks(&from); n++)
		{
			PfsSharedBlock chunk;
			PfsSharedBlock theirs;

			if (!pfs_sparse_chunk(&from, n, &chunk))
				continue;
			add_above(family, &chunk, n * from.per_chunk, &above);
			if (!pfs_sparse_hand_over(&from, n, &to) && pfs_sparse_chunk(&to, n, &theirs))
				add_beside(family, &chunk, &theirs);
		}
	}
	pfs_add_relaxed(&others->connections, pfs_connections_total(account->connections));
}

/*
 * Evicts a record that has this state word; false: somebody has pinned it, or it is another one by
 * now.  It is a loss of its container if that is full: an account can go because its user has to.
 */
static bool
evict_record(PfsAccountKind kind, uint32 index, uint64 word)
{
	PfsAccounts *accounts = &pfs_accounts[kind];

	if (pfs_is_blocked(PFS_TURN_SUMMARIES) || !pfs_ref_mark_found_dead(&accounts->references[index], &accounts->pages->state[index], word))
		return false;
	if (pfs_pages_is_full(accounts->pages))
		pfs_pages_count_lost(accounts->pages);
	pfs_account_remove(kind, index, word, flush_to_others);
	return true;
}

/* Evicts the accounts of a user or a host; false: a session has one. */
static bool
evict_accounts_of(PfsAccountKind kind, uint32 index)
{
	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_accounts[PFS_ACCOUNTS].pages, &at);)
	{
		const PfsAccount *account = pfs_account_at(PFS_ACCOUNTS, at.index);

		if (account->parents[kind] == index && !evict_record(PFS_ACCOUNTS, at.index, at.word))
			return false;
	}
	return true;
}

/* Is the record some user's, account's or host's that no session uses? */
static bool
is_idle(PfsAccountKind kind, uint32 index)
{
	const PfsAccount *account = pfs_account_at(kind, index);

	return index != pfs_accounts[kind].others && account->named && pfs_connections_now(pfs_load_relaxed(&account->connections)) == 0 &&
		(kind != PFS_ACCOUNTS || pfs_load_relaxed(&pfs_accounts[kind].references[index]) == 0);
}

/* Returns the record that was used longest ago, but later than *used, which becomes when that was. */
static uint32
next_candidate(PfsAccountKind kind, uint64 *used, uint64 *word)
{
	uint32		best = PFS_NO_RECORD;
	uint64		oldest = PG_UINT64_MAX;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pfs_accounts[kind].pages, &at);)
	{
		uint64		then = pfs_load_relaxed(&pfs_accounts[kind].used[at.index]);

		if (then <= *used || then >= oldest || !is_idle(kind, at.index))
			continue;
		best = at.index;
		oldest = then;
		*word = at.word;
	}
	*used = oldest;
	return best;
}

/*
 * Tries the records that no session seems to use, the one that was used longest ago first: a
 * session can have pinned one meanwhile.  Ends as soon as a reader or truncator waits for it.
 */
PfsEviction
pfs_account_evict(PfsAccountKind kind)
{
	uint64		used = 0;
	bool		done = false;

	Assert((pfs_my_thread->seq.word & 1) != 0);
	if (!pfs_may_move(PFS_TURN_SUMMARIES))
		return PFS_EVICTION_FORBIDDEN;
	for (int i = 0; i < CANDIDATES && !done && !pfs_is_blocked(PFS_TURN_SUMMARIES); i++)
	{
		uint64		word;
		uint32		index = next_candidate(kind, &used, &word);

		if (index == PFS_NO_RECORD)
			break;
		done = (kind == PFS_ACCOUNTS || evict_accounts_of(kind, index)) && evict_record(kind, index, word);
	}
	return done ? PFS_EVICTION_DONE : pfs_is_blocked(PFS_TURN_SUMMARIES) ? PFS_EVICTION_FORBIDDEN : PFS_EVICTION_NONE;
}
