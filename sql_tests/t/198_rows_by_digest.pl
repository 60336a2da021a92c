# Rows by statement: each statement has what the server's own statistics have counted of its
# session, whoever does the work; nothing is lost or twice when digests are evicted or truncated under
# a load, when containers are small, and in two databases.  195_tables.pl has every kind of plan.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $rows = 'pfs.table_io_waits_summary_by_digest';
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_connections = 30
pfs.instruments = 'wait/io/table/handler=ON'
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE t (id int PRIMARY KEY, a int, v text);
CREATE INDEX t_a ON t (a);
INSERT INTO t SELECT g, g % 100, repeat('x', 100) FROM generate_series(1, 20000) g;
CREATE TABLE u (id int PRIMARY KEY, v int);
CREATE TABLE log (what text);
CREATE FUNCTION logs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (TG_OP); RETURN NULL; END $$;
CREATE TRIGGER logs AFTER INSERT OR UPDATE ON u FOR EACH ROW EXECUTE FUNCTION logs();
CREATE FUNCTION inner_one(n int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(v) AS of_inner FROM t WHERE a = n); END $$;
CREATE FUNCTION fails(n int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r record; n_rows int := 0; BEGIN
	FOR r IN SELECT id, v AS of_loop FROM t LOOP n_rows := n_rows + 1; IF n_rows = n THEN PERFORM 1 / 0; END IF; END LOOP;
	RETURN 0; EXCEPTION WHEN division_by_zero THEN RETURN (SELECT count(v) AS of_handler FROM t WHERE id < n); END $$;
VACUUM ANALYZE;
SELECT pg_stat_force_next_flush();
EOT

# ---- each statement beside the server's numbers ----

my $theirs = <<'EOT';
SET stats_fetch_consistency = none;
SELECT relname || ' ' || what, n FROM (
	SELECT relname, c.what, c.n FROM pg_stat_user_tables, LATERAL (VALUES ('seq', seq_tup_read), ('insert', n_tup_ins), ('update', n_tup_upd),
		('delete', n_tup_del)) c (what, n)
	UNION ALL SELECT indexrelname, 'found', idx_tup_read FROM pg_stat_user_indexes) s WHERE n > 0
EOT

sub theirs { return map { split /\|/ } split /\n/, $server->sql($theirs); }

# What the statements whose texts match have, by table or index.
sub ours
{
	my ($text) = @_;

	return map { split /\|/ } split /\n/, $server->sql(<<"EOT");
SELECT coalesce(index_name, object_name) || ' ' || c.what, sum(c.n) FROM $rows r JOIN pfs.events_statements_summary_by_digest d
	USING (database_name, user_name, query_id),
	LATERAL (VALUES (CASE WHEN index_name IS NULL THEN 'seq' ELSE 'found' END, count_fetch), ('insert', CASE WHEN index_name IS NULL THEN count_insert END),
		('update', count_update), ('delete', count_delete)) c (what, n)
WHERE digest_text ~ '$text' AND c.n > 0 AND object_schema = 'public' GROUP BY 1
EOT
}

# Runs it in a session of its own; then all rows are the statements' whose texts match, and %parts, some of them, have theirs.
sub same
{
	my ($name, $sql, $text, %parts) = @_;
	my $session = $server->session;
	my %before = theirs();

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
	$session->send($sql)->result;
	$session->query('SELECT pg_stat_force_next_flush()');
	$session->close;
	my %after = theirs();
	my %counted = map { $_ => $after{$_} - ($before{$_} // 0) } keys %after;
	delete @counted{ grep { $counted{$_} == 0 } keys %counted };
	is_deeply({ ours($text) }, \%counted, $name);
	isnt(scalar(keys %counted), 0, "$name: rows were counted");
	is_deeply({ ours($_) }, $parts{$_}, "$name: of $_") foreach sort keys %parts;
}

my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;'
  . ' SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;';

same('a sequential scan', 'SELECT count(v) AS mine FROM t', 'mine', mine => { 't seq' => 20000 });
same('a range of an index', "$index SELECT count(v) AS mine FROM t WHERE a = 7", 'mine', mine => { 't_a found' => 200 });
same('a bitmap', 'SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(v) AS mine FROM t WHERE a < 3', 'mine');
same('an index alone', "$index SELECT count(a) AS mine FROM t WHERE a < 3", 'mine', mine => { 't_a found' => 600 });
same('a function', "$index SELECT inner_one(3), 1 AS of_outer", 'of_inner', of_inner => { 't_a found' => 200 }, of_outer => {});
same('an error that is caught, in the middle of a loop', "$index SELECT fails(120)", 'of_loop|of_handler',
	of_loop => { 't seq' => 160 });
same('an error that ends it', 'SELECT count(1 / (id - 5000)) AS mine FROM t', 'mine');
same('a trigger', "INSERT INTO u SELECT g, 0 FROM generate_series(1, 5) g; UPDATE u SET v = 1 WHERE id = 2", 'INTO|UPDATE',
	'INTO log' => { 'log insert' => 6 }, 'INTO u' => { 'u insert' => 5 });
same('a parallel scan', "$parallel SELECT count(v) AS mine FROM t", 'mine', mine => { 't seq' => 20000 });
same('a parallel scan of an index', "$parallel $index SELECT count(v) AS mine FROM t WHERE a < 50", 'mine', mine => { 't_a found' => 10000 });
same('a parallel scan inside a function', "$parallel SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;"
	  . ' SELECT inner_one(3), 1 AS of_outer', 'of_inner', of_outer => {});
same('COPY', 'COPY log FROM PROGRAM \'seq 100\'; COPY t TO \'/dev/null\'', 'COPY', 'COPY log' => { 'log insert' => 100 }, 'COPY t' => { 't seq' => 20000 });
same('a statement that is prepared, and executed by EXECUTE', "$index PREPARE p AS SELECT v AS mine FROM t WHERE id = \$1; EXECUTE p (1); EXECUTE p (2)",
	'PREPARE|EXECUTE|mine');
same('what a plan has in its parts', 'WITH d AS (DELETE FROM u WHERE id > 3 RETURNING id) SELECT count(t.v) AS mine FROM d, t', 'mine',
	mine => { 'u seq' => 5, 'u delete' => 2, 't seq' => 20000 });

# Cursors: each FETCH has its own, whatever comes in between; since 18 the cursor's query has an identifier, and so all.
my $own_id = PfsServer::version() >= 18;
my $of_cursors = 'FETCH|MOVE|between' . ($own_id ? '|DECLARE' : '');
my %of_cursors = $own_id ? ('DECLARE c' => { 't_a found' => 16 }, 'DECLARE s' => { 't_pkey found' => 16 }) :
  ('FETCH 5 ' => { 't_a found' => 5 }, 'FETCH 11' => { 't_a found' => 11 }, 'FETCH 7' => { 't_pkey found' => 7 }, 'MOVE 9' => { 't_pkey found' => 9 });
same('cursors', "BEGIN; $index DECLARE c CURSOR FOR SELECT v FROM t WHERE a = 4; DECLARE s CURSOR FOR SELECT v FROM t ORDER BY id;"
	  . ' FETCH 5 FROM c; FETCH 7 FROM s; SELECT count(v) AS between FROM t WHERE a = 5; MOVE 9 FROM s; FETCH 11 FROM c; COMMIT', $of_cursors,
	%of_cursors, between => { 't_a found' => 200 });

# More open scans than there are places: those that are evicted lose nothing, and keep their statement.
my $declares = join '', map { "DECLARE c$_ CURSOR FOR SELECT v FROM t WHERE a = 4;" } 1 .. 80;
my $fetches = join '', map { "FETCH 2 FROM c$_;" } 1 .. 80;
same('eighty cursors', "BEGIN; $index $declares $fetches $fetches COMMIT", $own_id ? 'FETCH|DECLARE' : 'FETCH',
	$own_id ? (DECLARE => { 't_a found' => 320 }) : map { ("FETCH 2 FROM c$_(;|\$)" => { 't_a found' => 4 }) } 1, 40, 80);

# ---- two databases ----

$server->sql('CREATE DATABASE other TEMPLATE postgres');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
my $in_other = $server->session(db => 'other');
$in_other->query('SELECT count(v) AS two FROM t');
$in_other->query('SELECT count(v) AS two FROM t');
$in_other->query('SELECT 1');
$server->sql('SELECT count(v) AS two FROM t');
my $oid = $in_other->query("SELECT 't'::regclass::oid");
is($server->sql("SELECT database_name, object_schema, object_name, count_fetch FROM $rows WHERE count_fetch > 0 AND query_id IN
	(SELECT query_id FROM pfs.events_statements_summary_by_digest WHERE digest_text ~ 'AS two') ORDER BY 1"),
	"other||$oid|40000\npostgres|public|t|20000", 'tables of two databases with one OID are two');
is($in_other->query("SELECT object_name, count_fetch FROM $rows WHERE database_name = 'other' AND count_fetch > 0 AND object_schema = 'public'"),
	't|40000', 'each has names in its own');
$in_other->close;
ok($server->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'other'", 't'), 'nobody is there');
$server->sql('DROP DATABASE other');
is($server->sql("SELECT count(*) FROM $rows WHERE object_name = '$oid'"), 0, 'one that is dropped loses its rows');

# ---- evictions ----

$server->conf('pfs.digests_size = 50');
$server->restart;

# Many shapes of both tables.
my $shapes = "\\set a random(0, 99)\n\\set n random(1, 20)\n\\set m random(1, 60)\n"
  . join('', map { "\\if :n = $_\nSELECT count(v), " . join(', ', ('1') x $_) . " FROM t WHERE a = :a;\n\\endif\n" } 1 .. 20)
  . join('', map { "\\if :m = $_\nINSERT INTO log (what) SELECT v || '' " . ("|| ''" x $_) . " FROM t WHERE id = :a + 1;\n\\endif\n" } 1 .. 60);
my $by_index = <<'EOT';
SELECT object_name, index_name, sum(count_star), sum(count_fetch), sum(count_insert), sum(count_update), sum(count_delete)
FROM %s WHERE object_schema = 'public' AND count_star > 0 GROUP BY 1, 2
EOT

sub by { my ($table) = @_; return sprintf($by_index, "pfs.table_io_waits_summary_by_$table"); }

# Sessions that have ended have counted everything.
sub idle { ok($server->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'", 't'), 'sessions have ended'); return; }

sub nothing_differs
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($server->sql('(' . by('digest') . ' EXCEPT ALL ' . by('index_usage') . ') UNION ALL (' . by('index_usage') . ' EXCEPT ALL ' . by('digest') . ')'),
		'', $name);
}

# TRUNCATE zeroes all of them, but of a run that is open its end is counted.
my $reader = $server->session;
$reader->query('TRUNCATE pfs.table_io_waits_summary_by_digest; TRUNCATE pfs.events_statements_summary_by_digest');
my $load = $server->pgbench_start($shapes, '-c', 6, '-j', 2, '-t', 400);
my $reads = 0;
while ($server->pgbench_running($load))
{
	# One that is counted by table is counted by digest at the end of its statement.
	my $sum = $reader->query("SELECT coalesce(sum(count_star), 0) FROM $rows WHERE object_schema = 'public'");
	my $after = $reader->query("SELECT coalesce(sum(count_star), 0) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_schema = 'public'");

	fail("$sum by statement, $after by index") if $sum > $after;
	$reads++;
}
$server->pgbench_end($load);
idle();
cmp_ok($reads, '>', 0, "read $reads times under a load");
nothing_differs('after evictions, digests have all rows');
is($server->sql("SELECT count(*) > 0, sum(count_star) > 0, bool_and(database_name IS NULL AND user_name IS NULL) FROM $rows WHERE query_id IS NULL"),
	't|t|t', 'those of evicted ones are of all others');
is($server->sql("SELECT records_lost > 10 FROM pfs.containers WHERE name = 'digests'"), 't', 'digests were evicted');

# ---- truncations under a load: what they have taken, and what is left, is what a table has got ----

my $before = $server->sql("SET stats_fetch_consistency = none; SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'log'");
my $inserts = "\\set m random(1, 60)\n" . join('', map { "\\if :m = $_\nINSERT INTO log SELECT 'x'" . ("|| ''" x $_) . ";\n\\endif\n" } 1 .. 60);
$reader->query("SELECT pfs.reset('table_io_waits_summary_by_digest')");
$load = $server->pgbench_start($inserts, '-c', 6, '-j', 2, '-t', 400);
my ($returned, $resets) = (0, 0);
while ($server->pgbench_running($load))
{
	$returned += $reader->query("SELECT pfs.reset('table_io_waits_summary_by_digest')");
	$resets++;
}
$server->pgbench_end($load);
idle();
$returned += $reader->query("SELECT coalesce(sum(count_star), 0) FROM $rows WHERE object_schema = 'public'");
my $inserted = $server->sql("SET stats_fetch_consistency = none; SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'log'") - $before;
cmp_ok($resets, '>', 0, "reset $resets times under a load");
is($returned, $inserted, "resets have returned, or left, each row once");

# ---- a small container, and tables that go ----

# 50 digests have 200 places: 300 tables by one statement each, and by one statement for all of them.
$server->sql("DO \$\$ BEGIN FOR i IN 1 .. 300 LOOP EXECUTE format('CREATE TABLE many%s (a int)', i); END LOOP; END \$\$");
$server->restart;
$server->sql(join ';', map { "INSERT INTO many$_ VALUES (1)" } 1 .. 300);
is($server->sql("SELECT sum(count_insert) FROM pfs.table_io_waits_summary_by_table WHERE object_name LIKE 'many%'"), 300, 'tables have all rows');
is($server->sql("SELECT records_used <= 200, records_max, records_lost > 0 FROM pfs.containers WHERE name = 'digest_rows'"), 't|200|t',
	'the container is full, and counts what it has lost');
is($server->sql("SELECT variable_value::int > 0 FROM pfs.status WHERE variable_name = 'pfs_digest_rows_lost'"), 't', 'so does status');
cmp_ok($server->sql("SELECT sum(count_insert) FROM $rows WHERE object_name LIKE 'many%'"), '<=', 300, 'statements have no more');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
ok($server->poll("SELECT records_used < 50 FROM pfs.containers WHERE name = 'digest_rows'", 't'), 'a truncation of the digests makes room');

# One statement that works on a new table each time takes the place of the one before.
$server->conf('pfs.digests_size = -1');
$server->restart;
$server->sql("CREATE PROCEDURE temporary_tables() LANGUAGE plpgsql AS \$\$ BEGIN
	FOR i IN 1 .. 400 LOOP CREATE TEMP TABLE gone (a int); EXECUTE 'COPY gone FROM PROGRAM ''seq 3'''; DROP TABLE gone; COMMIT; END LOOP; END \$\$");
my $used = "SELECT records_used FROM pfs.containers WHERE name = 'digest_rows'";
my $used_before = $server->sql($used);
$server->sql('CALL temporary_tables()');
cmp_ok($server->sql($used) - $used_before, '<', 50, 'places of tables that have gone are used again');
is($server->sql("SELECT count(*) FROM $rows WHERE object_schema LIKE 'pg\\_temp%'"), 0, 'and none is shown');

# ---- none ----

$server->conf('pfs.max_table_instances = 0');
$server->restart;
$server->sql('SELECT count(v) FROM t');
is($server->sql("SELECT count(*) FROM $rows"), 0, 'no tables: no rows');
$server->conf("pfs.max_table_instances = -1\npfs.digests_size = 0");
$server->restart;
$server->sql('SELECT count(v) FROM t');
is($server->sql("SELECT count(*) FROM $rows"), 0, 'no digests: no rows');
is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 't'"), 20000, 'and the table has its own');
is($server->sql("SELECT pfs.reset('table_io_waits_summary_by_digest')"), 0, 'a reset finds none');

done_testing();
