/*
 * pfs_table_transactions_summary.c
 *	  events_transactions_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name.
 */
#include "postgres.h"

#include "pfs_event_cell.h"
#include "pfs_event_levels.h"

typedef struct TransactionRow
{
	PfsLevelKeys keys;
	PfsTransactionTotals totals;
} TransactionRow;

/* All, then those that may write, and those that may not. */
#define READ_WRITE PFS_TW_NCOLUMNS
#define READ_ONLY (READ_WRITE + PFS_TW_PART_NCOLUMNS)

#define COLUMNS(first) \
	PFS_TW_COLUMNS(first), \
	PFS_TW_PART_COLUMNS((first) + READ_WRITE, "read_write"), \
	PFS_TW_PART_COLUMNS((first) + READ_ONLY, "read_only")

static Datum
value_get(const TransactionRow *row, int column, bool *isnull)
{
	const PfsTotals *parts = row->totals.parts;

	if (column >= READ_ONLY)
		return pfs_tw_get(&parts[PFS_TRANSACTIONS_READ_ONLY], pfs_tw_of_part(column - READ_ONLY));
	if (column >= READ_WRITE)
		return pfs_tw_get(&parts[PFS_TRANSACTIONS_READ_WRITE], pfs_tw_of_part(column - READ_WRITE));
	return pfs_tw_get(&parts[PFS_TRANSACTIONS_ALL], column);
}

PFS_EVENT_LEVEL_TABLES(transactions, "transaction", TRANSACTIONS, TransactionRow, PfsTransactionTotals, COLUMNS,
					   value_get, 1, "zeroes all levels");
