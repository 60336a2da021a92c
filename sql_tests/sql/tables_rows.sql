-- Rows of tables and indexes: what was done with them, and by which index.  t/195_tables.pl compares
-- their numbers with the server's own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

CREATE SCHEMA pfs_rows;
SET search_path TO pfs_rows;
SELECT enabled AS was_enabled, timed AS was_timed FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler' \gset
SELECT properties FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler';
UPDATE pfs.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name = 'wait/io/table/handler';

CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE VIEW by_table AS SELECT object_type, object_schema, object_name, count_star, count_read, count_write, count_fetch, count_insert, count_update, count_delete
FROM pfs.table_io_waits_summary_by_table WHERE database_name = current_database() AND object_schema = 'pfs_rows';
CREATE VIEW by_index AS SELECT object_name, index_name, count_star, count_read, count_write, count_fetch, count_insert, count_update, count_delete
FROM pfs.table_io_waits_summary_by_index_usage WHERE database_name = current_database() AND object_schema = 'pfs_rows';

-- Each kind of access.
SELECT * FROM by_table;
INSERT INTO t SELECT g, 'v' FROM generate_series(1, 100) g;
SELECT * FROM by_table;
SELECT count(v) FROM t;
UPDATE t SET v = 'w' WHERE id <= 10;
DELETE FROM t WHERE id > 95;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(v) FROM t WHERE id BETWEEN 21 AND 40;
SELECT count(*) FROM (SELECT * FROM t WHERE id BETWEEN 21 AND 40 FOR SHARE) s;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT object_type, object_schema, object_name, count_insert, count_update, count_delete, count_fetch >= 100 AS fetched,
	count_read = count_fetch + 20 AS locked, count_write = count_insert + count_update + count_delete AS written, count_star = count_read + count_write AS all
FROM by_table;
SELECT object_name, index_name, count_insert, count_update, count_delete, count_fetch >= 40 AS fetched, count_write FROM by_index ORDER BY index_name;

-- Times are of no more rows than there are, and parts add up, but for picoseconds: each time is converted by itself.
SELECT object_name, index_name FROM pfs.table_io_waits_summary_by_index_usage WHERE count_timed > count_star
	OR abs(sum_timer_wait - sum_timer_read - sum_timer_write) > 2 OR abs(sum_timer_write - sum_timer_insert - sum_timer_update - sum_timer_delete) > 3
	OR min_timer_wait > max_timer_wait OR count_star <> count_read + count_write OR sum_timer_wait < max_timer_wait;
SELECT object_name FROM pfs.table_io_waits_summary_by_table WHERE count_timed > count_star
	OR abs(sum_timer_wait - sum_timer_read - sum_timer_write) > 2 OR abs(sum_timer_write - sum_timer_insert - sum_timer_update - sum_timer_delete) > 3
	OR min_timer_wait > max_timer_wait OR count_star <> count_read + count_write OR sum_timer_wait < max_timer_wait;
SELECT sum_timer_fetch > 0 AS fetched, sum_timer_insert > 0 AS inserted, sum_timer_update > 0 AS updated, sum_timer_delete > 0 AS deleted
FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_rows';

-- The events.
TRUNCATE pfs.events_waits_history;
SELECT count(v) FROM t;
SELECT operation, object_type, object_schema, object_name, index_name, number_of_bytes, nesting_event_type
FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id() AND event_name = 'wait/io/table/handler';

-- What a statement has examined.
SELECT rows_examined, no_index_used FROM pfs.events_statements_history
WHERE thread_id = pfs.thread_id() AND sql_text LIKE 'SELECT count(v) FROM t%' ORDER BY event_id DESC LIMIT 1;

-- Not timed, and off.
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'wait/io/table/handler';
TRUNCATE pfs.table_io_waits_summary_by_table;
SELECT count(v) FROM t;
SELECT count_star, count_timed, sum_timer_wait FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_rows';
SELECT index_name, count_star, count_timed FROM pfs.table_io_waits_summary_by_index_usage WHERE object_schema = 'pfs_rows' AND count_star > 0;
UPDATE pfs.setup_instruments SET enabled = 'NO', timed = 'YES' WHERE name = 'wait/io/table/handler';
SELECT count(v) FROM t;
SELECT count_star FROM by_table;
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'wait/io/table/handler';

-- TRUNCATE of one zeroes both.
SELECT count(v) FROM t;
SELECT count_star > 0 AS counted FROM by_table;
TRUNCATE pfs.table_io_waits_summary_by_index_usage;
SELECT coalesce(sum(count_star), 0) AS counted FROM by_table;
SELECT coalesce(sum(count_star), 0) AS counted FROM by_index;

-- The objects' summary has its own.
TRUNCATE pfs.objects_summary_global_by_type;
SELECT object_type, object_name, count_star FROM pfs.objects_summary_global_by_type WHERE object_schema = 'pfs_rows';
SELECT count(v) FROM t;
SELECT o.count_star = t.count_star AS same, o.count_timed = t.count_timed AS timed, o.sum_timer_wait = t.sum_timer_wait AS times
FROM pfs.objects_summary_global_by_type o JOIN by_table USING (object_type, object_schema, object_name) JOIN pfs.table_io_waits_summary_by_table t USING (object_type, object_schema, object_name);
TRUNCATE pfs.table_io_waits_summary_by_table;
SELECT object_type, object_name, count_star FROM pfs.objects_summary_global_by_type WHERE object_schema = 'pfs_rows';
SELECT pfs.reset('objects_summary_global_by_type') >= 95 AS reset;
SELECT object_type, object_name, count_star FROM pfs.objects_summary_global_by_type WHERE object_schema = 'pfs_rows';
UPDATE pfs.objects_summary_global_by_type SET count_star = 0;
\echo :SQLSTATE

-- Rules of setup_objects.
SELECT pfs.set_object('TABLE', '%', 'pfs_rows', 't', 'NO');
SELECT count(v) FROM t;
SELECT coalesce(sum(count_star), 0) AS counted FROM by_table;
SELECT pfs.set_object('TABLE', '%', 'pfs_rows', 't', 'YES', 'NO');
SELECT count(v) FROM t;
SELECT count_star, count_timed FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_rows';
SELECT pfs.drop_object('TABLE', '%', 'pfs_rows', 't');

-- Catalogs are not counted unless a rule says so.
SELECT count(*) FROM pfs.table_io_waits_summary_by_table
 WHERE object_schema IN ('pg_catalog', 'pg_toast', 'information_schema') AND count_star > 0;

-- A table that is dropped loses its rows, unless that is rolled back.
BEGIN;
DROP TABLE t;
ROLLBACK;
SELECT count(*) FROM by_table;
BEGIN;
SAVEPOINT s;
DROP TABLE t;
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM by_table;
DROP TABLE t;
SELECT count(*) FROM by_table;
SELECT count(*) FROM by_index;

-- Waits for locks: none here.
SELECT count(*) FROM pfs.table_lock_waits_summary_by_table WHERE object_schema = 'pfs_rows';

-- Writes, and columns that there are not.
UPDATE pfs.table_io_waits_summary_by_table SET count_star = 0;
\echo :SQLSTATE
DELETE FROM pfs.table_io_waits_summary_by_index_usage;
\echo :SQLSTATE
INSERT INTO pfs.table_lock_waits_summary_by_table (object_name) VALUES ('t');
\echo :SQLSTATE
SELECT count_lock FROM pfs.table_io_waits_summary_by_table;
\echo :SQLSTATE
CREATE FOREIGN TABLE wrong (sum_timer_access_share bigint) SERVER pfs_server OPTIONS ("table" 'table_lock_waits_summary_by_table');
SELECT * FROM wrong;
\echo :SQLSTATE
DROP FOREIGN TABLE wrong;

-- Rights.
CREATE ROLE regress_pfs_rows;
SET ROLE regress_pfs_rows;
SELECT count(*) FROM pfs.table_io_waits_summary_by_table;
\echo :SQLSTATE
RESET ROLE;
GRANT pg_monitor TO regress_pfs_rows;
SET ROLE regress_pfs_rows;
SELECT object_name FROM pfs.table_io_waits_summary_by_table LIMIT 0;
SELECT object_name FROM pfs.table_io_waits_summary_by_index_usage LIMIT 0;
SELECT object_name FROM pfs.table_lock_waits_summary_by_table LIMIT 0;
SELECT object_name FROM pfs.objects_summary_global_by_type LIMIT 0;
TRUNCATE pfs.table_io_waits_summary_by_table;
\echo :SQLSTATE
TRUNCATE pfs.objects_summary_global_by_type;
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_pfs_rows;

UPDATE pfs.setup_instruments SET enabled = :'was_enabled', timed = :'was_timed' WHERE name = 'wait/io/table/handler';
DROP VIEW by_table, by_index;
DROP SCHEMA pfs_rows;
RESET search_path;
