-- Reading: what reduces the copy, what does not, and that both give the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- Constants, stable functions, parameters
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE thread_id = 5;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE 5 = thread_id;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_current WHERE thread_id = pfs.thread_id();
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history_long
	WHERE thread_id = 5::bigint AND event_id = 7::smallint AND event_name = 'idle' AND timer_wait > 0;
EXPLAIN (COSTS OFF) SELECT name FROM pfs.threads WHERE thread_id = 5;
PREPARE by_name AS SELECT * FROM pfs.events_waits_history_long WHERE thread_id = $1 AND event_name = $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_name(1, 'idle');
RESET plan_cache_mode;
DEALLOCATE by_name;
-- a sub-select that is evaluated once
CREATE FUNCTION plan_of(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan';
END $$;
SELECT plan_of('SELECT * FROM pfs.events_waits_history
	WHERE thread_id = (SELECT max(thread_id) FROM pfs.threads)') ? 'Pushed Down' AS pushed_down;
-- but not one that an inner query evaluates again and again
SELECT plan_of('SELECT (SELECT count(*) FROM pfs.events_waits_history
	WHERE thread_id = (SELECT t.thread_id)) FROM pfs.threads t')::text ~ 'Pushed Down' AS pushed_down;

-- Not constant, not equality, not a key, or another collation
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE thread_id > 5;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE thread_id + 0 = 5;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE thread_id = (random() * 10)::bigint;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE thread_id = 5 OR event_id = 6;
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE source = 'x';
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_history WHERE event_name LIKE 'wait/%';
-- joins read one copy
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pfs.threads t
	JOIN LATERAL (SELECT 1 FROM pfs.events_waits_history h WHERE h.thread_id = t.thread_id LIMIT 1) x ON true;

-- A rescan reads the copy of the first fetch, whatever happens in between: each
-- outer row makes an event of this thread, and the inner side does not see it.
SELECT count(DISTINCT ids) AS copies, count(*) AS scans
FROM generate_series(1, 5) i
	CROSS JOIN LATERAL (SELECT size FROM pg_stat_file(left('PG_VERSION', 10 + i)) OFFSET 0) s
	CROSS JOIN LATERAL (SELECT string_agg(event_id::text, ',' ORDER BY event_id) AS ids
		FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id() AND s.size > 0) h;
-- separate statements do see them
CREATE TABLE ids (ids text);
DO $$
BEGIN
	FOR i IN 1 .. 5 LOOP
		PERFORM pg_stat_file('PG_VERSION');
		INSERT INTO ids SELECT string_agg(event_id::text, ',' ORDER BY event_id)
			FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id();
	END LOOP;
END $$;
SELECT count(DISTINCT ids) AS copies, count(*) AS scans FROM ids;
DROP TABLE ids;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- With all consumers off the data is frozen, so pushed down or not must give the
-- same rows.  But for waits that had begun before: one can end between two looks.
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'global_instrumentation';
CREATE FUNCTION compare(OUT "some" boolean, OUT wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		SELECT count(*) > 0, count(*) FILTER (WHERE pushed <> filtered) INTO "some", wrong
		FROM (SELECT t.thread_id,
				(SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id + 0 = t.thread_id) AS filtered,
				(SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = t.thread_id) AS pushed
			FROM pfs.threads t) x;
		EXIT WHEN wrong = 0;
		PERFORM pg_sleep(0.3);
	END LOOP;
END $$;
SELECT * FROM compare();
DROP FUNCTION compare;
CREATE FUNCTION count_history(thread bigint, name text, event bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
	-- three parameters, all pushed down
	RETURN (SELECT count(*) FROM pfs.events_waits_history_long
		WHERE thread_id = thread AND event_name = name AND event_id = event);
END $$;
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE count_history(thread_id, event_name, event_id) <> 1) AS wrong
FROM (SELECT * FROM pfs.events_waits_history_long ORDER BY thread_id, event_id LIMIT 20) h;
SELECT count_history(NULL, 'idle', 1) AS null_thread, count_history(-1, 'idle', 1) AS negative,
	count_history(pfs.thread_id(), 'no/such/instrument', 1) AS no_name,
	count_history(pfs.thread_id(), 'idle', 9223372036854775807) AS no_event;
DROP FUNCTION count_history;
-- (thread_id, event_id) is unique
SELECT count(*) FROM (SELECT FROM pfs.events_waits_history_long
	GROUP BY thread_id, event_id HAVING count(*) > 1) d;
-- what is in a thread's history was not invented
SELECT count(*) FROM pfs.events_waits_history h
WHERE NOT EXISTS (SELECT FROM pfs.setup_instruments i WHERE i.name = h.event_name);
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'global_instrumentation';

-- Estimates are the real numbers.
SELECT plan_of('SELECT * FROM pfs.setup_consumers') -> 'Plan Rows' AS consumers,
	plan_of('SELECT * FROM pfs.performance_timers') -> 'Plan Rows' AS timers,
	(plan_of('SELECT * FROM pfs.setup_instruments') ->> 'Plan Rows')::bigint =
		(SELECT count(*) FROM pfs.setup_instruments) AS instruments,
	plan_of('SELECT * FROM pfs.events_waits_history WHERE thread_id = 1') -> 'Plan Rows' AS history_of_one,
	plan_of('SELECT * FROM pfs.events_waits_history WHERE thread_id = 1 AND event_id = 1') -> 'Plan Rows' AS event;
DROP FUNCTION plan_of;

-- FOR UPDATE locks nothing, and nothing is written.
BEGIN;
SELECT name FROM pfs.setup_consumers WHERE name = 'global_instrumentation' FOR UPDATE;
SELECT count(*) FROM pg_locks WHERE relation = 'pfs.setup_consumers'::regclass AND locktype = 'tuple';
COMMIT;

-- Cursors, backwards too
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT timer_name FROM pfs.performance_timers;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ABSOLUTE 5 FROM c;
COMMIT;

-- Only leaders read.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM pfs.threads;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
