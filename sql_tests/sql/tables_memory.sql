-- Memory summaries: rows that must hold on every server, rights, wrong writes,
-- and what setup_instruments says of memory.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- ---- instruments ----

-- Contexts are off by default, pfs and shared memory on; none is timed.
SELECT split_part(name, '/', 2) AS area, enabled, timed, count(*) > 5 AS several
FROM pfs.setup_instruments WHERE name LIKE 'memory/%' GROUP BY 1, 2, 3 ORDER BY 1;
-- The well-known ones are there from the start.
SELECT name FROM pfs.setup_instruments
WHERE name IN ('memory/context/TopMemoryContext', 'memory/context/CacheMemoryContext', 'memory/context/ExecutorState', 'memory/context/other')
ORDER BY name COLLATE "C";
SELECT count(*) FROM pfs.setup_instruments WHERE name LIKE 'memory/%' AND (documentation IS NULL OR wait_event IS NOT NULL OR wait_event_type IS NOT NULL);
-- timed is ignored, but has to be a value that it takes, or NULL as it reads.
UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name LIKE 'memory/%';
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'memory/context/TopMemoryContext';
UPDATE pfs.setup_instruments SET timed = timed WHERE name = 'memory/context/TopMemoryContext';
UPDATE pfs.setup_instruments SET timed = NULL, enabled = 'yes' WHERE name = 'memory/context/MessageContext';
SELECT name, enabled, timed FROM pfs.setup_instruments WHERE name IN ('memory/context/MessageContext', 'memory/context/TopMemoryContext') ORDER BY name COLLATE "C";
UPDATE pfs.setup_instruments SET timed = 'maybe' WHERE name = 'memory/context/TopMemoryContext';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET timed = 'maybe' WHERE name LIKE 'memory/pfs/%';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = 'maybe' WHERE name = 'memory/context/TopMemoryContext';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET enabled = NULL WHERE name = 'memory/context/TopMemoryContext';
\echo :SQLSTATE
UPDATE pfs.setup_instruments SET timed = NULL WHERE name = 'idle';
\echo :SQLSTATE
SELECT pfs.set_instruments('memory/context/TopMemoryContext', NULL, 'YES') AS set, count(timed) AS timed
FROM pfs.setup_instruments WHERE name = 'memory/context/TopMemoryContext';
-- Built-in ones cannot be switched off.
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/pfs/%' OR name LIKE 'memory/shared/%';
SELECT pfs.set_instruments('memory/pfs/%', 'NO', NULL) > 5 AS matched;
SELECT DISTINCT enabled, timed FROM pfs.setup_instruments WHERE name LIKE 'memory/pfs/%' OR name LIKE 'memory/shared/%';

-- ---- what is always counted ----

-- Each container of pfs, in the global table only.  Long histories and the load history grow meanwhile.
SELECT count(*) FROM pfs.memory_summary_global_by_event_name m FULL JOIN pfs.containers c ON m.event_name = 'memory/pfs/' || c.name
WHERE (m.event_name LIKE 'memory/pfs/%' OR m.event_name IS NULL) AND (c.name IS NULL OR m.event_name IS NULL);
SELECT c.name FROM pfs.memory_summary_global_by_event_name m JOIN pfs.containers c ON m.event_name = 'memory/pfs/' || c.name
WHERE (current_number_of_bytes_used <> bytes_resident AND c.name !~ 'history_long|^load_') OR current_count_used <> pages_resident OR count_free <> pages_reclaimed
	OR count_alloc <> pages_resident + pages_reclaimed OR high_count_used < current_count_used;
-- The load history grows once a second; one of some looks meets it in between.
CREATE FUNCTION load_agrees() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		PERFORM FROM pfs.memory_summary_global_by_event_name m JOIN pfs.containers c ON m.event_name = 'memory/pfs/' || c.name
		WHERE c.name ~ '^load_' AND current_number_of_bytes_used <> bytes_resident;
		IF NOT FOUND THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT load_agrees();
SELECT sum(current_number_of_bytes_used) > 100000 AS something FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/pfs/%';
-- The server's shared memory, as its own view has it.  Ours is some of it.
SELECT bool_and(current_number_of_bytes_used > 0 AND count_free = 0 AND low_number_of_bytes_used = high_number_of_bytes_used) AS sane,
	bool_or(event_name = 'memory/shared/Buffer Blocks') AS buffers, count(*) > 20 AS many
FROM pfs.memory_summary_global_by_event_name WHERE event_name LIKE 'memory/shared/%';
SELECT m.current_number_of_bytes_used = s.allocated_size AS as_the_server_says
FROM pfs.memory_summary_global_by_event_name m, pg_shmem_allocations s WHERE m.event_name = 'memory/shared/Buffer Blocks' AND s.name = 'Buffer Blocks';
SELECT (SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE event_name ~ '^memory/(pfs|shared)/') AS threads,
	(SELECT count(*) FROM pfs.memory_summary_by_account_by_event_name WHERE event_name ~ '^memory/(pfs|shared)/') AS accounts,
	(SELECT count(*) FROM pfs.memory_summary_by_user_by_event_name WHERE event_name ~ '^memory/(pfs|shared)/') AS users,
	(SELECT count(*) FROM pfs.memory_summary_by_host_by_event_name WHERE event_name ~ '^memory/(pfs|shared)/') AS hosts;

-- ---- nothing is counted, and then something ----

UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%';
\c
SELECT count(*) FROM pfs.threads WHERE thread_id = pfs.thread_id() AND (current_memory IS NOT NULL OR high_memory IS NOT NULL);
SELECT count(*) FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = pfs.thread_id();
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'memory/%';
\c
SELECT current_memory > 0 AS present, high_memory >= current_memory AS high FROM pfs.threads WHERE thread_id = pfs.thread_id();
SELECT bool_and(count_alloc >= count_free AND sum_number_of_bytes_alloc >= sum_number_of_bytes_free
	AND current_count_used = count_alloc - count_free AND current_number_of_bytes_used = sum_number_of_bytes_alloc - sum_number_of_bytes_free
	AND low_count_used <= current_count_used AND current_count_used <= high_count_used
	AND low_number_of_bytes_used <= current_number_of_bytes_used AND current_number_of_bytes_used <= high_number_of_bytes_used
	AND low_count_used >= 0 AND low_number_of_bytes_used >= 0) AS sane, count(*) > 10 AS several
FROM pfs.memory_summary_by_thread_by_event_name WHERE thread_id = pfs.thread_id();
SELECT bool_and(count_alloc >= count_free AND low_count_used <= current_count_used AND current_count_used <= high_count_used
	AND low_number_of_bytes_used <= current_number_of_bytes_used AND current_number_of_bytes_used <= high_number_of_bytes_used) AS sane
FROM (SELECT count_alloc, count_free, low_count_used, current_count_used, high_count_used, low_number_of_bytes_used, current_number_of_bytes_used,
		high_number_of_bytes_used FROM pfs.memory_summary_by_account_by_event_name
	UNION ALL SELECT count_alloc, count_free, low_count_used, current_count_used, high_count_used, low_number_of_bytes_used, current_number_of_bytes_used,
		high_number_of_bytes_used FROM pfs.memory_summary_by_user_by_event_name
	UNION ALL SELECT count_alloc, count_free, low_count_used, current_count_used, high_count_used, low_number_of_bytes_used, current_number_of_bytes_used,
		high_number_of_bytes_used FROM pfs.memory_summary_by_host_by_event_name
	UNION ALL SELECT count_alloc, count_free, low_count_used, current_count_used, high_count_used, low_number_of_bytes_used, current_number_of_bytes_used,
		high_number_of_bytes_used FROM pfs.memory_summary_global_by_event_name) m;
-- The own session at all levels
SELECT
	(SELECT count(*) FROM pfs.memory_summary_by_account_by_event_name
		WHERE event_name = 'memory/context/MessageContext' AND user_name = session_user AND host = '[local]') AS account,
	(SELECT count(*) FROM pfs.memory_summary_by_user_by_event_name
		WHERE event_name = 'memory/context/MessageContext' AND user_name = session_user) AS "user",
	(SELECT count(*) FROM pfs.memory_summary_by_host_by_event_name
		WHERE event_name = 'memory/context/MessageContext' AND host = '[local]') AS host,
	(SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'memory/context/MessageContext') AS "global";
-- Every name is an instrument's.
SELECT event_name FROM pfs.memory_summary_global_by_event_name EXCEPT SELECT name FROM pfs.setup_instruments;
SELECT count(*) = count(DISTINCT event_name) AS one_each FROM pfs.memory_summary_global_by_event_name;

-- Conditions reduce the copy.
EXPLAIN (COSTS OFF) SELECT * FROM pfs.memory_summary_by_thread_by_event_name
WHERE thread_id = pfs.thread_id() AND event_name = 'memory/context/ExecutorState';
EXPLAIN (COSTS OFF) SELECT * FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'memory/context/ExecutorState';
SELECT event_name FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'memory/pfs/thread_instances';
SELECT count(*) FROM pfs.memory_summary_global_by_event_name WHERE event_name = 'idle';

-- ---- nobody writes them ----

CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT t, try(format('UPDATE pfs.%I SET event_name = event_name', t)) AS update, try(format('DELETE FROM pfs.%I', t)) AS delete,
	try(format('INSERT INTO pfs.%I (event_name) VALUES (NULL)', t)) AS insert
FROM (VALUES ('memory_summary_global_by_event_name'), ('memory_summary_by_thread_by_event_name'), ('memory_summary_by_account_by_event_name'),
	('memory_summary_by_user_by_event_name'), ('memory_summary_by_host_by_event_name')) v (t);

-- Rights
CREATE ROLE regress_pfs_nobody;
CREATE ROLE regress_pfs_monitor IN ROLE pg_monitor;
GRANT EXECUTE ON FUNCTION try(text) TO PUBLIC;
SET ROLE regress_pfs_nobody;
SELECT try('SELECT * FROM pfs.memory_summary_global_by_event_name') AS nobody;
RESET ROLE;
SET ROLE regress_pfs_monitor;
SELECT try('SELECT * FROM pfs.memory_summary_global_by_event_name') AS global, try('SELECT * FROM pfs.memory_summary_by_thread_by_event_name') AS thread,
	try('TRUNCATE pfs.memory_summary_global_by_event_name') AS truncate, try($$SELECT pfs.reset('memory_summary_global_by_event_name')$$) AS reset;
RESET ROLE;
GRANT TRUNCATE ON pfs.memory_summary_by_thread_by_event_name TO regress_pfs_monitor;
SET ROLE regress_pfs_monitor;
SELECT try('TRUNCATE pfs.memory_summary_by_thread_by_event_name') AS granted,
	try('TRUNCATE pfs.memory_summary_by_thread_by_event_name, pfs.memory_summary_global_by_event_name') AS both;
RESET ROLE;
REVOKE TRUNCATE ON pfs.memory_summary_by_thread_by_event_name FROM regress_pfs_monitor;

-- ---- a new baseline ----

TRUNCATE pfs.memory_summary_global_by_event_name;
SELECT bool_and(pfs.reset_time(t) = pfs.reset_time('memory_summary_global_by_event_name')
	OR pfs.reset_time(t) > clock_timestamp() - interval '1 minute') AS all_levels
FROM (VALUES ('memory_summary_by_thread_by_event_name'), ('memory_summary_by_account_by_event_name'),
	('memory_summary_by_user_by_event_name'), ('memory_summary_by_host_by_event_name')) v (t);
-- What is in use is in use, and what pfs has is what it has.
SELECT current_number_of_bytes_used > 1000 AS in_use FROM pfs.memory_summary_by_thread_by_event_name
WHERE thread_id = pfs.thread_id() AND event_name = 'memory/context/CacheMemoryContext';
SELECT c.name FROM pfs.memory_summary_global_by_event_name m JOIN pfs.containers c ON m.event_name = 'memory/pfs/' || c.name
WHERE (current_number_of_bytes_used <> bytes_resident AND c.name !~ 'history_long|^load_') OR count_free <> pages_reclaimed;
SELECT load_agrees();
DROP FUNCTION load_agrees;
SELECT pfs.reset('memory_summary_by_host_by_event_name') > 0 AS reset;

UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'memory/%';
DROP ROLE regress_pfs_nobody, regress_pfs_monitor;
DROP FUNCTION try(text);
