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

COMMENT ON COLUMN pfs.setup_instruments.enabled IS
'Is it collected? YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
COMMENT ON COLUMN pfs.setup_instruments.timed IS
'Is it timed, too? YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case. Events that are not timed have NULL times.';
COMMENT ON COLUMN pfs.setup_instruments.properties IS
'idle: it waits for work, not for a resource; contains_waits: its times contain those of other waits; global_statistics: it cannot be switched. Empty otherwise.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event_type IS
'The word of pg_stat_activity.wait_event_type for the same wait; NULL if there is none. No key, as wait_event.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event IS
'The word of pg_stat_activity.wait_event for the same wait; NULL if there is none. No key: some words name several instruments, ClientRead three. What a session waits for is the row of events_waits_current with its thread_id and the highest event_id.';

COMMENT ON COLUMN pfs.setup_consumers.name IS
'global_instrumentation, below it statements_digest and thread_instrumentation, below the latter events_X_current, below that events_X_history and events_X_history_long, X being waits, stages, statements and transactions; below events_statements_current also events_statements_cpu.';
COMMENT ON COLUMN pfs.setup_consumers.enabled IS
'The consumer''s own switch. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';

COMMENT ON COLUMN pfs.setup_actors.host IS
'Numeric client address; [local] for a Unix socket; localhost for [local], 127.0.0.0/8 and ::1, where no rule has the very address; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_actors.enabled IS
'threads.instrumented of such sessions at their start. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
COMMENT ON COLUMN pfs.setup_actors.history IS
'threads.history of such sessions at their start. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';

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
'Are such objects instrumented? YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
COMMENT ON COLUMN pfs.setup_objects.timed IS
'Are their events timed? Without meaning where enabled is NO. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
GRANT SELECT ON pfs.setup_objects TO pg_monitor;

COMMENT ON COLUMN pfs.setup_threads.enabled IS
'threads.instrumented of threads that start afterwards. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
COMMENT ON COLUMN pfs.setup_threads.history IS
'threads.history of threads that start afterwards. YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';

COMMENT ON COLUMN pfs.threads.type IS
'FOREGROUND: client backends, walsenders, and the parallel workers of both. BACKGROUND: all others.';
COMMENT ON COLUMN pfs.threads.processlist_info IS
'Text of the statement that is running at top level; from pg_stat_activity where the statement is not instrumented, but NULL of parallel workers. What follows PASSWORD, OPTIONS or CONNECTION in commands that can hold passwords is hidden. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.threads.parent_thread_id IS
'Of a parallel worker the leader''s thread, of the worker of REPACK the one that executes it; else NULL.';
COMMENT ON COLUMN pfs.threads.instrumented IS
'Are events of this thread collected? YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';
COMMENT ON COLUMN pfs.threads.history IS
'Do its events go to the histories? YES or NO; also takes ON, OFF, TRUE, FALSE, 1 and 0, in any letter case.';

COMMENT ON COLUMN pfs.probes.mechanism IS
'How pfs gets called. got: by an address in the server''s table of external functions; method_table: by a function in one of the server''s tables of functions; hook: by a variable that the server has for extensions; detour: by a jump that was written over the first instructions of a function. NULL: no call, but something that pfs relies on.';
COMMENT ON COLUMN pfs.probes.status IS
'active, unavailable (something is missing) or off. A hook is active when a call of it was seen.';
COMMENT ON COLUMN pfs.probes.detail IS
'Why it is not active, or what is special about it; of a hook the library that is called before pfs; else NULL.';

COMMENT ON COLUMN pfs.status.variable_name IS
'pfs_start_time, footprint totals, what was kept over a restart, or pfs_<container>_lost.';
COMMENT ON COLUMN pfs.status.variable_value IS
'Its value as text; NULL: there is none.';

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
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
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
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
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
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
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
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_user_by_event_name IS
'Counts and times of stages by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_host_by_event_name IS
'Counts and times of stages by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

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
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name IS
'Counts and times of statements by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_examined IS
'Rows fetched from tables, or found by indexes alone; 0 while wait/io/table/handler is off.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_no_index_used IS
'Statements that read a table by no index; 0 while wait/io/table/handler is off.';

ALTER FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name ADD COLUMN sum_rows_examined bigint;
ALTER FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name ADD COLUMN sum_no_index_used bigint;
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name IS
'Counts and times of statements by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
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
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_digest IS
'Counts and times of statements by shape: database, user and query identifier; one row for all others. TRUNCATE removes the rows, also those of events_statements_histogram_by_digest, events_waits_summary_by_digest and table_io_waits_summary_by_digest.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.digest_text IS
'Text with parameters for its constants, without secrets. NULL: not known, as it was parsed before this row was made and not executed again since; or without the rights of user_name or pg_read_all_stats.';
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

CREATE FOREIGN TABLE pfs.table_io_waits_summary_by_digest (
	database_name text,
	user_name text,
	query_id bigint,
	object_type text,
	object_schema text,
	object_name text,
	index_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_fetch bigint,
	count_insert bigint,
	count_update bigint,
	count_delete bigint
) SERVER pfs_server OPTIONS ("table" 'table_io_waits_summary_by_digest');
COMMENT ON FOREIGN TABLE pfs.table_io_waits_summary_by_digest IS
'Rows that statements of each shape fetched, inserted, updated, deleted and locked, by table and index, as in table_io_waits_summary_by_index_usage. A row is counted when its statement has ended, for the innermost statement that has a query_id; those of parallel workers are their leader''s. A table or an index that is dropped loses its rows.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.object_type IS
'TABLE.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.object_schema IS
'Schema of the table; NULL also if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.object_name IS
'Name of the table; its OID if it is of another database. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.index_name IS
'Name of the index, its OID if it is of another database; NULL also if it is by no index. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_star IS
'Number of rows of all operations, locks of rows among them.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_fetch IS
'Number of rows that the index found; without an index those of sequential scans.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_insert IS
'Number of entries that were made in the index; without an index rows of the table.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_update IS
'Number of rows that were updated.';
COMMENT ON COLUMN pfs.table_io_waits_summary_by_digest.count_delete IS
'Number of rows that were deleted.';
GRANT SELECT ON pfs.table_io_waits_summary_by_digest TO pg_monitor;

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
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_user_by_event_name IS
'Counts and times of transactions by event name, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_host_by_event_name IS
'Counts and times of transactions by event name, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

COMMENT ON COLUMN pfs.accounts.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.accounts.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

COMMENT ON COLUMN pfs.users.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';

COMMENT ON COLUMN pfs.hosts.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

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

CREATE FOREIGN TABLE pfs.file_summary_by_kind (
	kind text,
	file_name text,
	event_name text,
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
	count_misc bigint,
	sum_timer_misc numeric,
	min_timer_misc numeric,
	avg_timer_misc numeric,
	max_timer_misc numeric,
	sum_number_of_bytes_read numeric,
	sum_number_of_bytes_write numeric
) SERVER pfs_server OPTIONS ("table" 'file_summary_by_kind');
COMMENT ON FOREIGN TABLE pfs.file_summary_by_kind IS
'File calls by kind of file, file and event name, of one moment: the rows of file_summary_by_instance, and for each kind what no file that is there has. So a kind''s rows add up to what was counted, whatever was removed; all kinds to file_summary_by_event_name.';
COMMENT ON COLUMN pfs.file_summary_by_kind.kind IS
'relation, temporary (relations of sessions, and files of sorts and the like), WAL, SLRU or other.';
COMMENT ON COLUMN pfs.file_summary_by_kind.file_name IS
'As in file_summary_by_instance; NULL: what files that were removed or renamed have counted, calls without a file, and what a TRUNCATE by instance has taken from the others.';
COMMENT ON COLUMN pfs.file_summary_by_kind.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.file_summary_by_kind.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.file_summary_by_kind.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_kind.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_kind.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.file_summary_by_kind.count_read IS
'Number of reads.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_timer_read IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.min_timer_read IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.avg_timer_read IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.max_timer_read IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.count_write IS
'Number of writes, copies into the file among them.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_timer_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.min_timer_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.avg_timer_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.max_timer_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.count_misc IS
'Number of other calls.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_timer_misc IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.min_timer_misc IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.avg_timer_misc IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.max_timer_misc IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_number_of_bytes_read IS
'Bytes that the reads brought.';
COMMENT ON COLUMN pfs.file_summary_by_kind.sum_number_of_bytes_write IS
'Bytes that the writes took.';
GRANT SELECT ON pfs.file_summary_by_kind TO pg_monitor;

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
'Rows that were accessed by each index, or by none, and the times of these accesses. An index without a row was not used since the last reset. One that REINDEX CONCURRENTLY builds anew keeps its row.';
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
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_thread_by_error IS
'Errors by SQLSTATE and severity, by living thread. TRUNCATE moves the counters into their accounts.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_account_by_error IS
'Errors by SQLSTATE and severity, by account: a user on a client address, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_user_by_error IS
'Errors by SQLSTATE and severity, by user, sessions that have ended included. TRUNCATE moves the counters of threads and accounts into their hosts, discards those of users.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.user_name IS
'The authenticated role; NULL for background processes, (others) for roles that gave their places away.';

COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_host_by_error IS
'Errors by SQLSTATE and severity, by client address, sessions that have ended included. TRUNCATE moves the counters of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes, (others) for addresses that gave their places away.';

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
'How long a period should be: a second, or what the recorder is set to; a minute; ten minutes. The same load is in each resolution: ask for one of them.';
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
'The server''s query identifier, as in events_statements_summary_by_digest. NULL: of no statement, or of those that are not counted apart. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.load_history.digest_text IS
'Text with parameters for its constants, without secrets. NULL: not known, or 4,096 others were named by the history since. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.load_history.count_star IS
'Events that ended in the period; of CPU: statements.';
COMMENT ON COLUMN pfs.load_history.sum_timer_wait IS
'Time spent in the period, that of events which go on included, in picoseconds.';
COMMENT ON COLUMN pfs.load_history.active_sessions IS
'Sessions that spent their time so, as a mean over the period: sum_timer_wait by the period''s length.';
COMMENT ON COLUMN pfs.load_history.max_timer_wait IS
'The longest of these events that was going on when the period ended, its length until then, in picoseconds; 0: none. Of CPU it is a statement, with the waits in it.';
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
-- What functions of 1.0 do, now that totals survive a restart and there is a load history.
--

COMMENT ON FUNCTION pfs.reset(text) IS
'Do what TRUNCATE of the table does, without its lock; the name with or without pfs. NULL: all histories of events and all summaries, no set-up, not load_history. Returns the number of events that left.';
COMMENT ON FUNCTION pfs.reset_time(text) IS
'Since when the table counts: its last reset; else the server''s start, or for totals that survived a restart since when they count.';

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
		WHERE s >= (SELECT greatest((max(p.period_end) - min(p.period_start)) / 60, max(p.resolution)) FROM periods p)
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
	SELECT 1 AS part, 1::bigint AS n, format('%s to %s %s, %s recorded in periods of %s', to_char(c.first, 'YYYY-MM-DD HH24:MI:SS'),
		to_char(c.last, 'YYYY-MM-DD HH24:MI:SS'), current_setting('TimeZone'),
		make_interval(secs => round(c.length / 1000000000000)::float8), c.resolution) AS line
	FROM covered c
	UNION ALL
	SELECT 2, 1, format('active sessions: %s on average, %s at the peak, %s to %s', round(m.active / nullif(c.length, 0), 2),
		round(p.sessions, 2), to_char(p.period_start, 'YYYY-MM-DD HH24:MI:SS'), to_char(p.period_end, 'YYYY-MM-DD HH24:MI:SS'))
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
			left(coalesce(w.event_name, 'other Lock') || ' ' || coalesce(regexp_replace(w.digest_text, '[[:space:]]+', ' ', 'g'), 'query_id ' || w.query_id, 'others'), 52))
	FROM (
		-- of each statement the period in which it had waited longest
		SELECT DISTINCT ON (l.event_name, l.database_name, l.user_name, l.query_id) l.*
		FROM loads l
		WHERE l.is_active AND l.wait_event_type = 'Lock' AND l.max_timer_wait > 0
		ORDER BY l.event_name, l.database_name, l.user_name, l.query_id, l.max_timer_wait DESC, l.period_end
	) w
	ORDER BY 2 LIMIT 3)
)
SELECT CASE WHEN NOT EXISTS (SELECT FROM periods) THEN format('no load was recorded between %s and %s %s',
		coalesce(to_char(since, 'YYYY-MM-DD HH24:MI:SS'), since::text), coalesce(to_char(till, 'YYYY-MM-DD HH24:MI:SS'), till::text), current_setting('TimeZone'))
	ELSE (
		SELECT string_agg(l.line, chr(10) ORDER BY l.part, l.n) FROM lines l
		-- a heading stands above something
		WHERE l.n > 0 OR EXISTS (SELECT FROM lines o WHERE o.part = l.part AND o.n > 0)
	) END;
END;
COMMENT ON FUNCTION pfs_sys.what_happened(timestamptz, timestamptz) IS
'What happened in this time, on one screen: the load and its peak, the top waits, the top statements, the longest lock waits.';

--
-- The same for times as people write them.  since has no default: a call without arguments means the functions above.
--

CREATE FUNCTION pfs_sys.parse_time(text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'pfs_parse_time'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs_sys.parse_time(text) IS
'A time as people write it: ''2026-03-01 14:00'', ''yesterday 3:00'', ''10:29'' (the latest that is not ahead), or an interval before now, as ''90 min''; in the session''s TimeZone.';

CREATE FUNCTION pfs_sys.load(since text, till text DEFAULT 'now', bucket interval DEFAULT NULL)
RETURNS TABLE (period_start timestamptz, period_end timestamptz, active_sessions numeric, cpu numeric, lwlock numeric, lock numeric,
	io numeric, client numeric, ipc numeric, buffer numeric, timeout numeric, extension numeric, spin numeric,
	idle_in_transaction numeric, background numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 60
BEGIN ATOMIC
SELECT * FROM pfs_sys.load(pfs_sys.parse_time(since), pfs_sys.parse_time(till), bucket);
END;
COMMENT ON FUNCTION pfs_sys.load(text, text, interval) IS
'The same as load(timestamptz, timestamptz, interval), of times as parse_time() takes them.';

CREATE FUNCTION pfs_sys.top_waits(since text, till text DEFAULT 'now')
RETURNS TABLE (type text, wait_event_type text, event_name text, active_sessions numeric, percent numeric, count_star numeric, sum_timer_wait numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 40
BEGIN ATOMIC
SELECT * FROM pfs_sys.top_waits(pfs_sys.parse_time(since), pfs_sys.parse_time(till));
END;
COMMENT ON FUNCTION pfs_sys.top_waits(text, text) IS
'The same as top_waits(timestamptz, timestamptz), of times as parse_time() takes them.';

CREATE FUNCTION pfs_sys.top_statements(since text, till text DEFAULT 'now')
RETURNS TABLE (database_name text, user_name text, query_id bigint, digest_text text, active_sessions numeric, percent numeric,
	count_star numeric, sum_timer_wait numeric, waits text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
SELECT * FROM pfs_sys.top_statements(pfs_sys.parse_time(since), pfs_sys.parse_time(till));
END;
COMMENT ON FUNCTION pfs_sys.top_statements(text, text) IS
'The same as top_statements(timestamptz, timestamptz), of times as parse_time() takes them.';

CREATE FUNCTION pfs_sys.top_users(since text, till text DEFAULT 'now')
RETURNS TABLE (user_name text, database_name text, active_sessions numeric, percent numeric, count_star numeric, sum_timer_wait numeric,
	idle_in_transaction numeric)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
SELECT * FROM pfs_sys.top_users(pfs_sys.parse_time(since), pfs_sys.parse_time(till));
END;
COMMENT ON FUNCTION pfs_sys.top_users(text, text) IS
'The same as top_users(timestamptz, timestamptz), of times as parse_time() takes them.';

CREATE FUNCTION pfs_sys.what_happened(since text, till text DEFAULT 'now')
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
SELECT pfs_sys.what_happened(pfs_sys.parse_time(since), pfs_sys.parse_time(till));
END;
COMMENT ON FUNCTION pfs_sys.what_happened(text, text) IS
'The same as what_happened(timestamptz, timestamptz), of times as parse_time() takes them.';

REVOKE ALL ON FUNCTION pfs_sys.load_periods(timestamptz, timestamptz), pfs_sys.load(timestamptz, timestamptz, interval),
	pfs_sys.top_waits(timestamptz, timestamptz), pfs_sys.top_statements(timestamptz, timestamptz),
	pfs_sys.top_users(timestamptz, timestamptz), pfs_sys.what_happened(timestamptz, timestamptz),
	pfs_sys.parse_time(text), pfs_sys.load(text, text, interval), pfs_sys.top_waits(text, text), pfs_sys.top_statements(text, text),
	pfs_sys.top_users(text, text), pfs_sys.what_happened(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pfs_sys.load_periods(timestamptz, timestamptz), pfs_sys.load(timestamptz, timestamptz, interval),
	pfs_sys.top_waits(timestamptz, timestamptz), pfs_sys.top_statements(timestamptz, timestamptz),
	pfs_sys.top_users(timestamptz, timestamptz), pfs_sys.what_happened(timestamptz, timestamptz),
	pfs_sys.parse_time(text), pfs_sys.load(text, text, interval), pfs_sys.top_waits(text, text), pfs_sys.top_statements(text, text),
	pfs_sys.top_users(text, text), pfs_sys.what_happened(text, text) TO pg_monitor;

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
			WHEN file_name LIKE 'global/%' THEN 1664
			WHEN file_name LIKE 'base/%' THEN 1663
			ELSE substring(file_name FROM '^pg_tblspc/([0-9]+)/')::bigint
		END AS tablespace,
		coalesce(path[2], path[3])::bigint AS database,
		path[5]::bigint AS filenode,
		s.*
	FROM pfs.file_summary_by_kind s,
		-- 2, 3: database; 4: of a session's temporary relation; 5: number of the file.  Larger ones are no OIDs.
		LATERAL (
			SELECT CASE WHEN greatest(found[2]::numeric, found[3]::numeric, found[5]::numeric) <= 4294967295 THEN found END AS path
			FROM regexp_match(file_name,
				'^(global|base/([0-9]+)|pg_tblspc/[0-9]+/PG_[^/]+/([0-9]+))/(t[0-9]+_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:[.][0-9]+)?$') AS found
		) AS numbers
), sums AS (
	-- How many of a part's calls were timed is in no column: it is sum / average.
	SELECT
		tablespace, database, filenode, kind,
		CASE
			WHEN file_name IS NULL THEN '(removed files)'
			WHEN kind = 'SLRU' THEN split_part(file_name, '/', 1)
			WHEN kind = 'other' OR (kind = 'relation' AND filenode IS NULL) THEN file_name
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

COMMENT ON VIEW pfs.file_summary_by_relation IS
'File calls by relation, or other use of files, summed over event names, segments and forks; what removed and renamed files have counted, in one row for each kind. The rows of all kinds add up to file_summary_by_event_name.';
COMMENT ON COLUMN pfs.file_summary_by_relation.object_name IS
'The relation, its file number if it is unknown here, the folder of an SLRU, the path of another file; (removed files): what files of this kind have counted that are not there any more, calls without a file, and what a TRUNCATE by instance has taken from the others.';

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
WITH RECURSIVE conflicts (mode, modes) AS (
	VALUES ('AccessShareLock', '{AccessExclusiveLock}'::text[]),
		('RowShareLock', '{ExclusiveLock,AccessExclusiveLock}'),
		('RowExclusiveLock', '{ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'),
		('ShareUpdateExclusiveLock', '{ShareUpdateExclusiveLock,ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'),
		('ShareLock', '{RowExclusiveLock,ShareUpdateExclusiveLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'),
		('ShareRowExclusiveLock', '{RowExclusiveLock,ShareUpdateExclusiveLock,ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'),
		('ExclusiveLock', '{RowShareLock,RowExclusiveLock,ShareUpdateExclusiveLock,ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'),
		('AccessExclusiveLock', '{AccessShareLock,RowShareLock,RowExclusiveLock,ShareUpdateExclusiveLock,ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}')
), locks AS MATERIALIZED (
	-- Read only where somebody waits for a prepared transaction: see below.
	SELECT pid, virtualtransaction, transactionid, mode, granted,
		ROW(locktype, database, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid)::text AS tag
	FROM pg_catalog.pg_locks
), edges AS (
	SELECT w.thread_id AS waiting, w.event_id, b.pid AS blocker, b.thread_id AS blocking, prepared.gid, prepared.owner
	FROM pfs.events_waits_current w
		JOIN pfs.threads t USING (thread_id)
		CROSS JOIN LATERAL (
			SELECT p.pid, pfs.thread_id(p.pid) AS thread_id
			FROM unnest(pg_catalog.pg_blocking_pids(t.thread_os_id)) AS p (pid)
			GROUP BY p.pid
		) b
		-- Every prepared transaction is process 0: those whose locks conflict are told apart here.  Its
		-- locks have the virtual transaction that it had, or another one after a restart, in common;
		-- that on its own number leads to its name.
		-- OFFSET keeps this a query of its own, which is not executed for other blockers.
		LEFT JOIN LATERAL (
			SELECT DISTINCT x.gid, x.owner::text COLLATE "default" AS owner
			FROM locks wanted
				JOIN conflicts ON conflicts.mode = wanted.mode
				JOIN locks held ON held.tag = wanted.tag AND held.granted AND held.pid IS NULL AND held.mode = ANY (conflicts.modes)
				JOIN locks own ON own.virtualtransaction = held.virtualtransaction AND own.granted AND own.pid IS NULL
				JOIN pg_catalog.pg_prepared_xacts x ON x.transaction = own.transactionid
			WHERE b.pid = 0 AND wanted.pid = t.thread_os_id AND NOT wanted.granted
			OFFSET 0
		) prepared ON true
	WHERE w.event_name LIKE 'wait/lock/%'
	UNION ALL
	SELECT w.thread_id, w.event_id, t.thread_os_id, t.thread_id, NULL, NULL
	FROM pfs.events_waits_current w
		JOIN pfs.lwlock_instances l USING (object_instance_begin)
		CROSS JOIN LATERAL unnest(l.exclusive_locked_by_thread_id || l.shared_locked_by_thread_ids) AS holder (thread_id)
		JOIN pfs.threads t ON t.thread_id = holder.thread_id
	WHERE w.event_name LIKE 'wait/synch/lwlock/%' AND t.thread_id <> w.thread_id
), tree AS (
	-- A set of pairs, not of paths: in a queue each waits for all before it, and paths
	-- double with each.  None is longer than there are waiters; this ends cycles, too.  What is
	-- no thread, as a prepared transaction, waits for nobody.
	(
		SELECT e.blocking AS thread_id, 0 AS depth
		FROM edges e
		WHERE e.blocking NOT IN (SELECT waiting FROM edges)
		UNION
		SELECT e.waiting, 1
		FROM edges e
		WHERE e.blocking IS NULL
	)
	UNION
	SELECT e.waiting, tree.depth + 1
	FROM edges e JOIN tree ON tree.thread_id = e.blocking
	WHERE tree.depth < (SELECT pg_catalog.count(DISTINCT waiting) FROM edges)
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
	-- An LWLock has no name of its own: its tranche, which the instrument names, too.
	CASE WHEN w.event_name LIKE 'wait/synch/lwlock/%' THEN substr(w.event_name, length('wait/synch/lwlock/') + 1) ELSE w.object_name END AS object_name,
	w.operation AS lock_mode,
	e.blocking AS blocking_thread_id,
	e.blocker AS blocking_pid,
	coalesce(bt.processlist_user, e.owner) AS blocking_user,
	coalesce(bt.processlist_info, (
		SELECT s.sql_text
		FROM pfs.events_statements_history s
		WHERE s.thread_id = e.blocking AND s.nesting_event_level = 0
		ORDER BY s.event_id DESC LIMIT 1
	)) AS blocking_statement,
	coalesce(d.depth, 1) AS depth,
	CASE WHEN e.blocker <> 0 THEN 'SELECT pg_terminate_backend(' || e.blocker || ');'
		WHEN e.gid IS NOT NULL THEN 'ROLLBACK PREPARED ' || quote_literal(e.gid) || ';' END AS terminate_command,
	e.gid AS blocking_gid
FROM edges e
	JOIN pfs.events_waits_current w ON w.thread_id = e.waiting AND w.event_id = e.event_id
	JOIN pfs.threads wt ON wt.thread_id = e.waiting
	LEFT JOIN pfs.threads bt ON bt.thread_id = e.blocking
	LEFT JOIN depths d ON d.thread_id = e.waiting;

COMMENT ON COLUMN pfs.blocking_tree.object_name IS
	'The relation, the transaction id, or the numbers of the lock''s key; the tranche of an LWLock, of which lwlock_objects says more. Only for pg_read_all_stats and the thread''s own role, but for tranches.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_user IS
	'Its authenticated role; the owner of a prepared transaction.';
COMMENT ON COLUMN pfs.blocking_tree.terminate_command IS
	'A statement that ends the blocking session, or rolls back the prepared transaction: that in the database in which it was prepared.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_gid IS
	'Global identifier of the prepared transaction that it waits for, as in pg_prepared_xacts; NULL: it waits for a process.';

--
-- Views for people and what they are shown with.
--

CREATE FUNCTION pfs.index_usage_unknown() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
WITH since AS MATERIALIZED (
	SELECT greatest(pfs.reset_time('table_io_waits_summary_by_index_usage'), pfs.reset_time('table_io_waits_summary_by_table')) AS reset
	FROM pfs.setup_timers WHERE name = 'wait'	-- no row while pfs.enabled is off
), status AS MATERIALIZED (
	SELECT nullif(max(CASE WHEN variable_name = 'pfs_table_io_since' THEN variable_value END), '')::timestamptz AS counted_since,
		string_agg(CASE variable_name WHEN 'pfs_table_instances_lost' THEN 'pfs.max_table_instances' WHEN 'pfs_index_stat_lost' THEN 'pfs.max_index_stat'
			ELSE 'pfs.max_thread_instances' END, ', ' ORDER BY variable_name)
			FILTER (WHERE variable_name IN ('pfs_table_instances_lost', 'pfs_index_stat_lost', 'pfs_thread_instances_lost') AND variable_value <> '0') AS lost
	FROM pfs.status
)
SELECT CASE
	WHEN r.reset IS NULL
	THEN 'pfs.enabled is off; switch it on and restart the server'
	WHEN (SELECT i.enabled FROM pfs.setup_instruments i WHERE i.name = 'wait/io/table/handler') = 'NO'
	THEN 'the instrument wait/io/table/handler is off; to switch it on and count from then on: '
		|| 'SELECT pfs.set_instruments(''wait/io/table/handler'', ''YES''), pfs.reset(''table_io_waits_summary_by_index_usage'')'
	WHEN (SELECT c.enabled FROM pfs.setup_consumers c WHERE c.name = 'global_instrumentation') = 'NO'
	THEN 'the consumer global_instrumentation is off; to switch it on and count from then on: '
		|| 'SELECT pfs.set_consumers(''global_instrumentation'', ''YES''), pfs.reset(''table_io_waits_summary_by_index_usage'')'
	WHEN (SELECT count(*) FROM pfs.containers c WHERE c.name IN ('table_instances', 'index_stat') AND c.records_max > 0) < 2
	THEN 'pfs.max_table_instances or pfs.max_index_stat is 0; set it and restart the server'
	WHEN s.lost IS NOT NULL
	THEN 'there was no place for all tables, indexes or threads; raise ' || s.lost || ' and restart the server'
	WHEN NOT EXISTS (SELECT FROM pfs.setup_actors a WHERE a.host = '%' AND a.user_name = '%' AND a.enabled = 'YES')
		OR EXISTS (SELECT FROM pfs.setup_actors a WHERE a.enabled = 'NO')
	THEN 'rules of pfs.setup_actors leave out sessions; no rule may say NO, and one has to be for everybody'
	WHEN EXISTS (SELECT FROM pfs.threads t WHERE t.type = 'FOREGROUND' AND t.instrumented = 'NO')
	THEN 'sessions in pfs.threads are not instrumented; to change that: SELECT pfs.set_thread(thread_id, ''YES'') FROM pfs.threads WHERE instrumented = ''NO'''
	WHEN s.counted_since IS NULL OR s.counted_since > r.reset OR pfs.reset_time('containers') > r.reset
	THEN 'rows of tables were not counted all the time since the last reset, ' || r.reset::timestamptz(0)
		|| '; to begin anew: SELECT pfs.reset(''table_io_waits_summary_by_index_usage'')'
	END
FROM status s LEFT JOIN since r ON true;
END;
COMMENT ON FUNCTION pfs.index_usage_unknown() IS
'Why it is not known which indexes nobody used since the last reset of table_io_waits_summary_by_index_usage, and what to do; NULL: it is known. While it is not, pfs_sys.schema_unused_indexes is empty.';
REVOKE ALL ON FUNCTION pfs.index_usage_unknown() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pfs.index_usage_unknown() TO pg_monitor;

CREATE FUNCTION pfs_sys.format_time(timer numeric) RETURNS text
AS 'MODULE_PATHNAME', 'pfs_format_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs_sys.format_time(numeric) IS
'Picoseconds as text, in the largest unit that leaves at least one whole: 1.23 ms.';

CREATE FUNCTION pfs_sys.format_bytes(bytes numeric) RETURNS text
LANGUAGE SQL IMMUTABLE PARALLEL SAFE
RETURN CASE
	WHEN round(abs(bytes)) < 1024 THEN round(bytes)::text || ' bytes'
	WHEN round(abs(bytes) / 1024, 1) < 1024 THEN round(bytes / 1024, 1)::text || ' KiB'
	WHEN round(abs(bytes) / 1048576, 1) < 1024 THEN round(bytes / 1048576, 1)::text || ' MiB'
	WHEN round(abs(bytes) / 1073741824, 1) < 1024 THEN round(bytes / 1073741824, 1)::text || ' GiB'
	WHEN round(abs(bytes) / 1099511627776, 1) < 1024 THEN round(bytes / 1099511627776, 1)::text || ' TiB'
	WHEN abs(bytes) = 'Infinity' OR bytes = 'NaN' THEN bytes::text
	WHEN abs(bytes) < 1e30 THEN round(bytes / 1125899906842624, 1)::text || ' PiB'
	ELSE ltrim(to_char(bytes / 1125899906842624, '9.99EEEE')) || ' PiB'
END;
COMMENT ON FUNCTION pfs_sys.format_bytes(numeric) IS
'Bytes as text, in the largest unit that leaves at least one whole: 4.0 MiB.';

CREATE FUNCTION pfs_sys.format_statement(statement text) RETURNS text
AS 'MODULE_PATHNAME', 'pfs_format_statement'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs_sys.format_statement(text) IS
'A statement as one line of at most 64 characters; of a longer one its begin and its end.';

REVOKE ALL ON FUNCTION pfs_sys.format_time(numeric), pfs_sys.format_bytes(numeric), pfs_sys.format_statement(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pfs_sys.format_time(numeric), pfs_sys.format_bytes(numeric), pfs_sys.format_statement(text) TO pg_monitor;

-- tools/sql: views writes from here (of sql/pfs_sys.views)

CREATE VIEW pfs_sys.x$version AS
SELECT x.sys_version, x.server_version
FROM (
	SELECT extversion::text AS sys_version, current_setting('server_version') AS server_version
	FROM pg_extension WHERE extname = 'pfs'
) x
ORDER BY x.sys_version;
CREATE VIEW pfs_sys.version AS
SELECT
	x.sys_version,
	x.server_version
FROM pfs_sys.x$version x
ORDER BY x.sys_version;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$version'::regclass), (false, 'pfs_sys.version'::regclass)) v (plain, oid), (VALUES
	(0, 'The version of the extension and of the server.', 'With plain values.'),
	(1, 'Version of the SQL objects, of which these views are a part.', ''),
	(2, 'Version of PostgreSQL.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statement_analysis AS
SELECT x.query, x.db, x.user_name, x.full_scan, x.exec_count, x.err_count, x.warn_count, x.total_latency, x.max_latency, x.avg_latency, x.lock_latency, x.cpu_latency, x.plan_latency, x.rows_sent, x.rows_sent_avg, x.rows_examined, x.rows_examined_avg, x.rows_affected, x.rows_affected_avg, x.blks_read, x.temp_written, x.wal_written, x.max_total_memory, x.query_id, x.first_seen, x.last_seen
FROM (
	SELECT digest_text AS query, database_name AS db, user_name,
		CASE WHEN sum_no_index_used > 0 THEN '*' ELSE '' END AS full_scan,
		count_star AS exec_count, sum_errors AS err_count, sum_warnings AS warn_count,
		sum_timer_wait AS total_latency, max_timer_wait AS max_latency, avg_timer_wait AS avg_latency,
		sum_lock_time AS lock_latency, sum_cpu_time AS cpu_latency, sum_plan_time AS plan_latency,
		sum_rows_sent AS rows_sent, coalesce(round(sum_rows_sent::numeric / nullif(count_star, 0)), 0)::bigint AS rows_sent_avg,
		sum_rows_examined AS rows_examined, coalesce(round(sum_rows_examined::numeric / nullif(count_star, 0)), 0)::bigint AS rows_examined_avg,
		sum_rows_affected AS rows_affected, coalesce(round(sum_rows_affected::numeric / nullif(count_star, 0)), 0)::bigint AS rows_affected_avg,
		sum_shared_blks_read AS blks_read,
		sum_temp_blks_written::numeric * current_setting('block_size')::numeric AS temp_written,
		sum_wal_bytes AS wal_written, max_total_memory::numeric AS max_total_memory, query_id, first_seen, last_seen
	FROM pfs.events_statements_summary_by_digest
) x
ORDER BY x.total_latency DESC, x.query_id;
CREATE VIEW pfs_sys.statement_analysis AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.full_scan,
	x.exec_count,
	x.err_count,
	x.warn_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	pfs_sys.format_time(x.plan_latency) AS plan_latency,
	x.rows_sent,
	x.rows_sent_avg,
	x.rows_examined,
	x.rows_examined_avg,
	x.rows_affected,
	x.rows_affected_avg,
	x.blks_read,
	pfs_sys.format_bytes(x.temp_written) AS temp_written,
	pfs_sys.format_bytes(x.wal_written) AS wal_written,
	pfs_sys.format_bytes(x.max_total_memory) AS max_total_memory,
	x.query_id,
	x.first_seen,
	x.last_seen
FROM pfs_sys.x$statement_analysis x
ORDER BY x.total_latency DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statement_analysis'::regclass), (false, 'pfs_sys.statement_analysis'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements by their shape, those that took most time together first: where to begin.', 'With plain values.'),
	(1, 'The statement with parameters for its constants; NULL in the row of all that had no place.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, '* if a table was read by a sequential scan; needs wait/io/table/handler.', ''),
	(5, 'How often it was executed.', ''),
	(6, 'Errors raised in it, caught ones included.', ''),
	(7, 'Warnings that log_min_messages lets through.', ''),
	(8, 'Time of all executions.', 'In picoseconds.'),
	(9, 'Time of the longest.', 'In picoseconds.'),
	(10, 'Average time.', 'In picoseconds.'),
	(11, 'Time in waits for heavyweight and lightweight locks.', 'In picoseconds.'),
	(12, 'Processor time; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(13, 'Time in the planner.', 'In picoseconds.'),
	(14, 'Rows returned.', ''),
	(15, 'Rows returned per execution.', ''),
	(16, 'Rows fetched from tables and indexes; needs wait/io/table/handler.', ''),
	(17, 'The same per execution.', ''),
	(18, 'Rows inserted, updated, deleted, merged or copied.', ''),
	(19, 'The same per execution.', ''),
	(20, 'Pages read into shared buffers.', ''),
	(21, 'Written to temporary files.', 'In bytes.'),
	(22, 'WAL written.', 'In bytes.'),
	(23, 'Most memory of a statement; needs memory instruments.', 'In bytes.'),
	(24, 'PostgreSQL''s query identifier, as in pg_stat_statements.', ''),
	(25, 'When it was counted first.', ''),
	(26, 'When it was counted last.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_runtimes_in_95th_percentile AS
SELECT x.query, x.db, x.user_name, x.full_scan, x.exec_count, x.err_count, x.warn_count, x.total_latency, x.max_latency, x.avg_latency, x.quantile_95, x.rows_sent, x.rows_sent_avg, x.rows_examined, x.rows_examined_avg, x.first_seen, x.last_seen, x.query_id
FROM (
	WITH d AS MATERIALIZED (
		SELECT * FROM pfs.events_statements_summary_by_digest WHERE count_timed > 0 AND user_name IS NOT NULL
	)
	SELECT digest_text AS query, database_name AS db, user_name,
		CASE WHEN sum_no_index_used > 0 THEN '*' ELSE '' END AS full_scan,
		count_star AS exec_count, sum_errors AS err_count, sum_warnings AS warn_count,
		sum_timer_wait AS total_latency, max_timer_wait AS max_latency, avg_timer_wait AS avg_latency, quantile_95,
		sum_rows_sent AS rows_sent, coalesce(round(sum_rows_sent::numeric / nullif(count_star, 0)), 0)::bigint AS rows_sent_avg,
		sum_rows_examined AS rows_examined, coalesce(round(sum_rows_examined::numeric / nullif(count_star, 0)), 0)::bigint AS rows_examined_avg,
		first_seen, last_seen, query_id
	FROM d
	WHERE avg_timer_wait >= (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY avg_timer_wait) FROM d)
) x
ORDER BY x.avg_latency DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_runtimes_in_95th_percentile AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.full_scan,
	x.exec_count,
	x.err_count,
	x.warn_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.quantile_95) AS quantile_95,
	x.rows_sent,
	x.rows_sent_avg,
	x.rows_examined,
	x.rows_examined_avg,
	x.first_seen,
	x.last_seen,
	x.query_id
FROM pfs_sys.x$statements_with_runtimes_in_95th_percentile x
ORDER BY x.avg_latency DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_runtimes_in_95th_percentile'::regclass), (false, 'pfs_sys.statements_with_runtimes_in_95th_percentile'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements whose average time is among the longest five of a hundred, the slowest first.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, '* if a table was read by a sequential scan; needs wait/io/table/handler.', ''),
	(5, 'How often it was executed.', ''),
	(6, 'Errors raised in it, caught ones included.', ''),
	(7, 'Warnings that log_min_messages lets through.', ''),
	(8, 'Time of all executions.', 'In picoseconds.'),
	(9, 'Time of the longest.', 'In picoseconds.'),
	(10, 'Average time.', 'In picoseconds.'),
	(11, '95 of 100 executions took no longer.', 'In picoseconds.'),
	(12, 'Rows returned.', ''),
	(13, 'Rows returned per execution.', ''),
	(14, 'Rows fetched from tables and indexes; needs wait/io/table/handler.', ''),
	(15, 'The same per execution.', ''),
	(16, 'When it was counted first.', ''),
	(17, 'When it was counted last.', ''),
	(18, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_errors_or_warnings AS
SELECT x.query, x.db, x.user_name, x.exec_count, x.errors, x.error_pct, x.warnings, x.warning_pct, x.first_seen, x.last_seen, x.query_id
FROM (
	SELECT digest_text AS query, database_name AS db, user_name, count_star AS exec_count,
		sum_errors AS errors, coalesce(round(100 * sum_errors::numeric / nullif(count_star, 0), 2), 0) AS error_pct,
		sum_warnings AS warnings, coalesce(round(100 * sum_warnings::numeric / nullif(count_star, 0), 2), 0) AS warning_pct,
		first_seen, last_seen, query_id
	FROM pfs.events_statements_summary_by_digest
	WHERE sum_errors > 0 OR sum_warnings > 0
) x
ORDER BY x.errors DESC, x.warnings DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_errors_or_warnings AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.exec_count,
	x.errors,
	x.error_pct,
	x.warnings,
	x.warning_pct,
	x.first_seen,
	x.last_seen,
	x.query_id
FROM pfs_sys.x$statements_with_errors_or_warnings x
ORDER BY x.errors DESC, x.warnings DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_errors_or_warnings'::regclass), (false, 'pfs_sys.statements_with_errors_or_warnings'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements that raised errors or warnings, those with most errors first.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How often it was executed.', ''),
	(5, 'Errors raised in it, caught ones included.', ''),
	(6, 'Errors per hundred executions.', ''),
	(7, 'Warnings that log_min_messages lets through.', ''),
	(8, 'Warnings per hundred executions.', ''),
	(9, 'When it was counted first.', ''),
	(10, 'When it was counted last.', ''),
	(11, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_full_table_scans AS
SELECT x.query, x.db, x.user_name, x.exec_count, x.total_latency, x.no_index_used_count, x.no_index_used_pct, x.rows_sent, x.rows_examined, x.rows_sent_avg, x.rows_examined_avg, x.first_seen, x.last_seen, x.query_id
FROM (
	SELECT digest_text AS query, database_name AS db, user_name, count_star AS exec_count, sum_timer_wait AS total_latency,
		sum_no_index_used AS no_index_used_count, coalesce(round(100 * sum_no_index_used::numeric / nullif(count_star, 0)), 0)::bigint AS no_index_used_pct,
		sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined,
		coalesce(round(sum_rows_sent::numeric / nullif(count_star, 0)), 0)::bigint AS rows_sent_avg,
		coalesce(round(sum_rows_examined::numeric / nullif(count_star, 0)), 0)::bigint AS rows_examined_avg,
		first_seen, last_seen, query_id
	FROM pfs.events_statements_summary_by_digest
	WHERE sum_no_index_used > 0
) x
ORDER BY x.no_index_used_pct DESC, x.total_latency DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_full_table_scans AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.exec_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.no_index_used_count,
	x.no_index_used_pct,
	x.rows_sent,
	x.rows_examined,
	x.rows_sent_avg,
	x.rows_examined_avg,
	x.first_seen,
	x.last_seen,
	x.query_id
FROM pfs_sys.x$statements_with_full_table_scans x
ORDER BY x.no_index_used_pct DESC, x.total_latency DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_full_table_scans'::regclass), (false, 'pfs_sys.statements_with_full_table_scans'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements that read a table by a sequential scan, those that do it most often first; needs wait/io/table/handler.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How often it was executed.', ''),
	(5, 'Time of all executions.', 'In picoseconds.'),
	(6, 'How often a table was read by a sequential scan.', ''),
	(7, 'The same per hundred executions.', ''),
	(8, 'Rows returned.', ''),
	(9, 'Rows fetched from tables and indexes.', ''),
	(10, 'Rows returned per execution.', ''),
	(11, 'Rows fetched per execution.', ''),
	(12, 'When it was counted first.', ''),
	(13, 'When it was counted last.', ''),
	(14, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_temp_tables AS
SELECT x.query, x.db, x.user_name, x.exec_count, x.total_latency, x.temp_written, x.temp_read, x.avg_temp_written, x.first_seen, x.last_seen, x.query_id
FROM (
	SELECT digest_text AS query, database_name AS db, user_name, count_star AS exec_count, sum_timer_wait AS total_latency,
		sum_temp_blks_written::numeric * current_setting('block_size')::numeric AS temp_written,
		sum_temp_blks_read::numeric * current_setting('block_size')::numeric AS temp_read,
		coalesce(round(sum_temp_blks_written::numeric * current_setting('block_size')::numeric / nullif(count_star, 0)), 0) AS avg_temp_written,
		first_seen, last_seen, query_id
	FROM pfs.events_statements_summary_by_digest
	WHERE sum_temp_blks_written > 0
) x
ORDER BY x.temp_written DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_temp_tables AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.exec_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_bytes(x.temp_written) AS temp_written,
	pfs_sys.format_bytes(x.temp_read) AS temp_read,
	pfs_sys.format_bytes(x.avg_temp_written) AS avg_temp_written,
	x.first_seen,
	x.last_seen,
	x.query_id
FROM pfs_sys.x$statements_with_temp_tables x
ORDER BY x.temp_written DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_temp_tables'::regclass), (false, 'pfs_sys.statements_with_temp_tables'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements that wrote temporary files, those that wrote most first: sorts, hashes and stored results larger than work_mem.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How often it was executed.', ''),
	(5, 'Time of all executions.', 'In picoseconds.'),
	(6, 'Written to temporary files.', 'In bytes.'),
	(7, 'Read from temporary files.', 'In bytes.'),
	(8, 'Written to temporary files per execution.', 'In bytes.'),
	(9, 'When it was counted first.', ''),
	(10, 'When it was counted last.', ''),
	(11, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$statements_with_sorting AS
SELECT x.query, x.db, x.user_name, x.exec_count, x.total_latency, x.rows_sent, x.rows_sent_avg, x.temp_written, x.first_seen, x.last_seen, x.query_id
FROM (
	SELECT digest_text AS query, database_name AS db, user_name, count_star AS exec_count, sum_timer_wait AS total_latency,
		sum_rows_sent AS rows_sent, coalesce(round(sum_rows_sent::numeric / nullif(count_star, 0)), 0)::bigint AS rows_sent_avg,
		sum_temp_blks_written::numeric * current_setting('block_size')::numeric AS temp_written, first_seen, last_seen, query_id
	FROM pfs.events_statements_summary_by_digest
	WHERE digest_text ~* '(^|[^a-z0-9_$"])order[[:space:]]+by([^a-z0-9_$]|$)'
) x
ORDER BY x.total_latency DESC, x.query_id;
CREATE VIEW pfs_sys.statements_with_sorting AS
SELECT
	pfs_sys.format_statement(x.query) AS query,
	x.db,
	x.user_name,
	x.exec_count,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.rows_sent,
	x.rows_sent_avg,
	pfs_sys.format_bytes(x.temp_written) AS temp_written,
	x.first_seen,
	x.last_seen,
	x.query_id
FROM pfs_sys.x$statements_with_sorting x
ORDER BY x.total_latency DESC, x.query_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$statements_with_sorting'::regclass), (false, 'pfs_sys.statements_with_sorting'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements that ask for an order (ORDER BY in their text), those that took most time first.', 'With plain values.'),
	(1, 'The statement with parameters for its constants.', ''),
	(2, 'Database that they ran in.', ''),
	(3, 'Role in effect when they began.', ''),
	(4, 'How often it was executed.', ''),
	(5, 'Time of all executions.', 'In picoseconds.'),
	(6, 'Rows returned.', ''),
	(7, 'Rows returned per execution.', ''),
	(8, 'Written to temporary files.', 'In bytes.'),
	(9, 'When it was counted first.', ''),
	(10, 'When it was counted last.', ''),
	(11, 'PostgreSQL''s query identifier, as in pg_stat_statements.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$processlist AS
SELECT x.thd_id, x.conn_id, x.user_name, x.db, x.command, x.state, x.time, x.current_statement, x.statement_latency, x.progress, x.lock_latency, x.cpu_latency, x.rows_examined, x.rows_sent, x.rows_affected, x.full_scan, x.last_statement, x.last_statement_latency, x.current_memory, x.last_wait, x.last_wait_latency, x.waiting, x.source, x.trx_latency, x.trx_state, x.trx_autocommit, x.pid, x.program_name
FROM (
	WITH now AS MATERIALIZED (
		-- the functions raise an error where pfs is off: then there is no row to call them for
		SELECT pfs.timer_now('wait') AS wait, pfs.timer_now('idle') AS idle, pfs.timer_now('statement') AS statement, pfs.timer_now('transaction') AS transaction
		FROM pfs.setup_timers WHERE name = 'wait'
	), waits AS (
		SELECT DISTINCT ON (thread_id) thread_id, event_name, source, timer_start, timer_wait, running
		FROM (
			SELECT thread_id, event_id, event_name, source, timer_start, NULL::numeric AS timer_wait, true AS running FROM pfs.events_waits_current
			UNION ALL
			SELECT thread_id, event_id, event_name, source, timer_start, timer_wait, false FROM pfs.events_waits_history
		) w
		ORDER BY thread_id, running DESC, event_id DESC
	), stages AS (
		SELECT DISTINCT ON (thread_id) thread_id, round(100 * work_completed::numeric / nullif(work_estimated, 0), 2) AS progress
		FROM pfs.events_stages_current WHERE work_estimated > 0
		ORDER BY thread_id, event_id DESC
	), running AS (
		SELECT DISTINCT ON (thread_id) thread_id, timer_start FROM pfs.events_statements_current
		WHERE nesting_event_level = 0
		ORDER BY thread_id, event_id
	), statements AS (
		SELECT DISTINCT ON (thread_id) thread_id, sql_text, timer_wait, lock_time, cpu_time, rows_examined, rows_sent, rows_affected, no_index_used
		FROM pfs.events_statements_history WHERE nesting_event_level = 0
		ORDER BY thread_id, event_id DESC
	), transactions AS (
		SELECT DISTINCT ON (thread_id) thread_id, timer_start, state, autocommit FROM pfs.events_transactions_current
		ORDER BY thread_id, event_id
	)
	SELECT t.thread_id AS thd_id, t.processlist_id AS conn_id,
		coalesce(t.processlist_user || coalesce('@' || t.processlist_host, ''), substr(t.name, 8)) AS user_name,
		t.processlist_db AS db, t.processlist_command AS command, t.processlist_state AS state, t.processlist_time AS time,
		t.processlist_info AS current_statement,
		CASE WHEN running.timer_start IS NOT NULL THEN greatest(now.statement - running.timer_start, 0) END AS statement_latency,
		stages.progress,
		s.lock_time AS lock_latency, s.cpu_time AS cpu_latency, s.rows_examined, s.rows_sent, s.rows_affected,
		CASE WHEN s.no_index_used > 0 THEN 'YES' WHEN s.thread_id IS NOT NULL THEN 'NO' END AS full_scan,
		CASE WHEN t.processlist_info IS NULL THEN s.sql_text END AS last_statement,
		CASE WHEN t.processlist_info IS NULL THEN s.timer_wait END AS last_statement_latency,
		t.current_memory::numeric AS current_memory,
		w.event_name AS last_wait,
		CASE WHEN NOT w.running THEN w.timer_wait
			WHEN w.timer_start IS NOT NULL THEN greatest(CASE WHEN w.event_name LIKE 'idle%' THEN now.idle ELSE now.wait END - w.timer_start, 0)
		END AS last_wait_latency,
		CASE WHEN w.running THEN 'YES' WHEN w.event_name IS NOT NULL THEN 'NO' END AS waiting,
		w.source,
		CASE WHEN x.timer_start IS NOT NULL THEN greatest(now.transaction - x.timer_start, 0) END AS trx_latency, x.state AS trx_state, x.autocommit AS trx_autocommit,
		t.thread_os_id AS pid, t.application_name AS program_name
	FROM now CROSS JOIN pfs.threads t
		LEFT JOIN waits w ON w.thread_id = t.thread_id
		LEFT JOIN stages ON stages.thread_id = t.thread_id
		LEFT JOIN running ON running.thread_id = t.thread_id
		LEFT JOIN statements s ON s.thread_id = t.thread_id
		LEFT JOIN transactions x ON x.thread_id = t.thread_id
) x
ORDER BY x.time DESC NULLS LAST, x.thd_id;
CREATE VIEW pfs_sys.processlist AS
SELECT
	x.thd_id,
	x.conn_id,
	x.user_name,
	x.db,
	x.command,
	x.state,
	x.time,
	pfs_sys.format_statement(x.current_statement) AS current_statement,
	pfs_sys.format_time(x.statement_latency) AS statement_latency,
	x.progress,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_examined,
	x.rows_sent,
	x.rows_affected,
	x.full_scan,
	pfs_sys.format_statement(x.last_statement) AS last_statement,
	pfs_sys.format_time(x.last_statement_latency) AS last_statement_latency,
	pfs_sys.format_bytes(x.current_memory) AS current_memory,
	x.last_wait,
	pfs_sys.format_time(x.last_wait_latency) AS last_wait_latency,
	x.waiting,
	x.source,
	pfs_sys.format_time(x.trx_latency) AS trx_latency,
	x.trx_state,
	x.trx_autocommit,
	x.pid,
	x.program_name
FROM pfs_sys.x$processlist x
ORDER BY x.time DESC NULLS LAST, x.thd_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$processlist'::regclass), (false, 'pfs_sys.processlist'::regclass)) v (plain, oid), (VALUES
	(0, 'Every thread with what it does and waits for; those that are longest in their present command first.', 'With plain values.'),
	(1, 'Number of the thread: threads.thread_id.', ''),
	(2, 'Process id of client backends and walsenders, else NULL.', ''),
	(3, 'role@address of a client, else the kind of process.', ''),
	(4, 'Database of the session.', ''),
	(5, 'Query, Sleep, Sleep in transaction, Replication or Daemon.', ''),
	(6, 'The current stage, else the current wait.', ''),
	(7, 'Seconds in this command.', ''),
	(8, 'The statement that is running; NULL if none is.', ''),
	(9, 'How long it has been running.', 'In picoseconds.'),
	(10, 'Percent of the work of its phase that is done, for commands that report progress.', ''),
	(11, 'Waits for locks of the statement that ended last; counted at its end.', 'In picoseconds.'),
	(12, 'Processor time of that statement; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(13, 'Rows that it fetched; needs wait/io/table/handler.', ''),
	(14, 'Rows that it returned.', ''),
	(15, 'Rows that it changed.', ''),
	(16, 'YES if it read a table by a sequential scan; needs wait/io/table/handler.', ''),
	(17, 'The statement that ended last; NULL while one is running.', ''),
	(18, 'Its time.', 'In picoseconds.'),
	(19, 'Memory contexts in use, of those that are counted.', 'In bytes.'),
	(20, 'The wait that is running, or else the one that ended last.', ''),
	(21, 'Its time, so far if it is running.', 'In picoseconds.'),
	(22, 'YES if it is running (MySQL writes Still Waiting in the column before).', ''),
	(23, 'The function of the server that waits.', ''),
	(24, 'How long the open transaction has been running.', 'In picoseconds.'),
	(25, 'ACTIVE while one is open.', ''),
	(26, 'NO if BEGIN began it.', ''),
	(27, 'Process id; MySQL has the client''s there.', ''),
	(28, 'application_name.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$session AS
SELECT x.thd_id, x.conn_id, x.user_name, x.db, x.command, x.state, x.time, x.current_statement, x.statement_latency, x.progress, x.lock_latency, x.cpu_latency, x.rows_examined, x.rows_sent, x.rows_affected, x.full_scan, x.last_statement, x.last_statement_latency, x.current_memory, x.last_wait, x.last_wait_latency, x.waiting, x.source, x.trx_latency, x.trx_state, x.trx_autocommit, x.pid, x.program_name
FROM (
	SELECT * FROM pfs_sys.x$processlist WHERE conn_id IS NOT NULL AND command <> 'Daemon'
) x
ORDER BY x.time DESC NULLS LAST, x.thd_id;
CREATE VIEW pfs_sys.session AS
SELECT
	x.thd_id,
	x.conn_id,
	x.user_name,
	x.db,
	x.command,
	x.state,
	x.time,
	pfs_sys.format_statement(x.current_statement) AS current_statement,
	pfs_sys.format_time(x.statement_latency) AS statement_latency,
	x.progress,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_examined,
	x.rows_sent,
	x.rows_affected,
	x.full_scan,
	pfs_sys.format_statement(x.last_statement) AS last_statement,
	pfs_sys.format_time(x.last_statement_latency) AS last_statement_latency,
	pfs_sys.format_bytes(x.current_memory) AS current_memory,
	x.last_wait,
	pfs_sys.format_time(x.last_wait_latency) AS last_wait_latency,
	x.waiting,
	x.source,
	pfs_sys.format_time(x.trx_latency) AS trx_latency,
	x.trx_state,
	x.trx_autocommit,
	x.pid,
	x.program_name
FROM pfs_sys.x$session x
ORDER BY x.time DESC NULLS LAST, x.thd_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$session'::regclass), (false, 'pfs_sys.session'::regclass)) v (plain, oid), (VALUES
	(0, 'Sessions of clients with what they do and wait for: processlist without the server''s own processes.', 'With plain values.'),
	(1, 'Number of the thread: threads.thread_id.', ''),
	(2, 'Process id of client backends and walsenders, else NULL.', ''),
	(3, 'role@address of a client, else the kind of process.', ''),
	(4, 'Database of the session.', ''),
	(5, 'Query, Sleep, Sleep in transaction, Replication or Daemon.', ''),
	(6, 'The current stage, else the current wait.', ''),
	(7, 'Seconds in this command.', ''),
	(8, 'The statement that is running; NULL if none is.', ''),
	(9, 'How long it has been running.', 'In picoseconds.'),
	(10, 'Percent of the work of its phase that is done, for commands that report progress.', ''),
	(11, 'Waits for locks of the statement that ended last; counted at its end.', 'In picoseconds.'),
	(12, 'Processor time of that statement; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(13, 'Rows that it fetched; needs wait/io/table/handler.', ''),
	(14, 'Rows that it returned.', ''),
	(15, 'Rows that it changed.', ''),
	(16, 'YES if it read a table by a sequential scan; needs wait/io/table/handler.', ''),
	(17, 'The statement that ended last; NULL while one is running.', ''),
	(18, 'Its time.', 'In picoseconds.'),
	(19, 'Memory contexts in use, of those that are counted.', 'In bytes.'),
	(20, 'The wait that is running, or else the one that ended last.', ''),
	(21, 'Its time, so far if it is running.', 'In picoseconds.'),
	(22, 'YES if it is running (MySQL writes Still Waiting in the column before).', ''),
	(23, 'The function of the server that waits.', ''),
	(24, 'How long the open transaction has been running.', 'In picoseconds.'),
	(25, 'ACTIVE while one is open.', ''),
	(26, 'NO if BEGIN began it.', ''),
	(27, 'Process id; MySQL has the client''s there.', ''),
	(28, 'application_name.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$session_ssl_status AS
SELECT x.thread_id, x.user_name, x.ssl_version, x.ssl_cipher, x.ssl_bits
FROM (
	SELECT t.thread_id, t.processlist_user || coalesce('@' || t.processlist_host, '') AS user_name,
		s.version AS ssl_version, s.cipher AS ssl_cipher, s.bits AS ssl_bits
	FROM pfs.threads t JOIN pg_catalog.pg_stat_ssl s ON s.pid = t.thread_os_id
	WHERE s.ssl AND t.processlist_id IS NOT NULL
) x
ORDER BY x.thread_id;
CREATE VIEW pfs_sys.session_ssl_status AS
SELECT
	x.thread_id,
	x.user_name,
	x.ssl_version,
	x.ssl_cipher,
	x.ssl_bits
FROM pfs_sys.x$session_ssl_status x
ORDER BY x.thread_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$session_ssl_status'::regclass), (false, 'pfs_sys.session_ssl_status'::regclass)) v (plain, oid), (VALUES
	(0, 'Encryption of each session that is encrypted by TLS.', 'With plain values.'),
	(1, 'Number of the thread: threads.thread_id.', ''),
	(2, 'role@address of the client.', ''),
	(3, 'TLS version.', ''),
	(4, 'Cipher.', ''),
	(5, 'Bits of its algorithm.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$lock_waits AS
SELECT x.wait_started, x.wait_age, x.wait_age_secs, x.locked_table, x.locked_table_schema, x.locked_table_name, x.locked_type, x.locked_object, x.waiting_trx_id, x.waiting_trx_started, x.waiting_trx_age, x.waiting_thread_id, x.waiting_pid, x.waiting_user, x.waiting_query, x.waiting_lock_mode, x.blocking_trx_id, x.blocking_thread_id, x.blocking_pid, x.blocking_gid, x.blocking_user, x.blocking_query, x.blocking_lock_mode, x.blocking_trx_started, x.blocking_trx_age, x.sql_kill_blocking_query, x.sql_kill_blocking_connection
FROM (
	WITH locks AS MATERIALIZED (
		SELECT coalesce(pid::text, virtualtransaction) AS holder, CASE WHEN pid IS NULL AND granted THEN transactionid END AS prepared, mode, granted,
			ROW(locktype, database, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid)::text AS tag
		FROM pg_catalog.pg_locks
	), modes AS (
		SELECT holder, tag, string_agg(DISTINCT mode, ', ' ORDER BY mode) AS modes FROM locks GROUP BY holder, tag
	), transactions AS MATERIALIZED (
		SELECT DISTINCT ON (thread_id) thread_id, trx_id, pfs.timer_to_timestamp(timer_start, 'transaction') AS started,
			CASE WHEN timer_start IS NOT NULL THEN greatest(pfs.timer_now('transaction') - timer_start, 0) END AS age
		FROM pfs.events_transactions_current ORDER BY thread_id, event_id
	)
	SELECT b.waiting_since AS wait_started, CASE WHEN b.wait_time IS NOT NULL THEN greatest(b.wait_time, 0) END AS wait_age,
		CASE WHEN b.wait_time IS NOT NULL THEN trunc(greatest(b.wait_time, 0) / 1000000000000)::bigint END AS wait_age_secs,
		quote_ident(b.object_schema) || '.' || quote_ident(b.object_name) AS locked_table,
		b.object_schema AS locked_table_schema, CASE WHEN b.object_schema IS NOT NULL THEN b.object_name END AS locked_table_name, b.object_type AS locked_type,
		CASE WHEN b.object_schema IS NULL THEN b.object_name END AS locked_object,
		wx.trx_id AS waiting_trx_id, wx.started AS waiting_trx_started, wx.age AS waiting_trx_age,
		b.waiting_thread_id, b.waiting_pid, b.waiting_user, b.waiting_statement AS waiting_query, b.lock_mode AS waiting_lock_mode,
		-- A prepared transaction's own number has 32 bits of the next one's 64.
		coalesce(bx.trx_id, (next.id - (next.id - p.transaction::text::numeric) % 4294967296)::text::xid8) AS blocking_trx_id,
		b.blocking_thread_id, b.blocking_pid, b.blocking_gid, b.blocking_user, b.blocking_statement AS blocking_query,
		m.modes AS blocking_lock_mode, bx.started AS blocking_trx_started, bx.age AS blocking_trx_age,
		CASE WHEN b.blocking_pid <> 0 THEN 'SELECT pg_cancel_backend(' || b.blocking_pid::text || ');' END AS sql_kill_blocking_query,
		b.terminate_command AS sql_kill_blocking_connection
	FROM pfs.blocking_tree b
		CROSS JOIN (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::numeric AS id) next
		LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.gid = b.blocking_gid
		LEFT JOIN locks w ON w.holder = b.waiting_pid::text AND NOT w.granted AND b.object_type <> 'LWLOCK'
		LEFT JOIN locks own ON own.prepared = p.transaction
		LEFT JOIN modes m ON m.holder = coalesce(own.holder, b.blocking_pid::text) AND m.tag = w.tag
		LEFT JOIN transactions wx ON wx.thread_id = b.waiting_thread_id
		LEFT JOIN transactions bx ON bx.thread_id = b.blocking_thread_id
) x
ORDER BY x.wait_age DESC NULLS LAST, x.waiting_pid, x.blocking_pid;
CREATE VIEW pfs_sys.lock_waits AS
SELECT
	x.wait_started,
	pfs_sys.format_time(x.wait_age) AS wait_age,
	x.wait_age_secs,
	x.locked_table,
	x.locked_table_schema,
	x.locked_table_name,
	x.locked_type,
	x.locked_object,
	x.waiting_trx_id,
	x.waiting_trx_started,
	pfs_sys.format_time(x.waiting_trx_age) AS waiting_trx_age,
	x.waiting_thread_id,
	x.waiting_pid,
	x.waiting_user,
	pfs_sys.format_statement(x.waiting_query) AS waiting_query,
	x.waiting_lock_mode,
	x.blocking_trx_id,
	x.blocking_thread_id,
	x.blocking_pid,
	x.blocking_gid,
	x.blocking_user,
	pfs_sys.format_statement(x.blocking_query) AS blocking_query,
	x.blocking_lock_mode,
	x.blocking_trx_started,
	pfs_sys.format_time(x.blocking_trx_age) AS blocking_trx_age,
	x.sql_kill_blocking_query,
	x.sql_kill_blocking_connection
FROM pfs_sys.x$lock_waits x
ORDER BY x.wait_age DESC NULLS LAST, x.waiting_pid, x.blocking_pid;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$lock_waits'::regclass), (false, 'pfs_sys.lock_waits'::regclass)) v (plain, oid), (VALUES
	(0, 'Who waits for whom, the longest wait first; MySQL''s innodb_lock_waits, with all kinds of locks and LWLocks. One row for each pair.', 'With plain values.'),
	(1, 'When the wait began.', ''),
	(2, 'How long it has been going on.', 'In picoseconds.'),
	(3, 'The same in seconds.', ''),
	(4, 'The relation as schema.name; NULL: it waits for no relation, see locked_object.', ''),
	(5, 'Schema of the relation.', ''),
	(6, 'The relation.', ''),
	(7, 'RELATION, TRANSACTIONID, TUPLE, ADVISORY, LWLOCK and others.', ''),
	(8, 'What is waited for where it is no relation: a transaction id, the numbers of an advisory lock, the tranche of an LWLock.', ''),
	(9, 'Transaction id of the one that waits; NULL if it has none.', ''),
	(10, 'When its transaction began.', ''),
	(11, 'How long that has been.', 'In picoseconds.'),
	(12, 'Its thread.', ''),
	(13, 'Its process id.', ''),
	(14, 'Its role.', ''),
	(15, 'Its statement.', ''),
	(16, 'The mode that it asks for.', ''),
	(17, 'Transaction id of the one that is waited for; NULL if it has none.', ''),
	(18, 'Its thread.', ''),
	(19, 'Its process id; 0 for a prepared transaction.', ''),
	(20, 'Global identifier of the prepared transaction.', ''),
	(21, 'Its role; the owner of a prepared transaction.', ''),
	(22, 'Its statement, or its last one.', ''),
	(23, 'The modes in which it holds the lock, or asks for it earlier in the queue.', ''),
	(24, 'When its transaction began; NULL for a prepared one.', ''),
	(25, 'How long that has been.', 'In picoseconds.'),
	(26, 'A statement that cancels its statement.', ''),
	(27, 'A statement that ends its session, or rolls back the prepared transaction.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_table_lock_waits AS
SELECT x.object_schema, x.object_name, x.waiting_thread_id, x.waiting_pid, x.waiting_account, x.waiting_lock_type, x.waiting_latency, x.waiting_query, x.waiting_query_secs, x.blocking_thread_id, x.blocking_pid, x.blocking_gid, x.blocking_account, x.blocking_lock_type, x.sql_kill_blocking_query, x.sql_kill_blocking_connection
FROM (
	WITH threads AS MATERIALIZED (
		SELECT thread_id, processlist_user || coalesce('@' || processlist_host, '') AS account, processlist_time FROM pfs.threads
	)
	SELECT l.locked_table_schema AS object_schema, l.locked_table_name AS object_name,
		l.waiting_thread_id, l.waiting_pid, wt.account AS waiting_account, l.waiting_lock_mode AS waiting_lock_type, l.wait_age AS waiting_latency,
		l.waiting_query, wt.processlist_time AS waiting_query_secs,
		l.blocking_thread_id, l.blocking_pid, l.blocking_gid,
		coalesce(bt.account, CASE WHEN l.blocking_gid IS NOT NULL THEN l.blocking_user END) AS blocking_account, l.blocking_lock_mode AS blocking_lock_type,
		l.sql_kill_blocking_query, l.sql_kill_blocking_connection
	FROM pfs_sys.x$lock_waits l
		LEFT JOIN threads wt ON wt.thread_id = l.waiting_thread_id
		LEFT JOIN threads bt ON bt.thread_id = l.blocking_thread_id
	WHERE l.locked_type = 'RELATION'
) x
ORDER BY x.waiting_latency DESC NULLS LAST, x.waiting_pid, x.blocking_pid;
CREATE VIEW pfs_sys.schema_table_lock_waits AS
SELECT
	x.object_schema,
	x.object_name,
	x.waiting_thread_id,
	x.waiting_pid,
	x.waiting_account,
	x.waiting_lock_type,
	pfs_sys.format_time(x.waiting_latency) AS waiting_latency,
	pfs_sys.format_statement(x.waiting_query) AS waiting_query,
	x.waiting_query_secs,
	x.blocking_thread_id,
	x.blocking_pid,
	x.blocking_gid,
	x.blocking_account,
	x.blocking_lock_type,
	x.sql_kill_blocking_query,
	x.sql_kill_blocking_connection
FROM pfs_sys.x$schema_table_lock_waits x
ORDER BY x.waiting_latency DESC NULLS LAST, x.waiting_pid, x.blocking_pid;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_table_lock_waits'::regclass), (false, 'pfs_sys.schema_table_lock_waits'::regclass)) v (plain, oid), (VALUES
	(0, 'Who waits for whom for a lock on a table or another relation, the longest wait first.', 'With plain values.'),
	(1, 'Schema of the relation.', ''),
	(2, 'The relation.', ''),
	(3, 'The thread that waits.', ''),
	(4, 'Its process id.', ''),
	(5, 'role@address of it.', ''),
	(6, 'The mode that it asks for.', ''),
	(7, 'How long it has been waiting.', 'In picoseconds.'),
	(8, 'Its statement.', ''),
	(9, 'Seconds that this has been running.', ''),
	(10, 'The thread that is waited for.', ''),
	(11, 'Its process id; 0 for a prepared transaction.', ''),
	(12, 'Global identifier of the prepared transaction.', ''),
	(13, 'role@address of it; the owner of a prepared transaction.', ''),
	(14, 'The modes in which it holds the lock, or asks for it earlier in the queue.', ''),
	(15, 'A statement that cancels its statement.', ''),
	(16, 'A statement that ends its session, or rolls back the prepared transaction.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$waits_global_by_latency AS
SELECT x.events, x.total, x.total_latency, x.avg_latency, x.max_latency
FROM (
	SELECT s.event_name AS events, s.count_star AS total, s.sum_timer_wait AS total_latency, s.avg_timer_wait AS avg_latency, s.max_timer_wait AS max_latency
	FROM pfs.events_waits_summary_global_by_event_name s
	WHERE s.sum_timer_wait > 0
		AND s.event_name NOT IN (SELECT i.name FROM pfs.setup_instruments i WHERE i.properties LIKE '%idle%')
) x
ORDER BY x.total_latency DESC, x.events;
CREATE VIEW pfs_sys.waits_global_by_latency AS
SELECT
	x.events,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$waits_global_by_latency x
ORDER BY x.total_latency DESC, x.events;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$waits_global_by_latency'::regclass), (false, 'pfs_sys.waits_global_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Waits by instrument, those that took most time first; those that wait for work are left out.', 'With plain values.'),
	(1, 'The instrument.', ''),
	(2, 'How many there were.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Average time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$waits_by_user_by_latency AS
SELECT x.user_name, x.event, x.total, x.total_latency, x.avg_latency, x.max_latency
FROM (
	SELECT coalesce(s.user_name, 'background') AS user_name, s.event_name AS event, s.count_star AS total,
		s.sum_timer_wait AS total_latency, s.avg_timer_wait AS avg_latency, s.max_timer_wait AS max_latency
	FROM pfs.events_waits_summary_by_user_by_event_name s
	WHERE s.sum_timer_wait > 0
		AND s.event_name NOT IN (SELECT i.name FROM pfs.setup_instruments i WHERE i.properties LIKE '%idle%')
) x
ORDER BY x.user_name, x.total_latency DESC, x.event;
CREATE VIEW pfs_sys.waits_by_user_by_latency AS
SELECT
	x.user_name,
	x.event,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$waits_by_user_by_latency x
ORDER BY x.user_name, x.total_latency DESC, x.event;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$waits_by_user_by_latency'::regclass), (false, 'pfs_sys.waits_by_user_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Waits by instrument for each user, those that took most time first; those that wait for work are left out.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$waits_by_host_by_latency AS
SELECT x.host, x.event, x.total, x.total_latency, x.avg_latency, x.max_latency
FROM (
	SELECT coalesce(s.host, 'background') AS host, s.event_name AS event, s.count_star AS total,
		s.sum_timer_wait AS total_latency, s.avg_timer_wait AS avg_latency, s.max_timer_wait AS max_latency
	FROM pfs.events_waits_summary_by_host_by_event_name s
	WHERE s.sum_timer_wait > 0
		AND s.event_name NOT IN (SELECT i.name FROM pfs.setup_instruments i WHERE i.properties LIKE '%idle%')
) x
ORDER BY x.host, x.total_latency DESC, x.event;
CREATE VIEW pfs_sys.waits_by_host_by_latency AS
SELECT
	x.host,
	x.event,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$waits_by_host_by_latency x
ORDER BY x.host, x.total_latency DESC, x.event;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$waits_by_host_by_latency'::regclass), (false, 'pfs_sys.waits_by_host_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Waits by instrument for each host, those that took most time first; those that wait for work are left out.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$wait_classes_global_by_latency AS
SELECT x.event_class, x.total, x.total_latency, x.min_latency, x.avg_latency, x.max_latency
FROM (
	SELECT regexp_replace(s.event_name, '/[^/]*$', '') AS event_class,
		sum(s.count_star)::bigint AS total, sum(s.sum_timer_wait) AS total_latency, min(s.min_timer_wait) AS min_latency,
		coalesce(trunc(sum(s.sum_timer_wait) / nullif(sum(s.count_timed), 0)), 0) AS avg_latency, max(s.max_timer_wait) AS max_latency
	FROM pfs.events_waits_summary_global_by_event_name s
	WHERE s.sum_timer_wait > 0
		AND s.event_name NOT IN (SELECT i.name FROM pfs.setup_instruments i WHERE i.properties LIKE '%idle%' OR i.properties LIKE '%contains_waits%')
	GROUP BY 1
) x
ORDER BY x.total_latency DESC, x.event_class;
CREATE VIEW pfs_sys.wait_classes_global_by_latency AS
SELECT
	x.event_class,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.min_latency) AS min_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$wait_classes_global_by_latency x
ORDER BY x.total_latency DESC, x.event_class;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$wait_classes_global_by_latency'::regclass), (false, 'pfs_sys.wait_classes_global_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Waits by class, those that took most time first; without those that wait for work, and without accesses to tables, whose times contain other waits.', 'With plain values.'),
	(1, 'The instruments'' name without its last word: wait/io/file, wait/lock and so on.', ''),
	(2, 'How many there were.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the shortest.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$wait_classes_global_by_avg_latency AS
SELECT x.event_class, x.total, x.total_latency, x.min_latency, x.avg_latency, x.max_latency
FROM (
	SELECT * FROM pfs_sys.x$wait_classes_global_by_latency
) x
ORDER BY x.avg_latency DESC, x.event_class;
CREATE VIEW pfs_sys.wait_classes_global_by_avg_latency AS
SELECT
	x.event_class,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.min_latency) AS min_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$wait_classes_global_by_avg_latency x
ORDER BY x.avg_latency DESC, x.event_class;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$wait_classes_global_by_avg_latency'::regclass), (false, 'pfs_sys.wait_classes_global_by_avg_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Waits by class, those with the longest average first; otherwise as wait_classes_global_by_latency.', 'With plain values.'),
	(1, 'The instruments'' name without its last word: wait/io/file, wait/lock and so on.', ''),
	(2, 'How many there were.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the shortest.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$io_global_by_file_by_latency AS
SELECT x.file, x.relation, x.total, x.total_latency, x.count_read, x.read_latency, x.count_write, x.write_latency, x.count_misc, x.misc_latency
FROM (
	SELECT s.file_name AS file, (
			SELECT CASE
				WHEN path[4]::numeric <= 4294967295 AND coalesce(path[2], '0')::numeric <= 4294967295
					AND (coalesce(path[1], path[3]) IS NULL OR coalesce(path[1], path[3]) = (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database()))
				THEN pg_catalog.pg_filenode_relation(CASE WHEN path[1] IS NOT NULL THEN 1663 WHEN path[2] IS NOT NULL THEN path[2]::oid ELSE 1664 END, path[4]::oid)::text
			END
			-- 1, 3: database; 2: tablespace; 4: number of the file
			FROM regexp_match(s.file_name, '^(?:global|base/([0-9]+)|pg_tblspc/([0-9]+)/PG_[^/]+/([0-9]+))/([0-9]+)(?:_(?:fsm|vm|init))?(?:[.][0-9]+)?$') AS path
		) AS relation,
		s.count_star AS total, s.sum_timer_wait AS total_latency, s.count_read, s.sum_timer_read AS read_latency,
		s.count_write, s.sum_timer_write AS write_latency, s.count_misc, s.sum_timer_misc AS misc_latency
	FROM (
		SELECT coalesce(file_name, '(removed files: ' || kind || ')') AS file_name, sum(count_star)::bigint AS count_star, sum(sum_timer_wait) AS sum_timer_wait,
			sum(count_read)::bigint AS count_read, sum(sum_timer_read) AS sum_timer_read, sum(sum_number_of_bytes_read) AS sum_number_of_bytes_read,
			sum(count_write)::bigint AS count_write, sum(sum_timer_write) AS sum_timer_write, sum(sum_number_of_bytes_write) AS sum_number_of_bytes_write,
			sum(count_misc)::bigint AS count_misc, sum(sum_timer_misc) AS sum_timer_misc
		FROM pfs.file_summary_by_kind WHERE count_star > 0 GROUP BY 1
	) s
) x
ORDER BY x.total_latency DESC, x.file;
CREATE VIEW pfs_sys.io_global_by_file_by_latency AS
SELECT
	CASE WHEN length(x.file) > 64 THEN '...' || right(x.file, 61) ELSE x.file END AS file,
	x.relation,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.count_read,
	pfs_sys.format_time(x.read_latency) AS read_latency,
	x.count_write,
	pfs_sys.format_time(x.write_latency) AS write_latency,
	x.count_misc,
	pfs_sys.format_time(x.misc_latency) AS misc_latency
FROM pfs_sys.x$io_global_by_file_by_latency x
ORDER BY x.total_latency DESC, x.file;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$io_global_by_file_by_latency'::regclass), (false, 'pfs_sys.io_global_by_file_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Files, those whose calls took most time first.', 'With plain values.'),
	(1, 'Path below the data directory; (removed files: KIND) is what files of a kind have counted that are not there any more.', ''),
	(2, 'The table or index that it is a part of, of this database.', ''),
	(3, 'Number of calls.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Number of reads.', ''),
	(6, 'Their time.', 'In picoseconds.'),
	(7, 'Number of writes.', ''),
	(8, 'Their time.', 'In picoseconds.'),
	(9, 'Number of other calls.', ''),
	(10, 'Their time.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$io_global_by_file_by_bytes AS
SELECT x.file, x.relation, x.count_read, x.total_read, x.avg_read, x.count_write, x.total_written, x.avg_write, x.total, x.write_pct
FROM (
	SELECT s.file_name AS file, (
			SELECT CASE
				WHEN path[4]::numeric <= 4294967295 AND coalesce(path[2], '0')::numeric <= 4294967295
					AND (coalesce(path[1], path[3]) IS NULL OR coalesce(path[1], path[3]) = (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database()))
				THEN pg_catalog.pg_filenode_relation(CASE WHEN path[1] IS NOT NULL THEN 1663 WHEN path[2] IS NOT NULL THEN path[2]::oid ELSE 1664 END, path[4]::oid)::text
			END
			-- 1, 3: database; 2: tablespace; 4: number of the file
			FROM regexp_match(s.file_name, '^(?:global|base/([0-9]+)|pg_tblspc/([0-9]+)/PG_[^/]+/([0-9]+))/([0-9]+)(?:_(?:fsm|vm|init))?(?:[.][0-9]+)?$') AS path
		) AS relation,
		s.count_read, s.sum_number_of_bytes_read AS total_read,
		coalesce(round(s.sum_number_of_bytes_read / nullif(s.count_read, 0)), 0) AS avg_read,
		s.count_write, s.sum_number_of_bytes_write AS total_written,
		coalesce(round(s.sum_number_of_bytes_write / nullif(s.count_write, 0)), 0) AS avg_write,
		s.sum_number_of_bytes_read + s.sum_number_of_bytes_write AS total,
		coalesce(round(100 * s.sum_number_of_bytes_write / nullif(s.sum_number_of_bytes_read + s.sum_number_of_bytes_write, 0), 2), 0) AS write_pct
	FROM (
		SELECT coalesce(file_name, '(removed files: ' || kind || ')') AS file_name, sum(count_star)::bigint AS count_star, sum(sum_timer_wait) AS sum_timer_wait,
			sum(count_read)::bigint AS count_read, sum(sum_timer_read) AS sum_timer_read, sum(sum_number_of_bytes_read) AS sum_number_of_bytes_read,
			sum(count_write)::bigint AS count_write, sum(sum_timer_write) AS sum_timer_write, sum(sum_number_of_bytes_write) AS sum_number_of_bytes_write,
			sum(count_misc)::bigint AS count_misc, sum(sum_timer_misc) AS sum_timer_misc
		FROM pfs.file_summary_by_kind WHERE count_star > 0 GROUP BY 1
	) s
) x
ORDER BY x.total DESC, x.file;
CREATE VIEW pfs_sys.io_global_by_file_by_bytes AS
SELECT
	CASE WHEN length(x.file) > 64 THEN '...' || right(x.file, 61) ELSE x.file END AS file,
	x.relation,
	x.count_read,
	pfs_sys.format_bytes(x.total_read) AS total_read,
	pfs_sys.format_bytes(x.avg_read) AS avg_read,
	x.count_write,
	pfs_sys.format_bytes(x.total_written) AS total_written,
	pfs_sys.format_bytes(x.avg_write) AS avg_write,
	pfs_sys.format_bytes(x.total) AS total,
	x.write_pct
FROM pfs_sys.x$io_global_by_file_by_bytes x
ORDER BY x.total DESC, x.file;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$io_global_by_file_by_bytes'::regclass), (false, 'pfs_sys.io_global_by_file_by_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Files, those with most bytes read and written first.', 'With plain values.'),
	(1, 'Path below the data directory; (removed files: KIND) is what files of a kind have counted that are not there any more.', ''),
	(2, 'The table or index that it is a part of, of this database.', ''),
	(3, 'Number of reads.', ''),
	(4, 'Read.', 'In bytes.'),
	(5, 'Read per call.', 'In bytes.'),
	(6, 'Number of writes.', ''),
	(7, 'Written.', 'In bytes.'),
	(8, 'Written per call.', 'In bytes.'),
	(9, 'Read and written.', 'In bytes.'),
	(10, 'Percent of it that was written.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$io_global_by_wait_by_latency AS
SELECT x.event_name, x.total, x.total_latency, x.avg_latency, x.max_latency, x.read_latency, x.write_latency, x.misc_latency, x.count_read, x.total_read, x.avg_read, x.count_write, x.total_written, x.avg_written
FROM (
	SELECT s.event_name, s.count_star AS total, s.sum_timer_wait AS total_latency, s.avg_timer_wait AS avg_latency, s.max_timer_wait AS max_latency,
		s.sum_timer_read AS read_latency, s.sum_timer_write AS write_latency, s.sum_timer_misc AS misc_latency,
		s.count_read, s.sum_number_of_bytes_read AS total_read,
		coalesce(round(s.sum_number_of_bytes_read / nullif(s.count_read, 0)), 0) AS avg_read,
		s.count_write, s.sum_number_of_bytes_write AS total_written,
		coalesce(round(s.sum_number_of_bytes_write / nullif(s.count_write, 0)), 0) AS avg_written
	FROM pfs.file_summary_by_event_name s
	WHERE s.count_star > 0
) x
ORDER BY x.total_latency DESC, x.event_name;
CREATE VIEW pfs_sys.io_global_by_wait_by_latency AS
SELECT
	x.event_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.read_latency) AS read_latency,
	pfs_sys.format_time(x.write_latency) AS write_latency,
	pfs_sys.format_time(x.misc_latency) AS misc_latency,
	x.count_read,
	pfs_sys.format_bytes(x.total_read) AS total_read,
	pfs_sys.format_bytes(x.avg_read) AS avg_read,
	x.count_write,
	pfs_sys.format_bytes(x.total_written) AS total_written,
	pfs_sys.format_bytes(x.avg_written) AS avg_written
FROM pfs_sys.x$io_global_by_wait_by_latency x
ORDER BY x.total_latency DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$io_global_by_wait_by_latency'::regclass), (false, 'pfs_sys.io_global_by_wait_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files by instrument, those that took most time first.', 'With plain values.'),
	(1, 'The instrument, the whole name.', ''),
	(2, 'Number of calls.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Average time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.'),
	(6, 'Time of reads.', 'In picoseconds.'),
	(7, 'Time of writes.', 'In picoseconds.'),
	(8, 'Time of other calls.', 'In picoseconds.'),
	(9, 'Number of reads.', ''),
	(10, 'Read.', 'In bytes.'),
	(11, 'Read per call.', 'In bytes.'),
	(12, 'Number of writes.', ''),
	(13, 'Written.', 'In bytes.'),
	(14, 'Written per call.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$io_global_by_wait_by_bytes AS
SELECT x.event_name, x.total, x.total_latency, x.min_latency, x.avg_latency, x.max_latency, x.count_read, x.total_read, x.avg_read, x.count_write, x.total_written, x.avg_written, x.total_requested
FROM (
	SELECT s.event_name, s.count_star AS total, s.sum_timer_wait AS total_latency, s.min_timer_wait AS min_latency,
		s.avg_timer_wait AS avg_latency, s.max_timer_wait AS max_latency,
		s.count_read, s.sum_number_of_bytes_read AS total_read,
		coalesce(round(s.sum_number_of_bytes_read / nullif(s.count_read, 0)), 0) AS avg_read,
		s.count_write, s.sum_number_of_bytes_write AS total_written,
		coalesce(round(s.sum_number_of_bytes_write / nullif(s.count_write, 0)), 0) AS avg_written,
		s.sum_number_of_bytes_read + s.sum_number_of_bytes_write AS total_requested
	FROM pfs.file_summary_by_event_name s
	WHERE s.count_star > 0
) x
ORDER BY x.total_requested DESC, x.event_name;
CREATE VIEW pfs_sys.io_global_by_wait_by_bytes AS
SELECT
	x.event_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.min_latency) AS min_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	x.count_read,
	pfs_sys.format_bytes(x.total_read) AS total_read,
	pfs_sys.format_bytes(x.avg_read) AS avg_read,
	x.count_write,
	pfs_sys.format_bytes(x.total_written) AS total_written,
	pfs_sys.format_bytes(x.avg_written) AS avg_written,
	pfs_sys.format_bytes(x.total_requested) AS total_requested
FROM pfs_sys.x$io_global_by_wait_by_bytes x
ORDER BY x.total_requested DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$io_global_by_wait_by_bytes'::regclass), (false, 'pfs_sys.io_global_by_wait_by_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files by instrument, those with most bytes read and written first.', 'With plain values.'),
	(1, 'The instrument, the whole name.', ''),
	(2, 'Number of calls.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the shortest.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.'),
	(7, 'Number of reads.', ''),
	(8, 'Read.', 'In bytes.'),
	(9, 'Read per call.', 'In bytes.'),
	(10, 'Number of writes.', ''),
	(11, 'Written.', 'In bytes.'),
	(12, 'Written per call.', 'In bytes.'),
	(13, 'Read and written.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$io_by_thread_by_latency AS
SELECT x.user_name, x.total, x.total_latency, x.min_latency, x.avg_latency, x.max_latency, x.thread_id, x.processlist_id
FROM (
	SELECT coalesce(t.processlist_user || coalesce('@' || t.processlist_host, ''), substr(t.name, 8)) AS user_name,
		s.total, s.total_latency, s.min_latency, s.avg_latency, s.max_latency, s.thread_id, t.processlist_id
	FROM (
		SELECT thread_id, sum(count_star)::bigint AS total, sum(sum_timer_wait) AS total_latency, min(min_timer_wait) AS min_latency,
			coalesce(trunc(sum(sum_timer_wait) / nullif(sum(count_timed), 0)), 0) AS avg_latency, max(max_timer_wait) AS max_latency
		FROM pfs.events_waits_summary_by_thread_by_event_name
		WHERE event_name LIKE 'wait/io/file/%' AND sum_timer_wait > 0
		GROUP BY thread_id
	) s LEFT JOIN pfs.threads t ON t.thread_id = s.thread_id
) x
ORDER BY x.total_latency DESC, x.thread_id;
CREATE VIEW pfs_sys.io_by_thread_by_latency AS
SELECT
	x.user_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.min_latency) AS min_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	x.thread_id,
	x.processlist_id
FROM pfs_sys.x$io_by_thread_by_latency x
ORDER BY x.total_latency DESC, x.thread_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$io_by_thread_by_latency'::regclass), (false, 'pfs_sys.io_by_thread_by_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Threads, those whose calls on files took most time first.', 'With plain values.'),
	(1, 'role@address of a client, else the kind of process.', ''),
	(2, 'Number of calls.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the shortest.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.'),
	(6, 'Time of the longest.', 'In picoseconds.'),
	(7, 'Number of the thread: threads.thread_id.', ''),
	(8, 'Process id of client backends and walsenders, else NULL.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$latest_file_io AS
SELECT x.thread, x.file, x.latency, x.operation, x.requested, x.timer_start
FROM (
	SELECT coalesce(coalesce(t.processlist_user || coalesce('@' || t.processlist_host, ''), substr(t.name, 8)) || ':' || t.thread_os_id::text, 'thread ' || e.thread_id::text) AS thread,
		e.object_name AS file, e.timer_wait AS latency, e.operation, e.number_of_bytes::numeric AS requested, e.timer_start
	FROM pfs.events_waits_history_long e LEFT JOIN pfs.threads t ON t.thread_id = e.thread_id
	WHERE e.event_name LIKE 'wait/io/file/%' AND e.object_name IS NOT NULL
) x
ORDER BY x.timer_start, x.thread;
CREATE VIEW pfs_sys.latest_file_io AS
SELECT
	x.thread,
	CASE WHEN length(x.file) > 64 THEN '...' || right(x.file, 61) ELSE x.file END AS file,
	pfs_sys.format_time(x.latency) AS latency,
	x.operation,
	pfs_sys.format_bytes(x.requested) AS requested,
	(x.timer_start) AS timer_start
FROM pfs_sys.x$latest_file_io x
ORDER BY x.timer_start, x.thread;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$latest_file_io'::regclass), (false, 'pfs_sys.latest_file_io'::regclass)) v (plain, oid), (VALUES
	(0, 'The last calls on files of all sessions, the oldest first.', 'With plain values.'),
	(1, 'role@address:process id of a client, else the kind of process with its process id; of a thread that has ended its number.', ''),
	(2, 'Path below the data directory; (removed files: KIND) is what files of a kind have counted that are not there any more.', ''),
	(3, 'Time of the call.', 'In picoseconds.'),
	(4, 'read, write, sync, open and others.', ''),
	(5, 'Bytes that it moved; NULL where it moves none.', 'In bytes.'),
	(6, 'When it began, in picoseconds since the server''s start.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary AS
SELECT x.user_name, x.statements, x.statement_latency, x.statement_avg_latency, x.table_scans, x.file_ios, x.file_io_latency, x.current_connections, x.total_connections, x.unique_hosts, x.current_memory, x.total_memory_allocated
FROM (
	SELECT coalesce(a.user_name, 'background') AS user_name, coalesce(s.statements, 0) AS statements, coalesce(s.latency, 0) AS statement_latency,
		coalesce(s.avg_latency, 0) AS statement_avg_latency, coalesce(s.scans, 0) AS table_scans,
		coalesce(io.ios, 0) AS file_ios, coalesce(io.latency, 0) AS file_io_latency,
		a.current_connections, a.total_connections, coalesce(u.unique_hosts, 0) AS unique_hosts,
		coalesce(m.current_memory, 0) AS current_memory, coalesce(m.total_allocated, 0) AS total_memory_allocated
	FROM pfs.users a
	LEFT JOIN (
		SELECT coalesce(user_name, '') AS key, user_name IS NULL AS background, count(DISTINCT host) AS unique_hosts
		FROM pfs.accounts GROUP BY user_name
	) u ON u.key = coalesce(a.user_name, '') AND u.background = (a.user_name IS NULL)
	LEFT JOIN (
		SELECT coalesce(user_name, '') AS key, user_name IS NULL AS background, sum(count_star)::bigint AS statements, sum(sum_timer_wait) AS latency,
			coalesce(trunc(sum(sum_timer_wait) / nullif(sum(count_timed), 0)), 0) AS avg_latency, sum(sum_no_index_used)::bigint AS scans
		FROM pfs.events_statements_summary_by_user_by_event_name GROUP BY user_name
	) s ON s.key = coalesce(a.user_name, '') AND s.background = (a.user_name IS NULL)
	LEFT JOIN (
		SELECT coalesce(user_name, '') AS key, user_name IS NULL AS background, sum(count_star)::bigint AS ios, sum(sum_timer_wait) AS latency
		FROM pfs.events_waits_summary_by_user_by_event_name WHERE event_name LIKE 'wait/io/file/%' GROUP BY user_name
	) io ON io.key = coalesce(a.user_name, '') AND io.background = (a.user_name IS NULL)
	LEFT JOIN (
		SELECT coalesce(user_name, '') AS key, user_name IS NULL AS background, sum(current_number_of_bytes_used) AS current_memory, sum(sum_number_of_bytes_alloc) AS total_allocated
		FROM pfs.memory_summary_by_user_by_event_name GROUP BY user_name
	) m ON m.key = coalesce(a.user_name, '') AND m.background = (a.user_name IS NULL)
) x
ORDER BY x.statement_latency DESC NULLS LAST, x.user_name;
CREATE VIEW pfs_sys.user_summary AS
SELECT
	x.user_name,
	x.statements,
	pfs_sys.format_time(x.statement_latency) AS statement_latency,
	pfs_sys.format_time(x.statement_avg_latency) AS statement_avg_latency,
	x.table_scans,
	x.file_ios,
	pfs_sys.format_time(x.file_io_latency) AS file_io_latency,
	x.current_connections,
	x.total_connections,
	x.unique_hosts,
	pfs_sys.format_bytes(x.current_memory) AS current_memory,
	pfs_sys.format_bytes(x.total_memory_allocated) AS total_memory_allocated
FROM pfs_sys.x$user_summary x
ORDER BY x.statement_latency DESC NULLS LAST, x.user_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary'::regclass), (false, 'pfs_sys.user_summary'::regclass)) v (plain, oid), (VALUES
	(0, 'What sessions of each user have done, and do: statements, calls on files, connections, memory; most statement time first.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'Number of statements.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Average time.', 'In picoseconds.'),
	(5, 'Sequential scans; needs wait/io/table/handler.', ''),
	(6, 'Number of calls on files.', ''),
	(7, 'Their time.', 'In picoseconds.'),
	(8, 'Connections now.', ''),
	(9, 'Connections since the last reset.', ''),
	(10, 'How many hosts these came from.', ''),
	(11, 'Memory in use; needs memory instruments.', 'In bytes.'),
	(12, 'Memory allocated altogether.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary AS
SELECT x.host, x.statements, x.statement_latency, x.statement_avg_latency, x.table_scans, x.file_ios, x.file_io_latency, x.current_connections, x.total_connections, x.unique_users, x.current_memory, x.total_memory_allocated
FROM (
	SELECT coalesce(a.host, 'background') AS host, coalesce(s.statements, 0) AS statements, coalesce(s.latency, 0) AS statement_latency,
		coalesce(s.avg_latency, 0) AS statement_avg_latency, coalesce(s.scans, 0) AS table_scans,
		coalesce(io.ios, 0) AS file_ios, coalesce(io.latency, 0) AS file_io_latency,
		a.current_connections, a.total_connections, coalesce(u.unique_users, 0) AS unique_users,
		coalesce(m.current_memory, 0) AS current_memory, coalesce(m.total_allocated, 0) AS total_memory_allocated
	FROM pfs.hosts a
	LEFT JOIN (
		SELECT coalesce(host, '') AS key, host IS NULL AS background, count(DISTINCT user_name) AS unique_users
		FROM pfs.accounts GROUP BY host
	) u ON u.key = coalesce(a.host, '') AND u.background = (a.host IS NULL)
	LEFT JOIN (
		SELECT coalesce(host, '') AS key, host IS NULL AS background, sum(count_star)::bigint AS statements, sum(sum_timer_wait) AS latency,
			coalesce(trunc(sum(sum_timer_wait) / nullif(sum(count_timed), 0)), 0) AS avg_latency, sum(sum_no_index_used)::bigint AS scans
		FROM pfs.events_statements_summary_by_host_by_event_name GROUP BY host
	) s ON s.key = coalesce(a.host, '') AND s.background = (a.host IS NULL)
	LEFT JOIN (
		SELECT coalesce(host, '') AS key, host IS NULL AS background, sum(count_star)::bigint AS ios, sum(sum_timer_wait) AS latency
		FROM pfs.events_waits_summary_by_host_by_event_name WHERE event_name LIKE 'wait/io/file/%' GROUP BY host
	) io ON io.key = coalesce(a.host, '') AND io.background = (a.host IS NULL)
	LEFT JOIN (
		SELECT coalesce(host, '') AS key, host IS NULL AS background, sum(current_number_of_bytes_used) AS current_memory, sum(sum_number_of_bytes_alloc) AS total_allocated
		FROM pfs.memory_summary_by_host_by_event_name GROUP BY host
	) m ON m.key = coalesce(a.host, '') AND m.background = (a.host IS NULL)
) x
ORDER BY x.statement_latency DESC NULLS LAST, x.host;
CREATE VIEW pfs_sys.host_summary AS
SELECT
	x.host,
	x.statements,
	pfs_sys.format_time(x.statement_latency) AS statement_latency,
	pfs_sys.format_time(x.statement_avg_latency) AS statement_avg_latency,
	x.table_scans,
	x.file_ios,
	pfs_sys.format_time(x.file_io_latency) AS file_io_latency,
	x.current_connections,
	x.total_connections,
	x.unique_users,
	pfs_sys.format_bytes(x.current_memory) AS current_memory,
	pfs_sys.format_bytes(x.total_memory_allocated) AS total_memory_allocated
FROM pfs_sys.x$host_summary x
ORDER BY x.statement_latency DESC NULLS LAST, x.host;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary'::regclass), (false, 'pfs_sys.host_summary'::regclass)) v (plain, oid), (VALUES
	(0, 'What sessions of each host have done, and do: statements, calls on files, connections, memory; most statement time first.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'Number of statements.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Average time.', 'In picoseconds.'),
	(5, 'Sequential scans; needs wait/io/table/handler.', ''),
	(6, 'Number of calls on files.', ''),
	(7, 'Their time.', 'In picoseconds.'),
	(8, 'Connections now.', ''),
	(9, 'Connections since the last reset.', ''),
	(10, 'How many users these came from.', ''),
	(11, 'Memory in use; needs memory instruments.', 'In bytes.'),
	(12, 'Memory allocated altogether.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary_by_statement_type AS
SELECT x.user_name, x.statement, x.total, x.total_latency, x.max_latency, x.lock_latency, x.cpu_latency, x.rows_sent, x.rows_examined, x.rows_affected, x.full_scans
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, split_part(event_name, '/', 3) || CASE WHEN event_name LIKE 'statement/com/replication/%' THEN '/' || split_part(event_name, '/', 4) ELSE '' END AS statement,
		count_star AS total, sum_timer_wait AS total_latency, max_timer_wait AS max_latency,
		sum_lock_time AS lock_latency, sum_cpu_time AS cpu_latency,
		sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected, sum_no_index_used AS full_scans
	FROM pfs.events_statements_summary_by_user_by_event_name
	WHERE count_star > 0
) x
ORDER BY x.user_name, x.total_latency DESC, x.statement;
CREATE VIEW pfs_sys.user_summary_by_statement_type AS
SELECT
	x.user_name,
	x.statement,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_sent,
	x.rows_examined,
	x.rows_affected,
	x.full_scans
FROM pfs_sys.x$user_summary_by_statement_type x
ORDER BY x.user_name, x.total_latency DESC, x.statement;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary_by_statement_type'::regclass), (false, 'pfs_sys.user_summary_by_statement_type'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements of each user by their kind, most time first.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'Kind of statement: select, insert, begin and so on.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.'),
	(6, 'Time in waits for heavyweight and lightweight locks.', 'In picoseconds.'),
	(7, 'Processor time; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(8, 'Rows returned.', ''),
	(9, 'Rows fetched; needs wait/io/table/handler.', ''),
	(10, 'Rows changed.', ''),
	(11, 'Sequential scans; needs wait/io/table/handler.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary_by_statement_type AS
SELECT x.host, x.statement, x.total, x.total_latency, x.max_latency, x.lock_latency, x.cpu_latency, x.rows_sent, x.rows_examined, x.rows_affected, x.full_scans
FROM (
	SELECT coalesce(host, 'background') AS host, split_part(event_name, '/', 3) || CASE WHEN event_name LIKE 'statement/com/replication/%' THEN '/' || split_part(event_name, '/', 4) ELSE '' END AS statement,
		count_star AS total, sum_timer_wait AS total_latency, max_timer_wait AS max_latency,
		sum_lock_time AS lock_latency, sum_cpu_time AS cpu_latency,
		sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected, sum_no_index_used AS full_scans
	FROM pfs.events_statements_summary_by_host_by_event_name
	WHERE count_star > 0
) x
ORDER BY x.host, x.total_latency DESC, x.statement;
CREATE VIEW pfs_sys.host_summary_by_statement_type AS
SELECT
	x.host,
	x.statement,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_sent,
	x.rows_examined,
	x.rows_affected,
	x.full_scans
FROM pfs_sys.x$host_summary_by_statement_type x
ORDER BY x.host, x.total_latency DESC, x.statement;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary_by_statement_type'::regclass), (false, 'pfs_sys.host_summary_by_statement_type'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements of each host by their kind, most time first.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'Kind of statement: select, insert, begin and so on.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.'),
	(6, 'Time in waits for heavyweight and lightweight locks.', 'In picoseconds.'),
	(7, 'Processor time; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(8, 'Rows returned.', ''),
	(9, 'Rows fetched; needs wait/io/table/handler.', ''),
	(10, 'Rows changed.', ''),
	(11, 'Sequential scans; needs wait/io/table/handler.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary_by_statement_latency AS
SELECT x.user_name, x.total, x.total_latency, x.max_latency, x.lock_latency, x.cpu_latency, x.rows_sent, x.rows_examined, x.rows_affected, x.full_scans
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, sum(count_star)::bigint AS total, sum(sum_timer_wait) AS total_latency, max(max_timer_wait) AS max_latency,
		sum(sum_lock_time) AS lock_latency, sum(sum_cpu_time) AS cpu_latency,
		sum(sum_rows_sent)::bigint AS rows_sent, sum(sum_rows_examined)::bigint AS rows_examined, sum(sum_rows_affected)::bigint AS rows_affected,
		sum(sum_no_index_used)::bigint AS full_scans
	FROM pfs.events_statements_summary_by_user_by_event_name s
	WHERE count_star > 0
	GROUP BY s.user_name
) x
ORDER BY x.total_latency DESC, x.user_name;
CREATE VIEW pfs_sys.user_summary_by_statement_latency AS
SELECT
	x.user_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_sent,
	x.rows_examined,
	x.rows_affected,
	x.full_scans
FROM pfs_sys.x$user_summary_by_statement_latency x
ORDER BY x.total_latency DESC, x.user_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary_by_statement_latency'::regclass), (false, 'pfs_sys.user_summary_by_statement_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements of each user, most time first.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'How many there were.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the longest.', 'In picoseconds.'),
	(5, 'Time in waits for heavyweight and lightweight locks.', 'In picoseconds.'),
	(6, 'Processor time; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(7, 'Rows returned.', ''),
	(8, 'Rows fetched; needs wait/io/table/handler.', ''),
	(9, 'Rows changed.', ''),
	(10, 'Sequential scans; needs wait/io/table/handler.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary_by_statement_latency AS
SELECT x.host, x.total, x.total_latency, x.max_latency, x.lock_latency, x.cpu_latency, x.rows_sent, x.rows_examined, x.rows_affected, x.full_scans
FROM (
	SELECT coalesce(host, 'background') AS host, sum(count_star)::bigint AS total, sum(sum_timer_wait) AS total_latency, max(max_timer_wait) AS max_latency,
		sum(sum_lock_time) AS lock_latency, sum(sum_cpu_time) AS cpu_latency,
		sum(sum_rows_sent)::bigint AS rows_sent, sum(sum_rows_examined)::bigint AS rows_examined, sum(sum_rows_affected)::bigint AS rows_affected,
		sum(sum_no_index_used)::bigint AS full_scans
	FROM pfs.events_statements_summary_by_host_by_event_name s
	WHERE count_star > 0
	GROUP BY s.host
) x
ORDER BY x.total_latency DESC, x.host;
CREATE VIEW pfs_sys.host_summary_by_statement_latency AS
SELECT
	x.host,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.max_latency) AS max_latency,
	pfs_sys.format_time(x.lock_latency) AS lock_latency,
	pfs_sys.format_time(x.cpu_latency) AS cpu_latency,
	x.rows_sent,
	x.rows_examined,
	x.rows_affected,
	x.full_scans
FROM pfs_sys.x$host_summary_by_statement_latency x
ORDER BY x.total_latency DESC, x.host;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary_by_statement_latency'::regclass), (false, 'pfs_sys.host_summary_by_statement_latency'::regclass)) v (plain, oid), (VALUES
	(0, 'Statements of each host, most time first.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'How many there were.', ''),
	(3, 'Their time.', 'In picoseconds.'),
	(4, 'Time of the longest.', 'In picoseconds.'),
	(5, 'Time in waits for heavyweight and lightweight locks.', 'In picoseconds.'),
	(6, 'Processor time; needs the consumer events_statements_cpu.', 'In picoseconds.'),
	(7, 'Rows returned.', ''),
	(8, 'Rows fetched; needs wait/io/table/handler.', ''),
	(9, 'Rows changed.', ''),
	(10, 'Sequential scans; needs wait/io/table/handler.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary_by_file_io AS
SELECT x.user_name, x.ios, x.io_latency
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, sum(count_star)::bigint AS ios, sum(sum_timer_wait) AS io_latency
	FROM pfs.events_waits_summary_by_user_by_event_name s
	WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
	GROUP BY s.user_name
) x
ORDER BY x.io_latency DESC, x.user_name;
CREATE VIEW pfs_sys.user_summary_by_file_io AS
SELECT
	x.user_name,
	x.ios,
	pfs_sys.format_time(x.io_latency) AS io_latency
FROM pfs_sys.x$user_summary_by_file_io x
ORDER BY x.io_latency DESC, x.user_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary_by_file_io'::regclass), (false, 'pfs_sys.user_summary_by_file_io'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files of each user, most time first.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'Number of calls.', ''),
	(3, 'Their time.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary_by_file_io AS
SELECT x.host, x.ios, x.io_latency
FROM (
	SELECT coalesce(host, 'background') AS host, sum(count_star)::bigint AS ios, sum(sum_timer_wait) AS io_latency
	FROM pfs.events_waits_summary_by_host_by_event_name s
	WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
	GROUP BY s.host
) x
ORDER BY x.io_latency DESC, x.host;
CREATE VIEW pfs_sys.host_summary_by_file_io AS
SELECT
	x.host,
	x.ios,
	pfs_sys.format_time(x.io_latency) AS io_latency
FROM pfs_sys.x$host_summary_by_file_io x
ORDER BY x.io_latency DESC, x.host;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary_by_file_io'::regclass), (false, 'pfs_sys.host_summary_by_file_io'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files of each host, most time first.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'Number of calls.', ''),
	(3, 'Their time.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary_by_file_io_type AS
SELECT x.user_name, x.event_name, x.total, x.latency, x.max_latency
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, event_name, count_star AS total, sum_timer_wait AS latency, max_timer_wait AS max_latency
	FROM pfs.events_waits_summary_by_user_by_event_name
	WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
) x
ORDER BY x.user_name, x.latency DESC, x.event_name;
CREATE VIEW pfs_sys.user_summary_by_file_io_type AS
SELECT
	x.user_name,
	x.event_name,
	x.total,
	pfs_sys.format_time(x.latency) AS latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$user_summary_by_file_io_type x
ORDER BY x.user_name, x.latency DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary_by_file_io_type'::regclass), (false, 'pfs_sys.user_summary_by_file_io_type'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files of each user by instrument, most time first.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'Number of calls.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary_by_file_io_type AS
SELECT x.host, x.event_name, x.total, x.latency, x.max_latency
FROM (
	SELECT coalesce(host, 'background') AS host, event_name, count_star AS total, sum_timer_wait AS latency, max_timer_wait AS max_latency
	FROM pfs.events_waits_summary_by_host_by_event_name
	WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
) x
ORDER BY x.host, x.latency DESC, x.event_name;
CREATE VIEW pfs_sys.host_summary_by_file_io_type AS
SELECT
	x.host,
	x.event_name,
	x.total,
	pfs_sys.format_time(x.latency) AS latency,
	pfs_sys.format_time(x.max_latency) AS max_latency
FROM pfs_sys.x$host_summary_by_file_io_type x
ORDER BY x.host, x.latency DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary_by_file_io_type'::regclass), (false, 'pfs_sys.host_summary_by_file_io_type'::regclass)) v (plain, oid), (VALUES
	(0, 'Calls on files of each host by instrument, most time first.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'Number of calls.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Time of the longest.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$user_summary_by_stages AS
SELECT x.user_name, x.event_name, x.total, x.total_latency, x.avg_latency
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, event_name, count_star AS total, sum_timer_wait AS total_latency, avg_timer_wait AS avg_latency
	FROM pfs.events_stages_summary_by_user_by_event_name
	WHERE sum_timer_wait > 0
) x
ORDER BY x.user_name, x.total_latency DESC, x.event_name;
CREATE VIEW pfs_sys.user_summary_by_stages AS
SELECT
	x.user_name,
	x.event_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency
FROM pfs_sys.x$user_summary_by_stages x
ORDER BY x.user_name, x.total_latency DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$user_summary_by_stages'::regclass), (false, 'pfs_sys.user_summary_by_stages'::regclass)) v (plain, oid), (VALUES
	(0, 'Stages of statements of each user, most time first; needs stage instruments. Those of a query in a command (EXPLAIN, CREATE TABLE AS) lie in its stage/sql/utility, and count beside it.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$host_summary_by_stages AS
SELECT x.host, x.event_name, x.total, x.total_latency, x.avg_latency
FROM (
	SELECT coalesce(host, 'background') AS host, event_name, count_star AS total, sum_timer_wait AS total_latency, avg_timer_wait AS avg_latency
	FROM pfs.events_stages_summary_by_host_by_event_name
	WHERE sum_timer_wait > 0
) x
ORDER BY x.host, x.total_latency DESC, x.event_name;
CREATE VIEW pfs_sys.host_summary_by_stages AS
SELECT
	x.host,
	x.event_name,
	x.total,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	pfs_sys.format_time(x.avg_latency) AS avg_latency
FROM pfs_sys.x$host_summary_by_stages x
ORDER BY x.host, x.total_latency DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$host_summary_by_stages'::regclass), (false, 'pfs_sys.host_summary_by_stages'::regclass)) v (plain, oid), (VALUES
	(0, 'Stages of statements of each host, most time first; needs stage instruments. Those of a query in a command (EXPLAIN, CREATE TABLE AS) lie in its stage/sql/utility, and count beside it.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'The instrument.', ''),
	(3, 'How many there were.', ''),
	(4, 'Their time.', 'In picoseconds.'),
	(5, 'Average time.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$memory_by_user_by_current_bytes AS
SELECT x.user_name, x.current_count_used, x.current_allocated, x.current_avg_alloc, x.current_max_alloc, x.total_allocated
FROM (
	SELECT coalesce(user_name, 'background') AS user_name, sum(current_count_used)::bigint AS current_count_used, sum(current_number_of_bytes_used) AS current_allocated,
		coalesce(round(sum(current_number_of_bytes_used) / nullif(sum(current_count_used), 0)), 0) AS current_avg_alloc,
		max(current_number_of_bytes_used)::numeric AS current_max_alloc, sum(sum_number_of_bytes_alloc) AS total_allocated
	FROM pfs.memory_summary_by_user_by_event_name s
	GROUP BY s.user_name
) x
ORDER BY x.current_allocated DESC, x.user_name;
CREATE VIEW pfs_sys.memory_by_user_by_current_bytes AS
SELECT
	x.user_name,
	x.current_count_used,
	pfs_sys.format_bytes(x.current_allocated) AS current_allocated,
	pfs_sys.format_bytes(x.current_avg_alloc) AS current_avg_alloc,
	pfs_sys.format_bytes(x.current_max_alloc) AS current_max_alloc,
	pfs_sys.format_bytes(x.total_allocated) AS total_allocated
FROM pfs_sys.x$memory_by_user_by_current_bytes x
ORDER BY x.current_allocated DESC, x.user_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$memory_by_user_by_current_bytes'::regclass), (false, 'pfs_sys.memory_by_user_by_current_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Memory in use by the sessions of each user, most first; needs memory instruments.', 'With plain values.'),
	(1, 'Role; background is the server''s own processes.', ''),
	(2, 'Allocations in use.', ''),
	(3, 'Memory in use.', 'In bytes.'),
	(4, 'The same per allocation.', 'In bytes.'),
	(5, 'What the largest kind of memory context has in use.', 'In bytes.'),
	(6, 'Memory allocated altogether.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$memory_by_host_by_current_bytes AS
SELECT x.host, x.current_count_used, x.current_allocated, x.current_avg_alloc, x.current_max_alloc, x.total_allocated
FROM (
	SELECT coalesce(host, 'background') AS host, sum(current_count_used)::bigint AS current_count_used, sum(current_number_of_bytes_used) AS current_allocated,
		coalesce(round(sum(current_number_of_bytes_used) / nullif(sum(current_count_used), 0)), 0) AS current_avg_alloc,
		max(current_number_of_bytes_used)::numeric AS current_max_alloc, sum(sum_number_of_bytes_alloc) AS total_allocated
	FROM pfs.memory_summary_by_host_by_event_name s
	GROUP BY s.host
) x
ORDER BY x.current_allocated DESC, x.host;
CREATE VIEW pfs_sys.memory_by_host_by_current_bytes AS
SELECT
	x.host,
	x.current_count_used,
	pfs_sys.format_bytes(x.current_allocated) AS current_allocated,
	pfs_sys.format_bytes(x.current_avg_alloc) AS current_avg_alloc,
	pfs_sys.format_bytes(x.current_max_alloc) AS current_max_alloc,
	pfs_sys.format_bytes(x.total_allocated) AS total_allocated
FROM pfs_sys.x$memory_by_host_by_current_bytes x
ORDER BY x.current_allocated DESC, x.host;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$memory_by_host_by_current_bytes'::regclass), (false, 'pfs_sys.memory_by_host_by_current_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Memory in use by the sessions of each host, most first; needs memory instruments.', 'With plain values.'),
	(1, 'Client address; background is the server''s own processes.', ''),
	(2, 'Allocations in use.', ''),
	(3, 'Memory in use.', 'In bytes.'),
	(4, 'The same per allocation.', 'In bytes.'),
	(5, 'What the largest kind of memory context has in use.', 'In bytes.'),
	(6, 'Memory allocated altogether.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$memory_by_thread_by_current_bytes AS
SELECT x.thread_id, x.user_name, x.current_count_used, x.current_allocated, x.current_avg_alloc, x.current_max_alloc, x.total_allocated
FROM (
	SELECT m.thread_id, coalesce(t.processlist_user || coalesce('@' || t.processlist_host, ''), substr(t.name, 8)) AS user_name,
		m.current_count_used, m.current_allocated, m.current_avg_alloc, m.current_max_alloc, m.total_allocated
	FROM (
		SELECT thread_id, sum(current_count_used)::bigint AS current_count_used, sum(current_number_of_bytes_used) AS current_allocated,
			coalesce(round(sum(current_number_of_bytes_used) / nullif(sum(current_count_used), 0)), 0) AS current_avg_alloc,
			max(current_number_of_bytes_used)::numeric AS current_max_alloc, sum(sum_number_of_bytes_alloc) AS total_allocated
		FROM pfs.memory_summary_by_thread_by_event_name GROUP BY thread_id
	) m JOIN pfs.threads t ON t.thread_id = m.thread_id
) x
ORDER BY x.current_allocated DESC, x.thread_id;
CREATE VIEW pfs_sys.memory_by_thread_by_current_bytes AS
SELECT
	x.thread_id,
	x.user_name,
	x.current_count_used,
	pfs_sys.format_bytes(x.current_allocated) AS current_allocated,
	pfs_sys.format_bytes(x.current_avg_alloc) AS current_avg_alloc,
	pfs_sys.format_bytes(x.current_max_alloc) AS current_max_alloc,
	pfs_sys.format_bytes(x.total_allocated) AS total_allocated
FROM pfs_sys.x$memory_by_thread_by_current_bytes x
ORDER BY x.current_allocated DESC, x.thread_id;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$memory_by_thread_by_current_bytes'::regclass), (false, 'pfs_sys.memory_by_thread_by_current_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Memory in use by each thread, most first; needs memory instruments.', 'With plain values.'),
	(1, 'Number of the thread: threads.thread_id.', ''),
	(2, 'role@address of a client, else the kind of process.', ''),
	(3, 'Allocations in use.', ''),
	(4, 'Memory in use.', 'In bytes.'),
	(5, 'The same per allocation.', 'In bytes.'),
	(6, 'What the largest kind of memory context has in use.', 'In bytes.'),
	(7, 'Memory allocated altogether.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$memory_global_by_current_bytes AS
SELECT x.event_name, x.current_count, x.current_alloc, x.current_avg_alloc, x.high_count, x.high_alloc, x.high_avg_alloc
FROM (
	SELECT event_name, current_count_used AS current_count, current_number_of_bytes_used::numeric AS current_alloc,
		coalesce(round(current_number_of_bytes_used::numeric / nullif(current_count_used, 0)), 0) AS current_avg_alloc,
		high_count_used AS high_count, high_number_of_bytes_used::numeric AS high_alloc,
		coalesce(round(high_number_of_bytes_used::numeric / nullif(high_count_used, 0)), 0) AS high_avg_alloc
	FROM pfs.memory_summary_global_by_event_name
	WHERE current_number_of_bytes_used > 0
) x
ORDER BY x.current_alloc DESC, x.event_name;
CREATE VIEW pfs_sys.memory_global_by_current_bytes AS
SELECT
	x.event_name,
	x.current_count,
	pfs_sys.format_bytes(x.current_alloc) AS current_alloc,
	pfs_sys.format_bytes(x.current_avg_alloc) AS current_avg_alloc,
	x.high_count,
	pfs_sys.format_bytes(x.high_alloc) AS high_alloc,
	pfs_sys.format_bytes(x.high_avg_alloc) AS high_avg_alloc
FROM pfs_sys.x$memory_global_by_current_bytes x
ORDER BY x.current_alloc DESC, x.event_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$memory_global_by_current_bytes'::regclass), (false, 'pfs_sys.memory_global_by_current_bytes'::regclass)) v (plain, oid), (VALUES
	(0, 'Memory in use by kind, most first: memory contexts of all processes, what pfs itself takes, and areas of shared memory.', 'With plain values.'),
	(1, 'The instrument.', ''),
	(2, 'Allocations in use.', ''),
	(3, 'Memory in use.', 'In bytes.'),
	(4, 'The same per allocation.', 'In bytes.'),
	(5, 'The most allocations that were in use.', ''),
	(6, 'The most memory that was in use.', 'In bytes.'),
	(7, 'The same per allocation.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$memory_global_total AS
SELECT x.total_allocated
FROM (
	SELECT coalesce(sum(current_number_of_bytes_used), 0) AS total_allocated
	FROM pfs.memory_summary_global_by_event_name
	WHERE event_name NOT LIKE 'memory/pfs/%'
	HAVING EXISTS (SELECT FROM pfs.setup_timers)
) x
ORDER BY x.total_allocated;
CREATE VIEW pfs_sys.memory_global_total AS
SELECT
	pfs_sys.format_bytes(x.total_allocated) AS total_allocated
FROM pfs_sys.x$memory_global_total x
ORDER BY x.total_allocated;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$memory_global_total'::regclass), (false, 'pfs_sys.memory_global_total'::regclass)) v (plain, oid), (VALUES
	(0, 'All memory that memory_global_by_current_bytes shows, but for what pfs itself takes, which lies in the shared memory that is counted there.', 'With plain values.'),
	(1, 'Memory in use.', 'In bytes.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_table_statistics AS
SELECT x.table_schema, x.table_name, x.total_latency, x.rows_fetched, x.fetch_latency, x.rows_inserted, x.insert_latency, x.rows_updated, x.update_latency, x.rows_deleted, x.delete_latency, x.io_read_requests, x.io_read, x.io_read_latency, x.io_write_requests, x.io_write, x.io_write_latency, x.io_misc_requests, x.io_misc_latency
FROM (
	WITH names AS (
		SELECT n.nspname::text AS object_schema, c.relname::text AS object_name, coalesce(o.oid, i.indrelid, c.oid) AS owner
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
			LEFT JOIN pg_catalog.pg_class o ON o.reltoastrelid = coalesce(i.indrelid, c.oid)
		WHERE c.relkind IN ('r', 'm', 't', 'i')
	), io AS (
		SELECT names.owner, sum(f.count_read)::bigint AS count_read, sum(f.sum_number_of_bytes_read) AS bytes_read, sum(f.sum_timer_read) AS timer_read,
			sum(f.count_write)::bigint AS count_write, sum(f.sum_number_of_bytes_write) AS bytes_write, sum(f.sum_timer_write) AS timer_write,
			sum(f.count_misc)::bigint AS count_misc, sum(f.sum_timer_misc) AS timer_misc
		FROM pfs.file_summary_by_relation f JOIN names USING (object_schema, object_name)
		WHERE f.kind = 'relation' GROUP BY names.owner
	)
	SELECT t.object_schema AS table_schema, t.object_name AS table_name, t.sum_timer_wait AS total_latency,
		t.count_fetch AS rows_fetched, t.sum_timer_fetch AS fetch_latency, t.count_insert AS rows_inserted, t.sum_timer_insert AS insert_latency,
		t.count_update AS rows_updated, t.sum_timer_update AS update_latency, t.count_delete AS rows_deleted, t.sum_timer_delete AS delete_latency,
		coalesce(io.count_read, 0) AS io_read_requests, coalesce(io.bytes_read, 0) AS io_read, coalesce(io.timer_read, 0) AS io_read_latency,
		coalesce(io.count_write, 0) AS io_write_requests, coalesce(io.bytes_write, 0) AS io_write, coalesce(io.timer_write, 0) AS io_write_latency,
		coalesce(io.count_misc, 0) AS io_misc_requests, coalesce(io.timer_misc, 0) AS io_misc_latency
	FROM pfs.table_io_waits_summary_by_table t
		LEFT JOIN pg_catalog.pg_namespace n ON n.nspname::text = t.object_schema
		LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname::text = t.object_name
		LEFT JOIN io ON io.owner = c.oid
	WHERE t.count_star > 0 AND t.database_name = current_database()::text AND t.object_schema IS NOT NULL
) x
ORDER BY x.total_latency DESC, x.table_schema, x.table_name;
CREATE VIEW pfs_sys.schema_table_statistics AS
SELECT
	x.table_schema,
	x.table_name,
	pfs_sys.format_time(x.total_latency) AS total_latency,
	x.rows_fetched,
	pfs_sys.format_time(x.fetch_latency) AS fetch_latency,
	x.rows_inserted,
	pfs_sys.format_time(x.insert_latency) AS insert_latency,
	x.rows_updated,
	pfs_sys.format_time(x.update_latency) AS update_latency,
	x.rows_deleted,
	pfs_sys.format_time(x.delete_latency) AS delete_latency,
	x.io_read_requests,
	pfs_sys.format_bytes(x.io_read) AS io_read,
	pfs_sys.format_time(x.io_read_latency) AS io_read_latency,
	x.io_write_requests,
	pfs_sys.format_bytes(x.io_write) AS io_write,
	pfs_sys.format_time(x.io_write_latency) AS io_write_latency,
	x.io_misc_requests,
	pfs_sys.format_time(x.io_misc_latency) AS io_misc_latency
FROM pfs_sys.x$schema_table_statistics x
ORDER BY x.total_latency DESC, x.table_schema, x.table_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_table_statistics'::regclass), (false, 'pfs_sys.schema_table_statistics'::regclass)) v (plain, oid), (VALUES
	(0, 'Tables of this database with accesses to their rows and calls on their files, most time of rows first; needs wait/io/table/handler.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'Time of all accesses to its rows.', 'In picoseconds.'),
	(4, 'Rows fetched.', ''),
	(5, 'Time of that.', 'In picoseconds.'),
	(6, 'Rows inserted.', ''),
	(7, 'Time of that.', 'In picoseconds.'),
	(8, 'Rows updated.', ''),
	(9, 'Time of that.', 'In picoseconds.'),
	(10, 'Rows deleted.', ''),
	(11, 'Time of that.', 'In picoseconds.'),
	(12, 'Reads of its files, and of its indexes'' and its TOAST table''s.', ''),
	(13, 'Read there.', 'In bytes.'),
	(14, 'Time of that.', 'In picoseconds.'),
	(15, 'Writes of these files.', ''),
	(16, 'Written there.', 'In bytes.'),
	(17, 'Time of that.', 'In picoseconds.'),
	(18, 'Other calls on these files.', ''),
	(19, 'Time of that.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_table_statistics_with_buffer AS
SELECT x.table_schema, x.table_name, x.rows_fetched, x.fetch_latency, x.rows_inserted, x.insert_latency, x.rows_updated, x.update_latency, x.rows_deleted, x.delete_latency, x.io_read_requests, x.io_read, x.io_read_latency, x.io_write_requests, x.io_write, x.io_write_latency, x.io_misc_requests, x.io_misc_latency, x.buffer_hits, x.buffer_reads, x.buffer_hit_pct
FROM (
	WITH owners AS MATERIALIZED (
		SELECT n.nspname::text AS table_schema, c.relname::text AS table_name, c.oid
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	)
	SELECT s.table_schema, s.table_name, s.rows_fetched, s.fetch_latency, s.rows_inserted, s.insert_latency, s.rows_updated, s.update_latency,
		s.rows_deleted, s.delete_latency, s.io_read_requests, s.io_read, s.io_read_latency, s.io_write_requests, s.io_write, s.io_write_latency,
		s.io_misc_requests, s.io_misc_latency, b.hits AS buffer_hits, b.reads AS buffer_reads,
		coalesce(round(100 * b.hits::numeric / nullif(b.hits + b.reads, 0), 2), 0) AS buffer_hit_pct
	FROM pfs_sys.x$schema_table_statistics s
		LEFT JOIN owners o USING (table_schema, table_name)
		LEFT JOIN LATERAL (
			SELECT sum(pg_catalog.pg_stat_get_blocks_hit(r.oid))::bigint AS hits,
				sum(pg_catalog.pg_stat_get_blocks_fetched(r.oid) - pg_catalog.pg_stat_get_blocks_hit(r.oid))::bigint AS reads
			FROM (SELECT o.oid UNION ALL SELECT i.indexrelid FROM pg_catalog.pg_index i WHERE i.indrelid = o.oid) r
		) b ON true
) x
ORDER BY x.fetch_latency + x.insert_latency + x.update_latency + x.delete_latency DESC, x.table_schema, x.table_name;
CREATE VIEW pfs_sys.schema_table_statistics_with_buffer AS
SELECT
	x.table_schema,
	x.table_name,
	x.rows_fetched,
	pfs_sys.format_time(x.fetch_latency) AS fetch_latency,
	x.rows_inserted,
	pfs_sys.format_time(x.insert_latency) AS insert_latency,
	x.rows_updated,
	pfs_sys.format_time(x.update_latency) AS update_latency,
	x.rows_deleted,
	pfs_sys.format_time(x.delete_latency) AS delete_latency,
	x.io_read_requests,
	pfs_sys.format_bytes(x.io_read) AS io_read,
	pfs_sys.format_time(x.io_read_latency) AS io_read_latency,
	x.io_write_requests,
	pfs_sys.format_bytes(x.io_write) AS io_write,
	pfs_sys.format_time(x.io_write_latency) AS io_write_latency,
	x.io_misc_requests,
	pfs_sys.format_time(x.io_misc_latency) AS io_misc_latency,
	x.buffer_hits,
	x.buffer_reads,
	x.buffer_hit_pct
FROM pfs_sys.x$schema_table_statistics_with_buffer x
ORDER BY x.fetch_latency + x.insert_latency + x.update_latency + x.delete_latency DESC, x.table_schema, x.table_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_table_statistics_with_buffer'::regclass), (false, 'pfs_sys.schema_table_statistics_with_buffer'::regclass)) v (plain, oid), (VALUES
	(0, 'Tables of this database as in schema_table_statistics, with what shared buffers did for them; needs wait/io/table/handler.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'Rows fetched.', ''),
	(4, 'Time of that.', 'In picoseconds.'),
	(5, 'Rows inserted.', ''),
	(6, 'Time of that.', 'In picoseconds.'),
	(7, 'Rows updated.', ''),
	(8, 'Time of that.', 'In picoseconds.'),
	(9, 'Rows deleted.', ''),
	(10, 'Time of that.', 'In picoseconds.'),
	(11, 'Reads of its files, and of its indexes'' and its TOAST table''s.', ''),
	(12, 'Read there.', 'In bytes.'),
	(13, 'Time of that.', 'In picoseconds.'),
	(14, 'Writes of these files.', ''),
	(15, 'Written there.', 'In bytes.'),
	(16, 'Time of that.', 'In picoseconds.'),
	(17, 'Other calls on these files.', ''),
	(18, 'Time of that.', 'In picoseconds.'),
	(19, 'Pages of the table and its indexes that were in shared buffers, by the server''s statistics since their last reset.', ''),
	(20, 'Pages that had to be read, by the same.', ''),
	(21, 'Percent of both that were there.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_index_statistics AS
SELECT x.table_schema, x.table_name, x.index_name, x.rows_selected, x.select_latency, x.rows_inserted, x.insert_latency, x.rows_updated, x.update_latency, x.rows_deleted, x.delete_latency
FROM (
	SELECT object_schema AS table_schema, object_name AS table_name, index_name, count_fetch AS rows_selected, sum_timer_fetch AS select_latency,
		count_insert AS rows_inserted, sum_timer_insert AS insert_latency, count_update AS rows_updated, sum_timer_update AS update_latency,
		count_delete AS rows_deleted, sum_timer_delete AS delete_latency
	FROM pfs.table_io_waits_summary_by_index_usage
	WHERE count_star > 0 AND index_name IS NOT NULL AND object_schema IS NOT NULL AND database_name = current_database()::text
) x
ORDER BY x.select_latency + x.insert_latency + x.update_latency + x.delete_latency DESC, x.table_schema, x.table_name, x.index_name;
CREATE VIEW pfs_sys.schema_index_statistics AS
SELECT
	x.table_schema,
	x.table_name,
	x.index_name,
	x.rows_selected,
	pfs_sys.format_time(x.select_latency) AS select_latency,
	x.rows_inserted,
	pfs_sys.format_time(x.insert_latency) AS insert_latency,
	x.rows_updated,
	pfs_sys.format_time(x.update_latency) AS update_latency,
	x.rows_deleted,
	pfs_sys.format_time(x.delete_latency) AS delete_latency
FROM pfs_sys.x$schema_index_statistics x
ORDER BY x.select_latency + x.insert_latency + x.update_latency + x.delete_latency DESC, x.table_schema, x.table_name, x.index_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_index_statistics'::regclass), (false, 'pfs_sys.schema_index_statistics'::regclass)) v (plain, oid), (VALUES
	(0, 'Indexes of this database with accesses to them, most time first; needs wait/io/table/handler.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'The index.', ''),
	(4, 'Rows that it found.', ''),
	(5, 'Time of that.', 'In picoseconds.'),
	(6, 'Entries that were made in it.', ''),
	(7, 'Time of that.', 'In picoseconds.'),
	(8, 'Rows that were updated by way of it.', ''),
	(9, 'Time of that.', 'In picoseconds.'),
	(10, 'Rows that were deleted by way of it.', ''),
	(11, 'Time of that.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_tables_with_full_table_scans AS
SELECT x.object_schema, x.object_name, x.rows_full_scanned, x.latency
FROM (
	SELECT object_schema, object_name, count_fetch AS rows_full_scanned, sum_timer_fetch AS latency
	FROM pfs.table_io_waits_summary_by_index_usage
	WHERE index_name IS NULL AND count_fetch > 0 AND object_schema IS NOT NULL AND database_name = current_database()::text
) x
ORDER BY x.rows_full_scanned DESC, x.object_schema, x.object_name;
CREATE VIEW pfs_sys.schema_tables_with_full_table_scans AS
SELECT
	x.object_schema,
	x.object_name,
	x.rows_full_scanned,
	pfs_sys.format_time(x.latency) AS latency
FROM pfs_sys.x$schema_tables_with_full_table_scans x
ORDER BY x.rows_full_scanned DESC, x.object_schema, x.object_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_tables_with_full_table_scans'::regclass), (false, 'pfs_sys.schema_tables_with_full_table_scans'::regclass)) v (plain, oid), (VALUES
	(0, 'Tables of this database that were read without an index, most rows first; needs wait/io/table/handler.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'Rows that were fetched without an index.', ''),
	(4, 'Time of that.', 'In picoseconds.')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_unused_indexes AS
SELECT x.object_schema, x.object_name, x.index_name, x.index_size, x.since
FROM (
	WITH used AS (
		SELECT object_schema, index_name FROM pfs.table_io_waits_summary_by_index_usage
		WHERE count_fetch > 0 AND index_name IS NOT NULL AND object_schema IS NOT NULL AND database_name = current_database()::text
	), rules AS MATERIALIZED (
		SELECT * FROM pfs.setup_objects
		WHERE object_type = 'TABLE' AND database_name IN ('%', current_database()::text)
	), since AS MATERIALIZED (
		SELECT greatest(pfs.reset_time('table_io_waits_summary_by_index_usage'), pfs.reset_time('table_io_waits_summary_by_table')) AS reset
		FROM pfs.setup_timers WHERE name = 'wait' AND pfs.index_usage_unknown() IS NULL
	)
	SELECT n.nspname::text AS object_schema, t.relname::text AS object_name, c.relname::text AS index_name,
		c.relpages::numeric * current_setting('block_size')::numeric AS index_size, since.reset AS since
	FROM since
		CROSS JOIN pg_catalog.pg_index i
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i'
		JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
	WHERE NOT i.indisunique AND NOT i.indisexclusion
		AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname::text NOT LIKE 'pg_temp%' AND n.nspname::text NOT LIKE 'pg_toast_temp%'
		AND NOT EXISTS (SELECT FROM used u WHERE u.object_schema = n.nspname::text AND u.index_name = c.relname::text)
		AND (
			SELECT r.enabled FROM rules r
			WHERE r.object_schema IN ('%', n.nspname::text) AND r.object_name IN ('%', t.relname::text)
			ORDER BY (r.object_name <> '%') DESC, (r.object_schema <> '%') DESC, (r.database_name <> '%') DESC LIMIT 1
		) = 'YES'
) x
ORDER BY x.index_size DESC, x.object_schema, x.object_name, x.index_name;
CREATE VIEW pfs_sys.schema_unused_indexes AS
SELECT
	x.object_schema,
	x.object_name,
	x.index_name,
	pfs_sys.format_bytes(x.index_size) AS index_size,
	x.since
FROM pfs_sys.x$schema_unused_indexes x
ORDER BY x.index_size DESC, x.object_schema, x.object_name, x.index_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_unused_indexes'::regclass), (false, 'pfs_sys.schema_unused_indexes'::regclass)) v (plain, oid), (VALUES
	(0, 'Indexes of this database by which no row was found since the last reset, the largest first, without unique ones. Empty unless wait/io/table/handler and the rules of setup_objects have been as they are since then, all sessions are instrumented, and nothing was lost: pfs.index_usage_unknown() says what is missing.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'The index.', ''),
	(4, 'Its size when it was last vacuumed or analyzed.', 'In bytes.'),
	(5, 'The last reset: it has been unused for so long.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_redundant_indexes AS
SELECT x.table_schema, x.table_name, x.redundant_index_name, x.redundant_index_columns, x.redundant_index_non_unique, x.dominant_index_name, x.dominant_index_columns, x.dominant_index_non_unique, x.redundant_index_size, x.sql_drop_index
FROM (
	WITH indexes AS MATERIALIZED (
		SELECT i.indexrelid, i.indrelid, i.indisunique, i.indnullsnotdistinct, i.indimmediate, c.relname, c.relpages, c.relam, am.amname, i.indnkeyatts, i.indnatts,
			regexp_replace(coalesce(i.indpred::text, ''), ':location -?[0-9]+', '', 'g') AS predicate,
			regexp_replace(coalesce(i.indexprs::text, ''), ':location -?[0-9]+', '', 'g') AS expressions,
			i.indkey::int2[] AS attributes,
			-- A slice begins at 1.
			(i.indkey::int2[])[0:i.indnkeyatts - 1] AS keys, (i.indclass::oid[])[0:i.indnkeyatts - 1] AS classes,
			(i.indcollation::oid[])[0:i.indnkeyatts - 1] AS collations, (i.indoption::int2[])[0:i.indnkeyatts - 1] AS options,
			NOT i.indisreplident AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid)
				AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhrelid = i.indexrelid) AS droppable,
			i.indisvalid AS valid
		FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am am ON am.oid = c.relam
		WHERE i.indislive AND c.relkind = 'i'
	), columns AS (
		SELECT x.indexrelid, string_agg(CASE WHEN k.attnum = 0 THEN '(expression)' ELSE a.attname::text END, ',' ORDER BY k.n) AS names
		FROM indexes x CROSS JOIN LATERAL unnest(x.attributes) WITH ORDINALITY AS k (attnum, n)
			LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
		GROUP BY x.indexrelid
	)
	SELECT n.nspname::text AS table_schema, t.relname::text AS table_name,
		r.relname::text AS redundant_index_name, rc.names AS redundant_index_columns, CASE WHEN r.indisunique THEN 0 ELSE 1 END AS redundant_index_non_unique,
		d.relname::text AS dominant_index_name, dc.names AS dominant_index_columns, CASE WHEN d.indisunique THEN 0 ELSE 1 END AS dominant_index_non_unique,
		r.relpages::numeric * current_setting('block_size')::numeric AS redundant_index_size,
		'DROP INDEX ' || quote_ident(n.nspname) || '.' || quote_ident(r.relname) || ';' AS sql_drop_index
	FROM indexes r
		JOIN indexes d ON d.indrelid = r.indrelid AND d.indexrelid <> r.indexrelid AND d.relam = r.relam AND d.predicate = r.predicate
		JOIN columns rc ON rc.indexrelid = r.indexrelid
		JOIN columns dc ON dc.indexrelid = d.indexrelid
		JOIN pg_catalog.pg_class t ON t.oid = r.indrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
	WHERE r.droppable AND d.valid
		AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname::text NOT LIKE 'pg_toast_temp%'
		AND r.attributes <@ d.attributes
		AND CASE
			WHEN r.keys = d.keys AND r.classes = d.classes AND r.collations = d.collations AND r.options = d.options AND r.expressions = d.expressions THEN
				-- The same: the one that is not unique, needs less, or is younger, can go.
				CASE
					WHEN r.indisunique <> d.indisunique THEN d.indisunique
					WHEN r.indimmediate <> d.indimmediate THEN d.indimmediate
					WHEN r.indnullsnotdistinct <> d.indnullsnotdistinct THEN d.indnullsnotdistinct
					WHEN d.indnatts <> r.indnatts THEN d.indnatts > r.indnatts
					WHEN d.droppable THEN d.indexrelid < r.indexrelid
					ELSE true
				END
			ELSE r.amname = 'btree' AND NOT r.indisunique AND r.expressions = '' AND r.indnkeyatts < d.indnkeyatts
				AND NOT 0 = ANY (d.keys[1:r.indnkeyatts])
				AND d.keys[1:r.indnkeyatts] = r.keys AND d.classes[1:r.indnkeyatts] = r.classes
				AND d.collations[1:r.indnkeyatts] = r.collations AND d.options[1:r.indnkeyatts] = r.options
		END
) x
ORDER BY x.table_schema, x.table_name, x.redundant_index_name, x.dominant_index_name;
CREATE VIEW pfs_sys.schema_redundant_indexes AS
SELECT
	x.table_schema,
	x.table_name,
	x.redundant_index_name,
	x.redundant_index_columns,
	x.redundant_index_non_unique,
	x.dominant_index_name,
	x.dominant_index_columns,
	x.dominant_index_non_unique,
	pfs_sys.format_bytes(x.redundant_index_size) AS redundant_index_size,
	x.sql_drop_index
FROM pfs_sys.x$schema_redundant_indexes x
ORDER BY x.table_schema, x.table_name, x.redundant_index_name, x.dominant_index_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_redundant_indexes'::regclass), (false, 'pfs_sys.schema_redundant_indexes'::regclass)) v (plain, oid), (VALUES
	(0, 'Indexes of this database that another index makes superfluous: it has the same columns in front, with the same order and for the same rows. What a constraint or a replica identity needs is left out.', 'With plain values.'),
	(1, 'Schema of the table.', ''),
	(2, 'The table.', ''),
	(3, 'The index that could go.', ''),
	(4, 'Its columns; (expression) for one that is none.', ''),
	(5, '0 if it is unique, else 1.', ''),
	(6, 'The index that does its work.', ''),
	(7, 'Its columns.', ''),
	(8, '0 if it is unique, else 1.', ''),
	(9, 'Size of the first one when it was last vacuumed or analyzed.', 'In bytes.'),
	(10, 'A statement that drops it.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$schema_object_overview AS
SELECT x.object_schema, x.object_type, x.count
FROM (
	SELECT n.nspname::text AS object_schema, o.object_type, count(*) AS count
	FROM (
		SELECT c.relnamespace AS namespace, CASE c.relkind
				WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
				WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'S' THEN 'SEQUENCE' WHEN 't' THEN 'TOAST TABLE' WHEN 'c' THEN 'COMPOSITE TYPE'
				WHEN 'i' THEN 'INDEX (' || am.amname::text || ')' WHEN 'I' THEN 'PARTITIONED INDEX' ELSE 'RELATION (' || c.relkind::text || ')'
			END AS object_type
		FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
		UNION ALL
		SELECT p.pronamespace, CASE p.prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' WHEN 'w' THEN 'WINDOW FUNCTION' ELSE 'FUNCTION' END
		FROM pg_catalog.pg_proc p
		UNION ALL
		SELECT c.relnamespace, 'TRIGGER' FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal
	) o JOIN pg_catalog.pg_namespace n ON n.oid = o.namespace
	GROUP BY n.nspname, o.object_type
) x
ORDER BY x.object_schema, x.object_type;
CREATE VIEW pfs_sys.schema_object_overview AS
SELECT
	x.object_schema,
	x.object_type,
	x.count
FROM pfs_sys.x$schema_object_overview x
ORDER BY x.object_schema, x.object_type;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$schema_object_overview'::regclass), (false, 'pfs_sys.schema_object_overview'::regclass)) v (plain, oid), (VALUES
	(0, 'How many objects of each type each schema of this database has.', 'With plain values.'),
	(1, 'The schema; MySQL''s databases are schemas.', ''),
	(2, 'TABLE, VIEW, INDEX (btree), FUNCTION, TRIGGER and so on.', ''),
	(3, 'How many.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$metrics AS
SELECT x.variable_name, x.variable_value, x.type, x.enabled, x.unit
FROM (
	WITH instruments AS MATERIALIZED (
		SELECT CASE
				WHEN name LIKE 'wait/%' THEN regexp_replace(name, '/[^/]*$', '')
				WHEN name LIKE 'idle%' THEN 'idle'
				WHEN name LIKE 'memory/pfs/%' OR name LIKE 'memory/shared/%' THEN 'memory of the server'
				ELSE split_part(name, '/', 1)
			END AS class, name, enabled, properties
		FROM pfs.setup_instruments
	), classes AS MATERIALIZED (
		SELECT class, CASE count(*) FILTER (WHERE enabled = 'YES') WHEN 0 THEN 'NO' WHEN count(*) THEN 'YES' ELSE 'PARTIAL' END AS enabled
		FROM instruments GROUP BY class
	), statements AS MATERIALIZED (
		SELECT sum(count_star) AS count_star, sum(sum_timer_wait) AS sum_timer_wait, sum(sum_lock_time) AS sum_lock_time,
			sum(sum_plan_time) AS sum_plan_time, sum(sum_exec_time) AS sum_exec_time, sum(sum_cpu_time) AS sum_cpu_time,
			sum(sum_errors) AS sum_errors, sum(sum_warnings) AS sum_warnings, sum(sum_rows_affected) AS sum_rows_affected, sum(sum_rows_sent) AS sum_rows_sent,
			sum(sum_rows_examined) AS sum_rows_examined, sum(sum_no_index_used) AS sum_no_index_used,
			sum(sum_shared_blks_hit) AS sum_shared_blks_hit, sum(sum_shared_blks_read) AS sum_shared_blks_read,
			sum(sum_temp_blks_read) AS sum_temp_blks_read, sum(sum_temp_blks_written) AS sum_temp_blks_written, sum(sum_wal_bytes) AS sum_wal_bytes
		FROM pfs.events_statements_summary_global_by_event_name
	), transactions AS MATERIALIZED (
		SELECT sum(count_star) AS count_star, sum(sum_timer_wait) AS sum_timer_wait, sum(count_read_write) AS count_read_write, sum(count_read_only) AS count_read_only
		FROM pfs.events_transactions_summary_global_by_event_name
	), waits AS (
		SELECT i.class, sum(s.count_star) AS count_star, sum(s.sum_timer_wait) AS sum_timer_wait
		FROM pfs.events_waits_summary_global_by_event_name s JOIN instruments i ON i.name = s.event_name
		WHERE i.properties NOT LIKE '%contains_waits%'
		GROUP BY i.class
	), errors AS MATERIALIZED (
		SELECT coalesce(sum(sum_error_raised) FILTER (WHERE severity NOT IN ('WARNING', 'NOTICE', 'INFO', 'LOG', 'DEBUG')), 0) AS raised, coalesce(sum(sum_error_handled), 0) AS handled
		FROM pfs.events_errors_summary_global_by_error
	), memory AS MATERIALIZED (
		SELECT coalesce(sum(current_number_of_bytes_used), 0) AS used, coalesce(sum(sum_number_of_bytes_alloc), 0) AS allocated
		FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/context/%'
	), numbers AS (
		SELECT variable_name, variable_value, 'Status' AS type, 'YES' AS enabled,
			CASE WHEN variable_name LIKE '%bytes%' THEN 'bytes' WHEN variable_value ~ '^[0-9]+$' THEN 'count' END AS unit
		FROM pfs.status
		UNION ALL
		SELECT 'container_' || c.name || '_' || v.name, v.value::text, 'Container', 'YES', CASE WHEN v.name LIKE 'bytes%' THEN 'bytes' ELSE 'count' END
		FROM pfs.containers c CROSS JOIN LATERAL (VALUES ('records_max', c.records_max), ('records_used', c.records_used), ('records_high_water', c.records_high_water),
			('records_lost', c.records_lost), ('bytes_reserved', c.bytes_reserved), ('bytes_resident', c.bytes_resident)) v (name, value)
		WHERE v.value IS NOT NULL
		UNION ALL
		SELECT 'statements_' || v.name, coalesce(v.value, 0)::text, 'Statements', coalesce((SELECT enabled FROM classes WHERE class = 'statement'), 'NO'), v.unit
		FROM statements s CROSS JOIN LATERAL (VALUES ('count', s.count_star, 'count'), ('latency', s.sum_timer_wait, 'picoseconds'), ('lock_latency', s.sum_lock_time, 'picoseconds'),
			('plan_latency', s.sum_plan_time, 'picoseconds'), ('exec_latency', s.sum_exec_time, 'picoseconds'), ('cpu_latency', s.sum_cpu_time, 'picoseconds'),
			('errors', s.sum_errors, 'count'), ('warnings', s.sum_warnings, 'count'), ('rows_affected', s.sum_rows_affected, 'count'), ('rows_sent', s.sum_rows_sent, 'count'),
			('rows_examined', s.sum_rows_examined, 'count'), ('no_index_used', s.sum_no_index_used, 'count'),
			('shared_blks_hit', s.sum_shared_blks_hit, 'count'), ('shared_blks_read', s.sum_shared_blks_read, 'count'),
			('temp_blks_read', s.sum_temp_blks_read, 'count'), ('temp_blks_written', s.sum_temp_blks_written, 'count'), ('wal_bytes', s.sum_wal_bytes, 'bytes')) v (name, value, unit)
		UNION ALL
		SELECT 'transactions_' || v.name, coalesce(v.value, 0)::text, 'Transactions', coalesce((SELECT enabled FROM classes WHERE class = 'transaction'), 'NO'), v.unit
		FROM transactions s CROSS JOIN LATERAL (VALUES ('count', s.count_star, 'count'), ('latency', s.sum_timer_wait, 'picoseconds'),
			('read_write', s.count_read_write, 'count'), ('read_only', s.count_read_only, 'count')) v (name, value, unit)
		UNION ALL
		SELECT replace(w.class, '/', '_') || '_' || v.name, v.value::text, 'Waits', coalesce(c.enabled, 'NO'), v.unit
		FROM waits w LEFT JOIN classes c ON c.class = w.class
			CROSS JOIN LATERAL (VALUES ('count', w.count_star, 'count'), ('latency', w.sum_timer_wait, 'picoseconds')) v (name, value, unit)
		UNION ALL
		SELECT 'errors_' || v.name, v.value::text, 'Errors', coalesce((SELECT enabled FROM classes WHERE class = 'error'), 'NO'), 'count'
		FROM errors e CROSS JOIN LATERAL (VALUES ('raised', e.raised), ('handled', e.handled)) v (name, value)
		UNION ALL
		SELECT 'memory_' || v.name, v.value::text, 'Memory', coalesce((SELECT enabled FROM classes WHERE class = 'memory'), 'NO'), 'bytes'
		FROM memory m CROSS JOIN LATERAL (VALUES ('current_allocated', m.used), ('total_allocated', m.allocated)) v (name, value)
		UNION ALL
		SELECT 'now', now()::text, 'System Time', 'YES', NULL
		UNION ALL
		SELECT 'unix_timestamp', extract(epoch FROM now())::text, 'System Time', 'YES', 'seconds'
	)
	SELECT * FROM numbers
	WHERE EXISTS (SELECT FROM pfs.setup_timers)
) x
ORDER BY x.type, x.variable_name;
CREATE VIEW pfs_sys.metrics AS
SELECT
	x.variable_name,
	(CASE x.unit WHEN 'picoseconds' THEN pfs_sys.format_time(x.variable_value::numeric) WHEN 'bytes' THEN pfs_sys.format_bytes(x.variable_value::numeric) ELSE x.variable_value END) AS variable_value,
	x.type,
	x.enabled,
	x.unit
FROM pfs_sys.x$metrics x
ORDER BY x.type, x.variable_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$metrics'::regclass), (false, 'pfs_sys.metrics'::regclass)) v (plain, oid), (VALUES
	(0, 'All numbers of the server that pfs knows in one list: its status, its containers, and sums of statements, transactions, waits by class, errors and memory. A statement that another one executes counts in both. Programs that draw graphs read it.', 'With plain values.'),
	(1, 'Name of the number.', ''),
	(2, 'Its value as text.', ''),
	(3, 'Status, Container, Statements, Transactions, Waits, Errors, Memory or System Time.', ''),
	(4, 'YES, NO or PARTIAL: whether the instruments that it is counted by are on.', ''),
	(5, 'picoseconds, bytes, count, seconds; NULL for what is no number.', '')
) c (number, text, plain);

CREATE VIEW pfs_sys.x$ps_check_lost_instrumentation AS
SELECT x.variable_name, x.variable_value
FROM (
	SELECT variable_name, variable_value FROM pfs.status WHERE variable_name LIKE 'pfs%lost' AND variable_value <> '0'
) x
ORDER BY x.variable_name;
CREATE VIEW pfs_sys.ps_check_lost_instrumentation AS
SELECT
	x.variable_name,
	x.variable_value
FROM pfs_sys.x$ps_check_lost_instrumentation x
ORDER BY x.variable_name;
INSERT INTO pg_catalog.pg_description (objoid, classoid, objsubid, description)
SELECT v.oid, 'pg_catalog.pg_class'::regclass, c.number, CASE WHEN v.plain AND c.plain <> '' THEN c.text || ' ' || c.plain ELSE c.text END
FROM (VALUES (true, 'pfs_sys.x$ps_check_lost_instrumentation'::regclass), (false, 'pfs_sys.ps_check_lost_instrumentation'::regclass)) v (plain, oid), (VALUES
	(0, 'What pfs could not record because a container was full; empty on a healthy server.', 'With plain values.'),
	(1, 'The counter: pfs_<container>_lost.', ''),
	(2, 'How much was lost.', '')
) c (number, text, plain);

GRANT SELECT ON
	pfs_sys.x$version,
	pfs_sys.version,
	pfs_sys.x$statement_analysis,
	pfs_sys.statement_analysis,
	pfs_sys.x$statements_with_runtimes_in_95th_percentile,
	pfs_sys.statements_with_runtimes_in_95th_percentile,
	pfs_sys.x$statements_with_errors_or_warnings,
	pfs_sys.statements_with_errors_or_warnings,
	pfs_sys.x$statements_with_full_table_scans,
	pfs_sys.statements_with_full_table_scans,
	pfs_sys.x$statements_with_temp_tables,
	pfs_sys.statements_with_temp_tables,
	pfs_sys.x$statements_with_sorting,
	pfs_sys.statements_with_sorting,
	pfs_sys.x$processlist,
	pfs_sys.processlist,
	pfs_sys.x$session,
	pfs_sys.session,
	pfs_sys.x$session_ssl_status,
	pfs_sys.session_ssl_status,
	pfs_sys.x$lock_waits,
	pfs_sys.lock_waits,
	pfs_sys.x$schema_table_lock_waits,
	pfs_sys.schema_table_lock_waits,
	pfs_sys.x$waits_global_by_latency,
	pfs_sys.waits_global_by_latency,
	pfs_sys.x$waits_by_user_by_latency,
	pfs_sys.waits_by_user_by_latency,
	pfs_sys.x$waits_by_host_by_latency,
	pfs_sys.waits_by_host_by_latency,
	pfs_sys.x$wait_classes_global_by_latency,
	pfs_sys.wait_classes_global_by_latency,
	pfs_sys.x$wait_classes_global_by_avg_latency,
	pfs_sys.wait_classes_global_by_avg_latency,
	pfs_sys.x$io_global_by_file_by_latency,
	pfs_sys.io_global_by_file_by_latency,
	pfs_sys.x$io_global_by_file_by_bytes,
	pfs_sys.io_global_by_file_by_bytes,
	pfs_sys.x$io_global_by_wait_by_latency,
	pfs_sys.io_global_by_wait_by_latency,
	pfs_sys.x$io_global_by_wait_by_bytes,
	pfs_sys.io_global_by_wait_by_bytes,
	pfs_sys.x$io_by_thread_by_latency,
	pfs_sys.io_by_thread_by_latency,
	pfs_sys.x$latest_file_io,
	pfs_sys.latest_file_io,
	pfs_sys.x$user_summary,
	pfs_sys.user_summary,
	pfs_sys.x$host_summary,
	pfs_sys.host_summary,
	pfs_sys.x$user_summary_by_statement_type,
	pfs_sys.user_summary_by_statement_type,
	pfs_sys.x$host_summary_by_statement_type,
	pfs_sys.host_summary_by_statement_type,
	pfs_sys.x$user_summary_by_statement_latency,
	pfs_sys.user_summary_by_statement_latency,
	pfs_sys.x$host_summary_by_statement_latency,
	pfs_sys.host_summary_by_statement_latency,
	pfs_sys.x$user_summary_by_file_io,
	pfs_sys.user_summary_by_file_io,
	pfs_sys.x$host_summary_by_file_io,
	pfs_sys.host_summary_by_file_io,
	pfs_sys.x$user_summary_by_file_io_type,
	pfs_sys.user_summary_by_file_io_type,
	pfs_sys.x$host_summary_by_file_io_type,
	pfs_sys.host_summary_by_file_io_type,
	pfs_sys.x$user_summary_by_stages,
	pfs_sys.user_summary_by_stages,
	pfs_sys.x$host_summary_by_stages,
	pfs_sys.host_summary_by_stages,
	pfs_sys.x$memory_by_user_by_current_bytes,
	pfs_sys.memory_by_user_by_current_bytes,
	pfs_sys.x$memory_by_host_by_current_bytes,
	pfs_sys.memory_by_host_by_current_bytes,
	pfs_sys.x$memory_by_thread_by_current_bytes,
	pfs_sys.memory_by_thread_by_current_bytes,
	pfs_sys.x$memory_global_by_current_bytes,
	pfs_sys.memory_global_by_current_bytes,
	pfs_sys.x$memory_global_total,
	pfs_sys.memory_global_total,
	pfs_sys.x$schema_table_statistics,
	pfs_sys.schema_table_statistics,
	pfs_sys.x$schema_table_statistics_with_buffer,
	pfs_sys.schema_table_statistics_with_buffer,
	pfs_sys.x$schema_index_statistics,
	pfs_sys.schema_index_statistics,
	pfs_sys.x$schema_tables_with_full_table_scans,
	pfs_sys.schema_tables_with_full_table_scans,
	pfs_sys.x$schema_unused_indexes,
	pfs_sys.schema_unused_indexes,
	pfs_sys.x$schema_redundant_indexes,
	pfs_sys.schema_redundant_indexes,
	pfs_sys.x$schema_object_overview,
	pfs_sys.schema_object_overview,
	pfs_sys.x$metrics,
	pfs_sys.metrics,
	pfs_sys.x$ps_check_lost_instrumentation,
	pfs_sys.ps_check_lost_instrumentation
TO pg_monitor;

-- tools/sql: views ends here
