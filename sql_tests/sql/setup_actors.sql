-- Rules for new sessions: setup_actors takes rows and loses them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
CREATE VIEW actors AS SELECT * FROM pfs.setup_actors ORDER BY host COLLATE "C", user_name COLLATE "C";

-- One row at the start, and what an INSERT leaves out
TABLE actors;
INSERT INTO pfs.setup_actors DEFAULT VALUES;
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name) VALUES ('alice') RETURNING *;
INSERT INTO pfs.setup_actors (host, history) VALUES ('[local]', 'no') RETURNING *;
INSERT INTO pfs.setup_actors VALUES ('::1', 'bob', DEFAULT, 'No', DEFAULT), ('127.0.0.1', 'bob', '%', DEFAULT, 'yes') RETURNING host, user_name, enabled;
INSERT INTO pfs.setup_actors (host, user_name) SELECT '10.0.0.' || n, 'carol' FROM generate_series(1, 3) n;
TABLE actors;

-- Duplicates: of what is there, and within the statement. All or nothing.
INSERT INTO pfs.setup_actors (host, user_name) VALUES ('x', 'x'), ('::1', 'bob');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host, user_name, enabled) VALUES ('y', 'y', 'YES'), ('z', 'z', 'YES'), ('y', 'y', 'NO');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host) SELECT host FROM pfs.setup_actors;
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host, user_name) SELECT 'late', 1 / (3 - n) || 'x' FROM generate_series(1, 5) n;
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name) VALUES ('alice') ON CONFLICT DO NOTHING;
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name) VALUES ('alice') ON CONFLICT (user_name) DO UPDATE SET enabled = 'NO';
\echo :SQLSTATE
-- letter case and patterns are no matter here: these are other names
INSERT INTO pfs.setup_actors (user_name) VALUES ('Alice'), ('al%') RETURNING user_name;
SELECT count(*) FROM pfs.setup_actors;

-- More than fits: nothing of it, and it is counted.
SELECT records_max, records_used, records_lost FROM pfs.containers WHERE name = 'setup_actors';
INSERT INTO pfs.setup_actors (user_name) SELECT 'u' || n FROM generate_series(1, 128) n;
\echo :SQLSTATE
SELECT count(*) FROM pfs.setup_actors;
INSERT INTO pfs.setup_actors (user_name) SELECT 'u' || n FROM generate_series(1, 118) n;
INSERT INTO pfs.setup_actors (user_name) VALUES ('one too many');
\echo :SQLSTATE
SELECT pfs.set_actor('%', 'one too many');
\echo :SQLSTATE
SELECT pfs.set_actor('%', 'u1', enabled => 'NO') AS updates;
SELECT records_used, records_high_water, records_lost FROM pfs.containers WHERE name = 'setup_actors';
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_setup_actors_lost';
WITH gone AS (DELETE FROM pfs.setup_actors WHERE user_name ~ '^u\d' RETURNING *)
	SELECT count(*), count(*) FILTER (WHERE enabled = 'NO') AS not_enabled, min(host) AS host FROM gone;
TRUNCATE pfs.status;
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_setup_actors_lost';

-- Values that no rule can have
INSERT INTO pfs.setup_actors (enabled) VALUES ('maybe');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name, history) VALUES ('v', '');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name, role) VALUES ('v', 'admin');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host) VALUES (NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name) VALUES (NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name, role) VALUES ('v', NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name, enabled) VALUES ('v', NULL);
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name) VALUES (repeat('v', 64));
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host) VALUES (repeat('1', 48));
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (user_name, host) VALUES (repeat('v', 63), repeat('1', 47)) RETURNING length(user_name), length(host);
-- the good rows before a bad one do not stay
INSERT INTO pfs.setup_actors (user_name, enabled) VALUES ('v1', 'YES'), ('v2', 'perhaps');
\echo :SQLSTATE
SELECT count(*) FROM pfs.setup_actors WHERE user_name IN ('v', 'v1', 'v2');

-- UPDATE: the switches, not the key
UPDATE pfs.setup_actors SET enabled = 'no' WHERE user_name = 'alice' RETURNING *;
UPDATE pfs.setup_actors SET enabled = 'yes', history = 'No' WHERE user_name = 'alice' RETURNING enabled, history;
UPDATE pfs.setup_actors SET user_name = 'eve' WHERE user_name = 'alice';
\echo :SQLSTATE
UPDATE pfs.setup_actors SET host = host;
\echo :SQLSTATE
UPDATE pfs.setup_actors SET role = '%', enabled = 'NO';
\echo :SQLSTATE
UPDATE pfs.setup_actors SET enabled = CASE user_name WHEN 'carol' THEN 'never' ELSE 'NO' END;
\echo :SQLSTATE
UPDATE pfs.setup_actors SET enabled = NULL;
\echo :SQLSTATE
SELECT host, enabled FROM actors WHERE enabled = 'NO';

-- DELETE: with joins, matched twice, in a CTE, with RETURNING of anything
DELETE FROM pfs.setup_actors WHERE length(user_name) = 63 RETURNING length(host), tableoid::regclass;
WITH gone AS (DELETE FROM pfs.setup_actors a USING (VALUES ('10.0.0.1'), ('10.0.0.2'), ('10.0.0.1')) v (h)
	WHERE a.host = v.h RETURNING a.host, user_name, v.h) SELECT * FROM gone ORDER BY host;
WITH gone AS (DELETE FROM pfs.setup_actors WHERE user_name IN ('Alice', 'al%') RETURNING user_name, enabled)
	SELECT * FROM gone ORDER BY user_name COLLATE "C";
DELETE FROM pfs.setup_actors WHERE 1 / (user_name <> 'carol')::int > 0;
\echo :SQLSTATE
DELETE FROM pfs.setup_actors WHERE false;
DELETE FROM pfs.setup_actors WHERE host = '10.0.0.3' RETURNING (SELECT count(*) FROM pfs.setup_actors) AS still, setup_actors;
EXPLAIN (COSTS OFF) DELETE FROM pfs.setup_actors;
EXPLAIN (COSTS OFF) INSERT INTO pfs.setup_actors DEFAULT VALUES;
TABLE actors;
-- ROLLBACK does not take back what has succeeded.
BEGIN;
DELETE FROM pfs.setup_actors WHERE host = '127.0.0.1';
INSERT INTO pfs.setup_actors (host) VALUES ('127.0.0.2');
ROLLBACK;
SELECT host FROM actors;
-- a rule that comes again is another row
DECLARE c CURSOR WITH HOLD FOR SELECT host FROM pfs.setup_actors WHERE host = '127.0.0.2';
DELETE FROM pfs.setup_actors WHERE host = '127.0.0.2';
FETCH c;
CLOSE c;

-- Through a view, as a partition, in a function
CREATE VIEW by_dave AS SELECT host, user_name, enabled FROM pfs.setup_actors WHERE user_name = 'dave' WITH CHECK OPTION;
INSERT INTO by_dave (host, user_name) VALUES ('w', 'dave'), ('v', 'eve');
\echo :SQLSTATE
INSERT INTO by_dave (host, user_name) VALUES ('v', 'dave') RETURNING host, user_name;
UPDATE by_dave SET enabled = 'no' RETURNING host, enabled;
DELETE FROM by_dave RETURNING *;
DROP VIEW by_dave;
CREATE TABLE parts (host text, user_name text, enabled text) PARTITION BY LIST (host);
CREATE FOREIGN TABLE part PARTITION OF parts FOR VALUES IN ('p')
	SERVER pfs_server OPTIONS ("table" 'setup_actors');
CREATE TABLE rest PARTITION OF parts DEFAULT;
INSERT INTO parts VALUES ('p', 'p1', 'NO'), ('q', 'q1', 'NO'), ('p', 'p2', 'yes') RETURNING *;
SELECT * FROM pfs.setup_actors WHERE host = 'p' ORDER BY user_name;
INSERT INTO parts VALUES ('p', 'p3', 'NO'), ('p', 'p1', 'NO');
\echo :SQLSTATE
WITH gone AS (DELETE FROM parts WHERE host IN ('p', 'q') RETURNING *) SELECT * FROM gone ORDER BY user_name;
SELECT count(*) FROM pfs.setup_actors WHERE host = 'p';
DROP TABLE parts;
DO $$
DECLARE
	r record;
BEGIN
	INSERT INTO pfs.setup_actors (host) VALUES ('do') RETURNING * INTO r;
	RAISE NOTICE '%', r;
	BEGIN
		INSERT INTO pfs.setup_actors (host) VALUES ('do2'), ('do');
	EXCEPTION WHEN unique_violation THEN
		RAISE NOTICE 'caught';
	END;
	DELETE FROM pfs.setup_actors WHERE host LIKE 'do%' RETURNING host INTO STRICT r;
	RAISE NOTICE '%', r;
END $$;

-- COPY, with some columns and with all
COPY pfs.setup_actors (host, user_name) FROM stdin;
c	one
c	two
\.
COPY pfs.setup_actors FROM stdin;
c	three	%	no	Yes
\.
COPY pfs.setup_actors (user_name) FROM stdin;
four
five
four
\.
COPY pfs.setup_actors (user_name, role) FROM stdin;
five	%
six	seven
\.
COPY pfs.setup_actors FROM stdin WHERE user_name <> 'nine';
c	nine	%	NO	NO
\.
COPY (SELECT * FROM actors WHERE host = 'c') TO stdout;
SELECT count(*) FROM pfs.setup_actors WHERE user_name IN ('four', 'five', 'six');
DELETE FROM pfs.setup_actors WHERE host = 'c';

-- The functions
SELECT pfs.set_actor('f', 'f') AS inserts, pfs.set_actor('f', 'f', '%', 'no', 'NO') AS updates;
TABLE actors;
SELECT pfs.set_actor('f', 'f', history => 'yes');
SELECT enabled, history FROM pfs.setup_actors WHERE host = 'f';
SELECT pfs.drop_actor('f', 'f'), pfs.drop_actor('f', 'f') AS no_more, pfs.drop_actor('%', 'f') AS no_pattern;
SELECT pfs.set_actor(NULL, 'f');
\echo :SQLSTATE
SELECT pfs.set_actor('f', 'f', 'admin');
\echo :SQLSTATE
SELECT pfs.set_actor('f', 'f', '%', 'maybe');
\echo :SQLSTATE
SELECT pfs.set_actor('f', 'f', '%', NULL);
\echo :SQLSTATE
SELECT pfs.set_actor('f', repeat('f', 64));
\echo :SQLSTATE
SELECT pfs.drop_actor('f', NULL);
\echo :SQLSTATE
SELECT pfs.drop_actor('f', 'f', 'admin');
\echo :SQLSTATE
BEGIN READ ONLY;
SELECT pfs.set_actor('f', 'f'), pfs.drop_actor('f', 'f');
SAVEPOINT a;
INSERT INTO pfs.setup_actors (host) VALUES ('r');
\echo :SQLSTATE
ROLLBACK TO a;
DELETE FROM pfs.setup_actors;
\echo :SQLSTATE
ROLLBACK;

-- Rights
CREATE ROLE regress_pfs_actor IN ROLE pg_monitor;
SET ROLE regress_pfs_actor;
SELECT count(*) FROM pfs.setup_actors;
INSERT INTO pfs.setup_actors (host) VALUES ('r');
\echo :SQLSTATE
DELETE FROM pfs.setup_actors WHERE false;
\echo :SQLSTATE
TRUNCATE pfs.setup_actors;
\echo :SQLSTATE
SELECT pfs.set_actor('r', 'r');
\echo :SQLSTATE
SELECT pfs.drop_actor('r', 'r');
\echo :SQLSTATE
RESET ROLE;
GRANT INSERT (host, user_name), UPDATE (history) ON pfs.setup_actors TO regress_pfs_actor;
GRANT EXECUTE ON FUNCTION pfs.drop_actor(text, text, text) TO regress_pfs_actor;
SET ROLE regress_pfs_actor;
INSERT INTO pfs.setup_actors (host, enabled) VALUES ('r', 'NO');
\echo :SQLSTATE
INSERT INTO pfs.setup_actors (host) VALUES ('r') RETURNING *;
UPDATE pfs.setup_actors SET history = 'NO' WHERE host = 'r' RETURNING enabled, history;
UPDATE pfs.setup_actors SET enabled = 'NO' WHERE host = 'r';
\echo :SQLSTATE
SELECT pfs.drop_actor('r', '%');
RESET ROLE;
REVOKE ALL ON pfs.setup_actors FROM regress_pfs_actor;
REVOKE INSERT (host, user_name), UPDATE (history) ON pfs.setup_actors FROM regress_pfs_actor;
REVOKE ALL ON FUNCTION pfs.drop_actor(text, text, text) FROM regress_pfs_actor;
DROP ROLE regress_pfs_actor;

-- Hand-made tables: what they do not have gets its default.
CREATE FOREIGN TABLE some_actors (user_name text, enabled text) SERVER pfs_server
	OPTIONS ("table" 'setup_actors');
INSERT INTO some_actors VALUES ('h', 'no') RETURNING *;
SELECT * FROM pfs.setup_actors WHERE user_name = 'h';
INSERT INTO some_actors (user_name) VALUES ('i');
\echo :SQLSTATE
DELETE FROM some_actors WHERE user_name = 'h' RETURNING *;
DROP FOREIGN TABLE some_actors;

-- TRUNCATE takes all; reset() without a name none.
SELECT pfs.reset() > 0 AS reset;
SELECT count(*) FROM pfs.setup_actors;
SELECT count(*) > 0 AS some FROM pfs.setup_actors;
TRUNCATE pfs.setup_actors;
TABLE actors;
SELECT pfs.reset_time('setup_actors') > pfs.reset_time('setup_timers') AS noted;
SELECT pfs.set_actor('a', 'a'), pfs.set_actor('b', 'b');
SELECT pfs.reset('setup_actors');
INSERT INTO pfs.setup_actors DEFAULT VALUES RETURNING *;
DROP VIEW actors;
