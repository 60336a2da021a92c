/*
 * pfs_levels.c
 *	  The callbacks of summaries of all families, at all levels.
 */
#include "postgres.h"

#include "pfs_levels.h"

/*
 * Makes a row of what the record layer read.  What a level has no key for stays zero, as
 * rows come zeroed.
 */
static void
add_row_cb(const PfsSummaryRow *from, void *arg)
{
	PfsScan    *scan = arg;
	PfsLevelKeys *keys = pfs_scan_add(scan);

	keys->thread_id = from->thread_id;
	keys->instrument = from->instrument;
	keys->cell = from->cell;
	keys->cell_keys = from->keys;
	if (from->account != NULL)
	{
		keys->named = from->account->named;
		strlcpy(keys->user_name, from->account->user_name, sizeof(keys->user_name));
		strlcpy(keys->host_name, from->account->host_name, sizeof(keys->host_name));
	}
	memcpy(keys + 1, from->totals, pfs_summary_kinds[scan->table->family]->totals_size);
}

void
pfs_level_copy(PfsScan *scan)
{
	pfs_summary_read(scan->table->family, scan->table->part,
					 scan->table->part == PFS_LEVEL_THREAD ? scan->thread_id : 0, scan->instrument, add_row_cb, scan);
}

/*
 * Adds the rows of the instruments that have counted nothing to those of the others, all in the
 * order of the family's cells.
 */
void
pfs_level_copy_all(PfsScan *scan)
{
	PfsFamily	family = scan->table->family;
	PfsScan		counted = *scan;
	Size		next = 0;

	pfs_summary_read(family, PFS_LEVEL_GLOBAL, 0, scan->instrument, add_row_cb, &counted);
	for (uint32 cell = 0; cell < pfs_summary[family].ncells; cell++)
	{
		PfsInstrumentId id = pfs_instrument_of_cell(family, cell);
		const PfsLevelKeys *keys = (const PfsLevelKeys *) (counted.rows + next * scan->row_size);

		if (id == PFS_NO_INSTRUMENT || (scan->instrument != PFS_NO_INSTRUMENT && id != scan->instrument))
			continue;
		if (next < counted.nrows && keys->cell == cell)
		{
			memcpy(pfs_scan_add(scan), keys, scan->row_size);
			next++;
		}
		else
			((PfsLevelKeys *) pfs_scan_add(scan))->instrument = id;
	}
}

double
pfs_level_all_estimate(const PfsTable *table)
{
	const PfsSummaryKind *kind = pfs_summary_kinds[table->family];

	if (pfs_summary == NULL)
		return 0;
	return kind->used != NULL ? kind->used() : pfs_instruments->ncells[table->family];
}

int64
pfs_level_truncate(const PfsTable *table)
{
	return pfs_summary_truncate(table->family, table->part);
}
