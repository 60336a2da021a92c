-- Sockets: columns, rights, and what cannot be written.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- pg_regress connects through a Unix socket, or to localhost.
SELECT event_name, object_instance_begin IS NOT NULL AS address, socket_id > 2 AS socket_id,
	ip IS NOT DISTINCT FROM inet_client_addr() AS ip, port IS NOT DISTINCT FROM inet_client_port() AS port, state
FROM pfs.socket_instances WHERE thread_id = pfs.thread_id();
SELECT count(*) FROM pfs.socket_instances WHERE state NOT IN ('IDLE', 'ACTIVE') OR state IS NULL OR thread_id IS NULL;

-- The statement's own result is not sent yet, the one before is.
SELECT event_name, count_star = count_write AS writes, count_star > 0 AS some, count_timed = count_star AS timed,
	sum_timer_write > 0 AS time, sum_number_of_bytes_write > 0 AS bytes, sum_number_of_bytes_read
FROM pfs.socket_summary_by_instance JOIN (SELECT object_instance_begin FROM pfs.socket_instances
	WHERE thread_id = pfs.thread_id()) i USING (object_instance_begin)
WHERE event_name = 'wait/io/socket/ClientWrite' AND count_misc = 0;
SELECT sum_number_of_bytes_read > 0 AS read, count_star >= count_read AS calls
FROM pfs.socket_summary_by_event_name WHERE event_name = 'wait/io/socket/ClientRead';
SELECT count(*) FROM pfs.socket_summary_by_event_name e JOIN (SELECT event_name, sum(count_star) AS n
	FROM pfs.socket_summary_by_instance GROUP BY 1) i USING (event_name) WHERE count_star < n;

-- Not timed: counted without a time.
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name = 'wait/io/socket/ClientWrite';
SELECT pfs.reset('socket_summary_by_event_name') > 0 AS some;
SELECT count_star > 0 AS some, count_timed, sum_timer_wait, min_timer_wait, avg_timer_wait, max_timer_wait,
	sum_number_of_bytes_write > 0 AS bytes
FROM pfs.socket_summary_by_event_name WHERE event_name = 'wait/io/socket/ClientWrite';
UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name = 'wait/io/socket/ClientWrite';

-- Another timer: the unit is the same.
UPDATE pfs.setup_timers SET timer_name = 'NANOSECOND' WHERE name = 'wait';
SELECT pfs.reset('socket_summary_by_event_name') > 0 AS some;
SELECT count_timed > 0 AS timed, max_timer_wait BETWEEN 1000 AND 1e12 AS picoseconds
FROM pfs.socket_summary_by_event_name WHERE event_name = 'wait/io/socket/ClientWrite';
UPDATE pfs.setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'
	AND EXISTS (SELECT FROM pfs.performance_timers WHERE timer_name = 'CYCLE' AND timer_frequency IS NOT NULL);

-- Off: nothing is counted, what was counted stays.
UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'wait/io/socket/%';
SELECT sum(count_star) AS calls, sum(sum_number_of_bytes_read + sum_number_of_bytes_write) AS bytes
FROM pfs.socket_summary_by_event_name \gset
SELECT sum(count_star) = :calls AS calls, sum(sum_number_of_bytes_read + sum_number_of_bytes_write) = :bytes AS bytes
FROM pfs.socket_summary_by_event_name;
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'wait/io/socket/%';

-- Nobody writes them.
UPDATE pfs.socket_instances SET state = 'IDLE';
UPDATE pfs.socket_summary_by_instance SET count_star = 0;
DELETE FROM pfs.socket_instances;
INSERT INTO pfs.socket_summary_by_event_name (event_name) VALUES ('x');
TRUNCATE pfs.socket_instances;
TRUNCATE pfs.socket_summary_by_instance, pfs.socket_summary_by_event_name;
SELECT pfs.reset('socket_instances');
SELECT pfs.reset_time('socket_summary_by_instance') > now() - interval '1 minute' AS by_instance,
	pfs.reset_time('socket_summary_by_event_name') > now() - interval '1 minute' AS by_event_name;

-- Addresses are for pg_read_all_stats and the session's own role.
CREATE ROLE regress_pfs_sockets;
GRANT USAGE ON SCHEMA pfs TO regress_pfs_sockets;
SET ROLE regress_pfs_sockets;
SELECT count(*) FROM pfs.socket_instances;
RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA pfs TO regress_pfs_sockets;
SET ROLE regress_pfs_sockets;
SELECT count(*) > 0 AS rows, count(ip) AS ip, count(port) AS port, count(*) - count(state) AS no_state FROM pfs.socket_instances;
RESET ROLE;
DROP OWNED BY regress_pfs_sockets;
DROP ROLE regress_pfs_sockets;
