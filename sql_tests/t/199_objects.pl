# objects_summary_global_by_type: the same numbers as the tables that show parts of them, and
# TRUNCATE of each takes nothing from another, also under load; objects that are dropped; other
# databases; what there is no room for.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $seconds = $ENV{PFS_RESET_SECONDS} // 5;
my $server = PfsServer->new('main', conf => <<'EOT');
autovacuum = off
max_connections = 40
max_prepared_transactions = 2
pfs.instruments = 'wait/io/table/handler=ON'
EOT

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(<<'EOT');
CREATE SCHEMA o;
CREATE TABLE o.t (id int PRIMARY KEY, v text);
CREATE INDEX t_v ON o.t (v);
CREATE TABLE o.u (id int);
CREATE FUNCTION o.f(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
CREATE PROCEDURE o.p() LANGUAGE plpgsql AS 'BEGIN UPDATE o.t SET v = v WHERE id = 1; END';
CREATE FUNCTION o.tr() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER tr BEFORE UPDATE ON o.t FOR EACH ROW EXECUTE FUNCTION o.tr();
EOT

my %table = (
	objects => 'objects_summary_global_by_type',
	rows => 'table_io_waits_summary_by_table',
	locks => 'table_lock_waits_summary_by_table',
	programs => 'events_statements_summary_by_program');
my $times = 'count_star, count_timed, sum_timer_wait, min_timer_wait, max_timer_wait';

# What one of these tables has counted, by object; the same as text.
sub counts
{
	my ($which) = @_;
	my $rows = $server->sql("SELECT object_name, count_star FROM pfs.$table{$which} WHERE object_schema = 'o' AND count_star > 0");

	return { map { split /\|/ } split /\n/, $rows };
}

sub text
{
	my ($counts) = @_;

	return join ', ', map { "$_ $counts->{$_}" } sort keys %$counts;
}

sub truncate_tables { $server->sql("TRUNCATE pfs.$table{$_}") foreach @_ }

# ---- the same numbers ----

my $s = $server->session;

sub work
{
	$s->query("INSERT INTO o.t SELECT g, 'v' || g FROM generate_series(1, 100) g");
	$s->query('SET enable_seqscan = off');
	$s->query('SELECT count(v) FROM o.t WHERE id <= 10');
	$s->query('RESET enable_seqscan');
	$s->query('SELECT o.f(g) FROM generate_series(1, 7) g');
	$s->query('CALL o.p()');
	$s->query("UPDATE o.t SET v = 'w' WHERE id BETWEEN 2 AND 3");
	$s->query('DELETE FROM o.t');
}

# One that is in the lock's queue only can get it without a wait.
sub wait_for_lock
{
	my ($table) = @_;
	my ($holder, $waiter) = ($server->session, $server->session);
	my $pid = $waiter->query('SELECT pg_backend_pid()');

	$holder->query("BEGIN; LOCK TABLE $table");
	$waiter->send("BEGIN; LOCK TABLE $table; COMMIT");
	$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = pfs.thread_id($pid) AND event_name = 'wait/lock/relation'", 1);
	$holder->query('COMMIT');
	$waiter->result;
	$_->close foreach $waiter, $holder;
}

# Objects whose row is not the sum of the parts; each time is converted by itself.
my $differ = 'SELECT object_name FROM pfs.objects_summary_global_by_type o FULL JOIN (
	SELECT object_type, database_name, object_schema, object_name, sum(count_star) AS n, sum(count_timed) AS timed, sum(sum_timer_wait) AS total,
		coalesce(min(min_timer_wait) FILTER (WHERE count_timed > 0), 0) AS shortest, max(max_timer_wait) AS longest
	FROM (' . join(' UNION ALL ', map { "SELECT object_type, database_name, object_schema, object_name, $times FROM pfs.$table{$_}" } qw(rows locks programs)) . ') p
	GROUP BY 1, 2, 3, 4) p USING (object_type, object_name)
	WHERE o.object_schema IS DISTINCT FROM p.object_schema OR o.database_name IS DISTINCT FROM p.database_name OR count_star <> n OR count_timed <> timed
		OR abs(sum_timer_wait - total) > 4 OR min_timer_wait <> shortest OR max_timer_wait <> longest
		OR avg_timer_wait <> CASE WHEN count_timed = 0 THEN 0 ELSE div(sum_timer_wait, count_timed) END';

truncate_tables(keys %table);
work();
wait_for_lock('o.u');
wait_for_lock('o.t');
my $rows_of_t = counts('rows')->{t};

cmp_ok($rows_of_t, '>=', 100 + 10 + 3 + 100, 'rows of the table');
is(text(counts('objects')), 'f 7, p 1, t ' . ($rows_of_t + 1) . ', tr 3, u 1', 'each object has all that is counted of it');
is($server->sql($differ), '', 'and the same times');
is($server->sql("SELECT string_agg(DISTINCT object_type, ' ' ORDER BY object_type) FROM pfs.objects_summary_global_by_type"), 'FUNCTION PROCEDURE TABLE TRIGGER', 'of four types');
is($server->sql('SELECT count(*) FROM pfs.objects_summary_global_by_type WHERE count_timed > 0 AND NOT (min_timer_wait > 0 AND max_timer_wait >= avg_timer_wait
	AND avg_timer_wait >= min_timer_wait AND sum_timer_wait >= max_timer_wait)'), 0, 'times agree');

# ---- each TRUNCATE by itself ----

# What each table has to show: what was counted since its own TRUNCATE.
my %expected = map { $_ => text(counts($_)) } keys %table;

sub truncates_alone
{
	my ($which, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	truncate_tables($which);
	$expected{$which} = '';
	is(join("\n", map { "$_: " . text(counts($_)) } sort keys %table), join("\n", map { "$_: $expected{$_}" } sort keys %table),
		"TRUNCATE of $which takes nothing else");
}

truncates_alone($_) foreach qw(rows locks programs objects programs objects objects rows rows locks objects);
# With something counted in between, in each order.
foreach my $which (qw(objects rows programs objects locks objects objects programs rows rows objects))
{
	my %before = map { $_ => counts($_) } keys %table;

	$s->query("INSERT INTO o.t SELECT g, 'v' || g FROM generate_series(1, 100) g");
	$s->query('SELECT o.f(g) FROM generate_series(1, 7) g');
	$s->query('CALL o.p(); CALL o.p(); CALL o.p()');
	$s->query('TRUNCATE o.t');
	wait_for_lock('o.u');
	my %now = map { $_ => counts($_) } keys %table;
	my %more = map { my $t = $_; $t => { map { $_ => $now{$t}{$_} - ($before{$t}{$_} // 0) } keys %{ $now{$t} } } } keys %table;

	is(text($more{programs}), 'f 7, p 3, tr 3', "calls before TRUNCATE of $which");
	is(text($more{objects}), "f 7, p 3, t $more{rows}{t}, tr 3, u 1", '... and all of the objects');
	cmp_ok($more{rows}{t}, '>=', 103, '... with their rows');
	$expected{$_} = text($now{$_}) foreach keys %table;
	truncates_alone($which);
}
truncate_tables(keys %table);
work();
my $by_table = "SELECT $times FROM pfs.table_io_waits_summary_by_table WHERE object_name = 't'";
my $by_index = "SELECT index_name, count_fetch, $times FROM pfs.table_io_waits_summary_by_index_usage WHERE object_name = 't' ORDER BY 1";
my @before = map { $server->sql($_) } $by_table, $by_index;

truncate_tables('objects', 'objects');
is(join("\n", map { $server->sql($_) } $by_table, $by_index), join("\n", @before), 'what is kept has its times, by table and by index');
is($server->sql("SELECT $times FROM pfs.objects_summary_global_by_type WHERE object_name = 't'"), '0|0|0|0|0', 'a table that was emptied keeps its row');

# ---- dropped ----

truncate_tables(keys %table);
work();
truncate_tables('rows', 'programs');
$s->query('CREATE TABLE o.short (i int); INSERT INTO o.short VALUES (1); BEGIN; DROP TABLE o.short; ROLLBACK');
truncate_tables('rows');
is(counts('objects')->{short}, 1, 'a drop that is rolled back leaves the row');
$s->query('DROP TABLE o.short; DROP PROCEDURE o.p()');
unlike(text(counts('objects')), qr/short|p /, 'what is dropped has no row');
# Its record becomes another table's, with nothing that was kept.
$s->query("CREATE TABLE o.again$_ (i int); INSERT INTO o.again$_ VALUES (1)") foreach 1 .. 20;
is($server->sql("SELECT count(*), max(count_star) FROM pfs.objects_summary_global_by_type WHERE object_name LIKE 'again%'"), '20|1', 'a new table begins with nothing');
$s->query("DROP TABLE o.again$_") foreach 1 .. 20;
is(counts('objects')->{f}, 7, 'a function');
$s->query("BEGIN; DROP FUNCTION o.f(int); PREPARE TRANSACTION 'g'");
$s->query("COMMIT PREPARED 'g'");
is(counts('objects')->{f}, undef, '... that a prepared transaction has dropped');
$s->query('CREATE TABLE o.short (i int PRIMARY KEY); INSERT INTO o.short VALUES (1)');
my $records = q{SELECT string_agg(records_used::text, ' ' ORDER BY name) FROM pfs.containers WHERE name IN ('table_instances', 'index_stat')};
my $used = $server->sql($records);
$s->query('BEGIN; DROP TABLE o.short');
is($s->query("SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_name = 'short'"), 0, 'a table that this transaction has dropped');
$s->query('ROLLBACK');
is($server->sql("SELECT max(count_insert) FROM pfs.table_io_waits_summary_by_index_usage WHERE object_name = 'short'"), 1, 'has its numbers again when that is rolled back');
$s->query("BEGIN; DROP TABLE o.short; PREPARE TRANSACTION 'g'; COMMIT PREPARED 'g'");
is($server->sql($records), $used, 'a table that a prepared transaction has dropped');
unlike(text(counts('rows')), qr/short/, 'is not shown');
$server->sql('SELECT count(*) FROM pfs.table_io_waits_summary_by_index_usage');
isnt($server->sql($records), $used, 'and removed by who reads');

# ---- other databases ----

$server->sql('CREATE DATABASE other');
my $other = $server->session(db => 'other');

$other->query("CREATE TABLE t (i int); INSERT INTO t VALUES (1), (2); CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'");
$other->query('SELECT f()');
my ($table, $function) = split /\|/, $other->query(q{SELECT 't'::regclass::oid, 'f'::regproc::oid});

is($server->sql(q{SELECT object_name, count_star FROM pfs.objects_summary_global_by_type
	WHERE database_name = 'other' AND object_schema IS NULL ORDER BY object_type DESC}), "$table|2\n$function|1", 'objects of another database have OIDs for names');
$other->close;
$server->sql('DROP DATABASE other');
is($server->sql("SELECT count(*) FROM pfs.objects_summary_global_by_type WHERE object_name IN ('$table', '$function')"), 0, 'and go with it');

# ---- many processes, and resets ----

$server->sql(<<'EOT');
CREATE TABLE o.many (id int);
CREATE FUNCTION o.many_f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
EOT
my ($made, $end, $rounds, $resets) = (0, time() + $seconds, 0, 0);
my %taken = map { $_ => 0 } keys %table;

truncate_tables(keys %table);
while (time() < $end || $rounds++ == 0)
{
	my $load = $server->pgbench_start("INSERT INTO o.many VALUES (1), (2), (3);\nSELECT o.many_f();\n", '-t', 50, '-c', 4);

	while ($server->pgbench_running($load))
	{
		my $which = (qw(objects rows objects programs programs objects rows))[ $resets++ % 7 ];

		$taken{$which} += $server->sql("SELECT pfs.reset('$table{$which}')");
	}
	$server->pgbench_end($load);
	$made += 4 * 50;
}
$taken{$_} += $server->sql("SELECT pfs.reset('$table{$_}')") foreach qw(objects rows programs);
cmp_ok($resets, '>', 3, 'resets under load');
is($taken{rows}, 3 * $made, 'resets of rows took all rows, each once');
is($taken{programs}, $made, 'resets of programs took all calls, each once');
is($taken{objects}, 4 * $made, 'resets of objects took both, each once');

# ---- more than there is room for, and none ----

foreach my $size (1, 0)
{
	$server->stop;
	$server->conf("pfs.max_table_instances = $size\npfs.max_program_instances = $size");
	$server->start;
	$s = $server->session;
	$s->query('INSERT INTO o.many VALUES (1); SELECT o.many_f()');
	is(text(counts('objects')), $size == 0 ? '' : 'many 1, many_f 1', "size $size: what has a record");
	is($server->sql("SELECT pfs.reset('objects_summary_global_by_type')"), 2 * $size, '... and is reset');
}
unlike($server->log_text, qr/PANIC|terminated by signal/, 'nothing crashed');

done_testing();
