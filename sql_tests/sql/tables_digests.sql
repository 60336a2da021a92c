-- Digests: what statements of one shape did, how long they were, and what they
-- waited for.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
SET compute_query_id = on;

SELECT name, enabled FROM pfs.setup_consumers WHERE name = 'statements_digest';
CREATE TABLE pfs_digest (i int PRIMARY KEY, v text);
SELECT pfs.reset('events_statements_summary_by_digest') > 0 AS some;

INSERT INTO pfs_digest SELECT g, repeat('x', 5) FROM generate_series(1, 100) g;
SELECT i FROM pfs_digest WHERE i = 1;
SELECT i FROM pfs_digest WHERE i = 2;
SELECT   i   FROM pfs_digest  /* the same shape */ WHERE i = 3;
SELECT i / 0 FROM pfs_digest WHERE i = 4;
UPDATE pfs_digest SET v = 'y' WHERE i <= 10;
CREATE ROLE regress_pfs_digest PASSWORD 'secret';

SELECT database_name = current_database() AS here, user_name = current_user AS mine, digest_text, count_star, count_timed, sum_errors,
	sum_rows_affected, sum_rows_sent,
	regexp_replace(regexp_replace(query_sample_text, '( |/\*[^*]*\*/)+', ' ', 'g'), 'i = [123]$', 'i = any') AS query_sample
FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ 'pfs_digest' AND digest_text !~ 'events_' ORDER BY digest_text COLLATE "C";

-- times are in order, and the numbers of the histogram are those of the summary
SELECT count(*) > 5 AS some,
	bool_and(min_timer_wait <= avg_timer_wait AND avg_timer_wait <= max_timer_wait AND max_timer_wait <= sum_timer_wait) AS times,
	bool_and(quantile_95 <= quantile_99 AND quantile_99 <= quantile_999 AND quantile_999 <= max_timer_wait AND quantile_95 > 0) AS quantiles,
	bool_and(first_seen <= last_seen AND last_seen <= clock_timestamp()) AS seen,
	bool_and(query_sample_timer_wait BETWEEN min_timer_wait AND max_timer_wait AND query_sample_seen BETWEEN first_seen AND last_seen) AS sample,
	bool_and(max_total_memory IS NULL) AS no_memory
FROM pfs.events_statements_summary_by_digest;
SELECT sum(count_bucket), max(count_bucket_and_lower), max(bucket_quantile), bool_and(bucket_timer_low < bucket_timer_high) AS bounds
FROM pfs.events_statements_histogram_by_digest h
WHERE query_id = (SELECT query_id FROM pfs.events_statements_summary_by_digest WHERE digest_text = 'SELECT i FROM pfs_digest WHERE i = $1');

-- events know the text of their shape
SELECT sql_text, digest_text FROM pfs.events_statements_history_long
WHERE thread_id = pfs.thread_id() AND sql_text LIKE 'SELECT i FROM pfs_digest%' ORDER BY event_id;

-- waits: charged to the statement that waited
SELECT pg_sleep(0.01);
SELECT w.count_star, w.sum_timer_wait >= 10 * 1e9 AS long_enough, w.sum_timer_wait <= d.sum_timer_wait AS within
FROM pfs.events_waits_summary_by_digest w JOIN pfs.events_statements_summary_by_digest d USING (database_name, user_name, query_id)
WHERE digest_text LIKE 'SELECT pg_sleep($1)%' AND event_name = 'wait/timeout/PgSleep';
SELECT count(*) FROM pfs.events_waits_summary_by_digest WHERE event_name LIKE 'idle%';
-- a condition on the name reduces the copy
SELECT count(DISTINCT event_name) FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/timeout/PgSleep';

-- nothing can be written
UPDATE pfs.events_statements_summary_by_digest SET count_star = 0;
\echo :SQLSTATE
DELETE FROM pfs.events_waits_summary_by_digest;
\echo :SQLSTATE

-- TRUNCATE of one of the two others leaves the rest
TRUNCATE pfs.events_waits_summary_by_digest;
SELECT count(*) FROM pfs.events_waits_summary_by_digest WHERE event_name = 'wait/timeout/PgSleep';
TRUNCATE pfs.events_statements_histogram_by_digest;
SELECT count_star, quantile_95, quantile_999 FROM pfs.events_statements_summary_by_digest
WHERE digest_text = 'SELECT i FROM pfs_digest WHERE i = $1';
TRUNCATE pfs.events_statements_summary_by_digest;
SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT i FROM%';

-- the containers say how full they are; waits come there from sessions that need their places
PREPARE pfs_digest_p(int) AS SELECT v FROM pfs_digest WHERE i = $1;
EXECUTE pfs_digest_p(1);
SELECT name, records_used > 0 OR name = 'digest_waits' AS used, records_lost FROM pfs.containers WHERE name LIKE 'digest%' ORDER BY 1;
SELECT variable_value FROM pfs.status WHERE variable_name IN ('pfs_digests_lost', 'pfs_digest_waits_lost');
DEALLOCATE pfs_digest_p;
DROP TABLE pfs_digest;
DROP ROLE regress_pfs_digest;
