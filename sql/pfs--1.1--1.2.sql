/* sql/pfs--1.1--1.2.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.2'" to load this file. \quit

-- Nothing of a user's schema may be used, whatever search path the update begins with.
SET LOCAL search_path TO pg_catalog, pg_temp;

--
-- The tables: what the lists of columns in src/fdw/tables have and older releases do not.
--

-- tools/sql writes from here

COMMENT ON COLUMN pfs.setup_consumers.name IS
'global_instrumentation, below it statements_digest, with plans below that, and thread_instrumentation, below the latter events_X_current, below that events_X_history and events_X_history_long, X being waits, stages, statements and transactions; below events_statements_current also events_statements_cpu.';

ALTER FOREIGN TABLE pfs.events_statements_current ADD COLUMN plan_id bigint;
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
COMMENT ON COLUMN pfs.events_statements_current.plan_id IS
'Which plan it had, as in plans_summary_by_digest. NULL before the executor starts, for what has no plan, and while the consumer plans is off.';

ALTER FOREIGN TABLE pfs.events_statements_history ADD COLUMN plan_id bigint;
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
COMMENT ON COLUMN pfs.events_statements_history.plan_id IS
'Which plan it had, as in plans_summary_by_digest. NULL before the executor starts, for what has no plan, and while the consumer plans is off.';

ALTER FOREIGN TABLE pfs.events_statements_history_long ADD COLUMN plan_id bigint;
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
COMMENT ON COLUMN pfs.events_statements_history_long.plan_id IS
'Which plan it had, as in plans_summary_by_digest. NULL before the executor starts, for what has no plan, and while the consumer plans is off.';

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

CREATE FOREIGN TABLE pfs.plans_summary_by_digest (
	database_name text,
	user_name text,
	query_id bigint,
	plan_id bigint,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	quantile_95 numeric,
	quantile_99 numeric,
	sum_plan_time numeric,
	sum_exec_time numeric,
	sum_rows bigint,
	sum_shared_blks_hit bigint,
	sum_shared_blks_read bigint,
	sum_temp_blks_written bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone,
	estimated_cost double precision,
	estimated_rows double precision,
	node_count bigint,
	server_plan_id bigint,
	plan_text text
) SERVER pfs_server OPTIONS ("table" 'plans_summary_by_digest');
COMMENT ON FOREIGN TABLE pfs.plans_summary_by_digest IS
'Counts and times of statements by shape and by plan; one row for all others. A statement counts for the plan that it executes; what has none, as a utility, is in no row. TRUNCATE zeroes it; that of events_statements_summary_by_digest removes the rows.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.plan_id IS
'A hash of the plan''s shape: types of nodes and their order, relations, indexes, join types and strategies, columns of sorts and groups, workers planned; no constants, costs or estimates. Partitions count as their table.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.count_star IS
'Executions counted.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.quantile_95 IS
'95 % of them were not longer, in picoseconds: the upper bound of the histogram''s range, at most 19 % too high.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.quantile_99 IS
'The same of 99 %.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_rows IS
'Rows returned, inserted, updated, deleted or merged.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_shared_blks_hit IS
'Pages found in shared buffers, also by nested statements.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.first_seen IS
'When the row was made.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.last_seen IS
'End of the last execution.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.estimated_cost IS
'The planner''s estimate of the whole plan, in units of seq_page_cost, when plan_text was made.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.estimated_rows IS
'The planner''s estimate of the rows that it returns, then.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.node_count IS
'Nodes; equal ones of partitions count once.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.server_plan_id IS
'The identifier that the server or another library has given to it. NULL if none has, and before PostgreSQL 18.';
COMMENT ON COLUMN pfs.plans_summary_by_digest.plan_text IS
'What EXPLAIN (COSTS OFF) says of it, made at its first execution, with question marks for constants; at most pfs.max_plan_text_length bytes. NULL without the rights of user_name or pg_read_all_stats.';
GRANT SELECT ON pfs.plans_summary_by_digest TO pg_monitor;

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
