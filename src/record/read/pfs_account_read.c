/*
 * pfs_account_read.c
 *	  Readers of accounts, users and hosts.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pfs_account.h"

/*
 * A user or a host whose accounts are still remembered outlives TRUNCATE without
 * a connection; it shows again with the next one.
 */
void
pfs_accounts_each(PfsAccountKind kind, PfsAccountEmit emit, void *arg)
{
	PfsPages   *pages = pfs_accounts[kind].pages;
	uint32		pos = 0;
	uint32		index;
	uint64		word;

	if (pages == NULL)
		return;
	while ((index = pfs_pages_next(pages, &pos, &word)) != PFS_NO_RECORD)
	{
		PfsAccount	copy;

		CHECK_FOR_INTERRUPTS();
		if (pfs_pages_copy(pages, index, 0, &copy, sizeof(copy), &word) &&
			(copy.total > 0 || copy.current > 0))
			emit(&copy, arg);
	}
}

double
pfs_accounts_estimate(PfsAccountKind kind)
{
	PfsPagesStats stats;

	if (pfs_accounts[kind].pages == NULL)
		return 0;
	pfs_pages_stats(pfs_accounts[kind].pages, &stats);
	return stats.records_used;
}
