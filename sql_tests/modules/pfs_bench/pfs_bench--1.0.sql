\echo Use "CREATE EXTENSION pfs_bench" to load this file. \quit

CREATE SCHEMA pfs_bench;

CREATE FUNCTION pfs_bench.kinds(OUT kind text, OUT what text) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'pfs_bench_kinds' LANGUAGE C STRICT;

CREATE FUNCTION pfs_bench.cycles(kind text, loops integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'pfs_bench_cycles' LANGUAGE C STRICT;

CREATE FUNCTION pfs_bench.touch(instruments integer) RETURNS void
AS 'MODULE_PATHNAME', 'pfs_bench_touch' LANGUAGE C STRICT;

CREATE FUNCTION pfs_bench.alloc(kind text, loops integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'pfs_bench_alloc' LANGUAGE C STRICT;

CREATE FUNCTION pfs_bench.lwlock(number integer, loops integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'pfs_bench_lwlock' LANGUAGE C STRICT;

CREATE FUNCTION pfs_bench.areas(OUT name text, OUT address bigint, OUT size bigint, OUT page_size bigint, OUT record_size bigint) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'pfs_bench_areas' LANGUAGE C STRICT;
