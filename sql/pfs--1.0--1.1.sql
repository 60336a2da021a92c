/* sql/pfs--1.0--1.1.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.1'" to load this file. \quit

-- An extension that was created by 1.0 belongs to the schema that was current then, and
-- its update script runs with that schema in front.  Nothing of it may be used.
SET LOCAL search_path TO pg_catalog, pg_temp;

--
-- The extension belongs to pg_catalog from now on, which nobody can drop, so that it does
-- not fall with a schema of a user.  ALTER EXTENSION ... SET SCHEMA is only for relocatable
-- extensions.  Dependencies on pg_catalog are not recorded, as the server pins it.  In a
-- new installation this changes nothing.
--

UPDATE pg_extension SET extnamespace = 'pg_catalog'::regnamespace WHERE extname = 'pfs';
DELETE FROM pg_depend
WHERE classid = 'pg_extension'::regclass AND objid = (SELECT oid FROM pg_extension WHERE extname = 'pfs')
	AND refclassid = 'pg_namespace'::regclass;

--
-- The schema of views for people, which come last.
--

CREATE SCHEMA pfs_sys;
COMMENT ON SCHEMA pfs_sys IS 'What the tables of schema pfs say, for people: views as those of MySQL''s sys schema';
GRANT USAGE ON SCHEMA pfs_sys TO pg_monitor;

--
-- The tables: what the lists of columns in src/fdw/tables have and older releases do not.
--

-- tools/sql writes from here

COMMENT ON COLUMN pfs.setup_instruments.properties IS
'idle: it waits for work, not for a resource; contains_waits: its times contain those of other waits; global_statistics: it cannot be switched. Empty otherwise.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event_type IS
'The word of pg_stat_activity.wait_event_type for the same wait; NULL if there is none. No key, as wait_event.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event IS
'The word of pg_stat_activity.wait_event for the same wait; NULL if there is none. No key: some words name several instruments, ClientRead three. What a session waits for is the row of events_waits_current with its thread_id and the highest event_id.';

COMMENT ON COLUMN pfs.setup_actors.host IS
'Numeric client address; [local] for a Unix socket; localhost for [local], 127.0.0.0/8 and ::1, where no rule has the very address; % is any. No pattern.';

CREATE FOREIGN TABLE pfs.setup_objects (
	object_type text DEFAULT 'TABLE',
	database_name text DEFAULT '%',
	object_schema text DEFAULT '%',
	object_name text DEFAULT '%',
	enabled text DEFAULT 'YES',
	timed text DEFAULT 'YES'
) SERVER pfs_server OPTIONS ("table" 'setup_objects');
COMMENT ON FOREIGN TABLE pfs.setup_objects IS
'Rules for tables, functions, procedures and triggers: is one of this database, schema and name instrumented, and timed? Of the rules that match, the most specific one decides: by name before schema before database; without a match it is not instrumented. A change counts for each session from its next statement on. Takes INSERT, UPDATE of enabled and timed, DELETE, and TRUNCATE, which leaves no rule.';
COMMENT ON COLUMN pfs.setup_objects.object_type IS
'TABLE, FUNCTION, PROCEDURE or TRIGGER (a trigger''s function); takes any letter case. Tables are all relations that hold rows: partitions, materialized views and TOAST tables, too.';
COMMENT ON COLUMN pfs.setup_objects.database_name IS
'Its database; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_objects.object_schema IS
'Its schema; pg_temp for the temporary schema of each session and pg_toast also for pg_toast_temp_N, where no rule has the very name; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_objects.object_name IS
'Its name, without arguments: functions that share a name share a rule; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_objects.enabled IS
'Are such objects instrumented? YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.setup_objects.timed IS
'Are their events timed? Without meaning where enabled is NO. YES or NO; takes either in any letter case.';
GRANT SELECT ON pfs.setup_objects TO pg_monitor;

COMMENT ON COLUMN pfs.threads.type IS
'FOREGROUND: client backends, walsenders, and the parallel workers of both. BACKGROUND: all others.';
COMMENT ON COLUMN pfs.threads.parent_thread_id IS
'Of a parallel worker the leader''s thread, of the worker of REPACK the one that executes it; else NULL.';

COMMENT ON COLUMN pfs.probes.mechanism IS
'How pfs gets called. got: by an address in the server''s table of external functions; method_table: by a function in one of the server''s tables of functions; hook: by a variable that the server has for extensions; detour: by a jump that was written over the first instructions of a function. NULL: no call, but something that pfs relies on.';
COMMENT ON COLUMN pfs.probes.status IS
'active, unavailable (something is missing) or off. A hook is active when a call of it was seen.';
COMMENT ON COLUMN pfs.probes.detail IS
'Why it is not active, or what is special about it; of a hook the library that is called before pfs; else NULL.';

COMMENT ON COLUMN pfs.events_waits_current.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions. In events_waits_current, of several rows of a thread, the one with the highest number is what it waits for.';
COMMENT ON COLUMN pfs.events_waits_current.spins IS
'Of a spinlock the number of delays, of an LWLock or a buffer how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_current.object_name IS
'What is waited for: a path below the data directory (of a buffer that of its page''s relation), a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_current.index_name IS
'The index by which rows of a table were accessed; NULL: by none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_current.object_type IS
'FILE, SOCKET, LWLOCK, BUFFER, TABLE, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_current.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks, fetch, insert, update, delete, lock for rows of tables.';
COMMENT ON COLUMN pfs.events_waits_current.number_of_bytes IS
'Bytes that the call moved, or rows of a table; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_current.file_offset IS
'Position in the file in bytes, where the call has one; of a buffer that of its page in the relation.';

COMMENT ON COLUMN pfs.events_waits_history.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions. In events_waits_current, of several rows of a thread, the one with the highest number is what it waits for.';
COMMENT ON COLUMN pfs.events_waits_history.spins IS
'Of a spinlock the number of delays, of an LWLock or a buffer how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_history.object_name IS
'What is waited for: a path below the data directory (of a buffer that of its page''s relation), a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history.index_name IS
'The index by which rows of a table were accessed; NULL: by none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history.object_type IS
'FILE, SOCKET, LWLOCK, BUFFER, TABLE, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_history.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks, fetch, insert, update, delete, lock for rows of tables.';
COMMENT ON COLUMN pfs.events_waits_history.number_of_bytes IS
'Bytes that the call moved, or rows of a table; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_history.file_offset IS
'Position in the file in bytes, where the call has one; of a buffer that of its page in the relation.';

COMMENT ON COLUMN pfs.events_waits_history_long.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions. In events_waits_current, of several rows of a thread, the one with the highest number is what it waits for.';
COMMENT ON COLUMN pfs.events_waits_history_long.spins IS
'Of a spinlock the number of delays, of an LWLock or a buffer how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_name IS
'What is waited for: a path below the data directory (of a buffer that of its page''s relation), a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history_long.index_name IS
'The index by which rows of a table were accessed; NULL: by none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_type IS
'FILE, SOCKET, LWLOCK, BUFFER, TABLE, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_history_long.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks, fetch, insert, update, delete, lock for rows of tables.';
COMMENT ON COLUMN pfs.events_waits_history_long.number_of_bytes IS
'Bytes that the call moved, or rows of a table; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_history_long.file_offset IS
'Position in the file in bytes, where the call has one; of a buffer that of its page in the relation.';

ALTER FOREIGN TABLE pfs.events_statements_current ADD COLUMN plan_origin text;
ALTER FOREIGN TABLE pfs.events_statements_current ADD COLUMN rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_current ADD COLUMN no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_current IS
'Statements that are running now, one row per nesting level, and the queries of open cursors, from DECLARE to CLOSE: at level 1 or deeper, in nothing once DECLARE has ended. A thread shows ten at a time; cursors that nobody reads are left out first. Numbers are filled in at the end. A finished statement is removed. TRUNCATE is accepted and does nothing.';
COMMENT ON COLUMN pfs.events_statements_current.object_type IS
'What it runs in: FUNCTION, PROCEDURE, or TRIGGER for a trigger function. NULL at top level, and where that is not known.';
COMMENT ON COLUMN pfs.events_statements_current.object_schema IS
'Schema of that program; NULL in another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_current.object_name IS
'Its name; the OID of one that is gone, or of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_current.plan_origin IS
'Where its plan comes from: STANDARD (planned for it), GENERIC or CUSTOM (of a prepared statement), INTERNAL. NULL for what has no plan, and before PostgreSQL 19.';
COMMENT ON COLUMN pfs.events_statements_current.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of statements inside it included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_current.no_index_used IS
'1: it read a table by no index, by itself or in a statement inside it; else 0, as while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_history ADD COLUMN plan_origin text;
ALTER FOREIGN TABLE pfs.events_statements_history ADD COLUMN rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_history ADD COLUMN no_index_used bigint;
COMMENT ON COLUMN pfs.events_statements_history.object_type IS
'What it runs in: FUNCTION, PROCEDURE, or TRIGGER for a trigger function. NULL at top level, and where that is not known.';
COMMENT ON COLUMN pfs.events_statements_history.object_schema IS
'Schema of that program; NULL in another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history.object_name IS
'Its name; the OID of one that is gone, or of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history.plan_origin IS
'Where its plan comes from: STANDARD (planned for it), GENERIC or CUSTOM (of a prepared statement), INTERNAL. NULL for what has no plan, and before PostgreSQL 19.';
COMMENT ON COLUMN pfs.events_statements_history.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of statements inside it included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_history.no_index_used IS
'1: it read a table by no index, by itself or in a statement inside it; else 0, as while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_history_long ADD COLUMN plan_origin text;
ALTER FOREIGN TABLE pfs.events_statements_history_long ADD COLUMN rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_history_long ADD COLUMN no_index_used bigint;
COMMENT ON COLUMN pfs.events_statements_history_long.object_type IS
'What it runs in: FUNCTION, PROCEDURE, or TRIGGER for a trigger function. NULL at top level, and where that is not known.';
COMMENT ON COLUMN pfs.events_statements_history_long.object_schema IS
'Schema of that program; NULL in another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history_long.object_name IS
'Its name; the OID of one that is gone, or of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history_long.plan_origin IS
'Where its plan comes from: STANDARD (planned for it), GENERIC or CUSTOM (of a prepared statement), INTERNAL. NULL for what has no plan, and before PostgreSQL 19.';
COMMENT ON COLUMN pfs.events_statements_history_long.rows_examined IS
'Rows fetched from tables, or found by indexes alone, those of statements inside it included; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_history_long.no_index_used IS
'1: it read a table by no index, by itself or in a statement inside it; else 0, as while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_thread_by_event_name IS
'Counts and times of waits by event name, by living thread. TRUNCATE moves the counters into their accounts.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_account_by_event_name IS
'Counts and times of waits by event name, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_user_by_event_name IS
'Counts and times of waits by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_host_by_event_name IS
'Counts and times of waits by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

COMMENT ON COLUMN pfs.events_waits_histogram_global.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_thread_by_event_name IS
'Counts and times of stages by event name, by living thread. TRUNCATE moves the counters into their accounts.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_account_by_event_name IS
'Counts and times of stages by event name, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_user_by_event_name IS
'Counts and times of stages by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_host_by_event_name IS
'Counts and times of stages by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';

ALTER FOREIGN TABLE pfs.events_statements_summary_global_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_global_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_thread_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_thread_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_thread_by_event_name IS
'Counts and times of statements by event name, by living thread. TRUNCATE moves the counters into their accounts.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_account_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_account_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_account_by_event_name IS
'Counts and times of statements by event name, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name IS
'Counts and times of statements by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name IS
'Counts and times of statements by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_number IS
'Number of the range, from 0; four for each doubling of the time.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_timer_low IS
'Its lower bound, in picoseconds, included.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_timer_high IS
'Its upper bound, in picoseconds, not included: 1.19 times the lower one. NULL: none.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.count_bucket IS
'Statements that took so long.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.count_bucket_and_lower IS
'Statements that took so long or less.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_quantile IS
'The same as a part of all timed statements, 0 to 1.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_digest ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_digest ADD COLUMN sum_no_index_used bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_digest ADD COLUMN sum_generic_plans bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_digest ADD COLUMN sum_custom_plans bigint;
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_generic_plans IS
'Executions of a generic plan, as pg_stat_statements.generic_plan_calls. NULL before PostgreSQL 19.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_custom_plans IS
'Executions of a custom plan, as pg_stat_statements.custom_plan_calls. NULL before PostgreSQL 19.';

COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_number IS
'Number of the range, from 0; four for each doubling of the time.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_timer_low IS
'Its lower bound, in picoseconds, included.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_timer_high IS
'Its upper bound, in picoseconds, not included: 1.19 times the lower one. NULL: none.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.count_bucket IS
'Statements that took so long.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.count_bucket_and_lower IS
'Statements that took so long or less.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_quantile IS
'The same as a part of all timed statements of this shape, 0 to 1.';

COMMENT ON COLUMN pfs.events_waits_summary_by_digest.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_program (
	object_type text,
	database_name text,
	object_schema text,
	object_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_statements bigint,
	sum_statements_wait numeric,
	min_statements_wait numeric,
	avg_statements_wait numeric,
	max_statements_wait numeric,
	sum_lock_time numeric,
	sum_plan_time numeric,
	sum_exec_time numeric,
	sum_cpu_time numeric,
	sum_errors bigint,
	sum_warnings bigint,
	sum_rows_affected bigint,
	sum_rows_sent bigint,
	sum_shared_blks_hit bigint,
	sum_shared_blks_read bigint,
	sum_shared_blks_dirtied bigint,
	sum_shared_blks_written bigint,
	sum_local_blks_read bigint,
	sum_local_blks_written bigint,
	sum_temp_blks_read bigint,
	sum_temp_blks_written bigint,
	sum_wal_records bigint,
	sum_wal_fpi bigint,
	sum_wal_bytes numeric,
	sum_parallel_workers bigint,
	max_total_memory bigint,
	sum_rows_examined bigint,
	sum_no_index_used bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_program');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_program IS
'Calls of programs, and the statements that ran in them: functions, procedures and trigger functions of PL/pgSQL, and procedures of any language that CALL has called. TRUNCATE zeroes it.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.object_type IS
'FUNCTION, PROCEDURE, or TRIGGER for a function of triggers or event triggers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.database_name IS
'Database that it is in.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.object_schema IS
'Schema that it is in; NULL for one of another database than the reader''s.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.object_name IS
'Its name; the OID for one of another database.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.count_star IS
'Calls that are over, failed ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.count_statements IS
'Statements in it; those of a program that it has called are that one''s.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_statements_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.min_statements_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.avg_statements_wait IS
'Average of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.max_statements_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_program.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';
GRANT SELECT ON pfs.events_statements_summary_by_program TO pg_monitor;

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_thread_by_event_name IS
'Counts and times of transactions by event name, by living thread. TRUNCATE moves the counters into their accounts.';

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_account_by_event_name IS
'Counts and times of transactions by event name, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_user_by_event_name IS
'Counts and times of transactions by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_host_by_event_name IS
'Counts and times of transactions by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';

COMMENT ON COLUMN pfs.accounts.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.accounts.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';

COMMENT ON COLUMN pfs.users.user_name IS
'The authenticated role; NULL for background processes.';

COMMENT ON COLUMN pfs.hosts.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';

COMMENT ON COLUMN pfs.file_summary_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_misc IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_misc IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_misc IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_misc IS
'Longest of their times, in picoseconds.';

COMMENT ON COLUMN pfs.file_summary_by_instance.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_misc IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_misc IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_misc IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_misc IS
'Longest of their times, in picoseconds.';

COMMENT ON COLUMN pfs.events_waits_summary_by_instance.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.table_io_waits_summary_by_table (
	object_type text,
	database_name text,
	object_schema text,
	object_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read bigint,
	sum_timer_read numeric,
	min_timer_read numeric,
	avg_timer_read numeric,
	max_timer_read numeric,
	count_write bigint,
	sum_timer_write numeric,
	min_timer_write numeric,
	avg_timer_write numeric,
	max_timer_write numeric,
	count_fetch bigint,
	sum_timer_fetch numeric,
	min_timer_fetch numeric,
	avg_timer_fetch numeric,
	max_timer_fetch numeric,
	count_insert bigint,
	sum_timer_insert numeric,
	min_timer_insert numeric,
	avg_timer_insert numeric,
	max_timer_insert numeric,
	count_update bigint,
	sum_timer_update numeric,
	min_timer_update numeric,
	avg_timer_update numeric,
	max_timer_update numeric,
	count_delete bigint,
	sum_timer_delete numeric,
	min_timer_delete numeric,
	avg_timer_delete numeric,
	max_timer_delete numeric
) SERVER pfs_server OPTIONS ("table" 'table_io_waits_summary_by_table');
COMMENT ON FOREIGN TABLE pfs.table_io_waits_summary_by_table IS
'Rows that were fetched, inserted, updated, deleted and locked, by table, and the times of these accesses. A row is counted when its scan or command has ended. A time covers what the access method of the table or the index does for the row, waits included; rows of a page that is at hand are counted and not timed. A table that is dropped loses its row.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.object_type IS
'TABLE.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.database_name IS
'Database of the table; NULL: all databases share it.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.object_schema IS
'Schema of the table; NULL: it is of another database.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.object_name IS
'Name of the table; its OID if it is of another database.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_star IS
'Number of rows of all operations.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_read IS
'Number of rows that were fetched or locked.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_write IS
'Number of rows that were inserted, updated or deleted.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_fetch IS
'Number of rows that were fetched: as pg_stat_all_tables.seq_tup_read + idx_tup_fetch.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_fetch IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_fetch IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_fetch IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_fetch IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_insert IS
'Number of rows that were inserted: as pg_stat_all_tables.n_tup_ins.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_insert IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_insert IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_insert IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_insert IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_update IS
'Number of rows that were updated.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_update IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_update IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_update IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_update IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.count_delete IS
'Number of rows that were deleted.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.sum_timer_delete IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.min_timer_delete IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.avg_timer_delete IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_table.max_timer_delete IS
'Longest of their times, in picoseconds.';
GRANT SELECT ON pfs.table_io_waits_summary_by_table TO pg_monitor;

CREATE FOREIGN TABLE pfs.table_io_waits_summary_by_index_usage (
	object_type text,
	database_name text,
	object_schema text,
	object_name text,
	index_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read bigint,
	sum_timer_read numeric,
	min_timer_read numeric,
	avg_timer_read numeric,
	max_timer_read numeric,
	count_write bigint,
	sum_timer_write numeric,
	min_timer_write numeric,
	avg_timer_write numeric,
	max_timer_write numeric,
	count_fetch bigint,
	sum_timer_fetch numeric,
	min_timer_fetch numeric,
	avg_timer_fetch numeric,
	max_timer_fetch numeric,
	count_insert bigint,
	sum_timer_insert numeric,
	min_timer_insert numeric,
	avg_timer_insert numeric,
	max_timer_insert numeric,
	count_update bigint,
	sum_timer_update numeric,
	min_timer_update numeric,
	avg_timer_update numeric,
	max_timer_update numeric,
	count_delete bigint,
	sum_timer_delete numeric,
	min_timer_delete numeric,
	avg_timer_delete numeric,
	max_timer_delete numeric
) SERVER pfs_server OPTIONS ("table" 'table_io_waits_summary_by_index_usage');
COMMENT ON FOREIGN TABLE pfs.table_io_waits_summary_by_index_usage IS
'Rows that were accessed by each index, or by none, and the times of these accesses. An index without a row was not used since the last reset.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.object_type IS
'TABLE.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.database_name IS
'Database of the table; NULL: all databases share it.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.object_schema IS
'Schema of the table; NULL: it is of another database.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.object_name IS
'Name of the table; its OID if it is of another database.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.index_name IS
'Name of the index, its OID if it is of another database; NULL: by no index.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_star IS
'Number of rows of all operations.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_read IS
'Number of rows that were fetched or locked.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_write IS
'Number of rows that were inserted, updated or deleted.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_fetch IS
'Number of rows that the index found: as pg_stat_all_indexes.idx_tup_read; without an index those of sequential scans.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_fetch IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_fetch IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_fetch IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_fetch IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_insert IS
'Number of entries that were made in the index; without an index rows of the table.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_insert IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_insert IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_insert IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_insert IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_update IS
'Number of rows that were updated.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_update IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_update IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_update IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_update IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.count_delete IS
'Number of rows that were deleted.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.sum_timer_delete IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.min_timer_delete IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.avg_timer_delete IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_index_usage.max_timer_delete IS
'Longest of their times, in picoseconds.';
GRANT SELECT ON pfs.table_io_waits_summary_by_index_usage TO pg_monitor;

CREATE FOREIGN TABLE pfs.table_lock_waits_summary_by_table (
	object_type text,
	database_name text,
	object_schema text,
	object_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_access_share bigint,
	sum_timer_access_share numeric,
	min_timer_access_share numeric,
	avg_timer_access_share numeric,
	max_timer_access_share numeric,
	count_row_share bigint,
	sum_timer_row_share numeric,
	min_timer_row_share numeric,
	avg_timer_row_share numeric,
	max_timer_row_share numeric,
	count_row_exclusive bigint,
	sum_timer_row_exclusive numeric,
	min_timer_row_exclusive numeric,
	avg_timer_row_exclusive numeric,
	max_timer_row_exclusive numeric,
	count_share_update_exclusive bigint,
	sum_timer_share_update_exclusive numeric,
	min_timer_share_update_exclusive numeric,
	avg_timer_share_update_exclusive numeric,
	max_timer_share_update_exclusive numeric,
	count_share bigint,
	sum_timer_share numeric,
	min_timer_share numeric,
	avg_timer_share numeric,
	max_timer_share numeric,
	count_share_row_exclusive bigint,
	sum_timer_share_row_exclusive numeric,
	min_timer_share_row_exclusive numeric,
	avg_timer_share_row_exclusive numeric,
	max_timer_share_row_exclusive numeric,
	count_exclusive bigint,
	sum_timer_exclusive numeric,
	min_timer_exclusive numeric,
	avg_timer_exclusive numeric,
	max_timer_exclusive numeric,
	count_access_exclusive bigint,
	sum_timer_access_exclusive numeric,
	min_timer_access_exclusive numeric,
	avg_timer_access_exclusive numeric,
	max_timer_access_exclusive numeric
) SERVER pfs_server OPTIONS ("table" 'table_lock_waits_summary_by_table');
COMMENT ON FOREIGN TABLE pfs.table_lock_waits_summary_by_table IS
'Waits for heavyweight locks on tables, by lock mode. A table that is dropped loses its row.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.object_type IS
'TABLE.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.database_name IS
'Database of the table; NULL: all databases share it.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.object_schema IS
'Schema of the table; NULL: it is of another database.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.object_name IS
'Name of the table; its OID if it is of another database.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_star IS
'Number of waits for locks on the table.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_access_share IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_access_share IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_access_share IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_access_share IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_access_share IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_row_share IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_row_share IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_row_share IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_row_share IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_row_share IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_row_exclusive IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_row_exclusive IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_row_exclusive IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_row_exclusive IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_row_exclusive IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_share_update_exclusive IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_share_update_exclusive IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_share_update_exclusive IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_share_update_exclusive IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_share_update_exclusive IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_share IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_share IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_share IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_share IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_share IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_share_row_exclusive IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_share_row_exclusive IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_share_row_exclusive IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_share_row_exclusive IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_share_row_exclusive IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_exclusive IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_exclusive IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_exclusive IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_exclusive IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_exclusive IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.count_access_exclusive IS
'Number of waits for a lock in this mode.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.sum_timer_access_exclusive IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.min_timer_access_exclusive IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.avg_timer_access_exclusive IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_lock_waits_summary_by_table.max_timer_access_exclusive IS
'Longest of their times, in picoseconds.';
GRANT SELECT ON pfs.table_lock_waits_summary_by_table TO pg_monitor;

CREATE FOREIGN TABLE pfs.objects_summary_global_by_type (
	object_type text,
	database_name text,
	object_schema text,
	object_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'objects_summary_global_by_type');
COMMENT ON FOREIGN TABLE pfs.objects_summary_global_by_type IS
'Accesses to rows and waits for locks by table, and calls by program: what table_io_waits_summary_by_table, table_lock_waits_summary_by_table and events_statements_summary_by_program show by themselves. An object that is dropped loses its row.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.object_type IS
'TABLE, FUNCTION, PROCEDURE, or TRIGGER for a function of triggers or event triggers.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.database_name IS
'Database of the object; NULL: all databases share it.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.object_schema IS
'Schema of the object; NULL: it is of another database.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.object_name IS
'Name of the object; its OID if it is of another database.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.count_star IS
'Of a table, rows that were accessed and waits for locks; of a program, calls.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.objects_summary_global_by_type.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
GRANT SELECT ON pfs.objects_summary_global_by_type TO pg_monitor;

COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_misc IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_misc IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_misc IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_misc IS
'Longest of their times, in picoseconds.';

COMMENT ON COLUMN pfs.socket_summary_by_instance.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_misc IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_misc IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_misc IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_misc IS
'Longest of their times, in picoseconds.';

COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_thread_by_error IS
'Errors by SQLSTATE and severity, by living thread. TRUNCATE moves the counters into their accounts.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_account_by_error IS
'Errors by SQLSTATE and severity, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_user_by_error IS
'Errors by SQLSTATE and severity, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_host_by_error IS
'Errors by SQLSTATE and severity, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';

CREATE FOREIGN TABLE pfs.load_history (
	period_start timestamp with time zone,
	period_end timestamp with time zone,
	resolution interval,
	type text,
	wait_event_type text,
	event_name text,
	database_name text,
	user_name text,
	query_id bigint,
	digest_text text,
	count_star bigint,
	sum_timer_wait numeric,
	active_sessions double precision,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'load_history');
COMMENT ON FOREIGN TABLE pfs.load_history IS
'The load of the server over time, exact, in three resolutions: what time statements spent in each kind of wait, or on the processor, in each period, those that were running included. The 32 largest rows of each period, and what is left of each type. TRUNCATE removes all periods.';
COMMENT ON COLUMN pfs.load_history.period_start IS
'When the period began, by the wall clock.';
COMMENT ON COLUMN pfs.load_history.period_end IS
'When it ended. The next one of the same resolution begins here, unless the recorder did not run, or the clock was set.';
COMMENT ON COLUMN pfs.load_history.resolution IS
'How long a period should be: pfs.load_history_interval, a minute, or ten minutes. The same load is in each resolution: ask for one of them.';
COMMENT ON COLUMN pfs.load_history.type IS
'FOREGROUND: inside statements, those of parallel workers too; BACKGROUND: waits for a resource outside of statements.';
COMMENT ON COLUMN pfs.load_history.wait_event_type IS
'As in pg_stat_activity; also Spin; CPU: time of statements less the waits in them; Idle in transaction, which is no active session.';
COMMENT ON COLUMN pfs.load_history.event_name IS
'Name of the instrument, as in setup_instruments; cpu. NULL, with all up to digest_text: the remainder of this type and wait_event_type, all but the period''s 32 largest rows. That of CPU is always there.';
COMMENT ON COLUMN pfs.load_history.database_name IS
'Database of the statement.';
COMMENT ON COLUMN pfs.load_history.user_name IS
'Role in effect when the statement started.';
COMMENT ON COLUMN pfs.load_history.query_id IS
'The server''s query identifier, as in events_statements_summary_by_digest; NULL with a database: of statements that are not counted apart. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.load_history.digest_text IS
'Text with parameters for its constants, without secrets. NULL: not known, or 4,096 others were named by the history since. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.load_history.count_star IS
'Events that ended in the period; of CPU: statements.';
COMMENT ON COLUMN pfs.load_history.sum_timer_wait IS
'Time spent in the period, that of events which go on included, in picoseconds.';
COMMENT ON COLUMN pfs.load_history.active_sessions IS
'Sessions that spent their time so, as a mean over the period: sum_timer_wait by the period''s length.';
COMMENT ON COLUMN pfs.load_history.max_timer_wait IS
'The longest of these events that was going on when the period ended, its length until then, in picoseconds; 0: none.';
GRANT SELECT ON pfs.load_history TO pg_monitor;

-- tools/sql ends here

--
-- Rules of setup_objects where UPDATE and INSERT are not allowed.  Like those of
-- setup_actors, the functions are for superusers until somebody grants them.
--

CREATE FUNCTION pfs.set_object(object_type text, database_name text, object_schema text, object_name text, enabled text DEFAULT 'YES', timed text DEFAULT 'YES') RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_object'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_object(text, text, text, text, text, text) IS
'Insert the rule of setup_objects for these objects, or update the one that is there. Returns 1.';
REVOKE ALL ON FUNCTION pfs.set_object(text, text, text, text, text, text) FROM PUBLIC;

CREATE FUNCTION pfs.drop_object(object_type text, database_name text, object_schema text, object_name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_drop_object'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.drop_object(text, text, text, text) IS
'Delete the rule of setup_objects for these objects. Returns the number of rules that matched.';
REVOKE ALL ON FUNCTION pfs.drop_object(text, text, text, text) FROM PUBLIC;

--
-- What the load history says, for people.  The bodies are parsed here, so that nothing of a
-- user's search path is in them.
--

CREATE FUNCTION pfs_sys.load_periods(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now(),
	OUT period_start timestamptz, OUT period_end timestamptz, OUT resolution interval, OUT length numeric) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'pfs_load_periods'
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION pfs_sys.load_periods(timestamptz, timestamptz) IS
'The periods of load_history that tell of this time, without overlaps: those of the finest resolution that still covers it, and of finer ones for what that has not yet. length: by the timer, in picoseconds.';

CREATE FUNCTION pfs_sys.load(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now(), bucket interval DEFAULT NULL)
RETURNS TABLE (period_start timestamptz, period_end timestamptz, active_sessions numeric, cpu numeric, lwlock numeric, lock numeric,
	io numeric, client numeric, ipc numeric, buffer numeric, timeout numeric, extension numeric, spin numeric,
	idle_in_transaction numeric, background numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 60
BEGIN ATOMIC
WITH periods AS MATERIALIZED (
	SELECT p.period_start, p.period_end, p.resolution, p.length FROM pfs_sys.load_periods(since, till) p
), step AS MATERIALIZED (
	-- about 60 rows, and none without a period
	SELECT coalesce(bucket, (
		SELECT min(s) FROM unnest('{1s,2s,5s,10s,15s,20s,30s,1min,2min,5min,10min,15min,20min,30min,1h,2h,3h,4h,6h,8h,12h,1d,2d}'::interval[]) s
		WHERE s >= greatest((till - since) / 60, (SELECT max(p.resolution) FROM periods p))
	), '7 days') AS step
), bins AS (
	SELECT date_bin(step, p.period_start, make_timestamptz(2001, 1, 1, 0, 0, 0)) AS bin,
		min(p.period_start) AS period_start, max(p.period_end) AS period_end, sum(p.length) AS length
	FROM periods p, step
	GROUP BY 1
), loads AS (
	SELECT date_bin(step, p.period_start, make_timestamptz(2001, 1, 1, 0, 0, 0)) AS bin,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type <> 'Idle in transaction') AS active,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'CPU') AS cpu,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'LWLock') AS lwlock,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'Lock') AS lock,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'IO') AS io,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'Client') AS client,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'IPC') AS ipc,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type IN ('BufferPin', 'Buffer')) AS buffer,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'Timeout') AS timeout,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'Extension') AS extension,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'FOREGROUND' AND h.wait_event_type = 'Spin') AS spin,
		sum(h.sum_timer_wait) FILTER (WHERE h.wait_event_type = 'Idle in transaction') AS idle_in_transaction,
		sum(h.sum_timer_wait) FILTER (WHERE h.type = 'BACKGROUND') AS background
	FROM pfs.load_history h JOIN periods p USING (period_start, period_end, resolution), step
	WHERE h.period_start < till AND h.period_end > since
	GROUP BY 1
)
SELECT b.period_start, b.period_end,
	round(coalesce(l.active / nullif(b.length, 0), 0), 3),
	round(coalesce(l.cpu / nullif(b.length, 0), 0), 3),
	round(coalesce(l.lwlock / nullif(b.length, 0), 0), 3),
	round(coalesce(l.lock / nullif(b.length, 0), 0), 3),
	round(coalesce(l.io / nullif(b.length, 0), 0), 3),
	round(coalesce(l.client / nullif(b.length, 0), 0), 3),
	round(coalesce(l.ipc / nullif(b.length, 0), 0), 3),
	round(coalesce(l.buffer / nullif(b.length, 0), 0), 3),
	round(coalesce(l.timeout / nullif(b.length, 0), 0), 3),
	round(coalesce(l.extension / nullif(b.length, 0), 0), 3),
	round(coalesce(l.spin / nullif(b.length, 0), 0), 3),
	round(coalesce(l.idle_in_transaction / nullif(b.length, 0), 0), 3),
	round(coalesce(l.background / nullif(b.length, 0), 0), 3)
FROM bins b LEFT JOIN loads l USING (bin)
ORDER BY bin;
END;
COMMENT ON FUNCTION pfs_sys.load(timestamptz, timestamptz, interval) IS
'Active sessions over time, by what they did: on the processor or in which type of wait. Sessions idle in transaction and waits outside of statements are not among active_sessions. bucket: the time of a row; NULL: about 60 rows.';

CREATE FUNCTION pfs_sys.top_waits(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now())
RETURNS TABLE (type text, wait_event_type text, event_name text, active_sessions numeric, percent numeric, count_star numeric, sum_timer_wait numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 40
BEGIN ATOMIC
WITH periods AS MATERIALIZED (
	SELECT p.period_start, p.period_end, p.resolution, p.length FROM pfs_sys.load_periods(since, till) p
), loads AS (
	SELECT h.type, h.wait_event_type, h.event_name, sum(h.count_star) AS count_star, sum(h.sum_timer_wait) AS time,
		h.type = 'FOREGROUND' AND h.wait_event_type <> 'Idle in transaction' AS is_active
	FROM pfs.load_history h JOIN periods p USING (period_start, period_end, resolution)
	WHERE h.period_start < till AND h.period_end > since
	GROUP BY 1, 2, 3
)
SELECT l.type, l.wait_event_type, l.event_name,
	round(l.time / (SELECT nullif(sum(p.length), 0) FROM periods p), 3),
	CASE WHEN l.is_active THEN round(100 * l.time / nullif(sum(l.time) FILTER (WHERE l.is_active) OVER (), 0), 1) END,
	l.count_star, l.time
FROM loads l
WHERE l.time > 0 OR l.count_star > 0
ORDER BY l.is_active DESC, l.time DESC, l.type COLLATE "C", l.wait_event_type COLLATE "C", l.event_name COLLATE "C";
END;
COMMENT ON FUNCTION pfs_sys.top_waits(timestamptz, timestamptz) IS
'What sessions spent their time on: waits and CPU, the largest first; event_name NULL: all others of the type. percent: of the active sessions, those idle in transaction and waits outside of statements come behind, without.';

CREATE FUNCTION pfs_sys.top_statements(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now())
RETURNS TABLE (database_name text, user_name text, query_id bigint, digest_text text, active_sessions numeric, percent numeric,
	count_star numeric, sum_timer_wait numeric, waits text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
WITH periods AS MATERIALIZED (
	SELECT p.period_start, p.period_end, p.resolution, p.length FROM pfs_sys.load_periods(since, till) p
), loads AS (
	SELECT h.database_name, h.user_name, h.query_id, h.wait_event_type, h.event_name, max(h.digest_text) AS digest_text,
		sum(h.count_star) AS count_star, sum(h.sum_timer_wait) AS time
	FROM pfs.load_history h JOIN periods p USING (period_start, period_end, resolution)
	WHERE h.period_start < till AND h.period_end > since AND h.type = 'FOREGROUND' AND h.wait_event_type <> 'Idle in transaction'
	GROUP BY 1, 2, 3, 4, 5
), ranked AS (
	SELECT l.*, sum(l.time) OVER statement AS all_time,
		row_number() OVER (PARTITION BY l.database_name, l.user_name, l.query_id ORDER BY l.time DESC, l.event_name COLLATE "C", l.wait_event_type COLLATE "C") AS rank
	FROM loads l
	WINDOW statement AS (PARTITION BY l.database_name, l.user_name, l.query_id)
), statements AS (
	SELECT r.database_name, r.user_name, r.query_id, max(r.digest_text) AS digest_text,
		sum(r.count_star) FILTER (WHERE r.wait_event_type = 'CPU') AS count_star, sum(r.time) AS time,
		string_agg(coalesce(r.event_name, r.wait_event_type) || ' ' || round(100 * r.time / nullif(r.all_time, 0)) || ' %', ', ' ORDER BY r.rank)
			FILTER (WHERE r.rank <= 5 AND r.time > 0) AS waits
	FROM ranked r
	GROUP BY 1, 2, 3
)
SELECT s.database_name, s.user_name, s.query_id, s.digest_text,
	round(s.time / (SELECT nullif(sum(p.length), 0) FROM periods p), 3),
	round(100 * s.time / nullif(sum(s.time) OVER (), 0), 1),
	s.count_star, s.time, s.waits
FROM statements s
WHERE s.time > 0 OR s.count_star > 0
ORDER BY s.time DESC, s.database_name COLLATE "C", s.user_name COLLATE "C", s.query_id;
END;
COMMENT ON FUNCTION pfs_sys.top_statements(timestamptz, timestamptz) IS
'The statements that made the load, the largest first, each with what it did: cpu and its largest waits. All NULL up to digest_text: what was not among the largest of its period. count_star: statements that ended.';

CREATE FUNCTION pfs_sys.top_users(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now())
RETURNS TABLE (user_name text, database_name text, active_sessions numeric, percent numeric, count_star numeric, sum_timer_wait numeric,
	idle_in_transaction numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
WITH periods AS MATERIALIZED (
	SELECT p.period_start, p.period_end, p.resolution, p.length FROM pfs_sys.load_periods(since, till) p
), loads AS (
	SELECT h.user_name, h.database_name,
		sum(h.count_star) FILTER (WHERE h.wait_event_type = 'CPU') AS count_star,
		coalesce(sum(h.sum_timer_wait) FILTER (WHERE h.wait_event_type <> 'Idle in transaction'), 0) AS time,
		coalesce(sum(h.sum_timer_wait) FILTER (WHERE h.wait_event_type = 'Idle in transaction'), 0) AS idle
	FROM pfs.load_history h JOIN periods p USING (period_start, period_end, resolution)
	WHERE h.period_start < till AND h.period_end > since AND h.type = 'FOREGROUND'
	GROUP BY 1, 2
)
SELECT l.user_name, l.database_name,
	round(l.time / (SELECT nullif(sum(p.length), 0) FROM periods p), 3),
	round(100 * l.time / nullif(sum(l.time) OVER (), 0), 1),
	l.count_star, l.time,
	round(l.idle / (SELECT nullif(sum(p.length), 0) FROM periods p), 3)
FROM loads l
WHERE l.time > 0 OR l.idle > 0 OR l.count_star > 0
ORDER BY l.time DESC, l.idle DESC, l.user_name COLLATE "C", l.database_name COLLATE "C";
END;
COMMENT ON FUNCTION pfs_sys.top_users(timestamptz, timestamptz) IS
'Whose statements made the load, by user and database, the largest first. NULL: what was not among the largest of its period. idle_in_transaction: sessions, as a mean.';

CREATE FUNCTION pfs_sys.what_happened(since timestamptz DEFAULT now() - '1 hour'::interval, till timestamptz DEFAULT now())
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
WITH periods AS MATERIALIZED (
	SELECT p.period_start, p.period_end, p.resolution, p.length FROM pfs_sys.load_periods(since, till) p
), covered AS MATERIALIZED (
	SELECT min(p.period_start) AS first, max(p.period_end) AS last, sum(p.length) AS length, max(p.resolution) AS resolution FROM periods p
), loads AS MATERIALIZED (
	SELECT h.*, p.length, h.type = 'FOREGROUND' AND h.wait_event_type <> 'Idle in transaction' AS is_active
	FROM pfs.load_history h JOIN periods p USING (period_start, period_end, resolution)
	WHERE h.period_start < till AND h.period_end > since
), means AS MATERIALIZED (
	SELECT coalesce(sum(l.sum_timer_wait) FILTER (WHERE l.is_active), 0) AS active,
		coalesce(sum(l.sum_timer_wait) FILTER (WHERE l.wait_event_type = 'Idle in transaction'), 0) AS idle,
		coalesce(sum(l.sum_timer_wait) FILTER (WHERE l.type = 'BACKGROUND'), 0) AS background
	FROM loads l
), peak AS (
	SELECT l.period_start, l.period_end, sum(l.sum_timer_wait) / max(l.length) AS sessions
	FROM loads l
	WHERE l.is_active AND l.length > 0
	GROUP BY 1, 2
	ORDER BY 3 DESC, 1 LIMIT 1
), lines AS (
	SELECT 1 AS part, 1::bigint AS n, format('%s to %s, %s recorded in periods of %s', date_trunc('second', c.first), date_trunc('second', c.last),
		make_interval(secs => round(c.length / 1000000000000)::float8), c.resolution) AS line
	FROM covered c
	UNION ALL
	SELECT 2, 1, format('active sessions: %s on average, %s at the peak, %s to %s', round(m.active / nullif(c.length, 0), 2),
		round(p.sessions, 2), date_trunc('second', p.period_start), date_trunc('second', p.period_end))
	FROM covered c, means m, peak p
	UNION ALL
	SELECT 2, 2, format('besides: %s idle in transaction, %s waiting in the background', round(m.idle / nullif(c.length, 0), 2),
		round(m.background / nullif(c.length, 0), 2))
	FROM covered c, means m
	UNION ALL
	SELECT 3, 0, chr(10) || '  sessions   share  waits'
	UNION ALL
	(SELECT 3, row_number() OVER (ORDER BY sum(l.sum_timer_wait) DESC, l.event_name COLLATE "C"),
		format('%10s %5s %%  %s', round(sum(l.sum_timer_wait) / nullif(max(c.length), 0), 2),
			round(100 * sum(l.sum_timer_wait) / nullif(max(m.active), 0), 1), coalesce(l.event_name, 'other ' || l.wait_event_type))
	FROM loads l, covered c, means m
	WHERE l.is_active
	GROUP BY l.wait_event_type, l.event_name
	HAVING sum(l.sum_timer_wait) > 0
	ORDER BY 2 LIMIT 5)
	UNION ALL
	SELECT 4, 0, chr(10) || '  sessions   share  statements'
	UNION ALL
	(SELECT 4, row_number() OVER (ORDER BY sum(l.sum_timer_wait) DESC, l.query_id),
		format('%10s %5s %%  %s', round(sum(l.sum_timer_wait) / nullif(max(c.length), 0), 2),
			round(100 * sum(l.sum_timer_wait) / nullif(max(m.active), 0), 1),
			left(coalesce(regexp_replace(max(l.digest_text), '[[:space:]]+', ' ', 'g'), 'query_id ' || l.query_id,
				CASE WHEN l.user_name IS NULL THEN 'others' ELSE 'others of ' || l.user_name END), 60))
	FROM loads l, covered c, means m
	WHERE l.is_active
	GROUP BY l.database_name, l.user_name, l.query_id
	HAVING sum(l.sum_timer_wait) > 0
	ORDER BY 2 LIMIT 5)
	UNION ALL
	SELECT 5, 0, chr(10) || '    waited      until           longest lock waits'
	UNION ALL
	(SELECT 5, row_number() OVER (ORDER BY w.max_timer_wait DESC, w.period_end),
		format('%10s  %s  %s', pfs.format_time(w.max_timer_wait), to_char(w.period_end, 'MM-DD HH24:MI:SS'),
			left(w.event_name || ' ' || coalesce(regexp_replace(w.digest_text, '[[:space:]]+', ' ', 'g'), 'query_id ' || w.query_id, 'others'), 52))
	FROM (
		-- of each statement the period in which it had waited longest
		SELECT DISTINCT ON (l.event_name, l.database_name, l.user_name, l.query_id) l.*
		FROM loads l
		WHERE l.is_active AND l.wait_event_type = 'Lock' AND l.max_timer_wait > 0
		ORDER BY l.event_name, l.database_name, l.user_name, l.query_id, l.max_timer_wait DESC, l.period_end
	) w
	ORDER BY 2 LIMIT 3)
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM periods) THEN format('no load was recorded between %s and %s', date_trunc('second', since), date_trunc('second', till))
	ELSE (
		SELECT string_agg(l.line, chr(10) ORDER BY l.part, l.n) FROM lines l
		-- a heading stands above something
		WHERE l.n > 0 OR EXISTS (SELECT FROM lines o WHERE o.part = l.part AND o.n > 0)
	) END;
END;
COMMENT ON FUNCTION pfs_sys.what_happened(timestamptz, timestamptz) IS
'What happened in this time, on one screen: the load and its peak, the top waits, the top statements, the longest lock waits.';

REVOKE ALL ON FUNCTION pfs_sys.load_periods(timestamptz, timestamptz), pfs_sys.load(timestamptz, timestamptz, interval),
	pfs_sys.top_waits(timestamptz, timestamptz), pfs_sys.top_statements(timestamptz, timestamptz),
	pfs_sys.top_users(timestamptz, timestamptz), pfs_sys.what_happened(timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pfs_sys.load_periods(timestamptz, timestamptz), pfs_sys.load(timestamptz, timestamptz, interval),
	pfs_sys.top_waits(timestamptz, timestamptz), pfs_sys.top_statements(timestamptz, timestamptz),
	pfs_sys.top_users(timestamptz, timestamptz), pfs_sys.what_happened(timestamptz, timestamptz) TO pg_monitor;

--
-- The views that use operators and functions, with their text of 1.0.  1.0 resolved it with
-- the current schema in the search path, where an operator or function that fits its
-- arguments better than the one of pg_catalog was taken.  Other views, defaults of columns
-- and defaults of arguments hold nothing that could be taken from elsewhere.
--
-- No literal has a backslash, which would mean something else where a database has
-- standard_conforming_strings off: the whole script is read before its first statement.
--

CREATE OR REPLACE VIEW pfs.file_summary_by_relation AS
WITH files AS (
	SELECT
		CASE
			WHEN path IS NOT NULL THEN CASE WHEN path[4] IS NULL THEN 'relation' ELSE 'temporary' END
			WHEN file_name ~ 'pgsql_tmp' THEN 'temporary'
			WHEN file_name ~ '^pg_wal/' THEN 'WAL'
			WHEN file_name ~ '^pg_(xact|multixact|subtrans|commit_ts|serial|notify)/' THEN 'SLRU'
			ELSE 'other'
		END AS kind,
		CASE
			WHEN file_name LIKE 'global/%' THEN 1664
			WHEN file_name LIKE 'base/%' THEN 1663
			ELSE substring(file_name FROM '^pg_tblspc/([0-9]+)/')::bigint
		END AS tablespace,
		coalesce(path[2], path[3])::bigint AS database,
		path[5]::bigint AS filenode,
		s.*
	FROM pfs.file_summary_by_instance s,
		-- 2, 3: database; 4: of a session's temporary relation; 5: number of the file
		LATERAL regexp_match(file_name,
			'^(global|base/([0-9]+)|pg_tblspc/[0-9]+/PG_[^/]+/([0-9]+))/(t[0-9]+_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:[.][0-9]+)?$') AS path
), sums AS (
	-- How many of a part's calls were timed is in no column: it is sum / average.
	SELECT
		tablespace, database, filenode, kind,
		CASE kind
			WHEN 'SLRU' THEN split_part(file_name, '/', 1)
			WHEN 'other' THEN file_name
		END AS name,
		sum(count_star)::bigint AS count_star,
		sum(count_timed)::bigint AS count_timed,
		sum(sum_timer_wait) AS sum_timer_wait,
		coalesce(min(min_timer_wait) FILTER (WHERE count_timed > 0), 0) AS min_timer_wait,
		coalesce(trunc(sum(sum_timer_wait) / nullif(sum(count_timed), 0)), 0) AS avg_timer_wait,
		max(max_timer_wait) AS max_timer_wait,
		sum(count_read)::bigint AS count_read,
		sum(sum_timer_read) AS sum_timer_read,
		coalesce(min(min_timer_read) FILTER (WHERE sum_timer_read > 0), 0) AS min_timer_read,
		coalesce(trunc(sum(sum_timer_read) / nullif(round(sum(sum_timer_read / nullif(avg_timer_read, 0))), 0)), 0) AS avg_timer_read,
		max(max_timer_read) AS max_timer_read,
		sum(count_write)::bigint AS count_write,
		sum(sum_timer_write) AS sum_timer_write,
		coalesce(min(min_timer_write) FILTER (WHERE sum_timer_write > 0), 0) AS min_timer_write,
		coalesce(trunc(sum(sum_timer_write) / nullif(round(sum(sum_timer_write / nullif(avg_timer_write, 0))), 0)), 0) AS avg_timer_write,
		max(max_timer_write) AS max_timer_write,
		sum(count_misc)::bigint AS count_misc,
		sum(sum_timer_misc) AS sum_timer_misc,
		coalesce(min(min_timer_misc) FILTER (WHERE sum_timer_misc > 0), 0) AS min_timer_misc,
		coalesce(trunc(sum(sum_timer_misc) / nullif(round(sum(sum_timer_misc / nullif(avg_timer_misc, 0))), 0)), 0) AS avg_timer_misc,
		max(max_timer_misc) AS max_timer_misc,
		sum(sum_number_of_bytes_read) AS sum_number_of_bytes_read,
		sum(sum_number_of_bytes_write) AS sum_number_of_bytes_write
	FROM files
	GROUP BY 1, 2, 3, 4, 5
)
SELECT
	coalesce(t.spcname::text, sums.tablespace::text) AS tablespace,
	CASE
		WHEN sums.filenode IS NULL THEN NULL
		WHEN sums.database <> here.oid THEN '[' || coalesce(d.datname, sums.database::text) || ']'
		ELSE n.nspname::text
	END AS object_schema,
	coalesce(c.relname::text, sums.name, sums.filenode::text) AS object_name,
	sums.kind,
	sums.count_star,
	sums.count_timed,
	sums.sum_timer_wait,
	sums.min_timer_wait,
	sums.avg_timer_wait,
	sums.max_timer_wait,
	sums.count_read,
	sums.sum_timer_read,
	sums.min_timer_read,
	sums.avg_timer_read,
	sums.max_timer_read,
	sums.count_write,
	sums.sum_timer_write,
	sums.min_timer_write,
	sums.avg_timer_write,
	sums.max_timer_write,
	sums.count_misc,
	sums.sum_timer_misc,
	sums.min_timer_misc,
	sums.avg_timer_misc,
	sums.max_timer_misc,
	sums.sum_number_of_bytes_read,
	sums.sum_number_of_bytes_write
FROM sums
JOIN pg_catalog.pg_database here ON here.datname = pg_catalog.current_database()
LEFT JOIN pg_catalog.pg_tablespace t ON t.oid = sums.tablespace
LEFT JOIN pg_catalog.pg_database d ON d.oid = sums.database
LEFT JOIN LATERAL (
	SELECT CASE
		WHEN sums.filenode IS NULL OR sums.database <> here.oid THEN NULL
		WHEN sums.kind = 'relation' THEN pg_catalog.pg_filenode_relation(sums.tablespace::oid, sums.filenode::oid)::oid
		ELSE (
			SELECT min(r.oid) FROM pg_catalog.pg_class r
			WHERE r.relfilenode = sums.filenode::oid AND r.reltablespace IN (0, sums.tablespace::oid) AND r.relpersistence = 't'
		)
	END AS oid
) AS relation ON true
LEFT JOIN pg_catalog.pg_class c ON c.oid = relation.oid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;

CREATE OR REPLACE VIEW pfs.lwlock_objects AS
SELECT
	i.name,
	i.object_instance_begin,
	o.object_type,
	o.object_number,
	CASE
		WHEN o.filenode IS NULL OR o.database = 0 AND c.oid IS NULL THEN NULL
		WHEN o.database NOT IN (0, here.oid) THEN '[' || coalesce(d.datname, o.database::text) || ']'
		ELSE n.nspname::text
	END AS object_schema,
	CASE
		WHEN o.object_type IN ('MAIN', 'TRANCHE') THEN split_part(i.name, '/', 4)
		ELSE coalesce(c.relname::text, o.filenode::text)
	END AS object_name,
	o.fork,
	o.block_number,
	o.thread_id
FROM pfs.lwlock_instances i
CROSS JOIN LATERAL pfs.lwlock_object(i.object_instance_begin) o
JOIN pg_catalog.pg_database here ON here.datname = pg_catalog.current_database()
LEFT JOIN pg_catalog.pg_database d ON d.oid = o.database
LEFT JOIN LATERAL (
	SELECT CASE
		WHEN o.database IN (0, here.oid) THEN pg_catalog.pg_filenode_relation(o.tablespace, o.filenode)::oid
	END AS oid
) AS relation ON true
LEFT JOIN pg_catalog.pg_class c ON c.oid = relation.oid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;

CREATE OR REPLACE VIEW pfs.blocking_tree AS
WITH RECURSIVE edges AS (
	SELECT w.thread_id AS waiting, w.event_id, b.pid AS blocker, b.thread_id AS blocking
	FROM pfs.events_waits_current w
		JOIN pfs.threads t USING (thread_id)
		CROSS JOIN LATERAL (
			SELECT p.pid, pfs.thread_id(p.pid) AS thread_id
			FROM unnest(pg_catalog.pg_blocking_pids(t.thread_os_id)) AS p (pid)
			GROUP BY p.pid
		) b
	WHERE w.event_name LIKE 'wait/lock/%'
	UNION ALL
	SELECT w.thread_id, w.event_id, t.thread_os_id, t.thread_id
	FROM pfs.events_waits_current w
		JOIN pfs.lwlock_instances l USING (object_instance_begin)
		CROSS JOIN LATERAL unnest(l.exclusive_locked_by_thread_id || l.shared_locked_by_thread_ids) AS holder (thread_id)
		JOIN pfs.threads t ON t.thread_id = holder.thread_id
	WHERE w.event_name LIKE 'wait/synch/lwlock/%' AND t.thread_id <> w.thread_id
), tree AS (
	SELECT DISTINCT e.blocking AS thread_id, 0 AS depth, ARRAY[e.blocking] AS path
	FROM edges e
	WHERE e.blocking NOT IN (SELECT waiting FROM edges)
	UNION ALL
	SELECT e.waiting, tree.depth + 1, tree.path || e.waiting
	FROM edges e JOIN tree ON tree.thread_id = e.blocking
	WHERE e.waiting <> ALL (tree.path)
), depths AS (
	SELECT thread_id, pg_catalog.max(depth) AS depth FROM tree GROUP BY thread_id
)
SELECT
	e.waiting AS waiting_thread_id,
	wt.thread_os_id AS waiting_pid,
	wt.processlist_user AS waiting_user,
	wt.processlist_info AS waiting_statement,
	pfs.timer_to_timestamp(w.timer_start, 'wait') AS waiting_since,
	pfs.timer_now('wait') - w.timer_start AS wait_time,
	w.object_type,
	w.object_schema,
	w.object_name,
	w.operation AS lock_mode,
	e.blocking AS blocking_thread_id,
	e.blocker AS blocking_pid,
	bt.processlist_user AS blocking_user,
	coalesce(bt.processlist_info, (
		SELECT s.sql_text
		FROM pfs.events_statements_history s
		WHERE s.thread_id = e.blocking AND s.nesting_event_level = 0
		ORDER BY s.event_id DESC LIMIT 1
	)) AS blocking_statement,
	coalesce(d.depth, 1) AS depth,
	CASE WHEN e.blocker <> 0 THEN 'SELECT pg_terminate_backend(' || e.blocker || ');' END AS terminate_command
FROM edges e
	JOIN pfs.events_waits_current w ON w.thread_id = e.waiting AND w.event_id = e.event_id
	JOIN pfs.threads wt ON wt.thread_id = e.waiting
	LEFT JOIN pfs.threads bt ON bt.thread_id = e.blocking
	LEFT JOIN depths d ON d.thread_id = e.waiting;
