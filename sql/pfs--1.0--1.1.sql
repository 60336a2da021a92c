/* sql/pfs--1.0--1.1.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.1'" to load this file. \quit

-- An extension that was created by 1.0 belongs to the schema that was current then, and
-- its update script runs with that schema in front.  Nothing of it may be used.
SET LOCAL search_path TO pg_catalog, pg_temp;
