-- Who may do what.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
CREATE ROLE regress_pfs_plain;
CREATE ROLE regress_pfs_monitor IN ROLE pg_monitor;
CREATE ROLE regress_pfs_reader;
GRANT USAGE ON SCHEMA pfs TO regress_pfs_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO regress_pfs_reader;
GRANT EXECUTE ON FUNCTION pfs.thread_id(integer) TO regress_pfs_reader;

-- What is granted, to anyone but the owner
SELECT DISTINCT a.privilege_type, r.rolname
FROM pg_class c, aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
WHERE relnamespace = 'pfs'::regnamespace AND a.grantee <> relowner ORDER BY 2, 1;
SELECT relname FROM pg_class WHERE relnamespace = 'pfs'::regnamespace AND relkind IN ('f', 'v')
	AND NOT has_table_privilege('pg_monitor', oid, 'SELECT');
SELECT p.oid::regprocedure AS monitor_can_execute FROM pg_proc p
WHERE pronamespace = 'pfs'::regnamespace AND has_function_privilege('pg_monitor', p.oid, 'EXECUTE')
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT p.oid::regprocedure AS public_can_execute FROM pg_proc p
WHERE pronamespace = 'pfs'::regnamespace AND has_function_privilege('regress_pfs_plain', p.oid, 'EXECUTE');
SELECT has_schema_privilege('pg_monitor', 'pfs', 'USAGE') AS monitor_usage,
	has_schema_privilege('pg_monitor', 'pfs', 'CREATE') AS monitor_create,
	has_schema_privilege('regress_pfs_plain', 'pfs', 'USAGE') AS plain_usage,
	has_server_privilege('pg_monitor', 'pfs_server', 'USAGE') AS server,
	has_foreign_data_wrapper_privilege('pg_monitor', 'pfs_fdw', 'USAGE') AS wrapper;

SET ROLE regress_pfs_plain;
SELECT * FROM pfs.setup_consumers;
\echo :SQLSTATE
SELECT pfs.timer_now();
\echo :SQLSTATE
RESET ROLE;

SET ROLE regress_pfs_monitor;
SELECT count(*) FROM pfs.setup_consumers;
SELECT pfs.timer_now() > 0, pfs.format_time(1), pfs.thread_id() > 0, pfs.setup_sql() IS NOT NULL;
UPDATE pfs.setup_consumers SET enabled = 'NO';
\echo :SQLSTATE
SELECT pfs.set_consumers('%', 'NO');
\echo :SQLSTATE
IMPORT FOREIGN SCHEMA pfs FROM SERVER pfs_server INTO public;
\echo :SQLSTATE
RESET ROLE;

-- Column grants
GRANT UPDATE (timed) ON pfs.setup_instruments TO regress_pfs_monitor;
SET ROLE regress_pfs_monitor;
UPDATE pfs.setup_instruments SET timed = 'no' WHERE name = 'idle' RETURNING name, enabled, timed;
UPDATE pfs.setup_instruments SET enabled = 'no' WHERE name = 'idle';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET timed = 'yes' WHERE name = 'idle' RETURNING name, enabled, timed;
RESET ROLE;
REVOKE UPDATE (timed) ON pfs.setup_instruments FROM regress_pfs_monitor;
-- functions once granted
GRANT EXECUTE ON FUNCTION pfs.set_consumers(text, text) TO regress_pfs_monitor;
SET ROLE regress_pfs_monitor;
SELECT pfs.set_consumers('%', 'YES');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION pfs.set_consumers(text, text) FROM regress_pfs_monitor;

-- Hidden columns.  This session has authenticated as a superuser, so its own rows
-- are a stranger's to regress_pfs_reader: the row is there, the texts are not.
CREATE VIEW hidden AS
	SELECT processlist_host IS NOT NULL AS host, processlist_info IS NOT NULL AS info,
		application_name IS NOT NULL AS application, processlist_user IS NOT NULL AS "user"
	FROM pfs.threads WHERE thread_os_id = pg_backend_pid();
CREATE VIEW hidden_list AS
	SELECT host IS NOT NULL AS host, info IS NOT NULL AS info, user_name IS NOT NULL AS "user"
	FROM pfs.processlist WHERE id = pg_backend_pid();
CREATE VIEW hidden_events AS
	SELECT count(*) > 0 AS events, count(object_name) > 0 AS objects, count(object_type) > 0 AS types,
		count(timer_wait) > 0 AS times
	FROM pfs.events_waits_history_long;
-- the state: of processes that certainly wait
CREATE VIEW hidden_states AS
	SELECT count(processlist_state) > 0 AS states, count(*) > 0 AS background
	FROM pfs.threads WHERE type = 'BACKGROUND';
GRANT SELECT ON hidden, hidden_list, hidden_events, hidden_states TO PUBLIC;
SELECT count(pg_stat_file('PG_VERSION'));
TABLE hidden;
TABLE hidden_list;
TABLE hidden_events;
TABLE hidden_states;
-- A view of a superuser shows no more than the table.
SET ROLE regress_pfs_reader;
TABLE hidden;
TABLE hidden_list;
TABLE hidden_events;
TABLE hidden_states;
SELECT count(*) FROM pfs.threads WHERE num_nonnulls(processlist_host, processlist_info, processlist_state,
	application_name) > 0;
RESET ROLE;
SET ROLE regress_pfs_monitor;
TABLE hidden;
TABLE hidden_list;
TABLE hidden_events;
TABLE hidden_states;
RESET ROLE;
-- Who has the privileges of the row's role sees its texts.
SELECT session_user AS me \gset
GRANT :me TO regress_pfs_reader;
SET ROLE regress_pfs_reader;
TABLE hidden;
TABLE hidden_list;
-- those of background processes are for pg_read_all_stats only
TABLE hidden_states;
RESET ROLE;
REVOKE :me FROM regress_pfs_reader;
-- A security definer function reads as its owner.
CREATE FUNCTION hidden_of_owner(OUT info boolean) SECURITY DEFINER LANGUAGE sql
	AS 'SELECT info FROM hidden';
SET ROLE regress_pfs_reader;
SELECT hidden_of_owner();
RESET ROLE;

DROP FUNCTION hidden_of_owner;
DROP VIEW hidden, hidden_list, hidden_events, hidden_states;
REVOKE ALL ON ALL TABLES IN SCHEMA pfs FROM regress_pfs_reader;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pfs FROM regress_pfs_reader;
REVOKE ALL ON SCHEMA pfs FROM regress_pfs_reader;
DROP ROLE regress_pfs_plain, regress_pfs_monitor, regress_pfs_reader;
