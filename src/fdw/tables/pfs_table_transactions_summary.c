/*
 * pfs_table_transactions_summary.c
 *	  events_transactions_summary_{global,by_thread,by_account,by_user,by_host}_by_event_name:
 *	  all transactions, then those that may write, and those that may not.
 */
#include "postgres.h"

#include "pfs_event_cell.h"
#include "pfs_levels.h"

PFS_LEVEL_ROW(TransactionRow, PfsTransactionTotals);

#define PART(part) (&row->totals.parts[PFS_TRANSACTIONS_##part])
#define ALL ((const PfsTotals[]) {pfs_totals_of(row->totals.parts, PFS_NUM_TRANSACTION_PARTS)})

#define COLUMNS(X, t) \
	PFS_EVENT_NAME_COLUMN(X, t) \
	PFS_TIMER_WAIT_COLUMNS(X, t, ALL, "Transactions counted.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, read_write, PART(READ_WRITE), "Transactions that may write.") \
	PFS_TIMER_WAIT_PART_COLUMNS(X, t, read_only, PART(READ_ONLY), "Transactions that may not write.")

PFS_EVENT_LEVEL_TABLES(transactions, "transaction", TRANSACTIONS, TransactionRow, COLUMNS, 1,
					   "zeroes all levels");
