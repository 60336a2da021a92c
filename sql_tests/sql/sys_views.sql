-- Views for people: what there is, with which columns, comments and rights, and that all can be read.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

SELECT relname FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND relname NOT LIKE 'x$%' ORDER BY relname COLLATE "C";

-- Each has a twin with the same columns in the same order, of which only formatted ones differ in type.
CREATE VIEW sys_columns AS
SELECT c.oid, replace(c.relname, 'x$', '') AS name, c.relname LIKE 'x$%' AS plain, a.attnum, a.attname, a.atttypid::regtype AS type
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'pfs_sys'::regnamespace AND c.relkind = 'v' AND a.attnum > 0;
SELECT name, a.attnum, a.attname, b.attname
FROM (SELECT * FROM sys_columns WHERE plain) a FULL JOIN (SELECT * FROM sys_columns WHERE NOT plain) b USING (name, attnum)
WHERE a.attname IS DISTINCT FROM b.attname;
SELECT a.type AS plain, b.type AS formatted, count(*) > 20 AS often
FROM (SELECT * FROM sys_columns WHERE plain) a JOIN (SELECT * FROM sys_columns WHERE NOT plain) b USING (name, attnum)
WHERE a.type <> b.type GROUP BY 1, 2 ORDER BY 1, 2;
SELECT DISTINCT attname FROM sys_columns JOIN pg_get_keywords() ON word = attname WHERE catcode IN ('R', 'T');

-- Comments on everything; of plain times and sizes with their unit.
SELECT name, attname FROM sys_columns WHERE col_description(oid, attnum) IS NULL;
SELECT oid::regclass FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND obj_description(oid, 'pg_class') IS NULL;
SELECT name, attname FROM sys_columns WHERE plain AND attname LIKE '%latency' AND col_description(oid, attnum) NOT LIKE '%In picoseconds.';
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'pfs_sys'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL;

-- Rights: pg_monitor reads and calls, nobody else.
SELECT oid::regclass FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND relkind = 'v'
	AND (NOT has_table_privilege('pg_monitor', oid, 'SELECT') OR has_table_privilege('public', oid, 'SELECT') OR has_table_privilege('pg_monitor', oid, 'UPDATE'));
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'pfs_sys'::regnamespace
	AND (NOT has_function_privilege('pg_monitor', oid, 'EXECUTE') OR has_function_privilege('public', oid, 'EXECUTE'));

-- One with no other rights reads each column of each.
CREATE ROLE sys_reader IN ROLE pg_monitor;
CREATE FUNCTION read_all() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	view text;
BEGIN
	FOR view IN SELECT relname FROM pg_class WHERE relnamespace = 'pfs_sys'::regnamespace AND relkind = 'v' ORDER BY 1 LOOP
		BEGIN
			EXECUTE format('SELECT count(v::text) FROM pfs_sys.%I v', view);
		EXCEPTION WHEN OTHERS THEN
			RETURN NEXT view || ': ' || sqlerrm;
		END;
	END LOOP;
END $$;
SET ROLE sys_reader;
SELECT read_all();
RESET ROLE;
CREATE ROLE sys_nobody;
SET ROLE sys_nobody;
TABLE pfs_sys.version;
\echo :SQLSTATE
RESET ROLE;
DROP ROLE sys_nobody;

-- Times, sizes, statements.
SELECT pfs_sys.format_bytes(1e29), pfs_sys.format_bytes(10::numeric ^ 4000), pfs_sys.format_bytes('-Infinity');
SELECT pfs_sys.format_time(t) FROM unnest(ARRAY[0, 999, 1234567, 1500000000000, NULL]::numeric[]) t;
SELECT b, pfs_sys.format_bytes(b)
FROM unnest(ARRAY[0, 1, 1023.4, 1023.5, 4194304, 1048524.7, 1048524.9, 5e9, 7e13, 2e18, -5000, 'NaN', NULL]::numeric[]) b;
SELECT pfs_sys.format_statement(E'\n SELECT\t1,\r\n\x01  2  '), pfs_sys.format_statement(''), pfs_sys.format_statement(NULL) IS NULL AS null;
SELECT n, length(pfs_sys.format_statement(s)), pfs_sys.format_statement(s)
FROM (VALUES (64), (65), (1000)) v (n), LATERAL (SELECT left(repeat('SELECT a, b ', 100), n - 1) || ';') t (s);
SELECT pfs_sys.format_statement(repeat(chr(228), 65)) = repeat(chr(228), 29) || ' ... ' || repeat(chr(228), 30) AS characters;

-- Columns that are formulas of others.
SELECT count(*) FROM pfs_sys.x$io_global_by_file_by_bytes WHERE total <> total_read + total_written OR write_pct NOT BETWEEN 0 AND 100;
SELECT count(*) FROM pfs_sys.x$wait_classes_global_by_latency WHERE avg_latency NOT BETWEEN min_latency AND max_latency OR total_latency < max_latency;
SELECT event_class FROM pfs_sys.x$wait_classes_global_by_latency WHERE event_class IN ('idle', 'wait/io/table', 'wait/activity');
SELECT DISTINCT type FROM pfs_sys.metrics ORDER BY 1;
SELECT variable_name, unit FROM pfs_sys.x$metrics WHERE unit <> 'seconds' AND variable_value !~ '^[0-9]+$';
SELECT variable_name, count(*) FROM pfs_sys.x$metrics GROUP BY 1 HAVING count(*) > 1;

DROP FUNCTION read_all();
DROP VIEW sys_columns;
DROP ROLE sys_reader;
