-- The three wait tables: what can be said of their rows at any time.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;
-- Rows of tables are among them, if they are not by default.
SELECT enabled AS rows_enabled FROM pfs.setup_instruments WHERE name = 'wait/io/table/handler' \gset
UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name = 'wait/io/table/handler';

-- Other tests leave events behind that were not timed.
TRUNCATE pfs.events_waits_history, pfs.events_waits_history_long;
-- Some events of our own: file calls and a sleep
CREATE TABLE pfs_events AS SELECT g, repeat('x', 100) AS t FROM generate_series(1, 1000) g;
CHECKPOINT;
SELECT pg_sleep(0.001);

-- This session runs its statement, so it is not idle, and nothing else either.
SELECT event_name FROM pfs.events_waits_current WHERE thread_id = pfs.thread_id();
-- others wait; what runs has no end
SELECT count(*) > 0 AS others FROM pfs.events_waits_current;
SELECT count(*) FROM pfs.events_waits_current
WHERE timer_start IS NULL OR timer_end IS NOT NULL OR timer_wait IS NOT NULL OR end_event_id IS NOT NULL;
-- The checkpoint that the server makes at its start may not be over yet.
DO $$ BEGIN
	FOR i IN 1 .. 1000 LOOP
		EXIT WHEN EXISTS (SELECT FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id) WHERE event_name = 'wait/activity/CheckpointerMain');
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
SELECT DISTINCT event_name FROM pfs.events_waits_current JOIN pfs.threads USING (thread_id)
WHERE name = 'thread/checkpointer' AND event_name NOT LIKE 'wait/io/%';

-- Frozen, so that one query can be compared with the next
UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'global_instrumentation';
-- waits that have begun are recorded when they end
DO $$ BEGIN PERFORM pg_sleep(0.5); END $$;
SELECT max(n) AS rows_per_thread FROM
	(SELECT count(*) AS n FROM pfs.events_waits_history GROUP BY thread_id) t;
SELECT count(*) > 20 AS many, count(*) <= 10000 AS not_too_many FROM pfs.events_waits_history_long;
-- finished, and timed by one scale
SELECT count(*) FROM pfs.events_waits_history_long
WHERE timer_start IS NULL OR timer_wait < 0 OR timer_wait > timer_end - timer_start
	OR (timer_wait IS DISTINCT FROM timer_end - timer_start AND event_name NOT LIKE 'wait/io/table/%')
	OR timer_start < 0 OR timer_end > pfs.timer_now() OR end_event_id IS NULL OR end_event_id < event_id;
SELECT count(*) FROM pfs.events_waits_history_long WHERE scale(timer_start) + scale(timer_end) + scale(timer_wait) > 0;
-- A thread's history is the newest part of what the server remembers of it.
SELECT count(*) FROM pfs.events_waits_history h
WHERE thread_id = pfs.thread_id() AND NOT EXISTS (SELECT FROM pfs.events_waits_history_long l
	WHERE (l.thread_id, l.event_id, l.event_name, l.timer_start) = (h.thread_id, h.event_id, h.event_name, h.timer_start));
SELECT count(*) FROM pfs.events_waits_history h JOIN pfs.events_waits_history_long l USING (thread_id, event_id)
WHERE (h.*) IS DISTINCT FROM (l.*);
-- nesting: the outer one has the smaller number and encloses the inner one
SELECT count(*) FROM pfs.events_waits_history_long i JOIN pfs.events_waits_history_long o
	ON o.thread_id = i.thread_id AND o.event_id = i.nesting_event_id
WHERE o.event_id >= i.event_id OR o.timer_start > i.timer_start OR o.timer_end < i.timer_end
	OR o.end_event_id < i.event_id OR i.nesting_event_type IS DISTINCT FROM 'WAIT';
SELECT count(*) FROM pfs.events_waits_history_long
WHERE (nesting_event_id IS NULL) <> (nesting_event_type IS NULL)
	OR (event_name LIKE 'idle%' AND nesting_event_id IS NOT NULL);

-- Objects and operations belong to their families.
SELECT DISTINCT split_part(event_name, '/', 3) AS family, object_type FROM pfs.events_waits_history_long
WHERE event_name LIKE 'wait/io/%' AND object_type IS NOT NULL ORDER BY 1, 2;
SELECT DISTINCT event_name FROM pfs.events_waits_history_long
WHERE event_name LIKE 'wait/io/file/%' AND (operation IS NULL OR operation NOT IN ('open', 'create', 'close', 'read',
	'write', 'sync', 'flush', 'stat', 'seek', 'chsize', 'delete', 'rename', 'link', 'prefetch', 'allocate', 'copy', 'dir'));
-- a call that failed moved no bytes; those on relations and WAL do not fail
SELECT DISTINCT event_name, operation FROM pfs.events_waits_history_long
WHERE event_name ~* '^wait/io/file/(DataFile(Read|Write|Extend)|WALWrite)$'
	AND (number_of_bytes IS NULL OR number_of_bytes <= 0 OR file_offset IS NULL OR file_offset < 0);
SELECT DISTINCT event_name FROM pfs.events_waits_history_long
WHERE number_of_bytes IS NOT NULL AND event_name NOT LIKE 'wait/io/table/%'
	AND operation NOT IN ('read', 'write', 'recv', 'send', 'allocate', 'copy', 'prefetch', 'flush', 'chsize');
-- of a table's rows it is their number
SELECT DISTINCT event_name, operation, object_type FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/io/table/%'
	AND (operation IN ('fetch', 'insert', 'update', 'delete', 'lock') AND number_of_bytes >= 0 AND object_type = 'TABLE') IS NOT TRUE;
-- files by their path below the data directory
SELECT count(*) > 0 AS some FROM pfs.events_waits_history_long
WHERE object_type = 'FILE' AND object_name = pg_relation_filepath('pfs_events');
SELECT count(*) FROM pfs.events_waits_history_long WHERE object_type = 'FILE' AND octet_length(object_name) > 1024;
SELECT count(*) FROM pfs.events_waits_history_long WHERE octet_length(source) > 64;
SELECT count(*) FROM pfs.events_waits_history_long WHERE (index_name IS NOT NULL AND object_type <> 'TABLE') OR flags IS NOT NULL;
UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'global_instrumentation';
DROP TABLE pfs_events;

-- An event that is not timed has no times; it is still counted.
UPDATE pfs.setup_instruments SET timed = 'NO' WHERE name LIKE 'wait/io/file/%';
TRUNCATE pfs.events_waits_history;
SELECT count(pg_stat_file(name)) > 0 FROM (VALUES ('PG_VERSION'), ('global/pg_control')) v (name);
SELECT count(*) > 0 AS some, count(timer_start) AS starts, count(timer_end) AS ends, count(timer_wait) AS waits,
	count(*) - count(end_event_id) AS without_end
FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id() AND event_name LIKE 'wait/io/file/%';
UPDATE pfs.setup_instruments SET timed = 'YES' WHERE name LIKE 'wait/io/file/%';

-- Off means frozen, not emptied: history of a thread that is switched off stays.
UPDATE pfs.threads SET instrumented = 'NO' WHERE thread_id = pfs.thread_id();
SELECT max(event_id) AS last FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id() \gset
SELECT count(pg_stat_file(name)) > 0 FROM (VALUES ('PG_VERSION'), ('global/pg_control')) v (name);
SELECT max(event_id) = :last AS unchanged FROM pfs.events_waits_history WHERE thread_id = pfs.thread_id();
UPDATE pfs.threads SET instrumented = 'YES' WHERE thread_id = pfs.thread_id();

UPDATE pfs.setup_instruments SET enabled = :'rows_enabled' WHERE name = 'wait/io/table/handler';
