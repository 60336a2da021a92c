-- Names of instruments, and how the tables about the set-up fit together.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

SELECT count(*) > 200 AS over_200 FROM pfs.setup_instruments;
SELECT name FROM pfs.setup_instruments
WHERE split_part(name, '/', 1) NOT IN ('wait', 'stage', 'statement', 'transaction', 'memory', 'idle', 'error');
SELECT name FROM pfs.setup_instruments WHERE '' = ANY (string_to_array(name, '/'));
SELECT lower(name) FROM pfs.setup_instruments GROUP BY 1 HAVING count(*) > 1;
SELECT name FROM pfs.setup_instruments WHERE octet_length(name) > 128;
-- only the last word keeps PostgreSQL's spelling
SELECT name FROM pfs.setup_instruments
WHERE regexp_replace(name, '/[^/]*$', '') <> lower(regexp_replace(name, '/[^/]*$', '')) AND name ~ '/';
SELECT DISTINCT regexp_replace(name, '/[^/]*$', '') COLLATE "C" AS family, wait_class FROM pfs.setup_instruments
WHERE (name LIKE 'wait/%' OR wait_class IS NOT NULL) AND name NOT LIKE 'wait/synch/buffer%' ORDER BY 1;
-- 19 has content locks of buffers in one class with the wait for pins
SELECT count(DISTINCT regexp_replace(name, '/[^/]*$', '')) AS families, bool_and(name || wait_class LIKE
	CASE WHEN current_setting('server_version_num')::int >= 190000 THEN 'wait/synch/buffer/Buffer%Buffer' ELSE 'wait/synch/bufferpin/BufferPinBufferPin' END) AS named
FROM pfs.setup_instruments WHERE name LIKE 'wait/synch/buffer%';

-- Everything is on and timed; memory contexts and stages of statements are off, and rows of tables,
-- which other tests switch.
SELECT DISTINCT (regexp_match(name, '^(memory/context|memory|stage/sql)/'))[1] AS kind, enabled, timed
FROM pfs.setup_instruments WHERE name NOT LIKE 'wait/io/table/%' ORDER BY 1, 2, 3;
SELECT DISTINCT enabled FROM pfs.setup_consumers WHERE name <> 'events_statements_cpu';
SELECT DISTINCT enabled, history FROM pfs.setup_threads;

-- What waits for work is marked.
SELECT DISTINCT properties FROM pfs.setup_instruments ORDER BY 1;
SELECT name FROM pfs.setup_instruments WHERE name LIKE 'idle%' ORDER BY name;
SELECT name FROM pfs.setup_instruments
WHERE (name LIKE 'idle%' OR name LIKE 'wait/activity/%') AND properties <> 'idle';
SELECT name FROM pfs.setup_instruments
WHERE properties = 'idle' AND name NOT LIKE 'idle%' AND name NOT LIKE 'wait/activity/%'
	AND name NOT LIKE 'wait/timeout/%';

-- The words of pg_stat_activity
SELECT name, wait_event_type, wait_event FROM pfs.setup_instruments
WHERE name IN ('wait/synch/lwlock/WALWrite', 'wait/io/file/DataFileRead', 'wait/io/file/DataFileSync',
	'wait/lock/transactionid', 'wait/lock/relation', 'wait/timeout/PgSleep', 'wait/activity/CheckpointerMain', 'idle')
ORDER BY name COLLATE "C";
SELECT name FROM pfs.setup_instruments WHERE (wait_event IS NULL) <> (wait_event_type IS NULL);
-- an instrument is found by the words that a process shows
SELECT count(*) FROM pg_stat_activity a
WHERE wait_event IS NOT NULL AND NOT EXISTS (SELECT FROM pfs.setup_instruments i
	WHERE i.wait_event_type = a.wait_event_type AND i.wait_event = a.wait_event);

-- Calls that the server has no wait event for: each pair of a kind of file and what is done has a
-- word of its own, by which no wait event of the server goes, whatever its letters.
WITH pairs AS (SELECT k, o FROM unnest('{DataFile,TempFile,WAL,SLRU,File}'::text[]) k,
		unnest('{Open,Close,Read,Write,Sync,Flush,Stat,Truncate,Unlink,Rename,Link,Prefetch,Allocate,Copy,Directory}'::text[]) o)
SELECT count(DISTINCT (k, o)) AS pairs, count(i) AS words, count(DISTINCT i.name) AS names,
	count(s) AS words_of_the_server
FROM pairs LEFT JOIN pfs.setup_instruments i ON i.wait_event IS NULL AND i.name ~ ('^wait/io/file/' || k || '(Other)?' || o || '$')
	LEFT JOIN pfs.setup_instruments s ON lower(s.wait_event) = lower(split_part(i.name, '/', 4));
-- so has what waits for something else
SELECT i.name FROM pfs.setup_instruments i JOIN pfs.setup_instruments s ON lower(s.wait_event) = lower(regexp_replace(i.name, '^.*/', ''))
WHERE i.wait_event IS NULL AND i.name LIKE 'wait/%';
-- where a pair's plain word is the server's, that is another instrument
SELECT lower(name), wait_event_type FROM pfs.setup_instruments
WHERE name ILIKE ANY ('{wait/io/file/WALSync, wait/io/file/WALOtherSync, wait/io/file/DataFileRead, wait/io/file/DataFileOtherRead, '
	'wait/io/file/SLRUOtherWrite, wait/io/file/FileRead, wait/io/file/TempFileUnlink, wait/timeout/OtherSleep}')
ORDER BY lower(name) COLLATE "C";

SELECT name FROM pfs.setup_consumers;
SELECT name FROM pfs.setup_timers;
-- kinds of background processes: there are some on every version, none is a session's
SELECT name FROM pfs.setup_threads
WHERE name IN ('thread/checkpointer', 'thread/walwriter', 'thread/worker', 'thread/autovacuum_worker',
	'thread/client_backend', 'thread/walsender')
ORDER BY name;
SELECT name FROM pfs.threads t WHERE type = 'BACKGROUND' AND NOT EXISTS
	(SELECT FROM pfs.setup_threads s WHERE s.name = t.name OR t.name LIKE s.name || '/%');
