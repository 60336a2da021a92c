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

/*
 * pfs_level_event_name returns the name of an instrument.  By thread there are a
 * hundred thousand rows of a few hundred names: each is made once in a scan.
 */
Datum
pfs_level_event_name(PfsScan *scan, PfsInstrumentId instrument, bool *isnull)
{
	const PfsInstrument *ins = pfs_instrument_at(instrument);
	Datum	   *names = scan->table_private;
	MemoryContext old;

	if (ins == NULL)
		return pfs_null(isnull);
	old = MemoryContextSwitchTo(scan->rows_context);
	if (names == NULL)
		scan->table_private = names = palloc0(pfs_instruments->max * sizeof(Datum));
	if (names[instrument] == (Datum) 0)
		names[instrument] = pfs_text_datum(pfs_instrument_name(ins));
	MemoryContextSwitchTo(old);
	return names[instrument];
}

Datum
pfs_level_name_datum(bool named, const char *name, bool *isnull)
{
	return named ? pfs_text_datum(name) : pfs_null(isnull);
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
