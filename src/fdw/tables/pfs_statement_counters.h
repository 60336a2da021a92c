/*
 * pfs_statement_counters.h
 *	  The columns of what statements count: events and summaries show the same.
 */
#ifndef PFS_STATEMENT_COUNTERS_H
#define PFS_STATEMENT_COUNTERS_H

#include "pfs_event_cell.h"

/* The value of a counter, or a sum of such values, in the unit of its column. */
extern PfsPicoseconds pfs_statement_counter(PfsCounter counter, unsigned __int128 value);

/* The value of a counter of an event, or of a sum: of->n[]. */
#define PFS_STATEMENT_COUNTER(of, counter) pfs_statement_counter(PFS_N_##counter, (of)->n[PFS_N_##counter])

/*
 * The columns that events and sums have in common, where both have them one behind the other.  prefix: of
 * the sums' names; of: as above.  Two counters of local buffers are not shown.
 */
#define PFS_STATEMENT_TIME_COLUMNS(X, t, prefix, of) \
	X(t, prefix##plan_time, numeric, picoseconds, PFS_STATEMENT_COUNTER(of, PLAN_TIME), \
	  "Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.", .width = 12) \
	X(t, prefix##exec_time, numeric, picoseconds, PFS_STATEMENT_COUNTER(of, EXEC_TIME), \
	  "Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.", .width = 12)

#define PFS_STATEMENT_COUNTER_COLUMNS(X, t, prefix, of) \
	X(t, prefix##errors, bigint, count, PFS_STATEMENT_COUNTER(of, ERRORS), \
	  "Errors raised, also those that a block of a function caught.") \
	X(t, prefix##warnings, bigint, count, PFS_STATEMENT_COUNTER(of, WARNINGS), \
	  "Warnings that log_min_messages lets through.") \
	X(t, prefix##rows_affected, bigint, count, PFS_STATEMENT_COUNTER(of, ROWS_AFFECTED), \
	  "Rows inserted, updated, deleted, merged or copied.") \
	X(t, prefix##rows_sent, bigint, count, PFS_STATEMENT_COUNTER(of, ROWS_SENT), \
	  "Rows returned to whoever called: the client, or the function around it.") \
	X(t, prefix##shared_blks_hit, bigint, pages, PFS_STATEMENT_COUNTER(of, SHARED_BLKS_HIT), \
	  "Pages found in shared buffers, also by nested statements.") \
	X(t, prefix##shared_blks_read, bigint, pages, PFS_STATEMENT_COUNTER(of, SHARED_BLKS_READ), \
	  "Pages read into shared buffers.") \
	X(t, prefix##shared_blks_dirtied, bigint, pages, PFS_STATEMENT_COUNTER(of, SHARED_BLKS_DIRTIED), \
	  "Clean pages of shared buffers that were made dirty.") \
	X(t, prefix##shared_blks_written, bigint, pages, PFS_STATEMENT_COUNTER(of, SHARED_BLKS_WRITTEN), \
	  "Pages of shared buffers written by the process itself.") \
	X(t, prefix##local_blks_read, bigint, pages, PFS_STATEMENT_COUNTER(of, LOCAL_BLKS_READ), \
	  "Pages of temporary tables read.") \
	X(t, prefix##local_blks_written, bigint, pages, PFS_STATEMENT_COUNTER(of, LOCAL_BLKS_WRITTEN), \
	  "Pages of temporary tables written.") \
	X(t, prefix##temp_blks_read, bigint, pages, PFS_STATEMENT_COUNTER(of, TEMP_BLKS_READ), \
	  "Pages of temporary files read.") \
	X(t, prefix##temp_blks_written, bigint, pages, PFS_STATEMENT_COUNTER(of, TEMP_BLKS_WRITTEN), \
	  "Pages of temporary files written.") \
	X(t, prefix##wal_records, bigint, count, PFS_STATEMENT_COUNTER(of, WAL_RECORDS), "WAL records written.") \
	X(t, prefix##wal_fpi, bigint, count, PFS_STATEMENT_COUNTER(of, WAL_FPI), "Full page images in them.") \
	X(t, prefix##wal_bytes, numeric, bytes, PFS_STATEMENT_COUNTER(of, WAL_BYTES), "Bytes of WAL.", .width = 12)

/* A new counter comes here. */
#define PFS_STATEMENT_LATER_COLUMNS(X, t, prefix, of) \
	X(t, prefix##rows_examined, bigint, count, PFS_STATEMENT_COUNTER(of, ROWS_EXAMINED), \
	  "Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers " \
	  "included; 0 while wait/io/table/handler is off.", .since = PFS_SINCE_1_1) \
	X(t, prefix##no_index_used, bigint, count, PFS_STATEMENT_COUNTER(of, NO_INDEX_USED), \
	  "Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an " \
	  "event has 1 or 0; 0 while wait/io/table/handler is off.", .since = PFS_SINCE_1_1)

/* totals: a const PfsStatementTotals *.  Memory is kept with 1 added, see pfs_statement_memory.c. */
#define PFS_STATEMENT_SUM_COLUMNS(X, t, totals) \
	X(t, sum_lock_time, numeric, picoseconds, PFS_STATEMENT_COUNTER(totals, LOCK_TIME), \
	  "Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.", .width = 12) \
	PFS_STATEMENT_TIME_COLUMNS(X, t, sum_, totals) \
	X(t, sum_cpu_time, numeric, picoseconds, PFS_STATEMENT_COUNTER(totals, CPU_TIME), \
	  "Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer " \
	  "events_statements_cpu was on.", \
	  .width = 12) \
	PFS_STATEMENT_COUNTER_COLUMNS(X, t, sum_, totals) \
	X(t, sum_parallel_workers, bigint, count, PFS_STATEMENT_COUNTER(totals, PARALLEL_WORKERS), \
	  "Parallel workers that worked for them.") \
	X(t, max_total_memory, bigint, bytes, PFS_NULL_IF((totals)->memory == 0, (totals)->memory - 1), \
	  "The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none " \
	  "has one.") \
	PFS_STATEMENT_LATER_COLUMNS(X, t, sum_, totals)

#endif							/* PFS_STATEMENT_COUNTERS_H */
