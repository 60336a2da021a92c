-- Plans: which of them statements of a digest had, by shape, and what each of them counted.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
SET compute_query_id = on;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
-- costly ones have their texts from the first execution on
SET cpu_tuple_cost = 10000;

SELECT name, enabled FROM pfs.setup_consumers WHERE name = 'plans';
CREATE SCHEMA pfs_plans;
SET search_path = pfs_plans;
CREATE TABLE t (i int PRIMARY KEY, j int, n numeric(10,2), v varchar(10), b bit(3), a int[]);
INSERT INTO t SELECT g, g % 100, g, repeat('x', 5), B'101', ARRAY[g, g + 1] FROM generate_series(1, 2000) g;
CREATE INDEX t_j ON t (j);
ANALYZE t;
SET enable_bitmapscan = off;
-- the statements of this session, newest last
CREATE VIEW mine AS
SELECT event_id, sql_text, query_id, plan_id FROM pfs.events_statements_history_long
WHERE thread_id = pfs.thread_id() AND sql_text !~ 'pfs|mine|plans' ORDER BY event_id;
CREATE VIEW plans AS
SELECT digest_text, p.* FROM pfs.plans_summary_by_digest p
LEFT JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
WHERE p.database_name = current_database() AND d.digest_text !~ 'pfs|how_many|mine|plans';
SELECT pfs.reset('events_statements_summary_by_digest') > 0 AS some;

-- a row for each plan; numbers are the digest's
SET enable_seqscan = off;
SELECT count(*) FROM t WHERE j = 1;
SELECT count(*) FROM t WHERE j = 2;
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM t WHERE j = 3;
RESET enable_indexscan;
RESET enable_indexonlyscan;
UPDATE t SET v = 'y' WHERE i <= 10;
SELECT i / 0 FROM t WHERE i = 4;
SELECT digest_text, count_star, count_timed, sum_rows, node_count, server_plan_id, plan_text, estimated_cost > 0 AS cost, estimated_rows > 0 AS rows
FROM plans ORDER BY digest_text COLLATE "C", plan_text COLLATE "C";
SELECT bool_and(database_name = current_database() AND user_name = current_user AND plan_id <> 0) AS keys,
	bool_and(min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait AND max_timer_wait <= sum_timer_wait AND min_timer_wait > 0) AS times,
	bool_and(quantile_95 <= quantile_99 AND quantile_99 <= max_timer_wait AND quantile_95 > 0) AS quantiles,
	bool_and(sum_plan_time > 0 AND sum_exec_time > 0 AND sum_plan_time + sum_exec_time <= sum_timer_wait) AS parts,
	bool_and(first_seen <= last_seen AND last_seen <= clock_timestamp()) AS seen,
	bool_and(sum_shared_blks_hit > 0 AND sum_shared_blks_read >= 0 AND sum_temp_blks_written = 0) AS blocks
FROM plans WHERE digest_text !~ '/';
-- their sums are the digest's, but for the rounding of each
SELECT bool_and(d.count_star = p.count AND abs(d.sum_timer_wait - p.timer) < n AND abs(d.sum_plan_time - p.plan) < n) AS same, count(*)
FROM pfs.events_statements_summary_by_digest d JOIN
(SELECT query_id, user_name, database_name, sum(count_star) AS count, sum(sum_timer_wait) AS timer, sum(sum_plan_time) AS plan, count(*) AS n
 FROM pfs.plans_summary_by_digest WHERE query_id IS NOT NULL GROUP BY 1, 2, 3) p USING (query_id, user_name, database_name)
WHERE d.digest_text ~ '^(SELECT|UPDATE)' AND d.digest_text !~ 'pfs|plans';
-- events have it, at any depth
SELECT count(DISTINCT plan_id) AS plans, count(plan_id), count(*) FROM mine WHERE sql_text ~ '^SELECT count.* FROM t WHERE j';
SELECT sql_text FROM mine WHERE plan_id IS NULL ORDER BY event_id DESC LIMIT 2;

-- constants are out of the text; what is a part of the plan stays
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT count(*) FROM t WHERE v = 'it''s 5' OR v = E'a\\b''c 6' OR v = 'two
lines: 7';
SELECT count(*) FROM t WHERE n = 12.5 AND n > -3 AND n = (random() * 5)::numeric(12,4);
SELECT count(*) FROM t WHERE b = B'110' AND j + -5 < -17;
SELECT count(*) FROM t WHERE j = ANY ('{1,2}') AND a[1] = 3 AND a @> ARRAY[5, j];
SELECT count(*) FROM t WHERE v::char(7) LIKE 'x1%' AND v::varchar(3) = 'x2' AND v::timestamp(3) > '2020-01-01';
SELECT count(*) FROM generate_series(1, 42) AS "g 1: '5";
SELECT count(*) FROM t AS "Filter: 1" WHERE "Filter: 1".j > 43;
SELECT i FROM t WHERE i < 45 ORDER BY i LIMIT 1 OFFSET 46;
SELECT count(*) FROM t TABLESAMPLE bernoulli (47) REPEATABLE (48);
SELECT plan_text FROM plans ORDER BY plan_text COLLATE "C";
SELECT (SELECT sum(i) FROM t) AS m, (SELECT count(*) FROM t u WHERE u.i = t.j + 41) AS s FROM t WHERE j = (SELECT avg(j)::int FROM t) LIMIT 1;
SELECT plan_text ~ 'InitPlan \w*1' AS init_plan, plan_text ~ 'SubPlan \w*\d' AS sub_plan, plan_text ~ 'Plan \?' AS replaced, plan_text ~ '41' AS constant
FROM plans WHERE plan_text ~ 'InitPlan';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM t WHERE j > 49 AND v > 'w';
SET max_parallel_workers_per_gather = 0;
SELECT plan_text, node_count, count_star FROM plans WHERE plan_text ~ 'Gather';

-- what makes another plan, and what does not: how many ones there are
TRUNCATE pfs.events_statements_summary_by_digest;
CREATE VIEW how_many AS SELECT count(DISTINCT plan_id) AS plans, sum(count_star) AS statements FROM plans WHERE digest_text ~ ' (t|part|temp) ';
SELECT v FROM t WHERE j = 101;
ANALYZE t;
SELECT v FROM t WHERE j = 102;
REINDEX INDEX CONCURRENTLY t_j;
SELECT v FROM t WHERE j = 103;
TABLE how_many;
DROP INDEX t_j;
SELECT v FROM t WHERE j = 104;
TABLE how_many;
CREATE INDEX t_j ON t (j);
SELECT v FROM t WHERE j = 105;
TABLE how_many;
-- partitions
CREATE TABLE part (i int, v text) PARTITION BY RANGE (i);
CREATE INDEX ON part (i);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (10) TO (20);
CREATE TABLE part_3 PARTITION OF part FOR VALUES FROM (20) TO (30);
CREATE TABLE part_4 PARTITION OF part FOR VALUES FROM (30) TO (40);
CREATE TABLE part_5 PARTITION OF part FOR VALUES FROM (40) TO (50);
TRUNCATE pfs.events_statements_summary_by_digest;
SET enable_seqscan = off;
SELECT v FROM part WHERE i > 29;
SELECT v FROM part WHERE i > 9;
SELECT v FROM part WHERE i > -1;
TABLE how_many;
SELECT node_count, plan_text FROM plans WHERE plan_text ~ 'part';
-- one of them, and another one
SELECT v FROM part WHERE i >= 40;
TABLE how_many;
ALTER TABLE part DETACH PARTITION part_5;
SELECT v FROM part WHERE i > 29;
TABLE how_many;
RESET enable_seqscan;
-- a temporary table, of any session
TRUNCATE pfs.events_statements_summary_by_digest;
CREATE TEMP TABLE temp (i int);
SELECT i FROM temp WHERE i = 1;
DROP TABLE temp;
CREATE TEMP TABLE temp (i int);
SELECT i FROM temp WHERE i = 2;
SELECT plans FROM how_many;

-- a prepared statement's plans, of its own and of all parameters
TRUNCATE pfs.events_statements_summary_by_digest;
SET enable_seqscan = off;
PREPARE p (int) AS SELECT v FROM t WHERE j = $1 AND i > 1990;
SET plan_cache_mode = force_custom_plan;
EXECUTE p(1);
EXECUTE p(2);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(3);
EXECUTE p(4);
EXECUTE p(5);
RESET plan_cache_mode;
RESET enable_seqscan;
SELECT digest_text, count_star, plan_text FROM plans WHERE digest_text ~ '(PREPARE|WHERE j)' ORDER BY digest_text COLLATE "C";
DEALLOCATE p;

-- those of functions and of cursors
TRUNCATE pfs.events_statements_summary_by_digest;
CREATE FUNCTION in_plpgsql(x int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM t WHERE i = x; RETURN n; END $$;
CREATE FUNCTION in_sql(x int) RETURNS SETOF int LANGUAGE sql VOLATILE STRICT SECURITY DEFINER AS $$ UPDATE t SET j = j WHERE i = x; SELECT i FROM t WHERE i = x $$;
CREATE FUNCTION in_cursor() RETURNS int LANGUAGE plpgsql AS $$
DECLARE c CURSOR FOR SELECT i FROM t WHERE i < 3; r int; BEGIN OPEN c; FETCH c INTO r; FETCH c INTO r; CLOSE c; RETURN r; END $$;
SELECT in_plpgsql(1);
SELECT in_plpgsql(2);
SELECT in_sql(3);
SELECT in_cursor();
-- A SQL function's parameter is a constant in its plan from 18 on.
SELECT count_star, sum_rows, replace(plan_text, '$1', '?') AS plan_text FROM plans WHERE digest_text !~ 'FUNCTION' ORDER BY digest_text COLLATE "C";

-- what has none: utilities, and what is only explained
TRUNCATE pfs.events_statements_summary_by_digest;
EXPLAIN (COSTS OFF) SELECT v FROM t WHERE i = 4711;
CREATE TABLE made (i int);
DROP TABLE made;
SELECT digest_text, count_star, plan_text FROM plans ORDER BY digest_text COLLATE "C";

-- a cheap one has its text from the second execution on
RESET cpu_tuple_cost;
SELECT i FROM t WHERE i = 1;
SELECT count_star, node_count, estimated_cost, plan_text FROM plans WHERE digest_text ~ 'i FROM t';
SELECT i FROM t WHERE i = 2;
SELECT count_star, node_count, estimated_cost < 1000 AS cheap, plan_text FROM plans WHERE digest_text ~ 'i FROM t';

-- TRUNCATE of plans leaves the digests' numbers; that of digests takes both
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT i FROM t WHERE i = 1;
SELECT i FROM t WHERE i = 2;
TRUNCATE pfs.plans_summary_by_digest;
SELECT count(*) FROM plans WHERE digest_text ~ 'i FROM t';
SELECT digest_text, count_star FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ 'i FROM t';
SELECT i FROM t WHERE i = 3;
SELECT digest_text, count_star, plan_text FROM plans WHERE digest_text ~ 'i FROM t';
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT count(*) FROM pfs.plans_summary_by_digest WHERE plan_text ~ ' on t';
-- nothing can be written
UPDATE pfs.plans_summary_by_digest SET count_star = 0;
\echo :SQLSTATE
DELETE FROM pfs.plans_summary_by_digest;
\echo :SQLSTATE

-- while they are not collected
SET cpu_tuple_cost = 10000;
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'plans';
SELECT i FROM t WHERE i = 5;
SELECT count(plan_id), count(*) FROM mine WHERE sql_text = 'SELECT i FROM t WHERE i = 5';
SELECT count(*) FROM plans WHERE plan_text ~ 't_pkey';
SELECT digest_text, count_star FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ 'i FROM t';
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'plans';
SELECT i FROM t WHERE i = 6;
SELECT count(plan_id), count(*) FROM mine WHERE sql_text = 'SELECT i FROM t WHERE i = 6';
SELECT count_star FROM plans WHERE plan_text ~ 't_pkey';

-- others' texts need rights
CREATE ROLE regress_pfs_plans;
GRANT USAGE ON SCHEMA pfs, pfs_plans TO regress_pfs_plans;
GRANT SELECT ON pfs.plans_summary_by_digest TO regress_pfs_plans;
GRANT SELECT ON t TO regress_pfs_plans;
SET ROLE regress_pfs_plans;
SELECT j FROM t WHERE i = 7;
SELECT user_name = current_user AS own, count(*) > 0 AS some, count(query_id) > 0 AS ids, count(plan_text) > 0 AS texts, count(plan_id) > 0 AS plan_ids
FROM pfs.plans_summary_by_digest WHERE user_name IS NOT NULL GROUP BY 1 ORDER BY 1;
RESET ROLE;
GRANT pg_read_all_stats TO regress_pfs_plans;
SET ROLE regress_pfs_plans;
SELECT count(*) FROM pfs.plans_summary_by_digest WHERE user_name <> current_user AND query_id IS NULL;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA pfs_plans CASCADE;
REVOKE ALL ON SCHEMA pfs FROM regress_pfs_plans;
DROP OWNED BY regress_pfs_plans;
DROP ROLE regress_pfs_plans;
