# Sums of times against what PostgreSQL itself measured in the same run: reads
# against track_io_timing, lock waits against log_lock_waits; within 2 percent.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PfsServer;
use Test::More;
use Time::HiRes qw(time);

my $server = PfsServer->new('main', conf => <<'EOT');
shared_buffers = 128
track_io_timing = on
log_lock_waits = on
deadlock_timeout = 50ms
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
pfs.events_waits_history_long_size = 200000
EOT
# The waiter itself makes the call, as in all versions before.
$server->conf('io_method = sync') if PfsServer::version() >= 18;

# A read from the system's cache takes hardly longer than measuring it does, and
# how fast the disk is nobody knows: each read of a block waits a little first.
$server->start(env => { LD_PRELOAD => slow_reads() });
$server->sql('CREATE EXTENSION pfs');

# ---- reads ----

my $s = $server->session;
$s->query(<<'EOT');
CREATE TABLE big WITH (fillfactor = 20) AS SELECT g AS id, repeat('x', 500) AS filler FROM generate_series(1, 6000) g;
CREATE INDEX big_id ON big (id);
VACUUM big;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EOT
my $query = 'SELECT count(filler) FROM generate_series(1, %d) g, LATERAL (SELECT filler FROM big WHERE id = 1 + (g * 7919) %% 6000) b';
my $files = $s->query(q{SELECT string_agg(quote_literal(pg_relation_filepath(oid)), ', ') FROM pg_class WHERE relname IN ('big', 'big_id')});

# What planning reads, it reads here.
$s->query(sprintf($query, 10));
my ($first, $blocks, $bytes, $longest, $run);
my $reads = sub
{
	my $since = $s->query('SELECT pfs.timer_now()');
	my $began = time();
	my $plan = $s->query('EXPLAIN (ANALYZE, BUFFERS, SUMMARY OFF, FORMAT JSON) ' . sprintf($query, 1500));

	$run = time() - $began;
	$first //= $since;
	# The topmost node comes first and has the sums.
	($blocks) = $plan =~ /"Shared Read Blocks": (\d+)/;
	my ($milliseconds) = $plan =~ /"(?:Shared )?I\/O Read Time": ([\d.]+)/;
	($bytes, my $sum, $longest) = split /\|/, $server->sql(<<"EOT");
SELECT sum(number_of_bytes), sum(timer_wait) / 1e9, max(timer_wait) / 1e12 FROM pfs.events_waits_history_long
 WHERE event_name = 'wait/io/file/DataFileRead' AND object_name IN ($files) AND thread_id = @{[$s->thread_id]} AND timer_start > $since
EOT
	cmp_ok($sum / 1000, '<', $run, 'the reads took no longer than the run');
	return ($sum, $milliseconds);
};
as_long_as($reads, 0.02, 'all reads, ms');
cmp_ok($bytes, '>', 8e6, 'the run read from files');
is($bytes / $server->block_size, $blocks, 'as many blocks as EXPLAIN says');
cmp_ok($longest, '<', $run, 'no read took longer than the run');
is($s->query("SELECT DISTINCT object_type, operation FROM pfs.events_waits_history_long WHERE event_name = 'wait/io/file/DataFileRead'"
	  . " AND timer_start > $first"), 'FILE|read', 'all have their file');

# ---- locks ----

$server->sql('CREATE TABLE hot (n int); INSERT INTO hot VALUES (0)');
my ($waits, @logged);
my $run_locks = sub
{
	my $since = $server->sql('SELECT pfs.timer_now()');
	my $began = time();

	$server->mark_log;
	$server->pgbench(<<'EOT', '-c', 4, '-j', 1, '-t', 4);
BEGIN;
UPDATE hot SET n = n + 1;
\sleep 120 ms
END;
EOT
	$run = time() - $began;
	# Those of just deadlock_timeout may be on one side only.
	@logged = grep { $_ > 60 } $server->log_text =~ / acquired \w+ on .* after ([\d.]+) ms/g;
	($waits, my $waited, my $longest_wait) = split /\|/, $server->sql(<<"EOT");
SELECT count(*), sum(timer_wait) / 1e9, max(timer_wait) / 1e12 FROM pfs.events_waits_history_long
 WHERE event_name LIKE 'wait/lock/%' AND timer_start > $since AND timer_wait > 60e9
EOT
	cmp_ok($longest_wait, '<', $run, 'no wait was longer than the run');
	my $logged = 0;

	$logged += $_ foreach @logged;
	return ($waited, $logged);
};
# The server logs a wait only if the process got a processor between deadlock_timeout and the
# grant, which on a busy machine it may not.
my $locks = sub
{
	my @sums;

	for (1 .. 10)
	{
		@sums = $run_locks->();
		last if $waits == @logged;
	}
	return @sums;
};
as_long_as($locks, 0.02, 'all waits for locks, ms');
cmp_ok(scalar(@logged), '>', 5, 'the run waited for locks');
is($waits, scalar(@logged), 'as many waits as were logged');
is($server->sql(q{SELECT variable_value FROM pfs.status WHERE variable_name = 'pfs_events_waits_history_long_lost'}), 0, 'nothing was lost');

done_testing();
