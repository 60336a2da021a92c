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

-- Containers: these are there, nothing holds more than fits, nothing is lost.  Where a caught error is not
-- seen, what it left goes on below the statement, too deep in the end.
SELECT coalesce(string_agg(what, ''), 'none') AS may_be_lost FROM (SELECT 'events_stages_current' AS what FROM pfs.probes
WHERE probe_name = 'raise' AND status <> 'active') s \gset
SELECT name FROM unnest('{
	account_counters,accounts,digest_rows,digest_waits,digests,events_errors_summary_global,events_stages_current,
	events_stages_history,events_stages_history_long,events_stages_summary_global,events_statements_current,
	events_statements_history,events_statements_history_long,events_statements_summary_global,events_transactions_current,
	events_transactions_history,events_transactions_history_long,events_transactions_summary_global,events_waits_current,
	events_waits_history,events_waits_history_long,events_waits_summary_global,file_events,file_instances,file_long_names,hosts,
	index_stat,instruments,load_history_minutes,load_history_seconds,load_history_ten_minutes,load_texts,lwlock_instances,
	memory_summary_global,prepared_statements_instances,program_instances,setup_actors,setup_objects,socket_instances,
	table_instances,table_lock_stat,thread_counters,thread_instances,thread_waits,users
	}'::text[]) name WHERE name NOT IN (SELECT name FROM pfs.containers);
SELECT name FROM pfs.containers GROUP BY 1 HAVING count(*) > 1;
SELECT name FROM pfs.containers
WHERE num_nulls(record_size, records_max, records_used, records_high_water, records_lost, pages_max, pages_resident,
		pages_reclaimed, bytes_reserved, bytes_resident) > 0
	OR records_used > records_max OR records_used > records_high_water OR pages_resident > pages_max
	OR records_lost <> 0 AND name <> :'may_be_lost' OR record_size <= 0;
SELECT (SELECT count(*) FROM pfs.threads) - records_used BETWEEN -3 AND 3 AS threads
FROM pfs.containers WHERE name = 'thread_instances';
SELECT (SELECT count(*) FROM pfs.setup_instruments) = records_used AS instruments
FROM pfs.containers WHERE name = 'instruments';

-- Status: these, and a counter of losses for each container, all zero
SELECT name FROM unnest('{
	pfs_bytes_reserved,pfs_bytes_resident,pfs_fence,pfs_load_history_late,pfs_memory_since,pfs_reads_inexact,pfs_resets_inexact,
	pfs_saved_at,pfs_sequence_words_repaired,pfs_settings_refused,pfs_start_time,pfs_table_io_since,pfs_totals_since
	}'::text[]) name WHERE name NOT IN (SELECT variable_name FROM pfs.status);
SELECT variable_name FROM pfs.status GROUP BY 1 HAVING count(*) > 1;
SELECT name FROM pfs.containers
WHERE NOT EXISTS (SELECT FROM pfs.status WHERE variable_name = 'pfs_' || name || '_lost');
SELECT variable_name, variable_value FROM pfs.status WHERE variable_name ~ '_lost$' AND variable_value <> '0'
	AND variable_name <> 'pfs_' || :'may_be_lost' || '_lost';
SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_settings_refused';
SELECT abs(extract(epoch FROM variable_value::timestamptz - pg_postmaster_start_time())) < 60 AS start_time
FROM pfs.status WHERE variable_name = 'pfs_start_time';
