-- What pfs says about itself.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

-- Every probe has a mechanism and a status that the documentation names, and a
-- reason where it does not work.  What pfs relies on without being called by it has
-- no mechanism.
SELECT target FROM unnest('{sem_wait, epoll_wait, recv, send, open, close, read, write, pread, pwrite, fsync, fdatasync, ftruncate, unlink, rename, mkdir, rmdir}'::text[]) target
WHERE NOT EXISTS (SELECT FROM pfs.probes p WHERE p.target = target.target AND status = 'active');
SELECT probe_name FROM pfs.probes GROUP BY 1 HAVING count(*) > 1;
SELECT probe_name, mechanism, status, detail FROM pfs.probes
WHERE mechanism NOT IN ('got', 'method_table', 'hook', 'detour') OR status NOT IN ('active', 'unavailable', 'off')
	OR (status = 'unavailable' AND detail IS NULL) OR (mechanism IS NULL AND target NOT IN ('madvise(MADV_REMOVE)', 'minor version', 'BufferDesc')) OR status IS NULL OR target IS NULL;
SELECT probe_name, status FROM pfs.probes WHERE target IN ('sem_wait', 'epoll_wait', 'fsync') ORDER BY 1;

-- Containers: nothing holds more than fits, nothing is lost.  Where a caught error is not
-- seen, what it left goes on below the statement, too deep in the end.
SELECT coalesce(string_agg(what, ''), 'none') AS may_be_lost FROM (SELECT 'events_stages_current' AS what FROM pfs.probes
WHERE probe_name = 'raise' AND status <> 'active') s \gset
SELECT name FROM pfs.containers ORDER BY name COLLATE "C";
SELECT name FROM pfs.containers
WHERE num_nulls(record_size, records_max, records_used, records_high_water, records_lost, pages_max, pages_resident,
		pages_reclaimed, bytes_reserved, bytes_resident) > 0
	OR records_used > records_max OR records_used > records_high_water OR pages_resident > pages_max
	OR records_lost <> 0 AND name <> :'may_be_lost' OR record_size <= 0;
SELECT (SELECT count(*) FROM pfs.threads) - records_used BETWEEN -3 AND 3 AS threads
FROM pfs.containers WHERE name = 'thread_instances';
SELECT (SELECT count(*) FROM pfs.setup_instruments) = records_used AS instruments
FROM pfs.containers WHERE name = 'instruments';

-- Status: a counter of losses for each container, all zero
SELECT variable_name FROM pfs.status WHERE variable_name !~ '_lost$' ORDER BY 1;
SELECT name FROM pfs.containers
WHERE NOT EXISTS (SELECT FROM pfs.status WHERE variable_name = 'pfs_' || name || '_lost');
SELECT variable_name, variable_value FROM pfs.status WHERE variable_name ~ '_lost$' AND variable_value <> '0'
	AND variable_name <> 'pfs_' || :'may_be_lost' || '_lost';
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused';
SELECT abs(extract(epoch FROM variable_value::timestamptz - pg_postmaster_start_time())) < 60 AS start_time
FROM pfs.status WHERE variable_name = 'pfs_start_time';
