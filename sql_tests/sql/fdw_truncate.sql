-- TRUNCATE and pfs.reset(): which tables take it, and that one refusal stops all.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
-- What pfs.tables says is what happens, for every table.
CREATE TABLE listed AS SELECT * FROM pfs.tables;
CREATE TABLE outcomes AS
	SELECT table_name, try(format('TRUNCATE pfs.%I', table_name)) AS truncate,
		try(format('SELECT pfs.reset(%L)', table_name)) AS reset, truncate_effect
	FROM listed ORDER BY table_name COLLATE "C";
SELECT CASE WHEN truncate_effect LIKE 'refused%' THEN truncate_effect ELSE 'any effect' END AS says, truncate, reset,
	CASE WHEN count(*) < 3 THEN string_agg(table_name, ', ') END AS only_these
FROM outcomes GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
DROP FUNCTION try;
DROP TABLE listed, outcomes;
-- the rule that the other tests' sessions are instrumented by, and the rules of the start
INSERT INTO pfs.setup_actors DEFAULT VALUES;
INSERT INTO pfs.setup_objects (object_type, object_schema, enabled, timed)
	SELECT t, s, y, y FROM unnest('{TABLE, FUNCTION, PROCEDURE, TRIGGER}'::text[]) t,
		(VALUES ('pg_catalog', 'NO'), ('information_schema', 'NO'), ('pg_toast', 'NO'), ('%', 'YES')) v (s, y);

TRUNCATE pfs.setup_instruments;
\echo :SQLSTATE
SELECT pfs.reset('pfs.threads');
\echo :SQLSTATE
SELECT pfs.reset('nowhere');
\echo :SQLSTATE
SELECT pfs.reset_time('nowhere');
\echo :SQLSTATE

-- All tables of a statement are checked before any is emptied.
SELECT pg_sleep(0.001);
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'global_instrumentation';
-- waits that have begun are recorded when they end; background processes wake up
DO $$ BEGIN PERFORM pg_reload_conf(); PERFORM pg_sleep(0.5); END $$;
SELECT count(*) > 0 AS before FROM pfs.events_waits_history_long;
TRUNCATE pfs.events_waits_history_long, pfs.setup_timers;
\echo :SQLSTATE
SELECT count(*) > 0 AS after FROM pfs.events_waits_history_long;
TRUNCATE pfs.events_waits_history_long, pfs.events_waits_current;
SELECT count(*) FROM pfs.events_waits_history_long;
-- history is another store
SELECT count(*) > 0 AS kept FROM pfs.events_waits_history;
TRUNCATE pfs.events_waits_history;
SELECT count(*) FROM pfs.events_waits_history;

-- reset() returns what left.
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'global_instrumentation';
SELECT pg_sleep(0.001);
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'global_instrumentation';
DO $$ BEGIN PERFORM pg_reload_conf(); PERFORM pg_sleep(0.5); END $$;
SELECT count(*) AS n FROM pfs.events_waits_history_long \gset
SELECT :n > 0 AS some, pfs.reset('events_waits_history_long') = :n AS all_counted,
	pfs.reset('pfs.events_waits_history_long') AS none_left;
SELECT count(*) FROM pfs.events_waits_history_long WHERE thread_id = pfs.thread_id();
SELECT pfs.reset('socket_summary_by_event_name') > 0 AS sockets;
SELECT count(*) AS n FROM pfs.events_waits_history \gset
SELECT :n > 0 AS some, pfs.reset() >= :n AS all_counted, pfs.reset(NULL) IS NOT NULL AS again;
SELECT pfs.reset('events_waits_current') AS current;
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'global_instrumentation';

-- When it happened
SELECT pfs.reset_time('threads') = (SELECT variable_value::timestamptz FROM pfs.status
	WHERE variable_name = 'pfs_start_time') AS never,
	pfs.reset_time('events_waits_history') > pfs.reset_time('threads') AS later;
SELECT pfs.reset_time('containers') AS before \gset
TRUNCATE pfs.containers;
SELECT pfs.reset_time('containers') > :'before' AS later;
SELECT count(*) FILTER (WHERE records_lost > 0 OR pages_reclaimed > 0) AS not_zero,
	count(*) > 0 AS some FROM pfs.containers;
SELECT count(*) FILTER (WHERE variable_value <> '0') AS not_zero, count(*) > 0 AS some
FROM pfs.status WHERE variable_name LIKE '%\_lost';

-- TRUNCATE needs its right; it is no right of pg_monitor.
CREATE ROLE regress_pfs_truncate IN ROLE pg_monitor;
SET ROLE regress_pfs_truncate;
TRUNCATE pfs.events_waits_history;
\echo :SQLSTATE
SELECT pfs.reset();
\echo :SQLSTATE
RESET ROLE;
GRANT TRUNCATE ON pfs.events_waits_history TO regress_pfs_truncate;
SET ROLE regress_pfs_truncate;
TRUNCATE pfs.events_waits_history;
RESET ROLE;
REVOKE TRUNCATE ON pfs.events_waits_history FROM regress_pfs_truncate;
DROP ROLE regress_pfs_truncate;
