-- Errors by SQLSTATE and severity: those of this session, and what its blocks caught.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
SET client_min_messages = error;
\set VERBOSITY terse
-- Errors that a block catches are seen by their jump.  A server that was built without frame
-- pointers does not show it: the numbers there are those of the second expected file.
SELECT setting ~ 'no-omit-frame-pointer' AS frame_pointers FROM pg_config WHERE name = 'CFLAGS';

CREATE VIEW pfs_mine AS
SELECT error_name, sql_state, severity, sum_error_raised AS raised, sum_error_handled AS handled
FROM pfs.events_errors_summary_by_thread_by_error WHERE thread_id = pfs.thread_id() ORDER BY sql_state COLLATE "C", severity COLLATE "C";
CREATE FUNCTION pfs_fails(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN n = 0 THEN 1 / n ELSE pfs_fails(n - 1) END;
END $$;
CREATE FUNCTION pfs_catches(what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE what;
	RETURN 'no error';
EXCEPTION WHEN division_by_zero OR foreign_key_violation OR raise_exception THEN
	RETURN SQLSTATE;
END $$;
TRUNCATE pfs.events_errors_summary_by_thread_by_error;
TABLE pfs_mine;

-- ---- what nobody catches ----
SELECT 1 / 0;
SELEC 1;
SELECT * FROM pfs_nowhere;
SELECT pfs_fails(5);
BEGIN;
SELECT 'x'::int;
SELECT 1;
ROLLBACK;
BEGIN;
SAVEPOINT a;
SELECT 'x'::int;
ROLLBACK TO a;
COMMIT;
BEGIN;
SET LOCAL statement_timeout = '10ms';
SELECT pg_sleep(100);
ROLLBACK;
CREATE TABLE pfs_er (i int PRIMARY KEY, o int REFERENCES pfs_er DEFERRABLE INITIALLY DEFERRED);
INSERT INTO pfs_er VALUES (1, 2);
TABLE pfs_mine;

-- ---- what a block catches ----
TRUNCATE pfs.events_errors_summary_by_thread_by_error;
SELECT pfs_catches('SELECT 1 / 0');
-- raised deep inside, caught once
SELECT pfs_catches('SELECT pfs_fails(5)');
-- through another block that does not catch it
SELECT pfs_catches($$SELECT pfs_catches('SELECT ''x''::int')$$);
SELECT pfs_catches($$SELECT pfs_catches('SELECT 1 / 0')$$);
-- in a loop
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		BEGIN
			IF i % 2 = 0 THEN
				PERFORM 1 / (i - i);
			ELSE
				RAISE EXCEPTION 'odd';
			END IF;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
	END LOOP;
END $$;
TABLE pfs_mine;
-- a handler that raises another; one that throws on at once, one that does something before
TRUNCATE pfs.events_errors_summary_by_thread_by_error;
DO $$
BEGIN
	PERFORM 1 / 0;
EXCEPTION WHEN OTHERS THEN
	RAISE EXCEPTION 'another' USING ERRCODE = 'ZZ001';
END $$;
DO $$
BEGIN
	PERFORM 'x'::int;
EXCEPTION WHEN OTHERS THEN
	RAISE;
END $$;
DO $$
BEGIN
	PERFORM 'x'::date;
EXCEPTION WHEN OTHERS THEN
	INSERT INTO pfs_er VALUES (1, 1);
	RAISE;
END $$;
TABLE pfs_mine;
-- warnings that are logged; notices are none
TRUNCATE pfs.events_errors_summary_by_thread_by_error;
DO $$
BEGIN
	RAISE WARNING 'a warning';
	RAISE WARNING 'another' USING ERRCODE = '01P01';
	RAISE NOTICE 'a notice';
END $$;
SET log_min_messages = error;
DO $$ BEGIN RAISE WARNING 'not logged'; END $$;
RESET log_min_messages;
TABLE pfs_mine;

-- ---- levels: a number is at one of them and shown by all above ----
TRUNCATE pfs.events_errors_summary_global_by_error;
SELECT pfs_catches('SELECT 1 / 0');
SELECT count(*) FROM pfs.events_errors_summary_by_thread_by_error WHERE sql_state = '22012' AND thread_id = pfs.thread_id();
TRUNCATE pfs.events_errors_summary_by_thread_by_error;
SELECT count(*) FROM pfs.events_errors_summary_by_thread_by_error WHERE sql_state = '22012' AND thread_id = pfs.thread_id();
SELECT error_name, sql_state, severity, sum_error_raised, sum_error_handled FROM pfs.events_errors_summary_by_account_by_error
WHERE user_name = current_user AND sql_state = '22012';
SELECT pfs.reset('events_errors_summary_by_account_by_error') > 0;
SELECT count(*) FROM pfs.events_errors_summary_by_account_by_error WHERE sql_state = '22012';
SELECT sum_error_raised, sum_error_handled FROM pfs.events_errors_summary_by_user_by_error WHERE user_name = current_user AND sql_state = '22012';
TRUNCATE pfs.events_errors_summary_by_user_by_error;
SELECT count(*) FROM pfs.events_errors_summary_by_user_by_error WHERE sql_state = '22012';
SELECT sum(sum_error_raised) AS raised, sum(sum_error_handled) AS handled FROM pfs.events_errors_summary_by_host_by_error WHERE sql_state = '22012';
TRUNCATE pfs.events_errors_summary_by_host_by_error;
SELECT count(*) FROM pfs.events_errors_summary_by_host_by_error WHERE sql_state = '22012';
SELECT sum_error_raised, sum_error_handled, first_seen = last_seen AS once, first_seen BETWEEN now() - interval '1 hour' AND clock_timestamp() AS lately
FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012';
SELECT pfs.reset('events_errors_summary_global_by_error') > 0;
SELECT count(*) FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012';

-- ---- switches ----
SELECT name, enabled, timed FROM pfs.setup_instruments WHERE name = 'error';
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'error' RETURNING timed;
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'error';
SELECT pfs_catches('SELECT 1 / 0');
SELECT count(*) FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012';
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'error';
SELECT pfs.set_consumers('thread_instrumentation', 'NO');
SELECT pfs_catches('SELECT 1 / 0');
SELECT pfs.set_consumers('thread_instrumentation', 'YES');
SELECT count(*) FROM pfs.events_errors_summary_by_host_by_error WHERE sql_state = '22012';
SELECT sum_error_raised, sum_error_handled FROM pfs.events_errors_summary_global_by_error WHERE sql_state = '22012';

DROP VIEW pfs_mine;
DROP FUNCTION pfs_fails, pfs_catches;
DROP TABLE pfs_er;
