-- UPDATE of the set-up tables.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
UPDATE pfs.setup_consumers SET enabled = 'YES';

-- Values in any letter case; RETURNING shows what was written.
UPDATE pfs.setup_instruments SET enabled = 'no', timed = 'nO' WHERE name = 'idle'
	RETURNING name, enabled, timed;
SELECT name, enabled, timed FROM pfs.setup_instruments WHERE name LIKE 'idle%' ORDER BY name;
UPDATE pfs.setup_instruments SET enabled = 'Yes' WHERE name = 'idle' RETURNING name, enabled, timed;
UPDATE pfs.setup_instruments SET timed = 'yes' WHERE name = 'idle' RETURNING *;

-- Other values
UPDATE pfs.setup_instruments SET enabled = 'maybe' WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = '' WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET timed = NULL WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'maybe' WHERE name = 'idle';
\echo :SQLSTATE
-- where timed reads NULL, too
UPDATE pfs.setup_instruments SET timed = 'rubbish' WHERE name = 'error';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'rubbish' WHERE name = 'error';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'YES', timed = '' WHERE name = 'error';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'yes', timed = 'no' WHERE name = 'error' RETURNING name, enabled, timed;
UPDATE pfs.threads SET instrumented = 'rubbish' WHERE thread_id = pfs.thread_id();
\echo :SQLSTATE
UPDATE pfs.threads SET history = 'rubbish' WHERE thread_id = pfs.thread_id();
\echo :SQLSTATE
UPDATE pfs.setup_threads SET enabled = 'rubbish';
\echo :SQLSTATE

-- Columns that cannot change, also to what they are
UPDATE pfs.setup_instruments SET name = name WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'NO', properties = '' WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_consumers SET name = 'x' WHERE false;
\echo :SQLSTATE
UPDATE pfs.performance_timers SET timer_overhead = 0;
\echo :SQLSTATE
UPDATE pfs.events_waits_history SET event_id = 1;
\echo :SQLSTATE

-- Nor INSERT and DELETE
INSERT INTO pfs.setup_instruments (name, enabled) VALUES ('x', 'YES');
\echo :SQLSTATE
DELETE FROM pfs.setup_consumers;
\echo :SQLSTATE
DELETE FROM pfs.status WHERE false;
\echo :SQLSTATE
COPY pfs.setup_timers FROM stdin;
\.
\echo :SQLSTATE

-- A statement that fails changes nothing: the first rows were right.
UPDATE pfs.setup_consumers
	SET enabled = CASE name WHEN 'events_waits_history_long' THEN 'perhaps' ELSE 'NO' END;
\echo :SQLSTATE
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE 1 / (name <> 'events_waits_history_long')::int > 0;
\echo :SQLSTATE
SELECT count(*) AS still_on FROM pfs.setup_consumers WHERE enabled = 'YES';

-- ROLLBACK does not take back what has succeeded.
BEGIN;
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'events_waits_history';
ROLLBACK;
SELECT * FROM pfs.setup_consumers WHERE enabled = 'NO';
-- nor does a caught error of a later statement
DO $$
BEGIN
	UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_waits_history';
	PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN
	NULL;
END $$;
SELECT count(*) AS still_on FROM pfs.setup_consumers WHERE enabled = 'YES';

-- A row that a join matches twice takes the first match and counts once.
UPDATE pfs.setup_consumers c SET enabled = v.enabled
	FROM (VALUES (1, 'NO'), (2, 'YES')) v (n, enabled) WHERE c.name = 'events_waits_history'
	RETURNING c.name;
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'events_waits_history';

-- EXPLAIN changes nothing, EXPLAIN ANALYZE does.
EXPLAIN (COSTS OFF) UPDATE pfs.setup_consumers SET enabled = 'NO';
SELECT count(*) AS still_on FROM pfs.setup_consumers WHERE enabled = 'YES';
DO $$
BEGIN
	EXECUTE 'EXPLAIN ANALYZE UPDATE pfs.setup_consumers SET enabled = ''NO'' WHERE name = ''events_waits_history''';
END $$;
SELECT * FROM pfs.setup_consumers WHERE enabled = 'NO';
-- in a CTE, through a view, as a partition
WITH u AS (UPDATE pfs.setup_consumers SET enabled = 'yes' WHERE enabled = 'NO' RETURNING *)
	SELECT * FROM u;
CREATE VIEW consumers AS SELECT * FROM pfs.setup_consumers WHERE name LIKE '%history%';
UPDATE consumers SET enabled = 'no' RETURNING *;
SELECT * FROM pfs.setup_consumers WHERE enabled = 'NO' ORDER BY name;
UPDATE consumers SET enabled = 'YES';
DROP VIEW consumers;
CREATE TABLE parts (name text, enabled text) PARTITION BY LIST (name);
CREATE FOREIGN TABLE part PARTITION OF parts FOR VALUES IN ('events_waits_history')
	SERVER pfs_server OPTIONS ("table" 'setup_consumers');
UPDATE parts SET enabled = 'no' WHERE name = 'events_waits_history';
SELECT * FROM pfs.setup_consumers WHERE enabled = 'NO';
UPDATE parts SET enabled = 'yes' WHERE name = 'events_waits_history';
INSERT INTO parts VALUES ('events_waits_history', 'NO');
\echo :SQLSTATE
DROP TABLE parts;
SELECT count(*) AS still_on FROM pfs.setup_consumers WHERE enabled = 'YES';

-- Save, change, restore: document 1's two ways.
CREATE TABLE saved AS SELECT * FROM pfs.setup_instruments;
UPDATE pfs.setup_instruments SET enabled = 'NO', timed = 'NO' WHERE name ILIKE '%/FILE/%';
SELECT count(*) > 20 AS many FROM pfs.setup_instruments WHERE enabled = 'NO' AND timed = 'NO';
UPDATE pfs.setup_instruments x SET enabled = y.enabled, timed = y.timed
	FROM saved y WHERE x.name = y.name;
SELECT count(*) FROM (SELECT name, enabled, timed FROM pfs.setup_instruments
	EXCEPT SELECT name, enabled, timed FROM saved) d;
UPDATE pfs.setup_instruments SET enabled = 'NO', timed = 'NO' WHERE name ILIKE '%/FILE/%';
UPDATE pfs.setup_instruments x SET
	enabled = (SELECT y.enabled FROM saved y WHERE y.name = x.name),
	timed = (SELECT y.timed FROM saved y WHERE y.name = x.name)
WHERE x.name IN (SELECT name FROM saved);
SELECT count(*) FROM (SELECT name, enabled, timed FROM pfs.setup_instruments
	EXCEPT SELECT name, enabled, timed FROM saved) d;
DELETE FROM saved WHERE name = 'idle';
UPDATE pfs.setup_instruments x SET
	enabled = (SELECT y.enabled FROM saved y WHERE y.name = x.name);
\echo :SQLSTATE
UPDATE pfs.setup_instruments x SET enabled = y.enabled FROM saved y WHERE x.name = y.name;
DROP TABLE saved;

-- Timers
UPDATE pfs.setup_timers SET timer_name = 'microsecond' WHERE name = 'wait' RETURNING *;
SELECT name FROM pfs.setup_timers WHERE timer_name = 'MICROSECOND';
\set VERBOSITY terse
UPDATE pfs.setup_timers SET timer_name = 'NONE' WHERE name = 'wait';
\echo :SQLSTATE
UPDATE pfs.setup_timers SET timer_name = NULL WHERE name = 'wait';
\echo :SQLSTATE
\set VERBOSITY default
UPDATE pfs.setup_timers SET name = 'x' WHERE name = 'wait';
\echo :SQLSTATE
UPDATE pfs.setup_timers w SET timer_name = i.timer_name FROM pfs.setup_timers i
	WHERE w.name = 'wait' AND i.name = 'idle';
SELECT count(DISTINCT timer_name) FROM pfs.setup_timers;

-- Kinds of threads, and threads
UPDATE pfs.setup_threads SET history = 'no' WHERE name = 'thread/checkpointer'
	RETURNING name, enabled, history;
UPDATE pfs.setup_threads SET history = 'YES' WHERE name = 'thread/checkpointer'
	RETURNING name, enabled, history;
UPDATE pfs.threads SET history = 'no' WHERE thread_id = pfs.thread_id() RETURNING instrumented, history;
SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id();
UPDATE pfs.threads SET instrumented = 'NO' WHERE thread_id = pfs.thread_id() RETURNING instrumented, history;
UPDATE pfs.threads SET instrumented = 'yes', history = 'yes' WHERE thread_id = pfs.thread_id();
SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id();
UPDATE pfs.threads SET thread_id = 1 WHERE thread_id = pfs.thread_id();
\echo :SQLSTATE

-- The effect: with an instrument off, its events do not come any more.
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name ILIKE '%/FILE/%';
TRUNCATE pfs.events_waits_history;
SELECT size > 0 AS stat, pg_sleep(0.001) IS NOT NULL AS slept FROM pg_stat_file('PG_VERSION');
SELECT DISTINCT event_name FROM pfs.events_waits_history
WHERE thread_id = pfs.thread_id() AND (event_name LIKE 'wait/io/file/%' OR event_name = 'wait/timeout/PgSleep');
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name ILIKE '%/FILE/%';
TRUNCATE pfs.events_waits_history;
SELECT size > 0 AS stat FROM pg_stat_file('PG_VERSION');
SELECT count(*) > 0 AS again FROM pfs.events_waits_history
WHERE thread_id = pfs.thread_id() AND event_name LIKE 'wait/io/file/%';
SELECT count(*) FROM pfs.setup_instruments WHERE enabled = 'NO' AND name NOT LIKE ALL (ARRAY['memory/%', 'stage/sql/%', 'wait/io/table/%']);
