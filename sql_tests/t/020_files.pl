# Sums of file calls: bytes and times against PostgreSQL's own counters, counts
# against loads of known size, exact under resets, removal and full containers.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(sleep);

my $server = PfsServer->new('main', conf => <<'EOT');
shared_buffers = 1MB
max_connections = 40
track_io_timing = on
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
fsync = off
EOT
# The waiter itself makes the call, as in all versions before.
$server->conf('io_method = sync') if PfsServer::version() >= 18;
$server->start(env => { LD_PRELOAD => slow_reads() });
$server->sql('CREATE EXTENSION pfs');

# ---- a cold read ----

my $s = $server->session;
$s->query(<<'EOT');
CREATE TABLE big WITH (fillfactor = 20) AS SELECT g AS id, repeat('x', 500) AS filler FROM generate_series(1, 6000) g;
VACUUM big;
CHECKPOINT;
EOT
my $file = $s->query(q{SELECT pg_relation_filepath('big')});

my ($blocks, $bytes, $reads, $timed);
my $cold_read = sub
{
	# Other tables, so that nothing of this one is in the buffers.
	$server->sql('CREATE TABLE IF NOT EXISTS other AS SELECT * FROM big');
	$server->sql('SELECT count(filler) FROM other');
	$s->query('SELECT count(*) FROM pg_class');
	$server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
	my $plan = $s->query('EXPLAIN (ANALYZE, BUFFERS, SUMMARY OFF, FORMAT JSON) SELECT count(filler) FROM big');
	($blocks) = $plan =~ /"Shared Read Blocks": (\d+)/;
	my ($milliseconds) = $plan =~ /"(?:Shared )?I\/O Read Time": ([\d.]+)/;
	($bytes, my $sum, $reads, $timed) = split /\|/, $server->sql(<<"EOT");
SELECT sum_number_of_bytes_read, sum_timer_read / 1e9, count_read, count_timed FROM pfs.file_summary_by_instance
 WHERE event_name = 'wait/io/file/DataFileRead' AND file_name = '$file'
EOT
	return ($sum, $milliseconds);
};
as_long_as($cold_read, 0.05, 'a cold read, ms');
cmp_ok($bytes, '>', 8e6, 'the run read from the file');
is($bytes / $server->block_size, $blocks, 'as many blocks as EXPLAIN says');
is($timed, $reads, 'all of them timed');
is($server->sql(q{SELECT sum_number_of_bytes_read / current_setting('block_size')::int FROM pfs.file_summary_by_relation WHERE object_name = 'big'}) + 0,
	$blocks, 'and by relation');
is($server->sql(<<"EOT"), 't', 'the same row by object');
SELECT w.count_star = f.count_star AND w.sum_timer_wait = f.sum_timer_wait AND w.avg_timer_wait = f.avg_timer_read
  FROM pfs.file_summary_by_instance f JOIN pfs.events_waits_summary_by_instance w USING (event_name, object_instance_begin)
 WHERE event_name = 'wait/io/file/DataFileRead' AND file_name = '$file'
EOT

# ---- removal: the rows go, the event's numbers stay ----

my $total = q{SELECT count_star, sum_timer_read, sum_number_of_bytes_read FROM pfs.file_summary_by_event_name
 WHERE event_name = 'wait/io/file/DataFileRead'};

$server->sql(q{SELECT pfs.set_instruments('wait/io/file/DataFileRead', 'NO')});
my $before = $server->sql($total);
$server->sql('DROP TABLE big');
$server->sql('CHECKPOINT');
is($server->sql("SELECT count(*) FROM pfs.file_summary_by_instance WHERE file_name = '$file'"), 0, 'no row of the removed file');
is($server->sql("SELECT count(*) FROM pfs.file_instances WHERE file_name = '$file'"), 0, 'no instance');
is($server->sql($total), $before, 'the numbers of the event are the same');

# Until it is no tombstone any more, and after that.
sub churn
{
	my ($n) = @_;

	my ($status, $out, $err) =
	  $server->psql(qq{SELECT 'CREATE TEMP TABLE churn (a int); DROP TABLE churn' FROM generate_series(1, $n) \\gexec\n});

	die $err if $status != 0;
}
my $records = q{SELECT records_used FROM pfs.containers WHERE name = 'file_instances'};
my $records_before = $server->sql($records);

churn(400);
is($server->sql($total), $before, 'and still are when the record was freed');
cmp_ok($server->sql($records), '<', $records_before + 300, 'it was');
$server->sql(q{SELECT pfs.set_instruments('wait/io/file/DataFileRead', 'YES')});

# ---- by relation: other databases, other tablespaces ----

my $folder = "$server->{dir}/space";

mkdir $folder or die "$folder: $!";
$server->sql("CREATE TABLESPACE space LOCATION '$folder'");
$server->sql('CREATE TABLE in_space (a int PRIMARY KEY) TABLESPACE space');
$server->sql('INSERT INTO in_space SELECT generate_series(1, 10000)');
$server->sql('CREATE DATABASE second');
my ($status, $filenode) = $server->psql(
	q{CREATE TABLE far AS SELECT 1 AS a; CHECKPOINT; SELECT pg_relation_filenode('far'); SELECT count(*) FROM far}, db => 'second');
($filenode) = split /\n/, $filenode;
my $relation = 'SELECT tablespace, object_schema, kind, count_star > 0 FROM pfs.file_summary_by_relation WHERE object_name =';

is($server->sql("$relation 'in_space'"), 'space|public|relation|t', 'a table in a tablespace');
is($server->sql("$relation 'in_space_pkey'"), 'pg_default|public|relation|t', 'its index in the usual one');
is($server->sql("$relation '$filenode'"), 'pg_default|[second]|relation|t', 'a table of another database');
$server->sql(q{SET work_mem = '64kB'; SELECT count(*) FROM (SELECT g FROM generate_series(1, 100000) g ORDER BY -g) s});
is($server->sql(q{SELECT pfs.reset('file_summary_by_event_name') > 0}), 't', 'sums are emptied');
my $sorting = $server->session;
$sorting->query(q{SET work_mem = '64kB'; BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 100000) g ORDER BY -g; FETCH 1 FROM c});
is($server->sql(q{SELECT tablespace, object_schema, object_name, count_write > 0 FROM pfs.file_summary_by_relation WHERE kind = 'temporary' AND object_name IS NULL}),
	'pg_default|||t', 'temporary files');
$sorting->close;
$server->sql('DROP DATABASE second');
is($server->sql("$relation '$filenode'"), '', 'no row of a removed database');

# ---- counts: calls on a file and calls on none ----

my $stat = 'wait/io/file/DataFileStat';

# What was running when it was switched off is counted when it ends.
sub calls_end { return $server->poll(q{SELECT count(*) FROM pfs.events_waits_current WHERE event_name LIKE 'wait/io/file/%'}, 0); }

sub only_stat
{
	$server->sql(q{SELECT pfs.set_instruments('%', 'NO')});
	calls_end();
	$server->sql("SELECT pfs.set_instruments('$stat', 'YES')");
	$server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
}

sub by_event { return $server->sql(q{SELECT coalesce(sum(count_star), 0), coalesce(sum(count_misc), 0) FROM pfs.file_summary_by_event_name}); }
sub by_instance { return $server->sql(q{SELECT coalesce(sum(count_star), 0) FROM pfs.file_summary_by_instance}); }

sub stats
{
	my ($path, $n) = @_;

	return "SELECT count(pg_stat_file($path, true)) FROM generate_series(1, $n)";
}

my $known = $server->sql(q{SELECT quote_literal(pg_relation_filepath('other'))});
my $unknown = q{'base/1/999999999'};

$server->sql('SELECT count(*) FROM other');
only_stat();
$server->sql(stats($known, 30));
$server->sql(stats($unknown, 12));
is(by_event(), '42|42', 'each call is there once');
is(by_instance(), 30, 'those on a file that has an instance by instance');
is($server->sql(q{SELECT pfs.reset('file_summary_by_instance')}), 30, 'reset by instance returns what left the table');
is(by_instance(), 0, 'which is empty then');
is($server->sql("SELECT count(*) > 0 FROM pfs.file_summary_by_instance WHERE event_name = '$stat'"), 't', 'but has its rows');
is(by_event(), '42|42', 'and the event names have all');
$server->sql(stats($known, 8));
is(by_event(), '50|50', 'and what comes after');
is($server->sql(q{SELECT pfs.reset('events_waits_summary_by_instance')}), 8, 'the other view of the store pushes, too');
is($server->sql(q{SELECT pfs.reset('file_summary_by_event_name')}), 50, 'reset by event name returns all');
is(by_event() . ' ' . by_instance(), '0|0 0', 'nothing is left');

# Switches above and beside it.
$server->sql(q{SELECT pfs.set_consumers('thread_instrumentation', 'NO')});
$server->sql(stats($known, 5));
is(by_event(), '5|5', 'counted without thread_instrumentation');
is(by_instance(), 5, 'also by instance');
$server->sql(q{SELECT pfs.set_consumers('global_instrumentation', 'NO')});
$server->sql(stats($known, 5));
is(by_event(), '5|5', 'not without global_instrumentation');
$server->sql(q{SELECT pfs.set_consumers('%', 'YES')});
$s->query('SELECT 1');
$server->sql('SELECT pfs.set_thread(' . $s->thread_id . ", 'NO')");
$s->query(stats($known, 5));
is(by_event(), '5|5', 'a thread that is not instrumented counts nothing');
$server->sql("SELECT pfs.set_instruments('$stat', NULL, 'NO')");
$server->sql(stats($known, 5));
is($server->sql("SELECT count_star, count_timed FROM pfs.file_summary_by_event_name WHERE event_name = '$stat'"), '10|5', 'untimed ones are counted');
$server->sql("SELECT pfs.set_instruments('$stat', NULL, 'YES')");
$server->sql(q{SELECT pfs.set_timer('wait', 'NANOSECOND')});
$server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
$server->sql('TRUNCATE pfs.events_waits_history_long');
$server->sql(stats($known, 100));
near($server->sql("SELECT sum_timer_wait FROM pfs.file_summary_by_event_name WHERE event_name = '$stat'"),
	$server->sql("SELECT sum(timer_wait) FROM pfs.events_waits_history_long WHERE event_name = '$stat'"), 0.02,
	'times of another timer are converted');
$server->sql(q{SELECT pfs.set_timer('wait', timer_name) FROM pfs.performance_timers WHERE timer_frequency IS NOT NULL LIMIT 1});

# ---- more files than a session keeps numbers of: they move to the files while others read ----

my $files = 100;

($status) = $server->psql(qq{SELECT 'CREATE TABLE many_' || g || ' (a int)' FROM generate_series(1, $files) g \\gexec\n});
is($status, 0, "$files tables");
$server->sql(q{CREATE TABLE paths AS SELECT pg_relation_filepath(oid) AS path FROM pg_class WHERE relname LIKE 'many\\_%' AND relkind = 'r'});

my $once = 'SELECT count(pg_stat_file(path, true)) FROM paths';
my $thrice = "$once, generate_series(1, 3)";
my $calls = 3 * $files;
my $idle = $server->session;

$idle->query('SELECT count(*) FROM paths');
only_stat();
is($idle->query($thrice), $calls, 'a session looks at all of them');
is(by_event(), "$calls|$calls", 'and what it has counted is seen while it is idle');
is(by_instance(), $calls, 'by instance, too');
is($server->sql(q{SELECT pfs.reset('file_summary_by_instance')}), $calls, 'reset by instance returns it all');
is(by_instance(), 0, 'nothing is left of it');
is($server->sql("SELECT count(DISTINCT file_name) FROM pfs.file_summary_by_instance JOIN paths ON path = file_name WHERE event_name = '$stat'"),
	$files, 'but a row of each file');
is(by_event(), "$calls|$calls", 'the event name has it');
$idle->query($once);
is(by_instance(), $files, 'what the session counts after that is there');
is(by_event(), ($calls + $files) . '|' . ($calls + $files), 'beside what it has counted before');
my $idle_pid = $idle->pid;
$idle->close;
$server->poll("SELECT count(*) FROM pfs.threads WHERE processlist_id = $idle_pid", 0);
is(by_event(), ($calls + $files) . '|' . ($calls + $files), 'it stays when the session ends');
is($server->sql(q{SELECT pfs.reset('file_summary_by_event_name')}), $calls + $files, 'and reset by event name returns it once');
is(by_event() . ' ' . by_instance(), '0|0 0', 'nothing is left');

my (@by_event, @by_instance);
my $rounds = 0;
my $inexact = $server->inexact;

while (@by_event <= 5 && $rounds < 50)
{
	my $readers = $server->pgbench_start("$thrice;", '-c', 3, '-j', 1, '-t', 100);

	while ($server->pgbench_running($readers))
	{
		push @by_event, (split /\|/, by_event())[0];
		push @by_instance, by_instance();
	}
	$server->pgbench_end($readers);
	$rounds++;
	my $was = $inexact;

	# One that is not exact may be too high.
	@by_event = @by_instance = () if ($inexact = $server->inexact) != $was;
}
cmp_ok(scalar @by_event, '>', 5, 'readings while sessions go from file to file');
is("@by_event", join(' ', sort { $a <=> $b } @by_event), 'by event name the numbers only grow');
is("@by_instance", join(' ', sort { $a <=> $b } @by_instance), 'and by instance');
my $all_calls = $rounds * 300 * $calls;

is(by_event() . ' ' . by_instance(), "$all_calls|$all_calls $all_calls", 'up to all calls');

# ---- resets, pushes and removals under load ----

# Calls on a file that is about to be removed.
my $passing = <<'EOT';
CREATE TEMP TABLE passing (a int);
SELECT count(pg_stat_file(pg_relation_filepath('passing'), true)) FROM generate_series(1, 10);
DROP TABLE passing;
EOT

# How many a round is: the server makes some itself.
sub passing_stats
{
	only_stat();
	$server->sql($passing);
	return (split /\|/, by_event())[0];
}
my $passing_stats = passing_stats();

cmp_ok($passing_stats, '>=', 10, 'a round of calls on a file to be removed is counted');
is(passing_stats(), $passing_stats, 'the next one, too');
only_stat();
my ($clients, $times, $each) = (4, 300, 25);
my ($returned, $pushed, $resets, $loads, $anew) = (0, 0, 0, 0, 0);
my $other = $server->session;

# Until there were enough resets, all of them exact.
while ($resets <= 5 && $loads < 50)
{
	my $load = $server->pgbench_start(
		join(";\n", stats($known, $each), stats($unknown, 5), $once) . ';', '-c', $clients, '-j', 1, '-t', $times);
	my $remover = $server->pgbench_start($passing, '-c', 2, '-j', 1, '-t', $times);

	while (grep { $server->pgbench_running($_) } $load, $remover)
	{
		$other->send(q{SELECT pfs.reset('file_summary_by_event_name')});
		$returned += $server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
		$pushed += $server->sql(q{SELECT pfs.reset('file_summary_by_instance')});
		$returned += $other->result;
		$resets++;
	}
	$server->pgbench_end($_) foreach $load, $remover;
	$loads++;
	next if $server->inexact == $inexact || $anew++ >= 5;
	$inexact = $server->inexact;
	only_stat();
	($returned, $pushed, $resets, $loads) = (0, 0, 0, 0);
}
my ($rest) = split /\|/, by_event();

cmp_ok($resets, '>', 5, "$resets rounds of resets");
cmp_ok($pushed, '>', 0, 'some of them found something to push');
cmp_ok($returned, '>', 0, 'and to take');
is($returned + $rest, $loads * $times * ($clients * ($each + 5 + $files) + 2 * $passing_stats), 'what they took and what is left are all calls');
is($server->sql(q{SELECT count(*) FROM pfs.status WHERE variable_name ~ 'file_(events|instances)_lost' AND variable_value <> '0'}), 0, 'nothing was lost');

# ---- no room ----

foreach my $size (0, 1, 2, 9)
{
	$server->stop;
	$server->conf("pfs.max_file_instances = $size");
	$server->start;
	$server->sql('SELECT count(*) FROM other');
	only_stat();
	$server->sql(stats($known, 30));
	$server->sql(stats($unknown, 12));
	is(by_event(), '42|42', "room for $size files: event names are exact");
	$server->pgbench($passing, '-c', 4, '-j', 1, '-t', 50);
	my $all = 42 + 4 * 50 * $passing_stats;

	is(by_event(), "$all|$all", 'and stay so while files come and go');
	is($server->sql(q{SELECT count(*) FROM pfs.file_instances}) <= $size ? 'fits' : 'too many', 'fits', 'instances fit');
	is($server->sql(q{SELECT records_max, records_lost FROM pfs.containers WHERE name = 'file_events'}), '0|0', 'no loss where there is none')
	  if $size == 0;
}

# Long names have room of their own.
$server->stop;
$server->conf('pfs.max_file_instances = 600');
$server->start;
my $data = $server->sql('SHOW data_directory');
my $long = 'n' x 120;
my $fits = $server->sql("SELECT records_max FROM pfs.containers WHERE name = 'file_long_names'");
my @numbers = map { $_ + 10 } 1 .. $fits + 3;

foreach my $round (1 .. 4)
{
	$server->sql("COPY (SELECT 1) TO '$data/$long$_'") foreach @numbers;
}
is($server->sql("SELECT count(*), count(DISTINCT right(file_name, 2)) FROM pfs.file_instances WHERE file_name LIKE '%nnn__'"), @numbers . '|' . @numbers,
	'one row for each path, also of those whose name finds no room');
unlink map { "$data/$long$_" } @numbers;

# ---- every event of the long history, in a container that is too small ----

foreach my $size (12, 120)
{
	$server->stop;
	$server->conf("pfs.max_file_instances = $size\npfs.events_waits_history_long_size = 400000");
	$server->start;
	# Who looks is not counted.
	$server->sql('SELECT pfs.set_thread(pfs.thread_id(), \'NO\')');
	$server->sql(q{SELECT pfs.set_instruments('%', 'NO')});
	calls_end();
	$server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
	$server->sql(q{TRUNCATE pfs.events_waits_history_long});
	$server->sql(q{SELECT pfs.set_instruments('wait/io/file/%', 'YES')});
	my ($taken, $rounds) = (0, 0);
	# Both remove files that others use: the checkpointer those of the first.
	my @loads = (
		$server->pgbench_start("VACUUM FULL other;\nSELECT count(*) FROM other;\n$passing", '-c', 1, '-j', 1, '-t', 30),
		$server->pgbench_start("CHECKPOINT;\nSELECT count(*) FROM other;", '-c', 2, '-j', 1, '-t', 40),
		$server->pgbench_start($passing, '-c', 2, '-j', 1, '-C', '-t', 150));

	while (grep { $server->pgbench_running($_) } @loads)
	{
		$taken += $server->sql(q{SELECT pfs.reset('file_summary_by_event_name')});
		$server->sql(q{SELECT pfs.reset('events_waits_summary_by_instance')});
		$rounds++;
		# Numbers of removed files have to wait for the next round.
		sleep(0.5);
	}
	$server->pgbench_end($_) foreach @loads;
	$server->poll(q{SELECT count(*) FROM pfs.threads WHERE name = 'thread/client_backend'}, 1);
	$server->sql(q{SELECT pfs.set_instruments('%', 'NO')});
	calls_end();
	# Not the waits of background processes that began before.
	my $events = $server->sql(q{SELECT count(*) FROM pfs.events_waits_history_long WHERE event_name LIKE 'wait/io/file/%'});
	my ($left) = split /\|/, by_event();

	redo if $server->inexact > 0 && $anew++ < 5;
	cmp_ok($events, '>', 1000, "room for $size files: the load made $events events");
	cmp_ok($events, '<', 400000, 'all of them are in the long history');
	is($taken + $left, $events, "each of them was counted once, through $rounds resets");
}

done_testing();
