-- Files: instances, the three summaries, the view by relation.
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

CREATE TABLE file_test WITH (autovacuum_enabled = off) AS SELECT g FROM generate_series(1, 10000) g;
CHECKPOINT;
SELECT pg_relation_filepath('file_test') AS file \gset

SELECT count(*) FROM file_test;

-- One row per path; its first event opened it, and somebody has it open (19: the scan may
-- have made the visibility map, which closes it, so it is read again).
SELECT count(*) > 0 AS again FROM file_test;
SELECT event_name, open_count > 0 AS open FROM pfs.file_instances WHERE file_name = :'file';
SELECT file_name FROM pfs.file_instances GROUP BY 1 HAVING count(*) > 1;
SELECT file_name, event_name FROM pfs.file_instances
WHERE event_name NOT IN (SELECT name FROM pfs.setup_instruments) OR open_count < 0 OR file_name ~ '^/dev/';

-- What was written is there: every page with a row.
SELECT sum_number_of_bytes_write >= (SELECT max((ctid::text::point)[0]) + 1 FROM file_test) * current_setting('block_size')::int AS written, sum_number_of_bytes_read AS read,
	count_write > 0 AND count_read = 0 AND count_misc = 0 AS only_writes
FROM pfs.file_summary_by_instance WHERE file_name = :'file' AND event_name = 'wait/io/file/DataFileWrite';
SELECT bool_and(count_misc = count_star) AS misc
FROM pfs.file_summary_by_instance WHERE file_name = :'file' AND event_name ~ '/DataFile(Sync|Open|Close|Create|Flush)$';

-- Parts and wholes.
SELECT event_name FROM pfs.file_summary_by_event_name
WHERE count_star <> count_read + count_write + count_misc OR abs(sum_timer_wait - sum_timer_read - sum_timer_write - sum_timer_misc) > 3
	OR max_timer_wait <> greatest(max_timer_read, max_timer_write, max_timer_misc)
	OR count_timed > count_star OR min_timer_wait > max_timer_wait OR sum_timer_wait < max_timer_wait
	OR avg_timer_wait NOT BETWEEN min_timer_wait AND max_timer_wait
	OR count_star = 0 OR event_name !~ '^wait/io/file/';
SELECT event_name FROM pfs.file_summary_by_event_name GROUP BY 1 HAVING count(*) > 1;
SELECT file_name, event_name FROM pfs.file_summary_by_instance
WHERE count_star <> count_read + count_write + count_misc OR count_timed > count_star
	OR (count_read = 0 AND sum_number_of_bytes_read > 0) OR (count_write = 0 AND sum_number_of_bytes_write > 0)
	OR num_nulls(file_name, event_name, object_instance_begin, count_star, sum_timer_wait, avg_timer_misc) > 0;
SELECT file_name, event_name FROM pfs.file_summary_by_instance GROUP BY 1, 2 HAVING count(*) > 1;

-- The same rows, by object.
SELECT count(*) > 0 AS some, bool_and(w.count_star IS NOT DISTINCT FROM f.count_star AND w.sum_timer_wait = f.sum_timer_wait
	AND w.max_timer_wait = f.max_timer_wait) AS same
FROM pfs.file_summary_by_instance f LEFT JOIN pfs.events_waits_summary_by_instance w USING (event_name, object_instance_begin)
WHERE file_name = :'file';

-- By relation: the other forks, too.
VACUUM file_test;
CHECKPOINT;
SELECT tablespace, object_schema, kind,
	r.count_star = s.count_star AND r.count_timed = s.count_timed AND r.sum_timer_wait = s.sum_timer_wait AND r.count_write = s.count_write
	AND r.sum_number_of_bytes_write = s.bytes AND r.min_timer_wait = s.min AND r.max_timer_write = s.max AS same,
	s.files > 1 AS forks, r.avg_timer_wait = trunc(r.sum_timer_wait / r.count_timed) AS avg,
	abs(r.avg_timer_write - r.sum_timer_write / r.count_write) <= 1 AS avg_write
FROM pfs.file_summary_by_relation r,
	(SELECT count(DISTINCT file_name) AS files, sum(count_star) AS count_star, sum(count_timed) AS count_timed,
		sum(sum_timer_wait) AS sum_timer_wait, sum(count_write) AS count_write, sum(sum_number_of_bytes_write) AS bytes,
		min(min_timer_wait) AS min, max(max_timer_write) AS max
	FROM pfs.file_summary_by_instance WHERE file_name = :'file' OR file_name ~ ('^' || :'file' || '[_.]')) s
WHERE object_name = 'file_test';
SELECT DISTINCT kind FROM pfs.file_summary_by_relation WHERE kind IN ('relation', 'WAL', 'other') ORDER BY 1;
SELECT DISTINCT tablespace, object_schema, kind FROM pfs.file_summary_by_relation WHERE object_name = 'pg_authid';
SELECT DISTINCT tablespace, object_schema, object_name FROM pfs.file_summary_by_relation WHERE kind = 'WAL' AND object_name IS NULL;
SELECT count(*) FROM pfs.file_summary_by_relation
WHERE object_name IS DISTINCT FROM '(removed files)' AND (kind NOT IN ('relation', 'WAL', 'temporary', 'SLRU', 'other') OR (kind = 'relation' AND object_name IS NULL)
	OR (kind IN ('relation', 'temporary') AND tablespace IS NULL));
SELECT tablespace, object_schema, object_name, kind FROM pfs.file_summary_by_relation
GROUP BY 1, 2, 3, 4 HAVING count(*) > 1;
CREATE TEMP TABLE temporary_test AS SELECT 1;
SELECT tablespace, object_schema ~ '^pg_temp_' AS schema, kind FROM pfs.file_summary_by_relation WHERE object_name = 'temporary_test';

-- TRUNCATE: rows of living files stay, at zero; the event names keep all.
SELECT sum(count_star) AS before FROM pfs.file_summary_by_event_name \gset
TRUNCATE pfs.file_summary_by_instance;
SELECT count(*) > 1 AS rows, sum(count_star) AS events, sum(sum_timer_wait + max_timer_wait + min_timer_wait) AS times,
	sum(sum_number_of_bytes_write) AS bytes
FROM pfs.file_summary_by_instance WHERE file_name = :'file';
SELECT sum(count_star) >= :before AS kept FROM pfs.file_summary_by_event_name;
SELECT pfs.reset_time('file_summary_by_instance') > pfs.reset_time('file_summary_by_event_name') AS noted,
	abs(extract(epoch FROM pfs.reset_time('file_summary_by_instance') - pfs.reset_time('events_waits_summary_by_instance'))) < 1 AS both;
SELECT pfs.reset('file_summary_by_event_name') >= :before AS returned;
SELECT coalesce(sum(count_star), 0) < :before AS gone FROM pfs.file_summary_by_event_name;
SELECT pfs.reset('events_waits_summary_by_instance') > 0 AS returned;

-- What cannot be written.
SELECT try('TRUNCATE pfs.file_instances') AS truncate, try($$SELECT pfs.reset('file_instances')$$) AS reset;
SELECT t, try(format('UPDATE pfs.%I SET event_name = event_name', t)) AS update, try(format('DELETE FROM pfs.%I', t)) AS delete,
	try(format('INSERT INTO pfs.%I (event_name) VALUES (NULL)', t)) AS insert
FROM unnest('{file_instances,file_summary_by_event_name,file_summary_by_instance,events_waits_summary_by_instance}'::text[]) t;

-- Who may read: pg_monitor.
CREATE ROLE files_nobody;
CREATE ROLE files_monitor IN ROLE pg_monitor;
SET ROLE files_nobody;
SELECT t, try(format('SELECT count(*) FROM pfs.%I', t))
FROM unnest('{file_instances,file_summary_by_event_name,file_summary_by_instance,events_waits_summary_by_instance,file_summary_by_relation}'::text[]) t;
SET ROLE files_monitor;
SELECT t, try(format('SELECT * FROM pfs.%I', t)), try(format('TRUNCATE pfs.%I', t)) AS truncate
FROM unnest('{file_instances,file_summary_by_event_name,file_summary_by_instance,events_waits_summary_by_instance,file_summary_by_relation}'::text[]) t;
SELECT count(*) > 0 AS not_hidden FROM pfs.file_instances WHERE file_name = :'file';
RESET ROLE;
DROP ROLE files_nobody, files_monitor;

-- A removed file has no row.
DROP TABLE file_test;
CHECKPOINT;
SELECT count(*) FROM pfs.file_instances WHERE file_name = :'file';
SELECT count(*) FROM pfs.file_summary_by_instance WHERE file_name = :'file';
SELECT count(*) FROM pfs.file_summary_by_relation WHERE object_name = 'file_test';
SELECT sum(count_star) > 0 AS kept FROM pfs.file_summary_by_event_name WHERE event_name ~ '/DataFileUnlink$';
DROP FUNCTION try;
