/*
 * pfs_account_read.c
 *	  Readers of accounts, users and hosts, and how all readers and truncators of what was
 *	  counted for these keep them where they are.
 *
 * The writers' side, which connections call, is in pfs_account.c and pfs_account_evict.c;
 * here rows are copied for SQL commands, which may be cancelled.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "pfs_account_evict.h"
#include "pfs_account_read.h"

/* This process forbids evictions. */
static bool forbids = false;

/*
 * Forbids evictions, and returns when none is under way, or the patience has run out: then the
 * numbers of a record may be missing or there twice.
 */
static void
hold_records(PfsPatience *patience)
{
	forbids = true;
	pfs_add_seqcst(&pfs_shared_accounts->held, 1);
	pfs_fence_seqcst();			/* pairs with the one in
								 * pfs_account_begin_move() */
	while (pfs_load_acquire(&pfs_shared_accounts->moving) != 0 && pfs_patience_more(patience))
		;
}

static void
release_records(int code, Datum arg)
{
	if (forbids)
		pfs_sub_seqcst(&pfs_shared_accounts->held, 1);
	forbids = false;
}

/*
 * Does the work of a reader or truncator while evictions are forbidden, which ends with it, with
 * an error, and with the process.  A command that was cancelled while it waited ends before the
 * work.
 */
void
pfs_accounts_work(bool alone, PfsAccountsWork work, PfsPatience *patience, void *arg)
{
	pfs_turn_take(PFS_TURN_SUMMARIES, alone);
	PG_ENSURE_ERROR_CLEANUP(release_records, (Datum) 0);
	{
		hold_records(patience);
		CHECK_FOR_INTERRUPTS();
		work(patience, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_records, (Datum) 0);
	release_records(0, (Datum) 0);
	pfs_turn_give(PFS_TURN_SUMMARIES, alone);
	pfs_patience_end(patience);
}

/*
 * Hands a copy of each account, user or host that has or had a connection to emit;
 * for the tables and for the counts that TRUNCATE returns.  A user or a host whose
 * accounts are still remembered outlives TRUNCATE without a connection: it is left
 * out here, and shows again with the next connection.  So is the record of all others
 * until it has had one.
 */
void
pfs_accounts_each(PfsAccountKind kind, PfsAccountEmit emit, void *arg)
{
	PfsPages   *pages = pfs_accounts[kind].pages;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pages, &at);)
	{
		PfsAccount	copy;

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_copy(pages, at.index, 0, &copy, sizeof(copy), &at.word) &&
			(copy.total > 0 || copy.current > 0))
			emit(&copy, arg);
	}
}

/* What a reader of rows wants. */
typedef struct Rows
{
	PfsAccountKind kind;
	PfsAccountEmit emit;
	void	   *arg;
} Rows;

static void
rows_cb(PfsPatience *patience, void *arg)
{
	const Rows *rows = arg;

	pfs_accounts_each(rows->kind, rows->emit, rows->arg);
}

/* Reads all rows as of one moment: what an eviction takes from a row, that of all others gets. */
void
pfs_accounts_read(PfsAccountKind kind, PfsAccountEmit emit, void *arg)
{
	Rows		rows = {kind, emit, arg};
	PfsPatience patience = {0};

	pfs_accounts_work(false, rows_cb, &patience, &rows);
}
