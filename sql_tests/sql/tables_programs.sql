-- Functions, procedures and triggers: their calls, and the statements in them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
\set VERBOSITY terse
CREATE VIEW pfs_programs AS
SELECT object_type, object_schema, object_name, count_star AS calls, count_statements AS statements,
	count_timed = count_star AND sum_timer_wait >= max_timer_wait AND max_timer_wait >= avg_timer_wait AND avg_timer_wait >= min_timer_wait AND min_timer_wait > 0 AS times_agree,
	sum_statements_wait >= max_statements_wait AND max_statements_wait >= avg_statements_wait AND avg_statements_wait >= min_statements_wait
		AND (min_statements_wait > 0) = (count_statements > 0) AND sum_statements_wait <= sum_timer_wait AS statements_agree,
	sum_rows_affected AS affected, sum_rows_sent AS sent, sum_errors AS errors
FROM pfs.events_statements_summary_by_program WHERE database_name = current_database() AND object_name LIKE 'pfs\_%' ORDER BY object_name COLLATE "C";
CREATE TABLE pfs_t (i int);
CREATE FUNCTION pfs_f(n int) RETURNS int LANGUAGE plpgsql AS
$$BEGIN INSERT INTO pfs_t SELECT generate_series(1, n); PERFORM i FROM pfs_t; RETURN n; END$$;
CREATE FUNCTION pfs_tr() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM count(*) FROM pfs_t; RETURN NEW; END$$;
CREATE PROCEDURE pfs_p() LANGUAGE plpgsql AS $$BEGIN PERFORM pfs_f(1); COMMIT; DELETE FROM pfs_t; END$$;
CREATE FUNCTION pfs_fails() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM 1 / (count(*) - count(*)) FROM pfs_t; RETURN 1; END$$;
CREATE FUNCTION pfs_caught() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN pfs_fails(); EXCEPTION WHEN division_by_zero THEN RETURN 0; END$$;
TRUNCATE pfs.events_statements_summary_by_program;
TABLE pfs_programs;
SELECT pfs_f(3), pfs_f(2);
CALL pfs_p();
-- Without frame pointers an error that is caught is none of its statement's: the second expected file.
SELECT pfs_caught();
SELECT pfs_fails();
CREATE TRIGGER pfs_tr AFTER INSERT ON pfs_t FOR EACH STATEMENT EXECUTE FUNCTION pfs_tr();
INSERT INTO pfs_t VALUES (1);
DO $$ BEGIN PERFORM pfs_f(1); END $$;
TABLE pfs_programs;
-- what a statement is in
SELECT DISTINCT nesting_event_level, object_type, object_schema, object_name FROM pfs.events_statements_history
WHERE thread_id = pfs.thread_id() AND timer_end IS NOT NULL AND object_name LIKE 'pfs%' ORDER BY 1, 2, 4;
SELECT count(*) FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() AND nesting_event_level = 0 AND object_type IS NOT NULL;
-- dropped, and in a transaction that is rolled back
DROP PROCEDURE pfs_p();
BEGIN;
DROP FUNCTION pfs_caught();
SELECT object_name FROM pfs_programs;
ROLLBACK;
SELECT object_name FROM pfs_programs;
-- reset says how many calls it took
SELECT pfs.reset('events_statements_summary_by_program') >= 8 AS all_of_them;
TABLE pfs_programs;
UPDATE pfs.events_statements_summary_by_program SET count_star = 0;
\echo :SQLSTATE
SELECT probe_name, mechanism, target FROM pfs.probes WHERE target IN ('PLpgSQL_plugin', 'object_access_hook') ORDER BY 1;
DROP VIEW pfs_programs;
DROP TABLE pfs_t;
DROP FUNCTION pfs_f(int), pfs_tr(), pfs_fails(), pfs_caught();
