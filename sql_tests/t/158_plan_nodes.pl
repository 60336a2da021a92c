# Plans' nodes: rows and loops of many plans are those of EXPLAIN ANALYZE, in the same execution; own times add up to the
# run's, and none is negative; whatever enters, rescans, abandons or fails in a node.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use PfsServer;
use Test::More;

my $nodes = 'pfs.plan_nodes_summary_by_plan';
my $waits = 'pfs.events_waits_summary_by_plan_node';
my $parallel = PfsServer::version() >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';

my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
compute_query_id = on
jit = off
max_parallel_workers = 8
max_worker_processes = 16
work_mem = 1MB
pfs.save_interval = 0
EOT
$server->start;
$server->sql(<<'EOT');
CREATE EXTENSION pfs;
CREATE TABLE a (i int PRIMARY KEY, j int, t text);
INSERT INTO a SELECT g, g % 100, 'row ' || g FROM generate_series(1, 10000) g;
CREATE TABLE b (i int, j int, k int);
INSERT INTO b SELECT g, g % 50, g % 7 FROM generate_series(1, 5000) g;
CREATE TABLE c (i int PRIMARY KEY, n numeric);
INSERT INTO c SELECT g, g FROM generate_series(1, 500) g;
CREATE TABLE w (i int PRIMARY KEY, j int);
INSERT INTO w SELECT g, g FROM generate_series(1, 1000) g;
CREATE TABLE log (i int);
CREATE INDEX ON a (j);
CREATE INDEX ON b (i);
CREATE INDEX ON b (j);
CREATE INDEX ON b (k);
CREATE INDEX ON w (j);
CREATE TABLE p (i int, j int) PARTITION BY RANGE (i);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', g, g * 100, g * 100 + 100) FROM generate_series(0, 9) g \gexec
INSERT INTO p SELECT g, g % 10 FROM generate_series(0, 999) g;
CREATE INDEX ON p (i);
CREATE FUNCTION twice(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM c WHERE i <= x % 10) * 2; END $$;
CREATE FUNCTION numbers(n int) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. n LOOP RETURN NEXT i; END LOOP; END $$;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (NEW.i); RETURN NEW; END $$;
CREATE TABLE g (i int PRIMARY KEY, j int);
CREATE TRIGGER before BEFORE INSERT OR UPDATE ON g FOR EACH ROW EXECUTE FUNCTION noted();
CREATE TRIGGER after AFTER INSERT OR UPDATE ON g FOR EACH ROW EXECUTE FUNCTION noted();
VACUUM ANALYZE;
EOT

# ---- the plans ----

# What enforces one way or another, and what is asked then.
my @plans = (
	'' => 'SELECT 1',
	'' => 'SELECT * FROM generate_series(1, 100)',
	'' => "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v",
	'' => 'SELECT * FROM a',
	'' => 'SELECT * FROM a WHERE i = 17',
	'' => 'SELECT i FROM a WHERE i < 100',
	'' => 'SELECT * FROM a LIMIT 10',
	'' => 'SELECT * FROM a OFFSET 9990',
	'' => 'SELECT * FROM a WHERE false',
	'' => 'SELECT count(*) FROM a',
	'' => 'SELECT j, count(*) FROM a GROUP BY j',
	'hashagg' => 'SELECT j, count(*) FROM a GROUP BY j',
	'hashagg sort' => 'SELECT DISTINCT j FROM a',
	'' => 'SELECT j, count(*) FROM a GROUP BY ROLLUP (j)',
	'' => 'SELECT j, i % 3, count(*) FROM a GROUP BY GROUPING SETS ((j), (i % 3), ())',
	'' => 'SELECT * FROM a ORDER BY t',
	'' => 'SELECT * FROM a ORDER BY t LIMIT 5',
	'' => 'SELECT * FROM a ORDER BY j, t LIMIT 50',
	'sort' => 'SELECT * FROM a ORDER BY j, t LIMIT 50',
	'' => 'SELECT i, sum(j) OVER (PARTITION BY j ORDER BY i) FROM a',
	'' => 'SELECT i, rank() OVER (ORDER BY t) FROM a LIMIT 3',
	'' => 'SELECT * FROM a JOIN b USING (i)',
	'mergejoin nestloop' => 'SELECT * FROM a JOIN b USING (i)',
	'hashjoin nestloop' => 'SELECT * FROM a JOIN b USING (i)',
	'hashjoin mergejoin' => 'SELECT * FROM a JOIN b USING (i) WHERE a.j < 5',
	'hashjoin mergejoin memoize' => 'SELECT * FROM b JOIN a ON a.i = b.j',
	'hashjoin mergejoin' => 'SELECT * FROM b JOIN a ON a.i = b.j',
	'hashjoin mergejoin indexscan bitmapscan indexonlyscan' => 'SELECT * FROM c JOIN b ON c.i = b.i WHERE c.i < 20',
	'hashjoin mergejoin material indexscan bitmapscan indexonlyscan' => 'SELECT * FROM c JOIN b ON c.i = b.i WHERE c.i < 5',
	'' => 'SELECT * FROM a LEFT JOIN c USING (i) WHERE c.i IS NULL',
	'' => 'SELECT * FROM a RIGHT JOIN c USING (i)',
	'' => 'SELECT * FROM a FULL JOIN c USING (i)',
	'mergejoin' => 'SELECT * FROM b x FULL JOIN b y ON x.i = y.i',
	'hashjoin' => 'SELECT * FROM b x FULL JOIN b y ON x.i = y.i',
	'hashjoin' => 'SELECT * FROM b x JOIN b y ON x.k = y.k WHERE x.i < 30 AND y.i < 30',
	'' => 'SELECT * FROM c x JOIN c y USING (i) JOIN c z USING (i)',
	'mergejoin nestloop' => 'SELECT * FROM c x JOIN (SELECT y.i FROM c y JOIN b z USING (i)) q USING (i)',
	'mergejoin nestloop' => 'SELECT * FROM (SELECT x.i FROM c x JOIN b y USING (i)) r JOIN (SELECT y.i FROM c y JOIN b z USING (i)) q USING (i)',
	'' => 'SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE b.i = a.i AND k = 3)',
	'' => 'SELECT * FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.i = a.i)',
	'' => 'SELECT * FROM a WHERE i IN (SELECT j FROM b)',
	'' => 'SELECT * FROM a WHERE i NOT IN (SELECT j FROM b)',
	'' => 'SELECT *, (SELECT max(n) FROM c) FROM b WHERE i < 10',
	'' => 'SELECT *, (SELECT count(*) FROM c WHERE c.i < b.k) FROM b WHERE i < 50',
	'' => 'SELECT *, (SELECT t FROM a WHERE a.i = b.j) FROM b WHERE i < 200',
	'' => 'SELECT * FROM b WHERE j > (SELECT avg(i) / 20 FROM c)',
	'' => 'SELECT * FROM b WHERE k > ALL (SELECT i % 5 FROM c WHERE c.i < b.j)',
	'' => 'SELECT * FROM b WHERE i < 30 AND (EXISTS (SELECT FROM c WHERE c.i = b.i) OR k = 1)',
	'' => 'SELECT * FROM b, LATERAL (SELECT * FROM a WHERE a.j = b.j LIMIT 2) l WHERE b.i < 30',
	'' => 'SELECT * FROM b, LATERAL (SELECT count(*) FROM a WHERE a.i < b.j) l WHERE b.i < 30',
	'' => 'SELECT * FROM c, generate_series(1, c.i) s WHERE c.i < 20',
	'' => 'WITH x AS MATERIALIZED (SELECT * FROM c) SELECT * FROM x JOIN x y USING (i)',
	'' => 'WITH x AS MATERIALIZED (SELECT * FROM c) SELECT * FROM x LIMIT 3',
	'' => 'WITH x AS MATERIALIZED (SELECT * FROM a) SELECT (SELECT count(*) FROM x WHERE x.i < c.i) FROM c WHERE i < 5',
	'' => 'WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 50) SELECT * FROM r',
	'' => 'WITH RECURSIVE r(n) AS (SELECT i FROM c WHERE i = 1 UNION SELECT c.i FROM r JOIN c ON c.i = r.n + 1 WHERE r.n < 30) SELECT * FROM r',
	'seqscan indexscan indexonlyscan' => 'SELECT * FROM a WHERE j = 5',
	'seqscan indexscan indexonlyscan' => 'SELECT * FROM b WHERE j = 5 AND k = 3',
	'seqscan indexscan indexonlyscan' => 'SELECT * FROM b WHERE j = 5 OR k = 3 OR i = 7',
	'seqscan indexscan indexonlyscan' => 'SELECT * FROM b WHERE (j = 5 OR i = 7) AND k = 3',
	'seqscan indexscan indexonlyscan hashjoin mergejoin' => 'SELECT * FROM c JOIN b ON b.j = c.i WHERE c.i < 20',
	'seqscan indexscan indexonlyscan hashjoin mergejoin' => 'SELECT * FROM c JOIN b ON b.j = c.i OR b.k = c.i WHERE c.i < 20',
	'seqscan bitmapscan' => 'SELECT * FROM c JOIN b ON b.j = c.i WHERE c.i < 20',
	'' => 'SELECT * FROM a WHERE i = ANY (ARRAY[1, 5, 9])',
	'' => "SELECT * FROM a WHERE ctid = '(0,1)'",
	'' => "SELECT * FROM a WHERE ctid < '(3,1)'",
	'' => 'SELECT * FROM a TABLESAMPLE SYSTEM (50) REPEATABLE (1)',
	'' => 'SELECT i FROM a WHERE i < 10 UNION ALL SELECT i FROM b WHERE i < 10',
	'' => 'SELECT i FROM a UNION SELECT i FROM b',
	'' => 'SELECT i FROM a INTERSECT SELECT i FROM b',
	'hashagg' => 'SELECT i FROM a EXCEPT SELECT i FROM b',
	'' => 'SELECT i FROM c EXCEPT ALL SELECT i FROM b WHERE i < 100',
	'' => '(SELECT i FROM a ORDER BY i) UNION ALL (SELECT i FROM c ORDER BY i) ORDER BY 1 LIMIT 20',
	'' => 'SELECT generate_series(1, 5), i FROM c',
	'' => 'SELECT twice(i) FROM c',
	'' => 'SELECT * FROM numbers(20) s JOIN c ON c.i = s',
	'' => 'SELECT twice(i) FROM c WHERE twice(i) > 2',
	'' => "SELECT * FROM XMLTABLE('/r/x' PASSING '<r><x>1</x><x>2</x></r>' COLUMNS x int PATH '.') q",
	'' => 'SELECT * FROM c WHERE i < 100 FOR UPDATE',
	'' => 'SELECT * FROM c JOIN b USING (i) WHERE i < 50 ORDER BY n FOR SHARE OF c',
	'' => 'SELECT min(i), max(i) FROM a',
	'' => 'SELECT count(DISTINCT j), count(*) FROM a',
	'' => 'SELECT * FROM pg_class, pg_attribute WHERE attrelid = pg_class.oid AND attnum = 1',
	'' => 'SELECT * FROM (SELECT i, j FROM a OFFSET 0) q WHERE j = 3',
	'' => 'SELECT * FROM (SELECT i, row_number() OVER (ORDER BY i) r FROM a) q WHERE r < 10',
	'' => 'INSERT INTO log VALUES (1)',
	'' => 'INSERT INTO log SELECT i FROM c RETURNING i',
	'' => 'INSERT INTO w VALUES (1, 1), (2000, 1) ON CONFLICT (i) DO UPDATE SET j = w.j + 1',
	'' => 'UPDATE w SET j = j + 1 WHERE i < 50',
	'' => 'UPDATE w SET j = c.i FROM c WHERE c.i = w.i RETURNING w.*',
	'' => 'DELETE FROM w WHERE i BETWEEN 60 AND 80',
	'' => 'DELETE FROM w USING c WHERE c.i = w.i AND c.i < 10',
	'' => 'MERGE INTO w USING c ON c.i = w.i WHEN MATCHED AND c.i < 100 THEN UPDATE SET j = 0 WHEN NOT MATCHED THEN INSERT VALUES (c.i, 1)',
	'' => 'INSERT INTO g SELECT i, i FROM c WHERE i < 30',
	'' => 'UPDATE g SET j = 1',
	'' => 'WITH x AS (INSERT INTO log SELECT i FROM c RETURNING i) SELECT count(*) FROM x',
	'' => 'WITH x AS (DELETE FROM log RETURNING i) SELECT * FROM x LIMIT 1',
	'' => 'WITH x AS (UPDATE w SET j = 5 WHERE i < 20), y AS (INSERT INTO log SELECT 1) SELECT 1',
);

# Plans with workers; and any plan in a worker.
my @parallel = (
	'SELECT count(*) FROM a',
	'SELECT * FROM a WHERE j = 3',
	'SELECT * FROM a ORDER BY t',
	'SELECT j, count(*) FROM a GROUP BY j',
	'SELECT count(*) FROM a JOIN b USING (i)',
	'SELECT count(*) FROM a x JOIN a y USING (i) JOIN a z USING (i)',
	'SELECT count(*) FROM a JOIN c USING (i)',
	'SELECT * FROM (SELECT j, count(*) n FROM a GROUP BY j) x JOIN (SELECT j, count(*) m FROM b GROUP BY j) y USING (j)',
	'SELECT count(*) FROM a WHERE i IN (SELECT j FROM b)',
	'SELECT count(*) FROM p JOIN a USING (i)',
	'SELECT c.i, (SELECT count(*) FROM a WHERE a.j = c.i) FROM c WHERE c.i < 3',
	'SELECT count(*) FROM (SELECT i FROM a UNION ALL SELECT i FROM b) u',
);

# ---- what EXPLAIN says, and what is counted ----

# All nodes of a plan in JSON: their types, tables, loops and rows.
sub flatten
{
	my ($node) = @_;
	my $loops = $node->{'Actual Loops'};

	return (
		{ type => $node->{'Node Type'}, loops => $loops, rows => $node->{'Actual Rows'} * $loops, of => $node->{'Index Name'} // $node->{'Relation Name'} // '' },
		map { flatten($_) } @{ $node->{Plans} // [] });
}

# Each node as text, of both kinds alike; rows are averages there, rounded by half a loop's row.
sub sorted { return sort { "$a->{type} $a->{of}" cmp "$b->{type} $b->{of}" || $a->{loops} <=> $b->{loops} || $a->{rows} <=> $b->{rows} } @_; }
sub words { return join "\n", map { "$_->{type} $_->{of} loops=$_->{loops} rows=$_->{rows}" } @_; }

# What differs between the plan that EXPLAIN shows and the one that was counted; '' if nothing does.
sub difference
{
	my ($shown, $counted, $fuzzy) = @_;
	my @shown = sorted(@$shown);
	my @counted = sorted(@$counted);
	my $both = "EXPLAIN\n" . words(@shown) . "\ncounted\n" . words(@counted);

	return $both if @shown != @counted;
	for my $i (0 .. $#shown)
	{
		my ($s, $c) = ($shown[$i], $counted[$i]);

		return $both if "$s->{type} $s->{of}" ne "$c->{type} $c->{of}" || $s->{loops} != $c->{loops} ||
		  abs($s->{rows} - $c->{rows}) > ($s->{loops} > 1 ? $s->{loops} * 0.501 : 0.001);
	}
	return '';
}

# All plans that were counted: by query and plan, their nodes.
sub plans_of
{
	my %plans;

	for (split /\n/, $_[0])
	{
		my ($query_id, $plan_id, $id, @node) = split /\|/, $_;
		my %node;

		@node{qw(type of loops rows measured total self calls timed)} = @node;
		$plans{"$query_id $plan_id"}[$id] = \%node;
	}
	return \%plans;
}

# Explains a statement, once more while each call is timed, and executes it as it is; what EXPLAIN shows, at first and then, what was
# counted of the same plan, and what of the other execution.
sub explained
{
	my ($settings, $query) = @_;
	my $rows = <<"EOT";
SELECT query_id, plan_id, node_id, node_type, coalesce(index_name, object_name, ''), count_loops, sum_rows, count_measured,
	sum_timer_total, sum_timer_self, count_calls, count_timed FROM $nodes WHERE query_id IS NOT NULL;
EOT
	my $explain = "EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) $query;";
	my ($status, $out, $err) = $server->psql(<<"EOT");
SET pfs.plan_nodes = off;
TRUNCATE pfs.events_statements_summary_by_digest;
BEGIN;
$settings
$explain
ROLLBACK;
SELECT '---';
BEGIN;
$settings
SET pfs.plan_nodes = 'all';
$explain
SET pfs.plan_nodes = off;
ROLLBACK;
SELECT '---';
$rows
TRUNCATE pfs.events_statements_summary_by_digest;
BEGIN;
$settings
SET pfs.plan_nodes = 'all';
\\o /dev/null
$query;
\\o
SET pfs.plan_nodes = off;
ROLLBACK;
SELECT '---';
$rows
EOT
	my ($before, $json, @rows) = split /^---\n/m, $out, 4;
	my @shown;

	return { error => "$out$err" } if $status != 0 || @rows < 2;
	@shown = flatten(decode_json($json)->[0]{Plan});
	my ($counted, $plain) = map { plans_of($_) } @rows;
	# The one with these types: functions may have others.
	my $types = join ' ', sort map { $_->{type} } @shown;
	my ($key) = grep { join(' ', sort map { $_->{type} } @{ $counted->{$_} }[1 .. $#{ $counted->{$_} }]) eq $types } keys %$counted;

	return { error => "no such plan: $types, but\n" . join "\n", map { join ' ', sort map { $_->{type} } @$_ } values %$counted } unless defined $key;
	return { error => 'without EXPLAIN it is another plan' } unless defined $plain->{$key};
	return { shown => \@shown, counted => $counted->{$key}, plain => $plain->{$key}, before => $before, json => $json, error => '' };
}

# What is wrong with the times of a plan's nodes.  alone: does the run's time come from one process?
sub wrong_times
{
	my ($alone, $output, @counted) = @_;
	my $selfs = 0;
	my @problems;

	$selfs += $_->{self} for $output, @counted;
	push @problems, "own times add up to $selfs, the run took $output->{total}" if $alone && abs($selfs - $output->{total}) > 1e-6 * $output->{total} + 2000 * (@counted + 1);
	push @problems, "$_->{type}: self $_->{self} of $_->{total}"
	  for grep { $_->{self} < 0 || $_->{timed} < $_->{calls} || ($_->{loops} > 0 && $_->{total} == 0) } @counted;
	return @problems;
}

# A plan's numbers are right.  varies: do rows come from one node or another, whichever is ready first?
sub check_plan
{
	my ($what, $settings, $query, $alone, $varies) = @_;
	my $found = explained($settings, $query);
	my ($counted, $plain) = @$found{qw(counted plain)};

	return fail("$what: $found->{error}") if $found->{error};
	my @problems = (
		difference($found->{shown}, [ @$counted[1 .. $#$counted] ]),
		wrong_times($alone, @$counted),
		map { "without EXPLAIN: $_" } wrong_times($alone, @$plain));

	# So it is with workers.
	if ($alone && !$varies)
	{
		push @problems, "EXPLAIN says\n$found->{json}\nand of what is not measured\n$found->{before}" if $found->{json} ne $found->{before};
		push @problems, "without EXPLAIN\n" . words(@$plain) . "\nwith\n" . words(@$counted) if words(@$plain) ne words(@$counted);
	}
	return is(join("\n", grep { $_ ne '' } @problems), '', $what);
}

while (my ($off, $query) = splice @plans, 0, 2)
{
	check_plan("$query" . ($off ? " without $off" : ''), "SET LOCAL max_parallel_workers_per_gather = 0;\n" .
		join('', map { "SET LOCAL enable_$_ = off;\n" } split / /, $off), $query, 1);
}
my $workers = join '', map { "SET LOCAL $_;\n" } 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
  'min_parallel_table_scan_size = 0', 'min_parallel_index_scan_size = 0';
for my $query (@parallel)
{
	for my $way ('', "SET LOCAL enable_hashjoin = off;\n", "SET LOCAL enable_mergejoin = off;\nSET LOCAL enable_nestloop = off;\nSET LOCAL enable_parallel_hash = off;\n")
	{
		next if $query =~ / p / && $way ne '';
		check_plan("workers: $query" . ($way =~ s/^SET LOCAL|\n//gr), $workers . $way, $query, 0) if $query !~ / p /;
	}
}
for my $query ('SELECT t FROM a ORDER BY t', 'SELECT b.i FROM a JOIN b USING (i) WHERE b.k > 1', 'SELECT j, count(*) FROM a WHERE i < 5000 GROUP BY j')
{
	my $settings = "SET LOCAL enable_material = off;\nSET LOCAL enable_mergejoin = off;\nSET LOCAL enable_nestloop = off;\n$workers";
	my $again = "SELECT * FROM (VALUES (1), (2), (3), (4)) v LEFT JOIN ($query LIMIT 5) q ON true";

	like(($server->psql("BEGIN; $settings EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $again"))[1], qr/Limit.*Gather.*loops=4/s, "workers start anew: $query");
	check_plan('... which is counted', $settings, $again, 0);
}
check_plan("one worker: $_", "SET LOCAL $parallel = on;\n", $_, 0) for grep { !/UNION ALL/ } @parallel[0 .. 6];
# Its time is by the server's clock, that of what is below it and above it by ours.
check_plan('a Hash of what takes long', "SET LOCAL enable_mergejoin = off;\nSET LOCAL enable_nestloop = off;\n",
	'SELECT * FROM c LEFT JOIN (SELECT i, pg_sleep(0.2) FROM c WHERE i < 6 OFFSET 0) s USING (i) WHERE c.i < 100', 1);

# ---- compiled expressions ----

SKIP:
{
	skip 'this server compiles nothing', 4 if $server->sql('SELECT pg_jit_available()') ne 't';
	my $compiled = join '', map { "SET LOCAL $_;\n" } 'jit = on', 'jit_above_cost = 0', 'jit_inline_above_cost = -1', 'jit_optimize_above_cost = -1';

	check_plan("compiled: $_", "SET LOCAL max_parallel_workers_per_gather = 0;\n$compiled", $_, 1)
	  for 'SELECT j, count(*), sum(i) FROM a WHERE i % 3 = 1 GROUP BY j', 'SELECT * FROM a JOIN b USING (i) WHERE a.j + b.k > 5',
	  'SELECT *, (SELECT count(*) FROM c WHERE c.i < b.k) FROM b WHERE i < 50';
	check_plan('compiled, in workers', $workers . $compiled, 'SELECT j, count(*) FROM a GROUP BY j', 0);
}

# ---- asynchronous scans ----

SKIP:
{
	skip 'this server has no postgres_fdw', 6
	  if $server->sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0';
	$server->sql(<<"EOT");
CREATE EXTENSION postgres_fdw;
CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$server->{host}', port '$server->{port}', dbname 'postgres', async_capable 'true');
CREATE SERVER two FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$server->{host}', port '$server->{port}', dbname 'postgres', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER one;
CREATE USER MAPPING FOR CURRENT_USER SERVER two;
CREATE FOREIGN TABLE fa (i int, j int) SERVER one OPTIONS (table_name 'a');
CREATE FOREIGN TABLE fb (i int, j int) SERVER one OPTIONS (table_name 'b');
CREATE FOREIGN TABLE fc (i int) SERVER two OPTIONS (table_name 'c');
EOT
	like($server->sql('EXPLAIN (COSTS OFF) SELECT i FROM fa UNION ALL SELECT i FROM fb'), qr/Async Foreign Scan/, 'scans are asynchronous');
	check_plan("asynchronous: $_", '', $_, 1, / LIMIT /)
	  for 'SELECT i FROM fa UNION ALL SELECT i FROM fb', 'SELECT i FROM fa UNION ALL SELECT i FROM fc', 'SELECT i FROM fa UNION ALL SELECT i FROM fc LIMIT 20',
	  'SELECT c.i, (SELECT count(*) FROM (SELECT i FROM fb WHERE fb.i < c.i UNION ALL SELECT i FROM fc WHERE fc.i < c.i) q) FROM c WHERE c.i < 6',
	  'SELECT * FROM c JOIN (SELECT i FROM fa UNION ALL SELECT i FROM fb) q USING (i)';
}

# ---- what fails ----

# What is wrong with the sums of the plans that have been measured in one process.
sub problems
{
	return $server->sql(<<"EOT");
SELECT query_id, plan_id, 'own times add up to ' || sum(sum_timer_self) || ', the run took ' || max(sum_timer_total) FILTER (WHERE node_id = 0)
FROM $nodes WHERE query_id IS NOT NULL GROUP BY 1, 2
HAVING abs(sum(sum_timer_self) - max(sum_timer_total) FILTER (WHERE node_id = 0)) > 1e-6 * max(sum_timer_total) FILTER (WHERE node_id = 0) + 2000 * count(*)
UNION ALL SELECT query_id, plan_id, node_type || ': self ' || sum_timer_self FROM $nodes WHERE query_id IS NOT NULL AND sum_timer_self < 0
EOT
}

# A node's sums, of the plan that has a node of this type.
sub sums_of
{
	my ($type, $columns) = @_;

	return $server->sql("SELECT $columns FROM $nodes WHERE node_type = '$type' AND query_id IS NOT NULL");
}

$server->sql(<<'EOT');
SET pfs.plan_nodes = off;
CREATE FUNCTION picky(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF x = 50 THEN RAISE 'not this one'; END IF; RETURN x; END $$;
EOT
my $s = $server->session;
$s->query("SET enable_mergejoin = off; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET pfs.plan_nodes = 'all'");
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
is($s->query(<<'EOT'), '', 'a function of a node fails, a block catches it');
DO $$
BEGIN
	FOR n IN 1 .. 3 LOOP
		BEGIN
			PERFORM picky(a.i) FROM a JOIN b USING (i) WHERE picky(b.i) > 0;
		EXCEPTION WHEN raise_exception THEN
			PERFORM count(*) FROM c;
		END;
	END LOOP;
END $$;
EOT
is(problems(), '', 'own times add up to the run that failed');
is(sums_of('Hash Join', 'count_measured, count_loops'), '3|3', 'each execution is counted');
is(sums_of('Aggregate', 'count_measured, count_loops, sum_rows'), '3|3|3', 'so is what comes behind it');
is($s->query('SELECT count(*) FROM a'), '10000', 'the session goes on');

$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$s->query("SET statement_timeout = '500ms'");
$s->send('SELECT * FROM a LEFT JOIN (SELECT i, pg_sleep(0.02) FROM c OFFSET 0) q USING (i)');
$s->result;
like($s->last_error, qr/statement timeout/, 'cancelled while a hash table is built');
is($s->query('SET statement_timeout = 0; SELECT count(*) FROM a'), '10000', 'the session goes on');
is(problems(), '', 'own times add up to the run that was cancelled');
is(sums_of($_, 'count_measured, sum_timer_total BETWEEN 4e11 AND 2e12'), '1|t', "$_ has taken that long") for 'Hash', 'Hash Join';
is(sums_of('Hash', 'sum_timer_self < 1e11'), 't', '... what is below the Hash has');

# ---- the setting ----

$server->fails("SET pfs.plan_nodes = 'some'", '22023', qr/invalid value for parameter "pfs.plan_nodes": "some"/, 'a value that there is not');
$server->sql('CREATE ROLE somebody LOGIN');
my ($status, $out, $err) = $server->psql("SET pfs.plan_nodes = 'all'", user => 'somebody');
like($err, qr/permission denied to set parameter "pfs.plan_nodes"/, 'only superusers say what is measured');
is(($server->psql("SELECT count(*) FROM pg_class, pg_attribute", user => 'somebody'))[0], 0, '... others execute');

# ---- beside auto_explain, and without room ----

# What auto_explain has logged of a few statements, without what differs between any two runs.
sub logged
{
	my ($measured) = @_;

	$server->mark_log;
	$server->psql(<<"EOT");
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET pfs.plan_nodes = '$measured';
\\o /dev/null
SELECT * FROM a JOIN b USING (i);
SELECT * FROM c JOIN (SELECT i FROM b OFFSET 0) q USING (i) ORDER BY n LIMIT 3;
BEGIN;
DECLARE back SCROLL CURSOR FOR SELECT * FROM a JOIN b USING (i);
FETCH 5 FROM back;
CLOSE back;
$workers
SELECT count(*) FROM a JOIN b USING (i);
COMMIT;
EOT
	my $log = $server->log_text;

	return join "\n", grep { /^\t/ } split /\n/, $log;
}

for my $preload ('auto_explain,pfs', 'pfs,auto_explain')
{
	$server->stop;
	$server->conf("shared_preload_libraries = '$preload'\nauto_explain.log_min_duration = 0");
	$server->start;
	my $without = logged('off');

	like($without, qr/^\t *-> +Hash.*Parallel Hash/ms, "$preload: plans are logged");
	is(logged('all'), $without, "... the same ones while they are measured");
	unlike($without, qr/Buckets/, '... without what ANALYZE would add');
}
$server->stop;
$server->conf("shared_preload_libraries = 'pfs'\npfs.plan_nodes_size = 0");
$server->start;
$server->sql("SET pfs.plan_nodes = 'all'");
is($server->sql('SELECT count(*) FROM a JOIN b USING (i)'), '5000', 'without room nothing is measured');
is($server->sql("SELECT count(*) FROM $_"), '0', "... and $_ is empty") for $nodes, $waits, 'pfs.plan_nodes_current';
done_testing();
