/*
 * pfs_statement_counters.h
 *	  The columns of what statements count: events and summaries show the same.
 */
#ifndef PFS_STATEMENT_COUNTERS_H
#define PFS_STATEMENT_COUNTERS_H

#include "pfs_event_cell.h"

/* The value of a counter, or a sum of such values, in the unit of its column. */
extern PfsPicoseconds pfs_statement_counter(PfsCounter counter, unsigned __int128 value);

/* The sum of a counter over statements. */
static inline PfsPicoseconds
pfs_statement_sum(const PfsStatementTotals *totals, PfsCounter counter)
{
	return pfs_statement_counter(counter, totals->n[counter]);
}

/*
 * totals: a const PfsStatementTotals *.  Two counters of local buffers are not shown.  Memory is kept
 * with 1 added, see pfs_statement_memory.c.
 */
#define PFS_STATEMENT_SUM_COLUMNS(X, t, totals) \
	X(t, sum_lock_time, numeric, picoseconds, pfs_statement_sum(totals, PFS_N_LOCK_TIME), \
	  "Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.", .width = 12) \
	X(t, sum_plan_time, numeric, picoseconds, pfs_statement_sum(totals, PFS_N_PLAN_TIME), \
	  "Time in the planner, in picoseconds.", .width = 12) \
	X(t, sum_exec_time, numeric, picoseconds, pfs_statement_sum(totals, PFS_N_EXEC_TIME), \
	  "Time in the executor or in utilities, in picoseconds.", .width = 12) \
	X(t, sum_cpu_time, numeric, picoseconds, pfs_statement_sum(totals, PFS_N_CPU_TIME), \
	  "Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer " \
	  "events_statements_cpu was on.", \
	  .width = 12) \
	X(t, sum_errors, bigint, count, pfs_statement_sum(totals, PFS_N_ERRORS), \
	  "Errors raised in them, caught ones included.") \
	X(t, sum_warnings, bigint, count, pfs_statement_sum(totals, PFS_N_WARNINGS), \
	  "Warnings that log_min_messages lets through.") \
	X(t, sum_rows_affected, bigint, count, pfs_statement_sum(totals, PFS_N_ROWS_AFFECTED), \
	  "Rows inserted, updated, deleted, merged or copied.") \
	X(t, sum_rows_sent, bigint, count, pfs_statement_sum(totals, PFS_N_ROWS_SENT), \
	  "Rows returned to whoever called.") \
	X(t, sum_shared_blks_hit, bigint, pages, pfs_statement_sum(totals, PFS_N_SHARED_BLKS_HIT), \
	  "Pages found in shared buffers.") \
	X(t, sum_shared_blks_read, bigint, pages, pfs_statement_sum(totals, PFS_N_SHARED_BLKS_READ), \
	  "Pages read into shared buffers.") \
	X(t, sum_shared_blks_dirtied, bigint, pages, pfs_statement_sum(totals, PFS_N_SHARED_BLKS_DIRTIED), \
	  "Pages of shared buffers that they changed first.") \
	X(t, sum_shared_blks_written, bigint, pages, pfs_statement_sum(totals, PFS_N_SHARED_BLKS_WRITTEN), \
	  "Pages of shared buffers that they wrote themselves.") \
	X(t, sum_local_blks_read, bigint, pages, pfs_statement_sum(totals, PFS_N_LOCAL_BLKS_READ), \
	  "Pages of temporary tables read.") \
	X(t, sum_local_blks_written, bigint, pages, pfs_statement_sum(totals, PFS_N_LOCAL_BLKS_WRITTEN), \
	  "Pages of temporary tables written.") \
	X(t, sum_temp_blks_read, bigint, pages, pfs_statement_sum(totals, PFS_N_TEMP_BLKS_READ), \
	  "Pages of temporary files read.") \
	X(t, sum_temp_blks_written, bigint, pages, pfs_statement_sum(totals, PFS_N_TEMP_BLKS_WRITTEN), \
	  "Pages of temporary files written.") \
	X(t, sum_wal_records, bigint, count, pfs_statement_sum(totals, PFS_N_WAL_RECORDS), \
	  "WAL records written.") \
	X(t, sum_wal_fpi, bigint, count, pfs_statement_sum(totals, PFS_N_WAL_FPI), "Full page images in them.") \
	X(t, sum_wal_bytes, numeric, bytes, pfs_statement_sum(totals, PFS_N_WAL_BYTES), \
	  "Bytes of WAL.", .width = 12) \
	X(t, sum_parallel_workers, bigint, count, pfs_statement_sum(totals, PFS_N_PARALLEL_WORKERS), \
	  "Parallel workers that worked for them.") \
	X(t, max_total_memory, bigint, bytes, PFS_NULL_IF((totals)->memory == 0, (totals)->memory - 1), \
	  "The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none " \
	  "has one.") \
	X(t, sum_rows_examined, bigint, count, pfs_statement_sum(totals, PFS_N_ROWS_EXAMINED), \
	  "Rows fetched from tables, or found by indexes alone, those of parallel workers included; 0 while " \
	  "wait/io/table/handler is off.", \
	  .since = PFS_SINCE_1_1) \
	X(t, sum_no_index_used, bigint, count, pfs_statement_sum(totals, PFS_N_NO_INDEX_USED), \
	  "Statements that read a table by no index, by themselves or in parallel workers; 0 while " \
	  "wait/io/table/handler is off.", .since = PFS_SINCE_1_1)

#endif							/* PFS_STATEMENT_COUNTERS_H */
