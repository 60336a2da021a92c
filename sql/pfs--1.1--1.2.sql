/* sql/pfs--1.1--1.2.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.2'" to load this file. \quit

-- Nothing of a user's schema may be used, whatever search path the update begins with.
SET LOCAL search_path TO pg_catalog, pg_temp;

--
-- The tables: what the lists of columns in src/fdw/tables have and older releases do not.
--

-- tools/sql writes from here

COMMENT ON COLUMN pfs.events_statements_current.lock_time IS
'Time of the process itself, without its parallel workers, in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_current.errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_current.warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_current.cpu_time IS
'Processor time of the process, without that of its parallel workers, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_current.max_total_memory IS
'The most that the session had in use while it was open, without its parallel workers, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_current.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_current.no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_history.lock_time IS
'Time of the process itself, without its parallel workers, in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_history.errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_history.warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_history.cpu_time IS
'Processor time of the process, without that of its parallel workers, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_history.max_total_memory IS
'The most that the session had in use while it was open, without its parallel workers, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_history.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_history.no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_history_long.lock_time IS
'Time of the process itself, without its parallel workers, in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_history_long.errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_history_long.warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_history_long.cpu_time IS
'Processor time of the process, without that of its parallel workers, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_history_long.max_total_memory IS
'The most that the session had in use while it was open, without its parallel workers, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_history_long.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_history_long.no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, without those of parallel workers, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_cpu_time IS
'Processor time, without that of parallel workers, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_errors IS
'Errors raised, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_dirtied IS
'Clean pages of shared buffers that were made dirty.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_written IS
'Pages of shared buffers written by the process itself.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.max_total_memory IS
'The largest max_total_memory of these statements, without their parallel workers, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of nested statements and of parallel workers included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_no_index_used IS
'Statements that read a table by no index, by themselves, in a nested statement or in a parallel worker, so an event has 1 or 0; 0 while wait/io/table/handler is off.';

-- tools/sql ends here

--
-- The views for people: those of sql/pfs_sys.views that no older release has, or not as they are now.
--

-- tools/sql: views writes from here (of sql/pfs_sys.views)

-- tools/sql: views ends here
