# What survives a restart, in other circumstances: saves under a load, evicted digests, smaller sizes, databases and roles that
# have gone, extensions that come later, standbys.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;

my $server = PfsServer->new('main', preload => 'pfs,' . test_module('pfs_test'), conf => <<'EOT');
autovacuum = off
max_connections = 40
pfs.save_interval = 0
pfs.instruments = 'wait/io/table/handler=ON'
pfs.digests_size = 100
EOT

sub status { return $server->sql("SELECT variable_value FROM pfs.status WHERE variable_name = '$_[0]'"); }

$server->start;
$server->sql('CREATE EXTENSION pfs');
$server->sql(test_functions($_)) foreach ('pfs_test_save', 'pfs_test');
$server->sql("CREATE DATABASE $_") foreach ('one', 'two');
$server->sql("CREATE ROLE $_ SUPERUSER LOGIN") foreach ('ann', 'bob');

# ---- saves while sessions run ----

# All numbers of a file are of statements that had ended, each once: between those that had ended before the save began, and
# those that have when it is over.
my $script = "SELECT 1;\nSELECT 1, 2;\nSELECT 1, 2, 3;\n";
my $ended = q{SELECT coalesce(sum(count_star), 0) FROM pfs.events_statements_summary_by_digest WHERE user_name = 'ann'};
my $load = $server->pgbench_start($script, '-c', 16, '-j', 1, '-T', 150, '-U', 'ann');

ok($server->poll("SELECT ($ended) > 1000", 't'), 'sixteen sessions run');
my $exact = 0;

# A session may have no processor, in the middle of something, for longer than readers wait: five times without one.
for (1 .. 30)
{
	my $inexact = status('pfs_reads_inexact');
	my ($before, $saved, $after) = split /\|/,
	  $server->sql("SELECT ($ended), save()") . '|' . $server->sql($ended);

	is($saved, 't', 'a save meanwhile');
	$exact++ if status('pfs_reads_inexact') == $inexact;
	ok($server->poll("SELECT ($ended) > $before", 't'), 'they go on');
	$server->{range} = [ $before, $after ];
	# The last one is such.
	last if $exact == 5;
}
is($exact, 5, 'no reader went on without having waited');
$server->stop('immediate');
$server->pgbench_end($load, fail_ok => 1);
$server->start;
my $kept = $server->sql($ended);
my ($least, $most) = @{ $server->{range} };
ok($least <= $kept && $kept <= $most, 'what was kept is of the moment of the save') or diag("$least <= $kept <= $most");
is($server->sql(<<'EOT'), 't', 'histograms have as many statements as were timed, but for those that ended between the two');
SELECT bool_and(d.count_timed = h.n) FROM pfs.events_statements_summary_by_digest d
  JOIN (SELECT database_name, user_name, query_id, sum(count_bucket) AS n FROM pfs.events_statements_histogram_by_digest GROUP BY 1, 2, 3) h
 USING (database_name, user_name, query_id) WHERE user_name = 'ann'
EOT

# ---- evicted digests, and "all others" ----

$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
my $many = join('', map { 'SELECT ' . join(', ', 1 .. $_) . ";\n" } 1 .. 300);

$server->psql($many, db => 'one', user => 'ann');
my $sums = q{
SELECT sum(count_star), count(*) FILTER (WHERE query_id IS NULL), sum(count_star) FILTER (WHERE query_id IS NULL) > 0
  FROM pfs.events_statements_summary_by_digest WHERE database_name = 'one' OR query_id IS NULL};
my $in_buckets = 'SELECT sum(count_bucket) FROM pfs.events_statements_histogram_by_digest';
my $others = q{
SELECT count_star, count_timed, sum_rows_sent, first_seen, last_seen FROM pfs.events_statements_summary_by_digest WHERE query_id IS NULL};
my $waited = q{SELECT event_name, sum(count_star) FROM pfs.events_waits_summary_by_digest WHERE database_name = 'one' GROUP BY 1 ORDER BY 1};
my $session = $server->session;

# Through one session, whose own few statements have their digests.
$session->query($_) foreach ($sums, $others, $in_buckets, $waited);
my $evicted = status('pfs_digests_lost');
cmp_ok($evicted, '>', 100, 'digests were evicted');
my @before = map { $session->query($_) } ($others);
like($before[0], qr/^\d+\|/, 'their numbers are those of all others');
my $all = q{SELECT sum(count_star) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'one' OR query_id IS NULL};
my $sum = $server->sql($all);
$server->restart;
cmp_ok($server->sql($all), '>=', $sum, 'no statement is lost');
cmp_ok($server->sql($all) - $sum, '<', 60, 'nor counted twice');
is((split /\|/, $server->sql($others))[3], (split /\|/, $before[0])[3], 'all others are since then');

# ---- smaller sizes ----

$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
$server->psql('SELECT 1 AS a_long_name_of_a_column, 2 AS another_long_name;' . join('', map { 'SELECT ' . join(', ', 1 .. $_) . ";\n" } 1 .. 60), db => 'one', user => 'ann');
$server->psql("SELECT 'x' AS \"spät\", pg_sleep(0.01);" x 20, db => 'one', user => 'ann');
my $one = q{SELECT sum(count_star) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'one' OR query_id IS NULL};
$sum = $server->sql($one);
$server->stop;
$server->conf("pfs.digests_size = 30\npfs.max_digest_length = 12\npfs.max_sql_text_length = 10");
$server->start;
between($server->sql($one), $sum, $sum + 10, 'with fewer places the rest is all others');
is($server->sql(q{SELECT max(length(digest_text)) <= 12 AND max(length(query_sample_text)) <= 10 FROM pfs.events_statements_summary_by_digest}), 't', 'texts are cut');
is($server->sql(q{SELECT count(*) > 0 FROM pfs.events_statements_summary_by_digest WHERE database_name = 'one' AND digest_text LIKE 'SELECT $1 AS%'}), 't',
	'the latest are kept') or diag($server->sql('SELECT digest_text FROM pfs.events_statements_summary_by_digest'));
$server->stop;
$server->conf("pfs.digests_size = 0");
$server->start;
is($server->sql('SELECT count(*) FROM pfs.events_statements_summary_by_digest'), 0, 'without digests nothing is shown');
$server->stop;
$server->conf("pfs.digests_size = 100\npfs.max_digest_length = 1024\npfs.max_sql_text_length = 1024");
$server->start;

# ---- two databases, two roles: one of each goes ----

$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
foreach my $db ('one', 'two')
{
	$server->psql('SELECT 1, 2, 3', db => $db, user => $_) foreach ('ann', 'bob');
}
$server->sql('DROP DATABASE two');
$server->sql('DROP ROLE bob');
my $keys = q{SELECT database_name, user_name, sum(count_star) FROM pfs.events_statements_summary_by_digest
  WHERE database_name <> 'postgres' OR database_name IS NULL AND query_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2};
my $shown = $server->sql($keys);
like($shown, qr/^one\|ann\|1$/m, 'one is there');
$server->restart;
is($server->sql($keys), $shown, 'rows of what has gone are shown as before');

# ---- tables: those that go meanwhile, and more than there is room for ----

sub rows_in_one
{
	my ($status, $out, $err) = $server->psql(q{SELECT object_name, index_name, sum(count_star), sum(count_fetch), sum(count_insert), sum(count_update), sum(count_delete)
	  FROM pfs.table_io_waits_summary_by_digest WHERE object_schema = 'public' OR object_schema IS NULL AND database_name = 'one' GROUP BY 1, 2 ORDER BY 1, 2}, db => 'one');

	die $err if $status != 0;
	return $out;
}

sub work_on
{
	my ($table) = @_;

	$server->psql("INSERT INTO $table SELECT g, g FROM generate_series(1, 30) g; UPDATE $table SET b = 0 WHERE a < 11; DELETE FROM $table WHERE a = 11;"
		  . " SET enable_seqscan = off; SELECT b FROM $table WHERE a = 7;", db => 'one', user => 'ann');
}

$server->psql('CREATE EXTENSION pfs; ' . join(' ', map { "CREATE TABLE $_ (a int PRIMARY KEY, b int);" } 'gone', 'stays', map { "more$_" } 1 .. 20), db => 'one');
$server->sql('TRUNCATE pfs.events_statements_summary_by_digest');
work_on($_) foreach 'gone', 'stays';
my $of_stays = qr/^stays\|stays_pkey\|\d.*\nstays\|\|\d.*$/m;
my $rows = rows_in_one();
like($rows, qr/^gone\|/m, 'tables have rows');
($rows) = $rows =~ /($of_stays)/;
like($rows, qr/^stays\|\|\d+\|\d+\|30\|10\|1$/m, 'of each kind');
$server->sql('SELECT save()');
$server->psql('DROP TABLE gone', db => 'one');
$server->stop('immediate');
$server->start;
is(rows_in_one(), $rows, 'a table that was dropped behind the save is not there; the other one has its rows');
is(($server->psql(q{SELECT count(*) FROM pfs.table_io_waits_summary_by_table WHERE object_name = 'stays' AND count_star > 0}, db => 'one'))[1], 0,
	'of which other tables know nothing');
$server->psql('TRUNCATE stays', db => 'one');
work_on('stays');
like(rows_in_one(), qr/^stays\|\|\d+\|\d+\|60\|20\|2$/m, 'and goes on from there');
work_on("more$_") foreach 1 .. 20;
my $all_rows = rows_in_one();
$server->restart;
is(rows_in_one(), $all_rows, 'a clean stop keeps those of all tables');
$server->stop;
$server->conf("pfs.max_table_instances = 8\npfs.max_index_stat = 3");
$server->start;
my @kept = split /\n/, rows_in_one();
cmp_ok(scalar(@kept), '<', 12, 'with fewer places there are fewer');
is(scalar(grep { index("$all_rows\n", "$_\n") < 0 } @kept), 0, 'with what they had');
$server->stop;
$server->conf("pfs.max_table_instances = -1\npfs.max_index_stat = -1");
$server->start;

# ---- what an extension adds to the instruments ----

SKIP:
{
	skip 'waits under tranches of extensions are not kept on 19', 3 if PfsServer::version() >= 19;
	my $holder = $server->session;
	my $waiter = $server->session;

	my $wait = sub {
		my ($holds, $waits) = @_;
		my $id = $waits->thread_id;

		$holds->send(q{SELECT hold('pfs_test', 'exclusive')});
		$server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name = 'wait/timeout/OtherSleep'}, 1);
		$waits->send(q{SELECT lwlock('pfs_test', 'exclusive', 0)});
		$server->poll("SELECT count(*) FROM pfs.events_waits_current WHERE thread_id = $id AND event_name LIKE 'wait/synch/lwlock/pfs_test%'", 1);
		$server->sql('SELECT release_hold()');
		$_->result foreach @_;
	};

	$wait->($holder, $waiter);
	my $of_tranche = q{SELECT event_name, sum(count_star) FROM pfs.events_waits_summary_by_digest WHERE event_name LIKE 'wait/synch/lwlock/pfs_test%' GROUP BY 1};
	$server->poll(q{SELECT sum(count_star) FROM pfs.events_waits_summary_by_digest WHERE event_name LIKE 'wait/synch/lwlock/pfs_test%'}, 1);
	my $waits = $server->sql($of_tranche);

	like($waits, qr/^wait\/synch\/lwlock\/pfs_test[^|]*\|\d+$/, 'a wait for an extension\'s lock');
	$server->restart;
	is($server->sql($of_tranche), $waits, 'is kept, before anybody has waited for it again');
	$wait->($server->session, $server->session);
	ok($server->poll($of_tranche, $waits =~ s/\|1$/|2/r), 'and what comes then is of the same name');
}

# ---- standby ----

my $backup = PfsServer::folder() . '/backup';
$server->sql('SELECT save()');
run_ok($server->bindir . '/pg_basebackup', '-D', $backup, '-d', $server->connstr, '-c', 'fast', '-R', '-X', 'stream', '--no-sync');
ok(!-e "$backup/pg_stat_tmp/pfs.save", 'a base backup leaves the file out');
my $standby = PfsServer->new('standby', from => $backup, conf => <<'EOT');
hot_standby = on
EOT
$standby->start;
is($standby->sql(q{SELECT count(*) FROM pfs.events_statements_summary_by_digest WHERE database_name IN ('one', 'two')}), 0, 'a standby begins with nothing');
$standby->psql('SELECT 1, 2, 3, 4', db => 'one', user => 'ann');
my $on_standby = q{SELECT sum(count_star) FROM pfs.events_statements_summary_by_digest WHERE database_name = 'one'};
ok($standby->poll($on_standby, 1), 'and counts');
$standby->restart;
is($standby->sql($on_standby), 1, 'what it has counted survives its own restart');
$standby->promote;
ok($standby->poll('SELECT pg_is_in_recovery()', 'f'), 'it is promoted');
$standby->psql('SELECT 1, 2, 3, 4', db => 'one', user => 'ann');
ok($standby->poll($on_standby, 2), 'and goes on');
$standby->restart;
is($standby->sql($on_standby), 2, 'also over a restart');

done_testing();
