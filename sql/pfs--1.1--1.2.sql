/* sql/pfs--1.1--1.2.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.2'" to load this file. \quit

-- Nothing of a user's schema may be used, whatever search path the update begins with.
SET LOCAL search_path TO pg_catalog, pg_temp;

--
-- The tables: what the lists of columns in src/fdw/tables have and older releases do not.
--

-- tools/sql writes from here

ALTER FOREIGN TABLE pfs.setup_instruments ADD COLUMN wait_class text;
COMMENT ON COLUMN pfs.setup_instruments.wait_class IS
'The kind of wait, as wait_event_type of load_history has it; also Activity. NULL: no wait, or one that contains others.';

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
'Counts and times of statements by shape and by plan; one row for all others. A statement counts for the plan that it executes; what has none, as a utility, is in no row. TRUNCATE zeroes it, and its nodes; that of events_statements_summary_by_digest removes the rows.';
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
'What EXPLAIN (COSTS OFF) says of it, with question marks for constants; at most pfs.max_plan_text_length bytes. It is made at the first execution, of a plan with a cost under 1,000 at the second. NULL without the rights of user_name or pg_read_all_stats.';
GRANT SELECT ON pfs.plans_summary_by_digest TO pg_monitor;

CREATE FOREIGN TABLE pfs.plan_nodes_summary_by_plan (
	database_name text,
	user_name text,
	query_id bigint,
	plan_id bigint,
	node_id bigint,
	parent_node_id bigint,
	node_type text,
	object_schema text,
	object_name text,
	index_name text,
	count_executions bigint,
	count_measured bigint,
	count_loops bigint,
	sum_rows bigint,
	estimated_rows double precision,
	sum_timer_total numeric,
	sum_timer_self numeric,
	sum_timer_wait numeric,
	max_timer_total numeric,
	count_calls bigint,
	count_timed bigint
) SERVER pfs_server OPTIONS ("table" 'plan_nodes_summary_by_plan');
COMMENT ON FOREIGN TABLE pfs.plan_nodes_summary_by_plan IS
'Loops, rows and times of each node of plans, added up over the executions that were measured (pfs.plan_nodes), parallel workers included; one row for all others. TRUNCATE zeroes it.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.plan_id IS
'Which plan, as in plans_summary_by_digest. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.node_id IS
'0 is Output, the others count from 1; equal ones of partitions are one.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.parent_node_id IS
'The node above it; of the plan''s first one, and of a data-modifying WITH, Output.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.node_type IS
'As EXPLAIN (FORMAT JSON) says. Output is what the executor''s run does outside of nodes: it sends rows, starts and waits for workers, runs triggers.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.object_schema IS
'Schema of the table that it reads or changes; NULL also if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.object_name IS
'Name of that table, of a partition that at the root; its OID if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.index_name IS
'Name of the index that it reads; its OID if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.count_executions IS
'Executions of the plan.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.count_measured IS
'Those of them in which this node was measured, failed ones too: the numbers that follow are theirs.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.count_loops IS
'How often it was begun or begun anew, by each process.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.sum_rows IS
'Rows that it returned.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.estimated_rows IS
'The planner''s estimate of the rows of one loop, where it was measured first.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.sum_timer_total IS
'Time in it and in the nodes that it called, in picoseconds; see count_timed.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.sum_timer_self IS
'Time in it alone, in picoseconds; see count_timed. Of all nodes these add up to the executor''s runs.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.sum_timer_wait IS
'That part of its own time in which it waited, in picoseconds: the sum of events_waits_summary_by_plan_node.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.max_timer_total IS
'The most that it took in one execution in one process, in picoseconds.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.count_calls IS
'How often it was called; of a node that is not called for each row its loops.';
COMMENT ON COLUMN pfs.plan_nodes_summary_by_plan.count_timed IS
'Calls of which the time was taken. Where that is less than count_calls, times are estimates from as many calls.';
GRANT SELECT ON pfs.plan_nodes_summary_by_plan TO pg_monitor;

CREATE FOREIGN TABLE pfs.events_waits_summary_by_plan_node (
	database_name text,
	user_name text,
	query_id bigint,
	plan_id bigint,
	node_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_plan_node');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_plan_node IS
'What each node of plans waited for, in the executions that were measured. They are waits of the statement, which events_waits_summary_by_digest has, too; those of nested statements are these''s. TRUNCATE zeroes it.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.plan_id IS
'Which plan, as in plans_summary_by_digest. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.node_id IS
'Which node, as in plan_nodes_summary_by_plan: the innermost one when the wait began.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.count_star IS
'Number of waits, in executions that were measured.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_plan_node.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
GRANT SELECT ON pfs.events_waits_summary_by_plan_node TO pg_monitor;

CREATE FOREIGN TABLE pfs.plan_nodes_current (
	thread_id bigint,
	event_id bigint,
	query_id bigint,
	plan_id bigint,
	node_id bigint,
	parent_node_id bigint,
	node_type text,
	object_schema text,
	object_name text,
	index_name text,
	is_running text,
	loops bigint,
	rows bigint,
	estimated_rows double precision,
	timer_total numeric,
	timer_self numeric,
	timer_wait numeric,
	measured_since timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'plan_nodes_current');
COMMENT ON FOREIGN TABLE pfs.plan_nodes_current IS
'Where statements are, and how far: rows and times by node of plans that are executed and measured now.';
COMMENT ON COLUMN pfs.plan_nodes_current.thread_id IS
'Thread that executes it: of a parallel worker its own.';
COMMENT ON COLUMN pfs.plan_nodes_current.event_id IS
'Its statement, as in events_statements_current. NULL in a parallel worker.';
COMMENT ON COLUMN pfs.plan_nodes_current.query_id IS
'The server''s query identifier. NULL without the rights of its user or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_current.plan_id IS
'Which plan, as in plans_summary_by_digest. NULL without the rights of its user or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_current.node_id IS
'0 is Output, the others count from 1; equal ones of partitions are one.';
COMMENT ON COLUMN pfs.plan_nodes_current.parent_node_id IS
'The node above it; of the plan''s first one, and of a data-modifying WITH, Output.';
COMMENT ON COLUMN pfs.plan_nodes_current.node_type IS
'As EXPLAIN (FORMAT JSON) says. Output is what the executor''s run does outside of nodes: it sends rows, starts and waits for workers, runs triggers.';
COMMENT ON COLUMN pfs.plan_nodes_current.object_schema IS
'Schema of the table that it reads or changes; NULL also if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_current.object_name IS
'Name of that table, of a partition that at the root; its OID if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_current.index_name IS
'Name of the index that it reads; its OID if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.plan_nodes_current.is_running IS
'YES: a call of it goes on whose time is being taken; of a node that is called often not all are.';
COMMENT ON COLUMN pfs.plan_nodes_current.loops IS
'How often it was begun by now. NULL, as rows and times: it is not counted any more, as that would cost too much.';
COMMENT ON COLUMN pfs.plan_nodes_current.rows IS
'Rows that it has returned by now.';
COMMENT ON COLUMN pfs.plan_nodes_current.estimated_rows IS
'The planner''s estimate of the rows of one loop.';
COMMENT ON COLUMN pfs.plan_nodes_current.timer_total IS
'Time in it and in the nodes that it has called, with that of the call that goes on, in picoseconds.';
COMMENT ON COLUMN pfs.plan_nodes_current.timer_self IS
'Time in it alone, in picoseconds.';
COMMENT ON COLUMN pfs.plan_nodes_current.timer_wait IS
'Time in waits that it has ended, in picoseconds.';
COMMENT ON COLUMN pfs.plan_nodes_current.measured_since IS
'When the statement''s plan began to run.';
GRANT SELECT ON pfs.plan_nodes_current TO pg_monitor;

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

CREATE VIEW pfs_sys.x$plans AS
SELECT x.query, x.db, x.user_name, x.plans, x.exec_count, x.total_latency, x.share, x.avg_latency, x.latency_95, x.latency_99, x.plan_latency, x.rows_avg, x.estimated_rows, x.blks_avg, x.temp_written, x.first_seen, x.last_seen, x.plan, x.statement_latency, x.plan_id, x.query_id
FROM (
	SELECT d.digest_text AS query, p.database_name AS db, p.user_name, count(*) OVER shape AS plans, p.count_star AS exec_count,
		p.sum_timer_wait AS total_latency,
		round(100.0 * p.sum_timer_wait / nullif(sum(p.sum_timer_wait) OVER shape, 0), 1) AS share,
		p.avg_timer_wait AS avg_latency, p.quantile_95 AS latency_95, p.quantile_99 AS latency_99, p.sum_plan_time AS plan_latency,
		round(p.sum_rows::numeric / nullif(p.count_star, 0), 1) AS rows_avg, p.estimated_rows,
		round((p.sum_shared_blks_hit + p.sum_shared_blks_read)::numeric / nullif(p.count_star, 0), 1) AS blks_avg,
		p.sum_temp_blks_written::numeric * current_setting('block_size')::numeric AS temp_written, p.first_seen, p.last_seen,
		p.plan_text AS plan, sum(p.sum_timer_wait) OVER shape AS statement_latency, p.plan_id, p.query_id
	FROM pfs.plans_summary_by_digest p
	LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
	WINDOW shape AS (PARTITION BY p.database_name, p.user_name, p.query_id)
) x
ORDER BY x.statement_latency DESC, x.query_id, x.total_latency DESC, x.plan_id;
CREATE VIEW pfs_sys.plans AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.plans,
	x.exec_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.share,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.latency_95) AS latency_95,
	pfs_sys.format_time(x.latency_99) AS latency_99,
	pfs_sys.format_time(x.plan_latency) AS plan_latency,
	x.rows_avg,
	x.estimated_rows,
	x.blks_avg,
	pfs_sys.format_bytes(x.temp_written) AS temp_written,
	x.first_seen,
	x.last_seen,
	x.plan,
	pfs_sys.format_time(x.statement_latency) AS statement_latency,
	x.plan_id,
	x.query_id
FROM pfs_sys.x$plans x
ORDER BY x.statement_latency DESC, x.query_id, x.total_latency DESC, x.plan_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$plans'::regclass), (false, 'pfs_sys.plans'::regclass)) v (plain, oid), (VALUES
	(0, 'Plans side by side: statements by their shape with the plans that they had; shapes that took most time together first, of each the plan that took most.', 'With plain values.'),
	(1, 'The statement with parameters for its constants; NULL in the row of plans that had no place.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How many plans the shape has had.', ''),
	(5, 'How often this one was executed.', ''),
	(6, 'Time of all executions with this plan.', 'In picoseconds.'),
	(7, 'Percent of the time of all plans of the shape.', ''),
	(8, 'Average time.', 'In picoseconds.'),
	(9, '95 % of the executions were not longer.', 'In picoseconds.'),
	(10, 'The same of 99 %.', 'In picoseconds.'),
	(11, 'Time in the planner.', 'In picoseconds.'),
	(12, 'Rows returned, or changed, per execution.', ''),
	(13, 'The planner''s estimate of the rows returned, when the plan came first.', ''),
	(14, 'Pages found in shared buffers or read, per execution.', ''),
	(15, 'Written to temporary files.', 'In bytes.'),
	(16, 'When the plan was counted first.', ''),
	(17, 'When it was counted last.', ''),
	(18, 'What EXPLAIN (COSTS OFF) says, without constants.', ''),
	(19, 'Time of all plans of the shape.', 'In picoseconds.'),
	(20, 'The plan: a hash of its shape.', ''),
	(21, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_plan_changes AS
SELECT x.query, x.db, x.user_name, x.plans, x.changed, x.exec_count, x.avg_latency, x.latency_95, x.exec_count_before, x.avg_latency_before, x.latency_95_before, x.factor, x.lost_latency, x.used_before, x.plan, x.plan_before, x.plan_id, x.plan_id_before, x.query_id
FROM (
	WITH ranked AS (SELECT p.*, row_number() OVER (shape ORDER BY first_seen DESC, plan_id) AS newest, count(*) OVER shape AS plans
		FROM pfs.plans_summary_by_digest p
		WHERE plan_id IS NOT NULL
		WINDOW shape AS (PARTITION BY database_name, user_name, query_id))
	SELECT d.digest_text AS query, n.database_name AS db, n.user_name, n.plans, n.first_seen AS changed, n.count_star AS exec_count,
		n.avg_timer_wait AS avg_latency, n.quantile_95 AS latency_95, b.count_star AS exec_count_before,
		b.avg_timer_wait AS avg_latency_before, b.quantile_95 AS latency_95_before,
		round(n.avg_timer_wait / nullif(b.avg_timer_wait, 0), 2) AS factor,
		n.sum_timer_wait - n.count_star * b.avg_timer_wait AS lost_latency, b.last_seen AS used_before, n.plan_text AS plan,
		b.plan_text AS plan_before, n.plan_id, b.plan_id AS plan_id_before, n.query_id
	FROM ranked n
	JOIN (SELECT database_name, user_name, query_id, sum(count_star)::bigint AS count_star,
			round(sum(sum_timer_wait) / nullif(sum(count_star), 0)) AS avg_timer_wait, max(last_seen) AS last_seen,
			(array_agg(plan_text ORDER BY sum_timer_wait DESC))[1] AS plan_text,
			(array_agg(plan_id ORDER BY sum_timer_wait DESC))[1] AS plan_id,
			(array_agg(quantile_95 ORDER BY sum_timer_wait DESC))[1] AS quantile_95
		FROM ranked
		WHERE newest > 1
		GROUP BY database_name, user_name, query_id) b USING (database_name, user_name, query_id)
	LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
	WHERE n.newest = 1
) x
ORDER BY x.lost_latency DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_plan_changes AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.plans,
	x.changed,
	x.exec_count,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.latency_95) AS latency_95,
	x.exec_count_before,
	pfs_sys.format_time(x.avg_latency_before) AS avg_latency_before,
	pfs_sys.format_time(x.latency_95_before) AS latency_95_before,
	x.factor,
	pfs_sys.format_time(x.lost_latency) AS lost_latency,
	x.used_before,
	x.plan,
	x.plan_before,
	x.plan_id,
	x.plan_id_before,
	x.query_id
FROM pfs_sys.x$statements_with_plan_changes x
ORDER BY x.lost_latency DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_plan_changes'::regclass), (false, 'pfs_sys.statements_with_plan_changes'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements that have another plan than before: the newest one beside those before it; those that lose most time by it first.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How many plans the shape has had.', ''),
	(5, 'When the newest plan was counted first.', ''),
	(6, 'How often the newest was executed.', ''),
	(7, 'Its average time.', 'In picoseconds.'),
	(8, '95 % of its executions were not longer.', 'In picoseconds.'),
	(9, 'How often the others were executed.', ''),
	(10, 'Their average time.', 'In picoseconds.'),
	(11, '95 % of the executions of the one that took most time of them were not longer.', 'In picoseconds.'),
	(12, 'How many times as long as before an execution takes.', ''),
	(13, 'What all executions of the newest plan took longer than that; below zero: what they gained.', 'In picoseconds.'),
	(14, 'When one of the others was counted last: behind changed, both are in use.', ''),
	(15, 'The newest plan, without constants.', ''),
	(16, 'Of the others the one that took most time.', ''),
	(17, 'The newest plan: a hash of its shape.', ''),
	(18, 'The other one.', ''),
	(19, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$plan_nodes AS
SELECT x.query, x.db, x.user_name, x.node_id, x.node, x.exec_count, x.measured, x.loops_avg, x.rows_avg, x.estimated_rows, x.self_avg_latency, x.wait_avg_latency, x.share, x.est_self_latency, x.plan_id, x.query_id
FROM (
	SELECT d.digest_text AS query, n.database_name AS db, n.user_name, n.node_id, n.node_type || coalesce(' on ' || n.object_name, '') || coalesce(' using ' || n.index_name, '') AS node, n.count_executions AS exec_count, n.count_measured AS measured,
		round(n.count_loops::numeric / nullif(n.count_measured, 0), 1) AS loops_avg, round(n.sum_rows::numeric / nullif(n.count_loops, 0), 1) AS rows_avg,
		CASE WHEN n.node_type <> 'Output' THEN n.estimated_rows END AS estimated_rows,
		round(n.sum_timer_self / nullif(n.count_measured, 0)) AS self_avg_latency, round(n.sum_timer_wait / nullif(n.count_measured, 0)) AS wait_avg_latency,
		round(100.0 * n.sum_timer_self / nullif(sum(n.sum_timer_self) OVER (PARTITION BY n.database_name, n.user_name, n.query_id, n.plan_id), 0), 1) AS share,
		round(n.sum_timer_self * n.count_executions / nullif(n.count_measured, 0)) AS est_self_latency, n.plan_id, n.query_id
	FROM pfs.plan_nodes_summary_by_plan n
	LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
	WHERE n.count_executions > 0
) x
ORDER BY x.est_self_latency DESC NULLS LAST, x.query_id, x.plan_id, x.node_id;
CREATE VIEW pfs_sys.plan_nodes AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.node_id,
	x.node,
	x.exec_count,
	x.measured,
	x.loops_avg,
	x.rows_avg,
	x.estimated_rows,
	pfs_sys.format_time(x.self_avg_latency) AS self_avg_latency,
	pfs_sys.format_time(x.wait_avg_latency) AS wait_avg_latency,
	x.share,
	pfs_sys.format_time(x.est_self_latency) AS est_self_latency,
	x.plan_id,
	x.query_id
FROM pfs_sys.x$plan_nodes x
ORDER BY x.est_self_latency DESC NULLS LAST, x.query_id, x.plan_id, x.node_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$plan_nodes'::regclass), (false, 'pfs_sys.plan_nodes'::regclass)) v (plain, oid), (VALUES
	(0, 'Where in plans the time goes: nodes by their own time in the executions that were measured; those that take most time together first.', 'With plain values.'),
	(1, 'The statement with parameters for its constants; NULL in the row of plans that had no place.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'Which node of the plan, as in plan_nodes_summary_by_plan.', ''),
	(5, 'Its type, and what it reads or changes, by which index.', ''),
	(6, 'How often the plan was executed.', ''),
	(7, 'In how many of these executions the node was measured.', ''),
	(8, 'How often it was begun in an execution.', ''),
	(9, 'Rows that it returned in a loop.', ''),
	(10, 'The planner''s estimate of these.', ''),
	(11, 'Its own time in an execution.', 'In picoseconds.'),
	(12, 'That part of it in which it waited.', 'In picoseconds.'),
	(13, 'Percent of the plan''s time.', ''),
	(14, 'Its own time in all executions, if those that were not measured were like the others.', 'In picoseconds.'),
	(15, 'The plan: a hash of its shape.', ''),
	(16, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$plan_estimates AS
SELECT x.query, x.db, x.user_name, x.node_id, x.node, x.measured, x.loops, x.rows_avg, x.estimated_rows, x.factor, x.total_latency, x.plan_id, x.query_id
FROM (
	SELECT d.digest_text AS query, n.database_name AS db, n.user_name, n.node_id, n.node_type || coalesce(' on ' || n.object_name, '') || coalesce(' using ' || n.index_name, '') AS node, n.count_measured AS measured, n.count_loops AS loops,
		round(x.rows_avg, 1) AS rows_avg, n.estimated_rows, round(x.factor, 1) AS factor, n.sum_timer_total AS total_latency, n.plan_id, n.query_id
	FROM pfs.plan_nodes_summary_by_plan n
	LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id),
	LATERAL (SELECT n.sum_rows::numeric / n.count_loops AS rows_avg,
			greatest(greatest(n.sum_rows::numeric / n.count_loops, 1) / greatest(n.estimated_rows::numeric, 1),
				greatest(n.estimated_rows::numeric, 1) / greatest(n.sum_rows::numeric / n.count_loops, 1)) AS factor) x
	WHERE n.count_loops > 0 AND n.node_type NOT IN ('Output', 'ModifyTable', 'Hash', 'BitmapAnd', 'BitmapOr') AND x.factor >= 2
) x
ORDER BY x.total_latency * (1 - 1 / x.factor) DESC, x.query_id, x.plan_id, x.node_id;
CREATE VIEW pfs_sys.plan_estimates AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.node_id,
	x.node,
	x.measured,
	x.loops,
	x.rows_avg,
	x.estimated_rows,
	x.factor,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.plan_id,
	x.query_id
FROM pfs_sys.x$plan_estimates x
ORDER BY x.total_latency * (1 - 1 / x.factor) DESC, x.query_id, x.plan_id, x.node_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$plan_estimates'::regclass), (false, 'pfs_sys.plan_estimates'::regclass)) v (plain, oid), (VALUES
	(0, 'Nodes of plans that return many more or fewer rows than the planner has estimated; those first at which most time is lost.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'Which node of the plan, as in plan_nodes_summary_by_plan.', ''),
	(5, 'Its type, and what it reads or changes, by which index.', ''),
	(6, 'Executions in which it was measured.', ''),
	(7, 'How often it was begun.', ''),
	(8, 'Rows that it returned in a loop. Fewer than there are, where the node above has stopped asking, as Limit does.', ''),
	(9, 'The planner''s estimate of these.', ''),
	(10, 'How many times as many, or as few, as estimated; a row at least on both sides.', ''),
	(11, 'Time in it and in the nodes below it.', 'In picoseconds.'),
	(12, 'The plan: a hash of its shape.', ''),
	(13, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statement_progress AS
SELECT x.thread_id, x.pid, x.db, x.user_name, x.query, x.running, x.node_id, x.node, x.is_innermost, x.loops, x.rows, x.estimated_rows, x.progress, x.self_latency, x.wait_latency, x.plan_id, x.query_id, x.event_id
FROM (
	WITH now AS MATERIALIZED (SELECT c.*, measured_since AS query FROM pfs.plan_nodes_current c)
	SELECT n.thread_id, t.processlist_id AS pid, t.processlist_db AS db, t.processlist_user AS user_name, s.sql_text AS query,
		(extract(epoch FROM clock_timestamp() - n.measured_since) * 1e12)::numeric AS running, n.node_id, n.node_type || coalesce(' on ' || n.object_name, '') || coalesce(' using ' || n.index_name, '') AS node,
		CASE WHEN n.is_running = 'YES' AND NOT EXISTS (SELECT FROM now c WHERE c.thread_id = n.thread_id AND c.query = n.query AND c.parent_node_id = n.node_id
			AND c.node_id <> n.node_id AND c.is_running = 'YES') THEN 'YES' ELSE 'NO' END AS is_innermost,
		n.loops, n.rows, CASE WHEN n.node_id > 0 THEN n.estimated_rows * greatest(n.loops, 1) END AS estimated_rows,
		CASE WHEN n.node_id > 0 AND n.rows <= n.estimated_rows * greatest(n.loops, 1) THEN round((100 * n.rows / greatest(n.estimated_rows * greatest(n.loops, 1), 1))::numeric, 1) END AS progress,
		n.timer_self AS self_latency, n.timer_wait AS wait_latency, n.plan_id, n.query_id, n.event_id
	FROM now n
	JOIN pfs.threads t USING (thread_id)
	LEFT JOIN pfs.events_statements_current s ON s.thread_id = n.thread_id AND s.event_id = n.event_id
) x
ORDER BY x.running DESC, x.thread_id, x.event_id, x.node_id;
CREATE VIEW pfs_sys.statement_progress AS
SELECT
	x.thread_id,
	x.pid,
	x.db,
	x.user_name,
	pfs_sys.format_statement(x.query) AS query,
	pfs_sys.format_time(x.running) AS running,
	x.node_id,
	x.node,
	x.is_innermost,
	x.loops,
	x.rows,
	x.estimated_rows,
	x.progress,
	pfs_sys.format_time(x.self_latency) AS self_latency,
	pfs_sys.format_time(x.wait_latency) AS wait_latency,
	x.plan_id,
	x.query_id,
	x.event_id
FROM pfs_sys.x$statement_progress x
ORDER BY x.running DESC, x.thread_id, x.event_id, x.node_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statement_progress'::regclass), (false, 'pfs_sys.statement_progress'::regclass)) v (plain, oid), (VALUES
	(0, 'Where statements are, and how far: nodes of plans that are executed and measured now, with their rows against the planner''s estimate.', 'With plain values.'),
	(1, 'Thread that executes it: of a parallel worker its own.', ''),
	(2, 'Its process.', ''),
	(3, 'Database.', ''),
	(4, 'User.', ''),
	(5, 'The statement.', ''),
	(6, 'For how long its plan has been running.', 'In picoseconds.'),
	(7, 'Which node of the plan.', ''),
	(8, 'Its type, and what it reads or changes, by which index.', ''),
	(9, 'YES: its call goes on, and no other one inside of it; of nodes that are called often not all calls are looked at.', ''),
	(10, 'How often it was begun by now.', ''),
	(11, 'Rows that it has returned by now.', ''),
	(12, 'The planner''s estimate of those of so many loops.', ''),
	(13, 'Percent of these that it has returned; NULL where it has returned more.', ''),
	(14, 'Time in it alone by now.', 'In picoseconds.'),
	(15, 'Time in waits of it that have ended.', 'In picoseconds.'),
	(16, 'The plan: a hash of its shape.', ''),
	(17, 'PostgreSQL''s query identifier.', ''),
	(18, 'The statement, as in events_statements_current; NULL in a parallel worker.', '')
) c (number, text, plain);

GRANT SELECT ON
	pfs_sys.x$plans,
	pfs_sys.plans,
	pfs_sys.x$statements_with_plan_changes,
	pfs_sys.statements_with_plan_changes,
	pfs_sys.x$plan_nodes,
	pfs_sys.plan_nodes,
	pfs_sys.x$plan_estimates,
	pfs_sys.plan_estimates,
	pfs_sys.x$statement_progress,
	pfs_sys.statement_progress
TO pg_monitor;

-- tools/sql: views ends here
