\set ECHO none
-- The last test of scripts/regress-core --compare: what pg_stat_statements and pfs have
-- counted, for compare.sql.  It prints nothing; its own statements are those of a role
-- that nobody else is.
\getenv dir PG_ABS_BUILDDIR
\set QUIET on
SET client_min_messages = error;
CREATE ROLE pfs_compare SUPERUSER LOGIN;
\c - pfs_compare
SET client_min_messages = error;
CREATE EXTENSION pg_stat_statements;
CREATE EXTENSION pfs;
-- Sessions that are just ending count still.
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) LOOP
		PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
	END LOOP;
END $$;
-- pfs has no name for what was dropped either.
CREATE TEMP VIEW names AS SELECT 'database' AS kind, oid, datname::text AS name FROM pg_database UNION ALL SELECT 'role', oid, rolname FROM pg_roles;
\set file :dir '/names.csv'
COPY (SELECT * FROM names) TO :'file' CSV;
\set file :dir '/pg_stat_statements.csv'
COPY (SELECT coalesce(d.name, dbid::text), coalesce(r.name, userid::text), queryid, toplevel, calls, plans, rows, total_plan_time, total_exec_time, left(query, 1000)
	FROM pg_stat_statements LEFT JOIN names d ON d.kind = 'database' AND d.oid = dbid LEFT JOIN names r ON r.kind = 'role' AND r.oid = userid
	WHERE r.name IS DISTINCT FROM 'pfs_compare') TO :'file' CSV;
\set file :dir '/digests.csv'
COPY (SELECT database_name, user_name, query_id, count_star, sum_errors, sum_rows_sent, sum_rows_affected, sum_plan_time / 1e9, sum_exec_time / 1e9, left(digest_text, 1000)
	FROM pfs.events_statements_summary_by_digest WHERE user_name IS DISTINCT FROM 'pfs_compare') TO :'file' CSV;
\set file :dir '/failed.csv'
COPY (SELECT database_name, query_id, event_name, nesting_event_level, rows_sent, rows_affected, exec_time / 1e9
	FROM pfs.events_statements_history_long WHERE returned_sqlstate IS NOT NULL AND query_id IS NOT NULL) TO :'file' CSV;
\set file :dir '/events.csv'
COPY (SELECT database_name, query_id, event_name, count(*) FROM pfs.events_statements_history_long WHERE query_id IS NOT NULL GROUP BY 1, 2, 3) TO :'file' CSV;
\set file :dir '/lost.csv'
COPY (SELECT 'pg_stat_statements' AS what, dealloc FROM pg_stat_statements_info
	UNION ALL SELECT 'digests', variable_value::bigint FROM pfs.status WHERE variable_name = 'pfs_digests_lost'
	UNION ALL SELECT 'all others', abs((SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE query_id IS NULL)
		- (SELECT count(*) FROM pfs.events_statements_history_long WHERE query_id IS NULL AND (errors > 0 OR event_name !~ '^statement/com/(parse|bind|fetch)$')))
	UNION ALL SELECT 'events', variable_value::bigint FROM pfs.status WHERE variable_name = 'pfs_events_statements_current_lost'
	UNION ALL SELECT 'history', greatest(count(*) - 0.9 * current_setting('pfs.events_statements_history_long_size')::bigint, 0)::bigint FROM pfs.events_statements_history_long) TO :'file' CSV;
