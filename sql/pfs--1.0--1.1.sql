/* sql/pfs--1.0--1.1.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.1'" to load this file. \quit

-- An extension that was created by 1.0 belongs to the schema that was current then, and
-- its update script runs with that schema in front.  Nothing of it may be used.
SET LOCAL search_path TO pg_catalog, pg_temp;

COMMENT ON COLUMN pfs.probes.mechanism IS
'got, method_table, hook or detour: how pfs gets called; NULL: something else that pfs relies on.';
COMMENT ON COLUMN pfs.probes.status IS
'active, unavailable (something is missing) or off; of a hook: active when a call was seen.';
COMMENT ON COLUMN pfs.probes.detail IS
'Why it is not active, or what is special about it, as the library in front of a hook; else NULL.';
