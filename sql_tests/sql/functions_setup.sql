-- The functions that do what UPDATE does, also where UPDATE cannot.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- Patterns: letter case does not matter, % and ? are special, _ is not.
SELECT pfs.set_instruments('IDLE', 'no') AS one, pfs.set_instruments('idle?transaction', NULL, 'no') AS one_too,
	pfs.set_instruments('i_le') AS none;
SELECT name, enabled, timed FROM pfs.setup_instruments WHERE name LIKE 'idle%' ORDER BY name;
SELECT pfs.set_instruments('idle%', 'yes', 'yes');
SELECT pfs.set_instruments('%') = (SELECT count(*) FROM pfs.setup_instruments) AS all_of_them;
SELECT count(*) FROM pfs.setup_instruments WHERE (enabled = 'NO' OR timed = 'NO') AND name NOT LIKE ALL (ARRAY['memory/%', 'stage/sql/%', 'wait/io/table/%']);
SELECT count(pfs.set_instruments(name, enabled)) > 256 AS each_by_its_name FROM pfs.setup_instruments;
SELECT pfs.set_instruments('no/such/instrument', 'NO');
SELECT pfs.set_instruments('idle', 'perhaps');
\echo :SQLSTATE
SELECT pfs.set_instruments('idle', 'yes', 'counted');
\echo :SQLSTATE
SELECT pfs.set_instruments(NULL, 'yes');
\echo :SQLSTATE
SELECT pfs.set_instruments(repeat('x', 129), 'yes');
\echo :SQLSTATE

-- YES also switches on those above.
SELECT pfs.set_consumers('%', 'no');
SELECT pfs.set_consumers('EVENTS_WAITS_HISTORY', 'yes');
SELECT * FROM pfs.setup_consumers ORDER BY enabled, name COLLATE "C";
SELECT pfs.set_consumers('%', 'Yes'), pfs.set_consumers('nothing', 'no');
SELECT count(*) FROM pfs.setup_consumers WHERE enabled = 'YES';
SELECT pfs.set_consumers('%', NULL);
\echo :SQLSTATE
SELECT pfs.set_consumers('%', 'counted');
\echo :SQLSTATE

SELECT timer_name AS timer FROM pfs.setup_timers WHERE name = 'wait' \gset
SELECT pfs.set_timer('wait', 'microsecond'), pfs.set_timer('nothing', 'microsecond');
SELECT timer_name FROM pfs.setup_timers WHERE name = 'wait';
\set VERBOSITY terse
SELECT pfs.set_timer('wait', 'fortnight');
\echo :SQLSTATE
SELECT pfs.set_timer('wait', NULL);
\echo :SQLSTATE
\set VERBOSITY default
SELECT pfs.set_timer('wait', :'timer');

SELECT pfs.set_thread(pfs.thread_id(), 'no'), pfs.set_thread(pfs.thread_id(), history => 'no');
SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id();
SELECT pfs.set_thread(pfs.thread_id(), 'yes', 'yes'), pfs.set_thread(-1, 'no'),
	pfs.set_thread(9223372036854775807, 'no');
SELECT instrumented, history FROM pfs.threads WHERE thread_id = pfs.thread_id();
SELECT pfs.set_thread(NULL, 'no');
\echo :SQLSTATE
SELECT pfs.set_thread(pfs.thread_id(), 'neither');
\echo :SQLSTATE

SELECT pfs.set_threads('thread/CHECK%', 'no'), pfs.set_threads('thread/client_backend', 'no');
SELECT name, enabled, history FROM pfs.setup_threads WHERE enabled = 'NO';
SELECT pfs.set_threads('%', 'yes', 'yes') = (SELECT count(*) FROM pfs.setup_threads) AS all_of_them;

-- One's own thread, and others'
SELECT thread_os_id = pg_backend_pid() FROM pfs.threads WHERE thread_id = pfs.thread_id();
SELECT pfs.thread_id(0), pfs.thread_id(NULL);
SELECT count(*) FROM pfs.threads WHERE pfs.thread_id(thread_os_id) IS DISTINCT FROM thread_id;

-- What the settings accept is accepted here, in any letter case.
SELECT value, pfs.set_instruments('idle', value) AS set FROM unnest('{off,No,FALSE,0}'::text[]) value;
SELECT enabled FROM pfs.setup_instruments WHERE name = 'idle';
SELECT value, pfs.set_instruments('idle', value) AS set FROM unnest('{On,Yes,TRUE,1}'::text[]) value;
SELECT enabled FROM pfs.setup_instruments WHERE name = 'idle';
UPDATE pfs.setup_instruments SET enabled = false, timed = 0 WHERE name = 'idle' RETURNING enabled, timed;
UPDATE pfs.setup_instruments SET enabled = true, timed = 1 WHERE name = 'idle' RETURNING enabled, timed;
UPDATE pfs.setup_instruments SET enabled = 'counted' WHERE name = 'idle' RETURNING enabled, timed;
\echo :SQLSTATE

-- Values are YES and NO, also where an instrument has no time; a list takes no other word.
SELECT pfs.set_instruments('error', 'rubbish');
\echo :SQLSTATE
SELECT pfs.set_instruments('error', NULL, 'rubbish');
\echo :SQLSTATE
SELECT pfs.set_instruments('memory/context/%', 'no', 'rubbish');
\echo :SQLSTATE
SELECT pfs.set_instruments('error', 'yes', 'no') AS set, count(timed) AS timed FROM pfs.setup_instruments WHERE name = 'error';
SELECT pfs.set_thread(pfs.thread_id(), 'rubbish');
\echo :SQLSTATE

-- setup_sql() gives settings that make the present set-up.
SELECT pfs.set_instruments('idle', 'no'), pfs.set_instruments('idle/transaction', 'yes', 'no'),
	pfs.set_consumers('events_waits_history_long', 'no');
SELECT line FROM regexp_split_to_table(pfs.setup_sql(), E'\n') line WHERE line ~ 'pfs\.consumers';
SELECT pfs.setup_sql() ~ 'ALTER SYSTEM SET pfs\.instruments = .*idle' AS names_idle;
-- each line is a command that PostgreSQL takes
CREATE TABLE setup_lines AS
	SELECT line FROM regexp_split_to_table(pfs.setup_sql(), E'\n') line WHERE line <> '';
SELECT line FROM setup_lines WHERE line !~ '^ALTER SYSTEM SET pfs\.' ;
\set ECHO none
SELECT line FROM setup_lines \gexec
\set ECHO all
ALTER SYSTEM RESET pfs.instruments;
ALTER SYSTEM RESET pfs.consumers;
DROP TABLE setup_lines;
SELECT pfs.set_instruments('%', 'yes', 'yes') > 200 AS restored, pfs.set_consumers('%', 'yes'),
	pfs.set_instruments('memory/context/%', 'no') > 50 AS memory_off, pfs.set_instruments('stage/sql/%', 'no') AS stages_off;

-- All of them work where UPDATE does not.
BEGIN READ ONLY;
SELECT pfs.set_instruments('idle', 'yes'), pfs.set_consumers('%', 'yes'), pfs.set_timer('nothing', 'microsecond'),
	pfs.set_thread(pfs.thread_id(), 'yes'), pfs.set_threads('%', 'yes') > 0 AS set_threads,
	pfs.reset('events_waits_history') IS NOT NULL AS reset, pfs.reset_time('events_waits_history') IS NOT NULL AS reset_time,
	pfs.setup_sql() IS NOT NULL AS setup_sql, pfs.timer_now() > 0 AS timer_now;
SAVEPOINT a;
UPDATE pfs.setup_consumers SET enabled = 'YES';
\echo :SQLSTATE
ROLLBACK TO a;
TRUNCATE pfs.events_waits_history;
\echo :SQLSTATE
ROLLBACK;
