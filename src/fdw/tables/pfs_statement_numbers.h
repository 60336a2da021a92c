/*
 * pfs_statement_numbers.h
 *	  The columns of what statements count: events and summaries show the same.
 */
#ifndef PFS_STATEMENT_NUMBERS_H
#define PFS_STATEMENT_NUMBERS_H

#include "pfs_event_cell.h"

/* As the column of the number shows it. */
extern Datum pfs_statement_number_datum(PfsNumber number, unsigned __int128 value);

/* The same of a summary: the entries of a PfsColumn array, from index `first`. */
#define PFS_STATEMENT_SUM_COLUMNS(first) \
	[(first) + 0] = {"sum_lock_time", NUMERICOID, .width = 12}, \
	[(first) + 1] = {"sum_plan_time", NUMERICOID, .width = 12}, \
	[(first) + 2] = {"sum_exec_time", NUMERICOID, .width = 12}, \
	[(first) + 3] = {"sum_cpu_time", NUMERICOID, .width = 12}, \
	[(first) + 4] = {"sum_errors", INT8OID}, \
	[(first) + 5] = {"sum_warnings", INT8OID}, \
	[(first) + 6] = {"sum_rows_affected", INT8OID}, \
	[(first) + 7] = {"sum_rows_sent", INT8OID}, \
	[(first) + 8] = {"sum_shared_blks_hit", INT8OID}, \
	[(first) + 9] = {"sum_shared_blks_read", INT8OID}, \
	[(first) + 10] = {"sum_shared_blks_dirtied", INT8OID}, \
	[(first) + 11] = {"sum_shared_blks_written", INT8OID}, \
	[(first) + 12] = {"sum_local_blks_read", INT8OID}, \
	[(first) + 13] = {"sum_local_blks_written", INT8OID}, \
	[(first) + 14] = {"sum_temp_blks_read", INT8OID}, \
	[(first) + 15] = {"sum_temp_blks_written", INT8OID}, \
	[(first) + 16] = {"sum_wal_records", INT8OID}, \
	[(first) + 17] = {"sum_wal_fpi", INT8OID}, \
	[(first) + 18] = {"sum_wal_bytes", NUMERICOID, .width = 12}, \
	[(first) + 19] = {"sum_parallel_workers", INT8OID}, \
	[(first) + 20] = {"max_total_memory", INT8OID}

#define PFS_STATEMENT_SUM_NCOLUMNS 21

/* column: counted from the first of these. */
extern Datum pfs_statement_sum_get(const PfsStatementTotals *totals, int column, bool *isnull);

/* See pfs_statement_memory.h. */
extern Datum pfs_statement_memory_datum(uint64 memory, bool *isnull);

#endif							/* PFS_STATEMENT_NUMBERS_H */
