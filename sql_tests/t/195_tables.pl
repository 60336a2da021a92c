# Rows of tables and indexes, by every kind of plan and command, compared with the server's own
# statistics: each table and index has the same numbers.  Where it has not, the case says so, by
# name and number.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_connections = 40
max_prepared_transactions = 4
pfs.instruments = 'wait/io/table/handler=ON'
EOT
my %seen;

$server->start;
$server->sql('CREATE EXTENSION pfs');

# ---- comparing ----

# Rows of evicted digests are in no database, but only tables of this one have a schema here.
# One line for each number: who counts, table or index, what, how many.  "seq" is what no index led to.
my $numbers = <<'EOT';
SET stats_fetch_consistency = none;
SELECT 'theirs', s.relid::regclass, c.what, c.n FROM pg_stat_all_tables s,
	LATERAL (VALUES ('seq', seq_tup_read), ('fetch', seq_tup_read + coalesce(idx_tup_fetch, 0)), ('insert', n_tup_ins), ('update', n_tup_upd),
		('delete', n_tup_del)) c (what, n)
	WHERE s.relid >= 16384 AND s.schemaname <> 'information_schema'
UNION ALL SELECT 'theirs', indexrelid::regclass, 'found', idx_tup_read FROM pg_stat_all_indexes WHERE indexrelid >= 16384
UNION ALL SELECT 'ours', format('%I.%I', object_schema, object_name)::regclass, c.what, c.n FROM pfs.table_io_waits_summary_by_table,
	LATERAL (VALUES ('fetch', count_fetch), ('insert', count_insert), ('update', count_update), ('delete', count_delete)) c (what, n)
	WHERE database_name = current_database() AND object_schema <> 'pg_catalog'
UNION ALL SELECT 'ours', format('%I.%I', object_schema, coalesce(index_name, object_name))::regclass,
	CASE WHEN index_name IS NULL THEN 'seq' ELSE 'found' END, count_fetch FROM pfs.table_io_waits_summary_by_index_usage
	WHERE database_name = current_database() AND object_schema <> 'pg_catalog'
UNION ALL SELECT 'digests', format('%I.%I', object_schema, coalesce(index_name, object_name))::regclass, c.what, sum(c.n)
	FROM pfs.table_io_waits_summary_by_digest,
	LATERAL (VALUES (CASE WHEN index_name IS NULL THEN 'seq' ELSE 'found' END, count_fetch), ('insert', CASE WHEN index_name IS NULL THEN count_insert END),
		('update', count_update), ('delete', count_delete)) c (what, n)
	WHERE object_schema <> 'pg_catalog' AND n > 0 GROUP BY 2, 3
EOT

sub numbers
{
	my %n;

	foreach my $line (split /\n/, $server->sql($numbers))
	{
		my ($who, $name, $what, $n) = split /\|/, $line;

		$n{$who}{"$name $what"} += $n;
	}
	return \%n;
}

# What differs since then, as "name what: ours, theirs".
sub differences
{
	my ($before, $after) = @_;
	my @different;

	foreach my $key (sort keys %{ { %{ $after->{ours} // {} }, %{ $after->{theirs} } } })
	{
		my ($ours, $theirs) = map { ($after->{$_}{$key} // 0) - ($before->{$_}{$key} // 0) } qw(ours theirs);

		$seen{ (split / /, $key)[1] } += $ours;
		push @different, "$key: $ours, $theirs" if $ours != $theirs;
	}
	# The OIDs of TOAST tables are not known.
	return join "\n", map { s/pg_toast_\d+/of/gr } @different;
}

# What statements have of it, together: all but what "fetch" counts beyond "seq" and "found".
sub of_statements
{
	my ($before, $after) = @_;
	my %n;

	foreach my $key (keys %{ { %{ $after->{ours} // {} }, %{ $after->{digests} // {} } } })
	{
		next if $key =~ / fetch$/;
		$n{$_}{$key} = ($after->{$_}{$key} // 0) - ($before->{$_}{$key} // 0) foreach qw(ours digests);
		delete $n{$_}{$key} foreach grep { !$n{$_}{$key} } qw(ours digests);
	}
	return ($n{digests} // {}, $n{ours} // {});
}

# The statements run in a session of their own.  Options: differ (what differs by design, or a regular
# expression), error (which there is), output, also (done afterwards), nothing (nothing is counted).
sub same
{
	my ($name, $sql, %options) = @_;
	my $session = $server->session;
	my $before = numbers();
	my $output = $session->send($sql)->result;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	defined $options{error} ? like($session->last_error, $options{error}, "$name: the error")
	  : is($session->last_error =~ s/^.*NOTICE.*\n?//mgr, '', "$name: no error");
	like($output, $options{output}, "$name: the result") if defined $options{output};
	$options{also}->() if defined $options{also};
	$session->query('SELECT pg_stat_force_next_flush()');
	my $after = numbers();
	my $different = differences($before, $after);

	ref $options{differ} ? like($different, $options{differ}, "$name: differs as it should")
	  : is($different, $options{differ} // '', $name);
	is_deeply(of_statements($before, $after), "$name: by statement");
	ok(scalar(grep { ($after->{ours}{$_} // 0) != ($before->{ours}{$_} // 0) } keys %{ $after->{ours} }), "$name: rows were counted")
	  unless $options{nothing};
	$session->close;
}

# The same by several sessions, which flush what they have counted by themselves.
sub same_of_sessions
{
	my ($name, $work) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	same($name, 'SELECT 1', also => $work);
}

sub flush
{
	my ($session) = @_;

	$session->query('SELECT pg_stat_force_next_flush()');
}

my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off';
my $bitmap = 'SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off';
my $loops = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off; SET enable_material = off';
my $merges = 'SET enable_hashjoin = off; SET enable_nestloop = off';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;'
  . ' SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0';

# ---- tables ----

$server->sql(<<'EOT');
CREATE TABLE t (id int PRIMARY KEY, a int, b text, p point);
CREATE TABLE u (id int PRIMARY KEY, tid int REFERENCES t, v text);
CREATE INDEX ON u (tid);
CREATE TABLE part (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (100);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (100) TO (1000);
CREATE TABLE many (k int PRIMARY KEY, v int) PARTITION BY HASH (k);
DO $$ BEGIN FOR i IN 0 .. 149 LOOP
	EXECUTE format('CREATE TABLE many%s PARTITION OF many FOR VALUES WITH (MODULUS 150, REMAINDER %s)', i, i); END LOOP; END $$;
CREATE TABLE excluded (r int4range, EXCLUDE USING gist (r WITH &&));
CREATE TABLE deferred (k int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v int);
CREATE TABLE parent (k int PRIMARY KEY);
CREATE TABLE child (k int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED, v int);
CREATE INDEX ON child (k);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY, v text);
CREATE TABLE log (id int, what text);
CREATE FUNCTION logs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO log VALUES (coalesce(NEW.id, OLD.id), TG_OP); RETURN coalesce(NEW, OLD); END $$;
CREATE TABLE watched (id int PRIMARY KEY, v text);
CREATE TRIGGER before_row BEFORE INSERT OR UPDATE OR DELETE ON watched FOR EACH ROW EXECUTE FUNCTION logs();
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON watched FOR EACH ROW EXECUTE FUNCTION logs();
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON watched DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION logs();
EOT

same('INSERT', q{INSERT INTO t SELECT g, g % 100, 'x' || g, point(g, g) FROM generate_series(1, 10000) g});
same('INSERT one by one', q{DO $$ BEGIN FOR i IN 1 .. 500 LOOP INSERT INTO unlogged VALUES (i, 'v'); END LOOP; END $$});
same('ANALYZE', 'ANALYZE t', nothing => 1);
foreach my $case ([ th => 'hash (b)' ], [ tg => 'gist (p)' ], [ ts => 'spgist (p)' ], [ ti => 'gin ((ARRAY[a]))' ],
	[ tb => 'brin (id) WITH (pages_per_range = 4)' ], [ ta => 'btree (a)' ])
{
	same("CREATE INDEX USING $case->[1]", "CREATE INDEX $case->[0] ON t USING $case->[1]");
}
same('CREATE INDEX CONCURRENTLY', 'CREATE INDEX CONCURRENTLY tc ON t (b)');
# The leader is slow, so that its worker has rows to read.
$server->sql(<<'EOT');
CREATE TABLE slow (i int, filler text);
ALTER TABLE slow ALTER filler SET STORAGE plain;
INSERT INTO slow SELECT g, repeat('x', 5000) FROM generate_series(1, 200) g;
CREATE FUNCTION slow_in_leader(i int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep(0.02) FROM pg_stat_get_activity(pg_backend_pid()) WHERE backend_type = 'client backend'; RETURN i; END $$;
SELECT pg_stat_force_next_flush();
EOT
same('CREATE INDEX, in parallel', 'SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; CREATE INDEX tp ON t (b, a);'
	  . ' CREATE INDEX ON slow (slow_in_leader(i))');
same('CREATE INDEX WHERE', 'CREATE INDEX tw ON t (a) WHERE a > 50');

# ---- scans ----

same('sequential scan', 'SELECT count(*) FROM t');
same('sequential scan, LIMIT', 'SELECT * FROM t LIMIT 7', output => qr/x7/);
same('scan backward', 'BEGIN; DECLARE c SCROLL CURSOR FOR SELECT * FROM t; MOVE 500 IN c; MOVE BACKWARD 300 IN c; FETCH 1 IN c; COMMIT');
same('TABLESAMPLE BERNOULLI', 'SELECT count(*) FROM t TABLESAMPLE bernoulli (50) REPEATABLE (1)');
same('TABLESAMPLE SYSTEM', 'SELECT count(*) FROM t TABLESAMPLE system (50) REPEATABLE (1)');
same('TID scan', q{SELECT count(*) FROM t WHERE ctid = ANY (ARRAY['(0,1)', '(0,2)']::tid[])}, nothing => 1);
same('TID range scan', q{SELECT count(*) FROM t WHERE ctid >= '(2,1)' AND ctid < '(5,1)'}, output => qr/^[1-9]/);
same('index scan', "$index; SELECT count(b) FROM t WHERE id BETWEEN 100 AND 300");
same('index scan backward', "$index; SELECT sum(a) FROM (SELECT a FROM t WHERE id < 5000 ORDER BY id DESC LIMIT 333) s");
same('index-only scan of pages not known as visible', "$index; SELECT count(*) FROM t WHERE id BETWEEN 100 AND 300");
same('VACUUM', 'VACUUM t', nothing => 1);
same('index-only scan', "$index; SELECT count(*) FROM t WHERE id BETWEEN 100 AND 300");
same('index scan, ANY', "$index; SELECT count(b) FROM t WHERE id = ANY (ARRAY[5, 3, 7000, -1])");
same('mark and restore', "$index; $merges; SET enable_sort = off; SELECT count(x.b || y.b) FROM t x JOIN t y ON x.a = y.a WHERE x.id < 1000 AND y.id < 500");
same('hash index', "$index; SELECT count(a) FROM t WHERE b = 'x77'; SELECT count(a) FROM t WHERE b = 'none'");
same('GiST', "$index; SELECT count(a) FROM t WHERE p <\@ box '((10,10),(50,50))'");
same('GiST, nearest', 'SET enable_seqscan = off; SELECT id FROM t ORDER BY p <-> point(5, 5) LIMIT 10');
same('SP-GiST', "$index; SELECT count(a) FROM t WHERE p << point(100, 100)");
same('GIN', 'SET enable_seqscan = off; SELECT count(b) FROM t WHERE ARRAY[a] @> ARRAY[5]');
same('BRIN', "$bitmap; SELECT count(b) FROM t WHERE id BETWEEN 100 AND 300 AND b <> 'q'");
same('bitmap', "$bitmap; SELECT count(b) FROM t WHERE a IN (3, 4)");
same('bitmap, no column', "$bitmap; SELECT count(*) FROM t WHERE id BETWEEN 100 AND 300");
same('bitmap AND', "$bitmap; SELECT count(b) FROM t WHERE a = 3 AND id < 5000");
same('bitmap OR', "$bitmap; SELECT count(b) FROM t WHERE a = 3 OR id < 500");
same('bitmap, lossy', "SET work_mem = '64kB'; $bitmap; SELECT count(b) FROM t WHERE a < 90 AND id BETWEEN 1 AND 9000");
same('bitmap, rescanned', "$bitmap; $loops; SELECT sum(n) FROM generate_series(1, 50) g, LATERAL (SELECT count(b) AS n FROM t WHERE a = g OFFSET 0) s");
same('nested loop', "$loops; $index; SELECT count(t.b) FROM t JOIN generate_series(1, 500) g ON g = t.id");
same('nested loop, scanned sequentially', "$loops; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;"
	  . ' SELECT count(t.b) FROM generate_series(1, 3) g LEFT JOIN t ON t.id = g');
same('LATERAL, LIMIT', 'SELECT count(*) FROM generate_series(2001, 2300) g, LATERAL (SELECT * FROM t WHERE t.id >= g ORDER BY id LIMIT 3) s');
same('hash join', 'SET enable_mergejoin = off; SET enable_nestloop = off; SELECT count(*) FROM t x JOIN t y ON x.id = y.a');
same('merge join of three', "$merges; SELECT count(*) FROM t a JOIN t b USING (id) JOIN t c USING (id)");
same('semi and anti join', 'SELECT count(*) FROM t WHERE EXISTS (SELECT FROM unlogged u WHERE u.id = t.id);'
	  . ' SELECT count(*) FROM t WHERE id NOT IN (SELECT id FROM unlogged)');
same('min and max', 'SELECT min(id), max(id) FROM t', output => qr/^1\|10000$/);
same('WITH RECURSIVE', "$index; WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT t.id + 1 FROM r JOIN t USING (id) WHERE r.id < 300)"
	  . ' SELECT count(*) FROM r');
same('EXPLAIN ANALYZE', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM t WHERE a = 5');
same('parallel scan', "$parallel; SELECT count(b) FROM t WHERE a <> 5");
same('parallel index scan', "$parallel; $index; SELECT count(b) FROM t WHERE id BETWEEN 1 AND 9000");
same('parallel index-only scan', "$parallel; $index; SELECT count(*) FROM t WHERE id BETWEEN 1 AND 9000");
same('parallel bitmap', "$parallel; $bitmap; SELECT count(b) FROM t WHERE id BETWEEN 1 AND 9000 AND a > 2");

# One process makes the bitmap; the others fetch rows by it, and do not know the index.
same('parallel bitmaps, by all processes', "$parallel; $bitmap; SET max_parallel_workers_per_gather = 4;"
	  . ' SELECT count(b || pg_sleep(0.0001)::text) FROM t WHERE id BETWEEN 1 AND 3000 AND a > 2' . '; SELECT count(b) FROM t WHERE id < 9000' x 5);
same('parallel hash join', "$parallel; SELECT count(x.b || y.b) FROM t x JOIN t y ON x.id = y.id");
same('parallel nested loop', "$parallel; $loops; SELECT count(x.b || y.b) FROM t x JOIN t y ON x.id = y.id");

# ---- changes ----

same('foreign key', q{INSERT INTO u SELECT g, g, 'y' FROM generate_series(1, 1000) g});
same('COPY FROM', q{COPY u FROM PROGRAM 'seq -f "%g,100,z" 2001 2500' (FORMAT csv)});
same('COPY FROM, in binary', qq{COPY unlogged TO '$server->{dir}/copy' (FORMAT binary); TRUNCATE unlogged; COPY unlogged FROM '$server->{dir}/copy' (FORMAT binary)});
same('COPY TO', q{COPY u TO '/dev/null'; COPY (SELECT * FROM t WHERE a < 5) TO '/dev/null'});
same('UPDATE', q{UPDATE u SET v = 'zz' WHERE id <= 100});
same('UPDATE, HOT', 'UPDATE t SET b = b WHERE id <= 100');
same('UPDATE of a key', 'UPDATE u SET id = id + 10000 WHERE id <= 50');
same('UPDATE FROM', 'UPDATE u SET v = t.b FROM t WHERE t.id = u.tid AND t.id < 300');
same('UPDATE WHERE CURRENT OF', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM u WHERE id < 300 FOR UPDATE; FETCH 5 IN c;'
	  . ' UPDATE u SET v = 1 WHERE CURRENT OF c; COMMIT');
same('DELETE', 'DELETE FROM u WHERE id BETWEEN 200 AND 250');
same('DELETE USING, RETURNING', 'DELETE FROM u USING t WHERE t.id = u.tid AND u.id BETWEEN 260 AND 265 RETURNING *');
same('DELETE, foreign key', 'DELETE FROM t WHERE id = 9999');
same('rolled back', 'BEGIN; INSERT INTO unlogged SELECT g FROM generate_series(5001, 5100) g; UPDATE unlogged SET v = 2 WHERE id > 5050;'
	  . ' DELETE FROM unlogged WHERE id > 5090; ROLLBACK');
same('ON CONFLICT DO NOTHING', q{INSERT INTO t VALUES (1, 1, 'c', point(1, 1)), (20001, 1, 'c', point(1, 1)) ON CONFLICT DO NOTHING});
same('ON CONFLICT DO UPDATE', q{INSERT INTO t VALUES (1, 1, 'c', point(1, 1)), (20002, 1, 'c', point(1, 1))
	ON CONFLICT (id) DO UPDATE SET b = excluded.b});
same('MERGE', q{MERGE INTO unlogged USING (VALUES (1), (2), (30001)) s (id) ON unlogged.id = s.id WHEN MATCHED AND s.id = 2 THEN DELETE
	WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'm')});
same('WITH changes', q{WITH d AS (DELETE FROM u WHERE id BETWEEN 300 AND 310 RETURNING *), i AS (INSERT INTO log SELECT id, v FROM d RETURNING *)
	UPDATE u SET v = 'w' FROM i WHERE u.id = i.id + 50});
same('FOR UPDATE', 'BEGIN; SELECT count(*) FROM (SELECT * FROM t WHERE id <= 10 FOR UPDATE) s; COMMIT');
same('FOR KEY SHARE', 'SELECT count(*) FROM (SELECT * FROM t WHERE id <= 10 FOR KEY SHARE) s');
same('SKIP LOCKED', 'SELECT count(*) FROM (SELECT * FROM t WHERE id <= 10 FOR UPDATE SKIP LOCKED) s');
same('partitions: INSERT', 'INSERT INTO part SELECT g FROM generate_series(1, 300) g');
same('partitions: COPY', q{COPY part FROM PROGRAM 'seq -f "%g,z" 1 900' (FORMAT csv)});
same('partitions: UPDATE moves rows', 'UPDATE part SET k = k + 100 WHERE k <= 50');
same('partitions: SELECT', 'SELECT count(*) FROM part; SELECT count(*) FROM part WHERE k = 5');
same('150 partitions: INSERT', 'INSERT INTO many SELECT g FROM generate_series(1, 6000) g');
same('150 partitions: SELECT', 'SELECT count(*) FROM many');
same('150 open scans', "$index; SELECT count(k), count(v) FROM (SELECT * FROM many ORDER BY k) s");
same('150 open scans, few rows', "$index; SELECT * FROM many ORDER BY k LIMIT 1; SELECT * FROM many WHERE k > 77 ORDER BY k LIMIT 200");
same('300 open scans', "$index; $merges; SELECT count(x.v), count(y.v) FROM many x JOIN many y ON x.k = y.k");
same('nested loops of 150 scans', "$index; $loops; SELECT count(many.v) FROM generate_series(1, 1000) g JOIN many ON many.k = g");
same('nested loops of 150 sequential scans', "$loops; SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(many.v) FROM generate_series(1, 3) g LEFT JOIN many ON many.k = g");
same('parallel append', "$parallel; SELECT count(*) FROM many");
same('150 partitions: UPDATE, DELETE', 'UPDATE many SET v = 1; DELETE FROM many WHERE k > 5900');
same('EXCLUDE', 'INSERT INTO excluded SELECT int4range(g * 10, g * 10 + 5) FROM generate_series(1, 200) g');
same('EXCLUDE, ON CONFLICT', 'INSERT INTO excluded SELECT int4range(g * 10, g * 10 + 5) FROM generate_series(150, 250) g ON CONFLICT DO NOTHING');
same('deferred key', 'INSERT INTO deferred SELECT g, g FROM generate_series(1, 500) g');
my $entries = q{SELECT count_insert FROM pfs.table_io_waits_summary_by_index_usage WHERE index_name = 'deferred_pkey'};
my $entries_before = $server->sql($entries);
same('deferred key, UPDATE', 'UPDATE deferred SET k = k + 1');
is($server->sql($entries) - $entries_before, 500, 'what is checked at the commit is no entry');
same('deferred key, violated', 'BEGIN; UPDATE deferred SET k = 7 WHERE k = 8; COMMIT', error => qr/23505/);
same('deferred foreign key', 'BEGIN; INSERT INTO child SELECT g % 10, g FROM generate_series(1, 200) g; INSERT INTO parent SELECT generate_series(0, 9); COMMIT');
same('deferred foreign key, violated', 'BEGIN; INSERT INTO child VALUES (7777, 1); COMMIT', error => qr/23503/);
same('ON DELETE CASCADE', 'DELETE FROM parent WHERE k < 3');
same('ON UPDATE CASCADE', 'UPDATE parent SET k = k + 100 WHERE k = 5');
same('triggers', q{INSERT INTO watched SELECT g, 'v' FROM generate_series(1, 100) g; UPDATE watched SET v = 'w' WHERE id < 50; DELETE FROM watched WHERE id < 20});
same('deferred triggers', 'BEGIN; INSERT INTO watched VALUES (1000); SELECT count(*) FROM watched; SET CONSTRAINTS ALL IMMEDIATE; COMMIT');
same('prepared transaction', q{BEGIN; INSERT INTO log SELECT g FROM generate_series(6001, 6100) g; DELETE FROM log WHERE id > 6050;
	PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'});
same('prepared transaction, rolled back', q{BEGIN; INSERT INTO log SELECT g FROM generate_series(7001, 7100) g; UPDATE log SET what = 'p' WHERE id > 6050;
	PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'});

# ---- whole tables ----

same('CREATE TABLE AS', 'CREATE TABLE w AS SELECT * FROM t');
same('SELECT INTO', 'SELECT * INTO w2 FROM t WHERE id < 50');

# The rows go into a transient relation, since 17 also when it is made; the server counts them for the view by hand.
my $rows = $server->sql('SELECT count(*) FROM t');

$server->sql('SELECT pg_stat_force_next_flush()');

same('CREATE MATERIALIZED VIEW', 'CREATE MATERIALIZED VIEW mv AS SELECT id, a FROM t; CREATE UNIQUE INDEX ON mv (id)',
	differ => PfsServer::version() >= 17 ? "mv insert: 0, $rows" : '');
same('REFRESH MATERIALIZED VIEW', 'REFRESH MATERIALIZED VIEW mv', differ => "mv insert: 0, $rows");
same('REFRESH MATERIALIZED VIEW CONCURRENTLY', 'UPDATE t SET a = 5 WHERE id = 6; REFRESH MATERIALIZED VIEW CONCURRENTLY mv');
same('temporary table', "CREATE TEMP TABLE tt AS SELECT * FROM t; SELECT count(*) FROM tt; CREATE INDEX ON tt (id); $index; SELECT count(a) FROM tt WHERE id < 100");
# Its table goes when its session has ended, and not while the next case looks.
ok($server->poll(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'tt'}, 0), 'a temporary table goes');
same('ALTER TABLE, rewritten', 'ALTER TABLE w ALTER a TYPE bigint');
same('ALTER TABLE, checked', 'ALTER TABLE w ADD CHECK (a < 1000000); ALTER TABLE w ALTER id SET NOT NULL');
same('ADD PRIMARY KEY', 'ALTER TABLE w ADD PRIMARY KEY (id)');
same('ADD FOREIGN KEY', 'ALTER TABLE u ADD FOREIGN KEY (tid) REFERENCES t (id)');
same('CLUSTER', 'CLUSTER w USING w_pkey');
same('VACUUM FULL', 'VACUUM FULL t');
same('REINDEX', 'REINDEX TABLE t');

same('index scan of another table', "$index; SELECT count(b) FROM w WHERE id BETWEEN 100 AND 200", output => qr/^\d+$/);
same('REINDEX CONCURRENTLY', 'REINDEX TABLE CONCURRENTLY w');
same('dead rows', 'DELETE FROM t WHERE id BETWEEN 3000 AND 4000; SELECT count(*) FROM t; CREATE INDEX td ON t (b, id)');
same('BRIN, summarized', q{VACUUM t; SELECT brin_summarize_new_values('tb')}, nothing => 1);
same('TRUNCATE', 'TRUNCATE u; INSERT INTO u VALUES (1, 1); TRUNCATE u');

# The server forgets what a transaction inserted into a table before it empties it.
same('TRUNCATE in the same transaction', 'BEGIN; INSERT INTO log VALUES (1), (2); TRUNCATE log; INSERT INTO log VALUES (3); COMMIT',
	differ => 'log insert: 3, 1');
same('a table of one transaction', 'BEGIN; CREATE TABLE brief (i int); INSERT INTO brief VALUES (1); SELECT * FROM brief; ROLLBACK', nothing => 1);

# ---- TOAST: reads where a rule says so, writes never ----

my $toast = q{INSERT INTO u SELECT 3000 + g, 1, repeat(md5(g::text), 2000) || g FROM generate_series(1, 20) g};

$server->sql('ALTER TABLE u ALTER v SET STORAGE external');
same('TOAST, no rule', "$toast; SELECT sum(length(v || '')) FROM u WHERE id > 3000", differ => qr/\A(pg_toast\.of\S* \w+: 0, [1-9]\d*\n?){3}\z/);
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'pg_toast', '%', 'YES')});
same('TOAST, read', q{SELECT sum(length(v || '')) FROM u WHERE id > 3000});
same('TOAST, written', q{UPDATE u SET v = v || 'x' WHERE id > 3000; DELETE FROM u WHERE id = 3001},
	differ => qr/\Apg_toast\.of delete: 0, [1-9]\d*\npg_toast\.of insert: 0, [1-9]\d*\z/);
$server->sql(q{SELECT pfs.set_object('TABLE', '%', 'pg_toast', '%', 'NO')});

# ---- cursors and loops ----

same('cursor in parts', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 100 IN c; SELECT count(*) FROM part; FETCH 250 IN c;'
	  . ' UPDATE part SET v = 1 WHERE k < 70; MOVE 100 IN c; COMMIT');
same('cursors of an index, interleaved', "$index; BEGIN; DECLARE c SCROLL CURSOR FOR SELECT * FROM t WHERE id > 0 ORDER BY id;"
	  . ' DECLARE d CURSOR FOR SELECT * FROM t WHERE id > 500 ORDER BY id; FETCH 10 IN c; FETCH 20 IN d; FETCH 300 IN c; MOVE BACKWARD 5 IN c;'
	  . ' FETCH 200 IN d; CLOSE c; FETCH 2 IN d; COMMIT');
same('100 cursors', 'BEGIN; ' . join('', map { "DECLARE c$_ CURSOR FOR SELECT * FROM t; FETCH 3 IN c$_; " } 1 .. 100)
	  . join('', map { "FETCH 200 IN c$_; " } 1 .. 100) . 'COMMIT');
same('cursor and an error', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 100 IN c; SAVEPOINT a; FETCH 50 IN c; SELECT 1 / 0; ROLLBACK TO a;'
	  . ' FETCH 100 IN c; COMMIT', error => qr/22012/);
same('cursor of a subtransaction', 'BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 100 IN c; RELEASE a; FETCH 50 IN c; COMMIT');
same('cursor of a subtransaction that is rolled back', 'BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 100 IN c; ROLLBACK TO a;'
	  . ' SELECT count(*) FROM part; COMMIT');
same('holdable cursor', 'BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT * FROM t; FETCH 100 IN c; COMMIT; FETCH 100 IN c; CLOSE c');
same('loop with subtransactions', q{DO $$ DECLARE r record; n int := 0; BEGIN FOR r IN SELECT * FROM t LOOP n := n + 1;
	BEGIN IF n % 100 = 0 THEN PERFORM 1 / 0; END IF; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$});
same('loop with COMMIT', q{DO $$ DECLARE r record; n int := 0; BEGIN FOR r IN SELECT * FROM t LOOP n := n + 1;
	IF n % 1000 = 0 THEN COMMIT; END IF; END LOOP; END $$});
same('fetched in parts', "\\set FETCH_COUNT 77\nSELECT id FROM t");

# ---- errors ----

foreach my $case ([ 'division by zero', 'SELECT 1 / (5000 - id) FROM t', qr/22012/ ],
	[ 'division by zero, index', "$index; SELECT 1 / (5000 - id) FROM t WHERE id > 4000 ORDER BY id", qr/22012/ ],
	[ 'division by zero, bitmap', "$bitmap; SELECT 1 / (5050 - id) FROM t WHERE a = 50", qr/22012/ ],
	[ 'unique violation', 'INSERT INTO t VALUES (50001, 1), (50002, 1), (1, 1)', qr/23505/ ],
	[ 'unique violation, COPY', q{COPY t (id) FROM PROGRAM 'echo 50001; echo 1'}, qr/23505/ ],
	[ 'unique violation, UPDATE', 'UPDATE unlogged SET id = 5 WHERE id = 6', qr/23505/ ],
	[ 'exclusion violation', 'INSERT INTO excluded VALUES (int4range(90001, 90002)), (int4range(11, 12))', qr/23P01/ ],
	[ 'foreign key violation', 'INSERT INTO u VALUES (90000, 90000)', qr/23503/ ],
	[ 'foreign key violation, DELETE', 'DELETE FROM t WHERE id = 1', qr/23503/ ],
	[ 'CHECK', 'ALTER TABLE unlogged ADD CONSTRAINT c CHECK (id < 80000); INSERT INTO unlogged VALUES (7500), (90000)', qr/23514/ ],
	[ 'MERGE of a row twice', 'MERGE INTO unlogged USING (VALUES (10), (10)) s (id) ON unlogged.id = s.id WHEN MATCHED THEN DELETE', qr/21000/ ],
	[ 'cancelled', 'SELECT count(CASE id WHEN 777 THEN pg_cancel_backend(pg_backend_pid()) END) FROM t', qr/57014/ ])
{
	my ($name, $sql, $error) = @$case;

	same("error: $name", $sql, error => $error);
}

my %caught = (
	'1 / 0 in a scan' => [ 'FOR r IN SELECT 1 / (id - 2500) FROM t WHERE id > 2400 LOOP NULL; END LOOP', 'division_by_zero' ],
	'a unique key' => [ 'INSERT INTO t VALUES (60001, 1), (1, 1)', 'unique_violation' ],
	'a unique key, updated' => [ 'UPDATE unlogged SET id = id + 1 WHERE id BETWEEN 10 AND 20', 'unique_violation' ],
	'an excluded range' => [ 'INSERT INTO excluded VALUES (int4range(11, 12))', 'exclusion_violation' ],
	'a foreign key' => [ 'INSERT INTO u VALUES (90000, 90000)', 'foreign_key_violation' ]);

foreach my $name (sort keys %caught)
{
	my ($sql, $condition) = @{ $caught{$name} };
	my $loop = "DO \$\$ DECLARE r record; BEGIN FOR i IN 1 .. 20 LOOP BEGIN $sql; EXCEPTION WHEN $condition THEN NULL; END; END LOOP; END \$\$";

	same("caught: $name", $loop);
	same("caught: $name, by index", "$index; $loop");
}
same('an error in a function in a scan', <<'EOT', error => qr/22012/);
CREATE FUNCTION inner_scan(i int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r record; n bigint := 0; BEGIN
	FOR r IN SELECT 1 / (u.id - i) FROM unlogged u ORDER BY u.id LOOP n := n + 1; END LOOP; RETURN n;
EXCEPTION WHEN division_by_zero THEN RETURN -1; END $$;
SELECT count(inner_scan(id)) FROM t WHERE id < 30;
SELECT 1 / (1 + inner_scan(id)) FROM t WHERE id < 30;
EOT

# ---- index builds that an error leaves in the middle of their scan ----

$server->sql(<<'EOT');
CREATE TABLE built (id int, v text);
INSERT INTO built SELECT g, 'v' FROM generate_series(1, 3000) g;
DELETE FROM built WHERE id BETWEEN 100 AND 150;
CREATE FUNCTION cancels(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	IF i = 2000 THEN PERFORM pg_cancel_backend(pg_backend_pid()); END IF; RETURN i; END $$;
CREATE FUNCTION terminates(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	IF i = 2000 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN i; END $$;
CREATE FUNCTION catches(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	RETURN 1 / (i % 500); EXCEPTION WHEN division_by_zero THEN RETURN 0; END $$;
CREATE FUNCTION waits(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	PERFORM pg_advisory_xact_lock_shared(17); RETURN 1 / (i + 7); END $$;
SELECT pg_stat_force_next_flush();
EOT
my $bad = 'CREATE INDEX ON built ((1 / (id - 2000)))';

same('index build, error', $bad, error => qr/22012/);
same('index build, error, once more', $bad, error => qr/22012/);
same('index build, cancelled', 'CREATE INDEX ON built (cancels(id))', error => qr/57014/);
same('index build, error, parallel', "$parallel; SET max_parallel_maintenance_workers = 2; $bad", error => qr/22012/);
same('index build, concurrently, error', 'CREATE INDEX CONCURRENTLY built_bad ON built ((1 / (id - 2000)))', error => qr/22012/);
same('REINDEX, error', 'REINDEX INDEX built_bad', error => qr/22012/);
same('REINDEX CONCURRENTLY, error', 'REINDEX INDEX CONCURRENTLY built_bad', error => qr/22012/);
$server->sql('DROP INDEX built_bad, built_bad_ccnew');
same('caught: index build', "DO \$\$ BEGIN FOR i IN 1 .. 3 LOOP BEGIN $bad; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END \$\$");
same('index build, rolled back', "BEGIN; SAVEPOINT a; $bad; ROLLBACK TO a; CREATE INDEX ON built (id); ROLLBACK", error => qr/22012/);
same('index build with errors inside', 'CREATE INDEX built_catches ON built (catches(id)); DROP INDEX built_catches');
same('index build, exclusion', 'ALTER TABLE built ADD EXCLUDE ((1 / (id - 2000)) WITH =)', error => qr/22012/);
same_of_sessions('index build, terminated', sub {
	my $victim = $server->session;

	$victim->send('CREATE INDEX ON built (terminates(id))');
	ok($server->poll('SELECT count(*) FROM pg_stat_activity WHERE pid = ' . $victim->pid, 0), 'it ends');
	$victim->kill;
});

# What is inserted while the index is built is found by its validation, where it cannot be computed.
same_of_sessions('validation of an index, error', sub {
	my ($holder, $builder) = ($server->session, $server->session);

	$holder->query('SELECT pg_advisory_lock(17)');
	$builder->send('CREATE INDEX CONCURRENTLY built_waits ON built (waits(id))');
	ok($server->poll(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}, 1), 'the build waits');
	$holder->query('INSERT INTO built VALUES (-7)');
	$holder->query('SELECT pg_advisory_unlock(17)');
	$builder->result;
	like($builder->last_error, qr/22012/, 'the validation fails');
	flush($_), $_->close foreach $holder, $builder;
});

# ---- several sessions ----

my $other = $server->session;

# All insert the same keys on trial: who waits finds one there and deletes what it has inserted.
same_of_sessions('speculative conflicts', sub {
	my @sessions = map { $server->session } 1 .. 3;

	$_->send(q{DO $$ BEGIN FOR i IN 100001 .. 102000 LOOP INSERT INTO t (id) VALUES (i) ON CONFLICT DO NOTHING; COMMIT; END LOOP; END $$}) foreach @sessions;
	foreach my $s (@sessions)
	{
		$s->result;
		is($s->last_error, '', 'a session inserts');
		flush($s);
		$s->close;
	}
});

# A row changes while an UPDATE waits for it.
foreach my $isolation ('READ COMMITTED', 'REPEATABLE READ')
{
	same_of_sessions("an UPDATE that waits, $isolation", sub {
		my $waits = $server->session;

		$other->query('BEGIN; UPDATE t SET a = a + 1 WHERE id = 5');
		$waits->send("BEGIN ISOLATION LEVEL $isolation; UPDATE t SET a = a + 1 WHERE id = 5; COMMIT");
		ok($server->poll('SELECT count(*) FROM pg_locks WHERE NOT granted', 1), 'it waits');
		$other->query('COMMIT');
		flush($other);
		$waits->result;
		$isolation =~ /READ C/ ? is($waits->last_error, '', 'and succeeds') : like($waits->last_error, qr/40001/, 'and fails');
		flush($waits);
		$waits->close;
	});
}
same_of_sessions('lock_timeout', sub {
	my $waits = $server->session;

	$other->query('BEGIN; UPDATE t SET a = a + 1 WHERE id = 5');
	$waits->send(q{SET lock_timeout = '20ms'; SELECT * FROM t WHERE id IN (4, 5, 6) FOR UPDATE; DO $$ BEGIN FOR i IN 1 .. 3 LOOP
		BEGIN PERFORM * FROM t WHERE id IN (4, 5, 6) FOR UPDATE; EXCEPTION WHEN lock_not_available THEN NULL; END; END LOOP; END $$});
	$waits->result;
	like($waits->last_error, qr/55P03/, 'it is cancelled');
	$other->query('COMMIT');
	flush($other);
	flush($waits);
	$waits->close;
});
same_of_sessions('a session that is terminated in the middle', sub {
	my $victim = $server->session;

	$victim->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; INSERT INTO log VALUES (1)');
	$victim->query('MOVE 1234 IN c');
	is($server->sql('SELECT pg_terminate_backend(' . $victim->pid . ', 60000)'), 't', 'it ends');
	$victim->kill;
});
is($server->sql(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/io/table/handler'}), 0, 'no run is left');
$other->close;

cmp_ok($seen{$_} // 0, '>', 0, "rows were counted: $_") foreach qw(seq fetch found insert update delete);
done_testing();
