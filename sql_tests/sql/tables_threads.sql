-- threads and processlist: who there is and what each does.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

\x on
SELECT name, type, processlist_id = pg_backend_pid() AS id, processlist_user = session_user AS "user",
	processlist_host, processlist_db, processlist_command, processlist_time IS NOT NULL AS "time",
	processlist_info, parent_thread_id, role, instrumented, history, connection_type,
	thread_os_id = pg_backend_pid() AS os_id, application_name = current_setting('application_name') AS application,
	current_memory, high_memory
FROM pfs.threads WHERE thread_id = pfs.thread_id();
SELECT id = pg_backend_pid() AS id, user_name = session_user AS user_name, host, db, command, info, name, type
FROM pfs.processlist WHERE thread_id = pfs.thread_id();
\x off

-- Every process that pg_stat_activity shows for longer than a moment is there.
SELECT a.backend_type FROM pg_stat_activity a
WHERE backend_type IN ('client backend', 'checkpointer', 'walwriter', 'background writer')
	AND NOT EXISTS (SELECT FROM pfs.threads t WHERE t.thread_os_id = a.pid
		AND t.name = 'thread/' || replace(a.backend_type, ' ', '_'));
SELECT count(*) FROM pfs.threads t
WHERE name = 'thread/checkpointer' AND type = 'BACKGROUND' AND processlist_id IS NULL
	AND processlist_command = 'Daemon' AND processlist_host IS NULL AND processlist_info IS NULL;
SELECT count(*) - count(DISTINCT thread_id) AS twice FROM pfs.threads;
SELECT count(*) FROM pfs.threads WHERE processlist_command NOT IN
	('Query', 'Sleep', 'Sleep in transaction', 'Replication', 'Daemon');
SELECT (SELECT count(*) FROM pfs.threads) - (SELECT count(*) FROM pfs.processlist) BETWEEN -3 AND 3 AS same_rows;

-- The role that authenticated, not the one that is set
CREATE ROLE regress_pfs_threads;
GRANT pg_monitor TO regress_pfs_threads;
SET ROLE regress_pfs_threads;
SELECT processlist_user = session_user AS authenticated FROM pfs.threads WHERE thread_id = pfs.thread_id();
RESET ROLE;
DROP ROLE regress_pfs_threads;

-- Without track_activities the command is still known, the text is not.
SET track_activities = off;
SELECT processlist_command, processlist_info FROM pfs.threads WHERE thread_id = pfs.thread_id();
RESET track_activities;

-- Secrets: a text is kept up to the word that they follow.
SELECT processlist_info FROM pfs.threads WHERE thread_id = pfs.thread_id() /* ALTER ROLE a PASSWORD 'b' */;
SELECT processlist_info FROM pfs.threads WHERE thread_id = pfs.thread_id() /* create USER a ENCRYPTED passWord 'b' */;
SELECT processlist_info, 'CREATE USER MAPPING FOR a SERVER b OPTIONS (password ''c'')' FROM pfs.threads
	WHERE thread_id = pfs.thread_id();
SELECT processlist_info FROM pfs.threads WHERE thread_id = pfs.thread_id() /* ALTER SUBSCRIPTION a CONNECTION 'b' */;
SELECT processlist_info, 'ALTER/* x */ROLE a PASSWORD ''b''' FROM pfs.threads WHERE thread_id = pfs.thread_id();
-- nothing else is cut
SELECT processlist_info, 'ALTER TABLE a SET (password = 1); COMMENT ON ROLE b IS ''PASSWORD''' FROM pfs.threads
	WHERE thread_id = pfs.thread_id();

-- A text that is longer than the server keeps ends with a whole character.
CREATE TABLE long_text AS SELECT
	$$SELECT octet_length(processlist_info) BETWEEN 1021 AND 1023 AS cut, processlist_info ~ 'ü$' AS whole
	FROM pfs.threads WHERE thread_id = pfs.thread_id() /* $$ || repeat('ü', 1000) || ' */' AS query;
SELECT query FROM long_text \gexec
SELECT replace(query, '/* ', '/* x') FROM long_text \gexec
DROP TABLE long_text;
