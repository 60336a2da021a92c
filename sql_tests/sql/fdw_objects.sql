-- What CREATE EXTENSION makes, and that it is what the library defines.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

SELECT relname, relkind FROM pg_class
WHERE relnamespace = 'pfs'::regnamespace AND relkind <> 'c'
ORDER BY relname COLLATE "C";
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS returns,
	provolatile, proparallel, proisstrict
FROM pg_proc p WHERE pronamespace = 'pfs'::regnamespace
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- pfs.tables lists what is there, no more and no less.
SELECT table_name, relname
FROM pfs.tables FULL JOIN
	(SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')) c
	ON relname = table_name
WHERE table_name IS NULL OR relname IS NULL;
SELECT table_name, truncate_effect, writable_columns FROM pfs.tables
ORDER BY table_name COLLATE "C";
SELECT count(*) FROM pfs.tables WHERE a_row_is IS NULL OR a_row_is = '';

-- The script is the print of IMPORT FOREIGN SCHEMA, frozen.
CREATE SCHEMA pfs_imported;
IMPORT FOREIGN SCHEMA pfs FROM SERVER pfs_server INTO pfs_imported;
CREATE VIEW pfs_columns AS
	SELECT nspname, relname, attnum, attname, format_type(atttypid, atttypmod) AS type,
		pg_get_expr(adbin, adrelid) AS by_default, ftoptions
	FROM pg_foreign_table JOIN pg_class c ON c.oid = ftrelid
		JOIN pg_namespace n ON n.oid = relnamespace
		JOIN pg_attribute ON attrelid = c.oid
		LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attnum > 0 AND NOT attisdropped;
SELECT count(*) > 100 AS imported FROM pfs_columns WHERE nspname = 'pfs_imported';
SELECT relname, attnum, attname, type, by_default, ftoptions FROM pfs_columns WHERE nspname = 'pfs'
EXCEPT
SELECT relname, attnum, attname, type, by_default, ftoptions FROM pfs_columns WHERE nspname = 'pfs_imported';
SELECT relname, attnum, attname, type, by_default, ftoptions FROM pfs_columns WHERE nspname = 'pfs_imported'
EXCEPT
SELECT relname, attnum, attname, type, by_default, ftoptions FROM pfs_columns WHERE nspname = 'pfs';
-- and what was imported reads the same
SELECT count(*) FROM (TABLE pfs.setup_consumers EXCEPT TABLE pfs_imported.setup_consumers) d;
SELECT count(*) FROM pfs_imported.setup_consumers;

SELECT relname, attname, by_default FROM pfs_columns WHERE nspname = 'pfs_imported' AND by_default IS NOT NULL
ORDER BY relname, attnum;

-- The columns, frozen: none may be renamed, dropped or change its type.  Unaligned, so that
-- a column is a change of its table's line only.
\a
SELECT relname, string_agg(attname || ' ' || type, ', ' ORDER BY attnum) AS columns
FROM pfs_columns WHERE nspname = 'pfs' GROUP BY relname ORDER BY relname COLLATE "C";
SELECT c.relname, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS columns
FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
WHERE relnamespace = 'pfs'::regnamespace AND relkind = 'v' AND attnum > 0
GROUP BY relname ORDER BY relname COLLATE "C";
\a

-- No column needs quotes because its name is reserved.
SELECT c.relname, attname
FROM pg_class c JOIN pg_attribute ON attrelid = c.oid JOIN pg_get_keywords() k ON word = attname
WHERE relnamespace = 'pfs'::regnamespace AND attnum > 0 AND catcode IN ('R', 'T');

-- Everything has a comment.
SELECT c.relname FROM pg_class c
WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')
	AND obj_description(c.oid, 'pg_class') IS NULL;
SELECT c.relname, attname FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v') AND attnum > 0
	AND col_description(c.oid, attnum) IS NULL;
SELECT p.oid::regprocedure FROM pg_proc p
WHERE pronamespace = 'pfs'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL;

-- LIMIT TO and EXCEPT
CREATE SCHEMA pfs_some;
IMPORT FOREIGN SCHEMA pfs LIMIT TO (threads, status) FROM SERVER pfs_server INTO pfs_some;
SELECT relname FROM pg_class WHERE relnamespace = 'pfs_some'::regnamespace ORDER BY 1;
DROP FOREIGN TABLE pfs_some.threads, pfs_some.status;
IMPORT FOREIGN SCHEMA pfs EXCEPT (threads, status) FROM SERVER pfs_server INTO pfs_some;
SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind = 'f') -
	(SELECT count(*) FROM pg_class WHERE relnamespace = 'pfs_some'::regnamespace) AS left_out;

-- What IMPORT does not take
IMPORT FOREIGN SCHEMA public FROM SERVER pfs_server INTO pfs_some;
\echo :SQLSTATE
IMPORT FOREIGN SCHEMA pfs FROM SERVER pfs_server INTO pfs_some OPTIONS (what 'ever');
\echo :SQLSTATE

-- Tables made by hand: the name says which, or the option does.
CREATE FOREIGN TABLE pfs_some.consumers (enabled text, name text) SERVER pfs_server
	OPTIONS ("table" 'setup_consumers');
SELECT name FROM pfs_some.consumers WHERE name = 'global_instrumentation';
UPDATE pfs_some.consumers SET enabled = 'no' WHERE name = 'events_waits_history' RETURNING *;
SELECT * FROM pfs.setup_consumers WHERE name = 'events_waits_history';
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_waits_history';
CREATE FOREIGN TABLE pfs_some.nowhere (name text) SERVER pfs_server;
SELECT * FROM pfs_some.nowhere;
\echo :SQLSTATE
CREATE FOREIGN TABLE pfs_some.wrong (name text) SERVER pfs_server OPTIONS ("table" 'nowhere');
\echo :SQLSTATE
CREATE FOREIGN TABLE pfs_some.wrong (name text) SERVER pfs_server OPTIONS (color 'blue');
\echo :SQLSTATE
CREATE FOREIGN TABLE pfs_some.wrong_column (name text, colour text) SERVER pfs_server
	OPTIONS ("table" 'setup_consumers');
SELECT name FROM pfs_some.wrong_column;
\echo :SQLSTATE
ALTER FOREIGN TABLE pfs_some.wrong_column DROP COLUMN colour;
SELECT count(*) FROM pfs_some.wrong_column;
CREATE FOREIGN TABLE pfs_some.wrong_type (thread_id integer) SERVER pfs_server
	OPTIONS ("table" 'threads');
SELECT * FROM pfs_some.wrong_type;
\echo :SQLSTATE
UPDATE pfs_some.wrong_type SET thread_id = 1;
\echo :SQLSTATE
CREATE SERVER pfs_other FOREIGN DATA WRAPPER pfs_fdw OPTIONS (host 'x');
\echo :SQLSTATE
-- such definitions do not disturb information_schema
SELECT table_name, is_insertable_into FROM information_schema.tables
WHERE table_schema = 'pfs_some' AND table_name IN ('nowhere', 'wrong_type') ORDER BY 1;

-- ANALYZE skips the tables.
ANALYZE pfs.status;

DROP VIEW pfs_columns;
SET client_min_messages = warning;
DROP SCHEMA pfs_imported, pfs_some CASCADE;
RESET client_min_messages;

-- The schemas come and go with the extension.
SELECT nspname, has_schema_privilege('pg_monitor', oid, 'USAGE') AS monitor, has_schema_privilege('public', oid, 'USAGE') AS everybody,
	obj_description(oid, 'pg_namespace') IS NOT NULL AS comment
FROM pg_namespace WHERE nspname LIKE 'pfs%' ORDER BY nspname COLLATE "C";
DROP EXTENSION pfs;
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pfs%';
CREATE SCHEMA pfs;
\set SHOW_CONTEXT never
CREATE EXTENSION pfs;
\echo :SQLSTATE
DROP SCHEMA pfs;
CREATE SCHEMA pfs_sys;
CREATE EXTENSION pfs;
\echo :SQLSTATE
\set SHOW_CONTEXT errors
DROP SCHEMA pfs_sys;
CREATE EXTENSION pfs;
SELECT count(*) FROM pfs.setup_consumers;
