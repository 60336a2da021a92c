/*
 * pfs_account_read.c
 *	  Readers of accounts, users and hosts.
 *
 * The writers' side, which connections call, is in pfs_account.c and pfs_account_evict.c;
 * here rows are copied for SQL commands, which may be cancelled.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_account_read.h"

/* What a reader of rows wants. */
typedef struct Rows
{
	PfsAccountKind kind;
	PfsAccountEmit emit;
	void	   *arg;
} Rows;

/*
 * A user or a host whose accounts are still remembered outlives TRUNCATE without a connection: it is left
 * out here, and shows again with the next connection.  So is the record of all others
 * until it has had one.
 */
static void
rows_cb(PfsPatience *patience, void *arg)
{
	const Rows *rows = arg;
	PfsPages   *pages = pfs_accounts[rows->kind].pages;

	for (PfsPagesAt at = PFS_PAGES_BEGIN; pfs_pages_each(pages, &at);)
	{
		PfsAccount	copy;

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_copy(pages, at.index, 0, &copy, sizeof(copy), &at.word) && copy.connections != 0)
			rows->emit(&copy, rows->arg);
	}
}

/* Reads all rows as of one moment: what an eviction takes from a row, that of all others gets. */
void
pfs_accounts_read(PfsAccountKind kind, PfsAccountEmit emit, void *arg)
{
	Rows		rows = {kind, emit, arg};

	pfs_blocking_work(PFS_TURN_SUMMARIES, false, rows_cb, &rows);
}
