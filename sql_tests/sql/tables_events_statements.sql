-- Statements, their stages and transactions: what each kind leaves in the
-- histories of its session, and how they hang together.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
SET compute_query_id = on;
SET search_path = public;

CREATE TABLE pfs_st (i int PRIMARY KEY, v text);
CREATE FUNCTION pfs_depth(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF n > 0 THEN
		INSERT INTO pfs_st VALUES (-n, 'f') ON CONFLICT DO NOTHING;
		PERFORM pfs_depth(n - 1);
	END IF;
	RETURN n;
END $$;
CREATE PROCEDURE pfs_commits() LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO pfs_st VALUES (1000, 'p');
	COMMIT;
	INSERT INTO pfs_st VALUES (1001, 'p');
	ROLLBACK;
END $$;
-- What this session has done since the last \gset of :since, statements only; the reader is not among them yet.
CREATE VIEW pfs_last AS
SELECT event_id, event_name, nesting_event_level AS level, nesting_event_type AS inside, rows_affected AS written, rows_sent AS sent,
	errors, returned_sqlstate AS sqlstate, replace(sql_text, E'\n', ' ') AS sql_text
FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() ORDER BY event_id;

-- ---- kinds of statements ----
SELECT max(event_id) AS since FROM pfs_last \gset
INSERT INTO pfs_st SELECT g, 'x' FROM generate_series(1, 5) g;
UPDATE pfs_st SET v = 'y' WHERE i <= 2;
DELETE FROM pfs_st WHERE i = 5 RETURNING i;
SELECT count(*) FROM pfs_st;
VALUES (1), (2);
COPY pfs_st FROM STDIN;
7	copied
8	copied
\.
COPY (SELECT i FROM pfs_st WHERE i = 7) TO STDOUT;
PREPARE pfs_p (int) AS SELECT v FROM pfs_st WHERE i = $1;
EXECUTE pfs_p(1);
DEALLOCATE pfs_p;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT 1 \g /dev/null
CREATE TEMP TABLE pfs_as AS SELECT * FROM pfs_st;
VACUUM pfs_st;
SELECT event_name, level, inside, written, sent, sql_text FROM pfs_last WHERE event_id > :since;

-- several in one string: each has its own text; the first begins the transaction that the others are in
SELECT max(event_id) AS since FROM pfs_last \gset
SELECT 1 AS a \; SELECT 2 AS b \; SELECT 3 AS c;
SELECT event_name, level, inside, sent, sql_text FROM pfs_last WHERE event_id > :since;

-- ---- nesting ----
SELECT max(event_id) AS since FROM pfs_last \gset
SELECT pfs_depth(3);
SELECT s.event_name, s.level, s.inside, o.level AS outer_level, s.written, s.sent, s.sql_text
FROM pfs_last s JOIN pfs.events_statements_history_long e ON e.thread_id = pfs.thread_id() AND e.event_id = s.event_id
	LEFT JOIN pfs_last o ON o.event_id = e.nesting_event_id
WHERE s.event_id > :since ORDER BY s.event_id;
-- a statement's numbers include those of the statements inside, but not their rows
SELECT o.wal_records >= i.wal_records AS wal, o.shared_blks_hit >= i.shared_blks_hit AS buffers, o.exec_time >= i.exec_time AS time
FROM (SELECT * FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() AND event_id > :since AND nesting_event_level = 0
	AND sql_text LIKE 'SELECT pfs_depth(3)%') o,
	(SELECT sum(wal_records) AS wal_records, sum(shared_blks_hit) AS shared_blks_hit, sum(exec_time) AS exec_time
	 FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() AND event_id > :since AND sql_text LIKE 'INSERT INTO pfs_st%') i;

-- cursors: the query is one statement, from DECLARE to CLOSE
SELECT max(event_id) AS since FROM pfs_last \gset
BEGIN;
DECLARE pfs_c CURSOR FOR SELECT i FROM pfs_st ORDER BY i;
FETCH 3 FROM pfs_c;
FETCH 2 FROM pfs_c;
CLOSE pfs_c;
COMMIT;
SELECT event_name, level, inside, sent, sql_text FROM pfs_last WHERE event_id > :since;

-- ---- errors ----
SELECT max(event_id) AS since FROM pfs_last \gset
SELECTO 1;
SELECT no_such_column;
SELECT 1 / 0;
INSERT INTO pfs_st VALUES (1, 'twice');
BEGIN;
SELECT 1 / 0;
SELECT 'in a failed transaction';
ROLLBACK;
SELECT event_name, level, errors, sqlstate, sql_text FROM pfs_last WHERE event_id > :since;
SELECT returned_sqlstate, message_text FROM pfs.events_statements_history_long
WHERE thread_id = pfs.thread_id() AND event_id > :since AND message_text IS NOT NULL ORDER BY event_id;
-- one that is caught counts where the server shows it
SELECT max(event_id) AS since FROM pfs_last \gset
SELECT count(*) AS seen FROM pfs.probes WHERE probe_name = 'raise' AND status = 'active' \gset
DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END $$;
SELECT event_name, level, errors = :seen AS errors, sqlstate IS NOT DISTINCT FROM CASE WHEN level * :seen = 1 THEN '22012' END AS sqlstate, sql_text
FROM pfs_last WHERE event_id > :since AND sql_text ~ '1 / 0';

-- ---- transactions ----
SELECT max(event_id) AS since FROM pfs.events_transactions_history_long WHERE thread_id = pfs.thread_id() \gset
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
COMMIT AND CHAIN;
ROLLBACK;
BEGIN;
SAVEPOINT a;
INSERT INTO pfs_st VALUES (50, 'z');
SAVEPOINT b;
ROLLBACK TO b;
RELEASE a;
COMMIT;
INSERT INTO pfs_st VALUES (51, 'z');
CALL pfs_commits();
SELECT t.state, t.access_mode, t.isolation_level, t.autocommit, t.trx_id IS NOT NULL AS has_id, number_of_savepoints AS savepoints,
	number_of_rollback_to_savepoint AS back, number_of_release_savepoint AS released, t.nesting_event_type, s.event_name AS began_by
FROM pfs.events_transactions_history_long t LEFT JOIN pfs.events_statements_history_long s
	ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id
WHERE t.thread_id = pfs.thread_id() AND t.event_id > :since AND s.event_name IS DISTINCT FROM 'statement/sql/select' ORDER BY t.event_id;

-- AND CHAIN says nothing of a later one while transactions are off
SELECT max(event_id) AS since FROM pfs.events_transactions_history_long WHERE thread_id = pfs.thread_id() \gset
SELECT pfs.set_instruments('transaction', 'NO');
BEGIN;
COMMIT AND CHAIN;
COMMIT;
SELECT pfs.set_instruments('transaction', 'YES');
INSERT INTO pfs_st SELECT 52, 'z' WHERE false;
SELECT t.autocommit, s.event_name AS began_by
FROM pfs.events_transactions_history_long t JOIN pfs.events_statements_history_long s ON s.thread_id = t.thread_id AND s.event_id = t.nesting_event_id
WHERE t.thread_id = pfs.thread_id() AND t.event_id > :since AND s.event_name = 'statement/sql/insert';

-- ---- stages, which are off by default ----
SELECT pfs.set_instruments('stage/sql/%', 'YES');
SELECT max(event_id) AS since FROM pfs_last \gset
SELECT count(*) FROM pfs_st WHERE i < 0;
INSERT INTO pfs_st VALUES (60, 'z');
SELECT s.event_name AS statement, string_agg(split_part(g.event_name, '/', 3), ' ' ORDER BY g.event_id) AS stages,
	bool_and(g.timer_start >= s.timer_start AND g.timer_end <= s.timer_end) AS within, sum(g.timer_wait) = s.timer_wait AS whole
FROM pfs.events_statements_history_long s JOIN pfs.events_stages_history_long g USING (thread_id)
WHERE thread_id = pfs.thread_id() AND s.event_id > :since AND g.nesting_event_id = s.event_id AND s.event_name <> 'statement/sql/set'
GROUP BY s.event_id, s.event_name, s.timer_wait ORDER BY s.event_id LIMIT 2;

-- ---- what always holds ----
SELECT pfs.set_consumers('global_instrumentation', 'NO');
SELECT count(*) FROM pfs.events_statements_history_long
WHERE timer_wait IS DISTINCT FROM timer_end - timer_start OR timer_wait < 0 OR end_event_id < event_id OR plan_time < 0
	OR exec_time < 0 OR octet_length(sql_text) > 1024 OR octet_length(message_text) > 256;
SELECT count(*) FROM (SELECT event_id, thread_id FROM pfs.events_statements_history_long UNION ALL
	SELECT event_id, thread_id FROM pfs.events_stages_history_long UNION ALL
	SELECT event_id, thread_id FROM pfs.events_transactions_history_long UNION ALL
	SELECT event_id, thread_id FROM pfs.events_waits_history_long) e GROUP BY thread_id, event_id HAVING count(*) > 1;
-- query_id is the server's own
SELECT count(DISTINCT query_id) FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() AND sql_text LIKE 'INSERT INTO pfs_st VALUES (-n%';
-- this statement is running; it has no end
SELECT pfs.set_consumers('global_instrumentation', 'YES');
SELECT event_name, timer_end, timer_wait, end_event_id, nesting_event_level, sql_text FROM pfs.events_statements_current WHERE thread_id = pfs.thread_id();
SELECT event_name, nesting_event_type FROM pfs.events_stages_current WHERE thread_id = pfs.thread_id();
SELECT state, autocommit, gid, trx_id FROM pfs.events_transactions_current WHERE thread_id = pfs.thread_id();

SELECT pfs.set_instruments('stage/sql/%', 'NO');

-- ---- secrets ----
CREATE ROLE pfs_secret PASSWORD 'hidden1';
ALTER ROLE pfs_secret PASSWORD 'hidden2';
SELECT sql_text FROM pfs_last WHERE event_name LIKE 'statement/sql/%_role' ORDER BY event_id DESC LIMIT 2;
DROP ROLE pfs_secret;

-- TRUNCATE empties; the statement that does it is not over yet
TRUNCATE pfs.events_statements_history, pfs.events_statements_history_long, pfs.events_stages_history_long, pfs.events_transactions_history;
SELECT event_name FROM pfs.events_statements_history WHERE thread_id = pfs.thread_id();

DROP VIEW pfs_last;
DROP FUNCTION pfs_depth;
DROP PROCEDURE pfs_commits;
DROP TABLE pfs_st;
RESET compute_query_id;
RESET search_path;
