/* sql/pfs--1.1--1.2.sql */

-- complain if the script is sourced in psql, rather than by CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION pfs UPDATE TO '1.2'" to load this file. \quit

-- Nothing of a user's schema may be used, whatever search path the update begins with.
SET LOCAL search_path TO pg_catalog, pg_temp;

--
-- The tables: what the lists of columns in src/fdw/tables have and older releases do not.
--

-- tools/sql writes from here

-- tools/sql ends here

--
-- The views for people: those of sql/pfs_sys.views that no older release has, or not as they are now.
--

-- tools/sql: views writes from here (of sql/pfs_sys.views)

-- tools/sql: views ends here
