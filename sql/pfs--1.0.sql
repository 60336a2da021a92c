/* sql/pfs--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pfs" to load this file. \quit

CREATE SCHEMA pfs;
COMMENT ON SCHEMA pfs IS 'What the server waits for: MySQL''s Performance Schema for PostgreSQL';

--
-- The foreign data wrapper.  USAGE is granted to nobody: the tables below are all
-- that it offers.
--

CREATE FUNCTION pfs.pfs_fdw_handler() RETURNS fdw_handler
AS 'MODULE_PATHNAME', 'pfs_fdw_handler'
LANGUAGE C STRICT;
COMMENT ON FUNCTION pfs.pfs_fdw_handler() IS 'Handler of the foreign data wrapper pfs_fdw';

CREATE FUNCTION pfs.pfs_fdw_validator(text[], oid) RETURNS void
AS 'MODULE_PATHNAME', 'pfs_fdw_validator'
LANGUAGE C STRICT;
COMMENT ON FUNCTION pfs.pfs_fdw_validator(text[], oid) IS 'Validator of the foreign data wrapper pfs_fdw';

CREATE FOREIGN DATA WRAPPER pfs_fdw
HANDLER pfs.pfs_fdw_handler
VALIDATOR pfs.pfs_fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER pfs_fdw IS 'Reads and switches what pfs records in this server';

CREATE SERVER pfs_server FOREIGN DATA WRAPPER pfs_fdw;
COMMENT ON SERVER pfs_server IS 'This server, as pfs sees it';

--
-- Tables, as IMPORT FOREIGN SCHEMA prints them from the library's definitions.
--

CREATE FOREIGN TABLE pfs.setup_instruments (
	name text,
	enabled text,
	timed text,
	properties text,
	documentation text,
	wait_event_type text,
	wait_event text
) SERVER pfs_server OPTIONS ("table" 'setup_instruments');
COMMENT ON FOREIGN TABLE pfs.setup_instruments IS
'Instruments: what can be measured, and whether it is. One row per instrument. UPDATE of enabled and timed takes effect with other sessions'' next event and lasts until the server restarts.';
COMMENT ON COLUMN pfs.setup_instruments.name IS
'Path from coarse to fine: class / order / family / the word that PostgreSQL itself uses.';
COMMENT ON COLUMN pfs.setup_instruments.enabled IS
'Is it collected? YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.setup_instruments.timed IS
'Is it timed, too? YES or NO; takes either in any letter case. Events that are not timed have NULL times.';
COMMENT ON COLUMN pfs.setup_instruments.properties IS
'idle: it waits for work, not for a resource. Empty otherwise.';
COMMENT ON COLUMN pfs.setup_instruments.documentation IS
'What is measured, where the name alone does not say it.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event_type IS
'The word of pg_stat_activity.wait_event_type for the same wait; NULL if there is none.';
COMMENT ON COLUMN pfs.setup_instruments.wait_event IS
'The word of pg_stat_activity.wait_event for the same wait; NULL if there is none.';

CREATE FOREIGN TABLE pfs.setup_consumers (
	name text,
	enabled text
) SERVER pfs_server OPTIONS ("table" 'setup_consumers');
COMMENT ON FOREIGN TABLE pfs.setup_consumers IS
'Consumers: where events are kept. One row per consumer; each collects only while all above it are on. Off means frozen, not emptied.';
COMMENT ON COLUMN pfs.setup_consumers.name IS
'global_instrumentation, below it thread_instrumentation, below it events_X_current, below that events_X_history and events_X_history_long, X being waits, stages, statements and transactions; below events_statements_current also events_statements_cpu.';
COMMENT ON COLUMN pfs.setup_consumers.enabled IS
'The consumer''s own switch. YES or NO; takes either in any letter case.';

CREATE FOREIGN TABLE pfs.setup_timers (
	name text,
	timer_name text
) SERVER pfs_server OPTIONS ("table" 'setup_timers');
COMMENT ON FOREIGN TABLE pfs.setup_timers IS
'The timer of each class of events. A change takes effect with events that begin afterwards; each event is shown by the timer that it was taken with.';
COMMENT ON COLUMN pfs.setup_timers.name IS
'idle, wait, stage, statement or transaction.';
COMMENT ON COLUMN pfs.setup_timers.timer_name IS
'One of performance_timers that this machine has.';

CREATE FOREIGN TABLE pfs.setup_actors (
	host text DEFAULT '%',
	user_name text DEFAULT '%',
	role text DEFAULT '%',
	enabled text DEFAULT 'YES',
	history text DEFAULT 'YES'
) SERVER pfs_server OPTIONS ("table" 'setup_actors');
COMMENT ON FOREIGN TABLE pfs.setup_actors IS
'Rules for sessions that start afterwards: is one of this user and host instrumented? The first match decides, in this order: host and user_name, user_name only, host only, neither; without a match a session is not instrumented. Takes INSERT, UPDATE of enabled and history, DELETE, and TRUNCATE, which leaves no rule.';
COMMENT ON COLUMN pfs.setup_actors.host IS
'Numeric client address, [local] for a Unix socket; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_actors.user_name IS
'The role that authenticates; % is any. No pattern.';
COMMENT ON COLUMN pfs.setup_actors.role IS
'Reserved; %.';
COMMENT ON COLUMN pfs.setup_actors.enabled IS
'threads.instrumented of such sessions at their start. YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.setup_actors.history IS
'threads.history of such sessions at their start. YES or NO; takes either in any letter case.';

CREATE FOREIGN TABLE pfs.setup_threads (
	name text,
	enabled text,
	history text,
	properties text,
	documentation text
) SERVER pfs_server OPTIONS ("table" 'setup_threads');
COMMENT ON FOREIGN TABLE pfs.setup_threads IS
'Kinds of background processes and the switches that their threads start with. One row per kind.';
COMMENT ON COLUMN pfs.setup_threads.name IS
'As threads.name of such a thread.';
COMMENT ON COLUMN pfs.setup_threads.enabled IS
'threads.instrumented of threads that start afterwards. YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.setup_threads.history IS
'threads.history of threads that start afterwards. YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.setup_threads.properties IS
'Reserved; empty.';
COMMENT ON COLUMN pfs.setup_threads.documentation IS
'PostgreSQL''s own words for this kind of process.';

CREATE FOREIGN TABLE pfs.performance_timers (
	timer_name text,
	timer_frequency bigint,
	timer_resolution bigint,
	timer_overhead bigint
) SERVER pfs_server OPTIONS ("table" 'performance_timers');
COMMENT ON FOREIGN TABLE pfs.performance_timers IS
'The five timers, measured anew at each SELECT. NULLs where this machine does not offer one.';
COMMENT ON COLUMN pfs.performance_timers.timer_name IS
'CYCLE: the processor''s counter. NANOSECOND to TICK: CLOCK_MONOTONIC in these units.';
COMMENT ON COLUMN pfs.performance_timers.timer_frequency IS
'Units per second.';
COMMENT ON COLUMN pfs.performance_timers.timer_resolution IS
'Smallest step seen, in units of the timer.';
COMMENT ON COLUMN pfs.performance_timers.timer_overhead IS
'Cost of one reading in processor cycles, the smallest of 20. A timed event has it twice inside its timer_wait.';

CREATE FOREIGN TABLE pfs.threads (
	thread_id bigint,
	name text,
	type text,
	processlist_id integer,
	processlist_user text,
	processlist_host text,
	processlist_db text,
	processlist_command text,
	processlist_time bigint,
	processlist_state text,
	processlist_info text,
	parent_thread_id bigint,
	role text,
	instrumented text,
	history text,
	connection_type text,
	thread_os_id integer,
	application_name text,
	current_memory bigint,
	high_memory bigint
) SERVER pfs_server OPTIONS ("table" 'threads');
COMMENT ON FOREIGN TABLE pfs.threads IS
'Threads: one row per living process of the server that has had an event. UPDATE of instrumented and history takes effect with the thread''s next event.';
COMMENT ON COLUMN pfs.threads.thread_id IS
'Number of the thread, from 1; never used again while the server runs.';
COMMENT ON COLUMN pfs.threads.name IS
'thread/client_backend, thread/checkpointer, thread/worker/... and so on: the kind of process.';
COMMENT ON COLUMN pfs.threads.type IS
'FOREGROUND: client backends, walsenders, parallel workers. BACKGROUND: all others.';
COMMENT ON COLUMN pfs.threads.processlist_id IS
'Process id of client backends and walsenders, else NULL.';
COMMENT ON COLUMN pfs.threads.processlist_user IS
'The authenticated role; NULL before authentication and for processes without one.';
COMMENT ON COLUMN pfs.threads.processlist_host IS
'Numeric client address, [local] for a Unix socket, NULL without client. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.threads.processlist_db IS
'Database of the session.';
COMMENT ON COLUMN pfs.threads.processlist_command IS
'Query, Sleep, Sleep in transaction, Replication or Daemon.';
COMMENT ON COLUMN pfs.threads.processlist_time IS
'Seconds in this command.';
COMMENT ON COLUMN pfs.threads.processlist_state IS
'The current stage, else the wait that is running now, idle apart. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.threads.processlist_info IS
'Text of the statement that is running at top level; from pg_stat_activity where the statement is not instrumented. What follows PASSWORD, OPTIONS or CONNECTION in commands that can hold passwords is hidden. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.threads.parent_thread_id IS
'Of a parallel worker the leader''s thread, else NULL.';
COMMENT ON COLUMN pfs.threads.role IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.threads.instrumented IS
'Are events of this thread collected? YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.threads.history IS
'Do its events go to the histories? YES or NO; takes either in any letter case.';
COMMENT ON COLUMN pfs.threads.connection_type IS
'Socket, TCP/IP, SSL/TLS or GSS; NULL without client.';
COMMENT ON COLUMN pfs.threads.thread_os_id IS
'Process id, of every thread: pg_stat_activity.pid.';
COMMENT ON COLUMN pfs.threads.application_name IS
'As in pg_stat_activity. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.threads.current_memory IS
'Bytes of memory contexts in use, of those that are counted; NULL where none are.';
COMMENT ON COLUMN pfs.threads.high_memory IS
'The most that it was, in bytes; NULL where none are counted.';

CREATE FOREIGN TABLE pfs.probes (
	probe_name text,
	mechanism text,
	target text,
	status text,
	detail text
) SERVER pfs_server OPTIONS ("table" 'probes');
COMMENT ON FOREIGN TABLE pfs.probes IS
'Probes: the places where the server calls pfs, and whether each works or why not.';
COMMENT ON COLUMN pfs.probes.probe_name IS
'Name of the probe.';
COMMENT ON COLUMN pfs.probes.mechanism IS
'got, method_table, hook or detour: how pfs gets called.';
COMMENT ON COLUMN pfs.probes.target IS
'What was replaced or hooked.';
COMMENT ON COLUMN pfs.probes.status IS
'active, unavailable or off.';
COMMENT ON COLUMN pfs.probes.detail IS
'Why it is not active, or what is special about it; else NULL.';

CREATE FOREIGN TABLE pfs.containers (
	name text,
	record_size bigint,
	records_max bigint,
	records_used bigint,
	records_high_water bigint,
	records_lost bigint,
	pages_max bigint,
	pages_resident bigint,
	pages_reclaimed bigint,
	bytes_reserved bigint,
	bytes_resident bigint
) SERVER pfs_server OPTIONS ("table" 'containers');
COMMENT ON FOREIGN TABLE pfs.containers IS
'Containers: the parts of pfs''s shared memory. TRUNCATE sets losses and reclaims to zero and the high water mark to now.';
COMMENT ON COLUMN pfs.containers.name IS
'Name of the container, as in the settings.';
COMMENT ON COLUMN pfs.containers.record_size IS
'Bytes of one record.';
COMMENT ON COLUMN pfs.containers.records_max IS
'Records that fit.';
COMMENT ON COLUMN pfs.containers.records_used IS
'Records in use now.';
COMMENT ON COLUMN pfs.containers.records_high_water IS
'Most records in use at a time since the last TRUNCATE.';
COMMENT ON COLUMN pfs.containers.records_lost IS
'Records that were wanted while it was full, since the last TRUNCATE.';
COMMENT ON COLUMN pfs.containers.pages_max IS
'Pages that it can have.';
COMMENT ON COLUMN pfs.containers.pages_resident IS
'Pages that take memory now.';
COMMENT ON COLUMN pfs.containers.pages_reclaimed IS
'Pages given back to the system since the last TRUNCATE.';
COMMENT ON COLUMN pfs.containers.bytes_reserved IS
'Bytes of shared memory set aside at the server''s start.';
COMMENT ON COLUMN pfs.containers.bytes_resident IS
'Bytes that take memory now.';

CREATE FOREIGN TABLE pfs.status (
	variable_name text,
	variable_value text
) SERVER pfs_server OPTIONS ("table" 'status');
COMMENT ON FOREIGN TABLE pfs.status IS
'Facts about pfs and counters of what it lost, all zero on a healthy server. TRUNCATE sets the counters to zero.';
COMMENT ON COLUMN pfs.status.variable_name IS
'pfs_start_time, footprint totals, or pfs_<container>_lost.';
COMMENT ON COLUMN pfs.status.variable_value IS
'Its value as text.';

CREATE FOREIGN TABLE pfs.table_definitions (
	table_name text,
	a_row_is text,
	truncate_effect text,
	writable_columns text
) SERVER pfs_server OPTIONS ("table" 'table_definitions');
COMMENT ON FOREIGN TABLE pfs.table_definitions IS
'What the library knows of its tables and views; the view pfs.tables shows it.';
COMMENT ON COLUMN pfs.table_definitions.table_name IS
'Name of the table or view in schema pfs.';
COMMENT ON COLUMN pfs.table_definitions.a_row_is IS
'What one row stands for.';
COMMENT ON COLUMN pfs.table_definitions.truncate_effect IS
'What TRUNCATE and pfs.reset() do to it.';
COMMENT ON COLUMN pfs.table_definitions.writable_columns IS
'Columns that UPDATE can change; NULL: none.';

CREATE FOREIGN TABLE pfs.events_waits_current (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	spins integer,
	object_schema text,
	object_name text,
	index_name text,
	object_type text,
	object_instance_begin bigint,
	operation text,
	number_of_bytes bigint,
	file_offset bigint,
	flags bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_waits_current');
COMMENT ON FOREIGN TABLE pfs.events_waits_current IS
'Waits that are running now, one row per nesting level. A finished wait is removed. TRUNCATE is accepted and does nothing.';
COMMENT ON COLUMN pfs.events_waits_current.thread_id IS
'The thread that waits or waited: threads.thread_id.';
COMMENT ON COLUMN pfs.events_waits_current.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_waits_current.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_waits_current.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_current.source IS
'The function of the server that waits, as exported symbol and offset, inside a static function the offset in the server binary. NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_current.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_waits_current.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_current.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_current.spins IS
'Of a spinlock the number of delays, of an LWLock how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_current.object_schema IS
'Schema of the relation that a lock is on; [database] if it is of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_current.object_name IS
'What is waited for: a path below the data directory, a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_current.index_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_waits_current.object_type IS
'FILE, SOCKET, LWLOCK, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_current.object_instance_begin IS
'Identifies the object among those of its type; NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_current.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks.';
COMMENT ON COLUMN pfs.events_waits_current.number_of_bytes IS
'Bytes that the call moved; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_current.file_offset IS
'Position in the file in bytes, where the call has one.';
COMMENT ON COLUMN pfs.events_waits_current.flags IS
'1: the event ended without the lock (an attempt that failed, a wait that took nothing); else NULL.';
COMMENT ON COLUMN pfs.events_waits_current.nesting_event_id IS
'event_id of the event around it, of the same thread; NULL if there is none.';
COMMENT ON COLUMN pfs.events_waits_current.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_waits_history (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	spins integer,
	object_schema text,
	object_name text,
	index_name text,
	object_type text,
	object_instance_begin bigint,
	operation text,
	number_of_bytes bigint,
	file_offset bigint,
	flags bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_waits_history');
COMMENT ON FOREIGN TABLE pfs.events_waits_history IS
'The last finished waits of each living thread, pfs.events_waits_history_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_waits_history.thread_id IS
'The thread that waits or waited: threads.thread_id.';
COMMENT ON COLUMN pfs.events_waits_history.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_waits_history.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_waits_history.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_history.source IS
'The function of the server that waits, as exported symbol and offset, inside a static function the offset in the server binary. NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_history.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_waits_history.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_history.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_history.spins IS
'Of a spinlock the number of delays, of an LWLock how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_history.object_schema IS
'Schema of the relation that a lock is on; [database] if it is of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history.object_name IS
'What is waited for: a path below the data directory, a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history.index_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_waits_history.object_type IS
'FILE, SOCKET, LWLOCK, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_history.object_instance_begin IS
'Identifies the object among those of its type; NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_history.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks.';
COMMENT ON COLUMN pfs.events_waits_history.number_of_bytes IS
'Bytes that the call moved; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_history.file_offset IS
'Position in the file in bytes, where the call has one.';
COMMENT ON COLUMN pfs.events_waits_history.flags IS
'1: the event ended without the lock (an attempt that failed, a wait that took nothing); else NULL.';
COMMENT ON COLUMN pfs.events_waits_history.nesting_event_id IS
'event_id of the event around it, of the same thread; NULL if there is none.';
COMMENT ON COLUMN pfs.events_waits_history.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_waits_history_long (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	spins integer,
	object_schema text,
	object_name text,
	index_name text,
	object_type text,
	object_instance_begin bigint,
	operation text,
	number_of_bytes bigint,
	file_offset bigint,
	flags bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_waits_history_long');
COMMENT ON FOREIGN TABLE pfs.events_waits_history_long IS
'The last finished waits of the whole server by their end, pfs.events_waits_history_long_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_waits_history_long.thread_id IS
'The thread that waits or waited: threads.thread_id.';
COMMENT ON COLUMN pfs.events_waits_history_long.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_waits_history_long.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_waits_history_long.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_history_long.source IS
'The function of the server that waits, as exported symbol and offset, inside a static function the offset in the server binary. NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_history_long.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_waits_history_long.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_history_long.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_waits_history_long.spins IS
'Of a spinlock the number of delays, of an LWLock how often the process slept within the event; else NULL.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_schema IS
'Schema of the relation that a lock is on; [database] if it is of another database. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_name IS
'What is waited for: a path below the data directory, a relation, a transaction id, or the numbers of the lock''s key. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_waits_history_long.index_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_type IS
'FILE, SOCKET, LWLOCK, or the type of a heavyweight lock: RELATION, TRANSACTIONID, TUPLE and others.';
COMMENT ON COLUMN pfs.events_waits_history_long.object_instance_begin IS
'Identifies the object among those of its type; NULL where unknown.';
COMMENT ON COLUMN pfs.events_waits_history_long.operation IS
'What was done: read, write, sync and others for files, recv, send, wait for sockets, the lock mode for locks.';
COMMENT ON COLUMN pfs.events_waits_history_long.number_of_bytes IS
'Bytes that the call moved; NULL where it moves none.';
COMMENT ON COLUMN pfs.events_waits_history_long.file_offset IS
'Position in the file in bytes, where the call has one.';
COMMENT ON COLUMN pfs.events_waits_history_long.flags IS
'1: the event ended without the lock (an attempt that failed, a wait that took nothing); else NULL.';
COMMENT ON COLUMN pfs.events_waits_history_long.nesting_event_id IS
'event_id of the event around it, of the same thread; NULL if there is none.';
COMMENT ON COLUMN pfs.events_waits_history_long.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_stages_current (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	work_completed bigint,
	work_estimated bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_stages_current');
COMMENT ON FOREIGN TABLE pfs.events_stages_current IS
'Stages that are running now: of each statement that is being planned or executed the one that it is in. A finished stage is removed. TRUNCATE is accepted and does nothing.';
COMMENT ON COLUMN pfs.events_stages_current.thread_id IS
'The thread that is or was in the stage: threads.thread_id.';
COMMENT ON COLUMN pfs.events_stages_current.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_stages_current.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_stages_current.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_current.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_stages_current.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_stages_current.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_current.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_current.work_completed IS
'Of a stage/progress/% stage: work done so far, in the unit of the command''s progress view. NULL where the phase has none, and with track_activities off.';
COMMENT ON COLUMN pfs.events_stages_current.work_estimated IS
'Of a stage/progress/% stage: all work that there is, in the same unit. NULL where unknown.';
COMMENT ON COLUMN pfs.events_stages_current.nesting_event_id IS
'event_id of the statement that the stage belongs to; NULL if there is none.';
COMMENT ON COLUMN pfs.events_stages_current.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_stages_history (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	work_completed bigint,
	work_estimated bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_stages_history');
COMMENT ON FOREIGN TABLE pfs.events_stages_history IS
'The last finished stages of each living thread, pfs.events_stages_history_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_stages_history.thread_id IS
'The thread that is or was in the stage: threads.thread_id.';
COMMENT ON COLUMN pfs.events_stages_history.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_stages_history.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_stages_history.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_history.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_stages_history.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_stages_history.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_history.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_history.work_completed IS
'Of a stage/progress/% stage: work done so far, in the unit of the command''s progress view. NULL where the phase has none, and with track_activities off.';
COMMENT ON COLUMN pfs.events_stages_history.work_estimated IS
'Of a stage/progress/% stage: all work that there is, in the same unit. NULL where unknown.';
COMMENT ON COLUMN pfs.events_stages_history.nesting_event_id IS
'event_id of the statement that the stage belongs to; NULL if there is none.';
COMMENT ON COLUMN pfs.events_stages_history.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_stages_history_long (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	work_completed bigint,
	work_estimated bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_stages_history_long');
COMMENT ON FOREIGN TABLE pfs.events_stages_history_long IS
'The last finished stages of the whole server by their end, pfs.events_stages_history_long_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_stages_history_long.thread_id IS
'The thread that is or was in the stage: threads.thread_id.';
COMMENT ON COLUMN pfs.events_stages_history_long.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_stages_history_long.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_stages_history_long.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_history_long.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_stages_history_long.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_stages_history_long.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_history_long.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_stages_history_long.work_completed IS
'Of a stage/progress/% stage: work done so far, in the unit of the command''s progress view. NULL where the phase has none, and with track_activities off.';
COMMENT ON COLUMN pfs.events_stages_history_long.work_estimated IS
'Of a stage/progress/% stage: all work that there is, in the same unit. NULL where unknown.';
COMMENT ON COLUMN pfs.events_stages_history_long.nesting_event_id IS
'event_id of the statement that the stage belongs to; NULL if there is none.';
COMMENT ON COLUMN pfs.events_stages_history_long.nesting_event_type IS
'TRANSACTION, STATEMENT, STAGE or WAIT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_statements_current (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	lock_time numeric,
	sql_text text,
	query_id bigint,
	digest_text text,
	database_name text,
	schema_name text,
	object_type text,
	object_schema text,
	object_name text,
	returned_sqlstate text,
	message_text text,
	errors bigint,
	warnings bigint,
	rows_affected bigint,
	rows_sent bigint,
	shared_blks_hit bigint,
	shared_blks_read bigint,
	shared_blks_dirtied bigint,
	shared_blks_written bigint,
	local_blks_read bigint,
	local_blks_written bigint,
	temp_blks_read bigint,
	temp_blks_written bigint,
	wal_records bigint,
	wal_fpi bigint,
	wal_bytes numeric,
	plan_time numeric,
	exec_time numeric,
	cpu_time numeric,
	max_total_memory bigint,
	parallel_workers bigint,
	nesting_event_level integer,
	statement_id bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_statements_current');
COMMENT ON FOREIGN TABLE pfs.events_statements_current IS
'Statements that are running now, one row per nesting level. Numbers are filled in at the end. A finished statement is removed. TRUNCATE is accepted and does nothing.';
COMMENT ON COLUMN pfs.events_statements_current.thread_id IS
'The thread that executes or executed it: threads.thread_id.';
COMMENT ON COLUMN pfs.events_statements_current.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_statements_current.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_statements_current.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_current.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_current.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then: when the client''s message had arrived, of a nested statement its planning or execution. NULL if not timed.';
COMMENT ON COLUMN pfs.events_statements_current.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_current.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_current.lock_time IS
'Time of the process itself in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_current.sql_text IS
'The text, as far as pfs.max_sql_text_length bytes go, without what follows a PASSWORD, OPTIONS or CONNECTION word of a command that can hold secrets. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_current.query_id IS
'PostgreSQL''s own number of the statement''s shape; NULL with compute_query_id = off. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_current.digest_text IS
'The text of its shape, constants replaced: events_statements_summary_by_digest.digest_text. NULL: that has none, or is no row any more; or without the rights of the thread''s role or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_current.database_name IS
'Database of the session.';
COMMENT ON COLUMN pfs.events_statements_current.schema_name IS
'First element of search_path, as written.';
COMMENT ON COLUMN pfs.events_statements_current.object_type IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_current.object_schema IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_current.object_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_current.returned_sqlstate IS
'SQLSTATE of the error that it failed with; NULL if it did not.';
COMMENT ON COLUMN pfs.events_statements_current.message_text IS
'The error''s message, where the server logged it: see log_min_messages. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_current.errors IS
'Errors that were raised in it, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_current.warnings IS
'Warnings in it that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_current.rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_current.rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_hit IS
'Pages found in shared buffers, those of statements inside it included.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_dirtied IS
'Pages of shared buffers that it changed first.';
COMMENT ON COLUMN pfs.events_statements_current.shared_blks_written IS
'Pages of shared buffers that it wrote itself.';
COMMENT ON COLUMN pfs.events_statements_current.local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_current.local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_current.temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_current.temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_current.wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_current.wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_current.wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_current.plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_current.exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_current.cpu_time IS
'Processor time of the process, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_current.max_total_memory IS
'The most that the session had in use while it was open, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_current.parallel_workers IS
'Parallel workers that worked for it.';
COMMENT ON COLUMN pfs.events_statements_current.nesting_event_level IS
'0 at top level, one more inside each statement.';
COMMENT ON COLUMN pfs.events_statements_current.statement_id IS
'Number of the statement, unique in the server since its start.';
COMMENT ON COLUMN pfs.events_statements_current.nesting_event_id IS
'event_id of the enclosing statement, at top level of the transaction that was open before it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_statements_current.nesting_event_type IS
'TRANSACTION or STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_statements_history (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	lock_time numeric,
	sql_text text,
	query_id bigint,
	digest_text text,
	database_name text,
	schema_name text,
	object_type text,
	object_schema text,
	object_name text,
	returned_sqlstate text,
	message_text text,
	errors bigint,
	warnings bigint,
	rows_affected bigint,
	rows_sent bigint,
	shared_blks_hit bigint,
	shared_blks_read bigint,
	shared_blks_dirtied bigint,
	shared_blks_written bigint,
	local_blks_read bigint,
	local_blks_written bigint,
	temp_blks_read bigint,
	temp_blks_written bigint,
	wal_records bigint,
	wal_fpi bigint,
	wal_bytes numeric,
	plan_time numeric,
	exec_time numeric,
	cpu_time numeric,
	max_total_memory bigint,
	parallel_workers bigint,
	nesting_event_level integer,
	statement_id bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_statements_history');
COMMENT ON FOREIGN TABLE pfs.events_statements_history IS
'The last finished statements of each living thread, pfs.events_statements_history_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_statements_history.thread_id IS
'The thread that executes or executed it: threads.thread_id.';
COMMENT ON COLUMN pfs.events_statements_history.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_statements_history.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_statements_history.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_history.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then: when the client''s message had arrived, of a nested statement its planning or execution. NULL if not timed.';
COMMENT ON COLUMN pfs.events_statements_history.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_history.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_history.lock_time IS
'Time of the process itself in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_history.sql_text IS
'The text, as far as pfs.max_sql_text_length bytes go, without what follows a PASSWORD, OPTIONS or CONNECTION word of a command that can hold secrets. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history.query_id IS
'PostgreSQL''s own number of the statement''s shape; NULL with compute_query_id = off. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history.digest_text IS
'The text of its shape, constants replaced: events_statements_summary_by_digest.digest_text. NULL: that has none, or is no row any more; or without the rights of the thread''s role or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_history.database_name IS
'Database of the session.';
COMMENT ON COLUMN pfs.events_statements_history.schema_name IS
'First element of search_path, as written.';
COMMENT ON COLUMN pfs.events_statements_history.object_type IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history.object_schema IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history.object_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history.returned_sqlstate IS
'SQLSTATE of the error that it failed with; NULL if it did not.';
COMMENT ON COLUMN pfs.events_statements_history.message_text IS
'The error''s message, where the server logged it: see log_min_messages. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history.errors IS
'Errors that were raised in it, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_history.warnings IS
'Warnings in it that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_history.rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_history.rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_hit IS
'Pages found in shared buffers, those of statements inside it included.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_dirtied IS
'Pages of shared buffers that it changed first.';
COMMENT ON COLUMN pfs.events_statements_history.shared_blks_written IS
'Pages of shared buffers that it wrote itself.';
COMMENT ON COLUMN pfs.events_statements_history.local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_history.local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_history.temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_history.temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_history.wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_history.wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_history.wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_history.plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_history.exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_history.cpu_time IS
'Processor time of the process, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_history.max_total_memory IS
'The most that the session had in use while it was open, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_history.parallel_workers IS
'Parallel workers that worked for it.';
COMMENT ON COLUMN pfs.events_statements_history.nesting_event_level IS
'0 at top level, one more inside each statement.';
COMMENT ON COLUMN pfs.events_statements_history.statement_id IS
'Number of the statement, unique in the server since its start.';
COMMENT ON COLUMN pfs.events_statements_history.nesting_event_id IS
'event_id of the enclosing statement, at top level of the transaction that was open before it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_statements_history.nesting_event_type IS
'TRANSACTION or STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_statements_history_long (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	lock_time numeric,
	sql_text text,
	query_id bigint,
	digest_text text,
	database_name text,
	schema_name text,
	object_type text,
	object_schema text,
	object_name text,
	returned_sqlstate text,
	message_text text,
	errors bigint,
	warnings bigint,
	rows_affected bigint,
	rows_sent bigint,
	shared_blks_hit bigint,
	shared_blks_read bigint,
	shared_blks_dirtied bigint,
	shared_blks_written bigint,
	local_blks_read bigint,
	local_blks_written bigint,
	temp_blks_read bigint,
	temp_blks_written bigint,
	wal_records bigint,
	wal_fpi bigint,
	wal_bytes numeric,
	plan_time numeric,
	exec_time numeric,
	cpu_time numeric,
	max_total_memory bigint,
	parallel_workers bigint,
	nesting_event_level integer,
	statement_id bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_statements_history_long');
COMMENT ON FOREIGN TABLE pfs.events_statements_history_long IS
'The last finished statements of the whole server by their end, pfs.events_statements_history_long_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_statements_history_long.thread_id IS
'The thread that executes or executed it: threads.thread_id.';
COMMENT ON COLUMN pfs.events_statements_history_long.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_statements_history_long.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_statements_history_long.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_history_long.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history_long.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then: when the client''s message had arrived, of a nested statement its planning or execution. NULL if not timed.';
COMMENT ON COLUMN pfs.events_statements_history_long.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_history_long.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_statements_history_long.lock_time IS
'Time of the process itself in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_history_long.sql_text IS
'The text, as far as pfs.max_sql_text_length bytes go, without what follows a PASSWORD, OPTIONS or CONNECTION word of a command that can hold secrets. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history_long.query_id IS
'PostgreSQL''s own number of the statement''s shape; NULL with compute_query_id = off. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history_long.digest_text IS
'The text of its shape, constants replaced: events_statements_summary_by_digest.digest_text. NULL: that has none, or is no row any more; or without the rights of the thread''s role or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_history_long.database_name IS
'Database of the session.';
COMMENT ON COLUMN pfs.events_statements_history_long.schema_name IS
'First element of search_path, as written.';
COMMENT ON COLUMN pfs.events_statements_history_long.object_type IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history_long.object_schema IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history_long.object_name IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_statements_history_long.returned_sqlstate IS
'SQLSTATE of the error that it failed with; NULL if it did not.';
COMMENT ON COLUMN pfs.events_statements_history_long.message_text IS
'The error''s message, where the server logged it: see log_min_messages. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_statements_history_long.errors IS
'Errors that were raised in it, also those that a block of a function caught.';
COMMENT ON COLUMN pfs.events_statements_history_long.warnings IS
'Warnings in it that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_history_long.rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_history_long.rows_sent IS
'Rows returned to whoever called: the client, or the function around it.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_hit IS
'Pages found in shared buffers, those of statements inside it included.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_dirtied IS
'Pages of shared buffers that it changed first.';
COMMENT ON COLUMN pfs.events_statements_history_long.shared_blks_written IS
'Pages of shared buffers that it wrote itself.';
COMMENT ON COLUMN pfs.events_statements_history_long.local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_history_long.local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_history_long.temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_history_long.temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_history_long.wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_history_long.wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_history_long.wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_history_long.plan_time IS
'Time in the planner, in picoseconds: what pg_stat_statements calls total_plan_time.';
COMMENT ON COLUMN pfs.events_statements_history_long.exec_time IS
'Time in the executor or the utility, in picoseconds: what pg_stat_statements calls total_exec_time.';
COMMENT ON COLUMN pfs.events_statements_history_long.cpu_time IS
'Processor time of the process, in picoseconds; NULL unless consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_history_long.max_total_memory IS
'The most that the session had in use while it was open, in bytes, of what memory instruments count; NULL while it runs, and if none was on when it began.';
COMMENT ON COLUMN pfs.events_statements_history_long.parallel_workers IS
'Parallel workers that worked for it.';
COMMENT ON COLUMN pfs.events_statements_history_long.nesting_event_level IS
'0 at top level, one more inside each statement.';
COMMENT ON COLUMN pfs.events_statements_history_long.statement_id IS
'Number of the statement, unique in the server since its start.';
COMMENT ON COLUMN pfs.events_statements_history_long.nesting_event_id IS
'event_id of the enclosing statement, at top level of the transaction that was open before it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_statements_history_long.nesting_event_type IS
'TRANSACTION or STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_transactions_current (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	state text,
	trx_id xid8,
	gid text,
	access_mode text,
	isolation_level text,
	autocommit text,
	number_of_savepoints bigint,
	number_of_rollback_to_savepoint bigint,
	number_of_release_savepoint bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_transactions_current');
COMMENT ON FOREIGN TABLE pfs.events_transactions_current IS
'Transactions that are running now, one per thread at most. A finished transaction is removed. TRUNCATE is accepted and does nothing.';
COMMENT ON COLUMN pfs.events_transactions_current.thread_id IS
'The thread that it runs or ran in: threads.thread_id.';
COMMENT ON COLUMN pfs.events_transactions_current.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_transactions_current.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_transactions_current.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_current.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_transactions_current.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_transactions_current.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_current.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_current.state IS
'ACTIVE, COMMITTED, ROLLED BACK, or PREPARED for two-phase commit.';
COMMENT ON COLUMN pfs.events_transactions_current.trx_id IS
'Transaction id; NULL while none is assigned.';
COMMENT ON COLUMN pfs.events_transactions_current.gid IS
'Name that PREPARE TRANSACTION gave it; NULL if none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_transactions_current.access_mode IS
'READ WRITE or READ ONLY.';
COMMENT ON COLUMN pfs.events_transactions_current.isolation_level IS
'READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ or SERIALIZABLE.';
COMMENT ON COLUMN pfs.events_transactions_current.autocommit IS
'YES: it is one statement, or the statements of one message. NO: it was begun by BEGIN, START TRANSACTION or AND CHAIN.';
COMMENT ON COLUMN pfs.events_transactions_current.number_of_savepoints IS
'SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_current.number_of_rollback_to_savepoint IS
'ROLLBACK TO SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_current.number_of_release_savepoint IS
'RELEASE SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_current.nesting_event_id IS
'event_id of the statement that began it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_transactions_current.nesting_event_type IS
'STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_transactions_history (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	state text,
	trx_id xid8,
	gid text,
	access_mode text,
	isolation_level text,
	autocommit text,
	number_of_savepoints bigint,
	number_of_rollback_to_savepoint bigint,
	number_of_release_savepoint bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_transactions_history');
COMMENT ON FOREIGN TABLE pfs.events_transactions_history IS
'The last finished transactions of each living thread, pfs.events_transactions_history_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_transactions_history.thread_id IS
'The thread that it runs or ran in: threads.thread_id.';
COMMENT ON COLUMN pfs.events_transactions_history.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_transactions_history.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_transactions_history.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_history.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_transactions_history.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history.state IS
'ACTIVE, COMMITTED, ROLLED BACK, or PREPARED for two-phase commit.';
COMMENT ON COLUMN pfs.events_transactions_history.trx_id IS
'Transaction id; NULL while none is assigned.';
COMMENT ON COLUMN pfs.events_transactions_history.gid IS
'Name that PREPARE TRANSACTION gave it; NULL if none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_transactions_history.access_mode IS
'READ WRITE or READ ONLY.';
COMMENT ON COLUMN pfs.events_transactions_history.isolation_level IS
'READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ or SERIALIZABLE.';
COMMENT ON COLUMN pfs.events_transactions_history.autocommit IS
'YES: it is one statement, or the statements of one message. NO: it was begun by BEGIN, START TRANSACTION or AND CHAIN.';
COMMENT ON COLUMN pfs.events_transactions_history.number_of_savepoints IS
'SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history.number_of_rollback_to_savepoint IS
'ROLLBACK TO SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history.number_of_release_savepoint IS
'RELEASE SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history.nesting_event_id IS
'event_id of the statement that began it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_transactions_history.nesting_event_type IS
'STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_transactions_history_long (
	thread_id bigint,
	event_id bigint,
	end_event_id bigint,
	event_name text,
	source text,
	timer_start numeric,
	timer_end numeric,
	timer_wait numeric,
	state text,
	trx_id xid8,
	gid text,
	access_mode text,
	isolation_level text,
	autocommit text,
	number_of_savepoints bigint,
	number_of_rollback_to_savepoint bigint,
	number_of_release_savepoint bigint,
	nesting_event_id bigint,
	nesting_event_type text
) SERVER pfs_server OPTIONS ("table" 'events_transactions_history_long');
COMMENT ON FOREIGN TABLE pfs.events_transactions_history_long IS
'The last finished transactions of the whole server by their end, pfs.events_transactions_history_long_size of them. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_transactions_history_long.thread_id IS
'The thread that it runs or ran in: threads.thread_id.';
COMMENT ON COLUMN pfs.events_transactions_history_long.event_id IS
'Number of the event within its thread, from 1. Unique together with thread_id, also across waits, stages, statements and transactions.';
COMMENT ON COLUMN pfs.events_transactions_history_long.end_event_id IS
'Number of the last event that began inside this one; its own if none did. NULL while it is running.';
COMMENT ON COLUMN pfs.events_transactions_history_long.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_history_long.source IS
'Reserved; NULL.';
COMMENT ON COLUMN pfs.events_transactions_history_long.timer_start IS
'Begin, in picoseconds since the server''s start, by the timer that setup_timers named then. NULL if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history_long.timer_end IS
'End, in picoseconds since the server''s start. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history_long.timer_wait IS
'Length in picoseconds. NULL while it is running, and if not timed.';
COMMENT ON COLUMN pfs.events_transactions_history_long.state IS
'ACTIVE, COMMITTED, ROLLED BACK, or PREPARED for two-phase commit.';
COMMENT ON COLUMN pfs.events_transactions_history_long.trx_id IS
'Transaction id; NULL while none is assigned.';
COMMENT ON COLUMN pfs.events_transactions_history_long.gid IS
'Name that PREPARE TRANSACTION gave it; NULL if none. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.events_transactions_history_long.access_mode IS
'READ WRITE or READ ONLY.';
COMMENT ON COLUMN pfs.events_transactions_history_long.isolation_level IS
'READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ or SERIALIZABLE.';
COMMENT ON COLUMN pfs.events_transactions_history_long.autocommit IS
'YES: it is one statement, or the statements of one message. NO: it was begun by BEGIN, START TRANSACTION or AND CHAIN.';
COMMENT ON COLUMN pfs.events_transactions_history_long.number_of_savepoints IS
'SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history_long.number_of_rollback_to_savepoint IS
'ROLLBACK TO SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history_long.number_of_release_savepoint IS
'RELEASE SAVEPOINT commands in it.';
COMMENT ON COLUMN pfs.events_transactions_history_long.nesting_event_id IS
'event_id of the statement that began it; NULL if there is none.';
COMMENT ON COLUMN pfs.events_transactions_history_long.nesting_event_type IS
'STATEMENT; NULL if nesting_event_id is.';

CREATE FOREIGN TABLE pfs.events_waits_summary_global_by_event_name (
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	quantile_95 numeric,
	quantile_99 numeric,
	quantile_999 numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_global_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_global_by_event_name IS
'Waits of the whole server since the last reset, with those of sessions that have ended. One row per instrument, also of those that nobody waited for. TRUNCATE zeroes all levels and the histogram.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.quantile_95 IS
'95 % of the waits took at most so long, in picoseconds: upper bound of the range in events_waits_histogram_global, at most 19 % too much, and never above the longest.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.quantile_99 IS
'The same for 99 %.';
COMMENT ON COLUMN pfs.events_waits_summary_global_by_event_name.quantile_999 IS
'The same for 99.9 %.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_thread_by_event_name (
	thread_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_thread_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_thread_by_event_name IS
'Waits of living threads. One row per thread and instrument that it met since the last reset. TRUNCATE pushes the numbers into their accounts.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.thread_id IS
'The thread, as in threads.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_thread_by_event_name.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_account_by_event_name (
	user_name text,
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_account_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_account_by_event_name IS
'Waits by account: a user on a client address, sessions that have ended included. One row per account and instrument. TRUNCATE pushes the numbers of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.user_name IS
'Name that the client connected as; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_account_by_event_name.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_user_by_event_name (
	user_name text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_user_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_user_by_event_name IS
'Waits by user, sessions that have ended included. One row per user and instrument. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.user_name IS
'Name that the client connected as; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_user_by_event_name.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_host_by_event_name (
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_host_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_host_by_event_name IS
'Waits by client address, sessions that have ended included. One row per address and instrument. TRUNCATE pushes the numbers of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_host_by_event_name.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_waits_histogram_global (
	event_name text,
	bucket_number integer,
	bucket_timer_low numeric,
	bucket_timer_high numeric,
	count_bucket bigint,
	count_bucket_and_lower bigint,
	bucket_quantile double precision
) SERVER pfs_server OPTIONS ("table" 'events_waits_histogram_global');
COMMENT ON FOREIGN TABLE pfs.events_waits_histogram_global IS
'How often waits took how long, since the last reset. One row per instrument and range of times that was met. TRUNCATE empties it; the quantiles become 0.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.bucket_number IS
'Number of the range, from 0; four for each doubling of the time.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.bucket_timer_low IS
'Its lower bound, in picoseconds, included.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.bucket_timer_high IS
'Its upper bound, in picoseconds, not included: 1.19 times the lower one. NULL: none.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.count_bucket IS
'Waits that took so long.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.count_bucket_and_lower IS
'Waits that took so long or less.';
COMMENT ON COLUMN pfs.events_waits_histogram_global.bucket_quantile IS
'The same as a part of all timed waits of this instrument, 0 to 1.';

CREATE FOREIGN TABLE pfs.events_stages_summary_global_by_event_name (
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_stages_summary_global_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_stages_summary_global_by_event_name IS
'Counts and times of stages by event name, every instrument has a row. TRUNCATE zeroes all levels.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.count_star IS
'Stages counted.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_global_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_stages_summary_by_thread_by_event_name (
	thread_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_stages_summary_by_thread_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_thread_by_event_name IS
'Counts and times of stages by event name, by living thread. TRUNCATE pushes the numbers into their accounts.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.count_star IS
'Stages counted.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_thread_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_stages_summary_by_account_by_event_name (
	user_name text,
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_stages_summary_by_account_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_account_by_event_name IS
'Counts and times of stages by event name, by account: user and host. TRUNCATE pushes the numbers of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.count_star IS
'Stages counted.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_account_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_stages_summary_by_user_by_event_name (
	user_name text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_stages_summary_by_user_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_user_by_event_name IS
'Counts and times of stages by event name, by user. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.count_star IS
'Stages counted.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_user_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_stages_summary_by_host_by_event_name (
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_stages_summary_by_host_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_stages_summary_by_host_by_event_name IS
'Counts and times of stages by event name, by client address. TRUNCATE pushes the numbers of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.count_star IS
'Stages counted.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_stages_summary_by_host_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_statements_summary_global_by_event_name (
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	max_total_memory bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_global_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_global_by_event_name IS
'Counts and times of statements by event name, every instrument has a row. TRUNCATE zeroes all levels, and the histogram.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_global_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_thread_by_event_name (
	thread_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	max_total_memory bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_thread_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_thread_by_event_name IS
'Counts and times of statements by event name, by living thread. TRUNCATE pushes the numbers into their accounts.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_thread_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_account_by_event_name (
	user_name text,
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	max_total_memory bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_account_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_account_by_event_name IS
'Counts and times of statements by event name, by account: user and host. TRUNCATE pushes the numbers of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_account_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name (
	user_name text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	max_total_memory bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_user_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_user_by_event_name IS
'Counts and times of statements by event name, by user. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_user_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name (
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	max_total_memory bigint
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_host_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_host_by_event_name IS
'Counts and times of statements by event name, by client address. TRUNCATE pushes the numbers of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_host_by_event_name.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';

CREATE FOREIGN TABLE pfs.events_statements_histogram_global (
	bucket_number integer,
	bucket_timer_low numeric,
	bucket_timer_high numeric,
	count_bucket bigint,
	count_bucket_and_lower bigint,
	bucket_quantile double precision
) SERVER pfs_server OPTIONS ("table" 'events_statements_histogram_global');
COMMENT ON FOREIGN TABLE pfs.events_statements_histogram_global IS
'How many statements of the whole server were how long. TRUNCATE empties it.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_number IS
'Number of the range of lengths.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_timer_low IS
'Its lower bound, in picoseconds; included.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_timer_high IS
'Its upper bound, in picoseconds; not included. NULL: none.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.count_bucket IS
'Statements of such a length.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.count_bucket_and_lower IS
'The same or shorter ones.';
COMMENT ON COLUMN pfs.events_statements_histogram_global.bucket_quantile IS
'count_bucket_and_lower as a fraction of all.';

CREATE FOREIGN TABLE pfs.events_statements_summary_by_digest (
	database_name text,
	user_name text,
	query_id bigint,
	digest_text text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
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
	first_seen timestamp with time zone,
	last_seen timestamp with time zone,
	quantile_95 numeric,
	quantile_99 numeric,
	quantile_999 numeric,
	query_sample_text text,
	query_sample_seen timestamp with time zone,
	query_sample_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_statements_summary_by_digest');
COMMENT ON FOREIGN TABLE pfs.events_statements_summary_by_digest IS
'Counts and times of statements by shape: database, user and query identifier; one row for all others. TRUNCATE removes the rows, also those of events_statements_histogram_by_digest and events_waits_summary_by_digest.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.digest_text IS
'Text with parameters for its constants, without secrets. NULL: not known, as it was parsed before this row was made; or without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.count_star IS
'Statements counted.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_lock_time IS
'Time in waits for heavyweight and lightweight locks, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_plan_time IS
'Time in the planner, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_exec_time IS
'Time in the executor or in utilities, in picoseconds.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_cpu_time IS
'Processor time, in picoseconds, of those that ran while consumer events_statements_cpu was on.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_errors IS
'Errors raised in them, caught ones included.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_warnings IS
'Warnings that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_rows_affected IS
'Rows inserted, updated, deleted, merged or copied.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_rows_sent IS
'Rows returned to whoever called.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_hit IS
'Pages found in shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_read IS
'Pages read into shared buffers.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_dirtied IS
'Pages of shared buffers that they changed first.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_shared_blks_written IS
'Pages of shared buffers that they wrote themselves.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_local_blks_read IS
'Pages of temporary tables read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_local_blks_written IS
'Pages of temporary tables written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_temp_blks_read IS
'Pages of temporary files read.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_temp_blks_written IS
'Pages of temporary files written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_wal_records IS
'WAL records written.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_wal_fpi IS
'Full page images in them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_wal_bytes IS
'Bytes of WAL.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.sum_parallel_workers IS
'Parallel workers that worked for them.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.max_total_memory IS
'The largest max_total_memory of these statements, in bytes; NULL where none has one.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.first_seen IS
'When the row was made.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.last_seen IS
'End of the last statement.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.quantile_95 IS
'95 % of them were not longer, in picoseconds: the upper bound of the histogram''s range, at most 19 % too high.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.quantile_99 IS
'The same of 99 %.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.quantile_999 IS
'The same of 99.9 %.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.query_sample_text IS
'Text of the slowest statement of late, without secrets; see pfs.max_digest_sample_age. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.query_sample_seen IS
'When that ended.';
COMMENT ON COLUMN pfs.events_statements_summary_by_digest.query_sample_timer_wait IS
'How long it was, in picoseconds.';

CREATE FOREIGN TABLE pfs.events_statements_histogram_by_digest (
	database_name text,
	user_name text,
	query_id bigint,
	bucket_number integer,
	bucket_timer_low numeric,
	bucket_timer_high numeric,
	count_bucket bigint,
	count_bucket_and_lower bigint,
	bucket_quantile double precision
) SERVER pfs_server OPTIONS ("table" 'events_statements_histogram_by_digest');
COMMENT ON FOREIGN TABLE pfs.events_statements_histogram_by_digest IS
'How many statements of each shape were how long. TRUNCATE empties it; quantiles become 0.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_number IS
'Number of the range of lengths.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_timer_low IS
'Its lower bound, in picoseconds; included.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_timer_high IS
'Its upper bound, in picoseconds; not included. NULL: none.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.count_bucket IS
'Statements of such a length.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.count_bucket_and_lower IS
'The same or shorter ones.';
COMMENT ON COLUMN pfs.events_statements_histogram_by_digest.bucket_quantile IS
'count_bucket_and_lower as a fraction of all.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_digest (
	database_name text,
	user_name text,
	query_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_digest');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_digest IS
'What statements of each shape waited for; those of parallel workers are their leader''s. TRUNCATE zeroes it.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.database_name IS
'Database in which they ran; NULL with user_name and query_id: all others.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.user_name IS
'Role in effect when they started.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.query_id IS
'The server''s query identifier, as in pg_stat_statements.queryid. NULL without the rights of user_name or pg_read_all_stats.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.count_timed IS
'Of these, waits with a time.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.sum_timer_wait IS
'Sum of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.min_timer_wait IS
'The shortest, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_digest.max_timer_wait IS
'The longest, in picoseconds; 0 where nothing was timed.';

CREATE FOREIGN TABLE pfs.events_transactions_summary_global_by_event_name (
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read_write bigint,
	sum_timer_read_write numeric,
	min_timer_read_write numeric,
	avg_timer_read_write numeric,
	max_timer_read_write numeric,
	count_read_only bigint,
	sum_timer_read_only numeric,
	min_timer_read_only numeric,
	avg_timer_read_only numeric,
	max_timer_read_only numeric
) SERVER pfs_server OPTIONS ("table" 'events_transactions_summary_global_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_global_by_event_name IS
'Counts and times of transactions by event name, every instrument has a row. TRUNCATE zeroes all levels.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.count_star IS
'Transactions counted.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.count_read_write IS
'Transactions that may write.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.sum_timer_read_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.min_timer_read_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.avg_timer_read_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.max_timer_read_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.count_read_only IS
'Transactions that may not write.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.sum_timer_read_only IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.min_timer_read_only IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.avg_timer_read_only IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_global_by_event_name.max_timer_read_only IS
'Longest of their times, in picoseconds.';

CREATE FOREIGN TABLE pfs.events_transactions_summary_by_thread_by_event_name (
	thread_id bigint,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read_write bigint,
	sum_timer_read_write numeric,
	min_timer_read_write numeric,
	avg_timer_read_write numeric,
	max_timer_read_write numeric,
	count_read_only bigint,
	sum_timer_read_only numeric,
	min_timer_read_only numeric,
	avg_timer_read_only numeric,
	max_timer_read_only numeric
) SERVER pfs_server OPTIONS ("table" 'events_transactions_summary_by_thread_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_thread_by_event_name IS
'Counts and times of transactions by event name, by living thread. TRUNCATE pushes the numbers into their accounts.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.count_star IS
'Transactions counted.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.count_read_write IS
'Transactions that may write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.sum_timer_read_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.min_timer_read_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.avg_timer_read_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.max_timer_read_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.count_read_only IS
'Transactions that may not write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.sum_timer_read_only IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.min_timer_read_only IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.avg_timer_read_only IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_thread_by_event_name.max_timer_read_only IS
'Longest of their times, in picoseconds.';

CREATE FOREIGN TABLE pfs.events_transactions_summary_by_account_by_event_name (
	user_name text,
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read_write bigint,
	sum_timer_read_write numeric,
	min_timer_read_write numeric,
	avg_timer_read_write numeric,
	max_timer_read_write numeric,
	count_read_only bigint,
	sum_timer_read_only numeric,
	min_timer_read_only numeric,
	avg_timer_read_only numeric,
	max_timer_read_only numeric
) SERVER pfs_server OPTIONS ("table" 'events_transactions_summary_by_account_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_account_by_event_name IS
'Counts and times of transactions by event name, by account: user and host. TRUNCATE pushes the numbers of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.count_star IS
'Transactions counted.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.count_read_write IS
'Transactions that may write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.sum_timer_read_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.min_timer_read_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.avg_timer_read_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.max_timer_read_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.count_read_only IS
'Transactions that may not write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.sum_timer_read_only IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.min_timer_read_only IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.avg_timer_read_only IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_account_by_event_name.max_timer_read_only IS
'Longest of their times, in picoseconds.';

CREATE FOREIGN TABLE pfs.events_transactions_summary_by_user_by_event_name (
	user_name text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read_write bigint,
	sum_timer_read_write numeric,
	min_timer_read_write numeric,
	avg_timer_read_write numeric,
	max_timer_read_write numeric,
	count_read_only bigint,
	sum_timer_read_only numeric,
	min_timer_read_only numeric,
	avg_timer_read_only numeric,
	max_timer_read_only numeric
) SERVER pfs_server OPTIONS ("table" 'events_transactions_summary_by_user_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_user_by_event_name IS
'Counts and times of transactions by event name, by user. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.count_star IS
'Transactions counted.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.count_read_write IS
'Transactions that may write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.sum_timer_read_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.min_timer_read_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.avg_timer_read_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.max_timer_read_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.count_read_only IS
'Transactions that may not write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.sum_timer_read_only IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.min_timer_read_only IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.avg_timer_read_only IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_user_by_event_name.max_timer_read_only IS
'Longest of their times, in picoseconds.';

CREATE FOREIGN TABLE pfs.events_transactions_summary_by_host_by_event_name (
	host text,
	event_name text,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric,
	count_read_write bigint,
	sum_timer_read_write numeric,
	min_timer_read_write numeric,
	avg_timer_read_write numeric,
	max_timer_read_write numeric,
	count_read_only bigint,
	sum_timer_read_only numeric,
	min_timer_read_only numeric,
	avg_timer_read_only numeric,
	max_timer_read_only numeric
) SERVER pfs_server OPTIONS ("table" 'events_transactions_summary_by_host_by_event_name');
COMMENT ON FOREIGN TABLE pfs.events_transactions_summary_by_host_by_event_name IS
'Counts and times of transactions by event name, by client address. TRUNCATE pushes the numbers of threads, accounts and hosts into the global ones.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.host IS
'Numeric client address, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.count_star IS
'Transactions counted.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.count_read_write IS
'Transactions that may write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.sum_timer_read_write IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.min_timer_read_write IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.avg_timer_read_write IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.max_timer_read_write IS
'Longest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.count_read_only IS
'Transactions that may not write.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.sum_timer_read_only IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.min_timer_read_only IS
'Shortest of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.avg_timer_read_only IS
'Average of their times, in picoseconds.';
COMMENT ON COLUMN pfs.events_transactions_summary_by_host_by_event_name.max_timer_read_only IS
'Longest of their times, in picoseconds.';

CREATE FOREIGN TABLE pfs.accounts (
	user_name text,
	host text,
	current_connections bigint,
	total_connections bigint
) SERVER pfs_server OPTIONS ("table" 'accounts');
COMMENT ON FOREIGN TABLE pfs.accounts IS
'Accounts: users on client addresses. Failed logins and parallel workers do not count; background processes share one row with NULLs. TRUNCATE removes rows without a connection and pushes the summaries of threads and accounts upward.';
COMMENT ON COLUMN pfs.accounts.user_name IS
'Name that the client connected as; NULL for background processes.';
COMMENT ON COLUMN pfs.accounts.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.accounts.current_connections IS
'Connections now.';
COMMENT ON COLUMN pfs.accounts.total_connections IS
'Connections since the last TRUNCATE.';

CREATE FOREIGN TABLE pfs.users (
	user_name text,
	current_connections bigint,
	total_connections bigint
) SERVER pfs_server OPTIONS ("table" 'users');
COMMENT ON FOREIGN TABLE pfs.users IS
'Users that are or were connected. Background processes share one row with NULL. TRUNCATE removes rows without a connection; the summaries below are pushed upward, those of users discarded.';
COMMENT ON COLUMN pfs.users.user_name IS
'Name that the client connected as; NULL for background processes.';
COMMENT ON COLUMN pfs.users.current_connections IS
'Connections now.';
COMMENT ON COLUMN pfs.users.total_connections IS
'Connections since the last TRUNCATE.';

CREATE FOREIGN TABLE pfs.hosts (
	host text,
	current_connections bigint,
	total_connections bigint
) SERVER pfs_server OPTIONS ("table" 'hosts');
COMMENT ON FOREIGN TABLE pfs.hosts IS
'Client addresses that are or were connected. Background processes share one row with NULL. TRUNCATE removes rows without a connection and pushes the summaries below upward.';
COMMENT ON COLUMN pfs.hosts.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.hosts.current_connections IS
'Connections now.';
COMMENT ON COLUMN pfs.hosts.total_connections IS
'Connections since the last TRUNCATE.';

CREATE FOREIGN TABLE pfs.file_instances (
	file_name text,
	event_name text,
	open_count bigint
) SERVER pfs_server OPTIONS ("table" 'file_instances');
COMMENT ON FOREIGN TABLE pfs.file_instances IS
'Files that the server has opened and that are still there. One row per path.';
COMMENT ON COLUMN pfs.file_instances.file_name IS
'Path below the data directory; cut at the front if longer than 1,024 bytes.';
COMMENT ON COLUMN pfs.file_instances.event_name IS
'The instrument of the first event on the file; NULL if there was none, or no room for its numbers.';
COMMENT ON COLUMN pfs.file_instances.open_count IS
'Descriptors that processes of the server hold now.';

CREATE FOREIGN TABLE pfs.file_summary_by_event_name (
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
) SERVER pfs_server OPTIONS ("table" 'file_summary_by_event_name');
COMMENT ON FOREIGN TABLE pfs.file_summary_by_event_name IS
'File calls by event name, over all files: those that are still there, removed ones, and calls without a file of their own. TRUNCATE empties it and sets the numbers of all files to zero.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.count_timed IS
'How many of them were timed.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_wait IS
'Time of the timed ones, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_wait IS
'The shortest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_wait IS
'The longest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.count_read IS
'Number of reads.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_read IS
'Time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_read IS
'The shortest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_read IS
'Average time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_read IS
'The longest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.count_write IS
'Number of writes, copies into the file among them.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_write IS
'Time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_write IS
'The shortest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_write IS
'Average time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_write IS
'The longest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.count_misc IS
'Number of other calls.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_timer_misc IS
'Time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.min_timer_misc IS
'The shortest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.avg_timer_misc IS
'Average time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.max_timer_misc IS
'The longest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_number_of_bytes_read IS
'Bytes that the reads brought.';
COMMENT ON COLUMN pfs.file_summary_by_event_name.sum_number_of_bytes_write IS
'Bytes that the writes took.';

CREATE FOREIGN TABLE pfs.file_summary_by_instance (
	file_name text,
	event_name text,
	object_instance_begin bigint,
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
) SERVER pfs_server OPTIONS ("table" 'file_summary_by_instance');
COMMENT ON FOREIGN TABLE pfs.file_summary_by_instance IS
'File calls by file and event name; files that are still there only. TRUNCATE adds the numbers to the event names and sets them to zero, here and in events_waits_summary_by_instance.';
COMMENT ON COLUMN pfs.file_summary_by_instance.file_name IS
'Path below the data directory; cut at the front if longer than 1,024 bytes.';
COMMENT ON COLUMN pfs.file_summary_by_instance.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.file_summary_by_instance.object_instance_begin IS
'Identifies the object, as in events_waits_current.';
COMMENT ON COLUMN pfs.file_summary_by_instance.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.file_summary_by_instance.count_timed IS
'How many of them were timed.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_wait IS
'Time of the timed ones, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_wait IS
'The shortest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_wait IS
'The longest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.count_read IS
'Number of reads.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_read IS
'Time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_read IS
'The shortest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_read IS
'Average time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_read IS
'The longest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.count_write IS
'Number of writes, copies into the file among them.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_write IS
'Time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_write IS
'The shortest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_write IS
'Average time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_write IS
'The longest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.count_misc IS
'Number of other calls.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_timer_misc IS
'Time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.min_timer_misc IS
'The shortest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.avg_timer_misc IS
'Average time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.max_timer_misc IS
'The longest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_number_of_bytes_read IS
'Bytes that the reads brought.';
COMMENT ON COLUMN pfs.file_summary_by_instance.sum_number_of_bytes_write IS
'Bytes that the writes took.';

CREATE FOREIGN TABLE pfs.events_waits_summary_by_instance (
	event_name text,
	object_instance_begin bigint,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'events_waits_summary_by_instance');
COMMENT ON FOREIGN TABLE pfs.events_waits_summary_by_instance IS
'Waits by event name and object: files, sockets, and with pfs.lwlock_events = contended or all LWLocks, of which those acquisitions count that slept. TRUNCATE adds the numbers to the event names (those of LWLocks are there already) and sets them to zero, in all tables by instance.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.object_instance_begin IS
'Identifies the object, as in events_waits_current.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.count_star IS
'Number of waits.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.count_timed IS
'How many of them were timed.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.sum_timer_wait IS
'Time of the timed ones, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.min_timer_wait IS
'The shortest, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds.';
COMMENT ON COLUMN pfs.events_waits_summary_by_instance.max_timer_wait IS
'The longest, in picoseconds.';

CREATE FOREIGN TABLE pfs.socket_instances (
	event_name text,
	object_instance_begin bigint,
	thread_id bigint,
	socket_id integer,
	ip inet,
	port integer,
	state text
) SERVER pfs_server OPTIONS ("table" 'socket_instances');
COMMENT ON FOREIGN TABLE pfs.socket_instances IS
'The connections of clients, walsenders'' among them, and the WAL receiver''s to its primary; those of processes that have had an event. TRUNCATE is refused.';
COMMENT ON COLUMN pfs.socket_instances.event_name IS
'The instrument that receives from it: setup_instruments.name.';
COMMENT ON COLUMN pfs.socket_instances.object_instance_begin IS
'Identifies the socket among those of now; the same in events_waits_* and socket_summary_by_instance.';
COMMENT ON COLUMN pfs.socket_instances.thread_id IS
'The thread that owns it: threads.thread_id.';
COMMENT ON COLUMN pfs.socket_instances.socket_id IS
'Descriptor in that process; NULL for the WAL receiver, whose socket belongs to libpq.';
COMMENT ON COLUMN pfs.socket_instances.ip IS
'Address of the other side; NULL for a Unix socket, and where the WAL receiver was given no address. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.socket_instances.port IS
'Port of the other side; NULL for a Unix socket. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.socket_instances.state IS
'IDLE while the session waits for its next command, else ACTIVE.';

CREATE FOREIGN TABLE pfs.socket_summary_by_event_name (
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
) SERVER pfs_server OPTIONS ("table" 'socket_summary_by_event_name');
COMMENT ON FOREIGN TABLE pfs.socket_summary_by_event_name IS
'Calls on sockets, those that have been closed included. Shows a row where something was counted since the last reset. TRUNCATE zeroes it, and socket_summary_by_instance.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_star IS
'Calls.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_timed IS
'Calls that were timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_wait IS
'Their time, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_wait IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_wait IS
'Their average, in picoseconds: the sum divided by count_timed; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_wait IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_read IS
'Calls that received bytes (operation recv). The call that brings the first bytes of the next message ends the idle wait and is none.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_read IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_read IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_read IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_read IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_write IS
'Calls that sent bytes (operation send).';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_write IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_write IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_write IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_write IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.count_misc IS
'Waits until the socket can be read or written, or is connected (operation wait).';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_timer_misc IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.min_timer_misc IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.avg_timer_misc IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.max_timer_misc IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_number_of_bytes_read IS
'Bytes received, those of the call included that brings the first bytes of the next message: it ends the idle wait and counts as no call.';
COMMENT ON COLUMN pfs.socket_summary_by_event_name.sum_number_of_bytes_write IS
'Bytes sent.';

CREATE FOREIGN TABLE pfs.socket_summary_by_instance (
	event_name text,
	object_instance_begin bigint,
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
) SERVER pfs_server OPTIONS ("table" 'socket_summary_by_instance');
COMMENT ON FOREIGN TABLE pfs.socket_summary_by_instance IS
'Calls on each socket of socket_instances. TRUNCATE zeroes it; the numbers stay in socket_summary_by_event_name.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.event_name IS
'The instrument: setup_instruments.name.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.object_instance_begin IS
'The socket: socket_instances.object_instance_begin, and the same of events_waits_*.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_star IS
'Calls.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_timed IS
'Calls that were timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_wait IS
'Their time, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_wait IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_wait IS
'Their average, in picoseconds: the sum divided by count_timed; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_wait IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_read IS
'Calls that received bytes (operation recv). The call that brings the first bytes of the next message ends the idle wait and is none.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_read IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_read IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_read IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_read IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_write IS
'Calls that sent bytes (operation send).';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_write IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_write IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_write IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_write IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.count_misc IS
'Waits until the socket can be read or written, or is connected (operation wait).';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_timer_misc IS
'Time of the timed ones among them, in picoseconds.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.min_timer_misc IS
'The shortest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.avg_timer_misc IS
'Their average, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.max_timer_misc IS
'The longest of them, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_number_of_bytes_read IS
'Bytes received, those of the call included that brings the first bytes of the next message: it ends the idle wait and counts as no call.';
COMMENT ON COLUMN pfs.socket_summary_by_instance.sum_number_of_bytes_write IS
'Bytes sent.';

CREATE FOREIGN TABLE pfs.memory_summary_global_by_event_name (
	event_name text,
	count_alloc bigint,
	count_free bigint,
	sum_number_of_bytes_alloc numeric,
	sum_number_of_bytes_free numeric,
	low_count_used bigint,
	current_count_used bigint,
	high_count_used bigint,
	low_number_of_bytes_used bigint,
	current_number_of_bytes_used bigint,
	high_number_of_bytes_used bigint
) SERVER pfs_server OPTIONS ("table" 'memory_summary_global_by_event_name');
COMMENT ON FOREIGN TABLE pfs.memory_summary_global_by_event_name IS
'Memory of the whole server, sessions that have ended included. One row per instrument that was used since the last reset or holds something now. TRUNCATE makes what is in use the new baseline, at all levels.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.count_alloc IS
'Chunks that were allocated.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.count_free IS
'Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their context.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.sum_number_of_bytes_alloc IS
'Bytes of the chunks that were allocated: their space without the header.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.sum_number_of_bytes_free IS
'Bytes of the chunks that were freed.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.low_count_used IS
'Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.current_count_used IS
'Chunks in use now: count_alloc less count_free.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.high_count_used IS
'Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.low_number_of_bytes_used IS
'Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.current_number_of_bytes_used IS
'Bytes in use now.';
COMMENT ON COLUMN pfs.memory_summary_global_by_event_name.high_number_of_bytes_used IS
'Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';

CREATE FOREIGN TABLE pfs.memory_summary_by_thread_by_event_name (
	thread_id bigint,
	event_name text,
	count_alloc bigint,
	count_free bigint,
	sum_number_of_bytes_alloc numeric,
	sum_number_of_bytes_free numeric,
	low_count_used bigint,
	current_count_used bigint,
	high_count_used bigint,
	low_number_of_bytes_used bigint,
	current_number_of_bytes_used bigint,
	high_number_of_bytes_used bigint
) SERVER pfs_server OPTIONS ("table" 'memory_summary_by_thread_by_event_name');
COMMENT ON FOREIGN TABLE pfs.memory_summary_by_thread_by_event_name IS
'Memory by living thread. One row per thread and instrument that was used since the last reset or holds something now. TRUNCATE makes what is in use the new baseline and pushes what was freed into the accounts.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.thread_id IS
'Number of the thread, as in threads.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.count_alloc IS
'Chunks that were allocated.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.count_free IS
'Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their context.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.sum_number_of_bytes_alloc IS
'Bytes of the chunks that were allocated: their space without the header.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.sum_number_of_bytes_free IS
'Bytes of the chunks that were freed.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.low_count_used IS
'Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.current_count_used IS
'Chunks in use now: count_alloc less count_free.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.high_count_used IS
'Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.low_number_of_bytes_used IS
'Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.current_number_of_bytes_used IS
'Bytes in use now.';
COMMENT ON COLUMN pfs.memory_summary_by_thread_by_event_name.high_number_of_bytes_used IS
'Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';

CREATE FOREIGN TABLE pfs.memory_summary_by_account_by_event_name (
	user_name text,
	host text,
	event_name text,
	count_alloc bigint,
	count_free bigint,
	sum_number_of_bytes_alloc numeric,
	sum_number_of_bytes_free numeric,
	low_count_used bigint,
	current_count_used bigint,
	high_count_used bigint,
	low_number_of_bytes_used bigint,
	current_number_of_bytes_used bigint,
	high_number_of_bytes_used bigint
) SERVER pfs_server OPTIONS ("table" 'memory_summary_by_account_by_event_name');
COMMENT ON FOREIGN TABLE pfs.memory_summary_by_account_by_event_name IS
'Memory by account, sessions that have ended included. One row per account and instrument. TRUNCATE makes what is in use the new baseline of threads and accounts and pushes what was freed into users and hosts.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.user_name IS
'Role that authenticated; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.count_alloc IS
'Chunks that were allocated.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.count_free IS
'Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their context.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.sum_number_of_bytes_alloc IS
'Bytes of the chunks that were allocated: their space without the header.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.sum_number_of_bytes_free IS
'Bytes of the chunks that were freed.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.low_count_used IS
'Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.current_count_used IS
'Chunks in use now: count_alloc less count_free.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.high_count_used IS
'Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.low_number_of_bytes_used IS
'Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.current_number_of_bytes_used IS
'Bytes in use now.';
COMMENT ON COLUMN pfs.memory_summary_by_account_by_event_name.high_number_of_bytes_used IS
'Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';

CREATE FOREIGN TABLE pfs.memory_summary_by_user_by_event_name (
	user_name text,
	event_name text,
	count_alloc bigint,
	count_free bigint,
	sum_number_of_bytes_alloc numeric,
	sum_number_of_bytes_free numeric,
	low_count_used bigint,
	current_count_used bigint,
	high_count_used bigint,
	low_number_of_bytes_used bigint,
	current_number_of_bytes_used bigint,
	high_number_of_bytes_used bigint
) SERVER pfs_server OPTIONS ("table" 'memory_summary_by_user_by_event_name');
COMMENT ON FOREIGN TABLE pfs.memory_summary_by_user_by_event_name IS
'Memory by user, sessions that have ended included. One row per user and instrument. TRUNCATE makes what is in use the new baseline of threads, accounts and users.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.user_name IS
'Role that authenticated; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.count_alloc IS
'Chunks that were allocated.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.count_free IS
'Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their context.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.sum_number_of_bytes_alloc IS
'Bytes of the chunks that were allocated: their space without the header.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.sum_number_of_bytes_free IS
'Bytes of the chunks that were freed.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.low_count_used IS
'Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.current_count_used IS
'Chunks in use now: count_alloc less count_free.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.high_count_used IS
'Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.low_number_of_bytes_used IS
'Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.current_number_of_bytes_used IS
'Bytes in use now.';
COMMENT ON COLUMN pfs.memory_summary_by_user_by_event_name.high_number_of_bytes_used IS
'Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';

CREATE FOREIGN TABLE pfs.memory_summary_by_host_by_event_name (
	host text,
	event_name text,
	count_alloc bigint,
	count_free bigint,
	sum_number_of_bytes_alloc numeric,
	sum_number_of_bytes_free numeric,
	low_count_used bigint,
	current_count_used bigint,
	high_count_used bigint,
	low_number_of_bytes_used bigint,
	current_number_of_bytes_used bigint,
	high_number_of_bytes_used bigint
) SERVER pfs_server OPTIONS ("table" 'memory_summary_by_host_by_event_name');
COMMENT ON FOREIGN TABLE pfs.memory_summary_by_host_by_event_name IS
'Memory by client address, sessions that have ended included. One row per address and instrument. TRUNCATE makes what is in use the new baseline of threads, accounts and hosts and pushes what was freed into the global table.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.event_name IS
'Name of the instrument, as in setup_instruments.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.count_alloc IS
'Chunks that were allocated.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.count_free IS
'Of those that were counted when allocated, chunks that were freed, also by the reset or deletion of their context.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.sum_number_of_bytes_alloc IS
'Bytes of the chunks that were allocated: their space without the header.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.sum_number_of_bytes_free IS
'Bytes of the chunks that were freed.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.low_count_used IS
'Fewest chunks in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.current_count_used IS
'Chunks in use now: count_alloc less count_free.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.high_count_used IS
'Most chunks in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.low_number_of_bytes_used IS
'Fewest bytes in use since the last reset; above threads a lower estimate, the sum of theirs.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.current_number_of_bytes_used IS
'Bytes in use now.';
COMMENT ON COLUMN pfs.memory_summary_by_host_by_event_name.high_number_of_bytes_used IS
'Most bytes in use since the last reset; above threads a higher estimate, as if all were at their marks at once.';

CREATE FOREIGN TABLE pfs.lwlock_instances (
	name text,
	object_instance_begin bigint,
	exclusive_locked_by_thread_id bigint,
	shared_locked_by_count bigint,
	shared_locked_by_thread_ids bigint[]
) SERVER pfs_server OPTIONS ("table" 'lwlock_instances');
COMMENT ON FOREIGN TABLE pfs.lwlock_instances IS
'LWLocks in the main shared memory that some process had to sleep for since the server''s start; with pfs.lwlock_events = contended or all. TRUNCATE is refused.';
COMMENT ON COLUMN pfs.lwlock_instances.name IS
'The instrument of its tranche: setup_instruments.name.';
COMMENT ON COLUMN pfs.lwlock_instances.object_instance_begin IS
'Its address, the same in all processes and in events_waits_*; lwlock_objects says what it protects.';
COMMENT ON COLUMN pfs.lwlock_instances.exclusive_locked_by_thread_id IS
'The thread that holds it alone: threads.thread_id; NULL if none does, and without pfs.lwlock_events = all.';
COMMENT ON COLUMN pfs.lwlock_instances.shared_locked_by_count IS
'How many threads hold it together; NULL without pfs.lwlock_events = all.';
COMMENT ON COLUMN pfs.lwlock_instances.shared_locked_by_thread_ids IS
'Which ones: threads.thread_id; NULL without pfs.lwlock_events = all.';

CREATE FOREIGN TABLE pfs.events_errors_summary_global_by_error (
	error_name text,
	sql_state text,
	severity text,
	sum_error_raised bigint,
	sum_error_handled bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'events_errors_summary_global_by_error');
COMMENT ON FOREIGN TABLE pfs.events_errors_summary_global_by_error IS
'Errors by SQLSTATE and severity of the whole server, sessions that have ended included. TRUNCATE zeroes all levels.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.error_name IS
'Name of the condition as in the manual''s appendix on error codes; NULL for states of extensions, and for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.sql_state IS
'SQLSTATE; NULL for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.severity IS
'ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.sum_error_raised IS
'How often it was raised.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.sum_error_handled IS
'How often a block caught it.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.first_seen IS
'When it was raised first since the last reset.';
COMMENT ON COLUMN pfs.events_errors_summary_global_by_error.last_seen IS
'When it was raised last.';

CREATE FOREIGN TABLE pfs.events_errors_summary_by_thread_by_error (
	thread_id bigint,
	error_name text,
	sql_state text,
	severity text,
	sum_error_raised bigint,
	sum_error_handled bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'events_errors_summary_by_thread_by_error');
COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_thread_by_error IS
'Errors by SQLSTATE and severity, by living thread. TRUNCATE pushes the numbers into their accounts.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.thread_id IS
'A living thread: threads.thread_id.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.error_name IS
'Name of the condition as in the manual''s appendix on error codes; NULL for states of extensions, and for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.sql_state IS
'SQLSTATE; NULL for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.severity IS
'ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.sum_error_raised IS
'How often it was raised.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.sum_error_handled IS
'How often a block caught it.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.first_seen IS
'When it was raised first since the last reset.';
COMMENT ON COLUMN pfs.events_errors_summary_by_thread_by_error.last_seen IS
'When it was raised last.';

CREATE FOREIGN TABLE pfs.events_errors_summary_by_account_by_error (
	user_name text,
	host text,
	error_name text,
	sql_state text,
	severity text,
	sum_error_raised bigint,
	sum_error_handled bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'events_errors_summary_by_account_by_error');
COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_account_by_error IS
'Errors by SQLSTATE and severity, by account, sessions that have ended included. TRUNCATE pushes the numbers of threads and accounts into their users and hosts.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.error_name IS
'Name of the condition as in the manual''s appendix on error codes; NULL for states of extensions, and for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.sql_state IS
'SQLSTATE; NULL for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.severity IS
'ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.sum_error_raised IS
'How often it was raised.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.sum_error_handled IS
'How often a block caught it.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.first_seen IS
'When it was raised first since the last reset.';
COMMENT ON COLUMN pfs.events_errors_summary_by_account_by_error.last_seen IS
'When it was raised last.';

CREATE FOREIGN TABLE pfs.events_errors_summary_by_user_by_error (
	user_name text,
	error_name text,
	sql_state text,
	severity text,
	sum_error_raised bigint,
	sum_error_handled bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'events_errors_summary_by_user_by_error');
COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_user_by_error IS
'Errors by SQLSTATE and severity, by user, sessions that have ended included. TRUNCATE pushes the numbers of threads and accounts into their hosts and discards those of users.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.user_name IS
'The authenticated role; NULL for background processes.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.error_name IS
'Name of the condition as in the manual''s appendix on error codes; NULL for states of extensions, and for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.sql_state IS
'SQLSTATE; NULL for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.severity IS
'ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.sum_error_raised IS
'How often it was raised.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.sum_error_handled IS
'How often a block caught it.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.first_seen IS
'When it was raised first since the last reset.';
COMMENT ON COLUMN pfs.events_errors_summary_by_user_by_error.last_seen IS
'When it was raised last.';

CREATE FOREIGN TABLE pfs.events_errors_summary_by_host_by_error (
	host text,
	error_name text,
	sql_state text,
	severity text,
	sum_error_raised bigint,
	sum_error_handled bigint,
	first_seen timestamp with time zone,
	last_seen timestamp with time zone
) SERVER pfs_server OPTIONS ("table" 'events_errors_summary_by_host_by_error');
COMMENT ON FOREIGN TABLE pfs.events_errors_summary_by_host_by_error IS
'Errors by SQLSTATE and severity, by client address, sessions that have ended included. TRUNCATE pushes the numbers of threads, accounts and hosts into the global table.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.host IS
'Numeric address of the client, [local] for a Unix socket; NULL for background processes.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.error_name IS
'Name of the condition as in the manual''s appendix on error codes; NULL for states of extensions, and for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.sql_state IS
'SQLSTATE; NULL for all that found no place of their own.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.severity IS
'ERROR, FATAL, PANIC or WARNING. Rows below ERROR exist only for messages that log_min_messages lets through.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.sum_error_raised IS
'How often it was raised.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.sum_error_handled IS
'How often a block caught it.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.first_seen IS
'When it was raised first since the last reset.';
COMMENT ON COLUMN pfs.events_errors_summary_by_host_by_error.last_seen IS
'When it was raised last.';

CREATE FOREIGN TABLE pfs.prepared_statements_instances (
	thread_id bigint,
	statement_name text,
	sql_text text,
	count_execute bigint,
	count_star bigint,
	count_timed bigint,
	sum_timer_wait numeric,
	min_timer_wait numeric,
	avg_timer_wait numeric,
	max_timer_wait numeric
) SERVER pfs_server OPTIONS ("table" 'prepared_statements_instances');
COMMENT ON FOREIGN TABLE pfs.prepared_statements_instances IS
'Prepared statements of living sessions: by PREPARE, or from the first execution of one of the protocol. One that was closed disappears soon, not at once. TRUNCATE sets the counts to zero.';
COMMENT ON COLUMN pfs.prepared_statements_instances.thread_id IS
'The session that has it: threads.thread_id.';
COMMENT ON COLUMN pfs.prepared_statements_instances.statement_name IS
'Its name. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.prepared_statements_instances.sql_text IS
'The statement that was prepared, cut at pfs.max_sql_text_length. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.prepared_statements_instances.count_execute IS
'How often it was executed.';
COMMENT ON COLUMN pfs.prepared_statements_instances.count_star IS
'Executions counted.';
COMMENT ON COLUMN pfs.prepared_statements_instances.count_timed IS
'Those of them that were timed.';
COMMENT ON COLUMN pfs.prepared_statements_instances.sum_timer_wait IS
'Sum of their times, in picoseconds.';
COMMENT ON COLUMN pfs.prepared_statements_instances.min_timer_wait IS
'Shortest of their times, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.prepared_statements_instances.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds; 0 where nothing was timed.';
COMMENT ON COLUMN pfs.prepared_statements_instances.max_timer_wait IS
'Longest of their times, in picoseconds; 0 where nothing was timed.';

--
-- Views.  Rights are checked for the current user when a table is scanned, so a
-- view shows nobody more than the table does.
--

CREATE VIEW pfs.processlist AS
SELECT
	thread_id,
	processlist_id AS id,
	processlist_user AS user_name,
	processlist_host AS host,
	processlist_db AS db,
	processlist_command AS command,
	processlist_time AS "time",
	processlist_state AS state,
	processlist_info AS info,
	name,
	type
FROM pfs.threads;
COMMENT ON VIEW pfs.processlist IS
'Every thread, background ones too, in the words of MySQL''s process list.';
COMMENT ON COLUMN pfs.processlist.thread_id IS
'Number of the thread: threads.thread_id.';
COMMENT ON COLUMN pfs.processlist.id IS
'Process id of client backends and walsenders, else NULL.';
COMMENT ON COLUMN pfs.processlist.user_name IS
'The authenticated role: threads.processlist_user.';
COMMENT ON COLUMN pfs.processlist.host IS
'Numeric client address, [local] for a Unix socket: threads.processlist_host. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.processlist.db IS
'Database of the session: threads.processlist_db.';
COMMENT ON COLUMN pfs.processlist.command IS
'Query, Sleep, Sleep in transaction, Replication or Daemon: threads.processlist_command.';
COMMENT ON COLUMN pfs.processlist."time" IS
'Seconds in this command: threads.processlist_time.';
COMMENT ON COLUMN pfs.processlist.state IS
'The current stage, else the wait that is running now: threads.processlist_state. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.processlist.info IS
'Text of the statement that is running: threads.processlist_info. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.processlist.name IS
'The kind of process: threads.name.';
COMMENT ON COLUMN pfs.processlist.type IS
'FOREGROUND or BACKGROUND: threads.type.';

CREATE VIEW pfs.tables AS
SELECT table_name, a_row_is, truncate_effect, writable_columns
FROM pfs.table_definitions;
COMMENT ON VIEW pfs.tables IS
'The tables and views of pfs, from the definitions in the library.';
COMMENT ON COLUMN pfs.tables.table_name IS
'Name of the table or view in schema pfs.';
COMMENT ON COLUMN pfs.tables.a_row_is IS
'What one row stands for.';
COMMENT ON COLUMN pfs.tables.truncate_effect IS
'What TRUNCATE and pfs.reset() do to it.';
COMMENT ON COLUMN pfs.tables.writable_columns IS
'Columns that UPDATE can change; NULL: none.';

CREATE VIEW pfs.file_summary_by_relation AS
WITH files AS (
	SELECT
		CASE
			WHEN path IS NOT NULL THEN CASE WHEN path[4] IS NULL THEN 'relation' ELSE 'temporary' END
			WHEN file_name LIKE '%pgsql\_tmp%' THEN 'temporary'
			WHEN file_name LIKE 'pg\_wal/%' THEN 'WAL'
			WHEN file_name ~ '^pg_(xact|multixact|subtrans|commit_ts|serial|notify)/' THEN 'SLRU'
			ELSE 'other'
		END AS kind,
		CASE
			WHEN file_name LIKE 'global/%' THEN 1664
			WHEN file_name LIKE 'base/%' THEN 1663
			ELSE substring(file_name FROM '^pg_tblspc/(\d+)/')::bigint
		END AS tablespace,
		coalesce(path[2], path[3])::bigint AS database,
		path[5]::bigint AS filenode,
		s.*
	FROM pfs.file_summary_by_instance s,
		-- 2, 3: database; 4: of a session's temporary relation; 5: number of the file
		LATERAL regexp_match(file_name,
			'^(global|base/(\d+)|pg_tblspc/\d+/PG_[^/]+/(\d+))/(t\d+_)?(\d+)(?:_(?:fsm|vm|init))?(?:\.\d+)?$') AS path
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
COMMENT ON VIEW pfs.file_summary_by_relation IS
'File calls by relation: file_summary_by_instance, summed over event names, segments and forks.';
COMMENT ON COLUMN pfs.file_summary_by_relation.tablespace IS
'Its name; the number if there is none any more. NULL for files outside of tablespaces.';
COMMENT ON COLUMN pfs.file_summary_by_relation.object_schema IS
'Schema of the relation, [database] if it is of another one. NULL where the relation is not known, and for files of no relation.';
COMMENT ON COLUMN pfs.file_summary_by_relation.object_name IS
'Name of the relation, looked up in the reader''s database; else the number of its file. SLRU: the folder. other: the path. NULL for WAL and temporary files.';
COMMENT ON COLUMN pfs.file_summary_by_relation.kind IS
'relation, WAL, temporary (temporary relations and files), SLRU or other.';
COMMENT ON COLUMN pfs.file_summary_by_relation.count_star IS
'Number of calls.';
COMMENT ON COLUMN pfs.file_summary_by_relation.count_timed IS
'How many of them were timed.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_timer_wait IS
'Time of the timed ones, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.min_timer_wait IS
'The shortest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.avg_timer_wait IS
'sum_timer_wait / count_timed, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.max_timer_wait IS
'The longest, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.count_read IS
'Number of reads.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_timer_read IS
'Time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.min_timer_read IS
'The shortest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.avg_timer_read IS
'Average time of the timed reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.max_timer_read IS
'The longest of the reads, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.count_write IS
'Number of writes, copies into the file among them.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_timer_write IS
'Time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.min_timer_write IS
'The shortest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.avg_timer_write IS
'Average time of the timed writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.max_timer_write IS
'The longest of the writes, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.count_misc IS
'Number of other calls.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_timer_misc IS
'Time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.min_timer_misc IS
'The shortest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.avg_timer_misc IS
'Average time of the timed other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.max_timer_misc IS
'The longest of the other calls, in picoseconds.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_number_of_bytes_read IS
'Bytes that the reads brought.';
COMMENT ON COLUMN pfs.file_summary_by_relation.sum_number_of_bytes_write IS
'Bytes that the writes took.';

CREATE FUNCTION pfs.lwlock_object(object_instance_begin bigint,
	OUT object_type text, OUT object_number bigint, OUT tablespace oid, OUT database oid, OUT filenode oid,
	OUT fork text, OUT block_number bigint, OUT thread_id bigint) RETURNS record
AS 'MODULE_PATHNAME', 'pfs_lwlock_object'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.lwlock_object(bigint) IS
'Which object of the server has its LWLock at an address, in numbers: what lwlock_objects makes names of. NULLs for any other address.';

CREATE VIEW pfs.lwlock_objects AS
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
COMMENT ON VIEW pfs.lwlock_objects IS
'What the locks of lwlock_instances protect.';
COMMENT ON COLUMN pfs.lwlock_objects.name IS
'The lock''s event name, wait/synch/lwlock/ and its tranche: lwlock_instances.name.';
COMMENT ON COLUMN pfs.lwlock_objects.object_instance_begin IS
'Address of the lock: lwlock_instances.object_instance_begin.';
COMMENT ON COLUMN pfs.lwlock_objects.object_type IS
'BUFFER: a page in shared buffers; BUFFER MAPPING, LOCK MANAGER, PREDICATE LOCK MANAGER: a partition of these; WAL INSERT; PROCESS: a process''s own lock; MAIN: one of the server''s single locks; TRANCHE: one that an extension requested. NULL: any other.';
COMMENT ON COLUMN pfs.lwlock_objects.object_number IS
'Which one: number of the buffer from 1, as pg_buffercache has it; of the partition, insertion lock, process or lock of the tranche from 0.';
COMMENT ON COLUMN pfs.lwlock_objects.object_schema IS
'Of a buffer: schema of the relation whose page it has now, [database] if that is of another one.';
COMMENT ON COLUMN pfs.lwlock_objects.object_name IS
'Of a buffer: name of that relation, looked up in the reader''s database; else the number of its file. MAIN, TRANCHE: name of the lock or its tranche.';
COMMENT ON COLUMN pfs.lwlock_objects.fork IS
'Of a buffer: main, fsm, vm or init.';
COMMENT ON COLUMN pfs.lwlock_objects.block_number IS
'Of a buffer: the page''s number in the fork.';
COMMENT ON COLUMN pfs.lwlock_objects.thread_id IS
'PROCESS: whose lock it is, threads.thread_id; NULL while nobody has the place.';

--
-- Functions.  All of them work in read-only transactions and on a standby, where
-- UPDATE and TRUNCATE do not.
--

CREATE FUNCTION pfs.timer_now(class text DEFAULT 'wait') RETURNS numeric
AS 'MODULE_PATHNAME', 'pfs_timer_now'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.timer_now(text) IS
'Now, in picoseconds since the server''s start, by the timer that setup_timers names for the class: pfs.timer_now() - timer_start is the time of a running wait so far.';

CREATE FUNCTION pfs.timer_to_timestamp(timer numeric, class text DEFAULT 'wait') RETURNS timestamp with time zone
AS 'MODULE_PATHNAME', 'pfs_timer_to_timestamp'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.timer_to_timestamp(numeric, text) IS
'Wall-clock time of a timer value in picoseconds: the clock now less the time between the value and pfs.timer_now(class).';

CREATE FUNCTION pfs.format_time(timer numeric) RETURNS text
AS 'MODULE_PATHNAME', 'pfs_format_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.format_time(numeric) IS
'A time in picoseconds for people to read: 1.23 ms.';

CREATE FUNCTION pfs.set_instruments(pattern text, enabled text DEFAULT NULL, timed text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_instruments'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_instruments(text, text, text) IS
'Switch the instruments whose names match: % stands for any characters, ? for one, letter case is ignored. YES or NO; NULL leaves as is. Also for instruments that register later. Returns the number that matched.';

CREATE FUNCTION pfs.set_consumers(pattern text, enabled text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_consumers'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_consumers(text, text) IS
'Switch the consumers whose names match; YES also switches on those above them. Returns the number that matched.';

CREATE FUNCTION pfs.set_timer(name text, timer_name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_timer'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_timer(text, text) IS
'Choose the timer of a class of events, as UPDATE of setup_timers does. Returns the number of classes that matched.';

CREATE FUNCTION pfs.set_thread(thread_id bigint, instrumented text DEFAULT NULL, history text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_thread'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_thread(bigint, text, text) IS
'Switch one thread, as UPDATE of threads does; NULL leaves as is. Returns the number of threads that matched.';

CREATE FUNCTION pfs.set_threads(pattern text, enabled text DEFAULT NULL, history text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_threads'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_threads(text, text, text) IS
'Switch kinds of background processes whose names match, as UPDATE of setup_threads does; NULL leaves as is. Returns the number that matched.';

CREATE FUNCTION pfs.set_actor(host text, user_name text, role text DEFAULT '%', enabled text DEFAULT 'YES', history text DEFAULT 'YES') RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_set_actor'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.set_actor(text, text, text, text, text) IS
'Insert the rule of setup_actors for this host and user, or update the one that is there. Returns 1.';

CREATE FUNCTION pfs.drop_actor(host text, user_name text, role text DEFAULT '%') RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_drop_actor'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.drop_actor(text, text, text) IS
'Delete the rule of setup_actors for this host and user. Returns the number of rules that matched.';

CREATE FUNCTION pfs.reset(table_name text DEFAULT NULL) RETURNS numeric
AS 'MODULE_PATHNAME', 'pfs_reset'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION pfs.reset(text) IS
'Do what TRUNCATE of the table does, without its lock; the name with or without pfs. NULL: all histories and summaries, no set-up. Returns the number of events that left.';

CREATE FUNCTION pfs.reset_time(table_name text) RETURNS timestamp with time zone
AS 'MODULE_PATHNAME', 'pfs_reset_time_sql'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.reset_time(text) IS
'When the table was last reset; the server''s start if it never was.';

CREATE FUNCTION pfs.thread_id(pid integer DEFAULT pg_backend_pid()) RETURNS bigint
AS 'MODULE_PATHNAME', 'pfs_thread_id'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pfs.thread_id(integer) IS
'threads.thread_id of a living process, by default one''s own; NULL if there is none.';

CREATE FUNCTION pfs.setup_sql() RETURNS text
AS 'MODULE_PATHNAME', 'pfs_setup_sql_text'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION pfs.setup_sql() IS
'The ALTER SYSTEM lines that make the present set-up the one after the next restart.';

--
-- Rights: reading is for pg_monitor, everything else for superusers until it is
-- granted.
--

CREATE VIEW pfs.blocking_tree AS
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
COMMENT ON VIEW pfs.blocking_tree IS
'Who waits for whom: one row for each waiting thread and each one that holds, or wants before it, the heavyweight lock that it waits for; with pfs.lwlock_events = all also the LWLock.';
COMMENT ON COLUMN pfs.blocking_tree.waiting_thread_id IS
'The thread that waits: threads.thread_id.';
COMMENT ON COLUMN pfs.blocking_tree.waiting_pid IS
'Its process id.';
COMMENT ON COLUMN pfs.blocking_tree.waiting_user IS
'Its authenticated role.';
COMMENT ON COLUMN pfs.blocking_tree.waiting_statement IS
'What it executes: threads.processlist_info. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.blocking_tree.waiting_since IS
'When the wait began.';
COMMENT ON COLUMN pfs.blocking_tree.wait_time IS
'How long it has waited, in picoseconds.';
COMMENT ON COLUMN pfs.blocking_tree.object_type IS
'What it waits for: RELATION, TRANSACTIONID, TUPLE and others, or LWLOCK, as in events_waits_current.';
COMMENT ON COLUMN pfs.blocking_tree.object_schema IS
'Schema of the relation. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.blocking_tree.object_name IS
'The relation, the transaction id, or the numbers of the lock''s key; NULL for an LWLock, see lwlock_objects. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.blocking_tree.lock_mode IS
'Mode of the lock that it wants; for an LWLock the operation.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_thread_id IS
'A thread that it waits for; NULL if that has no thread, as a prepared transaction.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_pid IS
'Its process id; 0 for a prepared transaction.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_user IS
'Its authenticated role.';
COMMENT ON COLUMN pfs.blocking_tree.blocking_statement IS
'What it executes, or executed last. Only for pg_read_all_stats and the thread''s own role.';
COMMENT ON COLUMN pfs.blocking_tree.depth IS
'How many waits are between it and one that waits for nobody: 1 at least.';
COMMENT ON COLUMN pfs.blocking_tree.terminate_command IS
'A statement that ends the blocking session; NULL for a prepared transaction, which ROLLBACK PREPARED ends.';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pfs FROM PUBLIC;
GRANT USAGE ON SCHEMA pfs TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.timer_now(text) TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.timer_to_timestamp(numeric, text) TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.format_time(numeric) TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.thread_id(integer) TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.reset_time(text) TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.setup_sql() TO pg_monitor;
GRANT EXECUTE ON FUNCTION pfs.lwlock_object(bigint) TO pg_monitor;
