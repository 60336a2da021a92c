/* sql/pfs--1.0--1.1.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.1'" to load this file. \quit

-- An extension that was created by 1.0 belongs to the schema that was current then, and
-- its update script runs with that schema in front.  Nothing of it may be used.
SET LOCAL search_path TO pg_catalog, pg_temp;

COMMENT ON FOREIGN TABLE pfs.events_statements_current IS
'Statements that are running now, one row per nesting level, and the queries of open cursors, from DECLARE to CLOSE: at level 1 or deeper, in nothing once DECLARE has ended. A thread shows ten at a time; cursors that nobody reads are left out first. Numbers are filled in at the end. A finished statement is removed. TRUNCATE is accepted and does nothing.';
