-- The load history: what can be asked of it, and who may.  What it has is in 214_load_history.pl.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
SET timezone = 'UTC';
SET intervalstyle = 'postgres';

-- conditions on times and on the resolution reduce the copy, whichever side the constant is on
EXPLAIN (COSTS off) SELECT event_name FROM pfs.load_history
WHERE period_start >= '2001-02-03 04:00+00' AND '2001-02-03 05:00+00' > period_end AND resolution = '1 min' AND type = 'FOREGROUND';
EXPLAIN (COSTS off) SELECT event_name FROM pfs.load_history WHERE period_start BETWEEN '2001-02-03 04:00+00' AND '2001-02-03 05:00+00';
-- those of other types, and what changes from row to row, do not
EXPLAIN (COSTS off) SELECT event_name FROM pfs.load_history WHERE period_start > '2001-02-03'::date AND resolution > '1 min' AND period_end <> period_start;
PREPARE of_time(timestamptz, timestamptz, interval) AS SELECT count(*) FROM pfs.load_history
	WHERE period_start >= $1 AND period_end <= $2 AND resolution = $3;
EXECUTE of_time('2001-02-03 04:00', '2001-02-03 05:00', '1 min');
EXECUTE of_time(NULL, '2001-02-03 05:00', '1 min');
EXECUTE of_time('infinity', '-infinity', '00:00:60');
DEALLOCATE of_time;

-- nothing can be written
UPDATE pfs.load_history SET count_star = 0;
\echo :SQLSTATE
INSERT INTO pfs.load_history (type) VALUES ('FOREGROUND');
\echo :SQLSTATE
DELETE FROM pfs.load_history;
\echo :SQLSTATE

-- a reset of everything leaves it; one of this table, and TRUNCATE, do not
SELECT pfs.reset() >= 0 AS done;
SELECT pfs.reset('load_history') >= 0 AS done;
TRUNCATE pfs.load_history;
SELECT count(*) FROM pfs.load_history WHERE period_end < pfs.reset_time('load_history');

-- memory is within the limits that are promised
SELECT name, record_size, records_lost, bytes_reserved > 0 AS has_memory FROM pfs.containers WHERE name LIKE 'load%' ORDER BY name COLLATE "C";
SELECT sum(bytes_reserved) FILTER (WHERE name LIKE 'load_history%') <= 16 * 1024 * 1024 AS history,
	sum(bytes_reserved) FILTER (WHERE name = 'load_texts') <= 4 * 1024 * 1024 AS texts
FROM pfs.containers;
SELECT name, setting, min_val, max_val, context FROM pg_settings
WHERE name IN ('pfs.load_history_seconds', 'pfs.load_history_minutes', 'pfs.load_history_ten_minutes') ORDER BY name COLLATE "C";

-- functions: a time of which nothing is known
SELECT * FROM pfs_sys.load_periods('2001-02-03', '2001-02-04');
SELECT * FROM pfs_sys.load('2001-02-03', '2001-02-04');
SELECT * FROM pfs_sys.top_waits('2001-02-03', '2001-02-04');
SELECT * FROM pfs_sys.top_statements('2001-02-03', '2001-02-04');
SELECT * FROM pfs_sys.top_users('2001-02-03', '2001-02-04');
SELECT pfs_sys.what_happened('2001-02-03', '2001-02-04');
SELECT pfs_sys.what_happened('-infinity', '2001-02-04');
SELECT pfs_sys.what_happened('2001-02-04', '2001-02-03');
SELECT pfs_sys.what_happened(NULL, NULL) IS NOT NULL AS says_something;
-- times as people write them; at each the functions say the same as for the time that is meant
SELECT pfs_sys.parse_time('1 hour') = now() - interval '1 hour' AS hour, pfs_sys.parse_time('1 hour ago') = now() - interval '1 hour' AS ago,
	pfs_sys.parse_time(' 90 min ') = now() - interval '90 min' AS minutes, pfs_sys.parse_time('PT10M') = now() - interval '10 min' AS iso,
	pfs_sys.parse_time('90') = now() - interval '90 s' AS seconds, pfs_sys.parse_time('now') = now() AS now;
SELECT pfs_sys.parse_time('yesterday 3:00') = current_date - 1 + time '3:00' AS yesterday, pfs_sys.parse_time('2001-02-03 14:00') = '2001-02-03 14:00' AS day,
	pfs_sys.parse_time('1 March 2001') = '2001-03-01' AS month, pfs_sys.parse_time('20010203') = '2001-02-03' AS digits, pfs_sys.parse_time('-infinity') AS ever;
SELECT pfs_sys.parse_time(' 20010203 ') = '2001-02-03' AS digits, pfs_sys.parse_time('20010203 14:00') = '2001-02-03 14:00' AS date_and_time,
	pfs_sys.parse_time('20010203T140000') = '2001-02-03 14:00' AS iso, pfs_sys.parse_time('100000 s') = now() - interval '100000 s' AS seconds;
-- a time of day is the latest that is not ahead, today's or yesterday's
SELECT t AS text, p <= now() AS is_past, p > now() - interval '26 hours' AS is_near, p::time AS time
FROM unnest('{0:00,10:29,10:29:15,23:59,3:00 pm}'::text[]) t, pfs_sys.parse_time(t) p;
SET TIME ZONE 'Asia/Kathmandu';
SELECT pfs_sys.parse_time('10:29')::time, pfs_sys.parse_time('2001-02-03 04:05') AT TIME ZONE 'UTC' AS utc, pfs_sys.what_happened('2001-02-03 04:05', '2001-02-04');
SET TIME ZONE 'UTC';
SELECT pfs_sys.parse_time('nonsense');
\echo :SQLSTATE
SELECT pfs_sys.top_users('99:99');
\echo :SQLSTATE
SELECT pfs_sys.what_happened('25 o''clock', 'tea time');
\echo :SQLSTATE
SELECT count(*) >= 0 AS everything FROM pfs_sys.load('-infinity', 'infinity');

-- for pg_monitor, and nobody else
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS returns, provolatile, proparallel,
	has_function_privilege('pg_monitor', p.oid, 'EXECUTE') AS monitor, proacl::text LIKE '%,=X/%' OR proacl::text LIKE '{=X/%' AS everybody,
	obj_description(p.oid, 'pg_proc') <> '' AS described
FROM pg_proc p WHERE pronamespace = 'pfs_sys'::regnamespace AND proname ~ '^(load|top_|what_|parse_time)' ORDER BY p.oid::regprocedure::text COLLATE "C";
CREATE ROLE regress_pfs_load;
SET ROLE regress_pfs_load;
SELECT pfs_sys.what_happened('2001-02-03', '2001-02-04');
\echo :SQLSTATE
SELECT count(*) FROM pfs.load_history;
\echo :SQLSTATE
RESET ROLE;
GRANT pg_monitor TO regress_pfs_load;
SET ROLE regress_pfs_load;
SELECT pfs_sys.what_happened('2001-02-03', '2001-02-04');
TRUNCATE pfs.load_history;
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_pfs_load;
