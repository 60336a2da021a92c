-- Rules for tables, functions, procedures and triggers: setup_objects takes rows and loses them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
CREATE VIEW objects AS SELECT * FROM pfs.setup_objects
	ORDER BY object_type COLLATE "C", database_name COLLATE "C", object_schema COLLATE "C", object_name COLLATE "C";

-- The rows of the start, and what an INSERT leaves out
TABLE objects;
INSERT INTO pfs.setup_objects DEFAULT VALUES;
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) VALUES ('accounts') RETURNING *;
INSERT INTO pfs.setup_objects (object_type, object_schema, timed) VALUES ('Function', 'bank', 'no') RETURNING *;
INSERT INTO pfs.setup_objects VALUES ('procedure', 'db', 's', 'p', 'No', DEFAULT), ('TRIGGER', DEFAULT, 's', 'p', DEFAULT, 'yes') RETURNING *;
INSERT INTO pfs.setup_objects (object_type, database_name) SELECT 'TABLE', 'db' || n FROM generate_series(1, 3) n;
SELECT * FROM objects WHERE object_schema NOT LIKE 'pg%';

-- Duplicates: of what is there, and within the statement. All or nothing.
INSERT INTO pfs.setup_objects (object_type, object_name) VALUES ('TRIGGER', 'x'), ('tAbLe', 'accounts');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_type, object_name) VALUES ('TABLE', 'y'), ('TABLE', 'z'), ('table', 'y');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects SELECT * FROM pfs.setup_objects;
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) SELECT 'late' || 1 / (3 - n) FROM generate_series(1, 5) n;
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) VALUES ('accounts') ON CONFLICT DO NOTHING;
\echo :SQLSTATE
-- each part of the key makes another rule; letter case and patterns make other names
INSERT INTO pfs.setup_objects (object_type, database_name, object_schema, object_name) VALUES ('TABLE', '%', '%', 'Accounts'),
	('TABLE', '%', '%', 'acc%'), ('TABLE', '%', 'accounts', '%'), ('TABLE', 'accounts', '%', '%'), ('TRIGGER', '%', '%', 'accounts') RETURNING *;
SELECT count(*) FROM pfs.setup_objects;

-- More than fits: nothing of it, and it is counted.
SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'setup_objects';
INSERT INTO pfs.setup_objects (object_name) SELECT 'u' || n FROM generate_series(1, 128) n;
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) SELECT 'u' || n FROM generate_series(1, 100) n;
INSERT INTO pfs.setup_objects (object_name) VALUES ('one too many');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', '%', '%', 'one too many');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', '%', '%', 'u1', enabled => 'NO') AS updates;
SELECT records_used, records_high_water, records_lost FROM pfs.containers WHERE name = 'setup_objects';
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_setup_objects_lost';
WITH gone AS (DELETE FROM pfs.setup_objects WHERE object_name ~ '^u\d' RETURNING *)
	SELECT count(*), count(*) FILTER (WHERE enabled = 'NO') AS not_enabled, min(object_type) AS object_type FROM gone;
TRUNCATE pfs.status;
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_setup_objects_lost';

-- Values that no rule can have
INSERT INTO pfs.setup_objects (object_type) VALUES ('EVENT');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_type, object_name) VALUES ('%', 'v');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_type, object_name) VALUES ('', 'v');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_type, object_name) VALUES (NULL, 'v');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (database_name) VALUES (NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_schema) VALUES (NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) VALUES (NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name, enabled) VALUES ('v', NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name, enabled) VALUES ('v', 'maybe');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name, timed) VALUES ('v', 'maybe');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (database_name) VALUES (repeat('v', 64));
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_schema) VALUES (repeat('v', 64));
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) VALUES (repeat('v', 64));
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (database_name, object_schema, object_name) SELECT n, n, n FROM repeat('v', 63) n
	RETURNING length(database_name), length(object_schema), length(object_name);
-- the good rows before a bad one do not stay
INSERT INTO pfs.setup_objects (object_name, enabled) VALUES ('v1', 'YES'), ('v2', 'perhaps');
\echo :SQLSTATE
SELECT count(*) FROM pfs.setup_objects WHERE object_name IN ('v', 'v1', 'v2');

-- UPDATE: the switches, not the key
UPDATE pfs.setup_objects SET enabled = 'no' WHERE object_name = 'Accounts' RETURNING *;
UPDATE pfs.setup_objects SET enabled = 'yes', timed = 'No' WHERE object_name = 'Accounts' RETURNING enabled, timed;
UPDATE pfs.setup_objects SET object_type = 'TRIGGER' WHERE object_name = 'Accounts';
\echo :SQLSTATE
UPDATE pfs.setup_objects SET database_name = database_name;
\echo :SQLSTATE
UPDATE pfs.setup_objects SET object_schema = '%', enabled = 'NO';
\echo :SQLSTATE
UPDATE pfs.setup_objects SET object_name = 'eve';
\echo :SQLSTATE
UPDATE pfs.setup_objects SET enabled = CASE object_name WHEN 'Accounts' THEN 'never' ELSE 'NO' END;
\echo :SQLSTATE
UPDATE pfs.setup_objects SET timed = NULL;
\echo :SQLSTATE
SELECT object_type, enabled || timed AS switches, count(*) FROM objects GROUP BY 1, 2 ORDER BY 1, 2;

-- DELETE; a statement that fails deletes nothing, ROLLBACK does not take back what has succeeded.
DELETE FROM pfs.setup_objects WHERE length(object_name) = 63 RETURNING length(object_schema), tableoid::regclass;
WITH gone AS (DELETE FROM pfs.setup_objects o USING (VALUES ('db1'), ('db2'), ('db1')) v (d)
	WHERE o.database_name = v.d RETURNING o.object_type, o.database_name, v.d) SELECT * FROM gone ORDER BY database_name;
DELETE FROM pfs.setup_objects WHERE 1 / (object_name <> 'Accounts')::int > 0;
\echo :SQLSTATE
DELETE FROM pfs.setup_objects WHERE false;
BEGIN;
DELETE FROM pfs.setup_objects WHERE object_name = 'Accounts';
INSERT INTO pfs.setup_objects (object_name) VALUES ('kept');
ROLLBACK;
SELECT object_name FROM objects WHERE object_name IN ('Accounts', 'kept');
EXPLAIN (COSTS OFF) DELETE FROM pfs.setup_objects;

-- COPY, with some columns and with all
COPY pfs.setup_objects (object_schema, object_name) FROM stdin;
c	one
c	two
\.
COPY pfs.setup_objects FROM stdin;
trigger	c	three	%	no	Yes
\.
COPY pfs.setup_objects (object_name) FROM stdin;
four
five
four
\.
COPY (SELECT * FROM objects WHERE 'c' IN (database_name, object_schema)) TO stdout;
SELECT count(*) FROM pfs.setup_objects WHERE object_name IN ('four', 'five');

-- The functions
SELECT pfs.set_object('Trigger', 'f', 'g', 'h') AS inserts, pfs.set_object('TRIGGER', 'f', 'g', 'h', 'no', 'NO') AS updates;
SELECT * FROM pfs.setup_objects WHERE database_name = 'f';
SELECT pfs.set_object('TRIGGER', 'f', 'g', 'h', timed => 'yes');
SELECT enabled, timed FROM pfs.setup_objects WHERE database_name = 'f';
SELECT pfs.drop_object('TABLE', 'f', 'g', 'h') AS another, pfs.drop_object('trigger', 'f', 'g', 'h'), pfs.drop_object('TRIGGER', 'f', 'g', 'h') AS no_more,
	pfs.drop_object('TABLE', '%', 'c', '%') AS no_pattern;
SELECT pfs.set_object(NULL, 'f', 'g', 'h');
\echo :SQLSTATE
SELECT pfs.set_object('VIEW', 'f', 'g', 'h');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', NULL, 'g', 'h');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', 'f', repeat('g', 64), 'h');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', 'f', 'g', 'h', 'maybe');
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', 'f', 'g', 'h', 'YES', NULL);
\echo :SQLSTATE
SELECT pfs.drop_object('TABLE', 'f', 'g', NULL);
\echo :SQLSTATE
SELECT pfs.drop_object('INDEX', 'f', 'g', 'h');
\echo :SQLSTATE
BEGIN READ ONLY;
SELECT pfs.set_object('TABLE', 'f', 'g', 'h'), pfs.drop_object('TABLE', 'f', 'g', 'h');
SAVEPOINT a;
INSERT INTO pfs.setup_objects (object_name) VALUES ('r');
\echo :SQLSTATE
ROLLBACK;

-- Rights
CREATE ROLE regress_pfs_object IN ROLE pg_monitor;
SET ROLE regress_pfs_object;
SELECT count(*) FROM pfs.setup_objects WHERE object_schema = 'pg_catalog';
INSERT INTO pfs.setup_objects (object_name) VALUES ('r');
\echo :SQLSTATE
UPDATE pfs.setup_objects SET enabled = 'NO';
\echo :SQLSTATE
DELETE FROM pfs.setup_objects WHERE false;
\echo :SQLSTATE
TRUNCATE pfs.setup_objects;
\echo :SQLSTATE
SELECT pfs.set_object('TABLE', '%', '%', 'r');
\echo :SQLSTATE
SELECT pfs.drop_object('TABLE', '%', '%', 'r');
\echo :SQLSTATE
RESET ROLE;
GRANT INSERT (object_name), UPDATE (timed) ON pfs.setup_objects TO regress_pfs_object;
GRANT EXECUTE ON FUNCTION pfs.drop_object(text, text, text, text) TO regress_pfs_object;
SET ROLE regress_pfs_object;
INSERT INTO pfs.setup_objects (object_name, enabled) VALUES ('r', 'NO');
\echo :SQLSTATE
INSERT INTO pfs.setup_objects (object_name) VALUES ('r') RETURNING *;
UPDATE pfs.setup_objects SET timed = 'NO' WHERE object_name = 'r' RETURNING enabled, timed;
UPDATE pfs.setup_objects SET enabled = 'NO' WHERE object_name = 'r';
\echo :SQLSTATE
SELECT pfs.drop_object('TABLE', '%', '%', 'r');
RESET ROLE;
REVOKE INSERT (object_name), UPDATE (timed) ON pfs.setup_objects FROM regress_pfs_object;
REVOKE ALL ON FUNCTION pfs.drop_object(text, text, text, text) FROM regress_pfs_object;
DROP ROLE regress_pfs_object;

-- Hand-made tables: what they do not have gets its default.
CREATE FOREIGN TABLE some_objects (object_name text, enabled text) SERVER pfs_server OPTIONS ("table" 'setup_objects');
INSERT INTO some_objects VALUES ('h', 'no') RETURNING *;
SELECT * FROM pfs.setup_objects WHERE object_name = 'h';
DROP FOREIGN TABLE some_objects;

-- TRUNCATE takes all; reset() without a name none.
SELECT pfs.reset() >= 0 AS reset;
SELECT count(*) > 16 AS still FROM pfs.setup_objects;
TRUNCATE pfs.setup_objects;
SELECT count(*) FROM pfs.setup_objects;
SELECT pfs.reset_time('setup_objects') > pfs.reset_time('setup_timers') AS noted;
INSERT INTO pfs.setup_objects DEFAULT VALUES;
SELECT pfs.reset('setup_objects');

-- The rules of the start
INSERT INTO pfs.setup_objects (object_type, object_schema, enabled, timed)
	SELECT t, s, y, y FROM unnest('{TABLE, FUNCTION, PROCEDURE, TRIGGER}'::text[]) t,
		(VALUES ('pg_catalog', 'NO'), ('information_schema', 'NO'), ('pg_toast', 'NO'), ('%', 'YES')) v (s, y);
SELECT count(*) FROM pfs.setup_objects;
DROP VIEW objects;
