# Plans of statements: their rows add up to their digest's, with more plans than places and sessions at once; what is
# kept over a restart; and that making a plan's text disturbs nothing: types that cannot be shown, cancelled statements,
# transactions, parallel queries, other libraries.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $plans = 'pfs.plans_summary_by_digest';
my $digests = 'pfs.events_statements_summary_by_digest';
my $parallel = PfsServer::version() >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';

# Costly plans have their texts from the first execution on.
my $server = PfsServer->new('main', preload => 'pg_stat_statements,pfs', conf => <<'EOT');
autovacuum = off
compute_query_id = on
max_connections = 40
jit = off
pfs.plans_size = 16
pfs.save_interval = 0
cpu_tuple_cost = 10000
pg_stat_statements.track = all
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE a (i int PRIMARY KEY, j int);
INSERT INTO a SELECT g, g % 10 FROM generate_series(1, 300) g;
CREATE TABLE b AS TABLE a;
CREATE TABLE c AS TABLE a;
CREATE INDEX ON a (j);
CREATE INDEX ON b (i);
CREATE INDEX ON b (j);
CREATE INDEX ON c (i);
VACUUM ANALYZE;
EOT

# ---- sums, exactly ----

# One shape of statement that the planner is made to answer in many ways.
my $shape = 'SELECT a.j, count(*) FROM a JOIN b USING (i) JOIN c USING (i) WHERE a.i < 50 AND b.j = 3 GROUP BY a.j ORDER BY 1';
my @ways = qw(hashjoin mergejoin nestloop seqscan indexscan indexonlyscan bitmapscan sort hashagg material);
my $script = join '', (map { "\\set $_ random(0, 1)\n" } @ways), (map { "SET enable_$_ = :$_;\n" } @ways), "$shape;\n";
my $of_shape = "digest_text LIKE 'SELECT a.j, count(*)%'";

$server->sql("TRUNCATE $digests");
my $load = $server->pgbench_start($script, '-c', '8', '-t', '400');
my ($read, @fewer) = (0);
while ($server->pgbench_running($load))
{
	# What is read later has at least as many.
	my $first = $server->sql("SELECT count_star FROM $digests WHERE $of_shape") || 0;
	my $then = $server->sql("SELECT coalesce(sum(count_star), 0) FROM $plans");

	push @fewer, "$first $then" if $then < $first;
	$read++;
}
$server->pgbench_end($load);
$server->poll_ended('pgbench');
cmp_ok($read, '>', 1, 'both are read meanwhile');
is("@fewer", '', '... and plans have all statements of the digest');

my $sums = "SELECT d.count_star, d.sum_rows_sent, (SELECT sum(count_star) FROM $plans p WHERE p.query_id = d.query_id OR p.query_id IS NULL),
	(SELECT sum(sum_rows) FROM $plans p WHERE p.query_id = d.query_id OR p.query_id IS NULL)";

# Statements that read are in all others, too, as they have evicted plans of the shape.
$server->sql("TRUNCATE $digests");
$server->pgbench($script, '-c', '8', '-t', '400');
$server->poll_ended('pgbench');
my ($count, $rows, $plan_count, $plan_rows) = split /\|/, $server->sql("$sums FROM $digests d WHERE $of_shape");
is($count, 3200, 'each statement is in its digest');
is($plan_count, $count, '... and in one of its plans or in all others');
is($plan_rows, $rows, '... with its rows');
cmp_ok($server->sql("SELECT count(*) FROM $plans WHERE query_id IS NULL AND count_star > 0"), '==', 1, 'some plans have no place');
is($server->sql("SELECT count(*) > 5, count(*) = count(DISTINCT plan_text) FROM $plans WHERE query_id IS NOT NULL AND plan_text ~ ' on [abc]'"), 't|t',
	'others have texts, each its own');

# ---- restarts ----

my $kept = "SELECT query_id, plan_id, count_star, count_timed, sum_rows, sum_shared_blks_hit, first_seen, last_seen, estimated_cost, estimated_rows,
	node_count, plan_text FROM $plans p WHERE query_id IN (SELECT query_id FROM $digests WHERE $of_shape) ORDER BY 1, 2";

# Few enough that statements which look evict none.
$server->sql("TRUNCATE $digests");
my $s = $server->session;
$s->query("SET enable_nestloop = $_; $shape") foreach qw(on off);
$s->close;
my $before = $server->sql($kept);
is(scalar(split /\n(?=-?\d+\|-?\d+\|)/, $before), 2, 'two plans');
$server->restart;
is($server->sql($kept), $before, 'are the same after a restart');
$server->sql($shape);
is($server->sql("SELECT sum(count_star) FROM $plans WHERE query_id IN (SELECT query_id FROM $digests WHERE $of_shape)"), 3, '... and go on');
$server->stop('immediate');
$server->start;
is($server->sql($kept), $before, 'after a crash they have what was saved last');

# ---- texts that cannot be made ----

# Types whose values cannot be shown, or only after as many seconds as they say.
$server->sql(<<'EOT');
CREATE TYPE dumb;
CREATE FUNCTION dumb_in(cstring) RETURNS dumb LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION dumb_out(dumb) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'trigger_out';
CREATE TYPE dumb (INPUT = dumb_in, OUTPUT = dumb_out, LIKE = int4);
CREATE TYPE slow;
CREATE FUNCTION slow_in(cstring) RETURNS slow LANGUAGE internal IMMUTABLE STRICT AS 'float8in';
CREATE FUNCTION slow_out(slow) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'pg_sleep';
CREATE TYPE slow (INPUT = slow_in, OUTPUT = slow_out, LIKE = float8);
CREATE FUNCTION holds(dumb) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE FUNCTION holds(slow) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
EOT
$server->sql("TRUNCATE $digests");
$s = $server->session;
is($s->query("SELECT i FROM a WHERE i = 7 AND holds('5'::dumb)"), 7, 'a statement whose plan cannot be shown') foreach 1 .. 3;
$s->query('BEGIN');
$s->query('SAVEPOINT one');
$s->query('INSERT INTO a VALUES (1001)');
is($s->query("SELECT j, i FROM a WHERE i = 8 AND holds('5'::dumb)"), '8|8', '... in a transaction');
$s->query('SAVEPOINT two');
$s->query('INSERT INTO a VALUES (1002)');
is($s->query("SELECT j, i, 1 FROM a WHERE i = 8 AND holds('5'::dumb)"), '8|8|1', '... and behind a savepoint');
$s->query('SELECT count(*), max(j), min(j), 1 FROM a');
$s->query('ROLLBACK TO one');
$s->query('SELECT count(*), max(j), min(j) FROM a');
$s->query('RELEASE one');
$s->query('COMMIT');
is($server->sql('SELECT count(*) FROM a'), 300, 'savepoints are what they were');
is($server->sql('SELECT number_of_savepoints, number_of_rollback_to_savepoint, number_of_release_savepoint FROM pfs.events_transactions_history
	WHERE thread_id = ' . $s->thread_id . ' AND number_of_savepoints > 0'), '2|1|1', '... and so many');
is($server->sql("SELECT sum(count_star), count(plan_text) FROM $plans WHERE query_id IN (SELECT query_id FROM $digests WHERE digest_text LIKE '%holds%' AND digest_text LIKE 'SELECT%')"),
	'5|0', 'they have plans without a text');
is($server->sql("SELECT sum(sum_errors) FROM $digests WHERE digest_text LIKE '%holds%'"), 0, '... and have not failed');
my $errors = 'SELECT sql_state, sum_error_raised, sum_error_handled FROM pfs.events_errors_summary_by_thread_by_error
	WHERE sum_error_raised > 0 AND thread_id = ' . $s->thread_id;
is($server->sql($errors), '', '... nor raised errors');

$s->query("SET statement_timeout = '300ms'");
$s->send("SELECT i FROM a WHERE i = 7 AND holds('1000'::slow)");
eval { $s->result };
like($s->last_error . $@, qr/statement timeout/, 'a statement is cancelled while its text is made');
$s->query("SET statement_timeout = 0");
$s->query('BEGIN');
$s->query('SAVEPOINT one');
$s->query("SET LOCAL statement_timeout = '300ms'");
$s->send("SELECT j, i FROM a WHERE i = 7 AND holds('1000'::slow)");
eval { $s->result };
like($s->last_error . $@, qr/statement timeout/, '... in a transaction');
$s->query('ROLLBACK TO one');
is($s->query('SELECT i FROM a WHERE i = 9'), 9, '... which goes on');
$s->query('COMMIT');
is($server->sql($errors), '57014|2|0', '... two were cancelled, and nothing else was raised');
$s->close;

# ---- parallel queries ----

$server->sql(<<'EOT');
CREATE FUNCTION count_b(x int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN (SELECT count(*) FROM b WHERE i = x); END $$;
EOT
$server->sql("TRUNCATE $digests");
$s = $server->session;
$s->query("SET $parallel = on; SET max_parallel_workers_per_gather = 2");
is($s->query('SELECT sum(count_b(i)) FROM a'), 300, 'functions in a parallel query');
is($server->sql("SELECT plan_text ~ 'Workers Planned: 1' FROM $plans WHERE plan_text ~ 'Gather' AND plan_text ~ ' on a'"), 't', 'which has a plan');
$s->query("SET $parallel = off; SET max_parallel_workers_per_gather = 0");
$s->query('SELECT sum(count_b(i)) FROM a') foreach 1 .. 2;
is($server->sql("SELECT count(*) > 0 FROM $plans WHERE plan_text ~ ' on b'"), 't', 'where there is none, texts are made of what could have none before');
$s->close;

# ---- EXPLAIN ----

$server->sql("TRUNCATE $digests");
$server->sql('EXPLAIN SELECT j FROM c WHERE i = 4');
is($server->sql("SELECT count(*) FROM $plans WHERE plan_text ~ ' on c' OR plan_text IS NULL AND query_id IS NOT NULL"), 0, 'what is only explained has no plan');
$server->sql('EXPLAIN ANALYZE SELECT j FROM c WHERE i = 4');
is($server->sql("SELECT count_star FROM $plans WHERE plan_text ~ ' on c'"), 1, 'what is executed has');

# ---- other libraries ----

foreach my $preload ('pg_stat_statements,auto_explain,pfs', 'pfs,auto_explain,pg_stat_statements')
{
	$server->conf("shared_preload_libraries = '$preload'\nauto_explain.log_min_duration = 0\nauto_explain.log_analyze = on\nauto_explain.log_nested_statements = on\npfs.plans_size = 1000");
	$server->restart;
	$server->sql("TRUNCATE $digests; SELECT pg_stat_statements_reset()");
	$server->mark_log;
	$server->pgbench("$script SELECT count_b(5);\n", '-c', '2', '-t', '20');
	$server->poll_ended('pgbench');
	is($server->sql("SELECT query, calls, count FROM pg_stat_statements s LEFT JOIN (SELECT query_id, sum(count_star) AS count FROM $plans GROUP BY 1) p ON query_id = queryid
		WHERE query ~ '^SELECT (a.j|count_b)' AND calls IS DISTINCT FROM count"), '', "$preload: plans have the statements that pg_stat_statements has");
	is($server->sql("SELECT count(*) FROM $plans WHERE query_id IS NOT NULL AND plan_text IS NULL"), 0, '... and texts');
	my $explained = () = $server->log_text =~ /Query Text: SELECT a\.j/g;
	is($explained, 40, '... and auto_explain has them');
	unlike($server->log_text, qr/WARNING|PANIC|FATAL/, '... and nothing else');
}
$server->stop;

done_testing();
