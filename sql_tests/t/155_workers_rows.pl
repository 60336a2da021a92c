# What parallel workers read counts for the statement that they work for, and for no other: rows,
# and that no index was used.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
jit = off
max_worker_processes = 20
max_parallel_workers = 20
pfs.instruments = 'wait/io/table/handler=ON'
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE t (i int PRIMARY KEY, v text);
INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series(1, 20000) g;
CREATE TABLE parts (i int, v text) PARTITION BY RANGE (i);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (1) TO (6001);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (6001) TO (20001);
INSERT INTO parts SELECT * FROM t;
CREATE TABLE few AS SELECT g AS i FROM generate_series(1, 2000) g;
VACUUM ANALYZE;

CREATE FUNCTION counts_t() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN PERFORM count(*) FROM t WHERE v LIKE '%y%'; RETURN 1; END $$;
CREATE FUNCTION one_of_t(a int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$
	DECLARE n int; BEGIN SELECT i INTO n FROM t WHERE i = a; RETURN n; END $$;
CREATE FUNCTION fails_at(a int) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN PERFORM count(*) FROM t WHERE 1 / (i - a) >= 0; RETURN 1; EXCEPTION WHEN division_by_zero THEN RETURN -1; END $$;
CREATE FUNCTION sometimes_counts(a int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN IF a % 400 = 0 THEN RETURN counts_t(); END IF; RETURN 0; END $$;
CREATE FUNCTION same(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN a; END $$;
EOT

my ($c, $thread);

sub connect_one
{
	$c = $server->session;
	$thread = $c->thread_id;
	$c->query(q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
		SET max_parallel_workers_per_gather = 2; SET enable_parallel_hash = off});
	# What the session has read of the functions' language lies behind it.
	$c->query('SELECT one_of_t(1), sometimes_counts(1)');
}

my @truncated = qw(events_statements_history_long events_statements_summary_by_digest events_statements_summary_global_by_event_name
	events_statements_summary_by_thread_by_event_name table_io_waits_summary_by_index_usage);

sub forget { $server->sql('TRUNCATE ' . join(', ', map { "pfs.$_" } @truncated)); }

# Rows that the tables have been asked for, whoever did it.
sub read_rows { return $server->sql('SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_schema = \'public\''); }

sub event
{
	my ($columns, $condition) = @_;

	return $server->sql("SELECT $columns FROM pfs.events_statements_history_long WHERE thread_id = $thread AND $condition");
}

my $top = q{nesting_event_level = 0 AND sql_text NOT LIKE 'SET%' AND sql_text NOT LIKE 'RESET%'};

# Run it, until its statement has ended; errors are allowed.
sub run_it
{
	my ($sql) = @_;

	$server->poll_idle($thread);
	forget();
	$c->send($sql)->result;
	$server->poll_idle($thread);
}

# All places that show a statement's numbers have these; of the tables it has read so many rows.
sub counted
{
	my ($examined, $no_index, $rows, $what) = @_;
	my $digest = "WHERE query_id = (SELECT query_id FROM pfs.events_statements_history_long WHERE thread_id = $thread AND $top)";

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(event('sum(rows_examined), sum(no_index_used)', $top), "$examined|$no_index", "$what: the statement");
	is($server->sql("SELECT sum(sum_rows_examined), sum(sum_no_index_used) FROM pfs.events_statements_summary_by_digest $digest"), "$examined|$no_index", "$what: its digest");
	# Queries of functions have digests of their own, but for those that workers execute.
	return if $what =~ /one_of_t/;
	is($server->sql("SELECT sum(count_fetch) FROM pfs.table_io_waits_summary_by_digest $digest AND object_schema = 'public'"), $rows, "$what: the digest's tables");
	is($server->sql("SELECT sum(sum_rows_examined), sum(sum_no_index_used) FROM pfs.events_statements_summary_by_thread_by_event_name
		WHERE thread_id = $thread AND event_name = 'statement/sql/select'"), "$examined|$no_index", "$what: the thread");
}

connect_one();

# ---- plans ----

# Query, settings of its plan, a node of it, rows that it reads, statements without an index.
my $likes = q{SELECT count(*) FROM t WHERE v LIKE '%y%'};
my $one_way = 'SET enable_bitmapscan = off; SET enable_seqscan = off';
my @queries = (
	[ $likes, '', 'Parallel Seq Scan', 20000, 1 ],
	[ 'SELECT count(v) FROM t WHERE i <= 15000', $one_way, 'Parallel Index Scan', 15000, 0 ],
	[ 'SELECT count(i) FROM t', $one_way, 'Parallel Index Only Scan', 20000, 0 ],
	[ 'SELECT count(v) FROM t WHERE i <= 15000', 'SET enable_seqscan = off; SET enable_indexscan = off', 'Parallel Bitmap Heap Scan', 15000, 0 ],
	[ q{SELECT count(*) FROM parts WHERE v LIKE '%y%'}, '', 'Parallel Append', 20000, 1 ],
	[ q{SELECT i FROM t WHERE v LIKE 'x%' ORDER BY v, i}, '', 'Gather Merge', 20000, 1 ],
	[ 'SELECT count(f.i) FROM few f JOIN t USING (i)', 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off', 'Nested Loop', 4000, 1 ],
	[ 'SELECT count(one_of_t(i)) FROM few', '', 'Parallel Seq Scan', 4000, 1 ]);

foreach my $leader ('off', 'on')
{
	foreach my $query (@queries)
	{
		my ($sql, $settings, $node, $rows, $no_index) = @$query;
		my $what = "$node, leader $leader: $sql";

		$c->query("SET parallel_leader_participation = $leader; $settings; SET max_parallel_workers_per_gather = 0");
		run_it($sql);
		# The entries of an index that a bitmap is made of are rows, too.
		my $examined = event('rows_examined', $top);

		cmp_ok($examined, '>=', $rows, "$what: the same without workers");
		$c->query('SET max_parallel_workers_per_gather = 2');
		like($c->query("EXPLAIN $sql"), qr/Workers Planned: 2.*\Q$node\E|\Q$node\E.*Workers Planned: 2/s, "$what: the plan");
		run_it($sql);
		is(event('count(*), sum(parallel_workers)', $top), '1|2', "$what: two workers");
		is(read_rows(), $rows, "$what: what the tables have");
		counted($examined, $no_index, $rows, $what);
		$c->query('RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_indexscan; RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_memoize');
	}
}

# A view has it from there, and the next statements do not have it again.
$c->query('SET parallel_leader_participation = off');
run_it($likes);
is($server->sql(q{SELECT no_index_used_count, rows_examined FROM pfs_sys.statements_with_full_table_scans WHERE query LIKE 'SELECT count%t%' AND query NOT LIKE '%pfs%'}),
	'1|20000', 'the view of full scans');
run_it('SELECT 1 AS one');
counted_none('one without workers');
run_it('SELECT count(*) FROM t WHERE i = 5');
is(event('rows_examined, no_index_used', $top), '1|0', 'a lookup has its own row');
run_it("$likes; SELECT 1; $likes");
is(event(q{string_agg(rows_examined::text, ' ' ORDER BY event_id)}, $top), '20000 0 20000', 'each of a string has its own');

sub counted_none
{
	my ($what) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(event('sum(rows_examined), sum(no_index_used)', $top), '0|0', "$what has read nothing");
}

# It stops in the middle.
$c->query('SET parallel_leader_participation = on');
run_it(q{SELECT v FROM t WHERE v LIKE 'x%' LIMIT 5});
is(event('rows_examined', $top), read_rows(), 'LIMIT: what was read until then');

# Its workers begin again for each row of the outer table.
run_it('SELECT (SELECT count(*) FROM t WHERE v LIKE few.i || \'%\') FROM few WHERE i <= 3');
is(event('rows_examined', $top), read_rows(), 'a plan that is scanned again');
cmp_ok(read_rows(), '>=', 60000, 'which reads the table each time');

# ---- nested ones ----

run_it('SELECT counts_t()');
is(event('count(*), sum(parallel_workers), sum(rows_examined), sum(no_index_used)', 'nesting_event_level = 1'), '1|2|20000|1', 'a query in a function has what its workers read');
is(event('rows_examined, no_index_used', $top), '20000|1', 'so has the statement around it');
is($server->sql(q{SELECT count_star, sum_rows_examined FROM pfs.events_statements_summary_by_digest WHERE digest_text LIKE 'SELECT count(*)%FROM t WHERE%'}), '1|20000', 'and the shape');
run_it('SELECT counts_t() FROM generate_series(1, 3)');
is(event('count(*), sum(rows_examined), max(rows_examined)', 'nesting_event_level = 1'), '3|60000|20000', 'a query in a function has the rows of its own workers');
is(event('rows_examined', $top), read_rows(), 'and the one around it these, too');

# The leader takes part and calls a function whose query has workers of its own.
my $both = 'SELECT count(sometimes_counts(i)) FROM few';

sub both
{
	my ($what) = @_;
	my $inner = q{sql_text LIKE 'SELECT count(*)%FROM t WHERE%'};
	my $n;

	# Whether the leader comes to it is up to the processors.
	for (1 .. 20)
	{
		run_it($both);
		last if ($n = event('count(*)', "$inner AND parallel_workers > 0")) > 0;
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($n, '>', 0, "$what: queries inside one another have workers");
	is(event('count(*)', "$inner AND rows_examined <> 20000"), 0, "$what: the inner ones have the rows of their own workers");
	is(event('rows_examined, parallel_workers, no_index_used', $top), read_rows() . '|2|1', "$what: and the outer one all");
	is(read_rows(), 2000 + 5 * 20000, "$what: which is each row once");
}

like($c->query("EXPLAIN $both"), qr/Workers Planned: 2/, 'a parallel query calls functions');
both('both');

# ---- errors ----

sub equal_after
{
	my ($sql, $sqlstate, $what) = @_;

	run_it($sql);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok(read_rows(), '>', 0, "$what: rows have been read");
	is(event('returned_sqlstate, parallel_workers >= 0, rows_examined, no_index_used', $top), "$sqlstate|t|" . read_rows() . '|1', "$what: the statement has them");
	run_it('SELECT 2 AS two');
	counted_none("$what: the next one");
}

foreach my $leader ('off', 'on')
{
	$c->query("SET parallel_leader_participation = $leader");
	equal_after('SELECT count(*) FROM t WHERE 1 / (i - 15000) >= 0', '22012', "an error, leader $leader");
	$c->query(q{SET statement_timeout = '300ms'});
	equal_after('SELECT count(*) FROM t WHERE pg_sleep(0.001 * (i / i)) IS NOT NULL', '57014', "a timeout, leader $leader");
	$c->query('RESET statement_timeout');

	run_it('SELECT fails_at(15000)');
	is(event('rows_examined, errors, returned_sqlstate IS NULL', $top), read_rows() . '|1|t', "an error that is caught, leader $leader: the statement");
	cmp_ok(read_rows(), '>', 0, 'which has read rows');
	is(event('returned_sqlstate, rows_examined, no_index_used', 'nesting_event_level = 1'), '22012|' . read_rows() . '|1', 'so has the query inside that failed');
	run_it('SELECT fails_at(15000), counts_t()');
	is(event('rows_examined', $top), read_rows(), "another query behind that, leader $leader: the statement");
	is(event('rows_examined', q{nesting_event_level = 1 AND sql_text LIKE 'SELECT count(*)%LIKE%'}), 20000, 'that query has its own');
	run_it('DO $$ BEGIN PERFORM fails_at(15000); ROLLBACK; PERFORM counts_t(); COMMIT; PERFORM counts_t(); END $$');
	is(event('rows_examined', $top), read_rows(), "transactions in a block, leader $leader");
}

# A worker is terminated, then the leader.
my $sleeps = 'SELECT count(*) FROM t WHERE pg_sleep(0.001 * (i / i)) IS NOT NULL';
my $worker = 'FROM pg_stat_activity WHERE leader_pid = ' . $c->pid;

forget();
$c->send($sleeps);
ok($server->poll("SELECT count(*) $worker", 2), 'two workers');
ok($server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE object_name = 't' AND event_name = 'wait/io/table/handler' AND number_of_bytes > 10}, 3), 'all read');
$server->sql("SELECT pg_terminate_backend(pid) $worker LIMIT 1");
$c->result;
$server->poll_idle($thread);
is(event('returned_sqlstate, rows_examined', $top), '57P01|' . read_rows(), 'a worker is terminated: the statement has what was read');

forget();
$c->send($sleeps);
ok($server->poll("SELECT count(*) $worker", 2), 'two workers');
ok($server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE object_name = 't' AND event_name = 'wait/io/table/handler' AND number_of_bytes > 10}, 3), 'all read');
$server->sql('SELECT pg_terminate_backend(' . $c->pid . ')');
$c->result;
$server->poll("SELECT count(*) FROM pfs.threads WHERE thread_id = $thread", 0);
is(event('returned_sqlstate, rows_examined', $top), '57P01|' . read_rows(), 'the leader is terminated: the statement has what was read');

# ---- utilities ----

connect_one();
$c->query('SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; ALTER TABLE t SET (parallel_workers = 2)');
foreach my $command ('CREATE INDEX t_same ON t (same(i))', 'REINDEX INDEX t_same', 'CREATE INDEX CONCURRENTLY t_again ON t (v, i)',
	"CREATE TABLE copied AS $likes", "CREATE MATERIALIZED VIEW seen AS $likes", 'REFRESH MATERIALIZED VIEW seen', "EXPLAIN ANALYZE $likes")
{
	run_it($command);
	is(event('rows_examined', $top), read_rows(), "$command: what was read");
	cmp_ok(read_rows(), '>=', 20000, 'each row');
}
$c->query("PREPARE counts AS $likes");
run_it('EXECUTE counts');
is(event('rows_examined, no_index_used', $top), '20000|1', 'EXECUTE');
run_it('DROP INDEX t_again');
is(event('rows_examined', $top), read_rows() || 0, 'and nothing of it is left for the next command');

# ---- switches ----

# Nobody takes what is read while statements are off.
$server->sql(q{UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name LIKE 'events_statements%' OR name = 'statements_digest'});
$server->sql(q{UPDATE pfs.setup_instruments SET enabled = 'NO' WHERE name LIKE 'statement/%' OR name LIKE 'stage/%' OR name LIKE 'transaction%'});
$c->query($likes) for 1 .. 3;
$server->sql(q{UPDATE pfs.setup_instruments SET enabled = 'YES' WHERE name LIKE 'statement/%' OR name LIKE 'stage/%' OR name LIKE 'transaction%'});
$server->sql(q{UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name LIKE 'events_statements%' OR name = 'statements_digest'});
$c->query('SELECT 3 AS three');
run_it($likes);
counted(20000, 1, 20000, 'behind three that nobody watched');
$server->sql(q{UPDATE pfs.setup_consumers SET enabled = 'NO' WHERE name = 'statements_digest'});
run_it($likes);
is(event('rows_examined, no_index_used', $top), '20000|1', 'without digests: the statement');
$server->sql(q{UPDATE pfs.setup_consumers SET enabled = 'YES' WHERE name = 'statements_digest'});

# ---- workers that begin late ----

# Each child waits before it does anything: the leader is in an inner query when the outer one's workers attach.
my $late = compile('late_children', <<'EOT');
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

pid_t
fork(void)
{
	static pid_t (*next) (void);
	struct timespec wait = {0, 20000000};
	pid_t		child;

	if (next == NULL)
		next = (pid_t (*) (void)) dlsym(RTLD_NEXT, "fork");
	child = next();
	if (child == 0)
		nanosleep(&wait, NULL);
	return child;
}
EOT
$server->restart(env => { LD_PRELOAD => $late });
connect_one();
$c->query('SET parallel_leader_participation = on');
$server->sql('CREATE OR REPLACE FUNCTION sometimes_counts(a int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN IF a IN (1, 2, 3, 4, 5) THEN RETURN counts_t(); END IF; RETURN 0; END $$');
both('late workers') for 1 .. 3;

done_testing();
