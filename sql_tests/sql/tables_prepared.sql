-- Prepared statements of this session, by commands.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
\set VERBOSITY terse
-- whatever this session has had
DISCARD ALL;
CREATE VIEW pfs_mine AS
SELECT statement_name AS name, sql_text, count_execute AS executed, count_star = count_execute AND count_timed = count_star AS counts_agree,
	sum_timer_wait >= max_timer_wait AND max_timer_wait >= min_timer_wait AND (min_timer_wait > 0) = (count_timed > 0) AS times_agree
FROM pfs.prepared_statements_instances WHERE thread_id = pfs.thread_id() ORDER BY statement_name COLLATE "C";
CREATE TABLE pfs_pr (i int PRIMARY KEY);

PREPARE one (int) AS SELECT $1 + 1 AS one;
TABLE pfs_mine;
EXECUTE one(1);
EXECUTE one(2);
SELECT 1 \; PREPARE two AS INSERT INTO pfs_pr VALUES (1) \; EXECUTE two;
TABLE pfs_mine;
-- one that fails is an execution
EXECUTE two;
-- in a block, and one made there
DO $$ BEGIN EXECUTE 'EXECUTE one(3)'; EXECUTE 'PREPARE three AS SELECT 3'; END $$;
-- what is none
EXPLAIN (COSTS OFF) EXECUTE one(4);
EXECUTE nowhere;
PREPARE one AS SELECT 'there is one';
TABLE pfs_mine;
-- the times are those of the statements, but for the rounding of each
SELECT abs(p.sum_timer_wait - s.sum) <= s.count AND p.count_execute = s.count AS same
FROM pfs.prepared_statements_instances p, (SELECT sum(timer_wait), count(*) FROM pfs.events_statements_history_long WHERE thread_id = pfs.thread_id() AND sql_text LIKE 'EXECUTE two%') s
WHERE p.thread_id = pfs.thread_id() AND p.statement_name = 'two';
-- closed, and made anew with another text
DEALLOCATE one;
PREPARE one AS SELECT 'another';
DEALLOCATE three;
TABLE pfs_mine;
-- reset says how many executions it took
SELECT pfs.reset('prepared_statements_instances') >= 2 AS two_of_two;
TABLE pfs_mine;
EXECUTE one;
SELECT name, executed FROM pfs_mine;
TRUNCATE pfs.prepared_statements_instances;
SELECT name, executed FROM pfs_mine;
-- only while statements are collected
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name = 'statement/sql/execute';
EXECUTE one;
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'statement/sql/execute';
SELECT name, executed FROM pfs_mine;
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'statement/sql/execute';
EXECUTE one;
UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name = 'statement/sql/execute';
SELECT statement_name, count_execute, count_star, count_timed, sum_timer_wait FROM pfs.prepared_statements_instances
WHERE thread_id = pfs.thread_id() AND statement_name = 'one';
-- a rollback takes back nothing
BEGIN;
PREPARE four AS SELECT 4;
ROLLBACK;
DEALLOCATE ALL;
TABLE pfs_mine;
PREPARE five AS SELECT 5;
DISCARD ALL;
TABLE pfs_mine;
DROP VIEW pfs_mine;
DROP TABLE pfs_pr;
