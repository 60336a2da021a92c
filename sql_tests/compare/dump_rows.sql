\set ECHO none
-- A test of scripts/regress-core --compare, behind all but those that reset statistics: what the
-- server and pfs have counted of each table and index, for compare_rows.sql.  It prints
-- nothing, and leaves nothing behind.
\getenv dir PG_ABS_BUILDDIR
\set QUIET on
SET client_min_messages = error;
CREATE EXTENSION pfs;
-- Sessions that are just ending count still.
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type IN ('client backend', 'parallel worker', 'autovacuum worker') AND pid <> pg_backend_pid()) LOOP
		PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
	END LOOP;
END $$;
SELECT pg_stat_force_next_flush() \g /dev/null
-- One line for each number; "seq" is what no index led to.
CREATE TEMP VIEW numbers AS
SELECT 'theirs' AS who, s.relid AS relation, c.what, c.n FROM pg_stat_all_tables s,
	LATERAL (VALUES ('seq', seq_tup_read), ('fetch', seq_tup_read + coalesce(idx_tup_fetch, 0)), ('insert', n_tup_ins), ('update', n_tup_upd),
		('delete', n_tup_del)) c (what, n)
UNION ALL SELECT 'theirs', indexrelid, 'found', idx_tup_read FROM pg_stat_all_indexes
UNION ALL SELECT 'ours', format('%I.%I', object_schema, object_name)::regclass, c.what, c.n FROM pfs.table_io_waits_summary_by_table,
	LATERAL (VALUES ('fetch', count_fetch), ('insert', count_insert), ('update', count_update), ('delete', count_delete)) c (what, n)
	WHERE database_name = current_database()
UNION ALL SELECT 'ours', format('%I.%I', object_schema, coalesce(index_name, object_name))::regclass,
	CASE WHEN index_name IS NULL THEN 'seq' ELSE 'found' END, count_fetch FROM pfs.table_io_waits_summary_by_index_usage
	WHERE database_name = current_database();
CREATE TEMP VIEW facts AS
SELECT c.oid, c.oid::regclass::text AS name, c.relname, c.relkind, n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') AS no_rule,
	i.indrelid
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relkind IN ('r', 'm', 't', 'i');
-- Indexes that were made, with their tables; and, without an index, tables of which one was dropped, or an
-- ALTER TABLE may have made it anew.
CREATE TEMP VIEW made AS
WITH indexes AS (
	SELECT DISTINCT lower(coalesce(m[1], '')) AS index, lower(m[2]) AS of_table FROM pfs.events_statements_summary_by_digest,
		LATERAL regexp_match(digest_text, '^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(\w+)?\s+ON\s+(?:ONLY\s+)?(?:\w+\.)?(\w+)', 'i') m
		WHERE m IS NOT NULL
), drops AS MATERIALIZED (
	SELECT DISTINCT lower(digest_text) AS text FROM pfs.events_statements_summary_by_digest WHERE digest_text ~* '^\s*DROP\s+INDEX\M'
)
SELECT * FROM indexes
UNION SELECT NULL, of_table FROM indexes, drops WHERE index <> '' AND text ~ ('\m' || index || '\M')
UNION SELECT NULL, lower(m[1]) FROM pfs.events_statements_summary_by_digest,
	LATERAL regexp_match(digest_text, '^\s*ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?(?:\w+\.)?(\w+)\s.*\m(?:TYPE|DROP|EXPRESSION)\M', 'i') m
	WHERE m IS NOT NULL;
\set file :dir '/rows.csv'
COPY (SELECT relation, what, coalesce(sum(n) FILTER (WHERE who = 'ours'), 0), coalesce(sum(n) FILTER (WHERE who = 'theirs'), 0)
	FROM numbers GROUP BY 1, 2) TO :'file' CSV;
\set file :dir '/relations.csv'
COPY (SELECT * FROM facts) TO :'file' CSV;
\set file :dir '/indexes_made.csv'
COPY (SELECT * FROM made) TO :'file' CSV;
\set file :dir '/rows_lost.csv'
COPY (SELECT variable_name, variable_value::bigint FROM pfs.status WHERE variable_name IN ('pfs_table_instances_lost', 'pfs_index_stat_lost')
	UNION ALL SELECT 'not on', count(*) FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler' AND enabled <> 'YES') TO :'file' CSV;
DROP VIEW numbers, facts, made;
DROP EXTENSION pfs;
