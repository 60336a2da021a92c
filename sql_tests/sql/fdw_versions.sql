-- SQL objects of another version than the library: nothing crashes, and errors say
-- what to do.  Taking a table out of the extension and back in stands for a script
-- that is newer than the library.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pfs;
RESET client_min_messages;

BEGIN;
-- older: a column is missing, the order is another
ALTER EXTENSION pfs DROP FOREIGN TABLE pfs.setup_threads;
DROP FOREIGN TABLE pfs.setup_threads;
CREATE FOREIGN TABLE pfs.setup_threads (enabled text, name text) SERVER pfs_server;
ALTER EXTENSION pfs ADD FOREIGN TABLE pfs.setup_threads;
SELECT * FROM pfs.setup_threads WHERE name LIKE '%/checkpointer';
-- newer: a column that the library does not know reads NULL and takes no value
ALTER EXTENSION pfs DROP FOREIGN TABLE pfs.setup_timers;
ALTER FOREIGN TABLE pfs.setup_timers ADD COLUMN newer text;
SAVEPOINT s;
-- of a table made by hand it is an error
SELECT * FROM pfs.setup_timers;
\echo :SQLSTATE
ROLLBACK TO s;
ALTER EXTENSION pfs ADD FOREIGN TABLE pfs.setup_timers;
SELECT name, newer FROM pfs.setup_timers WHERE name = 'wait';
SAVEPOINT s;
UPDATE pfs.setup_timers SET newer = 'x' WHERE name = 'wait';
\echo :SQLSTATE
ROLLBACK TO s;
-- a table that the library does not know
ALTER EXTENSION pfs DROP FOREIGN TABLE pfs.status;
ALTER FOREIGN TABLE pfs.status OPTIONS (DROP "table");
ALTER FOREIGN TABLE pfs.status RENAME TO newer;
SAVEPOINT s;
SELECT * FROM pfs.newer;
\echo :SQLSTATE
ROLLBACK TO s;
ALTER EXTENSION pfs ADD FOREIGN TABLE pfs.newer;
SAVEPOINT s;
SELECT * FROM pfs.newer;
\echo :SQLSTATE
ROLLBACK TO s;
TRUNCATE pfs.newer;
\echo :SQLSTATE
ROLLBACK;
SELECT count(*) FROM pfs.setup_consumers;

-- Every release can be updated to this one, whose objects and library are of one version.
SELECT version FROM pg_available_extension_versions WHERE name = 'pfs' ORDER BY version;
SELECT version, path FROM pg_available_extensions e JOIN pg_available_extension_versions v USING (name)
	LEFT JOIN pg_extension_update_paths('pfs') ON source = version AND target = default_version
WHERE name = 'pfs' AND version <> default_version ORDER BY version;
SELECT extversion, extnamespace::regnamespace, extrelocatable FROM pg_extension WHERE extname = 'pfs';
