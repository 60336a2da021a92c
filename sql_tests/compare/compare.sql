-- pg_stat_statements and pfs, after the same run: what dump.sql wrote, and what
-- pfs_test_around measured.  psql variable major: the server's version.
--
-- Every difference gets the class that explains it, by a rule on the data; one that has none fails.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;

CREATE TEMP TABLE names (kind text, oid text, name text);
CREATE TEMP TABLE pgss (database text, usr text, query_id bigint, toplevel boolean, calls bigint, plans bigint, rows bigint, plan_ms float8, exec_ms float8, query text);
CREATE TEMP TABLE digests (database text, usr text, query_id bigint, calls bigint, errors bigint, sent bigint, affected bigint, plan_ms float8, exec_ms float8, query text);
CREATE TEMP TABLE failed (database text, query_id bigint, event_name text, level int, sent bigint, affected bigint, exec_ms float8);
CREATE TEMP TABLE events (database text, query_id bigint, event_name text, n bigint);
CREATE TEMP TABLE lost (what text, n bigint);
CREATE TEMP TABLE around_oids (database text, usr text, query_id bigint, plan_ms float8, utility_ms float8, finish_ms float8, unended bigint, unended_rows bigint, taken bigint, taken_rows bigint);
\copy names FROM names.csv CSV
\copy pgss FROM pg_stat_statements.csv CSV
\copy digests FROM digests.csv CSV
\copy failed FROM failed.csv CSV
\copy events FROM events.csv CSV
\copy lost FROM lost.csv CSV
\copy around_oids FROM around.csv CSV

-- ---- side by side ----

-- By database, role and query identifier.  f_: of the statements of a shape that failed, whoever
-- executed them; pg_stat_statements has not counted those.
CREATE TEMP TABLE shapes AS
WITH a AS (
	SELECT database, usr, query_id, sum(calls) AS calls, sum(plans) AS plans, sum(rows) AS rows, sum(plan_ms) AS plan_ms, sum(exec_ms) AS exec_ms,
		bool_or(NOT toplevel AND calls > 0) AS nested, min(query) AS query FROM pgss GROUP BY 1, 2, 3
), around AS (
	SELECT coalesce(d.name, o.database) AS database, coalesce(r.name, o.usr) AS usr, query_id, sum(plan_ms) AS plan_ms, sum(utility_ms) AS utility_ms,
		sum(finish_ms) AS finish_ms, sum(unended) AS unended, sum(unended_rows) AS unended_rows, sum(taken) AS taken, sum(taken_rows) AS taken_rows
	FROM around_oids o LEFT JOIN names d ON d.kind = 'database' AND d.oid = o.database LEFT JOIN names r ON r.kind = 'role' AND r.oid = o.usr GROUP BY 1, 2, 3
), f AS (
	SELECT database, query_id, count(*) AS calls, sum(sent) AS sent, sum(affected) AS affected, sum(exec_ms) AS exec_ms FROM failed GROUP BY 1, 2
), e AS (
	SELECT database, query_id, bool_and(event_name ~ '^statement/sql/(select|insert|update|delete|merge)') AS is_query,
		bool_and(event_name ~ CASE WHEN :major < 17 THEN '^statement/sql/(prepare|execute|deallocate(_all)?)$' ELSE '^statement/sql/(prepare|execute)$' END) AS of_prepared FROM events GROUP BY 1, 2
)
SELECT database, usr, query_id, coalesce(a.query, b.query) AS query, coalesce(nested, false) AS nested, coalesce(is_query, false) AS is_query, coalesce(of_prepared, false) AS of_prepared,
	a.query_id IS NOT NULL AS in_a, b.query_id IS NOT NULL AS in_b,
	coalesce(a.calls, 0) AS a_calls, coalesce(b.calls, 0) AS b_calls, coalesce(a.plans, 0) AS plans, coalesce(errors, 0) AS errors,
	coalesce(rows, 0) AS a_rows, coalesce(sent, 0) AS sent, coalesce(affected, 0) AS affected,
	coalesce(a.plan_ms, 0) AS a_plan_ms, coalesce(b.plan_ms, 0) AS b_plan_ms, coalesce(around.plan_ms, 0) AS around_plan_ms,
	coalesce(a.exec_ms, 0) AS a_exec_ms, coalesce(b.exec_ms, 0) AS b_exec_ms, coalesce(utility_ms, 0) AS around_utility_ms,
	coalesce(finish_ms, 0) AS around_finish_ms, coalesce(unended, 0) AS unended, coalesce(unended_rows, 0) AS unended_rows,
	coalesce(taken, 0) AS taken, coalesce(taken_rows, 0) AS taken_rows
FROM a FULL JOIN digests b USING (database, usr, query_id) LEFT JOIN around USING (database, usr, query_id) LEFT JOIN e USING (database, query_id);

-- The same without the role: failed statements are known by that.
CREATE TEMP TABLE sums AS
SELECT s.database, s.query_id, s.query, is_query, nested, coalesce(f.calls, 0) AS f_calls, a_calls, b_calls, errors, a_rows,
	b_sent - coalesce(f.sent, 0) AS sent, b_affected - coalesce(f.affected, 0) AS affected, coalesce(f.sent, 0) AS f_sent, coalesce(f.affected, 0) AS f_affected,
	a_exec_ms, b_exec_ms - coalesce(f.exec_ms, 0) AS b_exec_ms, coalesce(f.exec_ms, 0) AS f_exec_ms, around_utility_ms, around_finish_ms, unended, unended_rows, taken, taken_rows
FROM (SELECT database, query_id, min(query) AS query, bool_or(is_query) AS is_query, bool_or(nested) AS nested, sum(a_calls) AS a_calls, sum(b_calls) AS b_calls,
		sum(errors) AS errors, sum(a_rows) AS a_rows, sum(sent) AS b_sent, sum(affected) AS b_affected, sum(a_exec_ms) AS a_exec_ms, sum(b_exec_ms) AS b_exec_ms,
		sum(around_utility_ms) AS around_utility_ms, sum(around_finish_ms) AS around_finish_ms, sum(unended) AS unended, sum(unended_rows) AS unended_rows,
		sum(taken) AS taken, sum(taken_rows) AS taken_rows
	FROM shapes GROUP BY 1, 2) s
LEFT JOIN (SELECT database, query_id, count(*) AS calls, sum(sent) AS sent, sum(affected) AS affected, sum(exec_ms) AS exec_ms FROM failed GROUP BY 1, 2) f USING (database, query_id);

CREATE TEMP TABLE differences (what text, class text, a float8, b float8, calls bigint, query text);

-- ---- calls ----

CREATE FUNCTION pg_temp.changes_role(query text) RETURNS boolean LANGUAGE sql IMMUTABLE
	RETURN query ~* '^\s*((RE)?SET\s+((LOCAL|SESSION)\s+)?(ROLE|SESSION\s+AUTHORIZATION)|DISCARD\s+ALL)\M';

INSERT INTO differences
SELECT 'calls', CASE
	WHEN NOT s.in_a AND s.of_prepared THEN 'PREPARE, EXECUTE, DEALLOCATE'
	WHEN NOT s.in_b AND s.a_calls = 0 THEN 'only planned'
	WHEN NOT s.is_query AND q.taken > 0 AND q.b_calls - q.a_calls - q.taken BETWEEN 0 AND q.f_calls THEN 'identifier taken out of its plan'
	WHEN pg_temp.changes_role(s.query) AND q.b_calls - q.a_calls BETWEEN 0 AND q.f_calls THEN 'changes the role'
	WHEN s.b_calls - s.a_calls BETWEEN 1 AND s.errors AND q.b_calls - q.a_calls BETWEEN 1 AND q.f_calls THEN 'failed'
	WHEN s.a_calls = 0 AND s.b_calls <= s.errors AND q.f_calls > 0 AND s.nested IS FALSE
		AND q.b_calls - q.f_calls <= (SELECT n FROM lost WHERE what = 'events') THEN 'failed, deeper than events go'
	WHEN q.b_calls - q.a_calls BETWEEN 1 AND q.unended THEN 'open when its transaction failed'
	END, s.a_calls, s.b_calls, s.b_calls, s.query
FROM shapes s JOIN sums q USING (database, query_id) WHERE s.a_calls <> s.b_calls OR NOT s.in_b OR NOT s.in_a;

-- ---- rows ----

-- A cursor that is open when its transaction is rolled back never comes to the executor's end, where
-- pg_stat_statements counts.
--
-- What a shape sends and what it writes is the same number, or one is 0.  pg_stat_statements has
-- counted what fails at the commit, before it did.
INSERT INTO differences
SELECT 'rows', CASE
	WHEN :major < 16 AND is_query AND nested AND affected = 0 AND a_rows < sent THEN 'fetched in parts'
	WHEN sent > 0 AND affected > 0 AND sent <> affected AND a_rows = sent + affected THEN 'a rule adds another command'
	WHEN NOT is_query AND taken > 0 AND a_rows + taken_rows = greatest(sent, affected) THEN 'identifier taken out of its plan'
	WHEN NOT is_query AND a_rows = 0 AND affected = 0 AND query ~* '^(\s|/\*.*?\*/|--[^\n]*\n)*(show|explain|call)\M' THEN 'a command returns rows'
	WHEN is_query AND a_rows < affected AND query ~* '\mwith\M.*\m(insert|update|delete|merge)\M' THEN 'WITH changes data'
	WHEN f_calls > b_calls - a_calls AND a_rows BETWEEN greatest(sent, affected) AND greatest(sent + f_sent, affected + f_affected) THEN 'failed at the commit'
	WHEN unended > f_calls AND greatest(sent, affected) - a_rows BETWEEN 1 AND unended_rows THEN 'open when its transaction failed'
	END, a_rows, greatest(sent, affected), b_calls, query
FROM sums WHERE a_rows <> greatest(sent, affected) AND a_calls > 0;

-- ---- times ----

-- Two clocks, one of them by its frequency, and what lies between their readings, n times.
CREATE FUNCTION pg_temp.agree(a float8, b float8, n numeric) RETURNS boolean LANGUAGE sql IMMUTABLE
	RETURN b BETWEEN a * 0.999 - n * 0.002 AND a * 1.001 + n * 0.02;

-- pfs is around pg_stat_statements, and it around the server; only planner and utilities have
-- work of pg_stat_statements inside.  A process that loses its processor between two clocks has lost it for
-- the outer one only: that can be told by nothing but its being rare.  The finish of a query without
-- triggers does nothing, and pfs does not measure it: pg_stat_statements has more where the process lost its
-- processor there, by as much as that took.
CREATE TEMP TABLE times AS
SELECT *, CASE WHEN around > 0 AND b >= a * 0.999 - n * 0.002 AND pg_temp.agree(around, b, n) THEN 'work of pg_stat_statements'
	WHEN finish > 0 AND b < a AND pg_temp.agree(a, least(a, b + finish), n) THEN 'finish of a query without triggers'
	WHEN f_ms > 0 AND pg_temp.agree(least(greatest(a, b), b + f_ms), a, n) THEN 'failed at the commit'
	WHEN b > a THEN 'interrupted' END AS class
FROM (SELECT 'plan_time' AS what, a_plan_ms AS a, b_plan_ms AS b, around_plan_ms AS around, 0 AS finish, plans AS n, b_calls AS calls, query, 0 AS f_ms FROM shapes WHERE in_b AND (in_a OR b_plan_ms > 0)
	UNION ALL SELECT 'exec_time', a_exec_ms, b_exec_ms, around_utility_ms, around_finish_ms, b_calls, b_calls, query,
		CASE WHEN f_calls > b_calls - a_calls THEN f_exec_ms ELSE 0 END FROM sums WHERE a_calls > 0) t
WHERE NOT pg_temp.agree(a, b, n);

INSERT INTO differences
SELECT what, CASE WHEN class <> 'interrupted' OR (SELECT count(*) <= 0.01 * (SELECT count(*) FROM shapes) AND sum(b - greatest(a, around)) <= 0.01 * (SELECT sum(b_exec_ms) FROM shapes)
		FROM times WHERE class = 'interrupted') THEN class END, a, b, calls, query
FROM times;

-- ---- report ----

\pset title 'Compared'
SELECT count(*) AS shapes, sum(a_calls) AS "calls of both", sum(a_rows) AS rows, sum(plans) AS plans, round(sum(a_plan_ms)::numeric, 1) AS "plan ms, pg_stat_statements",
	round(sum(b_plan_ms)::numeric, 1) AS "pfs", round(sum(a_exec_ms)::numeric, 1) AS "exec ms, pg_stat_statements", round(sum(b_exec_ms)::numeric, 1) AS "pfs"
FROM shapes WHERE in_a AND in_b;
\pset title 'Differences, explained'
SELECT what, class, count(*) AS shapes, round(sum(a)::numeric, 3) AS pg_stat_statements, round(sum(b)::numeric, 3) AS pfs, left(regexp_replace(min(query), '\s+', ' ', 'g'), 60) AS "for example"
FROM differences WHERE class IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2;
\pset title 'Not complete'
SELECT * FROM lost WHERE n > 0 AND what <> 'events';
\pset title 'Not explained'
SELECT what, a AS pg_stat_statements, b AS pfs, calls, left(regexp_replace(query, '\s+', ' ', 'g'), 100) AS query FROM differences WHERE class IS NULL ORDER BY 1, abs(a - b) DESC LIMIT 100;
DO $$
BEGIN
	IF (SELECT coalesce(sum(a_calls), 0) FROM shapes WHERE in_a AND in_b) < 10000 THEN
		RAISE 'hardly anything was compared';
	END IF;
	IF EXISTS (SELECT FROM differences WHERE class IS NULL) OR EXISTS (SELECT FROM lost WHERE n > 0 AND what <> 'events') THEN
		RAISE 'pg_stat_statements and pfs differ';
	END IF;
END $$;
