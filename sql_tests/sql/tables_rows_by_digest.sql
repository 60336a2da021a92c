-- Rows of tables and indexes by statement.  t/195_tables.pl compares them with those by table and index,
-- t/198_rows_by_digest.pl with the server's own numbers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

CREATE SCHEMA pfs_by_digest;
SET search_path TO pfs_by_digest;
SELECT enabled AS was_enabled FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler' \gset
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'wait/io/table/handler';

CREATE TABLE t (id int PRIMARY KEY, a int, v text);
CREATE INDEX t_a ON t (a);
CREATE VIEW by_digest AS SELECT regexp_replace(d.digest_text, '\$\d+', '$', 'g') AS digest_text, d.count_star AS executed, r.object_type, r.object_schema, r.object_name, r.index_name,
	r.count_star, r.count_fetch, r.count_insert, r.count_update, r.count_delete
FROM pfs.table_io_waits_summary_by_digest r LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
WHERE r.database_name = current_database() AND r.object_schema = 'pfs_by_digest' AND r.count_star > 0;
TRUNCATE pfs.events_statements_summary_by_digest;

-- Each kind of access, by the statement that did it.
INSERT INTO t SELECT g, g % 10, 'v' FROM generate_series(1, 100) g;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT v FROM t WHERE id = 1;
SELECT v FROM t WHERE id = 2;
SELECT count(v) FROM t WHERE a = 3;
UPDATE t SET v = 'w' WHERE id = 4;
DELETE FROM t WHERE id = 5;
SELECT v FROM t WHERE id = 6 FOR UPDATE;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(v) FROM t;
SELECT * FROM by_digest ORDER BY digest_text, index_name;

-- Those together are what the index and the table have.
SELECT index_name, sum(count_star), sum(count_fetch), sum(count_insert), sum(count_update), sum(count_delete) FROM by_digest GROUP BY 1
EXCEPT ALL
SELECT index_name, count_star, count_fetch, count_insert, count_update, count_delete FROM pfs.table_io_waits_summary_by_index_usage
WHERE database_name = current_database() AND object_schema = 'pfs_by_digest';

-- Nested statements: rows are those of the innermost one.
CREATE FUNCTION f(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
	PERFORM v FROM t WHERE id <= n; INSERT INTO t SELECT 1000 + g, 0, 'f' FROM generate_series(1, n) g; RETURN n; END $$;
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT f(3);
SELECT digest_text, index_name, count_insert FROM by_digest WHERE count_insert > 0 ORDER BY 1, 2;
SELECT count(*) FROM by_digest WHERE digest_text LIKE 'SELECT f(%';

-- A cursor's rows are those of the statement that fetches them, and each that reads a table by no index has used none.
TRUNCATE pfs.events_statements_summary_by_digest, pfs.events_statements_history;
BEGIN;
DECLARE c CURSOR FOR SELECT v FROM t;
FETCH 2 FROM c;
MOVE 3 FROM c;
FETCH 2 FROM c;
COMMIT;
-- Since 18 the cursor's query has an identifier of its own.
SELECT bool_and(digest_text ~ '^(FETCH|MOVE|DECLARE)') AS by_fetch, sum(count_fetch) AS count_fetch FROM by_digest;
SELECT sql_text, rows_examined, no_index_used FROM pfs.events_statements_history
WHERE thread_id = pfs.thread_id() AND nesting_event_level = 0 AND event_name ~ 'fetch|move' ORDER BY event_id;

-- A table keeps what an index led to that is dropped; by statement, and by index, it goes.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(v) FROM t WHERE a = 3;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count_fetch AS fetched FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_by_digest' \gset
DROP INDEX t_a;
SELECT count_fetch - :fetched AS lost FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_by_digest';
SELECT count(*) FROM by_digest WHERE digest_text LIKE '%a = $%';
SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_schema = 'pfs_by_digest' AND index_name = 't_a';

-- TRUNCATE of one of the three zeroes all; that of the digests takes the rows, too, and leaves the tables.
TRUNCATE pfs.table_io_waits_summary_by_table;
SELECT count(*) FROM by_digest;
SELECT count(v) FROM t;
SELECT count(*) FROM by_digest;
SELECT clock_timestamp() AS before \gset
TRUNCATE pfs.table_io_waits_summary_by_digest;
SELECT count(*) FROM by_digest;
SELECT coalesce(sum(count_star), 0) FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_by_digest';
SELECT coalesce(sum(count_star), 0) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_schema = 'pfs_by_digest';
SELECT bool_and(pfs.reset_time(name) >= :'before') AS noted FROM unnest(ARRAY['table_io_waits_summary_by_table',
	'table_io_waits_summary_by_index_usage', 'table_io_waits_summary_by_digest']) name;
SELECT count(v) FROM t;
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT count(*) FROM by_digest;
SELECT sum(count_star) > 0 AS kept FROM pfs.table_io_waits_summary_by_table WHERE object_schema = 'pfs_by_digest';
SELECT count(v) FROM t;
SELECT pfs.reset('table_io_waits_summary_by_digest') >= (SELECT count(*) FROM t) AS rows_left;
SELECT count(*) FROM by_digest;

-- A table that is dropped loses its rows.
SELECT count(v) FROM t;
SELECT count(*) FROM by_digest;
DROP TABLE t;
SELECT count(*) FROM by_digest;

-- Without a query identifier there is no digest, and rows are all others'.
SET compute_query_id = off;
CREATE TABLE u AS SELECT 1 AS a;
SELECT * FROM u;
RESET compute_query_id;
SELECT count(*) FROM by_digest;
SELECT query_id IS NULL AND database_name IS NULL AS others, object_name, count_fetch, count_insert FROM pfs.table_io_waits_summary_by_digest WHERE object_schema = 'pfs_by_digest';

-- Writes, and a column that there is not.
UPDATE pfs.table_io_waits_summary_by_digest SET count_star = 0;
\echo :SQLSTATE
DELETE FROM pfs.table_io_waits_summary_by_digest;
\echo :SQLSTATE
SELECT sum_timer_fetch FROM pfs.table_io_waits_summary_by_digest;
\echo :SQLSTATE

-- Rights: counts are shown, of others neither query identifiers nor names.
SELECT count(*) FROM u;
CREATE ROLE regress_pfs_by_digest;
GRANT USAGE ON SCHEMA pfs TO regress_pfs_by_digest;
SET ROLE regress_pfs_by_digest;
SELECT count(*) FROM pfs.table_io_waits_summary_by_digest;
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT ON pfs.table_io_waits_summary_by_digest TO regress_pfs_by_digest;
SET ROLE regress_pfs_by_digest;
SELECT sum(count_fetch) AS counts, count(query_id), count(object_schema), count(object_name), count(index_name)
FROM pfs.table_io_waits_summary_by_digest WHERE user_name = session_user AND database_name = current_database();
TRUNCATE pfs.table_io_waits_summary_by_digest;
\echo :SQLSTATE
RESET ROLE;
GRANT pg_read_all_stats TO regress_pfs_by_digest;
SET ROLE regress_pfs_by_digest;
SELECT query_id IS NOT NULL AS shown, object_name, count_fetch FROM pfs.table_io_waits_summary_by_digest
WHERE object_schema = 'pfs_by_digest' AND database_name IS NOT NULL;
RESET ROLE;
REVOKE SELECT ON pfs.table_io_waits_summary_by_digest FROM regress_pfs_by_digest;
REVOKE USAGE ON SCHEMA pfs FROM regress_pfs_by_digest;
DROP ROLE regress_pfs_by_digest;

UPDATE pfs.setup_instruments SET enabled = :'was_enabled' WHERE name = 'wait/io/table/handler';
SET client_min_messages = warning;
DROP SCHEMA pfs_by_digest CASCADE;
RESET client_min_messages;
RESET search_path;
