-- Summaries of waits, accounts, users, hosts: rows that must hold on every
-- server, rights, wrong writes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
SELECT pg_sleep(0.001);

-- Each level has what is below it, and a total is never less than its parts.
SELECT bool_and(count_star >= count_timed AND min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait
	AND max_timer_wait <= sum_timer_wait AND (count_timed > 0 OR sum_timer_wait = 0)) AS sane,
	bool_and(quantile_95 <= quantile_99 AND quantile_99 <= quantile_999 AND quantile_999 <= max_timer_wait) AS quantiles
FROM pfs.events_waits_summary_global_by_event_name;
-- Every instrument of waits has a row.
SELECT name FROM pfs.setup_instruments WHERE name ~ '^(wait|idle)' AND name NOT IN (SELECT event_name FROM pfs.events_waits_summary_global_by_event_name);
SELECT count(*) = count(DISTINCT event_name) AS one_each FROM pfs.events_waits_summary_global_by_event_name;
SELECT count(*) FROM pfs.events_waits_summary_by_thread_by_event_name WHERE count_star = 0 OR thread_id IS NULL;
SELECT count(*) FROM pfs.events_waits_summary_by_account_by_event_name WHERE count_star = 0 OR (user_name IS NULL) <> (host IS NULL);
-- The own session, at all levels
SELECT count_star > 0 AS slept, sum_timer_wait >= 1000000000 * count_timed AS as_long_as_told
FROM pfs.events_waits_summary_by_thread_by_event_name
WHERE thread_id = pfs.thread_id() AND event_name = 'wait/timeout/PgSleep';
SELECT
	(SELECT count(*) FROM pfs.events_waits_summary_by_account_by_event_name
		WHERE event_name = 'wait/timeout/PgSleep' AND user_name = session_user AND host = '[local]') AS account,
	(SELECT count(*) FROM pfs.events_waits_summary_by_user_by_event_name
		WHERE event_name = 'wait/timeout/PgSleep' AND user_name = session_user) AS "user",
	(SELECT count(*) FROM pfs.events_waits_summary_by_host_by_event_name
		WHERE event_name = 'wait/timeout/PgSleep' AND host = '[local]') AS host;
SELECT current_connections >= 1 AS connected, total_connections >= current_connections AS counted
FROM pfs.accounts WHERE user_name = session_user AND host = '[local]';
SELECT count(*) FROM pfs.users WHERE user_name IS NULL;
SELECT count(*) FROM pfs.hosts WHERE host IS NULL;

-- The histogram adds up, and its ranges grow by a fixed ratio.
SELECT count(*) FROM (
	SELECT sum(count_bucket) OVER (PARTITION BY event_name ORDER BY bucket_number) AS so_far, count_bucket_and_lower,
		bucket_quantile, max(count_bucket_and_lower) OVER (PARTITION BY event_name) AS total, count_bucket
	FROM pfs.events_waits_histogram_global) b
WHERE so_far <> count_bucket_and_lower OR count_bucket = 0 OR abs(bucket_quantile - count_bucket_and_lower / total::float8) > 1e-9;
SELECT bool_and(bucket_timer_high / bucket_timer_low BETWEEN 1.18 AND 1.20) AS ratio
FROM pfs.events_waits_histogram_global WHERE bucket_timer_low > 1000000;

-- Conditions reduce the copy.
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_summary_by_thread_by_event_name
WHERE thread_id = pfs.thread_id() AND event_name = 'idle';
EXPLAIN (COSTS OFF) SELECT * FROM pfs.events_waits_summary_by_user_by_event_name WHERE event_name = 'idle';

-- Nobody writes them.
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT t, try(format('UPDATE pfs.%I SET %I = %2$I', t, c)) AS update, try(format('DELETE FROM pfs.%I', t)) AS delete,
	try(format('INSERT INTO pfs.%I (%I) VALUES (NULL)', t, c)) AS insert
FROM (VALUES ('events_waits_summary_global_by_event_name', 'event_name'), ('events_waits_summary_by_thread_by_event_name', 'event_name'),
	('events_waits_summary_by_account_by_event_name', 'host'), ('events_waits_summary_by_user_by_event_name', 'user_name'),
	('events_waits_summary_by_host_by_event_name', 'host'), ('events_waits_histogram_global', 'count_bucket'),
	('accounts', 'host'), ('users', 'user_name'), ('hosts', 'host')) v (t, c);

-- Rights
CREATE ROLE regress_pfs_nobody;
CREATE ROLE regress_pfs_monitor IN ROLE pg_monitor;
GRANT EXECUTE ON FUNCTION try(text) TO PUBLIC;
SET ROLE regress_pfs_nobody;
SELECT try('SELECT * FROM pfs.accounts') AS nobody;
RESET ROLE;
SET ROLE regress_pfs_monitor;
SELECT try('SELECT * FROM pfs.accounts') AS accounts, try('SELECT * FROM pfs.events_waits_summary_global_by_event_name') AS global,
	try('SELECT * FROM pfs.events_waits_histogram_global') AS histogram, try('TRUNCATE pfs.accounts') AS truncate,
	try($$SELECT pfs.reset('hosts')$$) AS reset, try($$SELECT pfs.reset_time('hosts')$$) AS reset_time;
RESET ROLE;
GRANT TRUNCATE ON pfs.events_waits_summary_by_thread_by_event_name TO regress_pfs_monitor;
SET ROLE regress_pfs_monitor;
SELECT try('TRUNCATE pfs.events_waits_summary_by_thread_by_event_name') AS granted,
	try('TRUNCATE pfs.events_waits_summary_by_thread_by_event_name, pfs.accounts') AS both;
RESET ROLE;

-- A reset is noted for the table and for those below it.
SELECT pfs.reset('events_waits_summary_by_host_by_event_name') > 0 AS reset;
SELECT count(DISTINCT pfs.reset_time(t)) <= 3 AS together,
	min(pfs.reset_time(t)) > (SELECT variable_value::timestamptz FROM pfs.status WHERE variable_name = 'pfs_start_time') AS after_start
FROM (VALUES ('events_waits_summary_by_host_by_event_name'), ('events_waits_summary_by_account_by_event_name'),
	('events_waits_summary_by_thread_by_event_name')) v (t);

REVOKE TRUNCATE ON pfs.events_waits_summary_by_thread_by_event_name FROM regress_pfs_monitor;
DROP ROLE regress_pfs_nobody, regress_pfs_monitor;
DROP FUNCTION try(text);
