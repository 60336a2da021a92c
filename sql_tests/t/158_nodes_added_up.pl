# Plans' nodes, added up: over sessions, more plans and nodes than places, partitions, waits, failed executions, TRUNCATE
# and restarts; and what is seen of a query while it runs.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $nodes = 'pfs.plan_nodes_summary_by_plan';
my $waits = 'pfs.events_waits_summary_by_plan_node';
my $digests = 'pfs.events_statements_summary_by_digest';

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
jit = off
max_parallel_workers_per_gather = 0
pfs.digests_size = 200
pfs.plans_size = 20
pfs.plan_nodes_size = 40
pfs.save_interval = 0
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE p (i int, j int) PARTITION BY RANGE (i);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', g, g * 100, g * 100 + 100) FROM generate_series(0, 9) g \gexec
INSERT INTO p SELECT g, g % 10 FROM generate_series(0, 999) g;
SELECT format('CREATE TABLE t%s AS SELECT generate_series(1, 10 * %s) i', g, g) FROM generate_series(1, 24) g \gexec
CREATE TABLE c AS SELECT generate_series(1, 1000) i;
CREATE TABLE l AS SELECT 1 AS i;
VACUUM ANALYZE;
EOT

# Some SQL while all is measured, and nothing behind it.
sub measured { return $server->psql("SET pfs.plan_nodes = 'all';\n$_[0]"); }

# The nodes of the plan with this node, with these columns.
sub nodes_of
{
	my ($columns, $of) = @_;

	return $server->sql("SELECT string_agg(concat_ws(' ', $columns), ', ' ORDER BY node_id) FROM $nodes
		WHERE plan_id IN (SELECT plan_id FROM $nodes WHERE $of)");
}

# ---- partitions are their table ----

$server->sql("TRUNCATE $digests");
measured('SELECT count(*) FROM p');
is(nodes_of(q{node_id, parent_node_id, node_type, object_name, count_loops, sum_rows}, q{object_name = 'p'}),
	'0 Output 1 1, 1 0 Aggregate 1 1, 2 1 Append 1 1000, 3 2 Seq Scan p 10 1000', 'ten partitions are one node of their table');

# ---- waits ----

$server->sql("TRUNCATE $digests");
my $locker = $server->session;
$locker->query_safe('BEGIN; UPDATE l SET i = 1') if $locker->can('query_safe');
$locker->query('BEGIN; UPDATE l SET i = 1') if !$locker->can('query_safe');
my $waiter = $server->pgbench_start(qq{SET pfs.plan_nodes = 'all';\nSELECT pg_sleep(0.02) FROM c WHERE i <= 3;\nSELECT * FROM l FOR UPDATE;\n}, '-n', '-c', '1', '-t', '1');
ok($server->poll(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'}, 1), 'a node waits for a lock');
$locker->query('ROLLBACK');
$server->pgbench_end($waiter);
$server->poll_ended('pgbench');
is($server->sql(qq{SELECT string_agg(concat_ws(' ', node_type, event_name, w.count_star), ', ' ORDER BY event_name) FROM $waits w
	JOIN $nodes n USING (query_id, plan_id, node_id) WHERE event_name LIKE 'wait/lock/t%' OR event_name = 'wait/timeout/PgSleep'}),
	'LockRows wait/lock/transactionid 1, Seq Scan wait/timeout/PgSleep 3', 'each wait is in the node that waited');
is($server->sql(qq{SELECT count(*) FROM (SELECT query_id, event_name, sum(count_star), sum(sum_timer_wait) FROM $waits WHERE query_id IS NOT NULL GROUP BY 1, 2
	EXCEPT SELECT query_id, event_name, count_star, sum_timer_wait FROM pfs.events_waits_summary_by_digest) x WHERE event_name IN ('wait/lock/transactionid', 'wait/timeout/PgSleep')}),
	0, '... as often and as long as in the digest');
is($server->sql(qq{SELECT count(*) FROM $nodes n WHERE query_id IS NOT NULL AND abs(sum_timer_wait -
	coalesce((SELECT sum(sum_timer_wait) FROM $waits w WHERE (w.query_id, w.plan_id, w.node_id) = (n.query_id, n.plan_id, n.node_id)), 0)) > 10000}),
	0, "... and a node's sum is that of its waits");
is($server->sql(qq{SELECT count(*) FROM $nodes WHERE sum_timer_wait > sum_timer_total}), 0, '... and no more than its time');

# ---- an execution that fails ----

$server->sql("TRUNCATE $digests");
measured('SELECT 1 / (i - 500) FROM c ORDER BY 1;');
is(nodes_of('node_type, count_measured, count_loops, sum_rows', q{object_name = 'c'}), 'Output 1 1 0, Sort 1 1 0, Seq Scan 1 1 499',
	'what a failed execution did until then');
is($server->sql("SELECT bool_and(sum_timer_self >= 0), abs(sum(sum_timer_self) - max(sum_timer_total) FILTER (WHERE node_id = 0)) < 10000 FROM $nodes
	WHERE plan_id IN (SELECT plan_id FROM $nodes WHERE object_name = 'c')"), 't|t', '... with all of its time');

# ---- one whose executor does not start, with a plan so large that its memory goes back to the system ----

$server->sql('CREATE ROLE nobody');
my $large = join ', ', 1 .. 300000;
my ($status, $out) = $server->psql("SET pfs.plan_nodes = 'all';\nSET ROLE nobody;\n\\set ON_ERROR_STOP off\nSELECT count(*) FROM c WHERE i IN ($large);\nRESET ROLE;\nSELECT 1;\nSELECT count(*) FROM c;");
like($out, qr/^1\n1000$/m, 'the statement behind it');
like($server->sql('SELECT 1'), qr/^1$/, '... and the server goes on');

# ---- more plans and nodes than places ----

# Each shape has Output and two nodes, and one row.
my $script = join '', "\\set t random(1, 24)\n", "SET pfs.plan_nodes = 'all';\n", map { "\\if :t = $_\nSELECT count(*) FROM t$_;\n\\endif\n" } 1 .. 24;

$server->sql("TRUNCATE $digests; TRUNCATE pfs.containers");
$server->pgbench($script, '-n', '-c', '8', '-t', '200');
$server->poll_ended('pgbench');
my ($executions, $rows, $lost) = split /\|/, $server->sql("SELECT sum(count_measured), sum(sum_rows) FILTER (WHERE node_type IS NULL OR node_type <> 'Seq Scan'),
	(SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_plan_nodes_lost') FROM $nodes
	WHERE query_id IS NULL OR plan_id IN (SELECT plan_id FROM $nodes WHERE object_name ~ '^t[0-9]+\$')");
cmp_ok($executions, '>', 0, 'some executions were measured');
is($executions % 3, 0, '... each with all of its nodes');
cmp_ok($executions / 3 + $lost, '>=', 1600, '... and the others were lost for want of room');
cmp_ok($server->sql("SELECT count(*) FROM $nodes WHERE query_id IS NULL AND count_measured > 0"), '==', 1, '... some plans had to go');
is($server->sql("SELECT count(*) FROM $nodes WHERE object_name ~ '^t[0-9]+\$' AND sum_rows <> count_measured * 10 * substr(object_name, 2)::int"), 0,
	'... and the rows of those that are there are theirs');

# ---- one that runs ----

$server->sql("TRUNCATE $digests");
my $load = $server->pgbench_start(qq{SET pfs.plan_nodes = 'all';\nSELECT count(*) FROM c a, c b, c d WHERE a.i < 30;\n}, '-n', '-c', '1', '-t', '1');
my (%last, @torn);
my ($reads, $seen, $measured) = (0, 0, "SELECT count(*) FROM $nodes WHERE object_name = 'c' AND count_measured > 0");
my $deadline = time + $PfsServer::timeout;
while ($server->sql($measured) == 0 && time < $deadline)
{
	for (split /\n/, $server->sql(q{SELECT thread_id, node_id, node_type, loops, rows, timer_total, timer_self, measured_since FROM pfs.plan_nodes_current
		WHERE plan_id IN (SELECT plan_id FROM pfs.plan_nodes_current WHERE node_type = 'Nested Loop')}))
	{
		my ($thread, $node, $type, $loops, $rows, $total, $self, $since) = split /\|/;
		my $was = $last{"$thread $node"};

		$seen++;
		# A process that loses its processor at the end of a call has not noted yet that it is over: such time is taken back.
		push @torn, "$_ after @$was" if $was && ($loops < $was->[0] || $rows < $was->[1] || $total < $was->[2] - 1e12);
		push @torn, $_ if $self > $total || $loops > $rows + 1000000;
		$last{"$thread $node"} = [ $loops, $rows, $total ];
	}
	$reads++;
}
$server->pgbench_end($load);
cmp_ok($seen, '>', 6, 'a query is seen while it runs');
is(join("\n", @torn), '', '... and no number ever gets less');
is($server->sql(q{SELECT count(*) FROM pfs.plan_nodes_current WHERE node_type = 'Nested Loop'}), 0, '... and none when it is over');

# ---- what is kept, and what is emptied ----

$server->sql("TRUNCATE $digests");
measured('SELECT count(*) FROM c; SELECT pg_sleep(0.01) FROM c WHERE i = 1;');
my $kept = "SELECT concat_ws(' ', plan_id, node_id, parent_node_id, node_type, object_name, count_measured, count_loops, sum_rows, estimated_rows, count_calls, count_timed,
	round(sum_timer_total / 1e6)) FROM $nodes WHERE plan_id IN (SELECT plan_id FROM $nodes WHERE object_name = 'c') ORDER BY 1";
my $kept_waits = "SELECT concat_ws(' ', plan_id, node_id, event_name, count_star) FROM $waits WHERE event_name = 'wait/timeout/PgSleep' ORDER BY 1";
my $before = $server->sql($kept) . "\n" . $server->sql($kept_waits);
like($before, qr/Seq Scan c 1 1 1000.*PgSleep 1/s, 'what is kept');
$server->restart;
is($server->sql($kept) . "\n" . $server->sql($kept_waits), $before, '... is there after a restart');
$server->sql("TRUNCATE $waits");
is($server->sql("SELECT count(*) FROM $waits WHERE event_name = 'wait/timeout/PgSleep'") . ' ' . $server->sql("SELECT count(*) > 0 FROM $nodes WHERE object_name = 'c' AND count_measured > 0"),
	'0 t', 'TRUNCATE of the waits leaves the nodes');
$server->sql("TRUNCATE $nodes");
is($server->sql("SELECT sum(count_measured + count_loops + sum_rows + sum_timer_total) FROM $nodes WHERE object_name = 'c'"), 0, 'TRUNCATE of the nodes zeroes them');
measured('SELECT count(*) FROM c');
is($server->sql("SELECT count_measured FROM $nodes WHERE object_name = 'c' AND sum_rows = 1000"), 1, '... and they go on');
$server->sql('TRUNCATE pfs.plans_summary_by_digest');
is($server->sql("SELECT count(*) FROM $nodes WHERE object_name = 'c'"), 0, 'TRUNCATE of the plans zeroes the nodes');
done_testing();
