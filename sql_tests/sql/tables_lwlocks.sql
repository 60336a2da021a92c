-- LWLocks as one sees them by default, without detours: t/140_lwlock_events.pl has the rest.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

SHOW pfs.lwlock_events;
SELECT * FROM pfs.lwlock_instances;
SELECT * FROM pfs.lwlock_objects;
SELECT DISTINCT status, detail FROM pfs.probes WHERE mechanism = 'detour';
SELECT count(*) AS from_detours FROM pfs.events_waits_history_long
WHERE object_type = 'LWLOCK' AND (object_instance_begin IS NOT NULL OR flags IS NOT NULL);

-- Writes are refused.
UPDATE pfs.lwlock_instances SET name = '';
\echo :SQLSTATE
TRUNCATE pfs.lwlock_instances;
\echo :SQLSTATE

-- An address that is none; whoever asks without rights.
SELECT * FROM pfs.lwlock_object(0);
SELECT * FROM pfs.lwlock_object(NULL);
SELECT count(o.object_type) AS known FROM (VALUES (-1), (9223372036854775807), (4096)) a (address), pfs.lwlock_object(address) o;
CREATE ROLE regress_pfs_lwlock;
SET ROLE regress_pfs_lwlock;
SELECT * FROM pfs.lwlock_object(0);
\echo :SQLSTATE
RESET ROLE;
GRANT pg_monitor TO regress_pfs_lwlock;
SET ROLE regress_pfs_lwlock;
SELECT count(*) FROM pfs.lwlock_objects;
RESET ROLE;
DROP ROLE regress_pfs_lwlock;
