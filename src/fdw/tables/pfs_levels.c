/*
 * pfs_levels.c
 *	  Keys of summaries, and estimates of their rows.
 */
#include "postgres.h"

#include "pfs_levels.h"
#include "pfs_thread.h"
#include "pfs_value.h"

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
 * By thread there are a hundred thousand rows of a few hundred names: each is
 * made once in a scan.
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

static Datum
name(const PfsLevelKeys *keys, const char *which, bool *isnull)
{
	return keys->named ? pfs_text_datum(which) : pfs_null(isnull);
}

Datum
pfs_level_key_get(PfsScan *scan, PfsLevel level, const PfsLevelKeys *keys, int column, bool *isnull)
{
	switch (level)
	{
		case PFS_LEVEL_THREAD:
			if (column == 0)
				return Int64GetDatum((int64) keys->thread_id);
			break;
		case PFS_LEVEL_ACCOUNT:
			if (column < 2)
				return name(keys, column == 0 ? keys->user_name : keys->host_name, isnull);
			break;
		case PFS_LEVEL_USER:
			if (column == 0)
				return name(keys, keys->user_name, isnull);
			break;
		case PFS_LEVEL_HOST:
			if (column == 0)
				return name(keys, keys->host_name, isnull);
			break;
		default:
			break;
	}
	return pfs_level_event_name(scan, keys->instrument, isnull);
}

double
pfs_level_estimate(PfsLevel level, double rows_per_key)
{
	switch (level)
	{
		case PFS_LEVEL_THREAD:
			return pfs_threads_estimate() * rows_per_key;
		case PFS_LEVEL_ACCOUNT:
			return pfs_accounts_estimate(PFS_ACCOUNTS) * rows_per_key;
		case PFS_LEVEL_USER:
			return pfs_accounts_estimate(PFS_USERS) * rows_per_key;
		case PFS_LEVEL_HOST:
			return pfs_accounts_estimate(PFS_HOSTS) * rows_per_key;
		default:
			return rows_per_key;
	}
}
