/*
 * pfs_levels.c
 *	  The values of the keys that pfs_levels.h lists, and estimates of the rows
 *	  of summaries.
 */
#include "postgres.h"

#include "pfs_levels.h"
#include "pfs_thread.h"
#include "pfs_value.h"

/*
 * pfs_level_keys_fill copies the keys of what the record layer read into a row.
 * What a level has no key for stays zero, as rows come zeroed.
 */
void
pfs_level_keys_fill(PfsLevelKeys *keys, const PfsSummaryRow *from)
{
	keys->thread_id = from->thread_id;
	keys->instrument = from->instrument;
	keys->cell = from->cell;
	if (from->account != NULL)
	{
		keys->named = from->account->named;
		strlcpy(keys->user_name, from->account->user_name, sizeof(keys->user_name));
		strlcpy(keys->host_name, from->account->host_name, sizeof(keys->host_name));
	}
}

/* Estimates the rows of one level from the threads or accounts that there are. */
double
pfs_level_estimate(PfsLevel level, double rows_per_key)
{
	switch (level)
	{
		case PFS_LEVEL_THREAD:
			return pfs_pages_used(pfs_threads) * rows_per_key;
		case PFS_LEVEL_ACCOUNT:
			return pfs_pages_used(pfs_accounts[PFS_ACCOUNTS].pages) * rows_per_key;
		case PFS_LEVEL_USER:
			return pfs_pages_used(pfs_accounts[PFS_USERS].pages) * rows_per_key;
		case PFS_LEVEL_HOST:
			return pfs_pages_used(pfs_accounts[PFS_HOSTS].pages) * rows_per_key;
		default:
			return rows_per_key;
	}
}
